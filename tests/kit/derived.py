"""Derived rows as they are compared."""

from __future__ import annotations

from typing import Any

from ledger.ledger import Ledger
from ledger.ratings.queries import tables
from ledger.testing import in_terms_of_facts, table_rows


def all_rows(ledger: Ledger) -> dict[str, Any]:
    """By table, every row of the views."""
    connection = ledger.views.connection
    return {table: table_rows(connection, table) for table in tables(connection)}


def rows_by_identity(ledger: Ledger) -> dict[str, Any]:
    """The rows in terms of facts, with identities for the numbers that depend on the order of arrival."""
    people = ledger.people.by_number(sorted(ledger.people.numbers()))
    return in_terms_of_facts(
        ledger.views.connection, {number: person.identity or "" for number, person in people.items()}
    )
