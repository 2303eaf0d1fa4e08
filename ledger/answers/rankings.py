"""Rankings: who stands where in a pool after its last game or at any instant, with names.

Numbers come from the views; nothing is written.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import attrs

from ledger.answers.classes import class_of, strength_of
from ledger.answers.moments import of_one_moment
from ledger.answers.rating_lists import FEW_PLAYERS, in_force_at
from ledger.answers.wording import EVERY_ROW, day, names, rows_up_to
from ledger.book.eras import BEGINNING
from ledger.book.policies import CLASSES
from ledger.book.timeline import Pool
from ledger.errors import MalformedError
from ledger.facts.instants import Precision, instant_end_ms, instant_text
from ledger.facts.periods import DAY_MS
from ledger.journal.kept_lists import shared_places
from ledger.ledger import Ledger
from ledger.ratings import places, queries
from ledger.ratings.listing import CLOSED_AMONG
from ledger.ratings.player_states import PlayerState, PlayerStates

NOBODY, EVERYBODY = 0, 2**31  # below and above every player's number


@of_one_moment
def ranking(
    ledger: Ledger, pool: str | None = None, *, limit: int | None = 20, min_games: int = 1
) -> list[dict[str, Any]]:
    """The highest-rated players of a pool after its last game, best first; who is not listed then is left out.

    Who is listed is whom the scheme lists and whose account is not closed today, or after the last game.

    A player without a game since the last change of scheme stands there with the rating that the change gave them;
    if the change let everybody begin anew, they are left out until their next game.

    Args:
        ledger: a ledger whose views are level.
        pool: its name; the first pool by default.
        limit: how many; 0 or None: all.
        min_games: leave out players with fewer rated games; with 0, who came with the rating of a list and has no rated
            game yet stands there, too.
    """
    rated_by, most = ledger.pool(pool), rows_up_to(limit)
    rows = _ranked(ledger, rated_by, most, min_games)
    if min_games == 0:
        rows = sorted([*rows, *_unplayed(ledger, rated_by, most)], key=_best_first)[:most]
    shown = names(ledger, {row["player"] for row in rows})
    return _placed(rows, shown)


def _ranked(
    ledger: Ledger, pool: Pool, limit: int, min_games: int, active_from: int = BEGINNING
) -> list[dict[str, Any]]:
    """The best of those who have played so many games, the last of them after an instant."""
    connection = ledger.views.connection
    states = PlayerStates(connection, pool)
    since, closed = states.stands_since_ms, states.closed_now(ledger.now_ms())
    query, arguments = queries.RANKING, [pool.pool, min_games, limit + len(closed), active_from]
    if since > BEGINNING:
        query, arguments = queries.RANKING_SINCE, [*arguments, since]
    rows = [row for row in queries.dictionaries(connection, query, arguments) if row["player"] not in closed]
    if since > BEGINNING:
        moved = [{**(state.row or {}), "rating": state.in_force} for state in states.moved_since()]
        moved = [row for row in moved if row["n"] >= min_games and row["ended_ms"] > active_from]
        rows += [row for row in moved if row["player"] not in closed]
        rows.sort(key=_best_first)
    return rows[:limit]


def _unplayed(ledger: Ledger, pool: Pool, limit: int) -> list[dict[str, Any]]:
    """The rows of those who have no rated game."""
    today_ms, states = ledger.now_ms(), PlayerStates(ledger.views.connection, pool)
    closed = states.closed_now(today_ms)
    return [
        {"player": state.player, "rating": state.in_force, "n": 0, "ended_ms": None}
        for state in states.unplayed(today_ms, limit + len(closed))
        if state.player not in closed
    ]


def _best_first(row: dict[str, Any]) -> tuple[float, int]:
    return -row["rating"], row["player"]


class Place(NamedTuple):
    """Where a player stands in a ranking of so many; who is not in it has neither rank nor percentile."""

    rank: int | None
    rated_players: int
    percentile: float | None


@of_one_moment
def place(ledger: Ledger, pool: Pool, state: PlayerState) -> Place:
    """A player's place in the ranking by ``PlayerStates.now`` of all who have played.

    Nobody is in it without a rated game. The percentile is that of ``ranking_in_full``.
    """
    connection = ledger.views.connection
    states = PlayerStates(connection, pool)
    rating, player = None if state.row is None else state.in_force, state.player
    if states.stands_since_ms > BEGINNING:
        closed = states.closed_now(ledger.now_ms())
        order = [point for point in states.in_order() if point[1] not in closed]
        point = (-(rating or 0.0), player)
        better = bisect_left(order, point)
        if rating is None or order[better : better + 1] != [point]:
            return Place(None, len(order), None)
        not_below = bisect_right(order, (-rating, EVERYBODY))
        better = bisect_left(order, (-rating, NOBODY))  # equals share a place
        return Place(better + 1, len(order), _percentile(not_below, len(order)))
    ranked = places.listed(connection, pool.pool)
    closed, among = states.closed_now(ledger.now_ms()), {"listed": 0, "better": 0, "not_below": 0}
    if closed:
        arguments = (pool.pool, json.dumps(sorted(closed)), rating)
        among = queries.first_row(connection, CLOSED_AMONG, arguments) or among
        ranked -= among["listed"]
    if rating is None or player in closed:
        return Place(None, ranked, None)
    (better,) = places.before(connection, pool.pool, [(-rating, NOBODY)]).values()
    not_below = places.not_below(connection, pool.pool, rating) - among["not_below"]
    return Place(better - among["better"] + 1, ranked, _percentile(not_below, ranked))


def _percentile(not_below: int, ranked: int) -> float:
    """The share of the ranked players with a lower rating, per cent; *not_below* have that rating or a higher one."""
    return 100.0 * (ranked - not_below) / ranked


def _counted(row: dict[str, Any] | None) -> int:
    assert row is not None
    return int(row["n"])


# -- with what is told beside the rating ---------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Wanted:
    """Which ranking is asked for.

    Attributes:
        pool: its name; the ledger's first one by default.
        limit: how many, the best; 0 or None: all.
        min_games: leave out players with fewer rated games; 0: with those who have a seed and no game.
        at: the end of that day, month or year; by default after the pool's last game.
        active_days: leave out who has not played in so many days before that.
        since: compare with the rating in force at the end of this day.
        since_list: compare with this published list.
    """

    pool: str | None = None
    limit: int = attrs.field(default=EVERY_ROW, converter=rows_up_to)
    min_games: int = 1
    at: str | None = None
    active_days: int | None = None
    since: str | None = None
    since_list: str | None = None


class _Ranked(NamedTuple):
    """The best of a ranking, how many are in it, and how many of them have at least the rating of the last row."""

    rows: list[dict[str, Any]]
    total: int
    not_below_last: int


@of_one_moment
def ranking_in_full(ledger: Ledger, wanted: Wanted, *, details: bool = True) -> list[dict[str, Any]]:
    """A ranking at any instant, with each player's place among all.

    Args:
        ledger: a ledger whose views are level.
        wanted: which ranking.
        details: ``percentile``, ``class``, ``strength``, ``provisional`` and ``rd`` as well.

    Returns:
        The columns of ``ranking``. ``percentile`` is the share, in per cent, of the ranked players with a lower rating.
        ``class`` and ``strength`` are by the policy ``classes`` in force then, of the rating to the nearest point.
        ``rd`` is the scheme's own uncertainty in points at that time, None where it has none. ``before`` is the rating
        on the day or list that was asked for, None for who had none; ``change`` the difference.

    Raises:
        UnknownNameError: no such pool or published list.
        MalformedError: no such instant, or a list of another pool.
    """
    rated_by = ledger.pool(wanted.pool)
    states = PlayerStates(ledger.views.connection, rated_by)
    ms = _instant(ledger, states, wanted.at)
    if wanted.at is not None:
        ranked = _best_at(ledger, rated_by, states, wanted, ms, counted=details)
    else:
        ranked = None if details else _best_now(ledger, rated_by, wanted, ms)
    ranked = ranked or _ranked_at(ledger, rated_by, states, wanted, ms)
    shown = names(ledger, {row["player"] for row in ranked.rows})
    rows = _placed(ranked.rows, shown)
    if details:
        settings = _class_limits(ledger, ms)
        known = _states_of(ledger, states, wanted, ms, [row["player"] for row in rows])
        for row, share in zip(rows, _percentiles(ranked), strict=True):
            state = known[row["player"]]
            fields = dict(zip(state.era.scheme.state, state.state, strict=True))
            row |= {
                "percentile": share,
                "class": class_of(row["rating"], settings),
                "strength": strength_of(row["rating"], settings),
                "provisional": bool(state.provisional),
                "rd": fields.get("rd"),
            }
    before = _before(ledger, rated_by, states, wanted, [row["player"] for row in rows])
    if before is not None:
        for row in rows:
            rating = before.get(row["player"])
            row |= {"before": rating, "change": None if rating is None else row["rating"] - rating}
    return rows


def _placed(rows: list[dict[str, Any]], shown: Mapping[int, str]) -> list[dict[str, Any]]:
    """The rows of a ranking from its first place on; equals share one."""
    places_of = shared_places([row["rating"] for row in rows])
    return [_row(place, row, shown[row["player"]]) for place, row in zip(places_of, rows, strict=True)]


def _row(place: int, row: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        "rank": place,
        "player": row["player"],
        "name": name,
        "rating": row["rating"],
        "games": row["n"],
        "last_game": None if row["ended_ms"] is None else day(row["ended_ms"]),
    }


@of_one_moment
def class_limits(ledger: Ledger, pool: str) -> Mapping[str, int]:
    """From how many points on the classes of a pool begin now, by the policy ``classes``.

    Raises:
        UnknownNameError: no such pool.
    """
    return _class_limits(ledger, _instant(ledger, PlayerStates(ledger.views.connection, ledger.pool(pool)), None))


def _class_limits(ledger: Ledger, ms: int) -> Mapping[str, int]:
    return ledger.policies.at(CLASSES, instant_text(ms, Precision.DAY))


def _instant(ledger: Ledger, states: PlayerStates, at: str | None) -> int:
    """The instant of a ranking: that of the pool's last game where nobody names another."""
    if at is not None:
        return instant_end_ms(at)
    return ledger.now_ms() if states.latest_ms is None else states.latest_ms


