"""Two indexes of the names, stored with the people: whole names, regardless of case, and parts of names.

An index follows from the names. The first question in a store of many people makes it, each later one adds the
people who came since, so that recording players costs nothing more. Renaming and erasing remove the old name from it
in their own transaction. If it cannot be written, or lacks players, the names themselves are read. A store without
it is complete. This module holds the common part of every store: which players are found, and in which order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

from ledger.errors import LedgerError, MalformedError
from ledger.facts.person_names import folded

SHORTEST = 3  # letters of a part that is searched by the index
_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are read each time rather than added to the index


def fold(name: str) -> str:
    """Return a name as it is compared: in small letters, with single blanks."""
    return " ".join(name.lower().split())


def in_words(name: str) -> str:
    """Return a name as the index of parts has it: its words without case and accents, divided by blanks."""
    return " ".join(folded(name).words)


class NameMatch(NamedTuple):
    """A player with the name that matched."""

    player: int
    identity: str
    name: str


class NameIndex(ABC):
    """One index of the names of one store."""

    @staticmethod
    @abstractmethod
    def form(name: str) -> str:
        """Return the index's form of a name."""

    @abstractmethod
    def reached(self) -> int:
        """Return the highest number in the index; 0 if there is none, or the store is too old to have one."""

    @abstractmethod
    def _writing(self, patience: float) -> AbstractContextManager[None]:
        """Open a write transaction on the store that waits so many seconds for others."""

    @abstractmethod
    def _later(self, player: int, most: int) -> list[tuple[int, str]]:
        """Yield number and stored name of the players after a number, in order of the numbers."""

    @abstractmethod
    def _stored(self, players: Sequence[int]) -> list[tuple[int, str]]:
        """Yield number and stored name of some players."""

    @abstractmethod
    def _enter(self, forms: Iterable[tuple[int, str]]) -> None:
        """Take forms of names into the index, by number, within the write transaction; a missing one is made."""

    @abstractmethod
    def _leave(self, players: Sequence[int]) -> None:
        """Take players out of the index, within the write transaction."""

    def take_out(self, players: Sequence[int]) -> None:
        """Remove names from the index, within the caller's transaction; players who still have a name enter again.

        Args:
            players: numbers of those whose rows are changed already.
        """
        reached = self.reached()
        if reached:
            self._leave(players)
            # Whoever is beyond what the index reached enters with the others: taken in now, those between would be
            # passed over.
            rows = self._stored([player for player in players if player <= reached])
            self._enter((player, self.form(name)) for player, name in rows)

    def lacks_many(self) -> bool:
        """Return whether the index lacks so many names that each question reads many."""
        return len(self._later(self.reached(), _FEW + 1)) > _FEW

    def bring_up(self) -> None:
        """Take who came since into the index, if they are many; where the store cannot be written they are read."""
        with suppress(LedgerError):
            while self.lacks_many():
                with self._writing(_PATIENCE):
                    # Read again within the transaction: another process may have extended the index, and a player is in
                    # it once.
                    rows = self._later(self.reached(), _CHUNK)
                    self._enter((player, self.form(name)) for player, name in rows)


class NameFolds(NameIndex):
    """The players who have a whole name, in one store."""

    @staticmethod
    def form(name: str) -> str:
        """Return the folded name."""
        return fold(name)

    @abstractmethod
    def _names(self, player: int) -> list[tuple[int, str]]:
        """Return the number and name of all players after a number, as they are shown, in order of the numbers."""

    @abstractmethod
    def _indexed(self, forms: Sequence[str]) -> Iterable[int]:
        """Return the numbers of all who have one of these folded names, as the index has it."""

    @abstractmethod
    def _names_of(self, players: Sequence[int]) -> list[tuple[int, str]]:
        """Return the number and name of some players, as they are shown."""

    @abstractmethod
    def _pending(self) -> Iterable[int]:
        """Return the players with pending names, which may be shown as theirs already."""

    def everybody(self) -> dict[str, list[int]]:
        """Return, by folded name, the numbers of all who have it, ascending; all names are read."""
        return _by_name(self._names(0))

    def bearers(self, names: Iterable[str]) -> dict[str, list[int]]:
        """Return, by folded name, the numbers of all who have one of some names; other names are left out."""
        forms = list(names)
        reached = self.reached()
        rows = self._names(reached)
        # A name that waits may be shown as its player's already; the index has the former one until it is given.
        if reached:
            numbers = {*self._indexed(forms), *self._pending()}
            rows += self._names_of([player for player in numbers if player <= reached])
        bearers = _by_name(sorted(rows))
        return {name: bearers[name] for name in forms if name in bearers}


def _by_name(rows: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    bearers: dict[str, list[int]] = {}
    for player, name in rows:
        bearers.setdefault(fold(name), []).append(player)
    return bearers


class NameSearch(NameIndex):
    """The search by a part of a name in one store: an index of three letters on end."""

    @staticmethod
    def form(name: str) -> str:
        """Return the words of the name."""
        # They are folded before they enter the index, so that it need not fold them by rules of its own.
        return in_words(name)

    @abstractmethod
    def _after(self, player: int) -> list[NameMatch]:
        """Return all players after a number, as they are shown."""

    @abstractmethod
    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        """Return the shown players whose words in the index hold all of these, each of three letters or more."""

    def find(self, part: str) -> list[NameMatch]:
        """Return the players who have a name with all words of *part* in it, or parts of words; case does not count.

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
        self.bring_up()
        reached = self.reached()
        matches, rest = list[NameMatch](), self._after(reached)
        if reached:
            matches = self._holding([word for word in words if len(word) >= SHORTEST])
            # three letters on end know nothing of a word of two letters
            if min(map(len, words)) < SHORTEST:
                matches, rest = [], [*matches, *rest]
        # whom the index does not have yet, or has by some of the words alone
        matches += [match for match in rest if all(word in in_words(match.name) for word in words)]
        begins = part.strip().casefold()
        return sorted(
            matches, key=lambda match: (not match.name.casefold().startswith(begins), match.name, match.player)
        )
