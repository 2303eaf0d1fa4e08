"""Commands that show tournaments: which there were, and the cross-table of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from ledger.answers.crosstables import html, listing, spreadsheet, svg, text
from ledger.answers.crosstables.crosstable import Wanted
from ledger.answers.crosstables.crosstable import crosstable as table_of
from ledger.answers.crosstables.event_ratings import LEDGER, WHOSE
from ledger.answers.crosstables.kinds import KINDS
from ledger.answers.crosstables.layout import half, percent, rating
from ledger.answers.crosstables.listing import Sought
from ledger.answers.crosstables.page import Crosstable
from ledger.answers.crosstables.performances import VARIANTS
from ledger.answers.crosstables.tie_breaks import TIE_BREAKS
from ledger.facts.instants import instant_ms

from .. import limits, output
from . import DB, KNOWN_AT, POOL, VERIFY, level

TOURNAMENTS_IN_A_TABLE = 20
SUFFIXES = {".txt": "txt", ".html": "html", ".htm": "html", ".svg": "svg", ".json": "json", ".csv": "csv"}
DRAWN: dict[str, Callable[[Crosstable], str]] = {
    "txt": lambda page: f"{text.drawn(page)}\n",
    "html": html.drawn,
    "svg": svg.drawn,
    "json": lambda page: output.upright(attrs.asdict(page)),
    "csv": lambda page: output.divided(spreadsheet.rows(page), "csv"),
}
QUIET = click.option(
    "--quiet-days", type=click.FloatRange(0), metavar="DAYS",
    help="So many days without a game part two editions; by default 60, or as the scheme rates tournaments whole.",
)  # fmt: skip
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
@VERIFY
@output.format_options
def tournaments(
    db_path: str, pool: str | None, since: str | None, until: str | None, search: str | None, player: str | None,
    tpr: str | None, quiet_days: float | None, limit: int | None, known_at: str | None, fmt: str | None, verify: bool,
) -> None:  # fmt: skip
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
    with level(db_path, verify=verify, known_at=known_at) as ledger:
        shown_rows = limits.shown(limit, fmt, TOURNAMENTS_IN_A_TABLE)
        sought = Sought(since=since, until=until, text=search, quiet_days=quiet_days, limit=shown_rows + 1)
        if player is None:
            rows = listing.tournaments(ledger, pool, sought)
        else:
            rows = listing.tournaments_of(ledger, ledger.player(player), pool, sought, tpr)
        limits.write(_for_people(rows) if fmt == "table" else rows, fmt, shown_rows)


def _check_instants(*given: tuple[str, str | None]) -> None:
    for option, word in given:
        if word is not None:
            try:
                instant_ms(word)
            except ValueError as error:
                raise click.UsageError(f"{option}: {error}") from None


def _for_people(rows: Sequence[output.Row]) -> list[output.Row]:
    """Rows as people read them: points with halves, winners on one line, what is a guess marked."""
    found = []
    for row in rows:
        shown: dict[str, Any] = {**row}
        if "winners" in row:
            shown["format"] = row["format"] if row["format_is"] == "told" else f"{row['format']}?"
            shown["winners"] = "; ".join(row["winners"])
            del shown["format_is"]
        else:
            shown["points"] = f"{half(row['points'])} of {row['games']}"
            shown["place"] = f"{row['place']} of {row['players']}"
            shown["er_offset"] = percent(row["er_offset"])
            shown["performance"] = f"{rating(row['performance'])} ({row['variant']})"
            for name in ("games", "players", "variant"):
                del shown[name]
        found.append(shown)
    return found


@click.command()
@DB
@click.argument("event")
@POOL
@click.option("--edition", metavar="YEAR|DAY", help="Which, of a name that comes back; the last one by default.")
@VARIANT
@click.option("--ratings", type=click.Choice(WHOSE), default=LEDGER, show_default=True, help="Whose: see below.")
@click.option(
    "--tie-break", "tie_breaks", multiple=True, type=click.Choice(list(TIE_BREAKS)), metavar="NAME",
    help="Decides places, in the order given; repeatable. By default who is level on points shares a place.",
)  # fmt: skip
@click.option("--paired", type=click.Choice(KINDS), help="How it was paired, where others guess wrong.")
@QUIET
@click.option(
    "--format", "kind", type=click.Choice(list(DRAWN)), help="By default as FILE is named, and txt without a file."
)
@click.option(
    "-o", "--output", "path", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write it there."
)
@KNOWN_AT
@VERIFY
def crosstable(
    db_path: str, event: str, pool: str | None, edition: str | None, tpr: str | None, ratings: str,
    tie_breaks: Sequence[str], paired: str | None, quiet_days: float | None, kind: str | None, path: Path | None,
    known_at: str | None, verify: bool,
) -> None:  # fmt: skip
    """The cross-table of a tournament: results, tie-breaks, TPR, ER offset and upsets.

    EVENT is the name that its games carry ('tournaments' lists them). The enrolment rating is the one in force before a
    player's first game there, the closing rating the one after a game. With --ratings shown both TPR and ER offset go
    by the ratings that the source of the games shows, such as those of FIDE's list.

    The TPR is never bare: its column says which performance rating it is. ER offset is 100 x (TPR / enrolment rating -
    1). "chessworld" is our reading of the ChessWorld FAQ: the mean of a player's own closing ratings. An upset is a win
    against a player rated higher by the margin that was in force that day ('policy').

    Passing over a TPR in html and svg shows every opponent from that player's view; html has the same in lists, json
    has it as "meetings". Byes are not in the ledger: what is seen to be missing stands below the table.

    \b
    Example:
      rating-ledger crosstable club.db 'Autumn open'
      rating-ledger crosstable club.db Linares --edition 1994 --ratings shown --tpr fide_ptp
      rating-ledger crosstable club.db Linares -o linares.html
      rating-ledger crosstable club.db Linares --tie-break wins --tie-break sonneborn-berger --format csv
    """
    kind = kind or (SUFFIXES.get(path.suffix.lower()) if path is not None else "txt")
    if kind is None:
        raise click.UsageError(f"-o {path}: give --format, or a name that ends in {', '.join(SUFFIXES)}")
    wanted = Wanted(
        edition=edition, performance=tpr, ratings=ratings, tie_breaks=tuple(tie_breaks), kind=paired,
        quiet_days=quiet_days,
    )  # fmt: skip
    with level(db_path, verify=verify, known_at=known_at) as ledger:
        page = table_of(ledger, event, pool, wanted)
    if page.edition.of > 1 and edition is None:
        output.remark(f"the last of {page.edition.of} editions; --edition YEAR shows another, 'tournaments' lists them")
    if path is not None:
        output.save(path, DRAWN[kind](page).encode())
    elif kind == "txt":
        output.answer_lines(text.drawn(page))
    elif kind == "csv":
        output.write(spreadsheet.rows(page), "csv")
    elif kind == "json":
        output.write_one(attrs.asdict(page), None)
    else:
        output.document(DRAWN[kind](page).encode())
