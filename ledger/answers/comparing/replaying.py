"""The replay of a pool's games under another rating scheme, in memory: read, ordered, predicted and rated.

The games are those that count now, even if another scheme's own rules would refuse them. Each scheme rates them from
the beginning, as if it had been the only one, with the pool's own rating periods and tournaments.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger import schemes
from ledger.answers.comparing.forecasts import Predictions, final_ratings, predict_and_rate, predict_games
from ledger.answers.pools import non_default_settings
from ledger.book.roster import Roster
from ledger.book.stored_pools import stored_pools
from ledger.book.tables import IN_ORDER_OF_ENDS
from ledger.book.timeline import BEGINNING, Era, EraState, ListRating, Pool
from ledger.book.whole_tournaments import Edition
from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Carry
from ledger.ratings import engine
from ledger.ratings.later_lists import LaterLists
from ledger.ratings.player_states import StartingRatings
from ledger.ratings.rated_games import STARTS_ON_LAST_DAY, GamesInOrder, first_game_indexes, rateable
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.lazy import np
from ledger.schemes.scheme import FROM_POOL, FROM_SHOWN, SHOWN_SCALE, Newcomer, Rhythm, Scheme

if TYPE_CHECKING:
    import sqlite3

BLOCK = 50_000  # rows that are Python objects at one time

# 2.0, for SQLite divides whole numbers without a remainder.
_GAMES = f"""
SELECT white, black, half_points / 2.0, ended_ms, tournament, white_rating, black_rating
FROM games WHERE pool = ?1 AND reason IS NULL AND white_guest IS NULL AND black_guest IS NULL AND ended_ms <= ?2
ORDER BY {IN_ORDER_OF_ENDS}
"""
_ENDS = """
SELECT DISTINCT tournament, ended_ms FROM games WHERE pool = ?1 AND ended_ms <= ?2 AND tournament <> ''
ORDER BY tournament, ended_ms
"""


class Candidate(NamedTuple):
    """A rating scheme to compare, with its settings as the kernels take them and as the user states them."""

    scheme: Scheme
    numbers: Any
    settings: Mapping[str, int | bool | str]


def candidate(name: str, settings: Mapping[str, int | bool | str] | None = None) -> Candidate:
    """Return the rating scheme of a name as a new pool would adopt it with these settings.

    Raises:
        UnknownNameError: there is no such scheme.
        MalformedError: settings that it cannot work with.
    """
    scheme, settings = schemes.find_scheme(name), dict(settings or {})
    numbers = scheme.numbers_from(scheme.complete_settings(settings))
    return Candidate(scheme, numbers, {**scheme.for_new_pools, **settings})


def pool_candidate(pool: Pool, name: str, settings: Mapping[str, int | bool | str] | None = None) -> Candidate:
    """Return the rating scheme of a name with the settings of its latest adoption in a pool, changed by *settings*.

    A scheme that the pool does not use is as a new pool would adopt it. Raises as ``candidate`` does.
    """
    era = next((era for era in reversed(pool.eras) if era.scheme.name == name), None)
    if era is None:
        return candidate(name, settings)
    settings = dict(settings or {})
    numbers = era.scheme.numbers_from({**era.scheme.adopted_settings(era.settings), **settings})
    return Candidate(era.scheme, numbers, {**non_default_settings(era), **settings})


@attrs.frozen(slots=False)
class Year:
    """The mean and spread of the ratings of players with a game in one calendar year (UTC)."""

    year: int = documented("the year")
    players: int = documented("players with a game in it whom the scheme listed after the last of them", minimum=0)
    mean: float | None = documented("mean of their last ratings of the year, points; null: there is nobody")
    spread: float | None = documented("standard deviation of these, points")


class ComparedGames(NamedTuple):
    """The games of a pool in order of their ends, as NumPy arrays.

    ``white`` and ``black`` are places in ``players``; ``tournament`` is a place in ``tournaments``.
    ``source_ratings`` has the rating that the source shows with the game by side, White's before Black's; NaN if it
    shows none.
    """

    players: Any
    white: Any
    black: Any
    score: Any
    ended_ms: Any
    tournament: Any
    tournaments: list[str | None]
    source_ratings: Any


class Segment(NamedTuple):
    """A segment of the games in rating order, and the rating lists that change ratings before it.

    The lists are those that have come into force since the segment before, by place of the player.
    """

    listed: Mapping[int, Sequence[ListRating]]
    rateable: engine.RateableGames


class RatingOrder(NamedTuple):
    """The games of a pool in the rating order of one scheme.

    Attributes:
        pool: the pool as if the scheme had rated it from the beginning.
        places: the place of each game in order of the ends.
        segments: the games, cut where lists come into force.
        listed: by place of the player, the lists that have come into force after the player's games.
        newcomers: by player, the facts known before the first game.
        last_sides: by year with games, the side of each player's last game, White's 2g and Black's 2g + 1.
    """

    pool: Pool
    places: Any
    segments: Sequence[Segment]
    listed: Mapping[int, Sequence[ListRating]]
    newcomers: list[Newcomer]
    last_sides: dict[int, Any]


class ReplayResult(NamedTuple):
    """The result of replaying a pool under one rating scheme: as in ``Predictions``, by game in order of the ends."""

    expected: Any
    unsettled: Any
    final: Any
    years: tuple[Year, ...]
    seconds: float


def load_games(connection: sqlite3.Connection, pool: int, until_ms: int) -> ComparedGames:
    """Read the games of a pool that count, up to an instant."""
    blocks: list[list[Any]] = []
    codes: dict[str | None, int] = {None: 0}
    cursor = connection.execute(_GAMES, (pool, until_ms))
    while rows := cursor.fetchmany(BLOCK):
        white, black, score, ended_ms, tournament, white_rating, black_rating = zip(*rows, strict=True)
        # numbers instead of texts: a million names would be a million objects
        tournament_codes = [codes.setdefault(name, len(codes)) for name in tournament]
        small = [MANY.int32_column(column) for column in (white, black, tournament_codes)]
        ratings = [MANY.float64_column(column) for column in (white_rating, black_rating)]
        blocks.append([*small, MANY.float64_column(score), MANY.int64_column(ended_ms), *ratings])
    if not blocks:
        none = MANY.int32_column([])
        return ComparedGames(
            none, none, none, MANY.float64_column([]), MANY.int64_column([]), none, list(codes), MANY.float64_column([])
        )
    columns: list[Any] = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    white, black, tournament, score, ended_ms, *ratings = columns
    return ComparedGames(
        *MANY.dense_indexes(white, black), score, ended_ms, tournament, list(codes), MANY.interleave(*ratings)
    )


def games_per_player(games: ComparedGames) -> Any:
    """Return the number of games of each player."""
    size = len(games.players)
    return np.bincount(games.white, minlength=size) + np.bincount(games.black, minlength=size)


def last_game_ms(games: ComparedGames) -> Any:
    """Return the end of each player's last game in milliseconds since 1970."""
    last = []
    for side in (games.white, games.black):
        latest = np.full(len(games.players), BEGINNING, np.int64)
        # the last one written is the last one played
        latest[side] = games.ended_ms
        last.append(latest)
    return np.maximum(*last)


