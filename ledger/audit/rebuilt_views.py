"""Views rebuilt in a temporary file from a verified journal, and the comparison of a ledger's views with them.

Journal and people are read from verified snapshots that are held open. So everything derived or answered from them
comes from the very bytes that were verified, even if other processes write meanwhile. The module changes nothing,
and trusts nothing in the current views: not their indices, not their position.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.audit.reader import Falsehood, Snapshot
from ledger.audit.reader.layouts import file_identity, page_falsehoods, schema_falsehoods, schema_objects
from ledger.audit.reader.snapshots import READ_ERRORS, excerpt, open_snapshot
from ledger.audit.table_parts import (
    ComparedPart,
    KeyedTable,
    TablePart,
    is_equal,
    lines_of,
    negative_zero,
    parts_of,
)
from ledger.book.game_book_columns import non_canonical_bodies
from ledger.errors import CorruptError, LedgerError, MalformedError, one_line
from ledger.facts.codec import decode
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.words import TreeHead
from ledger.journal import Journal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.stored_tree import Edge
from ledger.players.people import People
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries, views_file
from ledger.ratings.disk_space import SpaceNeed, require_space
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import BUILT_IN, installed_projectors
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.views import Views
from ledger.ratings.views_file import RATING_BOUNDS
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap, Progress

if TYPE_CHECKING:
    import sqlite3


class VerifiedJournal(SqliteJournal):
    """A read-only journal over a verified snapshot, which the caller closes; its head is the recomputed one."""

    def __init__(self, file: Snapshot, head: TreeHead) -> None:
        # Not as the parent does it: that opens the file again, which may be another one by now than was verified.
        self.path = file.path
        self._connection = file.connection  # type: ignore[assignment]  # every byte that it reads was read before
        self._edge = Edge()
        self._log_pages = 0
        self._head = head

    def head(self) -> TreeHead:
        """Return the recomputed head."""
        return self._head

    def close(self) -> None:
        """Do nothing: the caller closes the verified snapshot."""


class VerifiedPeople(SqlitePeople):
    """A read-only store of names over a verified snapshot of the people file; the caller closes the snapshot."""

    def __init__(self, file: Snapshot) -> None:
        # As in the journal above: the very bytes that were compared, even if the file is another one by now.
        People.__init__(self, file.path)
        self._connection = file.connection  # type: ignore[assignment]  # every byte that it reads was read before

    def close(self) -> None:
        """Do nothing: the caller closes the verified snapshot."""


BLOCK = 5_000
REMEDY = "the journal is right: 'rebuild' the views"
CUT = "the journal was cut or an older copy restored; prove it with 'audit --since'"
_HIGHEST = "SELECT pool, player, max(rating) FROM history GROUP BY pool, player ORDER BY pool, player"
_BOUND = f"SELECT rating FROM {RATING_BOUNDS} WHERE pool = ? AND player = ?"
_NOT_ROWS = {"progress", "projections", "left_behind", RATING_BOUNDS}  # how they were made: no journal says it
_NO_PACKAGE = f"name NOT GLOB '{views_file.PACKAGE_PREFIX}*'"  # which package brings a scheme follows from no entry
_ODD_VALUES = (ArithmeticError, LookupError, TypeError, ValueError)
_FOREIGN = "another program wrote it; go on from a copy made before that"


# -- the current views -----------------------------------------------------------------------------------------


@attrs.frozen
class CurrentViews:
    """The views of a ledger as an audit finds them, before it reads the journal.

    Attributes:
        position: their number of entries, as they state it; None if that is no number.
        root: the journal's root at that position, as they state it; None if they have none.
        falsehoods: a mark or layout that is not theirs, and damage to the row of the position.
        why_not: why their rows are not compared with the journal; empty if they are.
    """

    file: Snapshot
    position: int | None
    root: object
    falsehoods: tuple[Falsehood, ...]
    why_not: str = ""


def read_current_views(file: Snapshot) -> CurrentViews:
    """Check the layout and position of a ledger's views, without the journal."""
    mark, layout = file_identity(file.connection)
    false: list[Falsehood] = []
    why_not = ""
    if mark != views_file.APPLICATION_ID:
        message = f"says {mark:#x}, not {views_file.APPLICATION_ID:#x}; {REMEDY}"
        false.append(Falsehood("views file", "application_id", message))
    if 0 < layout < views_file.LAYOUT:
        why_not = f"the views are of the earlier layout {layout}; the next command rebuilds them"
    elif layout != views_file.LAYOUT:
        why_not = f"they are of layout {layout}, and this program knows them up to layout {views_file.LAYOUT}"
        false.append(Falsehood("views file", "layout", f"is {layout}, not {views_file.LAYOUT}; {REMEDY}"))
    try:
        cursor = file.connection.execute("SELECT * FROM progress")
        rows = [dict(zip([column[0] for column in cursor.description], row, strict=True)) for row in cursor]
    except READ_ERRORS as error:
        false.append(Falsehood("progress", "table", f"cannot be read ({one_line(error)}); {REMEDY}"))
        return CurrentViews(file, None, None, tuple(false), why_not)
    row = rows[0] if len(rows) == 1 else {}
    position = row.get("position")
    if not row:
        false.append(Falsehood("progress", "rows", f"are {len(rows)}, not one; {REMEDY}"))
    elif row.get("only") != 1:
        false.append(Falsehood("progress", "only", f"is {excerpt(row.get('only'))}, not 1; {REMEDY}"))
    elif type(position) is not int or position < 0:
        false.append(Falsehood("progress", "position", f"is {excerpt(position)}, no number of entries; {REMEDY}"))
        position = None
    return CurrentViews(file, position, row.get("root"), tuple(false), why_not)


