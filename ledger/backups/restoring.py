"""Restoring a backup: copied beside the ledger's place, proven there as the audit proves, and then put in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import attrs

from ledger.audit import reader
from ledger.audit.audit import audit
from ledger.backups import comparing, files, manifest, replacing
from ledger.backups.comparing import Erased, Loss
from ledger.backups.making import SET, places
from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.facts.words import TreeHead
from ledger.journal.checkpoints import Checkpoints
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.people import People
from ledger.ratings import views_file
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import RESTORE_PLAN, restoring
from ledger.runtime.long_work import Progress, silent

RESTORE = "restore"  # who has somebody erased again
EARLIER_VIEWS = "they are not of this program's read models and schemes"


@attrs.frozen
class Restored:
    """A ledger that was put in place.

    Attributes:
        path: its journal.
        head: size and root of the journal, recomputed from its bytes.
        names: names compared with their commitments.
        views: True where the backup's views came along; else the next command builds them.
        left_out: why views that the backup has did not come along, or nothing.
        erased: players who had been erased since the backup was made, and were erased in it again.
        erased_unknown: True where a ledger was replaced whose people cannot be read, so that those are not known.
        replaced: the folder that holds the files that stood there before; None where none stood there.
        reasons_erased: how many reasons of corrections had been erased since, and were erased in it again.
        undone: True where an earlier restore had been stopped on its way, and was undone first.
        alarm: why it is not the ledger of the last checkpoint that is kept for this place, so that it takes nothing
            until the right file is back; None where it is, or where none is kept.
    """

    path: Path
    head: TreeHead
    names: int
    views: bool
    left_out: str = ""
    erased: tuple[int, ...] = ()
    erased_unknown: bool = False
    reasons_erased: int = 0
    replaced: Path | None = None
    undone: bool = False
    alarm: str | None = None


def restore(
    folder: str | Path,
    path: str | Path,
    *,
    replace: bool = False,
    since: TreeHead | None = None,
    with_views: bool = True,
    approve: Callable[[Loss], object] = lambda _: None,
    progress: Progress = silent,
) -> Restored:
    """Put the ledger of a backup in place, after it was proven: hashes, journal, names, texts, views.

    Args:
        folder: the backup.
        path: where the journal goes; people and views go beside it.
        replace: True allows that a ledger stands there; its files are moved into a folder beside it, never deleted.
        since: a head kept outside; everything before it must be a prefix of the backup's journal.
        with_views: False leaves the backup's views out, whatever became of them; the next command builds them.
        approve: where a ledger stands there, told what that has and the backup has not, while all others are kept
            away from it; an exception stops the restore with everything as it was.
        progress: called with words on what is being done.

    Raises:
        StorageError: files stand there and *replace* is False, another process has them open, a file of the backup is
            missing or is not the one that was backed up, or the disk refuses.
        CorruptError: the backup is not a true ledger.
    """
    source, target = Path(folder), Path(path).resolve()
    _refuse_folder(target)
    place = restoring(target)
    with files.workshop(place, unfinished=RESTORE_PLAN):
        undone = replacing.undo(place, target)
        kept = manifest.read(source)
        _refuse_standing(target, replace=replace, undone=undone)
        staged = place / SET
        files.make_empty(staged)
        copy = _stage(source, kept, staged / target.name, with_views=with_views, progress=progress)
        left_out = _leave_out_views(copy["views"])
        head, names = _prove(source, kept, copy["journal"], since, progress)
        alarm = _alarm(copy["journal"], target)
        found = Restored(target, head, names, copy["views"].exists(), left_out, undone=undone, alarm=alarm)
        if not replace or not replacing.standing(target):
            _finish(copy)
            replacing.put_in_place(place, target)
            return found
        with replacing.held(target) as present:
            approve(attrs.evolve(comparing.loss(present, copy["journal"]), alarm=alarm))
            gone = comparing.erased(present, copy["journal"])
            _erase(copy, gone)
            _finish(copy)
            replaced = replacing.replace(place, target, present)
        return attrs.evolve(
            found,
            names=names - len(gone.players),
            erased=gone.players,
            erased_unknown=gone.unknown,
            reasons_erased=len(gone.reasons),
            replaced=replaced,
        )


def _alarm(copy: Path, target: Path) -> str | None:
    """Whether a ledger that has this journal would be taken for another one by the checkpoint kept for its place."""
    with closing(SqliteJournal(copy, read_only=True)) as journal:
        return Checkpoints(target, journal).fault()


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise StorageError(str(target), "is a folder; give the name of the journal's file")
    if not target.parent.is_dir():
        raise StorageError(str(target), f"cannot be made: there is no folder {target.parent}")


def _refuse_standing(target: Path, *, replace: bool, undone: bool) -> None:
    there = replacing.standing(target)
    if there and not replace:
        names = ", ".join(file.name for file in there[:3]) + (f" and {len(there) - 3} more" if there[3:] else "")
        before = "a restore that was stopped is undone, and " if undone else ""
        raise StorageError(
            str(target),
            f"{before}something stands there already ({names}); give another DB, or --replace to move it aside",
        )


def _stage(
    source: Path, kept: manifest.Manifest, path: Path, *, with_views: bool, progress: Progress
) -> Mapping[str, Path]:
    """Copy the files of a backup under the names that they will have, each held against the manifest."""
    copy = places(path)
    for role, file in kept.files.items():
        if role == "views" and not with_views:
            continue
        old = source / file.name
        way_out = "; --without-views does without it" if role == "views" else ""
        if not old.is_file():
            raise StorageError(str(old), f"is missing from the backup; use another backup{way_out}")
        why, size = "its SHA-256 is not the one in the manifest", old.stat().st_size
        if size == file.bytes:
            permissions = files.PRIVATE if role == "people" else files.USUAL
            if files.copy(old, copy[role], permissions, partial(progress, f"copy {file.name}")) == file.sha256:
                continue
        else:
            why = f"{size:,} bytes, not {file.bytes:,}"
        raise StorageError(str(old), f"is not the file that was backed up ({why}); use another backup{way_out}")
    return copy


def _leave_out_views(copy: Path) -> str:
    """Take out views that the next command would build anew anyway; why, or nothing."""
    if not copy.exists():
        return ""
    why = ""
    try:
        with closing(sqlite.connect(copy, read_only=True)) as connection:
            sqlite.check_identity(connection, copy, views_file.APPLICATION_ID, views_file.LAYOUT)
            with sqlite.storage_errors(copy):
                why = "" if views_file.are_rated_alike(connection) else EARLIER_VIEWS
    except StorageError as error:
        why = str(error).removeprefix(f"{copy}: ")
    if why:
        copy.unlink()
    return why


def _prove(
    source: Path, kept: manifest.Manifest, copy: Path, since: TreeHead | None, progress: Progress
) -> tuple[TreeHead, int]:
    """The whole audit of the copy; its head and how many names were compared."""
    try:
        verdict = audit(copy, since=since, progress=progress)
    except LedgerError as error:
        words = str(error).replace(f"{copy.parent}/", "")
        raise CorruptError(str(source), 0, f"cannot be proven: {words}") from error
    if verdict.falsehoods:
        more = f" (and {len(verdict.falsehoods) - 1} more)" if len(verdict.falsehoods) > 1 else ""
        raise CorruptError(str(source), 0, f"is false: {verdict.falsehoods[0]}{more}; nothing was restored")
    if verdict.head != kept.head:
        raise CorruptError(
            str(source), 0, f"its journal has head {verdict.head}, the manifest says {kept.head}; use another backup"
        )
    return verdict.head, verdict.names_checked


def _erase(copy: Mapping[str, Path], gone: Erased) -> None:
    """Forget these players and reasons in the copy, which must be true afterwards."""
    if not (gone.players or gone.reasons):
        return
    with closing(People(copy["people"])) as people:
        people.erasures.begin(gone.players, RESTORE)  # the next command that may write records it
        people.clean_whole()
        if gone.reasons:
            people.reasons.forget(gone.reasons)
    found = reader.verify_people(str(copy["journal"]), str(copy["people"]))
    if found.falsehoods:
        raise CorruptError(str(copy["people"]), 0, str(found.falsehoods[0]))


def _finish(copy: Mapping[str, Path]) -> None:
    """Take away what readers left beside the copies, and have the disk keep these."""
    folder = copy["journal"].parent
    for file in folder.iterdir():
        if file not in copy.values():
            file.unlink()
    files.flush_set(folder)
