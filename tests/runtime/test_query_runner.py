"""Statements that run in a process of their own: what keeps it from taking rows is told, whoever is still sending."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.runtime import sqlite
from ledger.runtime.query_runner import QueryError, QueryLimits, run_query


def test_rows_that_the_process_cannot_take_are_told_in_its_words(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with closing(sqlite.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a INTEGER)")

    def filling(_: set[str]) -> Iterable[tuple[str, list[tuple[Any, ...]]]]:
        # as where its disk is full; far more than a pipe holds
        return (("INSERT INTO nowhere VALUES (?)", [("x" * 1000,)] * 1000) for _ in range(50))

    rows = run_query(path, (), "SELECT a FROM t", {}, filling, QueryLimits(seconds=30, memory=0, longest=1000))
    with pytest.raises(QueryError, match="no such table: nowhere") as caught:
        next(rows)
    assert caught.value.kind == "failed"