def may_be_opened_again(path: str | Path) -> bool:
    """Return whether views can be opened a second time and stay as they are: with a log that this user may write."""
    path = Path(path)
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def views_page_falsehoods(path: str) -> list[Falsehood] | None:
    """Return damage to the pages and indices of views, in a snapshot of its own; None if there can be none."""
    try:
        with open_snapshot(path, REMEDY) as file:
            return page_falsehoods(file.connection, "views", REMEDY)
    except LedgerError:
        return None


def position_falsehoods(current: CurrentViews, size: int, roots: Mapping[int, bytes]) -> list[Falsehood]:
    """Compare the position and root that views state with a journal of *size* entries and its recomputed roots."""
    if current.position is None:
        return []
    if current.position > size:
        message = f"the views know {current.position} entries, the journal holds {size}: {CUT}"
        return [Falsehood("progress", "position", message)]
    root = roots[current.position]
    columns = [row[1] for row in current.file.connection.execute("PRAGMA table_info(progress)")]
    # A missing column is reported with the other objects of the file.
    if "root" in columns and current.root != root:
        message = (
            f"is {excerpt(current.root)}, but the journal's at entry {current.position} is {excerpt(root)}: the "
            f"views follow from another journal, or the row was changed; {REMEDY}"
        )
        return [Falsehood("progress", "root", message)]
    return []


# -- everything derived, in a temporary file ---------------------------------------------------------------------


def require_temporary_space(views: Path) -> None:
    """Refuse an audit before it begins if views as large as the present ones find no space in the temporary folder.

    Nothing in the files is trusted yet, and of absent views the size is unknown: then the rebuild itself refuses.

    Raises:
        StorageError: they do not.
    """
    if views.is_file():
        remedy = "free some space there, or name a folder on another disk by TMPDIR"
        need = SpaceNeed(Path(tempfile.gettempdir()), views.stat().st_size, remedy)
        require_space("an audit, which rebuilds the views in a temporary folder,", [need])


@contextmanager
def temporary_views(projectors: Sequence[ReadModel], journal: Journal) -> Iterator[Views]:
    """Yield empty views of *journal* in a temporary folder, which is deleted when the block ends."""
    # not next to the ledger: people who may only read it may audit it
    with tempfile.TemporaryDirectory(prefix="ledger-audit-") as folder:
        built = Views(Path(folder) / "views.db", projectors, journal)
        try:
            yield built
        finally:
            built.close()


