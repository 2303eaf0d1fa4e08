"""One pool of a build: all its games are rated block by block, and the rows written player by player.

Games come sorted in rating order, as many as memory may hold at a time, never half a batch; what each player holds is
carried from block to block. The sides of the rated games are sorted by player, where need be on the disk, folded by
the projectors, and written in the order of the tables' keys. Memory grows with the number of players, not of games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.book.roster import Roster
from ledger.book.timeline import Held, Pool
from ledger.ratings import engine, side_rows
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.history import HISTORY, begun
from ledger.ratings.listing import listed_flags
from ledger.ratings.player_rows import CURRENT, WRITE_CURRENT
from ledger.ratings.projector import SIDE_COLUMNS
from ledger.ratings.rated_games import (
    BEGAN,
    TOURNAMENT,
    Games,
    Rated,
    as_facts,
    first_ends,
    further_facts,
    rateable,
    rated_by_era,
    sides_of,
)
from ledger.ratings.side_rows import TableFold
from ledger.ratings.side_tables import SideTable, columns_wanted, facts_wanted, side_tables
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import np, pl
from ledger.runtime.long_work import Progress
from ledger.runtime.sorted_runs import SortedRuns
from ledger.runtime.table_writer import TableWriter

if TYPE_CHECKING:
    from polars import DataFrame

SIDES_A_RUN = 1_000_000  # sides that are sorted in memory at one time, about 100 bytes each
SIDES_A_BLOCK = 250_000  # sides that are folded, written and committed together
_NOBODY = -1  # the era of a player who has not played yet
_STATE = "state "  # before the name of a field of the scheme's state, which may be that of a column of a side


class _Players:
    """What every player of a pool holds, by player number."""

    def __init__(self, pool: Pool, roster: Roster) -> None:
        self._pool = pool
        self._roster = roster
        self.games = np.zeros(0, np.int32)
        self._era = np.zeros(0, np.int16)
        self._state = np.zeros((0, max(len(era.scheme.state) for era in pool.eras)))

    def grow(self, players: Any) -> None:
        """Make room for players up to the last of *players*, which ascend."""
        known = len(self.games)
        if len(players) and players[-1] >= known:
            more = max(int(players[-1]) + 1, known * 3 // 2) - known
            self.games = np.concatenate([self.games, np.zeros(more, np.int32)])
            self._era = np.concatenate([self._era, np.full(more, _NOBODY, np.int16)])
            self._state = np.concatenate([self._state, np.zeros((more, self._state.shape[1]))])

    def bring(self, era: int, players: Any, first_ms: Any) -> Any:
        """The flat state with which *players* go into *era*; newcomers' first games ended at *first_ms*."""
        rated_by = self._pool.eras[era]
        state = self._state[players, : len(rated_by.scheme.state)]
        for place in np.flatnonzero(self._era[players] != era).tolist():
            player = int(players[place])
            held = int(self._era[player])
            if held == _NOBODY:
                who = self._roster.newcomer(self._pool, player, int(first_ms[place]))
                state[place] = rated_by.scheme.begin(who, rated_by.numbers)
            else:
                state[place] = self._carried(player, held, era)
        return state.reshape(-1)

    def _carried(self, player: int, held: int, era: int) -> tuple[float, ...]:
        fields = len(self._pool.eras[held].scheme.state)
        before = Held(held, tuple(self._state[player, :fields].tolist()), int(self.games[player]))
        return self._pool.carried(before, era, partial(self._roster.anew, self._pool, player))

    def keep(self, era: int, players: Any, state: Any, games: Any) -> None:
        """Note what *players* hold after games of *era*."""
        fields = len(self._pool.eras[era].scheme.state)
        self._state[players, :fields] = state.reshape(-1, fields)
        self._era[players] = era
        self.games[players] = games


