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

from ledger.facts.source_games import SourceEntrant, SourceGame, SourceReport, SourceRound, plain_key
from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.imports.lichess import one_line
from ledger.imports.no_opponent import means_no_opponent
from ledger.imports.reading import (
    DAY_LENGTH,
    OF_NO_TOURNAMENT,
    Reading,
    ReportedTournament,
    name_identity,
    take_out_byes,
)
from ledger.imports.trf.lines import PlayerLine, TournamentDays
from ledger.imports.trf.pairings import Bye, Entrant, Pairing, Pairings, differing_points, pair_entrants
from ledger.imports.trf.scoring import Scoring

USUAL = USUALLY_BRINGS[Brings.ALLOTTED]  # half points of an allotted bye


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
            reading.fault(number, f"the number {read.rank} is that of line {self.ranks[read.rank]}, too; correct one")
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
            reading.fault(number, words)
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
        rounds: how many were announced, None where that is unknown.
        allotted: what a bye for want of an opponent brings, half points.
        scoring: how it counts points.
        facts: fields of ``tournament-described/1``; None: its format states no such facts, nor any of entrants.
        chief, deputies: the arbiters.
        no_day, no_name, no_round_days: words of the notes on what is missing, with where the format has it.
    """

    line: int
    name: str | None
    days: TournamentDays
    day: str | None
    entrants: dict[int, Entrant]
    unread: set[int]
    speed: str | None = None
    format: str | None = None
    rounds: int | None = None
    allotted: int = USUAL
    scoring: Scoring = Scoring()
    facts: Mapping[str, Any] | None = None
    chief: str | None = None
    deputies: Sequence[str] = ()
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


def read_report(report: TournamentReport, reading: Reading) -> Iterator[SourceGame]:
    """Yield the games of a tournament by rounds; faults, notes and rounds without a game go to *reading*."""
    pairings = pair_entrants(report.entrants, report.unread)
    for line, words in sorted(pairings.faults):
        reading.fault(line, words)
    reading.skipped.update(pairings.left_out)
    if any(report.day_of(number) is None for number in pairings.rounds):
        words = f"{report.no_day}, so its games have no place in time: say when with --day"
        reading.file_fault(report.line, f"{words}; no game of this tournament was read")
        return
    _note(report, pairings, reading)
    _add_tournament(report, pairings, reading)
    _add_report(report, pairings, reading)
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


def _add_report(report: TournamentReport, pairings: Pairings, reading: Reading) -> None:
    """Add the entrants and the other records of a tournament."""
    if report.facts is None or report.name is None or not pairings.rounds:
        return
    facts = dict(report.facts)
    if report.rounds is not None:
        facts["rounds"] = report.rounds
    days = report.days.rounds
    if days:
        facts["round_days"] = " ".join(days.get(number, "-") for number in range(1, max(days) + 1))
    entrants = tuple(
        SourceEntrant(
            entrant.line,
            entrant.identity,
            entrant.name,
            rank,
            entrant.read.rating or None,
            entrant.read.place or None,
            _details(entrant.read),
        )
        for rank, entrant in sorted(report.entrants.items())
        if not _is_no_player(entrant)
    )
    place = (report.line, report.name, report.began or str(report.day_of(min(pairings.rounds))))
    reading.add_report(SourceReport(*place, facts, report.chief, tuple(report.deputies), entrants, report.speed))


def _details(read: PlayerLine) -> dict[str, str]:
    """Return the data about a player that a line states."""
    fields = {"sex": read.sex, "title": read.title, "federation": read.federation, "birth": read.birth_date}
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


def _note(report: TournamentReport, pairings: Pairings, reading: Reading) -> None:
    """Note facts about a tournament that a person should know, next to its games."""
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
