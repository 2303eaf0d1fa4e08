"""Every table of the views, copied to PostgreSQL: beside what psql takes to copy the same rows from files of CSV.

psql reads rows that are ready and makes no keys; ours are read from SQLite, get keys, indexes and statistics, and are
in place all at once. The second time nothing differs, which ours finds by comparing every row. By the clock alone: what
the server's processes take belongs to both.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from ledger.answers.exports.exporting import snapshot
from ledger.answers.exports.server_copy import copy_tables
from ledger.answers.exports.server_tables import server_tables
from ledger.ledger import Ledger
from ledger.runtime.lazy import psycopg
from ledger.runtime.postgres import quoted

from .. import output
from ..postgres_servers import Server, installed, running
from .datasets import made_up
from .measuring import SecondsTaken, cost_of, in_turns
from .postgres_lines import DURABLE
from .rivals import installed as is_installed
from .table import Line, line

EXPORTED = 200_000  # games at most
SCHEMA = "ratings"


def server_copy_lines(folder: Path, rounds: int, games: int) -> Iterator[Line]:
    """The ledger of made-up games, copied into a new schema, and once more over the copy."""
    versions, psql = installed(), shutil.which("psql")
    if not versions or psql is None or not is_installed("psycopg"):
        output.remark("postgres: PostgreSQL 15 or later, psql or psycopg is not installed: no copy is measured")
        return
    (data,) = made_up([min(games, EXPORTED)], folder)
    with (
        Ledger.open(data.ledger()) as ledger,
        data.scratch() as files,
        running(versions[0], folder.parents[1], **DURABLE) as server,
    ):
        ledger.level()
        _write_files(ledger, files)
        standing = server.new_database()
        copy_tables(ledger, standing, SCHEMA)
        works: Mapping[str, Callable[[], SecondsTaken]] = {
            "ours": lambda: cost_of(partial(copy_tables, ledger, server.new_database(), SCHEMA)),
            "psql": lambda: _copied_by_psql(server, standing, files, psql),
            "again": lambda: cost_of(partial(copy_tables, ledger, standing, SCHEMA)),
        }
        measured = in_turns(works, rounds)
    psql_seconds = [cost.clock for cost in measured["psql"]]
    for name, work in (("postgres-export", "ours"), ("postgres-export-again", "again")):
        yield line(name, data.name, [cost.clock for cost in measured[work]], psql_seconds)


def _write_files(ledger: Ledger, files: Path) -> None:
    with snapshot(ledger) as (reader, _):
        for table in server_tables(ledger):
            with (files / table.name).open("wb") as file:
                file.writelines(map(table.csv, table.rows(reader)))


def _copied_by_psql(server: Server, standing: str, files: Path, psql: str) -> SecondsTaken:
    """Into tables like those that stand, without keys, in a database of their own."""
    address = server.new_database()
    with psycopg.connect(standing) as connection:
        rows = connection.execute(
            "SELECT relname::text, string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' "
            "ORDER BY attnum) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 "
            "WHERE relnamespace = %s::regnamespace AND relkind = 'r' GROUP BY 1",
            [SCHEMA],
        ).fetchall()
    tables = {name: columns for name, columns in rows if (files / name).exists()}
    with psycopg.connect(address, autocommit=True) as connection:
        for name, columns in tables.items():
            connection.execute(f"CREATE TABLE {quoted(name)}({columns})".encode())
    copies = [f"\\copy {quoted(name)} FROM '{files / name}' (FORMAT csv)" for name in tables]
    words = [word for copy in copies for word in ("-c", copy)]
    return cost_of(partial(subprocess.run, [psql, "-q", "-v", "ON_ERROR_STOP=1", address, *words], check=True))
