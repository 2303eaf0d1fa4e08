"""The journal as a transparency log for other programs: tiles of hashes and bundles of entries (C2SP tlog-tiles).

https://c2sp.org/tlog-tiles, "Merkle Tree", "Partial Tiles" and "Log entries": a tile has up to 256 hashes of one level
of the tree, a bundle the entries under a tile of level 0, each behind its length. Both have names such as
``tile/0/x001/234`` and ``tile/entries/000.p/17``; the content of a name never changes.

Only entries that a checkpoint covers are published. Every width of a tile that the checkpoint covers is served. "Logs
MUST serve partial tiles corresponding to tree sizes for which a checkpoint was produced", so that these sizes need not
be looked up; another width has no hash that is not covered either.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ledger.facts.words import TreeHead
from ledger.journal import Journal
from ledger.journal.merkle import TILE_HEIGHT

WIDTH = 1 << TILE_HEIGHT  # hashes of a full tile
ENTRIES = "entries"
_LENGTH_BYTES = 2
# Go's reader takes numbers below 2^63; "<L> MUST be a decimal ASCII integer between 0 and 63".
_NAME = re.compile(
    rf"tile/(?P<level>{ENTRIES}|[0-9]|[1-5][0-9]|6[0-3])/(?P<number>(?:x[0-9]{{3}}/){{0,6}}[0-9]{{3}})(?:\.p/(?P<width>[0-9]{{1,3}}))?",
    re.ASCII,
)


class Tile(NamedTuple):
    """A tile of hashes, or a bundle of entries.

    Attributes:
        level: the level of its hashes; None for entries.
        number: its number within the level, from 0.
        width: the number of its hashes or entries, 1 to 256.
    """

    level: int | None
    number: int
    width: int

    @property
    def name(self) -> str:
        """The path of the tile below the log's prefix."""
        # "zero-padded 3-digit path elements. All but the last path element MUST begin with an x" (C2SP tlog-tiles)
        digits = f"{self.number:03d}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[place : place + 3] for place in range(0, len(digits), 3)]
        where = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
        partial = "" if self.width == WIDTH else f".p/{self.width}"
        return f"tile/{ENTRIES if self.level is None else self.level}/{where}{partial}"

    @classmethod
    def named(cls, name: str) -> Tile | None:
        """Return the tile with a name; None if the name is not that of a tile: each has exactly one name."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        level = None if match["level"] == ENTRIES else int(match["level"])
        number = int(match["number"].replace("x", "").replace("/", ""))
        tile = cls(level, number, WIDTH if match["width"] is None else int(match["width"]))
        return tile if 0 < tile.width <= WIDTH and tile.name == name else None

    def is_under(self, head: TreeHead) -> bool:
        """Return whether a tree head covers all its hashes or entries."""
        hashes = head.size >> ((self.level or 0) * TILE_HEIGHT)
        return self.number * WIDTH + self.width <= hashes

    def content(self, journal: Journal) -> bytes:
        """Return its bytes: hashes of 32 bytes, or entries, each behind its length in two bytes.

        Raises:
            ValueError: the journal has not so many entries.
            CorruptError: the stored rows are damaged.
        """
        first = self.number * WIDTH
        if self.level is not None:
            return b"".join(journal.hashes(self.level, first, first + self.width))
        bodies = [body for block in journal.read(first, first + self.width) for body in block]
        if len(bodies) != self.width:
            raise ValueError(f"entries {first + 1} to {first + self.width} of {journal.size()}")
        return b"".join(len(body).to_bytes(_LENGTH_BYTES, "big") + body for body in bodies)
