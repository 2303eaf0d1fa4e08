"""Games of an import under new keys that look like games that are known: the same, probably the same, or others.

A key says which game it is where a source gave it: of two keys from one source, or of two servers, each is another
game. A key that was made of a game's facts says nothing against another telling: such a game is the known one where
players and day agree and nothing contradicts. Whatever else looks alike is held back, for whoever imports to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import orjson

from ledger.duplicates.candidate_index import Asked, CandidateIndex, Candidates, GameIndex
from ledger.duplicates.candidate_index_columns import CandidateColumns
from ledger.duplicates.candidates import KnownGame, load_games
from ledger.duplicates.game_keys import MADE, is_made
from ledger.duplicates.namesakes import NOBODY
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.duplicates.similar_games import DAY_LETTERS, contradictions
from ledger.errors import CorruptError
from ledger.facts.instants import is_before
from ledger.facts.submissions import compared
from ledger.journal import Find, Journal, Stored
from ledger.players.people import People

Block = TypeVar("Block", bound=ReportedGames)
SERVERS = ("chesscom", "fics", "lichess")  # whose identifiers are of one game each, for ever
_OF_SERVER = re.compile(f"(?!{MADE}$)(?:{'|'.join(SERVERS)}):", re.ASCII)
_SECOND = 20  # characters of an instant that is known to the second
# To look a game up costs about as much as to read so many entries: where a file has more games than this part of the
# journal, the whole is read. Measured at 1 million entries: 5 µs to read one, 100 µs for a game of 1,000.
_READ_FOR_ONE = 20
# Games and entries that are compared as rows if the whole journal is read: they take 20 ms, and to load Polars 200.
_AS_ROWS = 2_000
UNDER_ANOTHER_KEY = "under another key"
_OF_A_GAME = (
    "pool",
    "outcome",
    "termination",
    "half_moves",
    "started_at",
    "ended_at",
    "tournament",
    "round",
    "rated",
    "white_rating",
    "black_rating",
)


class Alike(NamedTuple):
    """A game that is held back: line of the file, its key, key and entry of the game that it probably is, told how.

    The key is empty where that game has a side who was erased: two keys that are the same would tell the name.
    """

    line: int
    key: str
    known: str
    entry: int
    how: str = UNDER_ANOTHER_KEY

    def __str__(self) -> str:
        game = repr(self.key) if self.key else "this"
        return f"{game} is probably {self.known!r} of entry {self.entry}, told {self.how}: held back"


def may_be_one(key: str, other: str) -> bool:
    """False for two keys that cannot be of one game, whatever else is known."""
    if is_made(key) or is_made(other):
        return True
    source, other_source = _source(key), _source(other)
    return source != other_source and not {source, other_source} <= {*SERVERS}


def _source(key: str) -> str:
    return key.partition(":")[0] if ":" in key else ""


class DuplicateDetector:
    """What the games of one file are to those that the journal held before it."""

    def __init__(self, journal: Journal, people: People, index: GameIndex | None = None) -> None:
        """Nothing is read before the first question.

        Args:
            journal: the games that are known.
            people: who the players are.
            index: what finds a few of these games without reading all; None: all are read.
        """
        self._journal = journal
        self._people = people
        self._index = index
        self._size = 0  # of the journal when the import began
        self._before: str | None = None  # what it held then
        self._known: Candidates | None = None
        self._is_whole = False  # whether that knows all games, or those alone that the games of one block may be
        self._read = 0  # entries that could have been read for what was looked up so far
        self._claimed = bytearray()  # by entry, 1 if the file has reported that game

    def split_off_duplicates(self, games: Block, find: Find, size: int) -> tuple[Block, list[Alike]]:
        """Return the games without those that are held back; known ones bear the keys that they are known by.

        Args:
            games: in the fields of ``SourceGame``, and ``pool``.
            find: what looks up keys in the journal.
            size: entries of the journal so far.
        """
        if self._before is None:
            # Once: games of the file itself are never held against each other, for two that a pair played alike on one
            # day are two.
            self._before = _before(self._journal)
            self._size = size
            self._claimed = bytearray(size + 1)
        # Two identifiers of servers are never of one game: where both sides have nothing else, no entry need be read.
        if self._known is None and (
            self._before == "nothing" or (self._before == "servers" and all(map(_OF_SERVER.match, games.column("key"))))
        ):
            return games, []
        if not self._is_whole:
            self._known = self._few(games, find)
        if self._known is None:
            index = CandidateIndex if len(games) + self._size <= _AS_ROWS else CandidateColumns
            self._known = index.every(self._journal, self._people, self._claimed)
            self._is_whole = True
        rows = list(self._known.look(games))
        if not rows:
            return games, []
        repeats: list[tuple[int, Alike]] = []
        renamed: dict[int, str] = {}
        tellings = [(asked, _Telling(games.row(asked.row), self._known)) for asked in rows]
        tellings.sort(key=lambda pair: (-pair[1].said, pair[0].row))  # who says most finds the very game
        for asked, telling in tellings:
            game = self._match(telling, asked, find)
            if game is not None and game.is_same:
                renamed[asked.row] = game.key
            elif game is not None:
                repeats.append((asked.row, Alike(telling.line, telling.key, game.key, game.entry, game.how)))
        if renamed:
            keys = games.column("key")
            for row, key in renamed.items():
                keys[row] = key
            games = games.with_column("key", keys)
        if repeats:
            away = {row for row, _ in repeats}
            games = games.keep([row not in away for row in range(len(games))])
        return games, [alike for _, alike in sorted(repeats)]

    def _few(self, games: ReportedGames, find: Find) -> CandidateIndex | None:
        """Return the games that those of a block may be; None if it is cheaper, or the only way, to read all."""
        reached = None if self._index is None else self._index.reached()
        if self._index is None or reached is None:
            return None
        # Entries behind the index are read again for each block, and so they count each time.
        self._read += _READ_FOR_ONE * len(games) + max(self._size - reached, 0)
        if self._read > self._size:
            return None
        return CandidateIndex.of_games(games, self._journal, find, self._people, self._claimed, self._index)

    def _match(self, telling: _Telling, asked: Asked, find: Find) -> _Candidate | None:
        """The known game that a telling is of, or looks like; no other telling of the file is of it then."""
        assert self._known is not None
        best: _Candidate | None = None
        for entry in asked.entries:
            if self._known.claimed[entry]:
                continue
            key, game = self._game(entry, find)
            if not may_be_one(telling.key, key):
                continue
            agreeing = telling.agreeing(game.facts) if is_made(telling.key) else 0
            if agreeing:
                # Doubled, so that the entry of its own key wins among those that agree alike, and never against one
                # that agrees better: another file may tell the games of a day in another order.
                candidate = _Candidate(key, entry, 2 * agreeing + (entry == asked.own), is_same=True)
            elif not asked.own and telling.looks_like(game.facts):
                # A telling whose key is known is of that game or contradicts it, which ``match_repeats`` says.
                candidate = _Candidate(key, entry, 0, is_same=False, how=telling.how(key, game.facts))
            else:
                continue
            if best is None or candidate.agreeing > best.agreeing:
                best = candidate
        best = best or self._told_otherwise(telling, asked, find)
        if best is not None:
            self._known.claimed[best.entry] = True
        return best

    def _told_otherwise(self, telling: _Telling, asked: Asked, find: Find) -> _Candidate | None:
        """The first known game that a telling looks like but for its day, its colours or a name."""
        assert self._known is not None
        for entry in asked.others:
            if self._known.claimed[entry]:
                continue
            key, game = self._game(entry, find)
            if not may_be_one(telling.key, key):
                continue
            numbers = game.facts["white"], game.facts["black"]
            sides = self._known.sides(telling.ids, numbers)
            names = partial(self._names, telling, numbers)
            how = contradictions(telling.facts, game.facts, sides, names)
            if how:
                return _Candidate(key, entry, 0, is_same=False, how=how)
        return None

    def _names(self, telling: _Telling, numbers: tuple[int, int]) -> list[tuple[str, str]]:
        assert self._known is not None
        return [(name, self._known.name(number)) for name, number in zip(telling.names, numbers, strict=True)]

    def _game(self, entry: int, find: Find) -> tuple[str, KnownGame]:
        ((body,),) = self._journal.read(entry - 1, entry)
        try:
            key = str(orjson.loads(body)["key"])
        except (ValueError, KeyError) as error:
            raise CorruptError("journal", entry, f"cannot be read ({error}); run 'audit'") from error
        (game,) = load_games(find, {key: Stored(entry, body, b"")}).values()
        return key.removeprefix("game:"), game


class _Candidate(NamedTuple):
    """A known game: how well it agrees with a telling, and whether the telling is surely of it."""

    key: str
    entry: int
    agreeing: int
    is_same: bool
    how: str = UNDER_ANOTHER_KEY


class _Telling:
    """A game as a file tells it."""

    def __init__(self, row: Mapping[str, Any], games: Candidates) -> None:
        self.line: int = row["line"]
        self.key: str = row["key"]
        self.facts = {name: row[name] for name in _OF_A_GAME if row[name] is not None}
        self.ids, self.names = (row["white_id"], row["black_id"]), (row["white_name"], row["black_name"])
        for side in ("white", "black"):
            self.facts[side] = games.number(row[f"{side}_id"])
        if row["text"] is not None:
            self.facts["text"] = sha256(row["text"].encode()).hexdigest()
        self.said = len(self.facts)

    def agreeing(self, facts: Mapping[str, Any]) -> int:
        """How many fields say the same; 0 where one says something else."""
        if NOBODY in {self.facts["white"], self.facts["black"]} or compared(facts, self.facts).conflict is not None:
            return 0
        return sum(facts.get(name) == value for name, value in self.facts.items())

    def looks_like(self, facts: Mapping[str, Any]) -> bool:
        """True where nothing that two sources would write alike says another thing."""
        return looks_like(self.facts, facts)

    def how(self, key: str, facts: Mapping[str, Any]) -> str:
        """How it tells the game that it looks like; of keys that nobody gave it is said what makes them differ."""
        conflict = compared(facts, self.facts).conflict if is_made(self.key) and is_made(key) else None
        if conflict is None:
            return UNDER_ANOTHER_KEY
        return f"with another {'identity' if conflict in SIDES else conflict}"


def looks_like(telling: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """True where nothing that two sources would write alike says another thing; players are not compared.

    Args:
        telling: the facts of a telling.
        facts: those of a known game of that day.
    """
    return not any(_contradictions(telling, facts))


def _contradictions(telling: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[bool]:
    yield telling["outcome"] != facts["outcome"]
    moves, known_moves = telling.get("half_moves"), facts.get("half_moves")
    same_moves = moves is not None and moves == known_moves
    yield None not in {moves, known_moves} and not same_moves
    began, known_began = telling.get("started_at"), facts.get("started_at")
    if began is not None and known_began is not None:
        yield is_before(began, known_began) or is_before(known_began, began)
    round_, known_round = telling.get("round"), facts.get("round")
    if round_ is not None and known_round is not None:
        # One source tells 2.1, with the board or the game of the round behind the dot, where another tells 2.
        yield round_.partition(".")[0] != known_round.partition(".")[0]
    events = telling.get("tournament"), facts.get("tournament")
    end, known_end = telling["ended_at"], facts["ended_at"]
    if len(end) < DAY_LETTERS:
        # Within a month or a year a pair meets at several events; of one day two names may be of one: "Club", "The
        # club".
        yield None not in events and events[0] != events[1]
    if min(len(end), len(known_end)) >= _SECOND and end != known_end:
        # Sources see a game end at different seconds: the same number of moves, or one second of its beginning,
        # outweighs that.
        yield not (same_moves or (began is not None and began == known_began and len(began) >= _SECOND))


def _before(journal: Journal) -> str:
    """What games a journal holds: ``nothing``, those of ``servers`` alone, or ``others`` too."""
    if not _holds(journal, "game:", "game;"):
        return "nothing"
    # what lies between the keys of one server and those of the next, in order of their names: games of other sources
    edges = ["game:", *(edge for server in SERVERS for edge in (f"game:{server}:", f"game:{server};")), "game;"]
    between = zip(edges[::2], edges[1::2], strict=True)
    return "others" if any(_holds(journal, first, last) for first, last in between) else "servers"


def _holds(journal: Journal, first: str, last: str) -> bool:
    return next(iter(journal.keys(first, last)), None) is not None
