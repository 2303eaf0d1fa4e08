"""The export of a tournament as a report in FIDE's TRF16 or TRF26. Imported again, it gives the same facts.

Columns are those of ``imports.trf.lines``. TRF has no room for moves, times of the day and how a game ended; a name
ends after 33 characters, and points above 99.5 are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ledger.answers.asking import in_one_snapshot
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.exports.trf_checks import FEDERATION, findings
from ledger.answers.exports.trf_data import MAX_FIDE_NUMBER, MAX_NAME, MAX_ROUNDS, ReportEntrant, TrfReport, load_report
from ledger.answers.sent_reports import results_of, results_text
from ledger.errors import MalformedError
from ledger.facts.words import USUALLY_BRINGS, Brings, Colour
from ledger.handle import OpenLedger

TRF16, TRF26 = "trf16", "trf26"
MAX_RANK = 9_999  # columns 5 to 8
TEN_POINTS = 20  # half points; readers have one digit before the point
MOST_POINTS = 99.5  # four columns: an arena or a long match may bring more
_BLANK = " " * 8
_BYES = {Brings.HALF: "H", Brings.FULL: "F", Brings.ALLOTTED: "U", Brings.ZERO: "Z", Brings.ABSENT: " "}
# Of a round in which two players were paired and did not play; 0 on both sides is a game that both lost.
_PAIRED = {Brings.HALF: "D", Brings.FULL: "+", Brings.ALLOTTED: "+", Brings.ZERO: "0", Brings.ABSENT: "-"}
_TYPES = {
    "swiss": "Individual: Swiss-System",
    "all-play-all": "Individual: Round-Robin",
    "knockout": "Individual: Knock-Out",
    "match": "Individual: Match",
    "arena": "Individual: Arena",
}
# The records of TRF26, by the field of ``tournament-described/1``.
_TRF26_RECORDS = {
    "182": "program", "192": "system_code", "202": "tie_breaks", "212": "standings_order", "222": "time_code",
}  # fmt: skip
# Whose ratings order the starting list: a federation, and a word of TRF26.
_START_ORDER = re.compile(r"(?:([A-Z]{3}) )?(FIDE|NRO|FIDON|NIDOF|HBFN|LBFN|OTHER)")
_SCORES = re.compile(r"([A-Z])\s*(\d{1,2}\.\d)")
_USUAL_SCORES = {"W": 2, "D": 1, "L": 0, "P": 2}  # half points
Cell = tuple[str, str]
"""The eight columns of a round in a player's line, and what scores there: W, D, L, P, or an empty text."""
_NOTHING: Cell = (_BLANK, "")  # a round without any report: a Z would mean a bye, in rounds still to come, too


