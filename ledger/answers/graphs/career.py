"""A player's whole career as one line: the rating after each game, thinned so that peaks and falls survive.

Of a scheme that publishes lists the line shows the ratings in force, from list to list.
"""

from __future__ import annotations

import attrs

from ledger.answers.asking import day, display_name, in_one_snapshot
from ledger.answers.read_models import last_game_row
from ledger.book.timeline import Pool
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.schemes.scheme import Rhythm

POINTS = 300  # of a line: what a screen can show; twice the groups of games, for each gives its lowest and its highest
# A bare column belongs to the row of the minimum or maximum (SQLite, "Bare columns in an aggregate query").
_GROUP = "FROM history WHERE pool = ?1 AND player = ?2 GROUP BY (n - 1) * ?3 / ?4"
_LINE = f"""
SELECT n, h.ended_ms, rated_ms, rating FROM (
  SELECT n, ended_ms, game, min(rating) AS rating {_GROUP} UNION SELECT n, ended_ms, game, max(rating) {_GROUP}
  UNION SELECT n, ended_ms, game, rating FROM history WHERE pool = ?1 AND player = ?2 AND n IN (1, ?4)
) AS h JOIN games ON games.position = h.game ORDER BY n
"""
_HISTORY = "FROM history AS h JOIN games ON games.position = h.game WHERE h.pool = ?1 AND player = ?2"
_IN_FORCE = f"SELECT max(n) AS n, h.ended_ms, rated_ms, rating {_HISTORY} GROUP BY rated_ms ORDER BY n"
_ONE = f"SELECT n, h.ended_ms, rated_ms, rating {_HISTORY} AND n = ?3"
_YEARS = """
SELECT CAST(strftime('%Y', ended_ms / 1000, 'unixepoch') AS INTEGER), min(n) FROM history
WHERE pool = ?1 AND player = ?2 GROUP BY 1 ORDER BY 2
"""
_FIRST_SINCE = f"SELECT min(n) {_HISTORY} AND rated_ms >= ?3"


@attrs.frozen(kw_only=True, slots=False)
class CareerPoint:
    """The rating after one game of a career."""

    n: int = documented("the player's n-th rated game in the pool, from 1", minimum=1)
    ended_at: str = documented("the day on which it ended")
    in_force: str = documented("the day from which the rating counts")
    rating: float = documented("the rating after it or its period, points")


@attrs.frozen(kw_only=True, slots=False)
class CareerYear:
    """The first rated game of a year."""

    year: int = documented("the year")
    n: int = documented("the first game of the year, as the player's n-th", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class CareerScheme:
    """A rating scheme of a career, from its first game on."""

    scheme: str = documented("the rating scheme")
    n: int = documented("the first game that it rated, as the player's n-th", minimum=1)


@attrs.frozen(kw_only=True, slots=False)
class Career:
    """All rated games of a player as one line, oldest first."""

    pool: str = documented("the pool")
    position: int = documented("the journal's last entry that it follows from", minimum=1)
    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    games: int = documented("all rated games of the player in the pool", minimum=0)
    is_by_list: bool = documented("whether the line goes from list to list; else from game to game")
    points: list[CareerPoint] = documented("the line, oldest first; every peak and fall is among them")
    years: list[CareerYear] = documented("where each year begins")
    schemes: list[CareerScheme] = documented("the schemes that rated the games, oldest first")
    hera: CareerPoint | None = documented("the highest rating that counts as HERA; null: none counts yet")


@in_one_snapshot
def career(ledger: OpenLedger, person: Person, pool: str | None = None, *, points: int = POINTS) -> Career:
    """Return a player's career.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        pool: name of the pool; the first one by default.
        points: about how many points the line has at most, if it goes from game to game.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    rated_by = ledger.pool(pool)
    connection = ledger.views.connection
    last = last_game_row(ledger, person, rated_by)
    games = 0 if last is None else int(last["n"])
    who = (rated_by.pool, person.player)
    is_by_list = rated_by.scheme.rhythm is not Rhythm.GAME
    if not games:
        rows = []
    elif is_by_list:
        rows = connection.execute(_IN_FORCE, who).fetchall()
    else:
        rows = connection.execute(_LINE, (*who, min(points // 2, games), games)).fetchall()
    hera_n = None if last is None else last["hera_n"]
    highest = connection.execute(_ONE, (*who, int(hera_n))).fetchone() if hera_n else None
    return Career(
        pool=rated_by.name,
        position=ledger.views.position(),
        player=person.player,
        name=display_name(person),
        games=games,
        is_by_list=is_by_list,
        points=[_point(*row) for row in rows],
        years=[CareerYear(year=year, n=n) for year, n in connection.execute(_YEARS, who)] if games else [],
        schemes=_schemes(ledger, rated_by, who) if games else [],
        hera=None if highest is None else _point(*highest),
    )


def _point(n: int, ended_ms: int, rated_ms: int, rating: float) -> CareerPoint:
    return CareerPoint(n=n, ended_at=day(ended_ms), in_force=day(rated_ms), rating=rating)


def _schemes(ledger: OpenLedger, pool: Pool, who: tuple[int, int]) -> list[CareerScheme]:
    """Return the schemes that rated at least one game of a player, each with the first."""
    schemes: list[CareerScheme] = []
    for era in pool.eras:
        (n,) = ledger.views.connection.execute(_FIRST_SINCE, (*who, era.since_ms)).fetchone()
        if n is None:
            continue
        if schemes and schemes[-1].n == n:  # no game was rated by the scheme before
            schemes.pop()
        schemes.append(CareerScheme(scheme=era.scheme.name, n=n))
    return schemes
