"""The command that lists identities which look like one person."""

from __future__ import annotations

import click

from ledger.answers import searching
from ledger.answers.rows import as_rows

from .. import limits, output
from ..wording import counted
from . import AT_LEAST, DB, VERIFY, open_up_to_date

IDENTITIES_IN_A_TABLE = 50


@click.command()
@DB
@limits.option(IDENTITIES_IN_A_TABLE, "identities")
@AT_LEAST
@VERIFY
@output.format_options
def alike(db_path: str, limit: int | None, fmt: str | None, verify: bool) -> None:
    """Identities that look like one person, in groups, with games, rating pools and year of birth of each.

    Names are alike that differ in case, accents, the order of surname and forename, initials or blanks alone: a FIDE
    number in one file and a bare name in another. Different years of birth keep two apart, and so do a game against
    each other and two identities of one register or server; "apart_from" says who of the group is another person.
    A name that more than 50 identities bear or fit says nothing: such names are counted below.

    Nothing is merged, and nothing is recorded: 'correct DB merge' makes two numbers one person.

    \b
    Example:
      rating-ledger players alike club.db -t
      rating-ledger players alike club.db --csv > alike.csv
    """
    with open_up_to_date(db_path, verify=verify) as ledger:
        shown_rows = limits.shown(limit, fmt, IDENTITIES_IN_A_TABLE)
        groups = searching.similar_players(ledger)
        limits.write(as_rows(groups.rows), fmt, shown_rows)
        if groups.crowded:
            left_out = counted(groups.crowded, "name")
            output.remark(f"left out: {left_out} that more than {searching.CROWD} identities bear or fit")
