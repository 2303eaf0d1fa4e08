"""A worker process that runs one SQL statement of a user, read-only.

One call of an SQL function (``instr``, ``replace``, a LIKE over a long text) can take hours without a step of
SQLite's machine, so that no handler ends it; only ending the process does. It imports little more than the
driver, because a short statement costs what its start costs. The program that starts it sends all that it needs (see
``query_runner``). It takes no more memory than its limit, and ends by itself as soon as no program waits for an
answer.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from ledger.runtime.worker_messages import FAILED, receive, send, standard_streams

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

PACKET = 65_536  # bytes of rows after which a message is sent
# Of sqlite3.h.
_PRAGMA, _READ, _SELECT, _TRANSACTION, _ATTACH, _FUNCTION, _RECURSIVE = 19, 20, 21, 22, 24, 31, 33
_LIMIT_LENGTH = 0
_ALLOWED, _DENIED = 0, 1
_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"}
_FUNCTIONS = {"load_extension", "fts3_tokenizer", "randomblob", "zeroblob"}  # refused: code, and memory without end
_PYTHONS_SHARE = 2**28  # bytes of the process that are not SQLite's: Python, and a row on its way


class _LengthError(Exception):
    """A row exceeds the limit of bytes."""


class _Authorizer:
    """SQLite's authorizer: it allows reading alone, and notes the first refusal and the tables that are read."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self.tables: set[str] = set()

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == _READ:
            self.tables.add(first or "")
            return _ALLOWED
        if action in {_SELECT, _RECURSIVE}:
            return _ALLOWED
        if action == _FUNCTION and (second or "").lower() not in _FUNCTIONS:
            return _ALLOWED
        if action == _PRAGMA and (first or "").lower() in _PRAGMAS:
            return _ALLOWED
        if self.refused is None:
            pragma, function = f"PRAGMA {first}", f"{second}()"
            words = {_PRAGMA: pragma, _FUNCTION: function, _ATTACH: "ATTACH", _TRANSACTION: "a transaction"}
            self.refused = words.get(action, "what would change something")
        return _DENIED


def _limit(connection: sqlite3.Connection, most: int, longest: int) -> None:
    """Limit SQLite's memory, the whole process's memory where the system can, and the length of values."""
    # pysqlite3 0.6.1 lacks it: there a row is measured when it comes
    if hasattr(connection, "setlimit"):
        connection.setlimit(_LIMIT_LENGTH, longest)
    if not most:
        return
    connection.execute(f"PRAGMA hard_heap_limit={most}")
    with suppress(ImportError, ValueError, OSError):  # a system without such a limit
        resource = __import__("resource")  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (most + _PYTHONS_SHARE, most + _PYTHONS_SHARE))


def _tables_of(connection: sqlite3.Connection, request: Mapping[str, Any], authorizer: _Authorizer) -> set[str]:
    """Return the tables that the statement reads; ValueError for VACUUM, which writes elsewhere what it reads here."""
    # EXPLAIN compiles the statement without running it: the authorizer is asked while it is compiled.
    connection.set_authorizer(authorizer)
    steps: list[tuple[Any, ...]] = []
    with suppress(sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        steps = connection.execute(f"EXPLAIN {request['statement']}", request["parameters"]).fetchall()
    connection.set_authorizer(None)
    # the authorizer is never asked about VACUUM INTO
    if any(step[1] == "Vacuum" for step in steps):
        raise ValueError
    return authorizer.tables


def _packets(rows: Iterable[tuple[Any, ...]], longest: int) -> Iterable[list[bytes]]:
    """Yield rows as bytes, the first by itself and then some together; bytes of a database as hexadecimal text."""
    packet: list[bytes] = []
    size, enough = 0, 0
    for row in rows:
        if sum(len(value) for value in row if isinstance(value, str | bytes)) > longest:
            raise _LengthError
        packet.append(marshal.dumps(tuple(v.hex() if isinstance(v, bytes) else v for v in row)))
        size += len(packet[-1])
        if size > enough:
            yield packet
            packet, size, enough = [], 0, PACKET
    yield packet


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Run the statement of one request; answer ``ready``, its tables, the names of its columns, its rows, and ``end``.

    The request has the file, how to prepare the connection, the statement with its parameters, and the limits. After
    the tables come rows for a table of the connection, until there are none. A failure is the last message.
    """
    send(answers, "ready")
    request = receive(requests).value
    authorizer = _Authorizer()
    try:
        connection = sqlite3.connect(request["file"], uri=True, isolation_level=None, timeout=request["patience"])
        for statement, arguments in request["preparations"]:
            connection.execute(statement, arguments)
        send(answers, "tables", _tables_of(connection, request, authorizer))
        while (filling := receive(requests)).kind == "fill":
            connection.executemany(*filling.value)
        # From here on nothing is expected: they end when the process ends that asks.
        threading.Thread(target=_end_with, args=(requests,), daemon=True).start()
        _limit(connection, request["memory"], request["longest"])
        connection.set_authorizer(authorizer)
        cursor = connection.execute(request["statement"], request["parameters"])
        if cursor.description is None:
            raise ValueError  # noqa: TRY301  # reported like the driver's refusals
        send(answers, "columns", [column[0] for column in cursor.description])
        for packet in _packets(cursor, request["longest"]):
            send(answers, "rows", packet)
        send(answers, "end")
    except MemoryError:
        send(answers, "memory")
    except _LengthError:
        send(answers, "long")
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        kind = "refused" if authorizer.refused is not None else "value" if isinstance(error, ValueError) else FAILED
        # SQLite reports its own limit of lengths so
        kind = "long" if "string or blob too big" in str(error) else kind
        send(answers, kind, authorizer.refused or str(error))


def _end_with(requests: BinaryIO) -> None:
    requests.read()
    # An exception would end this thread alone, while the other one waits for SQLite.
    os._exit(1)


def main(_: Sequence[str]) -> NoReturn:
    """Run the worker: answer requests on standard input until it ends."""
    code = 1
    with suppress(BrokenPipeError, EOFError):
        serve(*standard_streams())
        code = 0
    # a thread waits in the standard input, which would be waited for
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(code)
