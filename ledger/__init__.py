"""An event-sourced chess rating ledger: facts never change, every number can be recomputed, anyone can check.

Start at ``Ledger``. The README follows one game result through the layers. Each public name is loaded when it is first
asked for: a command says what Ctrl-C does before it loads anything that takes time, and a module in the depth of a room
does not load the others.
"""

import importlib
import importlib.util
import typing

if typing.TYPE_CHECKING:
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

# Where each of them lives; a test holds it to the imports above, which type checkers read.
_HOMES = {
    "ledger.errors": """CheckpointWarning ConflictError CorruptError LedgerError MalformedError ProjectionError
        ProposalError PublicationError RejectedError StorageError UnknownNameError""",
    "ledger.facts.events": """GameRecorded PlayerChanged PlayerRegistered RatingRunClosed RoundWithoutGame SchemeAdopted
        TournamentClosed TournamentOpened""",
    "ledger.facts.words": "Brings Outcome Receipt Standing Termination TreeHead",
    "ledger.journal.recorder_columns": "PoolChoice",
    "ledger.ledger": "Ledger",
    "ledger.ratings.projector": "Kept Projector",
    "ledger.schemes.scheme": "Scheme",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

if not typing.TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        """A public name, or a room of the package."""
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
            globals()[name] = value
            return value
        if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
