"""The rating engine: one loop around a scheme's kernels for each of the three rhythms, interpreted or compiled.

One source runs in two ways, as ordinary Python for a few games and compiled for many, with the same bits. The loops
come first; the scheme decides what happens in a game or a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

from ledger.errors import ProjectionError
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compile_kernel, with_globals
from ledger.runtime.lazy import np
from ledger.runtime.records import (
    generated,
    make_copier,
    make_reader,
    make_resetter,
    make_updater,
    make_writer,
    view_as_records,
)
from ledger.runtime.records import numbers as numbers_of
from ledger.schemes.scheme import (
    BatchGames,
    ExplainedPlayer,
    Newcomer,
    PastGames,
    Rhythm,
    Scheme,
    When,
    unchanged_by_time,
)

# The loops around a scheme's kernels: games one by one or in batches, each as plain Python that may be compiled.
#
# A loop cuts nothing and chooses nothing: it receives games as columns and fills columns. The functions below them put
# together the loop of a scheme and run it.

# Names that ``with_globals`` gives to the loops below, each time to something else.
FIELDS = PASSES = 0
AGES = BEGINS = MIRRORED = False
at: Callable[..., None]
expected_score: Callable[..., float]
rate_game: Callable[..., None]
rate_pass: Callable[..., None]
copy: Callable[[Any, Any], None]
clear: Callable[[Any], None]
fit: Callable[..., None]
put: Callable[[Any, int, Any], None]
update: Callable[[Any, int, Any], int]


class RateableGames(NamedTuple):
    """Games of one pool under one scheme, in rating order, as columns.

    Attributes:
        white: dense player index of White, by game (32 bit).
        black: dense player index of Black, by game (32 bit).
        score: White's score 0, 0.5 or 1, by game.
        day: when it ended, days since 1970, by game.
        starts: place of the first game of each batch, and one more for the end; empty for a scheme by game.
        period: number of the rating period, by batch.
        closing: when the batch closed, days since 1970, by batch.
        began: when the game's tournament began, days since 1970, by game, for schemes that rate from the ratings in
            force then; empty: when its batch closed.
    """

    white: Column
    black: Column
    score: Column
    day: Column
    starts: Column = ()
    period: Column = ()
    closing: Column = ()
    began: Column = ()


class Workspace(NamedTuple):
    """The memory in which one batch is rated: its players, numbered in order of appearance, and their games.

    Attributes:
        slot: by player, the place in the batch and 1; 0 for everybody between two batches.
        roster: by place, the player.
        tally: by place, how many games; 0 between two batches.
        end: by place, where the place's games end in the three columns below.
        side: by side of the batch, the place of its player.
        own: by place, the player as the batch begins.
        work: by place, the scheme's work numbers.
        after: by place, the player after the batch.
        opponent: by place and game, the opponent's place.
        result: by place and game, the score.
        colour: by place and game, 0 White, 1 Black.
        began: by place and game, when its tournament began; only for schemes that ask.
        past: the games before, for a scheme by fit.
    """

    slot: Column
    roster: Column
    tally: Column
    end: Column
    side: Column
    own: Any
    work: Any
    after: Any
    opponent: Column
    result: Column
    colour: Column
    began: Column
    past: Any = ()


class SideRatings(NamedTuple):
    """The ratings of both players of each rated game, White's before Black's.

    Attributes:
        history: flat, the scheme's state fields after the game or its batch.
        n: the player's number of rated games with it.
        before: the rating with which the player went into the game or its batch, brought to its time.
        expected: the score, 0 to 1, that the scheme expected of the side; NaN where it expects nothing.
        counts: rated games so far, by player.
    """

    history: Column
    n: Column
    before: Column
    expected: Column
    counts: Column


def rate_games(games: Any, players: Any, both: Any, kept: Any, numbers: Any) -> None:
    """Rate games in order, one by one.

    ``forecast_game`` and ``record_sides`` decide what is stored of each.

    Nothing is written between what is expected of a game and the game itself: the compiler then sees that both begin
    with the same two ratings, and works out once what the scheme's two kernels both need.

    Args:
        games: ``RateableGames``.
        players: records of everybody; changed in place.
        both: two records to work with.
        kept: handed on to ``record_sides``.
        numbers: the scheme's settings.
    """
    white, black, score, day = games.white, games.black, games.score, games.day
    for game in range(len(white)):
        own, opponent = players[white[game]], players[black[game]]
        if AGES:
            copy(both[0], own)  # noqa: F821
            copy(both[1], opponent)  # noqa: F821
            at(both[0], 0.0, day[game], numbers)  # noqa: F821
            at(both[1], 0.0, day[game], numbers)  # noqa: F821
            foretold = forecast_game(both[0], both[1], numbers)
        else:
            foretold = forecast_game(own, opponent, numbers)
        rate_game(own, opponent, score[game], day[game], numbers)  # noqa: F821
        record_sides(game, white[game], black[game], foretold, own, opponent, kept, numbers)


def group_batch_by_player(games: Any, first: int, last: int, space: Any) -> int:
    """Group the games of a batch by player, and return the number of players.

    Players get indexes in order of appearance.

    Args:
        games: ``RateableGames``, of which *first* <= game < *last* are the batch.
        first: see *games*.
        last: see *games*.
        space: ``Workspace``; filled, but for *own*, *work* and *after*.
    """
    slot, tally, end, side = space.slot, space.tally, space.end, space.side
    players = 0
    for game in range(first, last):
        for turn in range(2):
            player = games.black[game] if turn else games.white[game]
            if slot[player] == 0:
                space.roster[players] = player
                players += 1
                slot[player] = players
            place = slot[player] - 1
            tally[place] += 1
            side[2 * (game - first) + turn] = place
    begin = 0
    for place in range(players):
        end[place] = begin
        begin += tally[place]
    for game in range(first, last):
        for turn in range(2):
            place = side[2 * (game - first) + turn]
            free = end[place]
            space.opponent[free] = side[2 * (game - first) + 1 - turn]
            space.result[free] = 1.0 - games.score[game] if turn else games.score[game]
            space.colour[free] = turn
            if BEGINS:
                space.began[free] = games.began[game]
            end[place] = free + 1
    return players


def rate_batch(players: int, when: When, everybody: Any, space: Any, numbers: Any) -> None:
    """Rate all players of one grouped batch together: fill *work* and *after* from *own*, by player index.

    The records of everybody are only read; *slot* and *tally* of the ``Workspace`` are zeros again afterwards.
    """
    slot, roster, tally, end, own, work = space.slot, space.roster, space.tally, space.end, space.own, space.work
    for place in range(players):
        copy(own[place], everybody[roster[place]])  # noqa: F821
        at(own[place], when.period, when.day, numbers)  # noqa: F821
        clear(work[place])  # noqa: F821
    for turn in range(PASSES):
        for place in range(players):
            last = end[place]
            games = BatchGames(
                own, work, space.opponent, space.result, space.colour, space.began, place, last - tally[place], last
            )
            rate_pass(turn, own[place], space.after[place], games, when, numbers)  # noqa: F821
    for place in range(players):
        slot[roster[place]] = 0
        tally[place] = 0


def fit_batch(players: int, when: When, everybody: Any, space: Any, numbers: Any) -> None:
    """Do what ``rate_batch`` does by a scheme that fits all games so far: add the batch to them, and fit."""
    slot, roster, tally, end, own, after, past = (
        space.slot, space.roster, space.tally, space.end, space.own, space.after, space.past
    )  # fmt: skip
    nodes, sides = past.count[0], past.count[1]
    for place in range(players):
        player, node = roster[place], nodes + place
        chain = past.chain[player] - 1
        if chain < 0 or update(past.given, chain * FIELDS, everybody[player]):  # noqa: F821
            chain = past.count[2]
            past.count[2] += 1
            past.chain[player] = chain + 1
            past.root[chain] = node
            past.before[node] = -1
        else:
            past.before[node] = past.last[chain]
            past.after[past.last[chain]] = node
        past.last[chain] = node
        past.after[node] = -1
        past.first[node + 1] = sides + end[place]
        copy(own[place], everybody[player])  # noqa: F821
        at(own[place], when.period, when.day, numbers)  # noqa: F821
    for side in range(end[players - 1]):
        past.opponent[sides + side] = nodes + space.opponent[side]
        past.score[sides + side] = space.result[side]
        past.colour[sides + side] = space.colour[side]
    past.count[0] = nodes + players
    past.count[1] = sides + end[players - 1]
    fit(past, nodes, own, after, when, numbers)  # noqa: F821
    for place in range(players):
        put(past.given, (past.chain[roster[place]] - 1) * FIELDS, after[place])  # noqa: F821
        slot[roster[place]] = 0
        tally[place] = 0


def rate_batches(games: Any, players: Any, space: Any, kept: Any, numbers: Any) -> None:
    """Rate games batch by batch, and change the states of all players in place."""
    white, black, starts, side = games.white, games.black, games.starts, space.side
    for batch in range(len(games.period)):
        first = starts[batch]
        last = starts[batch + 1]
        present = group_batch_by_player(games, first, last, space)
        rate_batch(present, When(games.period[batch], games.closing[batch]), players, space, numbers)
        for place in range(present):
            copy(players[space.roster[place]], space.after[place])  # noqa: F821
        for game in range(first, last):  # *own* is as the batch began
            w, b = side[2 * (game - first)], side[2 * (game - first) + 1]
            foretold = forecast_game(space.own[w], space.own[b], numbers)
            record_sides(game, white[game], black[game], foretold, space.after[w], space.after[b], kept, numbers)


def forecast_game(white: Any, black: Any, numbers: Any) -> tuple[float, float, float, float]:
    """Return both ratings before a game, White's first, and both expected scores.

    The players were brought to the time of the game.
    """
    of_white = expected_score(white, black, numbers)  # noqa: F821
    of_black = 1.0 - of_white if MIRRORED else expected_score(black, white, numbers)  # noqa: F821
    return white.rating, black.rating, of_white, of_black


# *numbers* is for the other ``record_sides`` (``answers.comparing.forecasts``), which asks the scheme whom it lists.
def record_sides(
    game: int,
    white: int,
    black: int,
    foretold: Any,
    own: Any,
    opponent: Any,
    kept: Any,
    numbers: Any,  # noqa: ARG001
) -> None:
    """Store the forecast of a game and the states of both players after it, and count the game for each."""
    n, before, expected, counts = kept.n, kept.before, kept.expected, kept.counts
    before[2 * game], before[2 * game + 1], expected[2 * game], expected[2 * game + 1] = foretold
    put(kept.history, 2 * game * FIELDS, own)  # noqa: F821
    put(kept.history, (2 * game + 1) * FIELDS, opponent)  # noqa: F821
    counts[white] += 1
    n[2 * game] = counts[white]
    counts[black] += 1
    n[2 * game + 1] = counts[black]


COMPILE_FROM = 20_000  # games from which loading the compiled kernel (about 0.3 s) pays
FIT_SHARE = 20  # a scheme by fit takes up each game on every later list: it pays from so many times fewer games on


def compile_from(schemes: Iterable[Scheme]) -> int:
    """Return the number of games from which compiled kernels of schemes pay."""
    return COMPILE_FROM // FIT_SHARE if any(scheme.fit is not None for scheme in schemes) else COMPILE_FROM


def scheme_loop(loop: Callable[..., Any], scheme: Scheme, *helpers: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of *loop* that calls the scheme's kernels.

    *helpers* are further functions, which the loop or later helpers call by name.
    """
    bindings: dict[str, object] = {
        "FIELDS": len(scheme.state), "PASSES": len(scheme.passes), "at": scheme.at,
        "AGES": scheme.at is not unchanged_by_time, "BEGINS": scheme.in_force is not None, "MIRRORED": scheme.mirrored,
        "rate_game": scheme.rate_game, "expected_score": scheme.expected_score,
        "provisional": scheme.provisional, "listed": scheme.listed,
        "copy": make_copier(scheme.player), "put": make_writer(scheme.player), "clear": make_resetter(scheme.work),
        "rate_pass": _rate_pass(scheme.passes), "fit": scheme.fit, "update": make_updater(scheme.player),
    }  # fmt: skip
    for helper in helpers:
        # one of the two rates the batches of a scheme
        name = "rate_batch" if helper is fit_batch else helper.__name__
        bindings[name] = with_globals(helper, f"{helper.__name__}_{scheme.name}", **bindings)
    return with_globals(loop, f"{loop.__name__}_{scheme.name}", **bindings)


