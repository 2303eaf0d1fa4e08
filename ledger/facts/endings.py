"""Which results, ways of ending and numbers of half-moves go together: asked of what is typed by hand.

What a source tells is recorded as it is told; a correction may not make a game contradict itself. No I/O, no events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.facts.words import Outcome, Termination

# PGN standard 9.8.1 and FIDE Laws of Chess 5.1, 5.2, 9.1 to 9.7: these end a game with a winner, those without one.
WON = frozenset({Termination.CHECKMATE, Termination.RESIGNATION})
DRAWN = frozenset(
    {
        Termination.AGREEMENT,
        Termination.STALEMATE,
        Termination.REPETITION,
        Termination.FIFTY_MOVE,
        Termination.INSUFFICIENT_MATERIAL,
    }
)
# The fewest half-moves from the first position of chess: the Fool's mate; Sam Loyd's stalemate at White's tenth move;
# the same position for the third time (FIDE Laws 9.2); fifty moves of each side (9.3).
FEWEST: Mapping[str, int] = {
    Termination.CHECKMATE: 4,
    Termination.STALEMATE: 19,
    Termination.REPETITION: 8,
    Termination.FIFTY_MOVE: 100,
    Termination.INSUFFICIENT_MATERIAL: 1,
}
_RESULTS: Mapping[str, str] = {
    Outcome.WHITE: "a win of White",
    Outcome.BLACK: "a win of Black",
    Outcome.DRAW: "a draw",
    Outcome.NONE: "a game without a result",
}


def result_fault(outcome: str, termination: str) -> str | None:
    """Why a game of this result cannot have ended so; None where it can.

    A draw by time is one: who had the time left could not have mated (FIDE Laws 6.9).
    """
    if outcome == Outcome.NONE:
        impossible = termination in WON or termination in DRAWN or termination == Termination.TIME
    else:
        impossible = termination in (WON if outcome == Outcome.DRAW else DRAWN)
    return f"{_RESULTS[outcome]} does not end by {termination}" if impossible else None


def rules_itself_out(facts: Mapping[str, Any]) -> bool:
    """Whether no game has this ``outcome``, this ``termination`` and so many ``half_moves``, which may be missing."""
    ending = facts["termination"]
    return bool(result_fault(facts["outcome"], ending) or length_fault(ending, facts.get("half_moves")))


def becomes_drawn_by_time(before: str | None, outcome: str, termination: str) -> bool:
    """Whether a game that was not drawn would be a draw by time by its new result alone, which somebody has to say."""
    return outcome == Outcome.DRAW and termination == Termination.TIME and before != Outcome.DRAW


def length_fault(termination: str, half_moves: int | None) -> str | None:
    """Why a game of so many half-moves cannot have ended so; None where it can, or where nobody knows how many."""
    if half_moves is None:
        return None
    if termination == Termination.UNPLAYED and half_moves:
        return f"a game that was never played has no {half_moves} half-moves"
    fewest = FEWEST.get(termination, 0)
    return f"{termination} takes {fewest} half-moves or more, not {half_moves}" if half_moves < fewest else None
