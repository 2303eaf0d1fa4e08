"""The proof of a backup: it is restored in a temporary folder and audited there; and the newest backup of a ledger.

``proven.json`` in the folder of a backup says so. It is written last, so that a proof that was stopped leaves none, and
it names the manifest by its hash. It speaks of the files as they were then. Whoever can write the folder can write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import attrs
import orjson

from ledger.answers.health import OutsideMark
from ledger.audit.audit import Verdict, audit
from ledger.backups import disk
from ledger.backups.making import program_version
from ledger.backups.restoring import restore
from ledger.errors import LedgerError, StorageError
from ledger.facts.instants import instant_ms, instant_text
from ledger.facts.words import TreeHead
from ledger.handle import OpenLedger, utc_now
from ledger.runtime.calls import checked
from ledger.runtime.ledger_files import replace_file
from ledger.runtime.long_work import Progress, no_progress

NAME = "proven.json"
FORMAT = "rating-ledger proof/1"


@attrs.frozen
class StoredBackup:
    """A backup in its folder.

    Attributes:
        folder: of the backup.
        manifest: its description.
        proven_at: an instant in UTC, when it was restored and audited; None if it was not.
    """

    folder: Path
    manifest: disk.Manifest
    proven_at: str | None

    @property
    def fault(self) -> str:
        """The first file that is missing or has another size than the one that was backed up; empty if none."""
        for file in self.manifest.files.values():
            path = self.folder / file.name
            if not path.is_file():
                return f"{path} is missing"
            with disk.translate_os_errors(path):
                size = path.stat().st_size
            if size != file.bytes:
                return f"{path} has {size:,} bytes, not {file.bytes:,}"
        return ""


@checked
def prove_backup(
    folder: str | Path, *, clock: Callable[[], datetime] = utc_now, progress: Progress = no_progress
) -> Verdict:
    """Restore a backup in a temporary folder next to it, answer from it, and audit what is there.

    If everything is true, ``proven.json`` is written into the backup; an earlier one is removed first.

    Args:
        folder: the backup.
        clock: gives the time of the proof, in UTC.
        progress: receives reports of what is being done.

    Raises:
        StorageError: the backup is incomplete, the disk refuses, or the derived rows cannot be compared.
        CorruptError: the backup is false.
    """
    source = Path(folder).resolve()
    manifest, manifest_sha256 = disk.read_manifest(source), _manifest_sha256(source)
    name = manifest.files["journal"].name
    with disk.translate_os_errors(source):
        (source / NAME).unlink(missing_ok=True)
        with disk.temporary_folder(source.parent, f"{Path(name).stem}.proof-") as place:
            restored = restore(source, place / name, since=manifest.head, progress=progress)
            with OpenLedger.open(restored.path, read_only=True) as ledger:
                ledger.ensure_up_to_date(progress)  # as the first command after a restore does
            verdict = audit(restored.path, since=manifest.head, progress=progress)
        if verdict and verdict.rows_until != verdict.entries:
            reasons = "; ".join(map(str, verdict.not_compared))
            raise StorageError(str(source), f"is not proven, for its derived rows cannot be compared: {reasons}")
        if verdict:
            members = {
                "format": FORMAT,
                "proven_at": instant_text(int(clock().timestamp() * 1000)),
                "program": program_version(),
                "head": str(verdict.head),
                "manifest": manifest_sha256,
            }
            members["sha256"] = disk.checksum(members)
            replace_file(source / NAME, orjson.dumps(members, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return verdict


def newest_backup(
    folder: Path, is_wanted: Callable[[TreeHead], bool], *, only_proven: bool = False
) -> StoredBackup | None:
    """Return the newest backup in a folder whose head is wanted; None if there is none.

    The folder may be a backup itself. Folders that are no backups, and backups whose manifest is damaged, are passed
    over; with *only_proven* also those that were not restored and audited.

    Raises:
        StorageError: the folder cannot be read.
    """
    candidates = (
        backup
        for backup in _stored_backups(folder)
        if is_wanted(backup.manifest.head) and not (only_proven and backup.proven_at is None)
    )
    return max(candidates, key=lambda backup: backup.manifest.made_at, default=None)


def backup_mark(ledger: OpenLedger, folder: Path, max_hours: int, *, only_proven: bool = False) -> OutsideMark:
    """Return the mark of the newest backup of a ledger in a folder, for the answer about its health."""
    noun = "proven backup of this ledger" if only_proven else "backup of this ledger"
    mark = OutsideMark(part="backup", noun=noun, place=str(folder), max_hours=max_hours)

    def is_of(head: TreeHead) -> bool:
        return is_head_of(ledger, head)

    try:
        newest = newest_backup(folder, is_of, only_proven=only_proven) if folder.is_dir() else None
        if newest is not None:
            made_ms, fault = instant_ms(newest.manifest.made_at), newest.fault and f"{newest.fault}: make a backup anew"
            return attrs.evolve(mark, made_ms=made_ms, fault=fault, proven=newest.proven_at)
        if only_proven and folder.is_dir() and newest_backup(folder, is_of):
            return attrs.evolve(mark, place=f"{folder}, only unproven ones")
    except (LedgerError, OSError) as error:
        return attrs.evolve(mark, fault=f"the backups cannot be looked at: {error}")
    return mark


def is_head_of(ledger: OpenLedger, head: TreeHead) -> bool:
    """Return whether a head is one of this ledger, now or earlier."""
    return head.size <= ledger.journal.size() and ledger.journal.root_at(head.size) == head.root


def _stored_backups(folder: Path) -> Iterator[StoredBackup]:
    with disk.translate_os_errors(folder):
        places = [folder, *sorted(folder.iterdir())]
    for place in places:
        with suppress(StorageError):
            yield StoredBackup(place, disk.read_manifest(place), _proven_at(place))


def _proven_at(folder: Path) -> str | None:
    """Return when the backup in a folder was proven; None if the proof is missing, damaged, or of another backup."""
    path = folder / NAME
    try:
        with path.open("rb") as file:
            members = orjson.loads(file.read(disk.MAX_BYTES + 1))
        seal = members.pop("sha256")
        fits = members["format"] == FORMAT and members["manifest"] == _manifest_sha256(folder)
        return str(members["proven_at"]) if fits and seal == disk.checksum(members) else None
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def _manifest_sha256(folder: Path) -> str:
    return disk.size_and_sha256(folder / disk.NAME)[1]
