"""The views say where a player begins in a pool, and refuse an initial rating that could act nowhere.

A declared rating and the rating of a list count where a player begins: with the first rated game of a pool, or where a
change of scheme lets everybody begin again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from ledger.book.decisions import AFTER_ALL
from ledger.book.roster import FROM_THE_BEGINNING, standing_sql
from ledger.book.timeline import Pool
from ledger.errors import ConflictError, RejectedError
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    PlayerChanged,
    PlayerRegistered,
    RatingSeeded,
)
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.words import Carry, Standing
from ledger.journal import rules
from ledger.ratings import queries

if TYPE_CHECKING:
    import sqlite3


TOO_LATE = "after-the-first-game"  # the rule by which a rating to begin with that could not act is refused


_FIRST_END = "SELECT ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n = 1"
_FIRST_SEED = "SELECT min(effective_ms) AS since_ms FROM seeds WHERE pool = ?1 AND player = ?2"
NEXT_LIST = (
    "SELECT effective_at FROM seeds WHERE pool = ?1 AND player = ?2 AND effective_ms > ?3 ORDER BY effective_ms LIMIT 1"
)
BORN_IN = "SELECT birth_year FROM players WHERE player = ?1"
_LISTED_FROM = "SELECT player, effective_ms FROM seeds WHERE pool = ?1 AND player IN (SELECT value FROM json_each(?2))"
_KNOWN_OF = (
    f"SELECT player, birth_year, {standing_sql('players', '?2')} AS standing FROM players "
    "WHERE player IN (SELECT value FROM json_each(?1))"
)


class Beginning(NamedTuple):
    """Where a player begins in a pool.

    Attributes:
        pool: name of the pool.
        first_ms: when the first rated game ended; None where there is none yet.
        takes: whether what holds from the instant that was asked about can still act there.
        is_listed: whether it cannot because the rating of a list goes before it.
    """

    pool: str
    first_ms: int | None
    takes: bool
    is_listed: bool = False


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
    # A list applies from its day on, whatever was played before.
    if not declared:
        return Beginning(pool.name, first_ms, takes=True)
    begin = seed_effect(pool, first_ms, since_ms)
    first_seed = queries.first_row(connection, _FIRST_SEED, (pool.pool, player)) if begin.takes else None
    if first_seed is None or first_seed["since_ms"] is None:
        return begin
    # A list that holds only after the player begins takes nothing away: a late game may have come before it.
    takes = seed_effect(pool, first_ms, since_ms, first_seed["since_ms"]).takes
    return begin._replace(takes=takes, is_listed=not takes)


def may_be_late(event: Event) -> TypeGuard[RatingSeeded | PlayerChanged]:
    """Whether an event tells a rating to begin with, which could no longer act."""
    return isinstance(event, RatingSeeded) or (isinstance(event, PlayerChanged) and event.declared_rating is not None)


def beginnings(
    connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged
) -> list[Beginning]:
    """Where the player begins in each pool that a rating to begin with concerns.

    Args:
        connection: the views.
        pools: all pools, or that of a seed; one that is not among them is the business of other rules.
        event: a seed, or a change with a declared rating.
    """
    declared = isinstance(event, PlayerChanged)
    concerned = [pool for pool in pools if isinstance(event, PlayerChanged) or pool.name == event.pool]
    since_ms = FROM_THE_BEGINNING if event.effective_at is None else instant_ms(event.effective_at)
    return [beginning(connection, pool, event.player, since_ms, declared=declared) for pool in concerned]


def refuse_late(connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged) -> None:
    """Refuse a rating to begin with that could act nowhere any more.

    Args:
        connection: the views, level with the journal.
        pools: as of ``beginnings``.
        event: likewise.

    Raises:
        RejectedError: ``after-the-first-game``.
    """
    if starts := beginnings(connection, pools, event):
        what = "declared rating" if isinstance(event, PlayerChanged) else "rating"
        refuse_what_cannot_act(event.key, what, event.effective_at or "", starts)


def is_late(connection: sqlite3.Connection, pools: Sequence[Pool], event: RatingSeeded | PlayerChanged) -> bool:
    """Whether ``refuse_late`` refuses it."""
    try:
        refuse_late(connection, pools, event)
    except RejectedError:
        return True
    return False


def refuse_other_birth(connection: sqlite3.Connection, event: BirthYearLearnt, beside: rules.Beside) -> None:
    """Refuse another year of birth than registration told, or than one that is known by now.

    Args:
        connection: the views, level with the journal.
        event: what is learnt.
        beside: facts that come to stand together with it, the registration of the player perhaps among them.

    Raises:
        ConflictError: ``exists-with-different-birth-year``.
    """
    registered = beside.get(f"player:{event.player}", ())
    years = [other.birth_year for other in registered if isinstance(other, PlayerRegistered)]
    for year in (birth_year(connection, event.player), *years):
        if year not in {None, event.birth_year}:
            raise ConflictError(f"player:{event.player}", "birth_year", year, event.birth_year)


def next_list(connection: sqlite3.Connection, pool: Pool, seed: RatingSeeded) -> str | None:
    """The day of the next list that has the seed's player in that pool: from then on its rating holds instead."""
    since_ms = FROM_THE_BEGINNING if seed.effective_at is None else instant_ms(seed.effective_at)
    row = queries.first_row(connection, NEXT_LIST, (pool.pool, seed.player, since_ms))
    return None if row is None else str(row["effective_at"])


