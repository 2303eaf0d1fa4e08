"""The pairings of a tournament from both players' lines: each game once, contradictions with both lines.

Results are read, points never: they may follow a scoring of their own. Nothing is known of days, names of tournaments
or keys here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

import attrs

from ledger.facts.words import Brings, Colour
from ledger.imports.trf.lines import PLAYED, PlayerLine, RoundCell
from ledger.imports.trf.scoring import Scoring

# White's and Black's letters of one game: who won, and whether it was played.
_RESULTS: Mapping[tuple[str, str], tuple[str, bool]] = {
    ("1", "0"): ("white", True),
    ("0", "1"): ("black", True),
    ("=", "="): ("draw", True),
    ("+", "-"): ("white", False),
    ("-", "+"): ("black", False),
    ("W", "L"): ("white", False),
    ("L", "W"): ("black", False),
    ("D", "D"): ("draw", False),
}
# Pairs of letters that are no game, by the reason.
_NO_GAME: Mapping[tuple[str, str], str] = {
    ("-", "-"): "both forfeited",
    ("0", "0"): "both lost",
    ("Z", "Z"): "unfinished",
    ("L", "L"): "both lost",
}
# What the letters bring if there is no opponent, or if the colours of a forfeit are unknown.
_BRINGS: Mapping[str, Brings] = {
    "H": Brings.HALF, "F": Brings.FULL, "U": Brings.ALLOTTED, "Z": Brings.ZERO, "+": Brings.FULL, "W": Brings.FULL,
    "D": Brings.HALF, "-": Brings.ABSENT, "L": Brings.ABSENT,
}  # fmt: skip
_AWAY = frozenset({Brings.ABSENT, Brings.ZERO})
_COLOURS = {"w": Colour.WHITE.value, "b": Colour.BLACK.value}


class Entrant(NamedTuple):
    """A player of a tournament report: the line of the file, its fields, identity and name."""

    line: int
    read: PlayerLine
    identity: str
    name: str

    def __str__(self) -> str:
        return f"{self.read.rank} ({self.name})"


class Pairing(NamedTuple):
    """A game: its round, from 1, the players, who won, and whether more than one move was played."""

    round: int
    white: Entrant
    black: Entrant
    outcome: str
    is_played: bool


class Bye(NamedTuple):
    """A round without a game: its number, from 1, the player, the kind of bye; an opponent and colour if paired."""

    round: int
    entrant: Entrant
    brings: Brings
    opponent: Entrant | None = None
    colour: str | None = None


@attrs.define
class Pairings:
    """The games, byes and faults in the lines of a tournament's players.

    Attributes:
        games: each once, by rounds.
        faults: what contradicts, with its line.
        left_out: what is no game, by the reason.
        byes: the rounds without a game: a letter without an opponent, a blank in a round that was played.
        lost_by_both: the rounds of games that both players lost at the board, with the players.
    """

    games: list[Pairing] = attrs.Factory(list)
    faults: list[tuple[int, str]] = attrs.Factory(list)
    left_out: Counter[str] = attrs.Factory(Counter)
    byes: list[Bye] = attrs.Factory(list)
    lost_by_both: list[tuple[int, Entrant, Entrant]] = attrs.Factory(list)

    def count_others(self) -> int:
        """Return the number of faults and pairings without a game."""
        return len(self.faults) + self.left_out.total()

    @property
    def rounds(self) -> set[int]:
        """The numbers of the rounds that have any record."""
        return {game.round for game in self.games} | {bye.round for bye in self.byes}


def pair_entrants(entrants: Mapping[int, Entrant], unread: Set[int]) -> Pairings:
    """Return the pairings that the lines of all players of a tournament give together.

    Args:
        entrants: by starting rank.
        unread: starting ranks of players whose lines are faulty.
    """
    pairings = Pairings()
    for number in range(1, 1 + max((len(entrant.read.rounds) for entrant in entrants.values()), default=0)):
        before, byes, others = len(pairings.games), len(pairings.byes), pairings.count_others()
        for entrant in entrants.values():
            if number <= len(entrant.read.rounds):
                _take(pairings, number, entrant, entrants, unread)
        # Programs mark absences in a round to come: no player has played it or was paired.
        is_empty = len(pairings.games) == before and pairings.count_others() == others
        if is_empty and all(bye.brings in _AWAY for bye in pairings.byes[byes:]):
            del pairings.byes[byes:]
        # in a round that is still to come a blank says nothing
        if len(pairings.games) > before:
            for entrant in entrants.values():
                # A slice, for a line may end before this round: then there is no cell, and the player was absent as
                # well.
                cells = entrant.read.rounds[number - 1 : number]
                if all(not cell.opponent and cell.is_blank for cell in cells):
                    pairings.byes.append(Bye(number, entrant, Brings.ABSENT))
    return pairings


def _take(pairings: Pairings, number: int, entrant: Entrant, entrants: Mapping[int, Entrant], unread: Set[int]) -> None:
    cell = entrant.read.rounds[number - 1]
    if not cell.opponent:
        if cell.result in PLAYED:
            pairings.faults.append(
                (
                    entrant.line,
                    f"opponent-missing: round {number}: the result {cell.result!r} of a game without an "
                    "opponent; give the opponent's starting rank, or the letter of a bye",
                )
            )
        if cell.result in _BRINGS and not cell.is_blank:
            pairings.byes.append(Bye(number, entrant, _BRINGS[cell.result]))
        return
    other = entrants.get(cell.opponent)
    if other is None:
        if cell.opponent in unread:
            pairings.left_out["the opponent's line is faulty"] += 1
        else:
            words = f"there is no player {cell.opponent}; correct the opponent's starting rank"
            pairings.faults.append((entrant.line, f"opponent-missing: round {number}: {words}"))
        return
    back = other.read.rounds[number - 1] if number <= len(other.read.rounds) else RoundCell(0, "-", "Z")
    if back.opponent != entrant.read.rank:
        against = f"against {back.opponent}" if back.opponent else "without an opponent"
        pairings.faults.append(
            (
                entrant.line,
                f"opponents-differ: round {number}: against {other} here, but line {other.line} has {other} {against}; "
                "correct one of the two lines",
            )
        )
    elif entrant.read.rank < cell.opponent:  # of two lines that name each other the first one gives the game
        _judge(pairings, number, (entrant, cell), (other, back))


_Side = tuple[Entrant, RoundCell]


def _judge(pairings: Pairings, number: int, first: _Side, second: _Side) -> None:
    """Add the game of two lines that name each other."""
    # White before Black, None if the lines do not say; if a line has no colour, the other says it.
    ordered = None
    match first[1].colour, second[1].colour:
        case ("w", "b" | "-") | ("-", "b"):
            ordered = first, second
        case ("b", "w" | "-") | ("-", "w"):
            ordered = second, first
    results = (first[1].result, second[1].result)
    if results in _NO_GAME:
        pairings.left_out[_NO_GAME[results]] += 1
        if results == ("0", "0"):
            pairings.lost_by_both.append((number, first[0], second[0]))
        if results != ("Z", "Z"):
            pairings.byes += _paired_byes(number, first, second)
    elif results not in _RESULTS:
        words = _contradiction(number, first, second, "the results contradict")
        pairings.faults.append((first[0].line, f"results-differ: {words}"))
    elif ordered is not None:
        white, black = ordered
        outcome, is_played = _RESULTS[white[1].result, black[1].result]
        pairings.games.append(Pairing(number, white[0], black[0], outcome, is_played))
    # Programs leave the colours out if neither player came: what each side was given is kept as a round without a game.
    elif first[1].colour == second[1].colour == "-" and not _RESULTS[results][1]:
        pairings.left_out["forfeits without colours"] += 1
        pairings.byes += _paired_byes(number, first, second)
    else:
        words = _contradiction(number, first, second, "the colours do not say who had White")
        pairings.faults.append((first[0].line, f"colours-differ: {words}"))


def _paired_byes(number: int, first: _Side, second: _Side) -> list[Bye]:
    """Return the rounds without a game of two players who were paired; both lost without being away: no points."""
    return [
        Bye(number, entrant, _BRINGS.get(cell.result, Brings.ZERO), opponent, _COLOURS.get(cell.colour))
        for (entrant, cell), (opponent, _) in ((first, second), (second, first))
    ]


def _contradiction(number: int, first: _Side, second: _Side, words: str) -> str:
    (player, cell), (other, back) = first, second
    return (
        f"round {number} against {other}: {words}: '{cell.colour} {cell.result}' here, '{back.colour} {back.result}' "
        f"in line {other.line}, of player {player.read.rank}'s opponent; correct one of the two lines"
    )


def has_usual_results(read: PlayerLine) -> bool:
    """Return whether a player has nothing but games at the board and rounds of absence, which every scoring counts."""
    return all(cell.result in f"{PLAYED}-Z" for cell in read.rounds)


def differing_points(entrants: Mapping[int, Entrant], scoring: Scoring) -> Iterator[tuple[Entrant, float]]:
    """Yield the players whose reported points differ from those of their results, with the latter.

    Args:
        entrants: by starting rank.
        scoring: how the report counts them.
    """
    for entrant in entrants.values():
        points = sum(scoring.points(cell.result) for cell in entrant.read.rounds if not cell.is_blank)
        if entrant.read.points is not None and entrant.read.points != points:
            yield entrant, points
