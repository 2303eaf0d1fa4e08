"""The pairing system of a tournament, announced or recognised in its games, its missing games, its matches. Pure.

What is seen is a guess that says so: a small Swiss tournament may look like an all-play-all with games missing. Who
knows better announces the tournament, or names its kind. A knock-out's round is seen from its matches: a match belongs
to the round after the last one of either player.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import ceil, log2

import attrs

from ledger.answers.crosstables.event_games import AnnouncedKind, EventGame
from ledger.answers.crosstables.page import Match
from ledger.answers.crosstables.tie_breaks import SharedPlace
from ledger.facts.words import Format, Termination

OTHER = "other"  # neither announced nor recognised
KINDS = (*(kind.value for kind in Format), OTHER)
NEARLY_ALL = 0.75  # of the pairs or games of an all-play-all; with more missing or additional ones it is not recognised

Pair = tuple[int, int]  # two player numbers, the lower one first


@attrs.frozen
class PairingKind:
    """The pairing system of a tournament.

    Attributes:
        format: one of ``KINDS``.
        is_told: whether it was announced; otherwise the games look like it.
        meetings: in an all-play-all, how often two players meet; else 0.
        rounds: how many rounds there are, as announced or as numbered; 0 if neither is known.
        missing: missing games and rounds, each a sentence for people; empty for what is complete as far as can be seen.
        missing_pairs: in an all-play-all, which pairs have how many games to play.
        extra_pairs: which have how many more than the others, such as a play-off.
    """

    format: str
    is_told: bool
    meetings: int = 0
    rounds: int = 0
    missing: tuple[str, ...] = ()
    missing_pairs: Mapping[Pair, int] = attrs.field(factory=dict)
    extra_pairs: Mapping[Pair, int] = attrs.field(factory=dict)


def pair_of(game: EventGame) -> Pair:
    """Return the two players of a game."""
    return (game.white, game.black) if game.white < game.black else (game.black, game.white)


def kind_of(
    games: Sequence[EventGame],
    announced: AnnouncedKind,
    byes: Collection[tuple[int, int]] = (),
    away: Collection[int] = (),
) -> PairingKind:
    """Return the pairing system of a tournament.

    Args:
        games: its games in the order of the rounds.
        announced: its announcement.
        byes: rounds without a game: the player, and the number of the round or 0.
        away: those of these players who were absent from everything reported, and have no game to play.
    """
    players = sorted({player for game in games for player in (game.white, game.black)})
    entrants = sorted({*players, *(player for player, _ in byes)})
    counted = Counter(pair_of(game) for game in games)
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
    return PairingKind(str(shape), announced.format is not None, meetings, rounds, tuple(missing), lacking, extra)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _missing_always(
    games: Sequence[EventGame], players: Sequence[int], announced: AnnouncedKind, numbered: int
) -> list[str]:
    """Yield the missing parts of a tournament of any kind."""
    missing = [] if games else ["every game: rounds without one are all that is told"]
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
    """Yield the missing rounds of a Swiss: a round without a report on a player may have brought a point."""
    if not numbered:
        return ["no game has the number of its round"]
    present = {(player, game.round_number) for game in games for player in (game.white, game.black)} | {*byes}
    absent = len(players) * numbered - sum(1 for _, number in present if 0 < number <= numbered)
    if not absent:
        return []
    return [f"{_counted(absent, 'round')} of a player without a game, and nobody told whether a bye brought points"]


def _seen(
    games: Sequence[EventGame],
    players: Sequence[int],
    counted: Mapping[Pair, int],
    announced: AnnouncedKind,
    rounds: int,
) -> str:
    """Return the pairing system that the games look like."""
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
    # as ``kind_of`` counts them, without naming every pair of a large tournament
    never_met = pairs - len(counted)
    other = sum(number != meetings for number in counted.values()) + never_met
    games = sum(abs(number - meetings) for number in counted.values()) + never_met * meetings
    return min(other / pairs, games / (meetings * pairs)) <= 1 - NEARLY_ALL


def _is_swiss(games: Sequence[EventGame], players: Sequence[int]) -> bool:
    """Return whether no players met twice, or played twice in a round, and half of them or more played most rounds."""
    # A forfeited game is no meeting: the two may be paired again (C.04.1).
    met = Counter(pair_of(game) for game in games if game.termination != Termination.UNPLAYED)
    if max(met.values(), default=0) > 1:
        return False
    played = Counter(player for game in games for player in (game.white, game.black))
    in_round = Counter(
        (player, game.round_number) for game in games if game.round_number for player in (game.white, game.black)
    )
    if in_round and max(in_round.values()) > 1:
        return False
    most = max(played.values())
    return most >= 3 and 2 * sum(2 * number > most for number in played.values()) >= len(players)


def is_knockout(games: Sequence[EventGame], players: Sequence[int]) -> bool:
    """Return whether all but one player are out after one match each; a match for the third place is allowed."""
    matches = matches_of(games)
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
        if len(rounds) > 1 and 0 not in rounds:  # who had a bye may enter in a later round
            return False
        won.update(pair)
        loser = loser_of(pair, played, games, out)
        if loser is not None:
            out.add(loser)
    # If no player is known to have lost a drawn final, two are not out.
    return again <= 1 and len(out) >= len(players) - 2


def matches_of(games: Sequence[EventGame]) -> dict[Pair, list[EventGame]]:
    """Return the games of each pair, the pairs in the order of their last games."""
    matches: dict[Pair, list[EventGame]] = {}
    for game in games:
        matches.setdefault(pair_of(game), []).append(game)
    return dict(sorted(matches.items(), key=lambda match: match[1][-1].order))


def loser_of(pair: Pair, played: Sequence[EventGame], games: Sequence[EventGame], out: Collection[int]) -> int | None:
    """Return the loser of a match; None if nothing shows it.

    Args:
        pair: the two players.
        played: their games.
        games: all games: where the two are level on points, the one who played on against an opponent without a loss
            has won.
        out: the players who had lost a match before.
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
    """Return the rounds in which every player meets every other once: one more if a player is free in each round."""
    return players - 1 if players % 2 == 0 else players


def _meetings(counted: Mapping[Pair, int], players: int, rounds: int | None) -> int:
    """Return how often two players meet in an all-play-all: by the announced rounds, or as most pairs did.

    Return 0 if nothing says it, as before the first game. *players* is 0 if their number is unknown.
    """
    if rounds and players and rounds % _cycle(players) == 0:
        return rounds // _cycle(players)
    often = Counter(counted.values())
    return max(often, key=lambda number: (often[number], number), default=0)


# --- matches ------------------------------------------------------------------------------------------------


def matches(games: Sequence[EventGame], called: Mapping[int, str]) -> list[Match]:
    """Return the matches in the order of their rounds, from the first to the last.

    Args:
        games: of the tournament, in the order of the rounds.
        called: names by player number.
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
                names=[called[player] for player in order],
                points=points,
                games=[game.key for game in played],
                winner=None if loser is None else order[0],
                by_points=points[0] != points[1],
            )
        )
    return sorted(pairings, key=lambda match: (match.round, match.third_place))


def places(decided: Sequence[Match], order: Sequence[SharedPlace]) -> list[SharedPlace]:
    """Return the places of a knock-out: players who got further are ahead, losers of one round share a place.

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
