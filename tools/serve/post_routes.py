"""What programs may record under ``/api/v1``: a table as data, and how a body becomes a question to the writer.

Names of players are looked up here, where the ledger is read; every rule is judged by the library, in the writer. How
requests are taken is in ``post_handlers``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import attrs

from ledger.answers.recorded_games import RecordedGame
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.events import (
    FederationSet,
    GameRecorded,
    RatingRunClosed,
    Role,
    StrengthChosen,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import Precision, instant_text
from ledger.facts.json_schemas import documented
from ledger.facts.source_games import plain_key
from ledger.facts.words import Standing
from ledger.imports.manual_entry import GameForm, build_game
from ledger.ledger import Ledger

from . import bodies, jobs, problems
from .bodies import (
    BatchTold,
    ClosingTold,
    CorrectionTold,
    DecisionTold,
    FederationTold,
    GameTold,
    Nothing,
    PlayerTold,
    RunTold,
    StrengthTold,
    TournamentTold,
)
from .desk_verbs import PreviewAnswer
from .get_handlers import player_asked
from .parameters import Parameter, choice, text
from .problems import Fault, RefusedError
from .routes import PREFIX, Cost
from .writer_socket import Ask

JSON = "application/json"
JOBS = "/jobs"
_YES = ("1", "0")
_DIGITS = 15  # of a number
_FIELDS = {
    "--result": "outcome", "--ended": "ended_at", "--termination": "termination", "--half-moves": "half_moves",
    "--tournament": "tournament", "--round": "round", "--moves": "moves", "--key": "key", "--white": "white",
}  # fmt: skip


@attrs.frozen(kw_only=True)
class Post:
    """A row of the table: what may be recorded at an address.

    Attributes:
        path: behind the prefix, with names in braces.
        body: the class of its body.
        role: what the token must be allowed; None: any token that holds will do.
        doc: what it does, in a sentence.
        ask: makes the question to the writer of the ledger, the body, the names in the path and a word that is the same
            where the same is sent again.
        answer: the class of the answer.
        where: the address of what was recorded, of the answer; None: it has none.
        parameters: of the query.
        takes_once: whether the header Idempotency-Key marks a repeat.
        cost: what it costs: a scan may take minutes, and of a job the answer is where to ask how far it is.
    """

    path: str
    body: type[Any]
    role: Role | None
    doc: str
    ask: Callable[[Ledger, Any, Mapping[str, str], str | None], Ask]
    answer: type[Any]
    where: Callable[[Mapping[str, Any]], str] | None = None
    parameters: tuple[Parameter, ...] = ()
    takes_once: bool = False
    cost: Cost = Cost.INDEX

    @property
    def needs(self) -> str:
        """The role that its token needs, in a word."""
        return "any" if self.role is None else self.role.value

    @property
    def address(self) -> str:
        """The address as the server matches it: a name of a tournament may have a slash in it."""
        return f"{PREFIX}{self.path}".replace("{tournament}", "{tournament:path}")


# -- what is answered ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, slots=False)
class Recorded:
    """The receipt of a submitted fact."""

    position: int = documented("its entry in the journal; of the first recording where this was a repeat")
    key: str = documented("the entry's own key")
    leaf: str = documented("SHA-256 of the entry as a leaf of the log, hexadecimal")
    duplicate: bool = documented("true: the same was recorded already, and nothing was recorded now")
    note: str | None = documented("a warning to the client that recorded it; mostly null")


@attrs.frozen(kw_only=True, slots=False)
class GameAnswer(Recorded):
    """The receipt of a submitted game."""

    rated: RecordedGame | None = documented("with rated=1 the game with both ratings; null: not asked, or not yet")


@attrs.frozen(kw_only=True, slots=False)
class PlayerAnswer:
    """The receipt of a submitted player."""

    player: int = documented("the player's number")
    recorded: bool = documented("false: it said nothing new, and nothing was recorded")
    position: int = documented("how many entries the journal has")


@attrs.frozen(kw_only=True, slots=False)
class ProposalAnswer:
    """A proposal that was recorded."""

    proposal: int = documented("its number")
    position: int = documented("its entry in the journal")
    duplicate: bool = documented("true: the same was sent already with the same Idempotency-Key")


@attrs.frozen(kw_only=True, slots=False)
class BatchAnswer(ProposalAnswer):
    """The proposals of a file of corrections; ``proposal`` is the first of them."""

    proposals: list[int] = documented("the numbers of all proposals that were made of it, one after the other")


@attrs.frozen(kw_only=True, slots=False)
class DecisionAnswer:
    """A decision that was recorded."""

    position: int = documented("its last entry in the journal")


# -- what is asked of the writer -------------------------------------------------------------------------------------


def _pool(ledger: Ledger, word: str | None) -> str:
    return ledger.first_scheme().pool if word is None else ledger.pool(word).name


def _players(ledger: Ledger, body: GameTold) -> tuple[tuple[str, str], tuple[str, str], list[int]]:
    """Return identity and name of White and Black, and their numbers; unknown players are reported together."""
    sides, numbers, faults = [], [], []
    for field in ("white", "black"):
        word = str(getattr(body, field))
        try:
            person = player_asked(ledger, word)
        except UnknownNameError as error:
            faults.append(Fault(parameter=None, detail=str(error), pointer=f"/{field}"))
            continue
        identity = person.identity or f"erased:{person.player}"  # the judge refuses the game of an erased player
        sides.append((identity, person.name or identity))
        numbers.append(person.player)
    if faults:
        words = "; ".join(fault.detail for fault in faults)
        raise RefusedError(problems.problem(404, words, "unknown-name", errors=faults))
    return sides[0], sides[1], numbers


def game(ledger: Ledger, body: GameTold, _: Mapping[str, str], once: str | None) -> Ask:
    """Return a game as the verb takes it: moves played through, under its own key or one made of the header."""
    pool = _pool(ledger, body.pool)
    white, black, numbers = _players(ledger, body)
    words = GameForm(
        result=body.outcome,
        ended=body.ended_at,
        termination=body.termination,
        half_moves=None if body.half_moves is None else str(body.half_moves),
        tournament=body.tournament,
        round=body.round,
        moves=body.moves,
        key=body.key,
        rated=body.rated is not False,
    )
    faults: list[Fault] = []
    if body.key is None and once is None:
        way = "give the game's own key, or send the header Idempotency-Key, the same when it is sent again"
        faults.append(Fault(parameter=None, detail=f"is missing: {way}", pointer="/key"))
    try:
        source = build_game(words, white, black)
    except MalformedError as error:
        raise bodies.refused([*faults, *map(_fault, error.problems)]) from None
    if faults:
        raise bodies.refused(faults)
    if body.key is None:
        source = source._replace(key=plain_key("http", once or ""), is_made=True)
    facts = {
        "game": ledger.derived_keys.key_of(source),
        "pool": pool,
        "white": numbers[0],
        "black": numbers[1],
        "outcome": source.outcome,
        "termination": source.termination,
        "half_moves": source.half_moves,
        "started_at": body.started_at,
        "ended_at": source.ended_at,
        "tournament": source.tournament,
        "round": source.round,
        "rated": source.rated,
        "text": None if source.text is None else sha256(source.text.encode()).hexdigest(),
    }
    return Ask("game", {"facts": _checked(GameRecorded.KIND, facts), "movetext": source.text})


def _checked(kind: str, words: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of an event, without missing ones; faults are reported before they wait."""
    facts = {name: value for name, value in words.items() if value is not None}
    codec.structure_event(kind, facts)
    return facts


