"""One player: rating then and now, results, highest rating. Games are in ``player_games``.

Every number comes from the views. Nothing is written or formatted.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import attrs

from ledger.answers.asking import day, display_name, identity_shown, in_force_from, is_kept_back, of_one_moment
from ledger.answers.highest import NO_LOWEST, Lowest, lowest
from ledger.answers.publications import OriginalNumbers, original, with_current
from ledger.answers.rankings import RankingPlace, place
from ledger.answers.read_models import keeps, last_row
from ledger.book.roster import StoredSeed
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.ratings.projectors import highest_lowest
from ledger.ratings.projectors.history import highest_of
from ledger.schemes.scheme import Rhythm

_FIRST_GAME = (
    "SELECT min(ended_ms) FROM (SELECT min(ended_ms) AS ended_ms FROM games WHERE white = ?1 "
    "UNION ALL SELECT min(ended_ms) FROM games WHERE black = ?1)"
)


@of_one_moment
def joined(ledger: OpenLedger, person: Person) -> str:
    """Return the day on which a player joined: the registered one, or that of the first game if that is earlier.

    Who comes in by an import is registered when the file is read, which says nothing of the player.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
    """
    (first_ms,) = ledger.views.connection.execute(_FIRST_GAME, (person.player,)).fetchone()
    # Days as text are in the order of time.
    registered = person.joined_at[:10]
    return registered if first_ms is None else min(registered, day(first_ms))


@attrs.frozen(kw_only=True, slots=False)
class WaitingGames:
    """The effects of games played by then and not yet rated; all null: no such games."""

    rating_after_period: float | None = documented("the rating after their period or event, points")
    period_closes: str | None = documented("when that closes; null also where nothing has closed it yet")


@attrs.frozen(kw_only=True, slots=False)
class RatingInForce:
    """The rating on the pool's last list, if a scheme of the pool rates by period or event."""

    rating_in_force: float | None = documented("the rating without the games of a period that is not over, points")


@attrs.frozen(kw_only=True, slots=False)
class Hera:
    """The highest rating that was ever in force; all null: none counts yet."""

    hera: float | None = documented("the highest rating from 50 rated games on, points")
    hera_date: str | None = documented("day from which it was in force")
    hera_scheme: str | None = documented(
        "the scheme that gave it; of a player who came with it the list, seed without a name"
    )


@attrs.frozen(kw_only=True, slots=False)
class PlayerResults:
    """The sums of a player's rated games."""

    games: int = documented("rated games in the pool", minimum=0)
    wins: int = documented("games won", minimum=0)
    draws: int = documented("games drawn", minimum=0)
    losses: int = documented("games lost, those on time among them", minimum=0)
    time_losses: int = documented("games lost on time", minimum=0)
    hera: Hera = flattened()
    lowest: Lowest = flattened()
    mean_rating: float | None = documented("mean of the ratings after each game, points; null: there is none")
    rating_sd: float | None = documented("their standard deviation, points")
    last_game: str | None = documented("the day of the last rated game")


@attrs.frozen(kw_only=True, slots=False)
class PlayerSummary:
    """One player in one pool: rating then and now, results, highest and lowest rating, time losses."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str | None = documented("the player's identity, such as lichess:ann; null: erased, or not shown")
    joined: str = documented("the day on which the player joined, or of the first game where that is earlier")
    pool: str = documented("the pool")
    scheme: str = documented("the rating scheme now")
    rating_then: float | None = documented("the rating in force then, points; null: none to show")
    then: str = documented("when that was: as asked, or the day of the first rated game")
    waiting: WaitingGames | None = flattened()
    rating_now: float | None = documented(
        "the rating now, points; a period that is not over counts as if it closed now"
    )
    in_force: RatingInForce | None = flattened()
    provisional: bool = documented("whether the scheme calls the rating now provisional")
    state: dict[str, float] = documented("what the scheme keeps beside the rating, by its own names")
    place: RankingPlace = flattened()
    results: PlayerResults = flattened()
    published: OriginalNumbers = flattened()

    @property
    def highest(self) -> float | None:
        """The highest rating that was ever in force from 50 rated games on (HERA), points; None: none counts yet."""
        return self.results.hera.hera


@of_one_moment
def summary(ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None) -> PlayerSummary:
    """Return one player in one pool: rating then and now, results, HERA and its date, time losses.

    Args:
        ledger: a ledger whose views are up to date.
        person: the player.
        pool: name of the pool; the first one by default.
        at: "then" is the end of this day, month or year; by default the day of the player's first rated game.

    Returns:
        Before the first closing of a list scheme ``rating_then`` is a declared one. Who has no rated game yet and came
        into the pool with the rating of a list has that and a place; "then" is the day of the list by default. The
        published list is the last one, up to *at* where it is given.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    rated_by = ledger.pool(pool)
    states, today = ledger.states(rated_by), ledger.now_ms()
    last = last_row(ledger, person, rated_by)
    now = states.now(person.player, today)
    # ``now`` counts a period that is not over as if it closed today: what the last closing gave is another question.
    listed_ms = states.listed_from(person.player, today)
    in_force = now if last is None else states.at(person.player, max(states.in_force_ms(today) or 0, listed_ms))
    if last is None:
        first, results = _not_played(ledger, person, rated_by)
    else:
        first = day(_row(ledger, rated_by, person.player, 1)["ended_ms"])
        results = _played(ledger, states, rated_by, last, in_force, now.era.scheme.name)
    then = at or first
    rating_then, waiting = _then(states, person.player, then)
    return PlayerSummary(
        player=person.player,
        name=display_name(person),
        identity=identity_shown(person.identity),
        joined=joined(ledger, person),
        pool=rated_by.name,
        scheme=now.era.scheme.name,
        rating_then=rating_then,
        then=then,
        waiting=waiting,
        rating_now=now.in_force,
        in_force=None if rated_by.by_game else RatingInForce(rating_in_force=in_force.in_force),
        provisional=now.provisional,
        # The first field of a state is the rating itself.
        state={
            name: value
            for name, value in zip(now.era.scheme.state[1:], now.state[1:], strict=True)
            if not is_kept_back(name)
        },
        place=place(ledger, rated_by, now),
        results=results,
        published=with_current(original(ledger, rated_by, person.player, None if at is None else instant_end_ms(at))),
    )


