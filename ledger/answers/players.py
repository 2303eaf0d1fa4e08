"""One player, as plain dictionaries: rating then and now, results, highest rating. Games are in ``player_games``.

Every number comes from the views. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from ledger.answers.highest import NO_LOWEST, lowest
from ledger.answers.joining import joined
from ledger.answers.moments import of_one_moment
from ledger.answers.player_games import in_force_from, last_row
from ledger.answers.publications import beside, original
from ledger.answers.rankings import place
from ledger.answers.read_models import keeps
from ledger.answers.wording import day, shown
from ledger.book.roster import Listed, Roster
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms
from ledger.ledger import Ledger
from ledger.players.people import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.ratings.projectors import highest_lowest
from ledger.ratings.side_tables import highest_of
from ledger.schemes.scheme import Rhythm


@of_one_moment
def summary(ledger: Ledger, person: Person, pool: str | None = None, at: str | None = None) -> dict[str, Any]:
    """One player in one pool: rating then and now, results, HERA and its date, time losses.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        pool: name of the pool; the first one by default.
        at: "then" is the end of this day, month or year; by default the day of the player's first rated game.

    Returns:
        ``rating_then`` is the rating in force then, before the first closing of a list scheme a declared one; where a
        scheme of that time rates by period or event, ``rating_after_period`` is what the games played by then and not
        yet rated led to, ``period_closes`` when; both are None where no game waits. ``rating_now`` counts the games of
        a period that is not over as if it closed now, as rankings do; where a scheme of the pool rates by period or
        event, ``rating_in_force`` does not. ``hera`` is of ratings that were in force; ``hera_scheme`` is the scheme
        that gave it, or of a player who came with it the name of the list, ``seed`` where it has none. Who has no rated
        game yet and came into the pool with the rating of a list has that, and no rank; "then" is the day of the list
        by default; ``lowest`` see ``highest``. ``percentile`` is the share of the ranked players with a lower
        rating, per cent, None without a rank. ``published_list`` is the last list published, up to *at* where it is
        given, ``published_rating`` the rating on it, ``revised_rating`` what the journal says now of that list.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    rated_by = ledger.pool(pool)
    states = PlayerStates(ledger.views.connection, rated_by)
    last = last_row(ledger, person, rated_by)
    now = states.now(person.player, ledger.now_ms())
    in_force = now if last is None else states.at(person.player, states.recorded_until_ms or 0)
    if last is None:
        played = _not_played(ledger, person, rated_by)
    else:
        played = _played(ledger, states, rated_by, last, in_force)
    return {
        "player": person.player,
        "name": shown(person),
        "identity": person.identity,
        "joined": joined(ledger, person),
        "pool": rated_by.name,
        "scheme": now.era.scheme.name,
        **_then(states, person.player, at or played["first"]),
        "rating_now": now.in_force,
        **({} if rated_by.by_game else {"rating_in_force": in_force.in_force}),
        "provisional": now.provisional,
        "state": dict(zip(now.era.scheme.state[1:], now.state[1:], strict=True)),
        **place(ledger, rated_by, now)._asdict(),
        **{name: value for name, value in played.items() if name != "first"},
        **beside(original(ledger, rated_by, person.player, None if at is None else instant_end_ms(at))),
    }


def _played(
    ledger: Ledger, states: PlayerStates, pool: Pool, last: dict[str, Any], in_force: PlayerState
) -> dict[str, Any]:
    """What a summary says of rated games: counts, HERA, mean and deviation of the ratings, the days of two of them."""
    return {
        "first": day(_row(ledger, pool, last["player"], 1)["ended_ms"]),
        "games": last["n"],
        **{name: last[name] for name in ("wins", "draws", "losses", "time_losses")},
        **_hera(ledger, pool, in_force),
        **_lowest(ledger, pool, in_force),
        **_spread(ledger, states, pool, last),
        "last_game": day(last["ended_ms"]),
    }


