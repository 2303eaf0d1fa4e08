"""The places in a tournament, by points and FIDE's tie-breaks (Play-Off and Tie-Break Regulations, C.07). Pure.

The organiser chooses the tie-breaks that decide, and no journal records them. Without a choice, points alone make
the places, players level on points share them, and the usual tie-breaks only order the rows of a table.

Rounds without a game count by the regulations in force on the tournament's first day (``UnplayedRules``): in a Swiss
tournament (C.07 16) a forfeit, a bye or an absence is a game against a dummy, and the unplayed rounds of opponents are
adjusted. In tournaments with pre-determined pairings a forfeit is a game against the scheduled opponent (15.2), and a
rest in an odd field is no game: it counts for its points only. A round without a report counts for no player.
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

NO_OPPONENT = 0  # the opponent in a round without a game


class UnplayedRules(Enum):
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
        """True for tournaments whose pairings do not depend on results."""
        return self in {UnplayedRules.AS_GAMES, UnplayedRules.OWN_POINTS}


class RoundResult(NamedTuple):
    """One player's result of one round.

    Attributes:
        opponent: player number; ``NO_OPPONENT`` in a round without a game, unless both were to meet and were absent.
        half_points: 2 for a win, 1 for a draw, 0 for a loss.
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
        """True for a requested bye (16.1.1): half a point or none, as in each round after a withdrawal."""
        return self.bye in {Brings.HALF, Brings.ZERO, Brings.ABSENT}

    @property
    def is_voluntary(self) -> bool:
        """True for a voluntary unplayed round, VUR (16.1.2): a requested bye, or a loss by forfeit."""
        return self.is_requested or (self.bye is None and not self.is_played and not self.half_points)


class RoundResults(dict[int, Sequence[RoundResult]]):
    """The results of each player in the order of the rounds, with the rules for unplayed rounds; unchanged once made.

    The values that tie-breaks need of every opponent are calculated once for all players. The number of rounds is 0 if
    it is not known.
    """

    def __init__(
        self,
        by_player: Mapping[int, Sequence[RoundResult]],
        unplayed: UnplayedRules = UnplayedRules.AS_GAMES,
        rounds: int = 0,
    ) -> None:
        super().__init__(by_player)
        self.unplayed = unplayed
        self.rounds = rounds

    @cached_property
    def points(self) -> Mapping[int, float]:
        """The points of each player from games, forfeits and byes."""
        return {player: sum(result.half_points for result in own) / 2 for player, own in self.items()}

    @cached_property
    def adjusted_points(self) -> Mapping[int, float]:
        """The points of each player as the opponents' tie-breaks count them, with adjusted unplayed rounds."""
        return {player: _adjusted(self, player) for player in self}

    @cached_property
    def contributions(self) -> Mapping[int, Sequence[Contribution]]:
        """The contributions of each player's rounds to Buchholz and Sonneborn-Berger."""
        return {player: _contributions(self, player) for player in self}

    @cached_property
    def encounters(self) -> Mapping[int, Mapping[int, float]]:
        """The mean points of a player from the games with an opponent, by player and opponent (6.1.2).

        A forfeit is a game if the pairings were pre-determined (15.2); in other tournaments the two have not met.
        """
        is_game = self.unplayed.is_pre_determined
        halves: dict[int, dict[int, list[int]]] = {player: {} for player in self}
        for player, own in self.items():
            for result in own:
                if result.opponent != NO_OPPONENT and (result.is_played or is_game):
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
    def strong_players(self) -> AbstractSet[int]:
        """The players with at least half of their possible points (9.2)."""
        # A rest in an odd field is no game; in a Swiss tournament every round can bring a point.
        games = max(sum(result.bye is None for result in own) for own in self.values())
        most = games if self.unplayed.is_pre_determined else max(games, self.last_round)
        return {player for player, points in self.points.items() if 2 * points >= most}


TieBreakValue = Callable[["RoundResults", int, Sequence[int]], float | None]


class TieBreak(NamedTuple):
    """A rule of C.07 that orders players who are level on points.

    Its ``value`` for a player among the level ones is greater for the player ahead; None if it does not apply.
    """

    short: str
    title: str
    section: str
    value: TieBreakValue


def direct_encounter(results: RoundResults, player: int, level: Sequence[int]) -> float | None:
    """Return the points from games of the level players against each other; None if these do not order them (6)."""
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
    """Return one group for each player ahead for any result of the missing games, best first, then the others (6.2)."""
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


