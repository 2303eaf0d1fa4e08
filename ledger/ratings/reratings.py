"""The rerating of a pool's games from some game on: which players a change affects, and until when.

A change spreads from game to game, and dies out: if two ratings are far apart, or are rounded, one moves and the other
does not. A player whose rows after some games equal the former rows has *converged*: the later games are left alone,
and so are all players whom only this player would have affected. ``projection`` rates the games; no SQL here.

Players carry states, counts and running folds from block to block, in columns by place. A player has a place from the
first rerated game until convergence, so that memory is bounded by players.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import attrs

from ledger.ratings.carried_states import CarriedStates
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.player_states import StartingRatings
from ledger.ratings.rated_games import GamesInOrder, RatedGameColumns
from ledger.ratings.side_rows import FormerRows, SidesWithStates, Span
from ledger.ratings.view_tables import SideTable
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.schemes.scheme import Newcomer


@attrs.define
class StartingPlayers:
    """Players before their first rerated game, in one order.

    Attributes:
        players: their numbers.
        n: their numbers of rated games by then.
        era: the place of the era whose scheme rated the last of them, or ``NOBODY``.
        scheme: the scheme's state after it, flat; as wide as the widest of the pool's.
        kept: by table, the running state of its fold, flat; empty if the table is read when it is needed.
        newcomers: the new players, who have no game yet.
    """

    players: list[int]
    n: list[int]
    era: list[int]
    scheme: Column
    kept: list[Column]
    newcomers: dict[int, Newcomer]


class ReratedStates(CarriedStates):
    """The scheme's states and the tables' running states that the players of a rerating carry.

    Attributes:
        newcomers: by player without a game, the facts about the player.
        facts_known: players whose running folds of the tables that follow no ratings are loaded, too.
    """

    def __init__(self, cols: Columns, starts: StartingRatings, tables: Sequence[SideTable]) -> None:
        """Take the starting ratings of a pool and its tables of sides; no player has a place yet."""
        super().__init__(cols, starts)
        self.newcomers: dict[int, Newcomer] = {}
        self.facts_known: set[int] = set()
        # A player may be in several tournaments at once: such folds go on from the rows, no state is carried.
        self._widths = [0 if table.by_tournament else len(table.fold.state) for table in tables]
        self._kept: list[Column] = [cols.unfilled_floats(0) for _ in tables]
        self._former: list[Column] = [cols.unfilled_floats(0) for _ in tables]
        self._compared = [place for place, table in enumerate(tables) if table.is_asked_by_state]
        self._places: dict[int, int] = {}
        self._free: list[int] = []

    def convert(self, cols: Columns) -> None:
        """Convert the columns from lists to arrays, if they are still lists."""
        # Never back: the arrays are there, and a short block after long ones is no reason to take them apart.
        if self.cols is FEW and cols is MANY:
            self.n, self.era, self.scheme = (
                cols.int32_column(self.n),
                cols.int32_column(self.era),
                cols.float64_column(self.scheme),
            )
            self._kept, self._former = (
                [cols.float64_column(flat) for flat in flats] for flats in (self._kept, self._former)
            )
            self.cols = cols

    def newcomer(self, player: int, ended_ms: int) -> Newcomer:  # noqa: ARG002
        """Return the facts about a new player as they were loaded."""
        return self.newcomers[player]

    def not_loaded(self, players: Iterable[int]) -> list[int]:
        """Return the players whose states are not loaded."""
        return [player for player in players if player not in self._places]

    def places(self, players: Iterable[int]) -> Column:
        """Return the indexes at which the states of players are stored."""
        return self.cols.int32_column([self._places[player] for player in players])

    def load(self, starting: StartingPlayers) -> None:
        """Store the states of players who join the rerating, each at a free index."""
        cols, count = self.cols, len(starting.players)
        room = len(self.n)
        self.grow(max(count - len(self._free), 0))
        # Descending: taken from the end, the new places come in ascending order.
        self._free.extend(range(len(self.n) - 1, room - 1, -1))
        places = [self._free.pop() for _ in range(count)]
        self._places.update(zip(starting.players, places, strict=True))
        self.newcomers.update(starting.newcomers)
        at = cols.int32_column(places)
        cols.write_rows(self.n, at, 1, starting.n)
        cols.write_rows(self.era, at, 1, starting.era)
        cols.write_rows(self.scheme, at, self.width, starting.scheme)
        for table, flat in enumerate(starting.kept):
            if len(flat):
                self.keep(table, at, flat)
        # The rows and the computed states are the same until a rerated game makes them differ.
        for table in self._compared:
            self.note_former(table, at, starting.kept[table])

    def leave(self, players: Collection[int]) -> None:
        """Forget players, and free the indexes of their states."""
        for player in players:
            self._free.append(self._places.pop(player))
            self.newcomers.pop(player, None)
            self.facts_known.discard(player)
        self.lists.leave(players)

    def kept(self, table: int, places: Column) -> Column:
        """Return the running state of a table at these indexes of players, flat."""
        return self._rows(self._kept[table], table, places)

    def keep(self, table: int, places: Column, flat: Column) -> None:
        """Store the running state of a table at these indexes of players."""
        if self._widths[table]:
            self.cols.write_rows(self._kept[table], places, self._widths[table], flat)

    def former_rows(self, table: int, places: Column) -> Column:
        """Return the running state that a table's former rows have after as many games, by index of player, flat."""
        return self._rows(self._former[table], table, places)

    def note_former(self, table: int, places: Column, flat: Column) -> None:
        """Store the running state that a table's former rows have after as many games, by index of player."""
        if self._widths[table]:
            self.cols.write_rows(self._former[table], places, self._widths[table], flat)

    def _rows(self, flat: Column, table: int, places: Column) -> Column:
        width = self._widths[table]
        return self.cols.select_rows(flat, places, width) if width else self.cols.float64_column(())

    def grow(self, more: int) -> None:
        """Add free rows for the states of more players."""
        super().grow(more)
        cols = self.cols
        for flats in (self._kept, self._former):
            for table, width in enumerate(self._widths):
                # former states are compared in few tables, and would take as much room as all states again
                if flats is self._kept or table in self._compared:
                    flats[table] = cols.concatenate(flats[table], cols.nan_column(more * width))


