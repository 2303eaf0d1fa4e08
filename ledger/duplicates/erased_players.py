"""Games of an import that may be recorded ones of an erased player, or of one whose name was lost.

An erased player has a number and no name: a file that names the person reports a game of somebody unknown, or of
somebody who was registered since. So a report is compared with the games of nameless players by everything else that it
says, and by its key if that is the same. A game that may be one of them is held back in the same words, whoever is
named, and is not registered. Nothing says which name was the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import compress, count
from typing import Any, TypeVar

from ledger.duplicates.detector import Alike, looks_like, may_be_one
from ledger.duplicates.game_keys import MadeKeys
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.duplicates.similar_games import days_of
from ledger.facts.person_names import spelt
from ledger.journal import Find, rules
from ledger.players.people import People
from ledger.players.sealed_names import registration_key

Block = TypeVar("Block", bound=ReportedGames)
HOW = "with another name"
_COMPARED = ("outcome", "half_moves", "started_at", "ended_at", "tournament", "round")

GamesOf = Callable[[Iterable[int]], Iterable[Mapping[str, Any]]]
"""The games of some players as they stand now: ``position``, ``key``, ``white``, ``black`` and what is compared."""


class ErasedPlayerMatcher:
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
        """Whether a player was erased, or the name lost, before the first question since others wrote."""
        if self._players is None:
            self._players = frozenset(self._people.nameless())
        return player in self._players

    def forget(self) -> None:
        """Ask anew who is nameless, at the next question: others have written since."""
        self._players = None

    def split_off_duplicates(self, games: Block, find: Find) -> tuple[Block, list[Alike]]:
        """Return the games without those that are held back.

        Args:
            games: in the fields of ``SourceGame``, with the keys of the ledger and what these are made from.
            find: what looks up keys in the journal.
        """
        if self._players is None:
            self._players = frozenset(self._people.nameless())
        if not len(games) or not self._players:
            return games, []
        # by identity its number; None for an unknown player
        sides = list(zip(*(games.column(f"{side}_id") for side in SIDES), strict=True))
        ids = list({identity for pair in sides for identity in pair})
        persons = self._people.by_identity(ids)
        numbers = {identity: persons[identity].player if identity in persons else None for identity in ids}
        # Who has a lower number was registered before any of the nameless, and is none of them.
        first = min(self._players)
        doubtful = {identity for identity, number in numbers.items() if number is None or number > first}
        flags = [not doubtful.isdisjoint(pair) for pair in sides]
        rows = games.keep(flags)
        stored = find([f"game:{key}" for key in rows.column("key")])
        repeats: dict[int, Alike] = {}
        for place, row in zip(compress(count(), flags), rows.rows(), strict=True):
            entry = stored.get(f"game:{row['key']}")
            players = {side: numbers[row[f"{side}_id"]] for side in SIDES}
            if entry is not None:
                facts = rules.facts_of(entry)
                if not any(self.is_nameless(facts[side]) and facts[side] != players[side] for side in SIDES):
                    continue
                # somebody may have had the game recorded as another one than that of the erased side
                further = self._keys.further(row["plain"], find) if row["plain"] is not None else ()
                if any({side: rules.facts_of(other)[side] for side in SIDES} == players for other in further):
                    continue
                game: tuple[str, int] | None = row["key"], entry.position
            else:
                game = self._met(row, players, find)
            if game is not None:
                repeats[place] = Alike(row["line"], "", *game, HOW)
                # Each known game stands for one row: the next one of that day that is told alike may be another game.
                self._told.add(game[1])
        kept = games.keep([row not in repeats for row in range(len(games))]) if repeats else games
        return kept, list(repeats.values())

    def _met(self, row: Mapping[str, Any], sides: Mapping[str, int | None], find: Find) -> tuple[str, int] | None:
        """Key and entry of the first game of a nameless side that a telling may be of."""
        if self._by_day is None:  # the games of the nameless are read for the first telling that may be one of them
            self._by_day = {}
            for game in self._games_of(self._players or ()):
                for played in days_of(game["ended_at"], game["started_at"]):
                    self._by_day.setdefault(played, []).append(game)
        telling = {name: row[name] for name in _COMPARED if row[name] is not None}
        for game in (game for day in days_of(row["ended_at"], row["started_at"]) for game in self._by_day.get(day, ())):
            if game["position"] in self._told:  # by an earlier row of the file
                continue
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

    def _may_be(self, name: str, number: int | None, player: int, entry: int, find: Find) -> bool:
        """Whether who is told may be the player of an entry: the same number or name, or the player is nameless.

        Who is registered already and was so when the game was recorded, is nobody else.
        """
        if number == player:
            return True
        if self.is_nameless(player):
            if number is not None and number not in self._since:
                stored = find([registration_key(number)])
                # a player whom no entry registered came after them all
                self._since[number] = next((entry.position for entry in stored.values()), 2**62)
            return number is None or self._since[number] > entry
        if player not in self._names:
            person = self._people.by_number([player]).get(player)
            self._names[player] = spelt(f"name:{person.name}") if person is not None and person.name else ""
        return self._names[player] == spelt(f"name:{name}")
