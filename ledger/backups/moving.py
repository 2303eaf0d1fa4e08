"""The moving of a ledger between files and a server, so that never two copies accept entries.

Recording stops while it is moved. The old place refuses new entries before the new one counts, and states where the
ledger went; an interrupted move is run again and continues after the rows copied so far.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import attrs

from ledger.audit.server_objects import server_faults
from ledger.backups import disk
from ledger.backups.server_copies import copy_to_files, copy_to_server
from ledger.backups.token_copies import tokens_to_file, tokens_to_server
from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.journal.settings_file import OF_A_SERVER, ServerPlace, SettingsFile, server_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.server_stores import open_on_server
from ledger.runtime import sqlite
from ledger.runtime.calls import checked
from ledger.runtime.ledger_files import journal_file, sidecar
from ledger.runtime.long_work import Progress, no_progress

_GONE = "the ledger went to "  # begins the name of the trigger that refuses entries in a file that was left


@attrs.frozen
class ServerMove:
    """A ledger that was moved onto a server.

    Attributes:
        faults: a sentence for each object in the schemas that this program did not make or that is missing.
        folder: with the former files.
    """

    head: TreeHead
    faults: tuple[str, ...]
    folder: Path


@checked
def move_to_server(path: str | Path, place: ServerPlace, progress: Progress = no_progress) -> ServerMove:
    """Move a ledger in files onto a server, and its files into a folder next to them.

    Args:
        path: the journal's file.
        place: the server and the schema, which is made unless a user with that right made it before.
        progress: as of ``copy_to_server``.

    Raises:
        StorageError: the server or a file refuses; unless it says otherwise, the ledger is where it was.
        CorruptError: the files are false, or the server did not store what it received.
    """
    path = journal_file(path)
    if (there := server_of(path)) is not None:
        raise StorageError(str(path), f"is on a server already, in the schema {there.schema} of {there.shown}")
    with closing(sqlite.connect(path)) as connection:
        gone = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE ?", (f"{_GONE}%",)).fetchone()
    head = _sent(path, place, progress) if gone is None else _arrived(path, place, gone[0])
    # before the files go: an interrupted operator finds both, and the message with the next step
    SettingsFile(path).put(journal=place.address, schema=place.schema, durability=place.durability)
    return ServerMove(head, tuple(server_faults(place.address, place.schema)), _move_to_folder(path))


def _sent(path: Path, place: ServerPlace, progress: Progress) -> TreeHead:
    """Copy everything while recording stops, and make the file refuse new entries."""
    with closing(SqliteJournal(path)) as journal, journal.writing():
        head = copy_to_server(path, place.address, place.schema, progress=progress).head
        there, people = open_on_server(place)
        with closing(people), closing(there), there.writing():
            pass  # a user who may not record there gets the refusal now
        # The root of the first entry alone: it identifies this ledger, and stays while the journal grows.
        tokens_to_server(path, journal.root_at(1), place, progress)
    # The lock of the journal is free for a moment between the two: what was recorded then is not on the server.
    with closing(sqlite.connect(path)) as connection, sqlite.write_transaction(connection):
        # Read within the transaction that makes the guard: no entry can be recorded between the look and the guard.
        last = connection.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()[0]
        if last != head.size:
            raise StorageError(str(path), "an entry was recorded while it was moved: move it again; it is where it was")
        # A guard in the file itself: a process that has it open, or another release, is refused as well. Its name says
        # where the ledger went: a second run after an interruption reads that there, and so does the audit.
        name = f"{_GONE}{place.shown}, schema {place.schema}".replace('"', "'")
        text = name.replace("'", "''")
        connection.execute(
            f"CREATE TRIGGER \"{name}\" BEFORE INSERT ON journal BEGIN SELECT raise(ABORT, '{text}'); END"
        )
    return head


def _arrived(path: Path, place: ServerPlace, name: str) -> TreeHead:
    """Return the head of the rows that arrived before the move was interrupted; the file has accepted none since."""
    if name != f"{_GONE}{place.shown}, schema {place.schema}".replace('"', "'"):
        raise StorageError(str(path), f"{name}: it cannot be moved to another place from here")
    journal, people = open_on_server(place)
    with closing(people), closing(journal), closing(SqliteJournal(path, read_only=True)) as left:
        head = left.head()
        # At the size of the file, not at the head: others may have recorded on the server meanwhile.
        if journal.root_at(head.size) != head.root:
            raise StorageError(str(path), f"has the head {head}, which is no part of the journal on the server")
    return head


def _move_to_folder(path: Path) -> Path:
    """Move journal, people and tokens into a folder of their own; views, key and checkpoints stay where they are."""
    number = 1
    while (folder := path.with_name(f"{path.stem}.moved-{number}")).exists():
        number += 1
    folder.mkdir(mode=0o700)
    # the journal last: as long as it is there it is the ledger
    for file in (sidecar(path, "people"), sidecar(path, "tokens"), path):
        for ending in ("-wal", "-shm", "-journal", ""):
            if (part := Path(f"{file}{ending}")).exists():
                disk.move(part, folder / part.name)
    disk.flush(path.parent)
    return folder


@checked
def move_to_files(path: str | Path, progress: Progress = no_progress) -> TreeHead:
    """Move a ledger on a server into files next to its views, and return its head.

    The schemas stay, and accept no more entries.

    Raises:
        StorageError: it is in files already, a file is in the way, or the server refuses.
    """
    path = journal_file(path)
    settings = SettingsFile(path)
    place = settings.server()
    if place is None:
        raise StorageError(str(path), "is in files already")
    journal, people = open_on_server(place)
    with closing(people), closing(journal), journal.writing() as writer:
        if not path.exists():
            copy_to_files(place.address, place.schema, path, progress)
        there = TreeHead(writer.size, journal.root_at(writer.size))
        with closing(SqliteJournal(path, read_only=True)) as copy:
            if (head := copy.head()) != there:
                message = f"has the head {head}, and the server {there}: move the file away and try again"
                raise StorageError(str(path), message)
        tokens_to_file(place, path, journal.root_at(1), progress)
        # last, in the transaction that kept others out: until it is committed the server is the ledger
        journal.mark_moved(str(path.absolute()))
    settings.drop(*OF_A_SERVER)
    return head
