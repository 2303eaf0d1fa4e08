"""The editions of a tournament: which games and rounds without a game of one name belong together.

What an edition is, ``timeline`` says, for the ratings as for everything that shows a tournament. Where a pool rates
tournaments whole, the same number of quiet days parts two editions here; elsewhere ``QUIET_DAYS`` do, and a date that
has a year or month only separates nothing within that year or month.

A round without a game belongs to the edition that was opened for its day, else to the one that was played that day,
else to the nearest one that is no further away than what parts two editions; it parts and joins none itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ledger.book import decisions, whole_tournaments
from ledger.book.stored_pools import stored_pools
from ledger.book.stored_proposals import StoredProposals
from ledger.book.timeline import Pool
from ledger.book.whole_tournaments import Edition
from ledger.facts.events import RoundWithoutGame
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS

if TYPE_CHECKING:
    import sqlite3


_OF_NAMES = (
    "SELECT tournament, edition_ms, edition, round, player, brings, half_points, position, opponent, colour "
    "FROM rounds_without_game "
    "WHERE pool = ?1 AND tournament IN (SELECT value FROM json_each(?2)) ORDER BY tournament, edition_ms, position"
)
# Changes of a recorded round concern its key, whatever its fields have become.
_CORRECTED = (
    "SELECT DISTINCT subject FROM corrections "
    "WHERE subject >= 'round:' AND subject < 'round;' AND json_extract(change, '$.entry') = ?"
)
_NAMES = "SELECT DISTINCT tournament FROM rounds_without_game WHERE pool = ?"
_NAMES_SINCE = "SELECT DISTINCT tournament FROM rounds_without_game WHERE pool = ? AND edition_ms BETWEEN ? AND ?"
_NAMES_OF_PLAYERS = (
    "SELECT DISTINCT tournament FROM rounds_without_game "
    "WHERE player IN (SELECT value FROM json_each(?2)) AND pool = ?1"
)


class OfEdition(Protocol):
    """A stored fact about an edition that names it by a day."""

    @property
    def edition_ms(self) -> int:
        """The first millisecond of that day."""

    @property
    def last_ms(self) -> int:
        """Its last millisecond."""


class StoredRound(NamedTuple):
    """A round without a game in its current form.

    Attributes:
        tournament: name of the tournament.
        edition_ms: the first millisecond of the reported day of the edition.
        edition: that day as it was reported.
        round: its number; None where rounds have none.
        player: the person, after all merges.
        brings: a word of ``facts.words.Brings``.
        half_points: what it brings.
        position: of the entry that recorded it.
        opponent: the person with whom the round was paired; None for nobody.
        colour: a word of ``facts.words.Colour``, in that pairing.
    """

    tournament: str
    edition_ms: int
    edition: str
    round: int | None
    player: int
    brings: str
    half_points: int
    position: int
    opponent: int | None = None
    colour: str | None = None

    @property
    def last_ms(self) -> int:
        """The last millisecond of the reported day."""
        return instant_end_ms(self.edition)


def stored_round(event: RoundWithoutGame, position: int) -> StoredRound:
    """Return a round without a game as it would be read from an entry at a position."""
    return StoredRound(
        event.tournament,
        instant_ms(event.edition),
        event.edition,
        event.round,
        event.player,
        event.brings.value,
        event.worth,
        position,
        event.opponent,
        None if event.colour is None else event.colour.value,
    )


def tournaments_with_rounds(connection: sqlite3.Connection, pool: Pool) -> list[str]:
    """Return the names of a pool's tournaments with such rounds."""
    return [name for (name,) in connection.execute(_NAMES, (pool.pool,))]


def tournaments_with_rounds_since(connection: sqlite3.Connection, pool: Pool, ms: int, until: int) -> list[str]:
    """Return the names with a reported day of an edition between two instants."""
    return [name for (name,) in connection.execute(_NAMES_SINCE, (pool.pool, ms, until))]


def max_distance_ms(pool: Pool, quiet_days: float | None) -> int:
    """Return how many milliseconds apart two games of one edition may be, if it was not announced."""
    days = QUIET_DAYS if quiet_days is None else min(quiet_days, _AGES)
    return max(int(max(days, _VAGUE) + 1) * DAY_MS, pool.reach_ms)


def tournaments_with_rounds_of(connection: sqlite3.Connection, pool: Pool, player: int) -> list[str]:
    """Return the names with such rounds of a person."""
    decided = StoredProposals(connection)
    numbers = sorted(decisions.numbers_of_person(decided.merges, player))
    return [name for (name,) in connection.execute(_NAMES_OF_PLAYERS, (pool.pool, json.dumps(numbers)))]


def rounds_of(connection: sqlite3.Connection, pool: Pool, names: Collection[str]) -> dict[str, list[StoredRound]]:
    """Return the rounds without a game by name of their tournament, of all editions; voided ones are left out."""
    rounds: dict[str, list[StoredRound]] = {}
    rows = connection.execute(_OF_NAMES, (pool.pool, json.dumps(sorted(names)))).fetchall()
    # as nearly always: nothing else is asked then
    if not rows:
        return rounds
    decided = StoredProposals(connection)
    for row in rows:
        stored = StoredRound._make(row)
        # only then is it worth asking which changes are of the round alone
        if decided.range_changes_for_tournament(pool.name, stored.tournament):
            subjects = [subject for (subject,) in connection.execute(_CORRECTED, (stored.position,))]
            changes = [change for of_one in decided.approved_changes(subjects).values() for change in of_one]
            if annulled_by(decided, pool.name, stored, decisions.combined_change(changes)) is not None:
                continue
        person = decisions.person_of(decided.merges, stored.player)
        opponent = None if stored.opponent is None else decisions.person_of(decided.merges, stored.opponent)
        rounds.setdefault(stored.tournament, []).append(stored._replace(player=person, opponent=opponent))
    return rounds