def _ranked_at(ledger: Ledger, pool: Pool, states: PlayerStates, wanted: Wanted, ms: int) -> _Ranked:
    """The ranking that is asked for; by an index where the last rows say it as they stand."""
    if wanted.at is None:
        plain = wanted.active_days is None and wanted.min_games > 0 and states.stands_since_ms == BEGINNING
        if plain and not states.closed_now(ledger.now_ms()):
            return _by_index(ledger, pool, wanted)
        rows = _ranked(ledger, pool, EVERY_ROW, max(wanted.min_games, 1))
        rows += _unplayed(ledger, pool, EVERY_ROW) if wanted.min_games == 0 else []
    else:
        rows = [row for row in _rows_at(ledger, pool, states, ms) if row["n"] >= wanted.min_games]
    if wanted.active_days is not None:
        since = ms - wanted.active_days * DAY_MS
        rows = [row for row in rows if row["ended_ms"] is not None and row["ended_ms"] > since]
    rows.sort(key=_best_first)
    best = rows[: wanted.limit]
    not_below = sum(row["rating"] >= best[-1]["rating"] for row in rows) if best else 0
    return _Ranked(best, len(rows), not_below)


def _active_from(wanted: Wanted, ms: int) -> int:
    return BEGINNING if wanted.active_days is None else ms - wanted.active_days * DAY_MS


