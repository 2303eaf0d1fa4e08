"""Many games of an import as columns of a frame; the rules are those of ``game_rows``.

Columns only say which games to look at; the event class and the rules judge these one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ledger.duplicates.reported_games import SIDES
from ledger.facts import codec_columns
from ledger.facts.instants import Precision, instant_ms, instant_ms_column, instant_text
from ledger.facts.words import Termination
from ledger.imports.reading import FIDE_CLASSES
from ledger.imports.repeated_rows import RepeatCounter
from ledger.journal import rules
from ledger.recording.game_rows import DAY_ALONE, FirstRatedGame, Judged, PlayedDay
from ledger.recording.pool_choice import BY_SPEED, BY_TIME_CONTROL, PoolChoice
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import prefetched

if TYPE_CHECKING:
    from polars import DataFrame, Series

_TO_THE_SECOND = 19  # characters of an instant before its fraction and its Z
_LAST_MS = instant_ms("9999-12-31T23:59:59Z")
JUDGED = 2_048  # games that are judged one by one at a time: the event class and the rules read each instant once


class GameColumns:
    """Games of one frame."""

    def __init__(self, frame: DataFrame) -> None:
        """Take columns of ``SourceGame``."""
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each game as a mapping."""
        return self._frame.iter_rows(named=True)

    def row(self, place: int) -> Mapping[str, Any]:
        """Return one game as a mapping."""
        return self._frame.row(place, named=True)

    def column(self, name: str) -> list[Any]:
        """Return one field of all games."""
        return self._frame[name].to_list()

    def played(self) -> Counter[PlayedDay]:
        """Return the number of rated games by pool, tournament and day, without forfeits."""
        day = pl.col("ended_at").str.slice(0, DAY_ALONE)
        rated = self._frame.filter(pl.col("rated") & (pl.col("termination") != Termination.UNPLAYED))
        return Counter({row[:3]: row[3] for row in rated.group_by("pool", "tournament", day).len().iter_rows()})

    def with_column(self, name: str, values: Sequence[str | None]) -> GameColumns:
        """Return the games with one field of text replaced or added."""
        return GameColumns(self._frame.with_columns(pl.Series(name, values, pl.String)))

    def keep(self, flags: Sequence[bool]) -> GameColumns:
        """Return the games whose flag is true."""
        return GameColumns(self._frame.filter(pl.Series(flags, dtype=pl.Boolean)))

    def slices(self, size: int) -> Iterator[GameColumns]:
        """Yield the games in slices of a given number of games."""
        return map(GameColumns, self._frame.iter_slices(size))

    def frame(self) -> DataFrame:
        """Return the games as columns."""
        return self._frame

    def with_pools(self, choice: PoolChoice) -> tuple[GameColumns, Counter[str]]:
        """Return the games that have a pool, with it; and by variant how many have none."""
        variant, speed = pl.col("variant"), pl.col("speed")
        own = variant.replace_strict(dict(choice.variants), default=None, return_dtype=pl.String)
        if choice.pool == BY_SPEED:
            pool = pl.when(variant == "standard").then(speed).otherwise(pl.coalesce(own, variant))
        elif choice.pool == BY_TIME_CONTROL:
            rated = pl.when(speed.is_in(FIDE_CLASSES)).then(speed)
            pool = pl.when(variant == "standard").then(rated).otherwise(own)
        else:
            pool = pl.when(variant == "standard").then(pl.lit(choice.pool)).otherwise(own)
        frame = self._frame.with_columns(pool=pool)
        homeless = frame.filter(pl.col("pool").is_null())
        if not len(homeless):
            return GameColumns(frame), Counter()
        counts = Counter(dict(homeless.group_by("variant").len().iter_rows()))
        return GameColumns(frame.filter(pl.col("pool").is_not_null())), counts

    def outside(self, pools: Collection[str]) -> GameColumns:
        """Return the games of other pools."""
        return GameColumns(self._frame.filter(~pl.col("pool").is_in(list(pools))))

    def players(self) -> dict[str, str]:
        """Return the name of each identity, in the order in which they get their numbers: all Whites first."""
        sides = [
            self._frame.select(pl.col(f"{side}_id").alias("id"), pl.col(f"{side}_name").alias("name")) for side in SIDES
        ]
        named = pl.concat(sides).unique("id", keep="first", maintain_order=True)
        return dict(zip(named["id"].to_list(), named["name"].to_list(), strict=True))

    def as_events(self, numbers: Mapping[str, int]) -> GameColumns:
        """Return the games in the columns of ``GameRecorded``, with their movetext if any has one."""
        frame = self._frame
        schema = {"id": pl.String, "player": pl.Int64}
        players = pl.DataFrame({"id": list(numbers), "player": list(numbers.values())}, schema)
        for side in SIDES:
            ids = frame.select(pl.col(f"{side}_id").alias("id"))
            # Polars keeps the order of rows through a join only where it is asked to.
            joined = ids.join(players, on="id", how="left", maintain_order="left")
            frame = frame.with_columns(joined["player"].alias(side))
        if frame["text"].null_count() < len(frame):
            frame = frame.with_columns(movetext=pl.col("text"))
            hashes = [None if text is None else sha256(text.encode()).hexdigest() for text in frame["text"].to_list()]
            frame = frame.with_columns(pl.Series("text", hashes, dtype=pl.String))
        return GameColumns(frame.rename({"key": "game"}))

    def doubtful(self, now_ms: int) -> tuple[dict[str, int], Iterator[list[Judged]]]:
        """Return the first row of each key that needs no judge, and the rows to judge, some at a time."""
        games = self._frame
        suspected = codec_columns.suspects(games)
        doubted = suspected | suspects(games, now_ms)
        if not doubted.any():
            return {}, iter(())
        rows = games.with_row_index("row").with_columns(suspected=suspected)
        doubtful = rows.filter(doubted)
        # ``implode``: a bare series of the column's own type is ambiguous to Polars, and no longer to be given
        # (``Expr.is_in``).
        undoubted = rows.filter(~doubted & games["game"].is_in(doubtful["game"].unique().implode()))
        first = dict(undoubted.group_by("game").agg(pl.col("row").min()).iter_rows())
        return first, map(_built_events, doubtful.iter_slices(JUDGED))

    def reports(self) -> Iterator[tuple[str, str, int, str, bool]]:
        """Yield key, canonical facts, line, pool and whether the file numbers it, of each game that is an event."""
        return self._frame.select("game", codec_columns.facts(self._frame), "line", "pool", "is_numbered").iter_rows()

    def bodies(self, first: int, recorded_at: str, actor: str) -> list[bytes]:
        """Return the entries of games that are events, at positions from *first* on."""
        return codec_columns.bodies(self._frame, first, recorded_at, actor)

    def movetexts(self) -> list[str]:
        """Return the movetext of the games that have one."""
        return self._frame["movetext"].drop_nulls().to_list() if "movetext" in self._frame.columns else []

    def earliest_sides(self) -> list[FirstRatedGame]:
        """Return the earliest rated game of each player in each pool, in the order of their lines."""
        ended = instant_ms_column(self._frame["ended_at"])
        games = self._frame.with_columns(ended.alias("ended_ms")).filter("rated")
        sides = [
            games.select("line", "pool", pl.col(side).alias("player"), "ended_ms", pl.col(f"{side}_name").alias("name"))
            for side in SIDES
        ]
        first = pl.concat(sides).sort("ended_ms", "line", maintain_order=True)
        first = first.unique(["pool", "player"], keep="first", maintain_order=True).sort("line", maintain_order=True)
        return list(map(FirstRatedGame._make, first.iter_rows()))


