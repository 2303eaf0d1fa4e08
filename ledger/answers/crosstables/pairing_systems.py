"""The pairing system of a tournament, announced or guessed from its games; its missing games and its matches. Pure.

A guess is marked as one: a small Swiss tournament may look like an all-play-all with games missing. An announcement or
a choice of the reader overrules it. A match of a knock-out belongs to the round after the last match of either player.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import ceil, log2
from typing import cast

import attrs

from ledger.answers.crosstables.crosstable_data import Match, PairingFormat
from ledger.answers.crosstables.event_games import Announcement, EventGame
from ledger.answers.crosstables.tie_breaks import SharedPlace
from ledger.facts.words import Format, Termination

OTHER = "other"  # neither announced nor recognised
PAIRING_SYSTEMS = (*(kind.value for kind in Format), OTHER)
LEAST_SHARE = (
    0.75  # of the pairs or games of an all-play-all; with more missing or additional ones it is not recognised
)

Pair = tuple[int, int]  # two player numbers, the lower one first


@attrs.frozen
class PairingSystem:
    """The pairing system of a tournament, with its number of rounds and its missing games.

    Attributes:
        format: one of ``PAIRING_SYSTEMS``.
        meetings: in an all-play-all, how often two players meet; else 0.
        rounds: the number of rounds, as announced or as numbered; 0 if neither is known.
        missing: missing games and rounds, each a sentence for readers; empty if nothing is seen to be missing.
        missing_pairs: in an all-play-all, how many games each pair has to play.
        extra_pairs: how many more games than the others a pair has, such as a play-off.
    """

    format: PairingFormat
    meetings: int = 0
    rounds: int = 0
    missing: tuple[str, ...] = ()
    missing_pairs: Mapping[Pair, int] = attrs.field(factory=dict)
    extra_pairs: Mapping[Pair, int] = attrs.field(factory=dict)


def ordered_pair(game: EventGame) -> Pair:
    """Return the two players of a game, the lower number first."""
    return (game.white, game.black) if game.white < game.black else (game.black, game.white)


def find_pairing_system(
    games: Sequence[EventGame],
    announced: Announcement,
    byes: Collection[tuple[int, int]] = (),
    away: Collection[int] = (),
) -> PairingSystem:
    """Return the pairing system of a tournament, as announced or as its games look.

    Args:
        games: its games in the order of the rounds.
        announced: its announcement.
        byes: rounds without a game: the player, and the number of the round or 0.
        away: the players who were absent from all reported rounds, and have no game to play.
    """
    players = sorted({player for game in games for player in game.players})
    entrants = sorted({*players, *(player for player, _ in byes)})
    counted = Counter(ordered_pair(game) for game in games)
    played = max((game.round_number for game in games), default=0)
    numbered = max([played, *(number for _, number in byes)])
    rounds = max(announced.rounds or 0, numbered)
    shape = announced.format or (_seen(games, players, counted, announced, rounds) if games else OTHER)
    missing = list(_missing_always(games, entrants, announced, played))
    meetings = 0
    lacking: dict[Pair, int] = {}
    extra: dict[Pair, int] = {}
    if shape == Format.ALL_PLAY_ALL:
        # Players with byes so far play in it, too; before the first game the others are unknown without an
        # announcement.
        there = [player for player in entrants if player not in away]
        size = max(len(there) if games else 0, announced.entrants or 0)
        meetings = _meetings(counted, size, announced.rounds)
        for pair in combinations(there, 2):
            if counted.get(pair, 0) < meetings:
                lacking[pair] = meetings - counted.get(pair, 0)
        extra = {pair: number - meetings for pair, number in counted.items() if number > meetings}
        if lacking:
            unplayed = _counted(sum(lacking.values()), "game")
            missing.insert(0, f"{unplayed} to play between {_counted(len(lacking), 'pair')}")
    elif shape == Format.SWISS:
        missing += _missing_in_swiss(games, entrants, played, byes) if games else []
    return PairingSystem(cast("PairingFormat", str(shape)), meetings, rounds, tuple(missing), lacking, extra)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _missing_always(
    games: Sequence[EventGame], players: Sequence[int], announced: Announcement, numbered: int
) -> list[str]:
    missing = [] if games else ["every game: only rounds without a game are reported"]
    unfinished = sum(game.half_points is None for game in games)
    if unfinished:
        missing.append(f"{_counted(unfinished, 'game')} without a result")
    if announced.entrants and announced.entrants > len(players):
        absent = announced.entrants - len(players)
        missing.append(f"{absent} of {announced.entrants} entrants {'has' if absent == 1 else 'have'} no game")
    if announced.rounds and numbered and numbered < announced.rounds:
        absent = announced.rounds - numbered
        missing.append(f"no game of the last {'round' if absent == 1 else f'{absent} rounds'}")
    return missing


def _missing_in_swiss(
    games: Sequence[EventGame], players: Sequence[int], numbered: int, byes: Collection[tuple[int, int]]
) -> list[str]:
    """Return the missing rounds of a Swiss: a round without a report on a player may have brought a point."""
    if not numbered:
        return ["no game has the number of its round"]
    present = {(player, game.round_number) for game in games for player in game.players} | {*byes}
    absent = len(players) * numbered - sum(1 for _, number in present if 0 < number <= numbered)
    if not absent:
        return []
    return [f"{_counted(absent, 'round')} of a player without a game, and no report whether a bye brought points"]


def _seen(
    games: Sequence[EventGame],
    players: Sequence[int],
    counted: Mapping[Pair, int],
    announced: Announcement,
    rounds: int,
) -> str:
    if len(players) == 2:
        return Format.MATCH
    # Announced rounds that make no whole cycle are those of another tournament than an all-play-all.
    whole = not announced.rounds or rounds % _cycle(announced.entrants or len(players)) == 0
    if whole and _is_all_play_all(players, counted):
        return Format.ALL_PLAY_ALL
    if len(players) >= 4 and is_knockout(games, players):
        return Format.KNOCKOUT
    return Format.SWISS if _is_swiss(games, players) else OTHER


def _is_all_play_all(players: Sequence[int], counted: Mapping[Pair, int]) -> bool:
    """Return whether nearly every pair has met equally often, or nearly all games are those of an all-play-all."""
    meetings, pairs = _meetings(counted, len(players), None), len(players) * (len(players) - 1) // 2
    # as ``find_pairing_system`` counts them, without naming every pair of a large tournament
    never_met = pairs - len(counted)
    other = sum(number != meetings for number in counted.values()) + never_met
    games = sum(abs(number - meetings) for number in counted.values()) + never_met * meetings
    return min(other / pairs, games / (meetings * pairs)) <= 1 - LEAST_SHARE


def _is_swiss(games: Sequence[EventGame], players: Sequence[int]) -> bool:
    """Return whether no players met twice, or played twice in a round, and half of them or more played most rounds."""
    # A forfeited game is no meeting: the two may be paired again (C.04.1).
    met = Counter(ordered_pair(game) for game in games if game.termination != Termination.UNPLAYED)
    if max(met.values(), default=0) > 1:
        return False
    played = Counter(player for game in games for player in game.players)
    in_round = Counter((player, game.round_number) for game in games if game.round_number for player in game.players)
    if in_round and max(in_round.values()) > 1:
        return False
    most = max(played.values())
    return most >= 3 and 2 * sum(2 * number > most for number in played.values()) >= len(players)


def is_knockout(games: Sequence[EventGame], players: Sequence[int]) -> bool:
    """Return whether a tournament is a knock-out: each player but one is out after one lost match.

    A match for the third place is allowed.
    """
    matches = games_by_pair(games)
    # Each match puts one player out, and one is left; a match for the third place is one more.
    if len(matches) - (len(players) - 1) not in {0, 1}:
        return False
    met = Counter(player for pair in matches for player in pair)
    if max(met.values()) > ceil(log2(len(players))) + 1:
        return False
    out: set[int] = set()
    won: Counter[int] = Counter()
    again = 0
    for pair, played in matches.items():
        again += any(player in out for player in pair)
        rounds = {won[player] for player in pair}
        if len(rounds) > 1 and 0 not in rounds:  # after a bye a player may enter in a later round
            return False
        won.update(pair)
        loser = find_loser(pair, played, games, out)
        if loser is not None:
            out.add(loser)
    # If no player is known to have lost a drawn final, two are not out.
    return again <= 1 and len(out) >= len(players) - 2


def games_by_pair(games: Sequence[EventGame]) -> dict[Pair, list[EventGame]]:
    """Return the games of each pair, the pairs in the order of their last games."""
    matches: dict[Pair, list[EventGame]] = {}
    for game in games:
        matches.setdefault(ordered_pair(game), []).append(game)
    return dict(sorted(matches.items(), key=lambda match: match[1][-1].order))


def find_loser(pair: Pair, played: Sequence[EventGame], games: Sequence[EventGame], out: Collection[int]) -> int | None:
    """Return the loser of a match; None if it cannot be known.

    Of two players level on points, the one who plays on (in *games*, those of the tournament) against an opponent
    without a lost match (not *out*) has won.
    """
    first = sum(game.half_points_of(pair[0]) or 0 for game in played)
    second = sum(game.half_points_of(pair[1]) or 0 for game in played)
    if first != second:
        return pair[0] if first < second else pair[1]
    later = [game for game in games if game.order > played[-1].order]
    on = [
        player
        for player in pair
        if any(player in {game.white, game.black} and game.opponent_of(player) not in out for game in later)
    ]
    return (pair[0] if on[0] == pair[1] else pair[1]) if len(on) == 1 else None


def _cycle(players: int) -> int:
    """Return the number of rounds in which every player meets every other once."""
    return players - 1 if players % 2 == 0 else players


def _meetings(counted: Mapping[Pair, int], players: int, rounds: int | None) -> int:
    """Return how often two players meet in an all-play-all, as announced or as most pairs did; 0: unknown."""
    if rounds and players and rounds % _cycle(players) == 0:
        return rounds // _cycle(players)
    often = Counter(counted.values())
    return max(often, key=lambda number: (often[number], number), default=0)


def build_matches(games: Sequence[EventGame], called: Mapping[int, str]) -> list[Match]:
    """Return the matches of a tournament in the order of their rounds.

    Names are by player number.
    """
    reached: dict[int, int] = {}
    lost: set[int] = set()
    pairings = []
    for pair, played in games_by_pair(games).items():
        number = 1 + max(reached.get(player, 0) for player in pair)
        is_third_place = all(player in lost for player in pair)
        loser = find_loser(pair, played, games, lost)
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
                names=[called[player] for player in order],
                points=points,
                games=[game.key for game in played],
                winner=None if loser is None else order[0],
                by_points=points[0] != points[1],
            )
        )
    return sorted(pairings, key=lambda match: (match.round, match.third_place))


def knockout_places(decided: Sequence[Match], order: Sequence[SharedPlace]) -> list[SharedPlace]:
    """Return the ranks of players in a knock-out: who got further is ahead, losers of one round share a rank.

    The *order* of the players by points orders the rows of a shared place.
    """
    reached: dict[int, tuple[int, int]] = {place.player: (0, 0) for place in order}
    for match in decided:
        for player in match.players:
            won = 0 if match.winner is None else 1 if player == match.winner else -1
            # a match for the third place orders the losers of the semi-finals, who stay behind the finalists
            reached[player] = (reached[player][0], won - 2) if match.third_place else (match.round, won)
    ranked: list[SharedPlace] = []
    for key in sorted(set(reached.values()), reverse=True):
        level = [place.player for place in order if reached[place.player] == key]
        first, last = len(ranked) + 1, len(ranked) + len(level)
        ranked += [SharedPlace(player, first, last) for player in level]
    return ranked
