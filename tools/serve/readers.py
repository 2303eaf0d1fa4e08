"""What answers: a Starlette application over one ledger, which is opened once by each thread and never written.

Each answer is worked out within one moment, made whole in memory and only then sent, so that who reads slowly holds no
transaction. It is kept by its entity tag, position, program and, where it depends on it, day, as long as there is room.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import attrs
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from ledger.answers.asking import for_strangers
from ledger.answers.rows import as_row, as_rows
from ledger.errors import CheckpointWarning, LedgerError
from ledger.ledger import Ledger, utc_now
from ledger.runtime.nearest import did_you_mean

from .. import output
from . import encodings, log, openapi, pages, problems, safety
from .desk import PREFIX as DESK
from .desk_visits import Visits
from .forms import LedgerFacts
from .parameters import asked as read_parameters
from .problems import Problem, RefusedError
from .questions import PROGRAM, Document, Moved
from .rendering import Around, Renderer
from .routes import PREFIX, ROUTES, ROWS_MEDIA, Cost, Route
from .safety import Guard
from .sites import Site

THREADS = 4
KEPT_BYTES = 32 * 1024 * 1024  # of answers that are kept
PATIENCE = 10.0  # seconds for which a scan waits for another one
HTML = "text/html; charset=utf-8"
EVERY_ROUTE = (*ROUTES, *pages.ROUTES)


class Answer(NamedTuple):
    """An answer.

    Attributes:
        body: its bytes; None: who asks has them.
        media: its media type.
        tag: its entity tag.
        position: how many entries of the journal it follows from.
        following: where the next page is; None: there is none, or there are no pages.
        packed: the bytes as gzip, once somebody took them so.
        status: the status; 200, or of an answer that is elsewhere.
        location: where that is.
    """

    body: bytes | None
    media: str
    tag: str
    position: int
    following: str | None
    packed: bytes | None = None
    status: int = 200
    location: str | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return len(self.body or b"") + len(self.packed or b"")


class Kept:
    """Answers by what was asked, the ones that were asked for least lately going first."""

    def __init__(self, room: int = KEPT_BYTES) -> None:
        self._room, self._used = room, 0
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, target: str, tag: str) -> Answer | None:
        """The answer to a target, if it is of that tag."""
        with self._lock:
            answer = self._answers.get(target)
            if answer is None or answer.tag != tag:
                return None
            self._answers.move_to_end(target)
            return answer

    def put(self, target: str, answer: Answer) -> None:
        """Keep an answer in the place of an earlier one."""
        size = answer.size
        if size > self._room // 8:
            return
        with self._lock:
            before = self._answers.pop(target, None)
            self._used -= 0 if before is None else before.size
            self._answers[target] = answer
            self._used += size
            while self._used > self._room:
                _, gone = self._answers.popitem(last=False)
                self._used -= gone.size


@attrs.define
class _Open:
    """A ledger that a thread has open, and the file that it was."""

    ledger: Ledger
    inode: int
    alarm: str | None


class Reader:
    """What a reading process holds: threads, each with the ledger open; answers that are kept."""

    def __init__(
        self, path: str | Path, site: Site | None = None, threads: int = THREADS, shown: str = log.HASHES
    ) -> None:
        """Say which ledger.

        Args:
            path: the ledger.
            site: what is told of the site.
            threads: that answer at the same time.
            shown: what of the log strangers may read: off, hashes or entries.
        """
        self.path, self.site, self.shown = Path(path), site or Site(), shown
        self.renderer = Renderer(self.site)
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="reader")
        self.kept = Kept()
        self.scanning = asyncio.Semaphore(1)
        self.alarm: str | None = None  # as the last thread that opened the ledger saw it
        self._own = threading.local()

    def open(self) -> _Open:
        """This thread's ledger; one that was put in its place is opened anew."""
        inode = self.path.stat().st_ino
        held: _Open | None = getattr(self._own, "open", None)
        if held is not None and held.inode == inode:
            return held
        if held is not None:
            with suppress(LedgerError):
                held.ledger.close()
        with warnings.catch_warnings(record=True) as alarms:
            warnings.simplefilter("always", CheckpointWarning)
            ledger = Ledger.open(self.path, follow=False)
        alarm = next((str(each.message) for each in alarms if issubclass(each.category, CheckpointWarning)), None)
        self.alarm = alarm
        opened = _Open(ledger, inode, alarm)
        self._own.open = opened
        return opened

    def answer(
        self, route: Route, asked: Mapping[str, Any], target: str, tags: Sequence[str], *, pack: bool = False
    ) -> Answer:
        """The answer to what was asked, without its bytes where whoever asks has them, by one of their *tags*.

        Args:
            route: what is asked.
            asked: the values of its parameters.
            target: what tells the question from others.
            tags: of the answers that whoever asks has.
            pack: whether the bytes are wanted as gzip, too.

        Raises:
            LedgerError: the library refuses.
        """
        held = self.open()
        with held.ledger.moment() as position, for_strangers(self.site.names):
            tag = self._tag(held, position, target, utc_now() if route.of_today else None)
            if tag in tags or "*" in tags:
                return Answer(None, "", tag, position, None)
            if (answer := self.kept.get(target, tag)) is not None and not (pack and _unpacked(answer)):
                return answer
            value = None if answer is not None else route.ask(held.ledger, asked)
        if answer is None:
            if isinstance(value, LedgerFacts):
                value = attrs.evolve(value, alarm=held.alarm)
            answer = self._made(route, asked, value, Around(position=position, alarm=held.alarm, path=target), tag)
        if pack and answer.body is not None and encodings.worth_it(answer.media, len(answer.body)):
            answer = answer._replace(packed=encodings.packed(answer.body))
        self.kept.put(target, answer)
        return answer

    def lasting(self, target: str, make: Callable[[Ledger], Document]) -> Answer:
        """An answer that never changes once there is one, whatever is recorded meanwhile.

        Raises:
            LedgerError: the library refuses.
        """
        held = self.open()
        tag = self._tag(held, 0, target, None)
        if (answer := self.kept.get(target, tag)) is None:
            document = make(held.ledger)
            answer = Answer(document.content, document.media, tag, 0, None)
            self.kept.put(target, answer)
        return answer

    def _tag(self, held: _Open, position: int, target: str, now: datetime | None) -> str:
        """What is another one where the answer may be: by file, alarm, program, site, address, position, and day."""
        day = "" if now is None else f"-{now.astimezone(UTC):%Y%m%d}"
        origin = f"{PROGRAM} {held.inode} {held.alarm} {self.site} {target}"
        return f'"{position}-{sha256(origin.encode()).hexdigest()[:16]}{day}"'

    def _made(self, route: Route, asked: Mapping[str, Any], value: Any, around: Around, tag: str) -> Answer:
        position = around.position
        if isinstance(value, Moved):
            status = 301 if value.for_good else 302
            elsewhere = self.site.to(value.path, *value.parts, **value.asked)
            return Answer(b"", HTML, tag, position, None, status=status, location=elsewhere)
        if route.template is not None:
            return Answer(self.renderer.page(route.template, value, around), HTML, tag, position, None)
        if isinstance(value, Document):
            return Answer(value.content, value.media, tag, position, None)
        if not route.rows:
            return Answer(_json({"position": position, **as_row(value)}), ROWS_MEDIA["json"], tag, position, None)
        offset, limit, form = asked["offset"], asked["limit"], asked["format"]
        following = None
        if len(value) > offset + limit:
            following = self._link(route, {**asked, "offset": offset + limit})
        rows = as_rows(value[offset : offset + limit])
        if form == "csv":
            body = output.divided(rows, "csv", raw=False).encode()
        elif form == "ndjson":
            body = b"".join(_json(row) + b"\n" for row in rows)
        else:
            body = _json({"position": position, "rows": rows, "next": following})
        return Answer(body, ROWS_MEDIA[form], tag, position, following)

    def _link(self, route: Route, asked: Mapping[str, Any]) -> str:
        """The address of what is asked."""
        names = {parameter.name: parameter for parameter in route.every_parameter}
        path = route.path.format_map({name: quote(str(asked[name]), safe="") for name in asked if name not in names})
        words = [
            (name, word)
            for name, parameter in names.items()
            if asked[name] != parameter.default
            for word in (asked[name] if parameter.many else [asked[name]])
        ]
        return f"{self.site.public_url}{PREFIX}{path}?{urlencode(words)}"

    def close(self) -> None:
        """Let the threads end."""
        self.executor.shutdown(wait=False, cancel_futures=True)


