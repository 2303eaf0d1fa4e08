"""The command that shows the calculation of a rating on a list, as FIDE's calculation page does."""

from __future__ import annotations

from pathlib import Path

import click

from ledger.answers import calculation_page
from ledger.answers.list_calculations import list_calculation
from ledger.answers.rows import as_row

from .. import output
from . import AS_IF, AT_LEAST, DB, INTO, KNOWN_AT, POOL, VERIFY, format_of_name, open_up_to_date

FORMATS = ("table", "html", "json", "csv")
ENDINGS = {".txt": "table", ".html": "html", ".json": "json", ".csv": "csv"}


@click.command()
@DB
@click.argument("player")
@click.option("--list", "listed", required=True, metavar="LIST|DAY|MONTH", help="Which list, as 'lists' names it.")
@POOL
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="By default as FILE is named, and a table without a file."
)
@click.option("-t", "--table", "kind", flag_value="table", help="Output as a table for people.")
@click.option("--csv", "kind", flag_value="csv", help="Output as CSV.")
@click.option("--raw", is_flag=True, help="CSV without apostrophes before what a spreadsheet would run.")
@INTO
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
def calculation(
    db_path: str,
    player: str,
    listed: str,
    pool: str | None,
    kind: str | None,
    raw: bool,
    file: Path | None,
    known_at: str | None,
    as_if: int | None,
    verify: bool,
) -> None:
    """Show how a rating on a list was calculated: each tournament, each opponent, the sums, the rounding.

    LIST is a published list, or a day, month or year: the last list published of it. If there is none, the ratings that
    came into force in it are shown, such as those of the rating period that closed in that month. Games count whose
    ratings came into force after the last list.

    Each tournament has the player's rating (Ro), K, and for each opponent rating (Rc), score (W), expected score
    (We), difference and change; an opponent whom the 400-point rule limits is marked with an asterisk. US Chess has the
    five steps of a section, Glicko g and RD of each opponent, ECF the weight of each game, first ratings the sums of
    the pool; other schemes have the terms of their formula. Games that do not count follow with their reasons. The
    numbers are those of the scheme that rated; if they do not add up to the stored rating, or the list was corrected
    since it was published, the first lines say so.

    \b
    Example:
      rating-ledger calculation fed.db 'Ann Ek' --list 2026-05
      rating-ledger calculation fed.db 7 --list standard@2026-05-31 --format html -o ann.html
      rating-ledger calculation fed.db 7 --list standard@2026-05-31 --known-at standard@2026-05-31 --csv
    """
    kind = kind or format_of_name(file, ENDINGS, "table")
    if raw and kind != "csv":
        raise click.UsageError(f"--raw goes with csv, not with {kind}")
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        answer = list_calculation(ledger, ledger.player(player), listed, pool)
    match kind:
        case "csv":
            text = output.divided(calculation_page.spreadsheet_rows(answer), "csv", raw=raw)
        case "json":
            text = output.json_text(as_row(answer))
        case "html":
            text = calculation_page.as_html(calculation_page.calculation_page(answer))
        case _:
            text = calculation_page.as_text(calculation_page.calculation_page(answer)) + "\n"
    if file is not None:
        output.save(file, text.encode())
    elif kind == "table":
        output.answer_lines(text.removesuffix("\n"))
    else:
        output.document(text.encode())
