"""Who the players are: the only place where personal data lives, in a file of its own, so that it can be erased.

The journal holds numbers and, for each, a salted commitment to the identity and the name given here. Erasing a row
leaves the commitment without meaning; editing or swapping names breaks it. No rating, no game lives here.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.facts.person_names import spelt
from ledger.players import people_layouts
from ledger.players.people_layouts import (
    ERASURES_SINCE,
    LAYOUT,
    OLDEST_LAYOUT,
    RENAMINGS_SINCE,
    SALT_BYTES,
    SCHEMA,
    NameFolds,
    NameSearch,
    bring_up,
    fold,
    keep_secret,
    layout,
    secret_of,
)
from ledger.players.reasons import Reasons
from ledger.runtime import sqlite
from ledger.runtime.nearest import nearest
from ledger.runtime.sqlite import Guard, statements

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = sqlite.PEOPLE_ID
MISSING = (
    "the people file is missing; restore it from a copy or, where there is none, go on without names: "
    "'rating-ledger accept-lost-names DB'"
)
_COLUMNS = "player, identity, name, salt, joined_at"
_INSERT = f"INSERT INTO main.people({_COLUMNS}) VALUES (?, ?, ?, ?, ?)"
# The same sums over the rows and over the index on identities: they differ where one is older than the other. One
# statement, as of one moment.
_SUMS = "count(identity), total(player) FILTER (WHERE identity IS NOT NULL), total(length(identity))"
_COUNTS = (
    f"SELECT * FROM (SELECT count(*), coalesce(max(player), 0), {_SUMS} FROM main.people NOT INDEXED), "
    f"(SELECT {_SUMS} FROM main.people INDEXED BY sqlite_autoindex_people_1 WHERE identity IS NOT NULL)"
)
# People whose name can be compared with the journal, from one end of the numbers or from the other.
_LOWEST = f"SELECT {_COLUMNS} FROM people WHERE player > ? AND salt IS NOT NULL ORDER BY player LIMIT ?"
_HIGHEST = f"SELECT {_COLUMNS} FROM people WHERE player < ? AND salt IS NOT NULL ORDER BY player DESC LIMIT ?"
# The second parameter is named in any case, for the driver refuses an argument that no parameter takes.
_MEANT = f"SELECT {_COLUMNS} FROM people WHERE ?2 IS NOT NULL AND"
_NAMES = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL"
_CALLED = "SELECT player, identity, name FROM people NOT INDEXED WHERE identity IS NOT NULL AND name IS NOT NULL"
_IDENTITIES = "SELECT player, identity FROM people NOT INDEXED WHERE identity IS NOT NULL"
_NAMELESS = "SELECT player FROM people WHERE identity IS NULL"
_ALL_NUMBERS = 2**62
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
# What may be spelt otherwise than the rule says: capitals, two blanks, characters beyond ASCII.
_OTHERWISE_SPELT = (
    "SELECT identity FROM people NOT INDEXED "
    "WHERE identity <> lower(identity) OR instr(identity, '  ') OR identity GLOB '*[^ -~]*' ORDER BY player"
)
# Names and identities that may be meant by a word that nobody bears.
_SOME_NAMES = "SELECT identity, name FROM people WHERE salt IS NOT NULL LIMIT ?"
_NAMES_LIKE = (
    "SELECT identity, name FROM people WHERE salt IS NOT NULL AND (name LIKE ?1 || '%' OR identity LIKE ?1 || '%' "
    "OR instr(name, ?2)) LIMIT ?3"
)
_COMPARED = 5_000  # names: a tenth of a second


def missing(player: int) -> str:
    """What a player is called whom the journal registered and the people file does not hold: nobody erased the name."""
    return f"(not in the people file) {player}"


class Person(NamedTuple):
    """A row of people; identity, name and salt are None once erased."""

    player: int
    identity: str | None
    name: str | None
    salt: bytes | None
    joined_at: str

    @property
    def is_erased(self) -> bool:
        """True when nothing is known but the number."""
        return self.identity is None and self.name is None and self.salt is None


def commitment(salt: bytes, identity: str, name: str) -> str:
    """HMAC-SHA256, in hexadecimal, of ``identity ‖ 0x00 ‖ name`` (UTF-8) under the player's salt."""
    # 0x00 stands in no name: no two pairs of identity and name run together into the same bytes
    return hmac.digest(salt, f"{identity}\x00{name}".encode(), "sha256").hex()


