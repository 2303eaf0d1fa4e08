"""The content of a tournament report: games and byes of one edition, its entrants, and earlier reports about it.

Entrants, starting numbers and the records of the heading are those of the reports that were imported. What they do not
state comes from the ledger: ratings in force at the start, data about players, days of rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.answers.asking import day, in_one_snapshot
from ledger.answers.crosstables import editions
from ledger.answers.crosstables.crosstable import counted_byes
from ledger.answers.crosstables.editions import EventFacts
from ledger.answers.crosstables.event_games import EventGame, LedgerRatings, games_by_player
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.player_details import details_at
from ledger.answers.sent_reports import byes_between, event_of, games_between, sent_reports
from ledger.book import decisions
from ledger.book.stored_proposals import load_merges
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import QUIET_DAYS, StoredRound
from ledger.errors import MalformedError
from ledger.facts.events import TournamentDescribed
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.facts.player_details import NO_DETAILS, PlayerDetails, arbiters_of_text
from ledger.handle import OpenLedger
from ledger.ratings import queries

if TYPE_CHECKING:
    import sqlite3

# TRF gives a name the columns 15 to 47, a number at FIDE 58 to 68 (RULES 7).
MAX_ROUNDS = 900
MAX_NAME = 33
MAX_FIDE_NUMBER = 11
DAY = 10  # characters of an instant that names a day
_OF_TOURNAMENT = "WHERE pool = ?1 AND tournament = ?2 ORDER BY edition_ms, number, position"
_KEYS = frozenset({"pool", "tournament", "edition", "number"})
DESCRIBED = tuple(field.name for field in attrs.fields(TournamentDescribed) if field.name not in _KEYS)


class ReportEntrant(NamedTuple):
    """A player of a report.

    Attributes:
        name: cut to its columns.
        fide: FIDE number or an empty text.
        rating: at the start; None for an unrated player.
        start_number: as a report gave it; None if none did.
        place: final place as a report gave it.
        details: data about the player at the start.
    """

    name: str
    fide: str
    rating: int | None
    start_number: int | None = None
    place: int | None = None
    details: PlayerDetails = NO_DETAILS


@attrs.frozen(kw_only=True)
class TrfReport:
    """The content of a report about one tournament.

    Attributes:
        first, last: its days, as precise as they are known.
        kind: a word of ``facts.words.Format``; None if it is unknown.
        entrants: by player number.
        rounds: the games of each round; a player has one game in each at most.
        byes: rounds without a game, each with the number of its round.
        described: what reports stated, by field of ``tournament-described/1``.
        chief, deputies: the arbiters.
        planned_rounds: how many there are to be, if it is known.
        pool: name of the pool of its games.
        edition: a day that names the edition.
        corrections: the results that were corrected since the last report was sent, in words.
    """

    name: str
    first: str
    last: str
    kind: str | None
    entrants: Mapping[int, ReportEntrant]
    rounds: Sequence[Sequence[EventGame]]
    byes: Sequence[StoredRound] = ()
    described: Mapping[str, Any] = attrs.field(factory=dict)
    chief: str | None = None
    deputies: Sequence[str] = ()
    planned_rounds: int | None = None
    pool: str = ""
    edition: str = ""
    corrections: Sequence[str] = ()

    @property
    def _is_on_last_day(self) -> bool:
        """True if a report put the games of all rounds on the last of several days."""
        days = {game.ended_at[:DAY] for games in self.rounds for game in games}
        return bool(self.described) and self.first < self.last and days == {self.last}

    def round_days(self) -> list[str | None]:
        """Return the day of each round: that of its games, else the reported one, else that of most games.

        Games of a report without the days of its rounds are put on its last day: that is no day of a round.
        """
        stated = str(self.described.get("round_days", "")).split()
        days: list[str | None] = []
        for number, games in enumerate(self.rounds):
            ended = Counter(game.ended_at[:DAY] for game in games if len(game.ended_at) >= DAY)
            reported = stated[number] if number < len(stated) and stated[number] != "-" else None
            most = min(ended, key=lambda day: (-ended[day], day), default=None)
            is_one_day = len(ended) == 1 and ended.total() == len(games)
            is_substitute = reported is None and self._is_on_last_day
            days.append(None if is_substitute else most if is_one_day or reported is None else reported)
        return days


@in_one_snapshot
def load_report(ledger: OpenLedger, selection: ExportFilter) -> TrfReport:
    """Return the content of the report of one tournament; days select one of several editions.

    Raises:
        UnknownNameError: there is no tournament of that name.
        MalformedError: names were not requested, or there are several editions, or players who cannot be told apart.
    """
    if selection.tournament is None:
        raise MalformedError(["a report is of one tournament: name it with --tournament"])
    if not selection.names:
        raise MalformedError(["a report names the players: allow it with --names"])
    number = ledger.pool(ledger.first_scheme().pool).pool if selection.pool is None else selection.pool
    pool = next(pool for pool in ledger.pools() if pool.pool == number)
    connection = ledger.views.connection
    event, every, is_part = _only_edition(connection, pool, selection.tournament, selection)
    announced = event.announced
    is_announced = announced is not None and not is_part
    first, last = (day(event.edition.first_ms), day(event.edition.last_ms)) if is_announced else event.days
    rounds = split_into_rounds(event.games)
    is_numbered = all(game.round_number == number for number, games in enumerate(rounds, 1) for game in games)
    # A bye names its round: among rounds that were made up of days it would be in a wrong one.
    counted = [bye for bye in counted_byes(event.games, event.byes) if bye.round] if is_numbered else []
    # A bye may lie in a round without a reported game.
    rounds += [[] for _ in range(max((bye.round or 0 for bye in counted), default=0) - len(rounds))]
    described = _described(_of_edition(connection, "descriptions", pool, event, every))
    entrants = _of_edition(connection, "entrants", pool, event, every)
    if is_part:  # of a league: who has nothing in the period is not in its report
        present = {player for game in event.games for player in game.players} | {bye.player for bye in counted}
        merges = load_merges(connection)
        entrants = [row for row in entrants if decisions.person_of(merges, row["player"]) in present]
    chief, deputies = arbiters_of_text(ledger.people.reasons.text(described.pop("arbiters", "")))
    return TrfReport(
        name=selection.tournament,
        first=first,
        last=last,
        kind=announced.format if announced else None,
        entrants=_entrants(ledger, pool, event, counted, entrants),
        rounds=rounds,
        byes=counted,
        described=described,
        chief=chief,
        deputies=deputies,
        planned_rounds=described.get("rounds") or (announced.rounds if announced else None),
        pool=pool.name,
        edition=day(event.edition.first_ms),
        corrections=_corrections(ledger, pool, event, selection),
    )


def _corrections(ledger: OpenLedger, pool: Pool, event: EventFacts, selection: ExportFilter) -> list[str]:
    """Return the results that differ from the last report of the edition and period that was sent, in words."""
    period = (selection.since_ms, selection.until_ms)
    for report in sent_reports(ledger, pool.name, again=True):
        since_ms = None if report.since is None else instant_ms(report.since)
        until_ms = None if report.until is None else instant_end_ms(report.until)
        begins = instant_ms(report.edition)
        is_same = report.tournament == event.tournament and (since_ms, until_ms) == period
        if is_same and event.edition.first_ms <= begins + QUIET_DAYS * DAY_MS and begins <= event.edition.last_ms:
            return [f"corrected since the report of {report.sent_on}: {change}" for change in report.changed]
    return []


def _only_edition(
    connection: sqlite3.Connection, pool: Pool, name: str, selection: ExportFilter
) -> tuple[EventFacts, list[EventFacts], bool]:
    """Return the requested edition of a tournament, with its games of the requested days, and all editions.

    The last value is True if the days leave out games of the edition.

    Raises:
        UnknownNameError: there is none.
        MalformedError: there are several.
    """
    low = -inf if selection.since_ms is None else selection.since_ms
    high = inf if selection.until_ms is None else selection.until_ms
    every = editions.load_events(connection, pool, [name])[name]
    inside = [event for event in every if event.edition.last_ms >= low and event.edition.first_ms <= high]
    cut = [(event, games_between(event.games, selection.since_ms, selection.until_ms)) for event in inside]
    nonempty = [(event, games) for event, games in cut if games or event.byes]
    if len(nonempty) > 1:
        spans = ", ".join(f"{day(event.edition.first_ms)} to {day(event.edition.last_ms)}" for event, _ in nonempty)
        raise MalformedError([f"{name!r} has several editions: {spans}; choose one with --since and --until"])
    if not nonempty:
        editions.refuse_unknown_tournament(connection, pool, name)
    ((event, games),) = nonempty
    is_part = len(games) < len(event.games)
    return event._replace(games=games, byes=byes_between(event.byes, games, is_part=is_part)), every, is_part


def _of_edition(
    connection: sqlite3.Connection, table: str, pool: Pool, event: EventFacts, every: Sequence[EventFacts]
) -> list[Mapping[str, Any]]:
    """Return the rows of a table that are about an edition, in the order in which they count."""
    rows = queries.fetch_dicts(connection, f"SELECT * FROM {table} {_OF_TOURNAMENT}", (pool.pool, event.tournament))
    abouts = ((row, event_of(pool, every, row)) for row in rows)
    return [row for row, about in abouts if about is not None and about.edition == event.edition]


def _described(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the last statement of each field."""
    stated: dict[str, Any] = {}
    for row in rows:
        stated |= {name: row[name] for name in DESCRIBED if row[name] is not None}
    return stated