def _fault(problem: str) -> Fault:
    """Return a fault in the words of the command line, at its place in the body."""
    option, _, rest = problem.partition(" ")
    field = _FIELDS.get(option.rstrip(":"))
    if field is None:
        return Fault(parameter=None, detail=problem, pointer="")
    return Fault(parameter=None, detail=rest or problem, pointer=f"/{field}")


def player(_: Ledger, body: PlayerTold, __: Mapping[str, str], ___: str | None) -> Ask:
    """Return a player as the verb takes one."""
    words = attrs.asdict(body)
    return Ask("desk-player", {**words, "standing": body.standing or Standing.FULL.value})


def strength(ledger: Ledger, body: StrengthTold, path: Mapping[str, str], _: str | None) -> Ask:
    """Return the strength that a player chooses, as a fact of the player's number."""
    since = body.since or instant_text(ledger.now_ms(), Precision.DAY)
    words = {"player": player_asked(ledger, path["player"]).player, "pool": _pool(ledger, body.pool)}
    words |= {"effective_at": since, "strength": body.strength}
    return Ask("fact", {"kind": StrengthChosen.KIND, "facts": _checked(StrengthChosen.KIND, words)})


def federation(ledger: Ledger, body: FederationTold, path: Mapping[str, str], _: str | None) -> Ask:
    """Return the federation of a player, as a fact of the player's number."""
    since = body.since or instant_text(ledger.now_ms(), Precision.DAY)
    words = {
        "player": player_asked(ledger, path["player"]).player,
        "effective_at": since,
        "federation": body.federation,
    }
    return Ask("fact", {"kind": FederationSet.KIND, "facts": _checked(FederationSet.KIND, words)})


