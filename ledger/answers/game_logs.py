"""What the journal says about one game, in words: who recorded, proposed and decided what, when, and why."""

from __future__ import annotations

import attrs

from ledger.answers.corrections import described
from ledger.answers.moments import of_one_moment
from ledger.answers.wording import names, told_apart
from ledger.facts.events import CorrectionDecided, CorrectionProposed, Decision, GameRecorded, GameSupplemented
from ledger.facts.json_schemas import documented
from ledger.journal.listing import JournalEntry
from ledger.ledger import Ledger

_LEFT_OUT = {"game", "entry", "number", "text"}  # of the facts that a supplement adds
_WINNER = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2"}


@attrs.frozen(kw_only=True, slots=False)
class LoggedEntry:
    """What an entry of the journal says about a game."""

    entry: int = documented("its position in the journal", minimum=1)
    recorded_at: str = documented("when it was recorded, UTC")
    by: str = documented("who recorded it")
    proven: bool | None = documented("whether a token named who that was; null: the entry does not say")
    what: str = documented("what it says, in words")
    why: str | None = documented("the reason; null: there is none, or it was erased")


@of_one_moment
def game_log(ledger: Ledger, game: str) -> list[LoggedEntry]:
    """The entries about a game in words, in the order of the journal.

    Args:
        ledger: the ledger.
        game: its key, the id that its server gave it, or its web address.

    Raises:
        UnknownNameError: no such game, or several.
    """
    entries = ledger.log(game)
    concerning = ledger.game_log.proposals(game) if len(entries) > 1 else {}
    states = {shown.proposal.proposal: shown for shown in ledger.corrections.proposals(numbers=list(concerning))}
    words = {number: "; ".join(described(ledger, changes)) for number, changes in concerning.items()}
    players = {entry.facts[side] for entry in entries for side in ("white", "black") if side in entry.facts}
    called = told_apart(names(ledger, players))

    def what(entry: JournalEntry) -> str:
        facts = entry.facts
        match entry.kind:
            case GameRecorded.KIND:
                sides = f"{called[facts['white']]} - {called[facts['black']]}"
                casual = "" if facts["rated"] else ", casual"
                result = f"{_WINNER.get(facts['outcome'], facts['outcome'])} ({facts['termination']})"
                return f"recorded: {sides} {result}, ended {facts['ended_at']}{casual}"
            case GameSupplemented.KIND:
                added = (f"{name} {value}" for name, value in facts.items() if name not in _LEFT_OUT)
                return f"supplemented: {', '.join(added) or 'moves'}"
            case CorrectionProposed.KIND:
                return f"proposal {facts['proposal']}: {words[facts['proposal']]}"
            case CorrectionDecided.KIND:
                return _decided(facts["proposal"], facts["decision"], states[facts["proposal"]].state)
            case kind:
                return str(kind)

    return [
        LoggedEntry(
            entry=entry.position,
            recorded_at=entry.recorded_at,
            by=entry.actor,
            proven=entry.facts.get("proven"),
            what=what(entry),
            why=entry.why,
        )
        for entry in entries
    ]


def _decided(proposal: int, decision: str, state: str) -> str:
    """The decision, and what has become of it since."""
    if decision != Decision.APPROVED or state == decision:
        return f"proposal {proposal} {decision}"
    return f"proposal {proposal} {decision} ({state} by now)" if state == "undone" else f"proposal {proposal}: {state}"
