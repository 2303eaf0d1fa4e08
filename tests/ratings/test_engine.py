"""What the engine takes for a kernel, what compiled kernels do instead of calls, and how a batch is gathered."""

import math
from collections.abc import Callable
from random import Random
from typing import Any

import attrs
import pytest

from ledger.errors import ProjectionError
from ledger.ratings import engine
from ledger.runtime.columns import FEW, MANY, Columns
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.records import flat_of
from ledger.schemes import find_scheme
from ledger.schemes.scheme import Newcomer
from tests.kit.small_schemes import BY_GAME


def made(amount: float) -> Callable[[list[float]], None]:
    def kernel(state: list[float]) -> None:
        state[0] += amount

    return kernel


def test_a_kernel_with_values_from_around_it_is_refused_by_name() -> None:
    with pytest.raises(ProjectionError, match="plain function at module level"):
        compile_kernel(made(1.0))


def scaled(x: float, exponent: int) -> float:
    return math.ldexp(x, exponent)


def scaled_by_name(x: float, exponent: int) -> float:
    return ldexp(x, exponent)


def parts(x: float) -> tuple[float, int]:
    return frexp(x)


ldexp, frexp = math.ldexp, math.frexp


def test_powers_of_two_by_bits_are_those_of_the_c_library() -> None:
    random = Random(5)
    by_bits, by_call = compile_kernel(scaled_by_name), compile_kernel(scaled)
    for exponent in range(-1100, 1025):
        x = random.uniform(0.5, 0.99) * random.choice((-1.0, 1.0))
        assert by_bits(x, exponent).hex() == by_call(x, exponent).hex() == math.ldexp(x, exponent).hex()


@pytest.mark.parametrize("x", [1.0, -1.0, 0.75, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1])
def test_mantissa_and_exponent_by_bits_are_those_of_the_c_library(x: float) -> None:
    fast: Callable[[float], Any] = compile_kernel(parts)
    assert tuple(fast(x)) == math.frexp(x)


def test_a_batch_gives_its_players_places_in_order_of_appearance() -> None:
    space = engine.workspace(FEW, find_scheme("glicko"), 9, 6)
    batch = engine.RateableGames([7, 2, 7], [2, 5, 5], [1.0, 0.5, 0.0], [0.0] * 3)
    players = engine.group_batch_by_player(batch, 0, 3, space)
    assert (players, space.roster[:3], space.side) == (3, [7, 2, 5], [0, 1, 1, 2, 0, 2])
    assert [space.slot[player] for player in (7, 2, 5)] == [1, 2, 3]
    met = list(zip(space.opponent, space.result, space.colour, strict=True))
    games = [met[last - n : last] for last, n in zip(space.end[:3], space.tally[:3], strict=True)]
    assert games == [[(1, 1.0, 0), (2, 0.0, 0)], [(0, 0.0, 1), (2, 0.5, 0)], [(1, 0.5, 1), (0, 1.0, 1)]]


def test_who_sits_a_batch_out_stays_as_before_it() -> None:
    scheme = find_scheme("glicko")
    numbers = scheme.numbers_from({})
    state = [1500.0, 200.0, 3.0, 1600.0, 80.0, 3.0, 1700.0, 90.0, 3.0]
    players = engine.records(FEW, scheme.player, state)
    games = engine.RateableGames([2], [0], [1.0], [0.0], [0, 1], [9.0], [0.0])
    first, idle, winner = engine.rate_one_batch(scheme, numbers, games, players)
    assert flat_of(idle.before) == flat_of(idle.after) == state[3:6]
    assert winner.after.rating > 1700.0
    assert first.before.rd > 200.0, "brought to the batch"


def rate_to_nothing(white: Any, black: Any, score: float, day: float, numbers: Any) -> None:
    white.rating = (1e308 * 10.0) - (1e308 * 10.0)


def rate_to_infinity(white: Any, black: Any, score: float, day: float, numbers: Any) -> None:
    black.rating = -1e308 * 10.0


@pytest.mark.parametrize("cols", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("rate_game", [rate_to_nothing, rate_to_infinity])
def test_a_scheme_that_gives_a_rating_that_is_no_finite_number_is_named(
    rate_game: Callable[..., None], cols: Columns
) -> None:
    scheme = attrs.evolve(BY_GAME, name=rate_game.__name__, rate_game=rate_game)
    numbers = scheme.numbers_from({})
    games = engine.RateableGames(
        cols.int32_column([0]), cols.int32_column([1]), cols.float64_column([1.0]), cols.float64_column([0.0])
    )
    state = cols.float64_column(engine.initial_states(scheme, numbers, [Newcomer(None, None, 0.0)] * 2))
    with pytest.raises(ProjectionError, match=f"{scheme.name}: gives a rating that is no finite number"):
        engine.rate(cols, scheme, numbers, games, state, cols.int32_column([0, 0]))
