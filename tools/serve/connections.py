"""Connections of a reader, which uvicorn keeps and for which it has no time limit but between two requests.

A client that says its headers or takes its answer a byte at a time holds a connection for ever there. Here all are
looked at once a second; what takes longer than ``limits`` allows is cut off. Only h11 reads requests: the faster parser
that uvicorn takes where it is installed sees the end of some in another place.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, ClassVar, cast

import h11
from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from . import limits, problems, safety
from .clients import Proxies, counted_as
from .safety import AnswerKind
from .settings import Serving

LOOKS_EVERY = 1.0  # seconds
ENDLESS = "ledger.endless"  # in the state of a request whose answer goes on until the server ends


class Together:
    """A transport that sends in one go what is written in one go: an answer's head and its body.

    Each sending is a system call, and wakes the reader. uvicorn writes the two one after the other.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        """Take the place of a transport."""
        self._transport, self._loop = transport, asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        """Return other attributes of the transport."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send soon, with what is written until then; much is sent at once."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > limits.TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Send what was written."""
        if self._parts:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts, self._size = [], 0
            if not self._transport.is_closing():  # it was cut off meanwhile
                self._transport.write(data)

    def get_write_buffer_size(self) -> int:
        """Bytes that were written and not sent."""
        return self._size + self._transport.get_write_buffer_size()

    def write_eof(self) -> None:
        """Close our half, behind what was written."""
        self.flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Close, behind what was written."""
        self.flush()
        self._transport.close()


class Connection(H11Protocol):
    """One connection, and since when it is in its present state."""

    keeper: ClassVar[ReadingServer]  # set in a class of each server's own
    since: float  # when the head of a request began, or the last answer was handed over
    answered: int = 0  # bytes of that answer that were still to be sent
    stalled: float | None = None  # since when the client takes nothing of an answer that goes on
    lingers: bool = False  # whether it was answered for the last time, and only the client still speaks

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take up a connection, where there is room for one."""
        super().connection_made(cast("asyncio.Transport", Together(transport)))
        self.since = time.monotonic()
        self.counts_as = self.keeper.counted(self.client)
        self.keeper.of_one[self.counts_as] += 1
        if not self.keeper.has_room(self.counts_as):
            self._say(503, "there are too many connections: come again later")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.keeper.of_one[self.counts_as] -= 1
        if not self.keeper.of_one[self.counts_as]:
            del self.keeper.of_one[self.counts_as]

    def data_received(self, data: bytes) -> None:
        """Read what came; what a client says after it was answered for the last time is thrown away."""
        if self.lingers or self.transport.is_closing():
            return
        if self._is_idle() and self.cycle is not None and not self.conn.trailing_data[0]:
            self.since = time.monotonic()  # the first byte of a further request
        super().data_received(data)

    def eof_received(self) -> None:
        """End a connection on which the client says no more, where nothing is to be answered any more."""
        if self.lingers:
            self.transport.close()

    def pause_writing(self) -> None:
        """Note that the client takes less than it is sent."""
        self.stalled = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that it has caught up."""
        self.stalled = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Say that this was no HTTP; uvicorn calls it while it handles the reason."""
        reason = sys.exc_info()[1]
        status = reason.error_status_hint if isinstance(reason, h11.RemoteProtocolError) else 400
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.abort()  # another answer in the middle of this one would look like a part of it
                return
        self._say(status, f"this is not HTTP/1.1: {reason or msg}")

    def on_response_complete(self) -> None:
        """Begin with the next request, or let the client finish what it was still saying."""
        self.since, self.answered = time.monotonic(), self.transport.get_write_buffer_size()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._linger()
            return
        super().on_response_complete()

    def shutdown(self) -> None:
        """End when what is being answered is; who takes nothing of a stream is not waited for."""
        if self.lingers:
            self.transport.close()
        elif self.stalled is not None and self.cycle is not None and ENDLESS in self.cycle.scope["state"]:
            self.transport.abort()
        else:
            super().shutdown()

    def ends_at(self) -> float:
        """When it is cut off if it stays as it is."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.stalled is not None and (is_answering or self.cycle is None):
            return self.stalled + limits.ANSWER_GRACE
        if self.transport.get_write_buffer_size() and not is_answering:  # a stream may go on for days
            return self.since + limits.ANSWER_GRACE + self.answered / limits.LEAST_RATE
        if self.lingers or self.transport.is_closing():
            return self.since + limits.LINGER
        if self._is_idle():
            return self.since + limits.HEAD_WITHIN
        return float("inf")  # a request is being answered: its body has a time of its own

    def _is_idle(self) -> bool:
        return self.conn.our_state is h11.IDLE and self.conn.their_state is h11.IDLE

    def _linger(self) -> None:
        """Close our half, so that the answer arrives, and read on for a moment.

        To close all at once while a client still sends would reset the connection, and the answer would be lost.
        """
        self.lingers, self.since = True, time.monotonic()
        self.flow.resume_reading()
        self.transport.write_eof()

    def _say(self, status: int, detail: str) -> None:
        """Answer what was not understood, and end the connection."""
        body = problems.problem(status, detail).body()
        headers = {
            "Content-Type": problems.MEDIA,
            "Content-Length": str(len(body)),
            "Connection": "close",
            **safety.headers(AnswerKind.DATA, index=False),
            **problems.headers(status),
        }
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {headers[name]}" for name in headers)]
        self.transport.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        self._linger()


class ReadingServer(Server):
    """uvicorn's server, which looks at its connections once a second."""

    def __init__(self, app: ASGIApp, serving: Serving, ends_within: int, end: Callable[[], None] | None = None) -> None:
        """Serve an application.

        Args:
            app: what answers.
            serving: how it is served.
            ends_within: seconds for what is being answered when it is to end.
            end: called then; ends what would go on.
        """
        self._end = end
        self.of_one: Counter[str | None] = Counter()
        self._proxies = Proxies.of(serving.behind_proxy)
        self._most = min(limits.CONNECTIONS, open_files() - limits.SPARE_FILES)
        self._looked = 0.0
        config = Config(
            app,
            http=type("ItsConnection", (Connection,), {"keeper": self}),
            ws="none",
            lifespan="off",
            log_level="error",  # of each request that is no HTTP there is a warning: strangers could fill the log
            access_log=False,
            server_header=False,
            proxy_headers=False,  # ``middleware`` reads them
            h11_max_incomplete_event_size=limits.TARGET_BYTES + limits.HEADER_BYTES,
            timeout_graceful_shutdown=ends_within,
        )
        super().__init__(config)

    def counted(self, client: tuple[str, int] | None) -> str | None:
        """Return the name by which a connection is counted; None: it is not."""
        peer = None if client is None else client[0]
        return None if self._proxies.trusts(peer) else counted_as(peer)

    def has_room(self, counts_as: str | None) -> bool:
        """Return whether there is room for the latest connection."""
        of_one = counts_as is not None and self.of_one[counts_as] > limits.CONNECTIONS_OF_ONE
        return not of_one and len(self.server_state.connections) <= self._most

    async def on_tick(self, counter: int) -> bool:
        """Do what uvicorn does ten times a second, and look after the connections."""
        now = time.monotonic()
        if now - self._looked >= LOOKS_EVERY:
            self._looked = now
            self._cut_off(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams at once, other answers when they are whole."""
        if self._end is not None:
            self._end()
        await super().shutdown(sockets)

    def _cut_off(self, now: float) -> None:
        """Cut off what takes too long, and those who leave most untaken where it is too much."""
        waiting = 0
        for connection in list(self.server_state.connections):
            if not isinstance(connection, Connection):
                continue
            if connection.ends_at() <= now:
                connection.transport.abort()
            else:
                waiting += connection.transport.get_write_buffer_size()
        while waiting > limits.WAITING_BYTES:
            largest = max(self.server_state.connections, key=lambda each: each.transport.get_write_buffer_size())
            waiting -= largest.transport.get_write_buffer_size()
            largest.transport.abort()


def open_files() -> int:
    """Return how many files this process may open, after asking for as many as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = limits.CONNECTIONS + limits.SPARE_FILES
    if soft < enough:
        soft = min(hard, enough)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
