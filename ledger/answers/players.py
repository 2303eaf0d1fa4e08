"""One player, as plain dictionaries: rating then and now, results, highest rating, games and graph.

Every number comes from the views. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from ledger.answers.joining import joined
from ledger.answers.rankings import counted, in_force_since, rank
from ledger.answers.wording import RESULT, day, names, shown
from ledger.book.timeline import Pool
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.journal.people import Person
from ledger.ledger import Ledger
from ledger.ratings import player_states, queries


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
        then = queries.first_row(connection, queries.ROW, (*key, 1))
    else:
        then = queries.first_row(connection, queries.ROW_AT, (*key, instant_end_ms(at)))
    since = in_force_since(ledger, rated_by)
    number = max(rated_by.era_at(since), rated_by.era_at(last["ended_ms"]))
    era, state = rated_by.eras[number], player_states.Players(connection, rated_by).carried(last, number)
    hera = queries.first_row(connection, queries.ROW, (*key, last["hera_n"])) if last["hera_n"] else None
    n = last["n"]
    mean = last["rating_sum"] / n
    return {
        "player": person.player,
        "name": shown(person),
        "identity": person.identity,
        "joined": joined(ledger, person),
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "rating_then": None if then is None else then["rating"],
        "then": at if at is not None or then is None else day(then["ended_ms"]),
        "rating_now": state[0] if era.scheme.listed(state, 0, era.numbers) else None,
        "provisional": era.scheme.provisional(state, 0, era.numbers),
        "state": dict(zip(era.scheme.state[1:], state[1:], strict=True)),
        "rank": rank(ledger, rated_by, last["player"], state[0], since),
        "rated_players": counted(ledger, queries.RATED_PLAYERS, rated_by.pool),
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


def _last_row(ledger: Ledger, person: Person, pool: Pool) -> dict[str, Any]:
    row = queries.first_row(ledger.views.connection, queries.LAST_ROW, (pool.pool, person.player))
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