def _fact(kind: str, ledger: Ledger, body: Any, path: Mapping[str, str], _: str | None) -> Ask:
    """Return a fact of a kind, in the words of the body and of the path."""
    words = {**attrs.asdict(body), **path, "pool": _pool(ledger, body.pool)}
    return Ask("fact", {"kind": kind, "facts": _checked(kind, words)})


def propose(_: Ledger, body: CorrectionTold, __: Mapping[str, str], once: str | None) -> Ask:
    """Return a proposal as the verb takes it."""
    return Ask("propose", {**attrs.asdict(body), "once": once or secrets.token_urlsafe(16)})


def propose_batch(_: Ledger, body: BatchTold, __: Mapping[str, str], once: str | None) -> Ask:
    """Return a file of corrections as the verb takes it."""
    words = {"rows": body.rows, "each": body.each is True, "reason": body.reason}
    return Ask("desk-propose-batch", {**words, "once": once or secrets.token_urlsafe(16)})


def preview(_: Ledger, __: Nothing, path: Mapping[str, str], ___: str | None) -> Ask:
    """Return the impact of a proposal."""
    return Ask("preview", {"number": _number(path["number"])})


def decide(_: Ledger, body: DecisionTold, path: Mapping[str, str], __: str | None) -> Ask:
    """Return a decision as the verb takes it."""
    words = {**attrs.asdict(body), "despite_games": body.despite_games is True}
    return Ask("desk-decide", {**words, "proposal": _number(path["number"])})


def _number(word: str) -> int:
    if not word.isascii() or not word.isdecimal() or len(word) > _DIGITS:
        raise UnknownNameError("proposal", word[:_DIGITS], "a proposal goes by its number")
    return int(word)


def _place_of_game(answer: Mapping[str, Any]) -> str:
    """Return the address of a game; one whose key has a slash in it, which no address may have, goes by its entry."""
    key = str(answer["key"]).removeprefix("game:")
    word = f"#{answer['position']}" if "/" in key else key
    return f"/games/{quote(word, safe=':+')}"


