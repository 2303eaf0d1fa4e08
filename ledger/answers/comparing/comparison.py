"""The comparison of rating schemes: a pool's games under each of them, in memory, from the beginning.

Every scheme is measured by predictions of the same games; ``forecasts`` defines the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import attrs

from ledger.answers.asking import day, names
from ledger.answers.comparing import forecasts, replaying
from ledger.answers.comparing.forecasts import Bin
from ledger.answers.comparing.replaying import Candidate, ReplayResult, Year, candidate, pool_candidate
from ledger.book.timeline import BEGINNING
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS, OPEN
from ledger.handle import OpenLedger
from ledger.runtime.lazy import np
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage

__all__ = ["Candidate", "Comparison", "candidate", "compare", "pool_candidate"]

ACTIVE_WITHIN_MS = 365 * DAY_MS  # before the last game: a player with a game since then is active
THREADS = 2
FIT_FROM = 50  # games before White's advantage is fitted to them: by fewer, the points would be chance


@attrs.frozen(slots=False)
class SchemeFigures:
    """The prediction errors of one rating scheme in a comparison, and the spread of its ratings."""

    scheme: str = documented("its name")
    title: str = documented("the same for people")
    rates: str = documented("how many games it rates together")
    settings: dict[str, int | bool | str] = documented("those that differ from its defaults: chosen, or the pool's own")
    games: int = documented("predictions that counted", minimum=0)
    log_loss: float = documented("mean logarithmic error of the expected scores")
    brier: float = documented("mean square of the expected score's error")
    bias: float = documented("by how much too well White was expected to score, on the mean")
    players: int = documented("active players whom it lists at the end", minimum=0)
    mean: float | None = documented("mean of their ratings, points; null: there is nobody")
    spread: float | None = documented("standard deviation of these, points")
    seconds: float = documented("what the replay took, seconds")
    calibration: tuple[Bin, ...] = documented("games by tenths of the expected score")
    years: tuple[Year, ...] = documented("ratings by year with games")
    white_advantage: float | None = documented(
        "White's advantage with which it predicts the earlier games best, Elo points; null: there are too few games"
    )
    log_loss_without_advantage: float | None = documented("log-loss over the later games if White has no advantage")
    log_loss_with_advantage: float | None = documented("the same if White has that advantage")


@attrs.frozen(slots=False)
class Likeness:
    """The similarity of two rating schemes: the rank correlation of their final ratings."""

    one: str = documented("the one scheme")
    other: str = documented("the other one")
    players: int = documented("players with enough games whom both list", minimum=0)
    correlation: float | None = documented("Spearman's rank correlation of their final ratings; null: undefined")


@attrs.frozen(slots=False)
class Mover:
    """A player whose rank changes between two rating schemes, with both ranks and ratings."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    games: int = documented("rated games", minimum=0)
    place: int = documented("place under the first scheme, from 1", minimum=1)
    rating: float = documented("rating under it, points")
    new_place: int = documented("place under the other one", minimum=1)
    new_rating: float = documented("rating under it, points")
    gain: int = documented("places won by the switch; below zero: lost")


@attrs.frozen(slots=False)
class Switch:
    """The players whose ranks change most if a pool switches to another rating scheme."""

    scheme: str = documented("the scheme that is left")
    to: str = documented("the scheme that comes")
    players: int = documented("how many players are compared", minimum=0)
    winners: tuple[Mover, ...] = documented("who wins most places")
    losers: tuple[Mover, ...] = documented("who loses most places")


@attrs.frozen(slots=False)
class Comparison:
    """The comparison of several rating schemes over the same games of a pool."""

    pool: str = documented("name of the pool")
    first_game: str = documented("day of the first game replayed")
    last_game: str = documented("day of the last one")
    replayed: int = documented("games replayed", minimum=0)
    in_window: int = documented("those whose predictions were asked for", minimum=0)
    unsettled: int = documented("those of them in which some scheme calls a side provisional", minimum=0)
    established: bool = documented("whether these were left out")
    min_games: int = documented("games that a player must have for correlations and places", minimum=0)
    fitted_games: int = documented("earlier games to which White's advantage was fitted", minimum=0)
    later_games: int = documented("later games over which its log-loss was taken", minimum=0)
    even: float = documented("log-loss of someone who expects an even score in every game")
    schemes: tuple[SchemeFigures, ...] = documented("the figures, in the order asked for")
    likeness: tuple[Likeness, ...] = documented("every two schemes")
    switches: tuple[Switch, ...] = documented("from the first scheme to each other one")


