"""The command ``import``: its options, which of them go together, the order of the work; it is in ``import_steps``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import attrs
import click

from ledger.answers.import_previews import ImportPreview
from ledger.errors import RejectedError
from ledger.facts.instants import instant_ms
from ledger.imports.csv.games import PREFIX, parse_results
from ledger.imports.csv.header import parse_headings
from ledger.imports.files import FORMATS, encoding_name
from ledger.imports.pairings.lists import BOARDS
from ledger.imports.reading import FileHints
from ledger.imports.times import ORDERS
from ledger.journal import late_facts
from ledger.ledger import Ledger
from ledger.recording.findings import accepted_codes
from ledger.recording.import_space import require_import_space
from ledger.recording.pool_choice import CHOICES_BY_CLASS, PoolChoice
from ledger.runtime.ledger_files import refuse_own_files

from ..progress import Bars
from . import DB, NEW_POOL, POOL, REFUSED, check_pool, check_words
from . import proposal_options as proposing
from .import_steps import (
    FilePart,
    ImportWish,
    check_files,
    import_file,
    parts_of_files,
    save_differences,
    show_preview,
)
from .token_options import acting, recorder


@click.command("import")
@DB
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@POOL
@NEW_POOL
@click.option(
    "--pools",
    type=click.Choice(CHOICES_BY_CLASS),
    help="Cut by variant and speed class, as Lichess does, or by FIDE's limits: standard, rapid, blitz.",
)
@click.option("--variant", "variants", multiple=True, metavar="VARIANT=POOL", help="Take a variant too; repeatable.")
@click.option("--strict", is_flag=True, help="A fault anywhere in a file: nothing of that file is recorded.")
@click.option("--record-alike", is_flag=True, help="Record games that are probably known under another key.")
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="CODE",
    help="Record a tournament report in spite of warnings of this code, such as rating-differs, and other games in "
    "spite of time-control-differs; repeatable.",
)
@click.option(
    "--open-tournaments/--no-open-tournaments",
    default=None,
    help="Whether the days, format and rounds that a TRF states are recorded: yes, unless four eyes are on.",
)
@click.option(
    "--propose-differences",
    "differences",
    metavar="CSV",
    help="Write the corrections that would take the files' word if they contradict recorded games.",
)
@click.option(
    "--despite-disk",
    is_flag=True,
    help="Import though the disk seems to be too small, as where most of the games are known already.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be recorded, and the first games; write nothing.")
@click.option(
    "--first",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many games a dry run shows.",
)
@click.option("--format", "fmt", type=click.Choice(FORMATS), help="Recognised by content by default.")
@click.option(
    "--source", metavar="SITE", help="Site that names and game ids in CSV files and TRF belong to, such as lichess."
)
@click.option("--dates", type=click.Choice(ORDERS), help="What 04/05/2024 is: the day first (dmy), or the month (mdy).")
@click.option(
    "--speeds",
    type=click.Choice(["own", "lichess"]),
    default="own",
    show_default=True,
    help="Speed classes of chess.com's archives: its own, or Lichess's, as those of its PGN.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="COLUMN=HEADING",
    help="The heading of a column in a CSV file, such as white=Gastgeber; repeatable.",
)
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="WORD=RESULT",
    help="What a word of a CSV file means, such as Sieg=1-0; repeatable.",
)
@click.option("--equal-rows", is_flag=True, help="Equal rows of a CSV file are several games, as of a blitz evening.")
@click.option("--check-moves", is_flag=True, help="Play the moves of files of more than 20,000 games through, too.")
@click.option(
    "--without-moves", is_flag=True, help="Leave the moves out; their number stays, and a later import adds them."
)
@click.option("--day", metavar="INSTANT", help="When the games of a TRF without a day were played: 2024-05-04, 2024.")
@click.option(
    "--white-boards",
    type=click.Choice(BOARDS),
    help="Boards on which the team named first has White, where a list of matches does not say it.",
)
@click.option(
    "--sheet",
    "sheets",
    multiple=True,
    metavar="NAME",
    help="Sheet of a spreadsheet (.xlsx, .ods, .xls) with several; repeatable; '*' is every one that is shown.",
)
@click.option("--encoding", metavar="NAME", help="Of a file that is not UTF-8, UTF-16 with its mark, or Windows-1252.")
@acting("import")
@proposing.proposing_part("With --open-tournaments: propose these days, for another person to approve.")
def import_(
    db_path: str,
    files: Sequence[str],
    pool: str | None,
    new_pool: bool,
    pools: str | None,
    variants: Sequence[str],
    strict: bool,
    record_alike: bool,
    accepted: Sequence[str],
    open_tournaments: bool | None,
    differences: str | None,
    despite_disk: bool,
    dry_run: bool,
    first: int,
    fmt: str | None,
    source: str | None,
    dates: str | None,
    speeds: str,
    columns: Sequence[str],
    results: Sequence[str],
    equal_rows: bool,
    check_moves: bool,
    without_moves: bool,
    day: str | None,
    white_boards: str | None,
    sheets: Sequence[str],
    encoding: str | None,
    actor: str,
) -> None:
    """Record games from files and rate them; "-" is standard input.

    PGN, Lichess NDJSON, chess.com JSON, CSV, spreadsheets, cross-tables, lists of pairings, FIDE's TRF16 and TRF26 and
    our own JSON lines, plain or packed by gzip, zip, bzip2 or zstd. A game that is known already is counted, never
    recorded twice. What looks like a known game under another key is named and held back. Bad games are named with file
    and line and left out. A game that a file contradicts is one of them; --propose-differences writes the corrections
    that would take the file's word, for 'correct batch': nothing is corrected by itself.

    A tournament report (TRF, cross-table) is checked first, by itself and against the ledger, and recorded whole or not
    at all. An error stops it. A warning does, too, unless --accept names its code; who accepted it is recorded.
    ledger/imports/README.md lists the codes.

    \b
    Example:
      rating-ledger import club.db games.pgn more.pgn.zst results.csv games.ndjson
      zstdcat dump.pgn.zst | rating-ledger import club.db - --pools by-speed
      rating-ledger import fed.db open.trf rapid-night.trf --pools by-time-control
      rating-ledger import club.db zh.pgn --variant crazyhouse=crazyhouse --new-pool --strict
      rating-ledger import club.db crosstable.txt --dates dmy --dry-run --first 20
      rating-ledger import league.db season.xlsx --sheet '*' --white-boards odd --dry-run
      rating-ledger import club.db open.trf --accept rating-differs --accept federation-differs --actor eve
      rating-ledger import club.db open.trf --open-tournaments --propose --reason 'as reported' --by eve
      rating-ledger import club.db games.pgn --propose-differences differences.csv
      rating-ledger import club.db liga.csv --column white=Gastgeber --result Sieg=1-0 --dates dmy
    """
    asked = proposing.wish()
    _refuse_contradicting_options(pool, pools, is_proposing=asked is not None, opens=bool(open_tournaments))
    hints = FileHints(source=source, day=day, dates=dates, white_boards=white_boards, equal_rows=equal_rows)
    said = _said(attrs.evolve(hints, check_moves=check_moves, without_moves=without_moves), speeds, columns, results)
    by_variant = dict(_pair(word, "--variant takes VARIANT=POOL") for word in variants)
    named = {*by_variant.values(), *([pool] if pool is not None else [])}
    for name in named:
        check_words(name)
    written_in = _encoding(encoding)
    with Ledger.open(db_path) as ledger:
        ledger.views.refuse_foreign()
        for name in named:
            check_pool(ledger, name, is_new=new_pool)
        four_eyes = late_facts.are_four_eyes_on(ledger.journal.find)
        if open_tournaments and asked is None and not dry_run and four_eyes:
            raise _needs_a_proposal(ledger)
        parts = parts_of_files(files, sheets)
        check_files(parts, fmt=fmt, encoding=written_in)
        if differences is not None:
            refuse_own_files(Path(differences), db_path)
        choice = PoolChoice(pool=pools or pool or ledger.first_scheme().pool, variants=by_variant)
        wish = ImportWish(
            choice=choice,
            strict=strict,
            record_alike=record_alike,
            accepted=accepted_codes(accepted),
            fmt=fmt,
            said=ledger.hints_for(said, choice if pool or pools else None, accepted),
            encoding=written_in,
            sheet=None,
            open_tournaments=not four_eyes if open_tournaments is None else open_tournaments,
            proposed=asked,
            differences=None if differences is None else [],
            actor=actor if dry_run else recorder(ledger, actor),
        )
        good = _previewed(ledger, parts, wish, first) if dry_run else _imported(ledger, parts, wish, despite_disk)
        if differences is not None:
            save_differences(ledger, differences, wish.differences or [])
    if not all(good):
        sys.exit(REFUSED)


def _refuse_contradicting_options(pool: str | None, pools: str | None, *, is_proposing: bool, opens: bool) -> None:
    if pool and pools:
        raise click.UsageError("give --pool or --pools, not both")
    if is_proposing and not opens:
        raise click.UsageError("--propose: for --open-tournaments alone; games are recorded")


def _needs_a_proposal(ledger: Ledger) -> RejectedError:
    """Return the refusal before the first game: half of what was asked for would be recorded."""
    return RejectedError(
        late_facts.NEEDS_A_PROPOSAL,
        "--open-tournaments",
        "four eyes are on, and openings of reported tournaments reach into the past; propose them for somebody else to "
        f"approve. Nothing was recorded: {proposing.line_to_propose(ledger)}",
    )


def _require_space(ledger: Ledger, parts: Sequence[FilePart], wish: ImportWish) -> None:
    require_import_space(
        ledger.journal,
        ledger.views,
        [path for path, sheet in parts if sheet is None],
        fmt=wish.fmt,
        encoding=wish.encoding,
        strict=wish.strict,
        without_moves=wish.said.without_moves,
    )


def _imported(ledger: Ledger, parts: Sequence[FilePart], wish: ImportWish, despite_disk: bool) -> list[bool]:
    if not despite_disk:
        _require_space(ledger, parts, wish)
    good = [import_file(ledger, path, attrs.evolve(wish, sheet=sheet)) for path, sheet in parts]
    with Bars() as bars:
        ledger.catch_up(bars)
    return good


def _previewed(ledger: Ledger, parts: Sequence[FilePart], wish: ImportWish, first: int) -> list[bool]:
    with closing(ImportPreview(ledger, first)) as preview:
        good = [import_file(ledger, path, attrs.evolve(wish, sheet=sheet), preview) for path, sheet in parts]
        show_preview(preview, are_good=all(good))
    return good


def _said(hints: FileHints, speeds: str, columns: Sequence[str], results: Sequence[str]) -> FileHints:
    """Return the hints with the headings and words of results; refuse a site or a day that is none."""
    if hints.source is not None and not PREFIX.fullmatch(hints.source):
        raise click.UsageError(f"--source must match {PREFIX.pattern}, got {hints.source!r}")
    if hints.day is not None:
        try:
            instant_ms(hints.day)
        except ValueError as error:
            raise click.UsageError(f"--day: {error}") from None
    return attrs.evolve(
        hints,
        speeds_by_clock=speeds == "lichess",
        headings=_understood("--column", parse_headings, columns),
        results=_understood("--result", parse_results, results),
    )


Given = TypeVar("Given")


def _understood(option: str, meaning: Callable[[Sequence[str]], Given], words: Sequence[str]) -> Given:
    try:
        return meaning(words)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from None


def _encoding(word: str | None) -> str | None:
    try:
        return None if word is None else encoding_name(word)
    except ValueError as error:
        raise click.UsageError(f"--encoding: {error}") from None


def _pair(word: str, usage: str) -> tuple[str, str]:
    first, divided, second = word.partition("=")
    if not (divided and first and second):
        raise click.UsageError(f"{usage}, got {word!r}")
    return first, second
