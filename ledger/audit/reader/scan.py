"""One pass over the rows of a journal: each is judged, the tree grows. It reads no file; ``journal`` hands it rows.

A body is checked without parsing it: its hash is its leaf, it begins with ``{"actor":``, and its last members
(key, kind, position, recorded_at) are compared byte for byte with what the columns say they must be. That is done for
whole blocks of rows, column by column; where a block is not right as a whole its rows are judged one by one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import cycle
from json.encoder import encode_basestring as quote
from operator import itemgetter, mod
from typing import Any

from ledger.audit.reader.files import FIRST_FALSEHOODS, RESTORE, Falsehood, shown
from ledger.audit.reader.tree import TILE, leaf_of_anything, leaves_of, root_of, tile_roots

BLOCK = TILE  # rows that are judged together: few enough to stay in the processor's cache
CLOCK_ACCEPTED = "clock-accepted/1"

_HEAD = b'{"actor":'
_STAMP = b'0000-00-00T00:00:00.000Z"}'  # recorded_at with every digit made 0, and the end of the body
_STAMP_LENGTH = len(_STAMP)
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")

_STAMP_OF = itemgetter(slice(-_STAMP_LENGTH, None))
# Letters that JSON writes as they are, and in one byte.
_PLAIN = bytes(range(ord(" "), 0x7F)).translate(None, b'"\\')
_KINDS = 64  # whose ends of a body are kept: there are fewer of ours

Told = tuple[Any, Any, Any, Any, Any]  # position, bytes of the kind or None, body, leaf, bytes of the key
Row = tuple[Any, Any, Any, Any, Any]  # position, kind, key, body, leaf


class Scan:
    """The state of one pass: rows seen, tree grown, falsehoods found."""

    def __init__(self, sizes: Collection[int]) -> None:
        """Begin; the root is kept at each of *sizes* that is reached."""
        self.falsehoods: list[Falsehood] = []
        self.clocks: list[int] = []  # entries by which a wrong clock was accepted
        self.entries = 0
        self.size = 0  # leaves in the tree
        self.whole = True  # no entry missing so far; after a gap the tree cannot grow
        self.tiles: list[bytes] = []  # roots of complete tiles
        self.rest: list[bytes] = []  # leaves after them
        self.roots: dict[int, bytes] = {0: root_of([], [])}
        self.expected = 1  # position that the next row must have
        self.keys = 0  # sum of the hashes of (bytes of the key, position) of all rows, for the index to have the same
        self._last = b""  # recorded_at of the row before
        self._sizes = sorted(sizes)

    def take(self, rows: Sequence[Told]) -> bool:
        """Take the next rows in order of position if all are right; False, and nothing is taken, if one is not."""
        positions, kinds, bodies, stored, keys = zip(*rows, strict=True)
        self.keys += sum(map(hash, zip(keys, positions, strict=True)))
        try:
            leaves = leaves_of(bodies)
            stamps = [_STAMP_OF(bodies[0])]
            if not bodies[-1].endswith(stamps[0]):  # they ascend: where the last is the first, all must be the same
                stamps = list(map(_STAMP_OF, bodies))
            right = (
                leaves == list(stored)
                and positions == tuple(range(self.expected, self.expected + len(rows)))
                and all(map(bytes.endswith, bodies, _ends(kinds, keys, positions, stamps)))
                and min(bodies).startswith(_HEAD)
                and max(bodies).startswith(_HEAD)  # then so do all between them
                and _are_instants(set(stamps))
                and self._last <= stamps[0]
                and stamps == sorted(stamps)
            )
        except (TypeError, ValueError):  # a body that is not a blob, a key or kind that is not text
            return False
        if right:
            self.entries += len(rows)
            self.expected += len(rows)
            self._last = stamps[-1]
            self._grow(leaves if self.whole else [])
        return right

    def judge(self, rows: Sequence[Row]) -> None:
        """Take the next rows one by one, and name what is false in them."""
        self.entries += len(rows)
        self._grow(self._judged(rows))

    def root(self) -> bytes:
        """The root of what was read, up to the first gap."""
        return root_of(self.tiles, self.rest)

    def add(self, position: int, message: str) -> None:
        """Note what is false in an entry."""
        if len(self.falsehoods) < FIRST_FALSEHOODS:
            self.falsehoods.append(Falsehood("journal", position, message))

    def _judged(self, rows: Sequence[Row]) -> list[bytes]:
        """Name what is false in rows of which something may be; returns the leaves that continue the tree."""
        leaves = []
        for row in rows:
            position = row[0]
            if type(position) is not int or position < self.expected:
                self.add(position, f"out of order: entry {self.expected} should stand here; {RESTORE}")
                continue
            if position > self.expected:
                missing = f"entries {self.expected} to {position - 1} are missing"
                if position == self.expected + 1:
                    missing = "this entry is missing"
                self.add(self.expected, f"{missing}, the next is {position}; {RESTORE}")
                self.whole = False
            if len(self.falsehoods) < FIRST_FALSEHOODS:
                faults = list(_row_faults(row)) or list(self._time_faults(row))
                for message in faults:
                    self.add(position, message)
            if self.whole:
                leaves.append(leaf_of_anything(row[3]))
            self.expected = position + 1
        return leaves

    def _time_faults(self, row: Row) -> Iterator[str]:
        """What is false in when a row, which is right otherwise, was recorded."""
        position, kind, _, body, _ = row
        stamp, before = body[-_STAMP_LENGTH:], self._last
        self._last = stamp
        if kind == CLOCK_ACCEPTED:
            entry = _entry_accepted(body)
            if type(entry) is int and entry == position - 1:
                self.clocks.append(position)
            else:
                yield (
                    f"accepts the clock of entry {shown(entry)}; only that of the entry just before it can be "
                    f"accepted; {RESTORE}"
                )
        elif stamp < before:
            yield (
                f"was recorded at {stamp[:-2].decode()}, before the entry before it ({before[:-2].decode()}), and no "
                f"clock was accepted between them; {RESTORE}"
            )

    def _grow(self, leaves: list[bytes]) -> None:
        leaves = self.rest + leaves
        start = len(self.tiles) * TILE
        full = len(leaves) // TILE * TILE
        self.tiles += tile_roots(leaves[:full])
        self.rest = leaves[full:]
        self.size = start + len(leaves)
        while self._sizes and self._sizes[0] <= self.size:
            size = self._sizes.pop(0)
            if size > 0:
                whole_tiles = size // TILE
                beyond = leaves[whole_tiles * TILE - start : size - start]
                self.roots[size] = root_of(self.tiles[:whole_tiles], beyond)


def _entry_accepted(body: bytes) -> Any:
    """The entry whose clock is accepted, as the body tells it, or None."""
    try:
        return json.loads(body)["facts"].get("entry")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _ends(
    kinds: Sequence[Any], keys: Sequence[bytes], positions: Sequence[int], stamps: Sequence[bytes]
) -> Iterator[bytes]:
    """How each body must end.

    Args:
        kinds: as bytes, None where a column is no text.
        keys: as bytes.
        positions: of the entries.
        stamps: the ends of the bodies from the instant on, or the one of them that is that of all.

    Raises:
        ValueError: a kind or key is not text in UTF-8, or an entry is of those that are looked at one by one.
    """
    ends = {kind: _end(kind) for kind in set(kinds)}
    if b"".join(keys).translate(None, _PLAIN):
        keys = [quote(key.decode())[1:-1].encode() for key in keys]
    return map(mod, map(ends.__getitem__, kinds), zip(keys, positions, cycle(stamps)))  # it never ends


@lru_cache(_KINDS)
def _end(kind: bytes | None) -> bytes:
    """How a body of a kind must end, with places for key, position and the rest from the instant on.

    Raises:
        ValueError: the kind is not text, or not as kinds are written, or that of an accepted clock.
    """
    if kind is None or kind == CLOCK_ACCEPTED.encode() or kind.translate(None, _PLAIN):
        raise ValueError("is looked at by itself")
    return b'},"key":"%%b","kind":"%b","position":%%d,"recorded_at":"%%b' % kind.replace(b"%", b"%%")


def _columns_agree(position: object, kind: object, key: object, body: bytes) -> bool:
    """True when a body begins and ends, up to recorded_at, as its columns demand."""
    if not (isinstance(kind, str) and isinstance(key, str)):
        return False
    tail = f'}},"key":{quote(key)},"kind":{quote(kind)},"position":{position},"recorded_at":"'
    try:
        return body.startswith(_HEAD) and body.endswith(tail.encode(), 0, -_STAMP_LENGTH)
    except UnicodeEncodeError:  # text that is none
        return False


def _are_instants(stamps: set[bytes]) -> bool:
    """True when each of the ends of bodies is an instant with its milliseconds, and the end of an object."""
    joined = b"".join(stamps)
    return (
        joined.translate(_DIGITS_TO_ZERO) == _STAMP * len(stamps)
        and max(joined[14::_STAMP_LENGTH]) < ord("6")  # tens of minutes
        and max(joined[17::_STAMP_LENGTH]) < ord("6")  # tens of seconds
        and all(map(_is_hour, {stamp[:13] for stamp in stamps}))
    )


def _is_hour(text: bytes) -> bool:
    try:
        datetime(int(text[:4]), int(text[5:7]), int(text[8:10]), int(text[11:13]))
    except ValueError:
        return False
    return True


def _row_faults(row: Row) -> Iterator[str]:
    """What is false in one row; nothing when it is right."""
    position, kind, key, body, leaf = row
    if not isinstance(body, bytes):
        yield f"column body holds {shown(body)}, not the bytes of an entry; {RESTORE}"
        return
    computed = leaves_of([body])[0]
    if computed != leaf:
        yield (
            f"the body hashes to {computed.hex()}, but the sealed leaf is {shown(leaf)}: "
            f"one of the two was changed; {RESTORE}"
        )
        return
    if _columns_agree(position, kind, key, body) and _are_instants({body[-_STAMP_LENGTH:]}):
        return
    try:
        sealed = json.loads(body)
    except (ValueError, RecursionError):
        sealed = None
    if not isinstance(sealed, dict):
        yield f"the body is not a JSON object, it begins {shown(body[:24])}; {RESTORE}"
        return
    edited = [
        f"column {name} says {shown(column)}, but the body says {shown(sealed.get(name))}; "
        "set the column back to what the body says"
        for name, column in (("position", position), ("kind", kind), ("key", key))
        if type(column) is not type(sealed.get(name)) or column != sealed.get(name)
    ]
    yield from edited or [
        "the body is not in canonical form or its recorded_at is no instant with milliseconds: "
        f"it ends {shown(body[-40:])}; {RESTORE}"
    ]
