"""Pages about tournaments, upsets, published lists and what changed between two, and corrections."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from ledger.answers import corrections as answers
from ledger.answers import differences, upsets
from ledger.answers.crosstables import crosstable
from ledger.answers.crosstables.crosstable import TableOptions
from ledger.answers.crosstables.layout import lay_out_table
from ledger.errors import StorageError, UnknownNameError
from ledger.journal.game_references import find_game
from ledger.ledger import Ledger

from . import get_handlers
from . import page_data as forms
from .change_cards import change_card
from .get_handlers import Part
from .paging import asked_rows, paged, pool_names, up_to
from .parameters import Query
from .public_view import PublicCorrection, PublicList

UNCHANGED = differences.UNCHANGED
MOST_GAMES = 50  # that a correction leads to


def tournaments(ledger: Ledger, query: Query) -> forms.TournamentsPage:
    """Return the tournaments of a pool, the latest first."""
    rows, paging = asked_rows(get_handlers.tournaments, ledger, query)
    return forms.TournamentsPage(
        pools=pool_names(ledger),
        pool=ledger.pool(query["pool"]).name,
        part=query["part"],
        since=query["since"],
        until=query["until"],
        rows=rows,
        paging=paging,
    )


def table(ledger: Ledger, query: Query) -> forms.CrosstablePage:
    """Return the cross-table of a tournament."""
    page = crosstable.crosstable(ledger, query["tournament"], query["pool"], TableOptions(edition=query["edition"]))
    first, *_ = pool_names(ledger)
    view = next((standing for standing in page.standings if standing.player == query["player"]), None)
    if query["player"] is not None and view is None:
        raise UnknownNameError("player", str(query["player"]), "the table shows who played", where="in this tournament")
    layout = lay_out_table(page)
    rows, paging = paged(query, list(zip(layout.rows, page.standings, strict=True)))
    return forms.CrosstablePage(
        table=page,
        layout=layout,
        rows=rows,
        paging=paging,
        asked_pool=None if page.pool == first else page.pool,
        edition=query["edition"],
        view=view,
    )


def largest_upsets(ledger: Ledger, query: Query) -> forms.UpsetsPage:
    """Wins against much higher ratings, the largest first."""
    every = upsets.upsets(ledger, query["pool"], since=query["since"], until=query["until"], limit=up_to(query))
    rows, paging = paged(query, every)
    return forms.UpsetsPage(
        pools=pool_names(ledger),
        pool=ledger.pool(query["pool"]).name,
        since=query["since"],
        until=query["until"],
        rows=rows,
        paging=paging,
    )


# -- lists ---------------------------------------------------------------------------------------------------------


def lists(ledger: Ledger, query: Query) -> forms.ListsPage:
    """Return the lists that were published, the newest first."""
    rows, paging = paged(query, get_handlers.lists(ledger, {"pool": None}))
    return forms.ListsPage(lists=rows, paging=paging)


def one_list(ledger: Ledger, query: Query) -> forms.ListPage:
    """Return a published list, next to what the journal says now."""
    shown, others = _lists_of_pool(ledger, query)
    every = get_handlers.list_rows(ledger, query)
    rows, paging = paged(query, every)
    revised = sum(row.revised for row in every)
    checkable = is_checkable(ledger, shown)
    return forms.ListPage(shown=shown, others=others, rows=rows, revised=revised, checkable=checkable, paging=paging)


def is_checkable(ledger: Ledger, shown: PublicList) -> bool:
    """Return whether strangers can check a list: it is the last edition, and the last checkpoint contains it."""
    try:
        last = ledger.checkpoints.last()
    except StorageError:
        return False
    if last is None or shown.entry > last.head.size:
        return False
    return ledger.publications.named(shown.list.partition("/")[0]).name == shown.list


def _lists_of_pool(ledger: Ledger, query: Query) -> tuple[PublicList, list[PublicList]]:
    """Return a list, and the others of its pool, the newest first."""
    publication = ledger.publications.named(get_handlers.list_name(query))
    every = get_handlers.lists(ledger, {"pool": publication.event.pool})
    (shown,) = [row for row in every if row.list == publication.name]
    return shown, [row for row in every if row is not shown]


def list_changes(ledger: Ledger, query: Query) -> forms.ListChangesPage:
    """Return the players' changes from an earlier list to this one, or from this one to now.

    Which entries moved whom is not asked here: that builds views of earlier entries, which takes long. Corrections
    that were decided between the two are listed.
    """
    shown, others = _lists_of_pool(ledger, query)
    earlier = [row for row in others if (row.as_of, row.edition) < (shown.as_of, shown.edition)]
    since = query["since"] or (earlier[0].list if earlier else differences.NOW)
    pair = (shown.list, differences.NOW) if since == differences.NOW else (since, shown.list)
    first, second = differences.lists_to_compare(ledger, *pair)
    moved = differences.list_differences(ledger, first, second, why=False)
    rows, paging = paged(query, [row for row in moved if row.change != UNCHANGED])
    return forms.ListChangesPage(
        since=since,
        shown=shown,
        other=next((row for row in others if row.list == first.name), None),
        counts=Counter(row.change for row in moved),
        rows=rows,
        corrections=_decided_between(ledger, first.head, second.head),
        paging=paging,
    )


def _decided_between(ledger: Ledger, first: int, second: int) -> list[PublicCorrection]:
    """Return the corrections that took effect after one entry of the journal and up to another."""
    low, high = sorted((first, second))
    between = [
        each.proposal
        for each in ledger.corrections.stored()
        if each.decided_position is not None and low < each.decided_position <= high
    ]
    shown = ledger.corrections.proposals(numbers=between)
    return [get_handlers.public(row) for row in answers.proposal_rows(ledger, shown)][::-1]


# -- corrections ---------------------------------------------------------------------------------------------------


def corrections(ledger: Ledger, query: Query) -> forms.CorrectionsPage:
    """Corrections, the newest first."""
    cards, paging = asked_rows(correction_cards, ledger, query)
    return forms.CorrectionsPage(state=query["state"], rows=cards, paging=paging)


def correction_cards(ledger: Ledger, query: Query) -> Part:
    """Return the corrections of a page with their first changes as people read them."""
    asked = get_handlers.proposals_asked(ledger, query)
    rows = answers.proposal_rows(ledger, asked)
    return Part(
        [
            forms.CorrectionCard(row=get_handlers.public(row), change=change_card(ledger, proposal.changes))
            for row, proposal in zip(rows, asked, strict=True)
        ],
        query["offset"],
    )


def correction(ledger: Ledger, query: Query) -> forms.CorrectionPage:
    """Return one correction, with all its changes."""
    shown = get_handlers.correction(ledger, query)
    changes = ledger.corrections.proposal(shown.number).changes
    facts = [change.fact or "" for change in changes]
    games: list[str] = []
    for fact in dict.fromkeys(facts):
        if fact.startswith("game:") and len(games) < MOST_GAMES:
            with suppress(UnknownNameError):  # a late game that is not recorded yet
                games.append(find_game(ledger.snapshot_journal, fact)[0])
    return forms.CorrectionPage(shown=shown, change=change_card(ledger, changes), games=games)