def application(reader: Reader, desk: Visits | None = None) -> Starlette:
    """The application: every address of the tables, its documentation, the desk, and problems for all else."""
    site = reader.site
    described = orjson.dumps(openapi.document(site.public_url))
    paths = [route.address for route in (*EVERY_ROUTE, *log.shown(reader.shown))]

    async def documentation(_: Request) -> Response:
        headers = safety.headers(Guard.DATA, index=site.index)
        return Response(described, media_type="application/json", headers=headers)

    async def static(request: Request) -> Response:
        file = reader.renderer.files.get(request.path_params["name"])
        if file is None:
            return await unknown(request)
        headers = {**safety.headers(Guard.STATIC, index=site.index), "Content-Type": file.media}
        if not encodings.takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.body, headers=headers)
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"})

    async def robots(_: Request) -> Response:
        return Response(pages.robots(site), media_type="text/plain", headers=safety.headers(Guard.DATA, index=False))

    async def unknown(request: Request) -> Response:
        hint = did_you_mean(request.url.path, paths)
        where = f"{PREFIX}/openapi.json tells all" if _is_for_programs(request) else "the start page leads to all"
        return _refused(reader, request, problems.problem(404, f"nothing is at {request.url.path}; {hint}{where}"))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        made = problems.problem(error.status_code, error.detail)
        headers = dict(error.headers or {})
        if "Allow" in headers:
            headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
        return _refused(reader, request, made, headers)

    async def without_answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return _refused(reader, request, error.problem)

    async def failed(request: Request, error: Exception) -> Response:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            output.remark(line)
        return _refused(reader, request, problems.problem(500, "the program failed here; its log tells how"))

    return Starlette(
        routes=[
            *(Address(route.address, _endpoint(reader, route), methods=["GET"]) for route in EVERY_ROUTE),
            *([] if desk is None else desk.addresses()),
            *log.addresses(reader, safety.headers(Guard.DATA, index=site.index)),
            Address(f"{PREFIX}/openapi.json", documentation, methods=["GET"]),
            Address("/static/{name}", static, methods=["GET"]),
            Address("/robots.txt", robots, methods=["GET"]),
            Address("/{path:path}", unknown),
        ],
        middleware=[
            Middleware(
                CORSMiddleware,
                allow_origins=["*"],
                allow_methods=["GET", "HEAD"],
                expose_headers=["ETag", "Link", "Ledger-Position", "Retry-After"],
            )
        ],
        exception_handlers={HTTPException: refused, RefusedError: without_answer, Exception: failed},
    )


