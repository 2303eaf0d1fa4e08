"""What a shell may complete: names of schemes, and the pools of the ledger that the line names. Nothing fails here."""

from __future__ import annotations

import warnings
from contextlib import suppress

import click

from ledger import schemes
from ledger.errors import LedgerError
from ledger.journal.listing import pool_names
from ledger.ledger import Ledger


def scheme_names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the installed schemes whose names begin so."""
    return [name for name in schemes.scheme_names() if name.startswith(begun)]


def pools_of_the_ledger(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the pools whose names begin so, of the ledger that is on the line already."""
    # A line that ends in an option without its value leaves its arguments unparsed; the ledger is the first of them.
    path = context.params.get("db_path") or next((word for word in context.args if not word.startswith("-")), None)
    if path is not None:
        with (
            suppress(LedgerError, OSError),
            warnings.catch_warnings(action="ignore"),
            Ledger.open(path, projectors=(), read_only=True) as ledger,
        ):
            return [name for name in pool_names(ledger.journal) if name.startswith(begun)]
    return []
