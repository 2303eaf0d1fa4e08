"""Text in other encodings as UTF-8, piece by piece: what Excel saves as Unicode text, and what somebody names.

UTF-8 and bytes of no known encoding pass as they are: readers of lines take a line that is not UTF-8 for Windows-1252.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from ledger.imports.reading import Reading

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_MARK = 2  # bytes of a byte-order mark


def text_encoding(name: str) -> str:
    """The usual name of an encoding that somebody names.

    Raises:
        ValueError: there is no such encoding of text.
    """
    try:
        found = codecs.lookup(name)
        codecs.getincrementaldecoder(found.name)().decode(b"", final=True).encode()
    except (LookupError, ValueError, TypeError, AttributeError):
        raise ValueError(
            f"there is no encoding {name[:40]!r}: give a name such as latin-1, windows-1250 or utf-16"
        ) from None
    return found.name


def recoded(chunks: Iterator[bytes], encoding: str | None, reading: Reading) -> Iterator[bytes]:
    """The same text in UTF-8.

    Bytes that are nothing in the encoding are a fault, and the rest is not read.

    Args:
        chunks: bytes in pieces of any size.
        encoding: what the text is written in, None where a byte-order mark says that it is UTF-16, or nothing does.
        reading: receives the fault.
    """
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= _MARK:
            break
    marked = _MARKS.get(first[:_MARK])
    if encoding is None and marked is None:
        yield from (part for part in (first,) if part)
        yield from chunks
        return
    name = marked if encoding is None or (encoding.startswith("utf-16") and marked) else encoding
    assert name is not None
    yield from _decoded(first[_MARK if marked == name else 0 :], chunks, name, reading)


def _decoded(first: bytes, chunks: Iterator[bytes], name: str, reading: Reading) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(name)()
    line = 1
    rest: bytes | None = first
    while True:
        try:
            text = decoder.decode(rest or b"", final=rest is None)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(name, "ignore")
            yield good.encode(errors="replace")
            odd = error.object[error.start : error.start + 8]
            words = f"the bytes {odd!r} are no text in {name} ({error.reason}); the rest is not read"
            reading.cut(line + good.count("\n"), f"{words}: name the right --encoding")
            return
        if text:
            line += text.count("\n")
            yield text.encode(errors="replace")
        if rest is None:
            return
        rest = next(chunks, None)
