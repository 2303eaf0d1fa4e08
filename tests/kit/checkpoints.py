"""A key that is always the same, and ledgers that are signed by it."""

from __future__ import annotations

import tarfile
from pathlib import Path

from ledger.journal.checkpoints import ED25519, NoteKey, _base64
from ledger.runtime.ledger_files import kept_with
from tests.kit.clubs import NAME, ClubOfTwo
from tests.kit.places import TESTS

ORIGIN = "ratings.example.org/club"
KEY = NoteKey(ORIGIN, bytes(range(32)))
RELEASED = TESTS / "releases" / "0.1.0" / "chessworld.tar.gz"
RELEASED_GAME = "pgn:5a1d0ac48206c19209efc2c4"
"""A game of that ledger, of players 1 (bob) and 12."""


def give_key(path: Path, key: NoteKey = KEY) -> NoteKey:
    """Put a key beside the journal at *path*."""
    file = kept_with(path, "key")
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
