"""Rating lists: the published ones, the one in force on a day, and the rating periods of a pool.

A run is the rating of a batch of games together: of a period, or of an event. A rating is in force from the close of
its run. Games of a run that has not closed yet are in no list.

A published list has *original* ratings, those that were shown to the world, and *revised* ones: those of the same list
by the current facts. ``differences`` has the differences of two lists and their causes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import attrs

from ledger.answers.asking import EVERY_ROW, day, in_one_snapshot, names, row_limit
from ledger.answers.player_details import EVERYBODY, PlayerGroup
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.journal.stored_lists import ListRow, shared_ranks
from ledger.publishing.publications import Publication, Publications, first_list_counting
from ledger.ratings import queries
from ledger.ratings.standings import Standings, rating_list_at, rows_by_player
from ledger.runtime.calls import checked
from ledger.schemes.scheme import Rhythm

MOST_DIGITS = 15  # of a number of entries; Python reads no more than some thousands
# Measured in a list of 10,000 players: one row takes 1.6 ms, all of them 13 ms; all of half a million would take 0.7 s.
FEW_PLAYERS = 200  # looked up one by one


@attrs.frozen(kw_only=True, slots=False)
class PublishedListRow:
    """A published rating list: its pool, instant and edition, its publisher, and the entries it was computed from."""

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
    """A player on a published list, with the published and the revised rating and rank."""

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
class PublishedRatingFields:
    """A player's rating on a published list, and the revised one; all null: there is no list."""

    published_list: str | None = documented("name of the list")
    published_rating: float | None = documented("the player's rating on it, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not listed")
    revised: bool = documented("whether the two differ to the point, as lists show them")


@in_one_snapshot
def published_lists(ledger: OpenLedger, pool: str | None = None) -> list[PublishedListRow]:
    """Return the published lists of a pool, by default of all pools, by pool and instant."""
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
        for publication in Publications(ledger).all(pool)
    ]


@attrs.frozen(kw_only=True, slots=False)
class DueList:
    """A rating list that is not published although its rating period is over."""

    pool: str = documented("the pool")
    day: str = documented("the last day of the rating period")
    list_from: str = documented("the first day of the list: its usual name")


@in_one_snapshot
def due_list(ledger: OpenLedger, pool: Pool) -> DueList | None:
    """Return the list of a pool's last rating period, if that is over and no list of it was published.

    The list of its last day counts as that of the next day, too. A first list that nobody would be on is not due.
    """
    if pool.scheme.rhythm is not Rhythm.PERIOD:
        return None
    states, published = ledger.states(pool), Publications(ledger).all(pool.name)
    closing_ms = states.last_closing_ms(ledger.now_ms())
    if closing_ms is None or any(each.at_ms >= closing_ms for each in published):
        return None
    if not any(each.event.players for each in published) and next(states.all_at(closing_ms), None) is None:
        return None
    return DueList(pool=pool.name, day=day(closing_ms), list_from=day(closing_ms + 1))


@in_one_snapshot
def ranked_members(ledger: OpenLedger, rows: Sequence[ListRow], at_ms: int, group: PlayerGroup) -> list[ListRow]:
    """Return the rows of a list that are of a group at an instant, best first, with places of their own."""
    # Published rows are stored in the order of the player numbers, by which one of them is looked up.
    ordered = sorted(rows, key=lambda row: row.rank)
    if group.is_everybody:
        return ordered
    members = group.select(ledger, [row.player for row in ordered], at_ms)
    kept = [row for row in ordered if row.player in members]
    ranks = shared_ranks([row.rating for row in kept])
    return [row._replace(rank=rank) for row, rank in zip(kept, ranks, strict=True)]


@in_one_snapshot
def published_list_rows(
    ledger: OpenLedger, publication: Publication, group: PlayerGroup = EVERYBODY
) -> list[PublishedPlayerRow]:
    """Return the players on a published list, best first, with their published and revised ratings.

    Those of a *group* have places of their own.
    """
    rated_by, at_ms = ledger.pool(publication.event.pool), publication.at_ms
    revised_list = rating_list_at(ledger.views.connection, rated_by, at_ms)
    now = rows_by_player(ranked_members(ledger, revised_list, at_ms, group))
    published = ranked_members(ledger, list(Publications(ledger).rows(publication)), at_ms, group)
    called = names(ledger, {row.player for row in published})
    return [
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
            revised=not have_same_numbers(row, revised),
        )
        for row, revised in ((row, now.get(row.player)) for row in published)
    ]


