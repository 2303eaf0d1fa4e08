"""A few games of an import as rows: plain Python values, so that recording one game loads no Polars.

``game_columns`` has the same methods for many games; a test holds both equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import attrs

from ledger.duplicates.reported_games import SIDES
from ledger.facts import codec
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_ms
from ledger.facts.source_games import SourceGame, frame_schema
from ledger.facts.words import Outcome, Termination
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

DAY_ALONE = len("2024-05-01")  # characters of an instant that is known to the day, or less
_FIELDS = tuple(field.name for field in attrs.fields(GameRecorded))
_OUTCOMES, _TERMINATIONS = ({word.value: word for word in words} for words in (Outcome, Termination))


class FirstRatedGame(NamedTuple):
    """A player's earliest rated game in a pool, with the line of the file and the reported name."""

    line: int
    pool: str
    player: int
    ended_ms: int
    name: str


PlayedDay = tuple[str, str | None, str]  # pool, tournament and day of games


class PlayedSides(NamedTuple):
    """The players of a game with the ratings that its source shows, in the fields of ``GameRecorded``."""

    pool: str
    tournament: str | None
    ended_at: str
    white: int
    black: int
    white_rating: int | None
    black_rating: int | None


Judged = tuple[int, int, GameRecorded | str]
"""The place of a game among others, its line, and its event or why it is none."""


class GameRows:
    """The games of one file as mappings from the fields of ``SourceGame`` to their values."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take rows in the fields of ``SourceGame``."""
        self._rows = rows

    @classmethod
    def of_source(cls, games: Iterable[SourceGame]) -> Self:
        """Return the games of one file, numbered within their day as ``game_columns.in_sequence`` does."""
        rows, ends = [], Counter[str]()
        for game in games:
            place = None
            if game.is_made or len(game.ended_at) <= DAY_ALONE:
                ends[game.ended_at] += 1
                # A game without a sequence comes before those that have one: the first of an instant needs none.
                place = ends[game.ended_at] if ends[game.ended_at] > 1 else None
            row = game._replace(sequence=place if game.sequence is None else game.sequence)._asdict()
            rows.append({**row, "is_numbered": game.sequence is not None})
        return cls(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield each game as a mapping."""
        return iter(self._rows)

    def row(self, place: int) -> Mapping[str, Any]:
        """Return one game as a mapping."""
        return self._rows[place]

    def column(self, name: str) -> list[Any]:
        """Return one field of all games."""
        return [row[name] for row in self._rows]

    def played(self) -> Counter[PlayedDay]:
        """Return the number of rated games by pool, tournament and day, without forfeits."""
        rated = (row for row in self._rows if row["rated"] and row["termination"] != Termination.UNPLAYED)
        return Counter((row["pool"], row["tournament"], row["ended_at"][:DAY_ALONE]) for row in rated)

    def with_column(self, name: str, values: Sequence[str | None]) -> GameRows:
        """Return the games with one field of text replaced or added."""
        return GameRows([{**row, name: value} for row, value in zip(self._rows, values, strict=True)])

    def keep(self, flags: Sequence[bool]) -> GameRows:
        """Return the games whose flag is true."""
        return GameRows([row for row, flag in zip(self._rows, flags, strict=True) if flag])

    def slices(self, size: int) -> Iterator[GameRows]:
        """Yield the games in slices of a given number of games."""
        return (GameRows(self._rows[first : first + size]) for first in range(0, len(self._rows), size))

    def frame(self) -> DataFrame:
        """Return the source games as columns."""
        schema = {**frame_schema(), "pool": pl.String}
        rows = [[row[name] for name in schema] for row in self._rows]
        return pl.DataFrame(rows, schema, orient="row")

    def with_pools(self, choice: PoolChoice) -> tuple[GameRows, Counter[str]]:
        """Return the games that have a pool, with it; and by variant how many have none."""
        pools = [choice.pool_of(row["variant"], row["speed"]) for row in self._rows]
        homeless = Counter(row["variant"] for row, pool in zip(self._rows, pools, strict=True) if pool is None)
        return self.with_column("pool", pools).keep([pool is not None for pool in pools]), homeless

    def outside(self, pools: Collection[str]) -> GameRows:
        """Return the games that are in none of these pools."""
        return self.keep([row["pool"] not in pools for row in self._rows])

    def players(self) -> dict[str, str]:
        """Return the name of each identity, in the order in which they get their numbers: all Whites first."""
        named: dict[str, str] = {}
        for side in SIDES:
            for row in self._rows:
                named.setdefault(row[f"{side}_id"], row[f"{side}_name"])
        return named

    def as_events(self, numbers: Mapping[str, int]) -> GameRows:
        """Return the games in the fields of ``GameRecorded``, with their movetext."""
        rows = []
        for row in self._rows:
            text = row["text"]
            sides = {side: numbers[row[f"{side}_id"]] for side in SIDES}
            digest = None if text is None else sha256(text.encode()).hexdigest()
            rows.append({**row, **sides, "game": row["key"], "movetext": text, "text": digest})
        return GameRows(rows)

    def doubtful(self, _now_ms: int) -> tuple[dict[str, int], Iterator[list[Judged]]]:
        """Return the first row of each key that needs no judge, and the rows to judge, some at a time: all of them."""
        built = [(place, row["line"], _event(row)) for place, row in enumerate(self._rows)]
        return {}, iter([built] if built else [])

    def reports(self) -> Iterator[tuple[str, str, int, str, bool]]:
        """Yield key, canonical facts, line, pool and whether the file numbers it, of each game that is an event."""
        for row, event in zip(self._rows, self._events(), strict=True):
            yield row["game"], codec.facts(event).decode(), row["line"], row["pool"], row["is_numbered"]

    def bodies(self, first: int, recorded_at: str, actor: str) -> list[bytes]:
        """Return the entries of games that are events, at positions from *first* on."""
        return [
            codec.body_of(position, recorded_at, actor, event) for position, event in enumerate(self._events(), first)
        ]

    def movetexts(self) -> list[str]:
        """Return the movetext of the games that have one."""
        return [row["movetext"] for row in self._rows if row["movetext"] is not None]

    def earliest_sides(self) -> list[FirstRatedGame]:
        """Return the earliest rated game of each player in each pool, in the order of their lines."""
        sides = [
            FirstRatedGame(row["line"], row["pool"], row[side], instant_ms(row["ended_at"]), row[f"{side}_name"])
            for side in SIDES
            for row in self._rows
            if row["rated"]
        ]
        first: dict[tuple[str, int], FirstRatedGame] = {}
        for each in sorted(sides, key=lambda each: (each.ended_ms, each.line)):
            first.setdefault((each.pool, each.player), each)
        return sorted(first.values(), key=lambda each: each.line)

    def _events(self) -> list[GameRecorded]:
        events = map(_event, self._rows)
        return [event for event in events if not isinstance(event, str)]


def _event(row: Mapping[str, Any]) -> GameRecorded | str:
    """Return the event of a row, or why it is none."""
    values = {name: row[name] for name in _FIELDS}
    values["outcome"] = _OUTCOMES.get(row["outcome"], row["outcome"])
    values["termination"] = _TERMINATIONS.get(row["termination"], row["termination"])
    try:
        return GameRecorded(**values)
    except ValueError as error:
        return str(error)
