"""Answers for people as plain dictionaries: rankings, summaries, games, explanations, predictions, with names.

Every number comes from the views or, for a prediction, from the scheme's own kernel. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import orjson

from ledger import engine, queries
from ledger.errors import UnknownNameError
from ledger.gamebook import Pool, Roster
from ledger.ledger import Ledger
from ledger.model import Precision, instant_end_ms, instant_text
from ledger.people import Person
from ledger.schemes.base import Side

ERASED = "(erased)"
_SCORE = {2: 1.0, 1: 0.5, 0: 0.0}
_RESULT = {2: "win", 1: "draw", 0: "loss"}


def day(ms: int) -> str:
    """The day of an instant, ``YYYY-MM-DD``."""
    return instant_text(ms, Precision.DAY)


def names(ledger: Ledger, players: set[int]) -> dict[int, str]:
    """Names to show by player number; an erased player keeps the number only."""
    known = ledger.people.by_number(sorted(players))
    return {p: (known[p].name if p in known else None) or f"{ERASED} {p}" for p in players}


def ranking(ledger: Ledger, pool: str | None = None, *, limit: int = 20, min_games: int = 1) -> list[dict[str, Any]]:
    """The highest-rated players of a pool now, best first.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many.
        min_games: leave out players with fewer rated games.
    """
    rated_by = ledger.pool(pool)
    rows = list(queries.dictionaries(ledger.views.connection, queries.RANKING, (rated_by.pool, min_games, limit)))
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
    """Every pool: what rates it, with which settings, how many players and rated games it has."""
    rows = queries.dictionaries(ledger.views.connection, queries.POOLS)
    return [{**row, "settings": orjson.loads(row["settings"])} for row in rows]


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
    higher = queries.one(connection, queries.RANK, (rated_by.pool, last["rating"]))
    rated = queries.one(connection, queries.RATED_PLAYERS, (rated_by.pool,))
    hera = queries.one(connection, queries.ROW, (*key, last["hera_n"])) if last["hera_n"] else None
    n = last["n"]
    assert higher is not None
    assert rated is not None
    mean = last["rating_sum"] / n
    return {
        "player": person.player,
        "name": person.name or f"{ERASED} {person.player}",
        "identity": person.identity,
        "joined": person.joined_at[:10],
        "pool": rated_by.name,
        "scheme": rated_by.scheme.name,
        "rating_then": None if then is None else round(then["rating"], 2),
        "then": at if at is not None or then is None else day(then["ended_ms"]),
        "rating_now": round(last["rating"], 2),
        "rank": higher["n"] + 1,
        "rated_players": rated["n"],
        "games": n,
        "wins": last["wins"],
        "draws": last["draws"],
        "losses": last["losses"],
        "time_losses": last["time_losses"],
        "hera": None if hera is None else round(last["hera"], 2),
        "hera_date": None if hera is None else day(hera["ended_ms"]),
        "mean_rating": round(mean, 2),
        "rating_deviation": round(sqrt(max(0.0, last["rating_squares"] / n - mean * mean)), 2),
        "last_game": day(last["ended_ms"]),
    }


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
            "result": _RESULT[row["half_points"]],
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
        {"n": r["n"], "ended": day(r["ended_ms"]), "rating": r["rating"], "result": _RESULT[r["half_points"]]}
        for r in rows
    ]


def explain(ledger: Ledger, person: Person, game: str) -> dict[str, Any]:
    """Why a game changed a player's rating by this much: the formula with this game's numbers, and its source.

    Raises:
        UnknownNameError: no such game, or it does not count (the reason is named), or the player was not in it.
    """
    connection, game = ledger.views.connection, game.removeprefix("game:")
    stored = ledger.journal.find([f"game:{game}"]).get(f"game:{game}")
    row = queries.one(connection, queries.GAME, (stored.position,)) if stored else None
    if row is None:
        raise UnknownNameError("game", game, "give the key as 'games' shows it")
    if row["reason"] is not None:
        raise UnknownNameError("rating change by game", game, f"it does not count: {row['reason']}")
    pool = next(p for p in _pools(ledger) if p.pool == row["pool"])
    mine = queries.one(connection, queries.SIDE_OF_GAME, (pool.pool, person.player, row["position"]))
    if mine is None:
        raise UnknownNameError(f"player of game {game!r} named", person.name or str(person.player))
    theirs = queries.one(connection, queries.ROW, (pool.pool, mine["opponent"], mine["opponent_n"]))
    assert theirs is not None
    own, opponent = _side(ledger, pool, mine), _side(ledger, pool, theirs)
    told = pool.scheme.explain(own, opponent, _SCORE[mine["half_points"]], pool.numbers)
    opponent_name = names(ledger, {mine["opponent"]})[mine["opponent"]]
    return {
        "game": game,
        "player": person.name,
        "opponent": opponent_name,
        "result": _RESULT[mine["half_points"]],
        "pool": pool.name,
        "scheme": pool.scheme.name,
        "before": own.before[0],
        "after": told.result,
        "change": told.result - own.before[0],
        "rule": told.rule,
        "terms": [term._asdict() for term in told.terms],
        "rounding": told.rounding,
        "source": told.source,
    }


def predict(ledger: Ledger, person: Person, opponent: Person, pool: str | None = None) -> dict[str, Any]:
    """What a win, a draw and a loss would bring the player now, unrounded."""
    if person.player == opponent.player:
        raise UnknownNameError("opponent", opponent.name or str(opponent.player), "nobody plays himself")
    rated_by = ledger.pool(pool)
    own, theirs = (_state_now(ledger, rated_by, one) for one in (person, opponent))
    after = engine.predict(rated_by.scheme, rated_by.numbers, own, theirs)
    return {
        "player": person.name,
        "opponent": opponent.name,
        "pool": rated_by.name,
        "scheme": rated_by.scheme.name,
        "rating": own[0],
        "opponent_rating": theirs[0],
        "expected_score": rated_by.scheme.expected_score(own, theirs, rated_by.numbers),
        **{word: {"rating": state[0], "change": state[0] - own[0]} for word, state in after.items()},
    }


def _pools(ledger: Ledger) -> list[Pool]:
    return [ledger.pool(name) for (name,) in ledger.views.connection.execute("SELECT name FROM pools")]


def _state_now(ledger: Ledger, pool: Pool, person: Person) -> tuple[float, ...]:
    row = queries.one(ledger.views.connection, queries.LAST_ROW, (pool.pool, person.player))
    if row is None:
        return pool.scheme.enter(Roster(ledger.views.connection).declared.get(person.player), pool.numbers)
    return tuple(row[name] for name in pool.scheme.state)


def _side(ledger: Ledger, pool: Pool, row: dict[str, Any]) -> Side:
    after = tuple(row[name] for name in pool.scheme.state)
    connection = ledger.views.connection
    if row["n"] == 1:
        declared = Roster(connection).declared_at(row["player"], row["ended_ms"])
        return Side(pool.scheme.enter(declared, pool.numbers), after)
    before = queries.one(connection, queries.ROW, (pool.pool, row["player"], row["n"] - 1))
    assert before is not None
    return Side(tuple(before[name] for name in pool.scheme.state), after)

