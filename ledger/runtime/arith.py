"""Powers and logarithms from IEEE basic operations alone, so that every machine and both engines give the same bits.

``math.pow`` and ``math.exp`` call the platform's libm, whose last bits differ; ``+ - * /``, ``floor`` and ``ldexp``
are exact or correctly rounded everywhere. The functions are plain Python that Numba compiles unchanged. Nothing
about chess lives here.
"""

from __future__ import annotations

from math import floor, frexp, inf, ldexp

VERSION = 2  # counts changes that alter a bit of any result: derived rows are then rebuilt

LOG2_10 = 3.321928094887362
LN2 = 0.6931471805599453
LOG2_E = 1.4426950408889634
_BITS_PER_POINT = LOG2_10 / -400.0  # 10^(-x/400) is 2 to the power of that many times x

# ln(2)^n / n!: the Taylor series of 2^f; on |f| <= 1/2 the first term left out is below 2^-60.
_C1 = 0.6931471805599453
_C2 = 0.2402265069591007
_C3 = 0.055504108664821576
_C4 = 0.009618129107628477
_C5 = 0.0013333558146428441
_C6 = 0.0001540353039338161
_C7 = 1.5252733804059841e-05
_C8 = 1.3215486790144305e-06
_C9 = 1.0178086009239696e-07
_C10 = 7.054911620801121e-09
_C11 = 4.4455382718708101e-10
_C12 = 2.5678435993488196e-11
_C13 = 1.3691488853904124e-12


def exp2(x: float) -> float:
    """Return 2 to the power *x*, within 2 units in the last place for results in the normal range."""
    # ldexp raises in Python and wraps its exponent when compiled
    if x >= 1024.0:
        return inf
    if x <= -1100.0:
        return 0.0
    return exp2_in_range(x)


def exp2_in_range(x: float) -> float:
    """Return 2 to the power *x* for -1100 < *x* < 1024; other values of *x* are not checked.

    It has no branch, so that compilers share its calculation.
    """
    whole = floor(x + 0.5)
    f = x - whole
    # Estrin's scheme: the same operations in the same order everywhere, and short chains for the compiler.
    f2 = f * f
    f4 = f2 * f2
    low = (1.0 + _C1 * f) + (_C2 + _C3 * f) * f2
    middle = (_C4 + _C5 * f) + (_C6 + _C7 * f) * f2
    high = (_C8 + _C9 * f) + (_C10 + _C11 * f) * f2
    top = _C12 + _C13 * f
    return ldexp(low + (middle + (high + top * f4) * f4) * f4, int(whole))


def pow10(x: float) -> float:
    """Return 10 to the power *x*, within (2 + 5|x|) units in the last place for results in the normal range."""
    return exp2(x * LOG2_10)


def exp(x: float) -> float:
    """Return e to the power *x*, within (2 + 2|x|) units in the last place for results in the normal range."""
    return exp2(x * LOG2_E)


def log2(x: float) -> float:
    """Return the logarithm of *x* > 0 to base 2, within 6 units in the last place; exact for powers of 2."""
    mantissa, exponent = frexp(x)
    # to within a factor of the square root of 2 from 1, on both sides: so |t| is smallest, and the series shortest
    if mantissa < 0.7071067811865476:
        mantissa *= 2.0
        exponent -= 1
    # ln(m) = 2 artanh(t), t = (m - 1) / (m + 1), |t| <= 0.1716: 12 odd terms reach 2^-63.
    t = (mantissa - 1.0) / (mantissa + 1.0)
    t2 = t * t
    t4 = t2 * t2
    t8 = t4 * t4
    low = (1.0 + t2 * (1.0 / 3.0)) + t4 * (1.0 / 5.0 + t2 * (1.0 / 7.0))
    middle = (1.0 / 9.0 + t2 * (1.0 / 11.0)) + t4 * (1.0 / 13.0 + t2 * (1.0 / 15.0))
    high = (1.0 / 17.0 + t2 * (1.0 / 19.0)) + t4 * (1.0 / 21.0 + t2 * (1.0 / 23.0))
    return exponent + 2.0 * t * (low + t8 * (middle + t8 * high)) * LOG2_E


def log(x: float) -> float:
    """Return the natural logarithm of *x* > 0, within 6 units in the last place."""
    return log2(x) * LN2


def log10(x: float) -> float:
    """Return the logarithm of *x* > 0 to base 10, within 6 units in the last place."""
    return log2(x) / LOG2_10


def logistic(difference: float) -> float:
    """Return the expected score 1 / (1 + 10^(-difference/400)) of the player rated *difference* points higher.

    ``logistic(-difference)`` is exactly ``1 - logistic(difference)``.
    """
    bits = abs(difference) * _BITS_PER_POINT
    # below 2^-53 the sum is 1 for any addend: the limit changes no bit and keeps the power in range
    stronger = 1.0 / (1.0 + exp2_in_range(-64.0 if bits < -64.0 else bits))
    return stronger if difference >= 0.0 else 1.0 - stronger
