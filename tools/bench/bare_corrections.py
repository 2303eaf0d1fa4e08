"""The rows that a correction changes, deleted and inserted by bare SQL in a copy of the views: no rule, no rating."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ledger.ratings.queries import tables
from ledger.runtime import sqlite

_KEPT_APART = {"progress", "proposals", "corrections"}  # what is written for every correction, however small
Rows = list[tuple[Any, ...]]


class BareRows:
    """The rows that differ before and after a correction, and a copy of the views as they were before it."""

    def __init__(self, views: Path, folder: Path) -> None:
        """Copy the views as they stand before.

        Args:
            views: their file, with nothing in its log.
            folder: where the copy goes.
        """
        self._views = views
        self._copy = Path(shutil.copyfile(views, folder / "bare.db"))
        self._connection = sqlite.connect(self._copy)
        self._changed: list[tuple[str, Sequence[str], Rows, Rows]] = []

    @property
    def rows(self) -> int:
        """How many rows are written."""
        return sum(len(after) for *_, after in self._changed)

    def compare(self) -> None:
        """Find the rows that are others after the correction than before."""
        connection = self._connection
        connection.execute("ATTACH ? AS corrected", (str(self._views),))
        for table in tables(connection):
            if table in _KEPT_APART:
                continue
            keys = _keys(connection, table)
            before, after = (
                connection.execute(f'SELECT * FROM {a}."{table}" EXCEPT SELECT * FROM {b}."{table}"').fetchall()
                for a, b in (("main", "corrected"), ("corrected", "main"))
            )
            if before or after:
                self._changed.append((table, keys, list(map(tuple, before)), list(map(tuple, after))))
        connection.execute("DETACH corrected")

    def change(self) -> None:
        """Delete the rows as they were, insert those that follow, and commit."""
        self._write([(table, keys, before, after) for table, keys, before, after in self._changed])

    def put_back(self) -> None:
        """The same the other way round."""
        self._write([(table, keys, after, before) for table, keys, before, after in self._changed])

    def _write(self, changed: Sequence[tuple[str, Sequence[str], Rows, Rows]]) -> None:
        with sqlite.immediate(self._connection, self._copy):
            for table, keys, gone, come in changed:
                places = _places(self._connection, table, keys)
                where = " AND ".join(f'"{key}" = ?' for key in keys)
                delete = f'DELETE FROM "{table}" WHERE {where}'
                self._connection.executemany(delete, [tuple(row[place] for place in places) for row in gone])
                if come:
                    values = ", ".join("?" * len(come[0]))
                    self._connection.executemany(f'INSERT OR REPLACE INTO "{table}" VALUES ({values})', come)

    def close(self) -> None:
        """Release the copy."""
        self._connection.close()


def _keys(connection: Any, table: str) -> list[str]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    return [row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5]]


def _places(connection: Any, table: str, keys: Sequence[str]) -> list[int]:
    names = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    return [names.index(key) for key in keys]