def order_games(
    connection: sqlite3.Connection,
    actual: Pool,
    games: ComparedGames,
    candidates: Sequence[Candidate],
    *,
    from_shown: bool = False,
    runs: int = 1,
) -> list[RatingOrder]:
    """Return the games of a pool in the rating order of each scheme, to be replayed *runs* times.

    Nothing else reads the views.

    With *from_shown*, or if a candidate's settings say so, a player without a declared rating begins with the one that
    the source shows with the first game, if the scheme counts in the same points. If they name another pool, a player
    begins with the rating there, as it is.
    """
    roster = Roster(connection)
    if len({batch_rule(candidate) for candidate in candidates}) > 1:
        # Of 340,000 games and 14,000 list ratings this takes 1.1 s, as asking player by player for one order does.
        roster.preload(shown=False)
    orders: dict[object, RatingOrder] = {}
    sequences: dict[bytes, GameSequence] = {}
    pools = [alone(actual, candidate) for candidate in candidates]
    for candidate, pool in zip(candidates, pools, strict=True):
        # Schemes that rate by game have one order, and so have those of one calendar: it is worked out once.
        if batch_rule(candidate) not in orders:
            orders[batch_rule(candidate)] = _order(connection, games, pool, roster, sequences, runs=runs)
    with_source: dict[object, RatingOrder] = {}
    others = {other.name: other for other in stored_pools(connection)}
    chosen = []
    for candidate, pool in zip(candidates, pools, strict=True):
        cut, order = batch_rule(candidate), orders[batch_rule(candidate)]
        if candidate.scheme.scale == SHOWN_SCALE and (from_shown or candidate.settings.get(FROM_SHOWN)):
            order = with_source[cut] = with_source.get(cut) or _with_source_ratings(order, games)
        if candidate.settings.get(FROM_POOL):
            order = _begun_elsewhere(order, games, StartingRatings(connection, pool, roster, others.get))
        chosen.append(order._replace(pool=pool))
    return chosen


