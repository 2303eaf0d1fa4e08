"""The FIDE rating system, standard or rapid and blitz, by the regulations in force when a period closes.

Source: FIDE Rating Regulations B.02 in their editions from 1999 to October 2025. The tables are in
``formulas.fide_tables``, what changed when in ``formulas.fide_rules``, sums of games in ``formulas.fide_by_hand``,
initial ratings in ``formulas.fide_initial``; only the course of a player from period to period lives here.

Readings where the regulations speak of what a ledger does not know:

* Where tournaments are rated whole (``by_event``, so for new pools), everybody counts with the rating in force on the
  tournament's first day (8.2, RULES 1.4), whose rules hold for the difference of ratings; the change is added to the
  present rating, and rounded once for all tournaments of the period. Who had no rating then and has one now is rated
  with that, and does not count for opponents (8.2.4); who has lost it since is a newcomer. Of the ratings before the
  present one the last two are kept: enough for a month's lists. A tournament that began before more lists than that is
  rated period by period, as one that is too long.
* Elsewhere a batch is the tournament: its closing day stands for the day on which the tournament started, its games for
  the newcomer's first event, and its opponents' ratings are those with which they enter the batch.
* An unrated player has rating 0 and a pool of games; the pool lapses when its first batch is more than 26 months ago.
  A zero score is disregarded as long as nothing is pooled. An initial rating below the floor is not published, and
  the pool goes on.
* Who falls below the floor is unrated from the next list on and begins a new pool; the rated games of the past and
  the highest published rating still count for K.
* A declared rating below the floor is no rating. One at or above it is in force from the first game, which still
  is the first of the 30 with the K of a new player.
* A prediction takes the 400-point rule for both sides and an unrated player as a hypothetical opponent, rated 1800.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any

import attrs

from ledger.facts.periods import months_of, year_of
from ledger.schemes.formulas.fide_explained import B02, explain
from ledger.schemes.formulas.fide_initial import initial
from ledger.schemes.formulas.fide_rules import (
    MARCH_2024,
    compressed,
    greatest,
    is_rated,
    k_capped,
    k_factor,
    lowest,
    upgrade,
    within,
)
from ledger.schemes.formulas.fide_seeds import games_and_highest
from ledger.schemes.formulas.fide_state import (
    BIRTH_YEAR,
    COUNTED,
    DAY,
    EXPECTED,
    GAMES,
    HIGHEST,
    NAMES,
    OPPONENTS,
    POOL_GAMES,
    POOL_OPPONENTS,
    POOL_SCORE,
    POOL_SINCE,
    SCORED,
    SINCE,
    WORK_NAMES,
    K,
    floor_of,
    in_force,
    leave_out_pointless,
    needed,
    own_at_start,
    remember,
    rules_of,
    upgrades,
)
from ledger.schemes.formulas.fide_tables import expected_hundredths, round_hundredths
from ledger.schemes.scheme import (
    COUNTS,
    HALF_MOVES_UNKNOWN,
    TOO_SHORT,
    Newcomer,
    Rhythm,
    Scheme,
    Seed,
    refuse_common,
)
from ledger.schemes.settings import EventSettings, numbers_of, setting

STATE, WORK = NAMES, WORK_NAMES
FIELDS, NOTES = len(STATE), len(WORK)


@attrs.frozen(kw_only=True)
class Settings(EventSettings):
    """What one may choose. Ratings in points; the values that changed with the years go by the date unless set."""

    rapid: bool = setting(False, "rapid and blitz chapter instead of standard", "switch", "B02RBRegulations2024")  # noqa: FBT003
    rules_day: float = setting(0.0, "day whose rules hold for all games; 0: the day of each", "days", "our choice")
    compress: bool = setting(True, "the rise of 1 March 2024 below 2000", "switch", "fide.com/news/2538")  # noqa: FBT003
    floor: float = setting(0.0, "lowest rating published; 0: by date, now 1400", "points", f"{B02} 7.1")
    initial_games: float = setting(0.0, "games that make a rating; 0: by date, now 5", "games", f"{B02} 7.1")
    initial_highest: float = setting(2200.0, "highest initial rating since March 2024", "points", f"{B02} 8.2")
    start: float = setting(0.0, "rating of who declares none; 0: unrated, as FIDE has it", "points", "our choice")
    hypothetical: float = setting(1800.0, "a newcomer's two hypothetical opponents", "points", f"{B02} 8.2")
    pool_months: float = setting(26.0, "how long games are pooled for a rating", "months", f"{B02} 7.1")
    k_games: float = setting(30.0, "rated games with a new player's K", "games", f"{B02} 8.3.3: 'at least 30 games'")
    k_product: float = setting(700.0, "most that K times the games may be", "points", f"{B02} 8.3.3: 'exceeds 700'")
    junior_age: float = setting(18.0, "last age with a junior's K", "years", f"{B02} 8.3.3: '18th birthday'")
    junior_below: float = setting(2300.0, "rating that ends a junior's K", "points", f"{B02} 8.3.3")
    high_from: float = setting(2400.0, "published rating that brings K 10 for good", "points", f"{B02} 8.3.3")
    full_from: float = setting(2650.0, "rating without the 400-point rule", "points", f"{B02} 8.3.1, 1 October 2025")

    def __attrs_post_init__(self) -> None:
        """Refuse what is not a whole number in a sensible range."""
        self.check_periods()
        for name, low, high in (
            ("rules_day", 0, 2_932_896),
            ("floor", 0, 4000),
            ("initial_games", 0, 1000),
            ("initial_highest", 1, 5000),
            ("start", 0, 5000),
            ("hypothetical", 1, 5000),
            ("pool_months", 1, 1200),
            ("k_games", 0, 10_000),
            ("k_product", 1, 1_000_000),
            ("junior_age", 0, 120),
            ("junior_below", 1, 100_000),
            ("high_from", 1, 100_000),
            ("full_from", 1, 100_000),
        ):
            value = getattr(self, name)
            if not low <= value <= high or value % 1:
                raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value}")
        if self.start and (self.floor or 1400.0) > self.start:
            raise ValueError(f"start must not be below the floor, which is {self.floor or 1400.0:g}, got {self.start}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """State before the first rated game: with the declared rating, or that of ``start``, or unrated."""
    return carry(newcomer.declared or numbers.start, 0.0, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a rating is rated with the nearest whole number, if that is not below the floor."""
    own = float(floor(rating + 0.5))
    if own < floor_of(rules_of(newcomer.day, numbers), numbers):
        own = 0.0
    born, day = float(newcomer.birth_year or 0), float(newcomer.day)
    return (own, float(games), own, born, 0.0, 0.0, 0.0, 0.0, day, 0.0, own, 0.0, own)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a past: its games and its highest rating count for K (8.3.3)."""
    own, _, _, *rest = carry(seed.rating, 0.0, newcomer, numbers)
    return (own, *games_and_highest(seed, newcomer, rules_of(newcomer.day, numbers), numbers), *rest)


def refuse(
    outcome: int,
    termination: int,
    half_moves: int,
    rated: bool,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    numbers: Settings,  # noqa: ARG001
) -> int:
    """Why a game does not count, as a code of ``REASONS``; both players must have made one move."""
    reason = refuse_common(outcome, termination, rated)
    if reason != COUNTS:
        return reason
    if half_moves != HALF_MOVES_UNKNOWN and half_moves < 2:
        return TOO_SHORT
    return COUNTS


def at(state: Any, p: int, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a state to a later day: the rise of March 2024, and the end of a pool. Ratings never decay."""
    # The list of 1 March 2024: R + 0.40·(2000 - R), then the new floor of 1400.
    if state[p + DAY] < MARCH_2024 and day >= MARCH_2024 and numbers.rules_day == 0.0 and state[p] > 0.0:
        own = compressed(state[p]) if numbers.compress else state[p]
        if own < floor_of(day, numbers):
            own = 0.0
        if own != state[p]:
            if state[p + SINCE] < MARCH_2024 - 1.0:
                remember(state, p)
            state[p + SINCE] = MARCH_2024  # a rating of the list of that day never was in force without the rise
        state[p] = own
        state[p + HIGHEST] = max(state[p + HIGHEST], own)
    # 7.1: pooled over at most 26 months
    if state[p + POOL_GAMES] > 0.0 and months_of(day) - months_of(state[p + POOL_SINCE]) > numbers.pool_months:
        for field in range(POOL_GAMES, DAY):
            state[p + field] = 0.0
    state[p + DAY] = max(state[p + DAY], day)


