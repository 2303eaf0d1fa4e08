"""What the players of a walk bring along from part to part, as columns by place: states, counts, running folds.

A player has a place from the part in which somebody meets the player first until the player is left alone again, so
that memory is bounded by players. Where they come from is said in ``projection``; no SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from ledger.ratings.side_tables import SideTable
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.schemes.scheme import Newcomer

NOBODY = -1  # the era of who has not played yet


@attrs.define
class Met:
    """Players as they are before their first re-rated game, in one order.

    Attributes:
        players: their numbers.
        n: how many rated games they have by then.
        era: the place of the era by whose scheme the last of them was rated, or ``NOBODY``.
        scheme: the scheme's state after it, flat; as wide as the widest of the pool's.
        kept: by table, the running state of its fold, flat; empty where the table is asked when it is needed.
        newcomers: who has no game yet.
    """

    players: list[int]
    n: list[int]
    era: list[int]
    scheme: Column
    kept: list[Column]
    newcomers: dict[int, Newcomer]


class WalkStates:
    """What the players of a walk bring along.

    Attributes:
        cols: how the columns are held.
        n: by place, rated games so far.
        era: by place, the place of the era of the scheme's state, or ``NOBODY``.
        scheme: by place, the scheme's state, flat, ``width`` numbers each.
        newcomers: by player without a game, what is known of the player.
        facts_known: players whose running folds of the tables that follow no ratings are here, too.
    """

    def __init__(self, cols: Columns, width: int, tables: Sequence[SideTable]) -> None:
        self.cols = cols
        self.width = width
        self.n, self.era, self.scheme = cols.zeros(0), cols.zeros(0), cols.room(0)
        self.newcomers: dict[int, Newcomer] = {}
        self.facts_known: set[int] = set()
        self._widths = [0 if table.by_tournament else len(table.fold.state) for table in tables]
        self._kept: list[Column] = [cols.room(0) for _ in tables]
        self._stood: list[Column] = [cols.room(0) for _ in tables]
        self._compared = [place for place, table in enumerate(tables) if table.is_asked_by_state]
        self._places: dict[int, int] = {}
        self._free: list[int] = []

    def hold_as(self, cols: Columns) -> None:
        """Hold the columns as arrays from now on, where they were lists."""
        if self.cols is FEW and cols is MANY:
            self.n, self.era, self.scheme = cols.small(self.n), cols.small(self.era), cols.floats(self.scheme)
            self._kept, self._stood = ([cols.floats(flat) for flat in flats] for flats in (self._kept, self._stood))
            self.cols = cols

    def strangers(self, players: Iterable[int]) -> list[int]:
        """Who has no place."""
        return [player for player in players if player not in self._places]

    def places(self, players: Iterable[int]) -> Column:
        """The places of players."""
        return self.cols.small([self._places[player] for player in players])

    def meet(self, met: Met) -> None:
        """Give players places, and put there what they bring along."""
        cols, count = self.cols, len(met.players)
        known = len(self.n)
        self._grow(max(count - len(self._free), 0))
        self._free.extend(range(len(self.n) - 1, known - 1, -1))
        given = [self._free.pop() for _ in range(count)]
        self._places.update(zip(met.players, given, strict=True))
        self.newcomers.update(met.newcomers)
        at = cols.small(given)
        cols.put_rows(self.n, at, 1, met.n)
        cols.put_rows(self.era, at, 1, met.era)
        cols.put_rows(self.scheme, at, self.width, met.scheme)
        for table, flat in enumerate(met.kept):
            if len(flat):
                self.keep(table, at, flat)
        for table in self._compared:
            self.note_stood(table, at, met.kept[table])

    def leave(self, players: Iterable[int]) -> None:
        """Forget players."""
        for player in players:
            self._free.append(self._places.pop(player))
            self.newcomers.pop(player, None)
            self.facts_known.discard(player)

    def kept(self, table: int, places: Column) -> Column:
        """The running state of a table's fold at places, flat."""
        return self._rows(self._kept[table], table, places)

    def keep(self, table: int, places: Column, flat: Column) -> None:
        """Put the running state of a table's fold at places."""
        if self._widths[table]:
            self.cols.put_rows(self._kept[table], places, self._widths[table], flat)

    def stood(self, table: int, places: Column) -> Column:
        """What the rows of a table said before of as many games: the running state of its fold at places, flat."""
        return self._rows(self._stood[table], table, places)

    def note_stood(self, table: int, places: Column, flat: Column) -> None:
        """Put at places what the rows of a table say of as many games."""
        if self._widths[table]:
            self.cols.put_rows(self._stood[table], places, self._widths[table], flat)

    def _rows(self, flat: Column, table: int, places: Column) -> Column:
        width = self._widths[table]
        return self.cols.rows(flat, places, width) if width else self.cols.floats(())

    def _grow(self, more: int) -> None:
        """Make room for more places."""
        cols = self.cols
        self.n, self.era = (cols.joined(column, cols.zeros(more)) for column in (self.n, self.era))
        self.scheme = cols.joined(self.scheme, cols.unknown(more * self.width))
        for flats in (self._kept, self._stood):
            for table, width in enumerate(self._widths):
                if flats is self._kept or table in self._compared:
                    flats[table] = cols.joined(flats[table], cols.unknown(more * width))
