"""Commands that copy a whole ledger: a backup, and the way back from one."""

from __future__ import annotations

import sys

import click

from ledger import backups
from ledger.backups import Loss, Restored
from ledger.journal.settings_file import DURABILITIES

from .. import output
from ..progress import Bars
from ..wording import counted, entries
from . import DB, FALSE, confirmed, place_on_server
from .audit import head_in, show_verdict


@click.command()
@DB
@click.argument("folder")
@click.option("--without-views", is_flag=True, help="Leave the views out; they can be built again.")
@click.option("--prove", is_flag=True, help="Restore it into a temporary folder as a test, and audit what is there.")
def backup(db_path: str, folder: str, without_views: bool, prove: bool) -> None:
    """Copy a ledger into FOLDER as one consistent set, while others go on writing.

    FOLDER must not be there yet, or be empty; it appears when the copy is whole and its journal and names are proven.
    Prints the head of the copied journal: keep it somewhere else, for 'restore --since'. With --prove the backup is
    restored next to FOLDER, its views are brought up to date, all is audited and then deleted; exit code 3 if something
    is false. Only if all is true, proven.json in FOLDER says so, for 'health --proven'. A proof that was killed leaves
    no such file; its folder, such as club.proof-x1, goes with the next proof.

    \b
    Example:
      rating-ledger backup club.db /mnt/backups/2024-05-01 >> heads.txt
      rating-ledger backup club.db "/mnt/backups/$(date +%F)" --prove
    """
    with Bars() as bars:
        made = backups.backup(db_path, folder, with_views=not without_views, progress=bars)
    output.answer(str(made.head))
    if made.left_out:
        output.remark(f"the views are not in the backup: {made.left_out}; 'rebuild' makes them anew")
    erased = f", {made.erased:,} erased" if made.erased else ""
    content = f"{entries(made.head.size)}, {counted(made.names, 'name')}{erased}"
    if made.views is not None:
        content += f", views at {made.views:,}"
    output.remark(f"{made.folder}: {content}; {made.bytes / 1e6:,.1f} MB")
    if prove:
        with Bars() as bars:
            verdict = backups.prove_backup(made.folder, progress=bars)
        if not verdict:
            show_verdict(str(made.folder), verdict)
            sys.exit(FALSE)
        output.remark(f"{made.folder}: restored as a test and audited: TRUE")


@click.command()
@click.argument("folder")
@DB
@click.option("--replace", is_flag=True, help="Replace the ledger there; its files are moved into another folder.")
@click.option("--yes", is_flag=True, help="With --replace: do not ask; needed where nobody can be asked.")
@click.option("--since", metavar="HEAD", help="A head kept outside: 'SIZE ROOT', or a file whose last line is one.")
@click.option("--without-views", is_flag=True, help="Leave the backup's views out; the next command builds them.")
def restore(folder: str, db_path: str, replace: bool, yes: bool, since: str | None, without_views: bool) -> None:
    """Put the ledger that was backed up into FOLDER in the place DB, after it was proven as 'audit' proves.

    If a ledger is there, --replace first shows what it has and the backup has not; then its files are moved
    into a folder next to it, such as club.replaced-1, and nothing is deleted. Who was erased since the backup was made
    is erased in it again.

    \b
    Example:
      rating-ledger restore /mnt/backups/2024-05-01 club.db
      rating-ledger restore /mnt/backups/2024-05-01 club.db --replace --since club.head
    """

    def approve(loss: Loss) -> None:
        bars.close()
        output.remark(f"{db_path}: {words_of(loss)}")
        _tell_alarm(db_path, loss.alarm)
        confirmed("Put the backup in its place?", yes=yes)

    with Bars() as bars:
        done = backups.restore(
            folder,
            db_path,
            replace=replace,
            since=None if since is None else head_in(since),
            with_views=not without_views,
            approve=approve,
            progress=bars,
        )
    _tell(db_path, done)


