"""What every request passes before anything answers it.

Whoever answers knows nothing of it: who asks is made out here, an address that two programs may read in two ways is
refused, and so is what is too long, too slow or too much. What is refused is a problem, as everywhere.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import limits, problems, safety
from .clients import Proxies, address_of, counted_as
from .limits import MIB, Buckets
from .safety import AnswerKind
from .settings import Serving

_MATTER = frozenset({
    b"authorization", b"content-length", b"host", b"transfer-encoding", b"x-forwarded-for", b"x-forwarded-proto",
})  # fmt: skip
_VERSIONS = frozenset({"1.0", "1.1", "2"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_BODILESS = _READS | {"DELETE", "TRACE"}
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_ENCODED = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_SLASHES_IN = (b"/tournaments/", b"/games/", b"/boards/")  # where a name or a key may have a slash in it
_STEPS = re.compile(rb"/\.\.?(?:/|$)")
_ABSOLUTE = re.compile(rb"https?://[^/?#]*", re.IGNORECASE)
_HOST = re.compile(rb"(?:[A-Za-z0-9._-]*|\[([0-9A-Fa-f:.]{2,45})\])(?::[0-9]{0,5})?")

PERSON = "ledger.person"  # in the scope of a request: whom a trusted proxy has signed in; None: no one

_Words = Mapping[bytes, Sequence[bytes]]  # headers, each with its values


class Gate:
    """An application behind its limits."""

    def __init__(self, app: ASGIApp, serving: Serving, clock: Callable[[], float] = time.monotonic) -> None:
        """Put an application behind its limits that is served by these settings."""
        self.app = app
        self.proxies = Proxies.of(serving.behind_proxy)
        self._person = (serving.person_header or "").lower().encode() or None
        self._matter = _MATTER if self._person is None else _MATTER | {self._person}
        self.upload_bytes = serving.largest_upload * MIB
        rate = serving.rate / 60
        self.asked = Buckets(rate, max(rate * limits.BURST, limits.WRITES), clock=clock) if rate else None
        self.failures = Buckets(1 / limits.FAILURE_EVERY, limits.FAILURES, clock=clock)
        self.at_once: Counter[str] = Counter()
        self._clock = clock
        self._trusts = lru_cache(limits.CLIENTS)(self.proxies.trusts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        words, size = _words(scope["headers"], self._matter)
        scope = self._as_it_is(scope, words)
        client = counted_as(scope["client"][0]) if scope["client"] else None
        started: list[int] = []
        try:
            most = self._checked(scope, words, size)
            if client is None:
                await self.app(scope, _Body(receive, most, self._clock), _noting(send, started))
                return
            shows = scope["method"] == "POST" or b"authorization" in words
            self._admitted(scope, client, shows=shows)
            self.at_once[client] += 1
            try:
                await self.app(scope, _Body(receive, most, self._clock), _noting(send, started))
            finally:
                self._ended(client)
                if shows and started and started[0] in {401, 403}:
                    self.failures.take(client)
        except HTTPException as error:
            if started:
                raise
            await _refuse(error, send)

    def _ended(self, client: str) -> None:
        """Count a request no longer among those that are being answered."""
        self.at_once[client] -= 1
        if not self.at_once[client]:
            del self.at_once[client]

    def _as_it_is(self, scope: Scope, words: _Words) -> Scope:
        """Return the request with its client, if a trusted proxy names it, and with an address that is a path."""
        peer = scope["client"][0] if scope.get("client") else None
        request = {**scope, "client": scope.get("client"), PERSON: None}
        if self._trusts(peer):
            origin = self.proxies.origin(peer, words.get(b"x-forwarded-for", ()))
            request["client"] = None if origin is None else (origin, 0)
            scheme = words.get(b"x-forwarded-proto", [b""])[-1]
            if scheme in {b"http", b"https"}:
                request["scheme"] = scheme.decode()
            if self._person is not None and len(names := words.get(self._person, ())) == 1:  # of two, one is made up
                request[PERSON] = names[0].decode("utf-8", "replace")
        raw = scope.get("raw_path") or b""
        # RFC 9112, 3.2.2: a server takes an address with a server's name in it; whose name that is means nothing.
        if not raw.startswith(b"/") and (absolute := _ABSOLUTE.match(raw)):
            request["raw_path"] = raw[absolute.end() :] or b"/"
            request["path"] = unquote_to_bytes(request["raw_path"]).decode("utf-8", "replace")
        return request

    def _checked(self, scope: Scope, words: _Words, size: int) -> int:
        """Return how many bytes the body of a request may have.

        Raises:
            HTTPException: it is no request that everybody reads in the same way, or it is too large.
        """
        if scope["http_version"] not in _VERSIONS:
            raise _closing(505, "speak HTTP/1.1")
        if size > limits.HEADER_BYTES:
            raise _closing(431, f"the headers have more than {limits.HEADER_BYTES:,} bytes")
        if len(scope["headers"]) > limits.HEADER_FIELDS:
            raise _closing(431, f"there are more than {limits.HEADER_FIELDS} headers")
        raw, query = scope.get("raw_path") or b"/", scope["query_string"]
        if len(raw) + len(query) > limits.TARGET_BYTES:
            raise _closing(414, f"the address has more than {limits.TARGET_BYTES:,} bytes: ask for less at once")
        if not raw.startswith(b"/") and (scope["method"], raw) != ("OPTIONS", b"*"):
            raise HTTPException(400, "the address is no path: it begins with a slash")
        if b"%" in raw or b"/." in raw:
            _check_path(raw)
        if b"%" in query:
            _check_words(query.replace(b"+", b" "), "behind the question mark")
        most = self.upload_bytes if scope["path"].startswith(limits.UPLOADS) else limits.BODY_BYTES
        _check_framing(scope, words, most)
        _check_host(words.get(b"host", ()))
        return most

    def _admitted(self, scope: Scope, client: str, *, shows: bool) -> None:
        """Count a request of a client, which *shows* credentials or not.

        Raises:
            HTTPException: it asks for too much, or has guessed too often.
        """
        if self.at_once[client] >= limits.AT_ONCE:
            raise _later(1, f"{limits.AT_ONCE} requests of yours are being answered: wait for one of them")
        if shows and (wait := self.failures.wait(client)):
            raise _later(wait, "too many refusals: look at what you sign in with, and try again later")
        cost = 1 if scope["method"] in _READS else limits.WRITES
        if self.asked is not None and (wait := self.asked.take(client, cost)):
            raise _later(wait, "too many requests: ask less often")


def _words(headers: Iterable[tuple[bytes, bytes]], matter: frozenset[bytes]) -> tuple[_Words, int]:
    """Return the headers that matter here, each with its values, and how many bytes all have."""
    words: dict[bytes, list[bytes]] = {}
    size = 0
    for name, value in headers:
        size += len(name) + len(value)
        if name in matter:
            words.setdefault(name, []).append(value)
    return words, size


def _noting(send: Send, started: list[int]) -> Send:
    """Send an answer, and note its status when it starts."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message["status"])
        await send(message)

    return sending


