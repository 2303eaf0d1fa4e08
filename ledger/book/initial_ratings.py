"""Initial ratings of players in a pool, declared or from a list: whether one takes effect, and from when on.

They take effect where a player begins: with the first rated game of a pool, or where a change of scheme lets everybody
begin again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ledger.book.decisions import AFTER_ALL
from ledger.book.roster import FROM_THE_BEGINNING, standing_sql
from ledger.book.timeline import Pool
from ledger.facts.events import Event, PlayerChanged, RatingSeeded
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
    """The effect of an initial rating of a player in a pool.

    Attributes:
        pool: name of the pool.
        first_ms: when the first rated game ended; None if there is none yet.
        takes_effect: True if the initial rating has an effect there.
        is_listed: True if it has none because the rating of a list takes precedence.
    """

    pool: str
    first_ms: int | None
    takes_effect: bool
    is_listed: bool = False


def has_initial_rating(event: Event) -> TypeGuard[RatingSeeded | PlayerChanged]:
    """Return whether an event gives a player an initial rating: one of a list, or a declared one."""
    return isinstance(event, RatingSeeded) or (isinstance(event, PlayerChanged) and event.declared_rating is not None)


def effects_in_pools(
    connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged
) -> list[InitialRatingEffect]:
    """Return the effects of an initial rating: of a list rating in its pool, of a declared rating in all *pools*."""
    since_ms = FROM_THE_BEGINNING if event.effective_at is None else instant_ms(event.effective_at)
    effects = []
    for pool in pools:
        if isinstance(event, RatingSeeded) and pool.name != event.pool:
            continue
        ends = _rows(connection, _FIRST_END, (pool.pool, event.player))
        first_ms = ends[0][0] if ends else None
        if isinstance(event, RatingSeeded):
            # A list applies from its day on, whatever was played before.
            effects.append(InitialRatingEffect(pool.name, first_ms, takes_effect=True))
            continue
        effect = seed_effect(pool, first_ms, since_ms)
        listed_ms = _rows(connection, _FIRST_SEED, (pool.pool, event.player))[0][0] if effect.takes_effect else None
        if listed_ms is not None:
            # A list that holds only after the player begins takes nothing away: a late game may have come before it.
            takes_effect = seed_effect(pool, first_ms, since_ms, listed_ms).takes_effect
            effect = effect._replace(takes_effect=takes_effect, is_listed=not takes_effect)
        effects.append(effect)
    return effects


def next_list(connection: sqlite3.Connection, pool: Pool, seed: RatingSeeded) -> str | None:
    """Return the day of the player's next list rating in a pool, which holds from then on; None without one."""
    since_ms = FROM_THE_BEGINNING if seed.effective_at is None else instant_ms(seed.effective_at)
    lists = _rows(connection, _NEXT_LIST, (pool.pool, seed.player, since_ms))
    return lists[0][0] if lists else None


def seed_effect(pool: Pool, first_ms: int | None, since_ms: int, until_ms: int = AFTER_ALL) -> InitialRatingEffect:
    """Return the effect of an initial rating in a pool, if no list rating takes precedence.

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
    """Return the list ratings of players in a pool: pairs of player and instant in milliseconds since 1970.

    Each holds from its instant on.
    """
    return {(player, ms) for player, ms in _rows(connection, _LISTED_FROM, (pool.pool, json.dumps(players)))}


class BirthAndStanding(NamedTuple):
    """The year of birth and the membership status of a registered player."""

    birth_year: int | None
    standing: str


def births_and_standings(
    connection: sqlite3.Connection, players: Sequence[int], ms: int
) -> dict[int, BirthAndStanding]:
    """Return the years of birth of registered players, and their membership statuses at an instant."""
    rows = _rows(connection, _BIRTHS_AND_STANDINGS, (json.dumps(players), ms))
    return {player: BirthAndStanding(born, standing) for player, born, standing in rows}


def standing_at(connection: sqlite3.Connection, player: int, ms: int) -> str:
    """Return a player's membership status at an instant; a full member's if the player is not registered."""
    people = births_and_standings(connection, [player], ms)
    return people[player].standing if player in people else Standing.FULL


def birth_year(connection: sqlite3.Connection, player: int) -> int | None:
    """Return a player's year of birth, as registered or recorded later; None if unknown."""
    rows = _rows(connection, _BORN_IN, (player,))
    return rows[0][0] if rows else None


def _rows(connection: sqlite3.Connection, query: str, arguments: tuple[object, ...]) -> list[Any]:
    return connection.execute(query, arguments).fetchall()