class People:
    """The people file of one ledger."""

    # why nothing may be written, where whoever opened it found out
    refusal: str | None = None

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the file.

        Raises:
            StorageError: missing or not ours.
        """
        self.path = str(path)
        if not Path(path).exists():
            raise StorageError(self.path, MISSING)
        self._connection = _connect(path, read_only=read_only)
        sqlite.check_identity(self._connection, path, APPLICATION_ID, LAYOUT, OLDEST_LAYOUT)
        self._take_parts()
        self._guard = Guard(path, SCHEMA)
        self._older: Mapping[str, str] | None = None
        with sqlite.storage_errors(path):
            self._connection.execute("PRAGMA synchronous=FULL")
            # newcomers of an import go anywhere in the index
            self._connection.execute("PRAGMA cache_size=-65536")

    # by itself: the audit makes the same of a connection that it holds already
    def _take_parts(self) -> None:
        self.pending = PendingNames(self.path, self._connection, self._writing)
        self.erasures = PendingErasures(self.path, self._connection, self._writing)
        self.reasons = Reasons(self.path, self._connection, self._writing, self.clean_whole)
        self.search = NameSearch(self.path, self._connection, self._writing)
        self.folds = NameFolds(
            self.path, self._connection, self._writing, lambda: [row.player for row in self.pending.rows()]
        )

    @classmethod
    def create(cls, path: str | Path, secret: bytes | None = None) -> People:
        """Make an empty people file with a secret; a new one where none is given.

        Raises:
            StorageError: it exists or cannot be made.
        """
        if Path(path).exists():
            raise StorageError(str(path), "exists already")
        connection = _connect(path)
        with sqlite.storage_errors(path):
            connection.execute("PRAGMA journal_mode=WAL")
            with sqlite.immediate(connection, path):
                for statement in statements(SCHEMA):
                    connection.execute(statement)
                keep_secret(connection, secret or people_layouts.new_secret())
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.close()
        return cls(path)

    @classmethod
    def is_empty(cls, path: str | Path) -> bool:
        """True for a people file in which nobody stands.

        Raises:
            StorageError: not ours.
        """
        with closing(cls(path)) as people:
            return not people._rows(f"SELECT {_COLUMNS} FROM people LIMIT 1", ())

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def secret(self) -> bytes:
        """The secret under which the ledger makes keys of facts; a file of an earlier layout is given one.

        Raises:
            StorageError: it has none and cannot be written, or lost its own.
        """
        with sqlite.storage_errors(self.path):
            secret = secret_of(self._connection)
        if secret is None:
            with self._writing():  # brings the layout up, and with it a secret
                secret = secret_of(self._connection)
        if secret is None:
            raise StorageError(self.path, "its secret is gone: put a copy of the file back, with its -wal file")
        return secret

    def secret_to_try(self) -> bytes:
        """The secret, or in a file without one some other: for what is tried and not kept."""
        with sqlite.storage_errors(self.path):
            return secret_of(self._connection) or people_layouts.new_secret()

    def take_secret(self, secret: bytes) -> None:
        """Have the secret of another ledger, before any key was made.

        Raises:
            StorageError: the file refuses.
        """
        with self._writing():
            keep_secret(self._connection, secret)

    def has_nameless(self) -> bool:
        """Whether somebody was erased, or a name lost: one look-up."""
        with sqlite.storage_errors(self.path):
            return self._connection.execute(f"{_NAMELESS} LIMIT 1").fetchone() is not None

    def nameless(self) -> list[int]:
        """The numbers of all who were erased, or whose names were lost."""
        with sqlite.storage_errors(self.path):
            return [player for (player,) in self._connection.execute(_NAMELESS)]

    def number(
        self, named: Mapping[str, str], joined_at: str, confirm: Callable[[Sequence[Person]], None] = lambda _: None
    ) -> dict[str, Person]:
        """The persons behind these identities; those not met before get the next numbers, in the given order.

        Args:
            named: identity -> name to show.
            joined_at: instant that is kept with the new ones.
            confirm: called with the new ones before they are kept; what it raises keeps them out.

        Raises:
            StorageError: the file refuses, or did not take what it was given.
        """
        version = self.version()
        persons = self.by_identity(list(named))
        fresh = [identity for identity in named if identity not in persons]
        if fresh:
            with self._writing():
                if self.version() != version:  # another process may have been faster
                    persons = self.by_identity(list(named))
                    fresh = [identity for identity in named if identity not in persons]
                first = self._connection.execute("SELECT coalesce(max(player), 0) + 1 FROM main.people").fetchone()[0]
                names: dict[str, str] = {}
                for identity in fresh:
                    names.setdefault(spelt(identity), named[identity])
                salts = secrets.token_bytes(
                    SALT_BYTES * len(names)
                )  # one draw: each by itself costs a call of the system
                newcomers = [
                    Person(first + i, identity, name, salts[SALT_BYTES * i : SALT_BYTES * (i + 1)], joined_at)
                    for i, (identity, name) in enumerate(names.items())
                ]
                confirm(newcomers)
                self._insert(newcomers)
            made = {person.identity: person for person in newcomers}
            persons.update((identity, made[spelt(identity)]) for identity in fresh)
        return persons

    def add_nameless(self, players: Mapping[int, str]) -> None:
        """Rows for numbers whose names are lost: as after erasing them.

        Args:
            players: number -> the instant when the player joined.

        Raises:
            StorageError: the file refuses, or one of the numbers has a row.
        """
        with self._writing():
            self._insert([Person(player, None, None, None, joined_at) for player, joined_at in players.items()])

    def hide(self, players: Iterable[int]) -> None:
        """Read these players as erased from now on."""
        with sqlite.storage_errors(self.path):
            people_layouts.show(self._connection, hidden=players)

    def clean_whole(self) -> None:
        """As ``clean``, after an erasure.

        Raises:
            StorageError: the old bytes may still be there, and what to do.
        """
        try:
            is_clean = self.clean()
        except LedgerError as error:
            raise StorageError(
                self.path, f"the row is empty, but its old bytes may still be in the file: erase again ({error})"
            ) from error
        if not is_clean:
            raise StorageError(
                self.path, "another process is reading it, so its log still holds the erased bytes; erase again later"
            )

    def clean(self) -> bool:
        """Leave nothing in the file and its log but the rows as they are, whoever wrote it: it is written anew.

        Returns:
            False where another process is reading the file, so that the log keeps old bytes.

        Raises:
            StorageError: the file refuses.
        """
        with sqlite.storage_errors(self.path):
            # secure_delete overwrites what goes within the file; the log keeps whole pages of before, and free pages
            # may hold names from before that pragma: the file is written anew, and the log emptied on both sides of it.
            # first: in vain it would make the log longer
            for statement in (_EMPTY_LOG, "VACUUM", _EMPTY_LOG):
                busy = self._connection.execute(statement).fetchone() or (0,)
                if busy[0]:
                    return False
        return True

    def clean_soon(self, patience: float) -> bool:
        """As ``clean``, but wait no longer than so many seconds for those who read or write the file."""
        with sqlite.storage_errors(self.path), sqlite.waiting(self._connection, patience):
            try:
                return self.clean()
            except StorageError as error:
                if "locked" in str(error):
                    return False
                raise

    @contextmanager
    def _writing(self, patience: float | None = None) -> Iterator[None]:
        """One write transaction on a file that is as this program left it; it brings an old layout up."""
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        with sqlite.immediate(self._connection, self.path, patience=patience):
            bring_up(self._connection)
            self._guard.check(self._connection)
            yield

    def _insert(self, persons: Sequence[Person]) -> None:
        """Keep new rows, all of them or none."""
        # A trigger of somebody else can swallow rows without an error.
        taken = self._connection.executemany(_INSERT, persons).rowcount if persons else 0
        if taken != len(persons):
            raise StorageError(self.path, f"took {taken} of {len(persons)} new rows: run 'audit'; nothing was recorded")

    def version(self) -> int:
        """A number that changes when another process has written the file since it was last asked for."""
        with sqlite.storage_errors(self.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def counts(self) -> tuple[int, int]:
        """Number of rows and highest number. The whole file is read.

        Raises:
            CorruptError: rows and the index on identities do not belong together.
        """
        with sqlite.storage_errors(self.path):
            rows, highest, *sums = self._connection.execute(_COUNTS).fetchone()
        if sums[:3] != sums[3:]:
            raise CorruptError(
                self.path,
                0,
                "its index on identities is not that of its rows: the file and its log are put together from two "
                f"copies, or damaged; {sqlite.RESTORE}",
            )
        return int(rows), int(highest)

    def numbers(self) -> set[int]:
        """Every number that has a row, erased or not."""
        with sqlite.storage_errors(self.path):
            return {player for (player,) in self._connection.execute("SELECT player FROM people")}

    def names(self) -> list[tuple[int, str]]:
        """Number and name of everybody who was not erased."""
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_NAMES).fetchall()

    def called(self) -> list[tuple[int, str, str]]:
        """Number, identity and name of everybody who was not erased."""
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_CALLED).fetchall()

    def identities(self) -> list[tuple[int, str]]:
        """Number and identity of everybody who was not erased."""
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_IDENTITIES).fetchall()

    def salted(self, *, highest_first: bool = False) -> Iterator[list[Person]]:
        """Everybody who was not erased, in order of the numbers, in growing blocks: most ask for the first one only."""
        query, last = (_HIGHEST, _ALL_NUMBERS) if highest_first else (_LOWEST, 0)
        size = 1
        # page by page: others may write between two blocks
        while persons := self._rows(query, (last, size)):
            yield persons
            last, size = persons[-1].player, min(size * 8, 4_096)

    def by_identity(self, identities: Sequence[str]) -> dict[str, Person]:
        """Those of these identities that are known, in whatever spelling; one that stands so goes first."""
        rows = self._spelt_so({*identities, *map(spelt, identities)})
        missing = [identity for identity in identities if identity not in rows and spelt(identity) not in rows]
        older = self._older_spellings() if missing else {}
        further = {identity: older[spelt(identity)] for identity in missing if spelt(identity) in older}
        if further:
            rows.update(self._spelt_so(set(further.values())))
        persons = {
            identity: rows.get(identity) or rows.get(further.get(identity, spelt(identity))) for identity in identities
        }
        return {identity: person for identity, person in persons.items() if person is not None}

    def _spelt_so(self, identities: set[str]) -> dict[str, Person]:
        query = f"SELECT {_COLUMNS} FROM people WHERE identity IN (SELECT value FROM json_each(?))"
        return {person.identity or "": person for person in self._rows(query, (json.dumps(list(identities)),))}

    def _older_spellings(self) -> Mapping[str, str]:
        """Identities that were recorded before there was a rule: as it spells them, and as they stand."""
        if self._older is None:
            older: dict[str, str] = {}
            with sqlite.storage_errors(self.path):
                for (identity,) in self._connection.execute(_OTHERWISE_SPELT):
                    if spelt(identity) != identity:
                        older.setdefault(spelt(identity), identity)
            self._older = older
        return self._older

    def by_number(self, players: Iterable[int]) -> dict[int, Person]:
        """Those of these players that are known."""
        query = f"SELECT {_COLUMNS} FROM people WHERE player IN (SELECT value FROM json_each(?))"
        return {person.player: person for person in self._rows(query, (json.dumps(list(players)),))}

    def named(self, word: str) -> list[Person]:
        """Everybody whose identity or name is *word*, or failing that the same but for upper and lower case."""
        bearing, numbers = "name = ?1", list[int]()
        # nobody else bears it, or one that is written much like it
        if not self.folds.lacks_many():
            bearing = "player IN (SELECT value FROM json_each(?2)) AND name = ?1"
            numbers = self.folds.bearers([fold(word)]).get(fold(word), [])
        among = (word, json.dumps(numbers))
        return self._rows(f"{_MEANT} (identity = ?1 OR {bearing}) ORDER BY player", among) or self._rows(
            f"{_MEANT} (identity = ?1 COLLATE NOCASE OR {bearing} COLLATE NOCASE) ORDER BY player", among
        )

    def like(self, word: str) -> list[str]:
        """Up to three names or identities that may be meant by *word*, which nobody bears; the nearest first.

        In a file of many people only those are compared that begin alike or hold the whole word. Numbers are like
        each other without meaning each other.
        """
        if word.rpartition(":")[2].isdigit():
            return []
        with sqlite.storage_errors(self.path):
            rows = self._connection.execute(_SOME_NAMES, (_COMPARED + 1,)).fetchall()
            if len(rows) > _COMPARED:
                rows = self._connection.execute(_NAMES_LIKE, (word[:1], word, _COMPARED)).fetchall()
        # by a name, an identity, or a word of a name: the whole ones
        called: dict[str, list[str]] = {}
        for identity, name in rows:
            for part in {identity} if ":" in word else {name, *name.replace(",", " ").split()}:
                called.setdefault(part, []).append(identity if ":" in word else name)
        likely = [whole for part in nearest(word, called) for whole in called[part]]
        return list(dict.fromkeys(likely))[:3]

    def _rows(self, query: str, arguments: tuple[object, ...]) -> list[Person]:
        with sqlite.storage_errors(self.path):
            return [Person(*row) for row in self._connection.execute(query, arguments)]


def _connect(path: str | Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file so that whatever is written leaves no copy of a name behind."""
    connection = sqlite.connect(path, read_only=read_only)
    with sqlite.storage_errors(path):
        # what moves within the file is overwritten where it was
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA temp_store=MEMORY")  # names belong in no other file
    return connection


