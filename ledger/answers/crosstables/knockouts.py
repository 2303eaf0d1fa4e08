"""Matches of two players: a tournament that is one, and the rounds of a knock-out. Pure.

A knock-out's round is seen from its matches: a match belongs to the round after the last one of either player.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.answers.crosstables.event_games import EventGame
from ledger.answers.crosstables.kinds import loser_of, matches_of
from ledger.answers.crosstables.page import Match
from ledger.answers.crosstables.tie_breaks import SharedPlace


def matches(games: Sequence[EventGame], shown: Mapping[int, str]) -> list[Match]:
    """The matches in the order of their rounds, from the first to the last.

    Args:
        games: of the tournament, in the order of the rounds.
        shown: names by player number.
    """
    reached: dict[int, int] = {}
    lost: set[int] = set()
    pairings = []
    for pair, played in matches_of(games).items():
        number = 1 + max(reached.get(player, 0) for player in pair)
        is_third_place = all(player in lost for player in pair)
        loser = loser_of(pair, played, games, lost)
        order = pair if loser is None or loser == pair[1] else (pair[1], pair[0])
        points = [sum(game.half_points_of(player) or 0 for game in played) / 2 for player in order]
        reached |= dict.fromkeys(pair, number)
        if loser is not None:
            lost.add(loser)
        pairings.append(
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
    return sorted(pairings, key=lambda match: (match.round, match.third_place))


def places(decided: Sequence[Match], order: Sequence[SharedPlace]) -> list[SharedPlace]:
    """The places of a knock-out: who got further is ahead, who lost in the same round shares a place.

    Args:
        decided: its matches.
        order: the players as points put them, which orders the rows of those who share a place.
    """
    reached: dict[int, tuple[int, int]] = {place.player: (0, 0) for place in order}
    for match in decided:
        for player in match.players:
            won = 0 if match.winner is None else 1 if player == match.winner else -1
            # a match for the third place parts the losers of the semi-finals, who stay behind the finalists
            reached[player] = (reached[player][0], won - 2) if match.third_place else (match.round, won)
    ranked: list[SharedPlace] = []
    for key in sorted(set(reached.values()), reverse=True):
        level = [place.player for place in order if reached[place.player] == key]
        first, last = len(ranked) + 1, len(ranked) + len(level)
        ranked += [SharedPlace(player, first, last) for player in level]
    return ranked
