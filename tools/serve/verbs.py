"""The verbs of the writer: one row for each. Each calls the library; no rule is here.

A verb takes the ledger, what proves who asks and the arguments, as the process that answers made them of a body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.facts import codec
from ledger.facts.events import GameRecorded
from ledger.facts.words import Receipt
from ledger.handle import DEFAULT_ACTOR
from ledger.ledger import Ledger
from ledger.recording.recorder import Submission

from . import desk_verbs, program_verbs

Args = Mapping[str, Any]
GAME = "game"  # the verb of which many are done at once


def _nothing() -> None:
    pass


class Asking(NamedTuple):
    """The client who asks.

    Attributes:
        token: what proves it; None without.
        by: the name that comes with it; None: whom the token names.
        between: lets single facts through; called by what takes long, between two of its transactions.
    """

    token: str | None
    by: str | None
    between: Callable[[], None] = _nothing

    @property
    def named(self) -> dict[str, str | None]:
        """The arguments of the library's verbs of recording."""
        return {"actor": self.by or DEFAULT_ACTOR, "token": self.token}


def told_game(asking: Asking, args: Args) -> Submission:
    """Return the submitted game, as ``Ledger.append_each`` takes it.

    Raises:
        MalformedError: it is none.
    """
    event = codec.structure_event(GameRecorded.KIND, args["facts"])
    return Submission(event, asking.named["actor"] or DEFAULT_ACTOR, asking.token, args.get("movetext"))


def receipt(recorded: Receipt) -> dict[str, Any]:
    """Return a receipt as it is sent."""
    return {
        "position": recorded.position,
        "key": recorded.key,
        "leaf": recorded.leaf.hex(),
        "duplicate": recorded.duplicate,
        "note": recorded.note,
    }


@attrs.frozen
class WriterVerb:
    """A verb: what does it, and how it waits.

    Attributes:
        do: does it in a ledger that records.
        is_long: whether it takes long: one that records lets single facts through; another runs in parallel.
        records: whether it records anything; a verb that does not runs in parallel with those that do.
    """

    do: Callable[[Ledger, Asking, Args], dict[str, Any]]
    is_long: bool = False
    records: bool = True


def game(ledger: Ledger, asking: Asking, args: Args) -> dict[str, Any]:
    """Record one game; many at once take ``told_game``."""
    (outcome,) = ledger.append_each([told_game(asking, args)])
    if isinstance(outcome, Receipt):
        return receipt(outcome)
    raise outcome


VERBS: Mapping[str, WriterVerb] = {
    GAME: WriterVerb(game),
    **{name: WriterVerb(do) for name, do in {**desk_verbs.DEEDS, **program_verbs.DEEDS}.items()},
    **{name: WriterVerb(do, is_long=True) for name, do in desk_verbs.LONG_DEEDS.items()},
    **{name: WriterVerb(do, records=False) for name, do in {**desk_verbs.QUESTIONS, **program_verbs.QUESTIONS}.items()},
    **{
        name: WriterVerb(do, is_long=True, records=False)
        for name, do in {**desk_verbs.LONG_QUESTIONS, **program_verbs.LONG_QUESTIONS}.items()
    },
}


def verb_of(name: object) -> WriterVerb:
    """Return the verb of that name.

    Raises:
        MalformedError: there is none.
    """
    try:
        return VERBS[str(name)]
    except KeyError:
        raise MalformedError([f"no such verb: {name!r}"]) from None