def _best_now(ledger: Ledger, pool: Pool, wanted: Wanted, ms: int) -> _Ranked:
    """The best now; how many stand below them is not counted."""
    rows = _ranked(ledger, pool, wanted.limit, max(wanted.min_games, 1), _active_from(wanted, ms))
    if wanted.min_games == 0 and wanted.active_days is None:  # who has no game has none of late
        rows = sorted([*rows, *_unplayed(ledger, pool, wanted.limit)], key=_best_first)[: wanted.limit]
    return _Ranked(rows, len(rows), len(rows))


def _best_at(
    ledger: Ledger, pool: Pool, states: PlayerStates, wanted: Wanted, ms: int, *, counted: bool
) -> _Ranked | None:
    """The best at an instant, where few are asked for and rows say it; how many stand below only where it is asked."""
    if wanted.limit >= EVERY_ROW:
        return None
    active_from = _active_from(wanted, ms)
    rows = states.best_at(ms, wanted.limit, min_games=wanted.min_games, active_from=active_from)
    if rows is None:
        return None
    if not counted or not rows:
        return _Ranked(rows, len(rows), len(rows))
    without = json.dumps(sorted(states.closed_at(ms)))
    counts = (pool.pool, ms, wanted.min_games, active_from, rows[-1]["rating"], without)
    found = queries.first_row(ledger.views.connection, queries.COUNTED_AT, counts)
    assert found is not None
    return _Ranked(rows, found["total"], found["not_below"])


