"""A player's state at an instant: the one place that computes it, for every command, answer and list.

The question is always (player, pool, instant, before or after the games of that instant). A value is in force from the
instant at which the game, or the period or event that it was rated with, takes its place in rating order. The timeline
says what a later instant or scheme makes of a state; the scheme's ``listed`` whether there is a rating to show;
``player_rows`` which players no list shows.
Nothing is rated or written here, and no name of a person is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book.guests import seed_of
from ledger.book.roster import FROM_THE_BEGINNING, Roster, StoredSeed
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import BEGINNING, NO_BATCH, Era, EraState, ListRating, Pool
from ledger.facts.periods import DAY_MS, OPEN
from ledger.ratings import queries
from ledger.ratings.later_lists import lists_taken_in_until
from ledger.ratings.player_rows import BY_LATER_LIST, is_listed, unlisted_at
from ledger.schemes.scheme import AcceptedRatings, Newcomer, Rhythm, unchanged_by_time

if TYPE_CHECKING:
    import sqlite3

STRENGTH_GAMES = 50  # "Until a player has completed 50 rated games" (seed 004), where a scheme has no number of its own


class PlayerState(NamedTuple):
    """One player's state at some point of the rating order.

    Attributes:
        player: the player number.
        era: the era that it belongs to: scheme and settings.
        state: the scheme's state fields.
        row: the last row of the history before it, with ``rated_ms``; None for a player without a rated game.
        entered: whether the player has a rated game that counts in the era, a seed or, with a rated game in the pool
            at any time, a declared rating to begin with; False for a new player about whom nothing is known.
    """

    player: int
    era: Era
    state: tuple[float, ...]
    row: dict[str, Any] | None
    entered: bool = True

    @property
    def rating(self) -> float | None:
        """The rating from which formulas go on, a new player's included; None if the scheme does not list it."""
        return self.state[0] if is_listed(self.era, self.state) else None

    @property
    def in_force(self) -> float | None:
        """The rating that a list shows; None for a player who is not listed, or has neither played nor declared one."""
        return self.rating if self.entered else None

    @property
    def provisional(self) -> bool:
        """True if the scheme calls the rating provisional."""
        return self.era.scheme.is_provisional(self.state, self.era.numbers)

    @property
    def strength_limit(self) -> float | None:
        """The number of rated games from which the rating decides the strength; None if the player has fewer."""
        limit = float(getattr(self.era.numbers, "provisional_games", STRENGTH_GAMES))
        games = dict(zip(self.era.scheme.state, self.state, strict=True)).get("games", 0.0)
        return limit if max(self.games, games) >= limit else None

    @property
    def games(self) -> int:
        """The number of rated games behind it."""
        return 0 if self.row is None else int(self.row["n"])


