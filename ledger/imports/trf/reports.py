"""Tournaments whose players' lines name each other, as source games: reports and cross-tables.

The readers of each format give the lines, the days and the name; here they become games, rounds without a game, and
what is said of the tournament.

What a game's key is made from is ``trf:`` and 24 hexadecimal digits of the SHA-256 over: name of the tournament, its
first day (or else its last, or that of the game), round, identity of White, identity of Black, parted by 0x1f, in
UTF-8. The result does not count, so that a repeated report with a corrected one has the same game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ledger.facts.source_games import (
    SourceEntrant,
    SourceGame,
    SourceNational,
    SourcePairing,
    SourceReport,
    SourceRound,
    plain_key,
)
from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.imports.lichess import one_line
from ledger.imports.no_opponent import means_no_opponent
from ledger.imports.reading import (
    DAY_LENGTH,
    OF_NO_TOURNAMENT,
    FileHints,
    Reading,
    ReportedTournament,
    name_identity,
    pool_contradiction,
    take_out_byes,
)
from ledger.imports.trf.lines import PlayerLine, TournamentDays
from ledger.imports.trf.pairings import (
    Bye,
    Entrant,
    Pairing,
    Pairings,
    differing_points,
    has_usual_results,
    pair_entrants,
)
from ledger.imports.trf.scoring import Scoring

USUAL = USUALLY_BRINGS[Brings.ALLOTTED]  # half points of an allotted bye
_HALF_POINTS = {"white": 2, "draw": 1, "black": 0}


def same_rank(rank: str, line: int) -> str:
    """Return the fault of a line whose starting rank or number another one has."""
    return f"rank-twice: {rank} is that of line {line}, too; correct one"


@attrs.define
class EntrantList:
    """The players of a tournament, each with a number and an identity of its own.

    Attributes:
        by_rank: by the number by which the lines name each other.
        ranks: the line of each number, that of faulty lines too.
        unread: numbers of players whose lines are faulty.
    """

    by_rank: dict[int, Entrant] = attrs.Factory(dict)
    ranks: dict[int, int] = attrs.Factory(dict)
    unread: set[int] = attrs.Factory(set)
    _identities: dict[str, Entrant] = attrs.Factory(dict)

    def enter(self, number: int, read: PlayerLine, reading: Reading, source: str | None) -> None:
        """Add a player; a number or an identity that another one has is a fault of the line.

        Args:
            number: of the line.
            read: the line.
            reading: takes the fault.
            source: the site whose user names these are; None for names of people.
        """
        if read.rank in self.ranks:
            reading.fault(number, same_rank(f"the number {read.rank}", self.ranks[read.rank]))
            return
        self.ranks[read.rank] = number
        # A FIDE number of zeros alone is how programs write that there is none.
        fide = read.fide_id.lstrip("0")
        name = one_line(read.name) or f"FIDE {fide}"
        identity = f"fide:{fide}" if fide else name_identity(name, source)
        entrant = Entrant(number, read, identity, name)
        other = self._identities.setdefault(identity, entrant)
        if other is not entrant:
            what = f"the FIDE number {fide}" if fide else f"the name {name!r} without a FIDE number"
            advice = "correct one" if fide else "give them FIDE numbers, or names that differ"
            words = f"{what} is that of line {other.line}, too: nobody knows whose games are whose; {advice}"
            reading.fault(number, f"player-twice: {words}")
            self.unread |= {read.rank, other.read.rank}
            self.by_rank.pop(other.read.rank, None)
            return
        self.by_rank[read.rank] = entrant


@attrs.frozen(kw_only=True)
class TournamentReport:
    """A tournament as its players' lines report it.

    Attributes:
        line: where it begins.
        name: as its games carry it; None where it has none.
        days: of the tournament and its rounds.
        day: an instant of games that have no other; None: such games are a fault.
        entrants: by the number by which the lines name each other.
        unread: such numbers of players whose lines are faulty.
        speed, format: speed class and pairing system, None where they are unknown.
        speed_line: the line that states the time control.
        rounds: how many were announced, None where that is unknown.
        allotted: what a bye for want of an opponent brings, half points.
        scoring: how it counts points.
        facts: fields of ``tournament-described/1``; None: its format states no such facts, nor any of entrants.
        chief, deputies: the arbiters.
        counts: by record a number that it states: of players (062), of rated ones (072), of teams (082).
        teams: the number of lines of teams.
        is_of_teams: True if teams played.
        lines: the line of each record that checks name.
        national: the numbers of entrants at federations.
        doubts: fields of entrants that cannot be read, with their lines, if they are few.
        team_doubts: what contradicts in lines of teams, if few do.
        no_day, no_name, no_round_days: words of the notes on what is missing, with where the format has it.
    """

    line: int
    name: str | None
    days: TournamentDays
    day: str | None
    entrants: dict[int, Entrant]
    unread: set[int]
    speed: str | None = None
    speed_line: int = 1
    format: str | None = None
    rounds: int | None = None
    allotted: int = USUAL
    scoring: Scoring = Scoring()
    facts: Mapping[str, Any] | None = None
    chief: str | None = None
    deputies: Sequence[str] = ()
    counts: Mapping[str, int] = {}
    teams: int = 0
    is_of_teams: bool = False
    lines: Mapping[str, int] = {}
    national: Sequence[SourceNational] = ()
    doubts: Sequence[tuple[int, str]] = ()
    team_doubts: Sequence[tuple[int, str]] = ()
    no_day: str
    no_name: str
    no_round_days: str

    def day_of(self, number: int) -> str | None:
        """Return the day of a round, or else the last day of the tournament, which no round outlasted."""
        return self.days.rounds.get(number) or self.days.last or self.days.first or self.day

    @property
    def began(self) -> str | None:
        """The first day, or else the last."""
        return self.days.first or self.days.last


def read_report(report: TournamentReport, reading: Reading, hints: FileHints) -> Iterator[SourceGame]:
    """Yield the games of a tournament by rounds; faults, notes and rounds without a game go to *reading*."""
    pairings = pair_entrants(report.entrants, report.unread)
    for line, words in sorted(pairings.faults):
        reading.fault(line, words)
    reading.skipped.update(pairings.left_out)
    if any(report.day_of(number) is None for number in pairings.rounds):
        words = f"day-missing: {report.no_day}: say when its games were played with --day"
        reading.file_fault(report.line, f"{words}; no game of this tournament was read")
        return
    doubtful = _doubtful_points(report)
    _note(report, pairings, doubtful, reading)
    _add_tournament(report, pairings, reading)
    contradiction = pool_contradiction(report.speed, hints)
    if contradiction and not hints.is_pool_named:
        reading.note(report.speed_line, contradiction)
    if pairings.rounds:
        source_report = _source_report(report, pairings, doubtful)
        if contradiction and hints.is_pool_named:
            source_report = source_report._replace(other_pool=(report.speed_line, contradiction))
        reading.add_report(source_report)
    else:  # a report without any round is not checked
        for line, words in [*report.doubts, *report.team_doubts]:
            reading.note(line, words)
    for bye in pairings.byes:
        _keep_bye(report, bye, reading)
    yield from take_out_byes((_source_game(report, game) for game in pairings.games), reading, report.began)


def _keep_bye(report: TournamentReport, bye: Bye, reading: Reading) -> None:
    entrant = bye.entrant
    if _is_no_player(entrant):
        return
    if report.name is None:
        reading.skipped[OF_NO_TOURNAMENT] += 1
        return
    worth = report.allotted if bye.brings is Brings.ALLOTTED else USUAL
    who = (entrant.line, entrant.identity, entrant.name)
    place = (report.name, report.began or str(report.day_of(bye.round)), bye.round)
    half_points = None if worth == USUAL else worth
    round_ = SourceRound(*who, *place, bye.brings.value, half_points, report.speed, colour=bye.colour)
    if bye.opponent is not None:
        round_ = round_._replace(opponent_id=bye.opponent.identity, opponent_name=bye.opponent.name)
    reading.add_round(round_)


def _is_no_player(entrant: Entrant) -> bool:
    """Return whether a line stands for a bye, as programs that pair tournaments write it."""
    return entrant.identity.startswith("name:") and means_no_opponent(entrant.name)


def _source_report(
    report: TournamentReport, pairings: Pairings, doubtful: Mapping[int, tuple[float, float]]
) -> SourceReport:
    """Return the entrants, the pairings and the other records of a tournament."""
    facts = dict(report.facts or {})
    if report.rounds is not None:
        facts["rounds"] = report.rounds
    days = report.days.rounds
    if days:
        facts["round_days"] = " ".join(days.get(number, "-") for number in range(1, max(days) + 1))
    numbers = {each.rank: each.number for each in report.national}
    allotted: dict[int, tuple[int, ...]] = {}
    for bye in pairings.byes:
        if bye.brings is Brings.ALLOTTED:
            allotted[bye.entrant.read.rank] = (*allotted.get(bye.entrant.read.rank, ()), bye.round)
    entrants = tuple(
        SourceEntrant(
            entrant.line,
            entrant.identity,
            entrant.name,
            rank,
            entrant.read.rating or None,
            entrant.read.place or None,
            _details(entrant.read, numbers.get(rank)),
            doubtful.get(rank),
            entrant.read.points,
        )
        for rank, entrant in sorted(report.entrants.items())
        if not _is_no_player(entrant)
    )
    return SourceReport(
        report.line,
        report.name or "",
        report.began or str(report.day_of(min(pairings.rounds))),
        facts,
        report.chief,
        tuple(report.deputies),
        entrants,
        report.speed,
        last_day=report.days.last,
        round_days=days,
        unread_days=report.days.unread,
        pairings=tuple(map(_source_pairing, pairings.games)),
        last_round=max(pairings.rounds),
        counts=_counts(report, entrants),
        format=report.format,
        is_of_teams=report.is_of_teams,
        lines=report.lines,
        doubts=tuple(report.doubts),
        team_doubts=tuple(report.team_doubts),
        lost_by_both=tuple((number, first.line, second.line) for number, first, second in pairings.lost_by_both),
        allotted=allotted,
        national=tuple(report.national),
        scoring=str(report.scoring),
        is_stated=report.facts is not None,
    )


def _counts(report: TournamentReport, entrants: Sequence[SourceEntrant]) -> dict[str, tuple[int, ...]]:
    """Return the numbers that a report states, each with those that its lines may give.

    A line of a bye counts as a player or not, and national ratings as ratings or not; lines that cannot be read count
    as nothing, so that there is no number.
    """
    if report.unread:
        return {}
    rated = [entrant for entrant in entrants if entrant.rating]
    of_fide = [entrant for entrant in rated if entrant.player_id.startswith("fide:")]
    facts = report.facts or {}
    counted = {
        "062": (len(entrants), len(report.entrants)),
        "072": (len(rated), len(of_fide)),
        "082": (report.teams,) if report.teams or "individual" in str(facts.get("system", "")).lower() else (),
    }
    return {kind: (stated, *counted[kind]) for kind, stated in report.counts.items() if counted[kind]}


def _source_pairing(game: Pairing) -> SourcePairing:
    white, black = game.white, game.black
    ranks = (white.read.rank, black.read.rank)
    return SourcePairing(game.round, white.line, black.line, *ranks, _HALF_POINTS[game.outcome], game.is_played)


def _doubtful_points(report: TournamentReport) -> dict[int, tuple[float, float]]:
    """Return by number the points of the report and of the results, if few players have contradicting ones.

    If they are most players, the points follow a scoring that the report does not state. Teams have scorings of their
    own for byes: of their players those count who had none.
    """
    entrants = report.entrants
    if report.is_of_teams and len(list(differing_points(entrants, report.scoring))) * 4 > len(entrants):
        entrants = {rank: entrant for rank, entrant in entrants.items() if has_usual_results(entrant.read)}
    differing = list(differing_points(entrants, report.scoring))
    if 2 * len(differing) > len(entrants):
        return {}
    return {entrant.read.rank: (entrant.read.points or 0.0, points) for entrant, points in differing}


def _details(read: PlayerLine, national: str | None) -> dict[str, str]:
    """Return the data about a player that a line states."""
    fields = {"sex": read.sex, "title": read.title, "federation": read.federation, "birth": read.birth_date}
    fields["national"] = national
    return {name: value for name, value in fields.items() if value}


def _source_game(report: TournamentReport, game: Pairing) -> SourceGame:
    white, black, day = game.white, game.black, str(report.day_of(game.round))
    facts = (report.name or "", report.began or day, str(game.round), white.identity, black.identity)
    return SourceGame(
        line=white.line,
        key=plain_key("trf", "\x1f".join(facts)),
        white_id=white.identity,
        white_name=white.name,
        black_id=black.identity,
        black_name=black.name,
        outcome=game.outcome,
        termination="unknown" if game.is_played else "unplayed",
        ended_at=day,
        tournament=report.name,
        round=str(game.round),
        white_rating=white.read.rating or None,
        black_rating=black.read.rating or None,
        speed=report.speed,
        is_made=True,
    )


def _note(
    report: TournamentReport, pairings: Pairings, doubtful: Mapping[int, tuple[float, float]], reading: Reading
) -> None:
    """Note facts about a tournament that a person should know, next to its games.

    Points that contradict the results are noted, but not *doubtful* ones, which are warnings.
    """
    days = report.days
    playing = {rank for game in pairings.games for rank in (game.white.read.rank, game.black.read.rank)}
    playing |= {bye.entrant.read.rank for bye in pairings.byes}
    idle = len(report.entrants) - len(playing)
    words = [
        f"{what}: {count:,}"
        for count, what in (
            (sum(not game.is_played for game in pairings.games), "forfeits and games of less than one move, not rated"),
            (idle, f"entrants without any round{', who are not registered' if report.facts is None else ''}"),
        )
        if count
    ]
    if words:
        reading.note(report.line, "; ".join(words))
    if pairings.games and any(game.round not in days.rounds for game in pairings.games) and days.first != days.last:
        last = days.last or days.first
        if last:
            reading.note(report.line, f"{report.no_round_days}: their games are put on {last}")
    if report.name is None:
        reading.note(report.line, f"{report.no_name}, so its games carry none")
    for entrant, points in differing_points(report.entrants, report.scoring):
        if pairings.rounds and entrant.read.rank in doubtful:
            continue
        in_report = f"{entrant} has {entrant.read.points:g} points in the report"
        by_results = f"{points:g} by results and byes at {report.scoring}"
        reading.note(entrant.line, f"{in_report}, and {by_results}, which is what counts")


def _add_tournament(report: TournamentReport, pairings: Pairings, reading: Reading) -> None:
    days = report.days
    if report.name is None or not (pairings.games or pairings.byes):
        return
    dated = [day for day in (days.first, days.last, *days.rounds.values()) if day and len(day) == DAY_LENGTH]
    if not dated:
        return
    first = days.first if days.first and len(days.first) == DAY_LENGTH else min(dated)
    last = days.last if days.last and len(days.last) == DAY_LENGTH else max(dated)
    entrants = len(report.entrants)
    reading.add_tournament(
        ReportedTournament(
            report.line,
            report.name,
            min(first, last),
            max(first, last),
            report.format,
            # An announcement takes two entrants or more.
            entrants if entrants > 1 else None,
            # A report may be of a tournament that is not over: its lines end before the last round.
            max(report.rounds or 0, *pairings.rounds),
            report.speed,
        )
    )
