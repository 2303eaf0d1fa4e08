"""A tournament as a report in FIDE's TRF16: games to lines of players. Read back, it gives the same games.

Columns are those of ``imports.trf.lines``. What TRF16 cannot say is left out: moves, times of the day, how a
game ended; a round of several days has no day of its own, a name ends after 33 characters, and points above 99.5 are
not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import attrs

from ledger.answers.asking import day, of_one_moment
from ledger.answers.crosstables import editions, event_games
from ledger.answers.crosstables.crosstable import EventFacts, counted_byes
from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.exports.columns import ExportFilter
from ledger.book import tournament_editions
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound, editions_of
from ledger.errors import MalformedError
from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.handle import OpenLedger

# TRF16 gives a rank the columns 5 to 8, and a name 15 to 47 (RULES 7).
MAX_RANK = 9_999
MAX_ROUNDS = 900
MAX_NAME = 33
MAX_FIDE = 11
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
    """A player of the report: name, FIDE number or nothing, rating at the start or None."""

    name: str
    fide: str
    rating: int | None


@attrs.frozen(kw_only=True)
class Report:
    """The content of the report.

    Attributes:
        name: of the tournament.
        first, last: its days, as precise as they are known.
        kind: one of the words of ``facts.words.Format``, None if it is unknown.
        entrants: by player number.
        rounds: the games of each round; a player has one game in each at most.
        byes: the rounds without a game, each a round of its number.
    """

    name: str
    first: str
    last: str
    kind: str | None
    entrants: Mapping[int, ReportEntrant]
    rounds: Sequence[Sequence[EventGame]]
    byes: Sequence[StoredRound] = ()


@of_one_moment
def trf16(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return the report of a tournament, line by line.

    Args:
        ledger: whose views are up to date.
        selection: the tournament, its pool, and days between which one edition lies.

    Raises:
        UnknownNameError: no tournament of that name is known.
        MalformedError: names were not requested, or there are several editions, or more than TRF16 can hold.
    """
    if selection.tournament is None:
        raise MalformedError(["a report is of one tournament: name it with --tournament"])
    if not selection.names:
        raise MalformedError(["a report tells who the players are: say so with --names"])
    number = ledger.pool(ledger.first_scheme().pool).pool if selection.pool is None else selection.pool
    pool = next(pool for pool in ledger.pools() if pool.pool == number)
    connection = ledger.views.connection
    every = event_games.games_of(connection, pool, [selection.tournament]).get(selection.tournament, [])
    byes = tournament_editions.rounds_of(connection, pool, [selection.tournament]).get(selection.tournament, [])
    event = _only_edition(pool, selection, every, byes)
    if event is None:
        editions.refuse_unknown(connection, pool, selection.tournament)
    announcements = editions.announced_by_name(connection, pool, [selection.tournament])
    announced = announcements.get((selection.tournament, event.edition.first_ms))
    first, last = (day(event.edition.first_ms), day(event.edition.last_ms)) if announced else event.days
    rounds = rounds_of(event.games)
    is_numbered = all(game.round_number == number for number, games in enumerate(rounds, 1) for game in games)
    # A bye names its round: among rounds that were made up of days it would be in a wrong one.
    counted = [bye for bye in counted_byes(event.games, event.byes) if bye.round] if is_numbered else []
    # A bye may lie in a round without a reported game.
    rounds += [[] for _ in range(max((bye.round or 0 for bye in counted), default=0) - len(rounds))]
    return lines_of(
        Report(
            name=selection.tournament,
            first=first,
            last=last,
            kind=announced.format if announced else None,
            entrants=_entrants(ledger, event.games, counted),
            rounds=rounds,
            byes=counted,
        )
    )


def _only_edition(
    pool: Pool, selection: ExportFilter, games: Sequence[EventGame], byes: Sequence[StoredRound]
) -> EventFacts | None:
    """Return the requested edition; None if nothing is known of it.

    Raises:
        MalformedError: there are several.
    """
    name = str(selection.tournament)
    low = -inf if selection.since_ms is None else selection.since_ms
    high = inf if selection.until_ms is None else selection.until_ms
    every = editions_of(pool, name, event_games.ends_of(games), byes, None)
    inside = [
        EventFacts(
            edition,
            [game for game in editions.within(games, edition) if low <= game.ended_ms <= high],
            every.rounds.get(edition, ()),
        )
        for edition in every.every
        if edition.last_ms >= low and edition.first_ms <= high
    ]
    nonempty = [edition for edition in inside if edition.games or edition.byes]
    if len(nonempty) > 1:
        spans = ", ".join(f"{day(edition.first_ms)} to {day(edition.last_ms)}" for edition, _, _ in nonempty)
        raise MalformedError([f"{name!r} has several editions: {spans}; choose one with --since and --until"])
    return nonempty[0] if nonempty else None


def _entrants(ledger: OpenLedger, games: Sequence[EventGame], byes: Sequence[StoredRound]) -> dict[int, ReportEntrant]:
    ratings: dict[int, int | None] = {}
    for game in games:
        for player in (game.white, game.black):
            # TRF16 has the rating at the start: the first that is shown, for games come in the order of the rounds
            ratings[player] = ratings.get(player) or game.shown_of(player)
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
        entrants[player] = ReportEntrant(name[:MAX_NAME].strip(), fide if len(fide) <= MAX_FIDE else "", rating)
    # As they are cut off: two long names may have become one.
    names = [entrant.name for entrant in entrants.values() if not entrant.fide]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        words = "is the name of several players without a FIDE number: a report could not tell them apart"
        raise MalformedError([f"{name!r} {words}" for name in twice])
    return entrants


def rounds_of(games: Sequence[EventGame]) -> list[list[EventGame]]:
    """Return the games by rounds, from the first.

    If each game has the number of its round, and no player has two games in one, these are the rounds. Otherwise a
    round in which a player has several games becomes as many as are needed, and games without a round go by their
    days.
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
    players = [player for game in games for player in (game.white, game.black)]
    return len(players) == len(set(players))


def lines_of(report: Report) -> Iterator[bytes]:
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
            f"{entrant.fide:>{MAX_FIDE}} {'':10} {total:4} {places[player]:4}"
        )
        yield f"{head}{''.join(f'  {cell}' for cell, _ in cells[player])}\r\n".encode()


def _header(report: Report) -> Iterator[str]:
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


def _cells(report: Report, ranks: Mapping[int, int]) -> dict[int, list[tuple[str, int]]]:
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
