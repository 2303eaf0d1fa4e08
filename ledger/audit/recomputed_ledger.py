"""A ledger opened with verified answers: its journal and names are verified, and its views are rebuilt.

Its journal and people are the verified snapshots; its views are built from that journal in a temporary folder. The
views on disk are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

import attrs

from ledger.audit import reader
from ledger.audit.reader import Falsehood, Finding
from ledger.audit.reader.layouts import PEOPLE
from ledger.audit.rebuilt_views import VerifiedJournal, VerifiedPeople, build_views, temporary_views
from ledger.errors import CorruptError
from ledger.handle import OpenLedger, utc_now
from ledger.journal.checkpoints import CheckpointFiles
from ledger.players.stores import token_store_of
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.installed_projectors import available
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, silent


@attrs.frozen
class RecomputedLedger(Finding):
    """The result of recomputing a ledger from its entries; true only if nothing is false.

    Attributes:
        ledger: open, to be closed by the caller; None if something is false.
        entries: number of verified entries.
        falsehoods: those of the journal and the names.
    """

    ledger: OpenLedger | None
    entries: int
    falsehoods: tuple[Falsehood, ...]


def recompute_ledger(
    path: str | Path,
    progress: Progress = silent,
    *,
    projectors: Sequence[ReadModel] | None = None,
    clock: Callable[[], datetime] = utc_now,
    kind: type[OpenLedger] = OpenLedger,
) -> RecomputedLedger:
    """Verify a ledger's journal and names, and open it with views rebuilt from them in a temporary folder.

    Args:
        path: the journal's file.
        progress: receives reports of what is being done.
        projectors: the read models to make; the installed ones by default.
        clock: gives the time, in UTC.
        kind: the class that opens the ledger.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
    """
    path = Path(path)
    try:
        # first: one that is made meanwhile covers entries that the snapshot has not
        last = CheckpointFiles(path).last()
        with ExitStack() as stack:
            file = stack.enter_context(reader.open_snapshot(str(path)))
            with collector_paused():
                verdict = reader.verify_journal(file, None if last is None else last.head, partial(progress, "journal"))
            # behind the journal's: people are written first, so that this one knows everybody whom the journal names
            people = stack.enter_context(reader.open_snapshot(str(sidecar(path, "people")), PEOPLE.remedy))
            falsehoods = (*verdict.falsehoods, *reader.verify_people(file, people).falsehoods)
            if not falsehoods:
                journal = VerifiedJournal(file, verdict.head)
                models = available() if projectors is None else projectors
                made = stack.enter_context(temporary_views(models, journal))
                falsehoods = tuple(build_views(made, verdict.head.size, progress))
            if falsehoods:
                return RecomputedLedger(None, verdict.entries, falsehoods)
            # ``pop_all``: the snapshots outlive this block, and are released when the ledger is closed.
            tokens = token_store_of(path, journal)
            ledger = kind(path, journal, VerifiedPeople(people), made, clock, tokens, files=stack.pop_all())
            return RecomputedLedger(ledger, verdict.entries, ())
    except CorruptError as error:
        word = "journal" if Path(error.path) == path else "people"
        return RecomputedLedger(None, 0, (Falsehood.of_file(word, error),))