def _endpoint(reader: Reader, route: Route) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        words = request.query_params.multi_items()
        if route.template is not None:
            words = [(name, word) for name, word in words if word]  # a form sends the fields that stayed empty, too
        asked, wrong = read_parameters(route.every_parameter, words)
        if wrong:
            return _refused(reader, request, problems.of_parameters(wrong))
        asked |= request.path_params
        if route.rows and asked["format"] is None:
            asked["format"] = _accepted(request.headers.get("accept", ""))
        target = f"{request.url.path}?{urlencode(sorted((name, str(word)) for name, word in asked.items()))}"
        tags = encodings.tags(request.headers.get("if-none-match", ""))
        pack = encodings.takes_gzip(request.headers.get("accept-encoding", ""))
        try:
            answer = await _worked_out(reader, route, partial(reader.answer, route, asked, target, tags, pack=pack))
        except TimeoutError:
            made = problems.problem(503, "others ask for much at present; ask again later")
            return _refused(reader, request, made)
        except LedgerError as error:
            return _refused(reader, request, problems.told(error))
        headers = safety.headers(route.guard, index=reader.site.index)
        if answer.body is None:
            return Response(status_code=304, headers={**headers, "ETag": _tag_sent(request, answer)})
        return _sent(route, answer, headers, pack=pack)

    return endpoint


