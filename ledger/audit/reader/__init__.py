"""The auditor's reader: re-hashes the raw bytes and rebuilds the tree. It shares no code with the writer.

The reader shares only ``TreeHead`` and the errors with the writers; it reads the format as published. The reader
alone cannot find out whether the whole file was rewritten: that takes a head stored elsewhere.
"""

from ledger.audit.reader.files import FIRST_FALSEHOODS, RESTORE, Falsehood, Finding, Snapshot, snapshot
from ledger.audit.reader.four_eyes import FourEyesVerdict, Reset, verify_four_eyes
from ledger.audit.reader.journal import JournalVerdict, verify_journal
from ledger.audit.reader.people import (
    ErasuresVerdict,
    NamesVerdict,
    PeopleVerdict,
    ReasonsVerdict,
    verify_erasures,
    verify_names,
    verify_people,
    verify_reasons,
)
from ledger.audit.reader.published import went_to
from ledger.audit.reader.receipts import (
    NotAProofError,
    ProvenReceipt,
    VerifierKey,
    verified_checkpoint,
    verify_checkpoint,
    verify_receipt,
)
from ledger.audit.reader.texts import (
    ListsVerdict,
    PublishedList,
    TextsVerdict,
    published_lists,
    verify_lists,
    verify_texts,
)
from ledger.audit.reader.tree import inclusion_proof, verify_consistency, verify_inclusion

__all__ = [
    "FIRST_FALSEHOODS",
    "RESTORE",
    "ErasuresVerdict",
    "Falsehood",
    "Finding",
    "FourEyesVerdict",
    "JournalVerdict",
    "ListsVerdict",
    "NamesVerdict",
    "NotAProofError",
    "PeopleVerdict",
    "ProvenReceipt",
    "PublishedList",
    "ReasonsVerdict",
    "Reset",
    "Snapshot",
    "TextsVerdict",
    "VerifierKey",
    "inclusion_proof",
    "published_lists",
    "snapshot",
    "verified_checkpoint",
    "verify_checkpoint",
    "verify_consistency",
    "verify_erasures",
    "verify_four_eyes",
    "verify_inclusion",
    "verify_journal",
    "verify_lists",
    "verify_names",
    "verify_people",
    "verify_reasons",
    "verify_receipt",
    "verify_texts",
    "went_to",
]
