"""Movetext of games, compressed by zstd and stored under its hash; entries hold only the hash."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from ledger.errors import CorruptError
from ledger.journal import Journal
from ledger.runtime.lazy import zstandard

LEVEL = 3  # of zstd, at which movetext shrinks to a third in some 10 µs
LARGEST_TEXT = 16 << 20  # bytes, as the audit reads them


def compressed_texts(texts: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Compress movetexts for ``Writer.store_texts``: SHA-256 and zstd frame of each."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    raw = [text.encode() for text in texts]
    return [(sha256(data).digest(), compressor.compress(data)) for data in raw]


def decompressed_text(frame: bytes) -> bytes | None:
    """Decompress a stored text; None if its header says that it is longer than any text may be.

    Raises:
        zstandard.ZstdError: it is damaged.
    """
    # ``max_output_size`` counts only if the header does not say how long the text is.
    if zstandard.frame_content_size(frame) > LARGEST_TEXT:
        return None
    return zstandard.ZstdDecompressor().decompress(frame, max_output_size=LARGEST_TEXT)


def movetext(journal: Journal, sha256_hex: str) -> str | None:
    """Return the movetext stored under a hash, 64 hexadecimal digits; None if there is none.

    Raises:
        CorruptError: the stored bytes are damaged, or are another text.
    """
    frame = journal.text(bytes.fromhex(sha256_hex))
    if frame is None:
        return None
    try:
        text = decompressed_text(frame) or b""
    except zstandard.ZstdError:
        text = b""
    # An entry commits to the hash of a text: the stored text proves nothing by itself.
    if sha256(text).hexdigest() != sha256_hex:
        words = f"the stored movetext {sha256_hex} was changed or is damaged; restore that row from a copy"
        raise CorruptError("journal", 0, words)
    return text.decode()
