"""Who the players are: the only place where personal data lives, in a file of its own, so that it can be erased.

The journal holds numbers and, for each, a salted commitment to the identity and the name given here. Erasing a row
leaves the commitment without meaning; editing or swapping names breaks it. No rating, no game lives here.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ledger import db
from ledger.errors import StorageError

APPLICATION_ID = 0x43524C50  # "CRLP"
LAYOUT = 1
SALT_BYTES = 16
_SCHEMA = """
CREATE TABLE people(
  player INTEGER PRIMARY KEY,
  identity TEXT UNIQUE,
  name TEXT,
  salt BLOB,
  joined_at TEXT NOT NULL
) STRICT
"""


_ERASE = "UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = ? AND salt IS NOT NULL"


class Person(NamedTuple):
    """A row of people; identity, name and salt are None once erased."""

    player: int
    identity: str | None
    name: str | None
    salt: bytes | None
    joined_at: str


def commitment(salt: bytes, identity: str, name: str) -> str:
    """HMAC-SHA256, in hexadecimal, of ``identity ‖ 0x00 ‖ name`` (UTF-8) under the player's salt."""
    return hmac.digest(salt, f"{identity}\x00{name}".encode(), "sha256").hex()


class People:
    """The people file of one ledger."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the file.

        Raises:
            StorageError: missing or not ours.
        """
        self.path = str(path)
        if not Path(path).exists():
            raise StorageError(self.path, "the people file is missing; restore it from a copy")
        self._connection = db.connect(path, read_only=read_only)
        db.check_identity(self._connection, path, APPLICATION_ID, LAYOUT)
        with db.storage_errors(path):
            self._connection.execute("PRAGMA synchronous=FULL")

    @classmethod
    def create(cls, path: str | Path) -> People:
        """Make an empty people file.

        Raises:
            StorageError: it exists or cannot be made.
        """
        if Path(path).exists():
            raise StorageError(str(path), "exists already")
        connection = db.connect(path)
        with db.storage_errors(path):
            connection.execute("PRAGMA journal_mode=WAL")
            with db.immediate(connection, path):
                connection.execute(_SCHEMA)
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
        people = cls(path)
        try:
            return not people._rows("SELECT * FROM people LIMIT 1", ())
        finally:
            people.close()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def number(self, named: Mapping[str, str], joined_at: str) -> dict[str, Person]:
        """The persons behind these identities; those not met before get the next numbers, in the given order.

        Args:
            named: identity -> name to show.
            joined_at: instant that is kept with the new ones.
        """
        version = self._version()
        found = self.by_identity(list(named))
        fresh = [identity for identity in named if identity not in found]
        if fresh:
            with db.immediate(self._connection, self.path):
                if self._version() != version:  # another process may have been faster
                    found = self.by_identity(list(named))
                first = self._connection.execute("SELECT coalesce(max(player), 0) + 1 FROM people").fetchone()[0]
                fresh = [identity for identity in named if identity not in found]
                salts = secrets.token_bytes(SALT_BYTES * len(fresh))
                persons = [
                    Person(first + i, one, named[one], salts[SALT_BYTES * i : SALT_BYTES * (i + 1)], joined_at)
                    for i, one in enumerate(fresh)
                ]
                self._connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", persons)
            found.update((person.identity or "", person) for person in persons)
        return found

    def erase(self, player: int) -> bool:
        """Forget identity, name and salt of a player for good; False where nothing was known any more.

        The bytes are overwritten, in the file and in its write-ahead log. The number stays, and the commitment in the
        journal, which without the salt says nothing.

        Raises:
            StorageError: the file refuses, or another process reads it and keeps the old bytes in the log: try again.
        """
        with db.storage_errors(self.path):
            self._connection.execute("PRAGMA secure_delete=ON")
            with db.immediate(self._connection, self.path):
                found = self._connection.execute(_ERASE, (player,)).rowcount
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StorageError(
                self.path, "another process is reading it, so its log still holds the erased bytes; erase again later"
            )
        return bool(found)

    def _version(self) -> int:
        """A number that changes when another process has written the file since it was last asked for."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def by_identity(self, identities: Sequence[str]) -> dict[str, Person]:
        """Those of these identities that are known."""
        query = "SELECT * FROM people WHERE identity IN (SELECT value FROM json_each(?))"
        return {person.identity or "": person for person in self._rows(query, (json.dumps(list(identities)),))}

    def by_number(self, players: Iterable[int]) -> dict[int, Person]:
        """Those of these players that are known."""
        query = "SELECT * FROM people WHERE player IN (SELECT value FROM json_each(?))"
        return {person.player: person for person in self._rows(query, (json.dumps(list(players)),))}

    def named(self, wanted: str) -> list[Person]:
        """Everybody whose identity or name is *wanted*, or failing that the same but for upper and lower case."""
        exact = self._rows("SELECT * FROM people WHERE identity = ?1 OR name = ?1 ORDER BY player", (wanted,))
        return exact or self._rows(
            "SELECT * FROM people WHERE identity = ?1 COLLATE NOCASE OR name = ?1 COLLATE NOCASE ORDER BY player",
            (wanted,),
        )

    def _rows(self, query: str, arguments: tuple[object, ...]) -> list[Person]:
        with db.storage_errors(self.path):
            return [Person(*row) for row in self._connection.execute(query, arguments)]