@cache
def _rate_pass(passes: tuple[Callable[..., None], ...]) -> Callable[..., None]:
    """Return ``rate_pass(turn, player, after, games, when, numbers)``: it calls the pass whose turn it is."""
    lines = ["def rate_pass(turn, player, after, games, when, numbers):"]
    for turn, each in enumerate(passes):
        lines += [f"    if turn == {turn}:", f"        {each.__name__}(player, after, games, when, numbers)"]
    return generated("\n".join([*lines, "    return", ""]), "rate_pass", **{each.__name__: each for each in passes})


def rating_loop_of(scheme: Scheme, *noting: Callable[..., Any]) -> Callable[..., None]:
    """Return the rating loop of a scheme that calls *noting* instead of ``forecast_game`` and ``record_sides``."""
    if scheme.rhythm is Rhythm.GAME:
        return scheme_loop(rate_games, scheme, *noting)
    return scheme_loop(rate_batches, scheme, group_batch_by_player, _batch_loop(scheme), *noting)


def _batch_loop(scheme: Scheme) -> Callable[..., None]:
    """Return the loop that rates a batch."""
    return rate_batch if scheme.fit is None else fit_batch


@cache
def rating_loop(scheme: Scheme) -> Callable[..., None]:
    """Return the loop that fills ``SideRatings`` for one scheme."""
    return rating_loop_of(scheme, forecast_game, record_sides)


