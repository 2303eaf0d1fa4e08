"""Four eyes: may this decision stand, given who proposed and who decides? Pure: the gate and the game book ask alike.

The policy holds from the position of its entry on: whether a decision breaks it follows from the entries before it.
"""

from __future__ import annotations

from typing import NamedTuple

from ledger.book.policies import Policies
from ledger.facts.events import FOUR_EYES, Decision
from ledger.facts.person_names import same_person

RULE = FOUR_EYES  # under which a decision is refused
UNPROVEN = "unproven-token"  # of a decision whose entry says that a token proved it, where none did


class Party(NamedTuple):
    """Who proposed or decides.

    Attributes:
        name: the actor of the entry.
        proven: whether a token named the person, as the journal issued it; else the name is a word.
    """

    name: str
    proven: bool


class FourEyes(NamedTuple):
    """The policy as it holds for one entry."""

    on: bool = False
    tokens: bool = False


OFF = FourEyes()


def in_force(policies: Policies, position: int) -> FourEyes:
    """The policy as it holds for the entry at *position*: set before it, never backwards."""
    settings = policies.before(FOUR_EYES, position)
    return FourEyes(bool(settings["on"]), bool(settings["tokens"]))


def breach(policy: FourEyes, decision: Decision, proposed: Party, decided: Party) -> str | None:
    """Why a decision breaks the policy; None where it may stand.

    Only what takes effect needs a second person: anybody may reject, and whoever proposed may withdraw.

    Args:
        policy: as it holds for the decision.
        decision: what is decided.
        proposed: who proposed.
        decided: who decides.
    """
    if not policy.on or decision is not Decision.APPROVED:
        return None
    if same_person(proposed.name, decided.name):
        return f"{decided.name!r} proposed it, and who proposed cannot approve"
    if policy.tokens and not (proposed.proven and decided.proven):
        unproven = decided if proposed.proven else proposed
        return f"no token proves that {unproven.name!r} is who they say, and the policy asks for one"
    if proposed.proven != decided.proven:  # the word may be that of the person whom the token names
        word, token = (proposed, decided) if decided.proven else (decided, proposed)
        return f"{token.name!r} is proven by a token and {word.name!r} is a word alone, which may be the same person's"
    return None
