"""The places in a tournament, by points and FIDE's tie-breaks (Play-Off and Tie-Break Regulations, C.07). Pure.

The organiser chooses the tie-breaks that decide, and no journal records them. Without a choice, points alone make
the places, players level on points share them, and the usual tie-breaks only order the rows of a table.

Rounds without a game count as the regulations in force on the tournament's first day say (``Unplayed``): in a Swiss
tournament (C.07 16) a forfeit, a bye or an absence is a game against a dummy, and what opponents did not play is
adjusted. In tournaments with pre-determined pairings a forfeit is a game against the scheduled opponent (15.2), and a
rest in an odd field is no game: it counts for its points only.

A round without a report counts for no player. This file knows no rating, name or database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import cached_property
from itertools import accumulate, groupby
from typing import NamedTuple

from ledger.facts.words import Brings
from ledger.runtime.nearest import find_by_name

NOBODY = 0  # the opponent in a round without a game


class Unplayed(Enum):
    """The rules by which unplayed rounds count for Buchholz, Sonneborn-Berger and their cuts.

    ``C07_2026`` is C.07 from 1 March 2026, 16.3 to 16.5; ``C07_2023`` the same without the limits of the dummy's points
    (16.4.1, 16.4.2), as the regulations had it since 2023. ``VIRTUAL`` is the virtual opponent of the regulations since
    1 July 2009 (then in C.02, as handling of unplayed games).

    The others are of pre-determined pairings. ``AS_GAMES``: a forfeit counts against the scheduled opponent (15.2).
    ``OWN_POINTS``: before that article it counted against as many points as the player has, as published tables show.
    """

    AS_GAMES = "as-games"
    OWN_POINTS = "own-points"
    VIRTUAL = "virtual"
    C07_2023 = "2023"
    C07_2026 = "2026"

    @property
    def is_pre_determined(self) -> bool:
        """True if the pairings do not depend on results."""
        return self in {Unplayed.AS_GAMES, Unplayed.OWN_POINTS}


class RoundResult(NamedTuple):
    """One player's result of one round.

    Attributes:
        opponent: player number; ``NOBODY`` in a round without a game, unless both were to meet and were absent.
        half_points: 2 for a win, 1 for a draw, 0 for a loss.
        is_black: whether the player had Black.
        is_played: False if no move was made: a win or a loss by forfeit, a bye, an absence.
        round: the number of the round; 0 if it is not known.
        bye: of a round without a game the word of ``facts.words.Brings``.
    """

    opponent: int
    half_points: int
    is_black: bool = False
    is_played: bool = True
    round: int = 0
    bye: str | None = None

    @property
    def is_requested(self) -> bool:
        """A requested bye (16.1.1): half a point or none; who withdrew has one in each later round."""
        return self.bye in {Brings.HALF, Brings.ZERO, Brings.ABSENT}

    @property
    def is_voluntary(self) -> bool:
        """A voluntary unplayed round, VUR (16.1.2): a requested bye, or a loss by forfeit."""
        return self.is_requested or (self.bye is None and not self.is_played and not self.half_points)


class RoundResults(dict[int, Sequence[RoundResult]]):
    """By player the results in the order of the rounds, and how those count that were not played; none changes later.

    What tie-breaks ask of every opponent is worked out once: in an all-play-all all ask it of all.

    Attributes:
        unplayed: the rules for them.
        rounds: how many rounds the tournament has; 0 if it is not known.
    """

    def __init__(
        self,
        by_player: Mapping[int, Sequence[RoundResult]] | None = None,
        unplayed: Unplayed = Unplayed.AS_GAMES,
        rounds: int = 0,
    ) -> None:
        super().__init__(by_player or {})
        self.unplayed = unplayed
        self.rounds = rounds

    @cached_property
    def points(self) -> Mapping[int, float]:
        """The points of each player from games, forfeits and byes."""
        return {player: sum(result.half_points for result in own) / 2 for player, own in self.items()}

    @cached_property
    def adjusted(self) -> Mapping[int, float]:
        """The points of each player for the tie-breaks of the opponents."""
        return {player: _adjusted(self, player) for player in self}

    @cached_property
    def contributions(self) -> Mapping[int, Sequence[Contribution]]:
        """The contributions of a player's rounds to Buchholz and Sonneborn-Berger."""
        return {player: _contributions(self, player) for player in self}

    @cached_property
    def encounters(self) -> Mapping[int, Mapping[int, float]]:
        """By player and opponent the player's points of their games, on average (6.1.2).

        A forfeit is a game if the pairings were pre-determined (15.2); in other tournaments the two have not met.
        """
        is_game = self.unplayed.is_pre_determined
        halves: dict[int, dict[int, list[int]]] = {player: {} for player in self}
        for player, own in self.items():
            for result in own:
                if result.opponent != NOBODY and (result.is_played or is_game):
                    halves[player].setdefault(result.opponent, []).append(result.half_points)
        return {
            player: {opponent: sum(games) / len(games) / 2 for opponent, games in met.items()}
            for player, met in halves.items()
        }

    @cached_property
    def last_round(self) -> int:
        """The highest number of a round; 0 if none is known."""
        return max((result.round for own in self.values() for result in own), default=0)

    @cached_property
    def strong(self) -> AbstractSet[int]:
        """The players with half of their possible points, or more (9.2)."""
        # A rest in an odd field is no game; in a Swiss tournament every round can bring a point.
        games = max(sum(result.bye is None for result in own) for own in self.values())
        most = games if self.unplayed.is_pre_determined else max(games, self.last_round)
        return {player for player, points in self.points.items() if 2 * points >= most}


