"""What takes long enough to be a job of its own: a command of ours, told by the form of a body, run beside the answers.

Audit, comparison of schemes, differences of lists with their reasons, whole exports, and answers from what was known
then. What a body names is looked up before the job waits; the command judges its own words, and what it says, and its
exit code, are told as they are. Files of this machine are not named by a body, neither to read nor to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import attrs

from ledger import schemes
from ledger.answers.differences import NOW
from ledger.answers.exports import exporting
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.publications import known_then
from ledger.errors import LedgerError, MalformedError
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger

from . import bodies
from .bodies import maybe
from .get_handlers import player_asked
from .problems import Fault
from .routes import ROWS_MEDIA
from .writer_socket import Ask

VERB = "job"  # of the writer
ERASED = "somebody was erased since the job was begun, and its result may tell who it was: begin it anew"
_TEXT = "text/plain; charset=utf-8"
_WORDS_OF_ROWS: Mapping[str, list[str]] = {"json": [], "ndjson": ["--nl"], "csv": ["--csv"]}
_FILES = {
    "csv": ROWS_MEDIA["csv"], "ndjson": ROWS_MEDIA["ndjson"], "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3", "trf16": _TEXT,
}  # fmt: skip
# Of each question that may be asked of what was known then, the fields that it needs and those that it takes beside.
_QUESTIONS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "ratings": ((), ("pool", "at", "limit")),
    "show": (("player",), ("pool", "at")),
    "games": (("player",), ("pool", "limit")),
    "explain": (("player", "game"), ()),
    "crosstable": (("tournament",), ("pool",)),
}
_POOL = "the pool; by default the ledger's first one"


class JobState(NamedTuple):
    """How far a job is, as the process that records tells it.

    Attributes:
        told: the fields of ``JobAnswer``, but for the address of the result.
        place: the file with the result; None: there is none.
        media: its media type.
        name: what the file may be called.
        erased: how many people had been erased when it was begun.
    """

    told: Mapping[str, Any]
    place: str | None
    media: str
    name: str
    erased: int


@attrs.frozen(kw_only=True, slots=False)
class JobAnswer:
    """A job, and how far it is."""

    job: str = documented("its name, which only whoever began it knows")
    command: str = documented("the command that it runs")
    state: str = documented(
        "waiting for others; running; done, with a result; failed; ended, by DELETE or for taking too long",
        enum=["waiting", "running", "done", "failed", "ended"],
    )
    ahead: int = documented("how many jobs come before it")
    doing: str | None = documented("what it is doing, where it tells")
    done: int | None = documented("how much of that is done; null: it does not tell")
    total: int | None = documented("of how much; null: it does not tell")
    exit_code: int | None = documented("of the command: 0 done, 1 refused, 2 wrong words, 3 an audit found a falsehood")
    said: list[str] = documented("what the command said beside its result: why it failed, remarks; the last lines")
    result: str | None = documented("the address of the result; null: there is none, or none yet")
    size: int | None = documented("bytes of the result")


@attrs.frozen(kw_only=True, slots=False)
class AuditTold:
    """An audit: whether the journal is what was sealed, and every published number follows from it."""

    since: str | None = maybe("a head that was kept elsewhere, 'SIZE ROOT', which must be a part of this journal")
    journal_only: bool | None = maybe("leave out names, texts and views")
    lists: bool | None = maybe("work out each published list once more, and compare")


@attrs.frozen(kw_only=True, slots=False)
class ComparisonTold:
    """A comparison of schemes on the same games."""

    schemes: list[str] = documented("which; the first is the present one", minItems=1)
    pool: str | None = maybe(_POOL)
    since: str | None = maybe("predictions count from then on; all games are replayed")
    until: str | None = maybe("leave out games that ended later")
    settings: list[str] | None = maybe("settings, each SCHEME.NAME=VALUE")
    from_shown: bool | None = maybe("newcomers begin with the rating that the source shows")
    established: bool | None = maybe("leave out games in which any scheme calls a side provisional")
    defaults: bool | None = maybe("settings of a new pool for the pool's own schemes, too")
    min_games: int | None = maybe("rank only players with so many games")
    movers: int | None = maybe("how many winners and losers")


@attrs.frozen(kw_only=True, slots=False)
class DifferenceTold:
    """How two lists differ, for whom, and which entries led from the one to the other."""

    before: str = documented("a list, such as standard@2024-01-31/1")
    after: str = documented("another one, or 'now': what the journal says now of the other one's day")
    format: str | None = maybe("the form of the rows; by default json", enum=[*ROWS_MEDIA, None])


@attrs.frozen(kw_only=True, slots=False)
class ExportTold:
    """An export of whole tables."""

    tables: list[str] = documented(
        "players, games, history, ratings, lists, crosstables, tournament, or tables of the views", minItems=1
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


@attrs.frozen(kw_only=True, slots=False)
class KnownThenTold:
    """A question that is answered from what was known then."""

    question: str = documented("what is asked", enum=[*_QUESTIONS])
    known_at: str = documented("when: so many entries of the journal, or a published list")
    player: str | None = maybe("of show, games and explain: name, identity or number of the player")
    game: str | None = maybe("of explain: the game's key, the id that its server gave it, or # and its entry")
    tournament: str | None = maybe("of crosstable: its name")
    pool: str | None = maybe(_POOL)
    at: str | None = maybe("of ratings and show: as it stood on that day")
    limit: int | None = maybe("of ratings and games: how many rows; 0: all")
    format: str | None = maybe("the form of the answer; by default json", enum=[*ROWS_MEDIA, None])


class _Judged:
    """What a body tells is looked up before its job waits: all that is wrong with it is told at once."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def note(self, field: str, ask: Callable[[], object]) -> None:
        """Ask, and note what is refused as a fault of that field."""
        try:
            ask()
        except MalformedError as error:
            self.faults += [_fault(field, problem) for problem in error.problems]
        except (LedgerError, ValueError) as error:
            self.faults.append(_fault(field, str(error)))

    def note_fields(self, ledger: Ledger, body: Any) -> None:
        """Look up what each field names: a pool, a player, an instant, a list."""
        for field, ask in _NAMED.items():
            if (word := getattr(body, field, None)) is not None:
                self.note(field, partial(ask, ledger, word))

    def refuse(self) -> None:
        """Raise RefusedError where there are faults."""
        if self.faults:
            raise bodies.refused(self.faults)


