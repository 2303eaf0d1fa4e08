"""Which known games the games of an import may be, by players and day: whole columns, a few numbers for each game.

A day is that of the end or of the beginning. Players count as alike under one number or one name, whatever the case of
its letters. It is read once, when first asked; what is found may be the same game, and is compared by ``alike``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import CorruptError, one_line
from ledger.journal import Journal
from ledger.journal.corrected_games import Index, Sides, meeting, moves_digest, spans, told_moves
from ledger.journal.made_keys import MADE
from ledger.journal.people import People
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series

_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1","position":', b',"kind":"game-supplemented/1","position":'
_END = -100  # they stand in the last bytes of a body
_DAY = 10  # characters of an instant that name its day, or less where less is known
NOBODY = -1


class Asked(NamedTuple):
    """A row, the entry of its key (0 where it is new), the entries that its game may be, and those told otherwise."""

    row: int
    own: int
    entries: list[int]
    others: list[int]


class KnownGames:
    """The games that a journal held when an import began: some 50 bytes each, and the names of its players."""

    def __init__(self, journal: Journal, people: People, size: int) -> None:
        """Read them.

        Args:
            journal: the journal.
            people: who the players are.
            size: entries after this one are left out.

        Raises:
            CorruptError: an entry cannot be read.
        """
        self._people = people
        self._read_names()
        self._met: dict[str, tuple[int, int]] = {}  # by identity, the number of the player and of those alike
        try:
            games = [part for part in map(self._indexed, journal.read(0, size)) if len(part)]
        except (pl.exceptions.PolarsError, IndexError) as error:  # an entry was damaged since it was sealed
            raise CorruptError("journal", 0, f"cannot be read ({one_line(error)}); run 'audit'") from error
        schema = {"position": pl.Int64, "pair": pl.UInt64, "place": pl.UInt64, "key": pl.UInt64}
        self._of_moves, self._of_meetings = Index(games, "moves"), Index(games, "meeting")
        every = pl.concat(self._with_supplements(games)) if games else pl.DataFrame(schema=schema)
        if len(every) and not every["position"].is_between(1, size).all():
            raise CorruptError("journal", 0, "an entry tells of a game at no position of this journal; run 'audit'")
        order = every.filter(pl.col("place").is_not_null()).sort("place", "position")  # a supplement may tell no day
        self._places, self._positions = order["place"].to_numpy(), order["position"].to_numpy()
        own = every.filter(pl.col("key").is_not_null()).sort("key")
        self._keys, self._own = own["key"].to_numpy(), own["position"].to_numpy()
        self.claimed = np.zeros(size + 1, np.bool_)  # by entry, whether the file has told that game

    def look(self, frame: DataFrame) -> Iterator[Asked]:
        """The rows whose key is not known, but whose players and day are.

        So are rows whose key was made of facts, where the players met more than once that day, as far as the journal or
        the frame knows: their order in the file may be another one. The games of all other rows are claimed.

        Args:
            frame: columns of ``SourceGame``.
        """
        given = frame.select(
            *(self._alike(frame, side) for side in ("white", "black")),
            *_days(), pl.col("key").hash().alias("key"),
        ).with_columns(pair=_pair())  # fmt: skip
        own = self._entries_of(given["key"].to_numpy())
        others = list(self._others(frame, given))
        of_days = [self._span(given, day) for day in ("ended", "started")]
        alike = sum(last - first for first, last in of_days)
        made = frame["key"].str.contains(f"^{MADE}$").to_numpy()
        crowded = given.select(_place("ended")).to_series().is_duplicated().to_numpy()
        is_asked = (alike > 0) & ((own == 0) | (made & ((alike > 1) | crowded)))
        self.claimed[own[~is_asked]] = True
        for _, asked in others:
            is_asked |= asked & (own == 0)
        for row in np.flatnonzero(is_asked).tolist():
            here = {entry for first, last in of_days for entry in self._positions[first[row] : last[row]].tolist()}
            further = {entry for entries, _ in others for entry in entries(row)} - here
            yield Asked(row, int(own[row]), sorted(here), [] if own[row] else sorted(further))

    def _others(self, frame: DataFrame, given: DataFrame) -> Iterator[tuple[Callable[[int], list[int]], Any]]:
        """By row the games of the same moves, and those of the same event, round and players; which rows have any."""
        if len(self._of_moves) and frame["text"].null_count() < len(frame):
            yield self._of_moves.entries(told_moves(frame))
        if len(self._of_meetings) and frame["round"].null_count() < len(frame):
            met = given.select("white", "black").with_columns(frame["tournament"], frame["round"])
            yield self._of_meetings.entries(met.select(meeting()).to_series())

    def _entries_of(self, keys: Any) -> Any:
        """For each key the entry that recorded it, 0 where there is none."""
        if not len(self._keys):
            return np.zeros(len(keys), np.int64)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._own[place], 0)

    def _span(self, given: DataFrame, day: str) -> tuple[Any, Any]:
        """For each row the first and one after the last of the games between its players on that day."""
        known = (pl.col("white") >= 0) & (pl.col("black") >= 0)
        places = given.select(pl.when(known).then(_place(day)).alias("place"))["place"]
        return spans(self._places, places)

    def number(self, identity: str) -> int:
        """The number of a player who was asked about; ``NOBODY`` where there is none."""
        return self._met[identity][0]

    def sides(self, ids: tuple[str, str], numbers: tuple[int, int]) -> Sides:
        """Who of two players, White and Black, is who in a game between two numbers."""
        (white, black), (known_white, known_black) = ids, (int(self._alike_by_number[n]) for n in numbers)
        own_white, own_black = self._met[white][1], self._met[black][1]
        return Sides(
            own_white == known_white, own_black == known_black, own_white == known_black, own_black == known_white
        )

    def name(self, number: int) -> str:
        """The name of a player, empty where nobody knows it."""
        person = self._people.by_number([number]).get(number)
        return (person.name or "") if person is not None else ""

    def _read_names(self) -> None:
        rows = self._people.names()
        players = pl.DataFrame(rows, schema={"player": pl.Int64, "name": pl.String}, orient="row")
        players = players.with_columns(name=_folded("name"))
        self._names = players.group_by("name").agg(pl.col("player").min().alias("alike"))
        alike = players.join(self._names, on="name", how="left")
        self._alike_by_number = np.arange(max([player for player, _ in rows], default=0) + 1)
        self._alike_by_number[alike["player"].to_numpy()] = alike["alike"].to_numpy()

    def _indexed(self, bodies: list[bytes]) -> DataFrame:
        """A block of entries: the players and days of its games."""
        games = [body for body in bodies if body.find(_GAME, _END) >= 0 or body.find(_SUPPLEMENT, _END) >= 0]
        if not games:
            return pl.DataFrame()
        numbers, texts = ("white", "black", "entry"), ("ended_at", "started_at", "tournament", "round", "text")
        facts = {**dict.fromkeys(numbers, pl.Int64), **dict.fromkeys(texts, pl.String)}
        schema: dict[str, Any] = {"facts": pl.Struct(facts), "key": pl.String, "position": pl.Int64}
        frame = pl.read_ndjson(io.BytesIO(b"\n".join(games)), schema=schema).unnest("facts")
        sides = [self._of_numbers(frame[side]).alias(side) for side in ("white", "black")]
        key = pl.when(pl.col("entry").is_null()).then(pl.col("key").str.slice(len("game:")).hash())
        position = pl.coalesce("entry", "position").alias("position")
        known = frame.select(position, *sides, *_days(), key.alias("key"), "tournament", "round", moves_digest())
        pair = pl.when(pl.col("white").is_not_null()).then(_pair()).alias("pair")
        return known.select("position", "key", "ended", "started", pair, "moves", meeting())

    def _with_supplements(self, parts: list[DataFrame]) -> Iterator[DataFrame]:
        """Each game by its day and, where that is another, by the day of its beginning."""
        games = pl.concat(part.drop("moves", "meeting") for part in parts)
        if games["pair"].null_count():  # a supplement names no players
            pairs = games.filter(pl.col("pair").is_not_null()).select("position", pl.col("pair").alias("of_game"))
            games = games.join(pairs, on="position", how="left", maintain_order="left")
            games = games.with_columns(pair=pl.coalesce("pair", "of_game")).drop("of_game")
        columns = ("position", "pair", "place", "key")
        ended = games.with_columns(_place("ended"))
        yield ended.select(columns)
        started = games.with_columns(_place("started"), key=pl.lit(None, pl.UInt64))
        yield started.filter(pl.col("place").is_not_null()).select(columns)

    def _of_numbers(self, players: Series) -> Series:
        numbers = players.fill_null(0).to_numpy()
        known = self._alike_by_number
        alike = np.where(numbers < len(known), known[np.minimum(numbers, len(known) - 1)], numbers)
        return pl.select(pl.when(players.is_not_null()).then(pl.Series(alike))).to_series()

    def _alike(self, frame: DataFrame, side: str) -> Series:
        """The players of one side, each by the lowest number of those alike."""
        ids = frame[f"{side}_id"]
        met = frame.select(pl.col(f"{side}_id").alias("id"), pl.col(f"{side}_name").alias("name")).unique("id")
        fresh = met.filter(pl.Series([identity not in self._met for identity in met["id"].to_list()], dtype=pl.Boolean))
        if len(fresh):
            numbers = self._people.by_identity(fresh["id"].to_list())
            named = fresh.with_columns(name=_folded("name")).join(self._names, on="name", how="left")
            for identity, alike in named.select("id", "alike").iter_rows():
                if (person := numbers.get(identity)) is not None:
                    self._met[identity] = person.player, int(self._alike_by_number[person.player])
                else:
                    self._met[identity] = NOBODY, NOBODY if alike is None else alike
        values: list[Any] = [self._met[identity][1] for identity in ids.to_list()]
        return pl.Series(side, values, dtype=pl.Int64)


def _folded(name: str) -> Expr:
    return pl.col(name).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()


def _days() -> list[Expr]:
    """The day of the end; that of the beginning where it is another."""
    ended, started = (pl.col(name).str.slice(0, _DAY) for name in ("ended_at", "started_at"))
    return [ended.alias("ended"), pl.when(started != ended).then(started).alias("started")]


def _pair() -> Expr:
    return (pl.col("white") * 2**32 + pl.col("black")).hash()


def _place(day: str) -> Expr:
    """Players and day as a number; null where the day is."""
    return pl.when(pl.col(day).is_not_null()).then(pl.col("pair") ^ pl.col(day).hash()).alias("place")
