"""Erasures of a ledger, as journal and people file tell of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ledger.ledger import Ledger
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.ledger_files import beside


def erasures(path: Path) -> list[tuple[str, int]]:
    """By whom and of whom, as the journal says."""
    with Ledger.open(path, read_only=True) as ledger:
        return [(entry.actor, entry.facts["player"]) for entry in ledger.entries("person-erased")]


def pending(path: Path) -> dict[int, str]:
    """Those who are not brought to their end yet, and who had them erased."""
    with closing(SqlitePeople(beside(path, "people"), read_only=True)) as people:
        return people.erasures.rows()
