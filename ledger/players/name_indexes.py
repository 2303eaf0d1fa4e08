"""Two indexes of the names, stored with the people: whole names, regardless of case, and parts of names.

An index follows from the names. The first question in a store of many people makes it, each later one adds the
people who came since, so that recording players costs nothing more. Renaming and erasing remove the old name from it
in their own transaction. If it cannot be written, or lacks players, the names themselves are read. A store without
it is complete. This module holds the common part of every store: which players are found, and in which order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import starmap
from typing import Any, ClassVar, NamedTuple

from ledger.errors import LedgerError, MalformedError
from ledger.facts.person_names import folded
from ledger.players.names_database import NamesDatabase, Value

SHORTEST = 3  # letters of a part that is searched by the index
_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are read each time rather than added to the index


def plain_lower_case(name: str) -> str:
    """Return a name in lower case with single blanks, as whole names are compared."""
    return " ".join(name.lower().split())


def searchable_words(name: str) -> str:
    """Return the words of a name without case and accents, divided by blanks, as the search index has them."""
    return " ".join(folded(name).words)


class NameMatch(NamedTuple):
    """A player whom a search found: number, identity and name."""

    player: int
    identity: str
    name: str


class NameIndex(ABC):
    """An index of the names in one store.

    A class names its ``TABLE`` and the types of its ``COLUMNS``, the first of which holds the number of the player.
    """

    TABLE: ClassVar[str]
    COLUMNS: ClassVar[Mapping[str, str]]

    def __init__(self, database: NamesDatabase) -> None:
        """Take the database of the names."""
        self._database = database

    @staticmethod
    @abstractmethod
    def row(player: int, name: str) -> tuple[Any, ...]:
        """Return the row of a player's name in the index."""

    def highest_indexed(self) -> int:
        """Return the highest player number in the index; 0 if there is no index."""
        if not self._database.has_index(self.TABLE):
            return 0
        return int(self._database.rows(f"SELECT coalesce(max(player), 0) FROM {{s}}.{self.TABLE}")[0][0])

    def _later(self, player: int, most: int) -> list[tuple[int, str]]:
        """Return number and stored name of the players after a number, in order of the numbers."""
        query = "SELECT player, name FROM {s}.people WHERE player > :player AND name IS NOT NULL ORDER BY player "
        return self._database.rows(query + "LIMIT :most", player=player, most=most)

    def _enter(self, rows: Iterable[tuple[int, str]]) -> None:
        """Take names into the index, within the write transaction; a missing one is made."""
        self._database.add(self.TABLE, self.COLUMNS, (self.row(player, name) for player, name in rows))

    def update_names(self, players: Sequence[int]) -> None:
        """Replace the old names of players by their current ones, within the caller's transaction.

        Args:
            players: numbers of those whose rows are changed already.
        """
        reached = self.highest_indexed()
        if reached:
            delete = f"DELETE FROM {{s}}.{self.TABLE} WHERE {next(iter(self.COLUMNS))} IN :players"
            self._database.run(delete, players=list(players))
            # Whoever is beyond what the index reached enters with the others: taken in now, those between would be
            # passed over.
            stored = "SELECT player, name FROM {s}.people WHERE player IN :players AND name IS NOT NULL"
            self._enter(self._database.rows(stored, players=[player for player in players if player <= reached]))

    def lacks_many(self) -> bool:
        """Return whether the index lacks so many players that each search would read many names."""
        return len(self._later(self.highest_indexed(), _FEW + 1)) > _FEW

    def catch_up(self) -> None:
        """Add the players registered since to the index, if they are many and the store can be written."""
        with suppress(LedgerError):
            while self.lacks_many():
                with self._database.writing(_PATIENCE):
                    # Read again within the transaction: another process may have extended the index, and a player is in
                    # it once.
                    self._enter(self._later(self.highest_indexed(), _CHUNK))


class WholeNames(NameIndex):
    """The index of whole names, regardless of case, in one store."""

    TABLE = "people_folds"
    COLUMNS: ClassVar[Mapping[str, str]] = {"player": "int8", "name": "text"}

    @staticmethod
    def row(player: int, name: str) -> tuple[int, str]:
        """Return the index row of a player's whole name: the number, and the name in lower case."""
        return player, plain_lower_case(name)

    def _shown(self, condition: str, **values: Value) -> list[tuple[int, str]]:
        query = f"SELECT player, name FROM {{people}} WHERE name IS NOT NULL AND {condition} ORDER BY player"
        return self._database.rows(query, **values)

    def all_players(self) -> dict[str, list[int]]:
        """Return the numbers of players by name in lower case, ascending; all names are read."""
        return _by_name(self._shown("player > 0"))

    def players_named(self, names: Iterable[str]) -> dict[str, list[int]]:
        """Return the numbers of players with one of these names, by name in lower case, ascending."""
        forms = list(names)
        reached = self.highest_indexed()
        rows = self._shown("player > :reached", reached=reached)
        # A name that waits may be shown as its player's already; the index has the former one until it is given.
        if reached:
            indexed = self._database.rows("SELECT player FROM {s}.people_folds WHERE name IN :forms", forms=forms)
            pending = self._database.rows("SELECT player FROM {s}.renaming")
            numbers = [player for (player,) in {*indexed, *pending} if player <= reached]
            rows += self._shown("player IN :numbers", numbers=numbers)
        bearers = _by_name(sorted(rows))
        return {name: bearers[name] for name in forms if name in bearers}


def _by_name(rows: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    bearers: dict[str, list[int]] = {}
    for player, name in rows:
        bearers.setdefault(plain_lower_case(name), []).append(player)
    return bearers


class NameSearch(NameIndex):
    """The search by a part of a name in one store: an index of all trigrams of its words."""

    TABLE = "people_search"

    @abstractmethod
    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        """Return the shown players whose words in the index hold all of these, each of three letters or more."""

    def find(self, part: str) -> list[NameMatch]:
        """Return the players whose names contain all words of *part*, also within words and in any case.

        Names that begin with *part* come first, each in the order of the names.

        Args:
            part: of a name; one of its words has three letters or more.

        Raises:
            MalformedError: no word of it is long enough.
        """
        # A name has 128 characters at most: of a text of megabytes, as anybody may search for, the beginning is enough.
        words = folded(part[:1_000]).words
        if not any(len(word) >= SHORTEST for word in words):
            message = f"search {part[:60]!r}: give {SHORTEST} letters on end or more; a whole name is found by 'show'"
            raise MalformedError([message])
        self.catch_up()
        reached = self.highest_indexed()
        unread = "SELECT player, identity, name FROM {people} WHERE player > :reached AND name IS NOT NULL"
        matches, rest = list[NameMatch](), list(starmap(NameMatch, self._database.rows(unread, reached=reached)))
        if reached:
            matches = self._holding([word for word in words if len(word) >= SHORTEST])
            # three letters on end know nothing of a word of two letters
            if min(map(len, words)) < SHORTEST:
                matches, rest = [], [*matches, *rest]
        # whom the index does not have yet, or has by some of the words alone
        matches += [match for match in rest if all(word in searchable_words(match.name) for word in words)]
        begins = part.strip().casefold()
        return sorted(
            matches, key=lambda match: (not match.name.casefold().startswith(begins), match.name, match.player)
        )
