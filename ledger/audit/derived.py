"""Derived rows, built in a temporary file from a verified journal, and the current views compared with them.

Journal and people are read from verified snapshots that are held open. So everything derived or answered from them
comes from the very bytes that were verified, even if other processes write meanwhile. The module changes nothing,
and trusts nothing in the current views: not their indices, not their position.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import copysign
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.audit.reader import Falsehood, Snapshot
from ledger.audit.reader.files import READ_ERRORS, excerpt
from ledger.audit.reader.published import marks, object_falsehoods, objects, page_falsehoods
from ledger.book.game_book_columns import strange_bodies
from ledger.errors import CorruptError, MalformedError, one_line
from ledger.facts.codec import decode
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.words import TreeHead
from ledger.journal import Journal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.stored_tree import Edge
from ledger.players.people import People
from ledger.players.sqlite_people import SqlitePeople
from ledger.ratings import queries, views_file
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import BUILT_IN, available
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.views import Views
from ledger.ratings.views_file import BOUNDS
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import Progress

if TYPE_CHECKING:
    import sqlite3


class VerifiedJournal(SqliteJournal):
    """A journal that ends at its proven head; it takes no entries, and who holds the snapshot closes it."""

    def __init__(self, file: Snapshot, head: TreeHead) -> None:
        """Take a snapshot and the head that was recomputed from it."""
        # Not as the parent does it: that opens the file again, which may be another one by now than was verified.
        self.path = file.path
        self._connection = file.connection  # type: ignore[assignment]  # every byte that it reads was read before
        self._edge = Edge()
        self._log_pages = 0
        self._head = head

    def head(self) -> TreeHead:
        """Return the proven head."""
        return self._head

    def close(self) -> None:
        """Do nothing."""


class VerifiedPeople(SqlitePeople):
    """The people file of a verified snapshot, for reading; the snapshot's owner closes it."""

    def __init__(self, file: Snapshot) -> None:
        """Take a snapshot."""
        # As in the journal above: the very bytes that were compared, even if the file is another one by now.
        People.__init__(self, file.path)
        self._connection = file.connection  # type: ignore[assignment]  # every byte that it reads was read before

    def close(self) -> None:
        """Do nothing."""


BLOCK = 5_000
REMEDY = "the journal is right: 'rebuild' the views"
CUT = "the journal was cut or an older copy restored; prove it with 'audit --since'"
_HIGHEST = "SELECT pool, player, max(rating) FROM history GROUP BY pool, player ORDER BY pool, player"
_BOUND = f"SELECT rating FROM {BOUNDS} WHERE pool = ? AND player = ?"
_NOT_ROWS = {"progress", "projections", "left_behind", BOUNDS}  # how they were made: no journal says it
_NO_PACKAGE = f"name NOT GLOB '{views_file.PACKAGE}*'"  # which package brings a scheme follows from no entry
_ODD_VALUES = (ArithmeticError, LookupError, TypeError, ValueError)
_FOREIGN = "another program wrote it; go on from a copy made before that"


# -- the current views -----------------------------------------------------------------------------------------


@attrs.frozen
class CurrentViews:
    """The current views, and the facts about them before the journal is read.

    Attributes:
        file: the views in a snapshot.
        position: entries that they say are folded in; None if that is no number of entries.
        root: the journal's root at that position, as they say; None if they keep none.
        falsehoods: damage to their pages and indices, and to the row that keeps the position.
        why_not: why their rows are not compared with the journal; empty if they are.
    """

    file: Snapshot
    position: int | None
    root: object
    falsehoods: tuple[Falsehood, ...]
    why_not: str = ""


def look(file: Snapshot) -> CurrentViews:
    """Read the facts of the views that do not depend on the journal."""
    mark, layout = marks(file.connection)
    false: list[Falsehood] = []
    why_not = ""
    if mark != views_file.APPLICATION_ID:
        message = f"says {mark:#x}, not {views_file.APPLICATION_ID:#x}; {REMEDY}"
        false.append(Falsehood("views file", "application_id", message))
    if 0 < layout < views_file.LAYOUT:
        why_not = f"the views are of the earlier layout {layout}; the next command builds them anew"
    elif layout != views_file.LAYOUT:
        why_not = f"they are of layout {layout}, and this program knows them up to layout {views_file.LAYOUT}"
        false.append(Falsehood("views file", "layout", f"is {layout}, not {views_file.LAYOUT}; {REMEDY}"))
    false += page_falsehoods(file.connection, "views", REMEDY)
    try:
        cursor = file.connection.execute("SELECT * FROM progress")
        rows = [dict(zip([column[0] for column in cursor.description], row, strict=True)) for row in cursor]
    except READ_ERRORS as error:
        false.append(Falsehood("progress", "table", f"cannot be read ({one_line(error)}); {REMEDY}"))
        return CurrentViews(file, None, None, tuple(false), why_not)
    position = rows[0].get("position") if len(rows) == 1 else None
    if len(rows) != 1:
        false.append(Falsehood("progress", "rows", f"are {len(rows)}, not one; {REMEDY}"))
    elif rows[0].get("only") != 1:
        false.append(Falsehood("progress", "only", f"is {excerpt(rows[0].get('only'))}, not 1; {REMEDY}"))
    elif type(position) is not int or position < 0:
        false.append(Falsehood("progress", "position", f"is {excerpt(position)}, no number of entries; {REMEDY}"))
        position = None
    root = rows[0].get("root") if len(rows) == 1 else None
    return CurrentViews(file, position, root, tuple(false), why_not)