def words_of(loss: Loss) -> str:
    """Return a sentence about what a restore takes away."""
    if loss.entries is None:
        return "its journal cannot be read, so nobody can tell what it has and the backup has not"
    lost = loss.entries - loss.common
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in loss.beyond.items())
    if loss.is_earlier_state:
        if not lost:
            return f"it has the same {entries(loss.entries)} as the backup: nothing would be lost"
        return f"the backup is an earlier state of it; its last {entries(lost)} would be lost: {kinds}"
    if not loss.common:
        return f"it is another ledger than the backup; all its {entries(lost)} would be lost: {kinds}"
    other = loss.backup - loss.common
    if not lost:
        return f"the backup is a later state of it: nothing would be lost, it has {entries(other)} more"
    return (
        f"it and the backup part after entry {loss.common:,}; its last {entries(lost)} would be lost "
        f"({kinds}), {other:,} others come instead"
    )


def _tell_alarm(db_path: str, alarm: str | None) -> None:
    """Warn that the restored ledger will record nothing, because a checkpoint knows another ledger."""
    if alarm is not None:
        output.error(f"{db_path}: restored, it would answer and take nothing: {alarm}", word="ALARM")


def _tell(db_path: str, done: Restored) -> None:
    if done.replaced is None:  # else it was said before anything was replaced
        _tell_alarm(db_path, done.alarm)
    if done.undone:
        output.remark("an earlier restore had been stopped on its way; it was undone first")
    if done.left_out:
        output.remark(f"the backup's views were left out: {done.left_out}")
    if done.erased:
        players = ", ".join(map(str, done.erased))
        output.remark(f"erased again, for they were erased since the backup was made: players {players}")
    if done.reasons_erased:
        output.remark(f"erased again: {counted(done.reasons_erased, 'reason')} of corrections, erased since the backup")
    if done.erased_unknown:
        output.remark("who was erased since the backup was made cannot be read here: erase them again")
    if done.replaced is not None:
        output.remark(f"the files that stood there are in {done.replaced}")
    rows = "with its views" if done.views else "without views, which the next command builds"
    output.remark(f"{db_path}: restored, {entries(done.head.size)}, {counted(done.names, 'name')}, {rows}")
    output.answer(str(done.head))


@click.command()
@DB
@click.option("--journal", "address", required=True, metavar="ADDRESS", help="Where to: a database, or the word file.")
@click.option("--schema", metavar="NAME", help="In which schema there; by default the name of DB.")
@click.option("--durability", type=click.Choice(DURABILITIES), help="As of 'init'.")
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
def move(db_path: str, address: str, schema: str | None, durability: str | None, *, yes: bool) -> None:
    """Move a ledger from files onto a server of PostgreSQL, or back into files.

    Nobody records while it is moved. Everything is proven before, and compared afterwards: heads, names and reasons.
    Then the old place takes nothing more and says where the ledger went, so that there are never two histories. What
    was stopped is gone on with by the same command. The old files are in a folder such as club.moved-1;
    schemas that were left stay, for their owner to drop. The log of what was refused and sessions go along.

    \b
    Example:
      rating-ledger init club.db --journal postgresql://ledger@db1/chess --sql | psql -h db1 chess postgres
      rating-ledger move club.db --journal postgresql://ledger@db1/chess
      rating-ledger move club.db --journal file
    """
    if address == "file":
        if schema or durability:
            raise click.UsageError("--schema and --durability are of a server")
        confirmed(f"Move {db_path} into files?", yes=yes)
        with Bars() as bars:
            head = backups.move_to_files(db_path, bars)
        output.answer(str(head))
        output.remark(f"{db_path}: in files from now on; the schemas on the server take nothing more")
        return
    place = place_on_server(db_path, address, schema, durability)
    confirmed(f"Move {db_path} to {place.shown}, schema {place.schema}?", yes=yes)
    with Bars() as bars:
        moved = backups.move_to_server(db_path, place, bars)
    output.answer(str(moved.head))
    for fault in moved.faults:
        output.remark(f"note: {fault}")
    output.remark(f"{db_path}: on the server from now on; the files that were left are in {moved.folder}")
