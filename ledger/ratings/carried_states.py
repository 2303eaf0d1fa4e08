"""The states that a pool's players carry from one rated game to the next, and the rating of games with them.

A build of the views rates all games of a pool, a change rates those that it affects: both rate them here. Games come in
rating order, in blocks; a player's state is that of the scheme by which the last game was rated, until the next one.
No SQL, and no rule of any scheme.
"""

from __future__ import annotations

from functools import partial

from ledger.book.timeline import EraState
from ledger.ratings import engine
from ledger.ratings.engine import FittedGames
from ledger.ratings.later_lists import LaterLists
from ledger.ratings.player_states import StartingRatings
from ledger.ratings.rated_games import (
    GamesInOrder,
    RatedGameColumns,
    first_game_indexes,
    rateable_games,
    rated_by_era,
)
from ledger.runtime.columns import Column, Columns
from ledger.schemes.scheme import Newcomer

NOBODY = -1  # the era of a player who has not played yet


class CarriedStates:
    """The states that the players of a pool carry from game to game, in columns: a player's state is at one index.

    Attributes:
        cols: how the columns are held.
        n: by place, rated games so far.
        era: by place, the place of the era of the scheme's state, or ``NOBODY``.
        scheme: by place, the scheme's state, flat, ``width`` numbers each: as many as the widest of the pool's has.
        lists: the later lists of the players.
        fitted: by place of an era with a scheme by fit, its games so far.
    """

    def __init__(self, cols: Columns, starts: StartingRatings) -> None:
        """Take the starting ratings of a pool whose players have no place yet."""
        pool, roster = starts.pool, starts.roster
        self.cols = cols
        self.width = max(len(era.scheme.state) for era in pool.eras)
        self.n, self.era, self.scheme = cols.zeros(0), cols.zeros(0), cols.unfilled_floats(0)
        self.lists = LaterLists(pool, roster)
        self.fitted = {place: FittedGames() for place, era in enumerate(pool.eras) if era.scheme.fit is not None}
        self._pool = pool
        self._roster = roster
        self.starts = starts

    def grow(self, more: int) -> None:
        """Add free rows for the states of more players, who have not played."""
        cols = self.cols
        self.n = cols.concatenate(self.n, cols.zeros(more))
        self.era = cols.concatenate(self.era, cols.int32_column([NOBODY] * more))
        self.scheme = cols.concatenate(self.scheme, cols.nan_column(more * self.width))

    def newcomer(self, player: int, ended_ms: int) -> Newcomer:
        """Return the facts about a new player whose first game ended at an instant."""
        return self.starts.new_player(player, ended_ms)

    def rate(self, games: GamesInOrder, dense: tuple[Column, Column, Column], places: Column) -> RatedGameColumns:
        """Rate games in rating order; their players carry the states after them.

        *dense* has their players, and Whites and Blacks as places among them; *places* are those of their states.
        Guests are the last players, without a place.
        """
        cols, (players, white, black) = self.cols, dense
        guests = len(players) - len(places)

        def rate_era(era: int, first: int, last: int) -> engine.SideRatings:
            if last - first == len(games.white):
                return self._rate_era(era, games, dense, places)
            # Each stretch has only its own players: the others' states belong to another scheme, or a list will
            # change them before their next games.
            here, *sides = cols.dense_indexes(white[first:last], black[first:last])
            own = here[: cols.first_index_from(here, len(places))] if guests else here
            return self._rate_era(
                era, games.part(first, last), (cols.take(players, here), *sides), cols.take(places, own)
            )

        cuts = self.lists.list_game_indexes(cols, games, dense)
        counts = cols.take(self.n, places)
        base = cols.concatenate(counts, cols.zeros(guests)) if guests else counts
        return rated_by_era(cols, self._pool, games, dense, base, rate_era, cuts)

    def _rate_era(
        self, era: int, games: GamesInOrder, dense: tuple[Column, Column, Column], at: Column
    ) -> engine.SideRatings:
        """Rate a stretch of games of one era, whose players have their states at *at*, but for guests."""
        cols, rated_by = self.cols, self._pool.eras[era]
        width, own = len(rated_by.scheme.state), len(at)
        state = self._taken_along(era, games, dense, at)
        counts = cols.take(self.n, at)
        if own < len(dense[0]):
            guests = [games.guests[number].newcomer for number in cols.to_lists([dense[0][own:]])[0]]
            begun = [value for guest in guests for value in rated_by.scheme.begin(guest, rated_by.numbers)]
            state = cols.concatenate(state, cols.float64_column(begun))
            counts = cols.concatenate(counts, cols.zeros(len(guests)))
        rateable = rateable_games(self._pool, cols, era, *dense[1:], games)
        fitted = self.fitted.get(era)
        if fitted is not None:
            fitted.among(cols.to_lists([dense[0]])[0])
        kept = engine.rate(cols, rated_by.scheme, rated_by.numbers, rateable, state, counts, fitted)
        # the states of guests are thrown away
        cols.write_rows(self.scheme, at, self.width, state[: own * width], width)
        cols.write_rows(self.era, at, 1, cols.int32_column([era] * own))
        cols.write_rows(self.n, at, 1, counts[:own])
        return kept

    def _taken_along(self, era: int, games: GamesInOrder, dense: tuple[Column, Column, Column], at: Column) -> Column:
        """Return the scheme's states with which players at places go into their first games of an era, flat."""
        cols, rated_by = self.cols, self._pool.eras[era]
        width = len(rated_by.scheme.state)
        state = cols.select_rows(self.scheme, at, self.width, slice(width))
        others = cols.set_indexes(cols.subtract_from(1, cols.equal_flags(cols.take(self.era, at), era)))
        if self.lists.any_player_has_lists:
            players = cols.to_lists([dense[0][: len(at)]])[0]
            listed = [place for place, player in enumerate(players) if self.lists.has_list(player)]
            others = cols.int32_column(sorted({*cols.to_lists([others])[0], *listed}))
        if not len(others):
            return state
        first = cols.take(first_game_indexes(cols, len(dense[0]), *dense[1:]), others)
        from_place = cols.take(at, others)
        fields = cols.to_lists([cols.select_rows(self.scheme, from_place, self.width)])[0]
        columns = cols.to_lists(
            [
                cols.take(dense[0], others),
                cols.take(games.rated_ms, first),
                cols.take(games.ended_ms, first),
                cols.take(self.era, from_place),
                cols.take(self.n, from_place),
            ]
        )
        rows: list[float] = []
        for place, (player, rated_ms, ended_ms, era_before, n) in enumerate(zip(*columns, strict=True)):
            lists = self.lists.lists_before_batch(player, rated_ms, ended_ms) if self.lists.has_list(player) else ()
            if era_before == NOBODY:
                before = EraState(era, rated_by.scheme.begin(self.newcomer(player, ended_ms), rated_by.numbers), 0)
            else:
                # as wide as that scheme's: the numbers behind it are padding
                begin, length = place * self.width, len(self._pool.eras[era_before].scheme.state)
                before = EraState(era_before, tuple(fields[begin : begin + length]), n)
            rows += self._pool.carry_state(
                before, era, partial(self._roster.restarting_player, self._pool.pool, player), lists
            )
        cols.write_rows(state, others, width, cols.float64_column(rows))
        return state
