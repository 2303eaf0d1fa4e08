"""The journal re-hashed from its raw bytes and held against leaves, nodes and a head kept outside.

A body is checked without parsing it: its hash is its leaf, it begins with ``{"actor":``, and its last members
(key, kind, position, recorded_at) are compared byte for byte with what the columns say they must be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import repeat
from json.encoder import encode_basestring as quote
from typing import TYPE_CHECKING, Any

import attrs

from ledger.errors import CorruptError, one_line
from ledger.model import TreeHead
from ledger.verify.files import FIRST_FALSEHOODS, READ_ERRORS, RESTORE, Falsehood, opened, shown
from ledger.verify.tree import EMPTY_ROOT, TILE, leaf_of_anything, leaves_of, root_of, tile_roots

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

BLOCK = 4 * TILE

_COLUMNS = [("position", "INTEGER"), ("kind", "TEXT"), ("key", "TEXT"), ("body", "BLOB"), ("leaf", "BLOB")]
_ROWS = "SELECT position, kind, key, body, leaf FROM journal"
_UNIQUE_COLUMNS = """
SELECT group_concat(c.name) FROM pragma_index_list('journal') AS i, pragma_index_info(i.name) AS c
WHERE i."unique" AND NOT i.partial GROUP BY i.name
"""
_HEAD = b'{"actor":'
_STAMP = b'0000-00-00T00:00:00.000Z"}'  # recorded_at with every digit made 0, and the end of the body
_STAMP_LENGTH = len(_STAMP)
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")

_Row = tuple[Any, Any, Any, Any, Any]


@attrs.frozen
class JournalVerdict:
    """What a journal was found to be.

    Attributes:
        head: head recomputed from the bodies as they stand, up to the first missing or unreadable entry.
        entries: rows that were read.
        falsehoods: the first 20, the first false position first; a head kept outside always has its say.
    """

    head: TreeHead
    entries: int
    falsehoods: tuple[Falsehood, ...]


def verify_journal(
    path: str, since: TreeHead | None = None, progress: Callable[[int, int], None] | None = None
) -> JournalVerdict:
    """Re-hash every entry, rebuild the tree, and compare all that is stored about them.

    Args:
        path: the journal; it is opened read-only and read in one snapshot while others may write.
        since: a head kept outside; proves that the entries it covers are a prefix of those here.
        progress: called with the rows read so far and the last position.

    Raises:
        StorageError: the file is missing, not SQLite, or not a journal.
        CorruptError: it is too damaged to be read at all.
    """
    with opened(path, "journal") as connection:
        check_columns(path, connection)
        scan = _Scan(since.size if since else 0)
        total = last_position(connection)
        for rows in _blocks(connection, scan):
            scan.take(rows)
            if progress is not None:
                progress(scan.entries, total)
        falsehoods = scan.falsehoods
        falsehoods += _node_falsehoods(connection, scan)
        falsehoods += _file_falsehoods(connection)
    head = TreeHead(scan.size, root_of(scan.tiles, scan.rest))
    shown = falsehoods[:FIRST_FALSEHOODS]
    return JournalVerdict(head, scan.entries, (*shown, *(_since_falsehoods(scan, since) if since else ())))


class _Scan:
    """The state of one pass: rows seen, tree grown, falsehoods found."""

    def __init__(self, since_size: int) -> None:
        self.falsehoods: list[Falsehood] = []
        self.entries = 0
        self.size = 0  # leaves in the tree
        self.whole = True  # no entry missing so far; after a gap the tree cannot grow
        self.tiles: list[bytes] = []  # roots of complete tiles
        self.rest: list[bytes] = []  # leaves after them
        self.since_root = EMPTY_ROOT
        self.expected = 1  # position that the next row must have
        self._since_size = since_size

    def take(self, rows: Sequence[_Row]) -> None:
        """Judge the next rows in order of position."""
        positions, kinds, keys, bodies, stored = zip(*rows, strict=True)
        self.entries += len(rows)
        try:
            leaves = leaves_of(bodies)
        except TypeError:  # a body that is not a blob
            leaves = []
        if (
            leaves == list(stored)
            and positions == tuple(range(self.expected, self.expected + len(rows)))
            and _columns_agree(positions, kinds, keys, bodies)
        ):
            self.expected += len(rows)
            self._grow(leaves if self.whole else [])
        else:
            self._grow(self._judge_each(rows))

    def _judge_each(self, rows: Sequence[_Row]) -> list[bytes]:
        """Name what is false in rows of which something is; returns the leaves that continue the tree."""
        leaves = []
        for row in rows:
            position = row[0]
            if type(position) is not int or position < self.expected:
                self._add(position, f"out of order: entry {self.expected} should stand here; {RESTORE}")
                continue
            if position > self.expected:
                missing = f"entries {self.expected} to {position - 1} are missing"
                if position == self.expected + 1:
                    missing = "this entry is missing"
                self._add(self.expected, f"{missing}, the next is {position}; {RESTORE}")
                self.whole = False
            if len(self.falsehoods) < FIRST_FALSEHOODS:
                for message in _row_faults(row):
                    self._add(position, message)
            if self.whole:
                leaves.append(leaf_of_anything(row[3]))
            self.expected = position + 1
        return leaves

    def _add(self, position: int, message: str) -> None:
        if len(self.falsehoods) < FIRST_FALSEHOODS:
            self.falsehoods.append(Falsehood("journal", position, message))

    def _grow(self, leaves: list[bytes]) -> None:
        leaves = self.rest + leaves
        start = len(self.tiles) * TILE
        full = len(leaves) // TILE * TILE
        self.tiles += tile_roots(leaves[:full])
        self.rest = leaves[full:]
        size = start + len(leaves)
        if self.size < self._since_size <= size:
            whole_tiles = self._since_size // TILE
            beyond = leaves[whole_tiles * TILE - start : self._since_size - start]
            self.since_root = root_of(self.tiles[:whole_tiles], beyond)
        self.size = size


def _columns_agree(
    positions: Sequence[int], kinds: Sequence[str], keys: Sequence[str], bodies: Sequence[bytes]
) -> bool:
    """True when each body begins and ends as its columns demand and recorded_at is an instant."""
    try:
        named = {kind: f',"kind":{quote(kind)},"position":' for kind in set(kinds)}
        told = [
            f'}},"key":{quote(key)}{named[kind]}{position},"recorded_at":"'
            for position, kind, key in zip(positions, kinds, keys, strict=True)
        ]
        tails = "\n".join(told).encode().split(b"\n")  # a line end in a text is written as two characters
        if not all(map(bytes.endswith, bodies, tails, repeat(0), repeat(-_STAMP_LENGTH))):
            return False
    except TypeError:  # a column holds something else than its type
        return False
    if not all(map(bytes.startswith, bodies, repeat(_HEAD))):
        return False
    stamps = [body[-_STAMP_LENGTH:] for body in bodies]
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


def _row_faults(row: _Row) -> Iterator[str]:
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
    if _columns_agree([position], [kind], [key], [body]):
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


def _blocks(connection: sqlite3.Connection, scan: _Scan) -> Iterator[Sequence[_Row]]:
    """The rows in order; ends at the first that cannot be read, and says which."""
    try:
        cursor = connection.execute(f"{_ROWS} ORDER BY position")
        while rows := cursor.fetchmany(BLOCK):
            yield rows
    except READ_ERRORS as error:
        rows, unreadable = _up_to_unreadable(connection, scan.expected)
        if rows:
            yield rows
        scan.whole = False
        message = f"cannot be read ({one_line(error)}), and nothing after it was checked; {RESTORE}"
        scan.falsehoods.append(Falsehood("journal", unreadable, message))


def _up_to_unreadable(connection: sqlite3.Connection, first: int) -> tuple[list[_Row], int]:
    """Rows from *first* one by one, and the first position that fails (a cursor loses the row before it)."""
    rows: list[_Row] = []
    for position in range(first, first + BLOCK):
        try:
            rows += connection.execute(f"{_ROWS} WHERE position = ?", (position,)).fetchall()
        except READ_ERRORS:
            return rows, position
    return rows, rows[-1][0] + 1 if rows else first


def _node_falsehoods(connection: sqlite3.Connection, scan: _Scan) -> list[Falsehood]:
    """Compare the stored nodes with the tree; a node above an entry already named false is not news."""
    try:
        stored = {
            (level, number): node
            for level, number, node in connection.execute("SELECT level, number, hash FROM nodes")
        }
    except READ_ERRORS as error:
        return [Falsehood("nodes", "table", f"cannot be read ({one_line(error)}); {RESTORE}")]
    found: list[Falsehood] = []
    named = [f.position_or_key for f in scan.falsehoods if isinstance(f.position_or_key, int)]
    level, hashes = 1, scan.tiles
    while hashes:
        span = TILE**level
        for number, computed in enumerate(hashes):
            node = stored.pop((level, number), None)
            first, last = number * span + 1, (number + 1) * span
            if node != computed and not any(first <= position <= last for position in named):
                named.append(first)
                says = "is missing" if node is None else f"says {shown(node)}"
                message = (
                    f"entries {first} to {last} hash to {computed.hex()}, but the stored node {says}: "
                    f"an entry was replaced together with its leaf, or the node was changed; {RESTORE}"
                )
                found.append(Falsehood("nodes", f"{level}/{number}", message))
                if len(found) == FIRST_FALSEHOODS:
                    return found
        hashes = tile_roots(hashes[: len(hashes) // TILE * TILE])
        level += 1
    if scan.whole:
        for key in sorted(stored, key=str):
            message = f"the journal of {scan.size} entries has no such complete subtree; {RESTORE}"
            found.append(Falsehood("nodes", f"{key[0]}/{key[1]}", message))
    return found


def _since_falsehoods(scan: _Scan, since: TreeHead) -> list[Falsehood]:
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
    elif scan.since_root != since.root:
        message = (
            f"entries 1..{since.size} do not have the root kept outside, {since.root.hex()}, but "
            f"{scan.since_root.hex()}: history before that head was rewritten; {RESTORE}"
        )
        return [Falsehood("journal", f"1..{since.size}", message)]
    else:
        return []
    return [Falsehood("journal", scan.size + 1, message)]


def _file_falsehoods(connection: sqlite3.Connection) -> list[Falsehood]:
    """Damage to pages and the guard on keys (the rows themselves do not show either)."""
    found = []
    try:
        lines = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({FIRST_FALSEHOODS})")]
        unique = connection.execute(_UNIQUE_COLUMNS).fetchall()
    except READ_ERRORS as error:
        return [Falsehood("file", "quick_check", f"{one_line(error)}: pages are damaged; {RESTORE}")]
    if ("key",) not in unique:
        message = f"column key is not unique, so that a fact could stand twice; {RESTORE}"
        found.append(Falsehood("journal", "schema", message))
    return found + [
        Falsehood("file", "quick_check", f"{one_line(line)}: pages are damaged; {RESTORE}")
        for line in lines
        if line != "ok"
    ]


def check_columns(path: str, connection: sqlite3.Connection) -> None:
    """Refuse a table that is not the journal's."""
    columns = [(row[1], row[2]) for row in connection.execute("PRAGMA table_info(journal)")]
    if columns != _COLUMNS:
        message = f"table journal has columns {shown(columns)}, not {_COLUMNS}; {RESTORE}"
        raise CorruptError(path, 0, message)


def last_position(connection: sqlite3.Connection) -> int:
    """The highest position, 0 where there is none."""
    (last,) = connection.execute("SELECT max(position) FROM journal").fetchone()
    return last if isinstance(last, int) else 0