def place_falsehoods(current: CurrentViews, size: int, roots: Mapping[int, bytes]) -> list[Falsehood]:
    """Yield the falsehoods in the place of the journal at which the views say they are.

    Args:
        current: the views.
        size: entries of the journal.
        roots: its root by number of entries, that at the position of the views among them.
    """
    if current.position is None:
        return []
    if current.position > size:
        message = f"the views know {current.position} entries, the journal holds {size}: {CUT}"
        return [Falsehood("progress", "position", message)]
    root = roots[current.position]
    columns = [row[1] for row in current.file.connection.execute("PRAGMA table_info(progress)")]
    # Where the column is missing, that is named with the other objects of the file.
    if "root" in columns and current.root != root:
        message = (
            f"is {excerpt(current.root)}, but the journal's at entry {current.position} is {excerpt(root)}: the "
            f"views follow from another journal, or the row was changed; {REMEDY}"
        )
        return [Falsehood("progress", "root", message)]
    return []


# -- everything derived, in a temporary file ---------------------------------------------------------------------


@contextmanager
def temporary_views(projectors: Sequence[ReadModel], journal: Journal) -> Iterator[Views]:
    """Yield a place for views of *journal* in a temporary folder, empty; it is deleted when the block ends."""
    # not next to the ledger: people who may only read it may audit it
    with tempfile.TemporaryDirectory(prefix="ledger-audit-") as folder:
        built = Views(Path(folder) / "views.db", projectors, journal)
        try:
            yield built
        finally:
            built.close()


def build(made: Views, until: int, progress: Progress) -> list[Falsehood]:
    """Build the views of *until* entries in the temporary folder; if the journal is false, return its falsehood."""
    return _folded(made.journal, 0, until, lambda: made.build_until(until, progress))


def catch_up(made: Views, progress: Progress) -> list[Falsehood]:
    """Bring temporary views up to date with the journal; if the journal is false, return its falsehood."""
    return _folded(made.journal, made.position(), made.journal.size(), lambda: made.catch_up(progress))


def _folded(journal: Journal, after: int, until: int, fold: Callable[[], object]) -> list[Falsehood]:
    try:
        # Before anything is folded: the reader proved hashes, and a body that the codec never writes may hash well.
        for bodies in journal.read(after, until):
            if strange_bodies(bodies):
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


