"""Rated games as columns, what came of them, and what a change touches. Columns in, columns out; no tables.

One way serves few games, as lists, and many, as arrays. No rule of any scheme lives here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import attrs

from ledger.book.timeline import Pool
from ledger.facts.periods import DAY_MS
from ledger.ratings import engine
from ledger.runtime.columns import Column, Columns
from ledger.schemes.scheme import Rhythm


class Games(NamedTuple):
    """Rated games of one pool in rating order, as columns.

    ``time_loss`` is 0 when nobody, 1 when White and 2 when Black lost on time; ``rated_ms`` is the place in rating
    order; ``begins`` is 1 for the first game of each batch (each game, where a scheme rates by game); ``fresh`` is 1
    for new games.
    """

    position: Column
    white: Column
    black: Column
    half_points: Column
    time_loss: Column
    ended_ms: Column
    rated_ms: Column
    begins: Column
    fresh: Column


def touch(
    white: Any, black: Any, begins: Any, fresh: Any, touched: Any, skipped: Any, affected: Any
) -> None:
    """Mark the games that must be re-rated: batches with a fresh game, or with a player touched before.

    Args:
        white: dense player index, by game.
        black: dense player index, by game.
        begins: 1 for the first game of each batch.
        fresh: 1 for new games.
        touched: 1 for players whose rows change from the start; spreads to opponents in place.
        skipped: by player, games left as they are; counted up in place.
        affected: by game, filled with 1 or 0.
    """
    first = 0
    while first < len(white):
        last = first + 1
        hit = fresh[first] or touched[white[first]] or touched[black[first]]
        while last < len(white) and not begins[last]:
            hit = hit or fresh[last] or touched[white[last]] or touched[black[last]]
            last += 1
        for game in range(first, last):
            if hit:
                touched[white[game]] = 1
                touched[black[game]] = 1
                affected[game] = 1
            else:
                affected[game] = 0
                skipped[white[game]] += 1
                skipped[black[game]] += 1
        first = last


@attrs.define
class Rated:
    """Rated games and what came of them; a *side* is one player's part in a game, White's before Black's.

    Attributes:
        games: the games.
        player_column: player numbers by dense index.
        players: the same as a list.
        starts: by dense index, where the player's sides begin in *order*; one more for the end.
        order: places of the sides, sorted by player and game number.
        owner: by side, the dense index of its player.
        n: by side, the how-manieth rated game it was.
        scheme_state: by side, each field of the scheme's state after the game.
    """

    games: Games
    player_column: Column
    players: list[int]
    starts: list[int]
    order: Column
    owner: Column
    n: Column
    scheme_state: dict[str, Column]


def as_games(cols: Columns, rows: list[tuple[Any, ...]], checkpoint: int, pool: Pool) -> Games:
    """Rows of ``GameBook.in_order`` as columns; games at journal positions above *checkpoint* are fresh."""
    position, white, black, half_points, time_loss, ended_ms, rated_ms, batch = (
        zip(*rows, strict=True) if rows else ([],) * 8
    )
    before: tuple[Any, Any] = (None, None)
    begins = []
    for place, ms in zip(zip(rated_ms, batch, strict=True), ended_ms, strict=True):
        begins.append(1 if place != before or pool.by_game or pool.rates_alone(ms) else 0)
        before = place
    return Games(
        cols.ints(position), cols.small(white), cols.small(black), cols.small(half_points), cols.small(time_loss),
        cols.ints(ended_ms), cols.ints(rated_ms), cols.small(begins),
        cols.small([1 if one > checkpoint else 0 for one in position]),
    )  # fmt: skip


def joined(
    cols: Columns, before: dict[str, Column], found: dict[str, Column], done: int, more: int
) -> dict[str, Column]:
    """The state fields of *done* sides and of *more*, with NaN where a scheme does not know the field."""
    if not done:
        return found
    return {
        name: cols.joined(
            before[name] if name in before else cols.unknown(done),
            found[name] if name in found else cols.unknown(more),
        )
        for name in {**before, **found}
    }


def sides_at(cols: Columns, rated: Rated, places: Column) -> dict[str, Column]:
    """The columns of ``SIDE_COLUMNS``, and the owner's dense index, of the sides at these places."""
    game, colour, other = cols.sides(places)
    half_points, time_loss = (cols.take(one, game) for one in (rated.games.half_points, rated.games.time_loss))
    return {
        "owner": cols.take(rated.owner, places),
        "n": cols.take(rated.n, places),
        "game": cols.take(rated.games.position, game),
        "ended_ms": cols.take(rated.games.ended_ms, game),
        "rated_ms": cols.take(rated.games.rated_ms, game),
        "opponent": cols.take(rated.player_column, cols.take(rated.owner, other)),
        "opponent_n": cols.take(rated.n, other),
        "colour": colour,
        "half_points": cols.choose(colour, half_points, cols.minus(2, half_points)),
        "lost_on_time": cols.choose(colour, cols.equal(time_loss, 1), cols.equal(time_loss, 2)),
        "rating": cols.take(rated.scheme_state["rating"], places),
        "opponent_rating": cols.take(rated.scheme_state["rating"], other),
    }


def rateable(
    pool: Pool, cols: Columns, era: int, white: Column, black: Column, score: Column, ended_ms: Column,
    rated_ms: Column, begins: Column,
) -> engine.Rateable:  # fmt: skip
    """Games of one era as the engine takes them; ``begins`` flags the first game of each batch."""
    day = cols.over(ended_ms, DAY_MS)
    if pool.eras[era].scheme.rhythm is Rhythm.GAME:
        return engine.Rateable(white, black, score, day)
    starts = cols.where(begins)
    places = [*cols.lists([starts])[0], len(white)]
    whens = [
        pool.when(era, int(rated_ms[first]), int(ended_ms[last - 1]))
        for first, last in pairwise(places)
    ]
    return engine.Rateable(
        white, black, score, day, cols.ints(places), cols.floats([one.period for one in whens]),
        cols.floats([one.day for one in whens]),
    )  # fmt: skip
