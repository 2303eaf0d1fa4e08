"""Lines of a list of pairings to rows of games: captions of rounds, headings, pairings of players, boards of teams.

A list has a caption for each round, such as ``Round 3 on 2024/05/04 at 14:00``, and below it headings and rows of
players; or the matches of teams, each a row with the score of the match and a row for each board. The row of a board
says who played for the team that is named first, not who had White: the marks ``(w)`` and ``(b)`` behind a name do, or
the user. The table of a league has columns for the board and for the players of both teams, and days and rounds of its
own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import attrs

from ledger.facts.source_games import FileFault
from ledger.imports.crosstables.titles import DAY
from ledger.imports.csv import values
from ledger.imports.csv.rows import decode_text
from ledger.imports.languages import ROUND_WORDS, fold_heading, headings_by_place, result_of_word

MAX_LENGTH = 10_000  # bytes of a line that are looked at
MAX_TITLES = 40  # lines above the first round that are looked at
_ROW = 4  # cells of a pairing, at least: a board, two names, a result
DIVIDERS = "\t;,"
_CAPTION = re.compile(r"(?:(\d{1,2})\s*[.-]?\s*([^\W\d]+)|([^\W\d]+)\.?\s*(\d{1,2}))\.?(?!\w)(.*)")
_SCORE = re.compile(
    r"(\d{1,2}|\d{0,2}½|\d{1,2}[.,][05])F?\s*[:–-]\s*(\d{1,2}|\d{0,2}½|\d{1,2}[.,][05])F?", re.IGNORECASE
)
_BOARD = re.compile(r"(?:\d{1,3}\.)?(\d{1,2})\.?")
_MATCH = re.compile(r"\d{1,3}\.\d{1,3}")
_MARKED = re.compile(r"(.*\S)\s*\(([wb])\)", re.IGNORECASE)
_TITLES = frozenset(f"{prefix}{title}" for prefix in ("", "W", "A") for title in ("GM", "IM", "FM", "CM", "NM", "H"))
_NUMBER = re.compile(r"\d{1,4}")
_HEADINGS = {
    "white": ("white", "name", "player", "white_name"), "black": ("black", "black_name"), "result": ("result", "res"),
    "rating": ("rtg", "rtgi", "elo", "rating"), "fide_id": ("fideid", "fide id", "id"),
}  # fmt: skip
_LEAGUE = {
    "first": ("home player", "player home", "player 1"), "second": ("away player", "guest player", "player 2"),
    "board": ("board", "bo"), "result": ("result", "res"), "round": ("round", "rd"),
    "ended_at": ("date", "day", "ended at"), "tournament": ("tournament", "league", "division"),
}  # fmt: skip
_LEAGUE_COLUMNS = {fold_heading(word): column for column, words in _LEAGUE.items() for word in words}
_COLUMNS = {fold_heading(word): column for column, words in _HEADINGS.items() for word in words}
_DATES = frozenset({"date", "ended_at", "started_at", "utc_date_time", "start", "end"})
BOARDS = ("odd", "even", "all")  # on which the team that is named first has White
_FLIPPED = {"white": "0-1", "black": "1-0", "draw": "1/2-1/2", "+white": "-/+", "+black": "+/-", "-": "-/-", "*": "*"}
_POINTS = {"white": (2, 0), "black": (0, 2), "draw": (1, 1), "+white": (2, 0), "+black": (0, 2), "-": (0, 0)}


class Round(NamedTuple):
    """The caption of a round: its line, its number, the text of its day."""

    line: int
    number: int
    day: str | None


class PairedGame(NamedTuple):
    """A row of a list: its line and round, and the cells of a game, as they are written."""

    line: int
    round: Round | None
    white: str
    white_rating: str
    white_fide_id: str
    black: str
    black_rating: str
    black_fide_id: str
    result: str
    tournament: str | None = None


@attrs.define
class _Columns:
    """The places of the columns of pairings of players."""

    places: dict[str, int]
    headings: Sequence[str]
    foreign: dict[str, str]  # headings of another language, and what each is read as
    line: int


class _Board(NamedTuple):
    """A board of a match: its line, number, and the first and second team's players with marks and ratings."""

    line: int
    number: int
    players: tuple[tuple[str, str, str], tuple[str, str, str]]  # name, mark, rating
    result: str


@attrs.define
class _Match:
    line: int
    score: tuple[int, int] | None  # None: it is not over
    has_headings: bool
    boards: list[_Board] = attrs.Factory(list)


