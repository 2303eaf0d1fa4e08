"""A way through the rated games of a pool from some place on: whom a change reaches, and whom it reaches no longer.

A change spreads from game to game, and dies out: where two ratings are far apart, or are rounded, the one moves and the
other does not. Who stands after some games as the rows say that the player stood is left alone from there on, and so is
everybody whom only that player would have touched. What the games give is decided in ``projection``; no SQL.

What players bring along from part to part stands in columns by place: states, counts, running folds. A player has a
place from the part in which somebody meets the player first until the player is left alone again, so that memory is
bounded by players.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import attrs

from ledger.book.roster import Roster
from ledger.book.timeline import Pool
from ledger.ratings.carried_states import CarriedStates
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.rated_games import Games, Rated
from ledger.ratings.side_rows import FoldedSides, FormerRows, Span
from ledger.ratings.view_tables import SideTable
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.schemes.scheme import Newcomer


@attrs.define
class StartingPlayers:
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


class ReratedStates(CarriedStates):
    """The players of a walk bring along their states and the running folds of the tables.

    Attributes:
        newcomers: by player without a game, what is known of the player.
        facts_known: players whose running folds of the tables that follow no ratings are here, too.
    """

    def __init__(self, cols: Columns, pool: Pool, roster: Roster, tables: Sequence[SideTable]) -> None:
        """Take a pool with its tables of sides; nobody has a place yet."""
        super().__init__(cols, pool, roster)
        self.newcomers: dict[int, Newcomer] = {}
        self.facts_known: set[int] = set()
        # A player may be in several tournaments at once: such folds go on from the rows, nothing is brought along.
        self._widths = [0 if table.by_tournament else len(table.fold.state) for table in tables]
        self._kept: list[Column] = [cols.room(0) for _ in tables]
        self._stood: list[Column] = [cols.room(0) for _ in tables]
        self._compared = [place for place, table in enumerate(tables) if table.is_asked_by_state]
        self._places: dict[int, int] = {}
        self._free: list[int] = []

    def hold_as(self, cols: Columns) -> None:
        """Hold the columns as arrays from now on, where they were lists."""
        # Never back: the arrays are there, and a short block after long ones is no reason to take them apart.
        if self.cols is FEW and cols is MANY:
            self.n, self.era, self.scheme = cols.small(self.n), cols.small(self.era), cols.floats(self.scheme)
            self._kept, self._stood = ([cols.floats(flat) for flat in flats] for flats in (self._kept, self._stood))
            self.cols = cols

    def newcomer(self, player: int, ended_ms: int) -> Newcomer:  # noqa: ARG002
        """Return what was known when the player was met."""
        return self.newcomers[player]

    def strangers(self, players: Iterable[int]) -> list[int]:
        """Who has no place."""
        return [player for player in players if player not in self._places]

    def places(self, players: Iterable[int]) -> Column:
        """The places of players."""
        return self.cols.small([self._places[player] for player in players])

    def meet(self, met: StartingPlayers) -> None:
        """Give players places, and put there what they bring along."""
        cols, count = self.cols, len(met.players)
        room = len(self.n)
        self.grow(max(count - len(self._free), 0))
        # Descending: taken from the end, the new places come in ascending order.
        self._free.extend(range(len(self.n) - 1, room - 1, -1))
        places = [self._free.pop() for _ in range(count)]
        self._places.update(zip(met.players, places, strict=True))
        self.newcomers.update(met.newcomers)
        at = cols.small(places)
        cols.put_rows(self.n, at, 1, met.n)
        cols.put_rows(self.era, at, 1, met.era)
        cols.put_rows(self.scheme, at, self.width, met.scheme)
        for table, flat in enumerate(met.kept):
            if len(flat):
                self.keep(table, at, flat)
        # What the rows say and what was reckoned are the same until a re-rated game tells them apart.
        for table in self._compared:
            self.note_stood(table, at, met.kept[table])

    def leave(self, players: Collection[int]) -> None:
        """Forget players."""
        for player in players:
            self._free.append(self._places.pop(player))
            self.newcomers.pop(player, None)
            self.facts_known.discard(player)
        self.lists.leave(players)

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

    def grow(self, more: int) -> None:
        """Make room for more places."""
        super().grow(more)
        cols = self.cols
        for flats in (self._kept, self._stood):
            for table, width in enumerate(self._widths):
                # what stood is compared in few tables, and would take as much room as all states again
                if flats is self._kept or table in self._compared:
                    flats[table] = cols.joined(flats[table], cols.unknown(more * width))


# Games after which everybody is asked: seldom enough to cost little, often enough that a change has not gone far.
STRIDE = 8_000
State = tuple[float | None, ...]  # of a fold, as the tables have it: None for NaN
CurrentRow = tuple[Any, ...]  # as ``PlayerRows.write_current`` takes it; the number of games stands third


class ReratedBlock(NamedTuple):
    """The players of a part of a walk, in ascending order.

    Attributes:
        places: where what they bring along stands in the states of the walk.
        spans: of each the number of the first and of the last game in the part.
        stands: by number of a table that has no row for some games, what stood there.
    """

    places: Column
    spans: Sequence[Span]
    stands: Mapping[int, FormerRows]


@attrs.define
class Rerating:
    """What a way through the games of a pool, part by part, has met so far.

    Attributes:
        start_ms: its first place in rating order; nothing before it changes.
        checkpoint: games at later journal positions are fresh.
        states: what each player brings along who was re-rated, as long as another part follows.
        own: players whose own games are others than before, so that their n-th game may be another one: those whom a
            correction concerns, and those of new games that were met. Their games are re-rated to the end.
        touched: players whose games from here on are re-rated; those of *own* among them.
        skipped: by player, games that stood as they are, since the start or since the player stands again.
        stood: by player who stands again as before, the number of rated games by then.
        stored: by player who was met, how many rows there are.
        met: the players who were re-rated.
        current: by player who was re-rated and does not stand again, the row of the last game.
        apart: by player, of each table that has no row for some games, the states that the rows said before and that
            are others now, by table and tournament.
    """

    start_ms: int
    checkpoint: int
    states: ReratedStates
    own: set[int]
    touched: set[int]
    skipped: dict[int, int] = attrs.Factory(dict)
    stood: dict[int, int] = attrs.Factory(dict)
    stored: dict[int, int] = attrs.Factory(dict)
    met: set[int] = attrs.Factory(set)
    current: dict[int, CurrentRow] = attrs.Factory(dict)
    apart: dict[int, dict[tuple[str, Any], State]] = attrs.Factory(dict)

    @classmethod
    def begun(cls, start_ms: int, checkpoint: int, concerned: set[int], states: ReratedStates) -> Rerating:
        """A walk that has met nobody yet."""
        return cls(start_ms, checkpoint, states, set(concerned), set(concerned))

    def note_fresh(self, cols: Columns, games: Games) -> None:
        """Note whose games are new."""
        fresh = cols.where(games.fresh)
        if len(fresh):
            for side in cols.lists([cols.take(games.white, fresh), cols.take(games.black, fresh)]):
                self.own.update(side)

    def note_passed(self, players: Sequence[int], counts: Sequence[int]) -> None:
        """Note how many games of each player were passed over."""
        for player, count in zip(players, counts, strict=True):
            self.skipped[player] = self.skipped.get(player, 0) + count

    def note_rated(self, rows: Sequence[CurrentRow]) -> None:
        """Note the last row of each player who was re-rated."""
        self.met.update(row[1] for row in rows)
        self.current.update((row[1], row) for row in rows)

    def leave(self, standing: Mapping[int, int]) -> None:
        """Re-rate the games of some players no longer: by player, how many rated games there are by now."""
        for player, n in standing.items():
            self.touched.discard(player)
            self.current.pop(player, None)
            self.skipped.pop(player, None)
            self.apart.pop(player, None)
            self.stood[player] = n
        self.states.leave(standing)

    @property
    def surplus(self) -> list[tuple[int, int]]:
        """Players who have more rows than rated games, and how many games they have."""
        return [(player, row[2]) for player, row in self.current.items() if row[2] < self.stored.get(player, 0)]


def parts(games: Games) -> Iterator[tuple[Games, bool]]:
    """Games in whole batches, in parts, and whether another part follows; new games alone are one part."""
    length, first = len(games.white), 0
    # Nobody can stand again where nothing stood: a long import is not cut.
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


def standing_again(
    cols: Columns, rows: PlayerRows, walk: Rerating, rated: Rated, folded: FoldedSides, part: ReratedBlock
) -> dict[int, int]:
    """Who stands after the rated games as the rows say, by player the number of games: the rows are those of before.

    Rows that follow no ratings are not asked: who stands again has the same games.

    Args:
        cols: how the columns are held.
        rows: with the rows as they were.
        walk: who is not asked about.
        rated: the games.
        folded: what the folds of the tables make of them.
        part: whose games they are, and what stood there.
    """
    for number, table in enumerate(rows.tables):
        if table.is_asked_by_state:
            # The last rows that stood in this part are what the rows say from here on, until one of a later part does.
            last_states = part.stands[number].last_states()
            flat = [value for state in last_states.values() for value in state]
            if last_states:
                walk.states.note_stood(number, walk.states.places(last_states), cols.filled(flat, [nan]))
    asked = {
        player: (place, last)
        for place, (player, _, last) in enumerate(part.spans)
        # beyond the stored rows nothing stands, and whose own games are others has no n-th game to compare
        if last <= walk.stored.get(player, 0) and player not in walk.own
    }
    for number, table in enumerate(rows.tables):
        if table.by_tournament:
            _set_apart(cols, rows, walk, number, folded, part.stands[number])
    asked = {player: asked[player] for player in asked if not walk.apart.get(player)}
    for number, table in enumerate(rows.tables):
        if asked and table.is_asked_by_state and table.fold.state:
            # only who is still asked about: each table leaves fewer
            places = cols.small([place for place, _ in asked.values()])
            reached = cols.rows(folded.running[number], places, len(table.fold.state))
            before = walk.states.stood(number, cols.take(part.places, places))
            (flags,) = cols.lists([cols.alike(before, reached, len(table.fold.state))])
            asked = {player: asked[player] for player, flag in zip(asked, flags, strict=True) if flag}
    return _with_the_same_rows(cols, rows, rated, folded, asked)


def _with_the_same_rows(
    cols: Columns, rows: PlayerRows, rated: Rated, folded: FoldedSides, asked: Mapping[int, tuple[int, int]]
) -> dict[int, int]:
    """Whose last rows of games are those that stand, in the tables that have one for each game and follow ratings.

    Args:
        cols: how the columns are held.
        rows: with the rows as they were.
        rated: the games.
        folded: what the folds of the tables make of them.
        asked: by player, the place among the players and the number of the last game.
    """
    # Nearly nobody stands again: the game and the rating say so at the least cost.
    counts = {player: n for player, (_, n) in asked.items()}
    before: Mapping[int, tuple[Any, ...]] = rows.shown_at(counts)
    shown = _of_history(cols, rated, [place for place, _ in asked.values()], ["rating"])
    left = [player for player, now in zip(asked, zip(*shown, strict=True), strict=True) if before.get(player) == now]
    for number, table in enumerate(rows.tables):
        if not left or not table.is_whole or table.is_of_facts:
            continue
        before = rows.at_games(number, {player: counts[player] for player in left})
        places = [asked[player][0] for player in left]
        width = len(table.fold.state)
        flat = cols.rows(folded.running[number], cols.small(places), width) if width else cols.floats(())
        columns = cols.lists([cols.field(flat, field, width) for field in range(width)])
        if number == 0:
            columns = [*_of_history(cols, rated, places, rows.state_fields), *columns]
        reached = zip(*map(_with_nulls, columns), strict=True) if columns else [()] * len(left)
        left = [player for player, now in zip(left, reached, strict=True) if before[player] == now]
    return {player: counts[player] for player in left}


def _of_history(cols: Columns, rated: Rated, places: Sequence[int], fields: Sequence[str]) -> list[list[Any]]:
    """The position of the last game of the players at places, and fields of the scheme's state after it."""
    # sides stand by player: the one before the next player's first is the player's last
    sides = cols.take(rated.order, cols.small([rated.starts[place + 1] - 1 for place in places]))
    game = cols.take(rated.games.position, cols.sides(sides)[0])
    return cols.lists([game, *(cols.take(rated.after[name], sides) for name in fields)])


