"""Rankings: who stands where in a pool after its last game, with names.

Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from typing import Any

from ledger.answers.wording import day, names
from ledger.book.timeline import BEGINNING, Pool
from ledger.ledger import Ledger
from ledger.ratings import player_states, queries


def ranking(ledger: Ledger, pool: str | None = None, *, limit: int = 20, min_games: int = 1) -> list[dict[str, Any]]:
    """The highest-rated players of a pool after its last game, best first; unrated ones are left out.

    Who has not played since the last change of scheme stands there with what that change made of the rating; where
    it let everybody begin anew, the player is left out until their next game.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many.
        min_games: leave out players with fewer rated games.
    """
    rated_by = ledger.pool(pool)
    connection, since = ledger.views.connection, in_force_since(ledger, rated_by)
    query, arguments = queries.RANKING, [rated_by.pool, min_games, limit]
    if since > BEGINNING:
        query, arguments = queries.RANKING_SINCE, [*arguments, since]
    rows = list(queries.dictionaries(connection, query, arguments))
    if since > BEGINNING:
        idle = [row for row in player_states.idle(connection, rated_by, since) if row["n"] >= min_games]
        rows = sorted([*rows, *idle], key=lambda row: (-row["rating"], row["player"]))[:limit]
    shown = names(ledger, {row["player"] for row in rows})
    return [
        {
            "rank": place,
            "player": row["player"],
            "name": shown[row["player"]],
            "rating": row["rating"],
            "games": row["n"],
            "last_game": day(row["ended_ms"]),
        }
        for place, row in enumerate(rows, 1)
    ]


def in_force_since(ledger: Ledger, pool: Pool) -> int:
    """Since when the scheme is in force by which the pool's last game was rated; ``BEGINNING`` for the first one."""
    if len(pool.eras) == 1:
        return BEGINNING
    last = queries.first_row(ledger.views.connection, queries.LATEST_END, (pool.pool,))
    return BEGINNING if last is None or last["ms"] is None else pool.eras[pool.era_at(last["ms"])].since_ms


def counted(ledger: Ledger, query: str, *arguments: object) -> int:
    """The answer of a query that counts."""
    row = queries.first_row(ledger.views.connection, query, arguments)
    assert row is not None
    return int(row["n"])


def rank(ledger: Ledger, pool: Pool, player: int, rating: float, since: int) -> int | None:
    """The player's place in ``ranking``, or None for who is not in it; the scheme is in force *since* then."""
    if rating == 0.0:
        return None
    if since == BEGINNING:
        return counted(ledger, queries.RANK, pool.pool, rating) + 1
    rows = ranking(ledger, pool.name, limit=2**31)
    return next((row["rank"] for row in rows if row["player"] == player), None)
