"""Rated games as columns, with one row for each player of each game, and the games that a change affects. No tables.

One way serves few games, as lists, and many, as arrays. No rule of any scheme lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import attrs

from ledger.book.guests import seed_of
from ledger.book.tables import PLAYER_BITS, POINTS_BITS
from ledger.book.timeline import Pool
from ledger.facts.periods import DAY_MS
from ledger.facts.words import TERMINATION_CODE, tournament_code
from ledger.ratings import engine
from ledger.runtime.columns import MANY, Column, Columns
from ledger.runtime.lazy import np
from ledger.schemes.scheme import Newcomer, Rhythm

BEGAN, TOURNAMENT = "began_ms", "tournament"
GUESTS = ("white_guest", "black_guest")
START_STEP = 2.0**-32  # days, 20 microseconds: so far apart begin two tournaments of one day that are rated together
STARTS_ON_LAST_DAY = -(2**62)  # where the tournament began on the day on which the game ended


class Guest(NamedTuple):
    """A guest in one batch of games: the player, and the facts with which a throw-away player is rated instead."""

    player: int
    newcomer: Newcomer


class GamesInOrder(NamedTuple):
    """Rated games of one pool in rating order, as columns.

    ``time_loss`` is 1 if White and 2 if Black lost on time, else 0; ``rated_ms`` is the place in rating
    order; ``begins`` is 1 for the first game of each batch (each game, where a scheme rates by game); ``fresh`` is 1
    for new games; ``facts`` are further columns of the game book, by name, for the tables that want them, and
    ``began_ms`` and ``tournament`` where tournaments are rated whole. ``guests`` are the guests among White and Black,
    by a negative number that each has in one batch alone: a state of a guest is thrown away after it.
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
    facts: dict[str, Column]
    guests: Mapping[int, Guest] = {}

    def at(self, cols: Columns, places: Column) -> GamesInOrder:
        """Return the games at these indexes."""
        facts = {name: cols.take(column, places) for name, column in self.facts.items()}
        return GamesInOrder._make([*(cols.take(column, places) for column in self[:-2]), facts, self.guests])

    def part(self, first: int, last: int) -> GamesInOrder:
        """Return the games *first* <= game < *last*."""
        facts = {name: column[first:last] for name, column in self.facts.items()}
        return GamesInOrder._make([*(column[first:last] for column in self[:-2]), facts, self.guests])

    def with_guests(self, cols: Columns) -> GamesInOrder:
        """Return the games with a throw-away number for each guest, by what the facts ``GUESTS`` say of both sides."""
        if not self.facts.keys() >= set(GUESTS):
            return self
        facts = {name: column for name, column in self.facts.items() if name not in GUESTS}
        texts = cols.to_lists([self.facts[name] for name in GUESTS])
        places = [place for place, both in enumerate(zip(*texts, strict=True)) if both != (None, None)]
        if not places:
            return self._replace(facts=facts)
        sides = [cols.concatenate(side, side[:0]) for side in (self.white, self.black)]  # copies
        begins = list(accumulate(cols.to_lists([self.begins])[0]))
        numbers: dict[tuple[int, int, str], int] = {}
        guests: dict[int, Guest] = {}
        for place in places:
            for colour, stored in enumerate(both[place] for both in texts):
                if stored is None:
                    continue
                # one guest for all games of a batch, in which a scheme may look at the opponents' results, too
                player = int(sides[colour][place])
                own = begins[place], player, stored
                if own not in numbers:
                    numbers[own] = -(2 * int(self.position[place]) + colour)
                    newcomer = Newcomer(None, None, int(self.ended_ms[place]) / DAY_MS, seed_of(stored))
                    guests[numbers[own]] = Guest(player, newcomer)
                sides[colour][place] = numbers[own]
        return self._replace(white=sides[0], black=sides[1], facts=facts, guests=guests)


