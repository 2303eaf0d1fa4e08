"""The desk's verbs of the writer, besides those of programs. Each calls the library, which has the rules.

What was done once for a form is not done again where its button was pressed twice: most facts are repeats to the
journal, proposals are known by what was sent, and for the rest the answers of late are kept by session and form.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import attrs
import orjson

from ledger.answers import impacts
from ledger.answers.asking import names
from ledger.answers.rows import as_row
from ledger.auth.sessions import Session
from ledger.correcting.corrections import IdempotencyKey, RecordedProposal
from ledger.errors import LedgerError, PublicationError, RejectedError
from ledger.facts.events import Decision
from ledger.facts.instants import Precision, instant_text
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.player_details import readable_details
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.words import Standing, Strength
from ledger.handle import DEFAULT_ACTOR
from ledger.imports.reading import place_of
from ledger.journal import rules
from ledger.ledger import Ledger
from ledger.publishing.publications import ONLY_NOTED, Complaint

from .importing import OF_A_FILE, Sent, imported

Args = Mapping[str, Any]
Answer = dict[str, Any]
MOST_KEPT = 1_000  # answers
MOST_FILES = 100  # uploads that are remembered
MOST_COMPLAINTS = 500
OTHERS_WAIT = 1.0  # seconds for which a preview keeps ratings from following what is recorded; longer ones take a copy
TRIED_WITHIN = 300.0  # seconds: a scheme by game rates a million games again in one
MOST_MOVES = 200  # of a preview that are shown


class AskingOfficer(Protocol):
    """An officer who asks; the word of a session proves it."""

    @property
    def token(self) -> str | None:
        """The word of the session, or a token."""

    @property
    def between(self) -> Callable[[], None]:
        """Lets single facts through, between two transactions of what takes long."""


Deed = Callable[[Ledger, AskingOfficer, Args], Answer]
_answers: OrderedDict[bytes, tuple[bytes, Answer]] = OrderedDict()  # of what was sent, its digest and its answer


def once(do: Deed) -> Deed:
    """Do it once for each form of a session; a repeat gets the same answer. Without ``once`` it is done again.

    The writer does one thing after another, so that the second one finds what became of the first.
    """

    @wraps(do)
    def deed(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
        if args.get("once") is None:
            return do(ledger, asks, args)
        words = f"{do.__module__} {do.__name__} {args['once']}"
        key = hmac.digest((asks.token or "").encode(), words.encode(), "sha256")
        sent = sha256(orjson.dumps({**args, "seen": None}, option=orjson.OPT_SORT_KEYS)).digest()
        if (kept := _answers.get(key)) is not None:
            if kept[0] != sent:
                message = "it was sent already, with other words: open the form anew, or take another Idempotency-Key"
                raise RejectedError("sent-already", "", message)
            return {**kept[1], "duplicate": True}
        answer = do(ledger, asks, args)
        _answers[key] = (sent, answer)
        while len(_answers) > MOST_KEPT:
            _answers.popitem(last=False)
        return answer

    return deed


# -- sessions ------------------------------------------------------------------------------------------------------


def sign_in(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Begin a session of a token."""
    word, session = ledger.tokens.sign_in(asks.token or "", args["where"], args["person"])
    return {"word": word, **_told(session)}


def _told(session: Session) -> Answer:
    return {**session._asdict(), "roles": sorted(session.roles)}


