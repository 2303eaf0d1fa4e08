"""The command that says in one line whether a ledger is healthy, for a timer that mails what is wrong."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import click

from ledger.answers.health import Health, OutsideMark, ledger_health, unreadable_ledger
from ledger.answers.rows import as_row
from ledger.backups import backup_mark, is_head_of
from ledger.errors import CheckpointWarning, LedgerError
from ledger.ledger import Ledger

from .. import output
from ..wording import counted
from . import DB, REFUSED
from .audit import head_in

_AGE = re.compile(r"([0-9]{1,6})([hd]?)", re.ASCII)


class Age(click.ParamType[int]):
    """A time in hours: 36, 36h or 8d."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the hours."""
        match = _AGE.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is no time such as 36h or 8d.", param, ctx)
        return int(match[1]) * (24 if match[2] == "d" else 1)


@click.command()
@DB
@click.option(
    "--backups",
    "folder",
    metavar="FOLDER",
    help="The folder in which the backups are; else they are not looked at.",
)
@click.option("--backup-age", default=26, metavar="AGE", type=Age(), help="How old the newest may be [26h].")
@click.option("--proven", is_flag=True, help="Count only backups that 'backup --prove' has proven.")
@click.option("--audited", "head_file", metavar="FILE", help="What 'audit --save-head' writes after each true audit.")
@click.option("--audit-age", default=192, metavar="AGE", type=Age(), help="How old the audit may be [8d].")
@click.option(
    "--list-age", default=0, metavar="AGE", type=Age(), help="How long after its period a list may wait [0h]."
)
@click.option(
    "--free",
    default=1,
    metavar="GB",
    type=click.IntRange(0, 1_000_000),
    help="How much of the disk must be free [1].",
)
@click.option("--format", "kind", type=click.Choice(["line", "json"]), default="line", help="By default one line.")
def health(
    db_path: str,
    folder: str | None,
    backup_age: int,
    proven: bool,
    head_file: str | None,
    audit_age: int,
    list_age: int,
    free: int,
    kind: str,
) -> None:
    """Say in one line whether a ledger is healthy; exit code 1 if it is not.

    It looks at the checkpoints, the views, the disk, lists that are due and, if you say where, the age of the
    newest backup and of the last true audit. The line lists every problem, even a ledger that cannot be opened. The
    command writes nothing. An AGE is in hours (36h) or days (8d). A backup has the date in its backup.json; its files
    must have their sizes, and --proven asks for proven.json. An audit has the date of FILE, so that only
    'audit --save-head' may write it; an audit with --journal-only counts, too.

    \b
    Example:
      rating-ledger health club.db --backups /mnt/backups --proven --audited club.head
      rating-ledger health club.db --backups /mnt/backups --backup-age 36h --list-age 3d --format json
    """
    if proven and folder is None:
        raise click.UsageError("--proven goes with --backups FOLDER")
    try:
        # the line names it as well
        with (
            warnings.catch_warnings(action="ignore", category=CheckpointWarning),
            Ledger.open(db_path, follow=False) as ledger,
        ):
            marks = [] if folder is None else [backup_mark(ledger, Path(folder), backup_age, only_proven=proven)]
            marks += [] if head_file is None else [_audit_mark(ledger, Path(head_file), audit_age)]
            answer = ledger_health(ledger, marks, min_free_gb=free, list_hours=list_age)
    except (LedgerError, OSError) as error:
        answer = unreadable_ledger(error)
    if kind == "json":
        output.write_one(as_row(answer), None)
    else:
        output.answer(_line(db_path, answer))
    if not answer.healthy:
        sys.exit(REFUSED)


def _line(db_path: str, health: Health) -> str:
    if health.healthy:
        waits = f", {counted(health.open_proposals, 'open proposal')}" if health.open_proposals else ""
        return f"{db_path}: healthy, {counted(health.entries or 0, 'entry', 'entries')}{waits}"
    # an error that begins with the ledger's own path needs no second one
    return f"{db_path}: {'; '.join(each.fault.removeprefix(f'{db_path}: ') for each in health.faults)}"


def _audit_mark(ledger: Ledger, file: Path, max_hours: int) -> OutsideMark:
    """Return the mark of the last true audit: the date of the file with the head that it proved."""
    made_ms = None
    if file.is_file():
        try:
            if is_head_of(ledger, head_in(str(file), checkpoints=False)):
                made_ms = int(file.stat().st_mtime * 1000)
        except click.UsageError:  # no head
            pass
    noun = "true audit of this ledger"
    return OutsideMark(part="audit", noun=noun, place=str(file), max_hours=max_hours, made_ms=made_ms)
