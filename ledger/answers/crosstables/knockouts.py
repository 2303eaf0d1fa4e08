"""Matches of two players: a tournament that is one, and the rounds of a knock-out. Pure.

A knock-out's round is seen from its matches: a match belongs to the round after the last one of either player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.crosstables.kinds import loser_of, matches_of
from ledger.answers.crosstables.page import Match


def matches(games: Sequence[EventGame], shown: Mapping[int, str]) -> list[Match]:
    """The matches in the order of their rounds, from the first to the last.

    Args:
        games: of the tournament, in the order of the rounds.
        shown: names by player number.
    """
    reached: dict[int, int] = {}
    lost: set[int] = set()
    found = []
    for pair, played in matches_of(games).items():
        number = 1 + max(reached.get(player, 0) for player in pair)
        is_third_place = all(player in lost for player in pair)
        loser = loser_of(pair, played, games, lost)
        order = pair if loser is None or loser == pair[1] else (pair[1], pair[0])
        points = [sum(game.half_points_of(player) or 0 for game in played) / 2 for player in order]
        reached |= dict.fromkeys(pair, number)
        if loser is not None:
            lost.add(loser)
        found.append(
            Match(
                round=number,
                third_place=is_third_place,
                players=list(order),
                names=[shown[player] for player in order],
                points=points,
                games=[game.key for game in played],
                winner=None if loser is None else order[0],
                by_points=points[0] != points[1],
            )
        )
    return sorted(found, key=lambda match: (match.round, match.third_place))
