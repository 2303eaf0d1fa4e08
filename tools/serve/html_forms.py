"""What is typed into a form of the desk, as a browser sends it: its fields, and the file that comes with some.

Whoever is not signed in may send a form, too, and gets back what was typed: of its file nothing is kept then.
"""

from __future__ import annotations

import asyncio
import io
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from . import problems
from .problems import RefusedError
from .sessions import new_once

MOST_FIELDS, LONGEST_FIELD = 200, 64 * 1024  # of a form; characters


async def typed(request: Request, folder: Path, field: str | None = None) -> dict[str, str]:
    """Return the typed fields by name; ``middleware`` limits their size.

    Args:
        request: the form as it was sent.
        folder: where its file waits, which no other user may enter.
        field: the field of a file: ``file`` is the path where that waits then, and ``filename`` what it was called;
            None: there is none, and nothing of any file is kept.

    Raises:
        RefusedError: it cannot be read, or there is no room for its file.
    """
    words: dict[str, str] = {}
    try:
        form = await _form(request, with_file=field is not None)
        try:
            for name, value in form.multi_items():
                if isinstance(value, str):
                    if name != "file":  # what is typed into a field is the place of no file
                        words[name] = value[:LONGEST_FIELD]
                elif name == field and value.filename:
                    words["file"] = str(await _spooled(value, folder))
                    words["filename"] = value.filename
        finally:
            await form.close()
    except OSError as error:
        raise problems.no_room(error) from None
    if len(words.get("rows", "")) >= LONGEST_FIELD:
        raise RefusedError(problems.problem(413, "these rows are longer than a form takes: send them as a file"))
    if "filename" in words:  # for people alone: nothing is opened by it
        words["filename"] = Path(words["filename"].replace("\\", "/")).name[:200]
    return words


async def _form(request: Request, *, with_file: bool) -> FormData:
    """Return the form, which is to be closed.

    Raises:
        RefusedError: it cannot be read.
    """
    media, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() != b"utf-8":  # by others a text may be none that can be sent on
        raise RefusedError(problems.problem(415, "send a form in UTF-8, as browsers do"))
    if with_file or media != b"multipart/form-data":
        return await request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD)
    reader = _FieldsAlone(
        request.headers, request.stream(), max_files=1, max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD
    )
    try:
        return await reader.parse()
    except MultiPartException as error:
        raise RefusedError(problems.problem(400, error.message)) from None


class _FieldsAlone(MultiPartParser):
    """Reads the fields of a form: a client that is not signed in must not fill the disk with files."""

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Take the content of a field, and drop that of a file."""
        if self._current_part.file is None:
            super().on_part_data(data, start, end)


def spooled_text(text: str, folder: Path) -> Path:
    """Where a text that was typed waits, as an uploaded file does.

    Raises:
        RefusedError: there is no room for it.
    """
    try:
        return _copied(io.BytesIO(text.encode()), folder)
    except OSError as error:
        raise problems.no_room(error) from None


async def _spooled(file: UploadFile, folder: Path) -> Path:
    """Where an uploaded file waits."""
    return await asyncio.get_running_loop().run_in_executor(None, _copied, file.file, folder)


def _copied(file: BinaryIO, folder: Path) -> Path:
    place = folder / f"upload-{new_once()}"
    try:
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            file.seek(0)
            shutil.copyfileobj(file, target, 1 << 20)
    except OSError:
        place.unlink(missing_ok=True)
        raise
    return place
