"""Rankings: who stands where in a pool after its last game, with names.

Numbers come from the views; nothing is written.
"""

from __future__ import annotations

import json
from typing import Any

from ledger.answers.wording import day, names
from ledger.book.eras import BEGINNING
from ledger.book.timeline import Pool
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.ratings.listing import CLOSED_AMONG
from ledger.ratings.player_states import PlayerState, PlayerStates

EVERYBODY = 2**31


def ranking(ledger: Ledger, pool: str | None = None, *, limit: int = 20, min_games: int = 1) -> list[dict[str, Any]]:
    """The highest-rated players of a pool after its last game, best first; who is not listed then is left out.

    Who is listed is whom the scheme lists and whose account is not closed today, or after the last game.

    A player without a game since the last change of scheme stands there with the rating that the change gave them;
    if the change let everybody begin anew, they are left out until their next game.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many.
        min_games: leave out players with fewer rated games; with 0, who came with the rating of a list and has no rated
            game yet stands there, too.
    """
    rated_by = ledger.pool(pool)
    rows = _ranked(ledger, rated_by, limit, min_games)
    if min_games == 0:
        rows = sorted([*rows, *_unplayed(ledger, rated_by, limit)], key=_best_first)[:limit]
    shown = names(ledger, {row["player"] for row in rows})
    return [
        {
            "rank": place,
            "player": row["player"],
            "name": shown[row["player"]],
            "rating": row["rating"],
            "games": row["n"],
            "last_game": None if row["ended_ms"] is None else day(row["ended_ms"]),
        }
        for place, row in enumerate(rows, 1)
    ]


def _ranked(ledger: Ledger, pool: Pool, limit: int, min_games: int) -> list[dict[str, Any]]:
    connection = ledger.views.connection
    states = PlayerStates(connection, pool)
    since, closed = states.stands_since_ms, states.closed_now(ledger.now_ms())
    query, arguments = queries.RANKING, [pool.pool, min_games, limit + len(closed)]
    if since > BEGINNING:
        query, arguments = queries.RANKING_SINCE, [*arguments, since]
    rows = [row for row in queries.dictionaries(connection, query, arguments) if row["player"] not in closed]
    if since > BEGINNING:
        moved = [{**(state.row or {}), "rating": state.in_force} for state in states.moved_since()]
        rows += [row for row in moved if row["n"] >= min_games and row["player"] not in closed]
        rows.sort(key=_best_first)
    return rows[:limit]


def _unplayed(ledger: Ledger, pool: Pool, limit: int) -> list[dict[str, Any]]:
    """The rows of those who have no rated game."""
    today_ms, states = ledger.now_ms(), PlayerStates(ledger.views.connection, pool)
    closed = states.closed_now(today_ms)
    return [
        {"player": state.player, "rating": state.in_force, "n": 0, "ended_ms": None}
        for state in states.unplayed(today_ms, limit + len(closed))
        if state.player not in closed
    ]


def _best_first(row: dict[str, Any]) -> tuple[float, int]:
    return -row["rating"], row["player"]


def place(ledger: Ledger, pool: Pool, state: PlayerState) -> tuple[int | None, int]:
    """A player's place in the ranking by ``PlayerStates.now`` of all who have played, and how many are in it.

    The place is None for who is not in it, as nobody is without a rated game.
    """
    connection = ledger.views.connection
    states = PlayerStates(connection, pool)
    rating, player = None if state.row is None else state.in_force, state.player
    if states.stands_since_ms > BEGINNING:
        order = [row["player"] for row in _ranked(ledger, pool, EVERYBODY, 0)]
        return (order.index(player) + 1 if player in order else None), len(order)
    ranked = _counted(queries.first_row(connection, queries.LISTED, (pool.pool,)))
    better = _counted(queries.first_row(connection, queries.RANK, (pool.pool, rating, player)))
    if closed := states.closed_now(ledger.now_ms()):
        arguments = (pool.pool, json.dumps(sorted(closed)), rating, player)
        among = queries.first_row(connection, CLOSED_AMONG, arguments) or {}
        ranked, better = ranked - among["listed"], better - among["better"]
    return (None if rating is None or player in closed else better + 1), ranked


def _counted(row: dict[str, Any] | None) -> int:
    assert row is not None
    return int(row["n"])
