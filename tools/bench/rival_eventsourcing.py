"""The eventsourcing library at its fastest documented settings. Nothing here prints.

It brings the standard library's SQLite; no file is ever opened by that and by the one that we use. Its files must not
exist yet.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import attrs
import orjson

from .rival_stores import CREATE_HISTORY, INSERT_HISTORY, START, K, Row
from .synthetic import Columns, games

TRANSACTION = 1_000
PROJECTED = 20_000
LIVE = 5_000


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
    taken = min(count, PROJECTED)
    start = perf_counter()
    for event, tracking in itertools.islice(_recorded(application), taken):
        projection.process_event(event, tracking)
    seconds = perf_counter() - start
    assert view.max_tracking_id(application.name) == taken
    view.datastore.close()
    return taken / seconds


def _live(application: Any, view: Any, events: Sequence[Game]) -> float:
    tracking = importlib.import_module("eventsourcing.persistence").Tracking
    projection = _projection(view)
    start = perf_counter()
    for event in events:
        (recording,) = application.events.put([event])
        projection.process_event(recording.domain_event, tracking(application.name, recording.notification.id))
    seconds = perf_counter() - start
    view.datastore.close()
    return len(events) / seconds
