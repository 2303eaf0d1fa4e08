"""The effects of journal entries, step by step: the entries that may move a rating, and the views after each.

One replay, cut into the same steps, for both questions of why: how two lists differ (``differences``), and what made a
player's rating another one (``rating_changes``). Nothing is written but the views of the beginning, which are kept for
the next question.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from ledger.facts.changes import Verb
from ledger.facts.codec import decode
from ledger.facts.events import (
    ClockAccepted,
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    ListPublished,
    PersonErased,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    RoundWithoutGame,
    TokenIssued,
    TokenRevoked,
    proposal_key,
)
from ledger.handle import OpenLedger
from ledger.journal import Journal
from ledger.ratings.past_views import Steps, known_at, stepping
from ledger.ratings.views import Views
from ledger.runtime.long_work import Progress

# Within a text a quotation mark has a backslash before it, so that no text of an entry can look like this.
_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1"', b',"kind":"game-supplemented/1"'
# Byes among them: as steps of their own, fifty of them once hid the corrections that came after.
_MOVES_NOBODY = (
    ClockAccepted, CorrectionProposed, ListPublished, PersonErased, PlayerRegistered, PlayerRenamed, PolicySet,
    RoundWithoutGame, TokenIssued, TokenRevoked,
)  # fmt: skip

MOST_FACTS = 50  # other facts than games and corrections that are steps of their own; more are taken with the games


class RatingEntry(NamedTuple):
    """An entry that may move a rating.

    Attributes:
        position: its place in the journal.
        body: its bytes.
        event: what it says; None of a game or a supplement to one: there may be millions, and most are only counted.
    """

    position: int
    body: bytes
    event: Event | None

    @property
    def is_supplement(self) -> bool:
        """True if it adds something to a recorded game."""
        return self.event is None and _SUPPLEMENT in self.body

    @property
    def read(self) -> Event:
        """The text of the entry."""
        return self.event or decode(self.body).event


def rating_entries(journal: Journal, after: int, until: int) -> Iterator[RatingEntry]:
    """Yield the entries after one up to another that may move a rating.

    Args:
        journal: the journal that holds them.
        after: position of the last entry that is known.
        until: position of the last one that is asked about.
    """
    for position, body in enumerate((body for bodies in journal.read(after, until) for body in bodies), after + 1):
        if _GAME in body or _SUPPLEMENT in body:
            yield RatingEntry(position, body, None)
            continue
        event = decode(body).event
        is_refused = isinstance(event, CorrectionDecided) and event.decision is not Decision.APPROVED
        if not is_refused and not isinstance(event, _MOVES_NOBODY):
            yield RatingEntry(position, body, event)


class ReplayStep(NamedTuple):
    """Entries that are taken together: a correction and the facts that it recorded, another fact, or games in a row.

    Attributes:
        after: position of the last entry before them.
        until: position of the last of them.
        event: the decision or the fact; None of games.
        has_additions: of games, whether something was added to some that were there, or facts are among them.
    """

    after: int
    until: int
    event: Event | None = None
    has_additions: bool = False

    @property
    def proposal(self) -> int | None:
        """Number of the correction; None of anything else."""
        return self.event.proposal if isinstance(self.event, CorrectionDecided) else None


def replay_steps(journal: Journal, after: int, until: int) -> Iterator[ReplayStep]:
    """Yield the entries after one up to another that may move a rating, in the steps of the report.

    Args:
        journal: the journal that holds them.
        after: position of the last entry that is known.
        until: position of the last one that is asked about.
    """
    begun, has_additions, facts = after, False, 0  # of the games that wait
    done = last = after  # where the step before ends, and the last game
    for entry in rating_entries(journal, after, until):
        if entry.position <= done:
            continue  # recorded by the correction before it
        is_correction = isinstance(entry.event, CorrectionDecided)
        facts += entry.event is not None and not is_correction
        if entry.event is None or (facts > MOST_FACTS and not is_correction):
            last = entry.position
            has_additions |= entry.event is not None or entry.is_supplement
            continue
        if last > begun:
            yield ReplayStep(begun, entry.position - 1, has_additions=has_additions)
        done = entry.position
        if isinstance(entry.event, CorrectionDecided):
            done += _additions(journal, entry.event.proposal)
        yield ReplayStep(entry.position - 1, done, entry.event)
        begun = last = done
        has_additions = False
    if last > begun:
        yield ReplayStep(begun, until, has_additions=has_additions)


def _additions(journal: Journal, proposal: int) -> int:
    """Return how many facts the approval of a proposal recorded."""
    # Each part of a proposal says how many there are: after the first the number is known.
    parts, additions, part = 1, 0, 1
    while part <= parts:
        key = proposal_key(proposal, part)
        event = decode(journal.find([key])[key].body).event
        assert isinstance(event, CorrectionProposed)
        parts, part = event.parts, part + 1
        additions += sum(change.do is Verb.ADD for change in event.changes)
    return additions


class Replay:
    """The views at an entry, which go forward step by step from there."""

    def __init__(self, journal: Journal, begun: Views, closing: ExitStack, progress: Progress) -> None:
        self.begun = begun
        self._journal, self._closing, self._progress = journal, closing, progress
        self._past: Steps | None = None

    def after(self, position: int) -> Views:
        """Return the views after an entry; entries are asked in their order."""
        # a copy of them all, which who asks of no step need not wait for
        if self._past is None:
            self._past = self._closing.enter_context(stepping(self._journal, self.begun))
        return self._past.go_to(position, self._progress)


@contextmanager
def replay(ledger: OpenLedger, position: int, progress: Progress) -> Iterator[Replay]:
    """Open the views of a number of known entries, which go forward from there, for the length of the block."""
    with ExitStack() as closing:
        views = ledger.views
        # who does not follow writes nothing
        kept = known_at(ledger.path, views.kept(), ledger.journal, position, progress, keep=views.follows)
        yield Replay(ledger.journal, closing.enter_context(kept), closing, progress)
