"""The games of a period in an explanation by Glicko or Glicko-2: g(s - E) of each, and the change that it brings."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.schemes.scheme import FormulaSum, GameLine, OpponentGame


def game_lines(
    rating: float, meetings: Sequence[OpponentGame], chances: Sequence[tuple[float, float]], factor: float
) -> tuple[GameLine, ...]:
    """Return the games of a period, each with g(s - E) and its change; *chances* are g and E by game."""
    lines = []
    for meeting, (g, e) in zip(meetings, chances, strict=True):
        other, rd = meeting.opponent.rating, meeting.opponent.rd
        gain, worth = meeting.score - e, g * (meeting.score - e)
        words = f"RD {rd:.1f}, g {g:.4f}"
        lines.append(
            GameLine(other, rating, rating - other, "", e, gain, 1.0, factor, factor * worth, worth, words=words)
        )
    return tuple(lines)


def game_sums(improvement: float, change: float) -> tuple[FormulaSum, ...]:
    """Return the sums over the games of a period: Σ g(s - E), and the change."""
    return (
        FormulaSum("Σx", "worth", improvement, "Σ g(s - E) over the games"),
        FormulaSum("Δ", "points", change, "change of the rating"),
    )