def _count(counts: Callable[[RoundResult], bool]) -> TieBreakValue:
    """Return the tie-break that counts a player's results of one sort."""
    return lambda results, player, _: float(sum(map(counts, results[player])))


def _progressive(results: RoundResults, player: int, _: Sequence[int]) -> float:
    """Return the sum of the player's points after each round; a round without a game adds the sum before it."""
    by_round = dict.fromkeys(range(1, results.last_round + 1), 0)
    for result in results[player]:
        if result.round:
            by_round[result.round] += result.half_points
    return sum(accumulate(by_round.values())) / 2


class Contribution(NamedTuple):
    """The part of a round in Buchholz and Sonneborn-Berger: opponent's points, player's score, whether it is a VUR."""

    opponent: float
    scored: float
    is_voluntary: bool


def _adjusted(results: RoundResults, player: int) -> float:
    own = results[player]
    if results.unplayed.is_pre_determined:
        return results.points[player]
    if results.unplayed is UnplayedRules.VIRTUAL:  # what was not played was drawn, for others
        return sum(result.half_points if result.is_played else 1 for result in own) / 2
    total = 0
    is_at_end = True  # only VURs follow, or nothing
    for result in reversed(own):
        total += 1 if result.is_requested and is_at_end else result.half_points  # 16.2.5 and 16.3.2, or 16.3.1
        is_at_end = is_at_end and result.is_voluntary
    return total / 2


def _dummy(results: RoundResults, player: int, place: int) -> float:
    """Return the points of the dummy opponent in the unplayed round at a place among the player's results."""
    own, result = results[player], results[player][place]
    if results.unplayed is UnplayedRules.AS_GAMES:
        return results.points[result.opponent]  # 15.2
    # before the round, the opposite result, a draw in each round after it
    if results.unplayed is UnplayedRules.VIRTUAL:
        before = sum(earlier.half_points for earlier in own[:place]) / 2
        return before + 1 - result.half_points / 2 + (max(results.rounds, len(own)) - (result.round or place + 1)) / 2
    score = results.points[player]
    if results.unplayed is not UnplayedRules.C07_2026:
        return score
    if result.bye is None:
        return min(score, results.adjusted_points[result.opponent])  # 16.4.1
    # If the number of rounds is unknown, at least those count of which the player has a result.
    return min(score, max(results.rounds, len(own)) / 2)  # 16.4.2: half a point a round


def _contributions(results: RoundResults, player: int) -> list[Contribution]:
    contributions = []
    for place, result in enumerate(results[player]):
        if result.opponent == NO_OPPONENT and results.unplayed.is_pre_determined:
            continue
        met = results.adjusted_points[result.opponent] if result.is_played else _dummy(results, player, place)
        contributions.append(Contribution(met, result.half_points / 2, result.is_voluntary))
    return contributions


def _buchholz(lowest: int = 0, highest: int = 0) -> TieBreakValue:
    """Return the sum of the opponents' points without the given number of lowest and highest ones (14.1 to 14.3)."""

    def value(results: RoundResults, player: int, level: Sequence[int]) -> float:  # noqa: ARG001
        # A contribution begins with the opponent's points: the lowest come first.
        left = sorted(results.contributions[player])
        for _ in range(min(lowest, len(left))):
            own = [contribution for contribution in left if contribution.is_voluntary]
            is_swiss = results.unplayed in {UnplayedRules.C07_2023, UnplayedRules.C07_2026}
            # 16.5: the lowest that comes from a VUR goes first
            left.remove(min(own) if own and is_swiss else left[0])
        return sum(contribution.opponent for contribution in left[: max(len(left) - highest, 0)])

    return value


def _opponents_buchholz(results: RoundResults, player: int, level: Sequence[int]) -> float | None:
    """Return the mean of the Buchholz of the opponents met over the board; None without one.

    Not rounded: C.07 rounds averages of ratings and performances, one half up (10.1, 10.4, 10.5), but none of points.
    """
    scores = [_buchholz()(results, result.opponent, level) or 0.0 for result in results[player] if result.is_played]
    return sum(scores) / len(scores) if scores else None


def _sonneborn_berger(results: RoundResults, player: int, _: Sequence[int]) -> float:
    return sum(contribution.opponent * contribution.scored for contribution in results.contributions[player])


def _koya(results: RoundResults, player: int, _: Sequence[int]) -> float:
    """Return the points against opponents with at least half of their possible points."""
    return sum(result.half_points for result in results[player] if result.opponent in results.strong_players) / 2


