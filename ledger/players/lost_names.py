"""Lost names: count the players whom the people file lacks, and let the ledger go on without their names."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ledger.errors import StorageError
from ledger.journal import Journal
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.verified_names import add_lost_players, lost_players, refuse_foreign_people, registration_keys
from ledger.runtime.ledger_files import atomic_file


def count_lost_names(journal: Journal, path: str | Path) -> int:
    """Return how many registered players have no row in the people file at *path*; all, if the file is missing.

    Raises:
        StorageError: people in it are not whom the journal registered, or only its log is left.
    """
    if not Path(path).exists():
        _refuse_log_alone(path)
        return len(registration_keys(journal))
    with closing(SqlitePeople(path, read_only=True)) as people:
        refuse_foreign_people(journal, people)
        return len(lost_players(journal, people))


def accept_lost_names(journal: Journal, path: str | Path) -> int:
    """Give the players whose names are lost an empty row, as after an erasure; games and ratings stay.

    A missing people file is made again. Returns the number of players whose names were lost.

    Raises:
        StorageError: as ``count_lost_names``; nothing was written.
    """
    with journal.writing():  # no player is registered meanwhile
        if Path(path).exists():
            with closing(SqlitePeople(path)) as people:
                return add_lost_players(journal, people)
        _refuse_log_alone(path)
        # with some of the rows it would be taken for the true file
        with atomic_file(path) as making, closing(SqlitePeople.create(making)) as people:
            return add_lost_players(journal, people)


def _refuse_log_alone(path: str | Path) -> None:
    """Refuse a log without its file: a new file would take it for its own."""
    # SQLite folds in any log that has the name of the file
    for ending in ("-wal", "-journal"):
        log = Path(f"{path}{ending}")
        if log.exists() and log.stat().st_size:
            raise StorageError(
                str(log),
                "is the log of the people file that is missing and may hold names: put the file back beside "
                "it, or move the log aside, too; nothing was written",
            )
