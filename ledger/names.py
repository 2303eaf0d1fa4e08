"""How people and days are shown: small words that every answer for people uses."""

from __future__ import annotations

from ledger.ledger import Ledger
from ledger.model import Precision, instant_text

ERASED = "(erased)"
RESULT = {2: "win", 1: "draw", 0: "loss"}


def day(ms: int) -> str:
    """The day of an instant, ``YYYY-MM-DD``."""
    return instant_text(ms, Precision.DAY)


def names(ledger: Ledger, players: set[int]) -> dict[int, str]:
    """Names to show by player number; an erased player keeps the number only."""
    known = ledger.people.by_number(sorted(players))
    return {p: (known[p].name if p in known else None) or f"{ERASED} {p}" for p in players}