def sign_out(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """End a session."""
    ledger.tokens.sign_out(asks.token or "", args["where"])
    return {}


def note_use(ledger: Ledger, asks: AskingOfficer, _: Args) -> Answer:
    """Write down that a session is used."""
    ledger.tokens.note_use(asks.token or "")
    return {}


# -- corrections ---------------------------------------------------------------------------------------------------


def propose(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Propose one change, given by a verb of corrections and its words."""

    def record(idempotency_key: IdempotencyKey) -> list[RecordedProposal]:
        change = ledger.corrections.verbs.change(args["verb"], args["words"])
        return ledger.corrections.propose_each(
            [[change]], reason=args["reason"], token=asks.token, idempotency_key=idempotency_key
        )

    return proposed(proposed_once(ledger, asks, args, [args["verb"], args["words"]], record))


def propose_batch(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Propose every row of a file, given by its path or its content; with any fault nothing is proposed."""
    rows = Path(args["path"]).read_bytes() if "path" in args else args["rows"].encode()

    def record(idempotency_key: IdempotencyKey) -> list[RecordedProposal]:
        return ledger.corrections.propose_batch(
            rows, reason=args["reason"], each=args["each"], token=asks.token, idempotency_key=idempotency_key
        )

    made = proposed_once(ledger, asks, args, [sha256(rows).hexdigest(), args["each"]], record)
    return {**proposed(made), "proposals": [each.proposal for each in made]}


def proposed_once(
    ledger: Ledger,
    asks: AskingOfficer,
    args: Args,
    content: object,
    record: Callable[[IdempotencyKey], list[RecordedProposal]],
) -> list[RecordedProposal]:
    """Record proposals, unless the same was sent before under the word of a form or the header Idempotency-Key.

    That outlasts the process: a repeat of what was recorded just before it ended is recognised.
    """
    idempotency_key = IdempotencyKey(args["once"], orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
    return ledger.corrections.find_previous(idempotency_key, reason=args["reason"], token=asks.token) or record(
        idempotency_key
    )


def proposed(made: Sequence[RecordedProposal]) -> Answer:
    """Return a proposal as it is sent; of several the first one, and the position of the last."""
    first = made[0]
    return {"proposal": first.proposal, "position": made[-1].receipts[-1].position, "duplicate": first.duplicate}


@attrs.frozen(kw_only=True, slots=False)
class PreviewAnswer:
    """The effect of the approval of a proposal; nothing is recorded."""

    summary: impacts.ImpactSummary = flattened()
    moves: list[impacts.MoveRow] = documented("whose rating would change, the largest changes first")
    left_out: int = documented("how many more of them there are")
    lists: list[impacts.MovedListRow] = documented("published lists that would say something else, as revised")
    reports: list[impacts.MovedReportRow] = documented("reports that were sent, of which a game or bye would change")


def preview(ledger: Ledger, _: AskingOfficer, args: Args) -> Answer:
    """Return the effect of the approval of a proposal; nothing is recorded."""
    answer = impacts.impact_in_full(
        ledger, ledger.preview(args["number"], others_wait=OTHERS_WAIT, at_most=TRIED_WITHIN)
    )
    moves = answer.moves[:MOST_MOVES]
    left_out = len(answer.moves) - len(moves)
    return as_row(
        PreviewAnswer(
            summary=answer.summary, moves=moves, left_out=left_out, lists=answer.lists, reports=answer.reports
        )
    )


@once
def decide(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Approve a proposal, reject it, or withdraw it."""
    decision, seen = Decision(args["decision"]), args["seen"]
    if seen is None and decision is Decision.APPROVED:
        # As the command does: no one claims to have looked since it was proposed, so facts may have moved
        # unseen.
        since, size = ledger.corrections.recorded_since(args["proposal"])
        seen = size - since
    receipts = ledger.decide(
        args["proposal"],
        decision,
        token=asks.token,
        reason=args["reason"] or None,
        seen=seen,
        despite_games=args["despite_games"],
    )
    return {"position": receipts[-1].position}


# -- players -------------------------------------------------------------------------------------------------------


def add_player(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Register a player."""
    learnt = ledger.registry.add(
        args["identity"],
        args["name"],
        standing=Standing(args["standing"]),
        birth_year=args["birth_year"],
        declared_rating=args["declared_rating"],
        joined=args["joined"],
        past=None if args.get("past") is None else PriorRating(**args["past"]),
        actor=DEFAULT_ACTOR,
        token=asks.token,
    )
    return {"player": learnt.player, "recorded": bool(learnt.recorded), "position": ledger.journal.size()}


def rename_player(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Spell a player's name right."""
    word = args["player"]
    is_number = word.isdecimal() and len(word) < 16
    row = ledger.people_row(int(word)) if is_number else None  # a number names that row, even if it was merged
    person = row or ledger.player(word)
    renamed = ledger.registry.rename(person.player, args["name"], actor=DEFAULT_ACTOR, token=asks.token)
    return {
        "player": renamed.person.player,
        "name": renamed.person.name,
        "recorded": renamed.recorded,
        "position": ledger.journal.size(),
    }


def choose_strength(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Record the strength that a player chooses."""
    person = ledger.player(args["player"])
    learnt = ledger.registry.learn(
        person.player,
        strength=Strength(args["strength"]),
        pool=args["pool"],
        since=args["since"],
        actor=DEFAULT_ACTOR,
        token=asks.token,
    )
    return {"player": person.player, "recorded": bool(learnt.recorded), "position": ledger.journal.size()}


def describe_player(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Record data about a player."""
    person = ledger.player(args["player"])
    details, _ = readable_details(args["details"])
    recorded = ledger.registry.describe(
        person.player, details, since=args["since"], actor=DEFAULT_ACTOR, token=asks.token
    )
    return {"player": person.player, "recorded": recorded, "position": ledger.journal.size()}


# -- files ---------------------------------------------------------------------------------------------------------

_files: OrderedDict[str, Answer] = OrderedDict()  # by the number of an upload, how far it is and what became of it
_NOTHING_FAULTY: Answer = {"faulty": None, "forgotten": None}
ERASED = "a player was erased since, whom its rows may name: they were deleted; send the file again"


def import_file(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Record the games of an uploaded file, once; ``import_state`` reports the progress meanwhile."""
    number = args["upload"]
    if number in _files:
        return _files[number]
    state = _files[number] = {"state": "running", "read": 0, "name": args["sent"]["name"], **_NOTHING_FAULTY}
    while len(_files) > MOST_FILES:
        settle(_files.popitem(last=False)[1])

    erased = sum(1 for _ in ledger.journal.keys(*rules.ERASED))

    def advance(games: int) -> None:
        state["read"] += games
        if not args["sent"]["strict"]:  # a strict import is one transaction
            asks.between()

    try:
        account, faulty = imported(ledger, Sent.of(args["sent"]), asks.token, advance)
    except Exception as error:  # in any case: whoever looks after it must not wait for ever
        words = str(error) if isinstance(error, LedgerError) else "the program failed here; its log tells how"
        state |= {"state": "refused", "words": words, "read": 0 if args["sent"]["strict"] else state["read"]}
        raise
    finally:
        Path(args["sent"]["path"]).unlink(missing_ok=True)
    state |= {"state": "done", "position": account["position"], "account": account}
    if (corrected := _files.get(args.get("corrects") or "")) is not None and account["recorded"]:
        settle(corrected)
    if faulty is not None:
        by = ledger.tokens.authenticate_recorder(asks.token, DEFAULT_ACTOR, DEFAULT_ACTOR)
        said = {name: args["sent"][name] for name in (*OF_A_FILE, "strict", "record_alike")}
        state["faulty"] = {
            **faulty,
            "folder": str(Path(args["sent"]["path"]).parent),
            "by": by,
            "at": instant_text(ledger.now_ms(), Precision.SECOND),
            # rows that can be imported alone are text, also those of a workbook, which has sheets
            "said": {**said, "format": account["format"], "sheet": None if faulty["rows"] else said["sheet"]},
            "erased": erased,
        }
    return state


def settle(state: Answer) -> None:
    """Forget the rows with faults of an import."""
    faulty = state.get("faulty")
    state |= _NOTHING_FAULTY
    if faulty is not None:
        for name in filter(None, (faulty["table"], faulty["rows"])):
            (Path(faulty["folder"]) / name).unlink(missing_ok=True)


def forget_erased(erased: int) -> None:
    """Forget the rows with faults of imports that came before a player was erased.

    Args:
        erased: how many people are erased by now.
    """
    for state in [*_files.values()]:
        faulty = state.get("faulty")
        if faulty is not None and faulty["erased"] < erased:
            settle(state)
            state["forgotten"] = ERASED


def imports_with_faults(_: Ledger, __: AskingOfficer, ___: Args) -> Answer:
    """Return the imports whose faulty rows nobody has corrected or set aside, the newest first."""
    rows = [
        {
            "upload": upload,
            "name": place_of(state["name"], state["account"]["sheet"]),
            "faults": state["account"]["fault_count"],
            **{name: faulty[name] for name in ("count", "by", "at")},
        }
        for upload, state in reversed([*_files.items()])
        if (faulty := state.get("faulty")) is not None
    ]
    return {"rows": rows}


def settle_import(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Set the faulty rows of an import aside: they need no correction, or were corrected elsewhere."""
    ledger.tokens.authenticate_recorder(asks.token, DEFAULT_ACTOR, DEFAULT_ACTOR)
    settle(_files.get(args["upload"], {}))
    return {}


def import_state(_: Ledger, __: AskingOfficer, args: Args) -> Answer:
    """Return the progress or the result of the import of an uploaded file."""
    return dict(_files.get(args["upload"], {"state": "unknown"}))


# -- lists ---------------------------------------------------------------------------------------------------------


@once
def publish(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Publish a list, of the entries that were looked at; return complaints, if any, and record nothing then."""
    try:
        done = ledger.publications.publish(
            args["as_of"],
            args["pool"],
            despite_complaints=args["despite_complaints"],
            token=asks.token,
            seen=args["seen"],
            despite_games=args["despite_games"],
        )
    except PublicationError as refusal:
        return {"complaints": complaints_told(ledger, refusal.complaints), "position": ledger.journal.size()}
    return {
        "list": done.publication.name,
        "recorded": done.recorded,
        "players": done.publication.event.players,
        "position": done.publication.position,
    }


@attrs.frozen
class ComplaintTold:
    """Something that looks wrong in a list, with the names of the players.

    Attributes:
        what: its kind.
        player: whom it is about; None: no one.
        name: what that player is called.
        text: in words.
        refuses: whether it prevents publishing.
    """

    what: str
    player: int | None
    name: str | None
    text: str
    refuses: bool


def complaints_told(ledger: Ledger, complaints: tuple[Complaint, ...] | list[Complaint]) -> list[Answer]:
    """Return the complaints about a list, as they are sent."""
    shown = complaints[:MOST_COMPLAINTS]
    called = names(ledger, {player for complaint in shown for player in complaint.players[:1]})
    return [
        attrs.asdict(
            ComplaintTold(
                complaint.what,
                complaint.players[0] if complaint.players else None,
                called[complaint.players[0]] if complaint.players else None,
                complaint.text,
                complaint.what not in ONLY_NOTED,
            )
        )
        for complaint in shown
    ]


DEEDS: Mapping[str, Deed] = {
    "sign-in": sign_in,
    "sign-out": sign_out,
    "session-used": note_use,
    "desk-propose": propose,
    "desk-propose-batch": propose_batch,
    "desk-decide": decide,
    "desk-player": add_player,
    "desk-rename": rename_player,
    "desk-strength": choose_strength,
    "desk-describe": describe_player,
    "desk-publish": publish,
    "desk-import-settle": settle_import,
}  # by verb, as the wire has it
QUESTIONS: Mapping[str, Deed] = {  # record nothing
    "desk-import-state": import_state,
    "desk-imports": imports_with_faults,
}
LONG_QUESTIONS: Mapping[str, Deed] = {"desk-preview": preview}
LONG_DEEDS: Mapping[str, Deed] = {"desk-import": import_file}