# Changes of the people file that wait until the journal has them: names to be given, and players to be forgotten.
#
# A name goes into its table first, then its commitment into the journal, then the name to its player. Whoever is
# stopped between two steps leaves a row that says by its salt what it is: the journal sealed it, or it never will.
#
# Who is erased becomes a blank row and stands in the other table in one transaction; then the journal says so; then
# the file is written anew without the old bytes; then the row goes that waited. Whoever is stopped leaves a row that
# says what is still to do. What the journal holds is not asked here.

_NAMES_PENDING = "SELECT player, number, name, salt FROM renaming ORDER BY player"
_BEGIN_NAME = "INSERT OR REPLACE INTO renaming(player, number, name, salt) VALUES (?, ?, ?, ?)"
_GIVE = (
    "UPDATE main.people SET name = ?3, salt = ?4 WHERE player = ?1 AND salt IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM renaming WHERE player = ?1 AND number = ?2 AND salt = ?4)"
)
_DROP_NAME = "DELETE FROM renaming WHERE player = ? AND salt = ?"


class Pending(NamedTuple):
    """A name that is about to be given.

    Attributes:
        player: to whom.
        number: place among the renamings of the player, from 1.
        name: the name.
        salt: that of its commitment, drawn for it alone.
    """

    player: int
    number: int
    name: str
    salt: bytes


