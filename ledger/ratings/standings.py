"""The ranking of a pool, now or at an instant: which players a list shows, with which numbers and in which order.

It answers rankings, lists that are shown, published and verified, their differences, and dry runs. The cost follows
what is read: an index finds few of many, places are sums over the distribution of ratings and a count of equals, and
all players are computed only if time or a later scheme has changed ratings. No name of a person is looked up.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from heapq import nsmallest
from itertools import groupby
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple

import orjson

from ledger.book import stored_proposals
from ledger.book.policies import PUBLISHING, stored_policies
from ledger.book.timeline import BEGINNING, Pool
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.instants import Precision, instant_text
from ledger.facts.periods import DAY_MS
from ledger.journal.stored_lists import FORM, FORMS, ListRow, list_texts, shared_ranks, with_ranks
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.ratings.views_file import highest_rating_of, whole_points

if TYPE_CHECKING:
    import sqlite3


Point = tuple[float, int]  # a place in a ranking: the rating below zero, points, and the player's number

LISTED = "SELECT coalesce(sum(players), 0) FROM distribution WHERE pool = ?"
_AMONG = "SELECT count(*) FROM current WHERE pool = ? AND listed = 1"
WITH_MORE = "SELECT coalesce(sum(players), 0) FROM distribution WHERE pool = ? AND points > ?"
DISTRIBUTION_OF_POOL = "SELECT points, players FROM distribution WHERE pool = ? ORDER BY points DESC"
HIGHER = f"{_AMONG} AND rating > ? AND rating <= ?"
EQUAL_BEFORE = f"{_AMONG} AND rating = ? AND player < ?"
ORDER = """
SELECT -rating, player FROM current WHERE pool = ? AND listed = 1 AND rating >= ? AND rating <= ?
ORDER BY rating DESC, player
"""

# By the closed accounts, never (hence the plus) by all who are listed.
OF_CLOSED = """
SELECT -rating, player FROM current
WHERE pool = ? AND +listed = 1 AND player IN (SELECT value FROM json_each(?))
"""

# Measured with half a million players, 659 of them with the commonest number of points: to count one place takes 33
# microseconds, to read all that have its points 400 to 500; to sum up the distribution above one number of points 60 to
# 150, to read it whole 1,200.
FEW_POINTS = 10  # places with the same whole points up to which each is counted by SQLite
FEW_POINT_COUNTS = 8  # numbers of points up to which the distribution is summed up for each


def count_listed(connection: sqlite3.Connection, pool: int) -> int:
    """Return how many players a pool lists, those with closed accounts among them."""
    return int(connection.execute(LISTED, (pool,)).fetchone()[0])


def count_players_before(connection: sqlite3.Connection, pool: int, points: Sequence[Point]) -> dict[Point, int]:
    """Return how many listed players of a pool rank before each of some points, which come in ranking order."""
    counts: dict[Point, int] = {}
    groups = {points_of: list(group) for points_of, group in groupby(points, lambda point: whole_points(-point[0]))}
    for (points_of, within), above in zip(groups.items(), _with_more(connection, pool, list(groups)), strict=True):
        among = _counted if len(within) <= FEW_POINTS else _read
        numbers = among(connection, pool, highest_rating_of(points_of), within)
        counts.update((point, above + number) for point, number in zip(within, numbers, strict=True))
    return counts


def _with_more(connection: sqlite3.Connection, pool: int, requested: Sequence[int]) -> Iterator[int]:
    """Return how many players a pool lists with more points than each number, in descending order."""
    if len(requested) < FEW_POINT_COUNTS:
        for points in requested:
            yield int(connection.execute(WITH_MORE, (pool, points)).fetchone()[0])
        return
    numbers = connection.execute(DISTRIBUTION_OF_POOL, (pool,)).fetchall()
    above = place = 0
    for points in requested:
        while place < len(numbers) and numbers[place][0] > points:
            above += numbers[place][1]
            place += 1
        yield above


def _counted(connection: sqlite3.Connection, pool: int, since: float, points: Sequence[Point]) -> Iterator[int]:
    """Return how many from the rating *since* down rank before each point; counted from each to the next one."""
    higher = 0
    for negative, player in points:
        higher += connection.execute(HIGHER, (pool, -negative, since)).fetchone()[0]
        since = -negative
        yield higher + connection.execute(EQUAL_BEFORE, (pool, since, player)).fetchone()[0]


def _read(connection: sqlite3.Connection, pool: int, since: float, points: Sequence[Point]) -> Iterator[int]:
    """Return the same numbers, read from the part of the ranking that the points lie in."""
    order = connection.execute(ORDER, (pool, -points[-1][0], since)).fetchall()
    return (bisect_left(order, point) for point in points)


def points_of_closed(connection: sqlite3.Connection, pool: int, closed: Set[int]) -> list[Point]:
    """Return the points of closed accounts among all whom the views list, in order."""
    return sorted(connection.execute(OF_CLOSED, (pool, orjson.dumps(sorted(closed)).decode())).fetchall())


NO_LIMIT = 2**62  # a limit that is none, as SQLite takes it; as a player's number above all
# Measured with 10,000 players: 0.07 ms for each that is looked up, 80 to 110 ms for everybody.
FEW_PLAYERS = 1_000  # are looked up one by one; for more of them everybody is read


class ListedPlayer(NamedTuple):
    """A player on a rating list.

    Attributes:
        player: the player number.
        rating: the rating in force, points, unrounded.
        games: rated games by then.
        last_ms: when the latest of them ended, milliseconds since 1970; None without one.
    """

    player: int
    rating: float
    games: int
    last_ms: int | None

    @property
    def point(self) -> Point:
        """The sort key of rankings: the best first, of equals the lower number."""
        return -self.rating, self.player

    @property
    def last_game(self) -> str | None:
        """The day of the latest rated game."""
        return None if self.last_ms is None else instant_text(self.last_ms, Precision.DAY)

    @property
    def said(self) -> tuple[float, int, str | None]:
        """The player's row of a list without the rank: rating, games, day of the last one."""
        return self.rating, self.games, self.last_game