def replay_schemes(
    candidates: Sequence[Candidate], orders: Sequence[RatingOrder], timer: Callable[[], float], threads: int
) -> list[ReplayResult]:
    """Rate all games under each scheme, and return the results.

    *threads* schemes are replayed at the same time; the results do not depend on it.

    The *timer* returns seconds; it is called before and after each replay by the thread that runs it.
    """
    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(lambda candidate, order: _replay(candidate, order, timer), candidates, orders))


def alone(actual: Pool, candidate: Candidate) -> Pool:
    """Return the pool as if a scheme had rated it from the beginning."""
    scheme, numbers, settings = candidate
    return attrs.evolve(actual, eras=(Era(BEGINNING, "", scheme, numbers, settings, Carry.KEEP, (), 0),))


def batch_rule(candidate: Candidate) -> object:
    """Return what decides which games are rated together, and so the order of all, and how columns are held."""
    scheme = candidate.scheme
    rhythm = scheme.calendar(candidate.numbers) if scheme.rhythm is Rhythm.PERIOD else scheme.rhythm
    return rhythm, scheme.fit is None


class GameSequence(NamedTuple):
    """A sequence of the games, and the facts that follow from it, whatever batches they are rated in."""

    white: Any
    black: Any
    score: Any
    ended_ms: Any
    day: Any
    first_ms: list[int]
    newcomers: list[Newcomer]
    last_sides: dict[int, Any]


def _game_sequence(games: ComparedGames, pool: Pool, roster: Roster, places: Any) -> GameSequence:
    """Return the games in the sequence *places*; ``first_ms`` has the end of each player's first game."""
    white, black, ended_ms = games.white[places], games.black[places], games.ended_ms[places]
    first_ms = ended_ms[first_game_indexes(MANY, len(games.players), white, black)].tolist()
    starts = zip(games.players.tolist(), first_ms, strict=True)
    newcomers = [roster.restarting_player(pool.pool, player, ms) for player, ms in starts]
    last_sides = _last_sides(MANY.interleave(white, black), ended_ms, len(games.players))
    day = MANY.divide_by(ended_ms, DAY_MS)
    return GameSequence(white, black, games.score[places], ended_ms, day, first_ms, newcomers, last_sides)


def _order(
    connection: sqlite3.Connection,
    games: ComparedGames,
    pool: Pool,
    roster: Roster,
    sequences: dict[bytes, GameSequence],
    *,
    runs: int,
) -> RatingOrder:
    """Return the games in the rating order of a pool of one era.

    *sequences* holds those of other orders; nearly always they are the same, whatever the calendar.
    """
    rated_ms, batch, began_ms = _placed(connection, games, pool)
    # stable: within a batch in order of the ends
    places = np.lexsort((batch, rated_ms))
    rated_ms, batch = rated_ms[places], batch[places]
    begins = np.ones(len(places), np.int32)
    begins[1:] = (np.diff(rated_ms) != 0) | (np.diff(batch) != 0)
    key = places.tobytes()
    sequence = sequences[key] = sequences.get(key) or _game_sequence(games, pool, roster, places)
    columns = [*sequence[:4], rated_ms, begins]
    columns += [began_ms[places], games.tournament[places]] if len(began_ms) else []
    lists = LaterLists(pool, roster)
    starts = list(zip(games.players.tolist(), sequence.first_ms, strict=True)) if lists.any_player_has_lists else ()
    later = {player for player, first_ms in starts if lists.has_list_after(player, first_ms)}
    # Few games are rated in less time than their kernel is compiled.
    few = len(places) * runs < engine.compile_from(pool.schemes)
    segments = []
    for begin, end in pairwise([0, *_cuts(lists, games.players, columns), len(places)]):
        part = [column[begin:end] for column in columns]
        if few:
            games_in = rateable(pool, FEW, 0, *MANY.to_lists(part))
        else:  # the days are held once for all orders
            games_in = rateable(pool, MANY, 0, *part)._replace(day=sequence.day[begin:end])
        segments.append(Segment(_taken_in(lists, later, games.players, part), games_in))
    last_ms = int(games.ended_ms[-1])
    listed = {
        place: pending
        for place, (player, _) in enumerate(starts)
        if player in later and (pending := lists.lists_before_batch(player, last_ms, last_ms))
    }
    return RatingOrder(pool, places, segments, listed, sequence.newcomers, sequence.last_sides)