def initial_states(scheme: Scheme, numbers: Any, who: Sequence[Newcomer]) -> list[float]:
    """Return the flat state of players who have not played, in the given order."""
    return [value for newcomer in who for value in scheme.begin(newcomer, numbers)]


class FittedGames:
    """The games that a scheme by fit has rated so far, from one call to the next; a player has a number of its own."""

    def __init__(self) -> None:
        """Begin without games."""
        self._chains: dict[int, int] = {}
        self._players: Sequence[int] = ()
        self._cols = FEW
        self._past = PastGames._make([] for _ in PastGames._fields)

    def among(self, players: Sequence[int]) -> FittedGames:
        """Return these games for a call whose players have such numbers, by place; without it their places are."""
        self._players = players
        return self

    def with_room(self, cols: Columns, scheme: Scheme, players: int, sides: int) -> PastGames:
        """Return the games with room for so many more sides, of *players* players; nodes as records."""
        past, self._cols = self._past, cols
        used = past.count[1] if len(past.count) else 0
        room = len(past.score)
        # Twice as much: by just what is needed, every call would copy all columns.
        more = 0 if used + sides < room else max(used + sides + 1 - room, room)

        def floats(column: Column, width: int) -> Column:
            column = cols.float64_column(column)
            return cols.concatenate(column, cols.unfilled_floats(more * width)) if more else column

        def whole_numbers(column: Column) -> Column:
            column = cols.int32_column(column)
            return cols.concatenate(column, cols.zeros(more)) if more else column

        numbers = self._players or range(players)
        self._past = PastGames._make(
            (
                cols.int32_column(past.count if len(past.count) else [0, 0, 0]),
                cols.int32_column([self._chains.get(number, 0) for number in numbers]),
                floats(past.given, len(scheme.state)),
                *(whole_numbers(column) for column in past[3:10]),
                floats(past.score, 1),
                floats(past.nodes, len(numbers_of(scheme.node))),
            )
        )
        return self._past._replace(nodes=records(cols, scheme.node, self._past.nodes))

    def take(self, scheme: Scheme, past: PastGames) -> None:
        """Keep the games after a call, as the loop has changed what ``with_room`` gave it."""
        chains = self._cols.to_lists([past.chain])[0]
        self._chains.update(zip(self._players or range(len(chains)), chains, strict=True))
        if self._cols is FEW:
            _write_records(scheme.node, self._past.nodes, past.nodes)


