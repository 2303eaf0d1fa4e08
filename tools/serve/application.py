"""The Starlette application: every address of the tables, how an answer is sent, and why there is none."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from typing import Any

import attrs
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from ledger.errors import LedgerError
from ledger.runtime.nearest import did_you_mean

from .. import output
from . import atom, encodings, list_checks, log, openapi, pages, problems, safety
from .desk import PREFIX as DESK
from .desk_requests import Visits
from .feed import Feed, Stream
from .parameters import parse_query
from .post_handlers import Posting
from .problems import Problem, RefusedError
from .readers import HTML, Answer, Lately, Reader
from .rendering import Around
from .routes import AFTER, ENTRIES, PREFIX, ROUTES, ROWS_MEDIA, STREAM, Cost, Route
from .safety import AnswerKind
from .sites import Site

PATIENCE = 10.0  # seconds for which a scan waits for another one
_ANY = "/{path:path}"  # what no other route has
_QUALITY = re.compile(r"[01](?:\.[0-9]{0,3})?")  # RFC 9110, 12.4.2
_FOR_OTHER_SITES = Middleware(
    CORSMiddleware,
    allow_origins=["*"],
    allow_methods=["GET", "HEAD"],
    expose_headers=["ETag", "Link", "Ledger-Position", "Retry-After"],
)
EVERY_ROUTE = (*ROUTES, *pages.ROUTES, *atom.ROUTES)


def application(reader: Reader, *recording: Visits | Posting, feed: Feed | None = None) -> Starlette:
    """Return the application: every address of the tables, the documentation, recording, and problems for the rest."""
    site, news = reader.site, feed or Feed(reader)
    described = _described(site.public_url)
    packed, described_tag = encodings.packed(described), f'"{sha256(described).hexdigest()[:16]}"'
    recorded_at = [address for each in recording for address in each.addresses()]
    paths = [route.address for route in (*EVERY_ROUTE, ENTRIES, STREAM, *log.shown(site.log))]
    paths += [address.path for address in recorded_at if address.path.startswith(PREFIX)]
    refusals = _Refusals(reader, paths)

    async def documentation(request: Request) -> Response:
        had = encodings.tags(request.headers.get("if-none-match", ""))
        pack = encodings.takes_gzip(request.headers.get("accept-encoding", ""))
        tag = encodings.tag_of_packed(described_tag) if pack else described_tag
        headers = {**safety.headers(AnswerKind.DATA, index=site.index), "Vary": "Accept-Encoding", "ETag": tag}
        if described_tag in had or "*" in had:
            return Response(status_code=304, headers=headers)
        if not pack:
            return Response(described, media_type="application/json", headers=headers)
        return Response(packed, media_type="application/json", headers={**headers, "Content-Encoding": "gzip"})

    async def static(request: Request) -> Response:
        file = reader.renderer.files.get(request.path_params["name"])
        if file is None:
            return await refusals.unknown(request)
        headers = {**safety.headers(AnswerKind.STATIC, index=site.index), "Content-Type": file.media}
        if not encodings.takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(file.body, headers=headers)
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"})

    async def robots(_: Request) -> Response:
        return Response(
            pages.robots(site), media_type="text/plain", headers=safety.headers(AnswerKind.DATA, index=False)
        )

    async def failed(request: Request, error: Exception) -> Response:
        for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
            output.remark(line)
        return _refused(reader, request, problems.problem(500, "the program failed here; its log tells how"))

    return Starlette(
        routes=[
            *(Address(route.address, _endpoint(reader, route, news), methods=["GET"]) for route in EVERY_ROUTE),
            *recorded_at,
            Address(ENTRIES.address, _endpoint(reader, ENTRIES, news), methods=["GET"]),
            Address(STREAM.address, Stream(news, safety.headers(AnswerKind.DATA, index=False)), methods=["GET"]),
            *log.addresses(reader, safety.headers(AnswerKind.DATA, index=site.index)),
            *list_checks.addresses(reader, site),
            Address(f"{PREFIX}/openapi.json", documentation, methods=["GET"]),
            Address("/static/{name}", static, methods=["GET"]),
            Address("/robots.txt", robots, methods=["GET"]),
            Address(_ANY, refusals.elsewhere),
        ],
        middleware=[_FOR_OTHER_SITES],
        exception_handlers={
            HTTPException: refusals.refused, RefusedError: refusals.without_answer,
            LedgerError: refusals.without_answer, Exception: failed,
        },
    )  # fmt: skip


@attrs.frozen
class _Refusals:
    """Says why there is no answer.

    Attributes:
        reader: draws the pages.
        paths: every address that is offered where nothing is.
    """

    reader: Reader
    paths: Sequence[str]

    async def unknown(self, request: Request) -> Response:
        hint = did_you_mean(request.url.path, self.paths)
        where = f"{PREFIX}/openapi.json tells all" if _is_for_programs(request) else "the start page leads to all"
        return _refused(self.reader, request, problems.problem(404, f"nothing is at {request.url.path}; {hint}{where}"))

    async def elsewhere(self, request: Request) -> Response:
        """Refuse an address that no route has for this method: another method may be allowed there."""
        if not (taken := ", ".join(sorted(_methods(request)))):
            return await self.unknown(request)
        made = problems.problem(405, f"{request.method} is not taken at {request.url.path}, but {taken}")
        return _refused(self.reader, request, made, {"Allow": taken})

    async def refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:  # more than one route may have the address, or none
            return await self.elsewhere(request)
        made = problems.problem(error.status_code, error.detail)
        return _refused(self.reader, request, made, dict(error.headers or {}))

    async def without_answer(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError | LedgerError)
        made = error.problem if isinstance(error, RefusedError) else problems.refusal(error)
        return _refused(self.reader, request, made)


@cache
def _described(public_url: str) -> bytes:
    """Return the document of all addresses, which stays as it is while a process runs."""
    return orjson.dumps(openapi.document(public_url))


def _endpoint(reader: Reader, route: Route, news: Feed) -> Callable[[Request], Any]:
    """Return the endpoint of an address; *news* wake those who wait for more."""
    are_rows_waited_for = route is ENTRIES
    # Who waits for news asks the same while there are none.
    is_kept = not are_rows_waited_for and not route.of_checkpoints

    async def endpoint(request: Request) -> Response:
        accepted, had = request.headers.get("accept", ""), request.headers.get("if-none-match", "")
        tags, pack = encodings.tags(had), encodings.takes_gzip(request.headers.get("accept-encoding", ""))
        question = (request.scope["path"], request.scope["query_string"], accepted if route.rows else "", pack)
        written = reader.written()
        if is_kept and (answer := reader.lately(question, written, tags)) is not None:
            return _sent(route, answer, reader.site, had, pack=pack)
        words = request.query_params.multi_items()
        if route.template is not None:
            words = [(name, word) for name, word in words if word]  # a form sends the fields that stayed empty, too
        query, wrong = parse_query(route.every_parameter, words)
        if wrong:
            return _refused(reader, request, problems.of_parameters(wrong))
        query |= request.path_params
        if are_rows_waited_for and query["wait"]:
            await news.until_after(query["after"], query["wait"])
        least = 0 if are_rows_waited_for else query.pop(AFTER.name, None) or 0
        if route.rows and query["format"] is None:
            query["format"] = _accepted(accepted)
        target = f"{request.scope['path']} {sorted(query.items())}"
        try:
            work = partial(reader.answer, route, query, target, tags, pack=pack)
            answer = await _that_follows_from(least, reader, route.cost_of(query), work, news)
        except TimeoutError:
            made = problems.problem(503, "others ask for much at present; ask again later")
            return _refused(reader, request, made)
        except LedgerError as error:
            return _refused(reader, request, problems.refusal(error))
        if answer.position < least:
            made = problems.problem(503, f"answers follow from {answer.position:,} entries as yet; ask again later")
            return _refused(reader, request, made)
        if is_kept and answer.lasts:
            reader.note(question, Lately(written, target, answer.tag))
        return _sent(route, answer, reader.site, had, pack=pack)

    return endpoint


async def _that_follows_from(least: int, reader: Reader, cost: Cost, work: Callable[[], Answer], news: Feed) -> Answer:
    """Return the answer once an entry is among what it follows from, or as it is when that takes too long."""
    try:
        answer = await _worked_out(reader, cost, work)
    except LedgerError:
        if not least:  # what is not there yet may come with that entry
            raise
    else:
        if answer.position >= least:
            return answer
    await news.until_recorded(least, PATIENCE)
    return await _worked_out(reader, cost, work)


def _sent(route: Route, answer: Answer, site: Site, had: str, *, pack: bool) -> Response:
    """Return an answer as it is sent, or 304 to a client that *had* it by its header If-None-Match."""
    headers = safety.headers(route.guard, index=site.index)
    headers["Vary"] = "Accept, Accept-Encoding" if route.rows else "Accept-Encoding"
    if answer.body is None:
        packed_tag = encodings.tag_of_packed(answer.tag)
        return Response(status_code=304, headers={**headers, "ETag": packed_tag if packed_tag in had else answer.tag})
    more = {"ETag": answer.tag, "Ledger-Position": str(answer.position), "Content-Type": answer.media, **headers}
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


async def _worked_out(reader: Reader, cost: Cost, work: Callable[[], Answer]) -> Answer:
    """Compute an answer, a cheap one at once: another thread would only take turns with this one, at a cost."""
    if cost is Cost.INDEX:
        return work()
    turn = reader.turns[cost]
    await asyncio.wait_for(turn.acquire(), PATIENCE)
    try:
        return await asyncio.get_running_loop().run_in_executor(reader.threads[cost], work)
    finally:
        turn.release()


def _methods(request: Request) -> set[str]:
    """Return the methods of an address."""
    path = request.scope["path"]
    every = [route for route in request.app.routes if isinstance(route, Address) and route.path != _ANY]
    return {method for route in every if route.path_regex.match(path) for method in route.methods or ()}


def _is_for_programs(request: Request) -> bool:
    """Return whether the client is a program: an address for programs, or a question that takes no page."""
    return request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", "")


def _refused(reader: Reader, request: Request, made: Problem, more: Mapping[str, str] | None = None) -> Response:
    """Return a refusal: problem details for programs, a page with the same words for browsers."""
    guard = AnswerKind.DATA if _is_for_programs(request) else AnswerKind.PAGE
    if request.url.path.startswith(DESK):
        guard = AnswerKind.DESK
    headers = {**safety.headers(guard, index=False), **problems.headers(made.status), **(more or {}), "Vary": "Accept"}
    if _is_for_programs(request):
        return Response(made.body(), made.status, {**headers, "Content-Type": problems.MEDIA})
    around = Around(position=0, alarm=reader.alarm)
    return Response(reader.renderer.page("problem.html", made, around), made.status, {**headers, "Content-Type": HTML})


def _accepted(header: str) -> str:
    """Return the form of rows that a header wants most, of several the first one; JSON if it names none."""
    by_media = {media.partition(";")[0]: form for form, media in ROWS_MEDIA.items()}
    weights: dict[str, float] = {}
    for part in header.lower().split(","):
        media, *parameters = (word.strip() for word in part.split(";"))
        quality = next((word.removeprefix("q=") for word in parameters if word.startswith("q=")), "1")
        if media in by_media and (match := _QUALITY.fullmatch(quality)) and (weight := float(match[0])):
            weights.setdefault(by_media[media], weight)
    return max(weights, key=lambda form: weights[form], default="json")
