"""The log for strangers: checkpoints, tiles of hashes and bundles of entries, as C2SP tlog-tiles has them.

https://c2sp.org/tlog-tiles, as of 2026: its media types and caching to the letter. Whoever reads these few files can
prove everything about the journal without asking us: that it has an entry, that it only grew, and all entries.
It shows nothing that the last checkpoint does not cover.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from ledger.errors import LedgerError, StorageError, UnknownNameError
from ledger.journal.checkpoint_notes import Checkpoint
from ledger.journal.tiles import ENTRIES, Tile
from ledger.ledger import Ledger

from . import encodings, problems
from .get_handlers import FileAnswer
from .parameters import parse_query
from .problems import RefusedError
from .readers import Reader
from .routes import Route

if TYPE_CHECKING:
    from .parameters import Query

OFF = "off"  # nothing of the log is shown; the other words are hashes and ENTRIES
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"
FOREVER = "public, max-age=31536000, immutable"


# -- what is asked of the library ------------------------------------------------------------------------------------


def checkpoint(ledger: Ledger, _: Query) -> FileAnswer:
    """Return the last checkpoint: number of entries and their root, signed; with the signature of a witness."""
    return _note(ledger.checkpoints.shown(), "checkpoint", "none was made yet")


def cosigned(ledger: Ledger, _: Query) -> FileAnswer:
    """Return the last checkpoint that a witness cosigned, which may be older than the last one."""
    return _note(ledger.checkpoints.cosigned(), "cosigned checkpoint", "no witness cosigned one yet")


def _note(last: Checkpoint | None, what: str, hint: str) -> FileAnswer:
    if last is None:
        raise UnknownNameError(what, "of this log", hint)
    return FileAnswer(last.note.encode(), TEXT)


def tile(ledger: Ledger, query: Query) -> FileAnswer:
    """Return up to 256 hashes of a level of the tree, 32 bytes each; `.p/W` behind it: the first W of them."""
    name = f"tile/{query['tile']}"
    if name.startswith(f"tile/{ENTRIES}/"):
        raise UnknownNameError("file", name, "this log shows its hashes, not its entries")
    return FileAnswer(_covered(ledger, name).content(ledger.journal), BYTES)


def bundle(ledger: Ledger, query: Query) -> FileAnswer:
    """Return up to 256 entries as they are in the journal, each behind its length in two bytes; compressed by gzip."""
    content = _covered(ledger, f"tile/{ENTRIES}/{query['bundle']}").content(ledger.journal)
    return FileAnswer(encodings.packed(content), BYTES)


def _covered(ledger: Ledger, name: str) -> Tile:
    """Return the tile of a name, if the last checkpoint covers it.

    Raises:
        UnknownNameError: it does not, or there is no such name.
        StorageError: the journal is not the one of the last checkpoint; what is given is kept by others for good.
    """
    named, last = Tile.named(name), ledger.checkpoints.last()
    if named is None:
        raise UnknownNameError("file", name, "C2SP tlog-tiles says how they are called", where="in this log")
    if last is None or not named.is_under(last.head):
        size = 0 if last is None else last.head.size
        raise UnknownNameError("file", name, f"the last checkpoint covers {size} entries", where="in this log")
    if fault := ledger.checkpoints.fault():
        raise StorageError(str(ledger.path), f"nothing is shown of its log: {fault}")
    return named


ROUTES: tuple[Route, ...] = (
    Route(path="/checkpoint", ask=checkpoint, form=None, media=(TEXT,), prefix=""),
    Route(path="/checkpoint/cosigned", ask=cosigned, form=None, media=(TEXT,), prefix=""),
    Route(path=f"/tile/{ENTRIES}/{{bundle:path}}", ask=bundle, form=None, media=(BYTES,), prefix=""),
    Route(path="/tile/{tile:path}", ask=tile, form=None, media=(BYTES,), prefix=""),
)


# -- how it is sent --------------------------------------------------------------------------------------------------


def shown(word: str) -> Sequence[Route]:
    """Return the addresses of a log of which so much is shown: ``off``, ``hashes`` or ``entries``."""
    if word == OFF:
        return ()
    return ROUTES if word == ENTRIES else [route for route in ROUTES if route.ask is not bundle]


def addresses(reader: Reader, safe: Mapping[str, str]) -> list[Address]:
    """Return the addresses and their endpoints.

    Args:
        reader: opens the ledger, keeps answers, and knows the site, which says what is shown.
        safe: headers of every answer.
    """
    made = []
    for route in shown(reader.site.log):
        send = _lasting if route.ask in {tile, bundle} else _newest
        made.append(Address(route.address, _endpoint(reader, route, partial(send, safe)), methods=["GET"]))
    return made


def _endpoint(
    reader: Reader, route: Route, send: Callable[[Reader, Route, Request], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        _, wrong = parse_query((), request.query_params.multi_items())
        if wrong:
            raise RefusedError(problems.of_parameters(wrong))
        try:
            return await asyncio.get_running_loop().run_in_executor(reader.executor, send, reader, route, request)
        except LedgerError as error:
            raise RefusedError(problems.refusal(error)) from None

    return endpoint


def _newest(safe: Mapping[str, str], reader: Reader, route: Route, request: Request) -> Response:
    """Return a checkpoint, whose tag is that of its bytes: caches ask each time whether it is still the last one."""
    document = route.ask(reader.open().ledger, {})
    tag = f'"{sha256(document.content).hexdigest()[:32]}"'
    headers = {**safe, "Cache-Control": "no-cache", "ETag": tag, "Content-Type": document.media}
    return unless_there(request, tag, document.content, headers)


def _lasting(safe: Mapping[str, str], reader: Reader, route: Route, request: Request) -> Response:
    """Return a tile or a bundle, which anybody may keep for good.

    "Entry bundles SHOULD be compressed at the HTTP layer": they are kept packed, and unpacked for who takes no gzip.
    """
    query: Mapping[str, Any] = request.path_params
    answer = reader.lasting(request.url.path, lambda ledger: route.ask(ledger, query))
    content, headers = answer.body or b"", {**safe, "Cache-Control": FOREVER, "Content-Type": answer.media}
    if route.ask is bundle:
        return send_packed(request, answer.tag, content, headers)
    return unless_there(request, answer.tag, content, {**headers, "ETag": answer.tag})


def send_packed(request: Request, tag: str, packed: bytes, headers: Mapping[str, str]) -> Response:
    """Return bytes that are kept packed by gzip, unpacked if the client takes no gzip; *tag* is of the unpacked."""
    headers, content = {**headers, "Vary": "Accept-Encoding"}, packed
    if encodings.takes_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"], tag = "gzip", encodings.tag_of_packed(tag)
    else:
        content = gzip.decompress(packed)
    return unless_there(request, tag, content, {**headers, "ETag": tag})


def unless_there(request: Request, tag: str, content: bytes, headers: Mapping[str, str]) -> Response:
    """Return an answer, or that the client has it already: 304, by its entity tag."""
    tags = {word.strip().removeprefix("W/") for word in request.headers.get("if-none-match", "").split(",")}
    if tags & {tag, "*"}:
        return Response(status_code=304, headers={name: headers[name] for name in headers if name != "Content-Type"})
    return Response(content, headers=headers)
