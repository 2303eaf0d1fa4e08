"""Opponent statistics: a player's own and the opponents' ratings in batches of 50 games, by colour, by strength.

The FAQ of ChessWorld: "two blocks showing respectively My Stats (Max, Min, Avg, SD) and Opponent Stats (Max, Min, Avg,
SD). Within each block games are grouped in batches of 50". Ratings are those after each game, as the graph shows them;
the standard deviation is that of the population of these games. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor, fsum, sqrt
from typing import Any

from ledger.answers.classes import class_of
from ledger.answers.graphs import pages
from ledger.answers.graphs.bars import PAGE, Bar
from ledger.answers.read_models import games_until
from ledger.answers.wording import shown
from ledger.book.policies import CLASSES
from ledger.book.stored_policies import stored_policies
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.journal.people import Person
from ledger.ledger import Ledger

Row = dict[str, Any]
RESULTS = ("win", "draw", "loss")
# By how many points the opponent's rating was higher than the player's: the lower ends of the bands, and their names.
_BANDS = (
    (200.0, "200 or more above"), (100.0, "100 to 199 above"), (0.0, "0 to 99 above"), (-100.0, "1 to 100 below"),
    (-200.0, "101 to 200 below"), (float("-inf"), "more than 200 below"),
)  # fmt: skip
UNKNOWN = "unknown"


def batches(ledger: Ledger, person: Person, pool: str | None = None, *, at: str | None = None) -> list[Row]:
    """A player's games in batches of 50, counted from the newest.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        at: only games that were in force at the end of this day, month or year.

    Returns:
        ``page`` is the page of the rating graph that shows the batch, None where *at* counts the batches otherwise;
        ``first_n`` to ``last_n`` are its games, then results and both blocks of numbers, points.

    Raises:
        UnknownNameError: the player has no rated game in the pool.
    """
    bars = _bars(ledger, person, pool, at)
    rows = []
    for start in range(0, len(bars), PAGE):
        batch = bars[start : start + PAGE]
        rows.append({
            "page": None if at is not None else start // PAGE + 1,
            "first_n": batch[-1].n,
            "last_n": batch[0].n,
            "first_date": batch[-1].ended,
            "last_date": batch[0].ended,
            **_numbers(batch),
        })  # fmt: skip
    return rows


def by_colour(ledger: Ledger, person: Person, pool: str | None = None, *, at: str | None = None) -> list[Row]:
    """The same numbers of all games with White, of those with Black, and of both; arguments as for ``batches``."""
    bars = _bars(ledger, person, pool, at)
    groups = (("white", [bar for bar in bars if bar.colour == "white"]),
              ("black", [bar for bar in bars if bar.colour == "black"]), ("both", bars))  # fmt: skip
    return [{"colour": colour, **_numbers(group)} for colour, group in groups]


def by_strength(ledger: Ledger, person: Person, pool: str | None = None, *, at: str | None = None) -> list[Row]:
    """The same numbers by the opponents' strength; arguments as for ``batches``.

    Returns:
        First the bands of the difference between the opponent's rating and the player's, to the nearest point
        (``group`` is ``difference``), then the classes of the opponents' ratings by the policy ``classes`` as it holds
        today or at *at* (``class``). Games in which a rating is missing stand under ``unknown``. Empty bands are left
        out.
    """
    bars = _bars(ledger, person, pool, at)
    ms = ledger.now_ms() if at is None else instant_end_ms(at)
    settings = stored_policies(ledger.views.connection).at(CLASSES, ms)
    names = [name for _, name in _BANDS]
    bands = _grouped("difference", bars, _band, names)
    return bands + _grouped("class", bars, lambda bar: _class(bar, settings), [f"class {letter}" for letter in "ABCD"])


def against(ledger: Ledger, person: Person, opponent: Person, pool: str | None = None) -> Row:
    """A player's results against one opponent.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        opponent: the other one.
        pool: name of the pool; the first one by default.

    Returns:
        Wins, draws, losses, points and the share of points, altogether and (``with_white``, ``with_black``) by colour;
        ``games``, newest first, with both ratings after each.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or none against that opponent.
    """
    met = [bar for bar in _bars(ledger, person, pool, None) if bar.opponent_player == opponent.player]
    if not met:
        hint = f"'games' shows whom {shown(person)} has met"
        raise UnknownNameError("opponent", shown(opponent), hint, where=f"among the rated games of {shown(person)}")
    colours = {colour: [bar for bar in met if bar.colour == colour] for colour in ("white", "black")}
    columns = ("n", "game", "ended", "colour", "result", "time_loss", "rating", "opponent_rating", "tournament")
    return {
        "opponent": opponent.player,
        "opponent_name": met[0].opponent,
        **_results(met),
        "with_white": _results(colours["white"]),
        "with_black": _results(colours["black"]),
        "games": [{name: getattr(bar, name) for name in columns} for bar in met],
    }


def _bars(ledger: Ledger, person: Person, pool: str | None, at: str | None) -> Sequence[Bar]:
    """A player's rated games, newest first."""
    bars = pages.page(ledger, person, pool, last=pages.EVERY_GAME).player.bars
    if at is None:
        return bars
    return bars[len(bars) - games_until(ledger, ledger.pool(pool), person, at) :]


def _grouped(group: str, bars: Sequence[Bar], name_of: Callable[[Bar], str], names: Iterable[str]) -> list[Row]:
    """The numbers of each group of games that has a game, in the order of *names*."""
    found: dict[str, list[Bar]] = {name: [] for name in (*names, UNKNOWN)}
    for bar in bars:
        found[name_of(bar)].append(bar)
    return [{"group": group, "opponents": name, **_numbers(games)} for name, games in found.items() if games]


def _band(bar: Bar) -> str:
    if bar.rating is None or bar.opponent_rating is None:
        return UNKNOWN
    above = floor(bar.opponent_rating - bar.rating + 0.5)
    return next(name for least, name in _BANDS if above >= least)


def _class(bar: Bar, settings: Mapping[str, Any]) -> str:
    return UNKNOWN if bar.opponent_rating is None else f"class {class_of(bar.opponent_rating, settings)}"


def _numbers(bars: Sequence[Bar]) -> Row:
    """Results, and both blocks of numbers, of some games."""
    own = _block([bar.rating for bar in bars if bar.rating is not None])
    opposite = _block([bar.opponent_rating for bar in bars if bar.opponent_rating is not None])
    return {**_results(bars), **own, **{f"opponent_{name}": value for name, value in opposite.items()}}


def _results(bars: Sequence[Bar]) -> Row:
    """How some games ended for the player; ``percent`` is the share of points, None without a game."""
    wins, draws, losses = (sum(bar.result == word for bar in bars) for word in RESULTS)
    points = wins + draws / 2
    share = 100 * points / len(bars) if bars else None
    return {"played": len(bars), "wins": wins, "draws": draws, "losses": losses, "points": points, "percent": share}


def _block(ratings: Sequence[float]) -> Row:
    """Maximum, minimum, mean and standard deviation of ratings, points; None where there is none."""
    if not ratings:
        return dict.fromkeys(("max", "min", "mean", "sd"))
    mean = fsum(ratings) / len(ratings)
    sd = sqrt(fsum((rating - mean) ** 2 for rating in ratings) / len(ratings))
    return {"max": max(ratings), "min": min(ratings), "mean": mean, "sd": sd}
