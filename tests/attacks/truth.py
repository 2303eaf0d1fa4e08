"""What is true of a ledger, found from its raw rows: the measure by which the commands are judged.

No code of the writer or of the auditor is used for journal and people. What the views should hold is built by the
library from an undamaged journal.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import attrs

from ledger.journal.settings_file import SettingsFile, server_of
from ledger.runtime.lazy import zstandard
from tests.attacks import servers
from tests.attacks.stores import READ_ERRORS, ROLES, Contents, contents, file_of, raw, readable
from tests.audit.raw_journals import mth

TILE, SALT_BYTES, SECRET_BYTES = 256, 16, 32
HALF_A_DAY_MS, MINUTE_MS = 43_200_000, 60_000
_RULE, _PROPOSAL = re.compile(r"[a-z]+(-[a-z]+)*"), re.compile(r"proposal:[1-9]\d*@1")
_SHA_256 = re.compile("[0-9a-f]{64}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

NamedRow = dict[str, Any]  # by its columns
Issued = dict[object, dict[str, Any]]  # the facts of an entry that issued a token, by its position
People = dict[int, tuple[object, ...]]  # identity, name, salt and day of joining by number


@attrs.frozen
class JournalRow:
    """One row of the journal."""

    position: object
    kind: object
    key: object
    body: object
    leaf: object

    @property
    def facts(self) -> dict[str, Any]:
        """Its facts; nothing where the body is not what it should be."""
        try:
            facts = json.loads(self.body)["facts"]  # type: ignore[arg-type]
        except (ValueError, TypeError, KeyError, RecursionError):
            return {}
        return facts if isinstance(facts, dict) else {}


def entries(db: Path) -> list[JournalRow] | None:
    """Return every row of a copy of a journal in its order, or None where it cannot be read."""
    try:
        with closing(raw(db)) as connection:
            query = "SELECT position, kind, key, body, leaf FROM journal ORDER BY position"
            return [JournalRow(*row) for row in connection.execute(query)]
    except READ_ERRORS:
        return None


def people(db: Path) -> People | None:
    """Return the people of a copy; None where they cannot be read."""
    try:
        with closing(raw(file_of(db, "people"))) as connection:
            query = "SELECT player, identity, name, salt, joined_at FROM people"
            return {row[0]: row[1:] for row in connection.execute(query)}
    except READ_ERRORS:
        return None


def digest_of(found: list[JournalRow]) -> str:
    """Return a name for exactly these rows."""
    return sha256(repr([attrs.astuple(entry) for entry in found]).encode()).hexdigest()


def journal_faults(db: Path, found: list[JournalRow]) -> Iterator[str]:
    """Yield what of a journal is not as it was sealed."""
    leaves = []
    for expected, entry in enumerate(found, 1):
        try:
            sealed = json.loads(entry.body)  # type: ignore[arg-type]
            same = (sealed["position"], sealed["kind"], sealed["key"]) == (entry.position, entry.kind, entry.key)
        except (ValueError, TypeError, KeyError, RecursionError):
            same = False
        leaf = sha256(b"\x00" + entry.body).digest() if isinstance(entry.body, bytes) else b""
        if not same or entry.position != expected or leaf != entry.leaf:
            yield f"journal entry {entry.position} is not what was sealed"
        leaves.append(leaf)
    with closing(raw(db)) as connection:
        nodes = {(level, number): node for level, number, node in connection.execute("SELECT * FROM nodes")}
        if nodes != dict(_nodes(leaves)):
            yield "nodes are not those of the tree"
        indexed = connection.execute("SELECT key, position FROM keys").fetchall()
        if sorted(indexed, key=repr) != sorted(((entry.key, entry.position) for entry in found), key=repr):
            yield "the keys of the index are not those of the entries"
        yield from _text_faults(connection, found)


def _nodes(hashes: list[bytes]) -> Iterator[tuple[tuple[int, int], bytes]]:
    level = 1
    while len(hashes) >= TILE:
        hashes = [mth(hashes[start : start + TILE]) for start in range(0, len(hashes) // TILE * TILE, TILE)]
        yield from (((level, number), node) for number, node in enumerate(hashes))
        level += 1


def _text_faults(connection: Connection, found: list[JournalRow]) -> Iterator[str]:
    kept = set()
    for digest, frame in connection.execute("SELECT sha256, zstd FROM texts"):
        try:
            text = zstandard.ZstdDecompressor().decompressobj().decompress(frame)
        except (zstandard.ZstdError, TypeError):
            text = b""
        if sha256(text).digest() != digest:
            yield "a text is not what its hash says"
        kept.add(digest)
    for entry in found:
        text_of = entry.facts.get("text") if entry.kind in {"game-recorded/1", "game-supplemented/1"} else None
        if text_of is not None and bytes.fromhex(text_of) not in kept:
            yield f"the text of entry {entry.position} is missing"


def commitment(identity: object, name: object, salt: object) -> str:
    """Return what an entry about this person's name seals; a text that no entry holds where a value is of no use."""
    if not (isinstance(identity, str) and isinstance(name, str) and isinstance(salt, bytes)):
        return "nobody"
    return _sealed(salt, f"{identity}\x00{name}")