def have_same_numbers(row: ListRow | None, other: ListRow | None) -> bool:
    """Return whether two lists have the same rating, games and last game of a player; ranks may differ."""
    return (row and row.figures) == (other and other.figures)


class PublishedRating(NamedTuple):
    """A player's rating on a published list, and the revised rating of the same list.

    Attributes:
        publication: the list.
        published: the rating on it; None for a player who was not on it.
        revised: the rating by the current facts; None for a player who is not listed.
    """

    publication: Publication
    published: float | None
    revised: float | None

    @property
    def is_revised(self) -> bool:
        """True if the list would show another rating now, to the point."""
        if self.published is None or self.revised is None:
            return self.published is not self.revised
        return round(self.published) != round(self.revised)


@in_one_snapshot
def last_published_rating(
    ledger: OpenLedger, pool: Pool, player: int, at_ms: int | None = None
) -> PublishedRatingFields:
    """Return a player's rating on the last list of a pool, by default of all its lists, else up to an instant."""
    publication = Publications(ledger).list_in_force_at(pool.name, MAX_WHOLE if at_ms is None else at_ms)
    if publication is None:
        return PublishedRatingFields(published_list=None, published_rating=None, revised_rating=None, revised=False)
    original = published_rating(ledger, pool, player, publication)
    return PublishedRatingFields(
        published_list=publication.name,
        published_rating=original.published,
        revised_rating=original.revised,
        revised=original.is_revised,
    )


@in_one_snapshot
def published_ratings(ledger: OpenLedger, pool: Pool, player: int, since_ms: int = BEGINNING) -> list[PublishedRating]:
    """Return a player's ratings on the published lists of a pool, the last edition of each, in order of their instants.

    Lists of instants before *since_ms*, milliseconds since 1970, are left out.
    """
    # Later editions come later, and take the place of earlier ones.
    last = {publication.at_ms: publication for publication in Publications(ledger).all(pool.name)}
    return [published_rating(ledger, pool, player, each) for ms, each in last.items() if ms >= since_ms]


@in_one_snapshot
def published_rating(ledger: OpenLedger, pool: Pool, player: int, publication: Publication) -> PublishedRating:
    """Return a player's rating on one published list of a pool, and the revised one; the list is not read whole."""
    row = Publications(ledger).row(publication, player)
    now = ledger.states(pool).listed_at(player, publication.at_ms)
    return PublishedRating(publication, None if row is None else row.rating, now)


@checked
def known_entries(ledger: OpenLedger, word: str) -> tuple[int, int]:
    """Return the number of entries that ``--known-at`` means, and the position up to which lists were published.

    The *word* is a number of entries, or the name of a published list: then it means the entries that the list was
    computed from, and the list itself.

    Raises:
        UnknownNameError: no such list; or the number of entries is 0, or more than the journal has.
    """
    if not word.isdecimal():
        publication = Publications(ledger).named(word)
        return publication.event.head, publication.position
    size = ledger.journal.size()
    if len(word) > MOST_DIGITS or not 1 <= int(word) <= size:
        raise UnknownNameError("entry", word, f"the journal holds entries 1 to {size}")
    return int(word), int(word)


@attrs.frozen(kw_only=True, slots=False)
class RatingRun:
    """A rating period or event of a pool: its games, its close, and the first list that counts them."""

    as_of: str | None = documented("the day on which it closed or closes; null: nothing has closed it yet")
    event: str | None = documented("the event that was rated; null: a period")
    scheme: str = documented("the scheme that rated it")
    closed: bool = documented("whether it has closed by now")
    games: int = documented("games rated in it", minimum=1)
    players: int = documented("players with a game in it", minimum=2)
    first_game: str = documented("the day on which the first of them ended")
    last_game: str = documented("the day on which the last of them ended")
    published: str | None = documented("the first published list that counts its games; null: none")


@attrs.frozen(kw_only=True, slots=False)
class NextRun:
    """A player's rating after the next rating period or event."""

    next_run: str = documented("its day")
    next_rating: float | None = documented("the rating after it, points; null: not listed then")
    change: float | None = documented("from the rating to that, points")


