"""Signed checkpoints: a key that is always the same, ledgers signed by it, and a second reader of the public log."""

import tarfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from ledger.journal.signing_keys import ED25519, NoteKey, _base64
from ledger.runtime.ledger_files import companion_file
from tests.kit.clubs import NAME, ClubOfTwo
from tests.kit.places import TESTS

ORIGIN = "ratings.example.org/club"
KEY = NoteKey(ORIGIN, bytes(range(32)))
RELEASED = TESTS / "releases" / "0.1.0" / "chessworld.tar.gz"
RELEASED_GAME = "pgn:5a1d0ac48206c19209efc2c4"
"""A game of that ledger, of players 1 (bob) and 12."""


def give_key(path: Path, key: NoteKey = KEY) -> NoteKey:
    """Put a key beside the journal at *path*."""
    file = companion_file(path, "key")
    file.touch(mode=0o600)
    file.write_text(f"PRIVATE+KEY+{key.name}+{key.key_id.hex()}+{_base64(ED25519 + key.seed)}\n", "ascii")
    return key


def released_club(folder: Path) -> Path:
    """The journal of a ledger of which every byte is known, with its key beside it."""
    with tarfile.open(RELEASED) as archive:
        archive.extractall(folder, filter="data")
    give_key(folder / NAME)
    return folder / NAME


def signed(club: ClubOfTwo) -> ClubOfTwo:
    """The club of two, with a key and a checkpoint of its four entries."""
    give_key(club.path)
    club.ledger.checkpoints.make()
    return club


Fetch = Callable[[str], bytes]


def root_of_leaves(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, as it is written there: split at the largest power of two below the number of leaves."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_of_leaves(leaves[:split]) + root_of_leaves(leaves[split:])).digest()


def names_under(size: int, kind: str) -> list[str]:
    """The names of all tiles of a level, or bundles of entries, of a log of so many entries."""
    number = size >> (8 * (0 if kind == "entries" else int(kind)))
    names = []
    for place in range(-(-number // 256)):
        digits = [f"{place // 1000**power % 1000:03d}" for power in range(6) if power == 0 or place >= 1000**power]
        path = "/".join([*(f"x{group}" for group in digits[:0:-1]), digits[0]])
        width = min(256, number - place * 256)
        names.append(f"tile/{kind}/{path}" + ("" if width == 256 else f".p/{width}"))
    return names


def hashes_under(size: int, level: int, fetch: Fetch) -> list[bytes]:
    """All hashes of a level of a log of so many entries."""
    content = b"".join(fetch(name) for name in names_under(size, str(level)))
    assert len(content) == 32 * (size >> (8 * level))
    return [content[place : place + 32] for place in range(0, len(content), 32)]


def read_bundle(content: bytes) -> list[bytes]:
    """The entries of a bundle: each behind its length, uint16, big-endian."""
    entries = []
    while content:
        length = content[0] * 256 + content[1]
        entries.append(content[2 : 2 + length])
        assert len(entries[-1]) == length
        content = content[2 + length :]
    return entries