def stands_from(day: float, numbers: Settings) -> float:
    """Ratings stand since the rise of March 2024, once it has come; before it, all of them."""
    return MARCH_2024 if numbers.rules_day == 0.0 and day >= MARCH_2024 else -inf


def k_of(highest: float, games: float, birth_year: float, counted: float, day: float, numbers: Settings) -> float:
    """K of a player for a period with *counted* games."""
    rules = rules_of(day, numbers)
    # to the end of the year of the 18th birthday; never with an unknown year of birth
    junior = birth_year > 0.0 and year_of(day) - birth_year <= numbers.junior_age
    k = k_factor(highest, games, junior, rules, numbers.rapid, numbers)
    return k_capped(k, counted, rules, numbers.k_product)


def rate_player(
    step: int,  # noqa: ARG001
    state: Any,
    work: Any,
    after: Any,
    player: int,
    opponent: Any,
    score: Any,
    colour: Any,  # noqa: ARG001
    began: Any,
    first: int,
    last: int,
    period: float,  # noqa: ARG001
    day: float,
    numbers: Settings,
) -> None:
    """Add up one player's games of a period; a rated player's rating changes, an unrated one's games are pooled.

    The loop of ``ledger.schemes.formulas.fide_by_hand.tournament``, written out for columns.
    """
    p, w = player * FIELDS, player * NOTES
    counted, scored, opponents, widest = 0.0, 0.0, 0.0, 0.0
    start, rules, own, low, high = 0.0, 0.0, 0.0, 0.0, 0.0
    expected, several = 0, False
    for g in range(first, last):
        if g == first or began[g] != start:
            several = g > first
            start = began[g]
            rules = rules_of(start, numbers)
            own = own_at_start(state, p, start)
            low = lowest(own, rules, numbers.rapid, numbers.full_from)
            high = greatest(own, rules, numbers.rapid, numbers.full_from)
        other = in_force(state, opponent[g] * FIELDS, start)
        if is_rated(own, other, rules, numbers.rapid):
            difference = within(own - other, low, high)
            widest = max(widest, difference)
            expected += expected_hundredths(difference)
            counted += 1.0
            scored += score[g]
            opponents += other
    for field in range(FIELDS):
        after[p + field] = state[p + field]
    work[w + COUNTED] = counted
    work[w + SCORED] = scored
    if state[p] == 0.0:
        work[w + OPPONENTS] = opponents
        if several:
            leave_out_pointless(state, work, p, w, opponent, score, began, first, last, numbers)
        pool(state, after, p, work[w + COUNTED], work[w + SCORED], work[w + OPPONENTS], day, numbers)
    elif counted > 0.0:
        if several:
            expected -= upgrades(state, p, opponent, began, first, last, numbers)
        else:
            expected -= upgrade(widest, rules, numbers.rapid)
        k = k_of(state[p + HIGHEST], state[p + GAMES], state[p + BIRTH_YEAR], counted, day, numbers)
        work[w + EXPECTED] = float(expected)
        work[w + K] = k
        # 8.3.4, in hundredths: rounded once, "0.5 away from zero", and added to the rating of the last list
        own = state[p] + round_hundredths(int(k) * (int(100.0 * scored) - expected))
        publish(after, p, own, counted, floor_of(rules_of(day, numbers), numbers), day)


