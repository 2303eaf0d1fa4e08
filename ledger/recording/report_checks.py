"""The checks of a tournament report by itself: rounds and days, pairings, points, and scores that ratings hardly allow.

``findings`` names the codes. What the ledger knows of the entrants is compared in ``answers.report_comparisons``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.periods import DAY_MS
from ledger.facts.player_details import OPEN_TITLES, WOMEN_TITLES
from ledger.facts.source_games import SourceEntrant, SourcePairing, SourceReport
from ledger.facts.words import Format
from ledger.imports.reading import OTHER_CLASS
from ledger.recording.findings import ReportFinding
from ledger.schemes.formulas.fide_rules import expected_hundredths

# Measured with 922,000 scores of rated players in tournaments over the board and online: 18 are less probable than
# this, half of them in bullet and blitz online. The score of a favourite whose results are exchanged is, in 5 rounds.
UNLIKELY = 4e-4
LARGEST_DIFFERENCE = 400  # points; a larger difference of ratings counts as this
AGES = range(4, 111)
HIGHEST = 3_000  # no list over the board has a higher rating
TOURNAMENT_DAYS = 360  # days of a tournament; leagues take a season
ROUND_DISTANCE_DAYS = 31  # days from the beginning to the first round, and from the last round to the end
_FIDE_TITLES = (*reversed(OPEN_TITLES), *reversed(WOMEN_TITLES))
# Those of FIDE's arena, and of many federations: national, life, senior, honorary and candidate masters.
_TITLES = frozenset(
    {
        *_FIDE_TITLES,
        *["AGM", "AIM", "AFM", "ACM", "NM", "WNM", "LM", "SM", "HM", "HGM", "HWGM", "CCM", "EXP", "WH", "WFH"],
    }
)
_COUNTED = {"062": "players", "072": "rated players", "082": "teams"}
LEAST_ORDERED = 6  # entrants whose order says something
_LEAST_BY_NUMBERS = 20  # entrants whose starting numbers follow the points only if they are places
_PAIRED_AGAIN = {Format.KNOCKOUT, Format.MATCH, Format.ARENA}


def structure_findings(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the findings that need nothing but the report."""
    yield from _rounds_and_days(report)
    yield from _repeated_pairings(report)
    if report.other_pool is not None:
        line, words = report.other_pool
        yield ReportFinding(line, OTHER_CLASS, words)
    for line, words in report.doubts:
        yield ReportFinding(line, "field-unreadable", words)
    for line, words in report.team_doubts:
        yield ReportFinding(line, "team-differs", words)
    for number, first, second in report.lost_by_both:
        message = f"round {number}: both players have 0 (lines {first} and {second})"
        yield ReportFinding(first, "lost-by-both", message)
    for kind, (number, *counted) in report.counts.items():
        if number not in counted:
            line = report.line_of(kind)
            words = f"{number:,} {_COUNTED[kind]} ({kind}), and {counted[0]:,} by their lines"
            yield ReportFinding(line, "players-differ", words)
    yield from _rounds_without_results(report)
    yield from _repeated_byes(report)
    yield from _places(report)
    yield from _exchanged_entrants(report)
    for entrant in report.entrants:
        if entrant.points is not None:
            stated, summed = entrant.points
            message = f"{entrant} has {stated:g} points, and {summed:g} by results and byes at {report.scoring}"
            yield ReportFinding(entrant.line, "points-differ", message)
        title = entrant.details.get("title") or ""
        if entrant.details.get("sex") == "m" and title.startswith("W"):
            yield ReportFinding(entrant.line, "sex-differs", f"{entrant} has the sex m and the title {title}")
        yield from _impossible_birth(report, entrant)
    yield from _foreign_titles(report)


