"""The game book for many entries: bodies are read as Polars columns, assessed by a compiled kernel, written in blocks.

It writes exactly the rows that ``GameBook.apply_entries`` writes entry by entry. The schema of ``read_ndjson`` is taken
from the event classes, so that a new field of a class is a column here.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book import tables
from ledger.book.assessment import Reratings, with_assessments
from ledger.book.game_book import GameBook
from ledger.book.kinds import UPDATE_BIRTH_YEAR, rerate_from_list, rerate_player
from ledger.book.reapplied_games import SUPPLEMENTED_COLUMNS, apply_supplements
from ledger.book.roster import FROM_THE_BEGINNING, INSERT_SEED, SEED_COLUMNS
from ledger.book.tables import with_derived_columns
from ledger.errors import CorruptError, MalformedError, one_line
from ledger.facts import codec_columns
from ledger.facts.codec import decode
from ledger.facts.events import (
    BirthYearLearnt,
    GameRecorded,
    GameSupplemented,
    PlayerDescribed,
    PlayerRegistered,
    RatingSeeded,
)
from ledger.facts.instants import instant_ms_column
from ledger.runtime.lazy import pl
from ledger.runtime.table_writer import insert_rows

if TYPE_CHECKING:
    from polars import DataFrame

_GAME = b',"kind":"game-recorded/1","position":'
_PLAYER = b',"kind":"player-registered/1","position":'
_MANY: dict[type, bytes] = {
    PlayerRegistered: _PLAYER,
    RatingSeeded: b',"kind":"rating-seeded/1","position":',
    BirthYearLearnt: b',"kind":"birth-year-learnt/1","position":',
    GameSupplemented: b',"kind":"game-supplemented/1","position":',
    PlayerDescribed: b',"kind":"player-described/1","position":',
}
_END = -100  # the last bytes of a body: the kind, at most 16 digits of a position, and the instant
_OPEN, _CLOSE = b'"facts":{', b'},"key":"'

RATED_COLUMNS = (
    "position", "pool", "white", "black", "half_points", "time_loss", "ended_ms", "rated_ms", "batch", "round_order",
    "sequence_order", "key",
)  # fmt: skip

_TEXTS = {"key", "batch", "termination", "tournament", "round", "white_guest", "black_guest"}

Insert = Callable[[str, "DataFrame"], None]  # runs a statement with question marks for each row


def _read(bodies: Sequence[bytes], cls: type) -> DataFrame:
    try:
        lines = [
            body[body.index(_OPEN) + len(_OPEN) - 1 : (end := body.rindex(_CLOSE))] + body[end + 1 :] for body in bodies
        ]  # the facts next to what follows them: an object in an object takes half as long again to read
    except ValueError as error:
        raise CorruptError("journal", 0, "entries cannot be read (no facts before a key); run 'audit'") from error
    kinds = {"integer": pl.Int64, "boolean": pl.Boolean, "string": pl.String}
    facts = {
        field.name: kinds[field.metadata["schema"].get("type", "string")]
        for field in attrs.fields(cls)
        if field.name != cls.KEY_FIELD  # type: ignore[attr-defined]
    }
    # stated, for Polars would guess from the first hundred rows and know no field that comes later
    schema = {**facts, "key": pl.String, "position": pl.Int64}
    frame = pl.read_ndjson(io.BytesIO(b"\n".join(lines)), schema=schema)
    if len(frame) != len(bodies):
        raise CorruptError("journal", 0, f"{len(bodies)} entries read as {len(frame)}; run 'audit'")
    return frame


class DecodedBlock(NamedTuple):
    """A block of entries: the kinds that come by the thousand as columns, the others as bodies."""

    games: DataFrame | None
    players: DataFrame | None
    seeds: DataFrame | None
    births: DataFrame | None
    supplements: DataFrame | None
    details: DataFrame | None
    others: list[bytes]

    @property
    def affects_earlier_games(self) -> bool:
        """True if a fact of this block may change games of earlier blocks."""
        return bool(self.others) or self.supplements is not None


@contextmanager
def _unfit_entries() -> Iterator[None]:
    """Turn the errors of Polars into ours: entries may be written past the codec or the rules."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise CorruptError("journal", 0, f"entries cannot be read ({one_line(error)}); run 'audit'") from error


