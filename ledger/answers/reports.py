"""Answers for people as plain dictionaries: rankings, summaries, games, graphs, predictions, with names.

Every number comes from the views or, for a prediction, from the scheme's own kernel. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from attrs import asdict

from ledger.answers.wording import RESULT, day, names, shown
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import UnknownNameError
from ledger.facts.words import instant_end_ms
from ledger.journal.people import Person
from ledger.ledger import Ledger
from ledger.ratings import engine, player_states, queries


def ranking(ledger: Ledger, pool: str | None = None, *, limit: int = 20, min_games: int = 1) -> list[dict[str, Any]]:
    """The highest-rated players of a pool after its last game, best first; unrated ones are left out.

    Who has not played since the last change of scheme stands there with what that change made of the rating; where
    it let everybody begin anew, he is left out until he plays.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many.
        min_games: leave out players with fewer rated games.
    """
    rated_by = ledger.pool(pool)
    connection, since = ledger.views.connection, _in_force_since(ledger, rated_by)
    query, arguments = queries.RANKING, [rated_by.pool, min_games, limit]
    if since > BEGINNING:
        query, arguments = queries.RANKING_SINCE, [*arguments, since]
    rows = list(queries.dictionaries(connection, query, arguments))
    if since > BEGINNING:
        idle = [row for row in player_states.idle(connection, rated_by, since) if row["n"] >= min_games]
        rows = sorted([*rows, *idle], key=lambda row: (-row["rating"], row["player"]))[:limit]
    shown = names(ledger, {row["player"] for row in rows})
    return [
        {
            "rank": place,
            "player": row["player"],
            "name": shown[row["player"]],
            "rating": row["rating"],
            "games": row["n"],
            "last_game": day(row["ended_ms"]),
        }
        for place, row in enumerate(rows, 1)
    ]


def _in_force_since(ledger: Ledger, pool: Pool) -> int:
    """Since when the scheme is in force by which the pool's last game was rated; ``BEGINNING`` for the first one."""
    if len(pool.eras) == 1:
        return BEGINNING
    last = queries.one(ledger.views.connection, queries.LATEST_END, (pool.pool,))
    return BEGINNING if last is None or last["ms"] is None else pool.eras[pool.era_at(last["ms"])].since_ms


def pools(ledger: Ledger) -> list[dict[str, Any]]:
    """Every pool: what rates it now, with which settings, since when, how many players and rated games it has."""
    known = {pool.pool: pool for pool in ledger.pools()}
    found = []
    for row in queries.dictionaries(ledger.views.connection, queries.POOLS):
        pool = known[row.pop("number")]
        era = pool.eras[pool.era_at(ledger.now_ms())]
        rated_by = {"scheme": era.scheme.name, "settings": dict(era.settings), "since": era.since or None}
        found.append({"pool": row.pop("pool"), **rated_by, **row})
    return found


def eras(ledger: Ledger) -> list[dict[str, Any]]:
    """Every adoption of a scheme, by pool and in order of time."""
    return [
        {
            "pool": pool.name,
            "since": era.since or None,
            "scheme": era.scheme.name,
            "settings": dict(era.settings),
            "carry": era.carry.value if era.since else None,
            "conversion": [asdict(one) for one in era.conversion],
            "position": era.position,
        }
        for pool in ledger.pools()
        for era in pool.eras
    ]


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
    since = _in_force_since(ledger, rated_by)
    number = max(rated_by.era_at(since), rated_by.era_at(last["ended_ms"]))
    era, state = rated_by.eras[number], player_states.Players(connection, rated_by).carried(last, number)
    hera = queries.one(connection, queries.ROW, (*key, last["hera_n"])) if last["hera_n"] else None
    n = last["n"]
    mean = last["rating_sum"] / n
    return {
        "player": person.player,
        "name": shown(person),
        "identity": person.identity,
        "joined": person.joined_at[:10],
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "rating_then": None if then is None else then["rating"],
        "then": at if at is not None or then is None else day(then["ended_ms"]),
        "rating_now": state[0] if era.scheme.listed(state, 0, era.numbers) else None,
        "provisional": era.scheme.provisional(state, 0, era.numbers),
        "state": dict(zip(era.scheme.state[1:], state[1:], strict=True)),
        "rank": _rank(ledger, rated_by, last["player"], state[0], since),
        "rated_players": _counted(ledger, queries.RATED_PLAYERS, rated_by.pool),
        "games": n,
        "wins": last["wins"],
        "draws": last["draws"],
        "losses": last["losses"],
        "time_losses": last["time_losses"],
        **_hera(rated_by, last, hera),
        "mean_rating": mean,
        "rating_sd": sqrt(max(0.0, last["rating_squares"] / n - mean * mean)),
        "last_game": day(last["ended_ms"]),
    }


