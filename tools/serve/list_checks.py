"""The checker of published lists as part of the site: its files, and the bundles that it checks.

The folder is one that ``rating-ledger checker FOLDER`` wrote. A bundle holds every entry, so it is offered only where
the log shows entries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Address

from ledger.audit.bundles import bundle_lines
from ledger.errors import LedgerError, UnknownNameError
from ledger.ledger import Ledger

from . import encodings, log, problems, safety
from .problems import RefusedError
from .readers import Reader
from .rendering import MEDIA
from .safety import AnswerKind
from .sites import Site

PROGRAM, BUNDLE = "/check/program/{name}", "/check/lists/{list}"
MOST_ENTRIES = 200_000  # of a bundle that a browser checks in some minutes
_MEDIA = {**MEDIA, ".html": "text/html; charset=utf-8"}
_BYTES = "application/octet-stream"


class _File(NamedTuple):
    """A file of the checker, with its media type and its entity tag."""

    content: bytes
    media: str
    tag: str


def _program(folder: Path) -> Mapping[str, _File]:
    """Return the files of a checker, by name; they stay as they are while a process runs."""
    files = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".gz" or path.suffix in _MEDIA:
            content = path.read_bytes()
            files[path.name] = _File(content, _MEDIA.get(path.suffix, _BYTES), _tag(content))
    return files


def _tag(content: bytes) -> str:
    return f'"{sha256(content).hexdigest()[:32]}"'


class _Bundles:
    """The last bundle that was asked for, packed, with its tag: many visitors check the same list."""

    def __init__(self, verifier: str) -> None:
        self._verifier = verifier
        self._key: tuple[str, str] | None = None  # checkpoint and list of the last one
        self._last = (b"", "")
        self._lock = Lock()

    def packed(self, ledger: Ledger, word: str) -> tuple[bytes, str]:
        """Return the bundle of a list, packed by gzip, and the tag of what it holds."""
        publication = ledger.publications.named(word)
        last = ledger.checkpoints.last()
        size = 0 if last is None else last.head.size
        if size > MOST_ENTRIES:
            hint = f"its {size:,} entries are too many for a browser; whoever keeps the ledger exports it"
            raise UnknownNameError("bundle", word, hint)
        with self._lock:
            key = "" if last is None else last.note, publication.name
            if self._key != key:
                content = b"".join(bundle_lines(ledger, publication, self._verifier))
                self._key, self._last = key, (encodings.packed(content), _tag(content))
            return self._last


def addresses(reader: Reader, site: Site) -> list[Address]:
    """Return the addresses of the checker and of the bundles; none where lists are not offered to be checked."""
    if not site.checks_lists or site.checker is None or site.verifier is None:
        return []
    files, bundles = _program(Path(site.checker)), _Bundles(site.verifier)
    headers = safety.headers(AnswerKind.CHECKER, index=site.index)
    of_data = {**safety.headers(AnswerKind.DATA, index=False), "Content-Type": _BYTES}

    async def program(request: Request) -> Response:
        file = files.get(request.path_params["name"])
        if file is None:
            raise RefusedError(problems.problem(404, "the checker has no file of this name"))
        shown = {**headers, "Content-Type": file.media, "ETag": file.tag}
        return log.unless_there(request, file.tag, file.content, shown)

    async def bundle(request: Request) -> Response:
        def made() -> tuple[bytes, str]:
            return bundles.packed(reader.open().ledger, request.path_params["list"])

        try:
            content, tag = await asyncio.get_running_loop().run_in_executor(reader.executor, made)
        except LedgerError as error:
            raise RefusedError(problems.refusal(error)) from None
        return log.send_packed(request, tag, content, of_data)

    return [Address(PROGRAM, program, methods=["GET"]), Address(BUNDLE, bundle, methods=["GET"])]
