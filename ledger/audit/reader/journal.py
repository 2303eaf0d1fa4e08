"""The journal re-hashed from its raw bytes and held against leaves, nodes and a head kept outside.

Beside the rows: its tables, guards and pages, and the index of its keys. What is judged in a row stands in ``scan``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter, lt
from typing import TYPE_CHECKING, Any

import attrs

from ledger.audit.reader.files import FIRST_FALSEHOODS, READ_ERRORS, RESTORE, Falsehood, Snapshot, opened, shown
from ledger.audit.reader.published import JOURNAL, file_falsehoods, page_falsehoods
from ledger.audit.reader.scan import BLOCK, Row, Scan
from ledger.audit.reader.tree import TILE, tile_roots
from ledger.errors import CorruptError, one_line
from ledger.facts.words import TreeHead

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = ("position", "kind", "key", "body", "leaf")
_ROWS = f"SELECT {', '.join(_COLUMNS)} FROM journal"
_TOLD = "SELECT position, kind, body, leaf, key FROM journal"
# Where the columns may hold anything: the kind is NULL where it or the key is something else than text.
_TOLD_OF_ANY_TYPE = """
SELECT position, CASE WHEN typeof(kind) = 'text' AND typeof(key) = 'text' THEN CAST(kind AS BLOB) END, body, leaf,
  CAST(key AS BLOB) FROM journal
"""
_KEY_INDEX = "sqlite_autoindex_journal_1"
_PAGES = 40  # kept in memory: each is read once, in order, and many would not stay in the processor's cache
_INDEXED = f"SELECT CAST(key AS BLOB), position FROM journal INDEXED BY {_KEY_INDEX} ORDER BY key"


@attrs.frozen
class JournalVerdict:
    """What a journal was found to be.

    Attributes:
        head: head recomputed from the bodies as they stand, up to the first missing or unreadable entry.
        entries: rows that were read.
        falsehoods: the first 20, the first false position first, then those of tables, guards and pages; a head kept
            outside always has its say.
        clocks: the entries by which a clock that ran ahead was accepted.
        roots: by number of entries, the root, for each size that was asked for and reached.
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
    kept: TreeHead | None = None,
) -> JournalVerdict:
    """Re-hash every entry, rebuild the tree, and compare all that is stored about them.

    Args:
        source: the journal, or a snapshot of it; it is read in one snapshot while others may write.
        since: a head kept outside; proves that the entries it covers are a prefix of those here.
        progress: called with the rows read so far and the last position.
        sizes: numbers of entries at which the root is asked for.
        kept: another head kept outside, such as that of the last checkpoint.

    Raises:
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is too damaged to be read at all, or holds no table ``journal``.
    """
    outside = tuple(dict.fromkeys(head for head in (since, kept) if head))
    with opened(source, "journal") as file, _few_pages(file.connection):
        connection = file.connection
        columns = [row[1] for row in connection.execute("PRAGMA table_info(journal)")]
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            raise CorruptError(file.path, 0, f"table journal has no column {missing[0]!r}, only {columns}; {RESTORE}")
        scan = Scan({*sizes, *(head.size for head in outside)})
        total = last_position(connection)
        file.read_any_text()
        of_the_file = file_falsehoods(file, JOURNAL, quick=True)
        try:
            _read_rows(file, scan, lambda done: progress(done, total) if progress else None, strict=not of_the_file)
        except READ_ERRORS as error:
            file.read_any_text()
            _read_up_to(connection, scan, error)
        falsehoods = (scan.falsehoods + _node_falsehoods(connection, scan))[:FIRST_FALSEHOODS]
        if not {"table journal", f"index {_KEY_INDEX}"} & {falsehood.position_or_key for falsehood in of_the_file}:
            of_the_file += _index_falsehoods(connection, scan)
        falsehoods += dict.fromkeys(of_the_file)  # each falsehood once, even if found twice
    head = TreeHead(scan.size, scan.root())
    falsehoods += [falsehood for head_outside in outside for falsehood in _since_falsehoods(scan, head_outside)]
    return JournalVerdict(head, scan.entries, tuple(falsehoods), tuple(scan.clocks), scan.roots)


