"""Pages about tournaments, upsets, published lists and what changed between two, and corrections."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from ledger.answers import corrections as answers
from ledger.answers import differences, upsets
from ledger.answers.crosstables import crosstable
from ledger.answers.crosstables.crosstable import TableChoice
from ledger.answers.crosstables.layout import laid_out
from ledger.errors import UnknownNameError
from ledger.journal.game_references import find_game
from ledger.ledger import Ledger

from . import get_handlers
from . import page_data as forms
from .paging import asked_rows, paged, pool_names, up_to
from .parameters import Asked
from .public_view import PublicCorrection, PublicList

UNCHANGED = differences.UNCHANGED
MOST_GAMES = 50  # that a correction leads to


def tournaments(ledger: Ledger, asked: Asked) -> forms.TournamentsPage:
    """The tournaments of a pool, the latest first."""
    rows, paging = asked_rows(get_handlers.tournaments, ledger, asked)
    return forms.TournamentsPage(
        pools=pool_names(ledger),
        pool=ledger.pool(asked["pool"]).name,
        part=asked["part"],
        since=asked["since"],
        until=asked["until"],
        rows=rows,
        paging=paging,
    )


def table(ledger: Ledger, asked: Asked) -> forms.CrosstablePage:
    """The cross-table of a tournament."""
    page = crosstable.crosstable(ledger, asked["tournament"], asked["pool"], TableChoice(edition=asked["edition"]))
    first, *_ = pool_names(ledger)
    view = next((standing for standing in page.standings if standing.player == asked["player"]), None)
    if asked["player"] is not None and view is None:
        raise UnknownNameError("player", str(asked["player"]), "the table shows who played", where="in this tournament")
    return forms.CrosstablePage(
        table=page,
        layout=laid_out(page),
        asked_pool=None if page.pool == first else page.pool,
        edition=asked["edition"],
        view=view,
    )


def largest_upsets(ledger: Ledger, asked: Asked) -> forms.UpsetsPage:
    """Wins against much higher ratings, the largest first."""
    every = upsets.upsets(ledger, asked["pool"], since=asked["since"], until=asked["until"], limit=up_to(asked))
    rows, paging = paged(asked, every)
    return forms.UpsetsPage(
        pools=pool_names(ledger),
        pool=ledger.pool(asked["pool"]).name,
        since=asked["since"],
        until=asked["until"],
        rows=rows,
        paging=paging,
    )


# -- lists ---------------------------------------------------------------------------------------------------------


def lists(ledger: Ledger, asked: Asked) -> forms.ListsPage:
    """The lists that were published, the newest first."""
    rows, paging = paged(asked, get_handlers.lists(ledger, {"pool": None}))
    return forms.ListsPage(lists=rows, paging=paging)


def one_list(ledger: Ledger, asked: Asked) -> forms.ListPage:
    """Return a published list, next to what the journal says now."""
    shown, others = _lists_of_pool(ledger, asked)
    every = get_handlers.list_rows(ledger, asked)
    rows, paging = paged(asked, every)
    revised = sum(row.revised for row in every)
    return forms.ListPage(shown=shown, others=others, rows=rows, revised=revised, paging=paging)


def _lists_of_pool(ledger: Ledger, asked: Asked) -> tuple[PublicList, list[PublicList]]:
    """A list, and the others of its pool, the newest first."""
    publication = ledger.publications.named(get_handlers.list_name(asked))
    every = get_handlers.lists(ledger, {"pool": publication.event.pool})
    (shown,) = [row for row in every if row.list == publication.name]
    return shown, [row for row in every if row is not shown]


def list_changes(ledger: Ledger, asked: Asked) -> forms.ListChangesPage:
    """Return the players' changes from an earlier list to this one, or from this one to now.

    Which entries moved whom is not asked here: that builds views of earlier entries, which takes long. Corrections
    that were decided between the two are listed.
    """
    shown, others = _lists_of_pool(ledger, asked)
    earlier = [row for row in others if (row.as_of, row.edition) < (shown.as_of, shown.edition)]
    since = asked["since"] or (earlier[0].list if earlier else differences.NOW)
    pair = (shown.list, differences.NOW) if since == differences.NOW else (since, shown.list)
    first, second = differences.two_lists(ledger, *pair)
    moved = differences.differences(ledger, first, second, why=False)
    rows, paging = paged(asked, [row for row in moved if row.change != UNCHANGED])
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
    """The corrections that took effect after one entry of the journal and up to another."""
    low, high = sorted((first, second))
    between = [
        each.proposal
        for each in ledger.corrections.stored()
        if each.decided_position is not None and low < each.decided_position <= high
    ]
    shown = ledger.corrections.proposals(numbers=between)
    return [get_handlers.public(row) for row in answers.proposal_rows(ledger, shown)][::-1]


# -- corrections ---------------------------------------------------------------------------------------------------


def corrections(ledger: Ledger, asked: Asked) -> forms.CorrectionsPage:
    """Corrections, the newest first."""
    rows, paging = asked_rows(get_handlers.all_corrections, ledger, asked)
    return forms.CorrectionsPage(state=asked["state"], rows=rows, paging=paging)


def correction(ledger: Ledger, asked: Asked) -> forms.CorrectionPage:
    """One correction, with all its changes."""
    shown = get_handlers.correction(ledger, asked)
    facts = [change.fact or "" for change in ledger.corrections.proposal(shown.number).changes]
    games: list[str] = []
    for fact in dict.fromkeys(facts):
        if fact.startswith("game:") and len(games) < MOST_GAMES:
            with suppress(UnknownNameError):  # a late game that is not recorded yet
                games.append(find_game(ledger.journal_of_moment, fact)[0])
    return forms.CorrectionPage(shown=shown, games=games)
