"""The checker of published lists as part of the site: its files, and the bundles that it checks.

The folder is one that ``rating-ledger checker FOLDER`` wrote. A bundle holds every entry, so it is offered only where
the log shows entries.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from ledger.audit.bundles import bundle_lines
from ledger.errors import LedgerError, UnknownNameError
from ledger.ledger import Ledger

from . import encodings, problems, safety
from .problems import RefusedError
from .readers import Reader
from .safety import AnswerKind
from .sites import Site

PROGRAM, BUNDLE = "/check/program/{name}", "/check/lists/{list}"
MOST_ENTRIES = 200_000  # of a bundle that a browser checks in some minutes
_MEDIA = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript"}
_BYTES = "application/octet-stream"


@attrs.frozen
class _File:
    content: bytes
    media: str

    @property
    def tag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:32]}"'


def _program(folder: Path) -> Mapping[str, _File]:
    """Return the files of a checker, by name; they stay as they are while a process runs."""
    paths = [path for path in sorted(folder.iterdir()) if path.suffix == ".gz" or path.suffix in _MEDIA]
    return {path.name: _File(path.read_bytes(), _MEDIA.get(path.suffix, _BYTES)) for path in paths}


class _Bundles:
    """The last bundle that was asked for, packed; several readers of one list come together."""

    def __init__(self, verifier: str) -> None:
        self._verifier = verifier
        self._last: tuple[str, str, bytes] | None = None  # checkpoint, list, packed bytes
        self._lock = Lock()

    def packed(self, ledger: Ledger, word: str) -> bytes:
        """Return the bundle of a list, packed by gzip."""
        publication = ledger.publications.named(word)
        last = ledger.checkpoints.last()
        size = 0 if last is None else last.head.size
        if size > MOST_ENTRIES:
            hint = f"its {size:,} entries are too many for a browser; whoever keeps the ledger exports it"
            raise UnknownNameError("bundle", word, hint)
        with self._lock:
            asked = "" if last is None else last.note, publication.name
            if self._last is None or self._last[:2] != asked:
                lines = bundle_lines(ledger, publication, self._verifier)
                self._last = (*asked, encodings.packed(b"".join(lines)))
            return self._last[2]


def addresses(reader: Reader, site: Site) -> list[Address]:
    """Return the addresses of the checker and of the bundles; none where lists are not offered to be checked."""
    if not site.checks_lists or site.checker is None or site.verifier is None:
        return []
    files, bundles = _program(Path(site.checker)), _Bundles(site.verifier)
    headers = safety.headers(AnswerKind.CHECKER, index=site.index)
    of_data = {
        **safety.headers(AnswerKind.DATA, index=False),
        "Content-Type": _BYTES,
        "Content-Encoding": "gzip",
        "Vary": "Accept-Encoding",
    }

    async def program(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        if file is None:
            raise RefusedError(problems.problem(404, "the checker has no file of this name"))
        return _unless_there(request, file.content, file.tag, {**headers, "Content-Type": file.media})

    async def bundle(request: Request) -> Response:
        def made() -> bytes:
            return bundles.packed(reader.open().ledger, request.path_params["list"])

        try:
            content = await asyncio.get_running_loop().run_in_executor(reader.executor, made)
        except LedgerError as error:
            raise RefusedError(problems.refusal(error)) from None
        tag, headers = f'"{sha256(content).hexdigest()[:32]}"', of_data
        if not encodings.takes_gzip(request.headers.get("accept-encoding", "")):
            content = gzip.decompress(content)
            headers = {name: value for name, value in of_data.items() if name != "Content-Encoding"}
        return _unless_there(request, content, tag, headers)

    return [Address(PROGRAM, program, methods=["GET"]), Address(BUNDLE, bundle, methods=["GET"])]


def _unless_there(request: Request, content: bytes, tag: str, headers: Mapping[str, str]) -> Response:
    if tag in encodings.tags(request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"ETag": tag, "Cache-Control": headers["Cache-Control"]})
    return Response(content, headers={**headers, "ETag": tag})
