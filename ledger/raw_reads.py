"""What is read of a ledger as it stands: its head, its pools, and rows and entries for anything that SQL or a log asks.

Nothing is derived here; only for what is told of a game the views are brought level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

import orjson

from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.correcting.game_log import GameLog
from ledger.errors import StorageError, UnknownNameError
from ledger.facts import codec
from ledger.facts.events import SchemeAdopted
from ledger.journal import Journal, listing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.until import JournalUntil
from ledger.ratings import keeping, queries
from ledger.ratings.views import Views
from ledger.ratings.views_file import reading
from ledger.runtime import sqlite
from ledger.runtime.lazy import sqlite_utils
from ledger.runtime.nearest import choice_of

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ledger.journal.people import People


class RawReads:
    """What is read of a ledger as it stands."""

    path: Path
    _journal: SqliteJournal
    _views: Views
    _thread: int  # that opened the files

    def _refuse_other_threads(self) -> None:
        """Raise StorageError in another thread than the one that opened the ledger: SQLite's own words name numbers."""
        if get_ident() != self._thread:
            raise StorageError(str(self.path), sqlite.OTHER_THREAD)

    @property
    def journal(self) -> SqliteJournal:
        """The facts.

        Raises:
            StorageError: another thread opened the ledger.
        """
        self._refuse_other_threads()
        return self._journal

    @journal.setter
    def journal(self, journal: SqliteJournal) -> None:
        self._journal = journal

    @property
    def views(self) -> Views:
        """What follows from them.

        Raises:
            StorageError: another thread opened the ledger.
        """
        self._refuse_other_threads()
        return self._views

    @views.setter
    def views(self, views: Views) -> None:
        self._views = views

    if TYPE_CHECKING:

        @property
        def people(self) -> People:
            """Who the players are, and the reasons of corrections."""

        def level(self) -> None:
            """Bring the views level with the journal."""

        def moment(self) -> AbstractContextManager[int]:
            """Bring the views level, and read all within the block as of one moment."""

    @property
    def journal_of_moment(self) -> Journal:
        """The journal up to the entry that the present moment is of; outside of a moment all of it."""
        # of what was known at an entry the journal ends there already, with the list that the question named
        if self.views.is_read and not isinstance(self.journal, JournalUntil):
            position = self.views.position()
            if position < self.journal.size():
                return JournalUntil(self.journal, position)
        return self.journal

    def first_scheme(self) -> SchemeAdopted:
        """The adoption that the ledger was made with; StorageError where the journal does not begin with one."""
        for bodies in self.journal.read(0, 1):
            event = codec.decode(bodies[0]).event
            if isinstance(event, SchemeAdopted):
                return event
        raise StorageError(str(self.path), "the journal does not begin with a scheme; it was never initialised")

    def pool(self, name: str | None = None) -> Pool:
        """A pool of the views; the ledger's first one by default.

        Raises:
            UnknownNameError: there is no such pool.
        """
        wanted = name or self.first_scheme().pool
        with self.moment():
            found = {pool.name: pool for pool in self._pools()}
        if wanted not in found:
            raise UnknownNameError("pool", wanted, choice_of(wanted, found))
        return found[wanted]

    def pools(self) -> list[Pool]:
        """Every pool with its timeline, in order of their first schemes."""
        with self.moment():
            return self._pools()

    def _pools(self) -> list[Pool]:
        """The pools of the views as these stand: what judges a fact holds a transaction of the journal by then."""
        with reading(self.views.path):
            return stored_pools(self.views.connection)

    def rows(self, table: str, where: str = "1", arguments: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        """Rows of a table of the level views as dictionaries: ``games``, ``history``, ``current``, ``players``, ...

        They are read as they are asked for, all as of the moment of the first.

        Args:
            table: name of the table.
            where: an SQL condition, with ``?`` for arguments; may end with ``ORDER BY`` and ``LIMIT``.
            arguments: what the question marks stand for.

        Raises:
            UnknownNameError: there is no such table.
            MalformedError: SQLite does not understand the condition.
            ProjectionError: a process without the plug-in of the table has gone on since it was level.
        """
        self.level()
        keeping.refuse_left_behind(self.views.connection, table, self.views.at_hand.broken)
        return queries.rows_where(self.views.connection, table, where, arguments)

    def database(self) -> Database:
        """The level views as a read-only sqlite-utils database, for anything that SQL can ask."""
        self.level()
        return sqlite_utils.Database(sqlite.connect(self.views.path, read_only=True))

    @property
    def game_log(self) -> GameLog:
        """What was recorded, proposed and decided about single games."""
        return GameLog(self.journal_of_moment, lambda: self.people, self.level, lambda: self.views)

    def log(self, game: str) -> list[dict[str, Any]]:
        """Every journal entry about one game, in order, as plain values: recorded, supplemented, proposed, decided.

        The game is found as ``game_found`` finds it. A proposal or decision has the words of its reason as ``why``:
        None where they were erased, or are not in the people file. Which proposals concern a game says ``GameLog``.

        Raises:
            UnknownNameError: no such game, or several.
        """
        with self.moment():
            return self.game_log.entries(game)

    def entries(self, kind: str | None = None, last: int | None = None) -> Iterator[dict[str, Any]]:
        """Entries of the journal in order, as plain values, read as they are asked for.

        Args:
            kind: only those of this kind, with its version (``clock-accepted/1``) or without.
            last: only so many, the newest of them; 0 or None: all.

        Raises:
            UnknownNameError: there is no such kind.
        """
        return map(orjson.loads, listing.bodies(self.journal, kind, last))

    def movetext(self, sha256: str) -> str | None:
        """The movetext kept under a game's ``text``, or None."""
        return listing.movetext(self.journal, sha256)
