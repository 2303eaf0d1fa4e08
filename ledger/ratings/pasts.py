"""Whether what is said of a player from before the first game can still act: asked of the views before it is recorded.

A declared rating and a seed count where a player begins: with the first rated game of a pool, or where a change of
scheme lets everybody begin anew. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.book.timeline import Pool
from ledger.facts.words import Carry
from ledger.ratings import queries

if TYPE_CHECKING:
    import sqlite3

_FIRST_END = "SELECT ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n = 1"
_HAS_SEED = "SELECT 1 AS found FROM seeds WHERE pool = ?1 AND player = ?2"
STANDING_OF = "SELECT standing FROM players WHERE player = ?1"
STANDING_AT = (
    "SELECT standing FROM changes WHERE player = ?1 AND effective_ms <= ?2 "
    "ORDER BY effective_ms DESC, effective_at DESC LIMIT 1"
)
BORN_IN = "SELECT birth_year FROM players WHERE player = ?1"


class Beginning(NamedTuple):
    """Where a player begins in a pool.

    Attributes:
        pool: name of the pool.
        first_ms: when the first rated game ended; None where there is none yet.
        takes: whether what holds from the instant that was asked about can still act there.
    """

    pool: str
    first_ms: int | None
    takes: bool


def beginning(connection: sqlite3.Connection, pool: Pool, player: int, since_ms: int, *, declared: bool) -> Beginning:
    """Where a player begins in a pool, and whether a past from *since_ms* on acts there.

    Args:
        connection: the views, level with the journal.
        pool: the pool.
        player: number of the player.
        since_ms: from when the past holds, milliseconds.
        declared: it is a declared rating, before which a seed goes.
    """
    row = queries.first_row(connection, _FIRST_END, (pool.pool, player))
    first_ms = None if row is None else int(row["ended_ms"])
    restarts = any(era.carry is Carry.RESTART and era.since_ms >= since_ms for era in pool.eras[1:])
    takes = first_ms is None or since_ms <= first_ms or restarts
    if takes and declared:
        takes = queries.first_row(connection, _HAS_SEED, (pool.pool, player)) is None
    return Beginning(pool.name, first_ms, takes)


def standing_at(connection: sqlite3.Connection, player: int, ms: int) -> str | None:
    """The standing in force at an instant; None for who is not registered."""
    row = queries.first_row(connection, STANDING_AT, (player, ms)) or queries.first_row(
        connection, STANDING_OF, (player,)
    )
    return None if row is None else str(row["standing"])


def birth_year(connection: sqlite3.Connection, player: int) -> int | None:
    """The year of birth, as registered or learnt later."""
    row = queries.first_row(connection, BORN_IN, (player,))
    return None if row is None else row["birth_year"]
