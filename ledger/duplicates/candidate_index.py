"""The index of all recorded games that the games of an import may repeat."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from ledger.duplicates.game_keys import MADE
from ledger.duplicates.namesakes import SameNames
from ledger.errors import CorruptError, one_line
from ledger.facts.words import moves_number
from ledger.journal import Find, Journal
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series
from ledger.duplicates.similar_games import (
    DAY_LETTERS,
    Index,
    Sides,
    _meeting_so_far,
    _meetings,
    long_texts,
    meeting,
    moves_digest,
    spans,
    told_moves,
)

_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1","position":', b',"kind":"game-supplemented/1","position":'
_END = -100  # they stand in the last bytes of a body
_SUPPLEMENTS = ("supplement:", "supplement;")  # the keys of all supplements lie between these


class Asked(NamedTuple):
    """A row, the entry of its key (0 where it is new), the entries that its game may be, and those told otherwise."""

    row: int
    own: int
    entries: list[int]
    others: list[int]


class Sought(NamedTuple):
    """What games are told with, to find known ones that were recorded so.

    Attributes:
        days: White, Black and a day, or a month or year where less is known.
        meetings: White, Black, tournament and round.
        moves: numbers of movetexts, as ``words.moves_number`` makes them.
    """

    days: list[tuple[int, int, str]]
    meetings: list[tuple[int, int, str, str]]
    moves: list[int]


class GameIndex(Protocol):
    """Derived from a journal up to some entry: which of its games to look at."""

    def reached(self) -> int | None:
        """The entry up to which it knows the journal; None where there is no index."""

    def entries(self, sought: Sought) -> tuple[int, set[int]] | None:
        """The entries that recorded games as they are sought, and maybe others; with what ``reached`` says.

        Of one movetext the first ``MOST_LOOKED_AT`` are enough.
        """


class CandidateIndex:
    """Games that a journal held when an import began: some 50 bytes each, and the names of their players."""

    def __init__(self, blocks: Iterable[list[bytes]], people: People, names: SameNames, claimed: Any) -> None:
        """Look them through.

        Args:
            blocks: bodies of entries, in order of their positions.
            people: who the players are.
            names: who is alike, among the players of these games and of those that will be asked about.
            claimed: by entry, whether the file has told that game (Boolean array, one longer than the journal).

        Raises:
            CorruptError: an entry cannot be read.
        """
        self._people = people
        self._names = names
        self._met: dict[str, tuple[int, int]] = {}  # by identity, the number of the player and of those alike
        try:
            games = [part for part in map(self._indexed, blocks) if len(part)]
        except (pl.exceptions.PolarsError, IndexError) as error:  # an entry was damaged since it was sealed
            raise CorruptError("journal", 0, f"cannot be read ({one_line(error)}); run 'audit'") from error
        schema = {"position": pl.Int64, "pair": pl.UInt64, "place": pl.UInt64, "key": pl.UInt64}
        self._of_moves, self._of_meetings = Index(games, "moves"), Index(_meetings(games), "meeting")
        every = pl.concat(self._with_supplements(games)) if games else pl.DataFrame(schema=schema)
        # A supplement names its game by the entry: one that was sealed past the rules may name any, which ``claimed``
        # has not.
        if len(every) and not every["position"].is_between(1, len(claimed) - 1).all():
            raise CorruptError("journal", 0, "an entry tells of a game at no position of this journal; run 'audit'")
        order = every.filter(pl.col("place").is_not_null()).sort("place", "position")  # a supplement may tell no day
        self._places, self._positions = order["place"].to_numpy(), order["position"].to_numpy()
        own = every.filter(pl.col("key").is_not_null()).sort("key")
        self._keys, self._own = own["key"].to_numpy(), own["position"].to_numpy()
        self.claimed = claimed

    @classmethod
    def every(cls, journal: Journal, people: People, claimed: Any) -> CandidateIndex:
        """All games of the first entries of a journal, as many as can be claimed."""
        return cls(journal.read(0, len(claimed) - 1), people, SameNames.of_everybody(people), claimed)

    @classmethod
    def of_frame(
        cls, frame: DataFrame, journal: Journal, find: Find, people: People, claimed: Any, index: GameIndex
    ) -> CandidateIndex | None:
        """Those that the games of one frame may be; None where there is no index.

        Args:
            frame: columns of ``SourceGame``.
            journal: where they stand, among the first entries, as many as can be claimed.
            find: what looks up keys in it.
            people: who the players are.
            claimed: as above.
            index: which entries to read, of those up to some position; later ones are all read.
        """
        size = len(claimed) - 1
        sides = [
            frame.select(pl.col(f"{side}_id").alias("id"), pl.col(f"{side}_name").alias("name"))
            for side in ("white", "black")
        ]
        called = dict(pl.concat(sides).unique("id", keep="first").iter_rows())
        persons = people.by_identity(list(called))
        names = SameNames.of_some(people, persons, called)
        answer = index.entries(_sought(frame, called, persons, names))
        if answer is None:
            return None
        reached, positions = answer
        later = [body for bodies in journal.read(reached, size) for body in bodies] if reached < size else []
        # Those of their own keys, too: a row whose key is known is never held back, so that it must be known here.
        positions.update(entry.position for entry in find([f"game:{key}" for key in frame["key"].to_list()]).values())
        try:
            # A supplement that came after the index may give a game a day by which the index does not know it.
            positions.update(int(orjson.loads(body)["facts"]["entry"]) for body in later if _SUPPLEMENT in body[_END:])
            bodies = _with_their_supplements(journal, find, sorted(entry for entry in positions if 0 < entry <= size))
        except (ValueError, KeyError) as error:
            raise CorruptError("journal", 0, f"cannot be read ({one_line(error)}); run 'audit'") from error
        bodies.update(zip(range(size - len(later) + 1, size + 1), later, strict=True))
        return cls([[bodies[position] for position in sorted(bodies) if position <= size]], people, names, claimed)

    def look(self, frame: DataFrame) -> Iterator[Asked]:
        """The rows whose key is not known, but whose players and day are.

        So are rows whose key was made of facts, where the players met more than once that day, as far as the journal or
        the frame knows: their order in the file may be another one. The games of all other rows are claimed.

        Args:
            frame: columns of ``SourceGame``.
        """
        tellings = frame.select(
            *(self._alike(frame, side) for side in ("white", "black")),
            *_days(),
            pl.col("key").hash().alias("key"),
        ).with_columns(pair=_pair())
        # by row the entry that recorded its key, 0 where there is none
        own = np.zeros(len(frame), np.int64)
        if len(self._keys):
            keys = tellings["key"].to_numpy()
            place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            own = np.where(self._keys[place] == keys, self._own[place], 0)
        # By row the games of the same moves, and those of the same event, round and players; which rows have any.
        others: list[tuple[Callable[[int], list[int]], Any]] = []
        if len(self._of_moves) and frame["text"].null_count() < len(frame):
            others.append(self._of_moves.entries(told_moves(frame)))
        if len(self._of_meetings) and frame["round"].null_count() < len(frame):
            met = tellings.select("white", "black").with_columns(frame["tournament"], frame["round"])
            others.append(self._of_meetings.entries(met.select(meeting()).to_series()))
        # For each row the first and one after the last of the games between its players on that day.
        have_numbers = (pl.col("white") >= 0) & (pl.col("black") >= 0)
        places = tellings.select(pl.when(have_numbers).then(_place(day)).alias(day) for day in ("ended", "started"))
        of_days = [spans(self._places, column) for column in places]
        alike = sum(last - first for first, last in of_days)
        made = frame["key"].str.contains(f"^{MADE}$").to_numpy()
        crowded = tellings.select(_place("ended")).to_series().is_duplicated().to_numpy()
        is_asked = (alike > 0) & ((own == 0) | (made & ((alike > 1) | crowded)))
        # Entry 0 is none: what is marked there, by rows that have no entry of their own, claims no game.
        self.claimed[own[~is_asked]] = True
        for _, asked in others:
            # A game under its own key is that game, whatever others have its moves or its place in a round.
            is_asked |= asked & (own == 0)
        for row in np.flatnonzero(is_asked).tolist():
            here = {entry for first, last in of_days for entry in self._positions[first[row] : last[row]].tolist()}
            further = {entry for entries, _ in others for entry in entries(row)} - here
            yield Asked(row, int(own[row]), sorted(here), [] if own[row] else sorted(further))

    def number(self, identity: str) -> int:
        """The number of a player who was asked about; ``NOBODY`` where there is none."""
        return self._met[identity][0]

    def sides(self, ids: tuple[str, str], numbers: tuple[int, int]) -> Sides:
        """Who of two players, White and Black, is who in a game between two numbers."""
        (white, black), (known_white, known_black) = ids, map(self._names.lowest, numbers)
        own_white, own_black = self._met[white][1], self._met[black][1]
        return Sides(
            own_white == known_white, own_black == known_black, own_white == known_black, own_black == known_white
        )

    def name(self, number: int) -> str:
        """The name of a player, empty where nobody knows it."""
        person = self._people.by_number([number]).get(number)
        return (person.name or "") if person is not None else ""

    def _indexed(self, bodies: list[bytes]) -> DataFrame:
        """A block of entries: the players and days of its games."""
        games = [body for body in bodies if body.find(_GAME, _END) >= 0 or body.find(_SUPPLEMENT, _END) >= 0]
        if not games:
            return pl.DataFrame()
        numbers, texts = ("white", "black", "entry"), ("ended_at", "started_at", "tournament", "round", "text")
        facts = {**dict.fromkeys(numbers, pl.Int64), **dict.fromkeys(texts, pl.String)}
        schema: dict[str, Any] = {"facts": pl.Struct(facts), "key": pl.String, "position": pl.Int64}
        frame = pl.read_ndjson(io.BytesIO(b"\n".join(games)), schema=schema).unnest("facts")
        sides = [self._names.column(frame[side]).alias(side) for side in ("white", "black")]
        # The facts of a supplement alone name an entry; its key is that of no game.
        key = pl.when(pl.col("entry").is_null()).then(pl.col("key").str.slice(len("game:")).hash())
        position = pl.coalesce("entry", "position").alias("position")
        columns = frame.select(position, *sides, *_days(), key.alias("key"), "tournament", "round", moves_digest())
        pair = pl.when(pl.col("white").is_not_null()).then(_pair()).alias("pair")
        return columns.select("position", "key", "ended", "started", pair, "moves", *_meeting_so_far())

    def _with_supplements(self, parts: list[DataFrame]) -> Iterator[DataFrame]:
        """Each game by its day and, where that is another, by the day of its beginning."""
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

    def _alike(self, frame: DataFrame, side: str) -> Series:
        """The players of one side, each by the lowest number of those alike."""
        ids = frame[f"{side}_id"]
        met = frame.select(pl.col(f"{side}_id").alias("id"), pl.col(f"{side}_name").alias("name"))
        met = met.unique("id", keep="first")
        fresh = {identity: name for identity, name in met.iter_rows() if identity not in self._met}
        if fresh:
            persons = self._people.by_identity(list(fresh))
            for identity, name in fresh.items():
                self._met[identity] = self._names.of_person(persons.get(identity), name)
        values: list[Any] = [self._met[identity][1] for identity in ids.to_list()]
        return pl.Series(side, values, dtype=pl.Int64)


def _sought(frame: DataFrame, called: Mapping[str, str], persons: Mapping[str, Person], names: SameNames) -> Sought:
    """What the games of a frame are told with, under all numbers that their players may have."""
    numbers = {identity: names.numbers(persons.get(identity), name) for identity, name in called.items()}
    columns = frame.select("white_id", "black_id", *_days(), "tournament", "round")
    days: dict[tuple[int, int, str], None] = {}
    meetings: dict[tuple[int, int, str, str], None] = {}
    for white_id, black_id, ended, started, tournament, round_ in columns.iter_rows():
        for pair in ((white, black) for white in numbers[white_id] for black in numbers[black_id]):
            days.update(((*pair, day), None) for day in (ended, started) if day is not None)
            if tournament is not None and round_ is not None:
                meetings.update(((*both, tournament, round_), None) for both in (pair, pair[::-1]))
    moves = {moves_number(text) for text in long_texts(frame) if text is not None}
    return Sought(list(days), list(meetings), list(moves))


def _with_their_supplements(journal: Journal, find: Find, positions: Sequence[int]) -> dict[int, bytes]:
    """The bodies of games by position, and those of what supplements them."""
    bodies: dict[int, bytes] = {}
    breaks = [place for place, (before, after) in enumerate(pairwise(positions), 1) if after != before + 1]
    # Neighbours at one time: each reading is a question to the store, which may be on another machine.
    for first, last in pairwise([0, *breaks, len(positions)] if positions else []):
        run = positions[first:last]
        read = (body for block in journal.read(run[0] - 1, run[-1]) for body in block)
        bodies.update(zip(run, read, strict=True))
    waiting: list[str] = []
    if next(iter(journal.keys(*_SUPPLEMENTS)), None) is not None:  # nearly all journals have none
        waiting = [str(orjson.loads(body)["key"]).removeprefix("game:") for body in bodies.values()]
    number = 1
    while waiting:
        stored = find([f"supplement:{game}@{number}" for game in waiting])
        bodies.update((entry.position, entry.body) for entry in stored.values())
        waiting = [game for game in waiting if f"supplement:{game}@{number}" in stored]
        number += 1
    return bodies


def _days() -> list[Expr]:
    """The day of the end; that of the beginning where it is another."""
    ended, started = (pl.col(name).str.slice(0, DAY_LETTERS) for name in ("ended_at", "started_at"))
    return [ended.alias("ended"), pl.when(started != ended).then(started).alias("started")]


def _pair() -> Expr:
    return (pl.col("white") * 2**32 + pl.col("black")).hash()


def _place(day: str) -> Expr:
    """Players and day as a number; null where the day is."""
    return pl.when(pl.col(day).is_not_null()).then(pl.col("pair") ^ pl.col(day).hash()).alias("place")
