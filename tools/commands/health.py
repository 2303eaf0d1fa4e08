"""The command that says in one line whether a ledger is healthy, for a timer that mails what is wrong."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ledger.answers.publications import due_day
from ledger.backups import newest_backup
from ledger.facts.instants import instant_ms
from ledger.ledger import Ledger

from .. import output
from ..wording import counted
from . import DB, REFUSED

_HOUR, _GB = 3600.0, 1e9


@click.command()
@DB
@click.option("--backups", "folder", metavar="FOLDER", help="Where the backups are; without it they are not looked at.")
@click.option(
    "--backup-age", default=26.0, show_default=True, metavar="HOURS", help="How old the newest backup may be."
)
@click.option("--audited", "head_file", metavar="FILE", help="What 'audit --save-head' writes after each true audit.")
@click.option(
    "--audit-age", default=192.0, show_default=True, metavar="HOURS", help="How old the last true audit may be."
)
@click.option("--free", default=1.0, show_default=True, metavar="GB", help="How much of the disk must be free.")
def health(
    db_path: str, folder: str | None, backup_age: float, head_file: str | None, audit_age: float, free: float
) -> None:
    """Say in one line whether a ledger is healthy; exit code 1 if it is not.

    It looks at the checkpoints, the views, the disk, lists that are due and, if told where they are, the age of the
    newest backup and of the last true audit. Everything that is wrong is in the line. It writes nothing.

    \b
    Example:
      rating-ledger health club.db --backups /mnt/backups --audited club.head
      rating-ledger health club.db || mail -s 'ratings' officer@example.org
    """
    with Ledger.open(db_path) as ledger:
        wrong = [*_wrong(ledger, free)]
        size, waiting = ledger.journal.size(), len(ledger.corrections.stored(open_only=True))
        now = ledger.now_ms() / 1000
    for what, place, most, seconds in (
        ("backup", folder, backup_age, None if folder is None else _backup_time(Path(folder))),
        ("true audit", head_file, audit_age, None if head_file is None else _time_of(Path(head_file))),
    ):
        if place is None:
            continue
        if seconds is None:
            wrong.append(f"no {what} in {place}")
        elif (hours := (now - seconds) / _HOUR) > most:
            wrong.append(f"the last {what} is {hours:,.0f} hours old, more than {most:g}")
    if wrong:
        output.answer(f"{db_path}: {'; '.join(wrong)}")
        sys.exit(REFUSED)
    waits = f", {counted(waiting, 'open proposal')}" if waiting else ""
    output.answer(f"{db_path}: healthy, {counted(size, 'entry', 'entries')}{waits}")


def _wrong(ledger: Ledger, free: float) -> Iterator[str]:
    """Yield what is wrong with the ledger's own files."""
    if fault := ledger.checkpoints.fault():
        yield fault
    if behind := ledger.journal.size() - ledger.views.position():
        yield f"the views lack {counted(behind, 'entry', 'entries')}; the next command that reads adds them"
    room = shutil.disk_usage(ledger.path.parent).free / _GB
    if room < free:
        yield f"{room:.1f} GB of the disk are free, less than {free:g}"
    if not behind:
        for pool in ledger.pools():
            if (day := due_day(ledger, pool)) is not None:
                yield f"the list of {day} of pool {pool.name} is due"


def _backup_time(folder: Path) -> float | None:
    newest = newest_backup(folder)
    return None if newest is None else instant_ms(newest[1].made_at) / 1000


def _time_of(file: Path) -> float | None:
    return file.stat().st_mtime if file.exists() else None
