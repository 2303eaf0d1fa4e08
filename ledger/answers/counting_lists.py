"""The list in which games count: of an import, of its dry run, and of the games that wait when a list is published.

Only pools rated by period or event have such lists. A list is named by the first day on which it is in force.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import attrs

from ledger import schemes
from ledger.answers.asking import day, in_one_snapshot, list_day
from ledger.book.decisions import person_of
from ledger.book.guests import GameSides, Guests
from ledger.book.late_reports import KnownEdition, ReportedEdition
from ledger.book.roster import Roster
from ledger.book.stored_editions import known_editions, rated_editions
from ledger.book.stored_pools import era_of
from ledger.book.stored_proposals import load_merges
from ledger.book.timeline import Pool
from ledger.facts.events import PlayerEntered
from ledger.facts.instants import instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import OPEN
from ledger.facts.words import LateReports
from ledger.handle import OpenLedger
from ledger.recording.game_rows import DAY_ALONE, PlayedDay, PlayedSides

_WAITING = """
SELECT tournament, ended_ms, rated_ms FROM games
WHERE pool = ? AND reason IS NULL AND rated_ms > ? AND ended_ms <= ? ORDER BY position
"""


@attrs.frozen(kw_only=True, slots=False)
class CountingList:
    """The list in which games of a tournament count."""

    pool: str = documented("the pool")
    tournament: str | None = documented("name of the tournament; null: games of no tournament")
    games: int = documented("how many of its games", minimum=1)
    not_rated: int = documented("how many more of the report are of two guests, or of one without a rating", minimum=0)
    rated_on: str | None = documented("the day as of which they are rated; null: that of the next rating run")
    list_from: str | None = documented("the first day of the list in which they count; null: the same")
    late: bool = documented("whether the list of their own days was published before they were reported")
    revises: bool = documented("whether they count in that published list all the same, which is then revised")
    late_reports: LateReports = documented("where late reports count there: next-list or true-place")

    @property
    def words(self) -> str:
        """The list and the reason for it, in words."""
        if not self.not_rated:
            return self._where
        more = "1 game of guests is" if self.not_rated == 1 else f"{self.not_rated:,} games of guests are"
        return f"{self._where}; {more} not rated"

    @property
    def _where(self) -> str:
        if self.list_from is None:
            where = "in the list after the next rating run"
        else:
            where = f"in the list of {self.list_from}"
        if self.revises:
            return f"{where}, which is published and thereby revised (late_reports=true-place)"
        return f"{where}: the list of their own days is published (late_reports=next-list)" if self.late else where


class _Counted(NamedTuple):
    """A place of games of a tournament: in rating order, and in regard to the lists that are published."""

    rated_ms: int
    late: bool
    revises: bool


@in_one_snapshot
def counting_lists(
    ledger: OpenLedger,
    played: Mapping[PlayedDay, int],
    sides: Iterable[PlayedSides] = (),
    entrants: Iterable[PlayerEntered] = (),
) -> list[CountingList]:
    """Return the lists in which games reported now count, recorded or not.

    Args:
        ledger: the ledger.
        played: the number of games by pool, tournament and day.
        sides: their sides, if a pool has guests.
        entrants: the entrants of the reports, recorded or not.
    """
    pools = {pool.name: pool for pool in ledger.pools()}
    not_rated = _unrated_games(ledger, pools, sides, entrants)
    days: defaultdict[tuple[str, str | None], Counter[int]] = defaultdict(Counter)
    for (name, tournament, ended), number in played.items():
        days[name, tournament][instant_ms(ended)] += number - not_rated[name, tournament, ended]
    rows: list[CountingList] = []
    for (name, tournament), ends in days.items():
        pool = pools.get(name) or _new_pool(ledger, name)
        if not pool.by_game:
            of_tournament = sorted(_rows(pool, tournament, _places(ledger, pool, tournament, +ends)), key=_order)
            guests = sum(number for key, number in not_rated.items() if key[:2] == (name, tournament))
            rows += [attrs.evolve(row, not_rated=guests * (n == 0)) for n, row in enumerate(of_tournament)]
    return sorted(rows, key=_order)


def _unrated_games(
    ledger: OpenLedger, pools: Mapping[str, Pool], sides: Iterable[PlayedSides], entrants: Iterable[PlayerEntered]
) -> Counter[PlayedDay]:
    """Return the number of games that are not rated because of guests, by pool, tournament and day."""
    counts: Counter[PlayedDay] = Counter()
    connection = ledger.views.connection
    merges = load_merges(connection)
    guests = Guests(connection, Roster(connection), merges, entrants)
    for game in sides:
        pool, ended_ms = pools.get(game.pool) or _new_pool(ledger, game.pool), instant_ms(game.ended_at)
        players = (person_of(merges, game.white), person_of(merges, game.black))
        ratings = (game.white_rating, game.black_rating)
        met = GameSides(*players, game.tournament, ended_ms, None, *ratings)
        if guests.of_game(pool, pool.eras[pool.era_at(ended_ms)], met) is None:
            counts[game.pool, game.tournament, game.ended_at[:DAY_ALONE]] += 1
    return counts


@in_one_snapshot
def waiting_games(ledger: OpenLedger, pool: str | None, at_ms: int) -> list[CountingList]:
    """Return the games that ended by the instant of a list and count in a later one."""
    rated_by, connection = ledger.pool(pool), ledger.views.connection
    if rated_by.by_game:
        return []
    games = connection.execute(_WAITING, (rated_by.pool, at_ms, at_ms)).fetchall()
    editions = rated_editions(connection, ((rated_by, name, ended_ms) for name, ended_ms, _ in games))
    counts: defaultdict[str | None, Counter[_Counted]] = defaultdict(Counter)
    for name, ended_ms, rated_ms in games:
        edition = _last_form(editions.get(rated_by.pool, {}).get(name, {}).get(ended_ms))
        own_ms = rated_by.place(ended_ms, name, edition).rated_ms
        counts[name][_Counted(rated_ms, own_ms < rated_ms, revises=False)] += 1
    return sorted((row for name, of_name in counts.items() for row in _rows(rated_by, name, of_name)), key=_order)


def _new_pool(ledger: OpenLedger, name: str) -> Pool:
    """Return a pool that an import would make."""
    return Pool(0, name, (era_of(1, schemes.complete_adoption(ledger.first_scheme(), stored=True)),))


def _places(ledger: OpenLedger, pool: Pool, tournament: str | None, ends: Mapping[int, int]) -> Counter[_Counted]:
    """Return the number of games by place, of games of a tournament that end at some instants."""
    position = ledger.journal.size() + 1
    editions: Mapping[int, KnownEdition] = {}
    if tournament and pool.by_event:
        reported = [(end, position) for end in ends]
        editions = known_editions(ledger.views.connection, pool, tournament, min(ends), max(ends), reported)
    published_ms = pool.published.limits[-1]
    counts: Counter[_Counted] = Counter()
    for end, number in ends.items():
        edition = editions.get(end)
        rated_ms = pool.place(end, tournament, edition, position).rated_ms
        is_late = pool.place(end, tournament, _last_form(edition)).rated_ms <= published_ms
        if is_late or not pool.rates_single_games_at(rated_ms):
            counts[_Counted(rated_ms, is_late, rated_ms <= published_ms)] += number
    return counts


def _last_form(edition: KnownEdition | None) -> KnownEdition | None:
    return edition.editions[-1] if isinstance(edition, ReportedEdition) else edition


def _rows(pool: Pool, tournament: str | None, counts: Mapping[_Counted, int]) -> Sequence[CountingList]:
    return [
        CountingList(
            pool=pool.name,
            tournament=tournament or None,
            games=number,
            not_rated=0,
            rated_on=None if place.rated_ms == OPEN else day(place.rated_ms),
            list_from=list_day(pool, place.rated_ms),
            late=place.late,
            revises=place.revises,
            late_reports=LateReports.NEXT_LIST if _by_next_list(pool, place) else LateReports.TRUE_PLACE,
        )
        for place, number in counts.items()
    ]


def _by_next_list(pool: Pool, place: _Counted) -> bool:
    return not place.revises and (place.late or pool.eras[pool.era_at(place.rated_ms)].by_next_list)


def _order(row: CountingList) -> tuple[str, str, str, bool]:
    return row.pool, row.list_from or "A", row.tournament or "", row.late  # what has no list yet comes last
