"""Other people's Python packages, each as fast as its public interface allows. Nothing here prints.

* riix 0.0.5 works on arrays: Elo, Glicko, Glicko-2, each after every game of a period in turn (``iterative``) or after
  the period, as published (``batched``).
* elote 1.5 has an object for each player: Elo, Glicko and Glicko-2 after every game, and an ECF of its own.
* elochess 0.5 computes one player's new rating by FIDE's or US Chess's formula; the loop around it is ours.

Left out: skillratings (Rust) has no binding on PyPI; the ``glicko2`` of PyPI (2.1) computes another volatility than the
paper's; openskill has none of these systems. Preparation is not timed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ledger.facts import periods
from ledger.facts.periods import Calendar
from ledger.ratings.engine import Rateable
from ledger.runtime.lazy import np

from .rival_loops import Run, players_of
from .rival_stores import START, K
from .synthetic import Columns

WEEKLY = Calendar(days=7)
ESTABLISHED = 50  # games behind every rating, for formulas that ask


class Riix(NamedTuple):
    """A data set of riix, and the model to be made for it."""

    dataset: Any
    make: Callable[[], Any]

    def run(self) -> Any:
        """Rate all games and return the model."""
        model = self.make()
        model.fit_dataset(self.dataset)
        return model

    def expected(self) -> Any:
        """Return White's expected scores at the beginning of the step in which the game lies."""
        return self.make().fit_dataset(self.dataset, return_pre_match_probs=True)

    def uncapped(self) -> Riix:
        """Return the same without the cap on Glicko-2's RD, which the paper has not: there RD grows on."""

        def make() -> Any:
            model = self.make()
            model.initial_phi = math.inf
            return model

        return self._replace(make=make)


def riix(columns: Columns, system: str, steps: str, **settings: Any) -> Riix:
    """Prepare *system* (``Elo``, ``Glicko``, ``Glicko2``).

    Steps are a ``week``, a ``week with games`` (in a week without any it lets the RD of those grow who have yet to
    come), a ``game``, or ``one`` for all.
    """
    model = getattr(importlib.import_module(f"riix.models.{system.lower()}"), system)
    weeks = periods.numbers(columns["ended_at"], WEEKLY)
    numbers = {
        "week": weeks - weeks[0],
        "week with games": np.unique(weeks, return_inverse=True)[1],
        "game": np.arange(len(weeks)),
        "one": np.zeros(len(weeks)),
    }
    competitors = [f"p{number:06d}" for number in range(players_of(columns))]
    dataset = importlib.import_module("riix.utils").MatchupDataset.init_from_arrays(
        time_steps=numbers[steps].astype(np.int64),
        matchups=np.column_stack([columns["white"], columns["black"]]),
        outcomes=columns["score"],
        competitors=competitors,
    )
    return Riix(dataset, lambda: model(competitors, **settings))


class Elote(NamedTuple):
    """Games as elote takes them: the kind of competitor, and for each game its players, score and settings."""

    make: Callable[[], Any]
    players: int
    games: list[tuple[int, int, float, dict[str, datetime]]]

    def run(self) -> Any:
        """Rate all games and return the competitors by player number."""
        players = [self.make() for _ in range(self.players)]
        for white, black, score, when in self.games:
            _play(players[white], players[black], score, when)
        return players

    def expected(self) -> Any:
        """Return White's expected score before each game."""
        players = [self.make() for _ in range(self.players)]
        expected = np.empty(len(self.games))
        for game, (white, black, score, when) in enumerate(self.games):
            expected[game] = players[white].expected_score(players[black])
            _play(players[white], players[black], score, when)
        return expected


def elote(columns: Columns, system: str) -> Elote:
    """Prepare *system* (``Elo``, ``Glicko``, ``Glicko2``, ``ECF``), by the week where it has periods."""
    module = importlib.import_module("elote")
    kind, settings = getattr(module, f"{system}Competitor"), {"initial_rating": START}
    timed = system.startswith("Glicko")
    if timed:  # a setting of the class, which others of this process must not see
        kind = type(kind.__name__, (kind,), {"_rating_period_days": 7.0})
    if system == "Elo":
        settings["k_factor"] = K
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    white, black, score, ended_at = (columns[name].tolist() for name in ("white", "black", "score", "ended_at"))
    when = [{"match_time": epoch + timedelta(milliseconds=ms)} if timed else {} for ms in ended_at]
    return Elote(lambda: kind(**settings), players_of(columns), list(zip(white, black, score, when, strict=True)))


def _play(white: Any, black: Any, score: float, when: dict[str, datetime]) -> None:
    if score == 1.0:
        white.beat(black, **when)
    elif score == 0.0:
        black.beat(white, **when)
    else:
        white.tied(black, **when)


def elochess_run(games: Rateable, system: str) -> Run:
    """Prepare batches for ``elo`` (FIDE's) or ``uscf``; a run rates each player's games of each batch together.

    Opponents stand as the batch found them. Ratings are whole numbers, and every rating counts as based on 50 games:
    what the package leaves to its user (who is new, floors, yardsticks of the unrated) is not done.
    """
    calculator = getattr(importlib.import_module(f"elochess.{system}"), f"{system.capitalize()}Calculator")
    update, batches = calculator.update_rating, list(_gathered(games))
    settings = {"games_played": ESTABLISHED}
    if system == "elo":
        settings |= {"birth_year": 1980, "evaluation_year": 2020}
    players = 1 + int(max(games.white.max(), games.black.max()))

    def run() -> Any:
        ratings = [int(START)] * players
        for batch in batches:
            new = [
                update(ratings[player], [ratings[opponent] for opponent in opponents], points, **settings)
                for player, opponents, points in batch
            ]
            for (player, _opponents, _points), rating in zip(batch, new, strict=True):
                ratings[player] = rating
        return ratings

    return run


def _gathered(games: Rateable) -> Iterator[list[tuple[int, list[int], float]]]:
    """Each batch as player, opponents and points."""
    white, black, score, starts = (column.tolist() for column in (games.white, games.black, games.score, games.starts))
    for first, last in pairwise(starts):
        opponents: dict[int, list[int]] = {}
        points: dict[int, float] = {}
        for game in range(first, last):
            w, b = white[game], black[game]
            for own, other, scored in ((w, b, score[game]), (b, w, 1.0 - score[game])):
                opponents.setdefault(own, []).append(other)
                points[own] = points.get(own, 0.0) + scored
        yield [(player, met, points[player]) for player, met in opponents.items()]


def python_chess(path: Path, limit: int) -> float:
    """Games per second of ``chess.pgn.read_game``, which checks and makes every move, over up to *limit* games."""
    pgn = importlib.import_module("chess.pgn")
    with path.open(encoding="utf-8") as file:
        count, start = 0, perf_counter()
        while count < limit and pgn.read_game(file) is not None:
            count += 1
        return count / (perf_counter() - start)
