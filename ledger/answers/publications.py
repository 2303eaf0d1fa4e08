"""Published lists as people ask for them: which there are, and the *original* number beside the *revised* one.

The original is what was shown to the world; the revised is what the journal says now of the same list. How two lists
differ, and why, is in ``differences``. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import attrs

from ledger.answers.moments import of_one_moment
from ledger.answers.wording import names
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.json_schemas import documented
from ledger.journal.kept_lists import ListRow
from ledger.ledger import Ledger
from ledger.publishing.publications import Publication
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.standings import by_player, list_in_force

FEW_PLAYERS = 200  # looked up one by one


@attrs.frozen(kw_only=True, slots=False)
class PublishedListRow:
    """A published list: when and by whom, how many players, and what it follows from."""

    list: str = documented("its name, POOL@INSTANT/EDITION")
    pool: str = documented("the pool")
    as_of: str = documented("the instant that it is of")
    edition: int = documented("edition of the list of that instant, from 1", minimum=1)
    players: int = documented("how many players are on it", minimum=0)
    published_at: str = documented("when it was published, UTC")
    by: str = documented("who published it")
    entry: int = documented("position of the journal's entry that says so", minimum=1)
    head: str = documented("from how many entries it follows, and the root of the tree over them")
    digest: str = documented("SHA-256 of its rows as they are kept")
    scheme: str = documented("the scheme that rated it")
    scheme_version: int = documented("version of the scheme")
    arithmetic: int = documented("version of the arithmetic")


@attrs.frozen(kw_only=True, slots=False)
class PublishedPlayerRow:
    """A player on a published list, as it was, with what the journal says now beside it."""

    rank: int = documented("place as published, from 1; equals share one", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called now")
    shown: int = documented("the rating as lists show it, points")
    rating: float = documented("the rating as published, unrounded, points")
    games: int = documented("rated games by then that the ledger knew", minimum=0)
    last_game: str | None = documented("the day of the last of them")
    revised_rank: int | None = documented("place now; null: not listed any more", minimum=1)
    revised_rating: float | None = documented("the rating now, points")
    revised: bool = documented("whether rating, games or last game differ")


@attrs.frozen(kw_only=True, slots=False)
class OriginalNumbers:
    """What a published list said of a player and what the journal says now; all null: there is no list."""

    published_list: str | None = documented("name of the list")
    published_rating: float | None = documented("the player's rating on it, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not listed")
    revised: bool = documented("whether the two differ")


@of_one_moment
def lists(ledger: Ledger, pool: str | None = None) -> list[PublishedListRow]:
    """The published lists, by pool and instant.

    Args:
        ledger: a ledger.
        pool: its name; all pools by default.
    """
    return [
        PublishedListRow(
            list=publication.name,
            pool=publication.event.pool,
            as_of=publication.event.as_of,
            edition=publication.event.edition,
            players=publication.event.players,
            published_at=publication.recorded_at,
            by=publication.actor,
            entry=publication.position,
            head=f"{publication.event.head} {publication.event.root}",
            digest=publication.event.digest,
            scheme=publication.event.scheme,
            scheme_version=publication.event.scheme_version,
            arithmetic=publication.event.arithmetic,
        )
        for publication in ledger.publications.all(pool)
    ]


@of_one_moment
def rows(ledger: Ledger, publication: Publication) -> list[PublishedPlayerRow]:
    """A list as it was published, best first, with what the journal says now beside each number."""
    rated_by = ledger.pool(publication.event.pool)
    now = by_player(list_in_force(ledger.views.connection, rated_by, publication.at_ms))
    published = sorted(ledger.publications.rows(publication), key=lambda row: row.rank)
    called = names(ledger, {row.player for row in published})
    player_rows = []
    for row in published:
        revised = now.get(row.player)
        player_rows.append(
            PublishedPlayerRow(
                rank=row.rank,
                player=row.player,
                name=called[row.player],
                shown=row.shown,
                rating=row.rating,
                games=row.games,
                last_game=row.last_game,
                revised_rank=None if revised is None else revised.rank,
                revised_rating=None if revised is None else revised.rating,
                revised=not same(row, revised),
            )
        )
    return player_rows


def same(row: ListRow | None, other: ListRow | None) -> bool:
    """Whether two lists say the same of a player; who only changed places because others moved stays the same."""
    if row is None or other is None:
        return row is other
    return (row.rating, row.games, row.last_game) == (other.rating, other.games, other.last_game)


class Original(NamedTuple):
    """What a published list said of a player, and what the journal says now of the same list.

    Attributes:
        publication: the list.
        published: the rating on it; None for who was not on it.
        revised: the rating now; None for who is not listed.
    """

    publication: Publication
    published: float | None
    revised: float | None

    @property
    def is_revised(self) -> bool:
        """Whether the two differ."""
        return self.published != self.revised


@of_one_moment
def original(ledger: Ledger, pool: Pool, player: int, at_ms: int | None = None) -> Original | None:
    """The last list published of a pool up to an instant, and what it says of a player; None where there is none.

    Args:
        ledger: a ledger whose views are level.
        pool: the pool.
        player: the player number.
        at_ms: the instant, milliseconds since 1970; by default the last list there is.
    """
    publications = ledger.publications
    publication = publications.in_force_at(pool.name) if at_ms is None else publications.in_force_at(pool.name, at_ms)
    return None if publication is None else _of(ledger, pool, player, publication)


@of_one_moment
def originals(ledger: Ledger, pool: Pool, player: int, since_ms: int = BEGINNING) -> list[Original]:
    """What each published list of a pool says of a player, in order of their instants; the last edition of each.

    Args:
        ledger: a ledger whose views are level.
        pool: the pool.
        player: the player number.
        since_ms: leave out lists of earlier instants, milliseconds since 1970.
    """
    # Later editions come later, and take the place of earlier ones.
    last = {publication.at_ms: publication for publication in ledger.publications.all(pool.name)}
    return [_of(ledger, pool, player, publication) for ms, publication in last.items() if ms >= since_ms]


def _of(ledger: Ledger, pool: Pool, player: int, publication: Publication) -> Original:
    row = ledger.publications.row(publication, player)
    now = PlayerStates(ledger.views.connection, pool).listed_at(player, publication.at_ms)
    return Original(publication, None if row is None else row.rating, now)


def beside_now(original: Original | None) -> OriginalNumbers:
    """What an answer about one player tells of a published list."""
    if original is None:
        return OriginalNumbers(published_list=None, published_rating=None, revised_rating=None, revised=False)
    return OriginalNumbers(
        published_list=original.publication.name,
        published_rating=original.published,
        revised_rating=original.revised,
        revised=original.is_revised,
    )


@of_one_moment
def published_at(ledger: Ledger, pool: Pool, ms: int, players: Collection[int]) -> Mapping[int, ListRow] | None:
    """What the list published of that very instant says of these players; None where none was published."""
    publications = ledger.publications
    publication = publications.at(pool.name, ms)
    if publication is None:
        return None
    if len(players) > FEW_PLAYERS:
        return by_player(publications.rows(publication))
    rows = ((player, publications.row(publication, player)) for player in players)
    return {player: row for player, row in rows if row is not None}


def known_then(ledger: Ledger, word: str) -> tuple[int, int]:
    """How many entries were known, and up to which entry lists were published, then.

    Args:
        ledger: the ledger.
        word: a number of entries, or a published list: what it follows from was known, and the list itself.

    Raises:
        UnknownNameError: no such list; or the journal has fewer entries, or none were known.
    """
    if not word.isdecimal():
        publication = ledger.publications.found(word)
        return publication.event.head, publication.position
    size = ledger.journal.size()
    if not 1 <= int(word) <= size:
        raise UnknownNameError("entry", word, f"the journal holds entries 1 to {size}")
    return int(word), int(word)
