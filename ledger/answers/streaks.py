"""A player's winning, unbeaten and losing streaks: the current one and the longest, with their first and last games.

Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.answers.read_models import Sides, games_until, refuse_without, state_after
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.ratings.projectors.streaks import KINDS, PROJECTOR

Row = dict[str, Any]


@of_one_moment
def streaks(ledger: Ledger, person: Person, pool: str | None = None, at: str | None = None) -> list[Row]:
    """The streaks of a player: for each kind the current one, of 0 games where none runs, and the longest.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        at: only games that were in force at the end of this day, month or year.

    Returns:
        ``streak`` is ``winning``, ``unbeaten`` or ``losing``, ``which`` ``current`` or ``longest``; of two longest ones
        the first. ``first_`` and ``last_`` tell of its first and last game.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger was opened without this read model.
    """
    refuse_without(ledger, PROJECTOR)
    rated_by = ledger.pool(pool)
    n = games_until(ledger, rated_by, person, at)
    state = state_after(ledger, rated_by, PROJECTOR, person.player, n)
    sides = Sides(ledger, rated_by, person.player)
    rows = []
    for kind in KINDS:
        current = (state[f"{kind}_from"], n) if state[f"{kind}_from"] else (0, 0)
        ended = state[f"longest_{kind}_from"], state[f"longest_{kind}_to"]
        longest = current if _games(current) > _games(ended) else ended
        for which, span in (("current", current), ("longest", longest)):
            row: Row = {"streak": kind, "which": which, "games": _games(span)}
            for word, game in zip(("first", "last"), span, strict=True):
                shown = sides.shown(game)
                row |= {f"{word}_{name}": shown[name] for name in ("n", "game", "date", "opponent_name")}
            rows.append(row)
    return rows


def _games(span: tuple[int, int]) -> int:
    """How many games a streak has from its first to its last; 0 for none."""
    first, last = span
    return last - first + 1 if first else 0
