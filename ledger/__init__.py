"""An event-sourced chess rating ledger: facts never change, every number can be recomputed, anyone can check.

Start at ``Ledger``. The README follows one game result through the layers.
"""

from ledger.bulk import PoolChoice
from ledger.errors import (
    ConflictError,
    CorruptError,
    LedgerError,
    MalformedError,
    ProjectionError,
    RejectedError,
    StorageError,
    UnknownNameError,
)
from ledger.events import GameRecorded, PlayerChanged, PlayerRegistered, SchemeAdopted
from ledger.ledger import Ledger
from ledger.model import Outcome, Receipt, Standing, Termination, TreeHead
from ledger.projector import Kept, Projector
from ledger.schemes.base import Scheme

__all__ = [
    "ConflictError",
    "CorruptError",
    "GameRecorded",
    "Kept",
    "Ledger",
    "LedgerError",
    "MalformedError",
    "Outcome",
    "PlayerChanged",
    "PlayerRegistered",
    "PoolChoice",
    "ProjectionError",
    "Projector",
    "Receipt",
    "RejectedError",
    "Scheme",
    "SchemeAdopted",
    "Standing",
    "StorageError",
    "Termination",
    "TreeHead",
    "UnknownNameError",
]
