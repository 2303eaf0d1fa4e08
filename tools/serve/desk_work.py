"""The work that waits at the desk: each proposal with its game, the recorded and the proposed value, and its reason."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.answers import corrections, publications, searching
from ledger.answers.corrections import ProposalRow
from ledger.answers.sent_reports import SentReport, sent_reports
from ledger.journal import late_facts
from ledger.ledger import Ledger

from .change_cards import ChangeCard, change_card
from .page_data import Paging
from .paging import paged
from .parameters import Query

TO_DECIDE = 20  # proposals on the first page of the desk


@attrs.frozen(kw_only=True)
class ProposalCard:
    """A proposal as an officer reads it.

    Attributes:
        row: its persons and reasons.
        change: its first change.
        four_eyes: whether somebody else than who proposed it must approve it.
    """

    row: ProposalRow
    change: ChangeCard
    four_eyes: bool


@attrs.frozen(kw_only=True)
class LastList:
    """The last published list of a pool, and the one that is due.

    Attributes:
        pool: its name.
        row: the last list; None if there is none.
        due: the first day of the list of a period that is over, if none is published; None if none is due.
    """

    pool: str
    row: publications.PublishedListRow | None
    due: str | None


@attrs.frozen(kw_only=True)
class WorkPage:
    """The first page of the desk.

    Attributes:
        open: the number of proposals that wait.
        cards: the first of them.
        lists: the last list of each pool.
        alike: the new players who resemble known ones.
        reports: the reports to a federation that are to be sent again.
    """

    open: int
    cards: Sequence[ProposalCard]
    lists: Sequence[LastList]
    alike: searching.ResemblingPlayers
    reports: Sequence[SentReport] = ()


@attrs.frozen(kw_only=True)
class ProposalsPage:
    """A page of proposals."""

    cards: Sequence[ProposalCard]
    paging: Paging


def work(ledger: Ledger, _: Query) -> WorkPage:
    """Return the work that waits."""
    waiting = [each.proposal for each in ledger.corrections.stored(open_only=True)]
    lists = []
    for pool in ledger.pools():
        published = publications.published_lists(ledger, pool.name)
        last = published[-1] if published else None
        due = publications.due_list(ledger, pool)
        lists.append(LastList(pool=pool.name, row=last, due=None if due is None else due.list_from))
    return WorkPage(
        open=len(waiting),
        cards=cards(ledger, waiting[:TO_DECIDE]),
        lists=lists,
        alike=searching.new_players_like_known_ones(ledger),
        reports=sent_reports(ledger, again=True),
    )


def queue(ledger: Ledger, query: Query) -> ProposalsPage:
    """Return the proposals that wait for a decision, the oldest first."""
    numbers, paging = paged(query, [each.proposal for each in ledger.corrections.stored(open_only=True)])
    return ProposalsPage(cards=cards(ledger, numbers), paging=paging)


def history(ledger: Ledger, query: Query) -> ProposalsPage:
    """Return proposals and decisions, newest first."""
    numbers, paging = paged(query, [each.proposal for each in ledger.corrections.stored()][::-1])
    return ProposalsPage(cards=cards(ledger, numbers)[::-1], paging=paging)


def cards(ledger: Ledger, numbers: Sequence[int]) -> list[ProposalCard]:
    """Return proposals as cards, in the order of their numbers."""
    if not numbers:
        return []
    shown = list(ledger.corrections.proposals(numbers=numbers))
    rows = corrections.proposal_rows(ledger, shown)
    four_eyes = late_facts.are_four_eyes_on(ledger.journal.find)
    return [
        ProposalCard(row=row, change=change_card(ledger, proposal.changes), four_eyes=four_eyes)
        for proposal, row in zip(shown, rows, strict=True)
    ]
