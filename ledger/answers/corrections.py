"""Proposals of corrections and decisions about them, with a sentence for each change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ledger import schemes
from ledger.answers.asking import ERASED, anonymous_label, in_one_snapshot, is_field_hidden, names
from ledger.correcting.corrections import Corrections, ProposalDetails
from ledger.facts.changes import BLANK, AnnulmentScope, Change, Verb
from ledger.facts.events import GameRecorded, SchemeAdopted
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.journal import rules
from ledger.players.persons import missing

_SAME_SIDES = """
SELECT key FROM games WHERE white = ? AND black = ? AND ended_ms BETWEEN ? AND ? AND 'game:' || key <> ? ORDER BY key
"""
# The verbs of 'correct' that people use, of a game and of any other fact.
_ANNULLING, _RESTORING = ("void", "take back"), ("reinstate", "put back")


@attrs.frozen(kw_only=True, slots=False)
class ProposalRecord:
    """The details of a proposal: the changes as recorded, and the rule that its decision broke."""

    recorded: list[dict[str, Any]] = documented("the changes as they were recorded")
    why_not: str | None = documented("the rule that the decision broke, so that it never acted; null: it broke none")


@attrs.frozen(kw_only=True, slots=False)
class ProposalRow:
    """A proposed correction: its changes in words, and who proposed and decided it, when and why."""

    proposal: int = documented("its number", minimum=1)
    state: str = documented("open, approved, rejected, withdrawn, undone, or without effect")
    changes: int = documented("how many changes it has", minimum=1)
    what: str | list[str] = documented("the first change in words, and how many more; of one proposal all of them")
    reason: str | None = documented("why it was proposed; null: erased, or not in the people file")
    proposed_at: str = documented("when it was recorded, UTC")
    proposed_by: str = documented("who proposed it")
    proven: bool = documented("whether a token named who that was; else the name is a word")
    decided_at: str | None = documented("when it was decided, UTC; null: it is open")
    decided_by: str | None = documented("who decided")
    decided_proven: bool | None = documented("whether a token named who that was")
    decision_reason: str | None = documented("why it was decided so; null: no reason, or erased")
    alike: list[int] = documented("numbers of other open proposals that speak of the same facts, while it is open")
    details: ProposalRecord | None = flattened()


@in_one_snapshot
def proposal_rows(ledger: OpenLedger, proposals: Iterable[ProposalDetails]) -> list[ProposalRow]:
    """Return a row for each proposal, with its first change in words."""
    return [_row(ledger, view) for view in proposals]


@in_one_snapshot
def proposal(ledger: OpenLedger, number: int) -> ProposalRow:
    """Return one proposal, with all its changes in words and as they were recorded.

    Raises:
        UnknownNameError: there is no proposal of this number.
    """
    view = Corrections(ledger).proposal(number)
    recorded = [change.plain() for change in view.changes]
    details = ProposalRecord(recorded=recorded, why_not=view.proposal.why_not)
    return attrs.evolve(_row(ledger, view), what=describe_changes(ledger, view.changes), details=details)


def _row(ledger: OpenLedger, view: ProposalDetails) -> ProposalRow:
    proposal = view.proposal
    return ProposalRow(
        proposal=proposal.proposal,
        state=view.state,
        changes=len(view.changes),
        what=summarize_changes(ledger, view.changes),
        reason=view.reason,
        proposed_at=view.proposed_at,
        proposed_by=proposal.proposed_by,
        proven=bool(proposal.proposed_proven),
        decided_at=view.decided_at,
        decided_by=proposal.decided_by,
        decided_proven=None if proposal.decided_proven is None else bool(proposal.decided_proven),
        decision_reason=view.decision_reason,
        alike=list(view.related),
    )


@in_one_snapshot
def describe_changes(ledger: OpenLedger, changes: Iterable[Change]) -> list[str]:
    """Return a sentence for each change of a correction, with the names of the players."""
    listed = list(changes)
    players: set[int] = set()
    for change in listed:
        players |= {player for player in (change.player, change.into) if player is not None}
        for facts in (change.expects or {}, change.facts or {}):
            players |= {facts[name] for name in ("white", "black", "player") if isinstance(facts.get(name), int)}
    called = names(ledger, players) if players else {}
    # these say the number already
    bare = {number: {f"{ERASED} {number}", missing(number), anonymous_label(number)} for number in called}
    labels = {number: name if name in bare[number] else f"{name} ({number})" for number, name in called.items()}
    return [_words(change, labels) for change in listed]


@in_one_snapshot
def summarize_changes(ledger: OpenLedger, changes: Sequence[Change]) -> str:
    """Return a sentence for the first change of a correction, and the number of further ones."""
    # The first alone is put in words, for each costs a look for names, and a file makes thousands of changes.
    (first,), more = describe_changes(ledger, changes[:1]), len(changes) - 1
    return f"{first} and {more} more" if more else first


@in_one_snapshot
def duplicate_warnings(ledger: OpenLedger, changes: Iterable[Change]) -> list[str]:
    """Return a warning for each proposed late game that may be recorded already."""
    connection = ledger.views.connection
    warnings: list[str] = []
    for change in changes:
        if change.do is Verb.ADD and change.kind == GameRecorded.KIND:
            facts = change.facts or {}
            ended = facts["ended_at"]
            first, last = instant_ms(ended[:10]), instant_end_ms(ended)  # perhaps only the day was recorded
            where = (facts["white"], facts["black"], first, last, change.fact)
            keys = ", ".join(key for (key,) in connection.execute(_SAME_SIDES, where))
            if keys:
                warnings.append(f"these players have a game of that time already: {keys}; is it the same one?")
    return warnings


def _words(change: Change, called: dict[int, str]) -> str:
    player, into = called.get(change.player or 0, ""), called.get(change.into or 0, "")
    between = (f" from {change.since}" if change.since else "") + (f" until {change.until}" if change.until else "")
    match change.do:
        case Verb.REPLACE:
            expects, facts = change.expects or {}, change.facts or {}
            fields = [name for name in facts if facts[name] != expects[name]] or facts  # a whole result is proposed
            steps = (
                f"{name} {_described(name, expects[name], called)} -> {_described(name, facts[name], called)}"
                for name in fields
            )
            return f"{change.fact}: {', '.join(steps)}"
        case Verb.ANNUL | Verb.RESTORE:
            of_game, of_fact = _ANNULLING if change.do is Verb.ANNUL else _RESTORING
            return f"{of_game if str(change.fact).startswith('game:') else of_fact} {change.fact}"
        case Verb.ADD:
            facts = _adopted(change) if change.kind == SchemeAdopted.KIND else change.facts or {}
            fields = [f"{name} {_described(name, value, called)}" for name, value in facts.items()]
            return f"record {change.fact}: {', '.join(fields)}"
        case Verb.MERGE:
            return f"{player} is {into}"
        case Verb.PART:
            return f"{player} is not {into}"
        case Verb.ANNUL_GAMES:
            games = "all rated games" if change.which == AnnulmentScope.ALL else "the rated games lost by opponents"
            return f"annul {games} of {player}{between}"
        case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
            verb = _ANNULLING[0] if change.do is Verb.ANNUL_TOURNAMENT else _RESTORING[0]
            return f"{verb} the games of tournament {change.tournament!r}{between} in pool {change.pool}"
        case Verb.ANNUL_ENTRIES:
            return f"take back the games, byes, announcements and statements of entries {change.entries}"
        case Verb.UNDO:
            return f"undo proposal {change.proposal}"


def _adopted(change: Change) -> Mapping[str, Any]:
    """Return the facts of an adoption without the scheme's own defaults and the versions of the program."""
    facts = {name: value for name, value in (change.facts or {}).items() if name not in rules.VERSIONS}
    if facts["scheme"] in schemes.available_schemes():
        plain = schemes.complete_adoption(
            SchemeAdopted(pool=facts["pool"], scheme=facts["scheme"], settings={})
        ).settings
        facts["settings"] = {name: value for name, value in facts["settings"].items() if plain.get(name) != value}
    return facts if facts["settings"] else {name: facts[name] for name in facts if name != "settings"}


def _described(name: str, value: Any, called: dict[int, str]) -> str:
    if is_field_hidden(name):
        return "(not shown)"
    if value == BLANK:
        return "blank"
    if name in {"white", "black", "player"} and value in called:
        return called[value]
    return str(value)