def build_views(made: Views, until: int, progress: Progress) -> list[Falsehood]:
    """Build temporary views of the first *until* entries; return the falsehood of an entry that cannot be applied."""
    return _folded(made.journal, 0, until, lambda: made.build_up_to_entry(until, progress))


def catch_up_views(made: Views, progress: Progress) -> list[Falsehood]:
    """Catch up temporary views with their journal; return the falsehood of an entry that cannot be applied."""
    return _folded(made.journal, made.position(), made.journal.size(), lambda: made.catch_up(progress))


def _folded(journal: Journal, after: int, until: int, fold: Callable[[], object]) -> list[Falsehood]:
    try:
        # Before anything is folded: the reader proved hashes, and a body that the codec never writes may hash well.
        for bodies in journal.read(after, until):
            if non_canonical_bodies(bodies):
                raise MalformedError(["an entry is not what the codec writes"])  # noqa: TRY301  # named below
        fold()
    except (CorruptError, MalformedError, *_ODD_VALUES, pl.exceptions.PolarsError) as error:
        return [_no_event(journal, until, error)]
    return []


def _no_event(journal: Journal, size: int, error: Exception) -> Falsehood:
    """Return the falsehood of entries that bypassed the codec and the rules, so that nothing can be derived."""
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


def table_digests(connection: sqlite3.Connection, part_map: PartMap = IN_THIS_PROCESS) -> dict[str, str]:
    """Return, for each table of views, the SHA-256 over its rows in order of the primary key.

    Each row counts as the JSON array of its columns in alphabetical order, numbers in their shortest form that
    reads back the same, followed by a line feed; so two sites, or two years, can compare one line. Other processes read
    what is committed.
    """
    tables = [name for name in queries.table_names(connection) if name not in _NOT_ROWS]
    digests = {name: sha256() for name in tables}
    parts = chain.from_iterable(parts_of(connection, name) for name in tables)
    write = lines_of if part_map.executor else partial(lines_of, connection=connection)
    for part, lines in part_map.pairs(write, parts):
        digests[part.table.name].update(lines)
    return {name: digest.hexdigest() for name, digest in digests.items()}


# -- the two compared ------------------------------------------------------------------------------------------------


def comparable_projectors(
    current: Snapshot, projectors: Sequence[ReadModel] | None
) -> tuple[list[ReadModel], dict[str, str]]:
    """Return the projectors whose tables in current views are compared, and the reason for each table left out.

    By default the projectors are the built-in ones, and the installed ones with a table.
    """
    try:
        stored = views_file.stored_projectors(current.connection)
        left = dict(current.connection.execute("SELECT name, min(position) FROM left_behind GROUP BY name").fetchall())
    except READ_ERRORS:
        return list(BUILT_IN if projectors is None else projectors), {}
    if projectors is None:
        projectors = [made for made in installed_projectors() if made in BUILT_IN or made.name in stored]
    compared = []
    why_not = {name: _STALE.format(position) for name, position in left.items()}
    for made in projectors:
        name, identity = made.name, stored.get(made.name)
        if name in left:
            continue
        if name not in stored:
            why_not[name] = "it was installed since; the next command makes its rows"
        elif identity == made.identity or _is_earlier(identity, made.identity) or _names(identity) != name:
            compared.append(made)
        else:
            why_not[name] = "another version of its projector made it, which is not the one that is installed here"
    return compared, why_not


