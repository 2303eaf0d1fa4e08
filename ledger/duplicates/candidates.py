"""Known games: what is known of each, and which of them the games of an import may be, by players and day.

They are held as whole columns, a few numbers for each game.

A day is that of the end or of the beginning. Players count as alike under one number or one name, whatever the case of
its letters. For many games the whole journal is read, once; for a few only those entries that an index of its games
names (``GameIndex``) and those that came after it: both give the same answers, for what is read is looked through in
the same way. What is found may be the same game, and is compared by ``alike``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs
import orjson

from ledger.duplicates.game_keys import MADE
from ledger.duplicates.namesakes import SameNames
from ledger.errors import CorruptError, one_line
from ledger.facts.events import SUPPLEMENTED, GameRecorded, GameSupplemented
from ledger.facts.words import Outcome, Termination, moves_number
from ledger.journal import Find, Journal, Stored, rules
from ledger.players.people import People, Person
from ledger.runtime.lazy import np, pl
from ledger.runtime.nearest import nearest

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series

# What is known of one game: the facts of its recording with those of every supplement. Supplements of a game are
# numbered, so that each is found by its key; nearly all journals have none.

_WORDS: Mapping[str, Callable[[str], Any]] = {"outcome": Outcome, "termination": Termination}


@attrs.define
class KnownGame:
    """A game that a journal holds.

    Attributes:
        entry: position of the entry that recorded it.
        facts: what is known of it, in the fields of ``game-recorded/1`` as plain values, without the key.
        supplements: how many supplements it has.
    """

    entry: int
    facts: dict[str, Any]
    supplements: int = 0

    def supplement(self, game: str, added: Mapping[str, Any]) -> GameSupplemented:
        """The supplement that tells what is *added*; it is known from now on.

        Raises:
            ValueError: a field may not be what it is.
        """
        event = GameSupplemented(
            game=game,
            entry=self.entry,
            number=self.supplements + 1,
            **_in_words(added),
        )
        self.supplements += 1
        self.facts = {**self.facts, **added}
        return event

    def with_facts(self, game: str, added: Mapping[str, Any]) -> GameRecorded:
        """The game as it would be recorded with what is *added*."""
        return GameRecorded(game=game, **_in_words({**self.facts, **added}))


def load_games(find: Find, recorded: Mapping[str, Stored]) -> dict[str, KnownGame]:
    """What is known of games, by key of the game.

    Args:
        find: what looks up keys in the journal.
        recorded: the entries that recorded them, by their key in the journal.
    """
    games = {key[len("game:") :]: KnownGame(entry.position, rules.facts_of(entry)) for key, entry in recorded.items()}
    waiting = list(games)
    while waiting:
        entries = find([f"supplement:{game}@{games[game].supplements + 1}" for game in waiting])
        for entry in entries.values():
            facts = rules.facts_of(entry)
            game = games[facts["game"]]
            game.facts.update({field: facts[field] for field in SUPPLEMENTED if field in facts})
            game.supplements += 1
        waiting = [game for game in waiting if f"supplement:{game}@{games[game].supplements}" in entries]
    return games


def _in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values as the event classes take them."""
    return {field: _WORDS[field](value) if field in _WORDS else value for field, value in facts.items()}


# Known games that a further telling may be of although it tells another day, other colours or another name.
#
# Two small indexes of the games that a journal holds, by their moves and by event, round and players, say which games
# to look at; whether one of them looks like the telling is judged here, for whoever imports to decide. Nothing is
# read.

LONG = 30  # half-moves from which the same moves are the same game; two players have shorter ones by heart
# Each is read from the journal: of moves that many have played after each other, all would be read for one telling.
MOST_LOOKED_AT = 32  # games that are looked at for one telling
_DIGEST = 16  # characters of a SHA-256 that are indexed
_MIRRORED = {"white": "black", "black": "white", "draw": "draw"}


class Sides(NamedTuple):
    """Who in a telling is who in a known game: its White that one's White or Black, its Black likewise."""

    white: bool
    black: bool
    white_as_black: bool
    black_as_white: bool


