"""A player's whole career as one line: the rating after each game, thinned so that peaks and falls survive.

Of a scheme that publishes lists the line shows the ratings in force, from list to list, each from its day on.
Tournaments and published numbers that differ from the replayed ones are its marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any, NamedTuple

import attrs

from ledger.answers.asking import day, display_name, in_one_snapshot
from ledger.answers.graphs.page_reader import count_rated_until, range_ms
from ledger.answers.publications import published_ratings
from ledger.answers.rankings import has_classes
from ledger.answers.read_models import last_game_row
from ledger.book.roster import FROM_THE_BEGINNING
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import OPEN
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates
from ledger.schemes.scheme import UNRATED, Rhythm

POINTS = 200  # of all lines together: what a screen can show, and 18 KB of JSON
MOST_TOURNAMENTS = 60  # marks: more cover each other
MOST_PUBLISHED = 20
# A look at each part costs 1.4 ms in 10,000 games; GROUP BY, which sorts first, 5 ms. The bare column is of the row
# with the minimum or maximum (SQLite, "Bare columns in an aggregate query").
_EXTREMES = " UNION ".join(
    f"SELECT (SELECT n FROM (SELECT n, {end}(rating) FROM history "
    "WHERE pool = ?1 AND player = ?2 AND n BETWEEN low AND high)) FROM parts"
    for end in ("min", "max")
)
_NUMBERS = f"""
WITH RECURSIVE parts(low, high) AS (
  SELECT ?3, ?3 + (?4 - ?3) / ?5 UNION ALL
  SELECT high + 1, min(high + 1 + (?4 - ?3) / ?5, ?4) FROM parts WHERE high < ?4)
{_EXTREMES} UNION SELECT ?3 UNION SELECT ?4
"""
_AFTER_YEAR = """
SELECT n, ended_ms FROM history WHERE pool = ?1 AND player = ?2 AND n > ?3 AND n < ?4 AND ended_ms > ?5
ORDER BY n LIMIT 1
"""
_HISTORY = "FROM history AS h JOIN games ON games.position = h.game WHERE h.pool = ?1 AND player = ?2"
_CHOSEN = "n IN (SELECT value FROM json_each(?3))"
_LINE = f"SELECT h.*, rated_ms {_HISTORY} AND {_CHOSEN} ORDER BY n"
_PLAIN_LINE = f"SELECT n, ended_ms, rating FROM history WHERE pool = ?1 AND player = ?2 AND {_CHOSEN} ORDER BY n"
_IN_FORCE = f"SELECT max(n) AS last_n, h.*, rated_ms {_HISTORY} AND n BETWEEN ?3 AND ?4 GROUP BY rated_ms ORDER BY n"
# Of a name that returns each year the seasons are parted, which begin in September (day 243 of 365.2425).
_SEASON = "(h.ended_ms - 20995200000) / 31556952000"
_TOURNAMENTS = f"""
SELECT tournament, count(*) AS games, sum(h.half_points) / 2.0 AS score, rated_ms, 1 AS together,
  max(n) AS n, h.ended_ms,
  sum(rating - rating_before) AS change
{_HISTORY} AND n BETWEEN ?3 AND ?4 AND tournament IS NOT NULL AND rated_ms < {OPEN} GROUP BY tournament, {_SEASON}
ORDER BY abs(change) DESC, n LIMIT {MOST_TOURNAMENTS}
"""
_OF_LIST = f"CASE WHEN {UNRATED} NOT IN (rating, rating_before) THEN rating - rating_before END"
_TOURNAMENTS_OF_LISTS = (
    _TOURNAMENTS.replace(_SEASON, "rated_ms")
    .replace("sum(rating - rating_before)", _OF_LIST)
    .replace("1 AS", "count(*) OVER (PARTITION BY rated_ms) AS")
)


@attrs.frozen(kw_only=True, slots=False)
class CareerPoint:
    """A rating of a career: after a game, or in force from a list on."""

    n: int = documented("the player's rated games by then, in the pool; 0: the rating of a list before them", minimum=0)
    ended_at: str = documented("the day on which the last of them ended; of a list before them its own")
    in_force: str = documented("the day from which the rating counts")
    rating: float = documented("the rating after it or its period, points")


@attrs.frozen(kw_only=True, slots=False)
class CareerYear:
    """The first rated game of a year."""

    year: int = documented("the year")
    n: int = documented("the first game that counts in the year, as the player's n-th", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class CareerScheme:
    """A rating scheme of a career, from its first game on."""

    scheme: str = documented("the rating scheme")
    n: int = documented("the first game that it rated, as the player's n-th", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class CareerTournament:
    """The mark of a tournament in a career; of a tournament in several lists or seasons one for each of them."""

    tournament: str = documented("name of the tournament")
    n: int = documented("the last of its games, as the player's n-th", minimum=1)
    ended_at: str = documented("the day on which it ended")
    in_force: str = documented("the day from which its games count")
    games: int = documented("the player's rated games in it", minimum=1)
    score: float = documented("game points in them")
    change: float | None = documented("by how much the rating changed, points; null: there was none before or after it")
    together: int = documented("tournaments that were rated with it, itself included, all of which made the change")


@attrs.frozen(kw_only=True, slots=False)
class CareerPublished:
    """A published list on which the rating was another one than it would be now."""

    list: str = documented("name of the list, POOL@INSTANT/EDITION")
    as_of: str = documented("the day of the list")
    published_rating: float | None = documented("the player's rating on it, points; null: not on it")
    revised_rating: float | None = documented("what the journal says now of that list, points; null: not on it")


@attrs.frozen(kw_only=True, slots=False)
class CareerLine:
    """The line of another pool of the player, next to the one that was asked for."""

    pool: str = documented("the pool")
    games: int = documented("all rated games of the player in the pool", minimum=0)
    is_by_list: bool = documented("whether the line goes from list to list; else from game to game")
    points: list[CareerPoint] = documented("the line, oldest first; every peak and fall is among them")


@attrs.frozen(kw_only=True, slots=False)
class Career:
    """All rated games of a player as one line, oldest first, or those of a range."""

    pool: str = documented("the pool")
    position: int = documented("the journal's last entry that it follows from", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    games: int = documented("all rated games of the player in the pool", minimum=0)
    is_by_list: bool = documented("whether the line goes from list to list; else from game to game")
    since: str | None = documented("the day with which the range begins; null: it is the career's beginning")
    until: str | None = documented("the day with which the range ends; null: it ends now")
    points: list[CareerPoint] = documented("the line, oldest first; every peak and fall is among them")
    years: list[CareerYear] = documented("where each year begins")
    schemes: list[CareerScheme] = documented("the schemes that rated the games, oldest first")
    has_classes: bool = documented("whether the pool has classes and HERA: ChessWorld's, or by the policy `classes`")
    hera: CareerPoint | None = documented("the highest rating that counts as HERA; null: none counts yet")
    highest: CareerPoint | None = documented("the highest rating of the line; null: the line is empty")
    tournaments: list[CareerTournament] = documented("its tournaments, oldest first; of many those that changed most")
    published: list[CareerPublished] = documented("the last published lists whose number differs, oldest first")
    other_pools: list[CareerLine] = documented("the lines of the player's other pools, where they were asked for")


class _Range(NamedTuple):
    """The games of a range, by the player's count, and its first and last millisecond."""

    first: int
    last: int
    since_ms: int
    until_ms: int


