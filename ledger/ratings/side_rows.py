"""Rated games to rows: each player's sides folded and written to the history, the other tables and ``current``.

The one builder of rows: for a single live game, for what a late result touches, and for a first build alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ledger.book.timeline import Pool
from ledger.errors import ProjectionError, one_line
from ledger.ratings.folding import folding_loop
from ledger.ratings.history import HISTORY
from ledger.ratings.listing import listed_flags
from ledger.ratings.player_rows import CURRENT, PlayerRows
from ledger.ratings.projector import Projector
from ledger.ratings.rated_games import Rated, sides_of
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compiled


class Folded(NamedTuple):
    """What the folds of the tables make of the sides of rated games.

    Attributes:
        sides: the columns of the sides, by name, sorted by player and game number.
        kept: by table, the columns of the running state after each side.
        running: by table, the running state that each player has reached, flat.
    """

    sides: dict[str, Column]
    kept: list[list[Column]]
    running: list[Column]


def fold_all(cols: Columns, pool: Pool, rows: PlayerRows, rated: Rated, running: Sequence[Column]) -> Folded:
    """Fold all sides of rated games.

    Args:
        cols: how the columns are held.
        pool: the pool.
        rows: whose tables are to be filled.
        rated: what is folded.
        running: by table, the running state of its fold, flat, by player; left as it is.
    """
    sides = sides_of(cols, pool, rated, rows.wanted)
    folded = [
        fold(cols, table.fold, sides["owner"], sides, state)
        for table, state in zip(rows.tables, running, strict=True)
    ]
    return Folded(sides, [kept for kept, _ in folded], [reached for _, reached in folded])


def write(
    cols: Columns, pool: Pool, rows: PlayerRows, rated: Rated, folded: Folded, *, replacing: bool = False
) -> list[tuple[Any, ...]]:
    """Write all sides of rated games to the history and the other tables; gives the rows of ``current`` that follow.

    Args:
        cols: how the columns are held.
        pool: the pool.
        rows: where they are written.
        rated: what is written.
        folded: what ``fold_all`` gives for it.
        replacing: rows with these numbers may be there, and are replaced.
    """
    sides = folded.sides
    lengths = [last - first for first, last in pairwise(rated.starts)]
    player_column = [player for player, length in zip(rated.players, lengths, strict=True) for _ in range(length)]
    pool_column = [pool.pool] * len(player_column)
    n_column = cols.lists([sides["n"]])[0]
    for table, kept in zip(rows.tables, folded.kept, strict=True):
        stored = [sides[name] for name in table.fold.stores]
        stored += [cols.take(rated.scheme_state[name], rated.order) for name in table.scheme_state]
        lists = cols.lists([*stored, *kept])
        rows.write(table, zip(pool_column, player_column, n_column, *lists, strict=True), replacing=replacing)
    ends = cols.small([last - 1 for last in rated.starts[1:]])
    last_sides = cols.lists([*(cols.take(sides[name], ends) for name in CURRENT), _listed(cols, pool, rated, ends)])
    return list(zip([pool.pool] * len(rated.players), rated.players, *last_sides, strict=True))


def _listed(cols: Columns, pool: Pool, rated: Rated, ends: Column) -> Column:
    """Whether the scheme lists each player after the last of the sides, which stands at *ends*."""
    if pool.lists_everybody:
        return cols.small([1] * len(ends))
    places = cols.take(rated.order, ends)
    rated_ms = cols.take(rated.games.rated_ms, cols.sides(places)[0])
    fields = {name: cols.take(rated.scheme_state[name], places) for name in pool.state_fields}
    return listed_flags(cols, pool, rated_ms, fields)


def fold(
    cols: Columns, projector: Projector, run: Column, sides: dict[str, Column], state: Column
) -> tuple[list[Column], Column]:
    """Fold sides; the columns of the running state after each, and the state that each run has reached, flat.

    Args:
        cols: how the columns are held.
        projector: whose step.
        run: by side, the index of its player among those of *state*.
        sides: the columns of the sides.
        state: flat running state by player; left as it is.

    Raises:
        ProjectionError: the projector's step fails.
    """
    width = len(projector.state)
    loop = folding_loop(projector.name, projector.step, width)
    if cols is not FEW:
        loop = compiled(loop)
    reached = state[:] if cols is FEW else state.copy()
    out = cols.room(len(run) * width)
    try:
        loop(run, tuple(sides[name] for name in projector.takes), reached, out)
    except Exception as error:  # whatever somebody else's step does; the history's is ours
        if projector is HISTORY:
            raise
        message = f"its step fails ({type(error).__name__}: {one_line(error)}); correct it, or take the plug-in away"
        raise ProjectionError(projector.name, message) from error
    return [cols.field(out, i, width) for i in range(width)], reached
