"""A file of games that was sent: looked at first, or recorded, with the same account of it as the command gives.

Every fault is reported with its line. Nothing is formatted; the report is plain data, for the wire and for pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from ledger.answers.announcements import MissingAnnouncement, OutsideGames, missing_announcements, outside_games
from ledger.answers.counting_lists import CountingList, counting_lists
from ledger.answers.import_previews import ImportPreview, UnderstoodGame
from ledger.answers.rows import as_rows
from ledger.errors import MalformedError, StorageError
from ledger.facts.instants import instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.source_games import FileFault
from ledger.imports.csv.games import PREFIX, parse_results
from ledger.imports.csv.header import parse_headings
from ledger.imports.faulty_rows import read_faulty_rows
from ledger.imports.files import FORMATS, Source, detect_format, foreign_kind, open_source
from ledger.imports.formats import REPORTS, read_game_frames
from ledger.imports.pairings.lists import BOARDS
from ledger.imports.reading import FileHints, place_of
from ledger.imports.times import ORDERS
from ledger.ledger import Ledger
from ledger.recording.findings import accepted_codes
from ledger.recording.game_import import ImportReport
from ledger.recording.pool_choice import CHOICES_BY_CLASS, PoolChoice

FIRST_GAMES = 10  # that are shown as they were understood
MOST_TOLD = 200  # faults, notes, games held back, new players
MOST_IN_PLACE = 32_000  # characters of rows that are corrected in a form, whose field takes twice as many
FAULTY = "faulty-"  # begins the names of files with the rows that have faults
MOST_ALIKE = 20  # players who have the name of a new one: all of a crowd were more than a message has room for
Account = dict[str, Any]


@attrs.frozen(kw_only=True, slots=False)
class LineTold:
    """Something that is said of a line of a file."""

    line: int = documented("the line, 1 the first")
    detail: str = documented("what is said of it")


@attrs.frozen(kw_only=True, slots=False)
class WarningTold:
    """A warning about a tournament report: it stops the report unless its code is accepted."""

    line: int = documented("the line, 1 the first")
    code: str = documented("the code, which accept= takes")
    detail: str = documented("both values, and what to do")


@attrs.frozen(kw_only=True, slots=False)
class NewcomerTold:
    """A player whom a file brings."""

    identity: str = documented("the identity")
    name: str = documented("the name")
    alike: list[str] = documented(
        "identities of the first players who bear that name already, or one with one letter changed; 20 at most"
    )


@attrs.frozen(kw_only=True, slots=False)
class OpeningTold:
    """A tournament whose days a file gives, and that the ledger does not know."""

    words: dict[str, str | int | None] = documented("its days, in the words of the verb 'open-tournament'")
    problem: str | None = documented("why they cannot be proposed so; null: nothing is wrong with them")


@attrs.frozen(kw_only=True, slots=False)
class ImportAnswer:
    """The result of the import of a file, or of its preview; long lists are cut, with their count."""

    name: str = documented("what the file is called")
    format: str = documented("its format, as given, or by its content")
    sheet: str | None = documented("the sheet of a spreadsheet, whose rows are the lines; null for other files")
    strict: bool = documented("whether a fault leaves nothing of it recorded")
    recorded: int = documented("games that were recorded, or would be")
    repeated: int = documented("games that were known already")
    supplemented: int = documented("those of them to which it added details")
    rounds: int = documented("rounds without a game")
    players: int = documented("players who are new")
    kept_names: int = documented("players who keep the name that they have, where the file has another")
    new_pools: list[str] = documented("pools that are new")
    left_out: dict[str, int] = documented("games that were left out, by reason")
    faults: list[LineTold] = documented("what is wrong with it")
    fault_count: int = documented("how much is wrong with it")
    alike: list[LineTold] = documented("games that are probably known under another key, and were held back")
    alike_count: int = documented("how many of them there are")
    warnings: list[WarningTold] = documented("warnings about a tournament report")
    warning_count: int = documented("how many of them there are")
    accepted: list[str] = documented("codes of warnings that were accepted")
    unaccepted: list[str] = documented("codes of warnings that stop the report, because nobody accepted them")
    awaits_another: bool = documented("whether only the acceptance is recorded: four eyes ask for another person's")
    notes: list[LineTold] = documented("what deserves a look")
    note_count: int = documented("how many of them there are")
    newcomers: list[NewcomerTold] = documented("who is new, those first whose name, or nearly, is known")
    tournaments: list[OpeningTold] = documented("tournaments whose days it gives")
    games: list[UnderstoodGame] = documented("with dry_run=1 the first games, as they were understood; else none")
    pools: dict[str, int] = documented("with dry_run=1 the games of each pool; else none")
    lists: list[CountingList] = documented("the list in which the games of each tournament count, or would count")
    position: int = documented("how many entries the journal has")
    number: int | None = documented("its number, by which it can be taken back; null: it recorded nothing new")

    @classmethod
    def of(cls, account: Account) -> ImportAnswer:
        """Return the answer of an account that came over the wire."""
        lines: dict[str, Any] = {
            field: [LineTold(line=line, detail=detail) for line, detail in account[field]]
            for field in ("faults", "alike", "notes")
        }
        lines["warnings"] = [WarningTold(**warning) for warning in account["warnings"]]
        return cls(**{"games": [], "pools": {}, **account, **lines})


# that may be said of a file with it
OF_A_FILE = ("pool", "format", "source", "dates", "day", "sheet", "white_boards", "columns", "results")


@attrs.frozen(kw_only=True)
class Sent:
    """A file that was sent, and what is said of it.

    Attributes:
        path: where it waits.
        name: what it is called, for messages.
        pool: the pool of its games, or one of ``CHOICES_BY_CLASS``; None: the ledger's first one.
        format: one of ``FORMATS``; None: recognised by content.
        strict: a fault anywhere leaves nothing of it recorded.
        record_alike: what looks like a game that is known under another key is another game.
        accept: the codes of warnings about a report that do not stop it.
        source: the site that names and ids belong to.
        dates: which number of a date comes first.
        day: when the games of a report without a day were played.
        sheet: the sheet of a workbook with several.
        white_boards: the boards on which the team named first has White, one of ``BOARDS``.
        columns: headings of a CSV file's own, ``white=Weiß; black=Schwarz``.
        results: what words of a CSV file mean, ``Sieg=1-0; Remis=1/2-1/2``.
    """

    path: str
    name: str
    pool: str | None = None
    format: str | None = None
    strict: bool = False
    record_alike: bool = False
    accept: Sequence[str] = ()
    source: str | None = None
    dates: str | None = None
    day: str | None = None
    sheet: str | None = None
    white_boards: str | None = None
    columns: str | None = None
    results: str | None = None

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> Sent:
        """Return the parameters of a submitted file.

        Raises:
            MalformedError: with everything that cannot be.
        """
        sent, faults = cls(**words), list[str]()
        if sent.format is not None and sent.format not in FORMATS:
            faults.append(f"format must be one of {', '.join(FORMATS)}, got {sent.format!r}")
        if sent.dates is not None and sent.dates not in ORDERS:
            faults.append(f"dates must be one of {', '.join(ORDERS)}, got {sent.dates!r}")
        if sent.white_boards is not None and sent.white_boards not in BOARDS:
            faults.append(f"white_boards must be one of {', '.join(BOARDS)}, got {sent.white_boards!r}")
        if sent.source is not None and not PREFIX.fullmatch(sent.source):
            faults.append(f"source must match {PREFIX.pattern}, got {sent.source!r}")
        with _noted(faults, "day"):
            instant_ms("2000" if sent.day is None else sent.day)
        with _noted(faults, "columns"):
            parse_headings(_pairs(sent.columns))
        with _noted(faults, "results"):
            parse_results(_pairs(sent.results))
        try:
            accepted_codes(sent.accept)
        except MalformedError as error:
            faults += error.problems
        if faults:
            raise MalformedError(faults)
        return sent

    @property
    def hints(self) -> FileHints:
        """The hints about the file, as importers take them."""
        return FileHints(
            source=self.source,
            day=self.day,
            dates=self.dates,
            white_boards=self.white_boards,
            headings=parse_headings(_pairs(self.columns)),
            results=parse_results(_pairs(self.results)),
        )

    def choice(self, ledger: Ledger) -> PoolChoice:
        """Return the pool of its games.

        Raises:
            UnknownNameError: there is no such pool.
        """
        if self.pool in CHOICES_BY_CLASS:
            return PoolChoice(pool=self.pool)
        return PoolChoice(pool=ledger.pool(self.pool).name)


@contextmanager
def _noted(faults: list[str], name: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        faults.append(f"{name}: {error}")


def _pairs(words: str | None) -> list[str]:
    return [pair.strip() for pair in (words or "").split(";") if pair.strip()]


def previewed(ledger: Ledger, sent: Sent) -> Account:
    """Return what an import would record, with the first games as they were understood; nothing is written."""
    with closing(ImportPreview(ledger, FIRST_GAMES)) as preview:
        account, _ = _taken(ledger, sent, preview.import_games, lambda _: None)
        newcomers = [(person.identity or "", person.name or "") for person in preview.new_players]
        return {
            **account,
            "games": as_rows(preview.games()),
            "pools": dict(preview.pools),
            "newcomers": _newcomers(ledger, newcomers),
        }


def imported(
    ledger: Ledger, sent: Sent, token: str | None, advance: Callable[[int], None]
) -> tuple[Account, Account | None]:
    """Record the games of a file; return its account, and that of its rows with faults, which are written next to it.

    Args:
        ledger: where they are recorded.
        sent: the file.
        token: what proves who sent it.
        advance: called with the number of games of each part that was taken, outside of any transaction unless the
            import is strict.
    """
    account, faults = _taken(ledger, sent, partial(ledger.import_games, token=token, file=sent.name), advance)
    return account, _faulty(sent, account["format"], faults) if faults else None


def _faulty(sent: Sent, fmt: str, faults: list[FileFault]) -> Account | None:
    """Write the rows with faults; return the names of the files, and the rows themselves if a form has room for them.

    ``table`` has the faults of each row and its cells; ``rows`` the rows alone, in the format of the file, of a
    workbook as text. None: the disk has no room for them, or a workbook is not read a second time; what was recorded
    of the file stays so.
    """
    place = Path(sent.path)
    table, rows = (place.with_name(f"{FAULTY}{place.name}.{ending}") for ending in ("csv", "rows"))
    try:
        with open_source(sent.path, sheet=sent.sheet) as source:
            faulty = read_faulty_rows(source, fmt, faults, sent.hints)
        text, place_told = faulty.as_file(), place_of(sent.name, source.reading.sheet)
        table.write_text(f"\ufeff{faulty.as_table(place_told)}", encoding="utf-8")  # Excel knows UTF-8 by the mark
        if text is not None:
            rows.write_text(text, encoding="utf-8")
    except (OSError, StorageError):
        for file in (table, rows):
            file.unlink(missing_ok=True)
        return None
    return {
        "count": len(faulty.rows),
        "left_out": faulty.left_out,
        "table": table.name,
        "rows": None if text is None else rows.name,
        "text": text if text is not None and len(text) <= MOST_IN_PLACE else None,
    }


def _taken(
    ledger: Ledger, sent: Sent, take: Callable[..., ImportReport], advance: Callable[[int], None]
) -> tuple[Account, list[FileFault]]:
    choice = sent.choice(ledger)
    hints = ledger.hints_for(sent.hints, choice if sent.pool else None, sent.accept)
    try:
        with open_source(sent.path, sheet=sent.sheet) as source:
            if sent.format is None and (kind := foreign_kind(source.first)):
                raise MalformedError([f"{sent.name} is {kind}"])
            fmt = sent.format or detect_format(source.first, sent.name)
            outside = outside_games(ledger, choice.pool)
            report = take(
                outside.checked_frames(read_game_frames(source, fmt, hints)),
                choice=choice,
                strict=sent.strict,
                record_alike=sent.record_alike,
                faults_so_far=lambda: source.reading.fault_count,
                advance=advance,
                rounds=lambda: source.reading.rounds,
                reports=lambda: source.reading.reports,
                is_report=fmt in REPORTS,
                accept=sent.accept,
            )
            reading = source.reading
            faults = sorted({*reading.faults, *report.faults, *([reading.ending] if reading.ending else [])})
            return _account(ledger, sent, fmt, source, report, outside, choice, faults), faults
    except StorageError as error:
        if error.path != sent.path:
            raise
        raise MalformedError([str(error).replace(sent.path, sent.name)]) from None


def _account(
    ledger: Ledger,
    sent: Sent,
    fmt: str,
    source: Source,
    report: ImportReport,
    outside: OutsideGames,
    choice: PoolChoice,
    faults: list[FileFault],
) -> Account:
    """Return the result of a file as plain data."""
    reading = source.reading
    count = reading.fault_count + report.fault_count
    notes = [*report.notes, *reading.notes]
    alike = [(each.line, str(each)) for each in report.alike]
    return {
        "name": sent.name,
        "format": fmt,
        "sheet": reading.sheet,
        "strict": sent.strict or fmt in REPORTS,
        "recorded": report.recorded,
        "repeated": report.repeated,
        "supplemented": report.supplemented,
        "rounds": report.rounds,
        "players": report.players,
        "kept_names": report.kept_names,
        "new_pools": list(report.new_pools),
        "left_out": {**reading.skipped, **report.left_out},
        "faults": [list(fault) for fault in faults[:MOST_TOLD]],
        "fault_count": count,
        "alike": [list(each) for each in alike[:MOST_TOLD]],
        "alike_count": report.alike_count,
        "warnings": [
            {"line": finding.line, "code": finding.code, "detail": finding.words}
            for finding in sorted(report.warnings, key=lambda each: (each.code in report.accepted, each.line))
        ][:MOST_TOLD],
        "warning_count": len(report.warnings),
        "accepted": sorted(report.accepted & {finding.code for finding in report.warnings}),
        "unaccepted": report.unaccepted,
        "awaits_another": report.is_awaiting,
        "notes": [list(note) for note in [*outside.games, *sorted(notes)][:MOST_TOLD]],
        "note_count": outside.count + report.note_count + reading.note_count,
        "newcomers": _newcomers(ledger, report.newcomers),
        "tournaments": [_opening(each) for each in missing_announcements(ledger, reading.tournaments, choice.pool)][
            :MOST_TOLD
        ],
        "lists": as_rows(counting_lists(ledger, report.played, report.sides, report.entrants)[:MOST_TOLD]),
        "position": ledger.journal.size(),
        "number": report.number,
    }


def _newcomers(ledger: Ledger, newcomers: list[tuple[str, str]]) -> list[Account]:
    """Return the new players, first those with the name of a registered player, who is named."""
    alike = {note.place: note.others for note in ledger.registry.namesakes(newcomers)}
    order = sorted(range(len(newcomers)), key=lambda place: (place not in alike, place))[:MOST_TOLD]
    return [
        {"identity": newcomers[place][0], "name": newcomers[place][1], "alike": alike.get(place, [])[:MOST_ALIKE]}
        for place in order
    ]


def _opening(opening: MissingAnnouncement) -> Account:
    """Return the days of a tournament that a file reports, in the words of the verb that proposes to record them."""
    event = opening.event
    words = {
        "tournament": event.tournament,
        "pool": event.pool,
        "started": event.starts_at,
        "ended": event.ends_at,
        "format": event.format,
        "entrants": event.entrants,
        "rounds": event.rounds,
    }
    return {"words": words, "problem": opening.problem}
