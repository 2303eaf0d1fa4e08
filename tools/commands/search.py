"""The command that finds players by a part of the name."""

from __future__ import annotations

import click

from ledger.answers.rows import as_rows
from ledger.answers.searching import find_players
from ledger.ledger import Ledger

from .. import limits, output
from . import DB

PLAYERS_IN_A_TABLE = 20


@click.command()
@DB
@click.argument("part")
@limits.option(PLAYERS_IN_A_TABLE, "players, those whose names begin so first")
@output.format_options
def search(db_path: str, part: str, limit: int | None, fmt: str | None) -> None:
    """Players by a part of the name, three letters or more; case and accents do not count.

    Of several words each must be in the name, in any order. Among many names the first search makes an index next to
    them; it takes some 30 seconds a million. Who is erased or renamed leaves it at once.

    \b
    Example:
      rating-ledger search club.db mull -t
      rating-ledger search club.db 'garry kasp'
    """
    with Ledger.open(db_path) as ledger:
        limits.write(as_rows(find_players(ledger, part)), fmt, limits.shown(limit, fmt, PLAYERS_IN_A_TABLE))
