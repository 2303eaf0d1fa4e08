"""The FIDE Rating Regulations (B.02): their two tables, and what they said when.

The tables (8.1) and FIDE's rounding reckon in whole numbers, so that sums are exact; other schemes and performance
ratings read them, too. Floors, the 400-point rule, K, the one-time rise of 2024 and initial ratings (8.2) are plain
functions of days since 1970, so that kernels can call them. A date is the first day of a rule; what holds on the day
when a tournament starts holds for all of it. Which games are pooled, and how a rating goes from period to period, is in
``ledger.schemes.fide``.
"""

from __future__ import annotations

from typing import Any

# Table 8.1.2: the greatest difference D of each row; the first row is .50, each further one .01 more. The program of
# FIDE's Technical Commission puts 411 and 610 one row further: it is no witness against the table (RULES 9).
EDGES = (
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188,
    197, 206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559,
    619, 735,
)  # fmt: skip
# The row of each difference 0, 1, 2, ...: one look instead of a search (4 against 28 ns compiled).
ROWS = tuple(sum(edge < difference for edge in EDGES) for difference in range(EDGES[-1] + 1))

# Table 8.1.1: the rating difference dp of each percentage 50, 51, ..., 100.
DIFFERENCES = (
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184, 193,
    202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538, 589,
    677, 800,
)  # fmt: skip


def expected_hundredths(d: float) -> int:
    """Return the expected score of the player rated *d* points higher in hundredths of a point (table 8.1.2)."""
    # "Tables are used precisely as shown, no extrapolations". Ratings are whole numbers; a part of a point is dropped.
    size = int(d) if d >= 0 else int(-d)
    row = ROWS[size] if size <= EDGES[49] else 50
    return 50 + row if d >= 0 else 50 - row


def pd(d: float) -> float:
    """Return the expected score, from 0 to 1, of the player rated *d* points higher.

    It is the float next to the table's decimal.
    """
    return expected_hundredths(d) / 100.0


def dp(percent: int) -> int:
    """Return the rating difference in points that belongs to a score of *percent* per cent, 0 to 100 (table 8.1.1)."""
    return DIFFERENCES[percent - 50] if percent >= 50 else -DIFFERENCES[50 - percent]


