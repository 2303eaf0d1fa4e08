"""The examples of Lichess: from a vector's inputs to the public functions of the scheme and of the importer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ledger.imports.lichess import history_date
from ledger.imports.reading import speed_class
from ledger.schemes import lichess

Inputs = Mapping[str, Any]


def _triple(values: Any) -> lichess.Triple:
    rating, rd, volatility = values
    return float(rating), float(rd), float(volatility)


def _game(inputs: Inputs) -> dict[str, float]:
    tau = inputs.get("tau")
    white, black = lichess.game(
        _triple(inputs["white"]),
        _triple(inputs["black"]),
        float(inputs["outcome"]),
        float(inputs.get("advantage") or 0.0),
        lichess.DEFAULT.tau if tau is None else float(tau),
    )
    names = ("w_rating", "w_rd", "w_vol", "b_rating", "b_rd", "b_vol")
    return dict(zip(names, (*white, *black), strict=True))


def _live_rd(inputs: Inputs) -> float:
    volatility = inputs.get("vol")
    volatility = lichess.DEFAULT.initial_volatility if volatility is None else float(volatility)
    return lichess.live_rd(float(inputs["rd"]), volatility, float(inputs["days"]), lichess.DEFAULT)


def _speed(inputs: Inputs) -> str:
    """Without a clock a game is by correspondence."""
    base = inputs.get("base_s")
    return "correspondence" if base is None else speed_class(float(base), float(inputs.get("inc_s") or 0.0))


FUNCTIONS: Mapping[tuple[str, str], Callable[[Inputs], Any]] = {
    ("lichess", "game"): _game,
    ("lichess", "history_date"): lambda inputs: history_date(inputs["p"]),
    ("lichess", "live_rd"): _live_rd,
    ("lichess", "provisional"): lambda inputs: lichess.provisional(
        (lichess.DEFAULT.initial, float(inputs["rd"])), 0, lichess.DEFAULT
    ),
    ("lichess", "speed"): _speed,
}
