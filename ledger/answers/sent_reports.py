"""Reports that were sent to a federation, and those whose results a later correction changed: to be sent again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import attrs

from ledger.answers.asking import in_one_snapshot, names
from ledger.answers.crosstables import editions
from ledger.answers.crosstables.crosstable import counted_byes
from ledger.answers.crosstables.editions import EventFacts
from ledger.answers.crosstables.event_games import EventGame
from ledger.book import decisions
from ledger.book.stored_proposals import load_merges
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import StoredRound, edition_meant
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.words import Brings
from ledger.handle import OpenLedger
from ledger.journal import stored_texts
from ledger.ratings import queries
from ledger.ratings.dry_runs import MovedResult

_REPORTS = "SELECT * FROM sent_reports WHERE pool = ?1 ORDER BY tournament, edition_ms, number, position"
_HAS_REPORTS = "SELECT 1 FROM sent_reports LIMIT 1"
_RESULTS = {2: "1-0", 1: "½-½", 0: "0-1", None: "*"}
_FORFEITS = {2: "+/-", 1: "½/½", 0: "-/+", None: "*"}
_BYES = {
    Brings.HALF: "half-point bye", Brings.FULL: "full-point bye", Brings.ALLOTTED: "allotted bye",
    Brings.ZERO: "zero-point bye", Brings.ABSENT: "absent",
}  # fmt: skip
_NO_ROUND = 0


class Result(NamedTuple):
    """One line of a report's results: a game, or a bye without Black.

    Attributes:
        key: of the game; of a bye its player and round.
        round: its number, 0 without one.
        white: player number; of a bye the player.
        black: player number; 0 for a bye.
        result: as tables write it, without blanks replaced.
    """

    key: str
    round: int
    white: int
    black: int
    result: str

    def line(self) -> str:
        """Return the result as it is stored."""
        return f"{self.key} {self.round} {self.white} {self.black} {self.result}"

    @classmethod
    def of_line(cls, line: str) -> Result:
        """Return a stored result."""
        key, number, white, black, result = line.split(" ", 4)
        return cls(key, int(number), int(white), int(black), result)


@attrs.frozen(kw_only=True, slots=False)
class ChangedResult:
    """A result that has changed since the report was sent."""

    round: int | None = documented("the round; null: it has no number", minimum=1)
    white: int = documented("number of White, or of the player of a bye", minimum=1)
    white_name: str = documented("what that player is called")
    black: int | None = documented("number of Black; null: a bye", minimum=1)
    black_name: str | None = documented("what Black is called")
    sent: str | None = documented("the result in the report; null: it had none")
    now: str | None = documented("the result now; null: there is none")

    def __str__(self) -> str:
        where = f"round {self.round}, " if self.round else ""
        who = self.white_name if self.black_name is None else f"{self.white_name} - {self.black_name}"
        return f"{where}{who}: {self.now or 'nothing'} instead of {self.sent or 'nothing'}"


@attrs.frozen(kw_only=True, slots=False)
class SentReport:
    """A report about a tournament that was sent, the last one of its edition and period."""

    tournament: str = documented("name of the tournament")
    pool: str = documented("the pool of its games")
    edition: str = documented("a day of the edition")
    number: int = documented("place among the reports of the edition that were sent, from 1", minimum=1)
    form: str = documented("trf16 or trf26")
    sent_on: str = documented("the day on which it was sent")
    since: str | None = documented("first day of its period; null: the whole tournament")
    until: str | None = documented("last day of its period; null: the whole tournament")
    digest: str = documented("SHA-256 of the file")
    entry: int = documented("position of the journal's entry that says so", minimum=1)
    again: bool = documented("whether to send it again: a result has changed")
    changed: list[ChangedResult] = documented("the results that differ")

    def __str__(self) -> str:
        count = len(self.changed)
        results = "1 result is" if count == 1 else f"{count:,} results are"
        return f"the report of {self.tournament!r}, sent on {self.sent_on}, is to be sent again: {results} corrected"


def results_of(games: Iterable[EventGame], byes: Sequence[StoredRound]) -> list[Result]:
    """Return the results of some games and byes of a tournament, in the order of rounds and keys."""
    played = list(games)
    results = [
        Result(
            game.key,
            game.round_number or _NO_ROUND,
            game.white,
            game.black,
            (_RESULTS if game.is_played else _FORFEITS)[game.half_points],
        )
        for game in played
    ]
    results += [
        Result(
            f"bye:{bye.player}:{bye.round or _NO_ROUND}",
            bye.round or _NO_ROUND,
            bye.player,
            0,
            _BYES[Brings(bye.brings)],
        )
        for bye in counted_byes(played, byes)
    ]
    return sorted(results, key=lambda result: (result.round, result.key))


def results_text(results: Iterable[Result]) -> str:
    """Return results as the text that is stored."""
    return "".join(f"{result.line()}\n" for result in results)


@in_one_snapshot
def sent_reports(ledger: OpenLedger, pool: str | None = None, *, again: bool = False) -> list[SentReport]:
    """Return the last sent report of each edition and period, with the results that were corrected since.

    Args:
        ledger: the ledger.
        pool: name of the pool; by default all pools.
        again: only those that are to be sent again.
    """
    if ledger.views.connection.execute(_HAS_REPORTS).fetchone() is None:
        return []
    pools = ledger.pools() if pool is None else [ledger.pool(pool)]
    reports = [report for each in pools for report, _, _ in _of_pool(ledger, each)]
    return [report for report in reports if report.again or not again]


@in_one_snapshot
def reports_with(ledger: OpenLedger, results: Collection[MovedResult]) -> list[tuple[SentReport, int]]:
    """Return the last sent reports that are about some results, each with the number of these."""
    reports: list[tuple[SentReport, int]] = []
    for pool in ledger.pools() if results else ():
        by_name: dict[str, list[int]] = {}
        for result in results:
            if result.pool == pool.name:
                by_name.setdefault(result.tournament, []).append(result.ms)
        for report, event, every in _of_pool(ledger, pool, by_name) if by_name else ():
            since_ms = -inf if report.since is None else instant_ms(report.since)
            until_ms = inf if report.until is None else instant_end_ms(report.until)
            times = [ms for ms in by_name[report.tournament] if since_ms <= ms <= until_ms]
            if event is not None:  # else it has no game any more, and they come back
                times = [
                    ms
                    for ms in times
                    if edition_meant(pool, report.tournament, _Instant(ms), [each.edition for each in every])
                    in {event.edition, None}
                ]
            if times:
                reports.append((report, len(times)))
    return reports


class _Instant(NamedTuple):
    """The end of a game, by which its edition is found."""

    edition_ms: int

    @property
    def last_ms(self) -> int:
        """The end of the game again."""
        return self.edition_ms


def _of_pool(
    ledger: OpenLedger, pool: Pool, tournaments: Collection[str] | None = None
) -> list[tuple[SentReport, EventFacts | None, Sequence[EventFacts]]]:
    """Return the last report of each edition and period, the edition, and all editions of its tournament."""
    connection = ledger.views.connection
    rows = list(queries.fetch_dicts(connection, _REPORTS, (pool.pool,)))
    rows = [row for row in rows if tournaments is None or row["tournament"] in tournaments]
    events = editions.load_events(connection, pool, sorted({row["tournament"] for row in rows})) if rows else {}
    last: dict[tuple[object, ...], tuple[Mapping[str, Any], EventFacts | None]] = {}
    for row in rows:
        event = event_of(pool, events.get(row["tournament"], ()), row)
        edition = row["edition"] if event is None else event.edition
        last[row["tournament"], edition, row["since"], row["until"]] = row, event
    merges = load_merges(connection)
    return [
        (_report(ledger, pool, row, event, merges), event, events.get(row["tournament"], ()))
        for row, event in last.values()
    ]


def event_of(pool: Pool, events: Sequence[EventFacts], row: Mapping[str, Any]) -> EventFacts | None:
    """Return the edition that a row of a table is about; None if it has no game and no bye any more."""
    meant = edition_meant(pool, row["tournament"], EditionRow(row), [event.edition for event in events])
    return next((event for event in events if event.edition == meant), None)


class EditionRow(NamedTuple):
    """A row of a table of facts about editions."""

    row: Mapping[str, Any]

    @property
    def edition_ms(self) -> int:
        """The first millisecond of the day that names the edition."""
        return int(self.row["edition_ms"])

    @property
    def last_ms(self) -> int:
        """Its last millisecond."""
        return instant_end_ms(self.row["edition"])


def games_between(games: Iterable[EventGame], since_ms: int | None, until_ms: int | None) -> list[EventGame]:
    """Return the games that ended from an instant to another one."""
    low, high = -inf if since_ms is None else since_ms, inf if until_ms is None else until_ms
    return [game for game in games if low <= game.ended_ms <= high]


def byes_between(byes: Sequence[StoredRound], games: Iterable[EventGame], *, is_part: bool) -> Sequence[StoredRound]:
    """Return the byes of a report: of a part of a tournament those in rounds that have a game of it."""
    rounds = {game.round_number for game in games}
    return [bye for bye in byes if not is_part or bye.round in rounds]


def _report(
    ledger: OpenLedger, pool: Pool, row: Mapping[str, Any], event: EventFacts | None, merges: Mapping[int, int]
) -> SentReport:
    since, until = row["since"], row["until"]
    now: list[Result] = []
    if event is not None:
        since_ms = None if since is None else instant_ms(since)
        games = games_between(event.games, since_ms, None if until is None else instant_end_ms(until))
        is_part = len(games) < len(event.games)
        now = results_of(games, byes_between(event.byes, games, is_part=is_part))
    text = stored_texts.movetext(ledger.snapshot_journal, row["text"])
    before = [Result.of_line(line) for line in (text or "").splitlines()]
    changed = [] if text is None else _changed(ledger, before, now, merges)
    return SentReport(
        tournament=row["tournament"],
        pool=pool.name,
        edition=row["edition"],
        number=row["number"],
        form=row["form"],
        sent_on=row["sent_on"],
        since=since,
        until=until,
        digest=row["digest"],
        entry=row["position"],
        again=bool(changed),
        changed=changed,
    )


def _changed(
    ledger: OpenLedger, before: Sequence[Result], now: Sequence[Result], merges: Mapping[int, int]
) -> list[ChangedResult]:
    """Return the results that differ, in the order of the rounds."""

    def person(result: Result) -> Result:
        white = decisions.person_of(merges, result.white)
        black = decisions.person_of(merges, result.black) if result.black else 0
        key = result.key if result.black else f"bye:{white}:{result.round}"
        return result._replace(key=key, white=white, black=black)

    sent = {result.key: result for result in map(person, before)}
    present = {result.key: result for result in now}
    _match_renewed(sent, present)
    differ = [key for key in {**sent, **present} if sent.get(key) != present.get(key)]
    pairs = [(sent.get(key), present.get(key)) for key in differ]
    results = [result for pair in pairs for result in pair if result is not None]
    called = names(ledger, {number for result in results for number in (result.white, result.black) if number})
    changed = []
    for old, new in sorted(pairs, key=lambda pair: (pair[1] or pair[0] or Result("", 0, 0, 0, ""))[1:3]):
        shown = new or old
        assert shown is not None  # one of the two is there
        # other players, colours or another round of the same game: both are said in words
        moved = old is not None and new is not None and old[1:4] != new[1:4]
        changed.append(
            ChangedResult(
                round=shown.round or None,
                white=shown.white,
                white_name=called[shown.white],
                black=shown.black or None,
                black_name=called[shown.black] if shown.black else None,
                sent=None if old is None else _in_words(old, called) if moved else old.result,
                now=None if new is None else new.result,
            )
        )
    return changed


def _match_renewed(sent: dict[str, Result], present: dict[str, Result]) -> None:
    """Give sent results the keys of those that were recorded again since, after their import was taken back."""
    again = {(result.round, result.white, result.black): key for key, result in present.items() if key not in sent}
    for key in [key for key in sent if key not in present]:
        if (now := again.pop(sent[key][1:4], None)) is not None:
            sent[now] = sent.pop(key)._replace(key=now)


def _in_words(result: Result, called: Mapping[int, str]) -> str:
    who = called[result.white] + (f" - {called[result.black]}" if result.black else "")
    return f"{result.result} (round {result.round}, {who})"
