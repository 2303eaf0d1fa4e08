"""How a period under the FIDE rating regulations is explained: the formulas of ``schemes.fide`` with their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from ledger.facts.instants import Precision, instant_text
from ledger.facts.periods import DAY_MS
from ledger.schemes.formulas.fide_initial import half_point
from ledger.schemes.formulas.fide_rules import MARCH_2024
from ledger.schemes.formulas.fide_state import (
    COUNTED,
    EXPECTED,
    OPPONENTS,
    POOL_GAMES,
    POOL_OPPONENTS,
    POOL_SCORE,
    RATING,
    SCORED,
    K,
    floor_of,
    needed,
    own_at_start,
    rules_of,
)
from ledger.schemes.formulas.fide_tables import dp, percentage
from ledger.schemes.scheme import Explanation, Meeting, Side, Term, When

B02 = "FIDE Rating Regulations B.02"


def explain(own: Side, meetings: Sequence[Meeting], when: When, numbers: Any) -> Explanation:
    """The formula of one player's period with its numbers."""
    if own.before[RATING] > 0.0:
        return _explain_change(own, meetings, when, numbers)
    return _explain_unrated(own, len(meetings), when, numbers)


def _explain_change(own: Side, meetings: Sequence[Meeting], when: When, numbers: Any) -> Explanation:
    """A rated player's period."""
    before, games, scored = own.before[RATING], own.work[COUNTED], own.work[SCORED]
    expected, k = own.work[EXPECTED] / 100.0, own.work[K]
    terms = (
        Term("Ro", before, "rating before the period"),
        *_starts(own, meetings, numbers),
        Term("n", games, f"games of {len(meetings)} that count: those against rated opponents"),
        Term("W", scored, "score in them"),
        Term("We", expected, "expected score by table 8.1.2 and the 400-point rule"),
        Term("K", k, f"K-factor, lowered where K·n would exceed {numbers.k_product:g}"),
    )
    rounding = "the change of the period, once, to the nearest point, 0.5 away from zero"
    if own.after[RATING] == 0.0:
        rounding += f"; below {floor_of(rules_of(when.day, numbers), numbers):g}, so unrated (0) from the next list on"
    return Explanation("Ro + K·(W - We)", terms, before + k * (scored - expected), own.after[RATING], rounding, B02)


def _starts(own: Side, meetings: Sequence[Meeting], numbers: Any) -> list[Term]:
    """Where tournaments are rated whole: the own rating in each, against the opponents' of that day."""
    if not numbers.by_event:
        return []
    found = []
    for place, began in enumerate(dict.fromkeys(meeting.began for meeting in meetings), 1):
        games = sum(meeting.began == began for meeting in meetings)
        day = instant_text(floor(began) * DAY_MS, Precision.DAY)
        rating = own_at_start(own.before, 0, began)
        words = f"own rating for the {games} games of a tournament that began on {day}"
        found.append(Term(f"R{place}", rating, f"{words}, opponents with those of that day"))
    return found


def _explain_unrated(own: Side, played: int, when: When, numbers: Any) -> Explanation:
    """A newcomer's period."""
    rules = rules_of(when.day, numbers)
    games, scored, opponents = (
        own.before[pooled] + own.work[noted]
        for pooled, noted in ((POOL_GAMES, COUNTED), (POOL_SCORE, SCORED), (POOL_OPPONENTS, OPPONENTS))
    )
    terms = [
        Term("n", games, f"games pooled against rated opponents; this period {own.work[COUNTED]:g} of {played}"),
        Term("W", scored, "score in them"),
        Term("S", opponents, "sum of the opponents' ratings"),
    ]
    if games == 0.0 or scored == 0.0 == own.before[POOL_GAMES] or games < needed(rules, numbers):
        why = f"0, unrated until {needed(rules, numbers):g} games; a first event without a point does not count"
        return Explanation(why, tuple(terms), 0.0, own.after[RATING], "none", f"{B02} 7.1")
    if rules >= MARCH_2024:
        rule = "(S + 2·H)/(n + 2) + dp"
        percent = percentage(scored + 1.0, games + 2.0)
        terms += [
            Term("H", numbers.hypothetical, "rating of the two hypothetical opponents, drawn with"),
            Term("dp", float(dp(percent)), f"table 8.1.1 for (W + 1)/(n + 2) = {percent} %"),
        ]
        unrounded = (opponents + 2.0 * numbers.hypothetical) / (games + 2.0) + dp(percent)
    elif 2.0 * scored >= games:
        rule = "S/n + h·(2·W - n)"
        terms.append(Term("h", half_point(rules), "worth of each half point over 50 %"))
        unrounded = opponents / games + half_point(rules) * (2.0 * scored - games)
    else:
        rule = "S/n + dp"
        percent = percentage(scored, games)
        terms.append(Term("dp", float(dp(percent)), f"table 8.1.1 for W/n = {percent} %"))
        unrounded = opponents / games + dp(percent)
    rounding = f"to the nearest point; from March 2024 at most {numbers.initial_highest:g}"
    if own.after[RATING] == 0.0:
        rounding += f"; below {floor_of(rules, numbers):g}, so not published (0), and the pool goes on"
    return Explanation(rule, tuple(terms), unrounded, own.after[RATING], rounding, f"{B02} 8.2")