class _Body:
    """A request's body: counted, and no slower than a body may be. Only the time in which it is waited for counts."""

    def __init__(self, receive: Receive, most: int, clock: Callable[[], float]) -> None:
        self._receive, self._most, self._clock = receive, most, clock
        self._size, self._waited, self._whole = 0, 0.0, False

    async def __call__(self) -> Message:
        """Return the next part of it.

        Raises:
            HTTPException: it is too large or too slow, or ended too early.
        """
        if self._whole:
            return await self._receive()
        since = self._clock()
        try:
            async with asyncio.timeout(limits.BODY_GRACE + self._size / limits.LEAST_RATE - self._waited):
                message = await self._receive()
        except TimeoutError:
            raise _closing(408, "the body came too slowly: send it again, on a better line") from None
        self._waited += self._clock() - since
        if message["type"] == "http.disconnect":  # it has no reader, and is no fault of the program to be logged
            raise _closing(400, "the connection ended before the body did")
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._most:
            raise HTTPException(413, _too_large(self._most))
        return message


def _check_path(raw: bytes) -> None:
    """Refuse a path of which two programs may think two things.

    Raises:
        HTTPException: it is one.
    """
    before, encoded, _ = raw.lower().partition(b"%2f")
    if encoded and not any(folder in before for folder in _SLASHES_IN):  # a proxy may guard any other by its name
        raise HTTPException(400, "%2F within an address: what has a slash in it goes by its number")
    if _STEPS.search(_check_words(raw, "in the address")):
        raise HTTPException(400, "a step upwards within an address: write it without dots between slashes")


