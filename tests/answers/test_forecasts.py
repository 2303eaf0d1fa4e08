"""Predictions: made before the game is known, from states brought to its time, the same bits in both ways to run."""

import math
from random import Random
from typing import Any

import attrs
import pytest

from ledger import schemes
from ledger.answers.comparing.forecasts import Predictions, predict_and_rate
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.columns import FEW, MANY
from ledger.runtime.records import flat_of
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme, When
from ledger.testing.kit import bit_patterns

PLAYERS = 12
FIRST_DAY = 18_500.0
SOME = ("elo", "lichess", "glicko2", "uschess", "fide")  # by game, with time, by period, by event, with the unrated


def games(scheme: Scheme, count: int, seed: int = 5, batch: int = 15) -> RateableGames:
    """Made-up games, one a day, in batches of *batch*."""
    random = Random(seed)
    pairs = [random.sample(range(PLAYERS), 2) for _ in range(count)]
    days = [FIRST_DAY + game for game in range(count)]
    columns = [white for white, _ in pairs], [black for _, black in pairs], random.choices((0.0, 0.5, 1.0), k=count)
    if scheme.rhythm is Rhythm.GAME:
        return RateableGames(*columns, days)
    starts = [*range(0, count, batch), count]
    closing = [days[last - 1] + 0.5 for last in starts[1:]]
    return RateableGames(*columns, days, starts, [600.0 + i for i in range(len(closing))], closing)


def beginning(scheme: Scheme, numbers: Any) -> list[float]:
    declared = (1500.0, None, 1810.0, 1620.0)
    return engine.initial_states(
        scheme, numbers, [Newcomer(declared[i % 4], 1950 + 5 * i, FIRST_DAY) for i in range(PLAYERS)]
    )


def players(scheme: Scheme, numbers: Any) -> list[Any]:
    flat, width = beginning(scheme, numbers), len(scheme.state)
    return [scheme.player_of(flat[first : first + width]) for first in range(0, len(flat), width)]


def as_arrays(told: RateableGames) -> RateableGames:
    return RateableGames(
        MANY.int32_column(told.white),
        MANY.int32_column(told.black),
        MANY.float64_column(told.score),
        MANY.float64_column(told.day),
        MANY.int64_column(told.starts) if told.starts else (),
        MANY.float64_column(told.period) if told.period else (),
        MANY.float64_column(told.closing) if told.closing else (),
    )


def foreseen(name: str, count: int = 300) -> tuple[Scheme, Any, RateableGames, Predictions]:
    scheme = schemes.find_scheme(name)
    numbers = scheme.numbers_from({})
    played = games(scheme, count)
    return scheme, numbers, played, predict_and_rate(FEW, scheme, numbers, played, beginning(scheme, numbers))


@pytest.mark.parametrize("name", SOME)
def test_interpreted_and_compiled_give_equal_bits(name: str) -> None:
    scheme, numbers, played, few = foreseen(name)
    many = predict_and_rate(MANY, scheme, numbers, as_arrays(played), MANY.float64_column(beginning(scheme, numbers)))
    for one, other in zip(few, many, strict=True):
        assert bit_patterns(one) == bit_patterns(other.tolist())


@pytest.mark.parametrize("name", SOME)
def test_the_ratings_are_those_that_the_engine_gives(name: str) -> None:
    scheme, numbers, played, told = foreseen(name)
    state = beginning(scheme, numbers)
    history = engine.rate(FEW, scheme, numbers, played, state, [0] * PLAYERS).history
    width = len(scheme.state)
    for side, rating in enumerate(told.rating):
        after = history[side * width : (side + 1) * width]
        assert bit_patterns([rating]) == bit_patterns([after[0] if scheme.is_listed(after, numbers) else math.nan])


def test_a_game_is_predicted_from_the_states_before_it_brought_to_its_time() -> None:
    scheme, numbers, played, told = foreseen("lichess")
    everybody = players(scheme, numbers)
    for game, day in enumerate(played.day):
        white, black = everybody[played.white[game]], everybody[played.black[game]]
        before = engine.expected_result(scheme, numbers, flat_of(white), flat_of(black), When(0.0, day))
        assert told.expected[game] == before
        assert scheme.rate_game is not None
        scheme.rate_game(white, black, played.score[game], day, numbers)


