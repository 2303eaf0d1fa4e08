"""The checks of a tournament report by itself: rounds and days, pairings, points, and scores that ratings hardly allow.

``findings`` names the codes. What the ledger knows of the entrants is compared in ``answers.report_comparisons``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from ledger.facts.source_games import SourceEntrant, SourcePairing, SourceReport
from ledger.facts.words import Format
from ledger.recording.findings import ReportFinding
from ledger.schemes.formulas.fide_rules import expected_hundredths

# Measured with 342,000 scores in 39,000 tournaments over the board and online: 7 are less probable than this, 2 less
# than 1 in 100,000, all in blitz games online.
UNLIKELY = 1e-4
LARGEST_DIFFERENCE = 400  # points; a larger difference of ratings counts as this
AGES = range(3, 111)
_PAIRED_AGAIN = {Format.KNOCKOUT, Format.MATCH, Format.ARENA}


def structure_findings(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the findings that need nothing but the report."""
    yield from _rounds_and_days(report)
    yield from _repeated_pairings(report)
    entrants = len(report.entrants)
    if report.players is not None and report.players != entrants:
        line = report.lines.get("062", report.line)
        yield ReportFinding(
            line, "players-differ", f"{report.players:,} players (062), and {entrants:,} lines of players"
        )
    for entrant in report.entrants:
        if entrant.points is not None:
            stated, counted = entrant.points
            message = f"{_named(entrant)} has {stated:g} points, and {counted:g} by results and byes at 1, ½ and 0"
            yield ReportFinding(entrant.line, "points-differ", message)
        title = entrant.details.get("title") or ""
        if entrant.details.get("sex") == "m" and title.startswith("W"):
            yield ReportFinding(entrant.line, "sex-differs", f"{_named(entrant)} has the sex m and the title {title}")
        yield from _impossible_birth(report, entrant)


def _impossible_birth(report: SourceReport, entrant: SourceEntrant) -> Iterator[ReportFinding]:
    born, year = entrant.details.get("birth"), report.edition[:4]
    if born is not None and int(year) - int(born[:4]) not in AGES:
        message = f"{_named(entrant)} is born in {born[:4]} by the report, and played in {year}"
        yield ReportFinding(entrant.line, "birth-year-differs", message)


def _rounds_and_days(report: SourceReport) -> Iterator[ReportFinding]:
    line = report.lines.get("132", report.line)
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
    announced = report.facts.get("rounds")
    if announced is not None and report.last_round > announced:
        line = next((report.lines[kind] for kind in ("142", "XXR") if kind in report.lines), report.line)
        message = f"the report has results of round {report.last_round}, and announces {announced} rounds"
        yield ReportFinding(line, "more-rounds", message)


def _repeated_pairings(report: SourceReport) -> Iterator[ReportFinding]:
    """Yield the pairs who played twice, where all pairs but a few played once."""
    played: defaultdict[tuple[int, int], list[SourcePairing]] = defaultdict(list)
    for pairing in report.pairings:
        if pairing.is_played:  # a game that was forfeited may be paired again
            played[min(pairing.white, pairing.black), max(pairing.white, pairing.black)].append(pairing)
    repeated = {pair: games for pair, games in played.items() if len(games) > 1}
    # In a double all-play-all, or with two games a round, all pairs meet twice.
    is_double = 2 * len(repeated) >= len(played) or "double" in str(report.facts.get("system", "")).lower()
    if report.is_of_teams or report.format in _PAIRED_AGAIN or is_double:
        return
    names = {entrant.start_number: entrant for entrant in report.entrants}
    for (first, second), games in sorted(repeated.items()):
        rounds = " and ".join(str(game.round) for game in games)
        if first in names and second in names:
            message = f"{_named(names[first])} and {_named(names[second])} play each other in rounds {rounds}"
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
                f"{_named(entrant)}, rated {ratings[entrant.start_number]:g}, has {half_points / 2:g} of "
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


def _named(entrant: SourceEntrant) -> str:
    return f"{entrant.start_number} ({entrant.player_name})"
