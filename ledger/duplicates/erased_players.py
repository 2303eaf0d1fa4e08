"""Matches games of an import with recorded games of erased players, or of players whose names were lost.

An erased player has a number and no name: a file that names the person reports a game of an unknown player, or of one
who was registered since. So a report is compared with the games of nameless players by all other facts, and by its key
if that is the same. A game that may be one of them is held back in the same words for every name,
and the player is not registered. No message discloses which name was the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import compress, count
from typing import Any, TypeVar

from ledger.duplicates.detector import ProbableDuplicate, may_name_one_game, resembles
from ledger.duplicates.game_keys import DerivedKeys
from ledger.duplicates.reported_games import SIDES, ReportedGames
from ledger.duplicates.similar_games import days_of
from ledger.facts.person_names import spelt
from ledger.journal import FindEntries, rules
from ledger.players.people import People
from ledger.players.verified_names import registration_key

Block = TypeVar("Block", bound=ReportedGames)
HOW = "with another name"
_COMPARED = ("outcome", "half_moves", "started_at", "ended_at", "tournament", "round")

GamesOf = Callable[[Iterable[int]], Iterable[Mapping[str, Any]]]
"""The current games of some players: ``position``, ``key``, ``white``, ``black`` and the fields to compare."""


class ErasedPlayerMatcher:
    """Matches the games of one file with recorded games in which White or Black has no name any more."""

    def __init__(self, people: People, keys: DerivedKeys, games_of: GamesOf) -> None:
        """Take the people; nothing is read before the first question.

        Args:
            people: the registered players.
            keys: derives keys from facts.
            games_of: called once, if a player is nameless and a file names an unknown one.
        """
        self._people = people
        self._keys = keys
        self._games_of = games_of
        self._players: frozenset[int] | None = None
        self._by_day: dict[str, list[Mapping[str, Any]]] | None = None
        self._claimed: set[int] = set()  # entries of games that the file has reported
        self._names: dict[int, str] = {}
        self._since: dict[int, int] = {}  # by player, the entry of the registration

    def is_nameless(self, player: int) -> bool:
        """Return whether a player was erased, or the name lost, as of the first question since ``forget``."""
        if self._players is None:
            self._players = frozenset(self._people.nameless())
        return player in self._players

    def forget(self) -> None:
        """Read the nameless players again at the next question: other processes have written since."""
        self._players = None

    def split_off_duplicates(self, games: Block, find: FindEntries) -> tuple[Block, list[ProbableDuplicate]]:
        """Return the games without probable duplicates, and these, which are held back.

        Args:
            games: in the fields of ``SourceGame``, with the keys of the ledger and what these are made from.
            find: looks up keys in the journal.
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
        # A player with a lower number was registered before all nameless ones, and is none of them.
        first = min(self._players)
        candidates = {identity for identity, number in numbers.items() if number is None or number > first}
        flags = [not candidates.isdisjoint(pair) for pair in sides]
        rows = games.keep(flags)
        stored = find([f"game:{key}" for key in rows.column("key")])
        repeats: dict[int, ProbableDuplicate] = {}
        for place, row in zip(compress(count(), flags), rows.rows(), strict=True):
            entry = stored.get(f"game:{row['key']}")
            players = {side: numbers[row[f"{side}_id"]] for side in SIDES}
            if entry is not None:
                facts = rules.facts_of(entry)
                if not any(self.is_nameless(facts[side]) and facts[side] != players[side] for side in SIDES):
                    continue
                # the game may be recorded as another one than that of the erased side
                further = self._keys.further_games(row["plain"], find) if row["plain"] is not None else ()
                if any({side: rules.facts_of(other)[side] for side in SIDES} == players for other in further):
                    continue
                game: tuple[str, int] | None = row["key"], entry.position
            else:
                game = self._match(row, players, find)
            if game is not None:
                repeats[place] = ProbableDuplicate(row["line"], "", *game, HOW)
                # Each recorded game matches one row: the next similar one of that day may be another game.
                self._claimed.add(game[1])
        remaining = games.keep([row not in repeats for row in range(len(games))]) if repeats else games
        return remaining, list(repeats.values())

    def _match(
        self, row: Mapping[str, Any], sides: Mapping[str, int | None], find: FindEntries
    ) -> tuple[str, int] | None:
        """Return key and entry of the first game of a nameless side that a report may repeat."""
        if self._by_day is None:  # the games of nameless players are read for the first report that may be one of them
            self._by_day = {}
            for game in self._games_of(self._players or ()):
                for played in days_of(game["ended_at"], game["started_at"]):
                    self._by_day.setdefault(played, []).append(game)
        report = {name: row[name] for name in _COMPARED if row[name] is not None}
        for game in (game for day in days_of(row["ended_at"], row["started_at"]) for game in self._by_day.get(day, ())):
            if game["position"] in self._claimed:  # by an earlier row of the file
                continue
            facts = {name: game[name] for name in _COMPARED if game[name] is not None}
            if (
                may_name_one_game(row["key"], game["key"])
                and resembles(report, facts)
                and all(
                    self._may_be(row[f"{side}_name"], sides[side], game[side], game["position"], find) for side in SIDES
                )
            ):
                return game["key"], game["position"]
        return None

    def _may_be(self, name: str, number: int | None, player: int, entry: int, find: FindEntries) -> bool:
        """Return whether a reported player may be that of an entry: same number, same name, or nameless.

        A player who was registered before the game was recorded is not a nameless one.
        """
        if number == player:
            return True
        if self.is_nameless(player):
            if number is not None and number not in self._since:
                stored = find([registration_key(number)])
                # a player without a registration came after them all
                self._since[number] = next((entry.position for entry in stored.values()), 2**62)
            return number is None or self._since[number] > entry
        if player not in self._names:
            person = self._people.by_number([player]).get(player)
            self._names[player] = spelt(f"name:{person.name}") if person is not None and person.name else ""
        return self._names[player] == spelt(f"name:{name}")
