"""A ledger as local files, for programs that read only files: its own files, or a copy of one on a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ledger.backups import disk
from ledger.backups.server_copies import copy_to_files
from ledger.journal.checkpoints import CheckpointFiles
from ledger.journal.settings_file import SettingsFile
from ledger.players.stores import place_of
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import journal_file, sidecar
from ledger.runtime.long_work import Progress, no_progress


@contextmanager
def ledger_as_files(path: str | Path, progress: Progress = no_progress, *, with_views: bool = True) -> Iterator[Path]:
    """Yield the path of a ledger's journal as a file, with the other files next to it.

    A ledger on a server is copied into files.

    The copy is exact, row by row, in a folder of its own next to the views, which other users may not enter. It is
    deleted when the block ends or, if the process is killed before, with the next copy.

    Args:
        path: of the ledger.
        progress: receives the progress of the copy.
        with_views: whether the views are copied, too.

    Raises:
        StorageError: the server refuses, a file cannot be made, or a journal is in a file and on a server.
        CorruptError: there is a row that no file of a ledger can hold.
    """
    path = journal_file(path)
    place = place_of(path)
    if place is None:
        yield path
        return
    with disk.temporary_folder(path.parent, f"{path.stem}.copy-") as folder:
        copy = folder / path.name
        # the views first: they know no entry then that the copied journal lacks
        if with_views and sidecar(path, "views").exists():
            with (
                closing(sqlite.connect(sidecar(path, "views"), read_only=True)) as source,
                closing(sqlite.connect(sidecar(copy, "views"))) as target,
            ):
                source.copy_to(target)
        copy_to_files(place.address, place.schema, copy, progress)
        # The audit looks for them next to the journal: for a copy elsewhere it would find none.
        checkpoints = CheckpointFiles(path).place
        if checkpoints.exists():
            SettingsFile(copy).put(checkpoints=str(checkpoints.absolute()))
        yield copy