@in_one_snapshot
def trf16_report(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return the TRF16 report of a tournament, line by line; days select one of several editions.

    Raises:
        UnknownNameError: there is no tournament of that name.
        MalformedError: names were not requested, or there are several editions, or more than a report can hold.
    """
    return report_lines(load_report(ledger, selection))


@in_one_snapshot
def trf26_report(ledger: OpenLedger, selection: ExportFilter) -> Iterator[bytes]:
    """Return the TRF26 report of a tournament; as ``trf16_report`` otherwise."""
    return report_lines(load_report(ledger, selection), TRF26)


@in_one_snapshot
def report_findings(ledger: OpenLedger, selection: ExportFilter) -> list[str]:
    """Return the gaps and contradictions of a tournament's report, as FIDE's own check would name them."""
    return findings(load_report(ledger, selection))


class SentFacts(NamedTuple):
    """The facts of a report that are recorded if it is sent: its pool, a day of the edition, its results as text."""

    pool: str
    edition: str
    results: str


@in_one_snapshot
def facts_to_send(ledger: OpenLedger, selection: ExportFilter) -> SentFacts:
    """Return the facts that are recorded if the report of a tournament is sent."""
    report = load_report(ledger, selection)
    games = [game for games in report.rounds for game in games]
    return SentFacts(report.pool, report.edition, results_text(results_of(games, report.byes)))


def starting_numbers(entrants: Mapping[int, ReportEntrant]) -> dict[int, int]:
    """Return the starting numbers by player: the reported ones; the others follow, by rating and name."""
    ordered = sorted(
        entrants,
        key=lambda player: (
            entrants[player].start_number or MAX_RANK + 1,
            -(entrants[player].rating or 0),
            entrants[player].name,
            player,
        ),
    )
    numbers: dict[int, int] = {}
    taken: set[int] = set()
    for player in ordered:
        number = entrants[player].start_number
        if number is None or number in taken:  # of merged players, or of two reports
            number = max(taken, default=0) + 1
        numbers[player] = number
        taken.add(number)
    return numbers


def report_lines(report: TrfReport, form: str = TRF16) -> Iterator[bytes]:
    """Yield the lines of a report, in UTF-8, with Windows line ends as FIDE's own programs write them.

    Raises:
        MalformedError: more players or rounds than a report has room for.
    """
    numbers = starting_numbers(report.entrants)
    if max(numbers.values(), default=0) > MAX_RANK or len(report.rounds) > MAX_ROUNDS:
        raise MalformedError([f"a report holds {MAX_RANK:,} players and {MAX_ROUNDS} rounds at most"])
    cells = _cells(report, numbers)
    scores = _scores(report, form)
    points = {player: sum(scores.get(score, 0) for _, score in cells[player]) for player in numbers}

    # Reported places decide among players with the same points: after a correction points go before.
    def order(player: int) -> tuple[int, int, int]:
        return -points[player], report.entrants[player].place or MAX_RANK + 1, numbers[player]

    places = {player: place for place, player in enumerate(sorted(numbers, key=order), 1)}
    for line in _header(report, form):
        yield f"{line}\r\n".encode()
    for player, number in numbers.items():
        head = _player(report.entrants[player], number, points[player], places[player])
        yield f"{head}{''.join(f'  {text}' for text, _ in cells[player])}\r\n".encode()


def _player(entrant: ReportEntrant, number: int, half_points: int, place: int) -> str:
    """Return a player's line up to the rounds.

    TRF16 (RULES 7), columns from 1: starting number 5-8, sex 10, title 11-13, name 15-47, rating 49-52, federation
    54-56, number at FIDE 58-68, birth 70-79, points 81-84, place 86-89; a round has ten columns, the first from 90 on.
    """
    details = entrant.details
    # Points that their columns cannot hold are left out: a wider number would push the rounds out of theirs.
    total = f"{half_points / 2:4.1f}" if half_points / 2 <= MOST_POINTS else ""
    birth = "/".join([*(details.birth or "").split("-"), "00", "00"][:3]) if details.birth else ""
    title = (details.title or "")[:3]
    return (
        f"001 {number:4} {details.sex or '':1}{title:>3} {entrant.name:{MAX_NAME}} {entrant.rating or 0:4} "
        f"{details.federation or '':3} {entrant.fide:>{MAX_FIDE_NUMBER}} {birth:10} {total:4} {place:4}"
    )


def _header(report: TrfReport, form: str) -> Iterator[str]:
    described = report.described
    records = {
        "012": report.name,
        "022": described.get("city"),
        "032": described.get("federation"),
        "042": report.first.replace("-", "/"),
        "052": report.last.replace("-", "/"),
        "062": len(report.entrants),
        "072": sum(bool(entrant.rating) for entrant in report.entrants.values()),
        "082": 0,  # teams
        "092": described.get("system") or _TYPES.get(report.kind or ""),
        "102": report.chief,
    }
    yield from (f"{kind} {value}" for kind, value in records.items() if value is not None)
    yield from (f"112 {deputy}" for deputy in report.deputies)
    if "time_control" in described:
        yield f"122 {described['time_control']}"
    if form == TRF26:
        yield from _trf26_records(report)
    # TRF16 has no word for what an allotted bye brings; JaVaFo has (RULES 7: XXS), and it is read. Where the byes of a
    # tournament bring different numbers, or ten points, no word says it.
    elif (worth := _allotted(report)) is not None:
        yield f"XXS PAB={worth / 2:.1f}"
    days = [(day or "")[2:].replace("-", "/") for day in report.round_days()]
    if any(days):
        yield f"132{'':88}{''.join(f'{text:10}' for text in days)}".rstrip()
    yield from (f"### {correction}" for correction in report.corrections)


def _trf26_records(report: TrfReport) -> Iterator[str]:
    if report.planned_rounds is not None:
        yield f"142 {report.planned_rounds}"
    if (colour := report.described.get("first_colour")) is not None:
        yield f"152 {'W' if colour == Colour.WHITE else 'B'}"
    scores = _stated_scores(report)
    if not scores and (worth := _allotted(report)) is not None:
        scores = {"P": worth}
    if scores:  # a sign and four columns each, four blanks between
        yield f"162  {'    '.join(f'{sign}{half / 2:4.1f}' for sign, half in scores.items())}"
    start_order = _START_ORDER.fullmatch(report.described.get("start_order", ""))
    federation = (start_order and start_order[1]) or report.described.get("federation", "")
    if start_order and FEDERATION.fullmatch(federation):
        yield f"172 {federation} {start_order[2]}"
    yield from (f"{kind} {report.described[name]}" for kind, name in _TRF26_RECORDS.items() if name in report.described)


def _allotted(report: TrfReport) -> int | None:
    """Return the half points of an allotted bye, if all bring the same, and not the usual number."""
    worths = {bye.half_points for bye in report.byes if bye.brings == Brings.ALLOTTED}
    is_stated = len(worths) == 1 and worths != {USUALLY_BRINGS[Brings.ALLOTTED]} and max(worths) < TEN_POINTS
    return worths.pop() if is_stated else None


def _stated_scores(report: TrfReport) -> dict[str, int]:
    """Return the scoring that reports stated, half points by sign; empty if there is none."""
    pairs = _SCORES.findall(str(report.described.get("scoring", "")).upper())
    return {sign: round(2 * float(points)) for sign, points in pairs}


def _scores(report: TrfReport, form: str) -> Mapping[str, int]:
    """Return the half points of each score; TRF16 has no record of another scoring than the usual."""
    worth = _allotted(report)
    usual = _USUAL_SCORES if worth is None else {**_USUAL_SCORES, "P": worth}
    return {**usual, **_stated_scores(report)} if form == TRF26 else usual


def _cells(report: TrfReport, numbers: Mapping[int, int]) -> dict[int, list[Cell]]:
    """Return, by player, the cell of each round."""
    cells = {player: [_NOTHING] * len(report.rounds) for player in numbers}
    for bye in report.byes:
        brings = Brings(bye.brings)
        if bye.opponent is not None and bye.opponent in numbers:
            # A pairing has colours, without which readers take its two lines for two games.
            is_white = numbers[bye.player] < numbers[bye.opponent] if bye.colour is None else bye.colour == Colour.WHITE
            text = f"{numbers[bye.opponent]:4} {'w' if is_white else 'b'} {_PAIRED[brings]}"
        else:
            text = f"0000 - {_BYES[brings]}" if _BYES[brings].strip() else _BLANK
        score = {0: "", 1: "D", 2: "W"}.get(bye.half_points, "P")
        cells[bye.player][(bye.round or 0) - 1] = (text, "P" if brings is Brings.ALLOTTED else score)
    for number, games in enumerate(report.rounds):
        for game in games:
            for player, colour in ((game.white, "w"), (game.black, "b")):
                half = game.half_points_of(player)
                # half a point without a move is D, which is not rated either (RULES 7)
                letter = " " if half is None else ("0=1" if game.is_played else "-D+")[half]
                opponent = numbers[game.opponent_of(player)]
                # a lost game scores, too, where L brings points; a forfeit never does
                score = "" if half is None or (half == 0 and not game.is_played) else "LDW"[half]
                cells[player][number] = (f"{opponent:4} {colour} {letter}", score)
    return cells