def mark_affected(white: Any, black: Any, begins: Any, fresh: Any, touched: Any, skipped: Any, affected: Any) -> None:
    """Mark the games that must be rerated: batches with a new game, or with a player affected before.

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
class RatedGameColumns:
    """Rated games and their ratings; a *side* is one player's half of a game, White's before Black's.

    Attributes:
        games: the games.
        player_column: player numbers by dense index; guests come last.
        players: the same as a list, without guests.
        starts: by dense index, where the player's sides begin in *order*; one more for the end.
        order: places of the sides, sorted by player and game number; sides of guests are left out.
        owner: by side, the dense index of its player.
        n: by side, the player's number of rated games with it; 0 for a guest.
        before: by side, the rating before the game; of a guest the one of the report or list, before and after it.
        expected: by side, the expected score.
        era: by game, the place of its era.
        after: by name, by side, each field of the scheme's state after the game.
    """

    games: GamesInOrder
    player_column: Column
    players: list[int]
    starts: list[int]
    order: Column
    owner: Column
    n: Column
    before: Column
    expected: Column
    era: Column
    after: dict[str, Column]


def columns_of_games(
    cols: Columns, rows: list[tuple[Any, ...]], checkpoint: int, pool: Pool, facts: Sequence[str] = ()
) -> GamesInOrder:
    """Return rows of ``GameBook.rated_games_from`` as columns; games at positions above *checkpoint* are fresh."""
    columns: list[Sequence[Any]] = [*zip(*rows, strict=True)] if rows else [()] * (5 + len(facts))
    game, players, place = (cols.int64_column(column) for column in columns[:3])
    batch = columns[3:4] if not pool.by_game else ()
    # Five whole numbers come as two (``PACKED`` says why), and are taken apart a column at a time.
    position, points = cols.split_bits(game, 2 * POINTS_BITS)
    (white, black), (half_points, loser) = cols.split_bits(players, PLAYER_BITS), cols.split_bits(points, POINTS_BITS)
    games = GamesInOrder(
        position,
        cols.int32_column(white),
        cols.int32_column(black),
        cols.int32_column(half_points),
        cols.int32_column(loser),
        # a pool that rates by game orders by the end itself, which is read once
        cols.int64_column(columns[4]) if batch else place,
        place,
        cols.int32_column(_begins(pool, columns[2], *batch)),
        cols.subtract_from(1, cols.at_most_flags(position, checkpoint)),
        columns_of_facts(cols, facts, columns[len(columns) - len(facts) :]),
    )
    return games.with_guests(cols)


def _begins(pool: Pool, rated_ms: Sequence[int], batch: Sequence[str] = ()) -> Sequence[int]:
    """Return 1 for the first game of each batch, else 0."""
    if pool.by_game:
        return [1] * len(rated_ms)
    before: tuple[Any, Any] = (None, None)
    begins = []
    for place in zip(rated_ms, batch, strict=True):
        # in an era that rates by game two games that end at one instant are two batches all the same
        begins.append(1 if place != before or pool.rates_single_games_at(place[0]) else 0)
        before = place
    return begins


def columns_of_facts(cols: Columns, names: Sequence[str], columns: Sequence[Sequence[Any]]) -> dict[str, Column]:
    """Return columns of the game book by name: texts, but for the order of rounds and the starts of tournaments."""
    facts = {}
    for name, column in zip(names, columns, strict=True):
        # no NULL fits into an array of whole numbers: its substitute is earlier than any day
        if name == BEGAN:
            facts[name] = cols.int64_column([STARTS_ON_LAST_DAY if ms is None else ms for ms in column])
        else:
            facts[name] = cols.int64_column(column) if name == "round_order" else cols.text_column(column)
    return facts


def facts_needed(pool: Pool, facts: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of the game book that the games of a pool need, apart from those of the tables."""
    of_events, of_guests = (BEGAN, TOURNAMENT) if pool.by_event else (), GUESTS if pool.has_guests else ()
    return tuple(dict.fromkeys((*facts, *of_events, *of_guests)))