def read_caption(cells: Sequence[str], line: int) -> Round | None:
    """Return the round that a line is the caption of; None if it is none."""
    words = [cell.strip() for cell in cells if cell.strip()]
    if not 0 < len(words) <= 3:
        return None
    match = _CAPTION.fullmatch(" ".join(words)[:200])
    if match is None:
        return None
    number, word = (match[1], match[2]) if match[1] else (match[4], match[3])
    if fold_heading(word) not in ROUND_WORDS or not int(number):
        return None
    day = DAY.search(match[5])
    return Round(line, int(number), day[0] if day else None)


def read_league(cells: Sequence[str], line: int) -> _Columns | None:
    """Return the columns of a league: both players, the board and the result; None if a row has no such headings."""
    read = [_LEAGUE_COLUMNS.get(fold_heading(cell)) for cell in cells]
    unread = (cell if name is None else None for cell, name in zip(cells, read, strict=True))
    foreign = headings_by_place(unread, _LEAGUE.keys() - set(read))
    places: dict[str, int] = {}
    for place, name in enumerate(read):
        if (column := foreign.get(place, name)) is not None:
            places.setdefault(column, place)
    if not {"first", "second", "board", "result"} <= places.keys():
        return None
    shown = {"first": "the first player", "second": "the second player", "ended_at": "date"}
    return _Columns(places, cells, {cells[at].strip(): shown.get(name, name) for at, name in foreign.items()}, line)


def read_columns(cells: Sequence[str], line: int) -> _Columns | None:
    """Return the columns of pairings of players; None if a row has no such headings, or days of its own."""
    folded = [fold_heading(cell) for cell in cells]
    if not _DATES.isdisjoint(folded):
        return None
    named: list[str | None] = [_COLUMNS.get(word) for word in folded]
    unread = (cell if name is None else None for cell, name in zip(cells, named, strict=True))
    foreign = headings_by_place(unread, ("white", "black", "result", "name", "ended_at"))
    if "ended_at" in foreign.values():
        return None
    named = [foreign.get(place, name) for place, name in enumerate(named)]
    whites = [place for place, name in enumerate(named) if name in {"white", "name"}]
    black = named.index("black") if "black" in named else (whites[1] if len(whites) > 1 else None)
    if not whites or black is None or "result" not in named:
        return None
    places = {"white": whites[0], "black": black, "result": named.index("result")}
    for name in ("rating", "fide_id"):
        sides = [place for place, column in enumerate(named) if column == name]
        if len(sides) > 1:
            places |= {f"white_{name}": sides[0], f"black_{name}": sides[1]}
    words = {cells[place].strip(): "white" if name == "name" else name for place, name in foreign.items()}
    return _Columns(places, cells, words, line)


def _half_points(text: str) -> int:
    tidy = text.replace(",", ".").rstrip("Ff")
    return int(2 * (float(tidy.replace("½", "") or 0) + (0.5 if "½" in tidy else 0)))


def _score(cell: str) -> tuple[int, int] | None:
    match = _SCORE.fullmatch(cell.strip())
    return (_half_points(match[1]), _half_points(match[2])) if match else None


def read_match(cells: Sequence[str], line: int, before: _Match | None = None) -> _Match | None:
    """Return the match of two teams that a row begins; None if it is none.

    A row such as ``18.2`` is a match of its own, or the second board of one that began with headings. *before*: the
    match above the row.
    """
    shown = [word for cell in cells if (word := cell.strip())]
    has_headings = bool(shown) and fold_heading(shown[0]) in {"bo", "br"}
    is_numbered = bool(shown) and _MATCH.fullmatch(shown[0]) is not None and not (before and before.has_headings)
    if len(shown) < 4 or not (has_headings or is_numbered):
        return None
    scores = [score for word in shown[1:] if (score := _score(word)) is not None]
    return _Match(line, scores[-1] if scores else None, has_headings)


def _player(cells: Sequence[str]) -> tuple[str, str, str]:
    """Return name, mark of the colour and rating of a side of a board."""
    words = [word for cell in cells if (word := cell.strip())]
    rating = next((word for word in reversed(words) if _NUMBER.fullmatch(word)), "")
    texts = [word for word in words if not _NUMBER.fullmatch(word)]
    # a title is in a cell of its own; "Wim" alone is a name
    names = [word for word in texts if word not in _TITLES] or texts
    name = max(names, key=len, default="")
    marked = _MARKED.fullmatch(name)
    return (marked[1], marked[2].casefold(), rating) if marked else (name, "", rating)


