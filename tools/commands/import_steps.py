"""The ``import`` command's work: files of any known format into a ledger, with a word for every game not taken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shlex import quote

import attrs

from ledger.answers.announcements import OutsideGames, outside_games
from ledger.answers.counting_lists import counting_lists
from ledger.answers.import_previews import ImportPreview, UnderstoodGame
from ledger.answers.rows import as_row
from ledger.correcting import verbs
from ledger.duplicates.repeats import Difference
from ledger.errors import MalformedError, StorageError
from ledger.facts.source_games import FileFault
from ledger.imports.files import Source, detect_format, foreign_kind, open_source
from ledger.imports.formats import REPORTS, read_game_frames
from ledger.imports.reading import FileHints
from ledger.imports.spreadsheets import list_sheets
from ledger.ledger import Ledger
from ledger.recording.game_import import ImportReport
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime.long_work import PartMap

from .. import output
from ..progress import ReadingBar
from ..wording import counted
from . import FAULTS_SHOWN
from . import proposal_options as proposing
from .list_words import tell_counting_lists
from .new_players import NOTES_SHOWN, kept_names, note_namesakes
from .reported_tournaments import open_reported
from .token_options import recording_token

ALIKE_SHOWN = 10
PLAYERS_SHOWN = 20
_SETTLED = tuple(f"exists-with-different-{field}:" for field in ("outcome", *verbs.FIELDS_OF_GAME))  # by corrections


@attrs.frozen(kw_only=True)
class ImportWish:
    """The options of an import, as the user gave them.

    Attributes:
        choice: which pool a game goes to.
        strict: a fault anywhere in a file leaves nothing of that file recorded.
        fmt: the format, or None to recognise it by content.
        record_alike: what looks like a game that is known under another key is recorded as another one.
        accepted: the codes of warnings about reports that do not stop them.
        said: what the user says of the files that they do not say themselves.
        encoding: what their letters are written in, None where they say it or need not.
        sheet: the sheet of workbooks, None for the only one.
        open_tournaments: the days of tournament reports are recorded, too.
        differences: takes the games whose recorded facts a file contradicts, which are faults if it is None.
        actor: who imports.
        part_map: reads the parts of large files.
        proposed: in which words these days are proposed; None: they are recorded.
    """

    choice: PoolChoice
    strict: bool
    record_alike: bool
    fmt: str | None
    said: FileHints
    encoding: str | None
    sheet: str | None = None
    open_tournaments: bool
    differences: list[Difference] | None
    actor: str
    part_map: PartMap
    proposed: proposing.ProposalWish | None = None
    accepted: frozenset[str] = frozenset()


FilePart = tuple[str, str | None]  # a file, and the sheet of a workbook or None
EVERY_SHEET = "*"


def parts_of_files(paths: Sequence[str], sheets: Sequence[str]) -> list[FilePart]:
    """Return the files, each once for each of the *sheets*; ``*`` is every sheet of a workbook that is shown.

    Raises:
        StorageError: a workbook cannot be read, where every sheet of it is asked for.
    """
    parts: list[FilePart] = []
    for path in paths:
        of_file: list[FilePart] = []
        for sheet in sheets or (None,):
            of_file += [(path, name) for name in (list_sheets(path) if sheet == EVERY_SHEET else (sheet,))]
        parts += dict.fromkeys(of_file)  # a sheet is named by ``*``, too; a file that is given twice is read twice
    return parts


def check_files(parts: Sequence[FilePart], *, fmt: str | None, encoding: str | None = None) -> None:
    """Look into every file, so that nothing is recorded of the first where a later one cannot be read.

    A pipe gives its bytes only once: of those nothing is read here.

    Raises:
        MalformedError: naming every file that is missing, cannot be read, or holds no games.
    """
    paths = [path for path, _ in parts]
    problems = ["-: standard input can be read only once"] if paths.count("-") > 1 else []
    for path, sheet in parts:
        if path != "-" and not (Path(path).exists() and _is_pipe(path)):
            try:
                with open_source(path, encoding, sheet) as source:
                    _refuse_foreign(source, fmt)
            except StorageError as error:
                problems.append(str(error))
    if problems:
        raise MalformedError([*problems, "nothing was recorded"] if len(paths) > 1 else problems)


def _is_pipe(path: str) -> bool:
    return not (Path(path).is_file() or Path(path).is_dir())


def _refuse_foreign(source: Source, fmt: str | None) -> None:
    # of a workbook nothing but the sheet is looked for: its cells are read once
    if fmt is None and source.reading.sheet is None and (kind := foreign_kind(source.first)):
        raise StorageError(source.reading.name, f"is {kind}")


def import_file(ledger: Ledger, path: str, wish: ImportWish, preview: ImportPreview | None = None) -> bool:
    """Import one file and say what became of it; False when games were faulty. With a *preview* nothing is written."""
    with open_source(path, wish.encoding, wish.sheet) as source:
        _refuse_foreign(source, wish.fmt)
        fmt = wish.fmt or detect_format(source.first, path)
        is_report = fmt in REPORTS
        size = Path(path).stat().st_size if path != "-" else None
        bar = ReadingBar(source.reading, size)
        outside = outside_games(ledger, wish.choice.pool)
        noted = partial(ledger.import_games, token=recording_token(ledger), file=path)
        record = preview.import_games if preview else noted
        try:
            report = record(
                outside.checked_frames(read_game_frames(source, fmt, wish.said, wish.part_map)),
                choice=wish.choice,
                strict=wish.strict,
                record_alike=wish.record_alike,
                keep_differences=wish.differences is not None,
                actor=wish.actor,
                faults_so_far=lambda: source.reading.fault_count,
                advance=bar.advance,
                rounds=lambda: source.reading.rounds,
                reports=lambda: source.reading.reports,
                is_report=is_report,
                accept=wish.accepted,
            )
        finally:
            bar.close()
    if wish.differences is not None:
        wish.differences.extend(_settled(report))
    fmt = fmt if preview is None else f"{fmt}, dry run"
    is_good = _tell(ledger, source, fmt, report, outside, is_whole=wish.strict or is_report)
    if wish.differences is None and any(fault.message.startswith(_SETTLED) for fault in report.faults):
        words = "to take its values for the games it contradicts, --propose-differences FILE.csv writes corrections"
        output.remark(f"{source.reading.place}: {words}, for 'correct batch'")
    if is_good or not (wish.strict or is_report):
        open_reported(
            ledger,
            source.reading,
            wish.choice.pool,
            wish.actor if wish.open_tournaments else None,
            wish.proposed if wish.open_tournaments else None,
            dry_run=preview is not None,
            number=report.number,
        )
    lists = counting_lists(ledger, report.played, report.sides, report.entrants)
    tell_counting_lists(ledger, lists, f"{source.reading.name}: ")
    return is_good


def _settled(report: ImportReport) -> list[Difference]:
    """Return the games of a file whose differences corrections can settle; the others are faults of it."""
    _, left = verbs.proposing(report.differences)
    for difference in left:
        report.fault(difference.line, difference.message)
    lines = {difference.line for difference in left}
    report.differences = [difference for difference in report.differences if difference.line not in lines]
    return report.differences


def save_differences(ledger: Ledger, path: str, differences: Sequence[Difference]) -> None:
    """Write the batch of corrections that would take the files' word, and say how it is proposed."""
    if not differences:
        output.remark(f"{path}: not written: no recorded game is contradicted")
        return
    games = list({difference.game: difference for difference in differences}.values())
    output.save(Path(path), verbs.proposing(games)[0].encode())
    command = f"correct {quote(str(ledger.path))} batch {quote(path)} --reason '...' --by NAME"
    output.remark(f"{path}: corrections of {counted(len(games), 'game')}: '{command}' proposes them")