def rated_by_era(
    cols: Columns,
    pool: Pool,
    games: GamesInOrder,
    dense: tuple[Column, Column, Column],
    base: Column,
    rate_era: Callable[[int, int, int], engine.SideRatings],
    cuts: Sequence[int] = (),
) -> RatedGameColumns:
    """Return the ratings of games in rating order, rated era by era, and within an era stretch by stretch.

    Args:
        cols: how the columns are held.
        pool: the pool.
        games: all of them.
        dense: their players, and Whites and Blacks as places among them.
        base: games rated before, by dense index.
        rate_era: rates the games *first* <= game < *last*, which are of the era at the place given first.
        cuts: ascending places of games before which a player's state may change without a game.
    """
    players, white, black = dense
    n, before, expected, eras = cols.zeros(0), cols.unfilled_floats(0), cols.unfilled_floats(0), cols.zeros(0)
    after: dict[str, Column] = {}
    # Games come in rating order, and an era holds from a place in it on: its games are one stretch.
    begins = [0, *(cols.first_index_from(games.rated_ms, era.since_ms) for era in pool.eras[1:]), len(games.ended_ms)]
    stretches = [
        (era, *stretch)
        for era, (begin, end) in enumerate(pairwise(begins))
        for stretch in pairwise([begin, *(cut for cut in cuts if begin < cut < end), end])
    ]
    for era, first, last in stretches:
        if first == last and len(pool.eras) > 1:
            continue
        kept = rate_era(era, first, last)
        fields = pool.eras[era].scheme.state
        history = {name: cols.every_nth(kept.history, i, len(fields)) for i, name in enumerate(fields)}
        # Each scheme has fields of its own: of the games of another one they are unknown, not zero.
        after = concatenate_state_fields(cols, after, history, 2 * first, 2 * (last - first))
        # The first era is taken as it is, for most pools have one alone and joining copies every column.
        n = kept.n if first == 0 else cols.concatenate(n, kept.n)
        before = kept.before if first == 0 else cols.concatenate(before, kept.before)
        expected = kept.expected if first == 0 else cols.concatenate(expected, kept.expected)
        eras = cols.concatenate(eras, cols.int32_column([era] * (last - first)))
    for name in pool.state_fields:
        # the tables have a column for the fields of every era, also of one in which none of these games lies
        after.setdefault(name, cols.nan_column(2 * len(games.white)))
    owner = cols.interleave(white, black)
    order, starts = cols.indexes_by_owner(owner, cols.ranks_by_owner(n, owner, base), len(players))
    numbers = cols.to_lists([players])[0]
    rated = RatedGameColumns(games, players, numbers, starts, order, owner, n, before, expected, eras, after)
    return without_guests(cols, rated) if games.guests else rated


def without_guests(cols: Columns, rated: RatedGameColumns) -> RatedGameColumns:
    """Return rated games without the rows of guests; as opponents they have the rating of the report or list."""
    real = sum(number > 0 for number in rated.players)
    guests = [rated.games.guests[number] for number in rated.players[real:]]
    flags = cols.subtract_from(1, cols.at_most_flags(rated.owner, real - 1))
    of_guests = [0.0 if guest.newcomer.seed is None else guest.newcomer.seed.rating for guest in guests]
    ratings = cols.take(cols.float64_column([*([0.0] * real), *of_guests]), rated.owner)
    return attrs.evolve(
        rated,
        player_column=cols.concatenate(rated.player_column[:real], cols.int32_column([each.player for each in guests])),
        players=rated.players[:real],
        starts=rated.starts[: real + 1],
        order=rated.order[: rated.starts[real]],
        n=cols.choose(flags, rated.n, cols.zeros(len(rated.n))),
        before=cols.choose(flags, rated.before, ratings),
        after={**rated.after, "rating": cols.choose(flags, rated.after["rating"], ratings)},
    )