def _sealed(salt: bytes, text: str) -> str:
    return hmac.digest(salt, text.encode("utf-8", "surrogateescape"), "sha256").hex()


def people_faults(found: list[JournalRow], persons: People) -> Iterator[str]:
    """Yield what of the people is not what the journal sealed."""
    renamed = {
        entry.facts.get("player", 0): entry.facts for entry in found if entry.kind == "player-renamed/1"
    }  # the newest of each
    for entry in found:
        facts, player = entry.facts, entry.facts.get("player", 0)
        if entry.kind == "person-erased/1" and any(persons.get(player, ())[:3]):
            yield f"player {player} was erased and is known all the same"
        if entry.kind != "player-registered/1":
            continue
        if player not in persons:
            yield f"player {player} is missing"
            continue
        *person, joined_at = persons[player]
        if joined_at != facts.get("joined_at"):
            yield f"player {player} joined at another time"
        if person != [None] * 3 and commitment(*person) != str(renamed.get(player, facts).get("commitment", "")):
            yield f"player {player} is not the one who was sealed"


def secret_faults(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with the secret that makes keys; *which* 32 bytes it is, nothing in the journal says."""
    rows = connection.execute("SELECT number, typeof(secret), length(secret) FROM secret").fetchall()
    if rows != [(1, "blob", SECRET_BYTES)]:
        yield "the secret that makes keys is not one of 32 bytes"


def reason_faults(connection: Connection, found: list[JournalRow]) -> Iterator[str]:
    """Yield what of the reasons is not what the journal sealed; the newest may be without an entry."""
    sealed = {(entry.key, entry.facts.get("reason")): entry.position for entry in found}
    query = "SELECT number, commitment, entry, salt, text FROM reasons ORDER BY number"
    rows = connection.execute(query).fetchall()
    places = [sealed.get((entry, reason)) for _, reason, entry, _, _ in rows]
    known = [place for place in places if isinstance(place, int)]
    if known != sorted(known) or None in places[: len(known)]:
        yield "the reasons are not in the order of their entries"
    for place, (number, reason, _, salt, text), expected in zip(places, rows, range(1, len(rows) + 1), strict=True):
        blank = salt is text is None and place is not None
        fits = isinstance(salt, bytes) and isinstance(text, str) and len(salt) == SALT_BYTES
        if number != expected or not (blank or (fits and _sealed(salt, text) == reason)):
            yield f"reason {number} is not the one that was sealed"


def _other_faults_of_names(db: Path, found: list[JournalRow]) -> Iterator[str]:
    with closing(raw(file_of(db, "people"))) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        yield from secret_faults(connection) if "secret" in tables else ()
        yield from reason_faults(connection, found) if "reasons" in tables else ()


# Little of the rows of tokens is sealed: the newest lines of the log may be taken away, a session or what was sent may
# go or come, and nothing tells. What no program writes is false all the same, and so is what contradicts the journal.


def token_faults(db: Path, first: object, issued: Issued) -> Iterator[str]:
    """Yield what of the tokens of a ledger on a server does not follow, whose journal has that *first* body."""
    place = server_of(db)
    if place is None:
        return
    kept: dict[str, list[NamedRow]] = {}
    with servers.as_superuser(place) as connection:
        for table, columns in servers.columns_of(connection, "tokens").items():
            rows = servers.rows_of(connection, "tokens", table, [*columns])
            kept[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    if not _is_of(kept, first):
        yield "tokens: the key is gone, or is that of another ledger"
        return
    if [row["number"] for row in kept["refusals"]] != [*range(1, len(kept["refusals"]) + 1)]:
        yield "tokens: the rows of refusals do not count from 1"
    for table, is_written in (("refusals", _is_line), ("sendings", _is_sending)):
        if not all(map(is_written, kept[table])):
            yield f"tokens: no program writes a row of {table}"
    if not all(_is_session(row, issued) for row in kept["sessions"]):
        yield "tokens: no program writes a row of sessions"


def _is_of(kept: dict[str, list[NamedRow]], first: object) -> bool:
    """Return whether the key is of the ledger whose journal begins so; without one, whether nothing needs it."""
    if not kept["file"]:
        return not any(kept[table] for table in ("refusals", "sessions", "sendings"))
    return isinstance(first, bytes) and kept["file"][0]["ledger"] == sha256(b"\x00" + first).digest()


def _is_line(row: NamedRow) -> bool:
    is_of_token = row["token"] is None or row["token"] > 0
    return _is_instant(row["at"]) and _RULE.fullmatch(row["rule"]) is not None and bool(row["tried"]) and is_of_token


def _is_sending(row: NamedRow) -> bool:
    is_named = _PROPOSAL.fullmatch(row["entry"]) and _SHA_256.fullmatch(row["reason"])
    return bool(is_named) and len(row["hash"]) == len(row["digest"]) == 32 and min(row["number"], row["proposals"]) > 0


def _is_session(row: NamedRow, issued: Issued) -> bool:
    lasts = row["begun_ms"] <= row["used_ms"] <= row["ends_ms"] + MINUTE_MS
    if not lasts or row["ends_ms"] > row["begun_ms"] + HALF_A_DAY_MS or len(row["hash"]) != 32:
        return False
    facts = issued.get(row["entry"], {})
    return (facts.get("number"), facts.get("digest")) == (row["token"], row["digest"])


def _is_instant(text: str) -> bool:
    if not _INSTANT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_BOUNDS = "rating_bounds"
_LOW_BOUNDS = f"""
SELECT 1 FROM (SELECT pool, player, max(rating) AS highest FROM history GROUP BY pool, player)
LEFT JOIN {_BOUNDS} USING (pool, player) WHERE rating IS NULL OR typeof(rating) <> 'real' OR rating < highest LIMIT 1
"""


def _low_bounds(views: Path) -> bool:
    """Return whether the history has a rating above its player's bound, or cannot be asked."""
    try:
        with closing(raw(views)) as connection:
            return connection.execute(_LOW_BOUNDS).fetchone() is not None
    except READ_ERRORS:
        return True


class Truth:
    """Judges whether the files of a ledger follow from each other.

    It knows the statements of every table, trigger and index that belongs into each file, and every object of
    a server's schemas, by the ledgers that it was shown (``know``).
    """

    def __init__(self, scratch: Path, derive: Callable[[Path, Path, int], bool]) -> None:
        """Take a folder to work in, and what builds the views of a journal's first entries, or returns False."""
        self._scratch = scratch
        self._derive = derive
        self._known: dict[str, set[tuple[object, object]]] = {role: set() for role in ROLES}
        self._objects: set[str | None] = set()
        self._derived: dict[tuple[str, int], Contents | str] = {}

    def know(self, db: Path) -> None:
        """Learn what belongs into the files from an undamaged ledger."""
        self._objects.add(servers.objects_of(db))
        copy = readable(db, self._scratch / "known")
        for role in ROLES:
            if file_of(copy, role).exists():
                held = contents(file_of(copy, role))
                assert isinstance(held, Contents), held
                self._known[role].add((held.schema, held.header))

    def faults(self, db: Path) -> list[str]:
        """Return what does not follow; nothing where an audit should say TRUE. *db* is left as it is."""
        if db.exists() and SettingsFile(db).server() is not None:
            return ["a file and a server both hold a journal"]
        if servers.objects_of(db) not in self._objects:
            return ["server: objects are not those of a ledger"]
        copy = readable(db, self._scratch / "judged")
        held: dict[str, Contents] = {}
        for role in ROLES:
            path = file_of(copy, role)
            if role == "views" and (not path.exists() or not path.stat().st_size):
                continue  # an empty file is none
            found = contents(path) if path.exists() else "is missing"
            if isinstance(found, str):
                return [f"{role}: {found}"]
            held[role] = found
        wrong = [f"{role}: {found.sound}" for role, found in held.items() if found.sound != "ok"]
        strange = [role for role, found in held.items() if (found.schema, found.header) not in self._known[role]]
        if strange == ["views"] and not wrong and self._are_derived(copy, held["views"]):
            strange = []
        wrong += [f"{role}: objects or header are not those of a ledger" for role in strange]
        return wrong or [*self._row_faults(db, copy, held)]

    def _are_derived(self, copy: Path, views: Contents) -> bool:
        """Return whether views have such objects at another point than we saw: columns grow with the schemes."""
        found, position = entries(copy), self._position(copy)
        if found is None or position is None or position > len(found) or any(journal_faults(copy, found)):
            return False
        true = self._views_at(copy, found, position)
        return isinstance(true, Contents) and (true.schema, true.header) == (views.schema, views.header)

    def _position(self, copy: Path) -> int | None:
        try:
            with closing(raw(file_of(copy, "views"))) as connection:
                ((position,),) = connection.execute("SELECT position FROM progress").fetchall()
        except (*READ_ERRORS, ValueError):
            return None
        return position if type(position) is int and position >= 0 else None

    def _row_faults(self, db: Path, copy: Path, held: dict[str, Contents]) -> Iterator[str]:
        found, persons = entries(copy), people(copy)
        if found is None or persons is None:
            yield "a file cannot be read"
            return
        wrong = [*journal_faults(copy, found), *people_faults(found, persons), *_other_faults_of_names(copy, found)]
        yield from wrong
        issued = {entry.position: entry.facts for entry in found if entry.kind == "token-issued/1"}
        yield from token_faults(db, found[0].body if found else None, issued)
        if not wrong and "views" in held:
            yield from self._view_faults(copy, found, held["views"])

    def _view_faults(self, copy: Path, found: list[JournalRow], views: Contents) -> Iterator[str]:
        reached = self._position(copy)
        if reached is None or reached > len(found) or (reached == 0) != (not found):
            yield f"views: say that they are at entry {reached}, the journal holds {len(found)}"
            return
        true = self._views_at(copy, found, reached)
        if isinstance(true, str):
            yield true
            return
        for table in sorted(true.tables.keys() | views.tables.keys()):
            if table == _BOUNDS:  # which may be higher than needed
                is_false = _low_bounds(file_of(copy, "views"))
            else:
                is_false = true.tables.get(table) != views.tables.get(table)
            if is_false:
                yield f"views: table {table} does not follow from the journal"

    def _views_at(self, copy: Path, found: list[JournalRow], reached: int) -> Contents | str:
        key = digest_of(found[:reached]), reached
        if key not in self._derived:
            aside = self._scratch / "derived" / "views.db"
            aside.parent.mkdir(exist_ok=True)
            aside.unlink(missing_ok=True)
            built = self._derive(copy, aside, reached)
            self._derived[key] = contents(aside) if built else "nothing can be derived from this journal"
        return self._derived[key]
