"""The command that says why a rating changed: the formula, its terms, and the games that were rated together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

from ledger.answers import explanations
from ledger.answers.rows import as_row

from .. import limits, output
from ..wording import counted
from . import AS_IF, AT_LEAST, DB, KNOWN_AT, VERIFY, open_up_to_date

ROWS_IN_A_TABLE = 20  # of the terms that each game of a period has, and of its games
_NUMBERED = re.compile(r"(.*?)_?\d+$")  # x17, R_17: the 17th game's term


@click.command()
@DB
@click.argument("player")
@click.argument("game")
@limits.option(ROWS_IN_A_TABLE, "terms and games of a long period")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def explain(
    db_path: str,
    player: str,
    game: str,
    limit: int | None,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """Explain how a game changed a rating: the formula with this game's numbers, unrounded, and the rule's source.

    GAME is its key as 'games' shows it, the id that its server gave it, or its web address. A table of a long period
    shows the games with the largest terms; JSON, CSV and TSV have every term. CSV and TSV have a row for each term
    (part "term") and for each game that was rated with it (part "game"), the rest of the answer with each. Of a
    corrected game it says what was recorded and what is in force, and what a published list said. "list" is the list
    for which it counts: 'calculation --list' shows all its games line by line.

    \b
    Example:
      rating-ledger explain club.db ann lichess:Mxzwh32Z
      rating-ledger explain club.db ann https://lichess.org/Mxzwh32Z -t
      rating-ledger explain club.db ann lichess:Mxzwh32Z --known-at 917 -t
    """
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        with ledger.read_snapshot():
            explanation = as_row(explanations.explain(ledger, ledger.player(player), game))
        if fmt == "table":
            _tell(explanation, limits.shown(limit, fmt, ROWS_IN_A_TABLE))
        elif fmt in output.DIVIDED:
            output.write(_rows(explanation), fmt)
        else:
            output.write_one(explanation, fmt)


def _rows(explanation: dict[str, Any]) -> list[output.Row]:
    """Return a row for each term, then one for each game that was rated with this one; all have the same columns."""
    terms, meetings = explanation.pop("terms"), explanation.pop("meetings")
    explanation["carried_from"] = explanation["carried_from"] or dict.fromkeys(("scheme", "rating", "carry"))
    explanation["began_with"] = explanation["began_with"] or dict.fromkeys(("pool", "rating", "list"))
    explanation["corrected"] = " ".join(map(str, explanation["corrected"])) or None
    answer = output.in_columns(explanation)
    no_term = dict.fromkeys(("symbol", "value", "meaning"))
    no_game = {f"with_{name}": None for name in meetings[0]}
    rows = [{**answer, "part": "term", **term, **no_game} for term in terms]
    games = ({f"with_{name}": value for name, value in meeting.items()} for meeting in meetings)
    return rows + [{**answer, "part": "game", **no_term, **game} for game in games]


def _tell(explanation: dict[str, Any], limit: int) -> None:
    """The explanation upright, below it the terms, and the games where several were rated together."""
    terms, meetings = explanation.pop("terms"), explanation.pop("meetings")
    games = explanation.pop("games")
    is_together = explanation["rated_with"] != "this game"
    if is_together:
        explanation["rated_with"] += f", {counted(games, 'game')} together"
    if explanation["after"] is None:  # a number that is never shown: no rating yet
        del explanation["unrounded"], explanation["rounding"]
    fields = output.in_columns(explanation)
    output.write_one({name: _exact(value) for name, value in fields.items() if value not in (None, [])}, "table")
    output.answer()
    chosen = _largest(terms, limit)
    output.write([{**term, "value": _exact(term["value"])} for term in chosen], "table")
    if len(chosen) < len(terms):
        output.remark(f"{len(terms) - len(chosen):,} smaller terms are not shown: --limit 0 shows all")
    if is_together:
        output.answer()
        limits.write([_shown(meeting) for meeting in meetings], "table", limit)


def _shown(meeting: dict[str, Any]) -> dict[str, Any]:
    """Return a game of the period, without the 0 that means no rating in a state."""
    return {name: None if name in {"rating", "own_rating"} and not value else value for name, value in meeting.items()}


def _largest(terms: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Return the terms in order; of those that each game has (x1, x2, ...) only the *limit* farthest from zero."""
    families: dict[str, list[int]] = {}
    for place, term in enumerate(terms):
        numbered = _NUMBERED.fullmatch(term["symbol"])
        if numbered is not None:
            families.setdefault(numbered[1], []).append(place)
    left_out = {place for places in families.values() for place in _by_size(terms, places)[limit:]}
    return [term for place, term in enumerate(terms) if place not in left_out]


def _by_size(terms: list[dict[str, Any]], places: Iterable[int]) -> list[int]:
    return sorted(places, key=lambda place: (-abs(terms[place]["value"]), place))


def _exact(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value
