"""Rows of a file that repeat an earlier one, and players with two opponents in one round: faults and notes on them.

A player meets one opponent in a round of a tournament. Two games of the same two players may be a match of several
games. A game with moves, or with a key of its source, is a game whatever its round says: collections of old games have
2 in 1,000 of a simultaneous display or a team league. Such a game gets a note, and only if both are of one day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from ledger.facts.instants import round_order_column
from ledger.facts.source_games import FileFault, excerpt
from ledger.imports.reading import DAY_LENGTH, Reading
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars import DataFrame, Expr

_SIDES = ("white", "black")
# Days of a span, and the day on which spans begin. Two days that are at most three apart share one of the spans of six
# days; two that are a week apart never do, because a weekly tournament of one name begins again then.
_ONE_DAY = (1, 0)
_SPANS = ((6, 3), (6, 0), _ONE_DAY)


@attrs.define
class HashTable:
    """A table that sums numbers by hashes of 8 bytes, in sorted arrays, so that millions of games fit in memory.

    Attributes:
        width: how many numbers each hash has, of 4 bytes.
    """

    width: int
    # Sorted hashes and their numbers; each run is more than twice as long as the next. Runs are merged as a binary
    # counter carries: each hash is copied as often as the logarithm of their number, and a look-up asks few runs; one
    # sorted array would be copied whole with each block.
    _runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = attrs.Factory(list)

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the totals stored for each hash, in the shape (width, hashes); unknown hashes have zeros."""
        numbers = np.zeros((self.width, len(hashes)), np.uint32)
        for run, run_numbers in self._runs:
            # A hash behind the whole run is compared with the last one: a place must lie within the run.
            place = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            is_met = run[place] == hashes
            numbers[:, is_met] += run_numbers[:, place[is_met]]
        return numbers

    def add(self, hashes: NDArray[np.uint64], numbers: NDArray[np.uint32]) -> None:
        """Add *numbers*, in the shape of ``find``, to those of *hashes*, which are distinct and sorted."""
        if not len(hashes):
            return
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            run, run_numbers = self._runs.pop()
            both = np.concatenate((run, hashes))
            order = np.argsort(both, kind="stable")
            both, both_numbers = both[order], np.concatenate((run_numbers, numbers), axis=1)[:, order]
            begins = np.flatnonzero(np.concatenate(([True], both[1:] != both[:-1])))
            hashes, numbers = both[begins], np.add.reduceat(both_numbers, begins, axis=1, dtype=np.uint32)
        self._runs.append((hashes, numbers))


