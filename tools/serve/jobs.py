"""Exports as jobs: a body becomes the words of the command ``export``, which runs below all answers.

What a body names is looked up before the job waits; the command judges its own words, and the job reports what it says
and its exit code. A body names no file of this machine, neither to read nor to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import attrs

from ledger.answers.exports import exporting
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.publications import known_entries
from ledger.errors import LedgerError, MalformedError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.ledger import Ledger

from . import bodies
from .bodies import maybe
from .get_handlers import player_asked
from .problems import Fault
from .routes import ROWS_MEDIA
from .writer_socket import Ask

VERB = "job"  # of the writer
ERASED = "a player was erased since the job was begun, and its result may name that player: begin it again"
_FILES = {
    "csv": ROWS_MEDIA["csv"], "ndjson": ROWS_MEDIA["ndjson"], "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3", "trf16": "text/plain; charset=utf-8",
    "trf26": "text/plain; charset=utf-8", "fide-text": "text/plain; charset=utf-8", "fide-xml": "application/xml",
    "swiss-manager": ROWS_MEDIA["csv"],
}  # fmt: skip


_SUFFIXES = {
    "trf16": "trf",
    "trf26": "trf",
    "fide-text": "txt",
    "fide-xml": "xml",
    "swiss-manager": "csv",
}  # of a file, by its form


class JobState(NamedTuple):
    """The progress of a job, as the process that records reports it.

    Attributes:
        fields: the fields of ``JobAnswer``, except the address of the result.
        place: the file with the result; None: there is none.
        media: its media type.
        name: what the file may be called.
        erased: how many people had been erased when it was begun.
    """

    fields: Mapping[str, Any]
    place: str | None
    media: str
    name: str
    erased: int


@attrs.frozen(kw_only=True, slots=False)
class JobAnswer:
    """A job, and how far it is."""

    job: str = documented("its name, which only the client that began it knows")
    command: str = documented("the command that it runs")
    state: str = documented(
        "waiting for others; running; done, with a result; failed; ended, by DELETE or for taking too long",
        enum=["waiting", "running", "done", "failed", "ended"],
    )
    ahead: int = documented("how many jobs come before it")
    doing: str | None = documented("what it is doing, if it reports it")
    done: int | None = documented("how much of that is done; null: not reported")
    total: int | None = documented("of how much; null: not reported")
    exit_code: int | None = documented("of the command: 0 done, 1 refused, 2 wrong words")
    said: list[str] = documented("what the command printed besides its result: why it failed, remarks; the last lines")
    result: str | None = documented("the address of the result; null: there is none, or none yet")
    size: int | None = documented("bytes of the result")


@attrs.frozen(kw_only=True, slots=False)
class ExportTold:
    """An export of whole tables."""

    tables: list[str] = documented(
        "players, games, history, ratings, lists, crosstables, tournament, list, or tables of the views", minItems=1
    )
    format: str | None = maybe("the form of the file; by default csv", enum=[*_FILES, None])
    names: bool | None = maybe("names, identities and years of birth, too")
    pool: str | None = maybe("only this pool")
    player: str | None = maybe("only this player's rows")
    since: str | None = maybe("only games that ended then or later")
    until: str | None = maybe("only games that ended then or earlier")
    tournament: str | None = maybe("only games of this tournament")
    published: str | None = maybe("only this published list")
    at: str | None = maybe("ratings in force on that day")
    known_at: str | None = maybe("from what was known then: so many entries, or a published list")


_NAMED: Mapping[str, Callable[[Ledger, Any], object]] = {
    "pool": lambda ledger, word: ledger.pool(word),
    "player": player_asked,
    "since": lambda _, word: instant_ms(word),
    "until": lambda _, word: instant_end_ms(word),
    "at": lambda _, word: instant_end_ms(word),
    "published": lambda ledger, word: ledger.publications.named(word),
    "known_at": known_entries,
}  # by field, how its word is looked up


def export(ledger: Ledger, body: ExportTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """Return the question to the writer that begins an export as a job.

    Raises:
        RefusedError: the body names something that does not exist, or asks for what no export can do; all its faults.
        MalformedError: a word has a character that no command takes.
    """
    form = body.format or "csv"
    faults = [
        fault
        for field, look_up in _NAMED.items()
        if (word := getattr(body, field)) is not None
        for fault in _faults(field, partial(look_up, ledger, word))
    ]
    chosen = {name: 0 for name in ("player", "since", "until") if getattr(body, name) is not None}
    chosen_rows = ExportFilter(
        pool=None if body.pool is None else 0,
        player=chosen.get("player"),
        since_ms=chosen.get("since"),
        until_ms=chosen.get("until"),
        tournament=body.tournament,
        published=body.published,
        at=body.at,
        names=body.names is True,
    )
    faults += _faults("tables", partial(exporting.check_request, ledger, body.tables, form, chosen_rows))
    if faults:
        raise bodies.refused(faults)
    options = [*_options(body), f"--format={form}"]
    if any("\0" in word for word in (*options, *body.tables)):
        raise MalformedError(["a word with a character in it that no command takes (U+0000)"])
    name = f"{body.tables[0] if len(body.tables) == 1 else 'ledger'}.{_SUFFIXES.get(form, form)}"
    words = {"command": "export", "options": options, "operands": body.tables}  # operands are never read as options
    return Ask(VERB, {**words, "media": _FILES[form], "name": name})


def _faults(field: str, look_up: Callable[[], object]) -> list[Fault]:
    """Return the refusals of a look-up as faults of that field."""
    try:
        look_up()
    except MalformedError as error:
        details = list(error.problems)
    except (LedgerError, ValueError) as error:
        details = [str(error)]
    else:
        details = []
    return [Fault(parameter=None, detail=detail, pointer=f"/{field}") for detail in details]


def _options(body: ExportTold) -> list[str]:
    """Return the fields of a body as options of the command."""
    options = []
    for field, value in attrs.asdict(body).items():
        if field not in {"tables", "format"} and value not in (None, False):
            option = "--list" if field == "published" else "--" + field.replace("_", "-")
            options.append(option if value is True else f"{option}={value}")
    return options
