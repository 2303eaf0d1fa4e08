"""Rated games to rows: each player's sides folded and written to the history, the other tables and ``current``.

The one builder of rows: for a single live game, for what a late result touches, and for a first build alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple

from ledger.book.timeline import Pool
from ledger.errors import ProjectionError, one_line
from ledger.ratings.folding import folding_loop
from ledger.ratings.history import GAMES_BEFORE, HISTORY
from ledger.ratings.listing import listed_flags
from ledger.ratings.player_rows import CURRENT, PlayerRows
from ledger.ratings.projector import CHANGES, Projector
from ledger.ratings.rated_games import Rated, sides_of
from ledger.ratings.side_tables import SideTable
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compiled


class Folded(NamedTuple):
    """What a fold makes of sides.

    Attributes:
        columns: of each side that has a row, the running state after it, a column for each field.
        places: which sides those are; None for all.
        reached: the state that each run has reached, flat.
    """

    columns: list[Column]
    places: Column | None
    reached: Column

    def of_rows(self, cols: Columns, column: Column) -> Column:
        """A column of the sides, of those that have a row."""
        return column if self.places is None else cols.take(column, self.places)


def write(cols: Columns, pool: Pool, rows: PlayerRows, rated: Rated, running: Sequence[Column]) -> list[Column]:
    """Fold and write all sides of rated games.

    Args:
        cols: how the columns are held.
        pool: the pool.
        rows: where they are written.
        rated: what is written.
        running: by table, the running state of its fold, flat, by player; of a fold by tournament nothing.

    Returns:
        The running states after these sides.
    """
    sides = sides_of(cols, pool, rated, rows.wanted)
    lengths = [last - first for first, last in pairwise(rated.starts)]
    sides["player"] = [player for player, length in zip(rated.players, lengths, strict=True) for _ in range(length)]
    if "listed" in rows.wanted:
        sides["listed"] = listed_sides(cols, pool, rated, cols.small(range(rated.starts[-1])))
    after = []
    for table, state in zip(rows.tables, running, strict=True):
        if table.by_tournament:
            _write_in_tournaments(cols, pool, rows, table, sides)
            after.append(state)
            continue
        folded = fold(cols, table.fold, sides["owner"], sides, state)
        if table.fold is HISTORY:
            sides |= of_history(cols, folded, rows.wanted)
        further = [cols.take(rated.scheme_state[name], rated.order) for name in table.scheme_state]
        rows.write(table, _rows(cols, pool, table, sides, folded, further))
        after.append(folded.reached)
    ends = cols.small([last - 1 for last in rated.starts[1:]])
    last = [*(cols.take(sides[name], ends) for name in CURRENT), listed_sides(cols, pool, rated, ends)]
    rows.write_current(zip([pool.pool] * len(rated.players), rated.players, *cols.lists(last), strict=True))
    return after


def of_history(cols: Columns, folded: Folded, wanted: Set[str]) -> dict[str, Column]:
    """The columns of a side that are wanted and stand in the state of the history."""
    return {"games_before": cols.ints(folded.columns[GAMES_BEFORE])} if "games_before" in wanted else {}


def _write_in_tournaments(
    cols: Columns, pool: Pool, rows: PlayerRows, table: SideTable, sides: Mapping[str, Column]
) -> None:
    """Fold and write those sides that are of a tournament, each fold from where its player's last row in it stands."""
    places = [place for place, name in enumerate(sides["tournament"]) if name is not None]
    if not places:
        return
    at = cols.small(places)
    there = {name: cols.take(sides[name], at) for name in {"n", *table.fold.wants}}
    there["player"] = [sides["player"][place] for place in places]
    runs: dict[tuple[int, str], int] = {}
    run = [runs.setdefault(pair, len(runs)) for pair in zip(there["player"], there["tournament"], strict=True)]
    state = [value for kept in rows.in_tournaments(table, list(runs)) for value in kept]
    folded = fold(cols, table.fold, cols.small(run), there, cols.floats(state))
    rows.write(table, _rows(cols, pool, table, there, folded, []))


def _rows(
    cols: Columns, pool: Pool, table: SideTable, sides: Mapping[str, Column], folded: Folded, further: Sequence[Column]
) -> Iterable[Sequence[Any]]:
    """The rows of a table from the columns of sides, the running state, and further columns that the table has."""
    players = sides["player"]
    if folded.places is not None:
        players = [players[place] for place in cols.lists([folded.places])[0]]
        if not players:
            return ()
    names = [*table.fold.key[2:], *table.fold.stores]
    stored = [folded.of_rows(cols, column) for column in (*(sides[name] for name in names), *further)]
    return zip([pool.pool] * len(players), players, *cols.lists([*stored, *folded.columns]), strict=True)


def listed_sides(cols: Columns, pool: Pool, rated: Rated, sides: Column) -> Column:
    """Whether the scheme lists each player after those of the sides, in their order, that stand at *sides*."""
    if pool.lists_everybody:
        return cols.small([1] * len(sides))
    places = cols.take(rated.order, sides)
    rated_ms = cols.take(rated.games.rated_ms, cols.sides(places)[0])
    fields = {name: cols.take(rated.scheme_state[name], places) for name in pool.state_fields}
    return listed_flags(cols, pool, rated_ms, fields)


def fold(cols: Columns, projector: Projector, run: Column, sides: Mapping[str, Column], state: Column) -> Folded:
    """Fold sides.

    Args:
        cols: how the columns are held.
        projector: whose step.
        run: by side, the index among those of *state* of its player, or of its player and tournament.
        sides: the columns of the sides.
        state: flat running state by run; left as it is.

    Raises:
        ProjectionError: the projector's step fails.
    """
    width = len(projector.state)
    sparse = projector.rows == CHANGES
    loop = folding_loop(projector.name, projector.step, width, changes=sparse)
    if cols is not FEW:
        loop = compiled(loop)
    reached = state[:] if cols is FEW else state.copy()
    out, changed = cols.room(len(run) * width), cols.zeros(len(run) if sparse else 0)
    arguments = (run, tuple(sides[name] for name in projector.takes), reached, out)
    try:
        loop(*arguments, changed) if sparse else loop(*arguments)
    except Exception as error:  # whatever somebody else's step does; the history's is ours
        if projector is HISTORY:
            raise
        message = f"its step fails ({type(error).__name__}: {one_line(error)}); correct it, or take the plug-in away"
        raise ProjectionError(projector.name, message) from error
    columns = [cols.field(out, i, width) for i in range(width)]
    if not sparse:
        return Folded(columns, None, reached)
    places = cols.where(changed)
    return Folded([cols.take(column, places) for column in columns], places, reached)