def _entrants(
    ledger: OpenLedger,
    pool: Pool,
    event: EventFacts,
    byes: Sequence[StoredRound],
    rows: Sequence[Mapping[str, Any]],
) -> dict[int, ReportEntrant]:
    """Return the entrants by number: those of reports, and everybody with a game or a bye."""
    merges = load_merges(ledger.views.connection)
    listed = {decisions.person_of(merges, row["player"]): row for row in rows}
    players = dict.fromkeys(
        [*listed, *(player for game in event.games for player in game.players), *(bye.player for bye in byes)]
    )
    ratings = _ratings(ledger, pool, event, players, listed)
    persons = ledger.people.by_number(players)
    details = details_at(ledger, players, event.edition.first_ms)
    entrants: dict[int, ReportEntrant] = {}
    for player in players:
        person = persons.get(player)
        identity = (person.identity if person else None) or ""
        name = (person.name if person else None) or f"player {player}"
        fide = identity[5:] if identity.startswith("fide:") else ""
        row = listed.get(player)
        entrants[player] = ReportEntrant(
            name[:MAX_NAME].strip(),
            # a longer one would push all that follows out of its columns, and no number of FIDE is so long
            fide if len(fide) <= MAX_FIDE_NUMBER else "",
            ratings.get(player),
            row["start_number"] if row else None,
            row["place"] if row else None,
            details.get(player, NO_DETAILS),
        )
    # As they are cut off: two long names may have become one.
    names = [entrant.name for entrant in entrants.values() if not entrant.fide]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        words = "is the name of several players without a FIDE number: a report could not tell them apart"
        raise MalformedError([f"{name!r} {words}" for name in twice])
    return entrants


