"""Commands for SQL: a statement that reads, and the tables that there are."""

from __future__ import annotations

import click

from ledger.answers import querying, read_models
from ledger.answers.rows import as_rows

from .. import output
from . import AS_IF, AT_LEAST, DB, KNOWN_AT, Number, open_up_to_date


@click.command()
@DB
@click.argument("statement", metavar="SQL")
@click.option("-p", "--param", "parameters", multiple=True, nargs=2, metavar="NAME VALUE", help="The value of :NAME.")
@click.option(
    "--seconds",
    default=querying.SECONDS,
    show_default=True,
    type=Number(0),
    help="How long it may take; 0: any time.",
)
@click.option(
    "--memory",
    default=querying.MEMORY,
    show_default=True,
    type=click.IntRange(0, 2**30),
    metavar="MIB",
    help="How many MiB it may take; 0: any amount.",
)
@KNOWN_AT
@AS_IF
@AT_LEAST
@output.format_options
def query(
    db_path: str,
    statement: str,
    parameters: tuple[tuple[str, str], ...],
    seconds: float,
    memory: int,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
) -> None:
    """The rows that an SQL statement selects from the views, the journal and the names of people.

    The statement can only read; 'tables' says what there is. The table "names" has the name of each player; "journal"
    has the entries as they are. A whole number or a decimal after -p is a number. Bytes are shown in hexadecimal.
    Rows come as they are read, but for a table; a statement that takes longer than it may is stopped. With --as-if a
    copy of the views is made for it.

    \b
    Example:
      rating-ledger query club.db 'SELECT name, rating FROM current JOIN names USING (player) ORDER BY rating DESC' -t
      rating-ledger query club.db 'SELECT * FROM history WHERE player = :player' -p player 13 --csv > ann.csv
    """
    values = {name: _value(text) for name, text in parameters}
    with open_up_to_date(db_path, known_at=known_at, as_if=as_if, apart=True) as ledger:
        as_it_is = known_at is None and as_if is None
        rows = querying.query(ledger, statement, values, seconds=seconds, memory=memory, journal=as_it_is)
        output.write_each(rows, fmt)


def _value(text: str) -> int | float | str:
    """Return a number where the text is the plain form of it, otherwise the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text and abs(number) < 2**63:
            return number
    return text


@click.command()
@DB
@click.option("--columns", "of_columns", is_flag=True, help="Each column, with its type, unit and meaning.")
@output.format_options
def tables(db_path: str, of_columns: bool, fmt: str | None) -> None:
    """The tables that 'query' can read, each with its number of rows and what a row says.

    \b
    Example:
      rating-ledger tables club.db -t
      rating-ledger tables club.db --columns -t
    """
    with open_up_to_date(db_path) as ledger:
        output.write(
            as_rows(querying.readable_columns(ledger) if of_columns else querying.readable_tables(ledger)), fmt
        )


@click.command()
@DB
@output.format_options
def projectors(db_path: str, fmt: str | None) -> None:
    """The projectors of the ledger and of plug-ins: their classes and tables, and which of these are level.

    "stale" says why a table is not level, such as a step that failed, or a plug-in that is missing here.

    \b
    Example:
      rating-ledger projectors club.db -t
      rating-ledger policy set club.db read-models win_streaks=true
    """
    with open_up_to_date(db_path) as ledger:
        output.write(as_rows(read_models.read_model_rows(ledger)), fmt)
