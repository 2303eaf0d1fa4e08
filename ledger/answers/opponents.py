"""Opponent statistics: a player's own and the opponents' ratings in batches of 50 games, by colour, by strength.

The FAQ of ChessWorld: "two blocks showing respectively My Stats (Max, Min, Avg, SD) and Opponent Stats (Max, Min, Avg,
SD). Within each block games are grouped in batches of 50". Ratings are those after each game, as the graph shows them;
the standard deviation is that of the population of these games. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor, fsum, sqrt
from typing import Any, Literal, NamedTuple

import attrs

from ledger.answers.asking import RESULT, display_name, names, of_one_moment
from ledger.answers.graphs.bars import PAGE
from ledger.answers.rankings import class_of
from ledger.answers.read_models import games_until
from ledger.book.policies import CLASSES, stored_policies
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries

Row = dict[str, Any]
COLOURS = ("white", "black")  # by the code of the history
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


class PlayedGame(NamedTuple):
    """A rated game of a player: its number and position, the result in half-points, both ratings after it, points."""

    n: int
    game: int
    colour: int
    half_points: int
    opponent: int
    rating: float | None
    opponent_rating: float | None


@attrs.frozen(kw_only=True, slots=False)
class ResultCounts:
    """The results of some games of a player."""

    played: int = documented("how many games", minimum=0)
    wins: int = documented("games won", minimum=0)
    draws: int = documented("games drawn", minimum=0)
    losses: int = documented("games lost", minimum=0)
    points: float = documented("game points", minimum=0)
    percent: float | None = documented("the share of points, per cent; null: there is no game")


@attrs.frozen(kw_only=True, slots=False)
class RatingNumbers:
    """Results of some games, and what the player's and the opponents' ratings after them were."""

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
    """A batch of 50 games of a player, counted from the newest."""

    page: int | None = documented("page of the rating graph that shows it; null: *at* counts otherwise", minimum=1)
    first_n: int = documented("number of its first game among the player's rated ones in the pool", minimum=1)
    last_n: int = documented("number of its last game", minimum=1)
    first_ended_at: str = documented("when the first game ended, as precisely as it is known")
    last_ended_at: str = documented("when the last game ended")
    numbers: RatingNumbers = flattened()


@attrs.frozen(kw_only=True, slots=False)
class ColourNumbers:
    """The games of a player with one colour, or with both."""

    colour: Literal["white", "black", "both"] = documented("the player's colour")
    numbers: RatingNumbers = flattened()


@attrs.frozen(kw_only=True, slots=False)
class StrengthNumbers:
    """The games of a player against opponents of one strength."""

    group: Literal["difference", "class"] = documented("by the difference in rating, or by the classes of the policy")
    opponents: str = documented("which opponents; unknown: a rating is missing")
    numbers: RatingNumbers = flattened()


@attrs.frozen(kw_only=True, slots=False)
class GameAgainst:
    """A game of a player against one opponent."""

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
    """A player's results against one opponent."""

    opponent: str = documented("what the opponent is called")
    opponent_player: int = documented("the opponent's number in the ledger", minimum=1)
    results: ResultCounts = flattened()
    with_white: ResultCounts = documented("the games in which the player had White")
    with_black: ResultCounts = documented("the games in which the player had Black")
    games: list[GameAgainst] = documented("newest first")


