"""The eventsourcing library on SQLite files: as its documentation begins, and at its fastest. Nothing here prints.

It brings the standard library's SQLite; no file is ever opened by that and by the one that we use. Files must not exist
yet.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import attrs
import orjson

from ledger.runtime.lazy import np

from .datasets import PROJECTED_BEFORE, WORKS, make_games, projected_of
from .measuring import FREE, Figure, cost_of
from .rival_stores import INSERT_HISTORY, START, K, Row

TRANSACTION = 1_000
_OUTCOMES = {"white": 1.0, "draw": 0.5, "black": 0.0}


# As documented: an aggregate with decorated events, UUIDs, the library's JSON transcoder.


def documented_figures(count: int, folder: Path) -> dict[str, Figure]:
    """Events per second: ``appends`` and ``saves``, 1,000 at a time, and ``replayed``, by ``repository.get``.

    The aggregate rates each game as its events are applied, as the README's ``Dog`` learns tricks. In ``appends``
    both making the events and saving them is measured, in ``saves`` the saving alone.
    """
    white, black = np.random.default_rng(4).integers(0, 200, (2, count)).tolist()
    environment = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(folder / "documented.db")}
    with patch.dict(os.environ, environment):
        application = importlib.import_module("eventsourcing.application").Application()
    club, made, saved = _club_class()(), FREE, FREE

    def record(numbers: range) -> None:
        for number in numbers:
            club.record(f"g{number}", white[number], black[number], 0.5, 1_262_304_000 + number, 40)

    with application:
        for first in range(0, count, TRANSACTION):
            made = made.plus(cost_of(partial(record, range(first, min(first + TRANSACTION, count)))))
            saved = saved.plus(cost_of(partial(application.save, club)))
        replayed = cost_of(partial(application.repository.get, club.id))
    costs = {"appends": made.plus(saved), "saves": saved, "replayed": replayed}
    return {name: cost.rates(count) for name, cost in costs.items()}


@cache
def _club_class() -> type[Any]:
    domain = importlib.import_module("eventsourcing.domain")

    class Club(domain.Aggregate):  # type: ignore[misc, name-defined]
        @domain.event("Founded")  # type: ignore[untyped-decorator]
        def __init__(self) -> None:
            self.ratings: dict[int, float] = {}

        @domain.event("GameRecorded")  # type: ignore[untyped-decorator]
        def record(self, key: str, white: int, black: int, score: float, ended_at: int, half_moves: int) -> None:  # noqa: ARG002
            ratings = self.ratings
            rating_w, rating_b = ratings.get(white, START), ratings.get(black, START)
            change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
            ratings[white], ratings[black] = rating_w + change, rating_b - change

    made: type[Any] = Club
    return made


# At its fastest documented settings.


@attrs.frozen(slots=False)
class Game:
    """A game as an event of the library: the two fields its protocol demands, then the facts, all of types of JSON.

    The class has a short topic of its own, and no timestamp, which the library's base classes would add.
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

    encode = staticmethod(orjson.dumps)
    decode = staticmethod(orjson.loads)


class Ratings:
    """Elo with its state in memory."""

    def __init__(self) -> None:
        """Begin without players."""
        self.ratings: dict[int, float] = {}
        self.counts: dict[int, int] = {}

    def rate(self, game: Game) -> tuple[Row, Row]:
        """Rate a game and return its two rows of history."""
        score, w, b = _OUTCOMES[game.outcome], game.white, game.black
        rating_w, rating_b = self.ratings.get(w, START), self.ratings.get(b, START)
        change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
        self.ratings[w] = rating_w = rating_w + change
        self.ratings[b] = rating_b = rating_b - change
        self.counts[w] = n_w = self.counts.get(w, 0) + 1
        self.counts[b] = n_b = self.counts.get(b, 0) + 1
        return (w, n_w, game.key, b, score, rating_w), (b, n_b, game.key, w, 1.0 - score, rating_b)


