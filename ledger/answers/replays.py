"""A replay of journal entries in steps: the entries that may change a rating, and the views after each step.

The causes of the differences of two lists (``differences``) and of a player's change (``rating_changes``) come from the
same steps. Nothing is written but the views of the beginning, which are stored for the next question.
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
    PlayerDescribed,
    PlayerEntered,
    PlayerRegistered,
    PlayerRenamed,
    PolicySet,
    ReportSent,
    RoundWithoutGame,
    StrengthChosen,
    TokenIssued,
    TokenRevoked,
    TournamentDescribed,
    WarningsAccepted,
    proposal_key,
)
from ledger.handle import OpenLedger
from ledger.journal import Journal
from ledger.ratings.past_views import AdvancingViews, open_advancing_views, open_views_known_at
from ledger.ratings.views import Views
from ledger.runtime.long_work import Progress

# Within a text a quotation mark has a backslash before it, so that no text of an entry can look like this.
_GAME, _SUPPLEMENT = b',"kind":"game-recorded/1"', b',"kind":"game-supplemented/1"'
# Byes among them: as steps of their own, fifty of them once hid the corrections that came after.
_MOVES_NOBODY = (
    ClockAccepted, CorrectionProposed, ListPublished, PersonErased, PlayerRegistered, PlayerRenamed, PolicySet,
    RoundWithoutGame, StrengthChosen, TokenIssued, TokenRevoked, PlayerDescribed, PlayerEntered, TournamentDescribed,
    ReportSent, WarningsAccepted,
)  # fmt: skip

MOST_FACTS = 50  # other facts than games and corrections that are steps of their own; more are taken with the games


class RatingEntry(NamedTuple):
    """An entry that may change a rating: its position and bytes, and the decoded event.

    The event is None for a game or a supplement: there may be millions, and most are only counted.
    """

    position: int
    body: bytes
    event: Event | None

    @property
    def is_supplement(self) -> bool:
        """True if the entry supplements a recorded game."""
        return self.event is None and _SUPPLEMENT in self.body

    @property
    def decoded(self) -> Event:
        """The event of the entry, decoded now if it was not yet."""
        return self.event or decode(self.body).event


def rating_entries(journal: Journal, after: int, until: int) -> Iterator[RatingEntry]:
    """Yield the entries that may change a rating, from the one that follows *after* up to position *until*."""
    for position, body in enumerate((body for bodies in journal.read(after, until) for body in bodies), after + 1):
        if _GAME in body or _SUPPLEMENT in body:
            yield RatingEntry(position, body, None)
            continue
        event = decode(body).event
        is_refused = isinstance(event, CorrectionDecided) and event.decision is not Decision.APPROVED
        if not is_refused and not isinstance(event, _MOVES_NOBODY):
            yield RatingEntry(position, body, event)


class ReplayStep(NamedTuple):
    """Entries that are replayed together: a correction with the facts it recorded, another fact, or games in a row.

    Attributes:
        after: position of the last entry before them.
        until: position of the last of them.
        event: the decision or the fact; None for games.
        has_additions: for games, whether supplements of earlier games or other facts are among them.
    """

    after: int
    until: int
    event: Event | None = None
    has_additions: bool = False

    @property
    def proposal(self) -> int | None:
        """The number of the correction; None for any other step."""
        return self.event.proposal if isinstance(self.event, CorrectionDecided) else None


def replay_steps(journal: Journal, after: int, until: int) -> Iterator[ReplayStep]:
    """Yield the steps of a replay of the entries that follow *after*, up to position *until*."""
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
    """Return the number of facts that the approval of a proposal recorded."""
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
    """The views after an entry of the past, which are brought forward step by step."""

    def __init__(self, journal: Journal, begun: Views, closing: ExitStack, progress: Progress) -> None:
        self.begun = begun
        self._journal, self._closing, self._progress = journal, closing, progress
        self._past: AdvancingViews | None = None

    def views_after(self, position: int) -> Views:
        """Return the views after an entry; positions must come in ascending order."""
        # a copy of the views, made only for a first step
        if self._past is None:
            self._past = self._closing.enter_context(open_advancing_views(self._journal, self.begun))
        return self._past.advance_to(position, self._progress)


@contextmanager
def replay(ledger: OpenLedger, position: int, progress: Progress) -> Iterator[Replay]:
    """Open the views after the first *position* entries for a replay.

    They are closed at the end of the block.
    """
    with ExitStack() as closing:
        views = ledger.views
        # a reader that does not update the views writes nothing
        kept = open_views_known_at(
            ledger.path, views.kept(), ledger.journal, position, progress, keep=views.follows_journal
        )
        yield Replay(ledger.journal, closing.enter_context(kept), closing, progress)