class Index:
    """Games by a number: 12 bytes for each. A number that is null is left out."""

    def __init__(self, parts: Sequence[DataFrame], column: str) -> None:
        """Take the columns ``position`` and *column* of each part."""
        columns = [part.select("position", column).drop_nulls() for part in parts]
        every = pl.concat(columns).sort(column, "position") if columns else pl.DataFrame({"position": [], column: []})
        self._places = every[column].cast(pl.UInt64).to_numpy()
        self._positions = every["position"].cast(pl.UInt32).to_numpy()

    def __len__(self) -> int:
        return len(self._places)

    def entries(self, places: Any) -> tuple[Callable[[int], list[int]], Any]:
        """What gives, by row, the entries of its games; and which rows have any (Boolean array).

        Args:
            places: a series of numbers, null where a row asks for none.
        """
        first, last = spans(self._places, places)
        return lambda row: self._positions[
            first[row] : min(last[row], first[row] + MOST_LOOKED_AT)
        ].tolist(), first < last


def spans(ascending: Any, places: Any) -> tuple[Any, Any]:
    """For each of some numbers the first place, and one after the last, where it stands among sorted ones.

    Args:
        ascending: an array, ascending.
        places: a series, null where nothing is looked for.
    """
    if not len(ascending) or places.null_count() == len(places):
        nothing = np.zeros(len(places), np.int64)
        return nothing, nothing
    hashes = places.fill_null(0).to_numpy()
    first = np.searchsorted(ascending, hashes, "left")
    is_there = (ascending[np.minimum(first, len(ascending) - 1)] == hashes) & places.is_not_null().to_numpy()
    last = first.copy()
    # few are found: nearly all are looked up once
    last[is_there] = np.searchsorted(ascending, hashes[is_there], "right")
    return first, last


def moves_digest() -> Expr:
    """The number of a movetext by its SHA-256, column ``text``."""
    # Polars promises no stable hashes from one version to the next: none of these numbers outlives the process.
    return pl.col("text").str.slice(0, _DIGEST).hash().alias("moves")


def long_texts(frame: DataFrame) -> list[str | None]:
    """The first digits of the SHA-256 of the movetexts, column ``text``, of a frame's games; None for short games."""
    long = frame["half_moves"].fill_null(0) >= LONG
    return [
        sha256(text.encode()).hexdigest()[:_DIGEST] if is_long and text is not None else None
        for text, is_long in zip(frame["text"].to_list(), long.to_list(), strict=True)
    ]


def told_moves(frame: DataFrame) -> Any:
    """The numbers of the movetexts of a frame's games, as of ``moves_digest``; null for short games."""
    digests = pl.Series("text", long_texts(frame), dtype=pl.String)
    return pl.DataFrame({"text": digests}).select(moves_digest()).to_series()


# what a game lacks of event, round and players
_NO_EVENT, _NO_ROUND, _NO_PLAYERS = 1, 2, 4


def meeting() -> Expr:
    """A number for event, round and players, in columns ``white``, ``black``, ``tournament`` and ``round``.

    Null where one of them is not known, or the round is no round.
    """
    number, lacks = _meeting_so_far()
    return pl.when(lacks == 0).then(number).alias("meeting")


def _meeting_so_far() -> tuple[Expr, Expr]:
    """What is known of that number, and what is not: a supplement may tell the rest."""
    # the lower number first, so that a game that is told with swapped colours comes to the same
    pair = pl.min_horizontal("white", "black") * 2**32 + pl.max_horizontal("white", "black")
    parts = (
        (_NO_EVENT, pl.col("tournament").is_not_null(), pl.col("tournament")),
        (_NO_ROUND, pl.col("round").str.contains(r"\d"), pl.col("round")),
        (_NO_PLAYERS, pl.min_horizontal("white", "black") >= 0, pair),
    )
    number, lacks = pl.lit(0, pl.UInt64), pl.lit(0, pl.UInt8)
    for bit, is_known, part in parts:
        number ^= pl.when(is_known).then(part.hash()).otherwise(pl.lit(0, pl.UInt64))
        lacks |= pl.when(is_known).then(pl.lit(0, pl.UInt8)).otherwise(pl.lit(bit, pl.UInt8))
    return number.alias("meeting"), lacks.alias("lacks")