def _cuts(lists: LaterLists, players: Any, columns: Sequence[Any]) -> list[int]:
    """Return the places of games before which a list may come into force; *columns* are those of ``rateable``."""
    white, black, _, ended_ms, rated_ms, begins = columns[:6]
    none: Column = ()
    games = GamesInOrder(none, white, black, none, none, ended_ms, rated_ms, begins, none, {})
    return lists.list_game_indexes(MANY, games, (players, white, black))


def _taken_in(
    lists: LaterLists, later: Collection[int], players: Any, columns: Sequence[Any]
) -> dict[int, list[ListRating]]:
    """Return, by place of the player, the lists that have come into force before the games of a segment.

    *later* are the players with lists after their first game.
    """
    if not later:
        return {}
    white, black, _, ended_ms, rated_ms = columns[:5]
    places, *sides = MANY.dense_indexes(white, black)
    first = first_game_indexes(MANY, len(places), *sides)
    numbers = [column.tolist() for column in (places, players[places], rated_ms[first], ended_ms[first])]
    taken = {
        place: lists.lists_before_batch(player, rated, ended)
        for place, player, rated, ended in zip(*numbers, strict=True)
        if player in later
    }
    return {place: pending for place, pending in taken.items() if pending}


def _with_source_ratings(order: RatingOrder, games: ComparedGames) -> RatingOrder:
    """Return an order whose new players without a declared or listed rating begin with the first shown rating."""
    owner = MANY.interleave(games.white[order.places], games.black[order.places])
    sides = games.source_ratings.reshape(-1, 2)[order.places].reshape(-1)
    source_ratings = np.full(len(games.players), np.nan)
    # the last one written belongs to the first game
    source_ratings[owner[::-1]] = sides[::-1]
    newcomers = [
        # NaN, for no shown rating, is not above 0 either.
        who._replace(declared=rating) if not who.has_rating and rating > 0 else who
        for who, rating in zip(order.newcomers, source_ratings.tolist(), strict=True)
    ]
    return order._replace(newcomers=newcomers)


def _begun_elsewhere(order: RatingOrder, games: ComparedGames, starts: StartingRatings) -> RatingOrder:
    """Return an order whose new players without a listed rating begin with that in force in another pool."""
    white, black = games.white[order.places], games.black[order.places]
    first = games.ended_ms[order.places][first_game_indexes(MANY, len(games.players), white, black)]
    newcomers = []
    for who, player, first_ms in zip(order.newcomers, games.players.tolist(), first.tolist(), strict=True):
        source = None if who.seed is not None else starts.source_state(player, first_ms)
        newcomers.append(who if source is None else who._replace(declared=source.in_force))
    return order._replace(newcomers=newcomers)