def percentage(score: float, games: float) -> int:
    """Return a score as whole per cent, half a per cent up (Title Regulations 1.4.9)."""
    # (200 score + games) / (2 games): whole numbers, so the quotient is exact enough for any floor
    return int((200.0 * score + games) // (2.0 * games))


def round_hundredths(hundredths: int) -> int:
    """Return hundredths to the nearest whole number, "0.5 away from zero" (8.3.4)."""
    if hundredths < 0:
        return -((50 - hundredths) // 100)
    return (50 + hundredths) // 100


JULY_2009 = 14426.0  # 1 July 2009: floor 1200, differences up to 400
JULY_2011 = 15156.0  # 1 July 2011: a newcomer's K rises from 25 to 30
JULY_2012 = 15522.0  # 1 July 2012: floor 1000 (the day is from memory; the floor held until February 2024)
JULY_2014 = 16252.0  # 1 July 2014: K 40, 20, 10; juniors; five games make a rating
JANUARY_2022 = 18993.0  # 1 January 2022: one upgrade
MARCH_2024 = 19783.0  # 1 March 2024: floor 1400, two hypothetical opponents, plain 400-point rule, the one-time rise
DECEMBER_2024 = 20058.0  # 1 December 2024: rapid and blitz games with a difference of 600
OCTOBER_2025 = 20362.0  # 1 October 2025: no cap for a player of 2650
LATEST = OCTOBER_2025  # the rules in force

UNLIMITED = 100_000.0  # points; no two ratings lie so far apart


def published_from(day: float) -> float:
    """Return the lowest rating on a list, in rating points."""
    if day >= MARCH_2024:
        return 1400.0  # 7.1, 1 March 2024
    if day >= JULY_2012:
        return 1000.0
    if day >= JULY_2009:
        # 0.6: "after 1.7.2009 the floor will be 1200"
        return 1200.0
    # 9.21: "Players whose ratings drop below 1801 are listed on the next list as delisted"
    return 1801.0


def cap(day: float) -> float:
    """Return the limit of differences in rating points: 350 before 1 July 2009, 400 since."""
    return 400.0 if day >= JULY_2009 else 350.0


def one_upgrade(day: float, rapid: bool) -> bool:
    """Return whether a player "may benefit from only one upgrade" in a tournament (1 Jan 2022 to 29 Feb 2024)."""
    return JANUARY_2022 <= day < MARCH_2024 and not rapid


def is_free(own: float, day: float, rapid: bool, full_from: float) -> bool:
    """Return whether a player of rating *own* has no cap: standard from 1 October 2025, *full_from* (2650) or more."""
    # The opponent below 2650 is still capped: the two sides of a game then use different differences. FIDE's online
    # calculator knows nothing of it (RULES 1.4).
    return day >= OCTOBER_2025 and not rapid and own >= full_from


def greatest(own: float, day: float, rapid: bool, full_from: float) -> float:
    """Return the greatest lead in rating points over an opponent that counts for a player of rating *own*."""
    # With one upgrade, all games but one count in full for the stronger side; ``upgrade`` sees to that one.
    if is_free(own, day, rapid, full_from) or one_upgrade(day, rapid):
        return UNLIMITED
    return cap(day)


def lowest(own: float, day: float, rapid: bool, full_from: float) -> float:
    """Return the lowest difference in rating points that counts for a player of rating *own*; negative: below."""
    # In the years of the one upgrade, too, the weaker side of every game is capped (RULES 1.4).
    return -UNLIMITED if is_free(own, day, rapid, full_from) else -cap(day)


def rule_of_differences(own: float, day: float, rapid: bool, full_from: float) -> str:
    """Return the rule by which great differences count for a player of the rating *own*, in words."""
    if is_free(own, day, rapid, full_from):
        return "differences in full"
    rule = f"the {cap(day):g}-point rule"
    return f"{rule}, against lower ratings in one game of a tournament" if one_upgrade(day, rapid) else rule


def is_rated(own: float, opponent: float, day: float, rapid: bool) -> bool:
    """Return whether a game against a player of rating *opponent* counts for one of rating *own*; 0 is unrated."""
    # Games against unrated players do not. Rapid and blitz 7.3.1, 1 December 2024: nor do those between rated players
    # with a difference of 600 or more if one of them is rated above 2600.
    if opponent <= 0.0:
        return False
    if rapid and day >= DECEMBER_2024 and own > 0.0:
        return not (own - opponent >= 600.0 and own > 2600.0) and not (opponent - own >= 600.0 and opponent > 2600.0)
    return True


def within(difference: float, low: float, high: float) -> float:
    """Return a difference as it counts in rating points, by the 400-point rule (8.3.1).

    The rule's limits go by player and day.
    """
    if difference > high:
        return high
    if difference < low:
        return low
    return difference


def upgrade(widest: float, day: float, rapid: bool) -> int:
    """Return by how many hundredths the expected score falls if only one game's difference is capped.

    It is "the game with the greatest difference".
    """
    # *widest* is that difference. Nothing but in the years of the one upgrade.
    limit = cap(day)
    if widest > limit and one_upgrade(day, rapid):
        return expected_hundredths(widest) - expected_hundredths(limit)
    return 0


def k_factor(highest: float, games: float, junior: bool, day: float, rapid: bool, numbers: Any) -> float:
    """Return K of a player for one period (8.3.3), before K·n is looked at.

    Args:
        highest: highest rating ever published, points.
        games: rated games completed before the period.
        junior: in the years up to that of the 18th birthday.
        day: days since 1970.
        rapid: the chapter for rapid and blitz.
        numbers: settings ``high_from`` (2400), ``junior_below`` (2300) and ``k_games`` (30).
    """
    if rapid and day < MARCH_2024:
        return 20.0  # K = 20 for everybody
    # The order of these lines decides for whom two of them hold: this one gives 99.2 % of 19.6 million published
    # player-months (RULES 1.5). At 30 games K is 20: "until they have completed [...] at least 30".
    if highest >= numbers.high_from:
        # "once a player's published rating has reached 2400", and before every other line
        return 10.0
    if day >= JULY_2014:
        if games < numbers.k_games or (junior and highest < numbers.junior_below):
            return 40.0
        return 20.0
    if games < numbers.k_games:
        # K 25/15/10, later 30/15/10; no line for juniors
        return 30.0 if day >= JULY_2011 else 25.0
    return 15.0


def k_capped(k: float, games: float, day: float, most: float) -> float:
    """Return K for *games* games: from 2014 "the largest whole number such that K x n does not exceed 700"."""
    if k * games > most and day >= JULY_2014:
        return float(most // games)
    return k


def compressed(rating: float) -> float:
    """Return a rating after the adjustment of 1 March 2024, nearest point: R + 0.40·(2000 - R) below 2000."""
    # 1600 becomes 1760, as it was announced; the page of one federation has 1740 (RULES 1.7)
    if rating >= 2000.0:
        return rating
    return float((6.0 * rating + 8005.0) // 10.0)  # fifths of a point: never halfway


def nearest(total: float, games: float) -> float:
    """Return the mean ``total / games`` to the nearest whole number, half up."""
    # No published case proves which way a half of an initial rating goes (RULES 1.6).
    return float((2.0 * total + games) // (2.0 * games))


def games_needed(day: float) -> float:
    """Return the number of games that make a rating: "a minimum of 9 games", five from 1 July 2014."""
    return 5.0 if day >= JULY_2014 else 9.0


def half_point(day: float) -> float:
    """Return how many rating points half a point over 50 % brings a newcomer before March 2024.

    It is half of the highest K.
    """
    return 20.0 if day >= JULY_2014 else 15.0 if day >= JULY_2011 else 12.5


def initial_2024(opponents: float, score: float, games: float, hypothetical: float, most: float) -> float:
    """Return the initial rating from 1 March 2024, in rating points.

    It is calculated with two more draws against opponents rated 1800.

    Args:
        opponents: sum of the rated opponents' ratings, points.
        score: points scored against them.
        games: games against them.
        hypothetical: rating of the two, points (1800).
        most: the highest initial rating, points (2200).
    """
    played = games + 2.0
    rating = nearest(opponents + 2.0 * hypothetical, played) + dp(percentage(score + 1.0, played))
    return rating if rating < most else most


def initial_before_2024(opponents: float, score: float, games: float, half: float) -> float:
    """Return the initial rating before 1 March 2024, in rating points.

    Over 50 % each half point brings *half* points; else the table decides.
    """
    # FIDE's online calculator, and the Rp next to newcomers there, still go by this rule (RULES 1.6).
    over = 2.0 * score - games
    if over >= 0.0:
        return nearest(opponents + half * over * games, games)
    return nearest(opponents, games) + dp(percentage(score, games))


def initial(opponents: float, score: float, games: float, day: float, hypothetical: float, most: float) -> float:
    """Return the initial rating by the rules of *day*, in rating points; it may lie below the floor."""
    if day >= MARCH_2024:
        return initial_2024(opponents, score, games, hypothetical, most)
    return initial_before_2024(opponents, score, games, half_point(day))