def fastest_figures(count: int, folder: Path) -> dict[str, float]:
    """Events per second of eventsourcing 9.5.

    Chosen: an application with text ids (``ORIGINATOR_ID_TYPE``), an orjson transcoder (``TRANSCODER_TOPIC``), no
    compression, no cipher, all games as one sequence, as in its ``EventSourcedLog``. The library opens its files in WAL
    mode and leaves ``synchronous`` at SQLite's default, FULL.

    * ``appends``: ``count`` events through ``EventStore.put``, 1,000 a transaction (half the time of
      ``Application.save``, which calls it after checking the events one by one);
    * ``replayed``: all recorded events through ``LocalNotificationLog.select``, 1,000 at a time, and the mapper, rated
      into a dictionary;
    * ``projected``: recorded events, each by itself through ``Projection.process_event`` into two rows of a history
      table and the tracking record, in one transaction on a file of its own, after as many unmeasured ones as ours. Its
      ``ProjectionRunner`` subscribes to the recorder, which SQLite's refuses, so the loop here does what the runner's
      thread does: select from the notification log, map, process. Ratings are kept in memory;
    * ``projected_normal``: the same with ``synchronous=NORMAL``, for which the library has no setting.
    """
    columns, words = make_games(count, max(2, count // 20), 1), {score: word for word, score in _OUTCOMES.items()}
    rows = zip(*(columns[name].tolist() for name in ("white", "black", "score", "ended_at", "half_moves")), strict=True)
    events = [
        Game("games", number, f"g{number:08d}", white, black, words[score], ended_at, half_moves)
        for number, (white, black, score, ended_at, half_moves) in enumerate(rows, start=1)
    ]
    settings = _settings(folder / "eventsourcing.db")
    with importlib.import_module("eventsourcing.application").Application(settings) as application:

        def put() -> None:
            for first in range(0, count, TRANSACTION):
                application.events.put(events[first : first + TRANSACTION])

        def replay() -> None:
            ratings = Ratings()
            for event, _ in _recorded(application):
                ratings.rate(event)
            assert sum(ratings.counts.values()) == 2 * count

        figures = {"appends": count / cost_of(put).clock, "replayed": count / cost_of(replay).clock}
        for name, synchronous in (("projected", "FULL"), ("projected_normal", "NORMAL")):
            figures[name] = _projected(application, folder / f"{name}.db", synchronous, projected_of(count))
    return figures


def _settings(path: Path) -> Mapping[str, str]:
    transcoder = f"{__name__}:{OrjsonTranscoder.__name__}"
    settings = {"SQLITE_DBNAME": str(path), "ORIGINATOR_ID_TYPE": "text", "TRANSCODER_TOPIC": transcoder}
    return {"PERSISTENCE_MODULE": "eventsourcing.sqlite", **settings}


def _recorded(application: Any) -> Iterator[tuple[Game, Any]]:
    """Yield the events of the notification log, read in sections of 1,000, each with its tracking object."""
    tracking = importlib.import_module("eventsourcing.persistence").Tracking
    log_type = importlib.import_module("eventsourcing.application").LocalNotificationLog
    log = log_type(application.recorder, section_size=TRANSACTION)
    to_event, name, last = application.mapper.to_domain_event, application.name, 0
    while section := log.select(last, TRANSACTION, inclusive_of_start=False):
        for notification in section:
            yield to_event(notification), tracking(name, notification.id)
        last = section[-1].id


def _projected(application: Any, path: Path, synchronous: str, count: int) -> float:
    persistence = importlib.import_module("eventsourcing.persistence")
    environment = importlib.import_module("eventsourcing.utils").Environment("Ratings", _settings(path))
    view = persistence.InfrastructureFactory.construct(environment).tracking_recorder()
    with view.datastore.get_connection(commit=False) as connection:
        connection.cursor().execute(f"PRAGMA synchronous = {synchronous}")
    with view.datastore.transaction(commit=True) as cursor:
        cursor.execute(WORKS["statements"]["history"])
    ratings = Ratings()

    def process_event(projection: Any, event: Game, tracking: Any) -> None:
        rows = ratings.rate(event)
        with projection.view.datastore.transaction(commit=True) as cursor:
            cursor.executemany(INSERT_HISTORY, rows)
            projection.view._insert_tracking(cursor, tracking)

    # The class is made here, as its base is only there where the library is installed.
    base = importlib.import_module("eventsourcing.projection").Projection
    projection, recorded = type("Ratings", (base,), {"process_event": process_event})(view), _recorded(application)

    def project(events: int) -> None:
        for event, tracking in itertools.islice(recorded, events):
            projection.process_event(event, tracking)

    project(PROJECTED_BEFORE)
    cost = cost_of(partial(project, count))
    assert view.max_tracking_id(application.name) == PROJECTED_BEFORE + count
    view.datastore.close()
    return count / cost.clock
