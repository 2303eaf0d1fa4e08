"""HTTP byte by byte: a server within the test, and clients that say what no library would."""

import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.types import ASGIApp

from tools.serve.connections import ReadingServer
from tools.serve.settings import Serving

PATIENCE = 30.0  # seconds for whatever is waited for
Server = tuple[ReadingServer, int]  # and its port


@contextmanager
def running(
    app: ASGIApp,
    serving: Serving | None = None,
    place: Path | None = None,
    end: Callable[[], None] | None = None,
    ends_within: int = 1,
) -> Iterator[Server]:
    """A server of a reader in a thread of the test, so that its limits can be other ones.

    Args:
        app: what answers.
        serving: how it is served.
        place: of its socket of this machine; None: it has a port.
        end: called when it is to end.
        ends_within: seconds for what is being answered then.
    """
    server = ReadingServer(app, serving or Serving(path=Path("club.db")), ends_within, end)
    with socket.create_server(("127.0.0.1", 0)) if place is None else _at(place) as listening:
        port = listening.getsockname()[1] if place is None else 0
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield server, port
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def _at(place: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place))
    place.chmod(0o666)  # the proxy of a test is another user
    listening.listen(64)
    return listening


def connected(port: int) -> socket.socket:
    """A connection to a server of this machine."""
    client = socket.create_connection(("127.0.0.1", port), PATIENCE)
    client.settimeout(PATIENCE)
    return client


def everything(client: socket.socket) -> bytes:
    """What a server says until it ends the connection, which it must."""
    told = b""
    try:
        while more := client.recv(65_536):
            told += more
    except ConnectionResetError:
        pass
    return told


def said(port: int, words: bytes) -> bytes:
    """What a server answers to these words, until it ends the connection."""
    with connected(port) as client:
        client.sendall(words)
        return everything(client)


def statuses(told: bytes) -> list[int]:
    """The statuses of all answers in what was told."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", told)]


def said_before_cut_off(client: socket.socket, words: bytes, every: float) -> int:
    """How many of these words, said a byte at a time, a server hears before it cuts the client off."""
    answers = select.poll()  # select itself takes no descriptor above 1,023
    answers.register(client, select.POLLIN)
    for place in range(len(words)):
        try:
            client.sendall(words[place : place + 1])
        except (BrokenPipeError, ConnectionResetError):
            return place
        time.sleep(every)
        if answers.poll(0) and not _still_open(client):
            return place
    return len(words)


def _still_open(client: socket.socket) -> bool:
    try:
        return bool(client.recv(65_536))
    except ConnectionResetError:
        return False
