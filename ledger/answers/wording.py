"""How people and days are shown: small words that every answer for people uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from ledger.facts.instants import Precision, instant_text
from ledger.journal.people import Person, missing
from ledger.ledger import Ledger

ERASED = "(erased)"
RESULT: dict[int | None, Literal["win", "draw", "loss"]] = {2: "win", 1: "draw", 0: "loss"}


def day(ms: int) -> str:
    """The day of an instant, ``YYYY-MM-DD``."""
    return instant_text(ms, Precision.DAY)


def shown(person: Person) -> str:
    """What a person is called; an erased one keeps the number only."""
    return person.name or f"{ERASED} {person.player}"


def told_apart(called: Mapping[int, str]) -> dict[int, str]:
    """Names by player number, with the number beside each that several of these players bear.

    For texts, and for tables in which no column has the numbers.
    """
    bearers = Counter(called.values())
    return {player: name if bearers[name] == 1 else f"{name} ({player})" for player, name in called.items()}


def names(ledger: Ledger, players: set[int]) -> dict[int, str]:
    """``shown`` by player number; who is missing from the people file was not erased, and is not called so."""
    known = ledger.people.by_number(sorted(players))
    return {player: shown(known[player]) if player in known else missing(player) for player in players}
