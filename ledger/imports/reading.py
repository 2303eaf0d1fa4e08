"""The log of a file that is read, and what importers share: hints, frames, identities, speeds, byes, addresses.

No format is parsed here. Which names mean that there is no opponent is in ``no_opponent``. Addresses are those of games
on servers, with the keys that games of those servers have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import attrs

from ledger.facts.event_fields import MAX_ROUND
from ledger.facts.person_names import fold_case
from ledger.facts.source_games import (
    KEPT_FAULTS,
    FaultsFound,
    FileFault,
    SourceGame,
    SourceReport,
    SourceRound,
    frame_schema,
    shortened,
)
from ledger.facts.words import Brings, Outcome, round_order
from ledger.imports.no_opponent import bye_note, is_bye_side
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

BATCH = 20_000  # games a frame: large enough to think in columns, small enough for constant memory
BATCH_TEXT = 2**25  # bytes of movetext a frame: 20,000 games with clocks have 24 million
MAX_TEXT = 2**20  # characters of movetext
MAX_NAME = 128  # characters of a display name; a longer one is a broken file
MAX_EVENT = 128  # characters of a tournament's name
MAX_UNTIDY = 1000  # characters of a text before it is tidied: putting accents in order takes their number squared
DAY_LENGTH = 10  # characters of an instant that names a day
MAX_TOURNAMENTS = 1_000  # of one file that are stored next to their games
MAX_ROUNDS = 1_000_000  # without a game, of one file
FIDE_CLASSES = ("standard", "rapid", "blitz")  # FIDE's, from the slowest
OTHER_CLASS = "time-control-differs"  # the code of a game in the pool of another class
TOO_FAST = "too-fast"  # a time control that FIDE rates in none of them
SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence")  # Lichess's, from the fastest
VARIANT = re.compile(r"[a-z0-9][A-Za-z0-9]{0,31}", re.ASCII)  # the form of a variant, which may name a pool


class ReportedTournament(NamedTuple):
    """A tournament as a file states it, next to its games.

    Attributes:
        line: where it begins.
        name: as its games carry it.
        starts_at, ends_at: first and last day, ``YYYY-MM-DD``.
        format: one of the words of ``facts.words.Format``, None where the file says none of them.
        entrants, rounds: how many there are; None where too few for a tournament.
        speed: speed class of its games, None where unknown.
    """

    line: int
    name: str
    starts_at: str
    ends_at: str
    format: str | None
    entrants: int | None
    rounds: int | None
    speed: str | None


@attrs.frozen(kw_only=True)
class FileHints:
    """Facts about a file that it does not contain itself, as the user states them.

    Attributes:
        source: the site whose player names and game ids CSV files and tournament reports carry; None for neither.
        day: when the games of a tournament report were played that names no day: an instant of any precision.
        dates: which number of ``04/05/2024`` comes first, one of ``times.ORDERS``.
        speeds_by_clock: whether speed classes go by Lichess's rule in archives of chess.com, too, which have their own.
        check_moves: True if the moves of all games are played through, False if only those of small files are.
        without_moves: True if the moves are left out once they have been read; the number of half-moves stays.
        headings: of CSV files, by our name of a column, its heading, as of ``csv.header.parse_headings``.
        results: of CSV files, by a word of the file, what it means, as of ``csv.games.parse_results``.
        white_boards: of matches of teams, the boards on which the team named first has White: ``odd``, ``even``,
            ``all``; None if nobody said.
        equal_rows: of CSV files, True if equal rows without a key are several games.
        by_fide: True if the speed classes are FIDE's (``FIDE_CLASSES``, ``TOO_FAST``), by the time for 60 moves.
        pool_class: FIDE's class of the pool to which all games go; a game of another one is a note. None: any.
        is_pool_named: True if the user named that pool: then a game of another class is a fault, and a report of
            another class has a warning.
        accepts_other_class: True if the user accepts that warning: then a game of another class is a note, too.
    """

    source: str | None = None
    day: str | None = None
    dates: str | None = None
    speeds_by_clock: bool = False
    check_moves: bool = False
    without_moves: bool = False
    headings: Mapping[str, str] = attrs.field(factory=dict)
    results: Mapping[str, str | None] = attrs.field(factory=dict)
    white_boards: str | None = None
    equal_rows: bool = False
    by_fide: bool = False
    pool_class: str | None = None
    is_pool_named: bool = False
    accepts_other_class: bool = False

    @property
    def refuses_other_class(self) -> bool:
        """True if a game of another class than that of the pool is a fault."""
        return self.is_pool_named and not self.accepts_other_class


NO_HINTS = FileHints()


class Faults(NamedTuple):
    """The faults of a part of a file: the first ones, and the number of the others."""

    first: list[FileFault]
    more: int = 0


def place_of(name: str, sheet: str | None) -> str:
    """Return a file, and the sheet of a workbook, for messages: ``liga.xlsx[Runde 1]``."""
    return name if sheet is None else f"{name}[{sheet}]"


@attrs.define
class Reading(FaultsFound):
    """The log of one file while it is read: faults, notes, skipped games, progress, tournaments, byes.

    Attributes:
        name: the file as the user named it, ``-`` for standard input.
        sheet: of a workbook, the sheet that is read, whose rows are the lines; None for other files.
        faults, fault_count: faults of refused games, in file order.
        skipped: games left out for a named reason that is no mistake, such as ``unfinished``.
        bytes_read: how far the reader is, for the progress bar, in bytes of the file as stored.
        is_cut: True when the file was not read to its end, so that the last game read may not be whole.
        ending: the fault for which the rest was not read, be it behind more faults than are kept.
        no_games: lines of faults that concern the file and no game of it.
        note_count: how many different notes there are.
        tournaments: facts of the file about tournaments, next to their games, the first ``MAX_TOURNAMENTS``.
        rounds: its rounds without a game, ``MAX_ROUNDS`` at most.
        reports: entrants and other facts of its tournaments, the first ``MAX_TOURNAMENTS``.
        by_fide: True if the speed classes of its games are to be FIDE's, as of ``FileHints``.
        first_line: of a part of a file, the number of its first line.
        has_more: True for a part of a file that is not the last one.
    """

    name: str
    sheet: str | None = None
    first_line: int = 1
    has_more: bool = False
    skipped: Counter[str] = attrs.Factory(Counter)
    bytes_read: int = 0
    is_cut: bool = False
    ending: FileFault | None = None
    no_games: set[int] = attrs.Factory(set)
    note_count: int = 0
    tournaments: list[ReportedTournament] = attrs.Factory(list)
    rounds: list[SourceRound] = attrs.Factory(list)
    reports: list[SourceReport] = attrs.Factory(list)
    by_fide: bool = False
    # by message the first line and the number of lines
    _noted: dict[str, tuple[int, int]] = attrs.Factory(dict)
    # while the stream is read ahead of the games, the faults for which it ends
    _ahead: list[FileFault] | None = None

    @property
    def place(self) -> str:
        """The file, and the sheet of a workbook, for messages that give a line of it."""
        return place_of(self.name, self.sheet)

    def note(self, line: int, message: str) -> None:
        """Note something in the file that a person should look at.

        Equal notes are counted.
        """
        self._note(line, shortened(message), 1)

    def _note(self, line: int, words: str, times: int) -> None:
        if words in self._noted:
            first, lines = self._noted[words]
            self._noted[words] = (first, lines + times)
            return
        self.note_count += 1
        # a file of a million bad lines must not fill memory with words about them
        if len(self._noted) < KEPT_FAULTS:
            self._noted[words] = (line, times)

    @property
    def notes(self) -> list[FileFault]:
        """The first notes by their lines, each once, with the number of lines that have it."""
        return sorted(
            FileFault(line, f"{words} ({lines:,} times)" if lines > 1 else words)
            for words, (line, lines) in self._noted.items()
        )

    def add_tournament(self, tournament: ReportedTournament) -> None:
        """Store a tournament that the file states."""
        if len(self.tournaments) < MAX_TOURNAMENTS:
            self.tournaments.append(tournament)

    def add_report(self, report: SourceReport) -> None:
        """Store what a report states about a tournament besides its games."""
        if len(self.reports) < MAX_TOURNAMENTS:
            self.reports.append(report)

    def add_round(self, round_: SourceRound) -> None:
        """Store a round without a game; too many of them are a fault of the file."""
        if len(self.rounds) < MAX_ROUNDS:
            self.rounds.append(round_)
        elif MAX_ROUNDS not in self.no_games:  # said once: the limit itself marks it among the lines
            words = f"more than {MAX_ROUNDS:,} rounds without a game, the limit of a file; the others are not read"
            self.file_fault(round_.line, words)
            self.no_games.add(MAX_ROUNDS)

    def stop(self, line: int, message: str) -> None:
        """Note the fault for which the rest of the file is not read."""
        if self._ahead is not None:
            self._ahead.append(FileFault(line, message))
            return
        self.is_cut = True
        self.ending = FileFault(line, shortened(message))
        self.file_fault(line, message)

    def file_fault(self, line: int, message: str) -> None:
        """Note a fault that concerns the file, not a game."""
        self.no_games.add(line)
        self.fault(line, message)

    def read_ahead(self) -> None:
        """Begin to read the stream ahead of the games: the faults for which it ends wait for those of the games."""
        self._ahead = []

    def end_reading_ahead(self) -> None:
        """Note the faults for which the stream ended: all games before its rest were read."""
        waiting, self._ahead = self._ahead or (), None
        for fault in waiting:
            self.stop(*fault)

    def add_part(self, part: Reading) -> None:
        """Add the log of the next part of the file."""
        self.fault_count += part.fault_count
        self.faults += part.faults[: KEPT_FAULTS - len(self.faults)]
        self.no_games |= part.no_games
        self.skipped += part.skipped
        self.is_cut, self.ending = part.is_cut, part.ending
        self.note_count += part.note_count - len(part._noted)
        for words, (line, times) in part._noted.items():
            self._note(line, words, times)
        for tournament in part.tournaments:
            self.add_tournament(tournament)
        for report in part.reports:
            self.add_report(report)
        for round_ in part.rounds:
            self.add_round(round_)

    def add_faults(self, *parts: Faults) -> None:
        """Note the faults of the next part of the file, in the order of their lines."""
        for fault in sorted([fault for part in parts for fault in part.first], key=lambda fault: fault.line):
            self.fault(*fault)
        self.fault_count += sum(part.more for part in parts)


def batch_games(games: Iterable[SourceGame], size: int = BATCH) -> Iterator[DataFrame]:
    """Yield games in frames of at most *size* rows, fewer where their movetext is long."""
    source = iter(games)
    while True:
        rows: list[SourceGame] = []
        length = 0
        # A few at a time: asked for singly each game costs a turn of this loop, and more could pass the limit of text.
        while length < BATCH_TEXT and (few := list(islice(source, min(8, size - len(rows))))):
            rows += few
            length += sum([len(game.text) for game in few if game.text])  # a list: quicker than a generator of eight
        if not rows:
            return
        yield pl.DataFrame(rows, schema=frame_schema(), orient="row")


def in_batches(frames: Iterable[DataFrame], size: int = BATCH) -> Iterator[DataFrame]:
    """Yield the games of frames in frames of *size* rows, fewer where their movetext is long, and a last one."""
    waiting: DataFrame | None = None
    for frame in frames:
        waiting = frame if waiting is None else pl.concat((waiting, frame))
        while (end := _batch_end(waiting, size)) <= len(waiting):
            yield waiting[:end].rechunk()
            waiting = waiting[end:]
    if waiting is not None and len(waiting):
        yield waiting.rechunk()


def _batch_end(games: DataFrame, size: int) -> int:
    """Return how many of the games are a batch, more than there are if they are not enough for one."""
    long = (games["text"].str.len_bytes().cum_sum() >= BATCH_TEXT).arg_true()
    return min(size, int(long[0]) + 1 if len(long) else size)


def name_identity(name: str, namespace: str | None = None) -> str:
    """Return the identity of a player who is known by name alone: Unicode NFC, single blanks, case folded.

    Args:
        name: as the source has it.
        namespace: the site whose names these are, such as ``lichess``; None for names of people.
    """
    return f"{namespace or 'name'}:{fold_case(name)}"


def speed_class(base_seconds: float, increment_seconds: float) -> str:
    """Return the speed class of a clock: base + 40 times the increment (RULES 3, lichess.org/faq#time-controls)."""
    estimate = base_seconds + 40 * increment_seconds
    for limit, name in ((30, "ultraBullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid")):
        if estimate < limit:
            return name
    return "classical"


def pool_contradiction(speed: str | None, hints: FileHints) -> str | None:
    """Return in words how FIDE's class of a game contradicts that of the pool to which it goes; None if it does not."""
    if speed is None or hints.pool_class is None or speed == hints.pool_class:
        return None
    stated = "faster than FIDE rates" if speed == TOO_FAST else f"that of {speed} by FIDE's limits"
    return f"the time control is {stated}, and the games go to the pool {hints.pool_class}"


OF_NO_TOURNAMENT = "byes of no tournament"
_A_ROUND = 10**12  # in ``round_order``


def bye_value(outcome: str, *, is_white: bool) -> Brings:
    """Return the kind of bye that a player has whose game against nobody has this outcome."""
    if outcome == Outcome.DRAW:
        return Brings.HALF
    return Brings.ALLOTTED if outcome == (Outcome.WHITE if is_white else Outcome.BLACK) else Brings.ZERO


def round_number(text: str | None) -> int | None:
    """Return the number of a round as the source wrote it; None if it has none."""
    number = round_order(text) // _A_ROUND
    return number if 0 < number <= MAX_ROUND else None


def take_out_byes(games: Iterable[SourceGame], reading: Reading, edition: str | None = None) -> Iterator[SourceGame]:
    """Yield the games of two people; games without an opponent go to *reading* as rounds without a game.

    Args:
        games: of a source that knows its players by name.
        reading: takes the rounds.
        edition: a day of their tournament; None for the day of each game.
    """
    for game in games:
        has_moves = bool(game.half_moves)
        is_white = game.black_id.startswith("name:") and is_bye_side(
            game.black_name,
            has_played=has_moves or game.black_rating is not None,
            has_won=game.outcome == Outcome.BLACK,
        )
        is_black = game.white_id.startswith("name:") and is_bye_side(
            game.white_name,
            has_played=has_moves or game.white_rating is not None,
            has_won=game.outcome == Outcome.WHITE,
        )
        if not (is_white or is_black):
            yield game
        elif is_white and is_black:
            reading.skipped["rows without a game"] += 1
        else:
            sides = (game.white_name, game.black_name)
            player, word = sides if is_white else reversed(sides)
            reading.note(game.line, bye_note(word, player, game.round))
            if game.tournament is None:
                reading.skipped[OF_NO_TOURNAMENT] += 1
                continue
            place = (game.tournament, edition or game.ended_at[:DAY_LENGTH], round_number(game.round))
            identity, worth = game.white_id if is_white else game.black_id, bye_value(game.outcome, is_white=is_white)
            reading.add_round(SourceRound(game.line, identity, player, *place, worth, None, game.speed, game.variant))


# Eight characters name a game, twelve a side of it: the last four are of the player who looked.
# The words that are shut out have eight letters as well, and are pages of the site, not games.
_LICHESS = re.compile(
    r"lichess\.org/(?!training|analysis|practice)([A-Za-z0-9]{8})(?:[A-Za-z0-9]{4})?(?:[/?#]|$)", re.ASCII
)
# The number of a game is in the last part of its address; one before a further slash names something else.
_CHESSCOM = re.compile(r"chess\.com/\S*?(\d{4,20})(?!\S*/)", re.ASCII)
# Addresses of ficsgames.org divide what follows the question mark by semicolons as well.
_FICS = re.compile(r"ficsgames\.org/\S*[?&;]ID=(\d{1,20})", re.ASCII | re.IGNORECASE)
_ADDRESSES = {  # by the part before the colon of a key
    "lichess": ((re.compile(r"[A-Za-z0-9]{8}"), "https://lichess.org/{}"),),
    "chesscom": (
        (re.compile(r"[0-9]{4,20}"), "https://www.chess.com/game/live/{}"),
        (re.compile(r"daily/[0-9]{4,20}"), "https://www.chess.com/game/{}"),
    ),
    "fics": ((re.compile(r"[0-9]{1,20}"), "https://www.ficsgames.org/cgi-bin/show.cgi?ID={};action=show"),),
}
LONGEST = 300  # characters of an address that are looked at


def lichess_key(address: str) -> str | None:
    """Return ``lichess:`` and the eight characters of a game on lichess.org; None for any other text."""
    match = _LICHESS.search(address[:LONGEST])
    return f"lichess:{match[1]}" if match else None


def chesscom_key(address: str) -> str | None:
    """Return ``chesscom:`` and the number of a game on chess.com; daily games are numbered apart from live ones."""
    link = address[:LONGEST]
    match = _CHESSCOM.search(link)
    return f"chesscom:{'daily/' if 'daily' in link else ''}{match[1]}" if match else None


def key_of_address(address: str) -> str | None:
    """Return the key of the game at an address of lichess.org, chess.com or ficsgames.org; None for other texts."""
    fics = _FICS.search(address[:LONGEST])
    return lichess_key(address) or chesscom_key(address) or (f"fics:{fics[1]}" if fics else None)


def game_address(key: str) -> str | None:
    """Return the web address of a game of Lichess, chess.com or FICS, from its key; None for any other key."""
    server, _, number = key.partition(":")
    for pattern, address in _ADDRESSES.get(server, ()):
        if pattern.fullmatch(number):
            return address.format(number)
    return None
