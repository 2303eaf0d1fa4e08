"""The tests for plug-in authors: contract suites for stores, projectors, schemes and importers, and a small club.

A contract is a class of tests without fixtures of its own; subclass it in a test module, say in ``make`` what is
to be tested, and pytest does the rest::

    from ledger.testing import ProjectorContract

    class TestWinStreaks(ProjectorContract):
        def make(self):
            return WIN_STREAKS

The suites run over the built-in stores, projectors, schemes and importers too. Nothing here imports pytest.
"""

from ledger.testing.importer_contract import ImporterContract
from ledger.testing.journal_contract import JournalContract
from ledger.testing.kit import MemoryJournal, club, in_terms_of_facts, record, table_rows
from ledger.testing.projector_contract import FactProjectorContract, ProjectorContract, TournamentContract
from ledger.testing.scheme_contract import SchemeContract

__all__ = [
    "FactProjectorContract",
    "ImporterContract",
    "JournalContract",
    "MemoryJournal",
    "ProjectorContract",
    "SchemeContract",
    "TournamentContract",
    "club",
    "in_terms_of_facts",
    "record",
    "table_rows",
]
