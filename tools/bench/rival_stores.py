"""Other people's ways to keep games and ratings in SQLite, each measured at its best. Nothing here prints.

All of them use the SQLite that sqlite-utils picks (pysqlite3 where it is installed, as we do), except
eventsourcing, which brings the standard library's; no file is ever opened by both. Target files must not
exist yet.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, TextIO

import attrs
import orjson

from ledger.runtime.lazy import sqlite_utils

from .synthetic import RESULTS, Columns, games

CHUNK = 50_000
READ_CHUNK = 200_000
TRANSACTION = 1_000
PROJECTED = 20_000
LIVE = 5_000

K = 32.0
START = 1500.0
SCORES = {word: score for score, word in RESULTS.items()}
HEADERS = (("key", "white", "black", "result"), ("game_no", "white_fide_id", "black_fide_id", "result"))

HISTORY = ("player", "n", "game", "opponent", "score", "rating")
CREATE_HISTORY = (
    "CREATE TABLE history(player TEXT, n INTEGER, game TEXT, opponent TEXT, score REAL, rating REAL,"
    " PRIMARY KEY(player, n)) WITHOUT ROWID"
)
INSERT_HISTORY = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)"

Row = tuple[Any, ...]
Script = Callable[[Path, Path], float]


# The script that a developer would write.


def dict_loop_executemany(csv_path: Path, db_path: Path, *, pragmas: Sequence[str] = ()) -> float:
    """Seconds of the honest simple script: ``csv.reader``, a dictionary, ``executemany``, one commit.

    Two history rows a game, 50,000 rows a call, into one clustered table; every game with a result is rated,
    with K = 32. It keeps no journal, so it can prove, correct and explain nothing. The settings of SQLite are
    its defaults, as such a script leaves them (delete journal, ``synchronous=FULL``, 2 MB of cache);
    ``pragmas`` such as ``cache_size=-256000`` (a third less time on the over-the-board set) give it more.
    """
    start = perf_counter()
    with closing(driver().connect(str(db_path))) as connection, _open_text(csv_path) as file:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(CREATE_HISTORY)
        rows = _history(file)
        while chunk := list(itertools.islice(rows, CHUNK)):
            connection.executemany(INSERT_HISTORY, chunk)
        connection.commit()
    return perf_counter() - start


def dict_loop_sqlite_utils(csv_path: Path, db_path: Path, *, pragmas: Sequence[str] = ()) -> float:
    """Seconds of the same script with sqlite-utils' ``insert_all``, all else alike.

    Its faster ways: all in one ``atomic()`` (four times as fast as a commit for each batch, which it makes of
    166 rows, whatever it is asked for), and tuples after a line of column names instead of dictionaries. The
    table is made by SQL, because sqlite-utils makes none WITHOUT ROWID.
    """
    start = perf_counter()
    database = sqlite_utils.Database(db_path)
    with closing(database.conn), _open_text(csv_path) as file:
        for pragma in pragmas:
            database.execute(f"PRAGMA {pragma}")
        database.execute(CREATE_HISTORY)
        with database.atomic():
            database.table("history").insert_all(itertools.chain([HISTORY], _history(file)), batch_size=CHUNK)
    return perf_counter() - start


def _history(file: TextIO) -> Iterator[Row]:
    reader = csv.reader(file)
    header = next(reader)
    names = next(names for names in HEADERS if set(names) <= set(header))
    key, white, black, result = map(header.index, names)
    ratings: dict[str, float] = {}
    counts: dict[str, int] = {}
    for line in reader:
        score = SCORES.get(line[result])
        if score is None:
            continue
        w, b = line[white], line[black]
        rating_w, rating_b = ratings.get(w, START), ratings.get(b, START)
        change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
        ratings[w] = rating_w = rating_w + change
        ratings[b] = rating_b = rating_b - change
        counts[w] = n_w = counts.get(w, 0) + 1
        counts[b] = n_b = counts.get(b, 0) + 1
        yield w, n_w, line[key], b, score, rating_w
        yield b, n_b, line[key], w, 1.0 - score, rating_b


def _open_text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


# Bounds: what the driver and the disk allow.


def rewrite_tables(
    source_db: Path, target_db: Path, *, journal_mode: str = "WAL", synchronous: str = "NORMAL"
) -> float:
    """Seconds to write the same tables again with bare ``executemany``: the least that our rows can cost.

    Rows are read in table order, 200,000 at a time, without being timed; timed are the tables' creation, the
    inserts with a commit for each chunk, and the indexes, made at the end as is fastest. Views, triggers,
    virtual tables and SQLite's own tables are left out. The target gets the source's page size.
    """
    connect = driver().connect
    with (
        closing(connect(str(source_db))) as source,
        closing(connect(str(target_db), isolation_level=None)) as target,
    ):
        target.execute(f"PRAGMA page_size = {source.execute('PRAGMA page_size').fetchone()[0]}")
        target.execute(f"PRAGMA journal_mode = {journal_mode}")
        target.execute(f"PRAGMA synchronous = {synchronous}")
        tables, indexes = _schema(source, "table"), _schema(source, "index")
        seconds = _timed(lambda: [target.execute(sql) for sql in tables.values()])
        for table in tables:
            seconds += _rewrite(source, target, table)
        return seconds + _timed(lambda: [target.execute(sql) for sql in indexes.values()])


def bare_executemany(connection: Any, rows_by_table: Mapping[str, tuple[str, Iterable[Row]]]) -> float:
    """Seconds of one transaction with one ``executemany`` for each table, given its INSERT and its rows."""

    def write() -> None:
        connection.execute("BEGIN IMMEDIATE")
        for insert, rows in rows_by_table.values():
            connection.executemany(insert, rows)
        connection.execute("COMMIT")

    return _timed(write)


def durable_commits(path: Path, count: int, body_size: int = 300) -> float:
    """Commits per second of one row each: WAL, ``synchronous=FULL``, each on the disk before the next.

    The row is a position and a random body, and the statement is its own transaction.
    """
    bodies = [os.urandom(body_size) for _ in range(count)]
    with closing(driver().connect(str(path), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE journal(position INTEGER PRIMARY KEY, body BLOB)")
        start = perf_counter()
        for body in bodies:
            connection.execute("INSERT INTO journal(body) VALUES (?)", (body,))
        return count / (perf_counter() - start)


def _schema(connection: Any, kind: str) -> dict[str, str]:
    """Names and statements of what a schema holds, but for SQLite's own and virtual tables' shadows."""
    shadows = {name for _, name, sort, *_ in connection.execute("PRAGMA table_list") if sort != "table"}
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = ? AND sql NOT NULL", (kind,))
    return {name: sql for name, sql in found if not name.startswith("sqlite_") and name not in shadows}


def _rewrite(source: Any, target: Any, table: str) -> float:
    info = source.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    columns = [f'"{name}"' for _, name, _, _, _, _, hidden in info if not hidden]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    insert = f'INSERT INTO "{table}" ({names}) VALUES ({marks})'
    cursor = source.execute(f'SELECT {names} FROM "{table}"')
    seconds = 0.0
    while rows := cursor.fetchmany(READ_CHUNK):
        seconds += bare_executemany(target, {table: (insert, rows)})
    return seconds


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def driver() -> Any:
    """The SQLite module that sqlite-utils picks, from its ``utils``, where mypy takes it for private."""
    return importlib.import_module("sqlite_utils.utils").sqlite3


# The event-sourcing library.


@attrs.frozen(slots=False)
class Game:
    """A game as an event of the eventsourcing library: the two fields its protocol demands, then the facts.

    Only types that JSON has. The class has a short topic of its own, and no timestamp, which the library's
    base classes would add.
    """

    TOPIC: ClassVar[str] = "game"

    originator_id: str
    originator_version: int
    key: str
    white: int
    black: int
    outcome: str
    ended_at: int
    half_moves: int


class OrjsonTranscoder:
    """The library's transcoder on orjson, as an extension package of its own does it, not on ``json``."""

    def encode(self, obj: Any) -> bytes:
        """Write an event's state as JSON."""
        return orjson.dumps(obj)

    def decode(self, data: bytes) -> Any:
        """Read an event's state from JSON."""
        return orjson.loads(data)


