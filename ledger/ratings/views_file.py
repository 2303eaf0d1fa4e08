"""The views database: its tables, its checkpoint, its path on disk. Everything in it is derived and disposable.

Tables are plain and typed, for SQL, Datasette or pandas to read:

* ``games``: one row a game in its current form; ``reason`` says why one does not count, NULL for those that do;
* ``history`` and one table for each projector: a row for each side of each rated game;
* ``tournament_performance``: the same of tournaments, a view over ``history`` and ``games``;
* ``current``: the last row of each player in each pool, and whether the scheme lists a player with that state;
* ``distribution``: how many are listed with each whole number of points, kept by triggers on ``current``;
* ``rating_bounds``: a rating that no row of a player's history exceeds;
* ``players``, ``changes``, ``pools``, ``eras``, ``runs``, ``publications``, ``tournaments``, ``openings``,
  ``policies``: what the journal says of them;
* ``left_behind``: the tables of read models that a process without their plug-ins has not kept level;
* ``progress``: the position up to which the journal is folded in, and the journal's Merkle root at that position,
  written in the same transaction as the rows: views say which journal they are of.

What goes into the rows is decided elsewhere (``game_book``, ``projection``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from math import inf, nextafter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger import schemes
from ledger.book import tables
from ledger.errors import CorruptError, LedgerError, StorageError, UnknownNameError, one_line
from ledger.journal.merkle import EMPTY_ROOT
from ledger.ratings.fact_projector import ReadModel, fact_projectors_among
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import side_tables
from ledger.runtime import arith, sqlite
from ledger.schemes.scheme import Scheme

if TYPE_CHECKING:
    import sqlite3

# How the distribution is kept: counted once, when a build has written ``current``, and from then on by triggers, so
# that no writer of ``current`` can forget it. The points of a rating are cut towards zero: 1400 is 1400.0 to 1400.9,
# 0 is -0.9 to 0.9; they never descend where ratings ascend. Wider bands would spare a live game a page or two, but
# among half a million players a place within a band would then be found among thousands.
_MOST = 2**63 - 1  # of SQLite's whole numbers
DISTRIBUTION = """CREATE TABLE distribution(
      pool INTEGER NOT NULL, points INTEGER NOT NULL, players INTEGER NOT NULL CHECK(players > 0),
      PRIMARY KEY(pool, points)) STRICT, WITHOUT ROWID"""


def _band(rating: str) -> str:
    return f"CAST({rating} AS INTEGER)"


_OLD, _NEW = _band("old.rating"), _band("new.rating")
_COMES = f"INSERT INTO distribution VALUES (new.pool, {_NEW}, 1) ON CONFLICT DO UPDATE SET players = players + 1;"
_GOES = (  # there is no row without a player
    f"DELETE FROM distribution WHERE pool = old.pool AND points = {_OLD} AND players = 1; "
    f"UPDATE distribution SET players = players - 1 WHERE pool = old.pool AND points = {_OLD};"
)
_CHANGED = "AFTER UPDATE OF rating, listed ON current"
_STAYS = f"(old.listed = 1 AND new.listed = 1 AND {_OLD} = {_NEW})"
COUNTING_TRIGGERS = (
    f"CREATE TRIGGER current_comes AFTER INSERT ON current WHEN new.listed = 1 BEGIN {_COMES} END",
    f"CREATE TRIGGER current_goes AFTER DELETE ON current WHEN old.listed = 1 BEGIN {_GOES} END",
    f"CREATE TRIGGER current_leaves {_CHANGED} WHEN old.listed = 1 AND NOT {_STAYS} BEGIN {_GOES} END",
    f"CREATE TRIGGER current_joins {_CHANGED} WHEN new.listed = 1 AND NOT {_STAYS} BEGIN {_COMES} END",
)
_COUNT = f"""
INSERT INTO distribution
SELECT pool, {_band("rating")}, count(*) FROM current WHERE listed = 1 GROUP BY 1, 2
"""


def count_distribution(connection: sqlite3.Connection) -> None:
    """Count the listed players of new views, and let triggers update the counts.

    It runs in the caller's transaction.
    """
    connection.execute(_COUNT)
    for statement in COUNTING_TRIGGERS:
        connection.execute(statement)


def whole_points(rating: float) -> int:
    """Return the points of a rating, as SQLite cuts them, which takes 2**63 - 1 for what is above."""
    return -_MOST - 1 if rating < -_MOST else _MOST if rating >= _MOST else int(rating)


def highest_rating_of(points: int) -> float:
    """Return the highest rating of these whole points."""
    if points == _MOST:
        return inf
    if points < 0:
        return float(points)
    above = float(points + 1)
    return above if above < points + 1 else nextafter(above, 0.0)


# No row of a player's history has a higher rating than this table says, so that the best of any day are among few. It
# is raised and never lowered: after a correction it may say more than is needed. So equal journals need not give equal
# bounds, and digests and comparisons leave the table out.
RATING_BOUNDS = "rating_bounds"

APPLICATION_ID = sqlite.VIEWS_ID
# Another number for each change of a table, index or trigger: earlier files are built again, nothing is read.
LAYOUT = 18
_SCHEME = "scheme "
PACKAGE_PREFIX = "package "  # of a plug-in that brought a scheme
_ARITHMETIC = ("arithmetic", str(arith.VERSION))
REBUILD = tables.REBUILD

_SCHEMA = (
    """CREATE TABLE progress(
      only INTEGER PRIMARY KEY CHECK(only = 1), position INTEGER NOT NULL CHECK(position >= 0),
      root BLOB NOT NULL CHECK(length(root) = 32)) STRICT""",
    "CREATE TABLE projections(name TEXT PRIMARY KEY, identity TEXT NOT NULL) STRICT",
    """CREATE TABLE left_behind(
      name TEXT NOT NULL, pool INTEGER NOT NULL, position INTEGER NOT NULL, since_ms INTEGER,
      PRIMARY KEY(name, pool)) STRICT, WITHOUT ROWID""",
    *tables.SCHEMA,
    """CREATE TABLE current(
      pool INTEGER NOT NULL, player INTEGER NOT NULL, n INTEGER NOT NULL, rating REAL NOT NULL,
      game INTEGER NOT NULL, ended_ms INTEGER NOT NULL, rated_ms INTEGER NOT NULL, latest_ms INTEGER NOT NULL,
      listed INTEGER NOT NULL CHECK(listed IN (0, 1, 2)), PRIMARY KEY(pool, player)) STRICT, WITHOUT ROWID""",
    DISTRIBUTION,
    f"""CREATE TABLE {RATING_BOUNDS}(
      pool INTEGER NOT NULL, player INTEGER NOT NULL, rating REAL NOT NULL, PRIMARY KEY(pool, player)
      ) STRICT, WITHOUT ROWID""",
    tournament_performance.VIEW,
)
_INDEXES = (
    *tables.INDEXES,
    "CREATE INDEX current_by_rating ON current(pool, listed, rating DESC, player)",
    "CREATE INDEX current_by_last_game ON current(pool, latest_ms) WHERE listed = 1",
    f"CREATE INDEX bounds_by_rating ON {RATING_BOUNDS}(pool, rating DESC, player)",
)


_OBJECTS: Mapping[tuple[str, str], str] = {
    (statement.split()[1].lower(), statement.split("(")[0].split()[2]): statement
    for statement in (*_SCHEMA, *_INDEXES, *COUNTING_TRIGGERS)
}  # by kind (table, view, index or trigger) and name, the statement that makes it
OWN_TABLES = frozenset(statement.split("(")[0].split()[2] for statement in _SCHEMA) | {HISTORY.name, "build"}


def create_views(path: str | Path, projectors: Sequence[ReadModel]) -> sqlite.FileConnection:
    """Make an empty views file without its indexes, in rollback mode, for a build."""
    connection = sqlite.connect(path)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA cache_size=-65536")
    with sqlite.write_transaction(connection):
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO progress VALUES (1, 0, ?)", (EMPTY_ROOT,))
        for table in side_tables(projectors, ()):
            add_table(connection, table.fold, table.create)
        for made in fact_projectors_among(projectors):
            add_table(connection, made, made.create)
        connection.execute("INSERT INTO projections VALUES (?, ?)", _ARITHMETIC)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={LAYOUT}")
    return connection


def add_table(connection: sqlite3.Connection, projector: ReadModel, create: str) -> None:
    """Make the empty table of a projector by a statement, and note what fills it."""
    connection.execute(create)
    connection.execute("INSERT INTO projections VALUES (?, ?)", (projector.name, projector.identity))


def drop_table(connection: sqlite3.Connection, name: str) -> None:
    """Take away the table of a projector."""
    connection.execute(f'DROP TABLE "{name}"')
    connection.execute("DELETE FROM projections WHERE name = ?", (name,))


def index_statements(table: str = "") -> list[str]:
    """Return the statements that make the indexes of a table, or of all, once the tables are filled."""
    return [
        statement.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS")
        for statement in _INDEXES
        if f" ON {table}" in statement
    ]


def create_indexes(connection: sqlite3.Connection, projectors: Sequence[ReadModel]) -> None:
    """Make the indexes that are missing, once the tables are filled."""
    of_tables = [statement for table in side_tables(projectors, ()) for statement in table.indexes]
    for statement in (*index_statements(), *of_tables):
        connection.execute(statement)


def open_views(path: str | Path, *, read_only: bool = False) -> sqlite.FileConnection:
    """Open complete views.

    Raises:
        StorageError: not ours, or not to be opened.
        CorruptError: a table, index or trigger in it is not what this program makes.
    """
    connection = sqlite.connect(path, read_only=read_only, remedy=REBUILD)
    try:
        check_layout(connection, path)
        _check_schema(connection, path)
    except BaseException:
        connection.close()
        raise
    # NORMAL: a power cut may take the last commits, never tear one; they are derived again.
    connection.execute("PRAGMA synchronous=NORMAL")
    # KiB. A large correction changes some 100 MB of pages and comes back to them; reading them again costs a tenth.
    connection.execute(f"PRAGMA cache_size=-{65_536 if read_only else 262_144}")
    connection.execute("PRAGMA wal_autocheckpoint=8192")  # 32 MB: a live game touches many pages
    if read_only:
        # A graph looks up four rows a game all over the file: 1.3 ms for 100 games, and 0.9 ms where no page of
        # it is copied. SQLite maps as much as it was built for.
        connection.execute(f"PRAGMA mmap_size={2**40}")
        # A mapped page would be checked at each look and not once: a twentieth of such a graph. What is only read
        # spreads no damage, and of 400 bits turned over in pages as many gave a wrong answer with it as without.
        connection.execute("PRAGMA cell_size_check=OFF")
    return connection


def check_layout(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse a file of another kind or layout.

    Raises:
        StorageError: it is.
    """
    sqlite.check_identity(connection, path, APPLICATION_ID, LAYOUT)


