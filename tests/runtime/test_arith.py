"""Powers and logarithms against decimal arithmetic of 45 digits, to the accuracy that their docstrings promise."""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from random import Random
from typing import Any

import pytest

from ledger.runtime import arith
from ledger.runtime.kernels import compile_kernel

SAMPLES = 1500
MANTISSA_EDGE = 0.7071067811865476  # where log2 changes the exponent
Exact = Callable[[Decimal], Decimal]


def distance(got: float, exact: Decimal) -> float:
    """How far, in units in the last place of the exact value."""
    return float(abs(Decimal(got) - exact) / Decimal(math.ulp(abs(float(exact)))))


def farthest(function: Callable[[float], float], exact: Exact, arguments: Iterator[float], slope: float) -> float:
    """The largest distance over the arguments, less *slope* times the argument's size."""
    with localcontext() as context:
        context.prec = 45
        return max(distance(function(x), exact(Decimal(x))) - slope * abs(x) for x in arguments)


def exponents(low: float, high: float) -> Iterator[float]:
    """Small, middling and large arguments of a power, and where its steps are."""
    random = Random(1)
    for _ in range(SAMPLES):
        yield random.uniform(low, high)
        yield random.uniform(-1, 1)
        yield random.gauss(0, 1) * 10 ** random.uniform(-18, 0)
        half = random.randint(math.ceil(low), math.floor(high) - 1) + 0.5
        yield half
        yield math.nextafter(half, -math.inf)
        yield math.nextafter(half, math.inf)
    yield from (0.0, -0.0, 5e-324, -5e-324, low, high)


def positives() -> Iterator[float]:
    """Arguments of a logarithm over the whole range, around 1 down to its neighbours, and where the exponent steps."""
    random = Random(2)
    for _ in range(SAMPLES):
        yield math.ldexp(random.uniform(0.5, 1), random.randint(-1073, 1024))
        yield random.uniform(0.35, 3)
        yield 1 + random.choice((-1, 1)) * 10 ** random.uniform(-15, -1)
        yield MANTISSA_EDGE * 2.0 ** random.randint(-900, 900) * (1 + random.gauss(0, 1e-12))
    yield from (math.nextafter(1, 0), math.nextafter(1, 2), 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308)


def ln2() -> Decimal:
    return Decimal(2).ln()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "exact", "low", "high", "slope"),
    [
        (arith.exp2, lambda x: (x * ln2()).exp(), -1022.0, 1023.99, 0.0),
        (arith.exp, Decimal.exp, -708.0, 709.7, 2.0),
        (arith.pow10, lambda x: (x * Decimal(10).ln()).exp(), -307.6, 308.2, 5.0),
    ],
    ids=["exp2", "exp", "pow10"],
)
def test_powers_keep_their_promise(
    function: Callable[[float], float], exact: Exact, low: float, high: float, slope: float
) -> None:
    assert farthest(function, exact, exponents(low, high), slope) <= 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "exact"),
    [(arith.log2, lambda x: x.ln() / ln2()), (arith.log, Decimal.ln), (arith.log10, Decimal.log10)],
    ids=["log2", "log", "log10"],
)
def test_logarithms_keep_their_promise(function: Callable[[float], float], exact: Exact) -> None:
    assert farthest(function, exact, positives(), 0.0) <= 6.0


def test_whole_powers_of_2_are_exact_both_ways() -> None:
    for power in range(-1074, 1024):
        assert arith.exp2(float(power)) == math.ldexp(1.0, power)
        assert arith.log2(math.ldexp(1.0, power)) == float(power)


def test_nothing_is_exact() -> None:
    assert (arith.exp2(0.0), arith.exp(0.0), arith.pow10(0.0)) == (1.0, 1.0, 1.0)
    assert (arith.log2(1.0), arith.log(1.0), arith.log10(1.0)) == (0.0, 0.0, 0.0)
    assert arith.logistic(0.0) == 0.5


def test_beyond_the_range_powers_are_infinite_or_nothing() -> None:
    assert arith.exp2(1024.0) == arith.exp(709.8) == arith.pow10(308.3) == math.inf
    assert arith.exp2(1e300) == arith.exp2(math.inf) == math.inf
    assert arith.exp2(-1100.0) == arith.exp(-800.0) == arith.pow10(-400.0) == arith.exp2(-math.inf) == 0.0
    assert arith.exp2(math.nextafter(1024.0, 0.0)) < math.inf


def test_below_the_normal_range_a_power_is_within_one_unit() -> None:
    random = Random(3)
    below = (random.uniform(-1080, -1022) for _ in range(SAMPLES))
    assert farthest(arith.exp2, lambda x: (x * ln2()).exp(), below, 0.0) <= 1.0


def test_expected_scores_add_up_to_1() -> None:
    random = Random(4)
    for difference in (random.uniform(-3000, 3000) for _ in range(SAMPLES)):
        assert abs(arith.logistic(difference) + arith.logistic(-difference) - 1.0) <= 1e-15
    assert arith.logistic(400.0) == pytest.approx(10 / 11, rel=1e-15)


def differences() -> Iterator[float]:
    """Of ratings, small and large, and where an expected score becomes 1."""
    random = Random(5)
    for _ in range(SAMPLES):
        yield random.uniform(-3000, 3000)
        yield random.gauss(0, 1) * 10 ** random.uniform(-18, 6)
        yield random.choice((-1, 1)) * random.uniform(6_000, 8_500)  # 2^-50 to 2^-70
    yield from (0.0, -0.0, 5e-324, 1e300, -1e300, math.inf, -math.inf)


def test_expected_scores_are_those_of_the_formula_at_any_difference() -> None:
    """The limit within ``logistic`` changes no bit."""
    for difference in differences():
        stronger = 1.0 / (1.0 + arith.exp2(abs(difference) * (arith.LOG2_10 / -400.0)))
        expected = stronger if difference >= 0.0 else 1.0 - stronger
        assert arith.logistic(difference).hex() == expected.hex()
        assert arith.logistic(-difference).hex() == (1.0 - expected).hex()


def test_compiled_expected_scores_are_the_same_bits() -> None:
    fast: Callable[[float], Any] = compile_kernel(arith.logistic)
    for difference in differences():
        assert arith.logistic(difference).hex() == fast(difference).hex()


@pytest.mark.parametrize("function", [arith.exp2, arith.exp, arith.pow10, arith.log2, arith.log, arith.log10])
def test_compiled_functions_give_the_same_bits(function: Callable[[float], float]) -> None:
    fast: Callable[[float], Any] = compile_kernel(function)
    arguments = positives() if function.__name__.startswith("log") else exponents(-1100.0, 1100.0)
    for x in arguments:
        assert function(x).hex() == fast(x).hex()
