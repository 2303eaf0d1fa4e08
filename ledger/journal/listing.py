"""What a journal holds as somebody lists it: entries of a kind, of a game, the newest few; pools; a game's moves.

No entry is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import UnknownNameError
from ledger.facts.events import BY_KIND
from ledger.journal import Journal
from ledger.journal.game_keys import game_found
from ledger.runtime.lazy import zstandard
from ledger.runtime.nearest import choice_of

_POOL, _AFTER_POOLS, _START = "scheme:", "scheme;", "@start"  # keys of the adoptions that a pool begins with
STEP = 20_000  # entries looked through at a time, from the end backwards


def bodies(journal: Journal, kind: str | None = None, last: int | None = None) -> Iterator[bytes]:
    """The bodies of the entries of *kind*, in order; with *last* only so many, the newest of them.

    Args:
        journal: where they stand.
        kind: with its version (``clock-accepted/1``) or without; all kinds where not given.
        last: how many; 0 or None: all.

    Raises:
        UnknownNameError: there is no such kind.
    """
    wanted = None if kind is None else _marks(kind)
    size = journal.size()
    if not last:
        return _chosen(journal, 0, size, wanted)
    return iter(_newest(journal, size, wanted, last))


def pool_names(journal: Journal) -> list[str]:
    """Names of the pools that a scheme was adopted for, in alphabetical order."""
    adoptions = journal.keys(_POOL, _AFTER_POOLS)
    return [key[len(_POOL) : -len(_START)] for key in adoptions if key.endswith(_START)]


def about(journal: Journal, game: str) -> list[bytes]:
    """The bodies of the entries about one game, in order: its recording and what was added to it.

    Args:
        journal: where they stand.
        game: as ``game_found`` takes it.

    Raises:
        UnknownNameError: no such game, or several.
    """
    name, recorded = game_found(journal, game)
    found = [recorded]
    while more := list(journal.find([f"supplement:{name}@{len(found)}"]).values()):
        found += more
    return [entry.body for entry in found]


def _marks(kind: str) -> tuple[bytes, ...]:
    """What stands in a body of this kind and in no other: a quotation mark inside a text is escaped."""
    kinds = sorted(known for known in BY_KIND if kind in {known, known.partition("/")[0]})
    if not kinds:
        raise UnknownNameError("kind", kind, choice_of(kind, BY_KIND))
    return tuple(b',"kind":"%b","position":' % known.encode() for known in kinds)


def _chosen(journal: Journal, after: int, until: int, wanted: tuple[bytes, ...] | None) -> Iterator[bytes]:
    for block in journal.read(after, until):
        for body in block:
            if wanted is None or any(mark in body for mark in wanted):
                yield body


def _newest(journal: Journal, size: int, wanted: tuple[bytes, ...] | None, last: int) -> list[bytes]:
    """From the end backwards, until there are enough."""
    found: list[bytes] = []
    step = last if wanted is None else STEP
    while size > 0 and len(found) < last:
        after = max(size - step, 0)
        found = [*_chosen(journal, after, size, wanted), *found]
        size = after
    return found[max(len(found) - last, 0) :]


def movetext(journal: Journal, sha256: str) -> str | None:
    """The movetext kept under that hash, 64 hexadecimal digits; None where there is none."""
    frame = journal.text(bytes.fromhex(sha256))
    return None if frame is None else zstandard.ZstdDecompressor().decompress(frame).decode()