class _Waiting:
    """What waits in one people file."""

    def __init__(
        self, path: str, connection: sqlite3.Connection, writing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it, after which the file has the newest layout.
        """
        self._path = path
        self._connection = connection
        self._writing = writing


class PendingNames(_Waiting):
    """The names of one people file that are about to be given."""

    def rows(self) -> list[Pending]:
        """All of them; none in a file of the first layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < RENAMINGS_SINCE:
                return []
            return [Pending(*row) for row in self._connection.execute(_NAMES_PENDING)]

    def begin(self, player: int, number: int, name: str) -> Pending:
        """Keep a name, durably, before the journal seals it; an earlier one of the player goes."""
        pending = Pending(player, number, name, secrets.token_bytes(SALT_BYTES))
        with self._writing():
            self._connection.execute(_BEGIN_NAME, pending)
        return pending

    def give(self, pending: Pending) -> None:
        """Give the name to its player, unless somebody did so already or the player was erased; the row stays."""
        with self._writing():
            self._connection.execute(_GIVE, pending)
            NameSearch.take_out(self._connection, [pending.player])
            NameFolds.take_out(self._connection, [pending.player])

    def drop(self, pending: Pending) -> None:
        """Take the row away, unless another one stands there by now."""
        with self._writing():
            self._connection.execute(_DROP_NAME, (pending.player, pending.salt))

    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal sealed them."""
        with sqlite.storage_errors(self._path):
            people_layouts.show(self._connection, sealed=[pending.salt for pending in sealed])


_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
_ERASE = f"UPDATE main.people SET identity = NULL, name = NULL, salt = NULL WHERE player = ? AND {_KNOWN}"
_NOT_RENAMED = "DELETE FROM main.renaming WHERE player = ?"
_BEGIN_ERASURE = "INSERT OR IGNORE INTO main.erasing(player, actor) VALUES (?, ?)"
_ERASURES_PENDING = "SELECT player, actor FROM main.erasing ORDER BY player"
_DROP_ERASURE = "DELETE FROM main.erasing WHERE player = ?"
_STANDING = f"SELECT player FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND {_KNOWN}"


class PendingErasures(_Waiting):
    """The erasures of one people file that are not brought to their end yet."""

    def rows(self) -> dict[int, str]:
        """By player, who had the player forgotten; nobody in a file of an earlier layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < ERASURES_SINCE:
                return {}
            return dict(self._connection.execute(_ERASURES_PENDING).fetchall())

    def standing(self, players: Iterable[int]) -> list[int]:
        """Those of these players of whom the file knows more than the number."""
        with sqlite.storage_errors(self._path):
            rows = self._connection.execute(_STANDING, (json.dumps(list(players)),))
            return [player for (player,) in rows]

    def begin(self, players: Iterable[int], actor: str) -> int:
        """Forget identity, name and salt of players, and a name that was to be given; their old bytes may stay.

        Args:
            players: their numbers; the rows stay.
            actor: who has them forgotten.

        Returns:
            Of how many anything was known.
        """
        numbers = [(player,) for player in players]
        with sqlite.storage_errors(self._path), self._writing():
            blanked = self._connection.executemany(_ERASE, numbers).rowcount
            self._connection.executemany(_NOT_RENAMED, numbers)
            NameSearch.take_out(self._connection, [player for (player,) in numbers])
            NameFolds.take_out(self._connection, [player for (player,) in numbers])
            self._connection.executemany(_BEGIN_ERASURE, [(player, actor) for (player,) in numbers])
        return blanked

    def drop(self, players: Iterable[int]) -> None:
        """Nothing is left to be done for these players."""
        with self._writing():
            self._connection.executemany(_DROP_ERASURE, [(player,) for player in players])
