"""News of the journal, sent at once to clients that wait for entries and to listeners of the stream.

The stream is one of server-sent events (HTML standard, 9.2), as of 2026. A single task of each process reads what is
new, once for all who listen, for as long as anybody does; each listener takes the bytes that it made. Who comes with an
older position is told from there, page by page. What waits to be taken is bounded for each (``connections``).
"""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from urllib.parse import parse_qsl

import orjson
from starlette.types import Message, Receive, Scope, Send

from ledger.answers.recorded_entries import RecordedEntry, entries_after
from ledger.answers.rows import as_row
from ledger.errors import LedgerError, UnknownNameError

from .. import output
from . import problems
from .connections import ENDLESS
from .parameters import BadValue, parse_query, whole
from .problems import RefusedError
from .readers import Reader
from .routes import STREAM
from .writer_socket import WriterClient

MEDIA = "text/event-stream; charset=utf-8"
RETRY = 3_000  # milliseconds after which a listener whose stream ended comes again
HEARTBEAT = 15.0  # seconds after which a listener is sent something, so that no proxy takes the line for dead
GLANCE = 0.25  # seconds between two looks for news if no writer announces them …
TOLD_GLANCE = 2.0  # … and where one does
PAGE = 256  # entries that are read at once
RECENT_BYTES = 1 << 20  # of events that are kept for all; who is further behind is read for
PIECE_BYTES = 32 * 1024  # handed over at once; a single event may be longer
MOST_PIECES = 64  # that are kept
A_TURN = 128  # listeners that are woken before anybody else has a turn
_BEAT = b":\n\n"


class Recent:
    """The last events as they are sent, one for each entry."""

    def __init__(self, before: int) -> None:
        """Begin behind a position."""
        self.before = before  # position of the entry before the first one that is kept
        self._events: deque[bytes] = deque()
        self._size = 0
        self._pieces: dict[int, tuple[bytes, int]] = {}  # most listeners are at one position: made once for all

    @property
    def position(self) -> int:
        """Position of the last one."""
        return self.before + len(self._events)

    def add(self, events: Iterable[bytes]) -> None:
        """Take further events; the oldest ones go where there are too many."""
        for event in events:
            self._events.append(event)
            self._size += len(event)
        while self._size > RECENT_BYTES:
            self._size -= len(self._events.popleft())
            self.before += 1
        self._pieces.clear()

    def after(self, position: int) -> tuple[bytes, int] | None:
        """Return the news after a position, up to a piece, and the position that it reaches; None if they are gone."""
        if position < self.before:
            return None
        if position not in self._pieces:
            if len(self._pieces) == MOST_PIECES:  # strangers may ask from each position, and nothing be new for hours
                self._pieces.clear()
            self._pieces[position] = _piece(islice(self._events, position - self.before, None), position)
        return self._pieces[position]


def _piece(events: Iterable[bytes], position: int) -> tuple[bytes, int]:
    """Return the first events, as many as a piece has room for, and the position that they reach."""
    piece = bytearray()
    for event in events:
        if piece and len(piece) + len(event) > PIECE_BYTES:
            break
        piece += event
        position += 1
    return bytes(piece), position