def _meetings(parts: Sequence[DataFrame]) -> list[DataFrame]:
    """The positions of games, with their numbers of ``meeting`` as all that was told of them makes these."""
    whole = [part.filter(pl.col("lacks") == 0).select("position", "meeting") for part in parts]
    # Of a supplement, which names no players, what it tells of event and round.
    supplements = [
        part.filter(pl.col("lacks").is_between(_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT | _NO_ROUND, "left")).select(
            "position", "meeting", "lacks"
        )
        for part in parts
    ]
    later = pl.concat(supplements) if supplements else pl.DataFrame()
    if not len(later):
        return whole
    games = pl.concat(
        part.filter(pl.col("lacks").is_between(1, _NO_PLAYERS, "left")).select("position", "meeting", "lacks")
        for part in parts
    )
    # A field is filled once: at most one supplement of a game tells each of the two.
    for lacks in (_NO_PLAYERS, _NO_PLAYERS | _NO_EVENT, _NO_PLAYERS | _NO_ROUND):
        of_these = later.filter(pl.col("lacks") == lacks).unique("position")
        games = games.join(of_these.select("position", more="meeting"), on="position", how="left").select(
            "position",
            pl.col("meeting") ^ pl.col("more").fill_null(0),
            pl.when(pl.col("more").is_null()).then("lacks").otherwise(pl.col("lacks") & lacks).alias("lacks"),
        )
    return [*whole, games.filter(pl.col("lacks") == 0).select("position", "meeting")]


def contradictions(
    telling: Mapping[str, Any], game: Mapping[str, Any], sides: Sides, names: Callable[[], Sequence[tuple[str, str]]]
) -> str:
    """What a telling says otherwise than the known game that it looks like; empty where it looks like another game.

    Args:
        telling: the facts of the telling.
        game: those of the known game.
        sides: who is who.
        names: the names of both Whites and of both Blacks, asked only where one of the players is another.
    """
    moves = telling.get("text")
    same_moves = moves is not None and moves == game.get("text") and telling.get("half_moves", 0) >= LONG
    for name in ("half_moves", "text", "pool"):  # a blank contradicts nothing
        if None not in {telling.get(name), game.get(name)} and telling.get(name) != game.get(name):
            return ""
    same_event = telling.get("tournament") is not None and telling.get("tournament") == game.get("tournament")
    same_round = same_event and telling.get("round") is not None and telling.get("round") == game.get("round")
    days = telling["ended_at"][:_DAY], game["ended_at"][:_DAY]
    same_outcome = telling["outcome"] == game["outcome"]
    if sides.white and sides.black:
        is_next = (
            same_round
            and len(days[0]) == len(days[1]) == _DAY  # else one of them is not known to the day
            and abs((date.fromisoformat(days[0]) - date.fromisoformat(days[1])).days) == 1
        )
        return "with another day" if same_outcome and days[0] != days[1] and (same_moves or is_next) else ""
    if days[0] != days[1] or not (same_moves or len(days[0]) == _DAY):
        return ""
    if sides.white_as_black and sides.black_as_white:
        same_winner = game["outcome"] == _MIRRORED[telling["outcome"]]
        is_same = (same_winner and same_round) or (same_moves and (same_winner or same_outcome))
        return "with the colours swapped" if is_same else ""
    if (sides.white or sides.black) and same_moves and same_event and same_outcome:
        # Of the side that differs: those of the Blacks where White is the same.
        other = names()[int(sides.white)]
        return "with another name" if nearest(other[0], [other[1]]) else ""
    return ""


# All games that the games of an import may be.

_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1","position":', b',"kind":"game-supplemented/1","position":'
_END = -100  # they stand in the last bytes of a body
_DAY = 10  # characters of an instant that name its day, or less where less is known
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
    ended, started = (pl.col(name).str.slice(0, _DAY) for name in ("ended_at", "started_at"))
    return [ended.alias("ended"), pl.when(started != ended).then(started).alias("started")]


def _pair() -> Expr:
    return (pl.col("white") * 2**32 + pl.col("black")).hash()


def _place(day: str) -> Expr:
    """Players and day as a number; null where the day is."""
    return pl.when(pl.col(day).is_not_null()).then(pl.col("pair") ^ pl.col(day).hash()).alias("place")
