"""An index of the names that stands beside the people: what both of them, whole names and parts of names, have alike.

It follows from the names: the first who asks in a file of many people makes it, each later one adds who came since, so
that recording players costs nothing more. Renaming and erasing take the old name out of it in their own transaction.
Where it cannot be written, or lacks players, the names themselves are read. A file without it is whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, ClassVar

from ledger.errors import LedgerError
from ledger.players.people_layouts import layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are read each time rather than brought into the index
_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_NAME = "SELECT name FROM main.people WHERE player = ?"


class NameIndex(ABC):
    """One index in one people file.

    A class says its ``TABLE``, the column of its ``NUMBER`` and of what it holds (``HELD``), the layout ``SINCE`` which
    a file may have it, the statement for the highest number that it has ``REACHED``, and how it is made.
    """

    TABLE: ClassVar[str]
    NUMBER: ClassVar[str]
    HELD: ClassVar[str]
    SINCE: ClassVar[int]
    REACHED: ClassVar[str]

    def __init__(
        self, path: str, connection: sqlite3.Connection, writing: Callable[[float], AbstractContextManager[None]]
    ) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it that waits so many seconds for others.
        """
        self._path = path
        self._connection = connection
        self._writing = writing

    @staticmethod
    @abstractmethod
    def form(name: str) -> str:
        """What the index holds of a name."""

    @staticmethod
    @abstractmethod
    def statements() -> tuple[str, ...]:
        """What makes the index."""

    @classmethod
    def take_out(cls, connection: sqlite3.Connection, players: Iterable[int]) -> None:
        """Take names out of the index, within the caller's transaction; who is named still enters anew.

        Args:
            connection: to the people file, whose rows of these players are changed already.
            players: their numbers.
        """
        if not cls._stands(connection):
            return
        (reached,) = connection.execute(cls.REACHED).fetchone()
        for player in players:
            connection.execute(f"DELETE FROM main.{cls.TABLE} WHERE {cls.NUMBER} = ?", (player,))
            row = connection.execute(_NAME, (player,)).fetchone()
            if row is not None and row[0] is not None and player <= reached:
                connection.execute(cls._insert(), (player, cls.form(row[0])))

    @classmethod
    def _stands(cls, connection: sqlite3.Connection) -> bool:
        found = connection.execute(f"SELECT 1 FROM main.sqlite_master WHERE name = '{cls.TABLE}'")
        return found.fetchone() is not None

    @classmethod
    def _insert(cls) -> str:
        return f"INSERT INTO main.{cls.TABLE}({cls.NUMBER}, {cls.HELD}) VALUES (?, ?)"

    def reached(self) -> int:
        """The highest number in the index; 0 where there is none, or the file is too old to have one."""
        if layout(self._connection) < self.SINCE or not self._stands(self._connection):
            return 0
        return int(self._connection.execute(self.REACHED).fetchone()[0])

    def lacks_many(self) -> bool:
        """Whether so many names are not in the index that whoever asks it reads many."""
        with sqlite.storage_errors(self._path):
            return len(self._connection.execute(_LATER, (self.reached(), _FEW + 1)).fetchall()) > _FEW

    def bring_up(self) -> None:
        """Take who came since into the index, if they are many; where the file cannot be written they are read."""
        with suppress(LedgerError):
            while self.lacks_many():
                with self._writing(_PATIENCE):
                    self._take_in()

    def _take_in(self) -> None:
        if not self._stands(self._connection):
            for statement in self.statements():
                self._connection.execute(statement)
        rows = self._connection.execute(_LATER, (self.reached(), _CHUNK)).fetchall()
        self._connection.executemany(self._insert(), ((player, self.form(name)) for player, name in rows))
