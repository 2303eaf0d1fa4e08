"""Candidates for an import of many games: all recorded games as whole columns, some 50 bytes each.

The rules are those of ``candidate_index``, in expressions over columns.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ledger.duplicates.candidate_index import CandidateGames, GameComparison, has_games, unreadable_entry
from ledger.duplicates.game_keys import DERIVED_KEY_PATTERN
from ledger.duplicates.namesakes import NameGroups
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.duplicates.similar_games import (
    DAY_LETTERS,
    NumberIndex,
    find_spans,
    full_meeting_numbers,
    meeting_number,
    moves_number_column,
    moves_numbers,
    partial_meeting_number,
)
from ledger.journal import Journal
from ledger.players.people import People
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series


class CandidateColumns(CandidateGames):
    """The games that a journal held when an import began, as columns, as candidates for reported games."""

    def __init__(self, blocks: Iterable[list[bytes]], people: People, names: NameGroups, claimed: bytearray) -> None:
        """Read blocks of entries, in order of their positions; the other arguments are those of ``CandidateGames``.

        Raises:
            CorruptError: an entry cannot be read.
        """
        super().__init__(people, names, claimed)
        try:
            games = [part for part in map(self._indexed, blocks) if len(part)]
        except (pl.exceptions.PolarsError, IndexError) as error:  # an entry was damaged since it was recorded
            raise unreadable_entry(error) from error
        schema = {"position": pl.Int64, "pair": pl.UInt64, "place": pl.UInt64, "key": pl.UInt64}
        self._of_moves, self._of_meetings = (
            NumberIndex(games, "moves"),
            NumberIndex(full_meeting_numbers(games), "meeting"),
        )
        every = pl.concat(self._with_supplements(games)) if games else pl.DataFrame(schema=schema)
        if len(every):
            self._refuse_strays(*every.select(low=pl.col("position").min(), high=pl.col("position").max()).row(0))
        order = every.filter(pl.col("place").is_not_null()).sort("place", "position")  # a supplement may have no day
        self._places, self._positions = order["place"].to_numpy(), order["position"].to_numpy()
        own = every.filter(pl.col("key").is_not_null()).sort("key")
        self._keys, self._own = own["key"].to_numpy(), own["position"].to_numpy()

    @classmethod
    def of_journal(cls, journal: Journal, people: People, claimed: bytearray) -> CandidateColumns:
        """Return the games of the first entries of a journal, as many as can be claimed."""
        return cls(journal.read(0, len(claimed) - 1), people, NameGroups.of_all(people), claimed)

    def find_candidates(self, games: ReportedGames) -> Iterator[GameComparison]:
        """Yield the rows to compare, as of ``CandidateGames``."""
        self._meet(games.players())
        frame = games.frame()
        reports = frame.select(
            *(self._lowest_numbers(frame, side) for side in SIDES), *_days(), pl.col("key").hash().alias("key")
        ).with_columns(pair=_pair())
        # by row the entry that recorded its key, 0 if there is none
        own = np.zeros(len(frame), np.int64)
        if len(self._keys):
            keys = reports["key"].to_numpy()
            place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            own = np.where(self._keys[place] == keys, self._own[place], 0)
        # By row the games of the same moves, and those of the same event, round and players; which rows have any.
        others: list[tuple[Callable[[int], list[int]], Any]] = []
        if len(self._of_moves) and frame["text"].null_count() < len(frame):
            others.append(self._of_moves.entries(moves_numbers(frame)))
        if len(self._of_meetings) and frame["round"].null_count() < len(frame):
            meetings = reports.select("white", "black").with_columns(frame["tournament"], frame["round"])
            others.append(self._of_meetings.entries(meetings.select(meeting_number()).to_series()))
        # For each row the first and one after the last of the games between its players on that day.
        have_numbers = (pl.col("white") >= 0) & (pl.col("black") >= 0)
        places = reports.select(pl.when(have_numbers).then(_place(day)).alias(day) for day in ("ended", "started"))
        of_days = [find_spans(self._places, column) for column in places]
        same_day = sum(last - first for first, last in of_days)
        made = frame["key"].str.contains(f"^{DERIVED_KEY_PATTERN}$").to_numpy()
        crowded = reports.select(_place("ended")).to_series().is_duplicated().to_numpy()
        is_compared = (same_day > 0) & ((own == 0) | (made & ((same_day > 1) | crowded)))
        # Entry 0 does not exist: rows without an entry of their own mark it and claim no game.
        np.frombuffer(self.claimed, np.bool_)[own[~is_compared]] = True
        for _, has_any in others:
            # A game under its own key is that game, even if others have its moves or its place in a round.
            is_compared |= has_any & (own == 0)
        for row in np.flatnonzero(is_compared).tolist():
            here = {entry for first, last in of_days for entry in self._positions[first[row] : last[row]].tolist()}
            further = {entry for entries, _ in others for entry in entries(row)} - here
            yield GameComparison(row, int(own[row]), sorted(here), [] if own[row] else sorted(further))

    def _indexed(self, bodies: list[bytes]) -> DataFrame:
        """Return the players and days of the games of a block of entries."""
        games = [body for body in bodies if has_games(body)]
        if not games:
            return pl.DataFrame()
        numbers, texts = ("white", "black", "entry"), ("ended_at", "started_at", "tournament", "round", "text")
        facts = {**dict.fromkeys(numbers, pl.Int64), **dict.fromkeys(texts, pl.String)}
        schema: dict[str, Any] = {"facts": pl.Struct(facts), "key": pl.String, "position": pl.Int64}
        frame = pl.read_ndjson(io.BytesIO(b"\n".join(games)), schema=schema).unnest("facts")
        sides = [self._names.column(frame[side]).alias(side) for side in SIDES]
        # The facts of a supplement alone name an entry; its key is that of no game.
        key = pl.when(pl.col("entry").is_null()).then(pl.col("key").str.slice(len("game:")).hash())
        position = pl.coalesce("entry", "position").alias("position")
        columns = frame.select(
            position, *sides, *_days(), key.alias("key"), "tournament", "round", moves_number_column()
        )
        pair = pl.when(pl.col("white").is_not_null()).then(_pair()).alias("pair")
        return columns.select("position", "key", "ended", "started", pair, "moves", *partial_meeting_number())

    def _with_supplements(self, parts: list[DataFrame]) -> Iterator[DataFrame]:
        """Yield each game by the day of its end and, if that is another one, by the day of its beginning."""
        games = pl.concat(part.drop("moves", "meeting", "lacks") for part in parts)
        if games["pair"].null_count():  # a supplement names no players
            pairs = games.filter(pl.col("pair").is_not_null()).select("position", pl.col("pair").alias("of_game"))
            games = games.join(pairs, on="position", how="left", maintain_order="left")
            games = games.with_columns(pair=pl.coalesce("pair", "of_game")).drop("of_game")
        columns = ("position", "pair", "place", "key")
        ended = games.with_columns(_place("ended"))
        yield ended.select(columns)
        started = games.with_columns(_place("started"), key=pl.lit(None, pl.UInt64))
        yield started.filter(pl.col("place").is_not_null()).select(columns)

    def _lowest_numbers(self, frame: DataFrame, side: str) -> Series:
        """Return the players of one side, each by the lowest number of those of the same name."""
        values: list[Any] = [self._numbers[identity][1] for identity in frame[f"{side}_id"].to_list()]
        return pl.Series(side, values, dtype=pl.Int64)


def _days() -> list[Expr]:
    """Return the day of the end, and that of the beginning if it is another one."""
    ended, started = (pl.col(name).str.slice(0, DAY_LETTERS) for name in ("ended_at", "started_at"))
    return [ended.alias("ended"), pl.when(started != ended).then(started).alias("started")]


def _pair() -> Expr:
    return (pl.col("white") * 2**32 + pl.col("black")).hash()


def _place(day: str) -> Expr:
    """Return players and day as a number; null if the day is."""
    return pl.when(pl.col(day).is_not_null()).then(pl.col("pair") ^ pl.col(day).hash()).alias("place")
