"""A player's highest and lowest ratings under each scheme, five best wins and five worst losses, each with its game.

What an earlier scheme of the pool gave is marked as from another system: "there is no direct comparison with the
previous system" (ChessWorld FAQ). Numbers come from the views; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledger.answers.moments import of_one_moment
from ledger.answers.read_models import Sides, games_until, refuse_without
from ledger.answers.wording import day
from ledger.book.roster import Roster
from ledger.book.timeline import Pool
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.ratings import queries
from ledger.ratings.projectors import bests, highest_lowest
from ledger.ratings.side_tables import highest_of

Row = dict[str, Any]
# The last row of each era up to a game: SQLite takes the other columns from the row that has the largest n.
_ERAS = """
SELECT era, max(n) AS n, highest, highest_n, lowest, lowest_n FROM highest_lowest
WHERE pool = ?1 AND player = ?2 AND n <= ?3 GROUP BY era ORDER BY era DESC
"""
_BESTS = """
SELECT n, opponent_rating_before FROM bests
WHERE pool = ?1 AND player = ?2 AND n <= ?3 AND half_points = ?4 ORDER BY {} LIMIT ?5
"""
_WINS, _LOSSES = (_BESTS.format(f"opponent_rating_before {order}, n") for order in ("DESC", "ASC"))


NO_LOWEST: Row = dict.fromkeys(("lowest", "lowest_date", "lowest_scheme"))


@of_one_moment
def achievements(ledger: Ledger, person: Person, pool: str | None = None, at: str | None = None) -> list[Row]:
    """What a player has reached: a row for each highest and lowest rating, each best win and each worst loss.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        at: only what was in force at the end of this day, month or year.

    Returns:
        ``what`` is ``highest``, ``lowest``, ``best win`` or ``worst loss``; ``place`` counts from 1, the present scheme
        first, then the ones before; ``scheme`` gave the rating, and ``other_system`` is true where another scheme holds
        for the player now. The rest tells of the game; ``opponent_rating_before`` of a newcomer is the rating with
        which the formula reckoned, and who was unrated is among neither wins nor losses. Highest and lowest count from
        50 rated games on and are in force from ``in_force`` on; a highest rating that a player came with has no game,
        and ``scheme`` is the list that it stood on.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger was opened without these read models.
    """
    refuse_without(ledger, highest_lowest.PROJECTOR)
    refuse_without(ledger, bests.PROJECTOR)
    rated_by = ledger.pool(pool)
    n = games_until(ledger, rated_by, person, at)
    sides = Sides(ledger, rated_by, person.player)
    present = rated_by.eras[sides.era(n) if n else 0].scheme.name
    found = [*_extremes(ledger, rated_by, person, n), *_best_games(ledger, rated_by, person, n)]
    rows = []
    for what, place, game, rating, scheme, opponents in found:
        name = scheme or rated_by.eras[sides.era(game)].scheme.name
        shown = sides.shown(game)
        rows.append(
            {
                "what": what,
                "place": place,
                "scheme": name,
                "other_system": name != present,
                **shown,
                "rating": shown["rating"] if rating is None else rating,
                "opponent_rating_before": _or(shown["opponent_rating_before"], opponents),
                "in_force": shown["in_force"] if game else _seeded_on(ledger, rated_by, person),
            }
        )
    return rows


# What, place, game, rating, list that it comes from, the rating by which the opponent's place among the best is.
_Found = tuple[str, int, int, float | None, str | None, float | None]


def _or(rating: float | None, reckoned: float | None) -> float | None:
    """The rating in force or, of a newcomer who had none, that with which the formula reckoned."""
    return reckoned if rating is None else rating


def _extremes(ledger: Ledger, pool: Pool, person: Person, n: int) -> Iterator[_Found]:
    eras = list(queries.dictionaries(ledger.views.connection, _ERAS, (pool.pool, person.player, n)))
    for what in ("highest", "lowest"):
        reached = [row for row in eras if row[f"{what}_n"]]
        for place, row in enumerate(reached, 1):
            yield what, place, row[f"{what}_n"], row[what], None, None
        if what == "highest":
            listed = _list_of(ledger, pool, person)
            highest = None if listed is None else highest_of(listed.seed)
            if listed is not None and highest is not None:
                yield what, len(reached) + 1, 0, highest, listed.source or "seed", None


def _best_games(ledger: Ledger, pool: Pool, person: Person, n: int) -> Iterator[_Found]:
    for what, query, half_points in (("best win", _WINS, 2), ("worst loss", _LOSSES, 0)):
        arguments = (pool.pool, person.player, n, half_points, bests.PLACES)
        for place, row in enumerate(queries.dictionaries(ledger.views.connection, query, arguments), 1):
            yield what, place, row["n"], None, None, row["opponent_rating_before"]


def _list_of(ledger: Ledger, pool: Pool, person: Person) -> Any:
    """The list with whose rating a player began; None for who brought none."""
    first = queries.first_row(ledger.views.connection, queries.ROW, (pool.pool, person.player, 1))
    roster = Roster(ledger.views.connection)
    if first is None:
        return next(iter(roster.seeds(pool.pool, person.player)), None)
    return roster.seed_at(pool.pool, person.player, first["ended_ms"])


def _seeded_on(ledger: Ledger, pool: Pool, person: Person) -> str | None:
    listed = _list_of(ledger, pool, person)
    return None if listed is None or listed.seed.day is None else day(listed.ms)


@of_one_moment
def lowest(ledger: Ledger, pool: Pool, player: int, n: int) -> Row:
    """The lowest rating under the scheme that holds after a player's n-th game, since when, and which scheme it is."""
    row = queries.first_row(ledger.views.connection, _ERAS + " LIMIT 1", (pool.pool, player, n))
    if row is None or not row["lowest_n"]:
        return NO_LOWEST
    sides = Sides(ledger, pool, player)
    reached = sides.shown(row["lowest_n"])
    scheme = pool.eras[row["era"]].scheme.name
    return {"lowest": row["lowest"], "lowest_date": reached["in_force"], "lowest_scheme": scheme}
