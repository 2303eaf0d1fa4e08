"""Running one SQL statement of a user in a worker process that is killed when its time is over.

``query_process`` is the worker, and decides what a statement may do.
"""

from __future__ import annotations

import marshal
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from ledger.runtime import query_process, sqlite
from ledger.runtime.workers import Worker

ROWS_AT_ONCE = 10_000  # that are handed to the process
# The parts that SQLite skips before a statement (sqlite.org/lang_comment.html, and empty statements). The process
# learns the tables of a statement by EXPLAIN, which cannot precede a semicolon.
_LEADING = re.compile(r"(?:[ \t\n\f\r;]|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)


class QueryError(Exception):
    """An error that ended a statement before its last row.

    Attributes:
        kind: ``refused`` (not allowed), ``value`` (it selects nothing), ``failed`` (SQLite's words), ``time``,
            ``memory``, ``long`` (a row), ``ended`` (the process is gone).
        words: what was refused, or SQLite's words.
    """

    def __init__(self, kind: str, words: str = "") -> None:
        super().__init__(kind, words)
        self.kind, self.words = kind, words


@attrs.frozen(kw_only=True)
class QueryLimits:
    """Limits of a statement's time and memory; 0 means no limit.

    Attributes:
        seconds: of waiting for rows; the time in which the caller asks for none does not count.
        memory: bytes for SQLite.
        longest: characters and bytes of one row.
    """

    seconds: float
    memory: int
    longest: int


Preparation = tuple[str, Sequence[Any]]
Filling = Callable[[set[str]], Iterable[tuple[str, list[tuple[Any, ...]]]]]


def run_query(
    path: Path,
    preparations: Sequence[Preparation],
    statement: str,
    parameters: Mapping[str, Any],
    filling: Filling,
    limits: QueryLimits,
) -> Iterator[Sequence[Any]]:
    """Yield the names of the columns, then the rows that a statement selects from a file opened read-only.

    Args:
        path: the file.
        preparations: statements with their arguments that prepare the connection, before it may only read.
        statement: the user's.
        parameters: values by name.
        filling: a function of the tables that are read; it returns rows for tables of the connection, each block
            with the statement that inserts it.
        limits: of time and memory.

    Raises:
        QueryError: it was stopped or refused, or SQLite does not understand it.
        StorageError: the process does not start.
    """
    request = {
        "file": sqlite.sqlite_uri(path, read_only=True),
        "patience": sqlite.BUSY_SECONDS,
        "preparations": list(preparations),
        "statement": _LEADING.sub("", statement, count=1),
        "parameters": dict(parameters),
        "memory": limits.memory,
        "longest": limits.longest,
    }
    worker = Worker(query_process.__name__, path=path, work="asks")
    try:
        conversation = _Conversation(worker, limits.seconds)
        conversation.expected("ready", is_timed=False)
        with suppress(BrokenPipeError):  # why it is gone is read below
            worker.send("request", request)
        tables = conversation.expected("tables")
        # Where it takes them no longer, it has said why: its disk is full, or its memory.
        with suppress(BrokenPipeError):
            for statement_and_rows in filling(tables):
                worker.send("fill", statement_and_rows)
            worker.send("run")
        yield conversation.expected("columns")
        while (packet := conversation.expected("rows", "end")) is not None:
            yield from map(marshal.loads, packet)
    finally:
        worker.kill()
        worker.close()


class _Conversation:
    """The answers of the process, within the time limit."""

    def __init__(self, worker: Worker, seconds: float) -> None:
        self._worker = worker
        self._left = seconds
        self._has_limit = bool(seconds)

    def expected(self, *kinds: str, is_timed: bool = True) -> Any:
        """Return the content of the next message; QueryError if it is of another kind or does not come in time."""
        over = threading.Event()

        def end() -> None:
            over.set()
            self._worker.kill()

        # A pipe cannot be waited for with a limit on every system: at the end of the time the process is ended, and the
        # pipe with it.
        # No thread waits longer than TIMEOUT_MAX: Python refuses to.
        seconds = min(max(self._left, 0.0), threading.TIMEOUT_MAX)
        clock = threading.Timer(seconds, end) if is_timed and self._has_limit else None
        begun = time.monotonic()
        try:
            if clock is not None:
                clock.start()
            kind, value, _ = self._worker.receive()
        except EOFError:
            raise QueryError("time" if over.is_set() else "ended") from None
        finally:
            if clock is not None:
                clock.cancel()
                self._left -= time.monotonic() - begun
        if kind not in kinds:
            raise QueryError(kind, value or "")
        return value
