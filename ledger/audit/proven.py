"""A ledger whose answers are proven: its journal and names are verified, and everything is derived again.

Its journal and people are the verified snapshots; its views are built from that journal in a temporary folder. The
views on disk are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import attrs

from ledger.audit import derived, reader
from ledger.audit.derived import VerifiedJournal, VerifiedPeople
from ledger.audit.reader import Falsehood, Finding
from ledger.audit.reader.published import PEOPLE
from ledger.errors import CorruptError
from ledger.handle import OpenLedger, utc_now
from ledger.journal.checkpoints import CheckpointFiles
from ledger.players.stores import token_store_of
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import available
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, no_progress


@attrs.frozen
class Recomputed(Finding):
    """The result of recomputing a ledger from its entries; true only if nothing is false.

    Attributes:
        ledger: open, to be closed by the caller; None if something is false.
        entries: entries of the journal that were verified.
        falsehoods: what is false in the journal or the names.
    """

    ledger: OpenLedger | None
    entries: int
    falsehoods: tuple[Falsehood, ...]


def recompute(
    path: str | Path,
    progress: Progress = no_progress,
    *,
    projectors: Sequence[ReadModel] | None = None,
    clock: Callable[[], datetime] = utc_now,
    kind: type[OpenLedger] = OpenLedger,
) -> Recomputed:
    """Verify journal and names, and derive everything from them again, in a temporary folder.

    Args:
        path: the journal's file.
        progress: receives reports of what is being done.
        projectors: the read models to make; the installed ones by default.
        clock: what time it is, in UTC.
        kind: the class that opens the ledger.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
    """
    try:
        return _recompute(Path(path), progress, available() if projectors is None else projectors, clock, kind)
    except CorruptError as error:
        word = "journal" if Path(error.path) == Path(path) else "people"
        return Recomputed(None, 0, (Falsehood.of_file(word, error),))


def _recompute(
    path: Path,
    progress: Progress,
    projectors: Sequence[ReadModel],
    clock: Callable[[], datetime],
    kind: type[OpenLedger],
) -> Recomputed:
    # first: one that is made meanwhile covers entries that the snapshot has not
    last = CheckpointFiles(path).last()
    head = None if last is None else last.head
    with ExitStack() as stack:
        file = stack.enter_context(reader.snapshot(str(path)))
        with collector_paused():
            verdict = reader.verify_journal(file, head, lambda done, total: progress("journal", done, total))
        # behind the journal's: people are written first, so that this one knows everybody whom the journal names
        people = stack.enter_context(reader.snapshot(str(sidecar(path, "people")), PEOPLE.remedy))
        falsehoods = (*verdict.falsehoods, *reader.verify_people(file, people).falsehoods)
        if not falsehoods:
            journal = VerifiedJournal(file, verdict.head)
            made = stack.enter_context(derived.temporary_views(projectors, journal))
            falsehoods = tuple(derived.build(made, verdict.head.size, progress))
        if falsehoods:
            return Recomputed(None, verdict.entries, falsehoods)
        # ``pop_all``: the snapshots outlive this block, and are released when the ledger is closed.
        tokens = token_store_of(path, journal)
        ledger = kind(path, journal, VerifiedPeople(people), made, clock, tokens, files=stack.pop_all())
        return Recomputed(ledger, verdict.entries, ())
