"""Which games of one name belong together: the editions of a tournament, and which of them is meant.

What an edition is, ``book.tournaments`` says, for the ratings as for everything that shows a tournament. Where a pool
rates tournaments whole, the same number of quiet days parts two editions here; elsewhere ``QUIET_DAYS`` do, and a date
that tells a year or month only parts nothing within that year or month.

A round without a game belongs to the edition that was opened for its day, else to the one that was played that day,
else to the nearest one that is no further away than what parts two editions; it parts and joins none itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ledger.answers.crosstables import event_games
from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.crosstables.kinds import Announced
from ledger.answers.wording import day
from ledger.book import stored_rounds, tournaments
from ledger.book.stored_rounds import StoredRound
from ledger.book.timeline import Pool
from ledger.book.tournaments import Edition
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.ratings import queries
from ledger.runtime.nearest import did_you_mean

if TYPE_CHECKING:
    import sqlite3

QUIET_DAYS = 60.0  # without a game; a league pauses over Christmas for less, a yearly tournament for more
_VOIDED = (
    "SELECT voided_by FROM games WHERE pool = ? AND tournament = ? AND reason IS NOT NULL AND voided_by IS NOT NULL "
    "LIMIT 1"
)
_OPENINGS = "SELECT tournament, starts_ms, format, entrants, rounds FROM openings WHERE pool = ?1"


class Chosen(NamedTuple):
    """One edition among those of its name.

    Attributes:
        edition: its first and last millisecond.
        number: its place among them, from 1.
        of: how many there are.
    """

    edition: Edition
    number: int
    of: int


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


def announced_by_name(connection: sqlite3.Connection, pool: Pool) -> dict[tuple[str, int], Announced]:
    """By tournament and first millisecond, what announcements say of editions."""
    found: dict[tuple[str, int], Announced] = {}
    for row in queries.dictionaries(connection, _OPENINGS, (pool.pool,)):
        found[row["tournament"], row["starts_ms"]] = Announced(row["format"], row["entrants"], row["rounds"])
    return found


def choose(tournament: str, every: Sequence[Edition], word: str | None) -> Chosen:
    """The edition of *every* that a year, month or day falls into; the last one where none is given.

    Raises:
        UnknownNameError: no edition has a game then, or several have: all are listed.
        MalformedError: that is no instant.
    """
    if word is None:
        return Chosen(every[-1], len(every), len(every))
    try:
        first, last = instant_ms(word), instant_end_ms(word)
    except ValueError as error:
        raise MalformedError([f"an edition is named by a year or a day: {error}"]) from None
    meant = [number for number, edition in enumerate(every, 1) if edition.first_ms <= last and first <= edition.last_ms]
    if len(meant) != 1:
        spans = ", ".join(f"{day(edition.first_ms)} to {day(edition.last_ms)}" for edition in every)
        found = f"{len(meant)} editions lie in it" if meant else "none lies in it"
        raise UnknownNameError("edition", word, f"{found}; there are: {spans}", where=f"of {tournament!r}")
    return Chosen(every[meant[0] - 1], meant[0], len(every))


def within(games: Iterable[EventGame], edition: Edition) -> list[EventGame]:
    """Those of the games that belong to an edition, in their order."""
    return [game for game in games if edition.first_ms <= game.ended_ms <= edition.last_ms]


def refuse_unknown(connection: sqlite3.Connection, pool: Pool, tournament: str) -> NoReturn:
    """Say that no game that counts carries a name: because they are voided, or which name was most likely meant.

    Raises:
        UnknownNameError: always.
    """
    where = f"with games in {pool.name!r}"
    voided = connection.execute(_VOIDED, (pool.pool, tournament)).fetchone()
    if voided is not None:
        hint = f"they are voided by proposal {voided[0]}: 'correct DB show {voided[0]}' says why"
        raise UnknownNameError("tournament", tournament, hint, where=f"{where} that stand")
    names = sorted({*event_games.names_in(connection, pool), *stored_rounds.names_in(connection, pool)})
    inside = sorted(name for name in names if tournament.casefold() in name.casefold())[:3]
    like = did_you_mean(tournament, names) or (f"did you mean {' or '.join(map(repr, inside))}? " if inside else "")
    raise UnknownNameError("tournament", tournament, f"{like}'tournaments' lists them", where=where)