def rate(
    cols: Columns,
    scheme: Scheme,
    numbers: Any,
    games: RateableGames,
    state: Column,
    counts: Column,
    fitted: FittedGames | None = None,
) -> SideRatings:
    """Rate games: as ordinary Python on lists (``FEW``), or compiled on NumPy arrays (``MANY``).

    Both give the same bits.

    *state* is (players * fields) floats, *counts* (players) 32-bit whole numbers, rated games so far; both are changed
    in place. *fitted* are the games before, for a scheme by fit; without them it fits these alone.

    Raises:
        ProjectionError: the scheme gives a rating that is no finite number.
    """
    sides = 2 * len(games.white)
    kept = SideRatings(
        cols.unfilled_floats(sides * len(scheme.state)),
        cols.zeros(sides),
        cols.unfilled_floats(sides),
        cols.unfilled_floats(sides),
        counts,
    )
    run_loop(cols, scheme, rating_loop(scheme), numbers, games, state, len(counts), kept, fitted)
    ratings = cols.every_nth(kept.history, 0, len(scheme.state))
    # Finite ones are taken, however large: of settings that make them so a correction can be proposed, for which the
    # views must be level.
    if not (all(map(isfinite, ratings)) if cols is FEW else np.isfinite(ratings).all()):
        words = "gives a rating that is no finite number; correct the scheme, or see to its settings"
        raise ProjectionError(scheme.name, words)
    return kept