def _placed(connection: sqlite3.Connection, games: ComparedGames, pool: Pool) -> tuple[Any, Any, Any]:
    """Return each game's place in rating order, milliseconds, a number sorted by its batch's name, and ``BEGAN``.

    The last one is empty if no tournaments are rated whole.
    """
    if pool.scheme.rhythm is not Rhythm.EVENT and not pool.by_event:
        return pool.places(games.ended_ms, ())[0], np.zeros(len(games.ended_ms), np.int32), ()
    # most games share event and day: asked once for all
    ends, end = np.unique(games.ended_ms, return_inverse=True)
    # In 64 bits, for the product of both numbers may need more than 32.
    pairs, pair_of_game = np.unique(games.tournament * np.int64(len(ends)) + end, return_inverse=True)
    tournaments = [games.tournaments[code] for code in (pairs // len(ends)).tolist()]
    editions: dict[str, dict[int, Edition]] = {}
    # games that do not count show the days of a tournament, too
    if pool.by_event:
        rows = connection.execute(_ENDS, (pool.pool, int(ends[-1])))
        for name, of_name in groupby(rows, lambda row: str(row[0])):
            editions[name] = pool.editions(name, [ended_ms for _, ended_ms in of_name])
    rated_ms, batch, began = pool.places(ends[pairs % len(ends)], tournaments, editions)
    rank = {name: place for place, name in enumerate(sorted(set(batch)))}
    batches = np.asarray([rank[name] for name in batch], np.int32)[pair_of_game]
    if not pool.by_event:
        return rated_ms[pair_of_game], batches, ()
    began_ms = np.asarray([STARTS_ON_LAST_DAY if ms is None else ms for ms in began], np.int64)
    return rated_ms[pair_of_game], batches, began_ms[pair_of_game]


def _last_sides(owner: Any, ended_ms: Any, players: int) -> dict[int, Any]:
    years = np.repeat(ended_ms.astype("datetime64[ms]").astype("datetime64[Y]").astype(np.int16) + 1970, 2)
    last_sides = {}
    for year in np.unique(years).tolist():
        sides = np.flatnonzero(years == year)
        # players without a game in that year keep -1.
        last = np.full(players, -1, np.int64)
        last[owner[sides]] = sides
        last_sides[year] = last[last >= 0]
    return last_sides


def _replay(candidate: Candidate, order: RatingOrder, timer: Callable[[], float]) -> ReplayResult:
    scheme, numbers, games = candidate.scheme, candidate.numbers, order.segments[0].rateable
    cols = columns_of(order)
    # compile before the clock starts: the seconds are those of the scheme
    if cols is MANY:
        # Columns without a game, of the same types: Numba compiles once for each set of types.
        predict_and_rate(
            cols, scheme, numbers, engine.RateableGames(*(column[:0] for column in games)), cols.unfilled_floats(0)
        )
    began = timer()
    start = cols.float64_column(engine.initial_states(scheme, numbers, order.newcomers))
    parts, state = predict_segments(candidate, order, start)
    final = final_ratings(cols, scheme, numbers, order.segments[-1].rateable, state)
    seconds = timer() - began
    unsettled = np.empty(len(order.places), np.bool_)
    unsettled[order.places] = np.concatenate([part.unsettled for part in parts])
    rating = np.concatenate([part.rating for part in parts])
    years = tuple(Year(year, *describe_ratings(rating[sides])) for year, sides in order.last_sides.items())
    return ReplayResult(expected_by_end(order, parts), unsettled, np.asarray(final), years, seconds)


def columns_of(order: RatingOrder) -> Columns:
    """Return the kind of the columns of an order: lists of few games, or arrays of many."""
    return FEW if isinstance(order.segments[0].rateable.white, list) else MANY


def predict_segments(candidate: Candidate, order: RatingOrder, start: Column) -> tuple[list[Predictions], Column]:
    """Return the predictions of each segment, and the states after all games and lists; *start* is left as it is."""
    cols, state, fitted = columns_of(order), start.copy(), engine.FittedGames()
    parts = []
    for segment in order.segments:
        _relist(cols, order.pool, state, segment.listed)
        parts.append(predict_games(cols, candidate.scheme, candidate.numbers, segment.rateable, state, fitted))
    _relist(cols, order.pool, state, order.listed)
    return parts, state


def expected_by_end(order: RatingOrder, parts: Sequence[Predictions]) -> Any:
    """Return the scores expected of White, by game in order of the ends."""
    expected = np.empty(len(order.places))
    expected[order.places] = np.concatenate([part.expected for part in parts])
    return expected


def _relist(cols: Columns, pool: Pool, state: Column, listed: Mapping[int, Sequence[ListRating]]) -> None:
    """Change the flat *state* of players to the ratings of lists."""
    fields = len(pool.scheme.state)
    for place, lists in listed.items():
        own = slice(place * fields, (place + 1) * fields)
        before = EraState(0, tuple(map(float, state[own])), 0)
        state[own] = cols.float64_column(pool.carry_state(before, 0, _nobody, lists))


def _nobody(_: int) -> Newcomer:
    raise AssertionError  # within one era no player begins again


def describe_ratings(ratings: Any) -> tuple[int, float | None, float | None]:
    """Return the count of ratings that are not NaN, their mean and standard deviation; None if there are none."""
    numbers = ratings[~np.isnan(ratings)]
    return (len(numbers), float(numbers.mean()), float(numbers.std())) if len(numbers) else (0, None, None)
