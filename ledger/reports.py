"""Answers for people as plain dictionaries: rankings, summaries, games, graphs, predictions, with names.

Every number comes from the views or, for a prediction, from the scheme's own kernel. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from ledger import engine, queries, states
from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from ledger.model import instant_end_ms
from ledger.names import ERASED, RESULT, day, names
from ledger.people import Person
from ledger.timeline import BEGINNING, Pool

if TYPE_CHECKING:
    import sqlite3


def ranking(ledger: Ledger, pool: str | None = None, *, limit: int = 20, min_games: int = 1) -> list[dict[str, Any]]:
    """The highest-rated players of a pool now, best first.

    Where a change of scheme let nobody keep the rating, those who have not played since are left out: their numbers
    belong to another system.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many.
        min_games: leave out players with fewer rated games.
    """
    rated_by = ledger.pool(pool)
    query, arguments = queries.RANKING, [rated_by.pool, min_games, limit]
    if rated_by.comparable_since > BEGINNING:
        query, arguments = queries.RANKING_SINCE, [*arguments, rated_by.comparable_since]
    rows = list(queries.dictionaries(ledger.views.connection, query, arguments))
    shown = names(ledger, {row["player"] for row in rows})
    return [
        {
            "rank": place,
            "player": row["player"],
            "name": shown[row["player"]],
            "rating": round(row["rating"], 2),
            "games": row["n"],
            "last_game": day(row["ended_ms"]),
        }
        for place, row in enumerate(rows, 1)
    ]


def pools(ledger: Ledger) -> list[dict[str, Any]]:
    """Every pool: what rates it now, with which settings, since when, how many players and rated games it has."""
    known = {pool.pool: pool for pool in ledger.pools()}
    found = []
    for row in queries.dictionaries(ledger.views.connection, queries.POOLS):
        era = known[row.pop("number")].eras[-1]
        rated_by = {"scheme": era.scheme.name, "settings": dict(era.settings), "since": era.since or None}
        found.append({"pool": row.pop("pool"), **rated_by, **row})
    return found


def summary(ledger: Ledger, person: Person, pool: str | None = None, at: str | None = None) -> dict[str, Any]:
    """One player in one pool: rating then and now, results, HERA and its date, time losses.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        at: "then" is the end of this day, month or year; by default the player's first rated game.

    Raises:
        UnknownNameError: the player has no rated game in the pool.
    """
    rated_by = ledger.pool(pool)
    connection, key = ledger.views.connection, (rated_by.pool, person.player)
    last = _last_row(ledger, person, rated_by)
    if at is None:
        then = queries.one(connection, queries.ROW, (*key, 1))
    else:
        then = queries.one(connection, queries.ROW_AT, (*key, instant_end_ms(at)))
    higher, rated = _rank(connection, rated_by, last["rating"])
    hera = queries.one(connection, queries.ROW, (*key, last["hera_n"])) if last["hera_n"] else None
    n = last["n"]
    mean = last["rating_sum"] / n
    return {
        "player": person.player,
        "name": person.name or f"{ERASED} {person.player}",
        "identity": person.identity,
        "joined": person.joined_at[:10],
        "pool": rated_by.name,
        "scheme": rated_by.eras[rated_by.era_at(last["ended_ms"])].scheme.name,
        "rating_then": None if then is None else round(then["rating"], 2),
        "then": at if at is not None or then is None else day(then["ended_ms"]),
        "rating_now": round(last["rating"], 2),
        "rank": higher + 1 if last["ended_ms"] >= rated_by.comparable_since else None,
        "rated_players": rated,
        "games": n,
        "wins": last["wins"],
        "draws": last["draws"],
        "losses": last["losses"],
        "time_losses": last["time_losses"],
        "hera": None if hera is None else round(last["hera"], 2),
        "hera_date": None if hera is None else day(hera["ended_ms"]),
        "hera_scheme": None if hera is None else rated_by.eras[rated_by.era_at(hera["ended_ms"])].scheme.name,
        "mean_rating": round(mean, 2),
        "rating_deviation": round(sqrt(max(0.0, last["rating_squares"] / n - mean * mean)), 2),
        "last_game": day(last["ended_ms"]),
    }


def _rank(connection: sqlite3.Connection, pool: Pool, rating: float) -> tuple[int, int]:
    """How many players of the pool are rated higher, and how many there are."""
    since = pool.comparable_since
    if since == BEGINNING:
        higher = queries.one(connection, queries.RANK, (pool.pool, rating))
        rated = queries.one(connection, queries.RATED_PLAYERS, (pool.pool,))
    else:
        higher = queries.one(connection, queries.RANK_SINCE, (pool.pool, rating, since))
        rated = queries.one(connection, queries.RATED_PLAYERS_SINCE, (pool.pool, since))
    assert higher is not None
    assert rated is not None
    return higher["n"], rated["n"]


def _last_row(ledger: Ledger, person: Person, pool: Pool) -> dict[str, Any]:
    row = queries.one(ledger.views.connection, queries.LAST_ROW, (pool.pool, person.player))
    if row is None:
        raise UnknownNameError("rated game of", person.name or str(person.player), f"pool {pool.name!r} has none")
    return row


def games(ledger: Ledger, person: Person, pool: str | None = None, *, last: int = 50) -> list[dict[str, Any]]:
    """A player's latest rated games, newest first, with both ratings at the end of each game and now."""
    rated_by = ledger.pool(pool)
    _last_row(ledger, person, rated_by)
    arguments = (rated_by.pool, person.player, last)
    rows = list(queries.dictionaries(ledger.views.connection, queries.GAMES_OF, arguments))
    shown = names(ledger, {row["opponent"] for row in rows})
    return [
        {
            "n": row["n"],
            "game": row["key"],
            "ended_at": row["ended_at"],
            "colour": "black" if row["colour"] else "white",
            "result": RESULT[row["half_points"]],
            "termination": row["termination"],
            "rating": round(row["rating"], 2),
            "rating_now": round(row["rating_now"], 2),
            "opponent": shown[row["opponent"]],
            "opponent_rating": round(row["opponent_rating"], 2),
            "opponent_rating_now": round(row["opponent_rating_now"], 2),
            "tournament": row["tournament"],
        }
        for row in rows
    ]