POSTS: tuple[Post, ...] = (
    Post(
        path="/games", body=GameTold, role=Role.RECORDER, ask=game, answer=GameAnswer,
        doc="Record a game; the same again is a repeat, and other facts are refused with both values.",
        where=_place_of_game,
        takes_once=True,
        parameters=(choice("rated", "1: wait until both players are rated, 10 s at most", _YES, "0"),),
    ),
    Post(
        path="/players", body=PlayerTold, role=Role.RECORDER, ask=player, answer=PlayerAnswer,
        doc="Register a player; who is registered already keeps the number.",
        where=lambda answer: f"/players/{answer['player']}",
    ),
    Post(
        path="/players/{player}/strength", body=StrengthTold, role=Role.RECORDER, ask=strength, answer=Recorded,
        doc="Record the strength that a player chooses; after the provisional games the rating decides.",
    ),
    Post(
        path="/players/{player}/federation", body=FederationTold, role=Role.RECORDER, ask=federation, answer=Recorded,
        doc="Record the federation of a player from a day on; in a pool of another one the player is a guest.",
    ),
    Post(
        path="/runs", body=RunTold, role=Role.RECORDER, answer=Recorded, ask=partial(_fact, RatingRunClosed.KIND),
        doc="Close a rating run, for schemes that are set to work by runs.",
    ),
    Post(
        path="/tournaments", body=TournamentTold, role=Role.RECORDER, answer=Recorded,
        doc="Announce a tournament.", ask=partial(_fact, TournamentOpened.KIND),
    ),
    Post(
        path="/tournaments/{tournament}/closing", body=ClosingTold, role=Role.RECORDER, answer=Recorded,
        doc="Close a tournament.", ask=partial(_fact, TournamentClosed.KIND),
    ),
    Post(
        path="/corrections", body=CorrectionTold, role=Role.CORRECTOR, takes_once=True, ask=propose,
        answer=ProposalAnswer, doc="Propose a correction; all its changes are decided together.",
        where=lambda answer: f"/corrections/{answer['proposal']}",
    ),
    Post(
        path="/corrections/batch", body=BatchTold, role=Role.CORRECTOR, takes_once=True, ask=propose_batch,
        answer=BatchAnswer, cost=Cost.SCAN,
        doc="Propose every row of a file of corrections, as 'correct batch' does: all of it, or nothing.",
        where=lambda answer: f"/corrections/{answer['proposal']}",
    ),
    Post(
        path="/corrections/{number}/preview", body=Nothing, role=None, ask=preview, answer=PreviewAnswer,
        cost=Cost.SCAN,
        doc="What the approval of a proposal would move, largest moves first; nothing is recorded.",
    ),
    Post(
        path="/corrections/{number}/decision", body=DecisionTold, role=Role.APPROVER, ask=decide,
        answer=DecisionAnswer, doc="Approve a proposal, reject it, or withdraw it.",
    ),
    Post(
        path=f"{JOBS}/export", body=jobs.ExportTold, role=None, ask=jobs.export, answer=jobs.JobAnswer, cost=Cost.JOB,
        doc="Write whole tables to a file.",
    ),
)  # fmt: skip
OF_A_JOB = f"{JOBS}/{{job}}"
OF_A_JOB_DOC = "By GET, how far a job is, and below it at /result what it wrote; DELETE ends it."
IMPORT = "/imports"
IMPORT_DOC = "Record the games of a file, in any format that 'import' reads; every fault is reported with its line."
IMPORT_PARAMETERS = (
    choice("dry_run", "1: report what would be recorded, and record nothing", _YES, "0"),
    choice("strict", "1: all of the file, or nothing of it", _YES, "0"),
    choice("record_alike", "1: record games that look like others under another key", _YES, "0"),
    text(
        "accept",
        "code of warnings in spite of which a report, or a game of another pool, is recorded",
        many=True,
    ),
    text("pool", "name of the pool, by-speed, or by-time-control (FIDE's limits); the ledger's first one by default"),
    text("format", "the format of the file; by default it is recognised by the content"),
    text("filename", "what the file is called in faults"),
    text("source", "prefix of the keys that the file gives"),
    text("dates", "what 04/05/2024 is: dmy or mdy"),
    text("day", "the day of games without one"),
    text("sheet", "the sheet of a spreadsheet; by default the only one with cells"),
    text("white_boards", "boards of a match on which the team named first has White: odd, even or all"),
    text("columns", "headings of a CSV file's own: white=Weiß; black=Schwarz"),
    text("results", "what words of a CSV file mean: Sieg=1-0; Remis=1/2-1/2"),
)
