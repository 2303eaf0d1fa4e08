"""Contract test suites for authors of plug-ins (stores, projectors, schemes, importers), and a sample club.

A contract is a class of tests without fixtures of its own; subclass it in a test module, return the plug-in from
``make``, and run pytest::

    from ledger.testing import ProjectorContract

    class TestWinStreaks(ProjectorContract):
        def make(self):
            return WIN_STREAKS

The suites run over the built-in stores, projectors, schemes and importers too. Nothing here imports pytest.
"""

from ledger.testing.importer_contract import ImporterContract
from ledger.testing.journal_contract import JournalContract
from ledger.testing.kit import MemoryJournal, club, record, rows_by_facts, table_rows
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
    "record",
    "rows_by_facts",
    "table_rows",
]