def table_digests(connection: sqlite3.Connection) -> dict[str, str]:
    """Return, by table, SHA-256 over its rows in order of the primary key.

    Each row counts as the JSON array of its columns in alphabetical order, numbers in their shortest form that
    reads back the same, followed by a line feed; so two sites, or two years, can compare one line.
    """
    digests = {}
    for table in queries.tables(connection):
        if table not in _NOT_ROWS:
            digest = sha256()
            # orjson writes a float in the shortest form that reads back the same.
            for rows in _blocks(connection, table, *_columns(connection, table)):
                digest.update(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
            digests[table] = digest.hexdigest()
    return digests


# -- the two compared ------------------------------------------------------------------------------------------------


def with_tables(current: Snapshot, projectors: Sequence[ReadModel] | None) -> tuple[list[ReadModel], dict[str, str]]:
    """Return the projectors whose tables in current views are compared, and the reason for each table left out.

    Args:
        current: the views.
        projectors: those to look for; by default the built-in ones, and of the installed ones those with a table.
    """
    try:
        stored = views_file.stored_projectors(current.connection)
        left = dict(current.connection.execute("SELECT name, min(position) FROM left_behind GROUP BY name").fetchall())
    except READ_ERRORS:
        return list(BUILT_IN if projectors is None else projectors), {}
    if projectors is None:
        projectors = [made for made in available() if made in BUILT_IN or made.name in stored]
    kept = [made for made in projectors if made.name in stored and made.name not in left]
    why_not = {made.name: _INSTALLED_SINCE for made in projectors if made.name not in stored}
    why_not |= {name: _LEFT_BEHIND.format(position) for name, position in left.items()}
    # A copy, for what is walked through must not lose members.
    for made in list(kept):
        identity = stored[made.name]
        if identity != made.identity and not _is_earlier(identity, made.identity) and _names(identity) == made.name:
            kept.remove(made)
            why_not[made.name] = _OTHER_VERSION
    return kept, why_not


def compare(current: Snapshot, true: Views, progress: Progress) -> tuple[list[Falsehood], str, list[str]]:
    """Compare current views with views that are rebuilt from the same entries, table by table.

    Returns:
        What is false, at most the first row of each table; where an earlier version of a scheme or projector made the
        views, so that nothing was compared, the words for that; and the tables of projectors that are not installed
        here, which alone were not compared.
    """
    why_not = _outdated_tables(current.connection, true.connection)
    if why_not:
        return [], why_not, []
    strange = _not_installed(current.connection, true)
    # a column for each field of the schemes in use, in the order in which they came into use
    grown = {HISTORY.name}
    should = objects(true.connection, grown)
    false = object_falsehoods(current.connection, should, "views", REMEDY, grown, left_out=strange)
    # Put into a statement unquoted: ``_not_installed`` passes only names that fit the pattern.
    names = ", ".join(f"'{name}'" for name in strange)
    for table in queries.tables(true.connection):
        # The first is compared with the journal by itself; the second is about other processes, and no entry of them.
        if table in {"progress", "left_behind"}:
            continue
        progress(f"table {table}", 0, 1)
        # A bound may be higher than every rating that was: that costs a look and hides no player, a lower one does.
        if table == BOUNDS:
            false += _low_bounds(current.connection, true.connection)
            continue
        where = f"name NOT IN ({names}) AND {_NO_PACKAGE}" if table == "projections" else "1"
        false += table_falsehoods(current, true.connection, table, where)
    return false, "", strange


def _outdated_tables(current: sqlite3.Connection, true: sqlite3.Connection) -> str:
    """Return words for views that are rebuilt before anybody sees them: only earlier versions made them."""
    query = f"SELECT name, identity FROM projections WHERE {_NO_PACKAGE}"
    try:
        stored, now = dict(current.execute(query).fetchall()), dict(true.execute(query).fetchall())
    except READ_ERRORS:
        return ""
    other = [name for name in now if stored.get(name) != now[name]]
    if not other or not all(name in stored and _is_earlier(stored[name], now[name]) for name in other):
        return ""
    return f"the views were made by earlier versions of {', '.join(other)}; the next command builds them anew"


_INSTALLED_SINCE = "it was installed since; the next command makes its rows"
_LEFT_BEHIND = "a process without its plug-in has gone on since entry {}; the next one that has it brings it level"
_OTHER_VERSION = "another version of its projector made it, which is not the one that is installed here"


def _not_installed(current: sqlite3.Connection, true: Views) -> list[str]:
    """Return the tables of current views whose projectors are not installed here."""
    try:
        stored = views_file.stored_projectors(current)
        present = {name for (name,) in current.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except READ_ERRORS:
        return []
    taken = {*views_file.OWN_TABLES, *(projector.name for projector in true.at_hand.making)}
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
    """Return the first row of a table, of those *where* says, that does not follow from the journal, if any."""
    try:
        try:
            return _difference(current.connection, true, table, where)
        except READ_ERRORS:  # once more: perhaps it is only a text that is none, in a row to be named
            current.read_any_text()
            return _difference(current.connection, true, table, where)
    except READ_ERRORS as error:
        return [Falsehood(table, "rows", f"cannot be read ({one_line(error)}); {REMEDY}")]


def _low_bounds(current: sqlite3.Connection, true: sqlite3.Connection) -> list[Falsehood]:
    """Return the first player who once had a rating above the bound: a ranking of that day may leave the player out."""
    try:
        if len(_columns(current, BOUNDS)[1]) < len(_columns(true, BOUNDS)[1]):
            return []  # its lack is named already
        for pool, player, highest in true.execute(_HIGHEST):
            (bound,) = current.execute(_BOUND, (pool, player)).fetchone() or (None,)
            if not isinstance(bound, float) or bound < highest:
                fault = (
                    "the row is missing" if bound is None else f"rating is {bound!r}, the player once had {highest!r}"
                )
                return [Falsehood(BOUNDS, f"pool {pool}, player {player}", f"{fault}; {REMEDY}")]
    except READ_ERRORS as error:
        return [Falsehood(BOUNDS, "rows", f"cannot be read ({one_line(error)}); {REMEDY}")]
    return []


def _difference(current: sqlite3.Connection, true: sqlite3.Connection, table: str, where: str) -> list[Falsehood]:
    key, names = _columns(true, table)
    if not set(names) <= set(_columns(current, table)[1]):
        # its lack of a column, or of all, is named already
        return []
    first = _first_difference(
        _rows(current, table, key, names, where), _rows(true, table, key, names, where), table, key, names
    )
    return [first] if first else _negative_zeros(current, table, key)


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """Return the primary key columns in their order, and all columns in alphabetical order."""
    info = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    # Of a row of this pragma, field 5 is the column's place in the key, 0 for one outside, and field 1 its name.
    key = [name for _, name in sorted((row[5], row[1]) for row in info if row[5])]
    return key, sorted(row[1] for row in info)


def _ordered(key: Sequence[str]) -> str:
    """Return the columns of a key as SQL has them: that of a plug-in may be called ``order``."""
    return ", ".join(f'"{name}"' for name in key)


def _blocks(
    connection: sqlite3.Connection, table: str, key: Sequence[str], names: Sequence[str], where: str = "1"
) -> Iterator[list[Any]]:
    columns = ", ".join(f'"{name}"' for name in names)
    cursor = connection.execute(f'SELECT {columns} FROM "{table}" WHERE {where} ORDER BY {_ordered(key)}')
    while rows := cursor.fetchmany(BLOCK):
        yield rows


def _rows(
    connection: sqlite3.Connection, table: str, key: Sequence[str], names: Sequence[str], where: str
) -> Iterator[Any]:
    for rows in _blocks(connection, table, key, names, where):
        yield from rows


def _first_difference(
    is_rows: Iterator[Any], true_rows: Iterator[Any], table: str, key: list[str], names: list[str]
) -> Falsehood | None:
    """Return the first row in which two tables differ, in words."""
    places = [names.index(name) for name in key]
    # Both in order of the primary key: side by side, nothing is held, and the first difference is the first in order.
    while True:
        is_row, true_row = next(is_rows, None), next(true_rows, None)
        if is_row == true_row:
            if is_row is None:
                return None
            continue
        where = min((_key(row, places) for row in (is_row, true_row) if row is not None), key=_in_order)
        label = _label(key, where)
        if is_row is None or (true_row is not None and _key(true_row, places) == where != _key(is_row, places)):
            return Falsehood(table, label, f"the row is missing; {REMEDY}")
        if true_row is None or _key(true_row, places) != where:
            return Falsehood(table, label, f"the row does not follow from any entry; {REMEDY}")
        name, is_value, true_value = next((n, i, t) for n, i, t in zip(names, is_row, true_row, strict=True) if i != t)
        return Falsehood(table, label, f"{name} is {is_value!r}, the journal gives {true_value!r}; {REMEDY}")


def _negative_zeros(current: sqlite3.Connection, table: str, key: list[str]) -> list[Falsehood]:
    """Return the first row with a negative zero, which equals zero: SQLite never writes one, other programs may."""
    info = current.execute(f'PRAGMA table_info("{table}")').fetchall()
    reals = [f'"{row[1]}"' for row in info if row[2] == "REAL"]
    if not reals:
        return []
    zero = " OR ".join(f"{name} = 0" for name in reals)
    ordered = _ordered(key)
    query = f'SELECT {ordered}, {", ".join(reals)} FROM "{table}" WHERE {zero} ORDER BY {ordered}'
    for row in current.execute(query):
        if any(value == 0 and copysign(1, value) < 0 for value in row[len(key) :] if value is not None):
            return [Falsehood(table, _label(key, row), f"holds a zero below zero, the journal gives 0; {REMEDY}")]
    return []


def _label(key: Sequence[str], where: Sequence[Any]) -> str:
    """Return a row by its key: ``pool 1, player 8, n 3``."""
    # Not strict: a row may go on after its key.
    return ", ".join(f"{name} {value}" for name, value in zip(key, where, strict=False))


def _key(row: Any, places: list[int]) -> tuple[Any, ...]:
    return tuple(row[place] for place in places)


def _in_order(key: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """Return a key as SQLite sorts it: NULL, numbers, text, bytes."""
    kinds = {int: 1, float: 1, str: 2, bytes: 3}
    return [(0, 0) if value is None else (kinds[type(value)], value) for value in key]