@in_one_snapshot
def career(
    ledger: OpenLedger,
    person: Person,
    pool: str | None = None,
    *,
    points: int = POINTS,
    since: str | None = None,
    until: str | None = None,
    every_pool: bool = False,
    marks: bool = True,
) -> Career:
    """Return a player's career.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        pool: name of the pool; the first one by default.
        points: about how many points all lines together have at most.
        since: only ratings that count from this day, month or year on.
        until: only those that count by the end of this one.
        every_pool: whether the lines of the player's other pools are beside it.
        marks: whether tournaments and published lists are among the answer.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
        MalformedError: the range ends before it begins.
    """
    since_ms, until_ms = range_ms(since, until)
    rated_by = ledger.pool(pool)
    line = _Line.of(ledger, person, rated_by)
    others = _other_pools(ledger, person, rated_by) if every_pool else []
    most = points // (1 + len(others))
    span = line.range(since_ms, until_ms)
    shown = line.points(span, most)
    return Career(
        pool=rated_by.name,
        position=ledger.views.position(),
        player=person.player,
        name=display_name(person),
        games=line.games,
        is_by_list=line.is_by_list,
        since=None if since_ms is None else day(since_ms),
        until=None if until_ms is None else day(until_ms),
        points=shown,
        years=line.years(shown),
        schemes=line.schemes(),
        has_classes=has_classes(ledger, rated_by.name),
        hera=line.hera(),
        highest=max(shown, key=lambda point: point.rating, default=None),
        tournaments=line.tournaments(span) if marks else [],
        published=_published(ledger, rated_by, person.player, span) if marks else [],
        other_pools=[other.career_line(since_ms, until_ms, most) for other in others],
    )


