"""What each listener to the stream of entries costs the server: real connections, over a socket of the machine."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ledger.facts.events import GameRecorded
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger

from ..serve.wire import meeting
from .processes import PROC, descendants
from .table import Line, line

KIB = 1024
BOUND = 30.0  # KiB each
BEFORE = 50  # listeners that came and went before anything is measured: what is loaded once is no listener's
PATIENCE = 60.0  # seconds for an answer
SPARE_FILES = 200
ROOT = Path(__file__).parents[2]
_ASKED = b"GET /api/v1/stream HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n"


def listener_lines(folder: Path, rounds: int, listeners: int) -> Iterator[Line]:
    """Resident memory of the process that answers, with so many listeners and without, after each heard one game."""
    most = listeners + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(most, hard)), hard))
    figures = [_figure(folder / f"round-{number}", listeners) for number in range(rounds)]
    yield line("listener", f"{listeners:,}", figures, BOUND)


def _figure(folder: Path, listeners: int) -> float:
    """KiB of each listener."""
    folder.mkdir()
    path = folder / "club.db"
    with Ledger.create(path) as ledger:
        for name in ("ann", "bob"):
            ledger.register(f"name:{name}", name)
        ledger.level()
    with meeting() as meeting_folder, _served(path, meeting_folder / "s") as reader:
        for _ in range(2):
            with ExitStack() as gone:
                _listen(gone, meeting_folder / "s", BEFORE, path)
        time.sleep(1.0)
        before = _resident(reader)
        with ExitStack() as open_ones:
            _listen(open_ones, meeting_folder / "s", listeners, path)
            return max(1, _resident(reader) - before) / listeners / KIB


def _listen(open_ones: ExitStack, place: Path, listeners: int, path: Path) -> None:
    """So many listeners, each of whom has heard a game."""
    clients = []
    for _ in range(listeners):
        client = open_ones.enter_context(socket.socket(socket.AF_UNIX))
        client.connect(str(place))  # which waits where too many come at once: with a time limit it would fail
        client.settimeout(PATIENCE)
        client.sendall(_ASKED)
        clients.append(client)
    for client in clients:
        _until(client, b"retry: ")
    with Ledger.open(path) as ledger:
        number = ledger.journal.size()
        game = GameRecorded(
            game=f"bench:{number}", pool="standard", white=1, black=2, outcome=Outcome.WHITE,
            termination=Termination.CHECKMATE,
            half_moves=60, ended_at="2024-05-31", rated=True,
        )  # fmt: skip
        ledger.append(game)
    for client in clients:
        _until(client, b"bench:%d" % number)


def _until(client: socket.socket, words: bytes) -> None:
    heard = b""
    while words not in heard:
        more = client.recv(65_536)
        if not more:
            raise ConnectionError(f"a listener was cut off before it heard {words!r}")
        heard += more


@contextmanager
def _served(path: Path, place: Path) -> Iterator[int]:
    """The server of a ledger at a socket; the number of the process that answers."""
    words = ("--listen", f"unix:{place}", "--behind-proxy", "unix", "--public-url", "https://bench.example")
    command = [sys.executable, "-P", "-m", "tools.cli", "serve", str(path), *words]
    with subprocess.Popen(command, cwd=ROOT, env=None, stderr=subprocess.DEVNULL) as process:  # noqa: S603  # our own
        try:
            yield _reader(process.pid, place)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def _reader(pid: int, place: Path) -> int:
    """The process that answers, once it does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            if client.connect_ex(str(place)) == 0:
                client.sendall(_ASKED)
                _until(client, b"retry: ")
                return next(child for child in descendants(pid) if b".reading" in _command(child))
        time.sleep(0.1)
    raise TimeoutError("the server does not answer")


def _command(pid: int) -> bytes:
    return (PROC / str(pid) / "cmdline").read_bytes()


def _resident(pid: int) -> int:
    """Resident memory, bytes."""
    fields = (PROC / str(pid) / "status").read_text("utf-8").splitlines()
    return next(int(field.split()[1]) * KIB for field in fields if field.startswith("VmRSS:"))
