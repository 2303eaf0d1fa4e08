"""Opponent statistics: a player's results, and both sides' ratings, in batches of 50 games, by colour, by strength.

The FAQ of ChessWorld: "two blocks showing respectively My Stats (Max, Min, Avg, SD) and Opponent Stats (Max, Min, Avg,
SD). Within each block games are grouped in batches of 50". Ratings are those after each game, as the graph shows them;
the standard deviation is that of the population of these games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, fsum, sqrt
from typing import Literal, NamedTuple

import attrs

from ledger.answers.asking import RESULT, display_name, in_one_snapshot, names
from ledger.answers.graphs.graph_data import GAMES_PER_PAGE
from ledger.answers.rankings import has_classes, rating_class
from ledger.answers.read_models import count_rated_games, game_row
from ledger.book.policies import CLASSES, stored_policies
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries

# By how many points the opponent's rating was higher than the player's: the lower ends of the bands, and their names.
_BANDS = (
    (200.0, "200 or more above"),
    (100.0, "100 to 199 above"),
    (0.0, "0 to 99 above"),
    (-100.0, "1 to 100 below"),
    (-200.0, "101 to 200 below"),
    (float("-inf"), "more than 200 below"),
)
UNKNOWN = "unknown"


class _RatedGame(NamedTuple):
    """A rated game of a player: its number and position, result in half-points, both ratings after it, points."""

    n: int
    game: int
    colour: int
    half_points: int
    opponent: int
    rating: float | None
    opponent_rating: float | None


@attrs.frozen(kw_only=True, slots=False)
class ResultCounts:
    """The numbers of wins, draws and losses in a group of games of a player, and the points."""

    played: int = documented("how many games", minimum=0)
    wins: int = documented("games won", minimum=0)
    draws: int = documented("games drawn", minimum=0)
    losses: int = documented("games lost", minimum=0)
    points: float = documented("game points", minimum=0)
    percent: float | None = documented("the share of points, per cent; null: there is no game")


@attrs.frozen(kw_only=True, slots=False)
class RatingStatistics:
    """The results in a group of games, with maximum, minimum, mean and deviation of both sides' ratings after them."""

    results: ResultCounts = flattened()
    max: float | None = documented("the player's highest rating after one of the games, points; null: none to show")
    min: float | None = documented("the lowest, points")
    mean: float | None = documented("the mean, points")
    sd: float | None = documented("the standard deviation, of the population of these games, points")
    opponent_max: float | None = documented("the opponents' highest rating after one of the games, points")
    opponent_min: float | None = documented("the lowest, points")
    opponent_mean: float | None = documented("the mean, points")
    opponent_sd: float | None = documented("the standard deviation, points")


@attrs.frozen(kw_only=True, slots=False)
class OpponentBatch:
    """The statistics of a batch of 50 games of a player, counted from the newest."""

    page: int | None = documented("page of the rating graph that shows it; null: *at* counts otherwise", minimum=1)
    first_n: int = documented("number of its first game among the player's rated ones in the pool", minimum=1)
    last_n: int = documented("number of its last game", minimum=1)
    first_ended_at: str = documented("when the first game ended, as precisely as it is known")
    last_ended_at: str = documented("when the last game ended")
    numbers: RatingStatistics = flattened()


@attrs.frozen(kw_only=True, slots=False)
class ColourStatistics:
    """The statistics of a player's games with one colour, or with both."""

    colour: Literal["white", "black", "both"] = documented("the player's colour")
    numbers: RatingStatistics = flattened()


@attrs.frozen(kw_only=True, slots=False)
class StrengthStatistics:
    """The statistics of a player's games against opponents of one strength."""

    group: Literal["difference", "class"] = documented("by the difference in rating, or by the classes of the policy")
    opponents: str = documented("which opponents; unknown: a rating is missing")
    numbers: RatingStatistics = flattened()


