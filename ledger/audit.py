"""The audit: is the journal what was sealed, do the names match, and do the published numbers follow from it?

The journal is read by ``verify``, which shares no code with its writer. The views are then built aside from the
journal alone and compared row by row. Nothing is changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger import db, queries, verify, views
from ledger.catching_up import Views
from ledger.codec import decode
from ledger.errors import CorruptError, MalformedError, one_line
from ledger.gamebook_columns import strange_bodies
from ledger.heavy import pl
from ledger.journal import Journal
from ledger.ledger import Ledger, beside
from ledger.model import TreeHead
from ledger.pause import collector_paused
from ledger.projection import Progress, silent
from ledger.projector import Projector
from ledger.verify import Falsehood

if TYPE_CHECKING:
    import sqlite3

BLOCK = 5_000
_NOT_ROWS = {"progress", "projections"}
_ODD_VALUES = (ArithmeticError, LookupError, TypeError, ValueError)
_FOREIGN = "another program wrote it; go on from a copy made before that"
_CUT = "the journal was cut or an older copy restored; prove it with 'audit --since'"


@attrs.frozen
class Verdict:
    """What an audit found.

    Attributes:
        head: size and root of the journal, recomputed from its bytes.
        entries: entries read.
        names_checked: names compared with their commitments.
        names_erased: names that were erased and can no longer be compared.
        digests: by table of the views, the digest of its rows as rebuilt from the journal; empty when the journal
            itself is false, for then nothing follows from it.
        falsehoods: what is not as it should be, the first false position first.
        compared: whether there were views to compare.
    """

    head: TreeHead
    entries: int
    names_checked: int
    names_erased: int
    digests: dict[str, str]
    falsehoods: tuple[Falsehood, ...]
    compared: bool = attrs.field(default=True, eq=False)


def audit(
    path: str | Path, *, since: TreeHead | None = None, journal_only: bool = False, progress: Progress = silent,
    projectors: tuple[Projector, ...] | None = None,
) -> Verdict:  # fmt: skip
    """Prove a ledger, or name what is false in it.

    Args:
        path: the journal's file.
        since: a head kept outside; everything before it must be a prefix of the journal now.
        journal_only: leave out names, texts and views.
        progress: told what is being done.
        projectors: the read models that the views hold; the installed ones by default.

    Raises:
        StorageError: a file is missing or not ours.
        CorruptError: a file is too damaged to be read.
    """
    with collector_paused():
        found = verify.verify_journal(str(path), since, lambda done, total: progress("journal", done, total))
    if journal_only:
        return Verdict(found.head, found.entries, 0, 0, {}, found.falsehoods)
    names = verify.verify_names(str(path), str(beside(path, "people")))
    texts = verify.verify_texts(str(path))
    falsehoods = [*found.falsehoods, *names.falsehoods, *texts.falsehoods]
    digests: dict[str, str] = {}
    if not found.falsehoods:
        digests, false_rows = _audit_views(path, found.head.size, progress, projectors)
        falsehoods += false_rows
    compared = beside(path, "views").exists()
    return Verdict(found.head, found.entries, names.checked, names.erased, digests, tuple(falsehoods), compared)


def _audit_views(
    path: str | Path, size: int, progress: Progress, projectors: tuple[Projector, ...] | None
) -> tuple[dict[str, str], list[Falsehood]]:
    """Build the views aside and compare; the digests are those at *size* entries, the head that was proven."""
    falsehoods: list[Falsehood] = []
    with (
        Ledger.open(path, projectors=projectors, read_only=True) as ledger,
        db.storage_errors(ledger.views.path, views.REBUILD),
        tempfile.TemporaryDirectory(prefix="ledger-audit-") as folder,
    ):
        standing = ledger.views
        aside = Views(Path(folder) / "views.db", standing.projectors, ledger.journal)
        reached = standing.position()
        held = ledger.journal.size()
        if reached > held:
            message = f"the views know {reached} entries, the journal holds {held}: {_CUT}"
            falsehoods.append(Falsehood("progress", "position", message))
        unfit: list[Falsehood] = []
        if 0 < reached <= held:
            unfit = _build(aside, ledger.journal, reached, progress)
            for table in [] if unfit else _tables(aside.connection):
                progress(f"table {table}", 0, 1)
                falsehoods += _compare(standing.connection, aside.connection, table)
        if reached != size and not unfit:
            unfit = _build(aside, ledger.journal, size, progress)
        digests = {} if unfit else table_digests(aside.connection)
        aside.close()
    return digests, falsehoods + unfit


def _build(aside: Views, journal: Journal, until: int, progress: Progress) -> list[Falsehood]:
    """Build the views of *until* entries; where that cannot be done, what is false."""
    try:
        for bodies in journal.read(0, until):
            if strange_bodies(bodies):
                raise MalformedError(["an entry is not what the codec writes"])  # noqa: TRY301  # named below
        aside.build_until(until, progress)
    except (CorruptError, MalformedError, *_ODD_VALUES, pl.exceptions.PolarsError) as error:
        return [_no_event(journal, until, error)]
    return []


def _no_event(journal: Journal, size: int, error: Exception) -> Falsehood:
    """What to say of entries that were sealed past the codec and the rules, so that nothing can be derived."""
    position = 0
    for bodies in journal.read(0, size):
        for body in bodies:
            position += 1
            try:
                decode(body)
            except MalformedError as fault:
                message = f"is sealed as it stands, but is no event: {'; '.join(fault.problems)}; {_FOREIGN}"
                return Falsehood("journal", position, message)
    message = f"nothing can be derived from these entries: {one_line(error)}; {_FOREIGN}"
    return Falsehood("journal", f"1..{size}", message)


def table_digests(connection: sqlite3.Connection) -> dict[str, str]:
    """By table, SHA-256 over its rows in order of the primary key.

    Each row counts as the JSON array of its columns in alphabetical order, numbers in their shortest form that
    reads back the same, followed by a line feed; so two sites, or two years, can compare one line.
    """
    digests = {}
    for table in _tables(connection):
        digest = sha256()
        for rows in _blocks(connection, table):
            digest.update(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
        digests[table] = digest.hexdigest()
    return digests


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [table for table in queries.tables(connection) if table not in _NOT_ROWS]


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """Primary key columns in their order, and all columns in alphabetical order."""
    info = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    key = [name for _, name in sorted((row[5], row[1]) for row in info if row[5])]
    return key, sorted(row[1] for row in info)


def _declared(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """Name, type, NOT NULL, default and place in the key of each column, in alphabetical order."""
    return sorted(row[1:] for row in connection.execute(f'PRAGMA table_info("{table}")'))


def _blocks(connection: sqlite3.Connection, table: str) -> Iterator[list[Any]]:
    key, names = _columns(connection, table)
    quoted = ", ".join(f'"{name}"' for name in names)
    cursor = connection.execute(f'SELECT {quoted} FROM "{table}" ORDER BY {", ".join(key)}')
    while rows := cursor.fetchmany(BLOCK):
        yield rows


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[Any]:
    for rows in _blocks(connection, table):
        yield from rows


def _compare(standing: sqlite3.Connection, true: sqlite3.Connection, table: str) -> list[Falsehood]:
    """The first row of a table that does not follow from the journal, if any."""
    remedy = "the journal is right: 'rebuild' the views"
    if table not in queries.tables(standing):
        return [Falsehood(table, "table", f"is missing; {remedy}")]
    if _declared(standing, table) != _declared(true, table):
        return [Falsehood(table, "columns", f"are not those that the journal gives; {remedy}")]
    key, names = _columns(true, table)
    places = [names.index(name) for name in key]
    is_rows, true_rows = _rows(standing, table), _rows(true, table)
    while True:
        is_row, true_row = next(is_rows, None), next(true_rows, None)
        if is_row == true_row:
            if is_row is None:
                return []
            continue
        where = _first_key(is_row, true_row, places)
        label = ", ".join(f"{name} {value}" for name, value in zip(key, where, strict=True))
        if is_row is None or (true_row is not None and _key(true_row, places) == where != _key(is_row, places)):
            return [Falsehood(table, label, f"the row is missing; {remedy}")]
        if true_row is None or _key(true_row, places) != where:
            return [Falsehood(table, label, f"the row does not follow from any entry; {remedy}")]
        name, is_value, true_value = next(
            (n, i, t) for n, i, t in zip(names, is_row, true_row, strict=True) if i != t
        )
        return [Falsehood(table, label, f"{name} is {is_value!r}, the journal gives {true_value!r}; {remedy}")]


def _key(row: Any, places: list[int]) -> tuple[Any, ...]:
    return tuple(row[place] for place in places)


def _first_key(is_row: Any, true_row: Any, places: list[int]) -> tuple[Any, ...]:
    keys = [_key(row, places) for row in (is_row, true_row) if row is not None]
    return min(keys, key=lambda key: [_as_sorted(value) for value in key])


def _as_sorted(value: Any) -> tuple[int, Any]:
    """SQLite's order: NULL, numbers, text, bytes."""
    if value is None:
        return 0, 0
    return (1 if isinstance(value, int | float) else 2 if isinstance(value, str) else 3), value

