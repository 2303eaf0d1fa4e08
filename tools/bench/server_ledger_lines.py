"""A whole ledger on PostgreSQL beside the same one in files: import of CSV, and the first build of the views.

By the clock alone: what the server's processes take is not in the figures of ours.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ledger.journal.settings_file import ServerPlace
from ledger.players.server_stores import sql_of
from ledger.runtime.lazy import psycopg

from .. import output
from ..postgres_servers import Server, installed, running
from .datasets import made_up
from .measuring import in_turns
from .postgres_lines import DURABLE, SCHEMA
from .processes import in_a_process
from .rivals import installed as is_installed
from .table import Line, line

USER = "ledger"
IMPORTED = 1_000_000  # games at most


def server_ledger_lines(folder: Path, rounds: int, games: int) -> Iterator[Line]:
    """Made-up games, brought in and rated, each round into a new database of one server."""
    versions = installed()
    if not versions or not is_installed("psycopg"):
        output.remark("postgres: PostgreSQL 15 or later, or psycopg, is not installed: no ledger on it is measured")
        return
    (data,) = made_up([games], folder)
    data.ledger()  # whatever is compiled and cached is so before anything is measured
    with running(versions[-1], folder.parents[1], **DURABLE) as server, data.scratch() as files:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE USER {USER}")
        places = _databases(server)
        on_server = files / "server" / "club.db"

        def import_onto_server() -> float:
            shutil.rmtree(on_server.parent, ignore_errors=True)
            on_server.parent.mkdir()
            return in_a_process("import", on_server, data.csv(), next(places))["clock"]

        imports: Mapping[str, Callable[[], float]] = {
            "server": import_onto_server,
            "file": lambda: data.imported_again()["clock"],
        }
        imported = in_turns(imports, rounds)
        yield line("postgres-import", data.name, imported["server"], imported["file"], games=data.games)
        builds: Mapping[str, Callable[[], float]] = {
            "server": lambda: in_a_process("build", on_server)["clock"],
            "file": lambda: in_a_process("build", data.ledger())["clock"],
        }
        built = in_turns(builds, rounds)
        yield line("postgres-build", data.name, built["server"], built["file"], games=data.games)


def _databases(server: Server) -> Iterator[str]:
    """New databases in which a ledger may be made; the one before is dropped, for the disk holds many games."""
    before = ""
    for _ in itertools.count():
        name = server.new_database().rpartition("/")[2]
        address = server.url(name, USER)
        with psycopg.connect(server.url(name), autocommit=True) as connection:
            connection.execute(sql_of(ServerPlace(address, SCHEMA)).encode())
            if before:  # what it was written with goes too; roles are the whole server's
                connection.execute(f"DROP DATABASE {before} WITH (FORCE)")
        before = name
        yield address