def _played(
    ledger: OpenLedger, states: PlayerStates, pool: Pool, last: dict[str, Any], in_force: PlayerState, present: str
) -> PlayerResults:
    keeps_lowest = keeps(ledger, highest_lowest.PROJECTOR)
    mean, sd = _spread(ledger, states, pool, last)
    return PlayerResults(
        games=last["n"],
        **{name: last[name] for name in ("wins", "draws", "losses", "time_losses")},
        hera=_hera(ledger, pool, in_force),
        lowest=lowest(ledger, pool, in_force.player, in_force.games, present) if keeps_lowest else NO_LOWEST,
        mean_rating=mean,
        rating_sd=sd,
        last_game=day(last["ended_ms"]),
    )


def _not_played(ledger: OpenLedger, person: Person, pool: Pool) -> tuple[str, PlayerResults]:
    """Return the summary without a rated game, with the rating of a list; before it the day of that list."""
    today = ledger.now_ms()
    seeds = ledger.states(pool).seeds(person.player)
    # If every list is of a later day, the first of them counts.
    in_force = ([seed for seed in seeds if seed.ms <= today] or seeds[:1])[-1]
    nothing: dict[str, Any] = dict.fromkeys(("games", "wins", "draws", "losses", "time_losses"), 0)
    nothing |= dict.fromkeys(("mean_rating", "rating_sd", "last_game"))
    first = day(today if in_force.seed.day is None else in_force.ms)
    return first, PlayerResults(**nothing, hera=_hera_of(in_force), lowest=NO_LOWEST)


def _spread(
    ledger: OpenLedger, states: PlayerStates, pool: Pool, last: dict[str, Any]
) -> tuple[float | None, float | None]:
    """Return the mean and standard deviation of the ratings after each game, points; None if no game gave one."""
    n, total, squares = last["n"], last["rating_sum"], last["rating_squares"]
    # If all players are listed, each game gave a rating, and the sums are in the player's last row.
    if not pool.lists_everybody:
        n, total, squares = 0, 0.0, 0.0
        for row in queries.dictionaries(ledger.views.connection, queries.GRAPH, (pool.pool, last["player"], 0, -1)):
            rating = states.after_game(row).rating
            if rating is not None:
                n, total, squares = n + 1, total + rating, squares + rating * rating
    if not n:
        return None, None
    mean = total / n
    # Rounding may leave a little less than zero, which has no root.
    return mean, sqrt(max(0.0, squares / n - mean * mean))


def _then(states: PlayerStates, player: int, then: str) -> tuple[float | None, WaitingGames | None]:
    """Return the rating in force at the end of a day, month or year, and the effects of the period running then."""
    ms = instant_end_ms(then)
    state = states.at(player, ms)
    if state.era.scheme.rhythm is Rhythm.GAME:
        return state.in_force, None
    closing = states.waiting_until(state, ms)
    after = None if closing is None else states.after_period(player, closing).in_force
    return state.in_force, WaitingGames(rating_after_period=after, period_closes=in_force_from(closing))


def _hera(ledger: OpenLedger, pool: Pool, in_force: PlayerState) -> Hera:
    """Return the highest rating that was ever in force; for a seed's, its list."""
    reached = in_force.row
    if reached is not None and reached["hera_n"]:
        row = _row(ledger, pool, in_force.player, reached["hera_n"])
        scheme = pool.eras[pool.era_at(row["rated_ms"])].scheme.name
        return Hera(hera=reached["hera"], hera_date=in_force_from(row["rated_ms"]), hera_scheme=scheme)
    first = _row(ledger, pool, in_force.player, 1)
    return _hera_of(ledger.states(pool).seed_at(in_force.player, first["ended_ms"]))


def _hera_of(seed: StoredSeed | None) -> Hera:
    """Return the highest rating that a player brought along, and its list."""
    highest = None if seed is None else highest_of(seed.seed)
    if seed is None or highest is None:
        return Hera(hera=None, hera_date=None, hera_scheme=None)
    since = None if seed.seed.day is None else day(seed.ms)
    return Hera(hera=highest, hera_date=since, hera_scheme=seed.source or "seed")


def _row(ledger: OpenLedger, pool: Pool, player: int, n: int) -> dict[str, Any]:
    """Return the row of a player's n-th rated game."""
    row = queries.first_row(ledger.views.connection, queries.ROW, (pool.pool, player, n))
    assert row is not None
    return row