class RepeatCounter:
    """A counter of equal values in a file, by their hashes."""

    def __init__(self) -> None:
        self._counts = HashTable(1)

    def count(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of each hash among equal ones: 1 for the first, 2 for the second, and so on."""
        order = np.argsort(hashes, kind="stable")
        distinct, begins, counts = np.unique(hashes[order], return_index=True, return_counts=True)
        before = self._counts.find(distinct)[0].astype(np.int64)
        numbers = np.empty(len(hashes), np.int64)
        # In the sorted order: the place from 1, less where its own hash begins, plus those of earlier blocks.
        numbers[order] = np.arange(1, len(hashes) + 1) + np.repeat(before - begins, counts)
        self._counts.add(distinct, counts.astype(np.uint32)[None])
        return numbers


class _FirstLines:
    """The line and a mark of the first of equal facts in a file, by their hashes."""

    def __init__(self) -> None:
        self._known = HashTable(2)

    def meet(
        self, hashes: NDArray[np.uint64], lines: NDArray[np.uint32], marks: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Return for each hash the line and the mark of its first occurrence, which may be this one."""
        distinct, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        earlier = self._known.find(distinct)
        is_new = earlier[0] == 0
        firsts = np.where(is_new, np.stack((lines[first], marks[first])), earlier)
        self._known.add(distinct[is_new], firsts[:, is_new])
        return firsts[:, group]

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return for each hash the line of its first occurrence; 0 if there is none."""
        lines: NDArray[np.uint32] = self._known.find(hashes)[0]
        return lines


# Rows that agree in all of these, and have no key, are one row twice, unless their numbers of moves differ.
_OF_A_GAME = (
    "ended_at", "started_at", "tournament", "sequence", "white_id", "black_id", "outcome", "termination", "rated",
    "speed", "variant",
)  # fmt: skip


def _with_plain_rounds(frame: DataFrame) -> DataFrame:
    """Return a frame in which equal rounds of one tournament are equal texts: ``01`` and ``1.0`` are round 1."""
    order = round_order_column(frame["round"])
    rounds = pl.when(order > 0).then(order.cast(pl.String)).otherwise(_plain("round"))
    return frame.with_columns(_plain("tournament"), rounds.alias("round"))


def _plain(column: str) -> Expr:
    return pl.col(column).str.to_lowercase().str.strip_chars().str.replace_all(r"\s+", " ")


@attrs.define
class EqualRows:
    """The rows without a key that a file had so far, to find those that repeat an earlier row."""

    # A row without the number of moves equals one with it; rows with two numbers are two games.
    _with_moves: _FirstLines = attrs.Factory(_FirstLines)
    _any_moves: _FirstLines = attrs.Factory(_FirstLines)

    def drop_repeats(self, frame: DataFrame) -> tuple[DataFrame, list[FileFault]]:
        """Return a frame without the games that repeat an earlier row, and a fault for each dropped game."""
        plain = _with_plain_rounds(frame)
        lines = frame["line"].to_numpy().astype(np.uint32)
        moves = frame["half_moves"].fill_null(0).to_numpy().astype(np.uint32)
        hashes = plain.select(*_OF_A_GAME, "round").hash_rows()
        any_first, any_moves = self._any_moves.meet(hashes.to_numpy(), lines, moves)
        of_moves = pl.DataFrame([hashes, frame["half_moves"]]).hash_rows()
        first, _ = self._with_moves.meet(of_moves.to_numpy(), lines, moves)
        again = np.where(first != lines, first, np.where((moves == 0) | (any_moves == 0), any_first, lines))
        is_double = again != lines
        if not is_double.any():
            return frame, []
        advice = "If these are several games, give each a key or a round, or import the file with --equal-rows"
        faults = [
            FileFault(line, f"the same row as line {other}: a game is recorded once. {advice}")
            for line, other in zip(lines[is_double].tolist(), again[is_double].tolist(), strict=True)
        ]
        return frame.filter(~pl.Series(is_double)), faults


def drop_second_opponents(frames: Iterable[DataFrame], reading: Reading) -> Iterator[DataFrame]:
    """Yield the frames of a file without games in which a player meets a second opponent in one round."""
    rounds = _Opponents(reading)
    for frame in frames:
        rest = rounds.drop_second_opponents(frame)
        if len(rest):
            yield rest
    rounds.note_byes()


@attrs.define
class _Opponents:
    """The opponents in the rounds of a file; a game without moves or key counts for the days around it as well."""

    _reading: Reading
    # by the number of days in a span and the day on which spans begin
    _met: dict[tuple[int, int], _FirstLines] = attrs.Factory(lambda: {span: _FirstLines() for span in _SPANS})

    def drop_second_opponents(self, frame: DataFrame) -> DataFrame:
        """Return the games of a frame without those that are faults."""
        has_round = pl.col("round").is_not_null() & pl.col("tournament").is_not_null()
        rounds = frame.filter(has_round & (pl.col("ended_at").str.len_bytes() >= DAY_LENGTH))
        if not len(rounds):
            return frame
        is_sure = ~pl.col("is_made") | pl.col("text").is_not_null() | (pl.col("half_moves").fill_null(0) > 0)
        plain = _with_plain_rounds(rounds).with_columns(is_sure.alias("is_sure"))
        unsure = plain.filter(~pl.col("is_sure"))
        seconds: dict[tuple[int, str], int] = {}
        for span in _SPANS:
            seconds |= self._second_opponents(plain if span == _ONE_DAY else unsure, span)
        return self._without(frame, seconds, set(unsure["line"])) if seconds else frame

    def _second_opponents(self, rounds: DataFrame, span: tuple[int, int]) -> dict[tuple[int, str], int]:
        """Return the lines and sides of players who met another opponent before, each with the line of that game."""
        if not len(rounds):
            return {}
        # both sides one after the other, row by row: the game of the first line is the one that is recorded
        sides = [_places(rounds, span, f"{side}_id") for side in _SIDES]
        pairs = (rounds["white_id"].hash() ^ rounds["black_id"].hash()).to_numpy().astype(np.uint32)
        lines, marks = (np.repeat(column, 2) for column in (rounds["line"].to_numpy().astype(np.uint32), pairs))
        first, first_marks = self._met[span].meet(np.column_stack(sides).ravel(), lines, marks)
        doubled = np.flatnonzero((first != lines) & (first_marks != marks)).tolist()
        return {(int(lines[at]), _SIDES[at % 2]): int(first[at]) for at in doubled}

    def _without(self, frame: DataFrame, seconds: dict[tuple[int, str], int], unsure: set[int]) -> DataFrame:
        games = frame.filter(pl.col("line").is_in([line for line, _ in seconds]))
        game_of = {game["line"]: game for game in games.iter_rows(named=True)}
        for (line, side), first in sorted(seconds.items()):
            game = game_of[line]
            place = f"round {game['round']} of {excerpt(game['tournament'])}"
            where = f"{excerpt(game[f'{side}_name'])} has another opponent in {place} on line {first}"
            if line in unsure:
                self._reading.fault(line, f"{where}: correct one of the two lines, or leave the round empty")
            else:
                self._reading.note(line, f"{where}: the game counts; check the round")
        return frame.filter(~pl.col("line").is_in(unsure & game_of.keys()))

    def note_byes(self) -> None:
        """Note the byes of players who have a game in the same round."""
        byes = [bye for bye in self._reading.rounds if bye.round is not None]
        if not byes:
            return
        rows = [(bye.player_id, bye.tournament, str(bye.round), bye.edition) for bye in byes]
        frame = pl.DataFrame(rows, schema=("player_id", "tournament", "round", "ended_at"), orient="row")
        plain, lines = _with_plain_rounds(frame), np.zeros(len(byes), np.uint32)
        for span in _SPANS:
            lines = np.maximum(lines, self._met[span].find(_places(plain, span, "player_id")))
        for at in np.flatnonzero(lines).tolist():
            bye = byes[at]
            where = f"round {bye.round} of {excerpt(bye.tournament)}"
            words = f"{excerpt(bye.player_name)} has a bye in {where}, and a game on line {lines[at]}"
            self._reading.note(bye.line, f"{words}: correct one of the two lines")


def _places(rounds: DataFrame, span: tuple[int, int], player: str) -> NDArray[np.uint64]:
    """Return a hash of the tournament, the round, the span of days and the player of each row."""
    days, shift = span
    day = pl.col("ended_at").str.head(DAY_LENGTH).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32)
    return rounds.select("tournament", "round", (day + shift) // days, player).hash_rows().to_numpy()
