"""Initial ratings: where a player begins in a pool, and whether a rating to begin with has an effect there.

A declared rating and the rating of a list count where a player begins: with the first rated game of a pool, or where a
change of scheme lets everybody begin again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ledger.book.decisions import AFTER_ALL
from ledger.book.roster import FROM_THE_BEGINNING, standing_sql
from ledger.book.timeline import Pool
from ledger.facts.events import (
    Event,
    PlayerChanged,
    RatingSeeded,
)
from ledger.facts.instants import instant_ms
from ledger.facts.words import Carry, Standing

if TYPE_CHECKING:
    import sqlite3


TOO_LATE = "after-the-first-game"  # the refusal of a declared rating that has no effect


_FIRST_END = "SELECT ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n = 1"
_FIRST_SEED = "SELECT min(effective_ms) AS since_ms FROM seeds WHERE pool = ?1 AND player = ?2"
_NEXT_LIST = (
    "SELECT effective_at FROM seeds WHERE pool = ?1 AND player = ?2 AND effective_ms > ?3 ORDER BY effective_ms LIMIT 1"
)
_BORN_IN = "SELECT birth_year FROM players WHERE player = ?1"
_LISTED_FROM = "SELECT player, effective_ms FROM seeds WHERE pool = ?1 AND player IN (SELECT value FROM json_each(?2))"
_BIRTHS_AND_STANDINGS = (
    f"SELECT player, birth_year, {standing_sql('players', '?2')} AS standing FROM players "
    "WHERE player IN (SELECT value FROM json_each(?1))"
)


class InitialRatingEffect(NamedTuple):
    """The beginning of a player in a pool.

    Attributes:
        pool: name of the pool.
        first_ms: when the first rated game ended; None if there is none yet.
        takes_effect: True if an initial rating from the instant in question has an effect there.
        is_listed: True if it has none because the rating of a list goes before it.
    """

    pool: str
    first_ms: int | None
    takes_effect: bool
    is_listed: bool = False


def effect_in_pool(
    connection: sqlite3.Connection, pool: Pool, player: int, since_ms: int, *, declared: bool
) -> InitialRatingEffect:
    """Return where a player begins in a pool, and whether an initial rating from *since_ms* on has an effect there.

    Args:
        connection: the views, level with the journal.
        pool: the pool.
        player: number of the player.
        since_ms: from when the rating holds, milliseconds.
        declared: it is a declared rating; the rating of a list goes before it.
    """
    ends = _rows(connection, _FIRST_END, (pool.pool, player))
    first_ms = ends[0][0] if ends else None
    # A list applies from its day on, whatever was played before.
    if not declared:
        return InitialRatingEffect(pool.name, first_ms, takes_effect=True)
    begin = seed_effect(pool, first_ms, since_ms)
    since = _rows(connection, _FIRST_SEED, (pool.pool, player))[0][0] if begin.takes_effect else None
    if since is None:
        return begin
    # A list that holds only after the player begins takes_effect nothing away: a late game may have come before it.
    takes_effect = seed_effect(pool, first_ms, since_ms, since).takes_effect
    return begin._replace(takes_effect=takes_effect, is_listed=not takes_effect)


def has_initial_rating(event: Event) -> TypeGuard[RatingSeeded | PlayerChanged]:
    """Return whether an event has an initial rating: that of a list, or a declared one."""
    return isinstance(event, RatingSeeded) or (isinstance(event, PlayerChanged) and event.declared_rating is not None)


def effects_in_pools(
    connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged
) -> list[InitialRatingEffect]:
    """Return where the player begins in each pool that an initial rating concerns.

    Args:
        connection: the views.
        pools: all pools.
        event: the rating of a list, or a change with a declared rating.
    """
    declared = isinstance(event, PlayerChanged)
    concerned = [pool for pool in pools if isinstance(event, PlayerChanged) or pool.name == event.pool]
    since_ms = FROM_THE_BEGINNING if event.effective_at is None else instant_ms(event.effective_at)
    return [effect_in_pool(connection, pool, event.player, since_ms, declared=declared) for pool in concerned]


def next_list(connection: sqlite3.Connection, pool: Pool, seed: RatingSeeded) -> str | None:
    """Return the day of the player's next list in that pool, from which on its rating holds instead."""
    since_ms = FROM_THE_BEGINNING if seed.effective_at is None else instant_ms(seed.effective_at)
    lists = _rows(connection, _NEXT_LIST, (pool.pool, seed.player, since_ms))
    return lists[0][0] if lists else None


def seed_effect(pool: Pool, first_ms: int | None, since_ms: int, until_ms: int = AFTER_ALL) -> InitialRatingEffect:
    """Return where a player begins in a pool, and whether an initial rating has an effect there.

    Args:
        pool: the pool.
        first_ms: when the first rated game ended, milliseconds; None if there is none yet, which may end at any time.
        since_ms: from when the rating holds.
        until_ms: from when another one holds instead.
    """
    restarts = (era.since_ms for era in pool.eras[1:] if era.carry is Carry.RESTART)
    begins = (since_ms if first_ms is None else first_ms, *restarts)
    return InitialRatingEffect(pool.name, first_ms, any(since_ms <= ms < until_ms for ms in begins))


def seed_instants(connection: sqlite3.Connection, pool: Pool, players: Sequence[int]) -> set[tuple[int, int]]:
    """Return which of these players a list has in a pool, each with the instant, milliseconds, from when it holds."""
    return {(player, ms) for player, ms in _rows(connection, _LISTED_FROM, (pool.pool, json.dumps(players)))}


class BirthAndStanding(NamedTuple):
    """The year of birth and the standing of a registered player."""

    birth_year: int | None
    standing: str


def births_and_standings(
    connection: sqlite3.Connection, players: Sequence[int], ms: int
) -> dict[int, BirthAndStanding]:
    """Return the facts of registered players at an instant."""
    rows = _rows(connection, _BIRTHS_AND_STANDINGS, (json.dumps(players), ms))
    return {player: BirthAndStanding(born, standing) for player, born, standing in rows}


def standing_at(connection: sqlite3.Connection, player: int, ms: int) -> str:
    """Return the standing in force at an instant; that of a full member if the player is not registered."""
    people = births_and_standings(connection, [player], ms)
    return people[player].standing if player in people else Standing.FULL


def birth_year(connection: sqlite3.Connection, player: int) -> int | None:
    """Return the year of birth, as registered or learnt later."""
    rows = _rows(connection, _BORN_IN, (player,))
    return rows[0][0] if rows else None


def _rows(connection: sqlite3.Connection, query: str, arguments: tuple[object, ...]) -> list[Any]:
    return connection.execute(query, arguments).fetchall()