def _not_played(ledger: Ledger, person: Person, pool: Pool) -> dict[str, Any]:
    """The same of who has no rated game and came with the rating of a list."""
    today = ledger.now_ms()
    seeds = Roster(ledger.views.connection).seeds(pool.pool, person.player)
    in_force = [seed for seed in seeds if seed.ms <= today] or seeds[:1]
    return {
        "first": day(today if in_force[-1].seed.day is None else in_force[-1].ms),
        **dict.fromkeys(("games", "wins", "draws", "losses", "time_losses"), 0),
        **_hera_of(in_force[-1]),
        **NO_LOWEST,
        **dict.fromkeys(("mean_rating", "rating_sd", "last_game")),
    }


def _lowest(ledger: Ledger, pool: Pool, in_force: PlayerState) -> dict[str, Any]:
    """The lowest rating that was in force; None of a ledger that was opened without the read model that keeps it."""
    if not keeps(ledger, highest_lowest.PROJECTOR):
        return NO_LOWEST
    return lowest(ledger, pool, in_force.player, in_force.games)


def _spread(ledger: Ledger, states: PlayerStates, pool: Pool, last: dict[str, Any]) -> dict[str, float | None]:
    """Mean and standard deviation of the ratings after each game, points.

    A game after which the scheme gave no rating does not count; where all are so, there is neither.
    """
    n, total, squares = last["n"], last["rating_sum"], last["rating_squares"]
    if not pool.lists_everybody:
        n, total, squares = 0, 0.0, 0.0
        for row in queries.dictionaries(ledger.views.connection, queries.GRAPH, (pool.pool, last["player"])):
            rating = states.after_game(row).rating
            if rating is not None:
                n, total, squares = n + 1, total + rating, squares + rating * rating
    if not n:
        return {"mean_rating": None, "rating_sd": None}
    mean = total / n
    return {"mean_rating": mean, "rating_sd": sqrt(max(0.0, squares / n - mean * mean))}


def _then(states: PlayerStates, player: int, then: str) -> dict[str, Any]:
    """The rating in force at the end of a day, month or year, and what the period brought that was running then."""
    ms = instant_end_ms(then)
    state = states.at(player, ms)
    found: dict[str, Any] = {"rating_then": state.in_force, "then": then}
    if state.era.scheme.rhythm is not Rhythm.GAME:
        closing = states.waiting_until(state, ms)
        after = None if closing is None else states.after_period(player, closing).in_force
        found |= {"rating_after_period": after, "period_closes": in_force_from(closing)}
    return found


def _hera(ledger: Ledger, pool: Pool, in_force: PlayerState) -> dict[str, Any]:
    """The highest rating that was ever in force, since when, and by which system; a seed's, of which list it is."""
    reached = in_force.row
    if reached is not None and reached["hera_n"]:
        row = _row(ledger, pool, in_force.player, reached["hera_n"])
        scheme = pool.eras[pool.era_at(row["rated_ms"])].scheme.name
        return {"hera": reached["hera"], "hera_date": in_force_from(row["rated_ms"]), "hera_scheme": scheme}
    first = _row(ledger, pool, in_force.player, 1)
    return _hera_of(Roster(ledger.views.connection).seed_at(pool.pool, in_force.player, first["ended_ms"]))


def _hera_of(seed: Listed | None) -> dict[str, Any]:
    """The highest rating that a player brought along, and the list that tells it."""
    highest = None if seed is None else highest_of(seed.seed)
    if seed is None or highest is None:
        return dict.fromkeys(("hera", "hera_date", "hera_scheme"))
    since = None if seed.seed.day is None else day(seed.ms)
    return {"hera": highest, "hera_date": since, "hera_scheme": seed.source or "seed"}


def _row(ledger: Ledger, pool: Pool, player: int, n: int) -> dict[str, Any]:
    """The row of a player's n-th rated game."""
    row = queries.first_row(ledger.views.connection, queries.ROW, (pool.pool, player, n))
    assert row is not None
    return row