class TieBreak(NamedTuple):
    """A way to part players who are level on points.

    Attributes:
        short: the abbreviation of C.07.
        title: what it is called.
        section: where C.07 defines it.
        value: of a player among those who are level; None if it says nothing. The greater one is ahead.
    """

    short: str
    title: str
    section: str
    value: Callable[[RoundResults, int, Sequence[int]], float | None]


def direct_encounter(results: RoundResults, player: int, level: Sequence[int]) -> float | None:
    """Return points from the games of level players against each other; None if these do not part them (6)."""
    if len(level) < 2 or not (_all_met(results, level) or len(_ahead_in_any_case(results, level)) > 1):
        return None
    return _encounter(results, player, level)


def _encounter(results: RoundResults, player: int, level: Collection[int]) -> float:
    met = results.encounters[player]
    return sum(met[opponent] for opponent in level if opponent in met)


def _all_met(results: RoundResults, level: Collection[int]) -> bool:
    others = len(level) - 1
    return all(sum(opponent in results.encounters[member] for opponent in level) == others for member in level)


def _ahead_in_any_case(results: RoundResults, level: Collection[int]) -> list[list[int]]:
    """Return level players parted though some did not meet: ahead for any result of the missing games (6.2).

    Each of these has a group of its own, the best first, and all others together follow them.
    """
    points = {member: _encounter(results, member, level) for member in level}
    most = {
        member: points[member] + sum(other != member and other not in results.encounters[member] for other in level)
        for member in level
    }
    left = sorted(level, key=lambda member: (-points[member], -most[member], member))
    ahead: list[list[int]] = []
    while len(left) > 1 and points[left[0]] > max(most[member] for member in left[1:]):
        ahead.append([left.pop(0)])
    return [*ahead, left]


