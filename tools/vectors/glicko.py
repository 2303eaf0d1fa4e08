"""The examples of Glicko and Glicko-2: from a vector's inputs to the public functions of the schemes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ledger.schemes import glicko, glicko2
from ledger.schemes.settings import with_settings
from tools.vectors.published import interval, rate_internal

Inputs = Mapping[str, Any]
Games = list[tuple[float, float, float]]


def _games(inputs: Inputs) -> Games:
    return [(float(rating), float(rd), float(score)) for rating, rd, score in inputs.get("games") or ()]


def _glicko_settings(inputs: Inputs) -> glicko.Settings:
    c = inputs.get("c")
    return glicko.DEFAULT if c is None else with_settings(glicko.DEFAULT, c=float(c))


def _glicko_period(inputs: Inputs) -> dict[str, float]:
    """A period from the RD given; ``t`` periods, if told, pass before it."""
    numbers, rd = _glicko_settings(inputs), float(inputs["rd"])
    rd = glicko.decayed(rd, numbers.c, float(inputs.get("t") or 0.0), numbers.rd_cap)
    rating, rd = glicko.rate_period(float(inputs["r"]), rd, _games(inputs), numbers)
    return {"rating": rating, "rd": rd}


def _glicko_decay(inputs: Inputs) -> float:
    numbers = _glicko_settings(inputs)
    periods = inputs.get("t")
    return glicko.decayed(float(inputs["rd"]), numbers.c, 1.0 if periods is None else float(periods), numbers.rd_cap)


def _glicko_expected(inputs: Inputs) -> float:
    return glicko.expected_between(*(float(inputs[name]) for name in ("r", "rd", "ri", "rdi")))


def _glicko2_settings(inputs: Inputs) -> glicko2.Settings:
    tau = inputs.get("tau")
    return glicko2.DEFAULT if tau is None else with_settings(glicko2.DEFAULT, tau=float(tau))


def _glicko2_period(inputs: Inputs) -> dict[str, float]:
    given = inputs.get("vol")
    volatility = glicko2.DEFAULT.initial_volatility if given is None else float(given)
    rating, rd, volatility = glicko2.rate_period(
        float(inputs["r"]), float(inputs["rd"]), volatility, _games(inputs), _glicko2_settings(inputs)
    )
    return {"rating": rating, "rd": rd, "vol": volatility}


def _glicko2_internal(inputs: Inputs) -> dict[str, float]:
    mu, phi, sigma = (float(inputs[name]) for name in ("mu", "phi", "sigma"))
    mu, phi, sigma = rate_internal(mu, phi, sigma, _games(inputs), _glicko2_settings(inputs))
    return {"mu": mu, "phi": phi, "sigma": sigma}


FUNCTIONS: Mapping[tuple[str, str], Callable[[Inputs], Any]] = {
    ("glicko1", "E2"): _glicko_expected,
    ("glicko1", "decay"): _glicko_decay,
    ("glicko1", "interval"): lambda inputs: list(interval(float(inputs["r"]), float(inputs["rd"]))),
    ("glicko1", "period"): _glicko_period,
    ("glicko2", "internal"): _glicko2_internal,
    ("glicko2", "period"): _glicko2_period,
}
