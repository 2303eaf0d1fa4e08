"""The keys that must stand in the journal before a fact may."""

from __future__ import annotations

from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    GameRecorded,
    PlayerChanged,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)


def needed_keys(event: Event) -> tuple[str, ...]:
    """Keys that must be known before the event."""
    if isinstance(event, GameRecorded):  # nearly all are
        return (f"scheme:{event.pool}@start", f"player:{event.white}", f"player:{event.black}")
    match event:
        case PlayerChanged() | BirthYearLearnt():
            return (f"player:{event.player}",)
        case RatingSeeded() | RoundWithoutGame():
            return (f"scheme:{event.pool}@start", f"player:{event.player}")
        case SchemeAdopted() | RatingRunClosed() | TournamentOpened() | TournamentClosed():
            return (f"scheme:{event.pool}@start",)
        case _:
            return ()