def _is_result(cell: str) -> bool:
    return bool(cell.strip()) and _meaning(cell) is not None


@lru_cache(maxsize=1024)
def _meaning(cell: str) -> str | None:
    with suppress(ValueError):
        return values.parse_result(cell)
    return result_of_word(cell)


def read_board(cells: Sequence[str], line: int) -> _Board | None:
    """Return a board of a match; None if a row is none.

    The result is behind both players, who are divided by a dash, or between them.
    """
    words = [cell.strip() for cell in cells]
    while words and not words[-1]:
        words.pop()
    match = _BOARD.fullmatch(words[0]) if words else None
    if match is None:
        return None
    dash = next((place for place, word in enumerate(words[1:-1], 1) if word in {"-", "–", ":"}), None)
    if dash is not None and not _is_absent_player(words, dash):
        left, right, result = words[1:dash], words[dash + 1 : -1], words[-1]
    else:
        place = next((place for place, word in enumerate(words[2:], 2) if ":" in word or _is_result_of_two(word)), None)
        if place is None:
            return None
        left, right, result = words[1:place], words[place + 1 :], words[place]
    return _Board(line, int(match[1]), (_player(left), _player(right)), result)


def _is_result_of_two(word: str) -> bool:
    return len(re.sub(r"\s", "", word)) >= 3 and _is_result(word)


def _is_absent_player(words: Sequence[str], dash: int) -> bool:
    """Return whether a dash is in the place of a player who did not come, in a row with the result between both."""
    return any(_is_result_of_two(word) for place, word in enumerate(words[1:-1], 1) if place != dash)