def _foreign_titles(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the titles that nobody awards, if those of most others are awarded."""
    titled = [entrant for entrant in report.entrants if entrant.details.get("title")]
    foreign = [entrant for entrant in titled if entrant.details["title"] not in _TITLES]
    if 2 * len(foreign) <= len(titled) or len(foreign) == 1:
        for entrant in foreign:
            message = f"{entrant} has the title {entrant.details['title']!r}: expected one of {', '.join(_FIDE_TITLES)}"
            yield ReportFinding(entrant.line, "field-unreadable", message)


def _impossible_birth(report: SourceReport, entrant: SourceEntrant) -> Iterator[ReportFinding]:
    born, year = entrant.details.get("birth"), report.edition[:4]
    if born is not None and int(year) - int(born[:4]) not in AGES:
        message = f"{entrant} is born in {born[:4]} by the report, and played in {year}"
        yield ReportFinding(entrant.line, "birth-year-differs", message)


def _rounds_and_days(report: SourceReport) -> Iterator[ReportFinding]:
    line = report.line_of("132")
    for number, text in report.unread_days.items():
        yield ReportFinding(line, "day-unreadable", f"round {number} has {text!r} in the place of its day (YY/MM/DD)")
    latest = 0
    for number, day in sorted(report.round_days.items()):
        if latest and day < report.round_days[latest]:
            before = report.round_days[latest]
            message = f"round {number} was played on {day}, before round {latest} on {before}"
            yield ReportFinding(line, "rounds-out-of-order", message)
        else:
            latest = number
        ended = report.last_day
        # A month or a year that the day lies in is no bound.
        if day < report.edition or (ended is not None and day > ended and not day.startswith(ended)):
            message = f"round {number} was played on {day}, outside {report.edition} to {ended or '?'}"
            yield ReportFinding(line, "day-outside-tournament", message)
    yield from _length(report)
    announced = report.facts.get("rounds")
    if announced is not None and report.last_round > announced:
        line = report.line_of("142", "XXR")
        message = f"the report has results of round {report.last_round}, and announces {announced} rounds"
        yield ReportFinding(line, "more-rounds", message)
    yield from _fewer_rounds(report)


def _fewer_rounds(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield more rounds than a tournament that is over has, or than one has in which all meet four times."""
    announced, last, entrants = report.facts.get("rounds", 0), report.last_round, len(report.entrants)
    is_over = report.last_day not in {None, report.edition} and report.round_days.get(last) == report.last_day
    is_beyond = entrants >= LEAST_ORDERED and announced > 4 * entrants and not report.is_of_teams
    if announced > last and (is_over or is_beyond):
        line = report.line_of("142", "XXR")
        over = f" on the last day, {report.last_day}" if is_over else ""
        message = f"the report announces {announced} rounds, and the last of {entrants:,} players is {last}{over}"
        yield ReportFinding(line, "fewer-rounds", message)


def _rounds_without_results(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the rounds without a pairing before rounds with some."""
    rounds = {game.round for game in report.pairings} | {number for number, _, _ in report.lost_by_both}
    for number in sorted(set(range(1, max(rounds, default=0))) - rounds):
        message = f"round {number} has no pairing, and round {max(rounds)} has some"
        yield ReportFinding(report.line, "round-missing", message)


def _repeated_byes(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the players of a Swiss tournament who had no opponent twice, if most others had it once at most."""
    repeated = {number: rounds for number, rounds in report.allotted.items() if len(rounds) > 1}
    if (
        report.is_of_teams
        or report.format not in {None, Format.SWISS}
        or 4 * len(repeated) > max(4, len(report.allotted))
    ):
        return
    for entrant in report.entrants:
        if entrant.start_number in repeated:
            rounds = " and ".join(map(str, repeated[entrant.start_number]))
            message = f"{entrant} has a bye for want of an opponent in rounds {rounds}"
            yield ReportFinding(entrant.line, "bye-twice", message)


def _places(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the places that contradict the points, if those of nearly all follow them.

    Players who left a tournament may be behind all others. If the places are the starting numbers, either the players
    were numbered at the end, or the places are none.
    """
    beyond = [each for each in report.entrants if each.place and each.place > len(report.entrants) + 1]
    if len(beyond) <= max(2, len(report.entrants) // 10):
        for entrant in beyond:
            message = f"{entrant} has place {entrant.place} of {len(report.entrants):,} players"
            yield ReportFinding(entrant.line, "place-differs", message)
    last = {
        number for game in report.pairings if game.round == report.last_round for number in (game.white, game.black)
    }
    ranked = [
        (each.place, -each.score, each)
        for each in report.entrants
        if each.place and each.score is not None and each.start_number in last and each not in beyond
    ]
    are_numbers = 2 * sum(place == entrant.start_number for place, _, entrant in ranked) > len(ranked)
    least, most = (_LEAST_BY_NUMBERS, len(ranked) // 25) if are_numbers else (LEAST_ORDERED, len(ranked) // 10)
    if len(ranked) < least or report.is_of_teams or report.format == Format.KNOCKOUT:
        return
    ranked.sort(key=lambda each: each[:2])
    kept = set(_longest_ascending([score for _, score, _ in ranked]))
    doubtful: list[tuple[SourceEntrant, SourceEntrant]] = []
    for at, (place, score, entrant) in enumerate(ranked):
        before, after = ranked[max(at - 1, 0)], ranked[min(at + 1, len(ranked) - 1)]
        if at not in kept:
            doubtful.append((entrant, (before if score < before[1] else after)[2]))
        elif before[0] == place and before[1] != score:
            doubtful.append((entrant, before[2]))
    if len(doubtful) <= max(1 if are_numbers else 2, most):
        for entrant, other in doubtful:
            message = (
                f"{entrant} has place {entrant.place} with {entrant.score:g} points, and {other} place {other.place} "
                f"with {other.score:g}"
            )
            yield ReportFinding(entrant.line, "place-differs", message)


def _longest_ascending(numbers: Sequence[float]) -> list[int]:
    """Return the places of a longest part of a sequence in which no number is below an earlier one."""
    ends: list[float] = []  # the smallest last number of the parts of each length
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_right(ends, number)
        before.append(places[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        places[length : length + 1] = [place]
    chain = [places[-1]] if places else []
    while chain and before[chain[-1]] >= 0:
        chain.append(before[chain[-1]])
    return chain


def _exchanged_entrants(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield two entrants who have each other's place in a list that is otherwise in the order of the ratings."""
    listed = sorted(report.entrants, key=lambda entrant: entrant.start_number)
    ratings = [entrant.rating or 0 for entrant in listed]
    pairs = enumerate(zip(ratings, sorted(ratings, reverse=True), strict=True))
    is_ordered = len(set(ratings)) >= LEAST_ORDERED
    misplaced = [at for at, (rating, ordered) in pairs if rating != ordered]
    # Neighbours are exchanged if a rating was corrected later, and an unrated player with a late one.
    if is_ordered and len(misplaced) == 2 and misplaced[1] - misplaced[0] > 1 and ratings[misplaced[0]]:
        first, second = (listed[at] for at in misplaced)
        message = (
            f"{first} has the rating {first.rating}, and {second} {second.rating}: all others are in the order of "
            "their ratings"
        )
        yield ReportFinding(first.line, "order-differs", message)


def days_in_future(report: SourceReport, now_ms: int) -> Iterator[ReportFinding]:
    """Yield the first day of results that is to come; in the east a day begins before it does in UTC."""
    now, latest_ms = instant_text(now_ms, Precision.DAY), now_ms + DAY_MS
    for number in sorted({game.round for game in report.pairings} & report.round_days.keys()):
        if instant_ms(report.round_days[number]) > latest_ms:
            message = f"round {number} has results, and is on {report.round_days[number]}; today is {now}"
            yield ReportFinding(report.line_of("132"), "day-in-future", message)
            return
    if instant_ms(report.edition) > latest_ms:
        message = f"the tournament has results, and begins on {report.edition}; today is {now}"
        yield ReportFinding(report.line_of("042"), "day-in-future", message)


def _length(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the days of a tournament that are far from each other, or from those of its rounds."""
    if report.last_day is None:
        return
    rounds = sorted(report.round_days.values())
    spans = [("052", report.edition, report.last_day, TOURNAMENT_DAYS)]
    if rounds:
        spans = [
            ("042", report.edition, rounds[0], ROUND_DISTANCE_DAYS),
            ("052", rounds[-1], report.last_day, ROUND_DISTANCE_DAYS),
        ]
    for kind, first, last, most in spans:
        days = (instant_ms(last) - instant_ms(first)) // DAY_MS
        if days > most:
            of_rounds = f", and the rounds were from {rounds[0]} to {rounds[-1]}" if rounds else ""
            message = f"the tournament lasted from {report.edition} to {report.last_day}{of_rounds}"
            yield ReportFinding(report.line_of(kind), "days-unlikely", message)


def _repeated_pairings(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the pairs who played twice, where all pairs but a few played once."""
    played: defaultdict[tuple[int, int], list[SourcePairing]] = defaultdict(list)
    for pairing in report.pairings:
        if pairing.is_played:  # a game that was forfeited may be paired again
            played[min(pairing.white, pairing.black), max(pairing.white, pairing.black)].append(pairing)
    repeated = {pair: games for pair, games in played.items() if len(games) > 1}
    # In a double all-play-all, or with two games a round, all pairs meet twice, each time with the other colours.
    turned = sum(len({game.white for game in games}) > 1 for games in repeated.values())
    is_double = 2 * len(repeated) >= len(played) and 2 * turned >= len(repeated)
    is_double |= "double" in str(report.facts.get("system", "")).lower()
    is_league = report.is_of_teams and report.format != Format.SWISS
    if is_league or report.format in _PAIRED_AGAIN or is_double:
        return
    names = {entrant.start_number: entrant for entrant in report.entrants}
    for (first, second), games in sorted(repeated.items()):
        rounds = " and ".join(str(game.round) for game in games)
        if first in names and second in names:
            message = f"{names[first]} and {names[second]} play each other in rounds {rounds}"
            yield ReportFinding(names[first].line, "pairing-twice", message)


def performance_findings(report: SourceReport, ratings: Mapping[int, float]) -> Iterator[ReportFinding]:
    """Yield the scores that ratings hardly allow.

    Args:
        report: the report.
        ratings: by starting number; games of unrated players are left out.
    """
    games: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for pairing in report.pairings:
        if pairing.is_played and pairing.white in ratings and pairing.black in ratings:
            sides = (
                (pairing.white, pairing.black, pairing.half_points),
                (pairing.black, pairing.white, 2 - pairing.half_points),
            )
            for own, other, half_points in sides:
                difference = max(-LARGEST_DIFFERENCE, min(LARGEST_DIFFERENCE, ratings[own] - ratings[other]))
                games[own].append((expected_hundredths(difference) / 100, half_points))
    for entrant in report.entrants:
        scores = games.get(entrant.start_number, [])
        half_points = sum(score for _, score in scores)
        expected = [chance for chance, _ in scores]
        probability = score_probability(expected, half_points)
        if scores and probability < UNLIKELY:
            message = (
                f"{entrant}, rated {ratings[entrant.start_number]:g}, has {half_points / 2:g} of "
                f"{len(scores)} games, {sum(expected):.1f} by the ratings: as probable as 1 in {1 / probability:,.0f}"
            )
            yield ReportFinding(entrant.line, "exceptional-performance", message)


def score_probability(expected: Sequence[float], half_points: int) -> float:
    """Return how probable a score as high is, or one as low, the smaller number.

    Each game is won or lost, none drawn, so that extreme scores are as probable as the expectations allow.

    Args:
        expected: the expected score of each game, 0 to 1.
        half_points: the score.
    """
    wins = [1.0]
    for chance in expected:
        lost, won = [part * (1 - chance) for part in wins], [part * chance for part in wins]
        wins = [a + b for a, b in zip([*lost, 0.0], [0.0, *won], strict=True)]
    return min(sum(wins[half_points // 2 :]), sum(wins[: ceil(half_points / 2) + 1]))
