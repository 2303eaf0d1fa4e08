"""The games of one player's period under Glicko and its kin: rated by themselves, and in an explanation, g(s - E)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ledger.schemes.scheme import BatchGames, FormulaSum, GameLine, OpponentGame, When


def after_games(rate_period: Callable[..., None], player: Any, games: Sequence[tuple[float, ...]], numbers: Any) -> Any:
    """Return the state of a player after the games of one period.

    Args:
        rate_period: the rule of the scheme.
        player: the state at the beginning of the period.
        games: by game the first fields of the opponent's state, and behind them the player's score.
        numbers: the settings.
    """
    count, state = len(games), type(player)
    players = [player, *(state(*opponent) for *opponent, _score in games)]
    after, scores = state(), [score for *_opponent, score in games]
    batch = BatchGames(players, (), range(1, count + 1), scores, (), (), 0, 0, count)
    rate_period(player, after, batch, When(), numbers)
    return after


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
