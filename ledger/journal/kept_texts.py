"""The movetext of games, packed by zstd and kept under its hash beside the entries, which hold the hash alone."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from ledger.journal import Journal
from ledger.runtime.lazy import zstandard

LEVEL = 3  # of zstd, at which movetext shrinks to a third in some 10 µs


def frames(texts: Iterable[str]) -> list[tuple[bytes, bytes]]:
    """Movetexts as ``Writer.keep_texts`` takes them: SHA-256 and zstd frame of each."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    raw = [text.encode() for text in texts]
    return [(sha256(data).digest(), compressor.compress(data)) for data in raw]


def movetext(journal: Journal, sha256_hex: str) -> str | None:
    """The movetext kept under that hash, 64 hexadecimal digits; None where there is none."""
    frame = journal.text(bytes.fromhex(sha256_hex))
    return None if frame is None else zstandard.ZstdDecompressor().decompress(frame).decode()
