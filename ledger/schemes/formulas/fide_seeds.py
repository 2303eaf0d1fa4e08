"""What a player who comes from a rating list brings along for K (FIDE Rating Regulations B.02 8.3.3).

A list of FIDE tells a player's K, and not how many games stand behind the rating. Ratings are reckoned in
``ledger.schemes.fide``; what K follows from is in ``fide_rules``.
"""

from __future__ import annotations

from math import floor
from typing import Any

from ledger.facts.periods import year_of
from ledger.schemes.formulas.fide_rules import MARCH_2024, k_factor
from ledger.schemes.scheme import Newcomer, Seed


def games_and_highest(seed: Seed, newcomer: Newcomer, rules: float, numbers: Any) -> tuple[float, float]:
    """Rated games, and the highest rating in points, that a player begins with.

    What the list leaves out follows from its K where that can be: below the K of a new player says that there are
    enough games, 10 that the rating was 2400 once, 20 of a junior that it was 2300. Without either there are none.

    Args:
        seed: the player's past.
        newcomer: what else is known; its day is the seed's.
        rules: the day whose rules hold, days since 1970.
        numbers: settings of the scheme.
    """
    games, highest, k = seed.games, float(floor(seed.peak + 0.5)), seed.k_factor
    if k is None or (numbers.rapid and rules < MARCH_2024):  # rapid and blitz: K 20 for everybody, which tells nothing
        return games or 0.0, highest
    if games is None and k < k_factor(0.0, 0.0, junior=False, day=rules, rapid=numbers.rapid, numbers=numbers):
        games = numbers.k_games
    if k <= 10.0:
        highest = max(highest, numbers.high_from)
    elif k <= 20.0 and newcomer.birth_year and year_of(newcomer.day) - newcomer.birth_year <= numbers.junior_age:
        highest = max(highest, numbers.junior_below)
    return games or 0.0, highest
