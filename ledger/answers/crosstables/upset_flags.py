"""Which margin makes a win an upset, by the day on which the game ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.book.policies import UPSETS
from ledger.book.stored_policies import stored_policies

if TYPE_CHECKING:
    import sqlite3


class Margins:
    """The margin of the policy ``upsets`` through the years, points."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._policies = stored_policies(connection)

    def at(self, ms: int) -> int:
        """The margin that holds for a game that ended at an instant, milliseconds since 1970."""
        return int(self._policies.at(UPSETS, ms)["margin"])
