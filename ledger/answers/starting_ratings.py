"""The rating in another pool with which a player began in a pool, such as the standard rating in rapid (FIDE 7.2.1)."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from ledger.answers.asking import day, in_force_from, in_one_snapshot
from ledger.book.roster import FROM_THE_BEGINNING
from ledger.book.timeline import Pool
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.publishing.publications import Publications
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState


@attrs.frozen(kw_only=True, slots=False)
class StartFromPool:
    """The rating in another pool with which a player began in this one."""

    pool: str = documented("the other pool")
    rating: float = documented("the rating in force there before the first game here, points")
    list_: str | None = documented(
        "the list that stated it: its name, else the day from which it was in force; null: from the beginning"
    )


@in_one_snapshot
def start_from_pool(ledger: OpenLedger, pool: Pool, player: int, games: Collection[int]) -> StartFromPool | None:
    """Return the rating in another pool with which a player began with one of some *games*; None if with none."""
    if not pool.from_pools:
        return None
    row = queries.fetch_first(ledger.views.connection, queries.ROW, (pool.pool, player, 1))
    if row is None or row["game"] not in games:
        return None
    starts = ledger.views.states(pool).starts
    state = starts.begin(player, row["ended_ms"])[1]
    name = pool.eras[pool.era_at(row["ended_ms"])].from_pool
    if state is None or state.in_force is None or name is None:
        return None
    list_ = _list_of(ledger, ledger.pool(name), state, starts.first_day(player, row["ended_ms"]))
    return StartFromPool(pool=name, rating=state.in_force, list_=list_)


def _list_of(ledger: OpenLedger, pool: Pool, state: PlayerState, ms: int) -> str | None:
    """Return the list that stated a rating at an instant."""
    seed = ledger.views.states(pool).seed_at(state.player, ms)
    if seed is not None and (state.row is None or seed.ms >= state.row["rated_ms"]):
        return seed.source or (None if seed.ms == FROM_THE_BEGINNING else day(seed.ms))
    if state.row is None:
        return None
    rated_ms = state.row["rated_ms"]
    stating = [each for each in Publications(ledger).all(pool.name) if rated_ms <= each.at_ms < ms]
    last = max(stating, key=lambda each: (each.at_ms, each.position), default=None)
    return in_force_from(rated_ms) if last is None else last.name
