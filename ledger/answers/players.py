"""The summary of a player in a pool: rating then and now, results, highest rating. Games are in ``player_games``."""

from __future__ import annotations

from math import sqrt
from typing import Any

import attrs

from ledger.answers.achievements import NO_LOWEST, LowestRating, highest_before_games, lowest_rating
from ledger.answers.asking import day, display_name, in_force_from, in_one_snapshot, is_field_hidden, shown_identity
from ledger.answers.publications import PublishedRatingFields, last_published_rating
from ledger.answers.rankings import RankingPlace, ranking_place
from ledger.answers.read_models import has_read_model, last_game_row, rated_game_row
from ledger.book.roster import StoredSeed
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms
from ledger.facts.json_schemas import documented, flattened
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerState, PlayerStates
from ledger.ratings.projectors import highest_lowest
from ledger.schemes.scheme import Rhythm

_FIRST_GAME = (
    "SELECT min(ended_ms) FROM (SELECT min(ended_ms) AS ended_ms FROM games WHERE white = ?1 "
    "UNION ALL SELECT min(ended_ms) FROM games WHERE black = ?1)"
)


@in_one_snapshot
def joining_day(ledger: OpenLedger, person: Person) -> str:
    """Return the day on which a player joined: of the registration, or of the first game if that is earlier."""
    # An import registers a player when the file is read, which says nothing of the player.
    (first_ms,) = ledger.views.connection.execute(_FIRST_GAME, (person.player,)).fetchone()
    # Days as text are in the order of time.
    registered = person.joined_at[:10]
    return registered if first_ms is None else min(registered, day(first_ms))


@attrs.frozen(kw_only=True, slots=False)
class PendingGames:
    """The effects of games that were played and not yet rated at an instant; all null: no such games."""

    rating_after_period: float | None = documented("the rating after their period or event, points")
    period_closes: str | None = documented("when that closes; null also where nothing has closed it yet")


@attrs.frozen(kw_only=True, slots=False)
class RatingInForce:
    """The rating on the pool's last list, for a pool whose scheme rates by period or event."""

    rating_in_force: float | None = documented("the rating without the games of a period that is not over, points")


@attrs.frozen(kw_only=True, slots=False)
class HighestRating:
    """A player's highest rating ever in force (HERA), with its day and scheme; all null: fewer than 50 games."""

    hera: float | None = documented("the highest rating from 50 rated games on, points")
    hera_date: str | None = documented("day from which it was in force")
    hera_scheme: str | None = documented(
        "the scheme that gave it; of a player who came with it the list, seed without a name"
    )


@attrs.frozen(kw_only=True, slots=False)
class PlayerTotals:
    """The totals of a player's rated games: results, highest, lowest and mean rating."""

    games: int = documented("rated games in the pool", minimum=0)
    wins: int = documented("games won", minimum=0)
    draws: int = documented("games drawn", minimum=0)
    losses: int = documented("games lost, those on time among them", minimum=0)
    time_losses: int = documented("games lost on time", minimum=0)
    hera: HighestRating = flattened()
    lowest: LowestRating = flattened()
    mean_rating: float | None = documented("mean of the ratings after each game, points; null: there is none")
    rating_sd: float | None = documented("their standard deviation, points")
    last_game: str | None = documented("the day of the last rated game")