def concatenate_state_fields(
    cols: Columns, before: dict[str, Column], further: dict[str, Column], done: int, more: int
) -> dict[str, Column]:
    """Return the state fields of *done* players' rows followed by those of *more*; NaN where a field is unknown."""
    if not done:
        return further
    return {
        name: cols.concatenate(
            before[name] if name in before else cols.nan_column(done),
            further[name] if name in further else cols.nan_column(more),
        )
        for name in {**before, **further}
    }


def columns_of_sides(cols: Columns, pool: Pool, rated: RatedGameColumns, asked_names: Set[str]) -> dict[str, Column]:
    """Return columns with a row for each player of each game, sorted by player and game number.

    They are *asked_names* of ``SIDE_COLUMNS``, and a few more.

    Always there: the owner's dense index, ``n``, ``game``, ``ended_ms``, ``rated_ms`` and ``rating``.
    """
    places = rated.order
    game, colour, other = cols.split_side_indexes(places)
    half_points, time_loss = (cols.take(column, game) for column in (rated.games.half_points, rated.games.time_loss))
    sides = {
        "owner": cols.take(rated.owner, places),
        "n": cols.take(rated.n, places),
        "game": cols.take(rated.games.position, game),
        "ended_ms": cols.take(rated.games.ended_ms, game),
        "rated_ms": cols.take(rated.games.rated_ms, game),
        "opponent": cols.take(rated.player_column, cols.take(rated.owner, other)),
        "opponent_n": cols.take(rated.n, other),
        "colour": colour,
        # The book has both from White's side: Black got what White did not; 1 is a loss on time by White, 2 by Black.
        "half_points": cols.choose(colour, half_points, cols.subtract_from(2, half_points)),
        "lost_on_time": cols.choose(colour, cols.equal_flags(time_loss, 1), cols.equal_flags(time_loss, 2)),
        "rating": cols.take(rated.after["rating"], places),
        "rating_before": cols.take(rated.before, places),
        "expected_score": cols.take(rated.expected, places),
    }
    # The rest only where some table takes it: each column is as long as all sides of a block.
    if "opponent_rating" in asked_names:
        sides["opponent_rating"] = cols.take(rated.after["rating"], other)
    if "opponent_rating_before" in asked_names:
        sides["opponent_rating_before"] = cols.take(rated.before, other)
    if asked_names & {"era", "scheme"}:
        sides["era"] = cols.take(rated.era, game)
    if "restart" in asked_names:
        sides["restart"] = last_restart_eras(cols, pool, cols.take(rated.era, game))
    facts = {name: cols.take(column, game) for name, column in rated.games.facts.items()}
    return {**sides, **facts, **code_columns(cols, pool, {**sides, **facts}, asked_names)}


def last_restart_eras(cols: Columns, pool: Pool, eras: Column) -> Column:
    """Return, for each player's row, the index of the last era up to its own in which ratings restarted, or 0."""
    # as nearly everywhere: ratings never restarted
    if pool.restarts[-1] == 0:
        return cols.zeros(len(eras))
    return cols.take(cols.int32_column(pool.restarts), eras)


def code_columns(cols: Columns, pool: Pool, sides: Mapping[str, Column], asked_names: Set[str]) -> dict[str, Column]:
    """Return the requested columns that follow from another one: codes of texts, the name of the era's scheme."""
    columns = {}
    if "termination_code" in asked_names:
        columns["termination_code"] = cols.int64_column([TERMINATION_CODE[word] for word in sides["termination"]])
    if "tournament_code" in asked_names:
        columns["tournament_code"] = cols.int64_column([tournament_code(name) for name in sides["tournament"]])
    if "scheme" in asked_names:
        columns["scheme"] = cols.text_column([pool.eras[era].scheme.name for era in sides["era"]])
    return columns