def graph(ledger: Ledger, person: Person, pool: str | None = None) -> list[dict[str, Any]]:
    """A player's rating after each rated game, oldest first."""
    rated_by = ledger.pool(pool)
    _last_row(ledger, person, rated_by)
    rows = queries.dictionaries(ledger.views.connection, queries.GRAPH, (rated_by.pool, person.player))
    return [
        {
            "n": row["n"],
            "ended": day(row["ended_ms"]),
            "rating": row["rating"],
            "result": RESULT[row["half_points"]],
            "scheme": rated_by.eras[rated_by.era_at(row["ended_ms"])].scheme.name,
        }
        for row in rows
    ]


def predict(ledger: Ledger, person: Person, opponent: Person, pool: str | None = None) -> dict[str, Any]:
    """What a win, a draw and a loss would bring the player now, unrounded; in a list scheme, as its only game.

    Raises:
        UnknownNameError: both are one person.
    """
    if person.player == opponent.player:
        raise UnknownNameError("opponent", opponent.name or str(opponent.player), "nobody plays himself")
    rated_by = ledger.pool(pool)
    ms = ledger.now_ms()
    era = rated_by.eras[rated_by.era_at(ms)]
    own, theirs = (states.at_instant(ledger, rated_by, one.player, ms) for one in (person, opponent))
    when = rated_by.when(rated_by.era_at(ms), ms, ms)
    after = engine.predict(era.scheme, era.numbers, own, theirs, when)
    return {
        "player": person.name,
        "opponent": opponent.name,
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "rating": own[0],
        "opponent_rating": theirs[0],
        "expected_score": engine.expected(era.scheme, era.numbers, own, theirs, when),
        **{word: {"rating": state[0], "change": state[0] - own[0]} for word, state in after.items()},
    }