@attrs.frozen(kw_only=True, slots=False)
class PlayerSummary:
    """The summary of a player in a pool: rating then and now, results, highest and lowest rating, time losses."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    identity: str | None = documented("the player's identity, such as lichess:ann; null: erased, or not shown")
    joined: str = documented("the day on which the player joined, or of the first game where that is earlier")
    pool: str = documented("the pool")
    scheme: str = documented("the rating scheme now")
    rating_then: float | None = documented("the rating in force then, points; null: none to show")
    then: str = documented("when that was: as asked, or the day of the first rated game")
    waiting: PendingGames | None = flattened()
    rating_now: float | None = documented(
        "the rating now, points; a period that is not over counts as if it closed now"
    )
    in_force: RatingInForce | None = flattened()
    provisional: bool = documented("whether the scheme calls the rating now provisional")
    state: dict[str, float] = documented("what the scheme keeps beside the rating, by its own names")
    place: RankingPlace = flattened()
    results: PlayerTotals = flattened()
    published: PublishedRatingFields = flattened()

    @property
    def highest(self) -> float | None:
        """The highest rating that was ever in force after at least 50 rated games (HERA), in rating points.

        It is None until one counts.
        """
        return self.results.hera.hera


@in_one_snapshot
def summary(ledger: OpenLedger, person: Person, pool: str | None = None, at: str | None = None) -> PlayerSummary:
    """Return the summary of a player in a pool: rating then and now, results, highest rating, time losses.

    "Then" is *at*, by default the day of the first rated game, or of the list of a player without one. Before the first
    closing of a list scheme ``rating_then`` is a declared one. The published list is the last one, up to *at* if given.

    Raises:
        UnknownNameError: the player has neither a rated game in the pool nor the rating of a list.
    """
    rated_by = ledger.pool(pool)
    states, today = ledger.states(rated_by), ledger.now_ms()
    last = last_game_row(ledger, person, rated_by)
    now = states.now(person.player, today)
    # ``now`` counts a period that is not over as if it closed today: the rating of the last closing is another one.
    listed_ms = states.listed_from(person.player, today)
    in_force = now if last is None else states.at(person.player, max(states.in_force_ms(today) or 0, listed_ms))
    if last is None:
        first, results = _not_played(ledger, person, rated_by)
    else:
        first = day(rated_game_row(ledger, rated_by, person.player, 1)["ended_ms"])
        results = _played(ledger, states, rated_by, last, in_force, now.era.scheme.name)
    then = at or first
    rating_then, waiting = _then(states, person.player, then)
    return PlayerSummary(
        player=person.player,
        name=display_name(person),
        identity=shown_identity(person.identity),
        joined=joining_day(ledger, person),
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
            if not is_field_hidden(name)
        },
        place=ranking_place(ledger, rated_by, now),
        results=results,
        published=last_published_rating(ledger, rated_by, person.player, None if at is None else instant_end_ms(at)),
    )


def _played(
    ledger: OpenLedger, states: PlayerStates, pool: Pool, last: dict[str, Any], in_force: PlayerState, present: str
) -> PlayerTotals:
    keeps_lowest = has_read_model(ledger, highest_lowest.PROJECTOR)
    mean, sd = _spread(ledger, states, pool, last)
    return PlayerTotals(
        games=last["n"],
        **{name: last[name] for name in ("wins", "draws", "losses", "time_losses")},
        hera=_hera(ledger, pool, in_force),
        lowest=lowest_rating(ledger, pool, in_force.player, in_force.games, present) if keeps_lowest else NO_LOWEST,
        mean_rating=mean,
        rating_sd=sd,
        last_game=day(last["latest_ms"]),
    )


def _not_played(ledger: OpenLedger, person: Person, pool: Pool) -> tuple[str, PlayerTotals]:
    """Return the day of the list with whose rating a player without a rated game began, and the totals."""
    today = ledger.now_ms()
    seeds = ledger.states(pool).seeds(person.player)
    # If every list is of a later day, the first of them counts.
    in_force = ([seed for seed in seeds if seed.ms <= today] or seeds[:1])[-1]
    nothing: dict[str, Any] = dict.fromkeys(("games", "wins", "draws", "losses", "time_losses"), 0)
    nothing |= dict.fromkeys(("mean_rating", "rating_sd", "last_game"))
    first = day(today if in_force.seed.day is None else in_force.ms)
    return first, PlayerTotals(**nothing, hera=_hera_of(in_force), lowest=NO_LOWEST)


def _spread(
    ledger: OpenLedger, states: PlayerStates, pool: Pool, last: dict[str, Any]
) -> tuple[float | None, float | None]:
    """Return the mean and standard deviation of the ratings after each game, points; None if no game gave one."""
    n, total, squares = last["n"], last["rating_sum"], last["rating_squares"]
    # If all players are listed, each game gave a rating, and the sums are in the player's last row.
    if not pool.lists_everybody:
        n, total, squares = 0, 0.0, 0.0
        for row in queries.fetch_dicts(ledger.views.connection, queries.GRAPH, (pool.pool, last["player"], 0, -1)):
            rating = states.after_game(row).rating
            if rating is not None:
                n, total, squares = n + 1, total + rating, squares + rating * rating
    if not n:
        return None, None
    mean = total / n
    # Rounding may leave a little less than zero, which has no root.
    return mean, sqrt(max(0.0, squares / n - mean * mean))


def _then(states: PlayerStates, player: int, then: str) -> tuple[float | None, PendingGames | None]:
    """Return the rating in force at the end of a day, month or year, and the effects of games not yet rated then."""
    ms = instant_end_ms(then)
    state = states.at(player, ms)
    if state.era.scheme.rhythm is Rhythm.GAME:
        return state.in_force, None
    closing = states.waiting_until(state, ms)
    after = None if closing is None else states.after_period(player, closing).in_force
    return state.in_force, PendingGames(rating_after_period=after, period_closes=in_force_from(closing))


def _hera(ledger: OpenLedger, pool: Pool, in_force: PlayerState) -> HighestRating:
    """Return the highest rating that was ever in force; of an initial rating, with its list."""
    reached = in_force.row
    if reached is not None and reached["hera_n"]:
        row = rated_game_row(ledger, pool, in_force.player, reached["hera_n"])
        scheme = pool.eras[pool.era_at(row["rated_ms"])].scheme.name
        return HighestRating(hera=reached["hera"], hera_date=in_force_from(row["rated_ms"]), hera_scheme=scheme)
    first = rated_game_row(ledger, pool, in_force.player, 1)
    return _hera_of(ledger.states(pool).seed_at(in_force.player, first["ended_ms"]))


def _hera_of(seed: StoredSeed | None) -> HighestRating:
    """Return the highest rating that a player had before the first game, with its list."""
    rating, since, source = highest_before_games(seed) or (None, None, None)
    return HighestRating(hera=rating, hera_date=since, hera_scheme=source)
