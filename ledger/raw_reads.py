"""The rows and entries of a ledger as they stand, as plain values: for anything that SQL or a log can ask.

Nothing is derived here, and nothing is brought level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ledger.journal import listing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ratings import queries
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.runtime.lazy import sqlite_utils

if TYPE_CHECKING:
    from sqlite_utils import Database


class RawReads:
    """What is read of a ledger as it stands."""

    journal: SqliteJournal
    views: Views

    def rows(self, table: str, where: str = "1", arguments: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        """Rows of a table of the views as dictionaries: ``games``, ``history``, ``current``, ``players``, ...

        Args:
            table: name of the table.
            where: an SQL condition, with ``?`` for arguments; may end with ``ORDER BY`` and ``LIMIT``.
            arguments: what the question marks stand for.

        Raises:
            UnknownNameError: there is no such table.
            MalformedError: SQLite does not understand the condition.
        """
        return queries.rows_where(self.views.connection, table, where, arguments)

    def database(self) -> Database:
        """The views as a read-only sqlite-utils database, for anything that SQL can ask."""
        return sqlite_utils.Database(sqlite.connect(self.views.path, read_only=True))

    def log(self, game: str) -> list[dict[str, Any]]:
        """Every journal entry about one game, in order, as plain values; the game is found as ``game_found`` finds it.

        Raises:
            UnknownNameError: no such game, or several.
        """
        return [orjson.loads(body) for body in listing.about(self.journal, game)]

    def entries(self, kind: str | None = None, last: int | None = None) -> Iterator[dict[str, Any]]:
        """Entries of the journal in order, as plain values, read as they are asked for.

        Args:
            kind: only those of this kind, with its version (``clock-accepted/1``) or without.
            last: only so many, the newest of them.

        Raises:
            UnknownNameError: there is no such kind.
        """
        return map(orjson.loads, listing.bodies(self.journal, kind, last))

    def movetext(self, sha256: str) -> str | None:
        """The movetext kept under a game's ``text``, or None."""
        return listing.movetext(self.journal, sha256)