def _check_words(raw: bytes, where: str) -> bytes:
    """Return the text that percent signs encode.

    Raises:
        HTTPException: it is no UTF-8, or something that cannot be seen.
    """
    if _ENCODED.search(raw):
        raise HTTPException(400, f"{where} a percent sign without two digits behind it: write %25")
    words = unquote_to_bytes(raw)
    if _CONTROL.search(words):
        raise HTTPException(400, f"{where} a character that cannot be seen")
    try:
        words.decode("utf-8")
    except UnicodeDecodeError:
        raise HTTPException(400, f"{where} bytes that are no UTF-8") from None
    return words


def _check_framing(scope: Scope, words: _Words, most: int) -> None:
    """Refuse a request of which two programs may see the end in two places, or that is too large.

    Raises:
        HTTPException: it is one.
    """
    lengths, chunked = words.get(b"content-length", ()), b"transfer-encoding" in words
    if not lengths and not chunked:
        return
    if chunked and (lengths or scope["http_version"] == "1.0"):  # RFC 9112, 6.1 and 6.3: a way to smuggle requests
        raise _closing(400, "Transfer-Encoding with Content-Length, or of HTTP/1.0: say the length in one way")
    if len(set(lengths)) > 1 or not all(length.isdigit() for length in lengths):
        raise _closing(400, "Content-Length is no number")
    length = int(lengths[0]) if lengths else 0
    if scope["method"] in _BODILESS and (chunked or length):
        raise _closing(400, f"{scope['method']} has no body")
    if length > most:
        raise HTTPException(413, _too_large(most))


def _check_host(hosts: Iterable[bytes]) -> None:
    """Refuse a name that no server can have: nothing is made of it, yet frameworks take it for part of an address.

    Raises:
        HTTPException: it is one.
    """
    for host in hosts:
        match = _HOST.fullmatch(host)
        if match is None or (match[1] is not None and address_of(match[1].decode()) is None):
            raise _closing(400, "Host is no name of a server")


def _too_large(most: int) -> str:
    return f"the body has more than {most:,} bytes: send it in parts"


def _closing(status: int, detail: str) -> HTTPException:
    """Return a refusal after which nothing more is read of the connection."""
    return HTTPException(status, detail, {"Connection": "close"})


def _later(seconds: int, detail: str) -> HTTPException:
    return HTTPException(429, detail, {"Retry-After": str(seconds)})


async def _refuse(error: HTTPException, send: Send) -> None:
    """Answer with a problem. Scripts of other sites may read why: it says nothing that they do not know."""
    headers = {
        **safety.headers(AnswerKind.DATA, index=False),
        "Access-Control-Allow-Origin": "*",
        "Cache-Control": "no-store",
        **problems.headers(error.status_code),
        **(error.headers or {}),
    }
    body = problems.problem(error.status_code, error.detail).body()
    lines = [(b"content-type", problems.MEDIA.encode()), (b"content-length", str(len(body)).encode())]
    lines += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status_code, "headers": lines})
    await send({"type": "http.response.body", "body": body})
