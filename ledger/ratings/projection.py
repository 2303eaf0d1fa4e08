"""The projection of a pool: it rates new games, rerates the games that a late or changed one affects, and writes rows.

One path serves backlogs, late games and corrections: games in rating order from some instant on, some of them fresh, in
blocks. A game is rerated if it is fresh or one of its players was touched before it; all other rows stay. The state of
a player before the first rerated game is a row, so that nothing before it is read or computed again; from block to
block touched players carry their states, so that memory is bounded by players and not by games. A single fresh game at
the end of that order, as on a live server, takes a shorter path: each player's last state is remembered, so that it
need not be read again.
Few games run as lists and plain Python, many as columns and compiled kernels. No rule of any scheme lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ledger.book.assessment import RatedGame, Reratings
from ledger.book.game_book import GameBook
from ledger.book.roster import Roster
from ledger.book.timeline import EraState, Pool
from ledger.facts.periods import DAY_MS, OPEN
from ledger.ratings import engine, side_rows
from ledger.ratings.carried_states import NOBODY
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.player_rows import BEFORE_ALL_GAMES, BY_LATER_LIST, PlayerEntryStates, PlayerRows, from_stored
from ledger.ratings.player_states import StartingRatings
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.rated_games import GamesInOrder, RatedGameColumns, columns_of_games, facts_needed, mark_affected
from ledger.ratings.reratings import (
    CurrentRow,
    ReratedBlock,
    ReratedStates,
    Rerating,
    StartingPlayers,
    converged_players,
    split_into_blocks,
)
from ledger.ratings.side_rows import former_rows
from ledger.ratings.view_tables import SideTable, initial_state, side_tables
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.long_work import collector_paused
from ledger.schemes.scheme import Newcomer

if TYPE_CHECKING:
    import sqlite3


REMEMBERED = 20_000  # players; some 2 KB each


class LiveGames:
    """Rates the live games of one pool as soon as each is recorded, from states held in memory."""

    def __init__(self, pool: Pool, roster: Roster, rows: PlayerRows, starts: Callable[[], StartingRatings]) -> None:
        self._pool = pool
        self._roster = roster
        self._rows = rows
        self._starts = starts
        self._last: dict[int, PlayerEntryStates] = {}
        self._next_list: dict[int, int] = {}  # by player, from when on a later list holds
        self._era = -1  # of what is remembered
        # the last place in rating order, where something is remembered
        self._end_ms = BEFORE_ALL_GAMES

    def forget(self) -> None:
        """Forget the remembered states, because rows were written elsewhere."""
        self._last.clear()
        self._next_list.clear()

    def rate_if_next(self, game: RatedGame) -> bool:
        """Rate a game and write its rows if it is the pool's next in rating order; return whether it was."""
        if not self._is_next(game):
            return False
        states = [
            self._last.get(player) or self._rows.entry_states(player, self._rows.last_game_place(player)[0])
            for player in (game.white, game.black)
        ]
        if any(carried.held is not None and carried.held.era != self._era for carried in states):
            return False  # a state from before the scheme
        lists = [self._list_after(player, game.ended_ms) for player in (game.white, game.black)]
        if min(lists) <= game.ended_ms:
            return False
        after = self._rate(game, states, lists)
        # Nothing is lost: the state of a player who plays again is read from the rows.
        if len(self._last) > REMEMBERED:
            self.forget()
        self._last[game.white], self._last[game.black] = after
        self._end_ms = game.rated_ms
        return True

    def _list_after(self, player: int, ended_ms: int) -> int:
        """Return when the first list later than a player's state is in force; ``OPEN`` if there is none."""
        if not self._roster.has_seeds(self._pool.pool):
            return OPEN
        if player not in self._next_list:
            n, _ = self._rows.last_game_place(player)
            # a new player begins with the list in force at the end of this game
            after = self._rows.lists_taken_in_until(player, n) if n else ended_ms
            seeds = self._roster.seeds(self._pool.pool, player)
            self._next_list[player] = next((listed.ms for listed in seeds if listed.ms > after), OPEN)
        return self._next_list[player]

    def _is_next(self, game: RatedGame) -> bool:
        if not self._pool.by_game:
            return False
        era = self._pool.era_at(game.rated_ms)
        # The remembered states are another scheme's.
        if era != self._era:
            self._era = era
            self._last.clear()
        if not self._last:
            return self._rows.is_last_game(game.position, game.rated_ms)
        # At the very instant of the last game its round or key may put it before that one: it takes the long path.
        return game.rated_ms > self._end_ms

    def _rate(self, game: RatedGame, states: list[PlayerEntryStates], lists: Sequence[int]) -> list[PlayerEntryStates]:
        """Rate the game and write its two rows of each table and of the current ratings."""
        era, players = self._pool.eras[self._era], [game.white, game.black]
        state: list[float] = []
        for side, player in enumerate(players):
            state_before = states[side].held
            if state_before is None:
                newcomer = self._starts().new_player(player, game.ended_ms)
                states[side] = self._rows.new_player_states(newcomer.seed)
                state += era.scheme.begin(newcomer, era.numbers)
            else:
                state += state_before.state
        games = engine.RateableGames([0], [1], [game.half_points / 2], [game.ended_ms / DAY_MS])
        kept = engine.rate(FEW, era.scheme, era.numbers, games, state, [carried.n for carried in states])
        running = [[*white, *black] for white, black in zip(states[0].kept, states[1].kept, strict=True)]
        rated = self._rated(game, players, kept)
        folded = side_rows.apply_all_projectors(FEW, self._pool, self._rows, rated, running)
        waiting = {player for player, ms in zip(players, lists, strict=True) if ms != OPEN}
        current = side_rows.write_sides(FEW, self._pool, self._rows, rated, folded)
        self._rows.write_current(_marked(row, waits=row[1] in waiting) for row in current)
        width = len(era.scheme.state)
        after = []
        for side in (0, 1):
            fields = tuple(state[side * width : (side + 1) * width])
            folds = [
                from_stored(table.fold, flat[side * len(flat) // 2 : (side + 1) * len(flat) // 2])
                for table, flat in zip(self._rows.tables, folded.running, strict=True)
            ]
            after.append(PlayerEntryStates(EraState(self._era, fields, kept.n[side]), folds))
        return after

    def _rated(self, game: RatedGame, players: list[int], kept: engine.SideRatings) -> RatedGameColumns:
        """Return the one game as columns."""
        fields = self._pool.eras[self._era].scheme.state
        fields_by_name = {name: kept.history[place :: len(fields)] for place, name in enumerate(fields)}
        unknown = {name: FEW.nan_column(2) for name in self._pool.state_fields if name not in fields_by_name}
        facts = {name: [game.facts[name]] for name in self._rows.facts}
        games = GamesInOrder(
            [game.position],
            [0],
            [1],
            [game.half_points],
            [game.time_loss],
            [game.ended_ms],
            [game.rated_ms],
            [1],
            [1],
            facts,
        )
        return RatedGameColumns(
            games,
            players,
            players,
            [0, 1, 2],
            [0, 1],
            [0, 1],
            kept.n,
            kept.before,
            kept.expected,
            [self._era],
            {**fields_by_name, **unknown},
        )


# The first rated games of some players, ?2 as JSON, in another pool; and those of all, among its games from ?2 on.
FIRST_GAMES_OF = (
    "SELECT h.player, h.ended_ms, rated_ms FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND h.player IN (SELECT value FROM json_each(?2)) AND h.n = 1"
)
FIRST_GAMES_SINCE = " UNION ALL ".join(
    f"SELECT h.player, h.ended_ms, rated_ms FROM games CROSS JOIN history AS h "
    f"ON h.pool = games.pool AND h.player = games.{side} AND h.n = 1 AND h.game = games.position "
    "WHERE games.pool = ?1 AND games.reason IS NULL AND games.rated_ms >= ?2"
    for side in ("white", "black")
)
_WAITS = (
    "SELECT iif(white_guest IS NULL, white, black) FROM games "
    "WHERE pool = ? AND reason IS NULL AND rated_ms = ? LIMIT 1"
)
MakeRows = Callable[["sqlite3.Connection", Pool, Sequence[SideTable]], PlayerRows]


class RatedAgain(NamedTuple):
    """The games of a pool that were rated: how many, and the players whose rows may have changed."""

    games: int
    players: Collection[int]


class PoolProjection:
    """The projection of one pool: it takes changed games, rates them, and writes the rows of all tables."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        pool: Pool,
        roster: Roster,
        projectors: Sequence[ReadModel],
        make_rows: MakeRows,
        find_pool: Callable[[str], Pool | None],
    ) -> None:
        self.pool = pool
        # made again for each update: it holds what it has read of another pool
        self._starts = partial(StartingRatings, connection, pool, roster, find_pool)
        self._roster = roster
        tables = side_tables(projectors, pool.state_fields)
        self._rows = make_rows(connection, pool, tables)
        self.facts = facts_needed(pool, self._rows.facts)
        self.live = LiveGames(pool, roster, self._rows, self._starts)

    def update(
        self,
        blocks: Iterable[list[tuple[Any, ...]]],
        checkpoint: int,
        start_ms: int,
        concerned: set[int],
        earlier: Callable[[], Iterable[list[tuple[Any, ...]]]],
    ) -> RatedAgain:
        """Rerate the games that fresh ones affect, write them, and return how many were rated, and their players.

        Args:
            blocks: rated games from *start_ms* on, as ``GameBook.rated_games_from`` gives them with ``facts``.
            checkpoint: games at later journal positions are fresh.
            start_ms: nothing before it changes.
            concerned: players to be rerated from there on in any case.
            earlier: returns all rated games from the first one on; asked if a scheme fits them.
        """
        self.live.forget()
        states = ReratedStates(FEW, self._starts(), self._rows.tables)
        rerating = Rerating(start_ms, checkpoint, states, set(concerned), set(concerned))
        rated = 0
        with collector_paused():
            if rerating.is_fit:
                self._fit_earlier_games(rerating, earlier())
            for block, more in _with_more(blocks):
                cols = self._columns_for(block, states)
                games = columns_of_games(cols, block, rerating.checkpoint, self.pool, self.facts)
                for part, follows in split_into_blocks(games):
                    rated += self._update_part(cols, part, rerating, more=more or follows)
        self._rows.delete_rows_after(rerating.surplus)
        self._rows.write_current(rerating.current.values())
        gone = concerned - rerating.rerated
        if gone:
            # Players without a rated game from the start on: their later rows go, their earlier ones stay.
            before = self._rows.count_games_before(sorted(gone), rerating.start_ms)
            bases = [(player, n + rerating.skipped.get(player, 0)) for player, n in before.items()]
            self._rows.delete_rows_after(bases)
            self._rows.restore_current(bases)
        return RatedAgain(rated, rerating.rerated | concerned)

    def _columns_for(self, block: Sequence[Any], states: ReratedStates) -> Columns:
        """Return how the columns of a block are held, and hold the states so, too."""
        # compiled if there are many; once there were many, states stay in arrays until the end
        states.convert(FEW if len(block) < engine.compile_from(self.pool.schemes) and states.cols is FEW else MANY)
        return states.cols

    def _fit_earlier_games(self, rerating: Rerating, blocks: Iterable[list[tuple[Any, ...]]]) -> None:
        """Give the states of a rerating the fit of all games before its first; no row is written."""
        states = ReratedStates(FEW, rerating.states.starts, self._rows.tables)
        for block in blocks:
            cols = self._columns_for(block, states)
            games = columns_of_games(cols, block, rerating.checkpoint, self.pool, self.facts)
            games = games.part(0, cols.first_index_from(games.rated_ms, rerating.start_ms))
            if not len(games.white):
                break
            dense = cols.dense_indexes(games.white, games.black)
            numbers = [number for number in cols.to_lists([dense[0]])[0] if number > 0]
            counts = dict.fromkeys(states.not_loaded(numbers), 0)
            states.load(self._starting_players(states, counts, games))
            states.rate(games, dense, states.places(numbers))
        rerating.states.convert(states.cols)
        rerating.states.fitted = states.fitted

    def _update_part(self, cols: Columns, games: GamesInOrder, rerating: Rerating, *, more: bool) -> int:
        """Rerate the affected games of a block; return their number."""
        affected = self._affected(cols, games, rerating, more=more)
        if not len(affected):
            return 0
        games = games.at(cols, affected)
        rerating.note_new_players(cols, games)
        dense = cols.dense_indexes(games.white, games.black)
        numbers = [number for number in cols.to_lists([dense[0]])[0] if number > 0]  # without guests, who come last
        places = self._loaded_places(cols, numbers, rerating, games)
        own = [int(player in rerating.own) for player in numbers]
        rated = rerating.states.rate(games, dense, places)
        running = [rerating.states.kept(number, places) for number in range(len(self._rows.tables))]
        # A changed rating affects many whose own games are the same: their rows of facts are not folded again.
        only = None if all(own) else cols.int32_column(own)
        folded = side_rows.apply_all_projectors(cols, self.pool, self._rows, rated, running, only)
        spans = side_rows.game_spans(cols, rated)
        part = ReratedBlock(
            places, spans, former_rows(self._rows, spans, rerating.stored, None if only is None else own)
        )
        converged = (
            converged_players(cols, self._rows, rerating, rated, folded, part) if more and not rerating.is_fit else {}
        )
        current = side_rows.write_sides(cols, self.pool, self._rows, rated, folded, part.former)
        rerating.note_rated([_marked(row, waits=rerating.states.lists.has_pending_list(row[1])) for row in current])
        if more:
            for number, (table, reached) in enumerate(zip(self._rows.tables, folded.running, strict=True)):
                rerating.states.keep(number, places, cols.fill_missing(reached, _starts(table.fold)))
            # a preview notes them here; if rows are written there is nothing to do
            self._rows.note_converged(converged)
            rerating.leave(converged)
        return len(affected)

    def _affected(self, cols: Columns, games: GamesInOrder, rerating: Rerating, *, more: bool) -> Column:
        """Return the places of the games to rerate; note touched players and skipped games in *rerating*."""
        if not len(games.white):
            return []
        if (
            cols is FEW and not more and not rerating.touched and all(games.fresh)
        ):  # nothing but new games, as in live use
            return list(range(len(games.white)))
        if rerating.is_fit:
            for side in cols.to_lists([games.white, games.black]):
                rerating.touched.update(side)
            return cols.int32_column(range(len(games.white)))
        players, white, black = cols.dense_indexes(games.white, games.black)
        numbers = cols.to_lists([players])[0]
        touched = cols.int32_column([int(player in rerating.touched) for player in numbers])
        skipped, affected = cols.zeros(len(numbers)), cols.zeros(len(games.white))
        loop = mark_affected if cols is FEW else compile_kernel(mark_affected)
        loop(white, black, games.begins, games.fresh, touched, skipped, affected)
        passed = cols.set_indexes(skipped)
        hit, over, counts = cols.to_lists([cols.set_indexes(touched), passed, cols.take(skipped, passed)])
        rerating.touched.update(numbers[place] for place in hit)
        rerating.note_skipped([numbers[place] for place in over], counts)
        return cols.set_indexes(affected)

    def _loaded_places(self, cols: Columns, players: list[int], rerating: Rerating, games: GamesInOrder) -> Column:
        """Return the places of players in the states of the rerating; load those who have none."""
        states = rerating.states
        not_loaded = states.not_loaded(players)
        if not_loaded:
            counts = self._counts(not_loaded, rerating)
            states.load(self._starting_players(states, counts, games))
        unknown = [player for player in players if player in rerating.own and player not in states.facts_known]
        if unknown:
            places = states.places(unknown)
            counts = dict(zip(unknown, cols.to_lists([cols.take(states.n, places)])[0], strict=True))
            for number, table in enumerate(self._rows.tables):
                if not table.fold.follows_ratings and not table.by_tournament:
                    states.keep(number, places, self._kept(cols, number, counts, states.newcomers))
            states.facts_known.update(unknown)
        return states.places(players)

    def _counts(self, players: Sequence[int], rerating: Rerating) -> dict[int, int]:
        """Return, by player to be loaded, the number of rated games before the first rerated one."""
        again = {player: rerating.converged[player] for player in players if player in rerating.converged}
        first = [player for player in players if player not in again]
        stored = self._rows.count_games(first, rerating.start_ms)
        rerating.stored.update((player, stored[player][0] if player in stored else 0) for player in first)
        counts = dict.fromkeys(players, 0)
        counts.update((player, before) for player, (_, before) in stored.items())
        counts.update(again)
        # Games that were skipped since the start, or since convergence, come before this one.
        for player in (*again, *(player for player, (n, before) in stored.items() if before < n)):
            counts[player] += rerating.skipped.get(player, 0)
        return counts

    def _starting_players(self, states: ReratedStates, counts: dict[int, int], games: GamesInOrder) -> StartingPlayers:
        """Return the states of players with so many rated games; a player without one is new."""
        cols, lists = states.cols, states.lists
        without_games = [player for player, n in counts.items() if not n]
        first_ms: dict[int, int] = {}
        if without_games:  # their first games are among these
            # games come in rating order: the first that names a player is the player's first
            for white, black, ms in zip(*cols.to_lists([games.white, games.black, games.ended_ms]), strict=True):
                first_ms.setdefault(white, ms)
                first_ms.setdefault(black, ms)
        newcomers = {player: states.starts.new_player(player, first_ms[player]) for player in without_games}
        for player, n in counts.items() if lists.any_player_has_lists else ():
            if n and lists.has_list(player):
                lists.note(player, self._rows.lists_taken_in_until(player, n))
        by_player = self._rows.states_at({player: n for player, n in counts.items() if n})
        players = [*by_player, *newcomers]
        eras = self._rows.eras_of([row[0] for row in by_player.values()])
        flat = cols.float64_column([value for row in by_player.values() for value in row])
        last = 1 + len(self._rows.state_fields)
        width = last + sum(len(self._rows.tables[number].fold.state) for number in self._rows.tables_of_states)
        scheme = self._scheme_states(states, cols.select_rows(flat, None, width, slice(1, last)), eras)
        kept = [cols.float64_column(())] * len(self._rows.tables)
        for number in self._rows.tables_of_states:
            fold = self._rows.tables[number].fold
            # one row of the answer has the states of all these tables, one behind the other
            first, last = last, last + len(fold.state)
            read = cols.fill_missing(cols.select_rows(flat, None, width, slice(first, last)), _starts(fold))
            fresh_states = [value for newcomer in newcomers.values() for value in initial_state(fold, newcomer.seed)]
            kept[number] = cols.concatenate(read, cols.fill_missing(fresh_states, _starts(fold)))
        return StartingPlayers(
            players,
            [counts[player] for player in players],
            [*eras, *([NOBODY] * len(newcomers))],
            cols.concatenate(scheme, cols.nan_column(len(newcomers) * states.width)),
            kept,
            newcomers,
        )

    def _scheme_states(self, carried: ReratedStates, flat: Column, eras: Sequence[int]) -> Column:
        """Return the scheme's state of each row, as wide as the widest, out of all fields of the pool."""
        fields = self._rows.state_fields
        takes = [[fields.index(name) for name in era.scheme.state] for era in self.pool.eras]
        # one scheme since the beginning: the row is its state
        if takes == [list(range(len(fields)))]:
            return flat
        states: list[float] = []
        for row, era in enumerate(eras):
            said = flat[row * len(fields) : (row + 1) * len(fields)]
            states += (*(said[field] for field in takes[era]), *((nan,) * (carried.width - len(takes[era]))))
        return carried.cols.float64_column(states)

    def _kept(self, cols: Columns, number: int, counts: Mapping[int, int], newcomers: Mapping[int, Newcomer]) -> Column:
        """Return, flat, the running states of a table's fold after *counts* games of each player."""
        fold = self._rows.tables[number].fold
        by_player = self._rows.table_states_at(number, {player: n for player, n in counts.items() if n})
        flat: list[float | None] = []
        for player in counts:
            if player in by_player:
                flat += by_player[player]
            else:
                flat += initial_state(fold, newcomers[player].seed if player in newcomers else None)
        return cols.fill_missing(flat, _starts(fold))


def _marked(row: CurrentRow, *, waits: bool) -> CurrentRow:
    """Return a row of ``current`` with the mark of a player to whom a later list gives the rating."""
    return (*row[:-1], BY_LATER_LIST) if waits else row


def _starts(fold: DeclaredProjector) -> list[float]:
    return [kept.start for kept in fold.state]


def _with_more(blocks: Iterable[list[tuple[Any, ...]]]) -> Iterator[tuple[list[tuple[Any, ...]], bool]]:
    """Yield each block, and whether another one follows."""
    waiting: list[tuple[Any, ...]] = []
    for block in blocks:
        if waiting:
            yield waiting, True
        waiting = block
    if waiting:
        yield waiting, False


class PoolProjections:
    """The projections of all pools of one views database, made when first needed."""

    def __init__(self, book: GameBook, projectors: Sequence[ReadModel], make_rows: MakeRows = PlayerRows) -> None:
        """Take a book and the read models; *make_rows* makes a pool's rows: those of a dry run note the players."""
        self._book = book
        self._projectors = projectors
        self._make_rows = make_rows
        self._by_pool: dict[int, PoolProjection] = {}

    def update(self, fresh: Reratings, checkpoint: int) -> int:
        """Bring every pool that *fresh* affects up to date; return the number of rated games."""
        return sum(games for _, games in self.update_by_pool(fresh, checkpoint))

    def update_by_pool(self, fresh: Reratings, checkpoint: int) -> Iterator[tuple[int, int]]:
        """Bring one affected pool after the other up to date; yield its number and its number of rated games.

        A pool whose players begin with the ratings of another comes after it: *fresh* takes the players who now begin
        with another rating.
        """
        done = 0
        while numbers := [number for number in {*fresh.start_ms, *fresh.sources} if number > done]:
            done = min(numbers)
            pool = next(pool for pool in self._book.pools.values() if pool.pool == done)
            starting = [other for other in self._book.pools.values() if pool.name in other.from_pools]
            if done in fresh.start_ms:
                start_ms = fresh.start_ms[done]
                rated = self._update_pool(pool, fresh, checkpoint)
                if starting:
                    fresh.note_source(done, start_ms, rated.players)
                yield done, rated.games
            for other in starting:
                self._note_starts(other, fresh.sources.get(done, {}), fresh)

    def _note_starts(self, pool: Pool, sources: Mapping[int | None, int], fresh: Reratings) -> None:
        """Note in *fresh* the players who began in a pool after the rating of their source may have changed."""
        players = sorted(player for player in sources if player is not None)
        games = self._book.connection.execute(FIRST_GAMES_OF, (pool.pool, orjson.dumps(players).decode())).fetchall()
        if (everybody := sources.get(None)) is not None:
            games += self._book.connection.execute(FIRST_GAMES_SINCE, (pool.pool, everybody)).fetchall()
        for player, ended_ms, rated_ms in games:
            if ended_ms >= min(sources[each] for each in (player, None) if each in sources):
                fresh.note(pool.pool, rated_ms, (player,))

    def _update_pool(self, pool: Pool, fresh: Reratings, checkpoint: int) -> RatedAgain:
        """Bring one pool up to date."""
        number, start_ms = pool.pool, fresh.start_ms[pool.pool]
        projection = self._by_pool.get(number)
        if projection is None or projection.pool is not pool:  # a scheme was adopted, a run closed
            book = self._book
            projection = self._by_pool[number] = PoolProjection(
                book.connection, pool, book.roster, self._projectors, self._make_rows, book.pools.get
            )
        only = fresh.only.get(number)
        if only is not None and projection.live.rate_if_next(only):
            return RatedAgain(1, (only.white, only.black))
        concerned = set(fresh.touched.get(number, ()))
        if concerned and pool.by_runs:
            # Games that wait for a run are rated as of the last of them. Where that one was taken out, no player
            # of it may be left there, so one of the others is concerned, too, and with that player the whole run.
            concerned.update(self._book.connection.execute(_WAITS, (number, OPEN)).fetchone() or ())
        blocks = self._book.rated_games_from(pool, start_ms, projection.facts)
        earlier = partial(self._book.rated_games_from, pool, BEFORE_ALL_GAMES, projection.facts)
        return projection.update(blocks, checkpoint, start_ms, concerned, earlier)
