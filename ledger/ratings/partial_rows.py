"""Tables that have no row for some games: what stood there before games were rated again, and what is written instead.

Only the rows that differ are written. Read once, the old rows also say whether a player stands again (``walks``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.side_tables import SideTable
from ledger.runtime.columns import Column, Columns, changes, keyed

Span = tuple[int, int, int]  # a player, and the numbers of the first and the last of some games


@attrs.frozen
class Stood:
    """The rows of a table in some spans, as they stood.

    Attributes:
        table: the table.
        rows: of each the player, the number of the game, and what else the table has, in the order of its key.
    """

    table: SideTable
    rows: Sequence[tuple[Any, ...]]

    def last_states(self) -> dict[int, tuple[Any, ...]]:
        """By player, the running state that the last of these rows keeps."""
        first = 2 + len(self.table.values) - len(self.table.fold.state)
        return {row[0]: row[first:] for row in self.rows}

    def columns(self, cols: Columns) -> list[Column]:
        """The key of each row as one number, then the other columns."""
        if not self.rows:
            return [cols.ints(()), *([cols.floats(())] * len(self.table.values))]
        player, n, *values = zip(*self.rows, strict=True)
        unknown = [float("nan")]
        return [
            keyed(cols, player, n),
            *(
                cols.texts(column) if kind.startswith("TEXT") else cols.known(column, unknown)
                for column, (_, kind) in zip(values, self.table.values, strict=True)
            ),
        ]


def stood(
    rows: PlayerRows, spans: Sequence[Span], stored: Mapping[int, int], own: Sequence[int] | None
) -> dict[int, Stood]:
    """By number of a table that has no row for some games, what stands there.

    Args:
        rows: of the pool.
        spans: the games that were rated again.
        stored: by player, how many rows there are of games; beyond them nothing stands.
        own: by span, 1 where the player's own games are others now: rows of facts of anybody else stand; None for all.
    """
    asked = [span for span in spans if span[1] <= stored[span[0]]]
    of_own = (
        asked
        if own is None
        else [span for span, is_own in zip(spans, own, strict=True) if is_own and span[1] <= stored[span[0]]]
    )
    found = {}
    for number, table in enumerate(rows.tables):
        if not table.is_whole:
            wanted = of_own if table.is_of_facts else asked
            found[number] = Stood(table, rows.in_spans(table, wanted) if wanted and rows.is_filled(table) else ())
    return found


def to_write(cols: Columns, rows: PlayerRows, stands: Stood, columns: Sequence[Column]) -> list[Column]:
    """Delete the rows that are gone; gives the columns of those to be written.

    Args:
        cols: how the columns are held.
        rows: where they are deleted.
        stands: the rows as they stand.
        columns: the rows as they are to be: player, number of the game, what else the table has.
    """
    if not stands.rows:
        return list(columns)
    gone, changed = changes(cols, stands.columns(cols), [keyed(cols, *columns[:2]), *columns[2:]])
    keys = [stands.rows[place][:2] for place in cols.lists([gone])[0]]
    if keys:
        rows.delete(stands.table, keys)
    return [cols.take(column, changed) for column in columns]
