"""A process of its own that does nothing but read rows of one SQLite file as Arrow columns: ``python -m`` this module.

The ADBC driver reads columns at a third of the cost of Python's rows, and brings an SQLite library of its own; two
libraries in one process that have one file open drop each other's locks: so it reads here, where nothing else has the
file open (see ``table_reader``). connectorx 0.4 and DuckDB 1.5's scanner take as long for the same rows, and two
processes longer, for SQLite gives cell by cell. The file is opened for reading only, and everything is read in one
transaction.
"""

from __future__ import annotations

import signal
import struct
import sys
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from ledger.runtime.lazy import adbc_manager, adbc_sqlite, pl

if TYPE_CHECKING:
    from polars import DataFrame

LENGTH = struct.Struct(">q")  # before each query, and before the rows of each answer
BATCH_ROWS = 65_536
WAITING_MS = 60_000  # for somebody who holds a lock on the file


def serve(uri: str, queries: BinaryIO, answers: BinaryIO) -> None:
    """Answer each query with its rows as an Arrow IPC stream, until there are no more queries.

    Each query is its length and its words; so is each answer. The first row of a query only says of which type each
    column is, for the driver takes that from the first rows: it is left out of the answer.
    """
    database = adbc_sqlite.connect(uri)
    connection = adbc_manager.AdbcConnection(database)
    try:
        for pragma in (f"busy_timeout={WAITING_MS}", "query_only=ON", "trusted_schema=OFF", "cache_size=-65536"):
            _rows(connection, f"PRAGMA {pragma}")
        connection.set_autocommit(enabled=False)
        while len(header := queries.read(LENGTH.size)) == LENGTH.size:
            (size,) = LENGTH.unpack(header)
            rows = _rows(connection, queries.read(size).decode())
            content = BytesIO()
            rows[1:].write_ipc_stream(content, compat_level=pl.CompatLevel.oldest())
            answers.write(LENGTH.pack(content.tell()))
            answers.write(content.getbuffer())
            answers.flush()
    finally:
        connection.close()
        database.close()


def _rows(connection: adbc_manager.AdbcConnection, query: str) -> DataFrame:
    with adbc_manager.AdbcStatement(connection) as statement:
        statement.set_options(**{adbc_sqlite.StatementOptions.BATCH_ROWS.value: BATCH_ROWS})
        statement.set_sql_query(query)
        stream, _ = statement.execute_query()
        return pl.DataFrame(stream)


def main(arguments: Sequence[str]) -> int:
    """Serve the file whose address stands first; what fails is the last answer, with a negative length."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    answers = sys.stdout.buffer
    try:
        serve(arguments[0], sys.stdin.buffer, answers)
    except BrokenPipeError:
        return 1
    except (adbc_manager.Error, OSError, ValueError, RuntimeError) as error:
        words = " ".join(str(error).split()).encode()
        answers.write(LENGTH.pack(-len(words)) + words)
        answers.flush()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