# Games between two checks of convergence: seldom enough to cost little, often enough that a change has not gone far.
STRIDE = 8_000
State = tuple[float | None, ...]  # of a fold, as the tables have it: None for NaN
CurrentRow = tuple[Any, ...]  # as ``PlayerRows.write_current`` takes it; the number of games is third


class ReratedBlock(NamedTuple):
    """The players of one block of a rerating, in ascending order.

    Attributes:
        places: their places in the states of the rerating.
        spans: of each the number of the first and of the last game in the part.
        former: by number of a table that has no row for some games, its former rows.
    """

    places: Column
    spans: Sequence[Span]
    former: Mapping[int, FormerRows]


@attrs.define
class Rerating:
    """The progress of a rerating through the games of a pool, block by block.

    Attributes:
        start_ms: its first place in rating order; nothing before it changes.
        checkpoint: games at later journal positions are fresh.
        states: the states that rerated players carry, as long as another block follows.
        own: players whose own games changed, so that their n-th game may be another one: those of corrections, and
            those of new games. Their games are rerated to the end.
        touched: players whose games from here on are rerated; those of *own* among them.
        skipped: by player, games that were passed over, since the start or since convergence.
        converged: by player who converged, the number of rated games by then.
        stored: by loaded player, how many rows there are.
        rerated: the players who were rerated.
        current: by rerated player who has not converged, the row of the last game.
        diverged: by player, the former states that differ now, by table and tournament; of tables without a row for
            some games.
    """

    start_ms: int
    checkpoint: int
    states: ReratedStates
    own: set[int]
    touched: set[int]
    skipped: dict[int, int] = attrs.Factory(dict)
    converged: dict[int, int] = attrs.Factory(dict)
    stored: dict[int, int] = attrs.Factory(dict)
    rerated: set[int] = attrs.Factory(set)
    current: dict[int, CurrentRow] = attrs.Factory(dict)
    diverged: dict[int, dict[tuple[str, Any], State]] = attrs.Factory(dict)

    @property
    def is_fit(self) -> bool:
        """True if a scheme fits all games, so that each one from the start on is rerated."""
        return self.states.starts.pool.fits_from(self.start_ms)

    def note_new_players(self, cols: Columns, games: GamesInOrder) -> None:
        """Note the players of new games."""
        fresh = cols.set_indexes(games.fresh)
        if len(fresh):
            for side in cols.to_lists([cols.take(games.white, fresh), cols.take(games.black, fresh)]):
                self.own.update(side)

    def note_skipped(self, players: Sequence[int], counts: Sequence[int]) -> None:
        """Note how many games of each player were passed over."""
        for player, count in zip(players, counts, strict=True):
            self.skipped[player] = self.skipped.get(player, 0) + count

    def note_rated(self, rows: Sequence[CurrentRow]) -> None:
        """Note the last row of each rerated player."""
        self.rerated.update(row[1] for row in rows)
        self.current.update((row[1], row) for row in rows)

    def leave(self, converged: Mapping[int, int]) -> None:
        """Stop the rerating of converged players, given with their numbers of games so far."""
        for player, n in converged.items():
            self.touched.discard(player)
            self.current.pop(player, None)
            self.skipped.pop(player, None)
            self.diverged.pop(player, None)
            self.converged[player] = n
        self.states.leave(converged)

    @property
    def surplus(self) -> list[tuple[int, int]]:
        """The players with more rows than rated games, and their numbers of games."""
        return [(player, row[2]) for player, row in self.current.items() if row[2] < self.stored.get(player, 0)]


