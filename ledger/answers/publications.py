"""Published lists as people ask for them: which there are, and the *original* number beside the *revised* one.

The original is what was shown to the world; the revised is what the journal says now of the same list. How two lists
differ, and why, is in ``differences``. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from ledger.answers.moments import of_one_moment
from ledger.answers.wording import names
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.journal.kept_lists import ListRow
from ledger.ledger import Ledger
from ledger.publishing.publications import Publication
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.standings import by_player, list_in_force

FEW_PLAYERS = 200  # looked up one by one


@of_one_moment
def lists(ledger: Ledger, pool: str | None = None) -> list[dict[str, Any]]:
    """The published lists, by pool and instant: when and by whom, how many players, and what each follows from.

    Args:
        ledger: a ledger.
        pool: its name; all pools by default.
    """
    return [
        {
            "list": publication.name,
            "pool": publication.event.pool,
            "as_of": publication.event.as_of,
            "edition": publication.event.edition,
            "players": publication.event.players,
            "published_at": publication.recorded_at,
            "by": publication.actor,
            "entry": publication.position,
            "head": f"{publication.event.head} {publication.event.root}",
            "digest": publication.event.digest,
            "scheme": publication.event.scheme,
            "scheme_version": publication.event.scheme_version,
            "arithmetic": publication.event.arithmetic,
        }
        for publication in ledger.publications.all(pool)
    ]


@of_one_moment
def rows(ledger: Ledger, publication: Publication) -> list[dict[str, Any]]:
    """A list as it was published, best first, with what the journal says now beside each number.

    Returns:
        ``rank``, ``player``, ``name`` (as the person is called now), ``shown``, ``rating``, ``games``, ``last_game`` as
        published; ``revised_rank`` and ``revised_rating`` now, None for who is not listed any more; ``revised``:
        whether rating, games or last game differ.
    """
    rated_by = ledger.pool(publication.event.pool)
    now = by_player(list_in_force(ledger.views.connection, rated_by, publication.at_ms))
    published = sorted(ledger.publications.rows(publication), key=lambda row: row.rank)
    called = names(ledger, {row.player for row in published})
    found = []
    for row in published:
        revised = now.get(row.player)
        found.append(
            {
                "rank": row.rank,
                "player": row.player,
                "name": called[row.player],
                "shown": row.shown,
                "rating": row.rating,
                "games": row.games,
                "last_game": row.last_game,
                "revised_rank": None if revised is None else revised.rank,
                "revised_rating": None if revised is None else revised.rating,
                "revised": not same(row, revised),
            }
        )
    return found


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
    found = publications.in_force_at(pool.name) if at_ms is None else publications.in_force_at(pool.name, at_ms)
    return None if found is None else _of(ledger, pool, player, found)


@of_one_moment
def originals(ledger: Ledger, pool: Pool, player: int, since_ms: int = BEGINNING) -> list[Original]:
    """What each published list of a pool says of a player, in order of their instants; the last edition of each.

    Args:
        ledger: a ledger whose views are level.
        pool: the pool.
        player: the player number.
        since_ms: leave out lists of earlier instants, milliseconds since 1970.
    """
    last = {publication.at_ms: publication for publication in ledger.publications.all(pool.name)}
    return [_of(ledger, pool, player, publication) for ms, publication in last.items() if ms >= since_ms]


def _of(ledger: Ledger, pool: Pool, player: int, publication: Publication) -> Original:
    row = ledger.publications.row(publication, player)
    now = PlayerStates(ledger.views.connection, pool).listed_at(player, publication.at_ms)
    return Original(publication, None if row is None else row.rating, now)


def beside(found: Original | None) -> dict[str, Any]:
    """The columns of an answer about one player: the list, the number on it, the present one, whether they differ."""
    if found is None:
        return {"published_list": None, "published_rating": None, "revised_rating": None, "revised": False}
    return {
        "published_list": found.publication.name,
        "published_rating": found.published,
        "revised_rating": found.revised,
        "revised": found.is_revised,
    }


@of_one_moment
def published_at(ledger: Ledger, pool: Pool, ms: int, players: Collection[int]) -> Mapping[int, ListRow] | None:
    """What the list published of that very instant says of these players; None where none was published."""
    publications = ledger.publications
    publication = publications.at(pool.name, ms)
    if publication is None:
        return None
    if len(players) > FEW_PLAYERS:
        return by_player(publications.rows(publication))
    found = ((player, publications.row(publication, player)) for player in players)
    return {player: row for player, row in found if row is not None}


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
