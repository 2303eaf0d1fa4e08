"""Comparison of a tournament report with recorded events: the announced days, and the games of the same players.

Only the announcements of the report's tournament are read, and the games of its pairs on its days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from sqlite3 import Connection

import orjson

from ledger.answers.asking import day
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.facts.source_games import SourceReport
from ledger.imports.reading import DAY_LENGTH
from ledger.recording.findings import ReportFinding

NEAR_DAYS = 62  # days between an announcement without any game and a report that is probably the announced event's
LEAST_GAMES = 4  # games of an event that may be the same as a recorded one: two players may meet twice on one day
FAR_DAYS = 370  # from the days of a report to those of an event with nearly all of its games: its year may be wrong
LEAST_GAMES_FAR = 16
_OUTCOMES = ("black", "draw", "white")  # by White's half points
_OPENINGS = (
    "SELECT starts_ms, ends_ms, rounds FROM openings JOIN pools USING (pool) "
    "WHERE pools.name = ? AND tournament = ? ORDER BY starts_ms"
)
_CLOSINGS = "SELECT closed_ms FROM tournaments JOIN pools USING (pool) WHERE pools.name = ? AND tournament = ?"
_IS_PLAYED = (
    "SELECT 1 FROM games JOIN pools USING (pool) "
    "WHERE pools.name = ? AND tournament = ? AND ended_ms BETWEEN ? AND ? LIMIT 1"
)
# The left table is the outer loop: each pair is one search in the index of White's games.
_SAME_GAMES = (
    "SELECT games.tournament, games.ended_ms, pairs.key FROM json_each(?) AS pairs CROSS JOIN games "
    "ON games.white = pairs.value ->> 0 AND games.black = pairs.value ->> 1 AND games.ended_ms BETWEEN ? AND ? "
    "JOIN pools USING (pool) WHERE pools.name = ? AND games.outcome = pairs.value ->> 2 AND games.voided_by IS NULL"
)
_EDITIONS = "SELECT DISTINCT edition FROM entrants JOIN pools USING (pool) WHERE pools.name = ? AND tournament = ?"


def event_findings(
    connection: Connection, pool: Pool, report: SourceReport, players: Mapping[int, int]
) -> Iterator[ReportFinding]:
    """Yield the days that were announced otherwise, and the event that is recorded already.

    Args:
        connection: of the views.
        pool: of the report's games.
        report: the report.
        players: by starting number, those whom the ledger knows.
    """
    first_ms, last_ms = instant_ms(report.edition), instant_end_ms(report.last_day or report.edition)
    if report.tournament and last_ms >= first_ms:
        yield from _announced_otherwise(connection, pool.name, report, (first_ms, last_ms))
    yield from _recorded_already(connection, pool.name, report, players)


def _announced_otherwise(
    connection: Connection, pool: str, report: SourceReport, span: tuple[int, int]
) -> Iterator[ReportFinding]:
    openings = connection.execute(_OPENINGS, (pool, report.tournament)).fetchall()
    if not openings or len(report.edition) != DAY_LENGTH:
        return
    first_ms, last_ms = span
    starts_ms, ends_ms, rounds = min(openings, key=lambda each: (abs(each[0] - first_ms), each[0]))
    announced, here = f"from {day(starts_ms)} to {day(ends_ms)}", f"{report.edition} to {report.last_day or '?'}"
    message = f"the tournament is announced {announced}, and lasts from {here} by the report"
    if day(starts_ms) != report.edition:
        is_apart = ends_ms < first_ms or last_ms < starts_ms
        is_near = max(starts_ms - last_ms, first_ms - ends_ms) <= NEAR_DAYS * DAY_MS
        # another edition of a tournament that takes place every week or month was played on its own days
        of_edition = (pool, report.tournament, starts_ms, ends_ms)
        if not is_apart or (is_near and connection.execute(_IS_PLAYED, of_edition).fetchone() is None):
            yield ReportFinding(report.line_of("042"), "announced-otherwise", message)
        return
    closings = {day(closed_ms) for (closed_ms,) in connection.execute(_CLOSINGS, (pool, report.tournament))}
    last_day = report.last_day
    if last_day is not None and len(last_day) == DAY_LENGTH and last_day not in closings | {day(ends_ms)}:
        yield ReportFinding(report.line_of("052"), "announced-otherwise", message)
    if rounds is not None and report.last_round > rounds:
        line = report.line_of("142", "XXR")
        words = f"{rounds} rounds are announced, and the report has results of round {report.last_round}"
        yield ReportFinding(line, "announced-otherwise", words)


def _recorded_already(
    connection: Connection, pool: str, report: SourceReport, players: Mapping[int, int]
) -> Iterator[ReportFinding]:
    """Yield the event of which two thirds of the report's games are: under another name, or from another day.

    On other days, of a wrong month or year, it must be nine tenths.
    """
    games = [
        (players.get(game.white), players.get(game.black), _OUTCOMES[game.half_points])
        for game in report.pairings
        if game.is_played
    ]
    pairs = [game for game in games if None not in game]
    least = max(LEAST_GAMES, (2 * len(games) + 2) // 3)
    if len(pairs) < least:
        return
    days = [report.edition, *report.round_days.values(), *([report.last_day] if report.last_day else [])]
    first_ms, last_ms = min(map(instant_ms, days)) - DAY_MS, max(map(instant_end_ms, days)) + DAY_MS
    far_ms = FAR_DAYS * DAY_MS
    arguments = (orjson.dumps(pairs).decode(), first_ms - far_ms, last_ms + far_ms, pool)
    events: dict[str | None, list[tuple[int, int]]] = {}
    for tournament, ended_ms, number in connection.execute(_SAME_GAMES, arguments):
        events.setdefault(tournament, []).append((ended_ms, number))
    for tournament, recorded in events.items():
        near = {number for ended_ms, number in recorded if first_ms <= ended_ms <= last_ms}
        on_all_days = {number for _, number in recorded}
        if len(near) < least and len(on_all_days) < max(LEAST_GAMES_FAR, len(games) * 9 // 10):
            continue
        editions = [edition for (edition,) in connection.execute(_EDITIONS, (pool, report.tournament))]
        if tournament == report.tournament and (not editions or report.edition in editions):
            continue  # the report is sent again
        ends = [ended_ms for ended_ms, number in recorded if number in near or len(near) < least]
        called = f"as {tournament!r}" if tournament else "without a tournament"
        message = (
            f"{len(near) if len(near) >= least else len(on_all_days):,} of {len(games):,} games of "
            f"{report.tournament!r} from {report.edition} are recorded already, {called} from {day(min(ends))} to "
            f"{day(max(ends))}"
        )
        yield ReportFinding(report.line_of("012"), "recorded-already", message)
        return
