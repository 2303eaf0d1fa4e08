"""One page for one number: a player's row on a published list, its games, the formula, and what proves them."""

from __future__ import annotations

import attrs

from ledger.answers import calculation_page, explanations, player_games, publications
from ledger.answers.calculation_page import CalculationPage
from ledger.answers.explanations import GameExplanation
from ledger.answers.player_games import PlayerGame
from ledger.errors import StorageError, UnknownNameError
from ledger.journal.stored_lists import ListRow
from ledger.ledger import Ledger
from ledger.players.persons import Person

from . import event_pages, get_handlers
from . import page_data as forms
from .parameters import Query
from .player_pages import of_player
from .public_view import PublicList

MOST_GAMES = 1_000  # newest games of a player among which those of the list are sought
MOST_BATCHES = 100  # newest games, periods or events on the page of a calculation
MOST_EXPLAINED = 8  # formulas on a page, which prints on two sheets


@attrs.frozen(kw_only=True)
class NumberPage:
    """A player's number on a published list.

    Attributes:
        head: the player.
        shown: the list.
        before: the list before it of the same pool; None: it is the first.
        row: the player's row on it.
        row_before: the same on the list before; None: there is none.
        now: the rating that the same list would show now.
        games: the games that count for this list and not for the one before, oldest first.
        explained: how these changed the rating, game by game or all of one period together.
        checkpoint: the last signed head; None: nothing is signed.
        checkable: whether it contains the list, and this is the last edition.
    """

    head: forms.PlayerHead
    shown: PublicList
    before: PublicList | None
    row: ListRow
    row_before: ListRow | None
    now: publications.PublishedRating
    games: list[PlayerGame]
    explained: list[GameExplanation]
    checkpoint: str | None
    checkable: bool


@attrs.frozen(kw_only=True)
class PlayerCalculation:
    """The calculation of a player's number on a list.

    Attributes:
        head: the player.
        listed: the list as it was asked for.
        drawn: the tables.
        is_published: whether the list is, so that the number has a page.
    """

    head: forms.PlayerHead
    listed: str
    drawn: CalculationPage
    is_published: bool


@of_player("/players/{}/lists/{}/calculation")
def calculation(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> PlayerCalculation:
    """Return how a player's number on a list was calculated: each tournament, each opponent, the sums."""
    answer = get_handlers.calculation_of(ledger, person, query["list"], head.pool, MOST_BATCHES)
    return PlayerCalculation(
        head=head,
        listed=query["list"],
        drawn=calculation_page.calculation_page(answer),
        is_published=answer.published is not None,
    )


@of_player("/players/{}/lists/{}")
def number(ledger: Ledger, person: Person, head: forms.PlayerHead, query: Query) -> NumberPage:
    """Return a player's number on a published list, with its games and their formulas."""
    every = sorted(get_handlers.lists(ledger, {"pool": head.pool}), key=lambda each: (each.as_of, each.edition))
    places = [place for place, each in enumerate(every) if _is_named(each, query["list"])]
    if not places:
        hint = f"there are {', '.join(each.as_of[:10] for each in every[-3:])}" if every else "none was published yet"
        raise UnknownNameError("list", query["list"], hint, where=f"of pool {head.pool}")
    shown = every[places[-1]]
    earlier = [each for each in every[: places[-1]] if each.as_of < shown.as_of]
    before = earlier[-1] if earlier else None
    publication = ledger.publications.named(shown.list)
    row = ledger.publications.row(publication, person.player)
    if row is None:
        raise UnknownNameError("player", head.name, "the list does not have this player", where=f"on {shown.list}")
    row_before = None
    if before is not None:
        row_before = ledger.publications.row(ledger.publications.named(before.list), person.player)
    games = _games(ledger, person, head.pool, before, shown)
    try:
        last = ledger.checkpoints.last()
    except StorageError:
        last = None
    return NumberPage(
        head=head,
        shown=shown,
        before=before,
        row=row,
        row_before=row_before,
        now=publications.published_rating(ledger, ledger.pool(head.pool), person.player, publication),
        games=games,
        explained=_explained(ledger, person, games),
        checkpoint=None if last is None else last.note,
        checkable=event_pages.is_checkable(ledger, shown),
    )


def _is_named(published: PublicList, word: str) -> bool:
    """Return whether a word names a list: its whole name, or its day, or the month or year that this is in."""
    return word in {published.list, published.list.partition("/")[0]} or published.as_of.startswith(word)


def _games(ledger: Ledger, person: Person, pool: str, before: PublicList | None, shown: PublicList) -> list[PlayerGame]:
    """Return the games whose rating came into force after the list before and up to this one, oldest first."""
    first, last = "" if before is None else before.as_of[:10], shown.as_of[:10]
    rated = player_games.games(ledger, person, pool, last=MOST_GAMES)
    return [game for game in rated if first < (game.in_force or "9999") <= last][::-1]


def _explained(ledger: Ledger, person: Person, games: list[PlayerGame]) -> list[GameExplanation]:
    """Return the explanations of games; games of one period or event that are rated together have one."""
    explained: list[GameExplanation] = []
    periods: set[str | None] = set()
    for game in games:
        if len(explained) == MOST_EXPLAINED:
            break
        if game.in_force in periods:
            continue
        explanation = explanations.explain(ledger, person, game.game)
        if explanation.rated_with != "this game":
            periods.add(game.in_force)
        explained.append(explanation)
    return explained
