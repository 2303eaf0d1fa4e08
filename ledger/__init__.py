"""An event-sourced chess rating ledger: facts never change, every number can be recomputed, anyone can check.

Start at ``Ledger``. ``README.md`` in this folder follows one game result through the rooms. Each public name is loaded
when it is first asked for: a command says what Ctrl-C does before it loads anything that takes time, and a module in
the depth of a room does not load the others. For the same reason nothing at all is imported here, be it ``typing``.
"""

TYPE_CHECKING = False  # type checkers take it for true

if TYPE_CHECKING:
    from ledger.answers.calculations import rating
    from ledger.errors import (
        CheckpointWarning,
        ConflictError,
        CorruptError,
        LedgerError,
        MalformedError,
        ProjectionError,
        ProposalError,
        PublicationError,
        ReadModelWarning,
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
    from ledger.ledger import Ledger
    from ledger.questions import LedgerPlayer, LedgerTournament
    from ledger.ratings.fact_projector import FactProjector, FactRows, declare_facts, key_column, value_column
    from ledger.ratings.projector import Largest, Projector, RatedSide, column, declare
    from ledger.recording.pool_choice import PoolChoice
    from ledger.runtime.records import part
    from ledger.schemes.scheme import Scheme

__all__ = [
    "Brings",
    "CheckpointWarning",
    "ConflictError",
    "CorruptError",
    "FactProjector",
    "FactRows",
    "GameRecorded",
    "Largest",
    "Ledger",
    "LedgerError",
    "LedgerPlayer",
    "LedgerTournament",
    "MalformedError",
    "Outcome",
    "PlayerChanged",
    "PlayerRegistered",
    "PoolChoice",
    "ProjectionError",
    "Projector",
    "ProposalError",
    "PublicationError",
    "RatedSide",
    "RatingRunClosed",
    "ReadModelWarning",
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
    "column",
    "declare",
    "declare_facts",
    "key_column",
    "part",
    "rating",
    "value_column",
]

# Where each of them lives; a test holds it to the imports above, which type checkers read.
_HOMES = {
    "ledger.answers.calculations": "rating",
    "ledger.errors": """CheckpointWarning ConflictError CorruptError LedgerError MalformedError ProjectionError
        ProposalError PublicationError ReadModelWarning RejectedError StorageError UnknownNameError""",
    "ledger.facts.events": """GameRecorded PlayerChanged PlayerRegistered RatingRunClosed RoundWithoutGame SchemeAdopted
        TournamentClosed TournamentOpened""",
    "ledger.facts.words": "Brings Outcome Receipt Standing Termination TreeHead",
    "ledger.recording.pool_choice": "PoolChoice",
    "ledger.ledger": "Ledger",
    "ledger.questions": "LedgerPlayer LedgerTournament",
    "ledger.ratings.fact_projector": "FactProjector FactRows declare_facts key_column value_column",
    "ledger.ratings.projector": "Largest Projector RatedSide column declare",
    "ledger.runtime.records": "part",
    "ledger.schemes.scheme": "Scheme",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        """A public name, or a room of the package."""
        if name in _HOME:
            globals()[name] = getattr(__import__(_HOME[name], fromlist=[name]), name)
            return globals()[name]
        if not name.startswith("_"):
            room = f"{__name__}.{name}"
            try:
                return __import__(room, fromlist=[""])
            except ModuleNotFoundError as error:
                if error.name != room:
                    raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


del TYPE_CHECKING
