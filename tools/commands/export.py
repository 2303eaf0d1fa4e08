"""The command that writes what a ledger holds to a file for other programs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ledger.answers.asking import day
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.exports.datasets import NAMED_DATASETS
from ledger.answers.exports.exporting import (
    DOCUMENTS,
    FORMATS,
    check_document,
    export_file,
    export_lines,
    format_of_file,
)
from ledger.answers.exports.exporting import export as export_to
from ledger.answers.exports.postgres_copy import copy_to_postgres
from ledger.answers.exports.trf_report import facts_to_send
from ledger.answers.player_details import PlayerGroup
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.journal.signing_keys import read_key
from ledger.ledger import Ledger
from ledger.runtime.lazy import Lazy
from ledger.runtime.postgres import is_address
from ledger.schemes.scheme import unchanged_by_time

from .. import output
from ..choices import pools_of_the_ledger
from ..progress import Bars
from . import AS_IF, AT_LEAST, DB, KNOWN_AT, REFUSED, open_up_to_date
from .group_options import grouping
from .token_options import acting, recorded_by

if TYPE_CHECKING:
    from ledger.audit import bundles
else:
    bundles = Lazy("ledger.audit.bundles")  # other exports need no audit

_OF_TODAY = "ratings in force today, as 'ratings --at {}' tells them"
_BUNDLE = "bundle"  # a published list with all entries that it follows from
_FORMATS = sorted({*FORMATS, *(name for _, name in DOCUMENTS), _BUNDLE})
_OF_SERVER = {"--schema", "--names", "--known-at", "--as-if"}
_OF_BUNDLE = {"--output", "--format", "--pool", "--list"}
_WHAT = f"[{'|'.join([*NAMED_DATASETS, *dict.fromkeys(what for what, _ in DOCUMENTS)])}|TABLE]..."


@click.command()
@DB
@click.argument("what", metavar=_WHAT, nargs=-1)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    help="The file; an older export there is replaced. Without it, or with -, standard output.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(_FORMATS),
    help="By default what the file's name says; without a file CSV.",
)
@click.option(
    "--to", "server", metavar="ADDRESS", help="Every table into PostgreSQL instead: postgresql://USER@HOST/DATABASE."
)
@click.option("--schema", metavar="NAME", help="With --to: the schema for the tables.")
@click.option("--names", is_flag=True, help="Names, identities and years of birth, too: who a player is.")
@click.option("--raw", is_flag=True, help="CSV without apostrophes before what a spreadsheet would run.")
@click.option("--pool", metavar="NAME", help="Only this pool.", shell_complete=pools_of_the_ledger)
@click.option("--player", metavar="PLAYER", help="Only this player's rows.")
@click.option("--since", metavar="INSTANT", help="Only games that ended then or later.")
@click.option("--until", metavar="INSTANT", help="Only games that ended then or earlier.")
@click.option("--tournament", metavar="NAME", help="Only games of this tournament.")
@click.option("--list", "published", metavar="LIST", help="Only this published list.")
@click.option("--at", metavar="INSTANT", help="Ratings in force on that day.")
@click.option("--sent", "sent_on", metavar="DAY", help="Of a report: record that this file is sent on that day.")
@click.option("--strict", is_flag=True, help="Of a report: write nothing if it lacks something or contradicts itself.")
@grouping
@acting("export")
@KNOWN_AT
@AS_IF
@AT_LEAST
def export(
    db_path: str,
    what: tuple[str, ...],
    target: str | None,
    file_format: str | None,
    server: str | None,
    schema: str | None,
    names: bool,
    raw: bool,
    pool: str | None,
    player: str | None,
    since: str | None,
    until: str | None,
    tournament: str | None,
    published: str | None,
    at: str | None,
    sent_on: str | None,
    strict: bool,
    actor: str,
    group: PlayerGroup,
    known_at: str | None,
    as_if: int | None,
) -> None:
    """Write players, games, history, ratings, published lists, cross-tables or any table of the views to a file.

    The formats are CSV, newline-delimited JSON, Parquet and SQLite, which takes several tables. Every row is there, of
    one moment, numbers are unrounded, instants are ISO 8601 in UTC; what each column says is in
    schemas/exports. The file is whole or not there; without one, CSV or NDJSON of one table, or a tournament's
    report, goes to standard output. It has names of people if --names asks for them; erased players have none.

    A published list goes out as FIDE's own text or XML, or as a national list for Swiss-Manager (list). Ratings and
    lists take a group of players, who have places of their own. A tournament goes out as FIDE's TRF16 or TRF26. Before
    it is written, its gaps and contradictions are listed, record by record, as FIDE's own check would; with
    --strict it is then not written. With --sent the journal says that this file was sent, by its digest; if a later
    correction changes one of its results, 'reports' lists it, and the next file names the corrected results.

    --format bundle writes a published list (--list, by default the newest one) with a signed checkpoint and every entry
    of it into one file, which anybody checks by 'verify-bundle', or in a browser on the page that 'checker' writes. It
    says what becomes public.

    With --to every documented table of the views is copied into a schema of PostgreSQL (15 or later), for others to
    read, next to a table "origin" with the position and the root of the journal that they are of; with --names a table
    "names", too. All are put in place in one transaction: readers see the old ones whole or the new ones whole, and
    grants on the tables and views that others made of them stay. Nothing is ever read back from there.

    \b
    Example:
      rating-ledger export club.db history -o history.parquet
      rating-ledger export club.db players --names -o players.csv
      rating-ledger export club.db games --format ndjson | jq .key
      rating-ledger export club.db games --tournament 'Club championship' --since 2005 -o games.ndjson
      rating-ledger export club.db ratings --at 2005-06-30 -o june.csv
      rating-ledger export club.db players games history --format sqlite -o open.db
      rating-ledger export club.db list --list standard@2024-05-31 --names --format fide-text -o may.txt
      rating-ledger export club.db --format bundle -o may.bundle
      rating-ledger export club.db tournament --tournament 'Autumn open' --names --format trf26 --strict -o open.trf
      rating-ledger export club.db tournament --tournament 'Autumn open' --names -o open.trf --sent 2024-11-05
      rating-ledger export club.db --to postgresql://ledger@db.example/chess --schema ratings
    """
    asked = {
        "--output": target, "--format": file_format, "--raw": raw or None, "--pool": pool, "--player": player,
        "--since": since, "--until": until, "--tournament": tournament, "--list": published, "--at": at,
        "--sent": sent_on, "--strict": strict or None, "a group of players": None if group.is_everybody else group,
        "--known-at": known_at, "--as-if": as_if, "--names": names or None, "--schema": schema,
        "--actor": actor if _is_typed("actor") else None,
    }  # fmt: skip
    options = [option for option, value in asked.items() if value is not None]
    if server is not None:
        _to_server(
            db_path, server, schema, _besides(_OF_SERVER, what, options), names=names, known_at=known_at, as_if=as_if
        )
        return
    if file_format == _BUNDLE or (target is not None and target.endswith(f".{_BUNDLE}") and not what):
        _to_bundle(db_path, target, published, pool, _besides(_OF_BUNDLE, what, options))
        return
    if schema is not None or not what:
        missing = f"Missing argument '{_WHAT}': say what to export"
        raise click.UsageError(missing if schema is None else "--schema goes with --to, the address of a database")
    to = None if target == "-" else target
    chosen = _format(what, to, file_format, raw=raw)
    _check_sent(what, to, sent_on, names_sender="--actor" in options, is_past=bool(known_at or as_if))
    with open_up_to_date(db_path, known_at=known_at, as_if=as_if) as ledger, Bars() as bars:
        rows_asked = _asked(ledger, pool, player, since, until, tournament, published, at, group, names=names)
        _check(ledger, what, chosen, rows_asked, to, strict=strict)
        if sent_on is None:
            _write(ledger, what, to, chosen, rows_asked, bars, raw=raw)
        else:
            _send(ledger, str(to), chosen, actor, rows_asked, {"sent_on": sent_on, "since": since, "until": until})


def _is_typed(parameter: str) -> bool:
    """Return whether the caller gave a parameter that has a default."""
    return click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE


def _check_sent(
    what: tuple[str, ...], to: str | None, sent_on: str | None, *, names_sender: bool, is_past: bool
) -> None:
    if sent_on is None and names_sender:
        raise click.UsageError("--actor goes with --sent, which records that a report was sent")
    if sent_on is not None and (to is None or what != ("tournament",) or is_past):
        raise click.UsageError("--sent goes with the report of a tournament in a file (-o), of now")


def _besides(taken: Collection[str], what: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the arguments that do not go with a kind of export, which takes some options and no datasets."""
    return [*what, *(option for option in options if option not in taken)]


