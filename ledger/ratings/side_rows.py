"""Rows of tables from rated games: for each player's half of a game a row of the history and of other tables.

The one builder of rows: for a single live game, for the games that a late result affects, and for a first build.

If a table has no row for some games, only the rows that differ are written; its former rows, read once, also say
whether a player has converged (``reratings``).
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

import attrs

from ledger.book.timeline import Pool
from ledger.errors import ReadModelError
from ledger.ratings.player_rows import CURRENT_COLUMNS, PlayerRows, listed_flags
from ledger.ratings.projector import CHANGES, DeclaredProjector
from ledger.ratings.projectors.history import GAMES_BEFORE, HISTORY, LATEST
from ledger.ratings.rated_games import RatedGameColumns, columns_of_sides
from ledger.ratings.view_tables import SideTable
from ledger.runtime.columns import FEW, Column, Columns, changed_rows, combined_keys
from ledger.runtime.kernels import compile_kernel, with_globals
from ledger.runtime.lazy import np
from ledger.runtime.plugin_code import describe_failure, source_place
from ledger.runtime.records import generated, make_reader, make_updater, make_writer, view_as_records

# Folds: a projector's step over the sides of players' runs, interpreted for a few, compiled for many.

# Names that ``with_globals`` gives to the loop below, each time to something else.
FIELDS = 0
SPARSE = False
step: Callable[..., None]
side_of: Callable[..., Any]
put: Callable[..., None]
update: Callable[..., int]


def step_through_sides(run: Any, columns: Any, players: Any, history: Any, changed: Any) -> None:
    """Apply a projector's step to each player's half of a game in turn, and store the state after each.

    Args:
        run: by side, the index of its player's run; the sides of one run follow each other in rating order, and may
            have those of others in between.
        columns: tuple of the columns that the step reads, each by side.
        players: by run, the record of the player; changed in place.
        history: flat, FIELDS numbers a side; filled.
        changed: by side; of a table of changes filled with 1 where a field is another than before the side, else 0.
    """
    for side in range(len(run)):
        player = players[run[side]]
        if SPARSE:
            put(history, side * FIELDS, player)  # noqa: F821
            step(player, side_of(columns, side))  # noqa: F821
            changed[side] = update(history, side * FIELDS, player)  # noqa: F821
        else:
            step(player, side_of(columns, side))  # noqa: F821
            put(history, side * FIELDS, player)  # noqa: F821


@cache
def projector_loop(projector: DeclaredProjector) -> Callable[..., None]:
    """Return the loop of one projector that applies its step to players' halves of games."""
    made = projector.made
    return with_globals(
        step_through_sides,
        f"fold_{projector.name}",
        FIELDS=len(projector.state),
        SPARSE=projector.rows == CHANGES,
        step=projector.step,
        side_of=_side_of(projector.reads),
        put=make_writer(made),
        update=make_updater(made),
    )


@cache
def _side_of(reads: tuple[str, ...]) -> Callable[[Any, int], Any]:
    """Return ``side_of(columns, side)``: it gives the numbers of one side by their names."""
    values = ", ".join(f"{name}=columns[{i}][side]" for i, name in enumerate(reads))
    source = f"def side_of(columns, side):\n    return RatedSide({values})\n"
    return generated(source, "side_of", RatedSide=namedtuple("RatedSide", reads))


MOST_WHOLE = 2.0**63  # SQLite's whole numbers have 64 bits
Span = tuple[int, int, int]  # a player, and the numbers of the first and the last of some games


@attrs.frozen
class FormerRows:
    """The rows that a table had for some ranges of games before they were rerated.

    Attributes:
        table: the table.
        rows: of each the player, the number of the game, and the other columns, in the order of its key.
    """

    table: SideTable
    rows: Sequence[tuple[Any, ...]]

    def last_states(self) -> dict[int, tuple[Any, ...]]:
        """Return, by player, the running state in the last of these rows."""
        first = 2 + len(self.table.values) - len(self.table.fold.state)
        return {row[0]: row[first:] for row in self.rows}

    def columns(self, cols: Columns) -> list[Column]:
        """Return the key of each row as one number, then the other columns."""
        if not self.rows:
            return [cols.int64_column(()), *([cols.float64_column(())] * len(self.table.values))]
        # player and number as one: a column of single numbers is compared and sorted at once
        player, n, *values = zip(*self.rows, strict=True)
        unknown = [float("nan")]
        return [
            combined_keys(cols, player, n),
            *(
                cols.text_column(column) if kind.startswith("TEXT") else cols.fill_missing(column, unknown)
                for column, (_, kind) in zip(values, self.table.values, strict=True)
            ),
        ]


