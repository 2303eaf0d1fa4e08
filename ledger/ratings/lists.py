"""The rating list in force at an instant: who stands on it, in which order, and with which numbers.

One question, asked by lists that are shown, published and proven alike. No name of a person is looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Any

from ledger.facts.instants import Precision, instant_text
from ledger.journal.kept_lists import ListRow, shared_places
from ledger.ratings.player_states import PlayerState, PlayerStates

EVERYBODY = 2**31  # above every player's number


def rows_in_force(states: PlayerStates, ms: int, limit: int | None = None) -> list[ListRow]:
    """The list in force at an instant, best first; equals share a place, the lower player number stands first.

    Args:
        states: of the pool.
        ms: the instant, milliseconds since 1970.
        limit: how many, the best; all by default.
    """
    best = None if limit is None or limit >= EVERYBODY else states.best_at(ms, limit)
    if best is not None:  # by their rows alone: the states of all others need not be worked out
        places = shared_places([row["rating"] for row in best])
        return [_row(place, row["player"], row["rating"], row) for place, row in zip(places, best, strict=True)]
    listed = [(-(state.in_force or 0.0), state.player, state) for state in states.all_at(ms)]
    ordered = sorted(listed, key=_place) if limit is None else nsmallest(limit, listed, key=_place)
    places = shared_places([-rating for rating, _, _ in ordered])
    return [
        _row(place, state.player, state.in_force or 0.0, state.row)
        for place, (_, _, state) in zip(places, ordered, strict=True)
    ]


def _place(row: tuple[float, int, PlayerState]) -> tuple[float, int]:
    return row[:2]


def _row(rank: int, player: int, rating: float, last: Mapping[str, Any] | None) -> ListRow:
    """A row of the list, with the player's last row of the history by then."""
    games, day = (0, None) if last is None else (last["n"], instant_text(last["ended_ms"], Precision.DAY))
    return ListRow(player, rank, round(rating), rating, games, day)


def by_player(rows: Sequence[ListRow]) -> dict[int, ListRow]:
    """The rows by player number."""
    return {row.player: row for row in rows}