def _format(what: Sequence[str], to: str | None, named: str | None, *, raw: bool) -> str:
    """Return the format that is named, or else that of the file or of standard output."""
    chosen = named or (_of_standard_output(what) if to is None else format_of_file(what, Path(to)))
    if raw and chosen != "csv":
        raise click.UsageError("--raw goes with CSV")
    return chosen


def _write(
    ledger: Ledger,
    what: Sequence[str],
    to: str | None,
    fmt: str,
    rows_asked: ExportFilter,
    bars: Bars,
    *,
    raw: bool,
) -> None:
    if to is None:
        output.documents(export_lines(ledger, what, fmt=fmt, selection=rows_asked, raw=raw))
    else:
        # into a device or a pipe it would come between or behind the rows, were that standard output itself
        tell = output.remark if (path := Path(to)).exists() and not path.is_file() else output.answer
        for subject, rows in export_to(ledger, what, to, fmt=fmt, selection=rows_asked, raw=raw, progress=bars):
            written = _written(to, subject, rows_asked, fmt)
            tell(written if rows is None else f"{to}: {rows:,} {_rows(rows)} of {subject}")
    if "players" in what and not rows_asked.names:
        output.remark("names are left out; --names puts them in")
    is_of_now = rows_asked.at is None and "ratings" in what
    if is_of_now and (as_of := _time_says_otherwise(ledger, rows_asked.pool)) is not None:
        output.remark(f"{_OF_TODAY.format(as_of)}; without --at it tells them after all games")


