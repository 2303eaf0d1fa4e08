"""The impact of a correction as plain dictionaries, with the names of the players. Nothing is written or formatted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.answers.classes import class_of
from ledger.answers.moments import of_one_moment
from ledger.answers.rankings import class_limits
from ledger.answers.wording import names
from ledger.correcting.previews import Impact
from ledger.ledger import Ledger
from ledger.ratings.previews import Figures

# What stands in a row twice, before and after.
FIGURES = ("rating", "rank", "games", "time_losses", "hera", "hera_game", "listed", "closed")


def summary(impact: Impact) -> dict[str, Any]:
    """What would move, in numbers.

    Returns:
        ``seen`` is the number of entries that it was worked out for, ``recorded_since`` how many of them came after the
        proposal; ``games`` would be rated again, ``players`` are those who played them, ``moved`` those whose rating
        would change or who would come or go, a player once for each pool; ``seconds`` is about what the approval takes.
    """
    return {
        "proposal": impact.proposal,
        "seen": impact.seen,
        "recorded_since": impact.recorded_since,
        "games": impact.games,
        "players": impact.players,
        "moved": impact.moved,
        "seconds": impact.seconds,
    }


@of_one_moment
def moves(ledger: Ledger, impact: Impact) -> list[dict[str, Any]]:
    """Everybody who would stand otherwise: who would come or go first, then the largest moves.

    Returns:
        A row for each player and pool, with each of ``FIGURES`` and the ``class`` before and after; all of them are
        None on the side on which the player has neither a rated game nor the rating of a list. Ratings are None where
        the scheme lists no such player.
        The class is by the policy ``classes`` as it holds now, None for who is not listed, or whose account is closed.
    """
    shown = names(ledger, {move.player for move in impact.moves})
    limits = {pool: class_limits(ledger, pool) for pool in {move.pool for move in impact.moves}}
    return [
        {
            "pool": move.pool,
            "player": move.player,
            "name": shown[move.player],
            "difference": move.difference,
            **_side(move.before, "before", limits[move.pool]),
            **_side(move.after, "after", limits[move.pool]),
        }
        for move in impact.moves
    ]


@of_one_moment
def lists(ledger: Ledger, impact: Impact) -> list[dict[str, Any]]:
    """The published lists that would say something else, as revised.

    Returns:
        A row for each list: how many ``players`` would have another rating, other games, or come or go; the ``player``
        whose rating would change most, with the name, and that rating ``before`` and ``after``, points: all four are
        None where no rating would change.
    """
    shown = names(ledger, {move.largest for move in impact.lists if move.largest is not None})
    return [
        {
            "list": move.name,
            "players": move.players,
            "player": move.largest,
            "name": None if move.largest is None else shown[move.largest],
            "before": move.before,
            "after": move.after,
        }
        for move in impact.lists
    ]


def _side(figures: Figures | None, when: str, limits: Mapping[str, int]) -> dict[str, Any]:
    side = {f"{name}_{when}": None if figures is None else getattr(figures, name) for name in FIGURES}
    if figures is not None and not figures.listed:
        side |= {f"{name}_{when}": None for name in ("rating", "hera", "hera_game")}
    is_shown = figures is not None and figures.listed and not figures.closed
    return {**side, f"class_{when}": class_of(figures.rating, limits) if figures and is_shown else None}
