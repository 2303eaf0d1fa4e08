"""The auditor's reader: re-hashes the raw bytes and rebuilds the tree. It shares no code with the writer.

The reader shares only ``TreeHead`` and the errors with the writers; it reads the format as published. The reader
alone cannot find out whether the whole file was rewritten: that takes a head stored elsewhere.
"""

from ledger.audit.reader.four_eyes import TokenReset, verify_four_eyes
from ledger.audit.reader.journal import JournalVerdict, verify_journal
from ledger.audit.reader.layouts import moved_to
from ledger.audit.reader.people import NamesVerdict, PeopleVerdict, verify_names, verify_people, verify_reasons
from ledger.audit.reader.receipts import (
    NotAProofError,
    ProvenReceipt,
    VerifierKey,
    verify_checkpoint,
    verify_note,
    verify_receipt,
)
from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, RESTORE, Falsehood, Finding, Snapshot, open_snapshot
from ledger.audit.reader.texts import ListsVerdict, published_lists, verify_lists, verify_texts
from ledger.audit.reader.tree import verify_consistency, verify_inclusion

__all__ = [
    "FIRST_FALSEHOODS", "RESTORE", "Falsehood", "Finding", "JournalVerdict", "ListsVerdict", "NamesVerdict",
    "NotAProofError", "PeopleVerdict", "ProvenReceipt", "Snapshot", "TokenReset", "VerifierKey", "moved_to",
    "open_snapshot", "published_lists", "verify_checkpoint", "verify_consistency", "verify_four_eyes",
    "verify_inclusion", "verify_journal", "verify_lists", "verify_names", "verify_note", "verify_people",
    "verify_reasons", "verify_receipt", "verify_texts",
]  # fmt: skip
