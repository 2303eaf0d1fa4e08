"""Rating lists: the runs of a pool, the numbers in force on a day, and what the next run brought.

A run is a batch that was rated together: a period, or an event. A number is in force from the moment its run closes.
Games that wait for a run that has not closed yet are in no list.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.answers.publications import published_at, same
from ledger.answers.wording import EVERY_ROW, day, names, rows_up_to
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.periods import OPEN
from ledger.journal.kept_lists import ListRow
from ledger.ledger import Ledger
from ledger.ratings import queries
from ledger.ratings.standings import Standings, list_in_force
from ledger.schemes.scheme import Rhythm


@of_one_moment
def runs(ledger: Ledger, pool: str | None = None, *, last: int | None = None) -> list[dict[str, Any]]:
    """The rating runs of a pool, oldest first: when each closed, its games and players, the list published of it.

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
    found: list[dict[str, Any]] = []
    closings: list[int] = []
    first = _first_of_last(ledger, rated_by, rows_up_to(last))
    for row in queries.dictionaries(ledger.views.connection, queries.RUNS, (rated_by.pool, first)):
        era = rated_by.eras[rated_by.era_at(row["rated_ms"])]
        if era.scheme.rhythm is not Rhythm.GAME:
            ms = row["rated_ms"]
            closings.append(ms)
            found.append(
                {
                    "as_of": None if ms == OPEN else day(ms),
                    "event": row["batch"] or None,
                    "scheme": era.scheme.name,
                    "closed": ms <= now,
                    "games": row["games"],
                    "players": row["players"],
                    "first_game": day(row["first_ms"]),
                    "last_game": day(row["last_ms"]),
                    "published": None,
                }
            )
    for publication in ledger.publications.all(rated_by.name):  # of the last list, its last edition
        run = bisect_right(closings, publication.at_ms) - 1
        if run >= 0:
            found[run]["published"] = publication.name
    return found[-rows_up_to(last) :]


def _first_of_last(ledger: Ledger, pool: Pool, last: int) -> int:
    """A place in rating order from which on the pool has so many runs at least, or all of them."""
    if last >= EVERY_ROW or any(era.scheme.rhythm is Rhythm.GAME for era in pool.eras):
        return BEGINNING
    row = queries.first_row(ledger.views.connection, queries.LAST_BATCHES, (pool.pool, last))
    return BEGINNING if row is None or row["ms"] is None else int(row["ms"])


@of_one_moment
def list_on(ledger: Ledger, on: str, pool: str | None = None, *, limit: int | None = None) -> list[dict[str, Any]]:
    """The list in force at the end of a day, month or year: who is on it, best first, and what the next run brought.

    The rating of a seed is in force from its day on, whether or not a game came later; a declared rating is in force
    until the player's first closing.

    Args:
        ledger: a ledger whose views are level.
        on: an instant.
        pool: its name; the first pool by default.
        limit: how many, the best; 0 or None: all.

    Returns:
        ``place``, ``player``, ``name``, ``rating``, ``games``, ``last_game`` and, where the pool has runs and there
        is a later one, ``next_run`` (its day), ``next_rating`` and ``change``; unrated newcomers of the next run
        stand in its list, not in this one. ``published`` is the rating on the list that was published of that very
        instant, ``revised`` whether that list says something else of the player.
    """
    rated_by, ms = ledger.pool(pool), instant_end_ms(on)
    connection = ledger.views.connection
    listed = list_in_force(connection, rated_by, ms, rows_up_to(limit))
    following = None if rated_by.by_game else _next_run(ledger, rated_by, ms)
    players = {row.player for row in listed}
    later = {} if following is None else Standings(connection, rated_by, following).of(players)
    shown, published = names(ledger, players), published_at(ledger, rated_by, ms, players)
    rows = []
    for row in listed:
        entry = {
            "place": row.rank,
            "player": row.player,
            "name": shown[row.player],
            "rating": row.rating,
            "games": row.games,
            "last_game": row.last_game,
        }
        if following is not None:
            after = later[row.player].rating if row.player in later else None
            change = None if after is None else after - row.rating
            entry |= {"next_run": day(following), "next_rating": after, "change": change}
        rows.append(entry | _original(published, row))
    return rows


def _original(published: Mapping[int, ListRow] | None, row: ListRow) -> dict[str, Any]:
    """What the list said that was published of that instant, and whether it was something else."""
    original = None if published is None else published.get(row.player)
    return {
        "published": None if original is None else original.rating,
        "revised": published is not None and not same(original, row),
    }


def _next_run(ledger: Ledger, pool: Pool, ms: int) -> int | None:
    row = queries.first_row(ledger.views.connection, queries.NEXT_PLACE, (pool.pool, ms))
    return None if row is None or row["ms"] is None or row["ms"] == OPEN else int(row["ms"])