@_unfit_entries()
def decode_bodies(bodies: Sequence[bytes]) -> DecodedBlock:
    """Decode the bodies of entries, and return them as columns.

    No database is used, so that another thread may do it.
    """
    # No text of a body has these bytes, for its quotation marks are escaped, and facts have no field "kind".
    games: list[bytes] = []
    rest: list[bytes] = []
    for body in bodies:
        (games if body.find(_GAME, _END) >= 0 else rest).append(body)
    by_class: dict[type, list[bytes]] = {cls: [] for cls in _MANY}
    others: list[bytes] = []
    for body in rest:
        for cls, mark in _MANY.items():
            if body.find(mark, _END) >= 0:
                by_class[cls].append(body)
                break
        else:
            others.append(body)
    frames = (_read(by_class[cls], cls) if by_class[cls] else None for cls in _MANY)
    players, seeds, births, supplemented, details = frames
    if seeds is not None:
        # with the columns of their table, but for the pool, which is a name: its number only the book knows
        decimals = ("rating", "deviation", "volatility", "highest", "k_factor")
        seeds = seeds.with_columns(
            *(pl.col(name).cast(pl.Float64) for name in decimals),
            effective_ms=instant_ms_column(seeds["effective_at"]).fill_null(FROM_THE_BEGINNING),
            effective_at=pl.col("effective_at").fill_null(""),
        )
    recorded = None
    if games:  # with the columns of their table that follow from their facts alone
        recorded = with_derived_columns(_read(games, GameRecorded)).with_columns(
            key=pl.col("key").str.slice(len("game:"))
        )
    if details is not None:
        details = details.with_columns(effective_ms=instant_ms_column(details["effective_at"]))
    return DecodedBlock(recorded, players, seeds, births, supplemented, details, others)


