"""Files that people give and that hold no games in a format that is read: what each is, and what to do with it.

Told by the first bytes, as ``files.detect`` tells the formats that are read. Nothing is read or parsed here.
"""

from __future__ import annotations

import re

from ledger.imports.files import is_chess_com

_BOM = b"\xef\xbb\xbf"
_BY_MAGIC = {
    b"PAR1": "a Parquet file: write its games as CSV first, with a header",
    b"ARROW1": "an Arrow file: write its games as CSV first, with a header",
    b"SQLite format 3\x00": "a database: write its games as CSV first, with a header; a ledger is not imported, but "
    "copied by 'backup'",
    b"%PDF-": "a PDF document: ask for the games as PGN or CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word document: save it as CSV",
    b"Scid.": "a Scid database: export its games as PGN",
}
_HTML = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_JSON = (
    "a JSON document, not JSON lines: write each game on a line of its own as ledger/imports/README.md shows, such as "
    "by \"jq -c '.[]'\""
)


def foreign(first: bytes) -> str | None:
    """What a file is and what to do with it, where its games cannot be read; None where some format may be.

    Args:
        first: the beginning of the file, unpacked; 64 KiB are plenty.
    """
    for magic, words in _BY_MAGIC.items():
        if first.startswith(magic):
            return words
    text = first.removeprefix(_BOM).lstrip()
    if _HTML.match(text):
        return "a web page: download the games themselves, as PGN or CSV"
    if text.startswith(b"<?xml"):
        return "an XML document: ask for the games as PGN or CSV"
    if is_chess_com(text):
        return None
    return _json(text)


def _json(text: bytes) -> str | None:
    """JSON that is no line of it: a list, an object over several lines, or a list of games in one object."""
    if re.match(rb"\[\s*[\[{\]]", text) or re.match(rb"\{\s*\n", text):
        return _JSON
    return _JSON if re.match(rb'\{\s*"games"\s*:\s*\[', text) else None