def former_rows(
    rows: PlayerRows, spans: Sequence[Span], stored: Mapping[int, int], own: Sequence[int] | None
) -> dict[int, FormerRows]:
    """Return the former rows, by index of a table that has no row for some games.

    Args:
        rows: of the pool.
        spans: the games that were rated again.
        stored: by player, how many rows there are of games; beyond them there is none.
        own: by span, 1 if the player's own games changed: other players' rows of facts stay; None for all.
    """
    # A span that begins behind the stored rows is of new games alone: no query for it.
    requested = [span for span in spans if span[1] <= stored[span[0]]]
    of_own = (
        requested
        if own is None
        else [span for span, is_own in zip(spans, own, strict=True) if is_own and span[1] <= stored[span[0]]]
    )
    by_table = {}
    for number, table in enumerate(rows.tables):
        if not table.is_whole:
            spans_asked = requested if table.fold.follows_ratings else of_own
            by_table[number] = FormerRows(
                # a rare thing may have no row yet in the whole pool: one look shows that
                table,
                rows.rows_in_spans(table, spans_asked) if spans_asked and rows.has_rows(table) else (),
            )
    return by_table


def rows_to_write(cols: Columns, rows: PlayerRows, former: FormerRows, columns: Sequence[Column]) -> list[Column]:
    """Delete the rows that are gone, and return the columns of the rows to be written.

    They are player, game number, and the others.
    """
    if not former.rows:
        return list(columns)
    gone, changed = changed_rows(cols, former.columns(cols), [combined_keys(cols, *columns[:2]), *columns[2:]])
    keys = [former.rows[place][:2] for place in cols.to_lists([gone])[0]]
    if keys:
        rows.delete(former.table, keys)
    return [cols.take(column, changed) for column in columns]


class TableStates(NamedTuple):
    """The running states of one table after each player's half of a game.

    Attributes:
        columns: the running state after each side that has a row, a column for each field.
        places: the places of those sides; None for all.
        reached: the state that each run has reached, flat.
    """

    columns: list[Column]
    places: Column | None
    reached: Column

    def of_rows(self, cols: Columns, column: Column) -> Column:
        """Return the part of a column that belongs to the rows of the table."""
        return column if self.places is None else cols.take(column, self.places)


class InTournaments(NamedTuple):
    """The players' rows of tournament games, as a projector by tournament takes them.

    Attributes:
        sides: their columns, by name.
        pairs: player and tournament of each run.
        run: by side, the place of its run among *pairs*.
    """

    sides: dict[str, Column]
    pairs: list[tuple[int, str]]
    run: list[int]


class SidesWithStates(NamedTuple):
    """The players' halves of rated games with the running states of all tables after each.

    Attributes:
        sides: the columns of the sides, by name, sorted by player and game number.
        players: their players.
        begun: by table, the running state before the sides, flat, by player or by run of a tournament.
        kept: by table, the running state after each side that has a row.
        running: by table, the running state that each player has reached, flat; of a fold by tournament nothing.
        tournaments: by name of a table by tournament, its sides and runs.
    """

    sides: dict[str, Column]
    players: list[int]
    begun: list[Column]
    kept: list[TableStates]
    running: list[Column]
    tournaments: dict[str, InTournaments]


def apply_all_projectors(
    cols: Columns,
    pool: Pool,
    rows: PlayerRows,
    rated: RatedGameColumns,
    running: Sequence[Column],
    own: Column | None = None,
) -> SidesWithStates:
    """Apply every projector to all players' halves of rated games, and return the states after each.

    Args:
        cols: how the columns are held.
        pool: the pool.
        rows: whose tables are to be filled.
        rated: what is folded.
        running: by table, the running state of its fold, flat, by player; left as it is. Folds by tournament go on from
            the stored rows.
        own: by player, 1 if the player's own games changed: only those are folded for tables that follow no ratings;
            None for all.
    """
    sides = columns_of_sides(cols, pool, rated, rows.side_columns)
    sides["player"] = cols.take(rated.player_column, sides["owner"])
    # A table of facts alone (results, colours) says the same of all other players: those rows stay.
    chosen = None if own is None else cols.set_indexes(cols.take(own, sides["owner"]))
    if "listed" in rows.side_columns:
        sides["listed"] = listed_sides(cols, pool, rated, cols.int32_column(range(rated.starts[-1])))
    folds = SidesWithStates(sides, rated.players, list(running), [], [], {})
    for number, (table, state) in enumerate(zip(rows.tables, running, strict=True)):
        if table.by_tournament:
            there, begun = _in_tournaments(cols, rows, table, sides, rated)
            folds.tournaments[table.name], folds.begun[number] = there, begun
            whose = side_locator(there.sides)
            folds.kept.append(
                apply_projector(cols, table.fold, cols.int32_column(there.run), there.sides, begun, whose)
            )
            # a player's states of several tournaments are in the rows
            folds.running.append(cols.float64_column(()))
            continue
        folded = _folded(cols, table, sides, state, None if table.fold.follows_ratings else chosen)
        if table.fold is HISTORY:
            sides |= history_columns(cols, folded, rows.side_columns)
        folds.kept.append(folded)
        folds.running.append(folded.reached)
    return folds


