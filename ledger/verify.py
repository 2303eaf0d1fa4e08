"""The auditor's reader: re-hashes the raw bytes and rebuilds the tree. It shares no code with the writer.

Only ``TreeHead`` and the errors are common ground; the format is read as DESIGN sections 3 and 7 state it.
A body is checked without parsing it: its hash is its leaf, it begins with ``{"actor":``, and its last members
(key, kind, position, recorded_at) are compared byte for byte with what the columns say they must be.
What it cannot know alone is whether the whole file was written anew: that takes a head kept outside.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import repeat
from json.encoder import encode_basestring as quote
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.errors import CorruptError, LedgerError, StorageError, UnknownNameError
from ledger.heavy import zstandard
from ledger.model import TreeHead

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

FIRST_FALSEHOODS = 20
LOCK_WAIT_SECONDS = 5.0
TILE = 256  # leaves under one stored node of level 1; 256 of those under one of level 2, and so on
BLOCK = 4 * TILE
EMPTY_ROOT = hashlib.sha256().digest()

_COLUMNS = [("position", "INTEGER"), ("kind", "TEXT"), ("key", "TEXT"), ("body", "BLOB"), ("leaf", "BLOB")]
_ROWS = "SELECT position, kind, key, body, leaf FROM journal"
_UNIQUE_COLUMNS = """
SELECT group_concat(c.name) FROM pragma_index_list('journal') AS i, pragma_index_info(i.name) AS c
WHERE i."unique" AND NOT i.partial GROUP BY i.name
"""
_HEAD = b'{"actor":'
_STAMP = b'0000-00-00T00:00:00.000Z"}'  # recorded_at with every digit made 0, and the end of the body
_STAMP_LENGTH = len(_STAMP)
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_RESTORE = "restore the file from a copy whose head is known"

# SQLite's own words may quote damaged bytes, which Python then cannot decode.
_READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)

_Row = tuple[Any, Any, Any, Any, Any]


@attrs.frozen
class Falsehood:
    """One thing in a file that is not what was sealed.

    Attributes:
        table: the table it stands in, or ``file`` for damage that belongs to none.
        position_or_key: journal position, player number, node, text hash, or the name of the check.
        message: what is false, which value, and what to do.
    """

    table: str
    position_or_key: int | str
    message: str

    def __str__(self) -> str:
        entry = " entry" if self.table == "journal" and isinstance(self.position_or_key, int) else ""
        return f"{self.table}{entry} {self.position_or_key}: {self.message}"


@attrs.frozen
class JournalVerdict:
    """What a journal was found to be.

    Attributes:
        head: head recomputed from the bodies as they stand, up to the first missing or unreadable entry.
        entries: rows that were read.
        falsehoods: the first 20, the first false position first; a head kept outside always has its say.
    """

    head: TreeHead
    entries: int
    falsehoods: tuple[Falsehood, ...]


@attrs.frozen
class NamesVerdict:
    """What the names were found to be.

    Attributes:
        checked: players whose name was compared with its commitment.
        erased: players whose identity, name and salt were erased; nothing can be compared.
        unregistered: people without an entry, as a crash between the two files leaves them.
        falsehoods: the first 20, in order of the entries.
    """

    checked: int
    erased: int
    unregistered: int
    falsehoods: tuple[Falsehood, ...]


@attrs.frozen
class TextsVerdict:
    """What the texts were found to be.

    Attributes:
        checked: texts that were decompressed and hashed.
        references: journal entries that name a text.
        falsehoods: the first 20 false texts, then the first 20 entries whose text is missing.
    """

    checked: int
    references: int
    falsehoods: tuple[Falsehood, ...]


def verify_journal(
    path: str, since: TreeHead | None = None, progress: Callable[[int, int], None] | None = None
) -> JournalVerdict:
    """Re-hash every entry, rebuild the tree, and compare all that is stored about them.

    Args:
        path: the journal; it is opened read-only and read in one snapshot while others may write.
        since: a head kept outside; proves that the entries it covers are a prefix of those here.
        progress: called with the rows read so far and the last position.

    Raises:
        StorageError: the file is missing, not SQLite, or not a journal.
        CorruptError: it is too damaged to be read at all.
    """
    with _opened(path, "journal") as connection:
        _check_columns(path, connection)
        scan = _Scan(since.size if since else 0)
        total = _last_position(connection)
        for rows in _blocks(connection, scan):
            scan.take(rows)
            if progress is not None:
                progress(scan.entries, total)
        falsehoods = scan.falsehoods
        falsehoods += _node_falsehoods(connection, scan)
        falsehoods += _file_falsehoods(connection)
    head = TreeHead(scan.size, _root(scan.tiles, scan.rest))
    shown = falsehoods[:FIRST_FALSEHOODS]
    return JournalVerdict(head, scan.entries, (*shown, *(_since_falsehoods(scan, since) if since else ())))


class _Scan:
    """The state of one pass: rows seen, tree grown, falsehoods found."""

    def __init__(self, since_size: int) -> None:
        self.falsehoods: list[Falsehood] = []
        self.entries = 0
        self.size = 0  # leaves in the tree
        self.whole = True  # no entry missing so far; after a gap the tree cannot grow
        self.tiles: list[bytes] = []  # roots of complete tiles
        self.rest: list[bytes] = []  # leaves after them
        self.since_root = EMPTY_ROOT
        self.expected = 1  # position that the next row must have
        self._since_size = since_size

    def take(self, rows: Sequence[_Row]) -> None:
        """Judge the next rows in order of position."""
        positions, kinds, keys, bodies, stored = zip(*rows, strict=True)
        self.entries += len(rows)
        try:
            leaves = _leaves(bodies)
        except TypeError:  # a body that is not a blob
            leaves = []
        if (
            leaves == list(stored)
            and positions == tuple(range(self.expected, self.expected + len(rows)))
            and _columns_agree(positions, kinds, keys, bodies)
        ):
            self.expected += len(rows)
            self._grow(leaves if self.whole else [])
        else:
            self._grow(self._judge_each(rows))

    def _judge_each(self, rows: Sequence[_Row]) -> list[bytes]:
        """Name what is false in rows of which something is; returns the leaves that continue the tree."""
        leaves = []
        for row in rows:
            position = row[0]
            if type(position) is not int or position < self.expected:
                self._add(position, f"out of order: entry {self.expected} should stand here; {_RESTORE}")
                continue
            if position > self.expected:
                missing = f"entries {self.expected} to {position - 1} are missing"
                if position == self.expected + 1:
                    missing = "this entry is missing"
                self._add(self.expected, f"{missing}, the next is {position}; {_RESTORE}")
                self.whole = False
            if len(self.falsehoods) < FIRST_FALSEHOODS:
                for message in _row_faults(row):
                    self._add(position, message)
            if self.whole:
                leaves.append(_leaf_of_anything(row[3]))
            self.expected = position + 1
        return leaves

    def _add(self, position: int, message: str) -> None:
        if len(self.falsehoods) < FIRST_FALSEHOODS:
            self.falsehoods.append(Falsehood("journal", position, message))

    def _grow(self, leaves: list[bytes]) -> None:
        leaves = self.rest + leaves
        start = len(self.tiles) * TILE
        full = len(leaves) // TILE * TILE
        self.tiles += _tile_roots(leaves[:full])
        self.rest = leaves[full:]
        size = start + len(leaves)
        if self.size < self._since_size <= size:
            whole_tiles = self._since_size // TILE
            beyond = leaves[whole_tiles * TILE - start : self._since_size - start]
            self.since_root = _root(self.tiles[:whole_tiles], beyond)
        self.size = size


def _leaves(bodies: Sequence[bytes]) -> list[bytes]:
    sha256 = hashlib.sha256
    return [sha256(b"\x00" + body).digest() for body in bodies]


def _leaf_of_anything(body: object) -> bytes:
    return _leaves([body if isinstance(body, bytes) else repr(body).encode()])[0]


def _parents(hashes: list[bytes]) -> list[bytes]:
    """The level above; a last one without a partner is carried up, which gives RFC 6962's tree."""
    sha256 = hashlib.sha256
    above = [
        sha256(b"\x01" + left + right).digest()
        for left, right in zip(hashes[::2], hashes[1::2], strict=False)
    ]
    return above + hashes[-1:] if len(hashes) % 2 else above


