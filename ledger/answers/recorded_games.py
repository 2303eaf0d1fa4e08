"""One game as it stands in the ledger, with what it did to both ratings; for who has just recorded it."""

from __future__ import annotations

from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.answers.player_games import in_force_from
from ledger.answers.wording import names
from ledger.journal.game_keys import game_found
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates

_RESULT = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2"}
_SIDES = ("white", "black")
_SAME = """
SELECT key FROM games JOIN pools ON pools.pool = games.pool
WHERE white = ?1 AND black = ?2 AND pools.name = ?3 AND substr(ended_at, 1, 10) = substr(?4, 1, 10)
ORDER BY games.position DESC
"""


@of_one_moment
def games_of_day(ledger: Ledger, white: int, black: int, pool: str, ended_at: str) -> list[str]:
    """The keys of the games of two players in a pool on the day of an instant, those that were recorded last first."""
    found = queries.dictionaries(ledger.views.connection, _SAME, (white, black, pool, ended_at))
    return [row["key"] for row in found]


@of_one_moment
def recorded_game(ledger: Ledger, game: str) -> dict[str, Any]:
    """A game as it stands now, with both players' ratings before and after it.

    Args:
        ledger: a ledger whose views are level.
        game: as ``game_found`` takes it.

    Returns:
        ``reason`` is why the game does not count, None where it counts; then ``white_before``, ``white_after`` and the
        same of Black are ratings, None where the scheme lists no such player. In a scheme by period or event the rating
        after is that after the period or event, in force from ``in_force`` on (None while that has not closed).

    Raises:
        UnknownNameError: no such game, or several.
    """
    key, stored = game_found(ledger.journal_of_moment, game)
    connection = ledger.views.connection
    row = queries.first_row(connection, queries.GAME, (stored.position,))
    assert row is not None
    pool = next(pool for pool in ledger.pools() if pool.pool == row["pool"])
    called = names(ledger, {row[side] for side in _SIDES})
    ratings = dict.fromkeys(f"{side}_{when}" for side in _SIDES for when in ("before", "after"))
    if row["reason"] is None:
        states = PlayerStates(connection, pool)
        for side in _SIDES:
            found = queries.first_row(connection, queries.SIDE_OF_GAME, (pool.pool, row[side], row["position"]))
            assert found is not None
            placed = {**found, "rated_ms": row["rated_ms"], "batch": row["batch"]}
            ratings[f"{side}_before"] = states.rating_before_game(placed)
            ratings[f"{side}_after"] = states.after_game(placed).rating
    return {
        "game": key,
        "white": called[row["white"]],
        "black": called[row["black"]],
        "result": _RESULT.get(row["outcome"]),
        "termination": row["termination"],
        "half_moves": row["half_moves"],
        "ended_at": row["ended_at"],
        "pool": pool.name,
        "tournament": row["tournament"],
        "round": row["round"],
        "reason": row["reason"],
        **ratings,
        "in_force": None if row["reason"] is not None else in_force_from(row["rated_ms"]),
        "entry": row["position"],
    }