def non_canonical_bodies(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the bodies that are not the codec's bytes of the event that is read from them.

    ``read_ndjson`` passes over unknown fields, other orders and blanks; written out again, they are missing.
    """
    games = [body for body in bodies if body.find(_GAME, _END) >= 0]
    strange: list[bytes] = []
    for body in bodies:
        if body.find(_GAME, _END) < 0:
            try:
                decode(body)
            except MalformedError:
                strange.append(body)
    if games:
        frame = decode_bodies(games).games
        assert frame is not None
        written = frame.select(
            pl.concat_str(
                pl.lit(',"facts":'),
                codec_columns.facts(frame.rename({"key": "game"})),
                pl.lit(',"key":"game:'),
                "key",
                pl.lit(f'"{_GAME.decode()}'),
                pl.col("position").cast(pl.String),
                pl.lit(',"recorded_at":"'),
            ).cast(pl.Binary)
        ).to_series()
        strange += [body for body, middle in zip(games, written.to_list(), strict=True) if middle not in body]
    return strange


def apply_decoded_block(
    book: GameBook,
    block: DecodedBlock,
    reratings: Reratings,
    insert: Insert | None = None,
    columns: Sequence[str] = RATED_COLUMNS,
) -> DataFrame:
    """Apply a block of entries to the game book; return its rated games in journal order.

    They have the given *columns* of the table ``games``.

    Players and games are written by *insert*, without one by the book's connection; other facts always by the latter,
    for they may concern any earlier game. A build that gives *insert* places the games of tournaments that are rated
    whole itself, once all are there.
    """
    of_a_build = insert is not None
    if insert is None:
        insert = partial(insert_rows, book.connection)
    # Players first, then what other facts say of them, and games last: each is assessed by what is known by then.
    if block.players is not None:
        joined = block.players
        insert(tables.INSERT_PLAYER, joined.select("player", "joined_at", "standing", "declared_rating", "birth_year"))
        # of a million members few are anything but full ones: the roster holds those alone
        for player, standing in joined.filter(pl.col("standing") != "full").select("player", "standing").iter_rows():
            book.roster.add_player(player, standing)
        if joined["declared_rating"].null_count() + joined["birth_year"].null_count() < 2 * len(joined):
            book.roster.has_initial_ratings = True
    if block.details is not None:
        insert(tables.INSERT_DETAILS, block.details.select(tables.DETAIL_COLUMNS))
    book.apply_facts((decode(body) for body in block.others), reratings)
    # before its games are there; they are assessed by the runs that are closed by then
    if of_a_build:
        book.place_periods(reratings)
    _apply_initial_ratings(book, block, None if of_a_build else reratings, insert)
    counting = pl.DataFrame(schema=column_types(columns))
    if block.games is not None:
        with _unfit_entries():
            counting = _take_games(book, block.games, reratings, insert).select(columns)
    # after the games, for a block may hold a game and its supplement
    if block.supplements is not None:
        rows = block.supplements.select("entry", *SUPPLEMENTED_COLUMNS).iter_rows(named=True)
        added = (
            (row["entry"], {name: row[name] for name in SUPPLEMENTED_COLUMNS if row[name] is not None}) for row in rows
        )
        apply_supplements(book, added, reratings)
        _note_moves(block.supplements.with_columns(position="entry"), insert)
    if not of_a_build:
        if block.games is not None:
            book.place_new_guests(min(block.games["position"].to_list()), reratings)
        book.apply_decisions(reratings)
    return counting


def column_types(columns: Sequence[str]) -> dict[str, Any]:
    """Return the Polars types of columns of the table ``games``."""
    return {name: pl.String if name in _TEXTS else pl.Int64 for name in columns}


def _apply_initial_ratings(book: GameBook, block: DecodedBlock, reratings: Reratings | None, insert: Insert) -> None:
    """Store initial ratings and years of birth; note the players in *reratings*, which a build does not give."""
    if block.births is not None:
        insert(UPDATE_BIRTH_YEAR, block.births.select("birth_year", "player"))
        book.roster.has_initial_ratings = True
        if reratings is not None:
            for player in block.births["player"].to_list():
                rerate_player(book.connection, player, None, reratings)
    if block.seeds is not None:
        pools = {name: pool.pool for name, pool in book.pools.items()}
        seeds = block.seeds.with_columns(pool=pl.col("pool").replace_strict(pools, return_dtype=pl.Int64))
        insert(INSERT_SEED, seeds.select(SEED_COLUMNS))
        book.roster.forget_seeds()
        book.roster.has_initial_ratings = True
        if reratings is not None:
            for pool, player, since_ms in seeds.select("pool", "player", "effective_ms").iter_rows():
                rerate_from_list(book, player, pool, since_ms, reratings)


def _take_games(book: GameBook, frame: DataFrame, reratings: Reratings, insert: Insert) -> DataFrame:
    pools = {name: pool.pool for name, pool in book.pools.items()}
    frame = frame.with_columns(pool=pl.col("pool").replace_strict(pools, return_dtype=pl.Int64))
    frame = with_assessments(book.pools.values(), book.roster, frame)
    # SQLite has no truth values: a STRICT table takes whole numbers alone
    rows = frame.with_columns(pl.col("rated").cast(pl.Int8)).select(tables.GAME_COLUMNS)
    insert(tables.INSERT_GAME, rows)
    _note_moves(frame, insert)
    _note_concerned(book, frame)
    counting = frame.filter(pl.col("reason").is_null())
    for pool, start in counting.group_by("pool").agg(pl.col("rated_ms").min()).iter_rows():
        reratings.note(pool, start)
    by_event = [pool for pool in book.pools.values() if pool.by_event]
    if by_event:
        # the places of games of one tournament depend on each other, those that do not count among them
        names = {pool.pool: pool.name for pool in by_event}
        of_tournaments = frame.filter(pl.col("pool").is_in(list(names)) & (pl.col("tournament") != ""))
        ended = pl.col("ended_ms")
        spans = of_tournaments.group_by("pool", "tournament").agg(ended.min().alias("first"), ended.max().alias("last"))
        for number, tournament, first, last in spans.iter_rows():
            book.played.note(names[number], tournament, first, last)
    return counting


def _note_moves(frame: DataFrame, insert: Insert) -> None:
    """Note the moves of games, numbered as ``words.movetext_number`` does."""
    with_moves = frame.filter(pl.col("text").is_not_null())
    if len(with_moves):
        number = pl.col("text").str.slice(0, 16).str.to_integer(base=16, dtype=pl.UInt64).reinterpret(signed=True)
        insert(tables.INSERT_MOVETEXT, with_moves.select("position", number))


def _note_concerned(book: GameBook, frame: DataFrame) -> None:
    """Note in the game book the games that a correction in force may concern."""
    players, tournaments = book.proposals.players_and_tournaments_affected
    if not players and not tournaments:
        return
    numbers = {name: pool.pool for name, pool in book.pools.items()}
    at = pl.struct("pool", "tournament").is_in(
        [{"pool": numbers[pool], "tournament": name} for pool, name in tournaments if pool in numbers]
    )
    concerned = pl.col("white").is_in(list(players)) | pl.col("black").is_in(list(players))
    meant = frame.filter(concerned | at) if tournaments else frame.filter(concerned)
    book.unsettled.update(meant["position"].to_list())
