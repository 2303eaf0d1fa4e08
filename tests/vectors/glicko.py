"""Published examples of Glicko, Glicko-2 and Lichess, answered by the schemes; and dates of Lichess's histories."""

from collections.abc import Iterable, Sequence
from datetime import date

from ledger.imports.reading import speed_class
from ledger.schemes import glicko, glicko2, lichess
from ledger.schemes.settings import replace_settings
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import interval, rate_internal


def history_date(point: Sequence[int]) -> str:
    """The date of a point ``[year, month, day, rating]`` of a rating history of Lichess; months are 0 to 11."""
    year, month, day, *_rating = point
    return date(year, month + 1, day).isoformat()


Games = list[tuple[float, float, float]]


def _games(inputs: Inputs) -> Games:
    return [(float(rating), float(rd), float(score)) for rating, rd, score in inputs.get("games") or ()]


def _glicko_settings(inputs: Inputs) -> glicko.Settings:
    c = inputs.get("c")
    return glicko.DEFAULT if c is None else replace_settings(glicko.DEFAULT, c=float(c))


def _glicko_period(inputs: Inputs) -> dict[str, float]:
    """A period from the RD given; ``t`` periods, if told, pass before it."""
    numbers, rd = _glicko_settings(inputs), float(inputs["rd"])
    rd = glicko.decayed(rd, numbers.c, float(inputs.get("t") or 0.0), numbers.rd_cap)
    rating, rd = glicko.after_period(float(inputs["r"]), rd, _games(inputs), numbers)
    return {"rating": rating, "rd": rd}


def _glicko_decay(inputs: Inputs) -> float:
    numbers = _glicko_settings(inputs)
    periods = inputs.get("t")
    return glicko.decayed(float(inputs["rd"]), numbers.c, 1.0 if periods is None else float(periods), numbers.rd_cap)


def _glicko_expected(inputs: Inputs) -> float:
    return glicko.expected_between(*(float(inputs[name]) for name in ("r", "rd", "ri", "rdi")))


def _glicko2_settings(inputs: Inputs) -> glicko2.Settings:
    tau = inputs.get("tau")
    return glicko2.DEFAULT if tau is None else replace_settings(glicko2.DEFAULT, tau=float(tau))


def _glicko2_period(inputs: Inputs) -> dict[str, float]:
    given = inputs.get("vol")
    volatility = glicko2.DEFAULT.initial_volatility if given is None else float(given)
    rating, rd, volatility = glicko2.after_period(
        float(inputs["r"]), float(inputs["rd"]), volatility, _games(inputs), _glicko2_settings(inputs)
    )
    return {"rating": rating, "rd": rd, "vol": volatility}


def _glicko2_internal(inputs: Inputs) -> dict[str, float]:
    mu, phi, sigma = (float(inputs[name]) for name in ("mu", "phi", "sigma"))
    mu, phi, sigma = rate_internal(mu, phi, sigma, _games(inputs), _glicko2_settings(inputs))
    return {"mu": mu, "phi": phi, "sigma": sigma}


def _triple(values: Iterable[float]) -> lichess.Triple:
    rating, rd, volatility = map(float, values)
    return rating, rd, volatility


def _lichess_game(inputs: Inputs) -> dict[str, float]:
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


FUNCTIONS: Functions = {
    ("glicko1", "E2"): _glicko_expected,
    ("glicko1", "decay"): _glicko_decay,
    ("glicko1", "interval"): lambda inputs: list(interval(float(inputs["r"]), float(inputs["rd"]))),
    ("glicko1", "period"): _glicko_period,
    ("glicko2", "internal"): _glicko2_internal,
    ("glicko2", "period"): _glicko2_period,
    ("lichess", "game"): _lichess_game,
    ("lichess", "history_date"): lambda inputs: history_date(inputs["p"]),
    ("lichess", "live_rd"): _live_rd,
    ("lichess", "provisional"): lambda inputs: lichess.provisional(
        lichess.Player(lichess.DEFAULT.initial, float(inputs["rd"])), lichess.DEFAULT
    ),
    ("lichess", "speed"): _speed,
}