class PairingReader:
    """Reads a list line by line.

    Attributes:
        titles: the lines above the first round.
        columns: those of the first headings, None for matches of teams.
        rounds: the captions.
        faults: what contradicts.
        unfinished: boards without a result.
    """

    def __init__(self, white_boards: str | None) -> None:
        self.titles: list[tuple[int, str]] = []
        self.columns: _Columns | None = None
        self.rounds: list[Round] = []
        self.faults: list[FileFault] = []
        self.unfinished = 0
        self.line = 0
        self._boards = white_boards
        self._round: Round | None = None
        self._here: _Columns | None = None
        self._match: _Match | None = None
        self._divider = ""
        self._rounds_of_rows: dict[tuple[int, str], Round] = {}

    def read(self, lines: Iterable[bytes]) -> Iterator[PairedGame]:
        """Yield the games of a list, by lines."""
        for raw in lines:
            self.line += 1
            text = decode_text(raw[:MAX_LENGTH]).rstrip("\r\n\x1a").removeprefix("\ufeff")
            yield from self._take(self._split(text))
        yield from self._end_match()

    def _split(self, text: str) -> list[str]:
        divider = self._divider or max(DIVIDERS, key=text.count)
        with suppress(csv.Error, StopIteration):
            return next(csv.reader([text], delimiter=divider))
        return text.split(divider)

    def _take(self, cells: Sequence[str]) -> Iterator[PairedGame]:
        cells = [cell.strip() for cell in cells]
        shown = list(filter(None, cells))
        if not shown:
            yield from self._end_match()
        elif shown[0].isdecimal() and len(shown) > 1 and (self._match or self._here):  # as most rows begin
            yield from self._take_numbered(cells)
        elif (caption := read_caption(cells, self.line)) is not None:
            yield from self._end_match()
            self._round = caption
            self.rounds.append(caption)
        elif (columns := self._headings(shown, cells)) is not None:
            yield from self._end_match()
            self._here, self.columns = columns, self.columns or columns
        elif (match := read_match(cells, self.line, self._match)) is not None:
            yield from self._end_match()
            self._match = match
        elif self._match is not None or self._here is not None:
            yield from self._take_numbered(cells)
        elif shown[0].isdecimal() and len(shown) >= _ROW:
            self.faults.append(FileFault(self.line, "there are no headings above this row to say what its cells are"))
        elif not self.rounds and len(self.titles) < MAX_TITLES:
            self.titles.append((self.line, " ".join(" ".join(shown).split())))

    def _take_numbered(self, cells: Sequence[str]) -> Iterator[PairedGame]:
        """Take a row below a match or below headings."""
        if self._match is None:
            yield from self._take_row(cells)
        elif (board := read_board(cells, self.line)) is not None:
            self._match.boards.append(board)
        elif _BOARD.fullmatch(cells[0].strip()):
            if all(cell.strip() for cell in cells[1:-1]):
                self.faults.append(FileFault(self.line, "the row of a board has no result that can be read"))
            else:
                self.unfinished += 1

    def _headings(self, shown: Sequence[str], cells: Sequence[str]) -> _Columns | None:
        """Return the columns of a row of headings; None for another row, as most rows begin with a number."""
        if any(map(str.isdecimal, shown)):
            return None
        return read_league(cells, self.line) or read_columns(cells, self.line)

    def _take_row(self, cells: Sequence[str]) -> Iterator[PairedGame]:
        assert self._here is not None
        cell = {name: cells[place].strip() for name, place in self._here.places.items() if place < len(cells)}
        if "board" in self._here.places:
            yield from self._take_league_row(cell)
            return
        if not (cell.get("white") or cell.get("black")) or len(cell) < 3:
            return  # a line below the pairings
        names = ("white", "white_rating", "white_fide_id", "black", "black_rating", "black_fide_id", "result")
        yield PairedGame(self.line, self._round, *(cell.get(name, "") for name in names))

    def _take_league_row(self, cell: dict[str, str]) -> Iterator[PairedGame]:
        """Yield the game of a row of a league."""
        if not (cell.get("first") or cell.get("second")) or not cell.get("result"):
            return  # a line between the matches, or a game that is still to be played
        number = _BOARD.fullmatch(cell.get("board", ""))
        if number is None:
            words = f"the board must be a number; got {cell.get('board', '')[:40]!r}"
            self.faults.append(FileFault(self.line, words))
            return
        number_of_round, day = cell.get("round", ""), cell.get("ended_at", "")
        if number_of_round or day:
            place = int(number_of_round) if re.fullmatch(r"\d{1,3}", number_of_round, re.ASCII) else 0
            self._round = self._rounds_of_rows.setdefault((place, day), Round(self.line, place, day or None))
        players = (_player([cell["first"]]), _player([cell["second"]]))
        for game in self._game_of_board(_Board(self.line, int(number[1]), players, cell["result"])):
            yield game._replace(tournament=cell.get("tournament") or None)

    def _end_match(self) -> Iterator[PairedGame]:
        """Yield the games of the match that ends, unless its boards contradict its score."""
        match, self._match = self._match, None
        if match is None or not match.boards:
            return
        points = [_POINTS.get(_meaning(board.result) or "*") for board in match.boards]
        if match.score is not None and None not in points:
            sums = tuple(sum(side) for side in zip(*filter(None, points), strict=True))
            if sums != match.score:
                score, boards = (f"{a / 2:g}:{b / 2:g}" for a, b in (match.score, sums))
                words = f"the score of the match is {score}, and its boards give {boards}: correct one"
                self.faults.append(FileFault(match.line, f"{words}; its games are left out"))
                return
        for board in match.boards:
            yield from self._game_of_board(board)

    def _game_of_board(self, board: _Board) -> Iterator[PairedGame]:
        (first, mark, rating), (second, other_mark, other_rating) = board.players
        if mark or other_mark:
            is_first_white = mark == "w" or other_mark == "b"
        elif self._boards is not None:
            is_first_white = self._boards == "all" or (self._boards == "odd") == (board.number % 2 == 1)
        else:
            words = (
                "the row does not say who had White: say by --white-boards on which boards the team named first has it"
            )
            self.faults.append(FileFault(board.line, words))
            return
        sides = ((first, rating, ""), (second, other_rating, ""))
        result = board.result
        if not is_first_white:
            sides = (sides[1], sides[0])
            result = _FLIPPED.get(_meaning(result) or "", result)
        yield PairedGame(board.line, self._round, *sides[0], *sides[1], result)


def has_pairings(first: bytes) -> bool:
    """Return whether a file begins as a list of pairings: a round's caption, and headings or matches without days."""
    reader = PairingReader("odd")
    for raw in first.splitlines()[: 3 * MAX_TITLES]:
        text = decode_text(raw[:MAX_LENGTH]).removeprefix("\ufeff")
        for divider in DIVIDERS:
            cells = text.split(divider)
            if (caption := read_caption(cells, 1)) is not None:
                reader.rounds.append(caption)
            elif read_league(cells, 1) is not None:
                return True
            elif read_columns(cells, 1) is not None:
                folded = [fold_heading(cell) for cell in cells]
                return bool(reader.rounds) or folded.count("name") > 1
            elif reader.rounds and read_match(cells, 1) is not None:
                return True
    return False
