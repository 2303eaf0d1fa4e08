"""Probable duplicates: games of an import under new keys that resemble recorded games, or are the same.

A key identifies its game if a source gave it: two keys from one source, or from two servers, name two games. A key that
was made of a game's facts distinguishes nothing: such a game is the recorded one if players and day agree and nothing
contradicts. All other similar games are held back, and the importer decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import orjson

from ledger.duplicates.candidate_index import CandidateGames, CandidateIndex, GameComparison, GameIndex
from ledger.duplicates.candidate_index_columns import CandidateColumns
from ledger.duplicates.game_keys import DERIVED_KEY_PATTERN, is_derived_key
from ledger.duplicates.namesakes import UNREGISTERED
from ledger.duplicates.repeats import SupplementedGame, load_games
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.duplicates.similar_games import DAY_LETTERS, describe_difference
from ledger.errors import CorruptError
from ledger.facts.instants import is_before
from ledger.facts.submissions import compare_reports
from ledger.journal import FindEntries, Journal, StoredEntry
from ledger.players.people import People

Block = TypeVar("Block", bound=ReportedGames)
SERVERS = ("chesscom", "fics", "lichess")  # each of their identifiers names one game, for ever
_OF_SERVER = re.compile(f"(?!{DERIVED_KEY_PATTERN}$)(?:{'|'.join(SERVERS)}):", re.ASCII)
_SECOND = 20  # characters of an instant that is known to the second
# To look a game up costs about as much as to read so many entries: if a file has more games than this part of the
# journal, the whole journal is read. Measured at 1 million entries: 5 µs to read one, 100 µs for a game of 1,000.
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


class ProbableDuplicate(NamedTuple):
    """A reported game that is held back because it probably is a recorded one.

    Attributes:
        line: of the reported game.
        key: of the reported game; empty if the recorded one has an erased side: equal keys would disclose the name.
        known: key of the recorded game.
        entry: position of its entry.
        how: how the two differ.
    """

    line: int
    key: str
    known: str
    entry: int
    how: str = UNDER_ANOTHER_KEY

    def __str__(self) -> str:
        game = repr(self.key) if self.key else "this"
        return f"{game} is probably {self.known!r} of entry {self.entry}, reported {self.how}: held back"


def may_name_one_game(key: str, other: str) -> bool:
    """Return whether two keys may name one game; if not, the games differ whatever else they have in common."""
    if is_derived_key(key) or is_derived_key(other):
        return True
    source, other_source = _source(key), _source(other)
    return source != other_source and not {source, other_source} <= {*SERVERS}


def _source(key: str) -> str:
    return key.partition(":")[0] if ":" in key else ""


class DuplicateDetector:
    """Finds the games of one file that are, or probably are, recorded ones."""

    def __init__(
        self,
        journal: Journal,
        people: People,
        index: GameIndex | None = None,
        taken_back: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """Take the journal, which is read at the first question.

        Args:
            journal: the recorded games.
            people: the registered players.
            index: finds candidates without reading all games; None: all are read.
            taken_back: returns the entries of games that were taken back with their import: none is a candidate.
        """
        self._journal = journal
        self._people = people
        self._index = index
        self._taken_back = taken_back
        self._size = 0  # of the journal when the import began
        self._before: str | None = None  # what it held then
        self._candidates: CandidateGames | None = None
        self._is_whole = False  # whether that has all games, or only the candidates for the games of one block
        self._read = 0  # entries that could have been read for what was looked up so far
        self._claimed = bytearray()  # by entry, 1 if the file has reported that game

    def split_off_duplicates(self, games: Block, find: FindEntries, size: int) -> tuple[Block, list[ProbableDuplicate]]:
        """Return the games without probable duplicates, which are held back.

        Recorded games get the keys of their records.

        Args:
            games: in the fields of ``SourceGame``, and ``pool``.
            find: looks up keys in the journal.
            size: entries of the journal so far.
        """
        if self._before is None:
            # Once: games of one file never match each other, for a pair may play two similar games on one day.
            self._before = _before(self._journal)
            self._size = size
            self._claimed = self._unavailable(size)
        # Two identifiers of servers are never of one game: if both sides have nothing else, no entry need be read.
        if self._candidates is None and (
            self._before == "nothing" or (self._before == "servers" and all(map(_OF_SERVER.match, games.column("key"))))
        ):
            return games, []
        if not self._is_whole:
            self._candidates = self._few(games, find)
        if self._candidates is None:
            index = CandidateIndex if len(games) + self._size <= _AS_ROWS else CandidateColumns
            self._candidates = index.of_journal(self._journal, self._people, self._claimed)
            self._is_whole = True
        rows = list(self._candidates.find_candidates(games))
        if not rows:
            return games, []
        repeats: list[tuple[int, ProbableDuplicate]] = []
        renamed: dict[int, str] = {}
        reports = [(comparison, _Report(games.row(comparison.row), self._candidates)) for comparison in rows]
        # the report with most fields takes its game first
        reports.sort(key=lambda pair: (-pair[1].field_count, pair[0].row))
        for comparison, report in reports:
            game = self._match(report, comparison, find)
            if game is not None and game.is_same:
                renamed[comparison.row] = game.key
            elif game is not None:
                repeats.append(
                    (comparison.row, ProbableDuplicate(report.line, report.key, game.key, game.entry, game.how))
                )
        if renamed:
            keys = games.column("key")
            for row, key in renamed.items():
                keys[row] = key
            games = games.with_column("key", keys)
        if repeats:
            away = {row for row, _ in repeats}
            games = games.keep([row not in away for row in range(len(games))])
        return games, [duplicate for _, duplicate in sorted(repeats)]

    def _unavailable(self, size: int) -> bytearray:
        """Return for each entry 1 if no report can be of its game."""
        flags = bytearray(size + 1)
        for entry in self._taken_back():
            if entry <= size:
                flags[entry] = 1
        return flags

    def _few(self, games: ReportedGames, find: FindEntries) -> CandidateIndex | None:
        """Return the games that those of a block may be; None if it is cheaper, or the only way, to read all."""
        indexed_up_to = None if self._index is None else self._index.indexed_up_to()
        if self._index is None or indexed_up_to is None:
            return None
        # Entries behind the index are read again for each block, and so they count each time.
        self._read += _READ_FOR_ONE * len(games) + max(self._size - indexed_up_to, 0)
        if self._read > self._size:
            return None
        return CandidateIndex.for_games(games, self._journal, find, self._people, self._claimed, self._index)

    def _match(self, report: _Report, comparison: GameComparison, find: FindEntries) -> _Candidate | None:
        """Claim and return the recorded game that a report repeats or resembles; no other row of the file gets it."""
        assert self._candidates is not None
        best: _Candidate | None = None
        for entry in comparison.entries:
            if self._candidates.claimed[entry]:
                continue
            key, game = self._game(entry, find)
            if not may_name_one_game(report.key, key):
                continue
            agreeing = report.agreeing(game.facts) if is_derived_key(report.key) else 0
            if agreeing:
                # Doubled, so that the entry of its own key wins among those that agree equally well, and never against
                # one that agrees better: another file may list the games of a day in another order.
                candidate = _Candidate(key, entry, 2 * agreeing + (entry == comparison.own), is_same=True)
            elif not comparison.own and report.resembles(game.facts):
                # A report whose key is recorded repeats that game or contradicts it, which ``match_repeats`` decides.
                candidate = _Candidate(key, entry, 0, is_same=False, how=report.how(key, game.facts))
            else:
                continue
            if best is None or candidate.agreeing > best.agreeing:
                best = candidate
        best = best or self._match_with_contradiction(report, comparison, find)
        if best is not None:
            self._candidates.claimed[best.entry] = True
        return best

    def _match_with_contradiction(
        self, report: _Report, comparison: GameComparison, find: FindEntries
    ) -> _Candidate | None:
        """Return the first recorded game that a report resembles but for its day, its colours or a name."""
        assert self._candidates is not None
        for entry in comparison.others:
            if self._candidates.claimed[entry]:
                continue
            key, game = self._game(entry, find)
            if not may_name_one_game(report.key, key):
                continue
            numbers = game.facts["white"], game.facts["black"]
            sides = self._candidates.sides(report.ids, numbers)
            names = partial(self._names, report, numbers)
            how = describe_difference(report.facts, game.facts, sides, names)
            if how:
                return _Candidate(key, entry, 0, is_same=False, how=how)
        return None

    def _names(self, report: _Report, numbers: tuple[int, int]) -> list[tuple[str, str]]:
        assert self._candidates is not None
        return [(name, self._candidates.name(number)) for name, number in zip(report.names, numbers, strict=True)]

    def _game(self, entry: int, find: FindEntries) -> tuple[str, SupplementedGame]:
        ((body,),) = self._journal.read(entry - 1, entry)
        try:
            key = str(orjson.loads(body)["key"])
        except (ValueError, KeyError) as error:
            raise CorruptError("journal", entry, f"cannot be read ({error}); run 'audit'") from error
        (game,) = load_games(find, {key: StoredEntry(entry, body, b"")}).values()
        return key.removeprefix("game:"), game


class _Candidate(NamedTuple):
    """A recorded game: how well it agrees with a report, and whether the report certainly repeats it."""

    key: str
    entry: int
    agreeing: int
    is_same: bool
    how: str = UNDER_ANOTHER_KEY


class _Report:
    """A game as a file reports it."""

    def __init__(self, row: Mapping[str, Any], games: CandidateGames) -> None:
        self.line: int = row["line"]
        self.key: str = row["key"]
        self.facts = {name: row[name] for name in _OF_A_GAME if row[name] is not None}
        self.ids, self.names = (row["white_id"], row["black_id"]), (row["white_name"], row["black_name"])
        for side in ("white", "black"):
            self.facts[side] = games.number(row[f"{side}_id"])
        if row["text"] is not None:
            self.facts["text"] = sha256(row["text"].encode()).hexdigest()
        self.field_count = len(self.facts)

    def agreeing(self, facts: Mapping[str, Any]) -> int:
        """Return how many fields agree; 0 if one contradicts."""
        if (
            UNREGISTERED in {self.facts["white"], self.facts["black"]}
            or compare_reports(facts, self.facts).conflict is not None
        ):
            return 0
        return sum(facts.get(name) == value for name, value in self.facts.items())

    def resembles(self, facts: Mapping[str, Any]) -> bool:
        """Return whether no field contradicts that two sources would write in the same way."""
        return resembles(self.facts, facts)

    def how(self, key: str, facts: Mapping[str, Any]) -> str:
        """Return how it differs from the game that it resembles; of made keys, the field that makes them differ."""
        conflict = (
            compare_reports(facts, self.facts).conflict if is_derived_key(self.key) and is_derived_key(key) else None
        )
        if conflict is None:
            return UNDER_ANOTHER_KEY
        return f"with another {'identity' if conflict in SIDES else conflict}"


def resembles(report: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Return whether two reports agree in every field that two sources would write in the same way.

    Players are not compared.

    Args:
        report: the facts of a report.
        facts: those of a recorded game of that day.
    """
    return not any(_contradictions(report, facts))