def _tile_roots(hashes: list[bytes]) -> list[bytes]:
    """The root above each 256 of *hashes*, whose number is a multiple of 256."""
    for _ in range(8):
        hashes = _parents(hashes)
    return hashes


def _fold(hashes: list[bytes]) -> bytes:
    while len(hashes) > 1:
        hashes = _parents(hashes)
    return hashes[0] if hashes else EMPTY_ROOT


def _root(tiles: list[bytes], rest: list[bytes]) -> bytes:
    return _fold([*tiles, _fold(rest)] if rest else tiles)


def _columns_agree(
    positions: Sequence[int], kinds: Sequence[str], keys: Sequence[str], bodies: Sequence[bytes]
) -> bool:
    """True when each body begins and ends as its columns demand and recorded_at is an instant."""
    try:
        tails = [
            f'}},"key":{quote(key)},"kind":{quote(kind)},"position":{position},"recorded_at":"'.encode()
            for position, kind, key in zip(positions, kinds, keys, strict=True)
        ]
        if not all(map(bytes.endswith, bodies, tails, repeat(0), repeat(-_STAMP_LENGTH))):
            return False
    except TypeError:  # a column holds something else than its type
        return False
    if not all(map(bytes.startswith, bodies, repeat(_HEAD))):
        return False
    stamps = [body[-_STAMP_LENGTH:] for body in bodies]
    joined = b"".join(stamps)
    return (
        joined.translate(_DIGITS_TO_ZERO) == _STAMP * len(stamps)
        and max(joined[14::_STAMP_LENGTH]) < ord("6")  # tens of minutes
        and max(joined[17::_STAMP_LENGTH]) < ord("6")  # tens of seconds
        and all(map(_is_hour, {stamp[:13] for stamp in stamps}))
    )


