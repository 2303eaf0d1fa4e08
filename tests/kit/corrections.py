"""Corrections as a ledger records them: proposed by one person and approved by another."""

from __future__ import annotations

from ledger.facts.changes import Change
from ledger.facts.correction_events import Decision
from ledger.facts.words import Receipt
from ledger.ledger import Ledger


def approve(ledger: Ledger, *changes: Change, reason: str = "the scoresheet") -> list[Receipt]:
    """Propose changes and approve them."""
    proposed = ledger.propose(changes, reason=reason, by="eve")
    return ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