def show_preview(preview: ImportPreview, *, are_good: bool) -> None:
    """Print the first games, the new players, and how many games each pool would get if all files *are_good*."""
    games = preview.games()
    if games:
        shown = [field.name for field in attrs.fields(UnderstoodGame)]
        rows = [list(as_row(game).values()) for game in games]
        output.answer_lines(output.titled_table("First games, as they were understood", shown, rows, left=len(shown)))
    players = preview.new_players
    if players:
        rows = [[person.name, person.identity] for person in players[:PLAYERS_SHOWN]]
        title = counted(len(players), "new player")
        output.answer()
        output.answer_lines(output.titled_table(title, ("name", "identity"), rows, left=2))
        if len(players) > PLAYERS_SHOWN:
            output.answer(f"and {len(players) - PLAYERS_SHOWN:,} more")
    for pool, count in sorted(preview.pools.items()):
        words = "would be recorded" if are_good else "understood; nothing would be recorded of what is refused above"
        output.remark(f"pool {pool!r}: {counted(count, 'game')} {words}")
    output.remark("dry run: nothing was written")


def _tell_outside(name: str, outside: OutsideGames) -> None:
    """Name the first games that lie in no announced edition of their tournament."""
    for line, words in outside.games:
        output.remark(f"{name}:{line}: note: {words}")
    if outside.count:
        output.remark(
            f"{name}: note: {counted(outside.count, 'game')} outside the days that 'open-tournament' and "
            "'close-tournament' gave: if recorded, it counts in another edition"
        )


