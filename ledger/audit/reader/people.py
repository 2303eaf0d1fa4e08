"""The whole people file against the journal: names, who was erased, and reasons of corrections."""

from __future__ import annotations

import attrs

from ledger.audit.reader.commitments import NamesVerdict, verify_names
from ledger.audit.reader.erasures import ErasuresVerdict, verify_erasures
from ledger.audit.reader.files import Falsehood, Snapshot
from ledger.audit.reader.reasons import ReasonsVerdict, verify_reasons


@attrs.frozen
class PeopleVerdict:
    """What the people file was found to be.

    Attributes:
        names: names, and the tables and pages of the file.
        erasures: who was erased.
        reasons: reasons of corrections.
    """

    names: NamesVerdict = NamesVerdict(0, 0, 0, 0, 0, ())
    erasures: ErasuresVerdict = ErasuresVerdict(0, 0, ())
    reasons: ReasonsVerdict = ReasonsVerdict(0, 0, 0, 0, ())

    @property
    def falsehoods(self) -> tuple[Falsehood, ...]:
        """All that is false."""
        return (*self.names.falsehoods, *self.erasures.falsehoods, *self.reasons.falsehoods)

    def left_out(self) -> list[tuple[str, str]]:
        """What could not be compared, and why."""
        stopped = "that was stopped leaves"
        found = (
            (
                self.names.unregistered,
                "names of {:,} people",
                f"they have no entry in the journal, as an import {stopped} them",
            ),
            (
                self.names.waiting,
                "{:,} names that were to be given",
                f"no entry sealed them, as a renaming {stopped} them; the next command drops them",
            ),
            (self.names.renamed_since, "names of {:,} players", "they were renamed during this audit"),
            (
                self.erasures.waiting,
                "{:,} players who were erased",
                f"the journal does not say so yet, as an erasure {stopped} it; the next command records it",
            ),
            (self.reasons.missing, "{:,} reasons of corrections", "they are not in the people file"),
            (
                self.reasons.waiting,
                "{:,} reasons that were to be given",
                f"no entry sealed them, as a correction {stopped} them; the next one drops them",
            ),
        )
        return [(part.format(number), reason) for number, part, reason in found if number]


def verify_people(journal: str | Snapshot, people: str | Snapshot) -> PeopleVerdict:
    """Compare the people file with what the journal sealed.

    Args:
        journal: the journal, or a snapshot of it.
        people: the people file, or a snapshot of it that is not older than the journal's: people are written first.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
        CorruptError: one is no database or lacks its table.
    """
    return PeopleVerdict(
        verify_names(journal, people), verify_erasures(journal, people), verify_reasons(journal, people)
    )
