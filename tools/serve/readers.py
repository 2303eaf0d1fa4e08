"""What works answers out: threads that each have the ledger open, which they never write, and answers that are kept.

Each answer is worked out within one moment, made whole in memory and only then sent, so that who reads slowly holds no
transaction. It is kept by its entity tag, position, program and, where it depends on it, day, as long as there is room.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote, urlencode

import attrs
import orjson

from ledger.answers.rows import as_row, as_rows
from ledger.errors import CheckpointWarning, LedgerError
from ledger.handle import utc_now
from ledger.journal.settings_file import ledger_inode
from ledger.ledger import Ledger

from .. import output
from . import encodings
from .get_handlers import PROGRAM, FileAnswer, Paged, Part, Redirection
from .public_view import LedgerFacts
from .rendering import Around, Renderer
from .routes import PREFIX, ROWS_MEDIA, Cost, Route
from .sites import Site

THREADS = 1  # two would only take turns: one interpreter runs one of them at a time
KEPT_BYTES = 32 * 1024 * 1024  # of answers that are kept
ENTRY_BYTES = 1_000  # that an answer takes besides its own bytes and its key; a little more than measured
LATELY = 5_000  # questions, with the tags of their answers …
LONGEST_LATELY = 1_000  # … each of so many bytes at most: an address and a header Accept have room for 24 KiB
HTML = "text/html; charset=utf-8"
Value = TypeVar("Value")
Question: TypeAlias = tuple[str, bytes, str, bool]  # path, what is asked, header Accept, whether gzip is taken


class Answer(NamedTuple):
    """An answer.

    Attributes:
        body: its bytes; None: who asks has them.
        media: its media type.
        tag: its entity tag.
        position: how many entries of the journal it follows from.
        following: where the next page is; None: there is none, or there are no pages.
        packed: the bytes as gzip, once a client took them so.
        status: the status; 200, or of an answer that is elsewhere.
        location: where that is.
        lasts: whether it is the answer until the views are written.
    """

    body: bytes | None
    media: str
    tag: str
    position: int
    following: str | None
    packed: bytes | None = None
    status: int = 200
    location: str | None = None
    lasts: bool = True

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.body or b"") + len(self.packed or b"")


class AnswerCache:
    """Answers by what was asked, the ones that were asked for least lately going first."""

    def __init__(self, room: int = KEPT_BYTES) -> None:
        self._room, self._used = room, 0
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, target: str, tag: str) -> Answer | None:
        """Return the answer to a target, if it is of that tag."""
        with self._lock:
            answer = self._answers.get(target)
            if answer is None or answer.tag != tag:
                return None
            self._answers.move_to_end(target)
            return answer

    def put(self, target: str, answer: Answer) -> None:
        """Keep an answer in the place of an earlier one."""
        if answer.size > self._room // 8:
            return
        with self._lock:
            before = self._answers.pop(target, None)
            self._used -= 0 if before is None else self._size(target, before)
            self._answers[target] = answer
            self._used += self._size(target, answer)
            while self._used > self._room:
                self._used -= self._size(*self._answers.popitem(last=False))

    @staticmethod
    def _size(target: str, answer: Answer) -> int:
        """Return the bytes of both: questions that find nothing have short answers, and strangers may ask long ones."""
        return sys.getsizeof(target) + answer.size + ENTRY_BYTES


@attrs.define
class _Open:
    """A ledger that a thread has open.

    Attributes:
        ledger: the ledger.
        inode: of the file that it was.
        alarm: why it must not be trusted; None: nothing is seen.
        named: position at which no renaming was pending any more; -1: not looked up yet.
    """

    ledger: Ledger
    inode: int
    alarm: str | None
    named: int = -1


class Lately(NamedTuple):
    """The latest answer to a question.

    Attributes:
        written: a value that changes with each write, as it was before the answer was computed.
        target: the key under which the answer is stored.
        tag: of the answer.
    """

    written: Hashable
    target: str
    tag: str


class Reader:
    """The state of a reading process: threads, each with the ledger open, and stored answers."""

    def __init__(self, path: str | Path, site: Site | None = None, threads: int = THREADS) -> None:
        """Say which ledger.

        Args:
            path: the ledger.
            site: the public facts of the site.
            threads: that look at the ledger for programs, the desk, the feed and the log. What else costs little is
                answered by the thread that asks; what costs much has one of its own, so that no cheap question waits.
        """
        self.path, self.site = Path(path), site or Site()
        self.renderer = Renderer(self.site)
        self._answerer = f"{PROGRAM} {self.site}"  # in the entity tag of every answer
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="reader")
        self.threads = {cost: ThreadPoolExecutor(1, thread_name_prefix=cost) for cost in (Cost.PART, Cost.SCAN)}
        self.take_turns()
        self.kept = AnswerCache()
        self.alarm: str | None = None  # as the last thread that opened the ledger saw it
        self._own = threading.local()
        self._lately: OrderedDict[Question, Lately] = OrderedDict()  # by the words of a question, as they came

    def written(self) -> Hashable:
        """Return a value that changes when somebody writes, and with the day; None if the ledger refuses."""
        try:
            opened = self.open()
            return (opened.inode, opened.alarm, opened.ledger.views.version(), utc_now().astimezone(UTC).date())
        except LedgerError:
            return None

    def lately(self, words: Question, written: Hashable, tags: Sequence[str]) -> Answer | None:
        """Return the answer to the same words if nothing was written since, without a transaction or another thread.

        Args:
            words: all of a question that its answer depends on.
            written: as it is now.
            tags: of the answers that the client has.
        """
        last = self._lately.get(words)
        if last is None or written is None or last.written != written:
            return None
        if last.tag in tags or "*" in tags:
            return Answer(None, "", last.tag, 0, None)
        return self.kept.get(last.target, last.tag)

    def note(self, words: Question, last: Lately) -> None:
        """Note what a question was answered with; long ones are not, and those of longest ago are forgotten."""
        path, query, accepted, _ = words
        if len(path) + len(query) + len(accepted) > LONGEST_LATELY:
            return
        self._lately.pop(words, None)
        self._lately[words] = last
        if len(self._lately) > LATELY:
            self._lately.popitem(last=False)

    def take_turns(self) -> None:
        """Let answers of one cost wait for each other, in the event loop that runs next."""
        self.turns = {cost: asyncio.Semaphore(1) for cost in self.threads}

    def open(self) -> _Open:
        """Return this thread's ledger; one that took its place is opened.

        Raises:
            LedgerError: it cannot be opened, or is not there, as while another one is being put in its place.
        """
        now = ledger_inode(self.path)
        open_ledger: _Open | None = getattr(self._own, "open", None)
        if open_ledger is not None and open_ledger.inode == now:
            return open_ledger
        if open_ledger is not None:
            with suppress(LedgerError):
                open_ledger.ledger.close()
        with warnings.catch_warnings(record=True) as alarms:
            warnings.simplefilter("always", CheckpointWarning)
            ledger = Ledger.open(self.path, follow=False)
        alarm = next((str(each.message) for each in alarms if issubclass(each.category, CheckpointWarning)), None)
        if alarm is not None:  # strangers read it, whom it does not concern in which folders the files are
            for file in (ledger.path, ledger.checkpoints.place):
                alarm = alarm.replace(str(file), file.name)
        self.alarm = alarm
        opened = _Open(ledger, now, alarm)
        self._own.open = opened
        return opened

    def answer(
        self, route: Route, query: Mapping[str, Any], target: str, tags: Sequence[str], *, pack: bool = False
    ) -> Answer:
        """Return the answer, without its bytes if the client has them, by one of its *tags*.

        Args:
            route: what is asked.
            query: the values of its parameters.
            target: the key of the question.
            tags: of the answers that the client has.
            pack: whether the bytes are wanted as gzip, too.

        Raises:
            LedgerError: the library refuses.
        """
        opened = self.open()
        with opened.ledger.read_snapshot() as position, self.site.strangers():
            signed = _signed(opened.ledger) if route.of_checkpoints else ""
            renaming = self._renaming(opened, position)
            # Views that were built again may differ: damage was repaired, or a scheme has another version.
            origin = f"{target}{signed}{renaming} {opened.ledger.views.build()}"
            tag = self._tag(opened, position, origin, utc_now() if route.of_today else None)
            if tag in tags:
                return Answer(None, "", tag, position, None, lasts=not renaming)
            kept = self.kept.get(target, tag)
            value = route.ask(opened.ledger, query) if kept is None else None
        if isinstance(value, LedgerFacts):
            value = attrs.evolve(value, alarm=opened.alarm)
        around = Around(position=position, alarm=opened.alarm)
        answer = kept or self._made(route, query, value, around, tag)._replace(lasts=not renaming)
        if pack and _unpacked(answer):
            answer = answer._replace(packed=encodings.packed(answer.body or b""))
        if answer is not kept:
            self.kept.put(target, answer)
        # Whoever has some answer need not be sent this one; but there must be one.
        return Answer(None, "", tag, position, None, lasts=answer.lasts) if "*" in tags else answer

    @staticmethod
    def _renaming(opened: _Open, position: int) -> str:
        """Return a word that changes during a renaming: the journal commits to the name before the player has it.

        A name waits before it is sealed: where none waits, all that were sealed by then are given. So it is asked once
        for each position, which of a ledger on a server costs a question.
        """
        if opened.named == position:
            return ""
        names = opened.ledger.names.file
        if names.pending.rows():
            return f" {os.getpid()} {names.version()}"
        opened.named = position
        return ""

    def now(self, ask: Callable[[Ledger], Value]) -> tuple[int, Value]:
        """Return the current public facts, and how many entries of the journal they follow from.

        Raises:
            LedgerError: the library refuses.
        """
        with self.open().ledger.read_snapshot() as position, self.site.strangers():
            return position, ask(self.open().ledger)

    def lasting(self, target: str, make: Callable[[Ledger], FileAnswer]) -> Answer:
        """Return an answer that never changes once there is one, even if entries are recorded meanwhile.

        Raises:
            LedgerError: the library refuses.
        """
        opened = self.open()
        tag = self._tag(opened, 0, target, None)
        if (answer := self.kept.get(target, tag)) is None:
            document = make(opened.ledger)
            answer = Answer(document.content, document.media, tag, 0, None)
            self.kept.put(target, answer)
        return answer

    def _tag(self, opened: _Open, position: int, target: str, now: datetime | None) -> str:
        """Return a tag that changes with the answer: of file, alarm, program, site, address, position, and day."""
        day = "" if now is None else f"-{now.astimezone(UTC):%Y%m%d}"
        origin = f"{self._answerer} {opened.inode} {opened.alarm} {target}"
        return f'"{position}-{sha256(origin.encode()).hexdigest()[:16]}{day}"'

    def _made(self, route: Route, query: Mapping[str, Any], value: Any, around: Around, tag: str) -> Answer:
        position = around.position
        if isinstance(value, Redirection):
            status = 301 if value.for_good else 302
            elsewhere = self.site.to(value.path, *value.parts, **value.query)
            return Answer(b"", HTML, tag, position, None, status=status, location=elsewhere)
        if route.template is not None:
            return Answer(self.renderer.page(route.template, value, around), route.media[0], tag, position, None)
        if isinstance(value, FileAnswer):
            return Answer(value.content, value.media, tag, position, self._link(route, query, value.following))
        if isinstance(value, Paged):
            following = self._link(route, query, value.following)
            body = _json({"position": position, **as_row(attrs.evolve(value.answer, next=following))})
            return Answer(body, ROWS_MEDIA["json"], tag, position, following)
        if not route.rows:
            return Answer(_json({"position": position, **as_row(value)}), ROWS_MEDIA["json"], tag, position, None)
        part = value if isinstance(value, Part) else Part(value, 0)
        offset, limit, form = query["offset"], query["limit"], query["format"]
        first = offset - part.before
        is_more = len(part.rows) > first + limit
        following = self._link(route, query, {"offset": offset + limit} if is_more else None)
        rows = as_rows(part.rows[first : first + limit])
        if form == "csv":
            body = output.divided(rows, "csv", raw=False).encode()
        elif form == "ndjson":
            body = b"".join(_json(row) + b"\n" for row in rows)
        else:
            body = _json({"position": position, "rows": rows, "next": following})
        return Answer(body, ROWS_MEDIA[form], tag, position, following)

    def _link(self, route: Route, query: Mapping[str, Any], following: Mapping[str, Any] | None) -> str | None:
        """Return the address of the next rows, with the changed words of the query; None: there are none."""
        if following is None:
            return None
        query = {**query, **following}
        names = {parameter.name: parameter for parameter in route.every_parameter}
        path = route.path.format_map({name: quote(str(query[name]), safe="") for name in query if name not in names})
        words = [
            (name, word)
            for name, parameter in names.items()
            if name in query and query[name] != parameter.default
            for word in (query[name] if parameter.many else [query[name]])
        ]
        return f"{self.site.public_url}{PREFIX}{path}?{urlencode(words)}"

    def close(self) -> None:
        """Let the threads end."""
        for threads in (self.executor, *self.threads.values()):
            threads.shutdown(wait=False, cancel_futures=True)


def _signed(ledger: Ledger) -> str:
    """Return a word that changes once a checkpoint was signed, or cosigned."""
    with suppress(LedgerError):
        return str([note and note.head.size for note in (ledger.checkpoints.last(), ledger.checkpoints.cosigned())])
    return ""


def _unpacked(answer: Answer) -> bool:
    """Return whether an answer that is worth compressing was not compressed yet."""
    return answer.packed is None and encodings.worth_it(answer.media, len(answer.body or b""))


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