def annulled_by(
    decided: StoredProposals,
    pool: str,
    stored: StoredRound,
    in_force: decisions.CombinedChange,
    *,
    until: int | None = None,
) -> int | None:
    """Return the proposal that annulled a round without a game, alone or with others; None if it is in force.

    Args:
        decided: the proposals.
        pool: name of the pool.
        stored: the round, with its corrected fields.
        in_force: the changes of the round alone.
        until: the last entry whose decisions count; by default all that were applied.
    """
    spans = decided.range_changes_for_tournament(pool, stored.tournament, until=until)
    times = ((span, *decisions.span_ms(span.change)) for span in spans)
    of_its_time = [span for span, first, last in times if first <= stored.last_ms and stored.edition_ms <= last]
    return in_force.annulled_by([*of_its_time, *decided.range_changes_for_entry(stored.position, until=until)])


_ENDS = (  # read if a round is repeated under another day, which is rare: it has no index
    "SELECT ended_ms, min(ended_at) FROM games WHERE pool = ? AND tournament = ? AND voided_by IS NULL "
    "GROUP BY ended_ms ORDER BY ended_ms"
)
_VAGUE, _AGES = 366, 1e9  # days: a date may have its year alone; more days than there are
QUIET_DAYS = 60.0  # without a game; a league pauses over Christmas for less, a yearly tournament for more


def editions_by_end(
    pool: Pool, tournament: str, ends: Mapping[int, str], quiet_days: float | None
) -> dict[int, Edition]:
    """Return the edition of each game of a tournament, by end of the game.

    Args:
        pool: the pool.
        tournament: its name.
        ends: when its games ended, milliseconds, ascending, each with the date as it was recorded.
        quiet_days: more days than these without a game part two editions; None: as the module says.
    """
    # If a date is the beginning of the one before, it is a year or month alone: it is unknown how many days lie
    # between.
    vague = {end for (_, before), (end, date) in pairwise(ends.items()) if date.startswith(before)}

    def gap(end: int) -> float:
        if quiet_days is None and (days := pool.gap_before(end)):
            return days
        return inf if end in vague else QUIET_DAYS if quiet_days is None else quiet_days

    return whole_tournaments.group_into_editions(list(ends), gap, pool.announcements(tournament))


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
    """Return the editions of a name, including those with rounds without a game only.

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
    announced = pool.announcements(tournament)
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
    by_day = whole_tournaments.group_into_editions(
        days_alone, lambda _: QUIET_DAYS if quiet_days is None else quiet_days, announced
    )
    for bye in alone:
        rounds.setdefault(by_day[bye.edition_ms], []).append(bye)
    return Editions(sorted({*played, *rounds}), rounds)


def may_share_edition(first: RoundWithoutGame, second: RoundWithoutGame) -> bool:
    """Return whether two reports of one round would be of one edition if the tournament had no other facts."""
    # rounds without a number are distinguished by their days alone
    days = abs(instant_ms(first.edition) // DAY_MS - instant_ms(second.edition) // DAY_MS)
    return first.round is not None and days <= QUIET_DAYS


def find_in_same_edition(
    connection: sqlite3.Connection, event: RoundWithoutGame, reports: Sequence[RoundWithoutGame]
) -> RoundWithoutGame | None:
    """Return, of the rounds of one number, player and name, the one of the same edition as another report.

    Args:
        connection: the views.
        event: the other report.
        reports: those that are known, the one under its own key among them.
    """
    own = next((report for report in reports if report.key == event.key), None)
    if own is not None:
        return own
    pool = next((pool for pool in stored_pools(connection) if pool.name == event.pool), None)
    # rounds without a number are distinguished by their days alone
    if pool is None or event.round is None:
        return None
    byes = [stored_round(report, position) for position, report in enumerate((event, *reports))]
    ends = dict(connection.execute(_ENDS, (pool.pool, event.tournament)).fetchall())
    for together in editions_of(pool, event.tournament, ends, byes, None).rounds.values():
        if byes[0] in together:
            # Position 0 is the other report itself.
            return next((reports[bye.position - 1] for bye in together if bye.position), None)
    return None


def edition_meant(pool: Pool, tournament: str, stored: OfEdition, every: Sequence[Edition]) -> Edition | None:
    """Return the edition of a name that a stored fact is about, as of rounds without a game; None: none is near."""
    announced = pool.announcements(tournament)
    opened = announced.editions()
    over = {*announced.closed, *(edition.last_ms for edition in opened)}
    return _meant(stored, opened, every, over, pool.gap_before(stored.edition_ms) or QUIET_DAYS)


def _meant(
    bye: OfEdition, opened: Sequence[Edition], played: Sequence[Edition], over: Iterable[int], days: float
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
        elif edition.last_ms not in over:  # a closed edition has no later day
            near.append((bye.edition_ms // DAY_MS - edition.last_ms // DAY_MS, edition))
    nearest = min(near, default=None)
    return nearest[1] if nearest is not None and nearest[0] <= days else None