_NAMED: Mapping[str, Callable[[Ledger, Any], object]] = {
    "pool": lambda ledger, word: ledger.pool(word),
    "player": player_asked,
    "since": lambda _, word: instant_ms(word),
    "until": lambda _, word: instant_end_ms(word),
    "at": lambda _, word: instant_end_ms(word),
    "published": lambda ledger, word: ledger.publications.named(word),
    "known_at": known_then,
}  # by field, what it names


def audit(_: Ledger, body: AuditTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """An audit as a job."""
    if body.since is not None:  # the command would take the name of a file, too
        try:
            TreeHead.parse(body.since)
        except ValueError as error:
            raise bodies.refused([Fault(parameter=None, detail=str(error), pointer="/since")]) from None
    return _job("audit", _options(body), media=_TEXT, name="audit.txt")


def comparison(ledger: Ledger, body: ComparisonTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """A comparison of schemes as a job."""
    judged = _Judged()
    judged.note_fields(ledger, body)
    for place, name in enumerate(body.schemes):
        judged.note(f"schemes/{place}", partial(schemes.named, name))
        if name in body.schemes[:place]:
            judged.faults.append(_fault(f"schemes/{place}", "stands twice; once is enough"))
    judged.refuse()
    words = _options(body, without=("schemes", "settings"), called={"since": "from", "until": "to"})
    words += [f"--schemes={','.join(body.schemes)}", *(f"--set={setting}" for setting in body.settings or ())]
    return _job("compare", words, media=ROWS_MEDIA["json"], name="comparison.json")


def difference(ledger: Ledger, body: DifferenceTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """What became of players between two lists, as a job."""
    judged = _Judged()
    for field in ("before", "after"):
        word = getattr(body, field)
        if word.rpartition("/")[2] != NOW:
            judged.note(field, partial(ledger.publications.named, word))
    judged.refuse()
    form = body.format or "json"
    return _job(
        "diff", _WORDS_OF_ROWS[form], body.before, body.after, media=ROWS_MEDIA[form], name=f"difference.{form}"
    )


def export(ledger: Ledger, body: ExportTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """An export as a job."""
    form = body.format or "csv"
    judged = _Judged()
    judged.note_fields(ledger, body)
    chosen = {name: 0 for name in ("player", "since", "until") if getattr(body, name) is not None}
    asked = ExportFilter(
        pool=None if body.pool is None else 0,
        player=chosen.get("player"),
        since_ms=chosen.get("since"),
        until_ms=chosen.get("until"),
        tournament=body.tournament,
        published=body.published,
        at=body.at,
        names=body.names is True,
    )
    judged.note("tables", partial(exporting.check, ledger, body.tables, form, asked))
    judged.refuse()
    words = _options(body, without=("tables", "format"), called={"published": "list"})
    name = f"{body.tables[0] if len(body.tables) == 1 else 'ledger'}.{'trf' if form == 'trf16' else form}"
    return _job("export", [*words, f"--format={form}"], *body.tables, media=_FILES[form], name=name, to_file=True)


def known_at(ledger: Ledger, body: KnownThenTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """A question about what was known then, as a job."""
    needs, takes = _QUESTIONS[body.question]
    judged = _Judged()
    judged.note_fields(ledger, body)
    faults = judged.faults
    for field in ("player", "game", "tournament", "pool", "at", "limit"):
        is_told = getattr(body, field) is not None
        if is_told and field not in {*needs, *takes}:
            faults.append(_fault(field, f"says nothing where {body.question} is asked: leave it out"))
        if not is_told and field in needs:
            faults.append(_fault(field, f"is missing: {body.question} needs it"))
    judged.refuse()
    form = body.format or "json"
    words = [f"--format={form}"] if body.question == "crosstable" else _WORDS_OF_ROWS[form]
    options = _options(body, without=("question", "format", *needs))
    operands = [str(getattr(body, field)) for field in needs]
    return _job(
        body.question, [*options, *words], *operands, media=ROWS_MEDIA[form], name=f"{body.question}-then.{form}"
    )


def _fault(field: str, detail: str) -> Fault:
    return Fault(parameter=None, detail=detail, pointer=f"/{field}")


def _options(body: Any, *, without: Sequence[str] = (), called: Mapping[str, str] | None = None) -> list[str]:
    """The words of a body as options of the command; *called*: what the command calls a field otherwise."""
    words = []
    for field, value in attrs.asdict(body).items():
        if field not in without and value not in (None, False):
            option = "--" + (called or {}).get(field, field).replace("_", "-")
            words.append(option if value is True else f"{option}={value}")
    return words


def _job(command: str, options: Sequence[str], *operands: str, media: str, name: str, to_file: bool = False) -> Ask:
    """What the writer is asked: the command's words, of which those behind the ledger are never options."""
    if any("\0" in word for word in (*options, *operands)):
        raise MalformedError(["a word with a character in it that no command takes (U+0000)"])
    words = {"command": command, "options": list(options), "operands": list(operands)}
    return Ask(VERB, {**words, "media": media, "name": name, "to_file": to_file})