def _built_events(games: DataFrame) -> list[Judged]:
    events = codec_columns.build_events(games, games["suspected"])
    return list(zip(games["row"].to_list(), games["line"].to_list(), events, strict=True))


def suspects(games: DataFrame, now_ms: int) -> Series:
    """Return which games ``judge.check`` may refuse (Boolean): all that it refuses, and perhaps others.

    Pools and players that are not known are not looked for: an import makes them known before.

    Args:
        games: columns named as the fields of ``GameRecorded``; rows that make no event get any answer.
        now_ms: the recording machine's clock, milliseconds since 1970.
    """
    ended, started = pl.col("ended_at"), pl.col("started_at")
    # Instants sort as text, as far as both are known; within a second, 00Z sorts behind 00.001Z.
    common_length = pl.min_horizontal(ended.str.len_bytes(), started.str.len_bytes(), pl.lit(_TO_THE_SECOND))
    ended_known, started_known = ended.str.slice(0, common_length), started.str.slice(0, common_length)
    in_one_second = (common_length == _TO_THE_SECOND) & (ended_known == started_known) & (ended != started)
    latest = instant_text(min(now_ms + rules.FUTURE_SLACK_MS, _LAST_MS), Precision.SECOND)[:_TO_THE_SECOND]
    doubts = [pl.col("white") == pl.col("black"), ended > latest]
    if games["started_at"].null_count() < len(games):
        doubts += [ended_known < started_known, in_one_second]
    return games.select(pl.any_horizontal(doubts).fill_null(value=False).alias("suspect"))["suspect"]


def blocks_of(frames: Iterable[DataFrame]) -> Iterator[GameColumns]:
    """Yield the frames of one file, the next one read while the caller works on one."""
    return map(GameColumns, prefetched(in_sequence(frames)))


def in_sequence(frames: Iterable[DataFrame]) -> Iterator[DataFrame]:
    """Yield the frames of one file with a ``sequence`` for games that nothing else orders within their day.

    Those are the games of which the file has only the day, and further games of one instant under made keys, which
    depend on the ledger's secret. Their places in the file serve, so that a file gives equal ratings in all ledgers;
    ``is_numbered`` marks the games that the file itself numbers.
    """
    counter = RepeatCounter()
    for games in frames:
        missing = {"sequence": pl.lit(None, pl.Int64), "is_made": pl.lit(value=False)}
        frame = games.with_columns(**{name: value for name, value in missing.items() if name not in games.columns})
        has_day_alone = frame["ended_at"].str.len_bytes() <= DAY_ALONE
        unordered = has_day_alone | frame["is_made"]
        ends = frame["ended_at"].filter(unordered)
        places = pl.Series("place", [None], pl.Int64).new_from_index(0, len(frame))
        if len(ends):
            places = places.scatter(unordered.arg_true(), counter.count(ends.hash().to_numpy()))
        # A game without a sequence comes before those that have one: the first of an instant, or one alone, needs none.
        needed = pl.when(places > 1).then(places)
        yield frame.with_columns(
            is_numbered=pl.col("sequence").is_not_null(), sequence=pl.coalesce(pl.col("sequence"), needed)
        )