def seed_effect(pool: Pool, first_ms: int | None, since_ms: int, until_ms: int = AFTER_ALL) -> Beginning:
    """Where who played the first rated game at *first_ms* begins, and whether a past from *since_ms* on acts there.

    Args:
        pool: the pool.
        first_ms: when that game ended, milliseconds; None where there is none yet, which may end at any time.
        since_ms: from when the past holds.
        until_ms: from when something else holds instead.
    """
    restarts = (era.since_ms for era in pool.eras[1:] if era.carry is Carry.RESTART)
    begins = (since_ms if first_ms is None else first_ms, *restarts)
    return Beginning(pool.name, first_ms, any(since_ms <= ms < until_ms for ms in begins))


def listed_from(connection: sqlite3.Connection, pool: Pool, players: Sequence[int]) -> set[tuple[int, int]]:
    """The players among these whom a list has in a pool, each with the instant, milliseconds, from when it holds."""
    rows = queries.dictionaries(connection, _LISTED_FROM, (pool.pool, json.dumps(players)))
    return {(row["player"], row["effective_ms"]) for row in rows}


class Known(NamedTuple):
    """What is known of a registered player: year of birth, standing."""

    birth_year: int | None
    standing: str


def known_of(connection: sqlite3.Connection, players: Sequence[int], ms: int) -> dict[int, Known]:
    """What is known of registered players at an instant."""
    rows = queries.dictionaries(connection, _KNOWN_OF, (json.dumps(players), ms))
    return {row["player"]: Known(row["birth_year"], row["standing"]) for row in rows}


def refuse_what_cannot_act(key: str, what: str, since: str, beginnings: Sequence[Beginning]) -> None:
    """Refuse what can act nowhere.

    Args:
        key: of the refused entry.
        what: what it tells.
        since: from when it holds.
        beginnings: where the player begins, in each pool that it concerns.

    Raises:
        RejectedError: ``after-the-first-game``.
    """
    if any(begin.takes for begin in beginnings):
        return
    played = [
        (begin.first_ms, begin.pool) for begin in beginnings if begin.first_ms is not None and not begin.is_listed
    ]
    if not played:
        raise RejectedError(TOO_LATE, key, f"the rating of a list goes before this {what} in every pool")
    first_ms, pool = min(played)
    day = instant_text(first_ms, Precision.DAY)
    raise RejectedError(
        TOO_LATE,
        key,
        f"this {what} holds from {since}, after the player's first rated game in pool {pool!r}, of {day}, so that it "
        f"could not act; where the player began with it, give {day} or an earlier day, and the games are rated again",
    )


def standing_at(connection: sqlite3.Connection, player: int, ms: int) -> str:
    """The standing in force at an instant; that of a full member for who is not registered."""
    people = known_of(connection, [player], ms)
    return people[player].standing if player in people else Standing.FULL


def birth_year(connection: sqlite3.Connection, player: int) -> int | None:
    """The year of birth, as registered or learnt later."""
    row = queries.first_row(connection, BORN_IN, (player,))
    return None if row is None else row["birth_year"]