def compare_views(
    current: CurrentViews, true: Views, progress: Progress, part_map: PartMap = IN_THIS_PROCESS
) -> tuple[list[Falsehood], str, list[str]]:
    """Compare current views with views that are rebuilt from the same entries, table by table.

    Returns:
        The falsehoods, at most the first row of each table; why nothing was compared, if an earlier version of a scheme
        or projector made the views; and the tables of projectors that are not installed here.
    """
    file = current.file
    why_not = _outdated_tables(file.connection, true.connection)
    if why_not:
        return [], why_not, []
    strange = _not_installed(file.connection, true)
    # a column for each field of the schemes in use, in the order in which they came into use
    grown = {HISTORY.name}
    should = schema_objects(true.connection, grown)
    false = schema_falsehoods(file.connection, should, "views", REMEDY, grown, left_out=strange)
    # Put into a statement unquoted: ``_not_installed`` passes only names that fit the pattern.
    names = ", ".join(f"'{name}'" for name in strange)
    where = {"projections": f"name NOT IN ({names}) AND {_NO_PACKAGE}"}
    # The first is compared with the journal by itself; the second is about other processes, and no entry of them.
    tables = [name for name in queries.table_names(true.connection) if name not in {"progress", "left_behind"}]
    odd = {str(falsehood.position_or_key).removeprefix("table ") for falsehood in false} | {RATING_BOUNDS}
    regular = {name: where.get(name, "1") for name in tables if name not in odd}
    equal = _equal_tables(current, true, regular, progress, part_map)
    for table in tables:
        # A bound may be higher than every rating that was: that costs a look and hides no player, a lower one does.
        if table == RATING_BOUNDS:
            false += _low_bounds(file.connection, true.connection)
        elif table not in equal:
            false += table_falsehoods(file, true.connection, table, where.get(table, "1"))
    return false, "", strange


def _equal_tables(
    current: CurrentViews, true: Views, tables: Mapping[str, str], progress: Progress, part_map: PartMap
) -> set[str]:
    """Return the tables that surely have the same rows; *tables*: by name, which rows count."""
    if not may_be_opened_again(current.file.path):
        return set()
    state = (current.position, current.root)
    parts = chain.from_iterable(parts_of(true.connection, name, where) for name, where in tables.items())
    path, equal = os.path.realpath(current.file.path), set(tables)
    for compared, is_same in part_map.pairs(is_equal, (ComparedPart(part, path, state) for part in parts)):
        progress(f"table {compared.part.table.name}", 0, 1)
        if not is_same:
            equal.discard(compared.part.table.name)
    return equal


def _outdated_tables(current: sqlite3.Connection, true: sqlite3.Connection) -> str:
    """Return the reason not to compare views that only earlier versions made: the next command rebuilds them."""
    query = f"SELECT name, identity FROM projections WHERE {_NO_PACKAGE}"
    try:
        stored, now = dict(current.execute(query).fetchall()), dict(true.execute(query).fetchall())
    except READ_ERRORS:
        return ""
    other = [name for name in now if stored.get(name) != now[name]]
    if not other or not all(name in stored and _is_earlier(stored[name], now[name]) for name in other):
        return ""
    return f"the views were made by earlier versions of {', '.join(other)}; the next command rebuilds them"


_STALE = "a process without its plug-in has gone on since entry {}; the next one that has it catches up"


