"""Movetext against its hash, and every reference to one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import attrs

from ledger.errors import one_line
from ledger.heavy import zstandard
from ledger.verify.files import FIRST_FALSEHOODS, Falsehood, opened, shown
from ledger.verify.names import facts_of

if TYPE_CHECKING:
    import sqlite3


@attrs.frozen
class TextsVerdict:
    """What the texts were found to be.

    Attributes:
        checked: texts that were decompressed and hashed.
        references: journal entries that name a text.
        falsehoods: the first 20 false texts, then the first 20 entries whose text is missing.
    """

    checked: int
    references: int
    falsehoods: tuple[Falsehood, ...]


def verify_texts(journal_path: str) -> TextsVerdict:
    """Check that every text decompresses to its hash, and that every text an entry names is there.

    Raises:
        StorageError: the file is missing, not SQLite, or without its tables.
        CorruptError: it cannot be read, or an entry that names a text is not JSON.
    """
    false: list[Falsehood] = []
    dangling: list[Falsehood] = []
    checked = references = 0
    with opened(journal_path, "journal", "texts") as connection:
        decompressor = zstandard.ZstdDecompressor()
        for sha256, packed in connection.execute("SELECT sha256, zstd FROM texts ORDER BY sha256"):
            checked += 1
            fault = _text_fault(decompressor, sha256, packed)
            if fault and len(false) < FIRST_FALSEHOODS:
                false.append(Falsehood("texts", shown(sha256), fault))
        sql = "SELECT position, body FROM journal WHERE instr(body, ?) ORDER BY position"
        for position, body in connection.execute(sql, (b'"text":"',)):
            text = facts_of(journal_path, position, body).get("text")
            if text is None:
                continue
            references += 1
            if not _has_text(connection, text) and len(dangling) < FIRST_FALSEHOODS:
                message = f"names text {shown(text)}, which is not in table texts; restore it from a copy"
                dangling.append(Falsehood("journal", position, message))
    return TextsVerdict(checked, references, (*false, *dangling))


def _text_fault(decompressor: zstandard.ZstdDecompressor, sha256: object, packed: Any) -> str:
    """What is false in one text, or nothing; read in pieces, so that a bomb only costs time."""
    digest = hashlib.sha256()
    try:
        for piece in decompressor.read_to_iter(packed):
            digest.update(piece)
    except (zstandard.ZstdError, ValueError, TypeError) as error:
        return f"cannot be decompressed ({one_line(error)}); restore that row from a copy"
    if digest.digest() == sha256:
        return ""
    return f"decompresses to bytes that hash to {digest.hexdigest()}; restore that row from a copy"


def _has_text(connection: sqlite3.Connection, text: object) -> bool:
    try:
        sha256 = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return connection.execute("SELECT 1 FROM texts WHERE sha256 = ?", (sha256,)).fetchone() is not None