class RankingCounts(NamedTuple):
    """The number of players in a ranking, and of those with a rating or a higher one."""

    players: int
    not_below: int


class Standings:
    """The ranking of one pool at an instant or, without one, now.

    At an instant, the ratings in force then count. Now is after the last rated game: a period that is not over counts
    as if it closed then, and a player whose account is closed by today is not shown.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        pool: Pool,
        at_ms: int | None = None,
        *,
        now_ms: int = 0,
        min_games: int = 0,
        active_from: int = BEGINNING,
        closed: Set[int] | None = None,
        last_rated: bool = False,
    ) -> None:
        """Ask about a pool.

        Args:
            connection: the views.
            pool: the pool.
            at_ms: the instant, milliseconds since 1970; None: now.
            now_ms: the present time; not needed at an instant.
            min_games: rated games that a player has at least; with 0, players who came with the rating of a list and
                have none are included.
            active_from: an instant after which the last of them ended.
            closed: the players whose accounts are closed, if the caller has them.
            last_rated: take the last game in rating order for the last one, as lists of earlier releases did.
        """
        self.states = PlayerStates(connection, pool)
        self._connection, self._pool = connection, pool
        self._at_ms, self._now_ms, self._active_from = at_ms, now_ms, active_from
        self._last_ms = "ended_ms" if last_rated else "latest_ms"
        self._unplayed_counts: dict[float, RankingCounts] = {}
        self._min_games = min(min_games, MAX_WHOLE)  # no player has more, and SQLite holds no much larger number
        if closed is not None:
            self.closed = closed

    @cached_property
    def closed(self) -> Set[int]:
        """The players whose accounts are closed, so that the ranking does not show them."""
        return self.states.unlisted_now(self._now_ms) if self._at_ms is None else self.states.unlisted_at(self._at_ms)

    # -- the best --------------------------------------------------------------------------------------------------

    def best(self, limit: int = NO_LIMIT) -> list[ListedPlayer]:
        """Return the best players, best first; of equals the lower number comes first."""
        if self._at_ms is not None:
            if self._rows_say_all:
                return self._best_by_rows(self._at_ms, limit)
            if limit < NO_LIMIT and self.states.games_alone_change(self._at_ms):
                return self._best_of_bounded(limit, partial(self._listed_of_bounded, self._at_ms))
            return nsmallest(limit, self._worked_out, key=_point)
        since = self.states.rows_current_since_ms
        # The rows say nothing about closed accounts: as many more are read as may have to be left out.
        arguments = (self._pool.pool, self._min_games, limit + len(self.closed), self._active_from, since)
        query = queries.RANKING_OF_FEW_ACTIVE if self._are_few_active else queries.RANKING
        players = self._open(queries.fetch_tuples(self._connection, query, arguments))
        if others := [*self._moved, *self._unplayed(limit)]:
            players = sorted([*players, *others], key=_point)
        return players[:limit]

    @cached_property
    def _rows_say_all(self) -> bool:
        """True if the list of the instant shows the last rows by then and nothing else."""
        return self._at_ms is not None and self.states.rows_say_all(self._at_ms)

    @cached_property
    def _are_few_active(self) -> bool:
        """True if only recently active players are asked for, and there are few of them."""
        requested = (self._pool.pool, self._active_from)
        few = self._active_from > BEGINNING
        return few and queries.fetch_first(self._connection, queries.MANY_ACTIVE, requested) is None

    def _best_by_rows(self, ms: int, limit: int) -> list[ListedPlayer]:
        """Return the best if the last rows by then are the ranking."""
        arguments = (self._pool.pool, ms, self._min_games, self._active_from)
        if queries.fetch_first(self._connection, queries.MANY_SINCE, arguments[:2]) is None:
            few = queries.fetch_tuples(self._connection, queries.BEST_SINCE_FEW, (*arguments, limit + len(self.closed)))
            # Two lists come one after the other, each in its own order.
            return sorted(self._open(few), key=_point)[:limit]

        def look_up(players: int, after: int) -> list[ListedPlayer]:
            return self._open(queries.fetch_tuples(self._connection, queries.BEST_AT, (*arguments, players, after)))

        return self._best_of_bounded(limit, look_up)

    def _best_of_bounded(self, limit: int, look_up: Callable[[int, int], list[ListedPlayer]]) -> list[ListedPlayer]:
        """Return the best of an instant; *look_up* reads some players, after the first ones, by their bounds."""
        # A player who never had a rating as high as the last of the best cannot be one of them. So players are looked
        # up in the order of what their ratings never exceed, each time as many again, until no other can come in.
        best: list[ListedPlayer] = []
        after, players = 0, limit if limit == NO_LIMIT else FEW_PLAYERS + limit
        while True:
            best = sorted([*best, *look_up(players, after)], key=_point)[:limit]
            after, players = after + players, after + players
            bound = queries.fetch_first(self._connection, queries.BOUND, (self._pool.pool, after))
            if bound is None or not limit or (len(best) == limit and best[-1].rating > bound["rating"]):
                return best

    def _listed_of_bounded(self, ms: int, players: int, after: int) -> list[ListedPlayer]:
        """Return players by their computed states: a rating holds from the end of a period, or is not listed yet."""
        states = (state for state in self.states.bounded_at(ms, players, after) if state.player not in self.closed)
        return [player for state in states if self._takes(player := self._listed(state))]

    def _open(self, rows: Iterable[tuple[int, float, int, int]]) -> list[ListedPlayer]:
        """Return the rows of players whose accounts are open."""
        closed = self.closed
        return [ListedPlayer._make(row) for row in rows if row[0] not in closed]

    @cached_property
    def _worked_out(self) -> list[ListedPlayer]:
        """All players at the instant, state by state, in no order."""
        assert self._at_ms is not None
        return [player for state in self.states.all_at(self._at_ms) if self._takes(player := self._listed(state))]

    @cached_property
    def _moved(self) -> list[ListedPlayer]:
        """The players whose ratings time or a later scheme has changed since their last rows."""
        moved = (
            self._listed(state) for state in self.states.moved_since(self._now_ms) if state.player not in self.closed
        )
        return [player for player in moved if self._takes(player)]

    def _unplayed(self, limit: int) -> list[ListedPlayer]:
        """Return the best players who came with the rating of a list and have no rated game."""
        if self._min_games or self._active_from > BEGINNING:
            return []
        states = self.states.unplayed(self._now_ms, limit + len(self.closed))
        return [self._listed(state) for state in states if state.player not in self.closed]

    def _count_unplayed(self, rating: float) -> RankingCounts:
        """Count the players without a rated game, and those of them who have that rating or a higher one."""
        if self._min_games or self._active_from > BEGINNING:
            return RankingCounts(0, 0)
        # A caller that needs a place needs the next rating above it, too: one look at them gives both.
        if rating not in self._unplayed_counts:
            players, *both = self.states.count_seeded(self._now_ms, rating, self.closed)
            above = nextafter(rating, inf)
            self._unplayed_counts = {
                each: RankingCounts(players, n) for each, n in zip((rating, above), both, strict=True)
            }
        return self._unplayed_counts[rating]

    def _listed(self, state: PlayerState) -> ListedPlayer:
        last_ms = None if state.row is None else state.row[self._last_ms]
        return ListedPlayer(state.player, state.in_force or 0.0, state.games, last_ms)

    def _takes(self, player: ListedPlayer) -> bool:
        if player.games < self._min_games:
            return False
        return self._active_from == BEGINNING or (player.last_ms is not None and player.last_ms > self._active_from)

    # -- how many --------------------------------------------------------------------------------------------------

    def count_players(self, rating: float) -> RankingCounts:
        """Count the players, and those with at least a given rating and above it, in rating points."""
        if self._at_ms is not None and not self._rows_say_all:
            return _count(self._worked_out, rating)
        others = RankingCounts(0, 0)
        if self._at_ms is None:
            # Every player with a last row has a game: a minimum of one game leaves none of them out.
            if self._order is None and self._min_games <= 1 and self._active_from == BEGINNING:
                # A number above all players': those with that very rating rank before the point.
                (not_below,) = self.before([(-rating, NO_LIMIT)]).values()
                listed = count_listed(self._connection, self._pool.pool) - len(self._shut) + len(self._moved)
                others = self._count_unplayed(rating)
                return RankingCounts(listed + others.players, not_below + others.not_below)
            others = RankingCounts(
                *map(sum, zip(_count(self._moved, rating), self._count_unplayed(rating), strict=True))
            )
        query = queries.COUNTED_AT
        if self._at_ms is None:
            query = queries.COUNTED_OF_FEW_ACTIVE if self._are_few_active else queries.COUNTED_NOW
        since = self.states.rows_current_since_ms if self._at_ms is None else self._at_ms
        without = json.dumps(sorted(self.closed))
        arguments = (self._pool.pool, since, self._min_games, self._active_from, rating, without)
        ((players, not_below),) = queries.fetch_tuples(self._connection, query, arguments)
        return RankingCounts(players + others.players, not_below + others.not_below)

    # -- places now ------------------------------------------------------------------------------------------------

    def before(self, points: Sequence[Point]) -> dict[Point, int]:
        """Return how many players with games rank now before each of some points, which need be no player's."""
        if self._order is not None:
            return {point: bisect_left(self._order, point) for point in points}
        above = count_players_before(self._connection, self._pool.pool, points)
        listed = self._by_later_list
        return {
            point: number - bisect_left(self._shut, point) + bisect_left(listed, point)
            for point, number in above.items()
        }

    @cached_property
    def _by_later_list(self) -> list[Point]:
        """The points of the players to whom a later list gives the rating, in order."""
        return sorted(
            self._listed(state).point
            for state in self.states.moved_since(self._now_ms)
            if state.player not in self.closed
        )

    def ranks(self, points: Sequence[Point]) -> dict[int, int]:
        """Return the present ranks, by player, of listed players with open accounts; *points* are theirs, in order."""
        if self._order is None:
            # Only players with higher ratings rank before number 0: equals share a rank.
            above = self.before(sorted({(rating, 0) for rating, _ in points}))
            return {player: above[rating, 0] + 1 for rating, player in points}
        requested = {player for _, player in points}
        shared = shared_ranks([rating for rating, _ in self._order])
        return {player: rank for rank, (_, player) in zip(shared, self._order, strict=True) if player in requested}

    @cached_property
    def _order(self) -> list[Point] | None:
        """The points of all players with games, in order; None if the last rows are the ranking."""
        since = self.states.rows_current_since_ms
        if since == BEGINNING:
            return None
        points = queries.fetch_tuples(self._connection, queries.ORDER_SINCE, (self._pool.pool, since))
        points += [(-(state.in_force or 0.0), state.player) for state in self.states.moved_since(self._now_ms)]
        return sorted(point for point in points if point[1] not in self.closed)

    @cached_property
    def _shut(self) -> list[Point]:
        """The points of closed accounts that the last rows list, in order."""
        return points_of_closed(self._connection, self._pool.pool, self.closed) if self.closed else []

    # -- some players ----------------------------------------------------------------------------------------------

    def of(self, players: Iterable[int]) -> dict[int, ListedPlayer]:
        """Return those of some players whom the list of the instant shows, by number."""
        assert self._at_ms is not None
        requested = set(players)
        if len(requested) > FEW_PLAYERS:
            return {player.player: player for player in self.best() if player.player in requested}
        # The number of a merged player still has its seed, and is on no list: the person is.
        requested -= stored_proposals.load_merges(self._connection).keys() | self.closed
        states = [self.states.at(player, self._at_ms) for player in sorted(requested)]
        shown = (state for state in states if state.in_force is not None and self.states.is_on_list(state, self._at_ms))
        return {player.player: player for player in map(self._listed, shown) if self._takes(player)}


