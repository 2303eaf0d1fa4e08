"""The server as it is started, for tests that ask it over a network."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep

import httpx

from tests.kit.places import ROOT

PATIENCE = 60.0  # seconds for one answer
TRUST = httpx.create_ssl_context()  # which every client else reads anew from the disk, in 30 ms
MOST_LOOKS = 1_200
ask_server = partial(httpx.request, timeout=PATIENCE, verify=TRUST)


@contextmanager
def serving(path: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server of a ledger, and its address, once it answers."""
    command = [sys.executable, "-m", "tools.cli", "serve", str(path), *words]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        match = re.search(r"served at (\S+);", line)
        assert match is not None, line
        yield process, match[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def until(done: Callable[[], bool]) -> None:
    """Ask again and again until it is so."""
    for _ in range(MOST_LOOKS):
        if done():
            return
        sleep(0.05)
    raise AssertionError


def asked(address: str) -> httpx.Response | None:
    try:
        return ask_server("GET", address)
    except httpx.TransportError:
        return None


def answers(address: str) -> bool:
    """Whether a server answers there."""
    try:
        return ask_server("GET", f"{address}/api/v1").status_code == 200
    except httpx.TransportError:
        return False


def position(address: str) -> int:
    answer = asked(f"{address}/api/v1")
    return 0 if answer is None else int(answer.json()["position"])
