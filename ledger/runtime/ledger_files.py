"""Which files a ledger consists of and where they lie: the journal, and beside it the people and the views.

Nothing is opened here.
"""

from __future__ import annotations

from pathlib import Path

from ledger.errors import StorageError

RESTORE_PLAN = "plan.json"  # in the folder ``restoring`` while files change places


def journal_file(path: str | Path) -> Path:
    """The journal's own file: where *path* is a symbolic link, what the link leads to, for its neighbours are there."""
    journal = Path(path)
    try:
        return journal.resolve() if journal.is_symlink() else journal
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise StorageError(str(path), f"is a symbolic link that leads nowhere ({error}); check the link") from error


def beside(path: str | Path, word: str) -> Path:
    """The file *word* of the ledger at *path*: ``club.db`` -> ``club.people.db``, beside the journal's own file."""
    journal = journal_file(path)
    return journal.with_name(f"{journal.stem}.{word}{journal.suffix or '.db'}")


def kept_with(path: str | Path, word: str) -> Path:
    """What is kept with the ledger at *path* and is no database: ``club.db`` -> ``club.key``, beside the journal."""
    journal = journal_file(path)
    return journal.with_name(f"{journal.stem}.{word}{journal.suffix.removesuffix('.db')}")


def restoring(path: str | Path) -> Path:
    """The folder in which a restore of the ledger at *path* is made ready."""
    journal = Path(path).resolve()
    return journal.with_name(f"{journal.name}.restoring")


def refuse_half_restored(path: str | Path) -> None:
    """Raise StorageError where a restore was stopped on its way."""
    if not Path(path).exists() and (restoring(path) / RESTORE_PLAN).exists():
        raise StorageError(
            str(path), "a restore was stopped half-way; run it again: it first brings back what stood here before"
        )


def refuse_leftovers(path: str | Path) -> None:
    """Raise StorageError where a new journal would find what another one left, and be taken for that one."""
    for leftover in (beside(path, "views"), *(kept_with(path, word) for word in ("checkpoints", "key", "toml"))):
        if leftover.exists():
            raise StorageError(str(leftover), "exists already, though the journal does not")