def _send(
    ledger: Ledger, file: str, fmt: str, actor: str, rows_asked: ExportFilter, days: Mapping[str, str | None]
) -> None:
    """Write the report of a tournament and record that it was sent; if that is refused, no file is written."""
    with export_file(ledger, Path(file), fmt) as making:
        with ledger.read_snapshot():
            facts: dict[str, Any] = {**facts_to_send(ledger, rows_asked)._asdict(), **days}
            facts |= {"tournament": rows_asked.tournament, "form": fmt}
            content = b"".join(export_lines(ledger, ["tournament"], fmt=fmt, selection=rows_asked))
        making.write_bytes(content)
        event = ledger.sent_reports.record(**facts, file=content, **recorded_by(ledger, actor))
    output.answer(_written(file, "tournament", rows_asked, fmt))
    ledger.catch_up()
    word = "was recorded already" if event is None else f"recorded as report {event.number}"
    output.remark(f"{file}: sent on {facts['sent_on']}: {word}; head {ledger.head()}")


def _written(file: str, subject: str, rows_asked: ExportFilter, fmt: str) -> str:
    """Return in words which text a file has."""
    return f"{file}: {subject} {rows_asked.tournament or rows_asked.published!r} written as {fmt}"


def _check(
    ledger: Ledger, what: Sequence[str], fmt: str, rows_asked: ExportFilter, to: str | None, *, strict: bool
) -> None:
    """Name what a report lacks and what contradicts in it; if that is strict, end here."""
    findings = check_document(ledger, what, fmt, rows_asked)
    for finding in findings:
        output.remark(f"{to or ('list' if what[0] == 'list' else 'report')}: {finding}")
    if strict and findings:
        output.remark("nothing was written: correct this, or leave --strict out")
        sys.exit(REFUSED)


