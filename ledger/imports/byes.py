"""Byes as files write them: a name that means nobody where an opponent would stand, and what its result brings.

A player of such a name who has an identity of another kind than the name (a FIDE number, a number of a site) is a
person. Nothing is read or recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.facts.event_fields import MAX_ROUND
from ledger.facts.source_games import SourceGame, SourceRound
from ledger.facts.words import Brings, Outcome, round_order
from ledger.imports.reading import Reading

NOBODY = frozenset({"bye", "spielfrei", "freilos", "exempt", "-", "–", "—"})  # in small letters
OF_NO_TOURNAMENT = "byes of no tournament"
_A_ROUND = 10**12  # in ``round_order``
_DAY = 10  # characters of an instant that names a day


def is_nobody(name: str | None) -> bool:
    """Whether a name says that there is no opponent."""
    return name is not None and " ".join(name.split()).casefold() in NOBODY


def brings(outcome: str, *, is_white: bool) -> Brings:
    """What a result against nobody brings the player who stands on the other side."""
    if outcome == Outcome.DRAW:
        return Brings.HALF
    return Brings.ALLOTTED if outcome == (Outcome.WHITE if is_white else Outcome.BLACK) else Brings.ZERO


def round_number(text: str | None) -> int | None:
    """The number of a round as the source wrote it; None where it has none."""
    number = round_order(text) // _A_ROUND
    return number if 0 < number <= MAX_ROUND else None


def without_byes(games: Iterable[SourceGame], reading: Reading, edition: str | None = None) -> Iterator[SourceGame]:
    """The games in which two people met; one against nobody is a round without a game, and goes to *reading*.

    Args:
        games: of a source that knows its players by name.
        reading: takes the rounds.
        edition: a day of their tournament; None for the day of each game.
    """
    for game in games:
        is_white = game.black_id.startswith("name:") and is_nobody(game.black_name)
        is_black = game.white_id.startswith("name:") and is_nobody(game.white_name)
        if not (is_white or is_black):
            yield game
        elif is_white and is_black:
            reading.skipped["rows without a game"] += 1
        elif game.tournament is None:
            reading.skipped[OF_NO_TOURNAMENT] += 1
        else:
            reading.without_game(
                SourceRound(
                    game.line,
                    game.white_id if is_white else game.black_id,
                    game.white_name if is_white else game.black_name,
                    game.tournament,
                    edition or game.ended_at[:_DAY],
                    round_number(game.round),
                    brings(game.outcome, is_white=is_white),
                    None,
                    game.speed,
                    game.variant,
                )
            )
