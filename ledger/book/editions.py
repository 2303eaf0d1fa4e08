"""Which games and rounds without a game of one name belong together: the editions of a tournament.

What an edition is, ``tournaments`` says, for the ratings as for everything that shows a tournament. Where a pool rates
tournaments whole, the same number of quiet days parts two editions here; elsewhere ``QUIET_DAYS`` do, and a date that
tells a year or month only parts nothing within that year or month.

A round without a game belongs to the edition that was opened for its day, else to the one that was played that day,
else to the nearest one that is no further away than what parts two editions; it parts and joins none itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ledger.book import stored_rounds, tournaments
from ledger.book.stored_pools import stored_pools
from ledger.book.stored_rounds import StoredRound
from ledger.book.timeline import Pool
from ledger.book.tournaments import Edition
from ledger.facts.events import RoundWithoutGame
from ledger.facts.periods import DAY_MS

if TYPE_CHECKING:
    import sqlite3

_ENDS = (  # read where a round is told again under another day, which is seldom: no index is kept for it
    "SELECT ended_ms, min(ended_at) FROM games WHERE pool = ? AND tournament = ? AND voided_by IS NULL "
    "GROUP BY ended_ms ORDER BY ended_ms"
)
QUIET_DAYS = 60.0  # without a game; a league pauses over Christmas for less, a yearly tournament for more


def editions_by_end(
    pool: Pool, tournament: str, ends: Mapping[int, str], quiet_days: float | None
) -> dict[int, Edition]:
    """By end of a game, its edition.

    Args:
        pool: the pool.
        tournament: its name.
        ends: when its games ended, milliseconds, ascending, each with the date as it was recorded.
        quiet_days: more days than these without a game part two editions; None: as the module says.
    """
    vague = {end for (_, before), (end, date) in pairwise(ends.items()) if date.startswith(before)}

    def gap(end: int) -> float:
        if quiet_days is None and (days := pool.gap_before(end)):
            return days
        return inf if end in vague else QUIET_DAYS if quiet_days is None else quiet_days

    return tournaments.editions(list(ends), gap, pool.announced(tournament))


class Editions(NamedTuple):
    """The editions of one name.

    Attributes:
        every: all of them, in order.
        rounds: by edition, the rounds without a game that belong to it.
    """

    every: list[Edition]
    rounds: Mapping[Edition, list[StoredRound]]


def editions_of(
    pool: Pool, tournament: str, ends: Mapping[int, str], byes: Sequence[StoredRound], quiet_days: float | None
) -> Editions:
    """The editions of a name, those of which only rounds without a game are told among them.

    Args:
        pool: the pool.
        tournament: the name.
        ends: as of ``editions_by_end``.
        byes: the rounds without a game of that name.
        quiet_days: as of ``editions_by_end``.
    """
    played = sorted(set(editions_by_end(pool, tournament, ends, quiet_days).values()))
    if not byes:
        return Editions(played, {})
    announced = pool.announced(tournament)
    opened = announced.editions()
    over = {*announced.closed, *(edition.last_ms for edition in opened)}
    rounds: dict[Edition, list[StoredRound]] = {}
    alone: list[StoredRound] = []
    for bye in byes:
        days = quiet_days if quiet_days is not None else pool.gap_before(bye.edition_ms) or QUIET_DAYS
        edition = _meant(bye, opened, played, over, days)
        if edition is None:
            alone.append(bye)
        else:
            rounds.setdefault(edition, []).append(bye)
    days_alone = sorted({bye.edition_ms for bye in alone})
    found = tournaments.editions(days_alone, lambda _: QUIET_DAYS if quiet_days is None else quiet_days, announced)
    for bye in alone:
        rounds.setdefault(found[bye.edition_ms], []).append(bye)
    return Editions(sorted({*played, *rounds}), rounds)


def in_edition(
    connection: sqlite3.Connection, event: RoundWithoutGame, known: Sequence[RoundWithoutGame]
) -> RoundWithoutGame | None:
    """Of the rounds of one number, player and name, the one that is of the same edition as another telling.

    Args:
        connection: the views.
        event: the other telling.
        known: those that are known, the one under its own key among them.
    """
    own = next((telling for telling in known if telling.key == event.key), None)
    if own is not None:
        return own
    pool = next((pool for pool in stored_pools(connection) if pool.name == event.pool), None)
    if pool is None or event.round is None:  # rounds without a number are told apart by their days alone
        return None
    byes = [stored_rounds.as_stored(telling, position) for position, telling in enumerate((event, *known))]
    ends = dict(connection.execute(_ENDS, (pool.pool, event.tournament)).fetchall())
    for together in editions_of(pool, event.tournament, ends, byes, None).rounds.values():
        if byes[0] in together:
            return next((known[bye.position - 1] for bye in together if bye.position), None)
    return None


def _meant(
    bye: StoredRound, opened: Sequence[Edition], played: Sequence[Edition], over: Iterable[int], days: float
) -> Edition | None:
    """The edition that a round without a game belongs to; None where none is near."""
    last_ms = bye.last_ms
    for edition in (*opened, *played):
        if edition.first_ms <= last_ms and bye.edition_ms <= edition.last_ms:
            return edition
    near: list[tuple[int, Edition]] = []
    for edition in played:
        if last_ms < edition.first_ms:
            near.append((edition.first_ms // DAY_MS - last_ms // DAY_MS, edition))
        elif edition.last_ms not in over:  # what was told to be over has no later day
            near.append((bye.edition_ms // DAY_MS - edition.last_ms // DAY_MS, edition))
    nearest = min(near, default=None)
    return nearest[1] if nearest is not None and nearest[0] <= days else None
