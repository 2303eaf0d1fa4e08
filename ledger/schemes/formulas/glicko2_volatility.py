"""Step 5 of Glicko-2: the new volatility, by the search that the paper prescribes; no scheme by itself.

Source: M. Glickman, Example of the Glicko-2 system, glicko.net/glicko/glicko2.pdf. Every function is a kernel in the
sense of ``ledger.schemes.scheme``. The paper's x = ln σ² is here y = x - ln σ² with the old σ: the same iterates up to
rounding, with one e^y in each and no logarithm. Here belongs the search alone, no rating and no setting.
"""

from __future__ import annotations

from math import sqrt

from ledger.runtime.arith import LOG2_E, exp2, log

TOLERANCE = 1e-6  # ε, step 5.1
MOST_ROUNDS = 1000  # never met: a guard for a loop that compiled code could not be stopped in


def series(y: float) -> float:
    """e^y for |y| <= 1/32 by its Taylor series, which leaves out less than 2^-60."""
    y2 = y * y
    low = 1.0 + (y + y2 * (0.5 + y * (1.0 / 6.0)))
    high = (1.0 / 24.0 + y * (1.0 / 120.0)) + y2 * ((1.0 / 720.0 + y * (1.0 / 5040.0)) + y2 * (1.0 / 40320.0))
    return low + y2 * y2 * high


def exponential(y: float) -> float:
    """e^y as the iteration needs it, to 1e-14; nearly always y is close to 0, else the first -τ."""
    if -0.03125 < y < 0.03125:
        return series(y)
    if -1.0 < y < 1.0:
        part = series(y * 0.03125)
        part *= part
        part *= part
        part *= part
        part *= part
        return part * part
    return exp2(LOG2_E * y)


def slope(ratio: float, old: float, excess: float, spread: float) -> float:
    """The first part of f of step 5.1: e^x(Δ² - φ² - v - e^x) / 2(φ² + v + e^x)².

    Args:
        ratio: e^x over the old σ².
        old: the old σ².
        excess: Δ² - φ² - v.
        spread: φ² + v.
    """
    e = ratio * old
    whole = spread + e
    return e * (excess - e) / (2.0 * whole * whole)


def bracket(old: float, excess: float, spread: float, per_y: float, tau: float) -> tuple[float, float, float]:
    """Step 5.2: B = ln(Δ² - φ² - v), or a - kτ with the first k for which f is not negative; e^B and f(B).

    Args:
        old: the old σ².
        excess: Δ² - φ² - v.
        spread: φ² + v.
        per_y: 1/τ².
        tau: the system constant.
    """
    if excess > 0.0:
        ratio = excess / old
        b = log(ratio)
        return b, ratio, slope(ratio, old, excess, spread) - b * per_y
    b = -tau
    ratio = exponential(b)
    f_b = slope(ratio, old, excess, spread) - b * per_y
    while f_b < 0.0:
        b -= tau
        ratio = exponential(b)
        f_b = slope(ratio, old, excess, spread) - b * per_y
    return b, ratio, f_b


def goes_on(a: float, f_a: float, b: float, f_b: float) -> bool:
    """Whether step 5.4 has another round: |B - A| > ε."""
    return abs(b - a) > TOLERANCE and f_a != f_b


def new_volatility(volatility: float, phi2: float, v: float, delta2: float, tau: float) -> float:
    """σ' of step 5: f(x) = 0 by the Illinois variant of regula falsi, from A = ln σ², to |B - A| <= ε.

    Args:
        volatility: σ.
        phi2: φ².
        v: estimated variance of the rating by the games (step 3).
        delta2: Δ² (step 4).
        tau: the system constant.
    """
    old = volatility * volatility
    spread = phi2 + v
    excess = delta2 - spread
    per_y = 1.0 / (tau * tau)
    a = 0.0
    ratio_a = 1.0
    f_a = slope(1.0, old, excess, spread)
    b, ratio_b, f_b = bracket(old, excess, spread, per_y, tau)
    # steps 5.3 and 5.4
    for _ in range(MOST_ROUNDS):
        if not goes_on(a, f_a, b, f_b):
            break
        c = a + (a - b) * f_a / (f_b - f_a)
        ratio = exponential(c)
        f_c = slope(ratio, old, excess, spread) - c * per_y
        if f_c * f_b <= 0.0:
            a = b
            f_a = f_b
            ratio_a = ratio_b
        else:
            f_a *= 0.5
        b = c
        f_b = f_c
        ratio_b = ratio
    # step 5.5: σ' = e^(A/2)
    return volatility * sqrt(ratio_a)


def new_volatilities(
    volatility: float,
    phi2: float,
    v: float,
    delta2: float,
    other: float,
    other_phi2: float,
    other_v: float,
    other_delta2: float,
    tau: float,
) -> tuple[float, float]:
    """``new_volatility`` of two players at once: the same bits, but a processor works on both searches together.

    Written out, as a call that returns several numbers costs some of what this gains. A search that is over goes
    along, and nothing is taken of it: which of the two has more to do is a branch that nobody can predict.
    """
    old, other_old = volatility * volatility, other * other
    spread, other_spread = phi2 + v, other_phi2 + other_v
    excess, other_excess = delta2 - spread, other_delta2 - other_spread
    per_y = 1.0 / (tau * tau)
    a, ratio_a, f_a = 0.0, 1.0, slope(1.0, old, excess, spread)
    c, ratio_c, f_c = 0.0, 1.0, slope(1.0, other_old, other_excess, other_spread)
    b, ratio_b, f_b = bracket(old, excess, spread, per_y, tau)
    d, ratio_d, f_d = bracket(other_old, other_excess, other_spread, per_y, tau)
    for _ in range(MOST_ROUNDS):
        on, other_on = goes_on(a, f_a, b, f_b), goes_on(c, f_c, d, f_d)
        if not (on or other_on):
            break
        x = a + (a - b) * f_a / ((f_b - f_a) if on else 1.0)
        y = c + (c - d) * f_c / ((f_d - f_c) if other_on else 1.0)
        ratio_x, ratio_y = exponential(x), exponential(y)
        f_x = slope(ratio_x, old, excess, spread) - x * per_y
        f_y = slope(ratio_y, other_old, other_excess, other_spread) - y * per_y
        crossed, other_crossed = f_x * f_b <= 0.0, f_y * f_d <= 0.0
        if on:
            a = b if crossed else a
            f_a = f_b if crossed else f_a * 0.5
            ratio_a = ratio_b if crossed else ratio_a
            b, f_b, ratio_b = x, f_x, ratio_x
        if other_on:
            c = d if other_crossed else c
            f_c = f_d if other_crossed else f_c * 0.5
            ratio_c = ratio_d if other_crossed else ratio_c
            d, f_d, ratio_d = y, f_y, ratio_y
    return volatility * sqrt(ratio_a), other * sqrt(ratio_c)
