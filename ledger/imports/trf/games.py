"""FIDE tournament reports (TRF16, TRF26) as source games: one tournament at a time, in memory.

Who a player is and when a game was played is settled here; columns and other lines are in ``trf.lines``, and which
letters make a game in ``trf.pairings``. No file is opened here.

What a game's key is made from is ``trf:`` and 24 hexadecimal digits of the SHA-256 over: name of the tournament, its
first day (or else its last, or that of the game), round, identity of White, identity of Black, parted by 0x1f, in
UTF-8. The result does not count, so that a repeated report with a corrected one has the same game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import attrs

from ledger.facts.source_games import SourceGame, SourceRound, plain_key
from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.imports.csv.rows import decode_text
from ledger.imports.lichess import one_line
from ledger.imports.no_opponent import means_no_opponent
from ledger.imports.reading import (
    DAY_LENGTH,
    NO_HINTS,
    OF_NO_TOURNAMENT,
    FileHints,
    Reading,
    ReportedTournament,
    name_identity,
    pool_contradiction,
    take_out_byes,
)
from ledger.imports.time_controls import fide_class, parse_words
from ledger.imports.trf.lines import (
    PLAYER,
    UNIQUE,
    PlayerLine,
    TournamentDays,
    TournamentHeader,
    decode_player_line,
    read_days,
)
from ledger.imports.trf.pairings import Bye, Entrant, Pairing, Pairings, differing_points, pair_entrants

MAX_ROUNDS = 1_000_000  # rounds of all players of a tournament together: 9,999 players of 100 rounds
_BOM = b"\xef\xbb\xbf"
USUAL = USUALLY_BRINGS[Brings.ALLOTTED]  # half points of an allotted bye


@attrs.define
class _Tournament:
    """The lines of one tournament while they are read."""

    header: TournamentHeader
    entrants: dict[int, Entrant] = attrs.Factory(dict)
    # the line of each starting rank, faulty ones too
    ranks: dict[int, int] = attrs.Factory(dict)
    identities: dict[str, Entrant] = attrs.Factory(dict)
    unread: set[int] = attrs.Factory(set)
    players: int = 0  # lines of players
    rounds: int = 0

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
        reading.file_fault(1, "no player line (001) in the whole file: this is no tournament report")


def _take_player(tournament: _Tournament, number: int, raw: bytes, reading: Reading, hints: FileHints) -> bool:
    """Take the line of a player; return False if there are more than a tournament may have."""
    tournament.players += 1
    # Latin-1 takes any bytes: the rank is needed even of a line that cannot be read otherwise.
    rank = raw[4:8].decode("latin-1").strip(" ")
    try:
        read = decode_player_line(raw)
    except ValueError as error:
        reading.fault(number, str(error))
        if rank.isascii() and rank.isdigit():
            # Games against this player are then left out and counted, and are no faults of the lines of the opponents.
            tournament.unread.add(int(rank))
        return True
    if read.rank in tournament.ranks:
        line = tournament.ranks[read.rank]
        reading.fault(number, f"columns 5-8: the starting rank {read.rank} is that of line {line}, too; correct one")
        return True
    tournament.ranks[read.rank] = number
    tournament.rounds += len(read.rounds)
    if tournament.rounds > MAX_ROUNDS:
        reading.stop(
            number,
            f"more than {MAX_ROUNDS:,} rounds of all players together, the limit of a tournament; the rest is not read",
        )
        return False
    for doubt in read.doubts:
        reading.note(number, f"{doubt}: not used")
    _enter(tournament, number, read, reading, hints)
    return True


def _enter(tournament: _Tournament, number: int, read: PlayerLine, reading: Reading, hints: FileHints) -> None:
    # A FIDE number of zeros alone is how programs write that there is none.
    fide = read.fide_id.lstrip("0")
    name = one_line(read.name) or (f"FIDE {fide}" if fide else "")
    if not name:
        reading.fault(number, "columns 15-47: expected the player's name, or a FIDE number in columns 58-68")
        tournament.unread.add(read.rank)
        return
    identity = f"fide:{fide}" if fide else name_identity(name, hints.source)
    entrant = Entrant(number, read, identity, name)
    other = tournament.identities.setdefault(identity, entrant)
    if other is not entrant:
        what = f"the FIDE number {fide}" if fide else f"the name {name!r} without a FIDE number"
        advice = "correct one" if fide else "give them FIDE numbers, or names that differ"
        reading.fault(number, f"{what} is that of line {other.line}, too: nobody knows whose games are whose; {advice}")
        tournament.unread |= {read.rank, other.read.rank}
        tournament.entrants.pop(other.read.rank, None)
        return
    tournament.entrants[read.rank] = entrant


def _games(tournament: _Tournament, reading: Reading, hints: FileHints) -> Iterator[SourceGame]:
    header = tournament.header
    days, faults, doubts = read_days(header, hints.dates)
    for line, words in faults:
        reading.file_fault(line, f"{words}; no game of this tournament was read")
    if days is None:
        return
    for line, words in doubts:
        reading.note(line, words)
    pairings = pair_entrants(tournament.entrants, tournament.unread)
    for line, words in sorted(pairings.faults):
        reading.fault(line, words)
    reading.skipped.update(pairings.left_out)

    # or else the last day of the tournament, which no round outlasted
    def day_of(number: int) -> str | None:
        return days.rounds.get(number) or days.last or days.first or hints.day

    if any(day_of(number) is None for number in pairings.rounds):
        words = "the report names no day (132, 042 or 052), so its games have no place in time: say when with --day"
        reading.file_fault(header.line, f"{words}; no game of this tournament was read")
        return
    speed, stated_on = _speed(header, reading)
    if contradiction := pool_contradiction(speed, hints):
        if hints.is_pool_named:
            reading.file_fault(stated_on, f"{contradiction}; no game of this tournament was read")
            return
        reading.note(stated_on, contradiction)
    _note(tournament, pairings, days, reading)
    _report(tournament, pairings, days, speed, reading)
    name, began = header.name(), days.first or days.last
    for bye in pairings.byes:
        day = began or str(day_of(bye.round))
        _keep_bye(
            bye, name, day, header.allotted_half_points() if bye.brings is Brings.ALLOTTED else USUAL, speed, reading
        )
    source_games = (_source_game(game, name, began, str(day_of(game.round)), speed) for game in pairings.games)
    yield from take_out_byes(source_games, reading, began)


def _keep_bye(bye: Bye, name: str | None, day: str, worth: int, speed: str | None, reading: Reading) -> None:
    entrant = bye.entrant
    if entrant.identity.startswith("name:") and means_no_opponent(entrant.name):
        return  # a line for no player
    if name is None:
        reading.skipped[OF_NO_TOURNAMENT] += 1
        return
    half_points = None if worth == USUAL else worth
    who = (entrant.line, entrant.identity, entrant.name)
    reading.add_round(SourceRound(*who, name, day, bye.round, bye.brings.value, half_points, speed))


def _speed(header: TournamentHeader, reading: Reading) -> tuple[str | None, int]:
    """Return the speed class of the coded time control (222), or else of the one in words (122), and its line."""

    def in_words() -> str | None:
        control = parse_words(header.text("122"))
        if control is None:
            return None
        return control.fide_class if reading.by_fide else control.speed

    coded = partial(fide_class, header.text("222")) if reading.by_fide else header.speed
    for record, read in (("222", coded), ("122", in_words)):
        try:
            if speed := read():
                return speed, header.records[record][0]
        except ValueError as error:
            line, words = header.records[record]
            reading.note(line, f"{record} {error}; got {words.strip()[:80]!r}: not used")
    return None, header.line


def _source_game(game: Pairing, name: str | None, began: str | None, day: str, speed: str | None) -> SourceGame:
    white, black = game.white, game.black
    facts = (name or "", began or day, str(game.round), white.identity, black.identity)
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
        tournament=name,
        round=str(game.round),
        white_rating=white.read.rating or None,
        black_rating=black.read.rating or None,
        speed=speed,
        is_made=True,
    )


def _note(tournament: _Tournament, pairings: Pairings, days: TournamentDays, reading: Reading) -> None:
    """Note facts about a tournament that a person should know, next to its games."""
    header = tournament.header
    playing = {rank for game in pairings.games for rank in (game.white.read.rank, game.black.read.rank)}
    playing |= {bye.entrant.read.rank for bye in pairings.byes}
    idle = len(tournament.entrants) - len(playing)
    words = [
        f"{what}: {count:,}"
        for count, what in (
            (sum(not game.is_played for game in pairings.games), "forfeits and games of less than one move, not rated"),
            (idle, "entrants of whom no round is told, who are not registered"),
        )
        if count
    ]
    if words:
        reading.note(header.line, "; ".join(words))
    if pairings.games and any(game.round not in days.rounds for game in pairings.games) and days.first != days.last:
        last = days.last or days.first
        if last:
            reading.note(header.line, f"the days of some rounds are not given (132): their games are put on {last}")
    if header.name() is None:
        reading.note(header.line, "the report names no tournament (012), so its games carry none")
    scoring = header.text("162")
    why = f" (scoring: {scoring[:60]})" if scoring else ""
    for entrant, points in differing_points(tournament.entrants, header.allotted_half_points()):
        in_report = f"{entrant} has {entrant.read.points:g} points in the report"
        by_results = f"{points:g} by results and byes at 1, ½ and 0"
        reading.note(entrant.line, f"{in_report}{why}, and {by_results}, which is what counts")
    if header.passed_over:
        reading.note(header.first_passed_over, f"lines that tell of no game: {header.describe_skipped_lines()}")


def _report(
    tournament: _Tournament, pairings: Pairings, days: TournamentDays, speed: str | None, reading: Reading
) -> None:
    name = tournament.header.name()
    if name is None or not (pairings.games or pairings.byes):
        return
    dated = [day for day in (days.first, days.last, *days.rounds.values()) if day and len(day) == DAY_LENGTH]
    if not dated:
        return
    first = days.first if days.first and len(days.first) == DAY_LENGTH else min(dated)
    last = days.last if days.last and len(days.last) == DAY_LENGTH else max(dated)
    # A report may be of a tournament that is not over: its lines end before the last round.
    rounds = max(tournament.header.rounds() or 0, *pairings.rounds)
    entrants = len(tournament.entrants)
    reading.add_tournament(
        ReportedTournament(
            tournament.header.line,
            name,
            min(first, last),
            max(first, last),
            tournament.header.format(),
            # An announcement takes two entrants or more.
            entrants if entrants > 1 else None,
            rounds,
            speed,
        )
    )