def publish(after: Any, p: int, own: float, games: float, lowest_published: float, day: float) -> None:
    """Note a rating, and the games that made or changed it; unrated on the next list if it is below the floor."""
    published = own if own >= lowest_published else 0.0
    if published != after[p]:
        remember(after, p)
        after[p + SINCE] = day
    after[p] = published
    after[p + GAMES] += games
    if after[p] > after[p + HIGHEST]:
        after[p + HIGHEST] = own


def pool(
    state: Any, after: Any, p: int, games: float, scored: float, opponents: float, day: float, numbers: Settings
) -> None:
    """Pool an unrated player's games against rated opponents until there are enough for a rating."""
    # 8.2: a zero score in the first event is disregarded
    if games == 0.0 or (state[p + POOL_GAMES] == 0.0 and scored == 0.0):
        return
    if state[p + POOL_GAMES] == 0.0:
        after[p + POOL_SINCE] = day
    games += state[p + POOL_GAMES]
    scored += state[p + POOL_SCORE]
    opponents += state[p + POOL_OPPONENTS]
    after[p + POOL_GAMES] = games
    after[p + POOL_SCORE] = scored
    after[p + POOL_OPPONENTS] = opponents
    rules = rules_of(day, numbers)
    if games < needed(rules, numbers):
        return
    own = initial(opponents, scored, games, rules, numbers.hypothetical, numbers.initial_highest)
    if own >= floor_of(rules, numbers):
        publish(after, p, own, games, own, day)
        for field in range(POOL_GAMES, DAY):
            after[p + field] = 0.0