def split_into_blocks(games: GamesInOrder) -> Iterator[tuple[GamesInOrder, bool]]:
    """Yield games in blocks of whole batches, and whether another block follows; new games alone are one block."""
    length, first = len(games.white), 0
    # No player converges to rows that do not exist: a long import is not cut.
    if all(games.fresh):
        yield games, False
        return
    while first < length:
        last = min(first + STRIDE, length)
        # a batch is rated together or not at all
        while last < length and not games.begins[last]:
            last += 1
        yield games if last - first == length else games.part(first, last), last < length
        first = last


def converged_players(
    cols: Columns,
    rows: PlayerRows,
    rerating: Rerating,
    rated: RatedGameColumns,
    folded: SidesWithStates,
    part: ReratedBlock,
) -> dict[int, int]:
    """Return the players whose state after the rated games equals the former rows, with their numbers of games.

    Rows that follow no ratings are not compared: a player who converges has the same games. Players *own* of the
    rerating are not compared.
    """
    for number, table in enumerate(rows.tables):
        if table.is_asked_by_state:
            # The last former rows of this block hold from here on, until a later block has one.
            last_states = part.former[number].last_states()
            flat = [value for state in last_states.values() for value in state]
            if last_states:
                rerating.states.note_former(number, rerating.states.places(last_states), cols.fill_missing(flat, [nan]))
    waiting = {
        player: (place, last)
        for place, (player, _, last) in enumerate(part.spans)
        # beyond the stored rows there is none, and a player whose own games changed has no n-th game to compare
        if last <= rerating.stored.get(player, 0) and player not in rerating.own
    }
    for number, table in enumerate(rows.tables):
        if table.by_tournament:
            _note_divergence(cols, rows, rerating, number, folded, part.former[number])
    waiting = {player: waiting[player] for player in waiting if not rerating.diverged.get(player)}
    for number, table in enumerate(rows.tables):
        if waiting and table.is_asked_by_state and table.fold.state:
            # only the players that are left: each table leaves fewer
            places = cols.int32_column([place for place, _ in waiting.values()])
            reached = cols.select_rows(folded.running[number], places, len(table.fold.state))
            before = rerating.states.former_rows(number, cols.take(part.places, places))
            (flags,) = cols.to_lists([cols.equal_rows(before, reached, len(table.fold.state))])
            waiting = {player: waiting[player] for player, flag in zip(waiting, flags, strict=True) if flag}
    return _with_the_same_rows(cols, rows, rated, folded, waiting)