def _not_installed(current: sqlite3.Connection, true: Views) -> list[str]:
    """Return the tables of current views whose projectors are not installed here."""
    try:
        stored = views_file.stored_projectors(current)
        present = {name for (name,) in current.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except READ_ERRORS:
        return []
    taken = {*views_file.OWN_TABLES, *(projector.name for projector in true.installed.offered)}
    return sorted(
        name
        for name in stored
        if name in present - taken and re.fullmatch(NAME_PATTERN, name) and _names(stored[name]) == name
    )


def _names(identity: object) -> object:
    """Return the name in a projector's identity, None if it has none."""
    try:
        # the form that ``ratings.projector`` gives: a text of another program is no projector
        name, version, settings, _ = orjson.loads(str(identity))
    except (ValueError, TypeError):
        return None
    return name if type(version) is int and type(settings) is dict else None


def _is_earlier(stored: object, identity: str) -> bool:
    """Return whether an identity is that of an earlier version of the same thing."""
    try:
        old, new = orjson.loads(str(stored)), orjson.loads(identity)
        name, old, new = (None, old, new) if isinstance(new, int) else (old[0], old[1], new[1])
        return type(old) is int and 0 < old < new and (name is None or name == orjson.loads(identity)[0])
    except (ValueError, LookupError, TypeError):
        return False


def table_falsehoods(current: Snapshot, true: sqlite3.Connection, table: str, where: str = "1") -> list[Falsehood]:
    """Return the falsehood of the first row of a table, among those of *where*, that the rebuilt views lack."""
    try:
        try:
            return _difference(current.connection, true, table, where)
        except READ_ERRORS:  # once more: perhaps it is only a text that is none, in a row to be named
            current.decode_any_text()
            return _difference(current.connection, true, table, where)
    except READ_ERRORS as error:
        return [Falsehood(table, "rows", f"cannot be read ({one_line(error)}); {REMEDY}")]


def _low_bounds(current: sqlite3.Connection, true: sqlite3.Connection) -> list[Falsehood]:
    """Return the first player who once had a rating above the bound: a ranking of that day may leave the player out."""
    try:
        if len(KeyedTable.of(current, RATING_BOUNDS).columns) < len(KeyedTable.of(true, RATING_BOUNDS).columns):
            return []  # a missing column is reported already
        for pool, player, highest in true.execute(_HIGHEST):
            (bound,) = current.execute(_BOUND, (pool, player)).fetchone() or (None,)
            if not isinstance(bound, float) or bound < highest:
                fault = (
                    "the row is missing" if bound is None else f"rating is {bound!r}, the player once had {highest!r}"
                )
                return [Falsehood(RATING_BOUNDS, f"pool {pool}, player {player}", f"{fault}; {REMEDY}")]
    except READ_ERRORS as error:
        return [Falsehood(RATING_BOUNDS, "rows", f"cannot be read ({one_line(error)}); {REMEDY}")]
    return []


def _difference(current: sqlite3.Connection, true: sqlite3.Connection, name: str, where: str) -> list[Falsehood]:
    table = KeyedTable.of(true, name)
    if not set(table.columns) <= set(KeyedTable.of(current, name).columns):
        return []  # a missing column or table is reported already
    first = _first_difference(_rows(current, table, where), _rows(true, table, where), table)
    if first is None and (key := negative_zero(current, TablePart("", table))) is not None:
        first = Falsehood(name, _label(table, key), f"holds a zero below zero, the journal gives 0; {REMEDY}")
    return [first] if first else []


def _rows(connection: sqlite3.Connection, table: KeyedTable, where: str) -> Iterator[Any]:
    cursor = connection.execute(table.rows(where))
    while rows := cursor.fetchmany(BLOCK):
        yield from rows


def _first_difference(is_rows: Iterator[Any], true_rows: Iterator[Any], table: KeyedTable) -> Falsehood | None:
    """Return the falsehood of the first row in which two tables differ."""
    names = table.columns
    places = [names.index(name) for name in table.key]
    # Both in order of the primary key: side by side, nothing is held, and the first difference is the first in order.
    while True:
        is_row, true_row = next(is_rows, None), next(true_rows, None)
        if is_row == true_row:
            if is_row is None:
                return None
            continue
        where = min((_key(row, places) for row in (is_row, true_row) if row is not None), key=_in_order)
        label = _label(table, where)
        if is_row is None or (true_row is not None and _key(true_row, places) == where != _key(is_row, places)):
            return Falsehood(table.name, label, f"the row is missing; {REMEDY}")
        if true_row is None or _key(true_row, places) != where:
            return Falsehood(table.name, label, f"the row does not follow from any entry; {REMEDY}")
        name, is_value, true_value = next((n, i, t) for n, i, t in zip(names, is_row, true_row, strict=True) if i != t)
        return Falsehood(table.name, label, f"{name} is {is_value!r}, the journal gives {true_value!r}; {REMEDY}")


def _label(table: KeyedTable, key: Sequence[Any]) -> str:
    """Return a row by its key: ``pool 1, player 8, n 3``."""
    return ", ".join(f"{name} {value}" for name, value in zip(table.key, key, strict=True))


def _key(row: Any, places: list[int]) -> tuple[Any, ...]:
    return tuple(row[place] for place in places)


def _in_order(key: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """Return a key as SQLite sorts it: NULL, numbers, text, bytes."""
    kinds = {int: 1, float: 1, str: 2, bytes: 3}
    return [(0, 0) if value is None else (kinds[type(value)], value) for value in key]
