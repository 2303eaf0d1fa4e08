"""The calculator: what games bring under any scheme, without a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ledger import schemes as known
from ledger.answers.calculations import MOST_GAMES, CalculationFacts, calculate
from ledger.answers.rows import as_row
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.handle import utc_now

from .. import output
from ..choices import scheme_names
from . import Number, settings_given

_SCORES = {
    "win": 1.0, "w": 1.0, "1": 1.0, "1-0": 1.0, "draw": 0.5, "d": 0.5, "0.5": 0.5, "1/2": 0.5, "½": 0.5, "=": 0.5,
    "loss": 0.0, "lose": 0.0, "lost": 0.0, "l": 0.0, "0": 0.0, "0-1": 0.0,
}  # fmt: skip
_LOW, _HIGH = -10_000.0, 10_000.0  # ratings
_GAMES = Number(0, 100_000)


@click.command()
@click.option(
    "--scheme",
    default="elo",
    show_default=True,
    metavar="NAME",
    help="See 'scheme list'.",
    shell_complete=scheme_names,
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the scheme; repeatable.")
@click.option("--games", type=_GAMES, help="Rated games before; those of an established player.")
@click.option("--rd", "deviation", type=Number(0, 2_000), help="Deviation RD.")
@click.option("--volatility", type=Number(0, 1), help="Volatility of Glicko-2.")
@click.option("--highest", type=Number(_LOW, _HIGH), help="Highest rating so far.")
@click.option("--k", "k_factor", type=Number(0, 1_000), help="K-factor, where the scheme takes one.")
@click.option("--born", "birth_year", type=click.IntRange(1800, 2200), help="Year of birth.")
@click.option("--h", type=Number(_LOW, _HIGH), help="Savard's H, the form of late; the rating by default.")
@click.option("--opponent-games", multiple=True, type=_GAMES, help="Their rated games; once for all, or once each.")
@click.option("--opponent-rd", multiple=True, type=Number(0, 2_000), help="Their RD; once for all, or once each.")
@click.option("--opponent-volatility", multiple=True, type=Number(0, 1), help="Their volatility; the same.")
@click.option("--opponent-h", multiple=True, type=Number(_LOW, _HIGH), help="Their H in Savard's scheme; the same.")
@click.option("--on", metavar="DAY", help="Day on which the games are rated; today if not given.")
@output.format_options
@click.argument("rating", type=Number(_LOW, _HIGH))
@click.argument("games_played", nargs=-1, required=True, metavar="OPPONENT RESULT [OPPONENT RESULT]...")
def calc(
    scheme: str,
    settings: Sequence[str],
    rating: float,
    games_played: Sequence[str],
    opponent_games: Sequence[float],
    opponent_rd: Sequence[float],
    opponent_volatility: Sequence[float],
    opponent_h: Sequence[float],
    on: str | None,
    fmt: str | None,
    **own: Any,
) -> None:
    """Calculate what games do to a rating, with the formula; no ledger is needed.

    RATING is the player's own, OPPONENT an opponent's, RESULT win, draw or loss. One OPPONENT without a RESULT shows
    what each result would bring. A scheme by period or event rates the games together, any other one after the other.
    Who has no number of games given and would be provisional for that is taken for established: "assumed" says so.
    FIDE's K depends on the games: give --games or --k.

    \b
    Example:
      rating-ledger calc 1500 1600 win -t
      rating-ledger calc --scheme chessworld 2355 2355 win 2400 draw
      rating-ledger calc --scheme glicko2 --rd 200 1500 1400 win 1550 loss --opponent-rd 30 --opponent-rd 100
      rating-ledger calc --scheme savard --h 1620 1550 1600 win --opponent-h 1580
      rating-ledger calc --scheme fide --k 20 2300 2450
    """
    chosen = known.find_scheme(scheme)
    if len(games_played) > 2 * MOST_GAMES:
        raise click.UsageError(f"more than {MOST_GAMES:,} games")
    if on is not None:
        _check_day(on)
    ratings = [_rating(word) for word in games_played[::2]]
    scores = [_score(word) for word in games_played[1::2]]
    if len(ratings) != len(scores) and len(ratings) > 1:
        raise click.UsageError(f"opponent {ratings[-1]:g} has no result: give win, draw or loss after each")
    facts = {"games": opponent_games, "deviation": opponent_rd, "volatility": opponent_volatility, "h": opponent_h}
    columns: dict[str, list[Any]] = {name: _for_each(name, values, len(ratings)) for name, values in facts.items()}
    opponents = [
        CalculationFacts(rating=opponent, **{name: column[place] for name, column in columns.items()})
        for place, opponent in enumerate(ratings)
    ]
    day = on or instant_text(int(utc_now().timestamp() * 1000), Precision.DAY)
    own_facts = CalculationFacts(rating=rating, **own)
    answer = as_row(calculate(chosen, settings_given(settings), own_facts, opponents, scores, day))
    if fmt == "table":
        _tell(answer)
    elif fmt in output.DIVIDED and "games" in answer:
        output.write([{**game, "rating_after": answer["rating_after"]} for game in answer["games"]], fmt)
    else:
        output.write_one(answer, fmt)


def _check_day(on: str) -> None:
    try:
        instant_ms(on)
    except ValueError as error:
        raise click.UsageError(f"--on: {error}") from None


def _rating(word: str) -> float:
    try:
        rating = float(word)
    except ValueError:
        raise click.UsageError(f"an opponent's rating is a number, got {word!r}: give OPPONENT RESULT") from None
    if not _LOW <= rating <= _HIGH:
        raise click.UsageError(f"an opponent's rating is from {_LOW:g} to {_HIGH:g}, got {word!r}")
    return rating


def _score(word: str) -> float:
    if word.casefold() not in _SCORES:
        raise click.UsageError(f"a result is win, draw or loss (or 1, 1/2, 0), got {word!r}")
    return _SCORES[word.casefold()]


def _for_each(name: str, values: Sequence[float], count: int) -> list[float | None]:
    """Return a fact of every opponent."""
    if len(values) in {0, 1}:
        return [values[0] if values else None] * count
    if len(values) != count:
        raise click.UsageError(f"{len(values)} values of {name} for {count} opponents: give it once, or once for each")
    return list(values)


def _tell(answer: dict[str, Any]) -> None:
    """The answer upright, below it the games, and the terms of each formula."""
    games, explanations = answer.pop("games", []), answer.pop("explanations", [])
    fields = output.in_columns(answer)
    output.write_one({name: value for name, value in fields.items() if value not in (None, {})}, "table")
    if games:
        output.answer()
        output.write([_in_hundredths(game) for game in games], "table")
    for explanation in explanations:
        output.answer()
        output.answer(f"{explanation['rule']}   ({explanation['source']}; rounding: {explanation['rounding']})")
        output.write([{**term, "value": repr(term["value"])} for term in explanation["terms"]], "table")


def _in_hundredths(game: output.Row) -> output.Row:
    """Numbers of a game as people read them; a rating is not cut to whole points here."""
    shown = {name: None if game[name] is None else f"{game[name]:.2f}" for name in ("before", "after")}
    change = None if game["change"] is None else f"{game['change']:+.2f}"
    return {
        **game,
        "opponent_rating": f"{game['opponent_rating']:g}",
        "expected": f"{game['expected']:.4f}",
        **shown,
        "change": change,
    }