def run_loop(
    cols: Columns,
    scheme: Scheme,
    loop: Callable[..., None],
    numbers: Any,
    games: RateableGames,
    state: Column,
    players: int,
    kept: Any,
    fitted: FittedGames | None = None,
) -> None:
    """Run a loop of ``rating_loop_of`` over games of *players* players, on lists or compiled on arrays.

    *fitted* are the games before, for a scheme by fit.
    """
    everybody = records(cols, scheme.player, state)
    if cols is not FEW:
        loop = compile_kernel(loop)
    try:
        if scheme.rhythm is Rhythm.GAME:
            loop(games, everybody, blank_records(cols, scheme.player, 2), kept, numbers)
        else:
            space = workspace(cols, scheme, players, 2 * cols.longest_gap(games.starts))
            fitted = None if scheme.fit is None else fitted or FittedGames()
            if fitted is not None:
                space = space._replace(past=fitted.with_room(cols, scheme, players, 2 * len(games.white)))
            loop(with_tournament_starts(cols, scheme, games), everybody, space, kept, numbers)
            if fitted is not None:
                fitted.take(scheme, space.past)
    except Exception as error:  # whatever somebody else's kernel does
        if scheme.is_own:
            raise
        raise scheme.failed(error) from error
    if cols is FEW:
        _write_records(scheme.player, state, everybody)