def _is_hour(text: bytes) -> bool:
    try:
        datetime(int(text[:4]), int(text[5:7]), int(text[8:10]), int(text[11:13]))
    except ValueError:
        return False
    return True


def _row_faults(row: _Row) -> Iterator[str]:
    """What is false in one row; nothing when it is right."""
    position, kind, key, body, leaf = row
    if not isinstance(body, bytes):
        yield f"column body holds {_shown(body)}, not the bytes of an entry; {_RESTORE}"
        return
    computed = _leaves([body])[0]
    if computed != leaf:
        yield (
            f"the body hashes to {computed.hex()}, but the sealed leaf is {_shown(leaf)}: "
            f"one of the two was changed; {_RESTORE}"
        )
        return
    if _columns_agree([position], [kind], [key], [body]):
        return
    try:
        sealed = json.loads(body)
    except (ValueError, RecursionError):
        sealed = None
    if not isinstance(sealed, dict):
        yield f"the body is not a JSON object, it begins {_shown(body[:24])}; {_RESTORE}"
        return
    edited = [
        f"column {name} says {_shown(column)}, but the body says {_shown(sealed.get(name))}; "
        "set the column back to what the body says"
        for name, column in (("position", position), ("kind", kind), ("key", key))
        if type(column) is not type(sealed.get(name)) or column != sealed.get(name)
    ]
    yield from edited or [
        "the body is not in canonical form or its recorded_at is no instant with milliseconds: "
        f"it ends {_shown(body[-40:])}; {_RESTORE}"
    ]