def _tell_notes(name: str, notes: Sequence[FileFault], count: int, most: int = NOTES_SHOWN) -> None:
    output.remark_lines(
        name, notes, most, "note of this kind", plural="notes of this kind", begin="note: ", count=count
    )


def _tell_warnings(name: str, report: ImportReport) -> None:
    """Name the warnings about a report, those that were accepted last."""
    warnings = sorted(report.warnings, key=lambda finding: (finding.code in report.accepted, finding.line))
    for finding in warnings[:FAULTS_SHOWN]:
        accepted = "accepted warning" if finding.code in report.accepted else "warning"
        output.remark(f"{name}:{finding.line}: {accepted}: {finding.words}")
    if len(warnings) > FAULTS_SHOWN:
        output.remark(f"{name}: and {counted(len(warnings) - FAULTS_SHOWN, 'more warning')}")


def _tell(
    ledger: Ledger, source: Source, fmt: str, report: ImportReport, outside: OutsideGames, *, is_whole: bool
) -> bool:
    name = source.reading.place
    faults = sorted([*source.reading.faults, *report.faults])
    count = source.reading.fault_count + report.fault_count
    output.remark_lines(name, faults, FAULTS_SHOWN, "fault", begin="error: ", count=count)
    ending = source.reading.ending
    if ending is not None and ending not in faults[:FAULTS_SHOWN]:
        output.remark(f"{name}:{ending.line}: error: {ending.message}")
    alike = [(game.line, str(game)) for game in report.alike[:ALIKE_SHOWN]]
    rest = "that are probably known"
    output.remark_lines(name, alike, ALIKE_SHOWN, rest, plural=rest, count=report.alike_count)
    _tell_warnings(name, report)
    _tell_outside(name, outside)
    _tell_notes(name, report.notes, report.note_count)
    _tell_notes(name, source.reading.notes, source.reading.note_count, FAULTS_SHOWN)
    note_namesakes(ledger, report.newcomers, f"{name}: ")
    words = _counts(report)
    left_out = source.reading.skipped + report.left_out
    words += [f"{count:,} left out: {reason}" for reason, count in sorted(left_out.items())]
    if count:
        why = " (--strict)" if fmt.partition(",")[0] not in REPORTS else ""
        words.append(_faulty(source, faults, count) + (f": nothing recorded{why}" if is_whole else ""))
    output.remark(f"{name} ({fmt}): {', '.join(words)}")
    if report.unaccepted and not count:
        options = " ".join(f"--accept {code}" for code in report.unaccepted)
        output.remark(
            f"{name}: nothing is recorded with these warnings: correct the report, or accept them by {options}"
        )
    if report.is_awaiting:
        output.remark(
            f"{name}: nothing is recorded but that you accept these warnings: four eyes ask for another person, "
            "who imports the same file with the same --accept"
        )
    return not (count or report.unaccepted or report.is_awaiting)


def _counts(report: ImportReport) -> list[str]:
    """Return in words how many games and players of a file were recorded, repeated or refused."""
    words = [f"{counted(report.recorded, 'game')} recorded", f"{report.repeated:,} known already"]
    if report.supplemented:
        words.append(f"{report.supplemented:,} known already, with new details")
    if report.rounds:
        words.append(f"{counted(report.rounds, 'round')} without a game recorded")
    if report.rounds_repeated:
        words.append(f"{counted(report.rounds_repeated, 'round')} without a game known already")
    if report.alike_count:
        words.append(f"{report.alike_count:,} probably known, held back (--record-alike records them)")
    if report.players:
        words.append(counted(report.players, "new player"))
    if report.kept_names:
        words.append(kept_names(report.kept_names))
    if report.differences:
        words.append(f"{counted(len(report.differences), 'known game')} contradicted")
    if report.new_pools:
        words.append(f"new pools: {', '.join(report.new_pools)}")
    return words


def _faulty(source: Source, faults: Sequence[FileFault], count: int) -> str:
    """Return how many games are faulty, and how many faults they have; a fault of the file is no game's."""
    games = len({fault.line for fault in faults} - source.reading.no_games)
    if len(faults) < count:  # only so many were kept
        return f"more than {counted(games, 'faulty game')}, {counted(count, 'fault')}"
    return f"{counted(games, 'faulty game')}, {counted(count, 'fault')}" if games else counted(count, "fault")