def is_outdated(path: str | Path) -> bool:
    """Return whether views have an earlier layout: nothing is read from them, they are built again."""
    with closing(sqlite.connect(path, remedy=REBUILD)) as connection:  # may roll a journal back
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        layout = connection.execute("PRAGMA user_version").fetchone()[0]
    return bool(application == APPLICATION_ID and layout < LAYOUT)


def _check_schema(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse views with a missing or altered object, or a foreign trigger; users' own tables and indexes may exist."""
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master").fetchall()
    objects = {(kind, name): sql for name, kind, sql in rows}
    for (kind, name), statement in _OBJECTS.items():
        if (kind, name) not in objects:
            raise CorruptError(str(path), 0, f"its {kind} {name!r} is missing; {REBUILD}")
        if objects.get((kind, name), statement) != statement:
            raise CorruptError(str(path), 0, f"its {kind} {name!r} is not what this program makes; {REBUILD}")
    made = [name for (name,) in connection.execute("SELECT name FROM projections")]
    for name in made:
        if name != _ARITHMETIC[0] and not name.startswith((_SCHEME, PACKAGE_PREFIX)) and ("table", name) not in objects:
            raise CorruptError(str(path), 0, f"its table {name!r} is missing; {REBUILD}")
    triggers = sorted(name for kind, name in objects.keys() - _OBJECTS.keys() if kind == "trigger")
    if triggers:
        raise CorruptError(str(path), 0, f"holds triggers that this program does not make: {triggers}; {REBUILD}")


@contextmanager
def reporting_damage(path: str | Path) -> Iterator[None]:
    """Turn errors while rows of the views are read and understood into one clear error.

    Raises:
        CorruptError: a row is not what this program wrote.
    """
    try:
        yield
    except LedgerError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        message = f"a row cannot be understood ({type(error).__name__}: {one_line(error)}); {REBUILD}"
        raise CorruptError(str(path), 0, message) from error


def are_rated_by_this_program(connection: sqlite3.Connection) -> bool:
    """Return whether the ratings were made by the schemes, the arithmetic and the history as this program has them.

    Raises:
        CorruptError: the history, or a projector's table, has other columns than it was made with.
    """
    stored = _made_by(connection)
    if stored.get(_ARITHMETIC[0]) != _ARITHMETIC[1] or stored.get(HISTORY.name) != HISTORY.identity:
        return False
    by_schemes = {name.removeprefix(_SCHEME): stored[name] for name in stored if name.startswith(_SCHEME)}
    used_schemes = [_needed(name, stored) for name in by_schemes]
    if any(str(scheme.version) != by_schemes[scheme.name] for scheme in used_schemes):
        return False
    state = list(dict.fromkeys(name for scheme in used_schemes for name in scheme.state))
    history = side_tables((), state)[0]
    _check_columns(connection, history.name, history.columns)
    return True


def _needed(name: str, stored: Mapping[str, str]) -> Scheme:
    """Return the scheme of that name, by which the ledger is rated; UnknownNameError names the package that had it."""
    try:
        return schemes.find_scheme(name)
    except UnknownNameError:
        package = stored.get(PACKAGE_PREFIX + name)
        way_out = f"install the package {package!r}, which brought it" if package else "install what brings it"
        raise UnknownNameError("scheme", name, f"this ledger is rated by it: {way_out}", where="installed") from None


def _made_by(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the origin of the rows: the identity of each table's fold, the versions of schemes and arithmetic."""
    return dict(connection.execute("SELECT name, identity FROM projections"))


def stored_projectors(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the names and identities of the projectors that have a table."""
    own = {_ARITHMETIC[0], HISTORY.name}
    return {
        name: identity
        for name, identity in _made_by(connection).items()
        if name not in own and not name.startswith((_SCHEME, PACKAGE_PREFIX))
    }


def check_tables(connection: sqlite3.Connection, projectors: Sequence[ReadModel]) -> None:
    """Refuse views in which the table of one of these projectors has other columns than it was made with.

    Raises:
        CorruptError: naming the columns.
    """
    for table in side_tables(projectors, ())[1:]:
        _check_columns(connection, table.name, table.columns)
    for made in fact_projectors_among(projectors):
        _check_columns(connection, made.name, [(column.name, column.type) for column in made.all_columns])


def _check_columns(connection: sqlite3.Connection, table: str, columns: Iterable[tuple[str, str]]) -> None:
    """Refuse a table that has other columns than the projector and the schemes in use ask for."""
    columns_made = {(name, kind.split()[0]) for name, kind in columns}
    columns_stored = {(row[1], row[2]) for row in connection.execute(f'PRAGMA table_info("{table}")')}
    if columns_stored != columns_made:
        names = sorted({name for name, _ in columns_stored ^ columns_made})
        message = f"table {table!r} is not as it was made: columns {names}; {REBUILD}"
        raise CorruptError("the views", 0, message)


def record_schemes(connection: sqlite3.Connection, adopted: Iterable[Scheme]) -> None:
    """Store the versions of adopted schemes, and give the history a column for each field of their state."""
    for scheme in adopted:
        # Several pools may adopt one scheme, and a pool may come back to it: a row that is there already stays.
        row = (_SCHEME + scheme.name, str(scheme.version))
        connection.execute("INSERT OR IGNORE INTO projections VALUES (?, ?)", row)
        package = schemes.package_of(scheme.name)
        if package is not None:
            row = (PACKAGE_PREFIX + scheme.name, package)
            connection.execute("INSERT OR IGNORE INTO projections VALUES (?, ?)", row)
        # Read for each scheme: the one before may have added a field of the same name.
        present = {row[1] for row in connection.execute(f"PRAGMA table_info({HISTORY.name})")}
        for name in scheme.state:
            if name not in present:
                connection.execute(f'ALTER TABLE {HISTORY.name} ADD COLUMN "{name}" REAL')


def check_integrity(connection: sqlite3.Connection, path: str | Path) -> None:
    """Read the whole file, and refuse a damaged one.

    Raises:
        CorruptError: it is damaged, or a value is not of its column's type.
    """
    # one fault is enough: all of them have one remedy
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise CorruptError(str(path), 0, f"{verdict}; {REBUILD}")


class ViewsHead(NamedTuple):
    """The position of the last entry that the views contain, and the Merkle root there."""

    position: int
    root: bytes


def checkpoint(connection: sqlite3.Connection) -> ViewsHead:
    """Return the position of the last entry that the views contain, and its Merkle root.

    Raises:
        CorruptError: that is not said, or said twice.
    """
    rows = connection.execute("SELECT position, root FROM progress").fetchall()
    if len(rows) != 1:
        raise CorruptError("the views", 0, f"table progress holds {len(rows)} rows, not 1; {REBUILD}")
    reached, root = rows[0]
    if not (isinstance(reached, int) and reached >= 0 and isinstance(root, bytes)):
        raise CorruptError("the views", 0, f"table progress says position {reached!r}, which none is; {REBUILD}")
    return ViewsHead(reached, root)


def position(connection: sqlite3.Connection) -> int:
    """Return the position of the last entry that the views contain."""
    return checkpoint(connection).position


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has written the file since this one last looked."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def set_checkpoint(connection: sqlite3.Connection, reached: int, root: bytes) -> None:
    """Store the position of the last entry that the views contain, and its root.

    The rows are written in the same transaction.
    """
    connection.execute("UPDATE progress SET position = ?, root = ?", (reached, root))


def replace_views(built: Path, target: Path) -> None:
    """Make a whole build the views, seen by readers all at once.

    Where there are none yet the file is moved. Where there are, its pages are copied into them in one transaction:
    moving a file under a write-ahead log of another one would corrupt it. Only views that are damaged give way.
    """
    with closing(sqlite.connect(built)) as source:
        copied = target.exists() and _copied(source, target)
        if not copied:
            source.execute("PRAGMA journal_mode=WAL")
    if copied:
        built.unlink()
        return
    # the log of views deleted by hand would be replayed into the new ones
    for stale in ("", "-wal", "-shm"):
        target.with_name(target.name + stale).unlink(missing_ok=True)
    os.replace(built, target)  # noqa: PTH105


def _copied(source: sqlite.FileConnection, target: Path) -> bool:
    """Copy into standing views in one transaction; False where they are too damaged to take it."""
    deadline = time.monotonic() + sqlite.BUSY_SECONDS

    # ``backup`` tries for ever to get the write lock; after a while this ends it. The driver calls it with all three.
    def check(status: int, remaining: int, pages: int) -> None:  # noqa: ARG001
        if status in {sqlite.sqlite3.SQLITE_BUSY, sqlite.sqlite3.SQLITE_LOCKED} and time.monotonic() > deadline:
            raise StorageError(
                str(target), "locked: another process is writing to it; wait for it to end and run the command again"
            )

    try:
        with closing(sqlite.connect(target, remedy=REBUILD)) as destination:
            source.copy_to(destination, progress=check)
            # The copy brings the header of the build with it, which was made in rollback mode.
            destination.execute("PRAGMA journal_mode=WAL")
    except CorruptError:
        return False
    return True
