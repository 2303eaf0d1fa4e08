"""The club that the tests of the server serve; the server within the test, and as it is started, over a network."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import httpx

from tests.kit.places import ROOT
from tools.serve.application import application
from tools.serve.middleware import Gate
from tools.serve.readers import Reader
from tools.serve.settings import Serving

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


def is_there(process: int) -> bool:
    """Return whether a process runs."""
    return Path(f"/proc/{process}/exe").exists()


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


def getting(reader: Reader) -> Get:
    """Return what asks for an address behind the prefix, or for a whole one."""

    def get(address: str, method: str = "GET", **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
                return await client.request(method, address if "://" in address else f"/api/v1{address}", **more)

        # A loop for each question: what belongs to one is made anew.
        reader.take_turns()
        return asyncio.run(asked())

    app = Gate(application(reader), Serving(path=reader.path))
    return get
