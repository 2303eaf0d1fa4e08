"""The policies of a views database as they are stored: a row for each that was set. SQL only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from ledger.book.policies import Policies, PolicyRow, row_of
from ledger.facts.public_events import PolicySet

if TYPE_CHECKING:
    import sqlite3


def take(connection: sqlite3.Connection, position: int, event: PolicySet) -> None:
    """A policy is set by the entry at *position*."""
    row = row_of(position, event)
    settings = orjson.dumps(row.settings, option=orjson.OPT_SORT_KEYS).decode()
    connection.execute(
        "INSERT INTO policies VALUES (?, ?, ?, ?, ?, ?)",
        (row.policy, row.number, row.since_ms, row.since, settings, row.position),
    )


def stored_policies(connection: sqlite3.Connection) -> Policies:
    """All policies that were set."""
    query = "SELECT policy, number, since_ms, since, settings, position FROM policies"
    return Policies(
        PolicyRow(policy, number, since_ms, since, _settings(settings), position)
        for policy, number, since_ms, since, settings, position in connection.execute(query).fetchall()
    )


def _settings(text: str) -> dict[str, int | bool | str]:
    found = orjson.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"settings of a policy are no object: {text!r}")  # noqa: TRY004  # a row, not an argument
    return found
