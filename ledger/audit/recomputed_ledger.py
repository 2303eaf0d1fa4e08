"""A ledger opened with verified answers: its journal and names are verified, and its views are rebuilt.

Its journal and people are the verified snapshots; its views are built from that journal in a temporary folder. The
views on disk are not read.
"""

from __future__ import annotations

from contextlib import ExitStack
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
from ledger.ratings.installed_projectors import installed_projectors
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, no_progress


@attrs.frozen
class RecomputedLedger(Finding):
    """The result of recomputing a ledger from its entries; its ledger is open, or None if something is false."""

    ledger: OpenLedger | None
    entries: int
    falsehoods: tuple[Falsehood, ...]


def recompute_ledger(
    path: str | Path, progress: Progress = no_progress, *, kind: type[OpenLedger] = OpenLedger
) -> RecomputedLedger:
    """Verify a ledger's journal and names, and open it with views rebuilt from them in a temporary folder.

    It has the installed read models; *kind* is the class that opens it.

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
                made = stack.enter_context(temporary_views(installed_projectors(), journal))
                falsehoods = tuple(build_views(made, verdict.head.size, progress))
            if falsehoods:
                return RecomputedLedger(None, verdict.entries, falsehoods)
            # ``pop_all``: the snapshots outlive this block, and are released when the ledger is closed.
            tokens = token_store_of(path, journal)
            ledger = kind(path, journal, VerifiedPeople(people), made, utc_now, tokens, files=stack.pop_all())
            return RecomputedLedger(ledger, verdict.entries, ())
    except CorruptError as error:
        word = "journal" if Path(error.path) == path else "people"
        return RecomputedLedger(None, 0, (Falsehood.of_file(word, error),))
