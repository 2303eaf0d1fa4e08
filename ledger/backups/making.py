"""The making of a backup: a consistent copy of a ledger's files, made while others write, and verified.

Each file is copied under one read snapshot, in the order views, journal, people. Views are written after the journal
and people before it, so the copied views know no entry that the copied journal lacks, and the copied people know
every player whom the journal names. A new name replaces an old one in the people file only after the journal's
commitment to it: if a player was renamed between the two copies, both are made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import attrs

from ledger.audit import reader
from ledger.backups import disk
from ledger.backups.local_copies import ledger_as_files
from ledger.errors import CorruptError, LedgerError, StorageError, one_line
from ledger.facts.instants import instant_text
from ledger.facts.words import TreeHead
from ledger.handle import OpenLedger, utc_now
from ledger.journal.sqlite_keys import query_by_keys
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ratings import views_file
from ledger.ratings.views import Views
from ledger.runtime import sqlite
from ledger.runtime.calls import checked
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, no_progress

PAGES = 4_096  # copied at once, 16 MB: between them progress is shown

TRIES = 5  # to copy journal and people without a renaming between
# In the order of keys ';' follows ':', so that these two enclose every new name.
_RENAMINGS = "key >= 'renamed:' AND key < 'renamed;'"


@attrs.frozen
class Backup:
    """A backup that was made.

    Attributes:
        folder: of the backup.
        head: size and root of its journal, computed from the copied bytes.
        names: the number of names compared with their commitments.
        erased: the number of erased people.
        views: the position of the copied views; None if the backup has no views.
        left_out: why the views of the ledger are not in the backup; empty if they are or there are none.
        bytes: size of all files.
    """

    folder: Path
    head: TreeHead
    names: int
    erased: int
    views: int | None
    left_out: str
    bytes: int


@checked
def backup(
    path: str | Path,
    folder: str | Path,
    *,
    with_views: bool = True,
    clock: Callable[[], datetime] = utc_now,
    progress: Progress = no_progress,
) -> Backup:
    """Copy a ledger into *folder* as one consistent set, while others read and write it.

    The copied journal is re-hashed and every copied name compared before the folder appears, complete. Views that
    cannot be read are left out, for they follow from the journal.

    Args:
        path: the journal's file.
        folder: a new or empty folder.
        with_views: False leaves the views out; after a restore the next command builds them.
        clock: gives the time for the manifest, in UTC.
        progress: receives reports of what is being done.

    Raises:
        StorageError: *folder* is not empty or cannot be written, or a file of the ledger is missing.
        CorruptError: the journal or a name does not agree with its commitment.
    """
    target = _whole_path(folder)
    with OpenLedger.open(_whole_path(path), projectors=(), read_only=True, clock=clock) as ledger:
        made_at = instant_text(ledger.now_ms())
    _refuse_taken(target)
    with ledger_as_files(_whole_path(path), progress, with_views=with_views) as source:
        return _backup(source, target, made_at, progress, with_views=with_views)


def _backup(source: Path, target: Path, made_at: str, progress: Progress, *, with_views: bool) -> Backup:
    place = target.with_name(f"{target.name}.making")
    with disk.locked_folder(place):
        made = place / disk.SET
        disk.make_empty_folder(made, disk.permissions_of(source.parent))
        old, new = ledger_files(source), ledger_files(made / source.name)
        left_out = _copy_views(old["views"], new["views"], progress) if with_views else ""
        for _ in range(TRIES):
            for role in ("journal", "people"):
                new[role].unlink(missing_ok=True)
            _copy(old["journal"], new["journal"], progress)
            _copy_people(old["people"], new["people"])
            # The journal is copied first: a renaming between the two would give names that the copy does not seal.
            if _renamings(old["journal"]) == _renamings(new["journal"]):
                break
        else:
            words = "players are renamed again and again while it is copied; try again later"
            raise StorageError(str(old["people"]), words)
        head, names = _prove(source, new, progress)
        reached, left_out = (None, left_out) if not new["views"].exists() else _judge_views(new)
        kept = disk.Manifest(made_at, program_version(), head, _described(new))
        disk.write_manifest(made, kept)
        # All is on the disk before the folder has its name: a backup that is there after a power cut is whole.
        disk.flush_folder(made)
        # Checked again, because files may have appeared there while all was copied and proven.
        _refuse_taken(target)
        disk.move(made, target)
        disk.flush(target.parent)
    size = sum(file.bytes for file in kept.files.values())
    return Backup(target, head, names.checked, names.erased, reached, left_out, size)


def program_version() -> str:
    """Return the version of the program; ``unknown`` for a checkout that is not installed."""
    try:
        return version("rating-ledger")
    except PackageNotFoundError:
        return "unknown"


def _whole_path(path: str | Path) -> Path:
    try:
        return Path(path).resolve()
    except (OSError, ValueError) as error:  # links in a circle; a NUL in the name
        raise StorageError(str(path), f"cannot be the name of a file or folder: {error}") from None


def ledger_files(path: Path) -> dict[str, Path]:
    """Return, by role, the files of the ledger whose journal is at *path*, existing or not."""
    return {"journal": path, "people": sidecar(path, "people"), "views": sidecar(path, "views")}


def _refuse_taken(target: Path) -> None:
    with disk.translate_os_errors(target):
        if not target.parent.is_dir():
            raise StorageError(str(target), f"cannot be made: there is no folder {target.parent}")
        if target.exists() and not target.is_dir():
            raise StorageError(str(target), "is a file; give the name of a folder that is not there yet")
        if os.path.ismount(target):  # ``Path.is_mount`` does not exist on Windows before Python 3.12
            raise StorageError(str(target), "is where a file system begins; give a folder inside it")
        if target.exists() and any(target.iterdir()):
            raise StorageError(
                str(target), "holds something already; a backup is never written over: give a new folder"
            )


# --- copying ------------------------------------------------------------------------------------------------


def _copy(source: Path, target: Path, progress: Progress) -> None:
    """Copy a database under one read snapshot, even if others write meanwhile."""

    def report(_: int, remaining: int, total: int) -> None:
        progress(f"copy {source.name}", total - remaining, total)

    # from the first byte on: a journal that its owner alone may read is no more open in a copy
    disk.new_file(target, disk.permissions_of(source)).close()
    with closing(sqlite.connect(source, read_only=True)) as original, closing(sqlite.connect(target)) as copy:
        original.execute("BEGIN")
        original.execute("SELECT count(*) FROM sqlite_master").fetchone()  # here the snapshot begins
        copy.execute("PRAGMA synchronous=OFF")  # it is flushed before it counts
        # In steps, so that progress can be reported; the read snapshot above keeps them consistent.
        original.copy_to(copy, pages=PAGES, progress=report)


def _renamings(path: Path) -> int:
    with closing(sqlite.connect(path, read_only=True)) as connection:
        return int(connection.execute(query_by_keys(connection, "count(*)", _RENAMINGS)).fetchone()[0])


def _copy_people(source: Path, target: Path) -> None:
    """Copy the people under one read snapshot, row by row: what free pages still hold of erased ones stays behind."""
    # VACUUM INTO takes a file that is empty, and leaves its permissions: names are their owner's from the first byte
    # on.
    disk.new_file(target, disk.PRIVATE & disk.permissions_of(source)).close()
    with closing(sqlite.connect(source, read_only=True)) as people:
        (verdict,) = people.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise CorruptError(str(source), 0, f"{one_line(verdict)}; {sqlite.RESTORE}")
        try:
            people.attempt("VACUUM INTO ?", (str(target),))
        except sqlite.sqlite3.DatabaseError as error:
            sqlite.raise_translated(target, error)  # this file alone is written
    with closing(sqlite.connect(target)) as copy:
        # VACUUM INTO does not copy the mode of the log, which all files of a ledger have.
        copy.execute("PRAGMA journal_mode=WAL")


def _copy_views(source: Path, target: Path, progress: Progress) -> str:
    """Copy the views if there are any; return why they were left out, empty if they were not."""
    if not source.exists():
        return ""
    try:
        _copy(source, target, progress)
    except CorruptError as error:
        target.unlink(missing_ok=True)
        return _without_path(error)
    return ""


# --- proving ------------------------------------------------------------------------------------------------


def _prove(source: Path, copies: Mapping[str, Path], progress: Progress) -> tuple[TreeHead, reader.NamesVerdict]:
    """Re-hash the copied journal and compare the copied names and reasons with it; CorruptError if any is false."""
    with collector_paused():
        journal = reader.verify_journal(str(copies["journal"]), None, partial(progress, "journal"))
    falsehoods = journal.falsehoods
    if not falsehoods:
        people = reader.verify_people(str(copies["journal"]), str(copies["people"]))
        falsehoods = people.falsehoods
    if falsehoods:
        raise CorruptError(str(source), 0, f"{falsehoods[0]}; no backup was made: run 'audit', restore an older backup")
    return journal.head, people.names


def _judge_views(copies: Mapping[str, Path]) -> tuple[int | None, str]:
    """Return the position of copied views, or None and why they cannot be in the set, after removing them from it."""
    copy = copies["views"]
    try:
        with (
            closing(SqliteJournal(copies["journal"], read_only=True)) as journal,
            closing(Views(copy, (), journal)) as made,
        ):
            # opening them compares the journal's root there
            reached = made.position()
            views_file.check_integrity(made.connection, copy)
        if reached:
            return reached, ""
        why = "they say that they know no entry"
    except LedgerError as error:
        why = _without_path(error)
    copy.unlink()
    return None, why


def _without_path(error: LedgerError) -> str:
    """Return an error's message, without the place of a copy that is gone."""
    return str(error).removeprefix(f"{getattr(error, 'path', '')}: ")


# --- describing ---------------------------------------------------------------------------------------------


def _described(copies: Mapping[str, Path]) -> dict[str, disk.CopiedFile]:
    """Return the manifest's description of each file, after removing the sidecar files of readers."""
    described = {}
    for role, copy in copies.items():
        # empty: nothing was written since the copies were closed
        for ending in ("-wal", "-shm"):
            copy.with_name(copy.name + ending).unlink(missing_ok=True)
        if copy.exists():
            with copy.open("rb") as file:
                # user_version: bytes 60 to 63 of the header, the highest first (file format of SQLite, 1.3); a
                # connection would leave sidecar files
                layout = int.from_bytes(file.read(64)[60:])
            described[role] = disk.CopiedFile(copy.name, *disk.size_and_sha256(copy), layout)
    return described
