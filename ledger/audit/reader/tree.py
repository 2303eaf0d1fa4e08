"""The Merkle tree of RFC 6962 as a verifier computes it, tile by tile; shares no code with the writer's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

TILE = 256  # leaves under one stored node of level 1; 256 of those under one of level 2, and so on
EMPTY_ROOT = hashlib.sha256().digest()


def leaves_of(bodies: Sequence[bytes]) -> list[bytes]:
    """Leaf hashes of bodies."""
    sha256 = hashlib.sha256
    return [sha256(b"\x00" + body).digest() for body in bodies]


def leaf_of_anything(body: object) -> bytes:
    """A leaf hash even of a body that is no bytes, so that the scan can go on."""
    return leaves_of([body if isinstance(body, bytes) else repr(body).encode()])[0]


def parents(hashes: list[bytes]) -> list[bytes]:
    """The level above; a last one without a partner is carried up, which gives RFC 6962's tree."""
    sha256 = hashlib.sha256
    each = iter(hashes)
    above = [sha256(b"\x01" + left + right).digest() for left, right in zip(each, each, strict=False)]
    return above + hashes[-1:] if len(hashes) % 2 else above


def tile_roots(hashes: list[bytes]) -> list[bytes]:
    """The root above each 256 of *hashes*, whose number is a multiple of 256."""
    for _ in range(8):
        hashes = parents(hashes)
    return hashes


def fold(hashes: list[bytes]) -> bytes:
    """The root over hashes of one level."""
    while len(hashes) > 1:
        hashes = parents(hashes)
    return hashes[0] if hashes else EMPTY_ROOT


def root_of(tiles: list[bytes], rest: list[bytes]) -> bytes:
    """The root over whole tiles and the leaves behind them."""
    return fold([*tiles, fold(rest)] if rest else tiles)
