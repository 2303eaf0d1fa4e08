"""Servers of PostgreSQL for tests: one of each version for a whole run, and databases that begin as copies."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest

from ledger.runtime.lazy import filelock, psycopg
from tools.postgres_servers import Programs, Server, guarded, installed, new_folder, running, started

__all__ = ["Programs", "Server", "installed", "needed", "new_copy", "running", "shared"]


def needed(newest: bool = False) -> Programs:
    """The oldest version that is here, or the newest; the test is skipped where there is none."""
    versions = installed()
    if not versions:
        pytest.skip("PostgreSQL 15 or later is not installed: as root, apt-get install postgresql")
    return versions[-1 if newest else 0]


@cache
def shared(place: Path, *, newest: bool = False) -> Server:
    """Return the server that all workers of a run share; the first worker to ask starts it.

    It has the users ``member``, ``reader`` and ``locked``, who needs a password.

    Each of them holds a pipe to the server's guard until its process ends. When the last one has ended, however that
    happened, the guard ends the server.

    Args:
        place: a folder of the run, the same one for all workers.
        newest: of the newest version instead of the oldest.
    """
    programs = needed(newest)
    note = place / f"postgres-{programs.version}"
    with filelock.FileLock(f"{note}.lock"):
        with suppress(OSError):  # no server yet; or no guard reads its pipe any more
            folder, port = json.loads(note.read_text("utf-8"))
            os.open(Path(folder, "held"), os.O_WRONLY | os.O_NONBLOCK)
            return Server(programs, Path(folder), port)
        server = _new_shared_server(programs)
        note.write_text(json.dumps([str(server.folder), server.port]), "utf-8")
        return server


def _new_shared_server(programs: Programs) -> Server:
    folder = new_folder()
    pipe = folder / "held"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.open(pipe, os.O_WRONLY)
    os.set_blocking(reading, True)
    guard = guarded(folder, reading)
    os.close(reading)
    # A worker of autovacuum would visit each of the hundreds of databases every minute.
    server = started(programs, folder, jit="off", autovacuum="off")
    atexit.register(lambda: guard)  # kept: Python complains of a process that is forgotten while it runs
    rules = folder / "data" / "pg_hba.conf"
    rules.write_text(f"host all locked 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    with closing(psycopg.connect(server.url(), autocommit=True)) as connection:
        connection.execute("CREATE USER locked PASSWORD 'right'")
        connection.execute("SELECT pg_reload_conf()")
        # Two workers that made a role at once would be in each other's way; whoever makes a ledger takes one that is.
        for role in (f"club{names}_{word}" for names in ("", "_names") for word in ("owner", "writer", "reader")):
            connection.execute(f"CREATE ROLE {role}".encode())
        for user in ("member", "reader"):
            connection.execute(f"CREATE USER {user}".encode())
    return server


def new_copy(server: Server, fill: Callable[[str], None]) -> str:
    """Return the address of a new database that has what *fill* puts into one; that is done once for a server."""
    return server.new_database(template=_template(server, fill))


@cache
def _template(server: Server, fill: Callable[[str], None]) -> str:
    name = f"like_{fill.__name__}"
    with closing(psycopg.connect(server.url(), autocommit=True)) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])  # another worker may be filling it
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            address = server.new_database()
            fill(address)
            connection.execute(f"ALTER DATABASE {address.rpartition('/')[2]} RENAME TO {name}".encode())
    return name