@of_one_moment
def batches(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[OpponentBatch]:
    """Return a player's games in batches of 50, counted from the newest.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        pool: name of the pool; the first one by default.
        at: only games that were in force at the end of this day, month or year.

    Raises:
        UnknownNameError: the player has no rated game in the pool.
    """
    played = _played(ledger, person, pool, at)
    batches = [played[start : start + PAGE] for start in range(0, len(played), PAGE)]
    return [
        OpponentBatch(
            page=None if at is not None else number,
            first_n=batch[-1].n,
            last_n=batch[0].n,
            first_ended_at=_recorded(ledger, batch[-1])["ended_at"],
            last_ended_at=_recorded(ledger, batch[0])["ended_at"],
            numbers=_numbers(batch),
        )
        for number, batch in enumerate(batches, 1)
    ]


@of_one_moment
def by_colour(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[ColourNumbers]:
    """Return the same numbers of all games with White, with Black, and with both; arguments as for ``batches``."""
    played = _played(ledger, person, pool, at)
    white, black = ([game for game in played if game.colour == place] for place, _ in enumerate(COLOURS))
    return [
        ColourNumbers(colour="white", numbers=_numbers(white)),
        ColourNumbers(colour="black", numbers=_numbers(black)),
        ColourNumbers(colour="both", numbers=_numbers(played)),
    ]


@of_one_moment
def by_strength(
    ledger: OpenLedger, person: Person, pool: str | None = None, *, at: str | None = None
) -> list[StrengthNumbers]:
    """Return the same numbers by the opponents' strength; arguments as for ``batches``.

    Returns:
        First the bands of the difference between the opponent's rating and the player's, to the nearest point
        (``group`` is ``difference``), then the classes of the opponents' ratings by the policy ``classes`` today or at
        *at* (``class``). Games in which a rating is missing are under ``unknown``. Empty bands are left out.
    """
    played = _played(ledger, person, pool, at)
    ms = ledger.now_ms() if at is None else instant_end_ms(at)
    settings = stored_policies(ledger.views.connection).settings_at(CLASSES, ms)

    def band(game: PlayedGame) -> str:
        if game.rating is None or game.opponent_rating is None:
            return UNKNOWN
        # half up, as people round; Python's own rounding takes halves to the even number
        above = floor(game.opponent_rating - game.rating + 0.5)
        return next(name for least, name in _BANDS if above >= least)

    def class_name(game: PlayedGame) -> str:
        return UNKNOWN if game.opponent_rating is None else f"class {class_of(game.opponent_rating, settings)}"

    bands = _grouped("difference", played, band, [name for _, name in _BANDS])
    return bands + _grouped("class", played, class_name, [f"class {letter}" for letter in "ABCD"])


@of_one_moment
def against(ledger: OpenLedger, person: Person, opponent: Person, pool: str | None = None) -> ResultsAgainst:
    """Return a player's results against one opponent.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        opponent: the other one.
        pool: name of the pool; the first one by default.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or none against that opponent.
    """
    met = [game for game in _played(ledger, person, pool, None) if game.opponent == opponent.player]
    if not met:
        hint = f"'games' shows whom {display_name(person)} has met"
        raise UnknownNameError(
            "opponent", display_name(opponent), hint, where=f"among the rated games of {display_name(person)}"
        )
    white, black = ([game for game in met if game.colour == place] for place, _ in enumerate(COLOURS))
    return ResultsAgainst(
        opponent=names(ledger, {opponent.player})[opponent.player],
        opponent_player=opponent.player,
        results=_results(met),
        with_white=_results(white),
        with_black=_results(black),
        games=[_described(ledger, game) for game in met],
    )


def _described(ledger: OpenLedger, game: PlayedGame) -> GameAgainst:
    recorded = _recorded(ledger, game)
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


def _recorded(ledger: OpenLedger, game: PlayedGame) -> Row:
    """Return the current state of a game."""
    row = queries.first_row(ledger.views.connection, queries.GAME, (game.game,))
    assert row is not None
    return row


def _played(ledger: OpenLedger, person: Person, pool: str | None, at: str | None) -> Sequence[PlayedGame]:
    """Return a player's rated games, newest first, each with the ratings after it as the graph shows them."""
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    until = games_until(ledger, rated_by, person, at)
    arguments = (rated_by.pool, person.player, until)
    played = [PlayedGame(**row) for row in queries.dictionaries(connection, queries.NUMBERS_OF, arguments)]
    # Where the scheme lists everybody the rows hold what is shown, and no state is looked at.
    if rated_by.lists_everybody:
        return played
    states = ledger.states(rated_by)
    # A graph is read oldest first, and may go on after the last game that is asked for.
    own = list(queries.dictionaries(connection, queries.GRAPH, (*arguments[:2], 0, len(played))))[::-1]
    opposite = queries.dictionaries(connection, queries.PAGE_OPPONENTS, (*arguments[:2], 1, until))
    return [
        game._replace(
            rating=states.after_game(row).rating,
            # the opponent's row does not say its place in rating order, which is that of the same game
            opponent_rating=states.after_game({**other, "rated_ms": row["rated_ms"]}).rating,
        )
        for game, row, other in zip(played, own, opposite, strict=True)
    ]


def _grouped(
    group: Literal["difference", "class"],
    played: Sequence[PlayedGame],
    name_of: Callable[[PlayedGame], str],
    names: Iterable[str],
) -> list[StrengthNumbers]:
    """Return the numbers of each group of games that has a game, in the order of *names*."""
    groups: dict[str, list[PlayedGame]] = {name: [] for name in (*names, UNKNOWN)}
    for game in played:
        groups[name_of(game)].append(game)
    return [
        StrengthNumbers(group=group, opponents=name, numbers=_numbers(games)) for name, games in groups.items() if games
    ]


def _numbers(played: Sequence[PlayedGame]) -> RatingNumbers:
    """Return results, and both blocks of numbers, of some games."""
    own = _block([game.rating for game in played if game.rating is not None])
    opposite = _block([game.opponent_rating for game in played if game.opponent_rating is not None])
    return RatingNumbers(
        results=_results(played), **own, **{f"opponent_{name}": value for name, value in opposite.items()}
    )


def _results(played: Sequence[PlayedGame]) -> ResultCounts:
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