def _hera(pool: Pool, last: dict[str, Any], row: dict[str, Any] | None) -> dict[str, Any]:
    """The highest rating ever, when it was first reached, and by which system."""
    if row is None:
        return dict.fromkeys(("hera", "hera_date", "hera_scheme"))
    scheme = pool.eras[pool.era_at(row["ended_ms"])].scheme.name
    return {"hera": last["hera"], "hera_date": day(row["ended_ms"]), "hera_scheme": scheme}


def _counted(ledger: Ledger, query: str, *arguments: object) -> int:
    """The answer of a query that counts."""
    row = queries.one(ledger.views.connection, query, arguments)
    assert row is not None
    return int(row["n"])


def _rank(ledger: Ledger, pool: Pool, player: int, rating: float, since: int) -> int | None:
    """The player's place in ``ranking``, or None for who is not in it; the scheme is in force *since* then."""
    if rating == 0.0:
        return None
    if since == BEGINNING:
        return _counted(ledger, queries.RANK, pool.pool, rating) + 1
    rows = ranking(ledger, pool.name, limit=2**31)
    return next((row["rank"] for row in rows if row["player"] == player), None)


def _last_row(ledger: Ledger, person: Person, pool: Pool) -> dict[str, Any]:
    row = queries.one(ledger.views.connection, queries.LAST_ROW, (pool.pool, person.player))
    if row is None:
        raise UnknownNameError("rated game of", shown(person), f"pool {pool.name!r} has none")
    return row


def games(ledger: Ledger, person: Person, pool: str | None = None, *, last: int = 50) -> list[dict[str, Any]]:
    """A player's latest rated games, newest first, with both ratings at the end of each game and now."""
    rated_by = ledger.pool(pool)
    _last_row(ledger, person, rated_by)
    arguments = (rated_by.pool, person.player, last)
    rows = list(queries.dictionaries(ledger.views.connection, queries.GAMES_OF, arguments))
    opponents = names(ledger, {row["opponent"] for row in rows})
    return [
        {
            "n": row["n"],
            "game": row["key"],
            "ended_at": row["ended_at"],
            "colour": "black" if row["colour"] else "white",
            "result": RESULT[row["half_points"]],
            "termination": row["termination"],
            "rating": row["rating"],
            "rating_now": row["rating_now"],
            "opponent": opponents[row["opponent"]],
            "opponent_rating": row["opponent_rating"],
            "opponent_rating_now": row["opponent_rating_now"],
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


def predict(
    ledger: Ledger, person: Person, opponent: Person, pool: str | None = None, at: str | None = None
) -> dict[str, Any]:
    """What a win, a draw and a loss would bring the player, unrounded; in a list scheme, as its only game.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        opponent: whom he would play.
        pool: name of the pool; the first one by default.
        at: when; by default at the time of the pool's last game.

    Raises:
        UnknownNameError: both are one person.
    """
    if person.player == opponent.player:
        raise UnknownNameError("opponent", shown(opponent), "nobody plays himself")
    rated_by = ledger.pool(pool)
    if at is None:
        latest = queries.one(ledger.views.connection, queries.LATEST_END, (rated_by.pool,))
        ms = ledger.now_ms() if latest is None or latest["ms"] is None else latest["ms"]
    else:
        ms = instant_end_ms(at)
    era = rated_by.eras[rated_by.era_at(ms)]
    own, theirs = (player_states.at_instant(ledger, rated_by, one.player, ms) for one in (person, opponent))
    when = rated_by.when(rated_by.era_at(ms), ms, ms)
    after = engine.predict(era.scheme, era.numbers, own, theirs, when)
    return {
        "player": shown(person),
        "opponent": shown(opponent),
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "as_of": day(ms),
        "rating": own[0],
        "opponent_rating": theirs[0],
        "expected_score": engine.expected(era.scheme, era.numbers, own, theirs, when),
        **{word: {"rating": state[0], "change": state[0] - own[0]} for word, state in after.items()},
    }
