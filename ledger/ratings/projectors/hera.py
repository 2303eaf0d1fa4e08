"""HERA, the "Highest Ever Rating Achieved", "based upon your achievement after completing 50 rated games".

The rule is ChessWorld's (ChessWorld FAQ, HERA). Games that the seed of a player tells of count among the 50, and the
highest rating that it tells of stands until it is passed. Where everybody begins anew the 50 are games of the new
system, as its provisional games are: "there is no direct comparison with the previous system".
"""

from __future__ import annotations

from math import nan

import attrs

from ledger.ratings.projector import RatedSide, column

HERA_FROM = 50


def counts_for_hera(n: float, games_before: float) -> bool:
    """Return whether a highest rating counts after game *n*, with *games_before* before the first that counts."""
    return n + games_before >= HERA_FROM


@attrs.define
class HighestSoFar:
    """The highest rating from game 50 on, and which games count among the 50."""

    hera: float = column(nan, "REAL", "highest rating after 50 or more rated games, points; NULL before", unit="points")
    hera_n: float = column(
        0.0, "INTEGER", "the game it was first reached in; 0 for none, and for that of a seed", unit="games"
    )
    games_before: float = column(
        0.0, "INTEGER", "what n is short of the games that count for HERA: a seed's, less older", unit="games"
    )
    restart: float = column(0.0, "INTEGER", "place in the timeline of the scheme with which all began anew, or 0")
    games_until_restart: float = column(0.0, "INTEGER", "rated games before that", unit="games")


def note_highest(kept: HighestSoFar, game: RatedSide) -> None:
    """Note a rating above the highest so far.

    The count of games starts again from the game with which everybody begins again.
    """
    if game.restart != kept.restart:
        until = game.n - 1.0
        kept.games_before += kept.games_until_restart - until
        kept.games_until_restart = until
        kept.restart = game.restart
    highest = kept.hera
    is_first = highest != highest  # noqa: PLR0124  # NaN
    if counts_for_hera(game.n, kept.games_before) and (is_first or game.rating > highest):
        kept.hera = game.rating
        kept.hera_n = game.n
