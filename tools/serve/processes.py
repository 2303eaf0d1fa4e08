"""The processes of the server: a parent that starts one writer and some readers, and starts again what dies.

The parent opens the socket and hands it on, so that a reader that is started again takes up the same address. One
server answers for a ledger; commands go on meanwhile.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

import attrs

from ledger.errors import StorageError
from ledger.journal.checkpoints import CheckpointFiles
from ledger.journal.signing_keys import read_key
from ledger.runtime import workers
from ledger.runtime.lazy import filelock
from ledger.runtime.ledger_files import companion_file, journal_file

from .. import output
from .listeners import holder
from .settings import UNIX, Serving
from .writer_socket import meeting

GLANCE = 0.1  # seconds between two looks at the children
ENDS_WITHIN = 12.0  # seconds for a child to end after SIGTERM: a little more than a reader gives its answers
_WAITS = (0.5, 1.0, 2.0, 5.0, 15.0)  # seconds before a child that died is started again, the first time and later
_STEADY = 60.0  # seconds after which a child that dies counts as one that died for the first time


@attrs.define
class _Child:
    """A process, how it is started, when that was, how often it died soon after, and when it may be started again."""

    name: str
    command: Sequence[str]
    descriptors: Sequence[int]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    again: float = 0.0

    def start(self) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # our own code
            workers.command(*self.command),
            env=workers.environment(),
            pass_fds=self.descriptors,
            stdin=subprocess.DEVNULL,
        )
        self.started = time.monotonic()

    def look(self) -> None:
        """Start it again where it has died and it is time to."""
        now = time.monotonic()
        if self.process is not None and (code := self.process.poll()) is not None:
            self.deaths = 1 if now - self.started > _STEADY else self.deaths + 1
            wait = _WAITS[min(self.deaths, len(_WAITS)) - 1]
            output.error(f"{self.name} ended (exit code {code}); it is started again in {wait:g} s")
            self.process, self.again = None, now + wait
        if self.process is None and now >= self.again:
            self.start()


def serve(serving: Serving, stopped: Event) -> None:
    """Serve a ledger until it is stopped; its views are level.

    Raises:
        StorageError: another server answers for it, or the address cannot be had.
    """
    with _alone(serving), _listening(serving.listen) as listening, meeting() as folder, _held_pipe() as pipe:
        address = _address(serving.listen, listening)
        handed = attrs.evolve(
            serving,
            folder=folder,
            verifier=_verifier(CheckpointFiles(serving.path)),
            public_url=serving.public_url or (address if address.startswith("http") else None),
        )
        children = [_Child("the process that records", [f"{__package__}.writer", handed.as_json(), str(pipe)], (pipe,))]
        for number in range(1, serving.readers + 1):
            command = [f"{__package__}.reading", handed.as_json(), str(listening.fileno()), str(pipe)]
            children.append(_Child(f"reader {number}", command, (listening.fileno(), pipe)))
        try:
            for child in children:
                child.start()
            at = address if serving.public_url is None else f"{serving.public_url}; listening at {address}"
            output.remark(f"{serving.path}: served at {at}; Ctrl-C or SIGTERM ends it")
            for line in (*_told_of_the_log(serving), *told_of_the_proxy(serving)):
                output.remark(line)
            while not stopped.wait(GLANCE):
                for child in children:
                    child.look()
        finally:
            _end(children)


@contextmanager
def _held_pipe() -> Iterator[int]:
    """Yield the end of a pipe that children inherit; the other one is closed when this process ends, for any reason."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(writing)
        os.close(reading)


def told_of_the_proxy(serving: Serving) -> Iterator[str]:
    """Yield warnings about the clients that the server sees through a proxy."""
    is_unix = serving.listen.startswith(UNIX)
    if serving.behind_proxy is None and (is_unix or (serving.public_url or "").startswith("https:")):
        which = "unix" if is_unix else "ADDRESS"
        yield (
            "no proxy is named, so that nobody's requests are counted who comes by one of this machine: "
            f"--behind-proxy {which} takes its word for who asks"
        )
    elif not is_unix and "unix" in (serving.behind_proxy or "").split(","):
        yield f"--behind-proxy unix says nothing where it listens at {serving.listen}: give the address of the proxy"


def _verifier(files: CheckpointFiles) -> str | None:
    """Return the public half of the key, which pages show; readers never see the other one."""
    try:
        return read_key(files.key_file).verifier if files.key_file.exists() else None
    except StorageError as error:
        output.error(str(error))
        return None


def _told_of_the_log(serving: Serving) -> Iterator[str]:
    """Yield warnings about what the world may read of the journal."""
    if serving.log == "off":
        return
    if serving.log == "entries":
        yield (
            "log: entries: whoever asks may read and keep all that the journal's entries hold: officers' names, "
            "players' years of birth, standings"
        )
    files = CheckpointFiles(serving.path)
    last = files.last()
    name = last.origin if last is not None else read_key(files.key_file).name if files.key_file.exists() else None
    where = (serving.public_url or "").partition("://")[2]
    if name is not None and where and name != where:
        yield (
            f"log: its key is called {name!r}, but it is read at {where!r}: others look for a log where its key is "
            f"called (C2SP tlog-tiles); --public-url says where it is read"
        )


def _end(children: Sequence[_Child]) -> None:
    """Let all end what they are doing, at the same time."""
    running = [child.process for child in children if child.process is not None]
    for process in running:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
    until = time.monotonic() + ENDS_WITHIN
    for process in running:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _alone(serving: Serving) -> Iterator[None]:
    """No other server answers for this ledger meanwhile."""
    path = journal_file(serving.path)
    lock, says = companion_file(path, "serve.lock"), companion_file(path, "serving")
    try:
        with filelock.FileLock(lock, timeout=0):
            says.write_text(f"process {os.getpid()} at {serving.listen}\n", "utf-8")
            try:
                yield
            finally:
                says.unlink(missing_ok=True)
    except filelock.Timeout:
        who = says.read_text("utf-8").strip() if says.exists() else "another process"
        raise StorageError(str(path), f"is served already, by {who}: end that first") from None
    except OSError as error:
        raise StorageError(str(lock), f"cannot be made: {error.strerror or error}") from error


@contextmanager
def _listening(listen: str) -> Iterator[socket.socket]:
    """Yield the open socket of an address, which children may take over.

    Raises:
        StorageError: it cannot be had.
    """
    place = listen.removeprefix(UNIX)
    is_unix = listen.startswith(UNIX)
    host, _, port = listen.rpartition(":")
    family = socket.AF_UNIX if is_unix else socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family)
    try:
        if is_unix:
            if Path(place).is_socket() and not _is_answered(place):
                Path(place).unlink()  # left by a server that was killed
            made.bind(place)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host.strip("[]"), int(port)))
        made.listen(1024)
    except (OSError, OverflowError, ValueError) as error:
        made.close()
        what = getattr(error, "strerror", None) or error
        if getattr(error, "errno", None) == errno.EADDRINUSE and (who := holder(place if is_unix else int(port))):
            what = f"{what} by {who}"
        raise StorageError(listen, f"cannot be listened at: {what}; give another --listen") from error
    with made:
        made.set_inheritable(True)
        try:
            yield made
        finally:
            if is_unix:
                Path(place).unlink(missing_ok=True)


def _is_answered(place: str) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        return asking.connect_ex(place) == 0


def _address(listen: str, listening: socket.socket) -> str:
    """Return the address for a browser; if any port was allowed, with the one that the system chose."""
    if listen.startswith(UNIX):
        return listen
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