class PoolBuild:
    """The ratings of one pool from its first game on: ``rate``, then ``write``."""

    def __init__(self, pool: Pool, roster: Roster, projectors: Sequence[ReadModel], folder: Path) -> None:
        """Say what is built; *folder* is where large sorts may have their temporary file."""
        self._pool = pool
        self._tables = side_tables(projectors, pool.state_fields)
        self._wanted = columns_wanted(self._tables)
        facts = further_facts(pool, facts_wanted(self._tables))
        self._texts = [name for name in facts if name in self._wanted and SIDE_COLUMNS[name].type == "TEXT"]
        in_codes = {fact for name, (_, _, fact) in SIDE_COLUMNS.items() if name in self._wanted and name != fact}
        self._facts = [name for name in facts if name not in self._texts or name in in_codes or pool.by_event]
        self._roster = roster
        self._players = _Players(pool, roster)
        self._sides = SortedRuns(folder, ("player", "n"), lead=1, rows_a_run=SIDES_A_RUN)

    def __enter__(self) -> PoolBuild:
        """Nothing to prepare."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was put aside."""
        self._sides.clear()

    def rate(self, blocks: Iterable[DataFrame], after_player: int) -> None:
        """Rate all games, and put aside the sides of players above *after_player*.

        Args:
            blocks: the games in rating order, in the columns ``RATED_COLUMNS``; no batch in two blocks.
            after_player: the rows of players up to this one are written already.
        """
        for frame in blocks:
            rated = self._rate(_as_games(frame, self._pool, self._facts))
            sides = self._side_frame(rated, frame)
            self._sides.add(sides.filter(pl.col("player") > after_player) if after_player else sides)

    def write(self, writer: TableWriter, progress: Progress) -> Iterator[int]:
        """Write the rows, some players at a time.

        Yields the last player written, each time the rows so far are whole, so that the caller may commit.
        """
        done, total = 0, self._sides.rows
        for sides in self._sides.blocks(SIDES_A_BLOCK):
            self._write(writer, sides)
            yield int(sides["player"][-1])
            done += len(sides)
            progress("rating history", done, total)

    def _rate(self, games: Games) -> Rated:
        dense = MANY.dense(games.white, games.black)
        players = dense[0]
        self._players.grow(players)

        def rate_era(era: int, first: int, last: int) -> engine.SideRatings:
            return self._rate_era(era, games.part(first, last))

        base = self._players.games[players]
        return rated_by_era(MANY, self._pool, games, dense, base, rate_era)

    def _rate_era(self, era: int, games: Games) -> engine.SideRatings:
        """Rate the games of one era; what their players hold then is kept for the next ones."""
        rated_by = self._pool.eras[era]
        players, white, black = MANY.dense(games.white, games.black)
        state = self._players.bring(era, players, first_ends(len(players), white, black, games.ended_ms))
        counts = self._players.games[players]
        score = MANY.over(games.half_points, 2)
        games_in = rateable(
            self._pool,
            MANY,
            era,
            white,
            black,
            score,
            games.ended_ms,
            games.rated_ms,
            games.begins,
            games.facts.get(BEGAN, ()),
            games.facts.get(TOURNAMENT, ()),
        )
        kept = engine.rate(MANY, rated_by.scheme, rated_by.numbers, games_in, state, counts)
        self._players.keep(era, players, state, counts)
        return kept

    def _side_frame(self, rated: Rated, frame: DataFrame) -> DataFrame:
        """The sides of rated games by player and game number, with what the tables need of them.

        Args:
            rated: the games.
            frame: the same games, from which texts are taken as they are.
        """
        sides = sides_of(MANY, self._pool, rated, self._wanted)
        if "listed" in self._wanted:
            sides["listed"] = side_rows.listed_sides(MANY, self._pool, rated, np.arange(len(rated.order)))
        columns = {"player": pl.Series(rated.player_column[sides["owner"]])}
        for name, column in sides.items():
            if name in self._wanted or name in CURRENT:
                is_text = name in SIDE_COLUMNS and SIDE_COLUMNS[name].type == "TEXT"
                columns[name] = pl.Series(column.tolist(), dtype=pl.String) if is_text else pl.Series(column)
        for name in self._texts:
            columns[name] = frame[name].gather(rated.order >> 1)
        for name in self._pool.state_fields:
            columns[_STATE + name] = pl.Series(MANY.take(rated.scheme_state[name], rated.order))
        return pl.DataFrame(columns)

    def _begin_seeded(self, sides: DataFrame, state: Any) -> None:
        """Put the pasts of players into the state, by player, with which the history of each begins; in place."""
        if not self._roster.has_seeds(self._pool.pool):
            return
        firsts = sides.group_by("player", maintain_order=True).agg(pl.col("ended_ms").first())
        for place, (player, first_ms) in enumerate(firsts.iter_rows()):
            listed = self._roster.seed_at(self._pool.pool, player, first_ms)
            if listed is not None:
                state[place] = begun(HISTORY, listed.seed)

    def _write(self, writer: TableWriter, sides: DataFrame) -> None:
        """Fold and write the sides of some players, all of theirs."""
        run = sides["player"].rle_id().to_numpy().astype(np.int32)
        for table in self._tables:
            if table.by_tournament:
                self._write_in_tournaments(writer, table, sides)
                continue
            state = np.tile(MANY.floats(begun(table.fold, None)), int(run[-1]) + 1)
            if table.fold is HISTORY:
                self._begin_seeded(sides, state.reshape(int(run[-1]) + 1, -1))
            folded = _folded(table, run, sides, state)
            if table.fold is HISTORY:
                further = side_rows.of_history(MANY, folded, self._wanted)
                sides = sides.with_columns(pl.Series(name, column) for name, column in further.items())
            self._insert(writer, table, sides, folded)
        ends = np.append(np.flatnonzero(np.diff(run)), len(run) - 1)
        last = sides[ends]
        fields = {name: last[_STATE + name].to_numpy() for name in self._pool.state_fields}
        listed = pl.Series("listed", listed_flags(MANY, self._pool, last["rated_ms"].to_numpy(), fields))
        keys = last.select(pl.lit(self._pool.pool).alias("pool"), "player", *CURRENT)
        writer.insert(WRITE_CURRENT, keys.with_columns(listed))

    def _write_in_tournaments(self, writer: TableWriter, table: SideTable, sides: DataFrame) -> None:
        """Fold and write the sides of some players that are of a tournament."""
        there = sides.filter(pl.col("tournament").is_not_null())
        if len(there):
            names = there["tournament"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
            pairs = there["player"].to_numpy().astype(np.int64) * (int(names.max()) + 1) + names
            run = np.unique(pairs, return_inverse=True)[1].astype(np.int32)
            state = np.tile(MANY.floats(begun(table.fold, None)), int(run.max()) + 1)
            self._insert(writer, table, there, _folded(table, run, there, state))

    def _insert(self, writer: TableWriter, table: SideTable, sides: DataFrame, folded: TableFold) -> None:
        """Write the rows of a table."""
        names = [*table.fold.key[1:], *table.fold.stores, *(_STATE + name for name in table.scheme_state)]
        rows = sides.select(pl.lit(self._pool.pool).alias("pool"), *names)
        if folded.places is not None:
            rows = rows[folded.places]
        if len(rows):
            writer.insert(
                table.insert, rows.with_columns(pl.Series(f"column {i}", col) for i, col in enumerate(folded.columns))
            )


def _folded(table: SideTable, run: Any, sides: DataFrame, state: Any) -> TableFold:
    taken = {name: sides[name].to_numpy().copy() for name in table.fold.takes}
    return side_rows.fold(MANY, table.fold, run, taken, state)


def _as_games(frame: DataFrame, pool: Pool, facts: Sequence[str]) -> Games:
    """A block of games in rating order as the engine's columns."""
    if pool.by_game:
        begins = np.ones(len(frame), np.int32)
    else:
        changes = frame.select(pl.struct("rated_ms", "batch").rle_id().diff().fill_null(1)).to_series()
        begins = changes.to_numpy().astype(np.int32)
    columns = {name: frame[name].to_numpy() for name in Games._fields if name in frame.columns}
    further = as_facts(MANY, facts, [frame[name].to_list() for name in facts])
    return Games(**columns, begins=begins, fresh=np.ones(len(frame), np.int32), facts=further)
