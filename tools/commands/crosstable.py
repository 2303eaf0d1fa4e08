"""Commands that show tournaments: which there were, and the cross-table of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ledger.answers.asking import format_average
from ledger.answers.crosstables import formats, listing
from ledger.answers.crosstables.crosstable import TableOptions
from ledger.answers.crosstables.crosstable import crosstable as table_of
from ledger.answers.crosstables.crosstable_data import Crosstable
from ledger.answers.crosstables.documents import render
from ledger.answers.crosstables.event_games import LEDGER, RATING_SOURCES
from ledger.answers.crosstables.layout import format_percent, format_points
from ledger.answers.crosstables.listing import TournamentSearch
from ledger.answers.crosstables.pairing_systems import PAIRING_SYSTEMS
from ledger.answers.crosstables.performances import VARIANTS
from ledger.answers.crosstables.tie_breaks import TIE_BREAKS
from ledger.answers.graphs import png
from ledger.answers.rows import as_rows
from ledger.facts.instants import instant_ms

from .. import limits, output
from . import AS_IF, AT_LEAST, DB, INTO, KNOWN_AT, POOL, VERIFY, Number, format_of_name, open_up_to_date

TOURNAMENTS_IN_A_TABLE = 20
FORMATS = ("txt", "html", "svg", "png", "json", "csv")
ENDINGS = {f".{kind}": kind for kind in FORMATS}
THEMED = {"svg", "png"}
QUIET = click.option(
    "--quiet-days",
    type=Number(0),
    metavar="DAYS",
    help="So many days without a game part two editions; by default 60, or as the scheme rates tournaments whole.",
)
VARIANT = click.option(
    "--tpr", type=click.Choice(list(VARIANTS)), help="Which performance rating; the scheme's own by default, or FIDE's."
)


@click.command()
@DB
@POOL
@click.option("--from", "since", metavar="INSTANT", help="Leave out what was over before.")
@click.option("--to", "until", metavar="INSTANT", help="Leave out what began later.")
@click.option("--search", metavar="TEXT", help="Only names with this in them.")
@click.option("--player", metavar="PLAYER", help="Those of one player, with score, place and performance.")
@VARIANT
@QUIET
@limits.option(TOURNAMENTS_IN_A_TABLE, "tournaments, the latest first")
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
@output.format_options
def tournaments(
    db_path: str,
    pool: str | None,
    since: str | None,
    until: str | None,
    search: str | None,
    player: str | None,
    tpr: str | None,
    quiet_days: float | None,
    limit: int | None,
    known_at: str | None,
    as_if: int | None,
    fmt: str | None,
    verify: bool,
) -> None:
    """The tournaments of a pool, the latest first: a name that comes back every year has a row for each edition.

    "format" is how it was paired: as announced (told), or as its games look (seen). "average_rating" is the mean of the
    enrolment ratings. "winners" are first by points; tie-breaks and play-offs are not in the ledger. With --player,
    "rating" is the player's enrolment rating, "performance" the performance rating that "variant" names, "er_offset"
    how far that lies above the enrolment rating, in per cent.

    \b
    Example:
      rating-ledger tournaments club.db -t
      rating-ledger tournaments club.db --search linares --from 1990 --to 1999 -t
      rating-ledger tournaments club.db --player ann --tpr linear -t
    """
    if tpr is not None and player is None:
        raise click.UsageError("--tpr goes with --player; 'crosstable' shows it for everybody")
    _check_instants(("--from", since), ("--to", until))
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        shown_rows = limits.shown(limit, fmt, TOURNAMENTS_IN_A_TABLE)
        sought = TournamentSearch(since=since, until=until, text=search, quiet_days=quiet_days, limit=shown_rows + 1)
        with ledger.read_snapshot():
            if player is None:
                rows = as_rows(listing.tournaments(ledger, pool, sought))
            else:
                rows = as_rows(listing.player_tournaments(ledger, ledger.player(player), pool, sought, tpr))
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown_rows)


def _check_instants(*instants: tuple[str, str | None]) -> None:
    for option, word in instants:
        if word is not None:
            try:
                instant_ms(word)
            except ValueError as error:
                raise click.UsageError(f"{option}: {error}") from None


def _for_people(rows: Sequence[output.Row]) -> list[output.Row]:
    """Rows as people read them: points with halves, winners on one line, what is a guess marked."""
    rows_for_people = []
    for row in rows:
        shown: dict[str, Any] = {**row}
        if "average_rating" in row:
            shown["average_rating"] = format_average(row["average_rating"])
        if "winners" in row:
            shown["format"] = row["format"] if row["format_is"] == "told" else f"{row['format']}?"
            shown["winners"] = "; ".join(row["winners"])
            del shown["format_is"]
        else:
            shown["points"] = f"{format_points(row['points'])} of {row['games']}"
            shown["place"] = f"{row['place']} of {row['players']}"
            shown["er_offset"] = format_percent(row["er_offset"])
            shown["performance"] = f"{format_average(row['performance'])} ({row['variant']})"
            for name in ("games", "players", "variant"):
                del shown[name]
        rows_for_people.append(shown)
    return rows_for_people


@click.command()
@DB
@click.argument("event")
@POOL
@click.option("--edition", metavar="YEAR|MONTH|DAY", help="Which, of a name that comes back; the last one by default.")
@VARIANT
@click.option(
    "--ratings", type=click.Choice(RATING_SOURCES), default=LEDGER, show_default=True, help="Whose: see above."
)
@click.option(
    "--tie-break",
    "tie_breaks",
    multiple=True,
    type=click.Choice(list(TIE_BREAKS)),
    metavar="NAME",
    help="Decides places, in the order given; repeatable. By default who is level on points shares a place.",
)
@click.option("--paired", type=click.Choice(PAIRING_SYSTEMS), help="How it was paired, where others guess wrong.")
@QUIET
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="By default as FILE is named, and txt without a file."
)
@click.option("-t", "--table", "kind", flag_value="txt", help="Output as text for people.")
@click.option("--csv", "kind", flag_value="csv", help="Output as CSV.")
@click.option("--theme", type=click.Choice(["light", "dark"]), help="Of svg and png; svg goes by the reader's system.")
@click.option("--raw", is_flag=True, help="CSV without apostrophes before what a spreadsheet would run.")
@INTO
@KNOWN_AT
@AS_IF
@AT_LEAST
@VERIFY
def crosstable(
    db_path: str,
    event: str,
    pool: str | None,
    edition: str | None,
    tpr: str | None,
    ratings: str,
    tie_breaks: Sequence[str],
    paired: str | None,
    quiet_days: float | None,
    kind: str | None,
    theme: str | None,
    raw: bool,
    file: Path | None,
    known_at: str | None,
    as_if: int | None,
    verify: bool,
) -> None:
    """The cross-table of a tournament: results, tie-breaks, TPR, ER offset and upsets.

    EVENT is the name that its games carry ('tournaments' lists them). The enrolment rating is the one in force when a
    player's first game there started, the closing rating the one after a game. With --ratings shown both TPR and ER
    offset go by the ratings that the source of the games shows, such as those of FIDE's list.

    The TPR is never bare: its column says which performance rating it is. ER offset is 100 x (TPR / enrolment rating -
    1). "chessworld" is our reading of the ChessWorld FAQ: the mean of a player's own closing ratings. An upset is a win
    against a player rated higher by the margin that was in force that day ('policy').

    Passing over a TPR in html and svg shows every opponent from that player's view; html has the same in lists, json
    has it as "meetings". Byes count for points and places. What is missing is listed below the table: games to play,
    games without a result, rounds of a player of which nothing is known.

    \b
    Example:
      rating-ledger crosstable club.db 'Autumn open'
      rating-ledger crosstable club.db Linares --edition 1994 --ratings shown --tpr fide_ptp
      rating-ledger crosstable club.db Linares -o linares.html
      rating-ledger crosstable club.db Linares --tie-break wins --tie-break sonneborn-berger --format csv
    """
    kind = kind or format_of_name(file, ENDINGS, "txt")
    _check(kind, theme, raw=raw)
    choice = TableOptions(
        edition=edition,
        performance=tpr,
        ratings=ratings,
        tie_breaks=tuple(tie_breaks),
        kind=paired,
        quiet_days=quiet_days,
    )
    with open_up_to_date(db_path, verify=verify, known_at=known_at, as_if=as_if) as ledger:
        page = table_of(ledger, event, pool, choice)
        content = _document(page, kind, theme, raw=raw)
    if page.edition.of > 1 and edition is None:
        output.remark(f"the last of {page.edition.of} editions; --edition DAY shows another, 'tournaments' lists them")
    if file is not None:
        output.save(file, content)
    elif kind == "txt":
        output.answer_lines(content.decode().removesuffix("\n"))
    else:
        output.document(content)


def _check(kind: str, theme: str | None, *, raw: bool) -> None:
    """Refuse options that do not go together, all of them at once."""
    problems = []
    if theme is not None and kind not in THEMED:
        problems.append(f"--theme goes with {' and '.join(sorted(THEMED))}, not with {kind}")
    if raw and kind != "csv":
        problems.append(f"--raw goes with csv, not with {kind}")
    if problems:
        raise click.UsageError("; ".join(problems))
    if kind == "png" and not png.is_available():
        raise click.ClickException("png needs resvg, which is not installed: pip install 'rating-ledger[pictures]'")


def _document(page: Crosstable, kind: str, theme: str | None, *, raw: bool) -> bytes:
    """Return the table in one of the formats."""
    if kind == "csv":
        return output.divided(formats.spreadsheet_rows(page), "csv", raw=raw).encode()
    return render(page, kind, dark=None if theme is None else theme == "dark")