@contextmanager
def _few_pages(connection: sqlite3.Connection) -> Iterator[None]:
    """Keep few pages in memory meanwhile; whoever looks things up afterwards has as many as before."""
    (usual,) = connection.execute("PRAGMA cache_size").fetchone()
    connection.execute(f"PRAGMA cache_size = {_PAGES}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {usual}")


def _read_rows(file: Snapshot, scan: Scan, advance: Callable[[int], None], *, strict: bool) -> None:
    """All rows in order; those of a block of which one is false are read again as they stand.

    Args:
        file: the journal.
        scan: takes the rows.
        advance: told how many were taken.
        strict: the table is as it is published and SQLite found no value of another type in it, so that whatever is
            given as bytes where text belongs is text.
    """
    cursor = file.connection.execute(f"{_TOLD if strict else _TOLD_OF_ANY_TYPE} ORDER BY position")
    between = f"{_ROWS} WHERE position BETWEEN ? AND ? ORDER BY position"
    while rows := _fetched(file, cursor, as_bytes=strict):
        if not scan.take(rows):
            scan.judge(file.connection.execute(between, (rows[0][0], rows[-1][0])).fetchall())
        advance(scan.entries)


def _fetched(file: Snapshot, cursor: sqlite3.Cursor, *, as_bytes: bool) -> list[Any]:
    """The next rows, text as its bytes where that is wanted."""
    if as_bytes:
        file.connection.text_factory = bytes
    rows = cursor.fetchmany(BLOCK)
    file.read_any_text()
    return rows


def _read_up_to(connection: sqlite3.Connection, scan: Scan, error: Exception) -> None:
    """Rows one by one up to the first position that fails, which is named (a cursor loses the row before it)."""
    rows: list[Row] = []
    unreadable = scan.expected
    for position in range(scan.expected, scan.expected + 2 * BLOCK):
        try:
            rows += connection.execute(f"{_ROWS} WHERE position = ?", (position,)).fetchall()
        except READ_ERRORS:
            unreadable = position
            break
        unreadable = rows[-1][0] + 1 if rows else scan.expected
    scan.judge(rows)
    scan.whole = False
    message = f"cannot be read ({one_line(error)}), and nothing after it was checked; {RESTORE}"
    scan.falsehoods.append(Falsehood("journal", unreadable, message))


def _index_falsehoods(connection: sqlite3.Connection, scan: Scan) -> list[Falsehood]:
    """Hold the index of keys against the rows that were read.

    Its keys must ascend, so that each is found and none stands twice, and the sum of the hashes of its pairs of key
    and position must be that of the rows: then it holds the same pairs, but for a chance of one in 2^64. Looking each
    key up, as SQLite's whole check does, takes some three times as long where keys are in no order.
    """
    total, agrees = 0, True
    last: list[bytes] = []
    try:
        cursor = connection.execute(_INDEXED)
        while agrees and (rows := cursor.fetchmany(BLOCK)):
            keys = [*last, *map(itemgetter(0), rows)]
            agrees = all(map(lt, keys, keys[1:]))
            total += sum(map(hash, rows))
            last = keys[-1:]
    except READ_ERRORS as error:
        message = f"the index of keys cannot be read ({one_line(error)}); {RESTORE}"
        return [Falsehood("journal file", "integrity", message)]
    except TypeError:  # something else than a key
        agrees = False
    if agrees and (total == scan.keys or not scan.whole):
        return []
    message = f"the index of keys does not agree with the entries; {RESTORE}"
    return page_falsehoods(connection, "journal", RESTORE) or [Falsehood("journal file", "integrity", message)]


def _node_falsehoods(connection: sqlite3.Connection, scan: Scan) -> list[Falsehood]:
    """Compare the stored nodes with the tree; a node above an entry already named false is not news."""
    try:
        stored = {
            (level, number): node for level, number, node in connection.execute("SELECT level, number, hash FROM nodes")
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


def _since_falsehoods(scan: Scan, since: TreeHead) -> list[Falsehood]:
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


def last_position(connection: sqlite3.Connection) -> int:
    """The highest position, 0 where there is none or none can be read."""
    try:
        (last,) = connection.execute("SELECT max(position) FROM journal").fetchone()
    except READ_ERRORS:
        return 0
    return last if isinstance(last, int) else 0
