"""Movetext against its hash, and every reference to one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from ledger.audit.reader.commitments import facts_of
from ledger.audit.reader.files import FIRST_FALSEHOODS, READ_ERRORS, RESTORE, Falsehood, Snapshot, opened, shown
from ledger.audit.reader.published import page_falsehoods
from ledger.errors import one_line
from ledger.runtime.lazy import zstandard

if TYPE_CHECKING:
    import sqlite3

LARGEST_TEXT = 16 << 20  # bytes: the longest game has some 100,000
LARGEST_WINDOW = 8 << 20  # bytes: what every zstd decoder must support
REMEDY = "restore that row from a copy"


@attrs.frozen
class TextsVerdict:
    """What the texts were found to be.

    Attributes:
        checked: texts that were decompressed and hashed.
        references: journal entries that name a text.
        falsehoods: the first 20 false texts, then the first 20 entries whose text is missing, then damage to the
            pages and the index of the texts.
    """

    checked: int
    references: int
    falsehoods: tuple[Falsehood, ...]


def verify_texts(journal: str | Snapshot) -> TextsVerdict:
    """Check that every text decompresses to its hash, and that every text an entry names is there.

    Raises:
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is no database or lacks its tables.
    """
    false: list[Falsehood] = []
    dangling: list[Falsehood] = []
    with opened(journal, "journal", "texts") as file:
        checked = references = 0
        for sha256, fault in _texts(file):
            checked += 1
            if fault and len(false) < FIRST_FALSEHOODS:
                false.append(Falsehood("texts", shown(sha256), fault))
        for position, fault in _references(file):
            references += 1
            if fault and len(dangling) < FIRST_FALSEHOODS:
                dangling.append(Falsehood("journal", position, fault))
        pages = page_falsehoods(file.connection, "journal", RESTORE, table="texts")
    return TextsVerdict(checked, references, (*false, *dangling, *pages))


def _texts(file: Snapshot) -> Iterator[tuple[Any, str]]:
    """The hash of each text and what is false in it; ends at the first that cannot be read, and says so."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    sha256: Any = b""
    try:
        for sha256, packed in file.connection.execute("SELECT sha256, zstd FROM texts ORDER BY rowid"):
            yield sha256, _text_fault(decompressor, sha256, packed)
    except READ_ERRORS as error:
        yield sha256, f"no text stored after this one can be read ({one_line(error)}); {RESTORE}"


def _text_fault(decompressor: zstandard.ZstdDecompressor, sha256: object, packed: Any) -> str:
    """What is false in one text, or nothing; what would take much memory is refused, not unpacked."""
    try:
        size = zstandard.frame_content_size(packed)
        if size > LARGEST_TEXT:
            return f"would decompress to {size} bytes, more than {LARGEST_TEXT}; {REMEDY}"
        text = decompressor.decompress(packed, max_output_size=LARGEST_TEXT, allow_extra_data=False)
    except (zstandard.ZstdError, ValueError, TypeError) as error:
        return f"cannot be decompressed into {LARGEST_TEXT} bytes ({one_line(error)}); {REMEDY}"
    digest = hashlib.sha256(text)
    if digest.digest() == sha256:
        return ""
    return f"decompresses to bytes that hash to {digest.hexdigest()}; {REMEDY}"


def _references(file: Snapshot) -> Iterator[tuple[int, str]]:
    """Each entry that names a text, and what is false in that; ends at the first that cannot be read, and says so."""
    sql = "SELECT position, body FROM journal WHERE instr(body, ?) ORDER BY position"
    position = 0
    try:
        for position, body in file.connection.execute(sql, (b'"text":"',)):
            text = facts_of(body).get("text")
            if text is not None:
                missing = f"names text {shown(text)}, which is not in table texts; restore it from a copy"
                yield position, "" if _has_text(file.connection, text) else missing
    except READ_ERRORS as error:
        yield position, f"no text named after this entry can be looked for ({one_line(error)}); {RESTORE}"


def _has_text(connection: sqlite3.Connection, text: object) -> bool:
    try:
        sha256 = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return connection.execute("SELECT 1 FROM texts WHERE sha256 = ?", (sha256,)).fetchone() is not None