def _point(player: ListedPlayer) -> Point:
    return player.point


def _count(players: Iterable[ListedPlayer], rating: float) -> RankingCounts:
    ratings = [player.rating for player in players]
    return RankingCounts(len(ratings), sum(other >= rating for other in ratings))


def list_standings(connection: sqlite3.Connection, pool: Pool, ms: int, form: str = FORM) -> Standings:
    """Return the ranking of a pool's rating list at an instant, without those whom the policy ``publishing`` keeps off.

    The policy is that of the instant. A rating that came from a list is no rated game. The last games are those of
    lists of a stored form.
    """
    settings = stored_policies(connection).settings_at(PUBLISHING, ms)
    return Standings(connection, pool, ms, active_from=active_from_ms(settings, ms), last_rated=form != FORM)


def active_from_ms(settings: Mapping[str, int], ms: int) -> int:
    """Return the instant after which the last rated games of a list's players end, by the policy ``publishing``.

    ``BEGINNING`` if the policy keeps nobody off.
    """
    active_days = settings["active_days"]
    return ms - active_days * DAY_MS if active_days else BEGINNING


def rating_list_at(
    connection: sqlite3.Connection, pool: Pool, ms: int, limit: int = NO_LIMIT, form: str = FORM
) -> list[ListRow]:
    """Return the rating list in force at an instant, best first, as a stored form has it.

    Of equal ratings lower numbers come first.
    """
    best = list_standings(connection, pool, ms, form).best(limit)
    # Halves go to the even point, as Python rounds: digests of published lists depend on it.
    rows = [ListRow(row.player, 0, round(row.rating), row.rating, row.games, row.last_game) for row in best]
    return with_ranks(rows, form)


def form_of_list(connection: sqlite3.Connection, pool: Pool, ms: int, digest: str) -> str | None:
    """Return the stored form in which the list of an instant has a digest; None if it has it in no form."""
    digests = ((form, list_texts(rating_list_at(connection, pool, ms, form=form), form).digest) for form in FORMS)
    return next((form for form, of_form in digests if of_form == digest), None)


def rows_by_player(rows: Iterable[ListRow]) -> Mapping[int, ListRow]:
    """Return the rows of a list by player number."""
    return {row.player: row for row in rows}