def _contradictions(report: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[bool]:
    yield report["outcome"] != facts["outcome"]
    moves, recorded_moves = report.get("half_moves"), facts.get("half_moves")
    same_moves = moves is not None and moves == recorded_moves
    yield None not in {moves, recorded_moves} and not same_moves
    start, recorded_start = report.get("started_at"), facts.get("started_at")
    if start is not None and recorded_start is not None:
        yield is_before(start, recorded_start) or is_before(recorded_start, start)
    round_, recorded_round = report.get("round"), facts.get("round")
    if round_ is not None and recorded_round is not None:
        # One source writes 2.1, with the board or the game of the round behind the dot, another writes 2.
        yield round_.partition(".")[0] != recorded_round.partition(".")[0]
    events = report.get("tournament"), facts.get("tournament")
    end, recorded_end = report["ended_at"], facts["ended_at"]
    if len(end) < DAY_LETTERS:
        # Within a month or a year a pair meets at several events; on one day two names may be of one: "Club", "The
        # club".
        yield None not in events and events[0] != events[1]
    if min(len(end), len(recorded_end)) >= _SECOND and end != recorded_end:
        # Sources see a game end at different seconds: the same number of moves, or one second of its beginning,
        # outweighs that.
        yield not (same_moves or (start is not None and start == recorded_start and len(start) >= _SECOND))


def _before(journal: Journal) -> str:
    """Return which games a journal holds: ``nothing``, those of ``servers`` alone, or ``others`` too."""
    if not _holds(journal, "game:", "game;"):
        return "nothing"
    # what lies between the keys of one server and those of the next, in order of their names: games of other sources
    edges = ["game:", *(edge for server in SERVERS for edge in (f"game:{server}:", f"game:{server};")), "game;"]
    between = zip(edges[::2], edges[1::2], strict=True)
    return "others" if any(_holds(journal, first, last) for first, last in between) else "servers"


def _holds(journal: Journal, first: str, last: str) -> bool:
    return next(iter(journal.keys(first, last)), None) is not None
