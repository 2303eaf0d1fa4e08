"""An event-sourced chess rating ledger: facts never change, every number can be recomputed, anyone can check.

Start at ``Ledger``. The README follows one game result through the layers.
"""

from ledger.errors import (
    CheckpointWarning,
    ConflictError,
    CorruptError,
    LedgerError,
    MalformedError,
    ProjectionError,
    ProposalError,
    PublicationError,
    RejectedError,
    StorageError,
    UnknownNameError,
)
from ledger.facts.events import (
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.words import Brings, Outcome, Receipt, Standing, Termination, TreeHead
from ledger.journal.recorder_columns import PoolChoice
from ledger.ledger import Ledger
from ledger.ratings.projector import Kept, Projector
from ledger.schemes.scheme import Scheme

__all__ = [
    "Brings",
    "CheckpointWarning",
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
    "ProposalError",
    "PublicationError",
    "RatingRunClosed",
    "Receipt",
    "RejectedError",
    "RoundWithoutGame",
    "Scheme",
    "SchemeAdopted",
    "Standing",
    "StorageError",
    "Termination",
    "TournamentClosed",
    "TournamentOpened",
    "TreeHead",
    "UnknownNameError",
]