class Feed:
    """The news of one process that answers, and everybody who waits for them."""

    def __init__(self, reader: Reader, client: WriterClient | None = None) -> None:
        """Take the reader, and the writer that announces news; None: there is none."""
        self._reader, self._client = reader, client
        self._recent = Recent(0)
        self._waiting: set[asyncio.Future[None]] = set()
        self._task: asyncio.Task[None] | None = None
        self._catching_up = asyncio.Semaphore(1)  # old entries are read for one listener after the other
        self._failure = ""
        self.listeners = self._beats = self._histories = 0
        self._seen = 0  # the largest position that was sent to anybody
        self.is_ending = False

    @property
    def position(self) -> int:
        """The position of the latest news that were read."""
        return self._recent.position

    def end(self) -> None:
        """End all streams, and answer every waiting client."""
        self.is_ending = True
        for future in self._waiting:
            _wake(future)

    # -- who waits -----------------------------------------------------------------------------------------------------

    async def until_after(self, position: int, patience: float) -> None:
        """Wait until an entry follows a position, at most so many seconds."""
        with self._listening(), suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self.position <= position and not self.is_ending:
                    await self._news()

    async def until_recorded(self, position: int, patience: float) -> None:
        """Wait until answers follow from an entry, at most so many seconds.

        Raises:
            UnknownNameError: there is no such entry, nor is it on its way.
        """

        def recorded() -> int:  # each thread has a ledger of its own
            return self._reader.open().ledger.journal.size()

        size = await asyncio.get_running_loop().run_in_executor(self._reader.executor, recorded)
        if position > size:
            raise UnknownNameError("entry", f"{position}", f"it has {size:,}", where="in the journal")
        await self.until_after(position - 1, patience)

    async def beginning(self, after: int | None) -> int:
        """Return the position behind which a stream begins: that of the query, or the last one.

        One that is not there is of another history, such as that of a file that was put in the place of this one.
        """
        now, _ = await self._asked(0, 0)
        self._seen = max(self._seen, now)
        return now if after is None else min(after, now)

    async def listen(self, receive: Receive, send: Send, position: int) -> None:
        """Tell a listener what follows a position, until it goes away or all end."""
        with self._listening():
            telling = asyncio.create_task(self._tell(send, position))
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:
                if not telling.done():
                    telling.cancel()
                with suppress(asyncio.CancelledError):
                    await telling

    async def _tell(self, send: Send, position: int) -> None:
        beats, history = self._beats, self._histories
        try:
            await send(_part(b"id: %d\nretry: %d\n\n" % (position, RETRY)))
            while not self.is_ending and history == self._histories:
                piece, position = await self._after(position)
                if piece:
                    await send(_part(piece))
                elif beats != self._beats:
                    beats = self._beats
                    await send(_part(_BEAT))
                else:
                    await self._news()
        finally:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _after(self, position: int) -> tuple[bytes, int]:
        if position >= self.position:
            return b"", position
        if (piece := self._recent.after(position)) is None:
            async with self._catching_up:
                _, events = await self._asked(position, PAGE)
            piece = _piece(events, position)
        return piece

    async def _news(self) -> None:
        """Wait until there is something to look at: news, a heartbeat, the end."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """News are read meanwhile."""
        self.listeners += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._read_news())
        try:
            yield
        finally:
            self.listeners -= 1

    # -- what is new ---------------------------------------------------------------------------------------------------

    async def _read_news(self) -> None:
        """Read what is new and wake the clients that wait for it, as long as there are any."""
        loop = asyncio.get_running_loop()
        beat = loop.time() + HEARTBEAT
        is_first = True
        while self.listeners and not self.is_ending:
            is_new = await self._look(anew=is_first)
            if loop.time() >= beat:
                beat = loop.time() + HEARTBEAT
                self._beats += 1
                is_new = True
            if is_new or is_first:
                await self._wake_all()
            is_first = False
            if not is_new:
                await self._pause()

    async def _look(self, *, anew: bool) -> bool:
        """Read a page of what is new; return whether there was any. *anew*: there was no listener for a while."""
        seen = max(self._seen, self.position)  # as it is before the files are read
        try:
            now, events = await self._asked(self.position, PAGE)
            if now < seen or (anew and now > self.position + len(events)):
                # Another file took the place of this one; or no listener needs all that came meanwhile.
                self._histories += now < seen
                self._seen = now
                self._recent = Recent(max(0, now - PAGE))
                _, events = await self._asked(self.position, PAGE)
        except (LedgerError, OSError) as error:
            self._told_once(str(error))
            return False
        except Exception as error:  # noqa: BLE001  # a fault of the program ends one look, not all streams
            self._told_once("".join(traceback.format_exception(error)).rstrip("\n"))
            return False
        self._failure = ""
        self._recent.add(events)
        return bool(events)

    def _told_once(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            for line in f"error: nothing new is told: {failure}".split("\n"):
                output.remark(line)

    async def _wake_all(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for number, future in enumerate(waiting, 1):
            _wake(future)
            if not number % A_TURN:
                await asyncio.sleep(0)

    async def _pause(self) -> None:
        """Wait until there may be news."""
        if self._client is None or self._client.views > self.position:  # it was woken for what cannot be seen yet
            await asyncio.sleep(GLANCE)
        else:
            await self._client.until_views(self.position + 1, TOLD_GLANCE)

    async def _asked(self, position: int, limit: int) -> tuple[int, list[bytes]]:
        """Return the position of the views, and the events that follow another one."""

        def ask() -> tuple[int, list[bytes]]:
            now, entries = self._reader.now(lambda ledger: entries_after(ledger, position, limit) if limit else [])
            return now, [_event(entry) for entry in entries]

        return await asyncio.get_running_loop().run_in_executor(self._reader.executor, ask)


def _event(entry: RecordedEntry) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (entry.position, orjson.dumps(as_row(entry)))


def _part(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Stream:
    """The endpoint of the stream. Nothing wraps it: each object costs its memory 10,000 times."""

    def __init__(self, feed: Feed, headers: Mapping[str, str]) -> None:
        """Take the news, and the headers above them."""
        self._feed = feed
        more = {
            **headers,
            "Content-Type": MEDIA,
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",  # nginx would keep it until there is enough of it
        }
        self._headers = [(name.lower().encode(), value.encode()) for name, value in more.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell what is recorded from now on, or from a position on.

        Raises:
            RefusedError: that is no position, or something else was asked.
        """
        try:
            position = await self._feed.beginning(_asked_after(scope))
        except LedgerError as error:
            raise RefusedError(problems.refusal(error)) from None
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        scope.setdefault("state", {})[ENDLESS] = True
        await self._feed.listen(receive, send, position)


def _asked_after(scope: Scope) -> int | None:
    """Return the position after which the stream begins: a browser's last position precedes that of its address."""
    words = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query, wrong = parse_query(STREAM.parameters, words)
    last = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"last-event-id"), "")
    try:
        after = whole("Last-Event-ID", "", None).read(last) if last else query.get("after")
    except ValueError as error:
        wrong.append(BadValue("Last-Event-ID", str(error)))
    if wrong:
        raise RefusedError(problems.of_parameters(wrong))
    return after
