"""The published examples of US Chess: from the inputs of each to the functions of the scheme."""

import re
from datetime import date

from ledger.ratings.engine import RateableGames, rate_one_batch
from ledger.schemes import uschess
from ledger.schemes.formulas import uschess as formulas
from ledger.schemes.scheme import Newcomer
from ledger.schemes.settings import replace_settings
from tests.schemes.uschess_sections import against
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import approximate_provisional, effective_2004, floor_absolute, half_k_2004

ESTABLISHED = 1000.0  # games of a player who is shown without a number: established
CLOSING = 20_600.0  # when the sections ended, days since 1970: in 2026
SCORE = {"W": 1.0, "D": 0.5, "L": 0.0}
_EPOCH = date(1970, 1, 1)


def _games(given: Inputs) -> float:
    return ESTABLISHED if given.get("games") is None else float(given["games"])


def _record(given: Inputs) -> float:
    if given.get("all_won"):
        return formulas.ALL_WON
    if given.get("all_lost"):
        return formulas.ALL_LOST
    return formulas.MIXED


def _day(text: str) -> float:
    return float((date.fromisoformat(text[:10]) - _EPOCH).days)


def effective(given: Inputs) -> float:
    """N' of a rating after a number of games; N* where they are not known."""
    return formulas.effective_games(_games(given), given["rating"])


def k_factor(given: Inputs) -> float:
    """K, by the rating where the event is dual-rated."""
    return formulas.k_factor(given["neff"], given["m"], given.get("rating") or 0.0, bool(given.get("dual")))


def standard(given: Inputs) -> dict[str, float]:
    """The standard formula against known opponents."""
    own, opponents = given["rating"], given["opps"]
    m = len(opponents)
    counted = given["neff"] if given.get("neff") is not None else effective(given)
    expected = formulas.expected_total(own, opponents)
    gain = formulas.k_factor(counted, m, own, bool(given.get("dual"))) * (given["score"] - expected)
    b = given.get("B")
    if b is None:
        b = formulas.bonus_b(_day(given["on"]) if given.get("on") else CLOSING)
    more = formulas.bonus(gain, m, b) if given.get("eligible") else 0.0
    return {"rating": own + gain + more, "bonus": more}


def special(given: Inputs) -> float:
    """The special formula with its bounds, from the number of games."""
    return uschess.bounded(_special(given, effective(given)), 0.0, uschess.DEFAULT)


def special_neff(given: Inputs) -> float:
    """The special formula from the effective number, with the cap only."""
    return min(_special(given, given["neff"]), uschess.DEFAULT.special_cap)


def _special(given: Inputs, counted: float) -> float:
    return formulas.special(given["rating"], _record(given), counted, given["score"], against(given["opps"]), step=4)


def special_objective(given: Inputs) -> float:
    """What the special formula brings to 0."""
    record = _record(given)
    centre = formulas.special_centre(given["rating"], record)
    points = formulas.special_points(given["score"], given["neff"], record)
    return formulas.special_objective(given["R"], centre, given["neff"], points, against(given["opps"]), step=4)


def approx_provisional(given: Inputs) -> float:
    """The approximating formula up to 8 earlier games."""
    return approximate_provisional(given["rating"], given["n"], given["wins"], given["losses"], given["opps"])


def bonus_eligible(given: Inputs) -> bool:
    """Whether a bonus may be had; who is not known is somebody else each time."""
    m = given["m"]
    ids = given.get("ids") or [None] * m
    numbers: dict[object, int] = {}
    met = [numbers.setdefault((place,) if name is None else name, len(numbers)) for place, name in enumerate(ids)]
    return formulas.bonus_eligible(met, 0, m)


def age_init(given: Inputs) -> float:
    """Start rating by age, with or without a date of birth."""
    if given.get("age") is None:
        return formulas.UNKNOWN_ADULT if given.get("adult") else formulas.UNKNOWN_AGE
    return formulas.start_by_age(given["age"])


def section(given: Inputs) -> list[float]:
    """A whole section: ``[member, results by round, rating before, games after]``; opponents are row numbers."""
    rows, starts = given["rows"], given.get("starts") or {}
    white, black, score = [], [], []
    players = []
    for place, (member, rounds, rating, after) in enumerate(rows):
        played = re.findall(r"(?<!\S)([WDL])(\d+)(?!\S)", rounds)
        for result, opponent in played:
            if place < int(opponent) - 1:
                white.append(place)
                black.append(int(opponent) - 1)
                score.append(SCORE[result])
        games = ESTABLISHED if after is None else float(after - len(played))
        if member in starts:
            rating, games = starts[member]  # noqa: PLW2901
        players.append(_entrant(rating, float(games)))
    numbers = replace_settings(uschess.DEFAULT, dual_rated=bool(given.get("dual")), online=bool(given.get("online")))
    day = _day(given["on"]) if given.get("on") else CLOSING
    batch = RateableGames(white, black, score, [day] * len(white), [0, len(white)], [0.0], [day])
    return [each.after.rating for each in rate_one_batch(uschess.SCHEME, numbers, batch, players)]


def _entrant(rating: float | None, games: float) -> uschess.Player:
    """A player of whom rating and number of games are known; without games the rating is a start rating."""
    newcomer = Newcomer(day=CLOSING)
    if rating is None:
        return uschess.enter(newcomer, uschess.DEFAULT)
    return uschess.carry(rating, games, newcomer, uschess.DEFAULT)


FUNCTIONS: Functions = {
    ("uschess", "effective"): effective,
    ("uschess", "effective_2004"): lambda given: effective_2004(given["rating"]),
    ("uschess", "k"): k_factor,
    ("uschess", "k_half_2004"): lambda given: half_k_2004(given["neff"], given["m"]),
    ("uschess", "pwe"): lambda given: formulas.pwe(given["r"], given["ri"]),
    ("uschess", "standard"): standard,
    ("uschess", "special"): special,
    ("uschess", "special_neff"): special_neff,
    ("uschess", "special_objective"): special_objective,
    ("uschess", "approx_provisional"): approx_provisional,
    ("uschess", "bonus_eligible"): bonus_eligible,
    ("uschess", "bonus_B"): lambda given: formulas.bonus_b(_day(given["on"])),
    ("uschess", "floor_absolute"): lambda given: floor_absolute(given["wins"], given["draws"], given["events"]),
    ("uschess", "floor_peak"): lambda given: formulas.floor_peak(given["peak"]),
    ("uschess", "age_init"): age_init,
    ("uschess", "age_init_2020"): age_init,
    ("uschess", "from_fide"): lambda given: formulas.from_fide(given["f"]),
    ("uschess", "from_fide_2020"): lambda given: formulas.from_fide_2020(given["f"]),
    ("uschess", "section"): section,
}