def compare(
    ledger: OpenLedger,
    candidates: Sequence[Candidate],
    pool: str | None = None,
    *,
    timer: Callable[[], float],
    since: str | None = None,
    until: str | None = None,
    established: bool = False,
    min_games: int = 30,
    movers: int = 10,
    threads: int = THREADS,
    from_shown: bool = False,
) -> Comparison:
    """Compare rating schemes: replay a pool's games under each, and measure its predictions.

    Args:
        ledger: a ledger whose views are up to date.
        candidates: the schemes, each with a name of its own.
        pool: name of the pool; the first one by default.
        timer: returns seconds; called before and after each replay by the thread that runs it.
        since: predictions count from this instant on; games before it are replayed, too.
        until: games that ended later are left out.
        established: whether to leave out every prediction for which a scheme calls a side provisional.
        min_games: games that a player must have for correlations and places.
        movers: the number of winners and losers of each switch.
        threads: how many schemes are replayed at the same time; the figures do not depend on it.
        from_shown: whether a player without a declared rating begins with the one that the source shows with the first
            game.

    Raises:
        UnknownNameError: there is no pool of that name, or no game to predict.
    """
    # the replays take long: they work on what was read, and the log of the views does not grow
    with ledger.read_snapshot():
        actual, connection = ledger.pool(pool), ledger.views.connection
        games = replaying.load_games(connection, actual.pool, OPEN if until is None else instant_end_ms(until))
        window = _window(games, actual.name, since, until)
        orders = replaying.order_games(connection, actual, games, candidates, from_shown=from_shown)
    replayed = replaying.replay_schemes(candidates, orders, timer, threads)
    unsettled = window & np.logical_or.reduce([result.unsettled for result in replayed])
    predicted = window & ~unsettled if established else window
    if not predicted.any():
        raise UnknownNameError("game of the established", actual.name, "in each, some scheme calls a side provisional")
    earlier, later = _parts(predicted, window, unsettled if established else np.zeros_like(window))
    score, played = games.score, replaying.games_per_player(games)
    active = replaying.last_game_ms(games) >= games.ended_ms[-1] - ACTIVE_WITHIN_MS
    pairs = list(zip(candidates, replayed, strict=True))
    likeness = []
    for (first, of_first), (second, of_second) in combinations(pairs, 2):
        both = (played >= min_games) & ~np.isnan(of_first.final) & ~np.isnan(of_second.final)
        correlation = forecasts.spearman(of_first.final[both], of_second.final[both])
        likeness.append(Likeness(first.scheme.name, second.scheme.name, int(both.sum()), correlation))
    return Comparison(
        pool=actual.name,
        first_game=day(int(games.ended_ms[0])),
        last_game=day(int(games.ended_ms[-1])),
        replayed=len(games.white),
        in_window=int(window.sum()),
        unsettled=int(unsettled.sum()),
        established=established,
        min_games=min_games,
        fitted_games=int(earlier.sum()),
        later_games=int(later.sum()),
        even=forecasts.log_loss(np.full(int(predicted.sum()), 0.5), score[predicted]),
        schemes=tuple(_figures(*pair, (predicted, earlier, later), score, active) for pair in pairs),
        likeness=tuple(likeness),
        switches=tuple(_switches(ledger, pairs, games.players, played, active & (played >= min_games), movers)),
    )


def _window(games: replaying.ComparedGames, pool: str, since: str | None, until: str | None) -> Any:
    """Mark the games whose predictions are requested; refuse if there are none."""
    window = games.ended_ms >= (BEGINNING if since is None else instant_ms(since))
    if not window.any():
        words = [f"{word} {instant}" for word, instant in (("from", since), ("to", until)) if instant]
        raise UnknownNameError("rated game", " ".join(words) or "at all", f"asked for in pool {pool!r}")
    return window


def _parts(predicted: Any, window: Any, left_out: Any) -> tuple[Any, Any]:
    """Mark the earlier games, to which White's advantage is fitted, and the later ones; too few: mark none.

    The earlier games are those before the window; if it begins with the first game, the earlier half of it.
    """
    earlier, later = ~window & ~left_out, predicted
    if window.all():
        earlier = predicted & (np.cumsum(predicted) <= predicted.sum() // 2)
        later = predicted & ~earlier
    if earlier.sum() < FIT_FROM:
        return np.zeros_like(predicted), np.zeros_like(predicted)
    return earlier, later


def _figures(
    candidate: Candidate, result: ReplayResult, parts: tuple[Any, Any, Any], all_scores: Any, active: Any
) -> SchemeFigures:
    predicted, earlier, later = parts
    scheme, score = candidate.scheme, all_scores[predicted]
    expected = with_advantage(result.expected[predicted], advantage_in(candidate.settings))
    points, without, with_points = None, None, None
    if earlier.any():
        points = forecasts.fit_white_advantage(result.expected[earlier], all_scores[earlier])
        without = forecasts.log_loss(result.expected[later], all_scores[later])
        with_points = forecasts.log_loss(with_advantage(result.expected[later], points), all_scores[later])
    return SchemeFigures(
        scheme.name,
        scheme.title,
        f"by {scheme.rhythm.value}",
        dict(candidate.settings),
        len(score),
        forecasts.log_loss(expected, score),
        forecasts.brier(expected, score),
        forecasts.bias(expected, score),
        *replaying.describe_ratings(result.final[active]),
        result.seconds,
        forecasts.calibration(expected, score),
        result.years,
        points,
        without,
        with_points,
    )


def _switches(
    ledger: OpenLedger,
    pairs: Sequence[tuple[Candidate, ReplayResult]],
    players: Any,
    played: Any,
    regular: Any,
    movers: int,
) -> Iterator[Switch]:
    """Yield the switch from the first scheme to each other one, among the regular players whom both list."""
    (old, before), *others = pairs
    for new, after in others:
        who = np.flatnonzero(regular & ~np.isnan(before.final) & ~np.isnan(after.final))
        ratings, new_ratings = before.final[who], after.final[who]
        places, new_places = forecasts.rank_places(ratings), forecasts.rank_places(new_ratings)
        gain = places - new_places
        # NumPy sorts by the last key first: by gain, and equals by player.
        best = [index for index in np.lexsort((who, -gain))[:movers].tolist() if gain[index] > 0]
        worst = [index for index in np.lexsort((who, gain))[:movers].tolist() if gain[index] < 0]
        called = names(ledger, {int(players[who[index]]) for index in (*best, *worst)})
        columns = (players[who], played[who], places, ratings, new_places, new_ratings, gain)
        mover_at = {
            index: Mover(int(player), called[int(player)], *rest)
            for index in (*best, *worst)
            for player, *rest in [[column[index].item() for column in columns]]
        }
        winners, losers = (tuple(mover_at[index] for index in indices) for indices in (best, worst))
        yield Switch(old.scheme.name, new.scheme.name, len(who), winners, losers)
