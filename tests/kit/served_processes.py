"""The club that the tests of the server serve, and the server as it is started, for tests over a network."""

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

SITE = "https://ratings.example.org/club"
Get = Callable[..., httpx.Response]
REASON, OFFICER, OTHER_OFFICER = "a secret reason", "officer-eve", "officer-adam"

EVIL_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'; DROP TABLE people; -- {{ 7*7 }} {% raise %}",
    "\u202egnp.exe\u2066 \u200babc",
    "\u05d0\u05d1\u05d2 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "Wolfeschlegelsteinhausenbergerdorff" * 3,
)
EVIL_TOURNAMENTS = ("Cup 2023/24", '<b>Cup</b> & "more"', "..", "a?b#c%2F", "x/../../y", "Open")

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
