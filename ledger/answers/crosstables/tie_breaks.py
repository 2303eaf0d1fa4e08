"""Tie-breaks by their names and sections in FIDE's Play-Off and Tie-Break Regulations (C.07, from 1 August 2024).

Pure functions of the results. A forfeit counts for Buchholz and Sonneborn-Berger as a game against an opponent with as
many points as the player has oneself (16: the dummy opponent), as published tables of all-play-alls count it, too.
Byes and withdrawals are not adjusted for: a ledger holds games only. No rating, name or database is known in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from ledger.runtime.nearest import of_name


class Result(NamedTuple):
    """What one game brought one player.

    Attributes:
        opponent: player number.
        half_points: 2 for a win, 1 for a draw, 0 for a loss.
        is_black: whether the player had Black.
        is_played: False where nobody made a move: a win or a loss by forfeit.
        round: the number of the round; 0 where it is not known.
    """

    opponent: int
    half_points: int
    is_black: bool = False
    is_played: bool = True
    round: int = 0


Results = Mapping[int, Sequence[Result]]  # by player, in the order of the rounds


class TieBreak(NamedTuple):
    """A way to part players who are level on points.

    Attributes:
        short: the abbreviation of C.07.
        title: what it is called.
        section: where C.07 defines it.
        value: of a player among those who are level; None where it says nothing. The greater one is ahead.
    """

    short: str
    title: str
    section: str
    value: Callable[[Results, int, Sequence[int]], float | None]


def points(results: Results, player: int) -> float:
    """The points that a player has from the games in the table."""
    return sum(result.half_points for result in results[player]) / 2


def direct_encounter(results: Results, player: int, level: Sequence[int]) -> float | None:
    """Points from the games of those who are level against each other; None unless all of them have met (6)."""
    if len(level) < 2:
        return None
    for member in level:
        met = {result.opponent for result in results[member]}
        if not met.issuperset(set(level) - {member}):
            return None
    return sum(result.half_points for result in results[player] if result.opponent in level) / 2


def wins(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Games won, with or without playing (7.1)."""
    return float(sum(result.half_points == 2 for result in results[player]))


def games_won(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Games won over the board (7.2)."""
    return float(sum(result.half_points == 2 and result.is_played for result in results[player]))


def games_with_black(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Games played with Black (7.3)."""
    return float(sum(result.is_black and result.is_played for result in results[player]))


def wins_with_black(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Games won over the board with Black (7.4)."""
    return float(sum(result.half_points == 2 and result.is_black and result.is_played for result in results[player]))


def progressive(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The sum of the player's points after each round (7.5); a round without a game adds what stood before it."""
    rounds = max((result.round for played in results.values() for result in played), default=0)
    by_round = dict.fromkeys(range(1, rounds + 1), 0)
    for result in results[player]:
        if result.round:
            by_round[result.round] += result.half_points
    return sum(accumulate(by_round.values())) / 2


def _points_against(results: Results, player: int, result: Result) -> float:
    """The points of whom a player met; of a forfeit the player's own."""
    return points(results, result.opponent if result.is_played else player)


def _opponents_points(results: Results, player: int) -> list[float]:
    return sorted(_points_against(results, player, result) for result in results[player])


def buchholz(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The sum of the opponents' points (8.1)."""
    return sum(_opponents_points(results, player))


def buchholz_cut_1(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The same without the opponent who has the fewest (14.1)."""
    return sum(_opponents_points(results, player)[1:])


def buchholz_cut_2(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The same without the two who have the fewest (14.2)."""
    return sum(_opponents_points(results, player)[2:])


def buchholz_median_1(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The same without the opponent who has the fewest and the one who has the most (14.3)."""
    return sum(_opponents_points(results, player)[1:-1])


def opponents_buchholz(results: Results, player: int, level: Sequence[int]) -> float | None:
    """The mean of the opponents' Buchholz (8.2); None without an opponent."""
    opponents = [result.opponent for result in results[player]]
    if not opponents:
        return None
    return sum(buchholz(results, opponent, level) for opponent in opponents) / len(opponents)


def sonneborn_berger(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """The sum over all games of the opponent's points times what the player scored (9.1)."""
    return sum(_points_against(results, player, result) * result.half_points / 2 for result in results[player])


def koya(results: Results, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Points against opponents who have half of the points that they could have, or more (9.2)."""
    most = max(len(played) for played in results.values())  # in an all-play-all everybody plays as many
    strong = {other for other in results if 2 * points(results, other) >= most}
    return sum(result.half_points for result in results[player] if result.opponent in strong) / 2


TIE_BREAKS: Mapping[str, TieBreak] = {
    "direct-encounter": TieBreak("DE", "direct encounter", "6", direct_encounter),
    "wins": TieBreak("WIN", "wins", "7.1", wins),
    "games-won": TieBreak("WON", "games won over the board", "7.2", games_won),
    "games-with-black": TieBreak("BPG", "games with Black", "7.3", games_with_black),
    "wins-with-black": TieBreak("BWG", "wins with Black", "7.4", wins_with_black),
    "progressive": TieBreak("PS", "progressive score", "7.5", progressive),
    "buchholz": TieBreak("BH", "Buchholz", "8.1", buchholz),
    "buchholz-cut-1": TieBreak("BH-C1", "Buchholz, the lowest cut", "8.1 and 14.1", buchholz_cut_1),
    "buchholz-cut-2": TieBreak("BH-C2", "Buchholz, the two lowest cut", "8.1 and 14.2", buchholz_cut_2),
    "buchholz-median-1": TieBreak("BH-M1", "Buchholz, lowest and highest cut", "8.1 and 14.3", buchholz_median_1),
    "opponents-buchholz": TieBreak("AOB", "average of the opponents' Buchholz", "8.2", opponents_buchholz),
    "sonneborn-berger": TieBreak("SB", "Sonneborn-Berger", "9.1", sonneborn_berger),
    "koya": TieBreak("KS", "Koya system", "9.2", koya),
}


def named(name: str) -> TieBreak:
    """The tie-break of that name.

    Raises:
        UnknownNameError: there is none; those that there are are listed.
    """
    return of_name("tie-break", name, TIE_BREAKS)
