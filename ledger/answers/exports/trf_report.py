"""The export of a tournament as a report in FIDE's TRF16. Imported again, it gives the same games.

Columns are those of ``imports.trf.lines``. TRF16 has no room for moves, times of the day and how a game ended; a round
of several days has no day of its own, a name ends after 33 characters, and points above 99.5 are not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import attrs

from ledger.answers.asking import day, in_one_snapshot
from ledger.answers.crosstables import editions
from ledger.answers.crosstables.crosstable import counted_byes
from ledger.answers.crosstables.editions import EventFacts
from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.exports.columns import ExportFilter
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound
from ledger.errors import MalformedError
from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.handle import OpenLedger

if TYPE_CHECKING:
    import sqlite3

# TRF16 gives a rank the columns 5 to 8, and a name 15 to 47 (RULES 7).
MAX_RANK = 9_999
MAX_ROUNDS = 900
MAX_NAME = 33
MAX_FIDE_NUMBER = 11
TEN_POINTS = 20  # half points; readers have one digit before the point
MOST_POINTS = 99.5  # four columns: an arena or a long match may bring more
_DAY = 10  # characters of an instant that names a day
_BLANK = " " * 8
_NOTHING = (_BLANK, 0)  # a round without any report: a Z would mean a bye, in rounds still to come, too
_BYES = {Brings.HALF: "H", Brings.FULL: "F", Brings.ALLOTTED: "U", Brings.ZERO: "Z", Brings.ABSENT: " "}
_TYPES = {
    "swiss": "Individual: Swiss-System",
    "all-play-all": "Individual: Round-Robin",
    "knockout": "Individual: Knock-Out",
    "match": "Individual: Match",
    "arena": "Individual: Arena",
}


class ReportEntrant(NamedTuple):
    """A player of a report: name, FIDE number or an empty text, rating at the start or None."""

    name: str
    fide: str
    rating: int | None


@attrs.frozen(kw_only=True)
class TrfReport:
    """The content of a TRF16 report about one tournament.

    Attributes:
        first, last: its days, as precise as they are known.
        kind: a word of ``facts.words.Format``; None if it is unknown.
        entrants: by player number.
        rounds: the games of each round; a player has one game in each at most.
        byes: rounds without a game, each with the number of its round.
    """

    name: str
    first: str
    last: str
    kind: str | None
    entrants: Mapping[int, ReportEntrant]
    rounds: Sequence[Sequence[EventGame]]
    byes: Sequence[StoredRound] = ()


@in_one_snapshot
def trf16_report(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return the TRF16 report of a tournament, line by line; days select one of several editions.

    Raises:
        UnknownNameError: there is no tournament of that name.
        MalformedError: names were not requested, or there are several editions, or more than TRF16 can hold.
    """
    if selection.tournament is None:
        raise MalformedError(["a report is of one tournament: name it with --tournament"])
    if not selection.names:
        raise MalformedError(["a report names the players: allow it with --names"])
    number = ledger.pool(ledger.first_scheme().pool).pool if selection.pool is None else selection.pool
    pool = next(pool for pool in ledger.pools() if pool.pool == number)
    connection = ledger.views.connection
    event = _only_edition(connection, pool, selection.tournament, selection)
    announced = event.announced
    first, last = (day(event.edition.first_ms), day(event.edition.last_ms)) if announced else event.days
    rounds = split_into_rounds(event.games)
    is_numbered = all(game.round_number == number for number, games in enumerate(rounds, 1) for game in games)
    # A bye names its round: among rounds that were made up of days it would be in a wrong one.
    counted = [bye for bye in counted_byes(event.games, event.byes) if bye.round] if is_numbered else []
    # A bye may lie in a round without a reported game.
    rounds += [[] for _ in range(max((bye.round or 0 for bye in counted), default=0) - len(rounds))]
    return report_lines(
        TrfReport(
            name=selection.tournament,
            first=first,
            last=last,
            kind=announced.format if announced else None,
            entrants=_entrants(ledger, event.games, counted),
            rounds=rounds,
            byes=counted,
        )
    )


def _only_edition(connection: sqlite3.Connection, pool: Pool, name: str, selection: ExportFilter) -> EventFacts:
    """Return the requested edition of a tournament, with its games of the requested days.

    Raises:
        UnknownNameError: there is none.
        MalformedError: there are several.
    """
    low = -inf if selection.since_ms is None else selection.since_ms
    high = inf if selection.until_ms is None else selection.until_ms
    inside = [
        event._replace(games=[game for game in event.games if low <= game.ended_ms <= high])
        for event in editions.load_events(connection, pool, [name])[name]
        if event.edition.last_ms >= low and event.edition.first_ms <= high
    ]
    nonempty = [event for event in inside if event.games or event.byes]
    if len(nonempty) > 1:
        spans = ", ".join(f"{day(event.edition.first_ms)} to {day(event.edition.last_ms)}" for event in nonempty)
        raise MalformedError([f"{name!r} has several editions: {spans}; choose one with --since and --until"])
    if not nonempty:
        editions.refuse_unknown_tournament(connection, pool, name)
    return nonempty[0]


