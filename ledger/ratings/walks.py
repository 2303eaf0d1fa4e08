"""A way through the rated games of a pool from some place on: whom a change reaches, and whom it reaches no longer.

A change spreads from game to game, and dies out: where two ratings are far apart, or are rounded, the one moves and the
other does not. Who stands after some games as the rows say that the player stood is left alone from there on, and so is
everybody whom only that player would have touched. What the games give is decided in ``projection``; no SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ledger.ratings.player_rows import Carried, PlayerRows
from ledger.ratings.rated_games import Games, Rated
from ledger.ratings.side_rows import Folded, spans
from ledger.runtime.columns import Columns

# Games after which everybody is asked: seldom enough to cost little, often enough that a change has not gone far.
STRIDE = 8_000
State = tuple[float | None, ...]  # of a fold, as the tables have it: None for NaN
CurrentRow = tuple[Any, ...]  # as ``PlayerRows.write_current`` takes it; the number of games stands third


@attrs.define
class Walk:
    """What a way through the games of a pool, part by part, has met so far.

    Attributes:
        start_ms: its first place in rating order; nothing before it changes.
        checkpoint: games at later journal positions are fresh.
        concerned: players whose games are re-rated to the end, whatever comes of them: more than their rows changed.
        touched: players whose games from here on are re-rated; those who are concerned among them.
        skipped: by player, games that stood as they are, since the start or since the player stands again.
        stood: by player who stands again as before, the number of rated games by then.
        stored: by player who was met, how many rows there are.
        carried: what each player brings along who was re-rated, as long as another part follows.
        met: the players who were re-rated.
        current: by player who was re-rated and does not stand again, the row of the last game.
        apart: by player, of each table that has no row for some games, the states that the rows said before and that
            are others now, by table and tournament.
    """

    start_ms: int
    checkpoint: int
    concerned: frozenset[int]
    touched: set[int]
    skipped: dict[int, int] = attrs.Factory(dict)
    stood: dict[int, int] = attrs.Factory(dict)
    stored: dict[int, int] = attrs.Factory(dict)
    carried: dict[int, Carried] = attrs.Factory(dict)
    met: set[int] = attrs.Factory(set)
    current: dict[int, CurrentRow] = attrs.Factory(dict)
    apart: dict[int, dict[tuple[str, Any], State]] = attrs.Factory(dict)

    @classmethod
    def begun(cls, start_ms: int, checkpoint: int, concerned: set[int]) -> Walk:
        """A walk that has met nobody yet."""
        return cls(start_ms, checkpoint, frozenset(concerned), set(concerned))

    def note_passed(self, players: Sequence[int], counts: Sequence[int]) -> None:
        """Note how many games of each player were passed over."""
        for player, count in zip(players, counts, strict=True):
            if count:
                self.skipped[player] = self.skipped.get(player, 0) + count

    def note_rated(self, rows: Sequence[CurrentRow]) -> None:
        """Note the last row of each player who was re-rated."""
        self.met.update(row[1] for row in rows)
        self.current.update((row[1], row) for row in rows)

    def leave(self, standing: Mapping[int, int]) -> None:
        """Re-rate the games of some players no longer: by player, how many rated games there are by now."""
        for player, n in standing.items():
            self.touched.discard(player)
            self.carried.pop(player, None)
            self.current.pop(player, None)
            self.skipped.pop(player, None)
            self.apart.pop(player, None)
            self.stood[player] = n

    @property
    def surplus(self) -> list[tuple[int, int]]:
        """Players who have more rows than rated games, and how many games they have."""
        return [(player, row[2]) for player, row in self.current.items() if row[2] < self.stored.get(player, 0)]


def parts(games: Games) -> Iterator[tuple[Games, bool]]:
    """Games in whole batches, in parts, and whether another part follows; new games alone are one part."""
    length, first = len(games.white), 0
    if all(games.fresh):
        yield games, False
        return
    while first < length:
        last = min(first + STRIDE, length)
        while last < length and not games.begins[last]:
            last += 1
        yield games if last - first == length else games.part(first, last), last < length
        first = last


def standing_again(cols: Columns, rows: PlayerRows, walk: Walk, rated: Rated, folded: Folded) -> dict[int, int]:
    """Who stands after the rated games as the rows say, by player the number of games: the rows are those of before.

    Args:
        cols: how the columns are held.
        rows: with the rows as they were.
        walk: who is not asked about.
        rated: the games.
        folded: what the folds of the tables make of them.
    """
    ends = cols.small([last - 1 for last in rated.starts[1:]])
    sides = cols.take(rated.order, ends)
    counts = cols.lists([cols.take(rated.n, sides)])[0]
    asked = {
        player: (place, n)
        for place, (player, n) in enumerate(zip(rated.players, counts, strict=True))
        if n <= walk.stored.get(player, 0) and player not in walk.concerned
    }
    if not asked:
        return {}
    game = cols.take(rated.games.position, cols.sides(sides)[0])
    state = [game, *(cols.take(rated.scheme_state[name], sides) for name in rows.state_fields)]
    reached = []
    for number, (table, flat) in enumerate(zip(rows.tables, folded.running, strict=True)):
        if not table.is_whole:
            reached.append([()] * len(counts))
            continue
        width = len(table.fold.state)
        kept = [cols.field(flat, field, width) for field in range(width)]
        columns = [_with_nulls(column) for column in cols.lists([*(state if number == 0 else ()), *kept])]
        reached.append(list(zip(*columns, strict=True)) if columns else [()] * len(counts))
    for number, table in enumerate(rows.tables):
        if not table.is_whole:
            _set_apart(cols, rows, walk, number, [span for span in spans(cols, rated) if span[0] in asked], folded)
    asked = {player: asked[player] for player in asked if not walk.apart.get(player)}
    stored = rows.stored({player: n for player, (_, n) in asked.items()}, whole=True)
    return {
        player: n
        for player, (place, n) in asked.items()
        if all(old[player] == new[place] for old, new in zip(stored, reached, strict=True))
    }


def _set_apart(
    cols: Columns, rows: PlayerRows, walk: Walk, number: int, asked: Sequence[tuple[int, int, int]], folded: Folded
) -> None:
    """Note in *walk* which states of a table that has no row for some games are others than the rows said.

    Args:
        cols: how the columns are held.
        rows: with the rows as they were, from these games on.
        walk: which states were others before these games.
        number: place of the table among all.
        asked: the players, and the numbers of their first and last game.
        folded: what the folds make of the games.
    """
    table, fold = rows.tables[number], folded.kept[number]
    first = {player: n for player, n, _ in asked}
    width = len(table.fold.state)
    before_flat, after_flat = (_with_nulls(flat) for flat in cols.lists([folded.begun[number], fold.reached]))
    runs: list[tuple[int, Any]] = [(player, None) for player in folded.players]
    if table.by_tournament:
        runs = list(folded.tournaments[table.name].pairs)
    places = {run: slice(place * width, (place + 1) * width) for place, run in enumerate(runs) if run[0] in first}
    stood = {(row[0], row[1]): row[2:] for row in rows.in_spans(table, asked)}
    for run in {**places, **stood}:
        player, tournament = run
        states = walk.apart.setdefault(player, {})
        key = table.name, tournament
        if run in places:
            begun, after = (tuple(flat[places[run]]) for flat in (before_flat, after_flat))
        else:  # none of these games is of the tournament any longer
            (kept,) = rows.in_tournaments(table, [(player, tournament, first[player])])
            begun = after = tuple(_with_nulls(kept))
        before = stood[run] if run in stood else states.get(key, begun)
        if before == after:
            states.pop(key, None)
        else:
            states[key] = before


def _with_nulls(column: list[Any]) -> list[Any]:
    """None for NaN, as the tables have it."""
    return [None if value != value else value for value in column]  # noqa: PLR0124  # NaN