def _by_index(ledger: Ledger, pool: Pool, wanted: Wanted) -> _Ranked:
    connection, rows = ledger.views.connection, _ranked(ledger, pool, wanted.limit, wanted.min_games)
    if wanted.min_games == 1:  # which everybody has who is listed
        last = rows[-1]["rating"] if rows else inf
        return _Ranked(rows, places.listed(connection, pool.pool), places.not_below(connection, pool.pool, last))
    counts = [
        _counted(queries.first_row(connection, queries.RANKED, (pool.pool, wanted.min_games, rating)))
        for rating in (-inf, rows[-1]["rating"] if rows else inf)
    ]
    return _Ranked(rows, *counts)


def _rows_at(ledger: Ledger, pool: Pool, states: PlayerStates, ms: int) -> list[dict[str, Any]]:
    """Who was listed at an instant, in no order."""
    if states.rows_say_all:
        closed = states.closed_at(ms)
        rows = queries.dictionaries(ledger.views.connection, queries.RATINGS_AT, (pool.pool, ms))
        return [row for row in rows if row["player"] not in closed] if closed else list(rows)
    return [
        {
            "player": state.player,
            "rating": state.in_force,
            "n": state.games,
            "ended_ms": None if state.row is None else state.row["ended_ms"],
        }
        for state in states.all_at(ms)
    ]


def _states_of(
    ledger: Ledger, states: PlayerStates, wanted: Wanted, ms: int, players: list[int]
) -> dict[int, PlayerState]:
    """The states that the ratings of these players are of."""
    if wanted.at is None:
        today = ledger.now_ms()
        return {player: states.now(player, today) for player in players}
    if len(players) <= FEW_PLAYERS:
        return {player: states.at(player, ms) for player in players}
    return {state.player: state for state in states.all_at(ms)}


def _percentiles(ranked: _Ranked) -> list[float]:
    """For each row the share of the ranked players with a lower rating, in per cent."""
    shares: list[float] = []
    not_below, last = ranked.not_below_last, None
    for place in range(len(ranked.rows), 0, -1):
        rating = ranked.rows[place - 1]["rating"]
        if last is not None and rating != last:
            not_below = place
        last = rating
        shares.append(_percentile(not_below, ranked.total))
    return shares[::-1]


def _before(
    ledger: Ledger, pool: Pool, states: PlayerStates, wanted: Wanted, players: list[int]
) -> dict[int, float | None] | None:
    """The ratings to compare with, by player; None where nobody asks."""
    if wanted.since_list is not None:
        publication = ledger.publications.found(wanted.since_list)
        if publication.event.pool != pool.name:
            message = f"list {publication.name!r} is of pool {publication.event.pool!r}, the ranking of {pool.name!r}"
            raise MalformedError([message])
        return {row.player: row.rating for row in ledger.publications.rows(publication)}
    return None if wanted.since is None else in_force_at(states, instant_end_ms(wanted.since), players)