def expected_score(state: Any, p: int, q: int, numbers: Settings) -> float:
    """Expected score 0.08 to 0.92 by table 8.1.2 with differences up to 400; unrated players count as 1800."""
    own = state[p] if state[p] > 0.0 else numbers.hypothetical
    other = state[q] if state[q] > 0.0 else numbers.hypothetical
    difference = own - other
    if difference > 400.0:
        difference = 400.0
    elif difference < -400.0:
        difference = -400.0
    return expected_hundredths(difference) / 100.0


def provisional(state: Any, p: int, numbers: Settings) -> bool:  # noqa: ARG001
    """True while unrated."""
    return bool(state[p] == 0.0)


def listed(state: Any, p: int, numbers: Settings) -> bool:  # noqa: ARG001
    """Rating lists show rated players."""
    return bool(state[p] > 0.0)


def time_control_class(base: float, increment: float, highest: float = 0.0) -> str:
    """Which list a game of 60 moves counts for: "standard", "rapid", "blitz" or "unrated".

    Args:
        base: seconds for all moves.
        increment: seconds added with each move.
        highest: rating of the higher-rated player, points; 0 if unrated.
    """
    total = base + 60.0 * increment
    # Standard 1.1: 120 min if a player is rated 2400 or more, 90 min from 1800, else 60
    if total >= (7200.0 if highest >= 2400.0 else 5400.0 if highest >= 1800.0 else 3600.0):
        return "standard"
    if 600.0 < total < 3600.0:  # above 10 and below 60 min
        return "rapid"
    if 180.0 < total <= 600.0:  # above 3 and up to 10 min: 3 + 0 is not blitz
        return "blitz"
    return "unrated"


SCHEME = Scheme(
    name="fide",
    title="FIDE",
    source=B02,
    version=1,
    settings=Settings,
    numbers=Numbers,
    state=STATE,
    enter=enter,
    seeded=seeded,
    carry=carry,
    refuse=refuse,
    rhythm=Rhythm.PERIOD,
    rate_player=rate_player,
    work=WORK,
    at=at,
    stands_from=stands_from,
    expected_score=expected_score,
    explain=explain,
    provisional=provisional,
    listed=listed,
    in_force=in_force,
    # RULES 1.4 and 1.8: whole tournaments, "the closing date for tournaments for a list is 3 days before" the 1st
    for_new_pools={"by_event": True, "included_until": 2},
)
