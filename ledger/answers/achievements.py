"""A player's highest and lowest ratings under each scheme, titles, five best wins and five worst losses, with games.

A rating by an earlier scheme of the pool is marked as from another system: "there is no direct comparison with the
previous system" (ChessWorld FAQ).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import attrs

from ledger.answers.asking import day, in_one_snapshot
from ledger.answers.read_models import NO_GAME, NumberedGame, PlayerGameReader, count_games_in_force, require_read_model
from ledger.answers.titles import reached_titles
from ledger.book.roster import StoredSeed
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.projectors import bests, highest_lowest
from ledger.ratings.projectors.history import highest_of

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


@attrs.frozen(kw_only=True, slots=False)
class LowestRating:
    """The lowest rating of a player under the current scheme after at least 50 rated games.

    All fields are null for a player with fewer games.
    """

    lowest: float | None = documented("the lowest rating from 50 rated games on, points")
    lowest_date: str | None = documented("day from which it was in force")
    lowest_scheme: str | None = documented("the scheme that gave it")


NO_LOWEST = LowestRating(lowest=None, lowest_date=None, lowest_scheme=None)
AchievementKind = Literal["highest", "lowest", "title", "best win", "worst loss"]


@attrs.frozen(kw_only=True, slots=False)
class Achievement:
    """A highest or lowest rating, title, best win or worst loss of a player, with its game.

    A rating that comes from a list has no game.
    """

    what: AchievementKind = documented("what was reached")
    place: int = documented(
        "from 1: of ratings the present scheme first, of titles the highest first, of games the best first", minimum=1
    )
    title: str | None = documented("the title that the rating after the game brought; null: what is no title")
    held: bool | None = documented("whether the player has the title then; null: what is no title")
    scheme: str = documented("what gave the rating: a scheme or, without a game, the list that it stood on")
    other_system: bool = documented("whether another scheme holds for the player now: the two cannot be compared")
    reached: NumberedGame = flattened()


@in_one_snapshot
def achievements(
    ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None
) -> list[Achievement]:
    """Return a player's highest and lowest ratings, titles, best wins and worst losses, in force now or *at* a day.

    ``opponent_rating_before`` of a new player is the rating that the formula used; games against unrated players are
    among neither wins nor losses. Highest and lowest count from 50 rated games on.

    Raises:
        UnknownNameError: the player has no rated game in the pool, or the ledger does not keep these read models.
    """
    require_read_model(ledger, highest_lowest.PROJECTOR)
    require_read_model(ledger, bests.PROJECTOR)
    rated_by = ledger.pool(pool)
    states, ms = ledger.states(rated_by), ledger.now_ms() if at is None else instant_end_ms(at)
    # The games of a period that is running are not in force, and give no highest rating yet.
    until_ms = states.in_force_ms(ms) or 0 if at is None else ms
    n = count_games_in_force(ledger, rated_by, person, until_ms)
    sides = PlayerGameReader(ledger, rated_by, person.player)
    # A change of scheme also holds for players who have not played since. A player with the rating of a list and no
    # game yet is rated next by the scheme of that day.
    era = rated_by.eras[rated_by.era_at(ms)]
    if n:
        era = (states.now(person.player, ms) if at is None else states.at(person.player, ms)).era
    maker = _AchievementMaker(sides, rated_by, era.scheme.name)
    reached = [*_extremes(ledger, maker, person, n), *_titles(ledger, maker, person, n, ms)]
    kinds: tuple[tuple[AchievementKind, str, int], ...] = (("best win", _WINS, 2), ("worst loss", _LOSSES, 0))
    for what, query, half_points in kinds:
        arguments = (rated_by.pool, person.player, n, half_points, bests.PLACES)
        rows = queries.fetch_dicts(ledger.views.connection, query, arguments)
        reached += [
            maker.of_game(what, place, row["n"], reckoned=row["opponent_rating_before"])
            for place, row in enumerate(rows, 1)
        ]
    return reached


class _AchievementMaker(NamedTuple):
    """The builder of a player's achievements in a pool; *current_scheme* is the scheme that holds now."""

    sides: PlayerGameReader
    pool: Pool
    current_scheme: str

    def of_game(
        self, what: AchievementKind, place: int, n: int, *, rating: float | None = None, reckoned: float | None = None
    ) -> Achievement:
        """Return an achievement of the player's n-th game; *reckoned* is the opponent's rating in the formula."""
        scheme, game = self.sides.scheme_of(n), self.sides.nth_game(n)
        before = game.opponent_rating_before
        reached = attrs.evolve(
            game,
            rating=game.rating if rating is None else rating,
            opponent_rating_before=reckoned if before is None else before,
        )
        return self.of_rating(what, place, scheme, reached)

    def of_rating(self, what: AchievementKind, place: int, scheme: str, reached: NumberedGame) -> Achievement:
        """Return an achievement that a scheme gave, or a list; it is no title."""
        is_other = scheme != self.current_scheme
        return Achievement(
            what=what, place=place, title=None, held=None, scheme=scheme, other_system=is_other, reached=reached
        )


def _extremes(ledger: OpenLedger, maker: _AchievementMaker, person: Person, n: int) -> Iterator[Achievement]:
    eras = list(queries.fetch_dicts(ledger.views.connection, _ERAS, (maker.pool.pool, person.player, n)))
    highest = [row for row in eras if row["highest_n"]]
    for place, row in enumerate(highest, 1):
        yield maker.of_game("highest", place, row["highest_n"], rating=row["highest"])
    # the list with whose rating the player began
    states = ledger.states(maker.pool)
    first = queries.fetch_first(ledger.views.connection, queries.ROW, (maker.pool.pool, person.player, 1))
    if first is None:
        listed = next(iter(states.seeds(person.player)), None)
    else:
        listed = states.seed_at(person.player, first["ended_ms"])
    if before_games := highest_before_games(listed):
        rating, since, scheme = before_games
        reached = attrs.evolve(NO_GAME, rating=rating, in_force=since)
        yield maker.of_rating("highest", len(highest) + 1, scheme, reached)
    for place, row in enumerate((row for row in eras if row["lowest_n"]), 1):
        yield maker.of_game("lowest", place, row["lowest_n"], rating=row["lowest"])


def _titles(ledger: OpenLedger, maker: _AchievementMaker, person: Person, n: int, ms: int) -> Iterator[Achievement]:
    for place, title in enumerate(reached_titles(ledger, maker.pool, person.player, n, ms), 1):
        yield attrs.evolve(maker.of_game("title", place, title.n), title=title.title, held=title.is_held)


def highest_before_games(listed: StoredSeed | None) -> tuple[float, str | None, str] | None:
    """Return the highest rating that an initial rating states, the day from which it is in force, and its list."""
    rating = None if listed is None else highest_of(listed.seed)
    if listed is None or rating is None:
        return None
    return rating, None if listed.seed.day is None else day(listed.ms), listed.source or "seed"


@in_one_snapshot
def lowest_rating(ledger: OpenLedger, pool: Pool, player: int, n: int, current_scheme: str) -> LowestRating:
    """Return the lowest rating of a player's first *n* games, if the scheme *current_scheme* gave it; else None."""
    # The latest era comes first.
    row = queries.fetch_first(ledger.views.connection, _ERAS + " LIMIT 1", (pool.pool, player, n))
    if row is None or not row["lowest_n"] or pool.eras[row["era"]].scheme.name != current_scheme:
        return NO_LOWEST
    since = PlayerGameReader(ledger, pool, player).nth_game(row["lowest_n"]).in_force
    return LowestRating(lowest=row["lowest"], lowest_date=since, lowest_scheme=current_scheme)