@attrs.frozen(kw_only=True, slots=False)
class RatingListRow:
    """A player on the rating list in force on a day, with the next rating and the published one."""

    place: int = documented("place, from 1; equals share one", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rating: float = documented("the rating in force, points")
    games: int = documented("rated games by then", minimum=0)
    last_game: str | None = documented("the day of the last of them")
    following: NextRun | None = flattened()
    published: float | None = documented("the rating on the list published of that very instant, points; null: none")
    revised: bool = documented("whether that list says something else of the player")


@in_one_snapshot
def rating_runs(ledger: OpenLedger, pool: str | None = None, *, last: int | None = None) -> list[RatingRun]:
    """Return the rating periods and events of a pool, the *last* ones or all, oldest first.

    Raises:
        UnknownNameError: the pool's schemes rate each game by itself, so that there are no runs.
    """
    rated_by = ledger.pool(pool)
    if rated_by.by_game:
        raise UnknownNameError(
            "rating run of pool", rated_by.name, f"scheme {rated_by.scheme.name!r} rates each game when it ends"
        )
    until_ms = ledger.states(rated_by).in_force_ms(ledger.now_ms()) or 0
    rows: list[RatingRun] = []
    closings: list[int] = []
    first, most = BEGINNING, row_limit(last)
    # If games are rated one by one, each is a batch of its own, and batches are no runs.
    if most < EVERY_ROW and all(era.scheme.rhythm is not Rhythm.GAME for era in rated_by.eras):
        batch = queries.fetch_first(ledger.views.connection, queries.LAST_BATCHES, (rated_by.pool, most))
        first = BEGINNING if batch is None or batch["ms"] is None else int(batch["ms"])
    for row in queries.fetch_dicts(ledger.views.connection, queries.RUNS, (rated_by.pool, first)):
        era = rated_by.eras[rated_by.era_at(row["rated_ms"])]
        ms = row["rated_ms"]
        if era.scheme.rhythm is not Rhythm.GAME:
            closings.append(ms)
            rows.append(
                RatingRun(
                    as_of=None if ms == OPEN else day(ms),
                    event=row["batch"] or None,
                    scheme=era.scheme.name,
                    closed=ms <= until_ms,
                    games=row["games"],
                    players=row["players"],
                    first_game=day(row["first_ms"]),
                    last_game=day(row["last_ms"]),
                    published=None,
                )
            )
    every = Publications(ledger).all(rated_by.name)
    firsts = [first_list_counting(every, ms) for ms in closings]
    return [
        attrs.evolve(row, published=None if first is None else first.name)
        for row, first in zip(rows[-most:], firsts[-most:], strict=True)
    ]


@in_one_snapshot
def list_in_force_on(
    ledger: OpenLedger, on: str, pool: str | None = None, *, limit: int | None = None
) -> list[RatingListRow]:
    """Return the rating list in force at the end of a day, month or year: its players, best first.

    An initial rating is in force from its day on, whether or not a game came later; a declared rating until the
    player's first closing. The rows have the ratings after the next rating period, if there is one; its unrated new
    players are on its list, not on this one.
    """
    rated_by, ms = ledger.pool(pool), instant_end_ms(on)
    connection = ledger.views.connection
    listed = rating_list_at(connection, rated_by, ms, row_limit(limit))
    following = None
    if not rated_by.by_game:
        place = queries.fetch_first(connection, queries.NEXT_PLACE, (rated_by.pool, ms))
        following = None if place is None or place["ms"] == OPEN else place["ms"]
    players = {row.player for row in listed}
    later = {} if following is None else Standings(connection, rated_by, following).of(players)
    shown, published = names(ledger, players), _published_rows(ledger, rated_by, ms, players)
    rows = []
    for row in listed:
        next_run = None
        if following is not None:
            after = later[row.player].rating if row.player in later else None
            change = None if after is None else after - row.rating
            next_run = NextRun(next_run=day(following), next_rating=after, change=change)
        original = None if published is None else published.get(row.player)
        rows.append(
            RatingListRow(
                place=row.rank,
                player=row.player,
                name=shown[row.player],
                rating=row.rating,
                games=row.games,
                last_game=row.last_game,
                following=next_run,
                published=None if original is None else original.rating,
                revised=published is not None and not have_same_numbers(original, row),
            )
        )
    return rows


def _published_rows(ledger: OpenLedger, pool: Pool, ms: int, players: Collection[int]) -> Mapping[int, ListRow] | None:
    """Return the rows of players on the list published of exactly that instant; None if none was published."""
    publications = Publications(ledger)
    publication = publications.at(pool.name, ms)
    if publication is None:
        return None
    if len(players) > FEW_PLAYERS:
        return rows_by_player(publications.rows(publication))
    rows = ((player, publications.row(publication, player)) for player in players)
    return {player: row for player, row in rows if row is not None}
