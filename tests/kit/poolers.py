"""A connection pooler before PostgreSQL as poolers are by transactions: one connection to the server for all clients.

Each client is greeted with a number of a process that is none, as PgBouncer does, and has the server's connection from
the first message of a transaction to its end; or, by sessions, a connection of its own.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from tests.kit.postgres import Server

_SSL, _GSS = 80_877_103, 80_877_104  # requests for encryption, which are declined
_NO_PROCESS = b"K" + struct.pack("!iii", 12, 999_999, 1)


def _message(stream: BinaryIO) -> bytes:
    """One message with its type and length; empty at the end."""
    head = stream.read(5)
    return head + stream.read(struct.unpack("!i", head[1:])[0] - 4) if len(head) == 5 else b""


def _startup(stream: BinaryIO, client: socket.socket) -> bytes:
    while True:
        head = stream.read(8)
        if len(head) < 8:
            return b""
        length, code = struct.unpack("!ii", head)
        if code not in (_SSL, _GSS):
            return head + stream.read(length - 8)
        client.sendall(b"N")


class _Link:
    """A connection to the server, with what the server said when it was opened."""

    def __init__(self, port: int, startup: bytes) -> None:
        self.lock = threading.Lock()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rb")
        self.socket.sendall(startup)
        greeting = list(self.until_ready())
        self.greeting = b"".join(_NO_PROCESS if message[:1] == b"K" else message for message in greeting)

    def until_ready(self) -> Iterator[bytes]:
        while message := _message(self.stream):
            yield message
            if message[:1] == b"Z":
                return


class _Pooler:
    def __init__(self, port: int, *, by_transaction: bool) -> None:
        self.port, self.by_transaction = port, by_transaction
        self.links: list[_Link] = []

    def serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as stream, suppress(OSError):
            startup = _startup(stream, client)
            if not startup or struct.unpack("!i", startup[4:8])[0] >> 16 != 3:  # a request to cancel
                return
            if not self.links or not self.by_transaction:
                self.links.append(_Link(self.port, startup))
            link = self.links[-1]
            client.sendall(link.greeting)
            self._relay(stream, client, link)

    def _relay(self, stream: BinaryIO, client: socket.socket, link: _Link) -> None:
        is_ours = False
        while (message := _message(stream)) and message[:1] != b"X":
            if not is_ours:
                is_ours = link.lock.acquire()
            link.socket.sendall(message)
            if message[:1] in (b"Q", b"S"):
                for answer in link.until_ready():
                    client.sendall(answer)
                if answer[-1:] == b"I":
                    link.lock.release()
                    is_ours = False
        if is_ours:
            link.lock.release()


@contextmanager
def pooling(server: Server, *, by_transaction: bool) -> Iterator[int]:
    """A pooler before a server; its port."""
    pooler = _Pooler(server.port, by_transaction=by_transaction)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=pooler.serve, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    for link in pooler.links:
        link.stream.close()
        link.socket.close()