def _folded(
    cols: Columns, table: SideTable, sides: Mapping[str, Column], state: Column, chosen: Column | None
) -> TableStates:
    """Fold the sides at the *chosen* places, or all, by player."""
    if chosen is None:
        return apply_projector(cols, table.fold, sides["owner"], sides, state, side_locator(sides))
    # sides have two dozen columns, of which a fold takes a few
    there = {name: cols.take(sides[name], chosen) for name in {"owner", *table.fold.reads}}
    folded = apply_projector(cols, table.fold, there["owner"], there, state, side_locator(sides, chosen))
    return folded._replace(places=chosen if folded.places is None else cols.take(chosen, folded.places))


def write_sides(
    cols: Columns,
    pool: Pool,
    rows: PlayerRows,
    rated: RatedGameColumns,
    folded: SidesWithStates,
    former: Mapping[int, FormerRows] | None = None,
) -> list[tuple[Any, ...]]:
    """Write each player's rows of rated games to the history and other tables; return new rows of ``current``.

    If rows with these numbers may exist, *former* has the former rows by number of a table that has no row for some
    games; the other tables' rows are replaced.
    """
    for number, (table, kept) in enumerate(zip(rows.tables, folded.kept, strict=True)):
        sides = folded.tournaments[table.name].sides if table.by_tournament else folded.sides
        further = [cols.take(rated.after[name], rated.order) for name in table.scheme_state]
        names = [*table.fold.key[1:], *table.fold.stores]
        stored = [kept.of_rows(cols, column) for column in (*(sides[name] for name in names), *further)]
        columns = [*stored, *kept.columns]
        # A table with a row for each game has its rows replaced by number; one without must lose those that are gone.
        if former is not None and not table.is_whole:
            columns = rows_to_write(cols, rows, former[number], columns)
        if len(columns[0]):
            filled = zip(repeat(pool.pool), *cols.to_lists(columns))  # as many as there are players
            rows.write(table, filled, replacing=former is not None)
    ends = cols.int32_column([last - 1 for last in rated.starts[1:]])
    last = [*(cols.take(folded.sides[name], ends) for name in CURRENT_COLUMNS), listed_sides(cols, pool, rated, ends)]
    return list(zip([pool.pool] * len(rated.players), rated.players, *cols.to_lists(last), strict=True))


def game_spans(cols: Columns, rated: RatedGameColumns) -> list[tuple[int, int, int]]:
    """Return, for each rated player, the numbers of the first and of the last of the rated games."""
    firsts = cols.take(rated.order, cols.int32_column(rated.starts[:-1]))
    lasts = cols.take(rated.order, cols.int32_column([last - 1 for last in rated.starts[1:]]))
    first, last = cols.to_lists([cols.take(rated.n, firsts), cols.take(rated.n, lasts)])
    return list(zip(rated.players, first, last, strict=True))


def history_columns(cols: Columns, folded: TableStates, asked_names: Set[str]) -> dict[str, Column]:
    """Return the columns of players' rows that are in the state of the history: the latest end, and requested ones."""
    columns = {"latest_ms": cols.int64_column(folded.columns[LATEST])}
    if "games_before" in asked_names:
        columns["games_before"] = cols.int64_column(folded.columns[GAMES_BEFORE])
    return columns


def _in_tournaments(
    cols: Columns, rows: PlayerRows, table: SideTable, sides: Mapping[str, Column], rated: RatedGameColumns
) -> tuple[InTournaments, Column]:
    """Return the sides that are of a tournament, and the state with which each run begins, flat."""
    places = [place for place, name in enumerate(sides["tournament"]) if name is not None]
    at = cols.int32_column(places)
    there = {name: cols.take(sides[name], at) for name in {"n", *table.fold.wants}}
    there["player"] = cols.take(sides["player"], at)
    runs: dict[tuple[int, str], int] = {}
    pairs = zip(*cols.to_lists([there["player"], there["tournament"]]), strict=True)
    run = [runs.setdefault(pair, len(runs)) for pair in pairs]
    first = {player: n for player, n, _ in game_spans(cols, rated)}
    begun = rows.tournament_states(table, [(player, name, first[player]) for player, name in runs])
    return InTournaments(there, list(runs), run), cols.float64_column([value for kept in begun for value in kept])


