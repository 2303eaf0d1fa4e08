"""The check of a tournament report before it is sent: missing data and contradictions.

FIDE's rating server refuses or queries reports for these reasons (C.04 Annex 2, and the report files' own document).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ledger.answers.exports.trf_data import DAY, TrfReport

FEDERATION = re.compile(r"[A-Z]{3}")
_NAMED = 5  # players whom one finding names


def findings(report: TrfReport) -> list[str]:
    """Return the findings in the order of the records, each with the record or columns that it concerns."""
    return [*_heading(report), *_days(report), *_players(report), *_rounds(report)]


def _heading(report: TrfReport) -> Iterator[str]:
    described = report.described
    missing = {
        "022": ("city", described.get("city")),
        "032": ("federation", described.get("federation")),
        "092": ("type of tournament", described.get("system") or report.kind),
        "102": ("chief arbiter", report.chief),
        "122": ("time control", described.get("time_control")),
    }
    for kind, (what, value) in missing.items():
        if not value:
            yield f"{kind}: the {what} is missing"
    federation = described.get("federation")
    if federation and not FEDERATION.fullmatch(federation):
        yield f"032: {federation!r} is no federation code (three capital letters)"


def _days(report: TrfReport) -> Iterator[str]:
    for kind, what, text in (("042", "start", report.first), ("052", "end", report.last)):
        if len(text) < DAY:
            yield f"{kind}: the {what} is {text!r}, not a whole day"
    days = report.round_days()
    unknown = [str(number) for number, day in enumerate(days, 1) if day is None]
    if unknown:
        yield f"132: the day is missing for {_listed('round', unknown)}"
    dated = [(number, day) for number, day in enumerate(days, 1) if day is not None]
    for number, day in dated:
        if day < report.first[:DAY] or day > f"{report.last}~":
            yield f"132: round {number} was played on {day}, outside {report.first} to {report.last}"
    for (earlier, before), (number, day) in pairwise(dated):
        if day < before:
            yield f"132: round {number} was played on {day}, before round {earlier} on {before}"
    planned = report.planned_rounds
    if planned is not None and len(report.rounds) > planned:
        yield f"142: {planned} rounds are announced, and there are {len(report.rounds)}"
    if planned is not None and len(report.rounds) < planned:
        yield f"142: {planned} rounds are announced, and only {len(report.rounds)} are recorded"


def _players(report: TrfReport) -> Iterator[str]:
    entrants = list(report.entrants.values())
    missing = {
        "column 10": ("sex", [each.name for each in entrants if not each.details.sex]),
        "columns 54-56": ("federation", [each.name for each in entrants if not each.details.federation]),
        "columns 58-68": ("FIDE number", [each.name for each in entrants if not each.fide]),
        "columns 70-79": ("date of birth", [each.name for each in entrants if not each.details.birth]),
    }
    for where, (what, names) in missing.items():
        if names:
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            yield f"001, {where}: {what} missing of {_counted(len(names), 'player')}: {'; '.join(names[:_NAMED])}{more}"
    numbers = Counter(each.fide for each in entrants if each.fide)
    for fide, count in numbers.items():
        if count > 1:
            yield f"001, columns 58-68: the FIDE number {fide} is that of {count} players"
    numbered = sorted(each.start_number for each in entrants if each.start_number is not None)
    if numbered and len(numbered) < len(entrants):
        others = _counted(len(entrants) - len(numbered), "player")
        yield f"001, columns 5-8: no report gives a starting number for {others}"
    twice = sorted(number for number, count in Counter(numbered).items() if count > 1)
    for number in twice[:_NAMED]:
        yield f"001, columns 5-8: the starting number {number} is that of several players"


def _rounds(report: TrfReport) -> Iterator[str]:
    for number, games in enumerate(report.rounds, 1):
        open_games = sum(game.half_points is None for game in games)
        if open_games:
            yield f"001, round {number}: {_counted(open_games, 'game')} without a result"
        without = sum(bye.opponent is not None and bye.colour is None for bye in report.byes if bye.round == number)
        if without:
            pairs = _counted(without // 2 or 1, "forfeit")
            yield f"001, round {number}: the colours of {pairs} are unknown: the lower starting number gets White"
        if not games:
            yield f"001, round {number}: no game is recorded"
        recorded = {player for game in games for player in game.players}
        recorded |= {bye.player for bye in report.byes if bye.round == number}
        silent = len(report.entrants.keys() - recorded)
        if games and silent:
            yield f"001, round {number}: neither a game nor a bye is recorded of {_counted(silent, 'player')}"


def _counted(number: int, what: str) -> str:
    """Return a number of things as a phrase."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _listed(word: str, numbers: list[str]) -> str:
    """Return numbers as a phrase."""
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    return f"{word}s {', '.join(numbers[:-1])} and {numbers[-1]}"