def _shown(value: object) -> str:
    """A value for a message, on one line and never long."""
    text = value.hex() if isinstance(value, bytes) and len(value) == 32 else ascii(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _one_line(words: object) -> str:
    """What SQLite or zstd says, which may be many lines."""
    return " ".join(str(words).split())[:200]


def _blocks(connection: sqlite3.Connection, scan: _Scan) -> Iterator[Sequence[_Row]]:
    """The rows in order; ends at the first that cannot be read, and says which."""
    try:
        cursor = connection.execute(f"{_ROWS} ORDER BY position")
        while rows := cursor.fetchmany(BLOCK):
            yield rows
    except _READ_ERRORS as error:
        rows, unreadable = _up_to_unreadable(connection, scan.expected)
        if rows:
            yield rows
        scan.whole = False
        message = f"cannot be read ({_one_line(error)}), and nothing after it was checked; {_RESTORE}"
        scan.falsehoods.append(Falsehood("journal", unreadable, message))


def _up_to_unreadable(connection: sqlite3.Connection, first: int) -> tuple[list[_Row], int]:
    """Rows from *first* one by one, and the first position that fails (a cursor loses the row before it)."""
    rows: list[_Row] = []
    for position in range(first, first + BLOCK):
        try:
            rows += connection.execute(f"{_ROWS} WHERE position = ?", (position,)).fetchall()
        except _READ_ERRORS:
            return rows, position
    return rows, rows[-1][0] + 1 if rows else first


def _node_falsehoods(connection: sqlite3.Connection, scan: _Scan) -> list[Falsehood]:
    """Compare the stored nodes with the tree; a node above an entry already named false is not news."""
    try:
        stored = {
            (level, number): node
            for level, number, node in connection.execute("SELECT level, number, hash FROM nodes")
        }
    except _READ_ERRORS as error:
        return [Falsehood("nodes", "table", f"cannot be read ({_one_line(error)}); {_RESTORE}")]
    found: list[Falsehood] = []
    named = [f.position_or_key for f in scan.falsehoods if isinstance(f.position_or_key, int)]
    level, hashes = 1, scan.tiles
    while hashes:
        span = TILE**level
        for number, computed in enumerate(hashes):
            node = stored.pop((level, number), None)
            first, last = number * span + 1, (number + 1) * span
            if node != computed and not any(first <= position <= last for position in named):
                named.append(first)
                says = "is missing" if node is None else f"says {_shown(node)}"
                message = (
                    f"entries {first} to {last} hash to {computed.hex()}, but the stored node {says}: "
                    f"an entry was replaced together with its leaf, or the node was changed; {_RESTORE}"
                )
                found.append(Falsehood("nodes", f"{level}/{number}", message))
                if len(found) == FIRST_FALSEHOODS:
                    return found
        hashes = _tile_roots(hashes[: len(hashes) // TILE * TILE])
        level += 1
    if scan.whole:
        for key in sorted(stored, key=str):
            message = f"the journal of {scan.size} entries has no such complete subtree; {_RESTORE}"
            found.append(Falsehood("nodes", f"{key[0]}/{key[1]}", message))
    return found


def _since_falsehoods(scan: _Scan, since: TreeHead) -> list[Falsehood]:
    if since.size > scan.size and not scan.whole:
        message = (
            f"the head kept outside covers {since.size} entries, but only 1 to {scan.size} can be read "
            f"without a gap, so it cannot be compared; {_RESTORE}"
        )
    elif since.size > scan.size:
        message = (
            f"the journal holds only {scan.size} entries, but the head kept outside says {since.size}: "
            "the tail was cut off or an older copy was restored; look for the newer file"
        )
    elif scan.since_root != since.root:
        message = (
            f"entries 1..{since.size} do not have the root kept outside, {since.root.hex()}, but "
            f"{scan.since_root.hex()}: history before that head was rewritten; {_RESTORE}"
        )
        return [Falsehood("journal", f"1..{since.size}", message)]
    else:
        return []
    return [Falsehood("journal", scan.size + 1, message)]


def _file_falsehoods(connection: sqlite3.Connection) -> list[Falsehood]:
    """Damage to pages and the guard on keys (the rows themselves do not show either)."""
    found = []
    try:
        lines = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({FIRST_FALSEHOODS})")]
        unique = connection.execute(_UNIQUE_COLUMNS).fetchall()
    except _READ_ERRORS as error:
        return [Falsehood("file", "quick_check", f"{_one_line(error)}: pages are damaged; {_RESTORE}")]
    if ("key",) not in unique:
        message = f"column key is not unique, so that a fact could stand twice; {_RESTORE}"
        found.append(Falsehood("journal", "schema", message))
    return found + [
        Falsehood("file", "quick_check", f"{_one_line(line)}: pages are damaged; {_RESTORE}")
        for line in lines
        if line != "ok"
    ]


def inclusion_proof(path: str, position: int, size: int | None = None) -> list[bytes]:
    """The hashes that lead from an entry's leaf to the root, lowest first (RFC 9162, 2.1.3.1).

    It reads what is stored and few rows of it; whether that is true is for ``verify_inclusion`` to say.

    Args:
        path: the journal.
        position: the entry, from 1.
        size: of the head that the proof is for; all entries where not given.

    Raises:
        UnknownNameError: no such entry, or fewer entries than *size*.
        StorageError: the file is missing, not SQLite, or not a journal.
        CorruptError: a row that the proof needs is missing or cannot be read.
    """
    with _opened(path, "journal", "nodes") as connection:
        held = _last_position(connection)
        size = held if size is None else size
        if not 1 <= position <= size <= held:
            raise UnknownNameError("entry", str(position), f"it holds {held}, the head asked for {size}")

        def subtree(low: int, high: int) -> bytes:
            level, remainder = divmod((high - low).bit_length() - 1, 8)
            if remainder or high - low != TILE**level:
                middle = low + _split(high - low)
                return _parents([subtree(low, middle), subtree(middle, high)])[0]
            if level:
                sql = "SELECT hash FROM nodes WHERE level = ? AND number = ?"
                row = connection.execute(sql, (level, low // TILE**level)).fetchone()
            else:
                row = connection.execute("SELECT leaf FROM journal WHERE position = ?", (high,)).fetchone()
            if row is None or not isinstance(row[0], bytes):
                raise CorruptError(path, high, f"no hash of entries {low + 1} to {high} is stored; audit it")
            return row[0]

        proof, low, high = [], 0, size
        while high - low > 1:
            middle = low + _split(high - low)
            if position <= middle:
                proof.append(subtree(middle, high))
                high = middle
            else:
                proof.append(subtree(low, middle))
                low = middle
        return proof[::-1]


def _split(size: int) -> int:
    """The largest power of two below *size*."""
    return 1 << ((size - 1).bit_length() - 1)


def verify_inclusion(leaf: bytes, position: int, head: TreeHead, proof: Sequence[bytes]) -> bool:
    """True when *proof* shows *leaf* at *position* under *head* (RFC 9162, 2.1.3.2)."""
    index, last = position - 1, head.size - 1
    if not 0 <= index <= last:
        return False
    for sibling in proof:
        if last == 0:
            return False
        if index % 2 or index == last:
            leaf = _parents([sibling, leaf])[0]
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            leaf = _parents([leaf, sibling])[0]
        index, last = index // 2, last // 2
    return last == 0 and leaf == head.root


def verify_names(journal_path: str, people_path: str) -> NamesVerdict:
    """Compare every registered player's name with the commitment sealed in the journal.

    Raises:
        StorageError: a file is missing, not SQLite, or without its table.
        CorruptError: one cannot be read, or an entry says nothing that can be compared.
    """
    registered = _commitments(journal_path)  # before the people, who are written first
    found: list[tuple[int, Falsehood]] = []
    checked = erased = unregistered = 0
    with _opened(people_path, "people") as connection:
        for player, *secrets in connection.execute("SELECT player, identity, name, salt FROM people"):
            position, commitment = registered.pop(player, (0, ""))
            if not position:
                unregistered += 1
            elif secrets == [None, None, None]:
                erased += 1
            else:
                checked += 1
                if _commitment(*secrets) != commitment:
                    message = (
                        f"the name of player {player} is not the one sealed in entry {position}: "
                        "name, identity or salt was changed or is someone else's; restore that row"
                    )
                    found.append((position, Falsehood("people", player, message)))
    for player, (position, _) in registered.items():
        message = f"player {player} of entry {position} is missing here; restore the row (erasing keeps it)"
        found.append((position, Falsehood("people", player, message)))
    found.sort(key=lambda pair: pair[0])
    return NamesVerdict(checked, erased, unregistered, tuple(f for _, f in found[:FIRST_FALSEHOODS]))


def _commitments(path: str) -> dict[int, tuple[int, str]]:
    """For each registered player, the entry and the commitment in it."""
    registered: dict[int, tuple[int, str]] = {}
    sql = "SELECT position, key, body FROM journal WHERE kind = 'player-registered/1' ORDER BY position"
    with _opened(path, "journal") as connection:
        for position, key, body in connection.execute(sql):
            facts = _facts(path, position, body)
            player, commitment = facts.get("player"), facts.get("commitment")
            if type(player) is not int or key != f"player:{player}" or not isinstance(commitment, str):
                raise CorruptError(
                    path, position, f"key {_shown(key)} and its facts disagree; audit the journal"
                )
            if player in registered:
                first, _ = registered[player]
                raise CorruptError(
                    path, position, f"registers player {player} again after {first}; {_RESTORE}"
                )
            registered[player] = (position, commitment)
    return registered


def _facts(path: str, position: int, body: Any) -> dict[str, Any]:
    try:
        facts = json.loads(body)["facts"]
    except (ValueError, TypeError, KeyError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise CorruptError(path, position, "the body is not a JSON object with facts; audit the journal")
    return facts


def _commitment(identity: object, name: object, salt: object) -> str:
    if isinstance(identity, str) and isinstance(name, str) and isinstance(salt, bytes):
        return hmac.digest(salt, identity.encode() + b"\x00" + name.encode(), "sha256").hex()
    return ""


def verify_texts(journal_path: str) -> TextsVerdict:
    """Check that every text decompresses to its hash, and that every text an entry names is there.

    Raises:
        StorageError: the file is missing, not SQLite, or without its tables.
        CorruptError: it cannot be read, or an entry that names a text is not JSON.
    """
    false: list[Falsehood] = []
    dangling: list[Falsehood] = []
    checked = references = 0
    with _opened(journal_path, "journal", "texts") as connection:
        decompressor = zstandard.ZstdDecompressor()
        for sha256, packed in connection.execute("SELECT sha256, zstd FROM texts ORDER BY sha256"):
            checked += 1
            fault = _text_fault(decompressor, sha256, packed)
            if fault and len(false) < FIRST_FALSEHOODS:
                false.append(Falsehood("texts", _shown(sha256), fault))
        sql = "SELECT position, body FROM journal WHERE instr(body, ?) ORDER BY position"
        for position, body in connection.execute(sql, (b'"text":"',)):
            text = _facts(journal_path, position, body).get("text")
            if text is None:
                continue
            references += 1
            if not _has_text(connection, text) and len(dangling) < FIRST_FALSEHOODS:
                message = f"names text {_shown(text)}, which is not in table texts; restore it from a copy"
                dangling.append(Falsehood("journal", position, message))
    return TextsVerdict(checked, references, (*false, *dangling))


def _text_fault(decompressor: zstandard.ZstdDecompressor, sha256: object, packed: Any) -> str:
    """What is false in one text, or nothing; read in pieces, so that a bomb only costs time."""
    digest = hashlib.sha256()
    try:
        for piece in decompressor.read_to_iter(packed):
            digest.update(piece)
    except (zstandard.ZstdError, ValueError, TypeError) as error:
        return f"cannot be decompressed ({_one_line(error)}); restore that row from a copy"
    if digest.digest() == sha256:
        return ""
    return f"decompresses to bytes that hash to {digest.hexdigest()}; restore that row from a copy"


def _has_text(connection: sqlite3.Connection, text: object) -> bool:
    try:
        sha256 = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return connection.execute("SELECT 1 FROM texts WHERE sha256 = ?", (sha256,)).fetchone() is not None


def _check_columns(path: str, connection: sqlite3.Connection) -> None:
    columns = [(row[1], row[2]) for row in connection.execute("PRAGMA table_info(journal)")]
    if columns != _COLUMNS:
        message = f"table journal has columns {_shown(columns)}, not {_COLUMNS}; {_RESTORE}"
        raise CorruptError(path, 0, message)


def _last_position(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT max(position) FROM journal").fetchone()
    return last if isinstance(last, int) else 0


@contextmanager
def _opened(path: str, *tables: str) -> Iterator[sqlite3.Connection]:
    """One read-only snapshot of a file that must hold *tables*; what SQLite raises becomes ours."""
    if not _is_file(path):
        raise StorageError(path, "no such file; give the path of an existing ledger file")
    connection = None
    try:
        connection = _connect(path)
        held = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in tables:
            if table not in held:
                raise StorageError(
                    path, f"has no table {table!r}: empty or not a ledger file; check the path"
                )
        yield connection
    except _READ_ERRORS as error:
        raise _translated(path, error) from error
    finally:
        if connection is not None:
            connection.close()


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError as error:
        raise StorageError(path, f"cannot be reached ({error.strerror}); check its folders") from error


def _connect(path: str) -> sqlite3.Connection:
    """Open *path* read-only; as a fixed file where its folder is read-only and no log lies beside it."""
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    log = Path(f"{path}-wal")
    try:
        return _snapshot(address)
    except sqlite3.OperationalError as error:
        cannot_make_log = "unable to open" in str(error) or "readonly database" in str(error)
        if not cannot_make_log or (log.exists() and log.stat().st_size):
            raise
        return _snapshot(f"{address}&immutable=1")


def _snapshot(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, LOCK_WAIT_SECONDS, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except _READ_ERRORS:
        connection.close()
        raise
    return connection


def _translated(path: str, error: Exception) -> LedgerError:
    if "not a database" in str(error):
        return StorageError(path, "is not an SQLite database, or its first page was overwritten")
    if isinstance(error, sqlite3.OperationalError):
        return StorageError(path, f"cannot be read ({_one_line(error)}); check its rights and what locks it")
    return CorruptError(path, 0, f"cannot be read ({_one_line(error)}): pages are damaged; {_RESTORE}")
