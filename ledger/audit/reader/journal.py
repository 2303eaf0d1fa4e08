"""The check of a journal's raw bytes against its leaves, tree nodes and heads stored elsewhere.

In one pass over the rows each is checked and the tree grows. A body is checked without parsing it: its hash is its
leaf, it begins with ``{"actor":``, and its last members (key, kind, position, recorded_at) are compared byte for byte
with what the columns say they must be. That is done for whole blocks of rows, column by column; if a block is not
right as a whole its rows are checked one by one. Tables, triggers, pages and the index of the keys are checked too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from itertools import cycle
from json.encoder import encode_basestring as quote
from operator import itemgetter, lt, mod
from typing import TYPE_CHECKING, Any

import attrs

from ledger.audit.reader.layouts import JOURNAL, file_identity, layout_falsehoods, page_falsehoods
from ledger.audit.reader.snapshots import (
    FIRST_FALSEHOODS,
    READ_ERRORS,
    RESTORE,
    Falsehood,
    Finding,
    Snapshot,
    excerpt,
    last_position,
    open_with_tables,
)
from ledger.audit.reader.tree import TILE, leaf_hash_of_any, leaf_hashes, tile_roots, tree_root
from ledger.errors import CorruptError, one_line
from ledger.facts.words import TreeHead

if TYPE_CHECKING:
    import sqlite3


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

StoredRow = tuple[Any, Any, Any, Any, Any]  # position, bytes of the kind or None, body, leaf, bytes of the key
Row = tuple[Any, Any, Any, Any, Any]  # position, kind, key, body, leaf


class JournalScan:
    """The state of one pass over a journal: the rows checked so far, their tree, and the falsehoods in them."""

    def __init__(self, sizes: Collection[int]) -> None:
        """Begin before the first row; *sizes* are the numbers of entries whose root is wanted."""
        self.falsehoods: list[Falsehood] = []
        self.clocks: list[int] = []  # entries that accepted a wrong clock
        self.entries = 0
        self.size = 0  # leaves in the tree
        self.whole = True  # no entry missing so far; after a gap the tree cannot grow
        self.tiles: list[bytes] = []  # roots of complete tiles
        self.rest: list[bytes] = []  # leaves after them
        self.roots: dict[int, bytes] = {0: tree_root([], [])}
        self.expected = 1  # position that the next row must have
        self.keys = 0  # sum of the hashes of (bytes of the key, position) of all rows, for the index to have the same
        self._last = b""  # recorded_at of the row before
        self._sizes = sorted(sizes)

    def add_block(self, rows: Sequence[StoredRow]) -> bool:
        """Add the next rows in order of position, if all are right, and return whether they were added."""
        positions, kinds, bodies, stored, keys = zip(*rows, strict=True)
        # Python draws its hash of bytes again for each process: no attacker can make keys that add up to the same.
        self.keys += sum(map(hash, zip(keys, positions, strict=True)))
        try:
            leaves = leaf_hashes(bodies)
            # An import records a block of entries at one instant: most have one stamp here.
            stamps = [_STAMP_OF(bodies[0])]
            # they ascend: where the last is the first, all must be the same
            if not bodies[-1].endswith(stamps[0]):
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

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Add the next rows one by one, with a falsehood for each fault."""
        self.entries += len(rows)
        self._grow(self._checked(rows))

    def root(self) -> bytes:
        """Return the root of the entries that were read, up to the first gap."""
        return tree_root(self.tiles, self.rest)

    def _add_fault(self, position: int, message: str) -> None:
        if len(self.falsehoods) < FIRST_FALSEHOODS:
            self.falsehoods.append(Falsehood("journal", position, message))

    def _checked(self, rows: Sequence[Row]) -> list[bytes]:
        """Note the faults in rows; return the leaves that continue the tree."""
        leaves = []
        for row in rows:
            position = row[0]
            if type(position) is not int or position < self.expected:
                self._add_fault(position, f"out of order: entry {self.expected} should stand here; {RESTORE}")
                continue
            if position > self.expected:
                missing = f"entries {self.expected} to {position - 1} are missing"
                if position == self.expected + 1:
                    missing = "this entry is missing"
                self._add_fault(self.expected, f"{missing}, the next is {position}; {RESTORE}")
                self.whole = False
            if len(self.falsehoods) < FIRST_FALSEHOODS:
                faults = list(_row_faults(row)) or list(self._time_faults(row))
                for message in faults:
                    self._add_fault(position, message)
            if self.whole:
                leaves.append(leaf_hash_of_any(row[3]))
            self.expected = position + 1
        return leaves

    def _time_faults(self, row: Row) -> Iterator[str]:
        """Yield the faults in the time of a row that is right otherwise."""
        position, kind, _, body, _ = row
        stamp, before = body[-_STAMP_LENGTH:], self._last
        self._last = stamp
        if kind == CLOCK_ACCEPTED:
            try:
                entry = json.loads(body)["facts"].get("entry")
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                entry = None
            if type(entry) is int and entry == position - 1:
                self.clocks.append(position)
            else:
                yield (
                    f"accepts the clock of entry {excerpt(entry)}; only that of the entry just before it can be "
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
                self.roots[size] = tree_root(self.tiles[:whole_tiles], beyond)


def _ends(
    kinds: Sequence[Any], keys: Sequence[bytes], positions: Sequence[int], stamps: Sequence[bytes]
) -> Iterator[bytes]:
    """Return the right end of each body; ValueError if a kind or key is no text, or entries need checks one by one.

    *stamps* are the ends of the bodies from the instant on, or the one that all have.
    """
    ends = {kind: _end(kind) for kind in set(kinds)}
    if b"".join(keys).translate(None, _PLAIN):
        keys = [quote(key.decode())[1:-1].encode() for key in keys]
    return map(mod, map(ends.__getitem__, kinds), zip(keys, positions, cycle(stamps)))  # it never ends


@lru_cache(_KINDS)
def _end(kind: bytes | None) -> bytes:
    """Return the right end of a body of a kind, with places for key, position and the rest from the instant on."""
    if kind is None or kind == CLOCK_ACCEPTED.encode() or kind.translate(None, _PLAIN):
        raise ValueError("is checked by itself")
    return b'},"key":"%%b","kind":"%b","position":%%d,"recorded_at":"%%b' % kind.replace(b"%", b"%%")


def _columns_agree(position: object, kind: object, key: object, body: bytes) -> bool:
    """Return whether a body begins and ends, up to recorded_at, as its columns demand."""
    if not (isinstance(kind, str) and isinstance(key, str)):
        return False
    tail = f'}},"key":{quote(key)},"kind":{quote(kind)},"position":{position},"recorded_at":"'
    try:
        return body.startswith(_HEAD) and body.endswith(tail.encode(), 0, -_STAMP_LENGTH)
    except UnicodeEncodeError:  # text that is none
        return False


def _are_instants(stamps: set[bytes]) -> bool:
    """Return whether each of the ends of bodies is an instant with its milliseconds, and the end of an object."""
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
    """Yield the faults of one row; nothing if it is right."""
    position, kind, key, body, leaf = row
    if not isinstance(body, bytes):
        yield f"column body holds {excerpt(body)}, not the bytes of an entry; {RESTORE}"
        return
    computed = leaf_hashes([body])[0]
    if computed != leaf:
        yield (
            f"the body hashes to {computed.hex()}, but the sealed leaf is {excerpt(leaf)}: "
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
        yield f"the body is not a JSON object, it begins {excerpt(body[:24])}; {RESTORE}"
        return
    edited = [
        f"column {name} says {excerpt(column)}, but the body says {excerpt(sealed.get(name))}; "
        "set the column back to what the body says"
        for name, column in (("position", position), ("kind", kind), ("key", key))
        if type(column) is not type(sealed.get(name)) or column != sealed.get(name)
    ]
    yield from edited or [
        "the body is not in canonical form or its recorded_at is no instant with milliseconds: "
        f"it ends {excerpt(body[-40:])}; {RESTORE}"
    ]


_COLUMNS = ("position", "kind", "key", "body", "leaf")
_ROWS = f"SELECT {', '.join(_COLUMNS)} FROM journal"
_BLOCK_ROWS = "SELECT position, kind, body, leaf, key FROM journal"
# Where the columns may hold anything: the kind is NULL where it or the key is something else than text.
_BLOCK_ROWS_OF_ANY_TYPE = """
SELECT position, CASE WHEN typeof(kind) = 'text' AND typeof(key) = 'text' THEN CAST(kind AS BLOB) END, body, leaf,
  CAST(key AS BLOB) FROM journal
"""
_KEY_INDEX = "sqlite_autoindex_journal_1"  # in layout 1
_PAGES = 40  # kept in memory: each is read once, in order, and many would not stay in the processor's cache
_INDEXED = f"SELECT key, position FROM journal INDEXED BY {_KEY_INDEX} ORDER BY key"
# In layout 2: the runs of each of the tables keys_0 to keys_5.
_RUNS_OF = (1, 8, 8, 8, 8, 1)
_ALL_RUNS = " UNION ALL ".join(
    f"SELECT key, position FROM keys_{table} WHERE run = {run}"
    for table, runs in enumerate(_RUNS_OF)
    for run in range(runs)
)
_OUTSIDE = "SELECT {table}, min(run), max(run) FROM keys_{table} HAVING min(run) < 0 OR max(run) >= {runs}"
_OUTSIDE_RUNS = " UNION ALL ".join(_OUTSIDE.format(table=table, runs=runs) for table, runs in enumerate(_RUNS_OF))


@attrs.frozen
class JournalVerdict(Finding):
    """The findings of an audit about a journal.

    Attributes:
        head: recomputed from the bodies, up to the first missing or unreadable entry.
        entries: rows that were read.
        falsehoods: the first 20 in order of position, then those of tables, triggers and pages, and of all heads stored
            elsewhere.
        clocks: positions of the entries that accepted a clock that was ahead.
        roots: by number of entries, the root, for each of the requested sizes that was reached.
    """

    head: TreeHead
    entries: int
    falsehoods: tuple[Falsehood, ...]
    clocks: tuple[int, ...] = ()
    roots: Mapping[int, bytes] = attrs.field(factory=dict)


def verify_journal(
    source: str | Snapshot,
    since: TreeHead | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    sizes: Collection[int] = (),
    checkpoint: TreeHead | None = None,
) -> JournalVerdict:
    """Re-hash every entry of a journal, rebuild its tree, and compare both with everything stored about them.

    Args:
        source: the journal, or a snapshot of it; others may write to it meanwhile.
        since: a head stored elsewhere, whose entries must be the first ones here.
        progress: called with the rows read so far and the last position.
        sizes: numbers of entries whose root is wanted.
        checkpoint: another head stored elsewhere, likewise.

    Raises:
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is too damaged to be read at all, or has no table ``journal``.
    """
    outside = tuple(dict.fromkeys(head for head in (since, checkpoint) if head))
    with open_with_tables(source, "journal") as file, _few_pages(file.connection):
        connection = file.connection
        columns = [row[1] for row in connection.execute("PRAGMA table_info(journal)")]
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            raise CorruptError(file.path, 0, f"table journal has no column {missing[0]!r}, only {columns}; {RESTORE}")
        scan = JournalScan({*sizes, *(head.size for head in outside)})
        total = last_position(connection)
        file.decode_any_text()
        of_the_file = layout_falsehoods(file, JOURNAL, quick=True)
        try:
            _read_rows(file, scan, lambda done: progress(done, total) if progress else None, strict=not of_the_file)
        except READ_ERRORS as error:
            file.decode_any_text()
            _read_up_to(connection, scan, error)
        falsehoods = (scan.falsehoods + _node_falsehoods(connection, scan))[:FIRST_FALSEHOODS]
        of_the_file += _index_falsehoods(file, scan, {falsehood.position_or_key for falsehood in of_the_file})
        falsehoods += dict.fromkeys(of_the_file)  # each falsehood once, even if found twice
    head = TreeHead(scan.size, scan.root())
    falsehoods += [falsehood for head_outside in outside for falsehood in _since_falsehoods(scan, head_outside)]
    return JournalVerdict(head, scan.entries, tuple(falsehoods), tuple(scan.clocks), scan.roots)


@contextmanager
def _few_pages(connection: sqlite3.Connection) -> Iterator[None]:
    """Set a small page cache, and restore the usual one when the block ends."""
    (usual,) = connection.execute("PRAGMA cache_size").fetchone()
    connection.execute(f"PRAGMA cache_size = {_PAGES}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {usual}")


def _read_rows(file: Snapshot, scan: JournalScan, advance: Callable[[int], None], *, strict: bool) -> None:
    """Add all rows to the scan in order; the rows of a block with a false one are read again one by one.

    *strict* says that the table is as published and has no value of another type, so that bytes in place of text are
    text.
    """
    cursor = file.connection.execute(f"{_BLOCK_ROWS if strict else _BLOCK_ROWS_OF_ANY_TYPE} ORDER BY position")
    between = f"{_ROWS} WHERE position BETWEEN ? AND ? ORDER BY position"
    while True:
        # while these rows are fetched alone: a block that is judged again is read as text
        if strict:
            file.connection.text_factory = bytes
        rows = cursor.fetchmany(BLOCK)
        file.decode_any_text()
        if not rows:
            return
        if not scan.add_block(rows):
            scan.add_rows(file.connection.execute(between, (rows[0][0], rows[-1][0])).fetchall())
        advance(scan.entries)


def _read_up_to(connection: sqlite3.Connection, scan: JournalScan, error: Exception) -> None:
    """Add the rows one by one up to the first position that fails (a cursor would lose the row before it)."""
    rows: list[Row] = []
    unreadable = scan.expected
    for position in range(scan.expected, scan.expected + 2 * BLOCK):
        try:
            rows += connection.execute(f"{_ROWS} WHERE position = ?", (position,)).fetchall()
        except READ_ERRORS:
            unreadable = position
            break
        unreadable = rows[-1][0] + 1 if rows else scan.expected
    scan.add_rows(rows)
    scan.whole = False
    message = f"cannot be read ({one_line(error)}), and nothing after it was checked; {RESTORE}"
    scan.falsehoods.append(Falsehood("journal", unreadable, message))


def _index_falsehoods(file: Snapshot, scan: JournalScan, false: Collection[int | str]) -> list[Falsehood]:
    """Compare the index of keys with the rows that were read, if nothing of it is among the *false* objects."""
    connection = file.connection
    has_runs = file_identity(connection)[1] > 1
    objects = {f"table keys_{table}" for table in range(len(_RUNS_OF))} if has_runs else {f"index {_KEY_INDEX}"}
    if (objects | {"table journal"}) & set(false):
        return []
    # Its keys must ascend, so that each is found and none occurs twice, and the sum of the hashes of its pairs of key
    # and position must be that of the rows: then it holds the same pairs, but for a chance of one in 2^64. Looking each
    # key up, as SQLite's whole check does, takes some three times as long if keys are in no order.
    total, agrees = 0, True
    last: list[bytes] = []
    try:
        agrees = not (has_runs and connection.execute(_OUTSIDE_RUNS).fetchall())
        file.connection.text_factory = bytes
        cursor = connection.execute(f"{_ALL_RUNS} ORDER BY key" if has_runs else _INDEXED)
        while agrees and (rows := cursor.fetchmany(BLOCK)):
            keys = [*last, *map(itemgetter(0), rows)]
            agrees = all(map(lt, keys, keys[1:]))
            total += sum(map(hash, rows))
            # The last key of a block must be below the first of the next one, too.
            last = keys[-1:]
    except READ_ERRORS as error:
        message = f"the index of keys cannot be read ({one_line(error)}); {RESTORE}"
        return [Falsehood("journal file", "integrity", message)]
    except TypeError:  # something else than a key
        agrees = False
    finally:
        file.decode_any_text()
    # Where entries are missing or cannot be read, that is named already, and the two sums need not be the same; nor
    # need they where a key that is false in its row is right in its run.
    is_named = not scan.whole or (has_runs and scan.falsehoods)
    if agrees and (total == scan.keys or is_named):
        return []
    message = f"the index of keys does not agree with the entries; {RESTORE}"
    return page_falsehoods(connection, "journal", RESTORE) or [Falsehood("journal file", "integrity", message)]


def _node_falsehoods(connection: sqlite3.Connection, scan: JournalScan) -> list[Falsehood]:
    """Compare the stored nodes with the tree, but for those above an entry that is reported already."""
    try:
        rows = connection.execute("SELECT level, number, hash FROM nodes")
        stored = {(level, number): node for level, number, node in rows}
    except READ_ERRORS as error:
        return [Falsehood("nodes", "table", f"cannot be read ({one_line(error)}); {RESTORE}")]
    false: list[Falsehood] = []
    named = [f.position_or_key for f in scan.falsehoods if isinstance(f.position_or_key, int)]
    level, hashes = 1, scan.tiles
    while hashes:
        span = TILE**level
        for number, computed in enumerate(hashes):
            node = stored.pop((level, number), None)
            first, last = number * span + 1, (number + 1) * span
            if node != computed and not any(first <= position <= last for position in named):
                named.append(first)
                says = "is missing" if node is None else f"says {excerpt(node)}"
                message = (
                    f"entries {first} to {last} hash to {computed.hex()}, but the stored node {says}: "
                    f"an entry was replaced together with its leaf, or the node was changed; {RESTORE}"
                )
                false.append(Falsehood("nodes", f"{level}/{number}", message))
                if len(false) == FIRST_FALSEHOODS:
                    return false
        hashes = tile_roots(hashes[: len(hashes) // TILE * TILE])
        level += 1
    if scan.whole:
        for key in sorted(stored, key=str):
            message = f"the journal of {scan.size} entries has no such complete subtree; {RESTORE}"
            false.append(Falsehood("nodes", f"{key[0]}/{key[1]}", message))
    return false


def _since_falsehoods(scan: JournalScan, since: TreeHead) -> list[Falsehood]:
    if since.size > scan.size and not scan.whole:
        message = (
            f"the head kept outside covers {since.size} entries, but only 1 to {scan.size} can be read "
            f"without a gap, so it cannot be compared; {RESTORE}"
        )
    elif since.size > scan.size:
        message = (
            f"the journal holds only {scan.size} entries, but the head kept outside says {since.size}: "
            "the tail was cut off or an older copy was restored; look for the newer file"
        )
    elif scan.roots[since.size] != since.root:
        message = (
            f"entries 1..{since.size} do not have the root kept outside, {since.root.hex()}, but "
            f"{scan.roots[since.size].hex()}: history before that head was rewritten; {RESTORE}"
        )
        return [Falsehood("journal", f"1..{since.size}", message)]
    else:
        return []
    return [Falsehood("journal", scan.size + 1, message)]