def _other_pools(ledger: OpenLedger, person: Person, pool: Pool) -> list[_Line]:
    """Return the lines of the other pools in which a player has a rated game or the rating of a list."""
    lines = []
    for other in ledger.pools():
        if other.pool == pool.pool:
            continue
        with suppress(UnknownNameError):  # neither a rated game there nor a list
            lines.append(_Line.of(ledger, person, other))
    return lines


@attrs.frozen
class _Line:
    """The reader of a player's line in one pool."""

    ledger: OpenLedger
    person: Person
    pool: Pool
    games: int
    states: PlayerStates

    @classmethod
    def of(cls, ledger: OpenLedger, person: Person, pool: Pool) -> _Line:
        last = last_game_row(ledger, person, pool)
        return cls(ledger, person, pool, 0 if last is None else int(last["n"]), ledger.states(pool))

    @property
    def is_by_list(self) -> bool:
        return self.pool.scheme.rhythm is not Rhythm.GAME

    @property
    def _who(self) -> tuple[int, int]:
        return self.pool.pool, self.person.player

    def career_line(self, since_ms: int | None, until_ms: int | None, most: int) -> CareerLine:
        points = self.points(self.range(since_ms, until_ms), most)
        return CareerLine(pool=self.pool.name, games=self.games, is_by_list=self.is_by_list, points=points)

    def range(self, since_ms: int | None, until_ms: int | None) -> _Range:
        """Return the games of a range; what waits for the close of its period is in none."""
        until = until_ms
        if self.is_by_list:
            until = self.ledger.now_ms() if until_ms is None else min(until_ms, self.ledger.now_ms())
        return _Range(
            1 if since_ms is None else self._count_until(since_ms - 1) + 1,
            self.games if until is None else self._count_until(until),
            BEGINNING if since_ms is None else since_ms,
            OPEN - 1 if until is None else until,
        )

    def _count_until(self, ms: int) -> int:
        return count_rated_until(self.ledger.views.connection, self._who, ms) if self.games else 0

    def points(self, span: _Range, most: int) -> list[CareerPoint]:
        """Return about so many points at most, among them the first, the last, the highest and the lowest."""
        if self.is_by_list:
            return thinned(self._list_points(span), most)
        if span.last < span.first:
            return []
        connection, arguments = self.ledger.views.connection, (*self._who, span.first, span.last, max(1, most // 2))
        numbers = [n for (n,) in connection.execute(_NUMBERS, arguments)]
        chosen = (*self._who, f"[{','.join(map(str, numbers))}]")
        if self.states.rows_say_before:  # each rating is shown, and counts when its game ends
            return [
                CareerPoint(n=n, ended_at=(ended := day(ms)), in_force=ended, rating=rating)
                for n, ms, rating in connection.execute(_PLAIN_LINE, chosen)
                if isfinite(rating)
            ]
        rows = queries.fetch_dicts(connection, _LINE, chosen)
        return [point for row in rows if (point := self._point(row)) is not None]

    def _list_points(self, span: _Range) -> list[CareerPoint]:
        """Return the ratings in force from list to list; the one with which a range begins is the first."""
        # The list before a range holds until the first one within it.
        first = max(1, span.first - 1)
        rows = queries.fetch_dicts(self.ledger.views.connection, _IN_FORCE, (*self._who, first, span.last))
        points = [point for row in rows if (point := self._point(row)) is not None]
        since_ms = max(span.since_ms, FROM_THE_BEGINNING + 1)  # of no day: the first games begin with it
        seeds = [seed.ms for seed in self.states.seeds(self.person.player) if since_ms <= seed.ms <= span.until_ms]
        for ms in seeds:
            state = self.states.at(self.person.player, ms)
            if state.in_force is not None and isfinite(state.in_force):
                ended = ms if state.row is None else state.row["ended_ms"]
                points.append(CareerPoint(n=state.games, ended_at=day(ended), in_force=day(ms), rating=state.in_force))
        return sorted(points, key=lambda point: (point.in_force, point.n)) if seeds else points

    def _point(self, row: dict[str, Any]) -> CareerPoint | None:
        """Return the point of a game's row; None if the scheme shows no rating after it."""
        rating = self.states.after_game(row).rating
        if rating is None or not isfinite(rating) or row["rated_ms"] == OPEN:
            return None
        return CareerPoint(n=row["n"], ended_at=day(row["ended_ms"]), in_force=day(row["rated_ms"]), rating=rating)

    def hera(self) -> CareerPoint | None:
        """Return the highest rating that counts as HERA; None if none counts yet."""
        last = last_game_row(self.ledger, self.person, self.pool)
        if last is None or not last["hera_n"]:
            return None
        row = queries.fetch_first(self.ledger.views.connection, queries.ROW, (*self._who, int(last["hera_n"])))
        return None if row is None else self._point(row)

    def years(self, points: Sequence[CareerPoint]) -> list[CareerYear]:
        """Return the first game of each year of a line: a look between two points finds it, from game to game."""
        years: list[CareerYear] = []
        before = None
        for point in points:
            while before is not None and before.in_force[:4] < point.in_force[:4]:
                n, year = before.n + 1, point.in_force[:4]
                if not self.is_by_list:
                    after_ms = instant_end_ms(before.in_force[:4])
                    span = (*self._who, before.n, point.n, after_ms)
                    row = self.ledger.views.connection.execute(_AFTER_YEAR, span).fetchone()
                    n, year = (point.n, year) if row is None else (row[0], day(row[1])[:4])
                years.append(CareerYear(year=int(year), n=n))
                before = attrs.evolve(point, n=n, in_force=year)
            if before is None:
                years.append(CareerYear(year=int(point.in_force[:4]), n=max(1, point.n)))
            before = point
        return years

    def schemes(self) -> list[CareerScheme]:
        """Return the schemes that rated at least one game, each with the first."""
        schemes: list[CareerScheme] = []
        for era in self.pool.eras:
            n = self._count_until(era.since_ms - 1) + 1
            if n > self.games:
                continue
            if schemes and schemes[-1].n == n:  # no game was rated by the scheme before
                schemes.pop()
            schemes.append(CareerScheme(scheme=era.scheme.name, n=n))
        return schemes

    def tournaments(self, span: _Range) -> list[CareerTournament]:
        """Return the tournaments of a range; of many those that changed the rating most."""
        query = _TOURNAMENTS_OF_LISTS if self.is_by_list else _TOURNAMENTS
        arguments = (*self._who, span.first, span.last)
        marks = [
            CareerTournament(
                tournament=row["tournament"],
                n=row["n"],
                ended_at=day(row["ended_ms"]),
                in_force=day(row["rated_ms"]),
                games=row["games"],
                score=row["score"],
                change=row["change"] if row["change"] is not None and isfinite(row["change"]) else None,
                together=row["together"],
            )
            for row in queries.fetch_dicts(self.ledger.views.connection, query, arguments)
        ]
        return sorted(marks, key=lambda mark: (mark.n, mark.tournament))


def thinned(points: Sequence[CareerPoint], most: int) -> list[CareerPoint]:
    """Return the lowest and the highest point of each group, the first and the last one; all if they are few."""
    if len(points) <= most:
        return list(points)
    width = -(-len(points) // max(1, most // 2))
    kept = {0, len(points) - 1}
    for begin in range(0, len(points), width):
        group = range(begin, min(begin + width, len(points)))
        kept |= {end(group, key=lambda place: points[place].rating) for end in (min, max)}
    return [points[place] for place in sorted(kept)]


def _published(ledger: OpenLedger, pool: Pool, player: int, span: _Range) -> list[CareerPublished]:
    """Return the last published lists of a range on which the player's number would be another one now."""
    originals: Iterable[Any] = published_ratings(ledger, pool, player, span.since_ms)
    return [
        CareerPublished(
            list=original.publication.name,
            as_of=day(original.publication.at_ms),
            published_rating=original.published,
            revised_rating=original.revised,
        )
        for original in originals
        if original.is_revised and original.publication.at_ms <= span.until_ms
    ][-MOST_PUBLISHED:]
