"""People of a ledger: who stands in the file, and names that are found again in raw bytes."""

from __future__ import annotations

import secrets
from contextlib import closing
from pathlib import Path

from ledger.journal import people
from ledger.journal.people import Person
from ledger.runtime import sqlite


def everybody(path: Path) -> list[Person]:
    with closing(sqlite.connect(path, read_only=True)) as connection:
        return [Person(*row) for row in connection.execute(f"SELECT {people._COLUMNS} FROM people ORDER BY player")]


def marked(count: int, tail: str = "") -> list[str]:
    """Names of so many people, each with a mark of its own."""
    return [f"Qz{secrets.token_hex(5)}, Anna{tail}" for _ in range(count)]