@attrs.frozen(kw_only=True, slots=False)
class GameAgainst:
    """A game of a player against a given opponent, with both ratings after it."""

    n: int = documented("the player's n-th rated game in the pool", minimum=1)
    game: str = documented("key of the game")
    ended_at: str = documented("when it ended, as precisely as it is known")
    colour: Literal["white", "black"] = documented("the player's colour")
    result: Literal["win", "draw", "loss"] = documented("for the player")
    time_loss: bool = documented("whether the player lost on time")
    rating: float | None = documented("the player's rating after it or its period, points")
    opponent_rating: float | None = documented("the opponent's rating after it or its period, points")
    tournament: str | None = documented("name of the tournament")


@attrs.frozen(kw_only=True, slots=False)
class ResultsAgainst:
    """A player's score against a given opponent, by colour, with the games."""

    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    results: ResultCounts = flattened()
    with_white: ResultCounts = documented("the games in which the player had White")
    with_black: ResultCounts = documented("the games in which the player had Black")
    games: list[GameAgainst] = documented("newest first")


@in_one_snapshot
def statistics_by_batch(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[OpponentBatch]:
    """Return the statistics of a player's games in batches of 50, counted from the newest.

    With *at* they have the games in force at the end of that day, month or year.

    Raises:
        UnknownNameError: the player has no rated game in the pool.
    """
    played = _played(ledger, person, pool, at)
    batches = [played[start : start + GAMES_PER_PAGE] for start in range(0, len(played), GAMES_PER_PAGE)]
    return [
        OpponentBatch(
            page=None if at is not None else number,
            first_n=batch[-1].n,
            last_n=batch[0].n,
            first_ended_at=game_row(ledger, batch[-1].game)["ended_at"],
            last_ended_at=game_row(ledger, batch[0].game)["ended_at"],
            numbers=_numbers(batch),
        )
        for number, batch in enumerate(batches, 1)
    ]


@in_one_snapshot
def statistics_by_colour(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[ColourStatistics]:
    """Return the statistics of a player's games with White, with Black, and with both."""
    played = _played(ledger, person, pool, at)
    groups: list[tuple[Literal["white", "black", "both"], Sequence[_RatedGame]]]
    groups = [("white", _of_colour(played, 0)), ("black", _of_colour(played, 1)), ("both", played)]
    return [ColourStatistics(colour=colour, numbers=_numbers(games)) for colour, games in groups]


@in_one_snapshot
def statistics_by_strength(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[StrengthStatistics]:
    """Return the statistics of a player's games by the opponents' strength.

    First come the bands of the difference between the opponent's rating and the player's, to the nearest point
    (``group`` is ``difference``), then the classes of the opponents' ratings by the policy ``classes`` today or *at* an
    instant (``class``), if the pool has classes. Games in which a rating is missing are under ``unknown``. Empty bands
    are left out.
    """
    played = _played(ledger, person, pool, at)
    ms = ledger.now_ms() if at is None else instant_end_ms(at)
    settings = stored_policies(ledger.views.connection).settings_at(CLASSES, ms)

    def band(game: _RatedGame) -> str:
        if game.rating is None or game.opponent_rating is None:
            return UNKNOWN
        # half up, as people round; Python's own rounding takes halves to the even number
        above = floor(game.opponent_rating - game.rating + 0.5)
        return next(name for least, name in _BANDS if above >= least)

    def class_name(game: _RatedGame) -> str:
        return UNKNOWN if game.opponent_rating is None else f"class {rating_class(game.opponent_rating, settings)}"

    bands = _grouped("difference", played, band, [name for _, name in _BANDS])
    if not has_classes(ledger, ledger.pool(pool).name):
        return bands
    return bands + _grouped("class", played, class_name, [f"class {letter}" for letter in "ABCD"])


@in_one_snapshot
def results_against(ledger: OpenLedger, person: Person, opponent: Person, pool: str | None = None) -> ResultsAgainst:
    """Return a player's score against an opponent, by colour, with the games.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or none against that opponent.
    """
    met = [game for game in _played(ledger, person, pool, None) if game.opponent == opponent.player]
    if not met:
        hint = f"'games' shows whom {display_name(person)} has met"
        raise UnknownNameError(
            "opponent", display_name(opponent), hint, where=f"among the rated games of {display_name(person)}"
        )
    return ResultsAgainst(
        opponent=names(ledger, {opponent.player})[opponent.player],
        opponent_player=opponent.player,
        results=_results(met),
        with_white=_results(_of_colour(met, 0)),
        with_black=_results(_of_colour(met, 1)),
        games=[_described(ledger, game) for game in met],
    )


def _described(ledger: OpenLedger, game: _RatedGame) -> GameAgainst:
    recorded = game_row(ledger, game.game)
    return GameAgainst(
        n=game.n,
        game=recorded["key"],
        ended_at=recorded["ended_at"],
        colour="black" if game.colour else "white",
        result=RESULT[game.half_points],
        # The book says who overstepped the time: 1 White, 2 Black.
        time_loss=recorded["time_loss"] == 1 + game.colour,
        rating=game.rating,
        opponent_rating=game.opponent_rating,
        tournament=recorded["tournament"],
    )


def _of_colour(games: Sequence[_RatedGame], colour: int) -> list[_RatedGame]:
    return [game for game in games if game.colour == colour]


def _played(ledger: OpenLedger, person: Person, pool: str | None, at: str | None) -> Sequence[_RatedGame]:
    """Return a player's rated games, newest first, each with the ratings after it as the graph shows them."""
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    until = count_rated_games(ledger, rated_by, person, at)
    arguments = (rated_by.pool, person.player, until)
    played = [_RatedGame(**row) for row in queries.fetch_dicts(connection, queries.NUMBERS_OF, arguments)]
    # If the scheme lists all players, the rows hold the shown ratings, and no state is needed.
    if rated_by.lists_everybody:
        return played
    states = ledger.states(rated_by)
    # A graph is read oldest first, and may go on after the last game that is asked for.
    own = list(queries.fetch_dicts(connection, queries.GRAPH, (*arguments[:2], 0, len(played))))[::-1]
    opposite = queries.fetch_dicts(connection, queries.PAGE_OPPONENTS, (*arguments[:2], 1, until))
    return [
        game._replace(
            rating=states.after_game(row).rating,
            opponent_rating=states.opposite_after(other, row["rated_ms"]),
        )
        for game, row, other in zip(played, own, opposite, strict=True)
    ]


def _grouped(
    group: Literal["difference", "class"],
    played: Sequence[_RatedGame],
    name_of: Callable[[_RatedGame], str],
    names: Iterable[str],
) -> list[StrengthStatistics]:
    """Return the numbers of each group of games that has a game, in the order of *names*."""
    groups: dict[str, list[_RatedGame]] = {name: [] for name in (*names, UNKNOWN)}
    for game in played:
        groups[name_of(game)].append(game)
    return [
        StrengthStatistics(group=group, opponents=name, numbers=_numbers(games))
        for name, games in groups.items()
        if games
    ]


def _numbers(played: Sequence[_RatedGame]) -> RatingStatistics:
    """Return the results of games, and the statistics of both sides' ratings."""
    own = _block([game.rating for game in played if game.rating is not None])
    opposite = _block([game.opponent_rating for game in played if game.opponent_rating is not None])
    return RatingStatistics(
        results=_results(played), **own, **{f"opponent_{name}": value for name, value in opposite.items()}
    )


def _results(played: Sequence[_RatedGame]) -> ResultCounts:
    wins, draws, losses = (sum(game.half_points == half for game in played) for half in (2, 1, 0))
    points = wins + draws / 2
    share = 100 * points / len(played) if played else None
    return ResultCounts(played=len(played), wins=wins, draws=draws, losses=losses, points=points, percent=share)


def _block(ratings: Sequence[float]) -> dict[str, float | None]:
    """Return maximum, minimum, mean and standard deviation of ratings, points; None if there is none."""
    if not ratings:
        return dict.fromkeys(("max", "min", "mean", "sd"))
    # Sums without loss, and squares of differences: ratings lie close together far from zero.
    mean = fsum(ratings) / len(ratings)
    sd = sqrt(fsum((rating - mean) ** 2 for rating in ratings) / len(ratings))
    return {"max": max(ratings), "min": min(ratings), "mean": mean, "sd": sd}