def _tag_sent(request: Request, answer: Answer) -> str:
    """The tag of the answer that whoever asks has: packed, or as it is."""
    packed = encodings.tag_of_packed(answer.tag)
    return packed if packed in request.headers.get("if-none-match", "") else answer.tag


def _sent(route: Route, answer: Answer, headers: Mapping[str, str], *, pack: bool) -> Response:
    more = {"ETag": answer.tag, "Ledger-Position": str(answer.position), "Content-Type": answer.media, **headers}
    more["Vary"] = "Accept, Accept-Encoding" if route.rows else "Accept-Encoding"
    if answer.location is not None:
        more["Location"] = answer.location
    if answer.following is not None:
        more["Link"] = f'<{answer.following}>; rel="next"'
    if answer.media.startswith("text/html") and route.template is None:
        del more["Content-Security-Policy"]  # the page brings one that lets its own script run
    if not pack or answer.packed is None:
        return Response(answer.body, answer.status, more)
    packed = {"Content-Encoding": "gzip", "ETag": encodings.tag_of_packed(answer.tag)}
    return Response(answer.packed, answer.status, {**more, **packed})


async def _worked_out(reader: Reader, route: Route, work: Callable[[], Answer]) -> Answer:
    loop = asyncio.get_running_loop()
    if route.cost is Cost.INDEX:
        return await loop.run_in_executor(reader.executor, work)
    await asyncio.wait_for(reader.scanning.acquire(), PATIENCE)
    try:
        return await loop.run_in_executor(reader.executor, work)
    finally:
        reader.scanning.release()


def _is_for_programs(request: Request) -> bool:
    """Whether what is asked is no page: an address for programs, or a question that takes no page."""
    return request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", "")


def _refused(reader: Reader, request: Request, made: Problem, more: Mapping[str, str] | None = None) -> Response:
    """Why there is no answer: problem details for programs, a page with the same words for browsers."""
    guard = Guard.DATA if _is_for_programs(request) else Guard.PAGE
    if request.url.path.startswith(DESK):
        guard = Guard.DESK
    headers = {**safety.headers(guard, index=False), **problems.headers(made.status), **(more or {}), "Vary": "Accept"}
    if _is_for_programs(request):
        return Response(made.body(), made.status, {**headers, "Content-Type": problems.MEDIA})
    around = Around(position=0, alarm=reader.alarm, path="")
    return Response(reader.renderer.page("problem.html", made, around), made.status, {**headers, "Content-Type": HTML})


def _unpacked(answer: Answer) -> bool:
    """Whether an answer that is worth packing was not packed yet."""
    return answer.packed is None and encodings.worth_it(answer.media, len(answer.body or b""))


def _accepted(header: str) -> str:
    """The first form of rows that a header accepts; JSON where it says nothing of them."""
    wanted = (part.partition(";")[0].strip().lower() for part in header.split(","))
    by_media = {media.partition(";")[0]: form for form, media in ROWS_MEDIA.items()}
    return next((by_media[media] for media in wanted if media in by_media), "json")


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
