"""Projectors of facts as a plug-in author would write them: the longest games, games by weekday, joiners by month."""

from __future__ import annotations

from ledger.facts.events import Event, GameRecorded, PlayerRegistered
from ledger.facts.instants import instant_ms
from ledger.ratings.projector import FactProjector, FactRows, Kept

DAY_MS = 86_400_000
FIRST_WEEKDAY = 3  # 1970 began on a Thursday, the fourth day of a week


def longest(rows: FactRows, position: int, _before: Event | None, now: Event | None) -> None:
    """A row for each game of which the half-moves are known: an index by them has the longest one at its end."""
    if isinstance(now, GameRecorded) and now.half_moves is not None:
        rows.put((position,), (now.pool, now.half_moves, int(now.rated)))
    else:
        rows.take_out((position,))


LONG_GAMES = FactProjector(
    name="long_games",
    version=1,
    kinds=(GameRecorded,),
    key=(Kept("game", "INTEGER", 0, "position of the game in the journal"),),
    columns=(
        Kept("of_pool", "TEXT", 0, "name of its pool"),
        Kept("half_moves", "INTEGER", 0, "half-moves played"),
        Kept("rated", "INTEGER", 0, "1 where it was asked to be rated, else 0"),
    ),
    stand=longest,
)


def by_weekday(rows: FactRows, _position: int, before: Event | None, now: Event | None) -> None:
    """Games of each pool by the weekday on which they ended, and those of them that were not to be rated."""
    for game, amount in ((before, -1), (now, 1)):
        if isinstance(game, GameRecorded) and len(game.ended_at) >= len("2024-05-01"):
            weekday = (instant_ms(game.ended_at) // DAY_MS + FIRST_WEEKDAY) % 7
            rows.add((game.pool, weekday), amount, 0 if game.rated else amount)


WEEKDAYS = FactProjector(
    name="weekdays",
    version=1,
    kinds=(GameRecorded,),
    key=(Kept("of_pool", "TEXT", 0, "name of the pool"), Kept("weekday", "INTEGER", 0, "0 Monday to 6 Sunday")),
    columns=(
        Kept("games", "INTEGER", 0, "games that ended on such a day"),
        Kept("unrated", "INTEGER", 0, "of these, games that were not to be rated"),
    ),
    sums=True,
    stand=by_weekday,
)


def by_month(rows: FactRows, _position: int, before: Event | None, now: Event | None) -> None:
    """Players by the month in which they joined."""
    for player, amount in ((before, -1), (now, 1)):
        if isinstance(player, PlayerRegistered):
            rows.add((player.joined_at[: len("2024-05")],), amount)


JOINERS = FactProjector(
    name="joiners",
    version=1,
    kinds=(PlayerRegistered,),
    key=(Kept("month", "TEXT", 0, "YYYY-MM, or YYYY where no more is known"),),
    columns=(Kept("players", "INTEGER", 0, "who joined in it"),),
    sums=True,
    stand=by_month,
)
OF_FACTS = (LONG_GAMES, WEEKDAYS, JOINERS)
