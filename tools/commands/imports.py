"""The commands ``imports`` and ``take-back``: the imported files, and a proposal that takes one back as a whole."""

from __future__ import annotations

import click

from ledger.answers import impacts
from ledger.answers.imports import TakeBackSummary, imports, summary_of
from ledger.answers.rows import as_rows
from ledger.correcting.imported import TakeBack, take_back
from ledger.ledger import Ledger

from .. import limits, output
from ..wording import counted
from . import AT_LEAST, DB, open_up_to_date
from .preview import tell
from .proposal_options import tell_proposed
from .token_options import WHY, identifying, token_given

ROWS_IN_A_TABLE = 20
_IN_A_TABLE = ("number", "recorded_at", "file", "by", "games", "byes", "players", "statements", "state", "proposal")


@click.command("imports")
@DB
@limits.option(ROWS_IN_A_TABLE, "imports, the newest ones")
@AT_LEAST
@output.format_options
def imports_(db_path: str, limit: int | None, fmt: str | None) -> None:
    """Show the imported files: when, by whom, what each brought, and whether it was taken back.

    The register is a file next to the journal (club.imports). Imports from before it existed, or on another machine,
    are missing: give 'take-back' their entries.

    \b
    Example:
      rating-ledger imports club.db -t
      rating-ledger imports club.db --csv
    """
    with open_up_to_date(db_path) as ledger:
        rows = as_rows(imports(ledger))
    if fmt == "table":
        rows = [{name: row[name] for name in _IN_A_TABLE} for row in rows]
    limits.write(rows, fmt, limits.shown(limit, fmt, ROWS_IN_A_TABLE), newest_last=True)


@click.command("take-back")
@DB
@click.argument("reference", metavar="IMPORT")
@click.option("--dry-run", is_flag=True, help="Show what it would do and whose rating would change; record nothing.")
@click.option("--reason", default="", metavar="TEXT", help=WHY)
@identifying
@limits.option(ROWS_IN_A_TABLE, "moves of a dry run, the largest ones")
def take_back_(
    db_path: str, reference: str, *, dry_run: bool, reason: str, by: str | None, token_file: str | None,
    limit: int | None,
) -> None:  # fmt: skip
    """Propose to take back all that a file brought: games, byes, announcements, statements, and players new in it.

    IMPORT is a number that 'imports' shows, or entries of the journal such as 12-80. It is one proposal: 'correct DB
    approve' takes all of it back, 'correct DB undo' restores all of it. Afterwards the corrected file can be
    imported; its games are recorded again. Further facts of games that were recorded before stay.

    \b
    Example:
      rating-ledger take-back club.db 3 --dry-run
      rating-ledger take-back club.db 3 --reason 'round 5 in the wrong file' --by eve
      rating-ledger take-back club.db 12-80 --reason 'imported twice, under other names' --by eve
    """
    with open_up_to_date(db_path) as ledger:
        draft = take_back(ledger, reference)
        if dry_run:
            impact = ledger.preview([draft.change])
            _tell_draft(draft)
            tell(impact, impacts.impact_in_full(ledger, impact), limit, "table")
            output.remark("dry run: nothing was recorded")
        else:
            _propose(ledger, draft, reason, by, token_file)


def _propose(ledger: Ledger, draft: TakeBack, reason: str, by: str | None, token_file: str | None) -> None:
    token = token_given(ledger, token_file)
    proposed = ledger.propose([draft.change], reason=reason, by=by, token=token)
    _tell_draft(draft)
    tell_proposed(ledger, proposed)


def _tell_draft(draft: TakeBack) -> None:
    summary = summary_of(draft)
    output.remark(f"{summary.file or 'entries'} ({summary.entries}): {_contents(summary)}")
    for note in summary.notes:
        output.remark(f"note: {note}")


def _contents(summary: TakeBackSummary) -> str:
    words = [counted(summary.games, "game"), counted(summary.byes, "bye"), counted(summary.leaving, "player")]
    words += [counted(summary.statements, "statement")] if summary.statements else []
    words += [f"the days of {name!r}" for name in summary.tournaments[:ROWS_IN_A_TABLE]]
    return f"{', '.join(words)} would go"
