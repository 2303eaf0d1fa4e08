"""The prediction of a game: the expected score, and the rating after a win, a draw and a loss, by the scheme's kernel.

A game that the scheme would not rate changes nothing: the prediction has the reason.
"""

from __future__ import annotations

from typing import Literal

import attrs

from ledger.answers.asking import day, display_name, in_one_snapshot
from ledger.answers.calculations import ResultEffect, result_effects
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import engine
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage
from ledger.schemes.scheme import ENDED_CHECKMATE, HALF_MOVES_UNKNOWN, OUTCOME_WHITE, REASONS

Unrated = Literal["player", "opponent", "both"]
_UNRATED: dict[tuple[bool, bool], Unrated] = {(True, False): "player", (False, True): "opponent", (True, True): "both"}


@attrs.frozen(kw_only=True, slots=False)
class Prediction:
    """The expected score of a player against an opponent, and the rating after a win, a draw and a loss."""

    player: str = documented("what the player is called")
    opponent: str = documented("what the opponent is called")
    pool: str = documented("the pool")
    scheme: str = documented("the scheme in force then")
    as_of: str = documented("the day that it is asked of")
    rating: float | None = documented("the player's rating in force, points; null: none to show")
    opponent_rating: float | None = documented("the opponent's rating in force, points")
    expected_score: float = documented("the expected score, 0 to 1; of newcomers what the scheme makes of them")
    with_white: float = documented("the same with White, by the pool's white_advantage")
    with_black: float = documented("the same with Black")
    unrated: Unrated | None = documented("who has no rating; null: nobody")
    not_rated: str | None = documented("a word for why such a game would not count, however it ended; null: it would")
    win: ResultEffect = documented("what a win would bring")
    draw: ResultEffect = documented("what a draw would bring")
    loss: ResultEffect = documented("what a loss would bring")


@in_one_snapshot
def predict(
    ledger: OpenLedger, person: Person, opponent: Person, pool: str | None = None, at: str | None = None
) -> Prediction:
    """Predict a player's rating after a win, a draw and a loss, unrounded; by period or event, as the only game in it.

    The scheme is the one in force then, and so are the ratings of both players: games of a period that is not over do
    not count yet. A rating is None, and so is a change to or from it, if the scheme lists no such player. By default
    the game ends after all recorded games and closed periods, on the day ``as_of``, or today if there are none.

    Raises:
        UnknownNameError: both are one person.
    """
    if person.player == opponent.player:
        raise UnknownNameError("opponent", display_name(opponent), "nobody plays himself")
    rated_by = ledger.pool(pool)
    states = ledger.states(rated_by)
    both, ms = (person, opponent), ledger.now_ms() if at is None else instant_end_ms(at)
    # a seed may be of a later day than the last game
    if at is None and (ended_ms := states.in_force_ms(ms)) is not None:
        ms = max(ended_ms, *(states.listed_from(who.player, ms) for who in both))
    own, other = (states.at(who.player, ms) for who in both)
    era, number = own.era, rated_by.era_at(ms)
    when = rated_by.when(number, ms, ms)
    # the longest of games, so that standings and settings alone decide
    standings = (states.standing_code(who.player, ms) for who in both)
    game = (OUTCOME_WHITE, ENDED_CHECKMATE, HALF_MOVES_UNKNOWN, True)
    not_rated = REASONS[era.scheme.refuse(*game, *standings, era.numbers)] or None
    effects = dict.fromkeys(("win", "draw", "loss"), ResultEffect(rating=None, change=None))
    if not not_rated:
        effects = result_effects(era.scheme, era.numbers, own.state, other.state, when, own.rating)
    expected = engine.expected_result(era.scheme, era.numbers, own.state, other.state, when)
    advantage = advantage_in(era.settings)
    return Prediction(
        player=display_name(person),
        opponent=display_name(opponent),
        pool=rated_by.name,
        scheme=era.scheme.name,
        as_of=day(ms),
        rating=own.rating,
        opponent_rating=other.rating,
        expected_score=expected,
        with_white=with_advantage(expected, advantage),
        with_black=with_advantage(expected, -advantage),
        unrated=_UNRATED.get((own.rating is None, other.rating is None)),
        not_rated=not_rated,
        **effects,
    )