def first_game_indexes(cols: Columns, players: int, white: Column, black: Column) -> Column:
    """Return the index of each player's first game, by the player's dense index."""
    owner = cols.interleave(white, black)
    if cols is MANY:
        first = np.zeros(players, np.int64)
        first[owner[::-1]] = np.arange(len(owner) - 1, -1, -1) >> 1  # the last one written is the first game
        return first
    places = [0] * players
    for side in range(len(owner) - 1, -1, -1):
        places[owner[side]] = side >> 1
    return places


def rateable(
    pool: Pool,
    cols: Columns,
    era: int,
    white: Column,
    black: Column,
    score: Column,
    ended_ms: Column,
    rated_ms: Column,
    begins: Column,
    began_ms: Column = (),
    tournament: Column = (),
) -> engine.RateableGames:
    """Return games of one era as the engine takes them.

    ``begins`` flags the first game of each batch; ``began_ms`` says when each game's tournament began, and
    ``tournament`` which it was, for schemes that ask.
    """
    day = cols.divide_by(ended_ms, DAY_MS)
    if pool.eras[era].scheme.rhythm is Rhythm.GAME:
        return engine.RateableGames(white, black, score, day)
    starts = cols.set_indexes(begins)
    places = [*cols.to_lists([starts])[0], len(white)]
    # an open run counts as closed with its last game, which is the last of its batch in rating order
    whens = [pool.when(era, int(rated_ms[first]), int(ended_ms[last - 1])) for first, last in pairwise(places)]
    began: Column = ()
    rated_by = pool.eras[era]
    # A scheme that asks and rates no tournaments whole takes the day on which the batch closed: the engine fills it in.
    if rated_by.scheme.in_force is not None and rated_by.scheme.calendar(rated_by.numbers).by_event:
        began = cols.float64_column(tournament_starts(*cols.to_lists([ended_ms, began_ms, tournament, begins])))
    return engine.RateableGames(
        white,
        black,
        score,
        day,
        cols.int64_column(places),
        cols.float64_column([when.period for when in whens]),
        cols.float64_column([when.day for when in whens]),
        began,
    )


def rateable_games(
    pool: Pool, cols: Columns, era: int, white: Column, black: Column, games: GamesInOrder
) -> engine.RateableGames:
    """Return ``GamesInOrder`` as the engine rates them; *white* and *black* are dense player indexes."""
    return rateable(
        pool,
        cols,
        era,
        white,
        black,
        cols.divide_by(games.half_points, 2),
        games.ended_ms,
        games.rated_ms,
        games.begins,
        games.facts.get(BEGAN, ()),
        games.facts.get(TOURNAMENT, ()),
    )


def tournament_starts(
    ended_ms: Sequence[int], began_ms: Sequence[int], tournament: Sequence[Any], begins: Sequence[int]
) -> list[float]:
    """Return when each game's tournament began, in days since 1970.

    It is equal for two games of one tournament in a batch.

    Of tournaments that begin on one day each later one begins a little after those before it, too little for any
    rating to come into force meanwhile.

    Args:
        ended_ms: when each game ended.
        began_ms: the first millisecond of its tournament, ``STARTS_ON_LAST_DAY`` for the day on which it ended.
        tournament: a number for its tournament; a game without one is a tournament of its own.
        begins: 1 for the first game of each batch.
    """
    days: list[float] = []
    places: dict[tuple[float, Any], int] = {}
    for game, (end, begin, name, first) in enumerate(zip(ended_ms, began_ms, tournament, begins, strict=True)):
        # The numbers distinguish tournaments within a batch alone: another batch may use the same numbers again.
        if first:
            places.clear()
        day = end // DAY_MS if begin == STARTS_ON_LAST_DAY else begin / DAY_MS
        # a game without a tournament is one by itself, so that its own place is its name
        place = places.setdefault((day, name) if name else (-1.0, game), len(places))
        days.append(day + place * START_STEP)
    return days
