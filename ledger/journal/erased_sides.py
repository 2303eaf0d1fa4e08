"""Games of an import that may be known ones of a person who was erased, or whose name was lost.

Whoever is erased has a number and no name: a file that names the person tells of somebody unknown, or of somebody who
was registered since. So a telling is held against the games of the nameless by all else that it tells, and by its key
where that is the same; whatever may be one of them is held back in the same words, whoever it names, and is not
registered. Nothing says which name was the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ledger.facts.person_names import spelt
from ledger.journal import rules
from ledger.journal.alike import Alike, looks_like, may_be_one
from ledger.journal.made_keys import MadeKeys
from ledger.journal.supplements import Find
from ledger.players.people import People
from ledger.players.sealings import registration_key
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

SIDES = ("white", "black")
HOW = "with another name"
_DAY = 10  # characters of an instant that name its day
_COMPARED = ("outcome", "half_moves", "started_at", "ended_at", "tournament", "round")

GamesOf = Callable[[Iterable[int]], Iterable[Mapping[str, Any]]]
"""The games of some players as they stand now: ``position``, ``key``, ``white``, ``black`` and what is compared."""


class ErasedSides:
    """What the games of one file are to known games of which a side is nameless."""

    def __init__(self, people: People, keys: MadeKeys, games_of: GamesOf) -> None:
        """Nothing is read before the first question.

        Args:
            people: who the players are.
            keys: what makes keys of facts.
            games_of: asked once, where somebody is nameless and a file tells of somebody unknown.
        """
        self._people = people
        self._keys = keys
        self._games_of = games_of
        self._players: frozenset[int] | None = None
        self._by_day: dict[str, list[Mapping[str, Any]]] | None = None
        self._told: set[int] = set()  # entries of games that the file has told
        self._names: dict[int, str] = {}
        self._since: dict[int, int] = {}  # by player, the entry of the registration

    def is_nameless(self, player: int) -> bool:
        """Whether a player was erased, or the name lost, before the first question."""
        if self._players is None:
            self._players = frozenset(self._people.nameless())
        return player in self._players

    def sort_out(self, frame: DataFrame, find: Find) -> tuple[DataFrame, list[Alike]]:
        """The frame without the games that are held back.

        Args:
            frame: columns of ``SourceGame``, with the keys of the ledger and what these are made from.
            find: what looks up keys in the journal.
        """
        if self._players is None:
            self._players = frozenset(self._people.nameless())
        if not len(frame) or not self._players:
            return frame, []
        ids = pl.concat([frame["white_id"], frame["black_id"]]).unique().to_list()
        persons = self._people.by_identity(ids)
        numbers = {identity: persons[identity].player if identity in persons else None for identity in ids}
        # Who has a lower number was registered before any of the nameless, and is none of them.
        first = min(self._players)
        doubtful = [identity for identity, number in numbers.items() if number is None or number > first]
        is_doubtful = pl.col("white_id").is_in(doubtful) | pl.col("black_id").is_in(doubtful)
        rows = frame.with_row_index("row").filter(is_doubtful)
        stored = find([f"game:{key}" for key in rows["key"].to_list()])
        repeats: dict[int, Alike] = {}
        for row in rows.iter_rows(named=True):
            entry = stored.get(f"game:{row['key']}")
            sides = {side: numbers[row[f"{side}_id"]] for side in SIDES}
            if entry is not None:
                facts = rules.facts_of(entry)
                is_erased = any(self.is_nameless(facts[side]) and facts[side] != sides[side] for side in SIDES)
                if not is_erased or self._is_recorded_since(row, sides, find):
                    continue
                game: tuple[str, int] | None = row["key"], entry.position
            else:
                game = self._met(row, sides, find)
            if game is not None:
                repeats[row["row"]] = Alike(row["line"], "", *game, HOW)
                self._told.add(game[1])
        kept = pl.Series([row not in repeats for row in range(len(frame))], dtype=pl.Boolean)
        return (frame.filter(kept) if repeats else frame), list(repeats.values())

    def _games(self, day: str) -> list[Mapping[str, Any]]:
        """The games of the nameless on a day that the file has not told yet."""
        if self._by_day is None:
            self._by_day = {}
            for game in self._games_of(self._players or ()):
                for played in _days(game):
                    self._by_day.setdefault(played, []).append(game)
        return [game for game in self._by_day.get(day, ()) if game["position"] not in self._told]

    def _met(self, row: Mapping[str, Any], sides: Mapping[str, int | None], find: Find) -> tuple[str, int] | None:
        """Key and entry of the first game of a nameless side that a telling may be of."""
        telling = {name: row[name] for name in _COMPARED if row[name] is not None}
        for game in (game for day in _days(row) for game in self._games(day)):
            facts = {name: game[name] for name in _COMPARED if game[name] is not None}
            if (
                may_be_one(row["key"], game["key"])
                and looks_like(telling, facts)
                and all(
                    self._may_be(row[f"{side}_name"], sides[side], game[side], game["position"], find) for side in SIDES
                )
            ):
                return game["key"], game["position"]
        return None

    def _is_recorded_since(self, row: Mapping[str, Any], sides: Mapping[str, int | None], find: Find) -> bool:
        """Whether somebody had the game recorded as another one than that of the erased side."""
        further = self._keys.further(row["plain"], find) if row["plain"] is not None else ()
        return any({side: rules.facts_of(entry)[side] for side in SIDES} == sides for entry in further)

    def _may_be(self, name: str, number: int | None, player: int, entry: int, find: Find) -> bool:
        """Whether who is told may be the player of an entry: the same number or name, or the player is nameless.

        Who is registered already and was so when the game was recorded, is nobody else.
        """
        if number == player:
            return True
        if self.is_nameless(player):
            if number is None:
                return True
            if number not in self._since:
                stored = find([registration_key(number)])
                # after all others where no entry registered the player
                self._since[number] = next((registered.position for registered in stored.values()), 2**62)
            return self._since[number] > entry
        if player not in self._names:
            person = self._people.by_number([player]).get(player)
            self._names[player] = spelt(f"name:{person.name}") if person is not None and person.name else ""
        return self._names[player] == spelt(f"name:{name}")


def _days(game: Mapping[str, Any]) -> list[str]:
    """The day of a game's end, and that of its beginning where it is another."""
    days = [game[name][:_DAY] for name in ("ended_at", "started_at") if game[name] is not None]
    return list(dict.fromkeys(days))