@attrs.define
class _Ratings:
    """Elo with its state in memory, and the two history rows of each game."""

    ratings: dict[int, float] = attrs.Factory(dict)
    counts: dict[int, int] = attrs.Factory(dict)

    def rate(self, game: Game) -> tuple[Row, Row]:
        score = _OUTCOMES[game.outcome]
        w, b = game.white, game.black
        rating_w, rating_b = self.ratings.get(w, START), self.ratings.get(b, START)
        change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
        self.ratings[w] = rating_w = rating_w + change
        self.ratings[b] = rating_b = rating_b - change
        self.counts[w] = n_w = self.counts.get(w, 0) + 1
        self.counts[b] = n_b = self.counts.get(b, 0) + 1
        return (w, n_w, game.key, b, score, rating_w), (b, n_b, game.key, w, 1.0 - score, rating_b)


_OUTCOMES = {"white": 1.0, "draw": 0.5, "black": 0.0}
_WORDS = {score: word for word, score in _OUTCOMES.items()}


def eventsourcing_figures(directory: Path, count: int) -> dict[str, float]:
    """Events per second of eventsourcing 9.5 on SQLite files, at its fastest documented settings.

    Chosen: an application with text ids (``ORIGINATOR_ID_TYPE``), an orjson transcoder
    (``TRANSCODER_TOPIC``), no compression, no cipher, all games as one sequence, as in its
    ``EventSourcedLog``. The library opens its files in WAL mode and leaves ``synchronous`` at SQLite's
    default, FULL.

    * ``appends``: ``count`` events through ``EventStore.put``, 1,000 a transaction (half the time of
      ``Application.save``, which calls it after checking the events one by one);
    * ``projected``: up to 20,000 recorded events, each by itself through ``Projection.process_event`` into
      two rows of a history table and the tracking record, in one transaction on a file of its own. Its
      ``ProjectionRunner`` subscribes to the recorder, which SQLite's refuses, so the loop here does what the
      runner's thread does: select from the notification log, map, process. Ratings are kept in memory;
    * ``projected_normal``: the same with ``synchronous=NORMAL``, for which the library has no setting;
    * ``live``: up to 5,000 new events one by one, each recorded (one durable commit) and then projected
      (another), as its ``NewSingleThreadedRunner`` hands a recording to a follower, without reading it again;
    * ``replayed``: all recorded events through ``LocalNotificationLog.select``, 1,000 at a time, and the
      mapper, rated into a dictionary.
    """
    columns = games(count + min(count, LIVE), max(2, count // 20), 1)
    events = _events(columns)
    application = importlib.import_module("eventsourcing.application").Application(
        _environment(directory / "eventsourcing.db")
    )
    views = {name: _view(directory / f"projection-{name}.db") for name in ("full", "live")}
    views["normal"] = _view(directory / "projection-normal.db", synchronous="NORMAL")
    with application:
        return {
            "appends": _appended(application, events[:count]),
            "replayed": _replayed(application, count),
            "projected": _projected(application, views["full"], count),
            "projected_normal": _projected(application, views["normal"], count),
            "live": _live(application, views["live"], events[count:]),
        }


def _environment(path: Path) -> dict[str, str]:
    return {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": str(path),
        "ORIGINATOR_ID_TYPE": "text",
        "TRANSCODER_TOPIC": f"{__name__}:{OrjsonTranscoder.__name__}",
    }


def _events(columns: Columns) -> list[Game]:
    names = ("white", "black", "score", "ended_at", "half_moves")
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    return [
        Game("games", number, f"g{number:08d}", white, black, _WORDS[score], ended_at, half_moves)
        for number, (white, black, score, ended_at, half_moves) in enumerate(rows, start=1)
    ]


def _appended(application: Any, events: Sequence[Game]) -> float:
    start = perf_counter()
    for first in range(0, len(events), TRANSACTION):
        application.events.put(events[first : first + TRANSACTION])
    return len(events) / (perf_counter() - start)


def _replayed(application: Any, count: int) -> float:
    start = perf_counter()
    ratings = _Ratings()
    for event, _ in _recorded(application):
        ratings.rate(event)
    seconds = perf_counter() - start
    assert sum(ratings.counts.values()) == 2 * count
    return count / seconds


def _recorded(application: Any) -> Iterator[tuple[Game, Any]]:
    """Walk the notification log in sections of 1,000: each event with its tracking object."""
    tracking = importlib.import_module("eventsourcing.persistence").Tracking
    log_type = importlib.import_module("eventsourcing.application").LocalNotificationLog
    log = log_type(application.recorder, section_size=TRANSACTION)
    to_event, name, last = application.mapper.to_domain_event, application.name, 0
    while section := log.select(last, TRANSACTION, inclusive_of_start=False):
        for notification in section:
            yield to_event(notification), tracking(name, notification.id)
        last = section[-1].id


def _view(path: Path, *, synchronous: str = "FULL") -> Any:
    """Make the library's tracking recorder on a file of its own, with the history table beside it."""
    persistence = importlib.import_module("eventsourcing.persistence")
    environment = importlib.import_module("eventsourcing.utils").Environment("Ratings", _environment(path))
    recorder = persistence.InfrastructureFactory.construct(environment).tracking_recorder()
    with recorder.datastore.get_connection(commit=False) as connection:
        connection.cursor().execute(f"PRAGMA synchronous = {synchronous}")
    with recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute(CREATE_HISTORY)
    return recorder


def _projection(view: Any) -> Any:
    """Make a projection that rates a game and writes its rows and its tracking in one transaction.

    The class is made when asked for, as its base is only there where the library is installed.
    """
    ratings = _Ratings()

    def process_event(projection: Any, event: Game, tracking: Any) -> None:
        recorder = projection.view
        rows = ratings.rate(event)
        with recorder.datastore.transaction(commit=True) as cursor:
            cursor.executemany(INSERT_HISTORY, rows)
            recorder._insert_tracking(cursor, tracking)

    base = importlib.import_module("eventsourcing.projection").Projection
    return type("Ratings", (base,), {"process_event": process_event})(view)


def _projected(application: Any, view: Any, count: int) -> float:
    projection = _projection(view)
    some = min(count, PROJECTED)
    start = perf_counter()
    for event, tracking in itertools.islice(_recorded(application), some):
        projection.process_event(event, tracking)
    seconds = perf_counter() - start
    assert view.max_tracking_id(application.name) == some
    view.datastore.close()
    return some / seconds


def _live(application: Any, view: Any, events: Sequence[Game]) -> float:
    tracking = importlib.import_module("eventsourcing.persistence").Tracking
    projection = _projection(view)
    start = perf_counter()
    for event in events:
        (recording,) = application.events.put([event])
        projection.process_event(
            recording.domain_event, tracking(application.name, recording.notification.id)
        )
    seconds = perf_counter() - start
    view.datastore.close()
    return len(events) / seconds
