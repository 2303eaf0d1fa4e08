"""Rating lists: the runs of a pool, the numbers in force on a day, and what the next run brought.

A run is a batch that was rated together: a period, or an event. A number is in force from the moment its run closes.
Games that wait for a run that has not closed yet are in no list.
"""

from __future__ import annotations

from bisect import bisect_right

import attrs

from ledger.answers.moments import of_one_moment
from ledger.answers.publications import published_at, same
from ledger.answers.wording import EVERY_ROW, day, names, rows_up_to
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import beside, documented
from ledger.facts.periods import OPEN
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.ratings.standings import Standings, list_in_force
from ledger.schemes.scheme import Rhythm


@attrs.frozen(kw_only=True, slots=False)
class RatingRun:
    """A rating run of a pool: games that were rated together, when it closed, the list published of it."""

    as_of: str | None = documented("the day on which it closed or closes; null: nothing has closed it yet")
    event: str | None = documented("the event that was rated; null: a period")
    scheme: str = documented("the scheme that rated it")
    closed: bool = documented("whether it has closed by now")
    games: int = documented("games rated in it", minimum=1)
    players: int = documented("players with a game in it", minimum=2)
    first_game: str = documented("the day on which the first of them ended")
    last_game: str = documented("the day on which the last of them ended")
    published: str | None = documented("the list that was published of it; null: none")


@attrs.frozen(kw_only=True, slots=False)
class NextRun:
    """What the next run brought a player."""

    next_run: str = documented("its day")
    next_rating: float | None = documented("the rating after it, points; null: not listed then")
    change: float | None = documented("from the rating to that, points")


@attrs.frozen(kw_only=True, slots=False)
class RatingListRow:
    """A player on the list in force on a day."""

    place: int = documented("place, from 1; equals share one", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rating: float = documented("the rating in force, points")
    games: int = documented("rated games by then", minimum=0)
    last_game: str | None = documented("the day of the last of them")
    following: NextRun | None = beside()
    published: float | None = documented("the rating on the list published of that very instant, points; null: none")
    revised: bool = documented("whether that list says something else of the player")


@of_one_moment
def runs(ledger: Ledger, pool: str | None = None, *, last: int | None = None) -> list[RatingRun]:
    """The rating runs of a pool, oldest first.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        last: only so many, the latest; 0 or None: all.

    Raises:
        UnknownNameError: the pool's schemes rate each game by itself, so that there are no runs.
    """
    rated_by = ledger.pool(pool)
    if rated_by.by_game:
        raise UnknownNameError(
            "rating run of pool", rated_by.name, f"scheme {rated_by.scheme.name!r} rates each game when it ends"
        )
    now = ledger.now_ms()
    rows: list[RatingRun] = []
    closings: list[int] = []
    first = _first_of_last(ledger, rated_by, rows_up_to(last))
    for row in queries.dictionaries(ledger.views.connection, queries.RUNS, (rated_by.pool, first)):
        era = rated_by.eras[rated_by.era_at(row["rated_ms"])]
        if era.scheme.rhythm is not Rhythm.GAME:
            ms = row["rated_ms"]
            closings.append(ms)
            rows.append(
                RatingRun(
                    as_of=None if ms == OPEN else day(ms),
                    event=row["batch"] or None,
                    scheme=era.scheme.name,
                    closed=ms <= now,
                    games=row["games"],
                    players=row["players"],
                    first_game=day(row["first_ms"]),
                    last_game=day(row["last_ms"]),
                    published=None,
                )
            )
    for publication in ledger.publications.all(rated_by.name):  # of the last list, its last edition
        run = bisect_right(closings, publication.at_ms) - 1
        if run >= 0:
            rows[run] = attrs.evolve(rows[run], published=publication.name)
    return rows[-rows_up_to(last) :]


def _first_of_last(ledger: Ledger, pool: Pool, last: int) -> int:
    """A place in rating order from which on the pool has so many runs at least, or all of them."""
    if last >= EVERY_ROW or any(era.scheme.rhythm is Rhythm.GAME for era in pool.eras):
        return BEGINNING
    row = queries.first_row(ledger.views.connection, queries.LAST_BATCHES, (pool.pool, last))
    return BEGINNING if row is None or row["ms"] is None else int(row["ms"])


@of_one_moment
def list_on(ledger: Ledger, on: str, pool: str | None = None, *, limit: int | None = None) -> list[RatingListRow]:
    """The list in force at the end of a day, month or year: who is on it, best first, and what the next run brought.

    The rating of a seed is in force from its day on, whether or not a game came later; a declared rating is in force
    until the player's first closing.

    Args:
        ledger: a ledger whose views are level.
        on: an instant.
        pool: its name; the first pool by default.
        limit: how many, the best; 0 or None: all.

    Returns:
        ``following`` where the pool has runs and there is a later one; unrated newcomers of the next run stand in its
        list, not in this one.
    """
    rated_by, ms = ledger.pool(pool), instant_end_ms(on)
    connection = ledger.views.connection
    listed = list_in_force(connection, rated_by, ms, rows_up_to(limit))
    following = None
    if not rated_by.by_game:
        place = queries.first_row(connection, queries.NEXT_PLACE, (rated_by.pool, ms))
        following = None if place is None or place["ms"] == OPEN else place["ms"]
    players = {row.player for row in listed}
    later = {} if following is None else Standings(connection, rated_by, following).of(players)
    shown, published = names(ledger, players), published_at(ledger, rated_by, ms, players)
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
                revised=published is not None and not same(original, row),
            )
        )
    return rows
