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
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger

from .. import output
from ..wording import counted
from . import DB, REFUSED
from .audit import head_in

_HOUR, _GB = 3600.0, 1e9
_AMOUNT = click.IntRange(0, 1_000_000)


@click.command()
@DB
@click.option(
    "--backups",
    "folder",
    metavar="FOLDER",
    help="The folder in which the backups are; else they are not looked at.",
)
@click.option("--backup-age", default=26, metavar="HOURS", type=_AMOUNT, help="How old it may be [26].")
@click.option("--audited", "head_file", metavar="FILE", help="What 'audit --save-head' writes after each true audit.")
@click.option("--audit-age", default=192, metavar="HOURS", type=_AMOUNT, help="How old that may be [192].")
@click.option("--free", default=1, metavar="GB", type=_AMOUNT, help="How much of the disk must be free [1].")
def health(db_path: str, folder: str | None, backup_age: int, head_file: str | None, audit_age: int, free: int) -> None:
    """Say in one line whether a ledger is healthy; exit code 1 if it is not.

    It looks at the checkpoints, the views, the disk, lists that are due and, if told where they are, the age of the
    newest backup and of the last true audit. The line lists every problem. The command writes nothing.

    \b
    Example:
      rating-ledger health club.db --backups /mnt/backups --audited club.head
    """
    with Ledger.open(db_path) as ledger:
        wrong = [*_wrong(ledger, free)]
        size, waiting = ledger.journal.size(), len(ledger.corrections.stored(open_only=True))
        now = ledger.now_ms() / 1000
        backed_up = None if folder is None else _backup_time(ledger, Path(folder))
        audited = None if head_file is None else _audit_time(ledger, Path(head_file))
    for what, place, most, seconds in (
        ("backup of this ledger", folder, backup_age, backed_up),
        ("true audit of this ledger", head_file, audit_age, audited),
    ):
        if place is None:
            continue
        if seconds is None:
            wrong.append(f"no {what} in {place}")
        elif (hours := (now - seconds) / _HOUR) > most:
            wrong.append(f"the last {what} is {hours:,.0f} hours old, more than {most}")
    if wrong:
        output.answer(f"{db_path}: {'; '.join(wrong)}")
        sys.exit(REFUSED)
    waits = f", {counted(waiting, 'open proposal')}" if waiting else ""
    output.answer(f"{db_path}: healthy, {counted(size, 'entry', 'entries')}{waits}")


def _wrong(ledger: Ledger, free: int) -> Iterator[str]:
    """Yield what is wrong with the ledger's own files."""
    if fault := ledger.checkpoints.fault():
        yield fault
    if behind := ledger.journal.size() - ledger.views.position():
        yield f"the views lack {counted(behind, 'entry', 'entries')}; the next command that reads adds them"
    room = shutil.disk_usage(ledger.path.parent).free / _GB
    if room < free:
        yield f"{room:.1f} GB of the disk are free, less than {free}"
    if not behind:
        for pool in ledger.pools():
            if (day := due_day(ledger, pool)) is not None:
                yield f"the list of {day} of pool {pool.name} is due"


def _backup_time(ledger: Ledger, folder: Path) -> float | None:
    """Return when the newest backup of this ledger in a folder was made, seconds since 1970; None without one."""
    newest = newest_backup(folder, lambda head: _is_of(ledger, head)) if folder.is_dir() else None
    return None if newest is None else instant_ms(newest.made_at) / 1000


def _audit_time(ledger: Ledger, file: Path) -> float | None:
    """Return when the head of this ledger was written into a file, seconds since 1970; None if it is not there."""
    try:
        head = head_in(str(file), checkpoints=False)
    except click.UsageError:
        return None
    return file.stat().st_mtime if _is_of(ledger, head) else None


def _is_of(ledger: Ledger, head: TreeHead) -> bool:
    return head.size <= ledger.journal.size() and ledger.journal.root_at(head.size) == head.root
