"""What one file tells twice: the line on which the same thing stood first, in columns and in bounded memory.

A player meets one opponent in a round of a tournament on a day. Two games of the same two players may be a match of
several games. A game with moves, or with a key of its source, is a game whatever is said of its round: collections of
old games have 2 in 1,000 of a simultaneous display or a team league. Of these there is a note only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from ledger.facts.source_games import FileFault, shown
from ledger.imports.reading import Reading
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars import DataFrame

_DAY = 10  # characters of an instant that names a day


@attrs.define
class FirstLines:
    """The line on which each of the facts of a file stood first, by a hash of 8 bytes: 16 bytes for each."""

    # Sorted hashes, lines and marks; each run is more than twice as long as the next, as in ``csv.games.Tally``.
    _runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]] = attrs.Factory(list)

    def meet(
        self, hashes: NDArray[np.uint64], lines: NDArray[np.uint32], marks: NDArray[np.uint32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return for each hash the line and the mark of its first occurrence, which may be this one."""
        distinct, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        first_lines, first_marks = lines[first], marks[first]
        is_new = np.ones(len(distinct), bool)
        for run, run_lines, run_marks in self._runs:
            # A hash behind the whole run is compared with the last one: a place must lie within the run.
            place = np.minimum(np.searchsorted(run, distinct), len(run) - 1)
            is_met = run[place] == distinct
            first_lines[is_met], first_marks[is_met] = run_lines[place[is_met]], run_marks[place[is_met]]
            is_new &= ~is_met
        self._keep(distinct[is_new], first_lines[is_new], first_marks[is_new])
        return first_lines[group], first_marks[group]

    def _keep(self, hashes: NDArray[np.uint64], lines: NDArray[np.uint32], marks: NDArray[np.uint32]) -> None:
        if not len(hashes):
            return
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            earlier_hashes, earlier_lines, earlier_marks = self._runs.pop()
            together = np.concatenate((earlier_hashes, hashes))
            order = np.argsort(together, kind="stable")
            hashes = together[order]
            lines = np.concatenate((earlier_lines, lines))[order]
            marks = np.concatenate((earlier_marks, marks))[order]
        self._runs.append((hashes, lines, marks))


# Rows that agree in all of these, and have no key, are one row told twice.
_OF_A_GAME = (
    "ended_at", "started_at", "tournament", "round", "white_id", "black_id", "outcome", "termination", "half_moves",
    "rated", "speed", "variant",
)  # fmt: skip


def without_equal_rows(frame: DataFrame, earlier: FirstLines) -> tuple[DataFrame, list[FileFault]]:
    """Return the games of a frame without those that an earlier row tells in the same words, and the faults."""
    hashes = frame.select(_OF_A_GAME).hash_rows().to_numpy()
    lines = frame["line"].to_numpy().astype(np.uint32)
    first, _ = earlier.meet(hashes, lines, np.zeros(len(lines), np.uint32))
    again = first != lines
    if not again.any():
        return frame, []
    advice = "If these are several games, give each a key or a round, or import the file with --equal-rows"
    faults = [
        FileFault(line, f"the same row as line {other}: a game is recorded once. {advice}")
        for line, other in zip(lines[again].tolist(), first[again].tolist(), strict=True)
    ]
    return frame.filter(~pl.Series(again)), faults


def without_second_opponents(frames: Iterable[DataFrame], reading: Reading) -> Iterator[DataFrame]:
    """Yield the games of a file without those in which a player meets a second opponent in one round."""
    earlier = FirstLines()
    for frame in frames:
        rest = _with_one_opponent(frame, earlier, reading)
        if len(rest):
            yield rest


def _with_one_opponent(frame: DataFrame, earlier: FirstLines, reading: Reading) -> DataFrame:
    has_round = pl.col("round").is_not_null() & pl.col("tournament").is_not_null()
    rounds = frame.filter(has_round & (pl.col("ended_at").str.len_bytes() >= _DAY))
    if not len(rounds):
        return frame
    place = [pl.col("tournament"), pl.col("round"), pl.col("ended_at").str.head(_DAY)]
    # both sides one after the other, row by row: the game of the first line is the one that is recorded
    sides = [rounds.select(*place, pl.col(f"{side}_id").alias("player")).hash_rows() for side in ("white", "black")]
    hashes = np.column_stack([side.to_numpy() for side in sides]).ravel()
    pairs = (rounds["white_id"].hash() ^ rounds["black_id"].hash()).to_numpy().astype(np.uint32)
    lines = np.repeat(rounds["line"].to_numpy().astype(np.uint32), 2)
    marks = np.repeat(pairs, 2)
    first, first_marks = earlier.meet(hashes, lines, marks)
    doubled = np.flatnonzero((first != lines) & (first_marks != marks))
    if not len(doubled):
        return frame
    seconds = rounds[(doubled // 2).tolist()].select(
        "line",
        "tournament",
        "round",
        "white_name",
        "black_name",
        (~pl.col("is_made") | pl.col("text").is_not_null() | (pl.col("half_moves").fill_null(0) > 0)).alias("is_sure"),
    )
    faulty: set[int] = set()
    for at, (line, tournament, number, white, black, is_sure) in zip(
        doubled.tolist(), seconds.iter_rows(), strict=True
    ):
        name = shown(black if at % 2 else white)
        where = f"{name} has another opponent in round {number} of {shown(tournament)} on line {int(first[at])}"
        if is_sure:
            reading.note(line, f"{where}: the game counts; check the round")
        else:
            reading.fault(line, f"{where}: correct one of the two lines, or leave the round empty")
            faulty.add(line)
    return frame.filter(~pl.col("line").is_in(faulty)) if faulty else frame
