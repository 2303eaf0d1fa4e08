"""The programs' verbs of the writer, besides single games and the verbs of the desk. Each calls the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.book.evidence import Context
from ledger.correcting.corrections import IdempotencyKey, RecordedProposal
from ledger.errors import LedgerError, MalformedError, ProposalError, RejectedError
from ledger.facts import codec
from ledger.facts.events import Role
from ledger.handle import DEFAULT_ACTOR
from ledger.ledger import Ledger
from ledger.players.reasons import reason_faults

from . import desk_verbs
from .desk_verbs import Answer, Args, AskingOfficer, Deed, proposed, proposed_once
from .importing import Sent, previewed


def fact(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Record one fact that is no game: a closed run, a tournament that is announced or over, a player's federation."""
    event = codec.structure_event(args["kind"], args["facts"])
    ledger.ensure_up_to_date()
    if (pool := args["facts"].get("pool")) is not None:
        ledger.pool(pool)  # names the pools if this one is misspelt
    ledger.check_early(event, Context.COMMAND)
    recorded = ledger.append(event, actor=DEFAULT_ACTOR, token=asks.token)
    return {**recorded._asdict(), "leaf": recorded.leaf.hex()}


def propose(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Propose changes that are decided together; with any fault nothing is proposed, and all faults are reported."""

    def record(idempotency_key: IdempotencyKey) -> list[RecordedProposal]:
        changes, problems = [], reason_faults(args["reason"])
        for place, words in enumerate(args["changes"]):
            named = {name: str(word) for name, word in words.items() if name != "verb"}
            try:
                changes.append(ledger.corrections.verbs.change(str(words.get("verb", "")), named))
            except MalformedError as error:
                problems += [f"/changes/{place}: {problem}" for problem in error.problems]
            except (ProposalError, RejectedError):
                raise
            except LedgerError as error:
                problems.append(f"/changes/{place}: {error}")
        if problems:
            raise MalformedError(problems)
        return ledger.corrections.propose_each(
            [changes], reason=args["reason"], token=asks.token, idempotency_key=idempotency_key
        )

    return proposed(proposed_once(ledger, asks, args, args["changes"], record))


def refuse(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Refuse a token in the words of the rule that it breaks, before a large body is taken; the log keeps that."""
    if args["role"] is None:
        ledger.tokens.person_of(asks.token or "", args["tried"])
    else:
        ledger.tokens.authenticate(asks.token, None, Role(args["role"]), args["tried"])
    return {}


def preview(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Return the effect of the approval of a proposal, to any holder of a token; nothing is recorded."""
    ledger.tokens.person_of(asks.token or "", f"preview proposal {args['number']}")
    return desk_verbs.preview(ledger, asks, args)


def preview_import(ledger: Ledger, asks: AskingOfficer, args: Args) -> Answer:
    """Return what the import of a file would record, to any holder of a token; nothing is recorded."""
    ledger.tokens.person_of(asks.token or "", "preview an import")
    answer: dict[str, Any] = dict(previewed(ledger, Sent.of(args["sent"])))
    return answer


DEEDS: Mapping[str, Deed] = {"fact": fact, "propose": propose}
QUESTIONS: Mapping[str, Deed] = {"refuse": refuse}
LONG_QUESTIONS: Mapping[str, Deed] = {"preview": preview, "preview-import": preview_import}