# Every tie-break takes the same arguments, though few ask who is level.
def wins(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the number of rounds that bring as much as a win, with or without playing (7.1)."""
    return float(sum(result.half_points == 2 for result in results[player]))


def games_won(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return games won over the board (7.2)."""
    return float(sum(result.half_points == 2 and result.is_played for result in results[player]))


def games_with_black(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return games played with Black (7.3)."""
    return float(sum(result.is_black and result.is_played for result in results[player]))


def wins_with_black(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return games won over the board with Black (7.4)."""
    return float(sum(result.half_points == 2 and result.is_black and result.is_played for result in results[player]))


def progressive(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum of the player's points after each round (7.5); a round without a game adds the sum before it."""
    by_round = dict.fromkeys(range(1, results.last_round + 1), 0)
    for result in results[player]:
        if result.round:
            by_round[result.round] += result.half_points
    return sum(accumulate(by_round.values())) / 2


class Contribution(NamedTuple):
    """The contribution of a round: the opponent's points, those that the player scored, and whether it is a VUR."""

    opponent: float
    scored: float
    is_voluntary: bool

    @property
    def product(self) -> float:
        """The contribution to Sonneborn-Berger."""
        return self.opponent * self.scored


def _adjusted(results: RoundResults, player: int) -> float:
    """Return a player's points for the tie-breaks of the opponents."""
    own = results[player]
    if results.unplayed.is_pre_determined:
        return results.points[player]
    if results.unplayed is Unplayed.VIRTUAL:  # what was not played was drawn, for others
        return sum(result.half_points if result.is_played else 1 for result in own) / 2
    total = 0
    is_at_end = True  # only VURs follow, or nothing
    for result in reversed(own):
        total += 1 if result.is_requested and is_at_end else result.half_points  # 16.2.5 and 16.3.2, or 16.3.1
        is_at_end = is_at_end and result.is_voluntary
    return total / 2


def _dummy(results: RoundResults, player: int, place: int) -> float:
    """Return the points of the dummy opponent in an unplayed round, whose place among the results is given."""
    own, result = results[player], results[player][place]
    if results.unplayed is Unplayed.AS_GAMES:
        return results.points[result.opponent]  # 15.2
    # before the round, the opposite result, a draw in each round after it
    if results.unplayed is Unplayed.VIRTUAL:
        before = sum(earlier.half_points for earlier in own[:place]) / 2
        return before + 1 - result.half_points / 2 + (max(results.rounds, len(own)) - (result.round or place + 1)) / 2
    score = results.points[player]
    if results.unplayed is not Unplayed.C07_2026:
        return score
    if result.bye is None:
        return min(score, results.adjusted[result.opponent])  # 16.4.1
    # If the number of rounds is unknown, at least those count of which the player has a result.
    return min(score, max(results.rounds, len(own)) / 2)  # 16.4.2: half a point a round


def _contributions(results: RoundResults, player: int) -> list[Contribution]:
    """Return the contribution of each round of a player to Buchholz and Sonneborn-Berger."""
    contributions = []
    for place, result in enumerate(results[player]):
        if result.opponent == NOBODY and results.unplayed.is_pre_determined:
            continue
        met = results.adjusted[result.opponent] if result.is_played else _dummy(results, player, place)
        contributions.append(Contribution(met, result.half_points / 2, result.is_voluntary))
    return contributions


def _after_cuts(results: RoundResults, player: int, lowest: int, highest: int = 0) -> float:
    """Return the sum of the opponents' points without so many of the lowest and of the highest (14.1 to 14.3)."""
    # A contribution begins with the opponent's points: the lowest come first.
    left = sorted(results.contributions[player])
    for _ in range(min(lowest, len(left))):
        own = [contribution for contribution in left if contribution.is_voluntary]
        is_swiss = results.unplayed in {Unplayed.C07_2023, Unplayed.C07_2026}
        # 16.5: the lowest that comes from a VUR goes first
        left.remove(min(own) if own and is_swiss else left[0])
    return sum(contribution.opponent for contribution in left[: max(len(left) - highest, 0)])


def buchholz(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum of the opponents' points (8.1)."""
    return _after_cuts(results, player, 0)


def buchholz_cut_1(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum of the opponents' points without the lowest (14.1, 16.5)."""
    return _after_cuts(results, player, 1)


def buchholz_cut_2(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum of the opponents' points without the two lowest (14.2, 16.5)."""
    return _after_cuts(results, player, 2)


def buchholz_median_1(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum of the opponents' points without the lowest and the highest (14.3, 16.5)."""
    return _after_cuts(results, player, 1, 1)


def opponents_buchholz(results: RoundResults, player: int, level: Sequence[int]) -> float | None:
    """Return the mean of the Buchholz of the opponents met over the board (8.2); None without one.

    Not rounded: C.07 rounds averages of ratings and performances, one half up (10.1, 10.4, 10.5), but none of points.
    """
    opponents = [result.opponent for result in results[player] if result.is_played]
    if not opponents:
        return None
    return sum(buchholz(results, opponent, level) for opponent in opponents) / len(opponents)


def sonneborn_berger(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return the sum over all rounds of the opponent's points times the player's score (9.1)."""
    return sum(contribution.product for contribution in results.contributions[player])


def koya(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
    """Return points against opponents with half of their possible points, or more (9.2)."""
    return sum(result.half_points for result in results[player] if result.opponent in results.strong) / 2


DIRECT_ENCOUNTER = "direct-encounter"
TIE_BREAKS: Mapping[str, TieBreak] = {
    DIRECT_ENCOUNTER: TieBreak("DE", "direct encounter", "6", direct_encounter),
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
    """Return the tie-break of that name.

    Raises:
        UnknownNameError: there is none; those that there are are listed.
    """
    return find_by_name("tie-break", name, TIE_BREAKS)


class SharedPlace(NamedTuple):
    """A player's place.

    Attributes:
        player: player number.
        first: the place, from 1; shared with all others that have the same one.
        last: the last of the places that they share.
    """

    player: int
    first: int
    last: int

    @property
    def shown(self) -> str:
        """The place for people: ``1`` or ``2-4``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def places(results: RoundResults, deciding: Sequence[str], ordering: Sequence[str]) -> list[SharedPlace]:
    """Return every player of *results* with a place, the best first.

    Args:
        results: by player.
        deciding: names of the tie-breaks that part who is level on points.
        ordering: names that only put the rows of equal places in order; the last word has the number.

    Raises:
        UnknownNameError: a tie-break of no such name.
    """
    shared_places: list[SharedPlace] = []
    for level in parted(results, deciding):
        first, last = len(shared_places) + 1, len(shared_places) + len(level)
        for group in _parted_by(results, [level], ordering):
            shared_places += [SharedPlace(player, first, last) for player in sorted(group)]
    return shared_places


def parted(results: RoundResults, deciding: Sequence[str] = ()) -> list[list[int]]:
    """Return the players in groups of those level on points and by the tie-breaks, the best group first."""
    by_points = sorted(results, key=lambda player: (-results.points[player], player))
    level = [list(group) for _, group in groupby(by_points, key=results.points.__getitem__)]
    return _parted_by(results, level, deciding)


def _parted_by(results: RoundResults, groups: list[list[int]], names: Sequence[str]) -> list[list[int]]:
    """Return each group parted by tie-breaks in their order; each counts only among those who are still level."""
    for name in names:
        # direct encounter parts a group, and is applied again to those who are still level (C.07 6)
        while True:
            finer = [part for group in groups for part in _part(results, group, name)]
            if len(finer) == len(groups):
                break
            groups = finer
    return groups


def _part(results: RoundResults, group: list[int], name: str) -> list[list[int]]:
    """Return level players in groups of those still level, the best first; one group if the tie-break is silent."""
    if len(group) == 1:
        return [group]
    if name == DIRECT_ENCOUNTER and not _all_met(results, group):
        return _ahead_in_any_case(results, group)
    value = named(name).value
    values = {player: value(results, player, group) for player in group}
    if None in values.values():
        return [group]
    # None is left out above, which mypy cannot see: ``or`` changes nothing.
    order = sorted(group, key=lambda player: (-(values[player] or 0.0), player))
    return [list(level) for _, level in groupby(order, key=values.__getitem__)]