@pytest.mark.parametrize("name", ["glicko2", "uschess", "fide"])
def test_a_batch_is_predicted_from_the_states_at_its_beginning(name: str) -> None:
    scheme, numbers, played, told = foreseen(name)
    state, width = beginning(scheme, numbers), len(scheme.state)
    for batch, (first, last) in enumerate(zip(played.starts, played.starts[1:], strict=False)):
        when = When(played.period[batch], played.closing[batch])
        for game in range(first, last):
            w, b = played.white[game] * width, played.black[game] * width
            own, other = state[w : w + width], state[b : b + width]
            assert told.expected[game] == engine.expected_result(scheme, numbers, own, other, when)
        white, black, score, day = (column[first:last] for column in played[:4])
        part = RateableGames(white, black, score, day, [0, last - first], [when.period], [when.day])
        engine.rate(FEW, scheme, numbers, part, state, [0] * PLAYERS)


def test_the_result_of_a_game_does_not_change_its_own_prediction() -> None:
    for name in SOME:
        scheme, numbers, played, told = foreseen(name, 40)
        other = played._replace(score=[*played.score[:-1], 1.0 - played.score[-1]])
        assert predict_and_rate(FEW, scheme, numbers, other, beginning(scheme, numbers)).expected == told.expected


def test_two_equal_newcomers_are_expected_to_draw_and_then_the_winner_to_win() -> None:
    scheme = schemes.find_scheme("elo")
    numbers = scheme.numbers_from({})
    state = engine.initial_states(scheme, numbers, [Newcomer(), Newcomer()])
    told = predict_and_rate(FEW, scheme, numbers, RateableGames([0, 0], [1, 1], [1.0, 1.0], [1.0, 2.0]), state)
    gain = (told.rating[0] - told.rating[1]) / 2.0
    assert gain == numbers.k / 2.0
    assert told.expected == [0.5, pytest.approx(1.0 / (1.0 + 10.0 ** (-2.0 * gain / 400.0)), rel=1e-12)]
    assert told.final == told.rating[2:]


def test_a_game_is_unsettled_while_either_side_is_provisional() -> None:
    scheme, numbers, played, told = foreseen("chessworld")
    everybody, met = players(scheme, numbers), set()
    for game, unsettled in enumerate(told.unsettled):
        sides = everybody[played.white[game]], everybody[played.black[game]]
        provisional = [bool(scheme.provisional(player, numbers)) for player in sides]
        assert unsettled == any(provisional)
        met.add((unsettled, all(provisional)))
        assert scheme.rate_game is not None
        scheme.rate_game(*sides, played.score[game], played.day[game], numbers)
    assert met == {(0, False), (1, False), (1, True)}


def test_who_is_not_listed_has_no_rating() -> None:
    scheme = schemes.find_scheme("fide")
    numbers = scheme.numbers_from({})
    told = predict_and_rate(
        FEW,
        scheme,
        numbers,
        RateableGames([0], [1], [1.0], [1.0], [0, 1], [600.0], [1.5]),
        engine.initial_states(scheme, numbers, [Newcomer(), Newcomer()]),
    )
    assert told.expected == [0.5]
    assert told.unsettled == [1]
    assert all(math.isnan(rating) for rating in (*told.rating, *told.final))


def fade(player: Any, period: float, day: float, numbers: Any) -> None:
    """Kernel ``at`` by which a rating is the day."""
    player.rating = day


def test_the_final_ratings_are_brought_to_the_last_game() -> None:
    elo = schemes.find_scheme("elo")
    fading = attrs.evolve(elo, name="fading", at=fade)
    numbers = elo.numbers_from({})
    state = engine.initial_states(elo, numbers, [Newcomer(), Newcomer(), Newcomer()])
    told = predict_and_rate(FEW, fading, numbers, RateableGames([0, 1], [1, 2], [1.0, 0.0], [3.0, 8.0]), state)
    assert told.final == [8.0, 8.0, 8.0]
    assert told.rating[0] != 3.0  # what is asked for a prediction changes nobody


def test_no_games_at_all() -> None:
    for name in SOME:
        scheme = schemes.find_scheme(name)
        none = games(scheme, 0)._replace(starts=[0], period=[], closing=[])
        assert predict_and_rate(FEW, scheme, scheme.numbers_from({}), none, []) == ([], [], [], [])