def listed_sides(cols: Columns, pool: Pool, rated: RatedGameColumns, sides: Column) -> Column:
    """Return whether the scheme lists each player after the rows at the indexes *sides*, in their order."""
    if pool.lists_everybody:
        return cols.int32_column([1] * len(sides))
    places = cols.take(rated.order, sides)
    rated_ms = cols.take(rated.games.rated_ms, cols.split_side_indexes(places)[0])
    fields = {name: cols.take(rated.after[name], places) for name in pool.state_fields}
    return listed_flags(cols, pool, rated_ms, fields)


Whose = Callable[[int], tuple[int, int]]  # the player of a side, and the number of the game among the player's


def side_locator(sides: Any, chosen: Column | None = None) -> Whose:
    """Return a function that gives the player and game number of a row.

    *chosen* are the indexes of the counted rows.
    """

    def whose(side: int) -> tuple[int, int]:
        place = int(side if chosen is None else chosen[side])
        return int(sides["player"][place]), int(sides["n"][place])

    return whose


def apply_projector(
    cols: Columns,
    projector: DeclaredProjector,
    run: Column,
    sides: Mapping[str, Column],
    state: Column,
    whose: Whose | None = None,
) -> TableStates:
    """Return a table's running states after each side (one player's half of a game), by the projector's step.

    Args:
        cols: how the columns are held.
        projector: whose step.
        run: by side, the index among those of *state* of its player, or of its player and tournament.
        sides: the columns of the sides.
        state: flat running state by run; left as it is.
        whose: names the side at which a step fails.

    Raises:
        ReadModelError: the projector's step fails.
    """
    width, made, loop = len(projector.state), projector.made, projector_loop(projector)
    sparse = projector.rows == CHANGES
    taken = tuple(sides[name] for name in projector.reads)
    # the states before the sides are stored apart from those after them (``SidesWithStates``)
    if cols is FEW:
        reached = state[:]
        runs = len(reached) // width if width else max(run, default=-1) + 1
        players: Any = [make_reader(made)(reached, place * width) for place in range(runs)]
    else:
        loop, reached = compile_kernel(loop), state.copy()
        players = view_as_records(made, reached) if width else np.zeros(run.max() + 1)
        # A build has some whole numbers in fewer bits than an update; the step would be compiled again for each width.
        taken = tuple(column if column.dtype == np.float64 else column.astype(np.int64) for column in taken)
    out, changed = cols.unfilled_floats(len(run) * width), cols.zeros(len(run) if sparse else 0)
    try:
        loop(run, taken, players, out, changed)
    except Exception as error:  # a plug-in's step may raise anything; the history's is ours
        if projector is HISTORY:
            raise
        words = describe_failure("its step", projector.step, error)
        raise ReadModelError(
            projector.name, f"{words}{_at(whose, _failing_side(error))}; correct the plug-in"
        ) from error
    if cols is FEW:
        for place, player in enumerate(players):
            make_writer(made)(reached, place * width, player)
    places = cols.set_indexes(changed) if sparse else None
    columns = [cols.every_nth(out, i, width) for i in range(width)]
    folded = TableStates(columns if places is None else [cols.take(each, places) for each in columns], places, reached)
    if projector is not HISTORY:
        _refuse_fractions(projector, folded, whose)
    return folded


def _refuse_fractions(projector: DeclaredProjector, folded: TableStates, whose: Whose | None) -> None:
    """Refuse what a column of whole numbers cannot hold; SQLite would, and take the whole file for damaged."""
    for kept, column in zip(projector.state, folded.columns, strict=True):
        if kept.type != "INTEGER":
            continue
        rows: Any = range(len(column))
        if not isinstance(column, list):  # every row of a build passes here: what is whole leaves before any loop
            near = np.ascontiguousarray(column)  # the fields of a side lie side by side
            is_odd = (np.trunc(near) != near) | (np.abs(near) >= MOST_WHOLE)
            rows = np.flatnonzero(is_odd & ~np.isnan(near))
        for row in rows:
            value = float(column[row])
            # NaN is stored as NULL
            if value == value and not (value % 1.0 == 0.0 and abs(value) < MOST_WHOLE):  # noqa: PLR0124
                side = int(row if folded.places is None else folded.places[row])
                words = f"its step ({source_place(projector.step)}) gives {value!r} to column {kept.name!r}"
                message = f"{words}{_at(whose, side)}, which is of whole numbers; call it REAL, or correct the step"
                raise ReadModelError(projector.name, message)


def _at(whose: Whose | None, side: int | None) -> str:
    if whose is None or side is None:
        return ""
    player, n = whose(side)
    return f" at rated game {n} of player {player}"


def _failing_side(error: BaseException) -> int | None:
    """Return the side at which the interpreted loop was; compiled code does not say."""
    trace = error.__traceback__
    while trace is not None and "changed" not in trace.tb_frame.f_locals:
        trace = trace.tb_next
    inside = None if trace is None else trace.tb_next
    return None if inside is None else inside.tb_frame.f_locals.get("side")
