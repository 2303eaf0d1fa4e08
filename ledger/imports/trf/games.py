"""FIDE tournament reports (TRF16, TRF26) as source games: one tournament at a time, in memory.

Who a player is is settled here; columns and other lines are in ``trf.lines``, which letters make a game in
``trf.pairings``, games and their days in ``trf.reports``. No file is opened here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

import attrs

from ledger.facts.source_games import SourceGame
from ledger.imports.csv.rows import decode_text
from ledger.imports.lichess import one_line
from ledger.imports.reading import NO_HINTS, FileHints, Reading
from ledger.imports.time_controls import fide_class, speed_in_words
from ledger.imports.trf.lines import PLAYER, UNIQUE, TournamentDays, TournamentHeader, decode_player_line, read_days
from ledger.imports.trf.reports import USUAL, EntrantList, TournamentReport, read_report, same_rank
from ledger.imports.trf.scoring import MatchScoring, Scoring
from ledger.imports.trf.teams import check_teams

MAX_ROUNDS = 1_000_000  # rounds of all players of a tournament together: 9,999 players of 100 rounds
_BOM = b"\xef\xbb\xbf"


@attrs.define
class _Tournament:
    """The lines of one tournament while they are read."""

    header: TournamentHeader
    entrants: EntrantList = attrs.Factory(EntrantList)
    doubts: list[tuple[int, str]] = attrs.Factory(list)  # fields that cannot be read, on which no game depends
    players: int = 0  # lines of players
    rounds: int = 0

    @property
    def are_doubts_rare(self) -> bool:
        """True if fewer than half of the lines have one: others are of a program that writes columns its own way."""
        return 2 * len({line for line, _ in self.doubts}) < self.players

    def is_next_tournament(self, kind: str) -> bool:
        """Return whether a line of this kind belongs to the next tournament of the file."""
        return self.players > 0 and kind in self.header.met


def read_games(lines: Iterable[bytes], reading: Reading, hints: FileHints = NO_HINTS) -> Iterator[SourceGame]:
    """Yield the games of every tournament in a file, by rounds.

    A player's line that cannot be read is a fault; games of the other players are read. So is a game whose two lines
    contradict each other, and a player who is there twice. Forfeits and games of less than one move are games that
    were not played (``unplayed``); byes and absences are rounds without a game. Never raises for bad input.

    Args:
        lines: raw lines with their line ends.
        reading: receives faults, notes, and what is said of the tournaments.
        hints: a day for games without one, the order of dates, the site whose user names the report has.
    """
    tournament = _Tournament(TournamentHeader(1))
    is_any = False
    for number, line in enumerate(lines, 1):
        raw = line.removeprefix(_BOM)  # of every line: a file may be joined of several, each with its mark
        kind = decode_text(raw[:3])
        if kind in UNIQUE and tournament.is_next_tournament(kind):
            yield from _games(tournament, reading, hints)
            tournament = _Tournament(TournamentHeader(number))
        if raw.startswith(PLAYER):
            is_any = True
            if not _take_player(tournament, number, raw, reading, hints):
                return
        # 0x1A is how DOS marked the end of a text file, and old programs still write it.
        elif raw.strip(b" \t\r\n\x1a"):
            tournament.header.add_line(number, raw)
    if is_any:
        yield from _games(tournament, reading, hints)
    else:
        reading.file_fault(1, "no-players: no player line (001) in the whole file: this is no tournament report")


def _take_player(tournament: _Tournament, number: int, raw: bytes, reading: Reading, hints: FileHints) -> bool:
    """Take the line of a player; return False if there are more than a tournament may have."""
    tournament.players += 1
    # Latin-1 takes any bytes: the rank is needed even of a line that cannot be read otherwise.
    rank = raw[4:8].decode("latin-1").strip(" ")
    try:
        read = decode_player_line(raw)
    except ValueError as error:
        other = tournament.entrants.ranks.get(int(rank)) if rank.isascii() and rank.isdigit() else None
        reading.fault(number, f"line-unreadable: {error}" if other is None else _same_rank(rank, other))
        if rank.isascii() and rank.isdigit():
            # Games against this player are then left out and counted, and are no faults of the lines of the opponents.
            tournament.entrants.unread.add(int(rank))
        return True
    if read.rank in tournament.entrants.ranks:
        reading.fault(number, _same_rank(rank, tournament.entrants.ranks[read.rank]))
        return True
    tournament.rounds += len(read.rounds)
    if tournament.rounds > MAX_ROUNDS:
        reading.stop(
            number,
            f"too-many-rounds: more than {MAX_ROUNDS:,} rounds of all players together, the limit of a tournament; "
            "the rest is not read",
        )
        return False
    tournament.doubts += [(number, f"{doubt}: not used") for doubt in read.doubts]
    if not one_line(read.name) and not read.fide_id.lstrip("0"):
        words = "columns 15-47: expected the player's name, or a FIDE number in columns 58-68"
        reading.fault(number, f"line-unreadable: {words}")
        tournament.entrants.ranks[read.rank] = number
        tournament.entrants.unread.add(read.rank)
        return True
    tournament.entrants.enter(number, read, reading, hints.source)
    return True


def _same_rank(rank: str, line: int) -> str:
    return same_rank(f"columns 5-8: the starting rank {rank}", line)


def _games(tournament: _Tournament, reading: Reading, hints: FileHints) -> Iterator[SourceGame]:
    header = tournament.header
    days, faults, doubts = read_days(header, hints.dates)
    for line, words in faults:
        reading.file_fault(line, f"{words}; no game of this tournament was read")
    if days is None:
        return
    are_rare = tournament.are_doubts_rare
    for line, words in [*doubts, *([] if are_rare else tournament.doubts)]:
        reading.note(line, words)
    scoring = Scoring.parse(header.text("162"))
    if header.is_of_teams:  # the team has the bye, and what 162 says of it
        scoring = scoring._replace(allotted=0.0)
    elif header.allotted_half_points() != USUAL:
        scoring = scoring._replace(allotted=header.allotted_half_points() / 2)
    if scoring[:3] != Scoring()[:3]:
        line, _ = header.records["162"]
        reading.note(line, f"points are counted as {scoring} for a win, a draw and a loss (162); ratings go by results")
    speed, stated_on = _speed(header, reading)
    report = TournamentReport(
        line=header.line,
        name=header.name(),
        days=days,
        day=hints.day,
        entrants=tournament.entrants.by_rank,
        unread=tournament.entrants.unread,
        speed=speed,
        speed_line=stated_on,
        format=header.format(),
        rounds=header.rounds(),
        allotted=header.allotted_half_points(),
        scoring=scoring,
        facts=header.described(),
        chief=header.chief(),
        deputies=header.deputies,
        counts=header.counts(),
        teams=len(header.teams.get("310", ())) or header.passed_over["013"],
        is_of_teams=header.is_of_teams,
        lines={kind: line for kind, (line, _) in header.records.items()},
        national=header.national,
        doubts=tournament.doubts if are_rare else (),
        team_doubts=_team_doubts(tournament, scoring, reading),
        no_day="the report names no day (132, 042 or 052)",
        no_name="the report names no tournament (012)",
        no_round_days="the days of some rounds are not given (132)",
    )
    yield from read_report(report, reading, hints)
    _note_other_forms(tournament, days, reading)
    if header.passed_over:
        reading.note(header.first_passed_over, f"lines that tell of no game: {header.describe_skipped_lines()}")


def _team_doubts(tournament: _Tournament, scoring: Scoring, reading: Reading) -> list[tuple[int, str]]:
    """Return the lines of teams that contradict their boards; those of most teams become notes, as of a scoring."""
    teams = tournament.header.teams
    matches = MatchScoring.parse(tournament.header.text("362"))
    doubts = check_teams(teams, tournament.entrants.by_rank, scoring, matches)
    if 2 * len({line for line, _ in doubts}) <= len(teams.get("310", ())):
        return doubts
    for line, words in doubts:
        reading.note(line, words)
    return []


def _note_other_forms(tournament: _Tournament, days: TournamentDays, reading: Reading) -> None:
    """Note what a report writes otherwise than TRF16 says, as older programs do."""
    header = tournament.header
    adjusted = Counter(words for entrant in tournament.entrants.by_rank.values() for words in entrant.read.adjustments)
    for adjustment, count in sorted(adjusted.items()):
        lines = "1 line of a player" if count == 1 else f"{count:,} lines of players"
        reading.note(header.line, f"not as TRF16 has it, and read all the same: {adjustment}: {lines}")
    for kind in ("042", "052"):
        written = header.text(kind)
        if written and not re.fullmatch(r"\d{4}/\d\d/\d\d", written, re.ASCII):
            day = days.first if kind == "042" else days.last
            reading.note(header.records[kind][0], f"{kind} {written[:40]!r} is not written YYYY/MM/DD: read as {day}")


def _speed(header: TournamentHeader, reading: Reading) -> tuple[str | None, int]:
    """Return the speed class of the coded time control (222), or else of the one in words (122), and its line."""
    in_words = partial(speed_in_words, header.text("122"), by_fide=reading.by_fide)
    coded = partial(fide_class, header.text("222")) if reading.by_fide else header.speed
    for record, read in (("222", coded), ("122", in_words)):
        try:
            if speed := read():
                return speed, header.records[record][0]
        except ValueError as error:
            line, words = header.records[record]
            reading.note(line, f"{record} {error}; got {words.strip()[:80]!r}: not used")
    return None, header.line
