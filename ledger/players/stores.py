"""The stores of a ledger, of its journal, its names and its tokens: files in one folder, or schemas on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ledger.auth.token_store import TokenStore
from ledger.auth.tokens_file import TokensFile
from ledger.errors import StorageError
from ledger.journal import Journal, StoredJournal
from ledger.journal.settings_file import ServerPlace, SettingsFile
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.people import People
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.lazy import Lazy
from ledger.runtime.ledger_files import sidecar

if TYPE_CHECKING:
    from ledger.players import server_stores
else:  # no ledger in files needs it
    server_stores = Lazy("ledger.players.server_stores")

READ_ONLY = "it was opened for reading only"


def open_stores(path: Path, *, read_only: bool = False) -> tuple[StoredJournal, People]:
    """Open journal and names of the ledger at a path: files, or on the server that its ``club.toml`` names.

    Raises:
        StorageError: a file or a server refuses, or both a file and a server hold a journal.
        CorruptError: a file is damaged.
    """
    place = place_of(path)
    if place is None:
        return SqliteJournal(path, read_only=read_only), SqlitePeople(sidecar(path, "people"), read_only=read_only)
    journal, people = server_stores.open_on_server(place)
    if read_only:
        journal.refusal = people.refusal = READ_ONLY
    return journal, people


def place_of(path: Path) -> ServerPlace | None:
    """Return the server of the ledger at a path; None for files; refuse if both hold a journal.

    Raises:
        StorageError: both do, or the settings cannot be read.
    """
    settings = SettingsFile(path)
    place = _place(path, settings)
    if place is not None and path.exists():
        raise StorageError(
            str(path),
            f"stands there, and {settings.path.name} says that the journal is on a server: move the file aside, or "
            "take the line 'journal' away, whichever of the two is not the ledger",
        )
    return place


def open_names(path: Path) -> People:
    """Open the names of the ledger at a path without the journal.

    Raises:
        StorageError: a file or a server refuses.
    """
    place = _place(path, SettingsFile(path))
    return SqlitePeople(sidecar(path, "people")) if place is None else server_stores.open_names_on_server(place)


def token_store_of(path: Path, journal: Journal) -> TokenStore:
    """Return the token store of the journal at a path."""
    file = TokensFile(sidecar(path, "tokens"), lambda: journal.root_at(1))
    return file if isinstance(journal, SqliteJournal) else server_stores.token_store_of(journal, file)


def _place(path: Path, settings: SettingsFile) -> ServerPlace | None:
    """Return the place of the journal by the settings; about an existing file they may be wrong."""
    try:
        return settings.server()
    except StorageError:
        # a caller that looks for the checkpoints of such a ledger opens it for reading only, and reports why
        if not path.exists():
            raise
        return None


def make_on_server(place: ServerPlace, secret: bytes | None) -> tuple[StoredJournal, People]:
    """Act as ``server_stores.make_on_server``."""
    return server_stores.make_on_server(place, secret)
