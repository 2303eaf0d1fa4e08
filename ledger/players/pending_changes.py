"""Changes that wait until the journal has them: names to be given, and players to be erased.

A name waits first, then its commitment goes into the journal, then the name to its player. If the process is stopped
between two steps, the waiting row says by its salt what it is: the journal committed to it, or it never will.

An erased player becomes a blank row and waits, in one transaction; then the journal says so; then the file is written
again without the old bytes; then the waiting row goes. If the process is stopped, the row says what is still to do. The
journal is not asked here.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ledger.players.reasons import SALT_BYTES


class Pending(NamedTuple):
    """A name that is about to be given.

    Attributes:
        player: to whom.
        number: place among the renamings of the player, from 1.
        name: the name.
        salt: that of its commitment, drawn for it alone.
    """

    player: int
    number: int
    name: str
    salt: bytes


class PendingNames(ABC):
    """The names of one store that are about to be given."""

    @abstractmethod
    def rows(self) -> list[Pending]:
        """Return all pending names, in order of the players."""

    def begin(self, player: int, number: int, name: str) -> Pending:
        """Store a name, durably, before the journal commits to it; an earlier one of the player goes."""
        pending = Pending(player, number, name, secrets.token_bytes(SALT_BYTES))
        self._keep(pending)
        return pending

    @abstractmethod
    def _keep(self, pending: Pending) -> None:
        """Keep it in place of an earlier one of the player, in one transaction."""

    @abstractmethod
    def give(self, pending: Pending) -> None:
        """Give the name to its player, unless that is done already or the player was erased; the row stays."""

    @abstractmethod
    def drop(self, pending: Pending) -> None:
        """Delete the row, unless another one has replaced it."""

    @abstractmethod
    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal committed to them."""


class PendingErasures(ABC):
    """The incomplete erasures of one store."""

    @abstractmethod
    def rows(self) -> dict[int, str]:
        """Return, by player, the person who requested the erasure."""

    @abstractmethod
    def stored_players(self, players: Iterable[int]) -> list[int]:
        """Return those of these players of whom more than the number is stored, in order, however they are shown."""

    @abstractmethod
    def begin(self, players: Iterable[int], actor: str) -> int:
        """Forget identity, name and salt of players, and a name that was to be given; their old bytes may stay.

        Args:
            players: their numbers; the rows stay.
            actor: who has them forgotten.

        Returns:
            Of how many anything was known.
        """

    @abstractmethod
    def drop(self, players: Iterable[int]) -> None:
        """Delete the rows of these players, whose erasure is complete."""