def _ratings(
    ledger: OpenLedger,
    pool: Pool,
    event: EventFacts,
    players: Iterable[int],
    listed: Mapping[int, Mapping[str, Any]],
) -> dict[int, int | None]:
    """Return the ratings at the start: of the list of entrants, else as shown, else in force if none is shown."""
    shown: dict[int, int | None] = {player: row["rating"] for player, row in listed.items()}
    for game in event.games:
        for player in game.players:
            # the rating at the start is the first that is shown, for games come in the order of the rounds
            shown[player] = shown.get(player) or game.shown_rating(player)
    if listed or any(shown.values()):
        return shown
    own = LedgerRatings(
        ledger.views.connection, pool, ledger.states(pool), games_by_player(event.games), event.edition.first_ms
    )
    in_force = {player: own.enrolment_rating(player) for player in players}
    return {player: None if rating is None else floor(rating + 0.5) for player, rating in in_force.items()}


def split_into_rounds(games: Sequence[EventGame]) -> list[list[EventGame]]:
    """Return the games of a tournament in rounds, from the first round on.

    If each game has the number of its round, and no player has two games in one round, these are the rounds. Otherwise
    a round in which a player has several games becomes as many as needed, and the days of games without a round are
    rounds.
    """
    numbers = [game.round_number for game in games]
    if not numbers:
        return []
    if all(0 < number <= MAX_ROUNDS for number in numbers):
        whole: list[list[EventGame]] = [[] for _ in range(max(numbers))]
        for game in games:
            whole[game.round_number - 1].append(game)
        if all(_is_one_game_each(part) for part in whole):
            return whole
    rounds: list[list[EventGame]] = []
    base, before = 0, None
    for game in sorted(games, key=lambda game: game.order):
        group = game.round_number or game.ended_at
        if group != before:
            base, before = len(rounds), group
        place = next((at for at in range(base, len(rounds)) if _is_one_game_each([*rounds[at], game])), len(rounds))
        rounds[place:] = rounds[place:] or [[]]
        rounds[place].append(game)
    return rounds


def _is_one_game_each(games: Sequence[EventGame]) -> bool:
    players = [player for game in games for player in game.players]
    return len(players) == len(set(players))