def _time_says_otherwise(ledger: Ledger, pool: int | None) -> str | None:
    """Today, where a list of today may say other ratings than those after all games: time or periods change some."""
    pools = [of for of in ledger.pools() if pool in {None, of.pool}]
    ages = any(not of.by_game or any(era.scheme.at is not unchanged_by_time for era in of.eras) for of in pools)
    return day(ledger.now_ms()) if ages else None


def _to_server(
    db_path: str,
    address: str,
    schema: str | None,
    others: Sequence[str],
    *,
    names: bool,
    known_at: str | None,
    as_if: int | None,
) -> None:
    if not is_address(address):
        raise click.UsageError("--to takes the address of a database, such as postgresql://USER@HOST/DATABASE")
    if schema is None:
        raise click.UsageError("--to needs --schema, the name of the schema in which the tables are to stand")
    if others:
        raise click.UsageError(f"--to copies every table whole and goes without {', '.join(others)}")
    # apart: a writer would wait for the server otherwise
    with open_up_to_date(db_path, known_at=known_at, as_if=as_if, apart=True) as ledger, Bars() as bars:
        copied = copy_to_postgres(ledger, address, schema, names=names, proposal=as_if, progress=bars)
    for table, rows, changed in copied:
        output.answer(f"{schema}.{table}: {rows:,} {_rows(rows)}, {changed:,} new or changed")
    if not names:
        output.remark("names are left out; --names puts them in")


def _to_bundle(
    db_path: str, target: str | None, published: str | None, pool: str | None, others: Sequence[str]
) -> None:
    """Write a published list with the entries that it follows from, and say what becomes public."""
    if others:
        raise click.UsageError(f"a bundle holds one published list, whole; it goes without {', '.join(others)}")
    with open_up_to_date(db_path) as ledger:
        lists = ledger.publications
        pool_name = None if pool is None else ledger.pool(pool).name
        newest = max(lists.all(pool_name), key=lambda each: each.position, default=None)
        publication = newest if published is None else lists.named(published)
        if publication is None:
            raise click.UsageError("no list was published yet; publish one by 'publish DB --at DAY'")
        lines = list(bundles.bundle_lines(ledger, publication, read_key(ledger.checkpoints.key_file).verifier))
    shown = bundles.bundle_summary(lines)
    if target is None or target == "-":
        output.documents(lines)
    else:
        output.save(Path(target), b"".join(lines))
        output.answer(f"{target}: {shown.published}, {shown.players:,} rows")
    output.remark(
        f"this becomes public: {shown.entries:,} entries with {shown.games:,} games: results, days, tournaments, "
        "players by their numbers, keys of games as their sources have them, corrections, years of birth and earlier "
        f"ratings if they are recorded, and who recorded ({', '.join(shown.recorders)}); no reason and no moves"
    )


def _of_standard_output(what: Sequence[str]) -> str:
    """Return the format without a file: CSV, or that of a text of its own."""
    return next((fmt for subject, fmt in DOCUMENTS if what[0] == subject), "csv")


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _asked(
    ledger: Ledger,
    pool: str | None,
    player: str | None,
    since: str | None,
    until: str | None,
    tournament: str | None,
    published: str | None,
    at: str | None,
    group: PlayerGroup,
    *,
    names: bool,
) -> ExportFilter:
    """Return the filter of the options, in the numbers of the ledger."""
    instants: dict[str, int] = {}
    for option, text in (("--since", since), ("--until", until), ("--at", at)):
        if text is not None:
            try:
                instants[option] = instant_end_ms(text) if option == "--until" else instant_ms(text)
            except ValueError as error:
                raise click.UsageError(f"{option}: {error}") from None
    return ExportFilter(
        pool=None if pool is None else ledger.pool(pool).pool,
        player=None if player is None else ledger.player(player).player,
        since_ms=instants.get("--since"),
        until_ms=instants.get("--until"),
        tournament=tournament,
        published=published,
        at=at,
        group=None if group.is_everybody else group,
        names=names,
    )
