"""The command that writes what a ledger holds to a file for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from ledger.answers.exports.columns import ExportFilter
from ledger.answers.exports.datasets import PREPARED
from ledger.answers.exports.exporting import DOCUMENTS, FORMATS, format_of, lines
from ledger.answers.exports.exporting import export as export_to
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.ledger import Ledger

from .. import output
from ..choices import pools_of_the_ledger
from ..progress import Bars
from . import DB, KNOWN_AT, level

_FORMATS = sorted({*FORMATS, *(name for _, name in DOCUMENTS)})
_WHAT = f"[{'|'.join([*PREPARED, *dict.fromkeys(what for what, _ in DOCUMENTS)])}|TABLE]..."


@click.command()
@DB
@click.argument("what", metavar=_WHAT, nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="The file; an older export there is replaced. Without it, or with -, standard output.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(_FORMATS),
    help="By default what the file's name says; without a file CSV.",
)
@click.option("--names", is_flag=True, help="Names, identities and years of birth, too: who a player is.")
@click.option("--raw", is_flag=True, help="CSV without apostrophes before what a spreadsheet would run.")
@click.option("--pool", metavar="NAME", help="Only this pool.", shell_complete=pools_of_the_ledger)
@click.option("--player", metavar="PLAYER", help="Only this player's rows.")
@click.option("--since", metavar="INSTANT", help="Only games that ended then or later.")
@click.option("--until", metavar="INSTANT", help="Only games that ended then or earlier.")
@click.option("--tournament", metavar="NAME", help="Only games of this tournament.")
@click.option("--list", "published", metavar="LIST", help="Only this published list.")
@click.option("--at", metavar="INSTANT", help="Ratings in force on that day.")
@KNOWN_AT
def export(
    db_path: str,
    what: tuple[str, ...],
    target: str | None,
    file_format: str | None,
    names: bool,
    raw: bool,
    pool: str | None,
    player: str | None,
    since: str | None,
    until: str | None,
    tournament: str | None,
    published: str | None,
    at: str | None,
    known_at: str | None,
) -> None:
    """Write players, games, history, ratings, published lists, cross-tables or any table of the views to a file.

    The formats are CSV, newline-delimited JSON, Parquet and SQLite, which takes several tables. Every row is there, of
    one moment, numbers are unrounded, instants are ISO 8601 in UTC; what each column says is in schemas/README.md and
    in schemas/exports. The file is whole or not there; without one, CSV or NDJSON of one table, or a tournament's
    report, goes to standard output. Names of people stand in it where --names asks for them; who was erased has none.

    \b
    Example:
      rating-ledger export club.db history -o history.parquet
      rating-ledger export club.db players --names -o players.csv
      rating-ledger export club.db games --format ndjson | jq .key
      rating-ledger export club.db games --tournament 'Club championship' --since 2005 -o games.ndjson
      rating-ledger export club.db ratings --at 2005-06-30 -o june.csv
      rating-ledger export club.db players games history --format sqlite -o open.db
      rating-ledger export club.db tournament --tournament 'Autumn open' --names -o open.trf
    """
    to = None if target == "-" else target
    chosen = file_format or (_of_standard_output(what) if to is None else format_of(what, Path(to)))
    if raw and chosen != "csv":
        raise click.UsageError("--raw goes with CSV")
    with level(db_path, known_at=known_at) as ledger, Bars() as bars:
        asked = _asked(ledger, pool, player, since, until, tournament, published, at, names=names)
        if to is None:
            output.documents(lines(ledger, what, fmt=chosen, asked=asked, raw=raw))
        else:
            for subject, rows in export_to(ledger, what, to, fmt=chosen, asked=asked, raw=raw, progress=bars):
                output.answer(f"{to}: {subject}" if rows is None else f"{to}: {rows:,} {_rows(rows)} of {subject}")
    if "players" in what and not names:
        output.remark("names are left out; --names puts them in")


def _of_standard_output(what: tuple[str, ...]) -> str:
    """The format without a file: CSV, or that of a text of its own."""
    return next((fmt for subject, fmt in DOCUMENTS if what[0] == subject), "csv")


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _asked(
    ledger: Ledger,
    pool: str | None,
    player: str | None,
    since: str | None,
    until: str | None,
    tournament: str | None,
    published: str | None,
    at: str | None,
    *,
    names: bool,
) -> ExportFilter:
    """What the options ask for, in the numbers of the ledger."""
    instants: dict[str, int] = {}
    for option, text in (("--since", since), ("--until", until), ("--at", at)):
        if text is not None:
            try:
                instants[option] = instant_end_ms(text) if option == "--until" else instant_ms(text)
            except ValueError as error:
                raise click.UsageError(f"{option}: {error}") from None
    return ExportFilter(
        pool=None if pool is None else ledger.pool(pool).pool,
        player=None if player is None else ledger.player(player).player,
        since_ms=instants.get("--since"),
        until_ms=instants.get("--until"),
        tournament=tournament,
        published=published,
        at=at,
        names=names,
    )
