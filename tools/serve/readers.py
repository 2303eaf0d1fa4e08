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

from ledger.answers.rows import as_row, as_rows
from ledger.errors import CheckpointWarning, LedgerError
from ledger.ledger import Ledger, utc_now
from ledger.runtime.nearest import did_you_mean

from .. import output
from . import log, openapi, problems
from .forms import LedgerFacts
from .parameters import asked as read_parameters
from .problems import Problem, RefusedError
from .questions import PROGRAM, Document
from .routes import PREFIX, ROUTES, ROWS_MEDIA, Cost, Route

THREADS = 4
KEPT_BYTES = 32 * 1024 * 1024  # of answers that are kept
PATIENCE = 10.0  # seconds for which a scan waits for another one
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",  # ask each time: an unchanged answer costs nothing
}


class Answer(NamedTuple):
    """An answer: its bytes, media type, tag and position, and where the next page is; None: who asks has the bytes."""

    body: bytes | None
    media: str
    tag: str
    position: int
    following: str | None


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
        size = len(answer.body or b"")
        if size > self._room // 8:
            return
        with self._lock:
            before = self._answers.pop(target, None)
            self._used -= 0 if before is None else len(before.body or b"")
            self._answers[target] = answer
            self._used += size
            while self._used > self._room:
                _, gone = self._answers.popitem(last=False)
                self._used -= len(gone.body or b"")


@attrs.define
class _Open:
    """A ledger that a thread has open, and the file that it was."""

    ledger: Ledger
    inode: int
    alarm: str | None


class Reader:
    """What a reading process holds: threads, each with the ledger open; answers that are kept."""

    def __init__(self, path: str | Path, public_url: str = "", threads: int = THREADS, shown: str = "hashes") -> None:
        """Say which ledger.

        Args:
            path: the ledger.
            public_url: what stands before the addresses in links.
            threads: that answer at the same time.
            shown: what of the log strangers may read: off, hashes or entries.
        """
        self.path, self.public_url, self.shown = Path(path), public_url.rstrip("/"), shown
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="reader")
        self.kept = Kept()
        self.scanning = asyncio.Semaphore(1)
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
        opened = _Open(ledger, inode, alarm)
        self._own.open = opened
        return opened

    def answer(self, route: Route, asked: Mapping[str, Any], target: str, tags: Sequence[str]) -> Answer:
        """The answer to what was asked, without its bytes where whoever asks has them, by one of their *tags*.

        Raises:
            LedgerError: the library refuses.
        """
        held = self.open()
        with held.ledger.moment() as position:
            tag = _tag(held, position, target, utc_now() if route.of_today else None)
            if tag in tags or "*" in tags:
                return Answer(None, "", tag, position, None)
            if (answer := self.kept.get(target, tag)) is not None:
                return answer
            value = route.ask(held.ledger, asked)
        if isinstance(value, LedgerFacts):
            value = attrs.evolve(value, alarm=held.alarm)
        answer = self._made(route, asked, value, tag, position)
        self.kept.put(target, answer)
        return answer

    def lasting(self, target: str, make: Callable[[Ledger], Document]) -> Answer:
        """An answer that never changes once there is one, whatever is recorded meanwhile.

        Raises:
            LedgerError: the library refuses.
        """
        held = self.open()
        tag = _tag(held, 0, target, None)
        if (answer := self.kept.get(target, tag)) is None:
            document = make(held.ledger)
            answer = Answer(document.content, document.media, tag, 0, None)
            self.kept.put(target, answer)
        return answer

    def _made(self, route: Route, asked: Mapping[str, Any], value: Any, tag: str, position: int) -> Answer:
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
        return f"{self.public_url}{PREFIX}{path}?{urlencode(words)}"

    def close(self) -> None:
        """Let the threads end."""
        self.executor.shutdown(wait=False, cancel_futures=True)