def _with_the_same_rows(
    cols: Columns,
    rows: PlayerRows,
    rated: RatedGameColumns,
    folded: SidesWithStates,
    waiting: Mapping[int, tuple[int, int]],
) -> dict[int, int]:
    """Return those of *waiting* whose last rows equal the former ones, in tables with a row for each game."""
    # Hardly a player converges: the game and the rating show that at the least cost.
    counts = {player: n for player, (_, n) in waiting.items()}
    before: Mapping[int, tuple[Any, ...]] = rows.ratings_at(counts)
    ratings = _of_history(cols, rated, [place for place, _ in waiting.values()], ["rating"])
    left = [
        player for player, now in zip(waiting, zip(*ratings, strict=True), strict=True) if before.get(player) == now
    ]
    for number, table in enumerate(rows.tables):
        if not left or not table.is_whole or not table.fold.follows_ratings:
            continue
        before = rows.table_states_at(number, {player: counts[player] for player in left})
        places = [waiting[player][0] for player in left]
        width = len(table.fold.state)
        flat = (
            cols.select_rows(folded.running[number], cols.int32_column(places), width)
            if width
            else cols.float64_column(())
        )
        columns = cols.to_lists([cols.every_nth(flat, field, width) for field in range(width)])
        if number == 0:
            columns = [*_of_history(cols, rated, places, rows.state_fields), *columns]
        reached = zip(*map(_with_nulls, columns), strict=True) if columns else [()] * len(left)
        left = [player for player, now in zip(left, reached, strict=True) if before[player] == now]
    return {player: counts[player] for player in left}


def _of_history(
    cols: Columns, rated: RatedGameColumns, places: Sequence[int], fields: Sequence[str]
) -> list[list[Any]]:
    """Return the positions of the last games of the players at places, and fields of the scheme's state after them."""
    # sides are sorted by player: the one before the next player's first is the player's last
    sides = cols.take(rated.order, cols.int32_column([rated.starts[place + 1] - 1 for place in places]))
    game = cols.take(rated.games.position, cols.split_side_indexes(sides)[0])
    return cols.to_lists([game, *(cols.take(rated.after[name], sides) for name in fields)])


def _note_divergence(
    cols: Columns, rows: PlayerRows, rerating: Rerating, number: int, folded: SidesWithStates, former: FormerRows
) -> None:
    """Note in *rerating* which states of the table by tournament at place *number* differ from the former rows."""
    table, fold = rows.tables[number], folded.kept[number]
    width = len(table.fold.state)
    before_flat, after_flat = (_with_nulls(flat) for flat in cols.to_lists([folded.begun[number], fold.reached]))
    runs = folded.tournaments[table.name].pairs
    places = {run: slice(place * width, (place + 1) * width) for place, run in enumerate(runs)}
    former_rows = {(row[0], row[2]): row[len(row) - width :] for row in former.rows}
    for run in {**places, **former_rows}:
        player, tournament = run
        # a player whose own games changed is rerated to the end: nothing is compared
        if player in rerating.own:
            continue
        states = rerating.diverged.setdefault(player, {})
        key = table.name, tournament
        begun, after = (tuple(flat[places[run]]) for flat in (before_flat, after_flat))
        # no former row lies in these games: the one before them still holds
        before = former_rows[run] if run in former_rows else states.get(key, begun)
        if before == after:
            states.pop(key, None)
        else:
            states[key] = before


def _with_nulls(column: list[Any]) -> list[Any]:
    """Return None for NaN, as the tables have it."""
    # NaN is not equal to itself, so that a state without a value would never converge
    return [None if value != value else value for value in column]  # noqa: PLR0124  # NaN
