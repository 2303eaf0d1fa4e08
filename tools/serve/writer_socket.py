"""Messages between the processes that answer and the one that writes, over a socket of this machine.

A message is four bytes of its length, most significant first, and so many bytes of JSON. Who asks sends ``id``,
``verb``, ``token``, ``by`` and ``args``; the answer bears the same ``id`` and ``ok``, or ``problem`` with the fields of
``problems.Problem``. A message that nobody asked for has no ``id``: ``{"views": POSITION}`` when the views came to
another position and when a client connects, ``{"head": SIZE}`` when a checkpoint was signed.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import orjson

from . import problems
from .problems import Fault, Problem, RefusedError

SOCKET = "writer.sock"  # in the folder where the processes of a server meet
_FOLDER = "rating-ledger-"  # begins the name of the folder
_LONGEST_PLACE = 100  # bytes of a path: the address of a socket has room for 103 on some systems, for 107 on Linux
LARGEST = 2 << 20  # bytes of a message: the largest body and what is told with it; files go by their path
PATIENCE = 30.0  # seconds for an answer
MOST_WAITING = 4_096  # questions of one process that have no answer yet
_LENGTH = 4
_AGAIN = (0.05, 0.1, 0.2, 0.5)  # seconds between attempts to connect
_NOT_THERE = "the process that records is not there at present, and nothing was recorded; ask again later"
_NOT_KNOWN = (
    "the process that records ended, or was too slow, before it answered: it is not known whether this was recorded. "
    "Sending the same again is safe: it is recorded once"
)


@contextmanager
def meeting() -> Iterator[Path]:
    """Yield a folder that no other user may enter, in which the processes of a server meet, and uploads wait."""
    place = Path(tempfile.gettempdir()) / f"{_FOLDER}12345678" / SOCKET
    is_too_deep = len(os.fsencode(place)) > _LONGEST_PLACE
    with tempfile.TemporaryDirectory(prefix=_FOLDER, dir="/tmp" if is_too_deep else None) as folder:  # noqa: S108  # made again, 0700
        yield Path(folder)


class Ask(NamedTuple):
    """A question to the writer: the verb, and what it takes."""

    verb: str
    args: Mapping[str, Any]


class MessageTooLongError(Exception):
    """A message is longer than any may be."""


def message(value: Mapping[str, Any]) -> bytes:
    """Return a message as it is sent.

    Raises:
        TooLongError: it is longer than ``LARGEST``.
    """
    body = orjson.dumps(value)
    if len(body) > LARGEST:
        raise MessageTooLongError(f"a message of {len(body):,} bytes, at most {LARGEST:,}")
    return len(body).to_bytes(_LENGTH, "big") + body


async def next_message(stream: asyncio.StreamReader) -> tuple[dict[str, Any], int] | None:
    """Return the next message and its bytes; None where the other end has closed.

    Raises:
        TooLongError: it says to be longer than ``LARGEST``.
        TypeError: it is no JSON object.
        ValueError: it is no JSON.
    """
    try:
        size = int.from_bytes(await stream.readexactly(_LENGTH), "big")
        if size > LARGEST:
            raise MessageTooLongError(f"a message of {size:,} bytes, at most {LARGEST:,}")
        value = orjson.loads(await stream.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    if not isinstance(value, dict):
        raise TypeError("a message is a JSON object")
    return value, size


def problem_of(content: Mapping[str, Any]) -> Problem:
    """Return a problem as it came over the wire."""
    return Problem(**{**content, "errors": [Fault(**fault) for fault in content["errors"]]})


@attrs.define
class _Connection:
    """An open connection, and the questions that were sent over it and have no answer."""

    stream: asyncio.StreamWriter
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = attrs.Factory(dict)


class WriterClient:
    """The one connection of a process to the writer: kept open, and made again when the writer was restarted.

    Attributes:
        views: the latest position of the views.
        head: the latest number of signed entries; 0 before any.
    """

    def __init__(self, folder: Path, *, tell: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        """Say in which folder the writer listens, and what is called with what it says by itself."""
        self._path = str(folder / SOCKET)
        self._tell = tell
        self._numbers = count(1)
        self._connection: _Connection | None = None
        self._changed = asyncio.Event()  # replaced whenever it was set: who waits looks again
        self._task: asyncio.Task[None] | None = None
        self.views, self.head = 0, 0

    def start(self) -> None:
        """Connect, and stay so; to be called within the loop, as who asks does by itself."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Let go."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def ask(
        self,
        verb: str,
        args: Mapping[str, Any],
        *,
        token: str | None = None,
        by: str | None = None,
        patience: float = PATIENCE,
        **more: Any,
    ) -> dict[str, Any]:
        """Return the writer's answer.

        Args:
            verb: what it is to do.
            args: with what.
            token: what proves who asks.
            by: the name that comes with it.
            patience: seconds for the answer.
            more: what else the message says.

        Raises:
            RefusedError: it refuses; or 503: it is not there, or it is not known what it did.
        """
        self.start()
        until = asyncio.get_running_loop().time() + patience
        connection = await self._connected(until)
        if len(connection.waiting) >= MOST_WAITING:
            raise RefusedError(problems.problem(503, "more is being recorded than can be; ask again later"))
        number = next(self._numbers)
        try:
            frame = message({"id": number, "verb": verb, "token": token, "by": by, "args": args, **more})
        except MessageTooLongError as error:
            raise RefusedError(problems.problem(413, str(error))) from None
        answer = asyncio.get_running_loop().create_future()
        connection.waiting[number] = answer
        try:
            connection.stream.write(frame)
            content = await asyncio.wait_for(answer, max(0.0, until - asyncio.get_running_loop().time()))
        except (TimeoutError, ConnectionError):
            raise RefusedError(problems.problem(503, _NOT_KNOWN)) from None
        finally:
            connection.waiting.pop(number, None)
        if "problem" in content:
            raise RefusedError(problem_of(content["problem"]))
        return dict(content["ok"])

    async def until_views(self, position: int, patience: float) -> bool:
        """Wait until the views are at a position; False where they are not after so many seconds."""
        self.start()
        until = asyncio.get_running_loop().time() + patience
        while self.views < position:
            if not await self._change(until):
                return False
        return True

    async def _connected(self, until: float) -> _Connection:
        while self._connection is None:
            if not await self._change(until):
                raise RefusedError(problems.problem(503, _NOT_THERE))
        return self._connection

    async def _change(self, until: float) -> bool:
        """Wait until something is otherwise than it was; False after that time of the loop."""
        try:
            await asyncio.wait_for(self._changed.wait(), max(0.0, until - asyncio.get_running_loop().time()))
        except TimeoutError:
            return False
        return True

    def _tell_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _keep(self) -> None:
        attempts = 0
        while True:
            try:
                reading, writing = await asyncio.open_unix_connection(self._path, limit=LARGEST)
            except OSError:
                await asyncio.sleep(_AGAIN[min(attempts, len(_AGAIN) - 1)])
                attempts += 1
                continue
            attempts = 0
            self._connection = connection = _Connection(writing)
            self._tell_change()
            try:
                with suppress(MessageTooLongError, TypeError, ValueError):  # what speaks so is no writer of ours
                    await self._take(reading, connection)
            finally:
                self._connection = None
                writing.close()
                for answer in connection.waiting.values():
                    if not answer.done():
                        answer.set_exception(ConnectionResetError())

    async def _take(self, reading: asyncio.StreamReader, connection: _Connection) -> None:
        """Take messages until the writer has closed."""
        while (taken := await next_message(reading)) is not None:
            content, _ = taken
            if "id" in content:
                answer = connection.waiting.get(content["id"])
                if answer is not None and not answer.done():
                    answer.set_result(content)
                continue
            self.views = content.get("views", self.views)
            self.head = content.get("head", self.head)
            self._tell_change()
            if self._tell is not None:
                self._tell(content)