def application(reader: Reader) -> Starlette:
    """The application: every address of the table, its documentation, and problems for all else."""
    described = orjson.dumps(openapi.document(reader.public_url))
    paths = [route.address for route in (*ROUTES, *log.shown(reader.shown))]

    async def documentation(_: Request) -> Response:
        return Response(described, media_type="application/json", headers=_SAFE)

    async def unknown(request: Request) -> Response:
        hint = did_you_mean(request.url.path, paths)
        return _refused(
            problems.problem(404, f"nothing is at {request.url.path}; {hint}{PREFIX}/openapi.json tells all")
        )

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        made = problems.problem(error.status_code, error.detail)
        headers = dict(error.headers or {})
        if "Allow" in headers:
            headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
        return _refused(made, headers)

    async def without_answer(_: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return _refused(error.reason)

    async def failed(_: Request, error: Exception) -> Response:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            output.remark(line)
        return _refused(problems.problem(500, "the program failed here; its log tells how"))

    addresses = [Address(route.address, _endpoint(reader, route), methods=["GET"]) for route in ROUTES]
    return Starlette(
        routes=[
            *addresses,
            *log.addresses(reader, _SAFE),
            Address(f"{PREFIX}/openapi.json", documentation, methods=["GET"]),
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


def _endpoint(reader: Reader, route: Route) -> Any:
    async def endpoint(request: Request) -> Response:
        asked, wrong = read_parameters(route.every_parameter, request.query_params.multi_items())
        if wrong:
            return _refused(problems.of_parameters(wrong))
        asked |= request.path_params
        if route.rows and asked["format"] is None:
            asked["format"] = _accepted(request.headers.get("accept", ""))
        target = f"{request.url.path}?{urlencode(sorted((name, str(word)) for name, word in asked.items()))}"
        tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
        try:
            answer = await _worked_out(reader, route, asked, target, tags)
        except TimeoutError:
            return _refused(problems.problem(503, "others ask for much at present; ask again later"))
        except LedgerError as error:
            return _refused(problems.told(error))
        if answer.body is None:
            return Response(status_code=304, headers={"ETag": answer.tag, **_SAFE})
        more = {"ETag": answer.tag, "Ledger-Position": str(answer.position), **_SAFE}
        if answer.following is not None:
            more["Link"] = f'<{answer.following}>; rel="next"'
        if answer.media.startswith("text/html"):
            del more["Content-Security-Policy"]  # the page brings one that lets its own script run
        return Response(answer.body, headers={**more, "Content-Type": answer.media})

    return endpoint


async def _worked_out(
    reader: Reader, route: Route, asked: Mapping[str, Any], target: str, tags: Sequence[str]
) -> Answer:
    loop = asyncio.get_running_loop()
    if route.cost is Cost.INDEX:
        return await loop.run_in_executor(reader.executor, reader.answer, route, asked, target, tags)
    await asyncio.wait_for(reader.scanning.acquire(), PATIENCE)
    try:
        return await loop.run_in_executor(reader.executor, reader.answer, route, asked, target, tags)
    finally:
        reader.scanning.release()


def _refused(made: Problem, more: Mapping[str, str] | None = None) -> Response:
    headers = {**_SAFE, **problems.headers(made.status), **(more or {}), "Content-Type": problems.MEDIA}
    return Response(made.body(), made.status, headers)


def _tag(held: _Open, position: int, target: str, now: datetime | None) -> str:
    """What is another one where the answer may be: by file, alarm, program, address, position, and the day."""
    day = "" if now is None else f"-{now.astimezone(UTC):%Y%m%d}"
    origin = sha256(f"{PROGRAM} {held.inode} {held.alarm} {target}".encode()).hexdigest()[:16]
    return f'"{position}-{origin}{day}"'


def _accepted(header: str) -> str:
    """The first form of rows that a header accepts; JSON where it says nothing of them."""
    wanted = (part.partition(";")[0].strip().lower() for part in header.split(","))
    by_media = {media.partition(";")[0]: form for form, media in ROWS_MEDIA.items()}
    return next((by_media[media] for media in wanted if media in by_media), "json")


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