def _entrants(ledger: OpenLedger, games: Sequence[EventGame], byes: Sequence[StoredRound]) -> dict[int, ReportEntrant]:
    ratings: dict[int, int | None] = {}
    for game in games:
        for player in game.players:
            # TRF16 has the rating at the start: the first that is shown, for games come in the order of the rounds
            ratings[player] = ratings.get(player) or game.shown_rating(player)
    for bye in byes:
        ratings.setdefault(bye.player, None)
    persons = ledger.people.by_number(ratings)
    entrants: dict[int, ReportEntrant] = {}
    for player, rating in ratings.items():
        person = persons.get(player)
        identity = (person.identity if person else None) or ""
        name = (person.name if person else None) or f"player {player}"
        fide = identity[5:] if identity.startswith("fide:") else ""
        # a longer one would push all that follows out of its columns, and no number of FIDE is so long
        entrants[player] = ReportEntrant(name[:MAX_NAME].strip(), fide if len(fide) <= MAX_FIDE_NUMBER else "", rating)
    # As they are cut off: two long names may have become one.
    names = [entrant.name for entrant in entrants.values() if not entrant.fide]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        words = "is the name of several players without a FIDE number: a report could not tell them apart"
        raise MalformedError([f"{name!r} {words}" for name in twice])
    return entrants


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


def report_lines(report: TrfReport) -> Iterator[bytes]:
    """Yield the lines of a report, in UTF-8, with Windows line ends as FIDE's own programs write them.

    Raises:
        MalformedError: more players or rounds than TRF16 has room for.
    """
    if len(report.entrants) > MAX_RANK or len(report.rounds) > MAX_ROUNDS:
        raise MalformedError([f"a report holds {MAX_RANK:,} players and {MAX_ROUNDS} rounds at most"])
    ordered = sorted(
        report.entrants,
        key=lambda player: (-(report.entrants[player].rating or 0), report.entrants[player].name, player),
    )
    ranks = {player: rank for rank, player in enumerate(ordered, 1)}
    cells = _cells(report, ranks)
    points = {player: sum(half for _, half in cells[player]) for player in ordered}
    placed = sorted(ordered, key=lambda player: (-points[player], ranks[player]))
    places = {player: place for place, player in enumerate(placed, 1)}
    for line in _header(report):
        yield f"{line}\r\n".encode()
    for player in ordered:
        entrant = report.entrants[player]
        # TRF16 (RULES 7), columns from 1: rank 5-8, title 11-13, name 15-47, rating 49-52, federation 54-56, number at
        # FIDE 58-68, birth 70-79, points 81-84, place 86-89; a round has ten columns, the first from 90 on.
        # Points that its columns cannot hold are left out: readers count results, and a wider number would push the
        # rounds out of theirs.
        total = f"{points[player] / 2:4.1f}" if points[player] / 2 <= MOST_POINTS else ""
        head = (
            f"001 {ranks[player]:4} {'':4} {entrant.name:{MAX_NAME}} {entrant.rating or 0:4} {'':3} "
            f"{entrant.fide:>{MAX_FIDE_NUMBER}} {'':10} {total:4} {places[player]:4}"
        )
        yield f"{head}{''.join(f'  {cell}' for cell, _ in cells[player])}\r\n".encode()


def _header(report: TrfReport) -> Iterator[str]:
    yield f"012 {report.name}"
    yield f"042 {report.first.replace('-', '/')}"
    yield f"052 {report.last.replace('-', '/')}"
    yield f"062 {len(report.entrants)}"
    yield f"072 {sum(entrant.rating is not None for entrant in report.entrants.values())}"
    yield "082 0"  # teams
    if report.kind is not None:
        yield f"092 {_TYPES[report.kind]}"
    # TRF16 has no word for what an allotted bye brings; JaVaFo has (RULES 7: XXS), and it is read. Where the byes of a
    # tournament bring different numbers, or ten points, no word says it.
    worths = {bye.half_points for bye in report.byes if bye.brings == Brings.ALLOTTED}
    if len(worths) == 1 and worths != {USUALLY_BRINGS[Brings.ALLOTTED]} and max(worths) < TEN_POINTS:
        yield f"XXS PAB={worths.pop() / 2:.1f}"
    days = []
    for games in report.rounds:
        ended = {game.ended_at[:_DAY] for game in games}
        # empty if the games of a round were played on several days, or on unknown ones
        is_known = len(ended) == 1 and all(len(text) == _DAY for text in ended)
        days.append(min(ended)[2:].replace("-", "/") if is_known else "")
    if any(days):
        yield f"132{'':88}{''.join(f'{text:10}' for text in days)}".rstrip()


def _cells(report: TrfReport, ranks: Mapping[int, int]) -> dict[int, list[tuple[str, int]]]:
    """Return, by player, the cell of each round and its half-points."""
    cells = {player: [_NOTHING] * len(report.rounds) for player in ranks}
    for bye in report.byes:
        letter = _BYES[Brings(bye.brings)]
        text = f"0000 - {letter}" if letter.strip() else _BLANK
        cells[bye.player][(bye.round or 0) - 1] = (text, bye.half_points)
    for number, games in enumerate(report.rounds):
        for game in games:
            for player, colour in ((game.white, "w"), (game.black, "b")):
                half = game.half_points_of(player)
                # half a point without a move is D, which is not rated either (RULES 7)
                letter = " " if half is None else ("0=1" if game.is_played else "-D+")[half]
                opponent = ranks[game.opponent_of(player)]
                cells[player][number] = (f"{opponent:4} {colour} {letter}", half or 0)
    return cells
