"""The server of a run is one for all its workers, and ends with the last of them, however that one ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TextIO, cast

import psycopg

from tests.kit.places import ROOT
from tests.kit.served_processes import until
from tools.servers_guard import members

WORKER = """
import sys, time
from pathlib import Path
from tests.kit import postgres
server = postgres.shared(Path(sys.argv[1]))
print(server.folder, server.new_database(), flush=True)
time.sleep(600)
"""
ALONE = """
import time
from tests.kit import postgres
with postgres.running(postgres.needed()) as server:
    print(server.folder, server.url(), flush=True)
    time.sleep(600)
"""


@contextmanager
def begun(code: str, *words: object) -> Iterator[tuple[Path, str]]:
    """A process that has a server, and is killed in the end: the server's folder and the address of a database."""
    command = [sys.executable, "-c", code, *map(str, words)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with closing(cast("TextIO", process.stdout)) as said:
        try:
            folder, address = said.readline().split()
            yield Path(folder), address
        finally:
            process.kill()
            process.wait()


def is_gone(folder: Path) -> bool:
    return not folder.exists() and members(folder) == []


def test_workers_share_a_server_which_ends_when_the_last_of_them_is_killed(tmp_path: Path) -> None:
    with ExitStack() as second:
        with begun(WORKER, tmp_path) as (folder, address):
            same_folder, another = second.enter_context(begun(WORKER, tmp_path))
            assert (same_folder, another == address) == (folder, False)
        psycopg.connect(another).close()
    until(lambda: is_gone(folder))


def test_a_server_ends_when_the_process_that_runs_it_is_killed() -> None:
    with begun(ALONE) as (folder, _):
        assert not is_gone(folder)
    until(lambda: is_gone(folder))


def test_whoever_comes_after_a_server_ended_starts_another_one(tmp_path: Path) -> None:
    with begun(WORKER, tmp_path) as (folder, _):
        pass
    until(lambda: is_gone(folder))
    with begun(WORKER, tmp_path) as (another, address):
        assert another != folder
        psycopg.connect(address).close()
    until(lambda: is_gone(another))