def _set_apart(
    cols: Columns, rows: PlayerRows, walk: Rerating, number: int, folded: FoldedSides, stands: FormerRows
) -> None:
    """Note in *walk* which states of a table by tournament are others than the rows said.

    Args:
        cols: how the columns are held.
        rows: with the rows as they were, from these games on.
        walk: which states were others before these games.
        number: place of the table among all.
        folded: what the folds make of the games.
        stands: the rows as they were.
    """
    table, fold = rows.tables[number], folded.kept[number]
    width = len(table.fold.state)
    before_flat, after_flat = (_with_nulls(flat) for flat in cols.lists([folded.begun[number], fold.reached]))
    runs = folded.tournaments[table.name].pairs
    places = {run: slice(place * width, (place + 1) * width) for place, run in enumerate(runs)}
    stood = {(row[0], row[2]): row[len(row) - width :] for row in stands.rows}
    for run in {**places, **stood}:
        player, tournament = run
        # whose own games are others is re-rated to the end: nothing is compared
        if player in walk.own:
            continue
        states = walk.apart.setdefault(player, {})
        key = table.name, tournament
        begun, after = (tuple(flat[places[run]]) for flat in (before_flat, after_flat))
        # no row stood in these games: what the rows said before them still holds
        before = stood[run] if run in stood else states.get(key, begun)
        if before == after:
            states.pop(key, None)
        else:
            states[key] = before


def _with_nulls(column: list[Any]) -> list[Any]:
    """None for NaN, as the tables have it."""
    # NaN is not equal to itself, so that a state without a value would never stand again
    return [None if value != value else value for value in column]  # noqa: PLR0124  # NaN
