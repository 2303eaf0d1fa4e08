"""The policies of a views database as they are stored, a row for each that was set; what they say to a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from ledger.book.decided import Proposal
from ledger.book.four_eyes import Party, breach, in_force
from ledger.book.policies import Policies, PolicyRow
from ledger.facts.events import Decision

if TYPE_CHECKING:
    import sqlite3


def broken_by(
    connection: sqlite3.Connection, position: int, proposal: Proposal, decision: Decision, decided: Party
) -> str | None:
    """Why a decision at a position of the journal breaks the four eyes in force there; None where it may stand."""
    proposed = Party(proposal.proposed_by, bool(proposal.proposed_proven))
    return breach(in_force(stored_policies(connection), position), decision, proposed, decided)


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
