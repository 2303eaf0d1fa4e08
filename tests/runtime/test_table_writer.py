"""Rows that a process of its own writes: what cannot be handed over is told, and nobody waits for it for ever."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ledger.errors import StorageError
from ledger.runtime import sqlite
from ledger.runtime.table_writer import WritingProcess

pytest.importorskip("adbc_driver_sqlite")


class TooMany(pl.DataFrame):
    """Rows for which there is too little memory when they are sent."""

    def __getitem__(self, item: Any) -> Any:
        return self

    def write_ipc_stream(self, *_: Any, **__: Any) -> Any:
        raise MemoryError


def test_rows_that_cannot_be_sent_are_an_error_and_no_wait_without_end(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with closing(sqlite.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a INTEGER)")
    insert = "INSERT INTO t VALUES (?)"
    writer = WritingProcess(path)
    writer.insert(insert, pl.DataFrame({"a": [1]}))
    writer.commit()
    writer.settle()
    writer.insert(insert, TooMany({"a": [3]}))
    for _ in range(20):
        try:
            writer.insert(insert, pl.DataFrame({"a": [2]}))
        except StorageError:
            break
    with pytest.raises(StorageError, match="rows cannot be handed over: "):
        writer.settle()
    writer.close()
    with closing(sqlite.connect(path)) as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]