class PlayerStates:
    """The states of one pool's players in the present state of the views.

    After a write a caller makes another one.
    """

    def __init__(self, connection: sqlite3.Connection, pool: Pool, roster: Callable[[], Roster] | None = None) -> None:
        """Take the views and, if several pools share it, the roster; nothing is read."""
        self._connection = connection
        self.pool = pool
        self._roster_of = roster or partial(Roster, connection)
        # the player asked for last, of whom an answer made of many asks again and again, and the row
        self._last: tuple[int, dict[str, Any] | None] | None = None

    # -- what the views keep -------------------------------------------------------------------------------------

    @cached_property
    def _roster(self) -> Roster:
        """The facts about players; read only for a new player or a change of scheme, for it may cover everybody."""
        return self._roster_of()

    @cached_property
    def starts(self) -> StartingRatings:
        """The ratings with which players begin in the pool."""
        pools = lru_cache(lambda: {pool.name: pool for pool in stored_pools(self._connection)})
        return StartingRatings(self._connection, self.pool, self._roster, lambda name: pools().get(name))

    def newcomer(self, player: int, ms: int) -> Newcomer:
        """Return the facts, at an instant, about a player who has no rated game by then."""
        return self.starts.new_player(player, ms)

    def seeds(self, player: int) -> list[StoredSeed]:
        """Return the seeds of a player, in order of their instants."""
        return self._roster.seeds(self.pool.pool, player)

    def seed_at(self, player: int, ms: int) -> StoredSeed | None:
        """Return the seed of a player that is in force at an instant."""
        return self._roster.seed_at(self.pool.pool, player, ms)

    def standing_code(self, player: int, ms: int) -> int:
        """Return the membership status of a player at an instant, as kernels see it."""
        return self._roster.standing_at(player, ms)

    def unlisted_at(self, ms: int) -> frozenset[int]:
        """Return the players whom no list shows at an instant: closed accounts, and other federations."""
        return unlisted_at(self._connection, self.pool, ms)

    def listed_at(self, player: int, ms: int) -> float | None:
        """Return the rating of a player on the list of an instant; None for a player who is not on it."""
        state = self.at(player, ms)
        return None if player in self.unlisted_at(ms) or not self.is_on_list(state, ms) else state.in_force

    def unlisted_now(self, today_ms: int) -> frozenset[int]:
        """Return the players whom the present ranking leaves out."""
        return self.unlisted_at(self.today_ms(today_ms))

    def today_ms(self, now_ms: int) -> int:
        """Return the instant of the present ranking in milliseconds: now, or the end of the last game if later."""
        return now_ms if self.latest_ms is None else max(self.latest_ms, now_ms)

    @cached_property
    def latest_ms(self) -> int | None:
        """The instant in milliseconds at which the pool's last rated game ended; None if there is none."""
        row = self._row(queries.LATEST_END, self.pool.pool)
        return None if row is None or row["ms"] is None else int(row["ms"])

    def in_force_ms(self, now_ms: int) -> int | None:
        """Return the end of the last day on which a game, a run, a tournament or, by now, a rating period ended.

        Ratings in force are those of this instant, and asked about that day the answer is the same. None if nothing
        has ended.
        """
        ends = [times[-1] for times in (self.pool.runs, *self.pool.closed.values()) if times]
        if self.latest_ms is not None:
            ends.append(self.latest_ms)
            # the last games were played before their period ended
            closing = self.last_closing_ms(now_ms)
            ends += [] if closing is None else [closing]
        return (max(ends) // DAY_MS + 1) * DAY_MS - 1 if ends else None

    def last_closing_ms(self, now_ms: int) -> int | None:
        """Return the end of the last rating period or event with games, in milliseconds since 1970.

        None if none is over by now, or if the scheme rates game by game.
        """
        row = None if self.pool.by_game else self._row(queries.LAST_CLOSING, self.pool.pool, now_ms)
        return None if row is None else int(row["ms"])

    @cached_property
    def latest_era(self) -> int:
        """The index of the era that rates now: that of the last game, or a later one that rates that game."""
        era = 0 if self.latest_ms is None else self.pool.era_at(self.latest_ms)
        last = self._row(queries.LAST_PLACE, self.pool.pool) if self.pool.tournaments_cross_eras else None
        return era if last is None or last["ms"] is None else max(era, self.pool.era_at(last["ms"]))

    def _row(self, query: str, *arguments: object) -> dict[str, Any] | None:
        return queries.fetch_first(self._connection, query, arguments)

    def last_row(self, player: int) -> dict[str, Any] | None:
        """Return the row of a player's last rated game, to be read only; None if there is none."""
        if self._last is None or self._last[0] != player:
            self._last = player, self._row(queries.LAST_ROW, self.pool.pool, player)
        return self._last[1]

    def era_state(self, row: dict[str, Any]) -> EraState:
        """Return the state that a row of the history stores."""
        era = self.pool.era_at(row["rated_ms"])
        return EraState(era, _state_of(row, self.pool.eras[era]), row["n"])

    # -- at an instant -------------------------------------------------------------------------------------------

    def at(self, player: int, ms: int, *, before: bool = False) -> PlayerState:
        """Return a player's state at an instant, after the games that are rated then, or *before* them."""
        query, place = (queries.ROW_BEFORE, (ms, NO_BATCH)) if before else (queries.ROW_AT, (ms,))
        return self._state_from(player, self._row(query, self.pool.pool, player, *place), ms)

    def now(self, player: int, today_ms: int) -> PlayerState:
        """Return a player's state after the pool's last game.

        A period that is not over counts as if it closed then.

        A player with a seed and no rated game has the state of the seed, even if it is later than the last game.
        *today_ms* says which seeds are in force, and is the instant if the pool has no game.
        """
        ms, era = self._now(today_ms)
        row = self.last_row(player)
        seeded = self.seeded_now(player, today_ms)[0] if row is None else None
        return seeded or self._state_from(player, row, ms, era, lists_until=max(ms, today_ms))

    def seeded_now(self, player: int, today_ms: int) -> tuple[PlayerState | None, StoredSeed | None]:
        """Return the present state of a player without a rated game, and its seed; None without one."""
        until = max(self._now(today_ms)[0], today_ms)
        listed = self.seed_at(player, until)
        if listed is None:
            return None, None
        return self._seeded(
            player, listed, self._roster.restarting_player(self.pool.pool, player, until), today_ms
        ), listed

    def _now(self, today_ms: int) -> tuple[int, int]:
        """Return the instant of ``now`` and the place of its era."""
        return (today_ms, self.pool.era_at(today_ms)) if self.latest_ms is None else (self.latest_ms, self.latest_era)

    def _seeded(self, player: int, listed: StoredSeed, who: Newcomer, today_ms: int) -> PlayerState:
        """Return the present state of a player who has a seed and no rated game, by the scheme of all others."""
        latest_ms, number = self._now(today_ms)
        ms, era = max(latest_ms, listed.ms), self.pool.eras[number]
        state = era.scheme.begin(who._replace(day=ms / DAY_MS), era.numbers)
        return PlayerState(player, era, self.pool.at_time(number, state, ms), None)

    def listed_from(self, player: int, today_ms: int) -> int:
        """Return the end of the day from which a player's last list up to today holds; ``BEGINNING`` without one."""
        listed = self.seed_at(player, today_ms)
        if listed is None or listed.ms == FROM_THE_BEGINNING:
            return BEGINNING
        return (listed.ms // DAY_MS + 1) * DAY_MS - 1

    def _state_from(
        self,
        player: int,
        row: dict[str, Any] | None,
        ms: int,
        number: int | None = None,
        lists_until: int | None = None,
    ) -> PlayerState:
        """Return the state at an instant by the last row before it; it includes lists up to it, or *lists_until*."""
        number = self.pool.era_at(ms) if number is None else number
        era = self.pool.eras[number]
        if row is None:
            who, source = self.starts.begin(player, ms)
            entered = era.scheme.begin(who, era.numbers)
            if source is None:
                has_rating = who.seed is not None or (who.has_rating and self._plays(player))
            else:
                # it is one of this pool from the end of the first game on, as the rating that a source shows is
                first = self._roster.first_game(self.pool.pool, player)
                has_rating = first is not None and first[0] <= ms
            return PlayerState(player, era, self.pool.at_time(number, entered, ms), None, has_rating)
        lists = self._later_lists(row, ms if lists_until is None else lists_until)
        state, begun = self._taken_along(row, number, lists)
        # at the very instant of its batch the row has the state itself
        if row["rated_ms"] < ms:
            state = self.pool.at_time(number, state, max([ms, *(later.ms for later in lists)]))
        return PlayerState(player, era, state, row, begun is None or begun.has_rating)

    def _plays(self, player: int) -> bool:
        """Return whether the player has a rated game in the pool: only there a declared rating is one of the pool."""
        return self._row(queries.CURRENT, self.pool.pool, player) is not None

    def _taken_along(
        self, row: dict[str, Any], era: int, lists: Sequence[ListRating]
    ) -> tuple[tuple[float, ...], Newcomer | None]:
        who = lambda ms: self._roster.restarting_player(self.pool.pool, row["player"], ms)  # noqa: E731
        return self.pool.carry_and_restart(self.era_state(row), era, who, lists)

    def _later_lists(self, row: dict[str, Any], until_ms: int) -> list[ListRating]:
        """Return the lists later than the state that a row keeps, up to an instant, in order."""
        if not self._has_lists or not self._roster.list_ratings_between(
            self.pool.pool, row["player"], BEGINNING, until_ms
        ):
            return []
        after = lists_taken_in_until(self._connection, self.pool, row["player"], row["n"])
        return self._roster.list_ratings_between(self.pool.pool, row["player"], after, until_ms)

    @cached_property
    def _has_lists(self) -> bool:
        """True if any player has the rating of a list, so that the roster must be read."""
        return self._row(queries.ANY_LIST, self.pool.pool) is not None

    def all_at(self, ms: int) -> Iterator[PlayerState]:
        """Yield the state of every player whom a list of that instant shows, in no order: with a rating, not closed.

        A pool's players are those with a rated game in it, be it a later one, and those with a seed from its day on.
        """
        unlisted = self.unlisted_at(ms)
        return (state for state in self._rated_at(ms) if state.player not in unlisted)

    def _rated_at(self, ms: int) -> Iterator[PlayerState]:
        """Yield the same states, and those of closed accounts."""
        era = self.pool.eras[self.pool.era_at(ms)]
        anybody = era.from_shown or era.from_pool is not None
        # Before the first game a past gives a rating, too; if those of sources or of another pool count, every player
        # may have one.
        without_row = set(self._roster.players_with_initial_ratings(self.pool.pool))
        if without_row or anybody:
            players = queries.fetch_dicts(self._connection, queries.PLAYERS, (self.pool.pool,))
            numbers = {row["player"] for row in players}
            without_row = numbers if anybody else without_row & numbers
        for row in queries.fetch_dicts(self._connection, queries.ROWS_AT, (self.pool.pool, ms)):
            without_row.discard(row["player"])
            yield from _in_force(self._state_from(row["player"], row, ms))
        for player in sorted(without_row):
            before_game = self._state_from(player, None, ms)
            if self.is_on_list(before_game, ms):
                yield from _in_force(before_game)
        number = self.pool.era_at(ms)
        era = self.pool.eras[number]
        for player, _, who in self._roster.seeded_without_games(self.pool.pool, ms):
            state = self.pool.at_time(number, era.scheme.begin(who, era.numbers), ms)
            yield from _in_force(PlayerState(player, era, state, None))

    def is_on_list(self, state: PlayerState, ms: int) -> bool:
        """Return whether the list of an instant may show a player of this state, who may have a rating.

        Where published lists do not change, a later first game adds nobody to an earlier list: without a rated game by
        then, only a seed brings a player on it.
        """
        era = self.pool.eras[self.pool.era_at(ms)]
        return not era.by_next_list or state.row is not None or self.seed_at(state.player, ms) is not None

    # -- around a game -------------------------------------------------------------------------------------------

    def before_game(self, row: dict[str, Any]) -> PlayerState:
        """Return the state in force before the game of a history row.

        In a scheme by game it is the state after the game before.
        """
        player, ms = row["player"], row["ended_ms"]
        era = self.pool.eras[self.pool.era_at(ms)]
        if era.scheme.rhythm is not Rhythm.GAME:
            return self.at(player, ms, before=True)
        last = self._row(queries.ROW, self.pool.pool, player, row["n"] - 1) if row["n"] > 1 else None
        return self._state_from(player, last, ms)

    def rating_before_game(self, row: dict[str, Any]) -> float | None:
        """Return the rating in force before the game of a history row.

        Other rows are read only if needed.
        """
        if row["n"] > 1 and self.rows_say_before:
            return float(row["rating_before"])
        return self.before_game(row).in_force

    def rating_to_change(self, row: dict[str, Any]) -> float | None:
        """Return the rating that changed by the game of a history row, or by the games that it was rated with.

        It is that in force before the game unless games of another list were rated in between: those of a late event,
        and of one that took long, are rated with the ratings of its first day, and change the rating in force since.
        """
        era = self.pool.eras[self.pool.era_at(row["ended_ms"])]
        if era.scheme.rhythm is Rhythm.GAME or self.rows_say_before:
            return self.rating_before_game(row)
        player, ms, place = row["player"], row["ended_ms"], (row["rated_ms"], row["batch"])
        last = self._row(queries.ROW_BEFORE, self.pool.pool, player, *place)
        if last is None or last["rated_ms"] < ms:
            return self._state_from(player, last, ms).in_force
        lists_until = self.pool.lists_until(row["rated_ms"], ms)
        return self._state_from(player, last, last["rated_ms"], lists_until=lists_until).in_force

    @cached_property
    def rows_say_before(self) -> bool:
        """True if the row of a player's second or later game has the rating that was in force before it."""
        return len(self.pool.eras) == 1 and self.pool.by_game and self.pool.lists_everybody

    def after_game(self, row: dict[str, Any]) -> PlayerState:
        """Return the state that a history row stores: after its game, or the period or event that it was rated with."""
        era = self.pool.eras[self.pool.era_at(row["rated_ms"])]
        return PlayerState(row["player"], era, _state_of(row, era), row)

    def opposite_before(self, opposite: dict[str, Any]) -> float | None:
        """Return the opponent's rating before a game, by its opposite row; a guest has the one that counts."""
        rating: float | None = opposite["guest_rating"]
        return rating if opposite["n"] is None else self.rating_before_game(opposite)

    def opposite_after(self, opposite: dict[str, Any], rated_ms: int) -> float | None:
        """Return the same after the game; the row does not say its place, which is that of the same game."""
        rating: float | None = opposite["guest_rating"]
        if opposite["n"] is None:
            return rating
        return self.after_game({**opposite, "rated_ms": rated_ms}).rating

    def of_guest(self, stored: str, era: int, ended_ms: int) -> tuple[float, ...]:
        """Return the state with which a guest enters a batch of *era*, whose first game ended at an instant."""
        rated_by = self.pool.eras[era]
        return rated_by.scheme.begin(Newcomer(None, None, ended_ms / DAY_MS, seed_of(stored)), rated_by.numbers)

    def around_list(self, player: int, n: int, ms: int) -> tuple[PlayerState, PlayerState]:
        """Return the states before and after the list of an instant of a player who has *n* rated games by then."""
        row = self._row(queries.ROW, self.pool.pool, player, n) if n else None
        if row is None:
            return self._state_from(player, None, ms - 1), self._state_from(player, None, ms)
        return self._state_from(player, row, ms, lists_until=ms - 1), self._state_from(player, row, ms)

    def waiting_until(self, state: PlayerState, ms: int) -> int | None:
        """Return the time in milliseconds at which the unrated games that a player finished by *ms* will count.

        None if no game waits; ``OPEN`` if they wait for a rating period that has not closed.
        """
        row = self._row(queries.WAITING, self.pool.pool, state.player, state.games, ms)
        return None if row is None or row["ms"] is None else int(row["ms"])

    def after_period(self, player: int, closing_ms: int) -> PlayerState:
        """Return a player's state after the period or event that closes at an instant.

        An open one closes now.
        """
        return (
            self.now(player, 0) if closing_ms == OPEN else self.at(player, closing_ms)
        )  # a player with a game needs no day

    # -- as the scheme's kernels take them -----------------------------------------------------------------------

    def into_batch(self, player: int, rated_ms: int, batch: str, era: int, first_ms: int) -> tuple[float, ...]:
        """Return the state with which a player enters a batch of *era*; *first_ms* is the end of its first game."""
        row = self._row(queries.ROW_BEFORE, self.pool.pool, player, rated_ms, batch)
        return self._into(player, row, era, first_ms, rated_ms)

    def into_game(self, row: dict[str, Any]) -> tuple[float, ...]:
        """Return the state with which a player enters a game, under a scheme that rates each game by itself."""
        before = self._row(queries.ROW, self.pool.pool, row["player"], row["n"] - 1)
        return self._into(row["player"], before, self.pool.era_at(row["ended_ms"]), row["ended_ms"], row["ended_ms"])

    def _into(
        self, player: int, row: dict[str, Any] | None, era: int, first_ms: int, rated_ms: int
    ) -> tuple[float, ...]:
        until = self.pool.lists_until(rated_ms, first_ms)
        if row is not None:
            return self._taken_along(row, era, self._later_lists(row, until))[0]
        rated_by = self.pool.eras[era]
        state = rated_by.scheme.begin(self.newcomer(player, first_ms), rated_by.numbers)
        lists = self._roster.list_ratings_between(self.pool.pool, player, first_ms, until)
        return self.pool.carry_state(EraState(era, state, 0), era, lambda ms: self.newcomer(player, ms), lists)

    # -- rankings ------------------------------------------------------------------------------------------------

    @cached_property
    def rows_current_since_ms(self) -> int:
        """The rating time from which on players' last rows have their present rating and listing.

        Earlier rows belong to another era, or time alone may have changed them; ``BEGINNING`` if all rows are current.
        """
        if self.latest_ms is None:
            return BEGINNING
        return max(self.pool.eras[self.latest_era].since_ms, self._moved_until(self.latest_ms, self.latest_era))

    def _moved_until(self, latest_ms: int, number: int) -> int:
        """Return from when on a state of an era is still the same at an instant; ``BEGINNING``: always."""
        era = self.pool.eras[number]
        if era.scheme.at is unchanged_by_time:
            return BEGINNING
        if era.scheme.unchanged_since is None:
            return latest_ms
        since = era.scheme.unchanged_since(latest_ms / DAY_MS, era.numbers)
        return BEGINNING if since == -inf else int(since * DAY_MS)

    def rows_say_all(self, ms: int) -> bool:
        """Return whether a list of that instant shows each player who has played, with the rating of the last row."""
        return self.pool.by_game and self.pool.lists_everybody and self.games_alone_change(ms)

    def games_alone_change(self, ms: int) -> bool:
        """Return whether every rating that was in force by an instant is that of a row.

        Then there is no seed, no change of scheme, and no change by time alone, such as FIDE's rise of March 2024.
        """
        pool = self.pool
        era = pool.eras[0]
        if len(pool.eras) > 1 or era.from_shown or era.from_pool or self._moved_until(ms, 0) != BEGINNING:
            return False
        pasts = (
            self._roster.players_with_initial_ratings(pool.pool),
            self._roster.seeded_without_games(pool.pool, OPEN),
        )
        return all(next(players, None) is None for players in pasts)

    def bounded_at(self, ms: int, players: int, after: int) -> Iterator[PlayerState]:
        """Yield states at an instant with a rating in force, closed accounts too, if games alone change ratings.

        It looks up *players* players in the order of ``rating_bounds``, after the first *after* of them.
        """
        for row in queries.fetch_dicts(self._connection, queries.BEST_ROWS_AT, (self.pool.pool, ms, players, after)):
            yield from _in_force(self._state_from(row["player"], row, ms))

    def moved_since(self, today_ms: int) -> Iterator[PlayerState]:
        """Yield the present states of players whose last rows are older than that, if they have a rating in force.

        Those rows lie before ``rows_current_since_ms``, or a list is later than the row.
        """
        latest = self.latest_ms
        if latest is None:
            return
        pool, since = self.pool.pool, self.rows_current_since_ms
        rows = queries.fetch_dicts(self._connection, queries.ROWS_BY_LATER_LIST, (pool,))
        if since > BEGINNING:
            rows = chain(rows, queries.fetch_dicts(self._connection, queries.ROWS_BEFORE, (pool, since)))
        until = max(latest, today_ms)
        for row in rows:
            yield from _in_force(self._state_from(row["player"], row, latest, self.latest_era, until))

    def says_now(self, listed: int, rated_ms: int) -> bool:
        """Return whether a row of ``current`` has the player's present rating, and says whether it is listed."""
        return rated_ms >= self.rows_current_since_ms and listed != BY_LATER_LIST

    def unplayed(self, today_ms: int, best: int) -> list[PlayerState]:
        """Return the present states of the best players with a seed, a rating in force and no rated game, best first.

        Read from an index as far as it takes to find *best* of them, but for seeds that time has changed.
        """
        latest, era = self._now(today_ms)
        pool, until = self.pool.pool, max(latest, today_ms)
        moved = (FROM_THE_BEGINNING + 1, self._moved_until(latest, era) - 1)  # time has changed what these say
        states: list[PlayerState] = []
        for player, listed, who in self._roster.seeded_best_first(pool, until, moved):
            state = self._seeded(player, listed, who, today_ms)
            # a scheme that makes another rating of it: no index has that
            if state.state[0] != listed.seed.rating:
                states, moved = [], (FROM_THE_BEGINNING, until)
                break
            states += _in_force(state)
            if len(states) >= best:
                break
        if moved[0] <= moved[1]:
            for player, listed, who in self._roster.seeded_between(pool, until, moved):
                states += _in_force(self._seeded(player, listed, who, today_ms))
        return sorted(states, key=lambda state: (-(state.in_force or 0.0), state.player))[:best]

    def count_seeded(self, today_ms: int, rating: float, closed: Collection[int]) -> tuple[int, int, int]:
        """Count the open players of ``unplayed``, those with *rating* or a higher one, and those with a higher one."""
        latest, number = self._now(today_ms)
        era, until = self.pool.eras[number], max(latest, today_ms)
        moved, seeds = (FROM_THE_BEGINNING, until), AcceptedRatings()
        if era.scheme.accepted_ratings is not None:
            moved = (FROM_THE_BEGINNING + 1, self._moved_until(latest, number) - 1)
            seeds = era.scheme.accepted_ratings(until / DAY_MS, era.numbers)
        counts, others = self._roster.count_seeded(self.pool.pool, until, moved, seeds, rating, closed)
        ratings = [state.rating for row in others if (state := self._seeded(*row, today_ms)).rating is not None]
        more = len(ratings), sum(other >= rating for other in ratings), sum(other > rating for other in ratings)
        return counts[0] + more[0], counts[1] + more[1], counts[2] + more[2]


class StartingRatings:
    """The ratings with which players begin in one pool: their own, or that of the pool from which it takes them.

    What it has read of that pool stays: after a write there, a caller makes another one.
    """

    def __init__(
        self, connection: sqlite3.Connection, pool: Pool, roster: Roster, find_pool: Callable[[str], Pool | None]
    ) -> None:
        """Take the views, the pool, the facts about players, and the present pools by name; nothing is read."""
        self.pool = pool
        self.roster = roster
        self._connection = connection
        self._find_pool = find_pool
        self._sources: dict[str, PlayerStates | None] = {}

    def new_player(self, player: int, first_ms: int) -> Newcomer:
        """Return the facts about a new player, whose first rated game ended at *first_ms*.

        At an earlier instant: the facts about a player who has no rated game by then.
        """
        return self.begin(player, first_ms)[0]

    def begin(self, player: int, first_ms: int) -> tuple[Newcomer, PlayerState | None]:
        """Return the same facts, and the state in the other pool whose rating they take; None if they take none."""
        who = self.roster.new_player(self.pool, player, first_ms)
        source = None if who.seed is not None else self.source_state(player, first_ms)
        return (who, None) if source is None else (who._replace(declared=source.in_force), source)

    def source_state(self, player: int, first_ms: int) -> PlayerState | None:
        """Return the state of a player in the other pool with whose rating the player begins; None if with another one.

        A list rating of this pool takes precedence; the rating of the other pool takes precedence over a declared one.
        It is that in force before the first game, or on the first day of its tournament if that is rated whole.
        """
        era = self.pool.eras[self.pool.era_at(first_ms)]
        if era.from_pool is None:
            return None
        if era.from_pool not in self._sources:
            other = self._find_pool(era.from_pool)
            states = None if other is None else PlayerStates(self._connection, other, lambda: self.roster)
            self._sources[era.from_pool] = states
        source = self._sources[era.from_pool]
        if source is None:
            return None
        ms = self.first_day(player, first_ms)
        state = source.at(player, ms, before=True)
        # A declared rating is the player's own already; one in other points is no rating here.
        has_rating = state.row is not None or source.seed_at(player, ms) is not None
        if not has_rating or state.in_force is None or state.era.scheme.scale != era.scheme.scale:
            return None
        return state

    def first_day(self, player: int, first_ms: int) -> int:
        """Return the instant of the ratings that the first game goes by, which ended at *first_ms* or later."""
        if self.pool.by_game:
            return first_ms
        first = self.roster.first_game(self.pool.pool, player)
        return first_ms if first is None else min(first[1], first_ms)


def _state_of(row: dict[str, Any], era: Era) -> tuple[float, ...]:
    """Return the scheme's fields of a row; by a list: a generator's steps would cost as much again as the look-ups."""
    return tuple([row[name] for name in era.scheme.state])


def _in_force(state: PlayerState) -> Iterator[PlayerState]:
    if state.in_force is not None:
        yield state
