"""Candidates: the recorded games that the games of an import may repeat, each read by itself after a look at an index.

``candidate_index_columns`` reads the whole journal and gives the same answers; a test compares both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import orjson

from ledger.duplicates.game_keys import is_derived_key
from ledger.duplicates.namesakes import NameGroups
from ledger.duplicates.reported_games import ReportedGames
from ledger.duplicates.similar_games import (
    DIGEST_LETTERS,
    MOST_LOOKED_AT,
    SideMatches,
    days_of,
    is_round,
    long_game_digest,
)
from ledger.errors import CorruptError, one_line
from ledger.facts.words import movetext_number
from ledger.journal import FindEntries, Journal
from ledger.players.people import People
from ledger.players.persons import Person

_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1","position":', b',"kind":"game-supplemented/1","position":'
_END = -100  # these are in the last bytes of a body
_SUPPLEMENTS = ("supplement:", "supplement;")  # the keys of all supplements lie between these


class GameComparison(NamedTuple):
    """A reported game with the recorded games to compare it with.

    Attributes:
        row: of the reported game.
        own: the entry of its key; 0 if the key is new.
        entries: of games that it may repeat.
        others: entries of games that differ in day or name, and may be the same.
    """

    row: int
    own: int
    entries: list[int]
    others: list[int]


class GameLookup(NamedTuple):
    """The values of reported games by which recorded ones are looked up.

    Attributes:
        days: White, Black and a day, or a month or year if that is all.
        meetings: White, Black, tournament and round.
        moves: numbers of movetexts, as ``words.movetext_number`` makes them.
    """

    days: list[tuple[int, int, str]]
    meetings: list[tuple[int, int, str, str]]
    moves: list[int]


class GameIndex(Protocol):
    """An index of recorded games, derived from a journal up to some entry, that finds the games to compare."""

    def indexed_up_to(self) -> int | None:
        """Return the entry up to which the journal is indexed; None if there is no index."""

    def entries(self, lookup: GameLookup) -> tuple[int, set[int]] | None:
        """Return the value of ``indexed_up_to``, and the entries of games with these values, maybe of others, too.

        Of one movetext the first ``MOST_LOOKED_AT`` are enough.
        """


def has_games(body: bytes) -> bool:
    """Return whether the body of an entry records or supplements a game, by its canonical bytes."""
    return body.find(_GAME, _END) >= 0 or body.find(_SUPPLEMENT, _END) >= 0


def unreadable_entry(error: Exception) -> CorruptError:
    """Return the error of an entry that was damaged since it was recorded."""
    return CorruptError("journal", 0, f"cannot be read ({one_line(error)}); run 'audit'")


class CandidateGames(ABC):
    """The recorded games that an import may repeat, as of its beginning, with the names of their players."""

    def __init__(self, people: People, names: NameGroups, claimed: bytearray) -> None:
        """Take the registered players, their groups by name, and the entries claimed so far.

        Args:
            people: the registered players.
            names: the players of one name, among those of these games and of the reported ones.
            claimed: by entry, 1 if the file has reported that game; one byte longer than the journal.
        """
        self._people = people
        self._names = names
        self._numbers: dict[str, tuple[int, int]] = {}  # by identity, the player's number and the lowest of that name
        self.claimed = claimed

    @abstractmethod
    def find_candidates(self, games: ReportedGames) -> Iterator[GameComparison]:
        """Yield the rows to compare: their key is new, but recorded games have their players and day.

        Rows with a derived key are compared, too, if the players met more than once that day by the journal or the
        file: their order in the file may be another one. The games of all other rows are claimed.
        """

    def number(self, identity: str) -> int:
        """Return the number of a reported player; ``UNREGISTERED`` if there is none."""
        return self._numbers[identity][0]

    def sides(self, ids: tuple[str, str], numbers: tuple[int, int]) -> SideMatches:
        """Return which player of a report, White or Black, is which of a recorded game, by numbers or names."""
        (white, black), (recorded_white, recorded_black) = ids, map(self._names.lowest, numbers)
        own_white, own_black = self._numbers[white][1], self._numbers[black][1]
        return SideMatches(
            own_white == recorded_white,
            own_black == recorded_black,
            own_white == recorded_black,
            own_black == recorded_white,
        )

    def name(self, number: int) -> str:
        """Return the name of a player, empty if there is none."""
        person = self._people.by_number([number]).get(number)
        return (person.name or "") if person is not None else ""

    def _meet(self, named: Mapping[str, str]) -> None:
        """Look up the players of the next games, by identity and name."""
        fresh = [identity for identity in named if identity not in self._numbers]
        persons = self._people.by_identity(fresh) if fresh else {}
        for identity in fresh:
            self._numbers[identity] = self._names.of_person(persons.get(identity), named[identity])

    def _refuse_strays(self, lowest: int, highest: int) -> None:
        # A supplement names its game by the entry: one that was sealed past the rules may name any, which ``claimed``
        # has not.
        if lowest < 1 or highest >= len(self.claimed):
            raise CorruptError("journal", 0, "an entry tells of a game at no position of this journal; run 'audit'")


class CandidateIndex(CandidateGames):
    """Candidates for a few reported games, by players and day, by moves, and by event, round and players."""

    def __init__(self, bodies: Iterable[bytes], people: People, names: NameGroups, claimed: bytearray) -> None:
        """Read entries; people, names and claims are those of ``CandidateGames``.

        Raises:
            CorruptError: an entry cannot be read.
        """
        super().__init__(people, names, claimed)
        self._own: dict[str, int] = {}
        self._days: dict[tuple[int, int, str], list[int]] = defaultdict(list)
        self._moves: dict[str, list[int]] = defaultdict(list)
        self._meetings: dict[tuple[int, int, str, str], list[int]] = defaultdict(list)
        try:
            self._read([orjson.loads(body) for body in bodies if has_games(body)])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise unreadable_entry(error) from error
        for index in (self._days, self._moves, self._meetings):
            for entries in index.values():
                entries.sort()

    @classmethod
    def of_journal(cls, journal: Journal, people: People, claimed: bytearray) -> CandidateIndex:
        """Return the games of the first entries of a journal, as many as can be claimed."""
        bodies = (body for block in journal.read(0, len(claimed) - 1) for body in block)
        return cls(bodies, people, NameGroups.of_all(people), claimed)

    @classmethod
    def for_games(
        cls,
        games: ReportedGames,
        journal: Journal,
        find: FindEntries,
        people: People,
        claimed: bytearray,
        index: GameIndex,
    ) -> CandidateIndex | None:
        """Return the candidates for reported games; None if there is no index.

        Args:
            games: in the fields of ``SourceGame``.
            journal: the recorded games; as many of the first entries as can be claimed are read.
            find: looks up keys in the journal.
            people: the registered players.
            claimed: as of ``CandidateGames``.
            index: finds the entries to read up to some position; later ones are all read.
        """
        size = len(claimed) - 1
        reported_names = games.players()
        persons = people.by_identity(list(reported_names))
        names = NameGroups.of_some(people, persons, reported_names)
        answer = index.entries(_lookup(games, reported_names, persons, names))
        if answer is None:
            return None
        indexed_up_to, positions = answer
        later = (
            [body for bodies in journal.read(indexed_up_to, size) for body in bodies] if indexed_up_to < size else []
        )
        # Those of their own keys, too: a row whose key is known is never held back, so that it must be known here.
        positions.update(entry.position for entry in find([f"game:{key}" for key in games.column("key")]).values())
        try:
            # A supplement that came after the index may give a game a day by which the index does not know it.
            positions.update(int(orjson.loads(body)["facts"]["entry"]) for body in later if _SUPPLEMENT in body[_END:])
            bodies = _with_their_supplements(journal, find, sorted(entry for entry in positions if 0 < entry <= size))
        except (ValueError, KeyError) as error:
            raise unreadable_entry(error) from error
        bodies.update(zip(range(size - len(later) + 1, size + 1), later, strict=True))
        return cls([bodies[position] for position in sorted(bodies) if position <= size], people, names, claimed)

    def _read(self, entries: Sequence[Mapping[str, Any]]) -> None:
        pairs: dict[int, tuple[int, int]] = {}
        events: dict[int, dict[str, str]] = {}
        positions: list[int] = []
        for entry in entries:
            facts = entry["facts"]
            position = facts.get("entry", entry["position"])
            positions.append(position)
            if "entry" not in facts:  # the key of a supplement is that of no game
                pairs[position] = self._names.lowest(facts["white"]), self._names.lowest(facts["black"])
                self._own[entry["key"].removeprefix("game:")] = position
            if "text" in facts:
                self._moves[facts["text"][:DIGEST_LETTERS]].append(position)
            event = events.setdefault(position, {})
            event.update((name, facts[name]) for name in ("tournament", "round") if name in facts)
        self._refuse_strays(min(positions, default=1), max(positions, default=1))
        for entry, position in zip(entries, positions, strict=True):
            if position in pairs:
                for day in days_of(entry["facts"].get("ended_at"), entry["facts"].get("started_at")):
                    self._days[(*pairs[position], day)].append(position)
        for position, pair in pairs.items():
            meeting = _meeting(pair, events[position].get("tournament"), events[position].get("round"))
            if meeting is not None:
                self._meetings[meeting].append(position)

    def find_candidates(self, games: ReportedGames) -> Iterator[GameComparison]:
        """Yield the rows to compare, as of ``CandidateGames``."""
        self._meet(games.players())
        rows = list(games.rows())
        pairs = [(self._numbers[row["white_id"]][1], self._numbers[row["black_id"]][1]) for row in rows]
        days = [days_of(row["ended_at"], row["started_at"]) for row in rows]
        meetings = Counter((pair, ended) for pair, (ended, *_) in zip(pairs, days, strict=True))
        comparisons: list[GameComparison] = []
        for place, (row, pair, of_row) in enumerate(zip(rows, pairs, days, strict=True)):
            own = self._own.get(row["key"], 0)
            same_day = [entry for day in of_row for entry in self._days.get((*pair, day), ())]
            crowded = len(same_day) > 1 or meetings[pair, of_row[0]] > 1
            is_compared = bool(same_day) and (not own or (is_derived_key(row["key"]) and crowded))
            if not is_compared:
                # Entry 0 does not exist: rows without an entry of their own mark it and claim no game.
                self.claimed[own] = 1
            others = set() if own else self._by_moves_or_meeting(row, pair)
            # A game under its own key is that game, even if others have its moves or its place in a round.
            if is_compared or others:
                comparisons.append(
                    GameComparison(place, own, sorted(set(same_day)), sorted(others.difference(same_day)))
                )
        return iter(comparisons)

    def _by_moves_or_meeting(self, row: Mapping[str, Any], pair: tuple[int, int]) -> set[int]:
        """Return the games of the same moves, and those of the same event, round and players."""
        moves = self._moves.get(long_game_digest(row["half_moves"], row["text"]) or "", [])
        meeting = _meeting(pair, row["tournament"], row["round"])
        meetings = [] if meeting is None else self._meetings.get(meeting, [])
        return {*moves[:MOST_LOOKED_AT], *meetings[:MOST_LOOKED_AT]}


def _meeting(pair: tuple[int, int], tournament: str | None, round_: str | None) -> tuple[int, int, str, str] | None:
    """Return the players, the lower number first, event and round; None if one of them is not known."""
    if tournament is None or round_ is None or not is_round(round_) or min(pair) < 0:
        return None
    return min(pair), max(pair), tournament, round_


def _lookup(
    games: ReportedGames, reported_names: Mapping[str, str], persons: Mapping[str, Person], names: NameGroups
) -> GameLookup:
    """Return the look-up of games, under all numbers that their players may have."""
    numbers = {identity: names.numbers(persons.get(identity), name) for identity, name in reported_names.items()}
    days: dict[tuple[int, int, str], None] = {}
    meetings: dict[tuple[int, int, str, str], None] = {}
    moves: set[int] = set()
    for row in games.rows():
        tournament, round_ = row["tournament"], row["round"]
        text = long_game_digest(row["half_moves"], row["text"])
        if text is not None:
            moves.add(movetext_number(text))
        for pair in ((white, black) for white in numbers[row["white_id"]] for black in numbers[row["black_id"]]):
            days.update(((*pair, day), None) for day in days_of(row["ended_at"], row["started_at"]))
            if tournament is not None and round_ is not None:
                meetings.update(((*both, tournament, round_), None) for both in (pair, pair[::-1]))
    return GameLookup(list(days), list(meetings), list(moves))


def _with_their_supplements(journal: Journal, find: FindEntries, positions: Sequence[int]) -> dict[int, bytes]:
    """Return the bodies of games by position, and those of what supplements them."""
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