def _write_records(cls: type, flat: Column, objects: Sequence[Any]) -> None:
    """Write the numbers of records that are objects into a flat column."""
    width, put = len(numbers_of(cls)), make_writer(cls)
    for place, record in enumerate(objects):
        put(flat, place * width, record)


def records(cols: Columns, cls: type, flat: Column) -> Any:
    """Return the records of a flat column: objects of a few, or a view of the memory of many."""
    if cols is not FEW:
        return view_as_records(cls, flat)
    width = len(numbers_of(cls))
    return [make_reader(cls)(flat, at) for at in range(0, len(flat), width)]


def blank_records(cols: Columns, cls: type, count: int) -> Any:
    """Return *count* records to be filled."""
    return records(cols, cls, cols.unfilled_floats(count * len(numbers_of(cls))))


def with_tournament_starts(cols: Columns, scheme: Scheme, games: RateableGames) -> RateableGames:
    """Return the games with the day on which each one's tournament began, if the scheme asks for it.

    Days that the caller gave stay.
    """
    if scheme.in_force is None or len(games.began):
        return games
    if cols is FEW:
        batches = zip(pairwise(games.starts), games.closing, strict=True)
        return games._replace(began=[day for (first, last), day in batches for _ in range(first, last)])
    return games._replace(began=np.repeat(games.closing, np.diff(games.starts)))


def workspace(cols: Columns, scheme: Scheme, players: int, sides: int) -> Workspace:
    """Return a workspace for batches of at most *sides* players' halves of games (two a game), of *players* players."""
    places = min(players, sides)
    return Workspace(
        cols.zeros(players),
        cols.zeros(places),
        cols.zeros(places),
        cols.zeros(places),
        cols.zeros(sides),
        blank_records(cols, scheme.player, places),
        blank_records(cols, scheme.work, places),
        blank_records(cols, scheme.player, places),
        cols.zeros(sides),
        cols.unfilled_floats(sides),
        cols.zeros(sides),
        cols.unfilled_floats(0 if scheme.in_force is None else sides),
    )


def rate_one_batch(scheme: Scheme, numbers: Any, games: RateableGames, players: Sequence[Any]) -> list[ExplainedPlayer]:
    """Rate one batch by itself; return each player as it begins and after it, with the work numbers.

    A player without a game in it stays as in *players*, with work numbers as they start.
    """
    sides = 2 * len(games.white)
    space = workspace(FEW, scheme, len(players), sides)
    if scheme.fit is not None:
        space = space._replace(past=FittedGames().with_room(FEW, scheme, len(players), sides))
    present = scheme_loop(group_batch_by_player, scheme)(
        with_tournament_starts(FEW, scheme, games), 0, len(games.white), space
    )
    when = When(games.period[0], games.closing[0])
    scheme_loop(_batch_loop(scheme), scheme)(present, when, players, space, numbers)
    rated = {player: place for place, player in enumerate(space.roster[:present])}
    return [
        ExplainedPlayer(space.own[rated[i]], space.after[rated[i]], space.work[rated[i]])
        if i in rated
        else ExplainedPlayer(player, player, scheme.work())
        for i, player in enumerate(players)
    ]


def expected_result(scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float], when: When) -> float:
    """Return the score from 0 to 1 that the scheme expects of the first player against the second at a time."""
    both = (scheme.player_at(state, when, numbers) for state in (own, opponent))
    return scheme.expected_score(*both, numbers)


def predict(
    scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float], when: When
) -> dict[str, tuple[float, ...]]:
    """Return the first player's states after a win, a draw and a loss against the second, each rated alone."""
    after: dict[str, tuple[float, ...]] = {}
    for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0)):
        state = [*own, *opponent]
        games = RateableGames([0], [1], [score], [when.day], [0, 1], [when.period], [when.day])
        rate(FEW, scheme, numbers, games, state, [0, 0])
        after[word] = tuple(state[: len(own)])
    return after