DIRECT_ENCOUNTER = "direct-encounter"
TIE_BREAKS: Mapping[str, TieBreak] = {
    DIRECT_ENCOUNTER: TieBreak("DE", "direct encounter", "6", direct_encounter),
    # as much as a win, with or without playing
    "wins": TieBreak("WIN", "wins", "7.1", _count(lambda result: result.half_points == 2)),
    "games-won": TieBreak(
        "WON", "games won over the board", "7.2", _count(lambda result: result.half_points == 2 and result.is_played)
    ),
    "games-with-black": TieBreak(
        "BPG", "games with Black", "7.3", _count(lambda result: result.is_black and result.is_played)
    ),
    "wins-with-black": TieBreak(
        "BWG",
        "wins with Black",
        "7.4",
        _count(lambda result: result.half_points == 2 and result.is_black and result.is_played),
    ),
    "progressive": TieBreak("PS", "progressive score", "7.5", _progressive),
    "buchholz": TieBreak("BH", "Buchholz", "8.1", _buchholz()),
    "buchholz-cut-1": TieBreak("BH-C1", "Buchholz, the lowest cut", "8.1 and 14.1", _buchholz(1)),
    "buchholz-cut-2": TieBreak("BH-C2", "Buchholz, the two lowest cut", "8.1 and 14.2", _buchholz(2)),
    "buchholz-median-1": TieBreak("BH-M1", "Buchholz, lowest and highest cut", "8.1 and 14.3", _buchholz(1, 1)),
    "opponents-buchholz": TieBreak("AOB", "average of the opponents' Buchholz", "8.2", _opponents_buchholz),
    "sonneborn-berger": TieBreak("SB", "Sonneborn-Berger", "9.1", _sonneborn_berger),
    "koya": TieBreak("KS", "Koya system", "9.2", _koya),
}


def tie_break_named(name: str) -> TieBreak:
    """Return the tie-break of that name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return find_by_name("tie-break", name, TIE_BREAKS)


class SharedPlace(NamedTuple):
    """A player's rank in a tournament, or the range of ranks that level players share, from 1."""

    player: int
    first: int
    last: int

    @property
    def text(self) -> str:
        """The rank as tables print it: ``1`` or ``2-4``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def rank_players(results: RoundResults, deciding: Sequence[str], ordering: Sequence[str]) -> list[SharedPlace]:
    """Return the rank of every player by points and tie-breaks, the best first.

    The tie-breaks *deciding* decide between players level on points; those *ordering*, then player numbers, only order
    the rows of a shared place.

    Raises:
        UnknownNameError: there is no tie-break of a name.
    """
    shared_places: list[SharedPlace] = []
    for level in group_level_players(results, deciding):
        first, last = len(shared_places) + 1, len(shared_places) + len(level)
        for group in _split_groups(results, [level], ordering):
            shared_places += [SharedPlace(player, first, last) for player in sorted(group)]
    return shared_places


def group_level_players(results: RoundResults, deciding: Sequence[str] = ()) -> list[list[int]]:
    """Return the players in groups that are level on points and by the tie-breaks, the best group first."""
    by_points = sorted(results, key=lambda player: (-results.points[player], player))
    level = [list(group) for _, group in groupby(by_points, key=results.points.__getitem__)]
    return _split_groups(results, level, deciding)


def _split_groups(results: RoundResults, groups: list[list[int]], names: Sequence[str]) -> list[list[int]]:
    """Split groups by tie-breaks in their order; each tie-break is calculated among players who are still level."""
    for name in names:
        # direct encounter splits a group, and is applied again to those who are still level (C.07 6)
        while True:
            finer = [part for group in groups for part in _split_group(results, group, name)]
            if len(finer) == len(groups):
                break
            groups = finer
    return groups


def _split_group(results: RoundResults, group: list[int], name: str) -> list[list[int]]:
    """Split a group of level players by a tie-break, best first; return it unchanged if the tie-break says nothing."""
    if len(group) == 1:
        return [group]
    if name == DIRECT_ENCOUNTER and not _all_met(results, group):
        return _ahead_in_any_case(results, group)
    value = tie_break_named(name).value
    values = {player: value(results, player, group) for player in group}
    if None in values.values():
        return [group]
    # None is left out above, which mypy cannot see: ``or`` changes nothing.
    order = sorted(group, key=lambda player: (-(values[player] or 0.0), player))
    return [list(level) for _, level in groupby(order, key=values.__getitem__)]
