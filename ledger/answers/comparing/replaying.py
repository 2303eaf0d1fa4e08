"""A pool's games once more under another scheme, in memory: read in order, cut into batches, predicted and rated.

The games are those that count now, even if another scheme's own rules would refuse them. Each scheme rates them from
the beginning, as if it had been the only one, with the pool's own runs and tournaments. This module writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger import schemes
from ledger.answers.comparing.forecasts import Foresight, foresee, foretold, settled
from ledger.answers.pools import chosen
from ledger.book.roster import Roster
from ledger.book.tables import IN_ORDER_OF_ENDS
from ledger.book.timeline import BEGINNING, Era, EraState, ListRating, Pool
from ledger.book.whole_tournaments import Edition
from ledger.facts.json_schemas import documented
from ledger.facts.words import Carry
from ledger.ratings import engine
from ledger.ratings.later_lists import LaterLists
from ledger.ratings.rated_games import OWN_DAY, Games, first_games, rateable
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.lazy import np
from ledger.schemes.scheme import FROM_SHOWN, SHOWN_SCALE, Newcomer, Rhythm, Scheme

if TYPE_CHECKING:
    import sqlite3

BLOCK = 50_000  # rows that are Python objects at one time

# 2.0, for SQLite divides whole numbers without a remainder.
_GAMES = f"""
SELECT white, black, half_points / 2.0, ended_ms, tournament, white_rating, black_rating
FROM games WHERE pool = ?1 AND reason IS NULL AND ended_ms <= ?2 ORDER BY {IN_ORDER_OF_ENDS}
"""
_ENDS = """
SELECT DISTINCT tournament, ended_ms FROM games WHERE pool = ?1 AND ended_ms <= ?2 AND tournament <> ''
ORDER BY tournament, ended_ms
"""


class Candidate(NamedTuple):
    """A scheme to be compared: itself, its settings as the kernels take them, and as they were given."""

    scheme: Scheme
    numbers: Any
    settings: Mapping[str, int | bool | str]


def candidate(name: str, settings: Mapping[str, int | bool | str] | None = None) -> Candidate:
    """Return the scheme of that name as a new pool would adopt it with these settings.

    Raises:
        UnknownNameError: there is no such scheme.
        MalformedError: settings that it cannot work with.
    """
    scheme, settings = schemes.named(name), dict(settings or {})
    return Candidate(scheme, scheme.numbers_from(scheme.in_full(settings)), {**scheme.for_new_pools, **settings})


def pool_candidate(pool: Pool, name: str, settings: Mapping[str, int | bool | str] | None = None) -> Candidate:
    """Return the scheme of that name with the settings of its latest adoption in the pool, and *settings* over them.

    A scheme that the pool does not use is as a new pool would adopt it.

    Raises:
        UnknownNameError: there is no such scheme.
        MalformedError: settings that it cannot work with.
    """
    era = next((era for era in reversed(pool.eras) if era.scheme.name == name), None)
    if era is None:
        return candidate(name, settings)
    settings = dict(settings or {})
    numbers = era.scheme.numbers_from({**era.scheme.meant(era.settings), **settings})
    return Candidate(era.scheme, numbers, {**chosen(era), **settings})


@attrs.frozen(slots=False)
class Year:
    """The ratings of one calendar year (UTC)."""

    year: int = documented("the year")
    players: int = documented("players with a game in it whom the scheme listed after the last of them", minimum=0)
    mean: float | None = documented("mean of their last ratings of the year, points; null: there is nobody")
    spread: float | None = documented("standard deviation of these, points")


class ComparedGames(NamedTuple):
    """The games in order of their ends, as NumPy arrays.

    ``white`` and ``black`` are places in ``players``; ``tournament`` is a place in ``tournaments``.
    ``source_ratings`` is by side, White's before Black's, the rating that the source shows with the game, NaN if it
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


class Stretch(NamedTuple):
    """Games that follow one another in rating order, with the lists that give players another rating before them.

    Attributes:
        listed: by place of the player, the lists that have come into force since the games before.
        rateable: the games as the engine takes them: arrays, or lists where they are few.
    """

    listed: Mapping[int, Sequence[ListRating]]
    rateable: engine.Rateable


class Order(NamedTuple):
    """The games in one rating order.

    Attributes:
        pool: the pool as if the scheme had rated it from the beginning.
        places: the place of each in order of the ends.
        stretches: the games, cut where lists come into force.
        listed: as of a stretch, the lists that have come into force by the last game, and after those of its players.
        newcomers: by player, the known facts before the first one.
        last_sides: by year with games, the side of each player's last one, White's 2g and Black's 2g + 1.
    """

    pool: Pool
    places: Any
    stretches: Sequence[Stretch]
    listed: Mapping[int, Sequence[ListRating]]
    newcomers: list[Newcomer]
    last_sides: dict[int, Any]


class Replayed(NamedTuple):
    """One scheme's foresight.

    Attributes:
        expected: see ``Foresight``; by game in order of the ends.
        unsettled: see ``Foresight``, as flags; by game in order of the ends.
        final: see ``Foresight``; by player.
        years: the ratings year by year.
        seconds: what it took.
    """

    expected: Any
    unsettled: Any
    final: Any
    years: tuple[Year, ...]
    seconds: float


def read(connection: sqlite3.Connection, pool: int, until_ms: int) -> ComparedGames:
    """Return the games of a pool that count, up to an instant."""
    blocks: list[list[Any]] = []
    codes: dict[str | None, int] = {None: 0}
    cursor = connection.execute(_GAMES, (pool, until_ms))
    while rows := cursor.fetchmany(BLOCK):
        white, black, score, ended_ms, tournament, white_rating, black_rating = zip(*rows, strict=True)
        # numbers instead of texts: a million names would be a million objects
        tournament_codes = [codes.setdefault(name, len(codes)) for name in tournament]
        blocks.append(
            [
                MANY.small(white),
                MANY.small(black),
                MANY.floats(score),
                MANY.ints(ended_ms),
                MANY.small(tournament_codes),
                MANY.floats(white_rating),
                MANY.floats(black_rating),
            ]
        )
    if not blocks:
        none = MANY.small([])
        return ComparedGames(none, none, none, MANY.floats([]), MANY.ints([]), none, list(codes), MANY.floats([]))
    columns: list[Any] = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    players, white, black = MANY.dense(columns[0], columns[1])
    source_ratings = MANY.interleave(columns[5], columns[6])
    return ComparedGames(players, white, black, columns[2], columns[3], columns[4], list(codes), source_ratings)


def counts(games: ComparedGames) -> Any:
    """Return the number of games by player."""
    size = len(games.players)
    return np.bincount(games.white, minlength=size) + np.bincount(games.black, minlength=size)


def last_ms(games: ComparedGames) -> Any:
    """Return when each player's last game ended."""
    last = []
    for side in (games.white, games.black):
        latest = np.full(len(games.players), BEGINNING, np.int64)
        # the last one written is the last one played
        latest[side] = games.ended_ms
        last.append(latest)
    return np.maximum(*last)


def ordered(
    connection: sqlite3.Connection,
    actual: Pool,
    games: ComparedGames,
    candidates: Sequence[Candidate],
    *,
    from_shown: bool = False,
) -> list[Order]:
    """Return the games of a pool as each scheme takes them; nothing of the views is read after that.

    Args:
        connection: to the views, for the known facts about the players.
        actual: the pool.
        games: its games; at least one.
        candidates: the schemes.
        from_shown: a player without a declared rating begins with the one that the source shows with the first game, if
            the scheme counts in the same points; else only if a candidate's settings say so.
    """
    roster = Roster(connection)
    orders: dict[object, Order] = {}
    pools = [_alone(actual, candidate) for candidate in candidates]
    for candidate, pool in zip(candidates, pools, strict=True):
        # Schemes that rate by game have one order, and so have those of one calendar: it is worked out once.
        if _cut(candidate) not in orders:
            orders[_cut(candidate)] = _order(connection, games, pool, roster)
    with_source: dict[object, Order] = {}
    chosen = []
    for candidate, pool in zip(candidates, pools, strict=True):
        cut, order = _cut(candidate), orders[_cut(candidate)]
        if candidate.scheme.scale == SHOWN_SCALE and (from_shown or candidate.settings.get(FROM_SHOWN)):
            order = with_source[cut] = with_source.get(cut) or _with_source_ratings(order, games)
        chosen.append(order._replace(pool=pool))
    return chosen


def replay(
    candidates: Sequence[Candidate], orders: Sequence[Order], timer: Callable[[], float], threads: int
) -> list[Replayed]:
    """Yield each scheme over all games, *threads* of them at the same time: the kernels run in parallel.

    Args:
        candidates: the schemes.
        orders: the games as each takes them.
        timer: seconds, asked before and after each replay by the thread that runs it.
        threads: how many; the numbers do not depend on it.
    """
    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(lambda candidate, order: _replay(candidate, order, timer), candidates, orders))


def _alone(actual: Pool, candidate: Candidate) -> Pool:
    """Return the pool as if a scheme had rated it from the beginning."""
    scheme, numbers, settings = candidate
    return attrs.evolve(actual, eras=(Era(BEGINNING, "", scheme, numbers, settings, Carry.KEEP, (), 0),))


def _cut(candidate: Candidate) -> object:
    """Return the settings that decide which games are rated together, and so the order of all."""
    scheme = candidate.scheme
    return scheme.calendar(candidate.numbers) if scheme.rhythm is Rhythm.PERIOD else scheme.rhythm


def _order(connection: sqlite3.Connection, games: ComparedGames, pool: Pool, roster: Roster) -> Order:
    """Return the games in the rating order of a pool of one era."""
    rated_ms, batch, began_ms = _placed(connection, games, pool)
    # stable: within a batch in order of the ends
    places = np.lexsort((batch, rated_ms))
    rated_ms, batch = rated_ms[places], batch[places]
    begins = np.ones(len(places), np.int32)
    begins[1:] = (np.diff(rated_ms) != 0) | (np.diff(batch) != 0)
    white, black, ended_ms = games.white[places], games.black[places], games.ended_ms[places]
    columns = [white, black, games.score[places], ended_ms, rated_ms, begins]
    columns += [began_ms[places], games.tournament[places]] if len(began_ms) else []
    lists = LaterLists(pool, roster)
    # Few games are rated in less time than their kernel is compiled.
    few = len(places) < engine.COMPILE_FROM
    stretches = []
    for begin, end in pairwise([0, *_cuts(lists, games.players, columns), len(places)]):
        part = [column[begin:end] for column in columns]
        games_in = rateable(pool, FEW, 0, *MANY.lists(part)) if few else rateable(pool, MANY, 0, *part)
        stretches.append(Stretch(_taken_in(lists, games.players, part), games_in))
    last_ms = int(games.ended_ms[-1])
    listed = {
        place: later
        for place, player in enumerate(games.players.tolist() if lists.are_any else ())
        if (later := lists.taken_in(player, last_ms, last_ms))
    }
    owner = MANY.interleave(white, black)
    first = ended_ms[first_games(MANY, len(games.players), white, black)]
    starts = zip(games.players.tolist(), first.tolist(), strict=True)
    newcomers = [roster.restarting_player(pool.pool, player, first_ms) for player, first_ms in starts]
    last_sides = _last_sides(owner, ended_ms, len(games.players))
    return Order(pool, places, stretches, listed, newcomers, last_sides)


def _cuts(lists: LaterLists, players: Any, columns: Sequence[Any]) -> list[int]:
    """Return the places of games before which a list may come into force; *columns* are those of ``rateable``."""
    white, black, _, ended_ms, rated_ms, begins = columns[:6]
    none: Column = ()
    games = Games(none, white, black, none, none, ended_ms, rated_ms, begins, none, {})
    return lists.cuts(MANY, games, (players, white, black))


def _taken_in(lists: LaterLists, players: Any, columns: Sequence[Any]) -> dict[int, list[ListRating]]:
    """Return, by place of the player, the lists that have come into force before the games of a stretch."""
    if not lists.are_any:
        return {}
    white, black, _, ended_ms, rated_ms = columns[:5]
    places, *sides = MANY.dense(white, black)
    first = first_games(MANY, len(places), *sides)
    numbers = [column.tolist() for column in (places, players[places], rated_ms[first], ended_ms[first])]
    taken = {place: lists.taken_in(*player_at) for place, *player_at in zip(*numbers, strict=True)}
    return {place: later for place, later in taken.items() if later}


def _with_source_ratings(order: Order, games: ComparedGames) -> Order:
    """Return the same new players with the first game's shown rating, if none was declared and no list states one."""
    owner = MANY.interleave(games.white[order.places], games.black[order.places])
    sides = games.source_ratings.reshape(-1, 2)[order.places].reshape(-1)
    source_ratings = np.full(len(games.players), np.nan)
    # the last one written belongs to the first game
    source_ratings[owner[::-1]] = sides[::-1]
    newcomers = [
        # NaN means that none is source_ratings, and is not above 0 either.
        who._replace(declared=rating) if not who.has_rating and rating > 0 else who
        for who, rating in zip(order.newcomers, source_ratings.tolist(), strict=True)
    ]
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
    began_ms = np.asarray([OWN_DAY if ms is None else ms for ms in began], np.int64)
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


def _replay(candidate: Candidate, order: Order, timer: Callable[[], float]) -> Replayed:
    scheme, numbers, games = candidate.scheme, candidate.numbers, order.stretches[0].rateable
    cols = FEW if isinstance(games.white, list) else MANY
    # compile before the clock starts: the seconds are those of the scheme
    if cols is MANY:
        # Columns without a game, of the same types: Numba compiles once for each set of types.
        foresee(cols, scheme, numbers, engine.Rateable(*(column[:0] for column in games)), cols.room(0))
    began = timer()
    state = cols.floats(engine.newcomers(scheme, numbers, order.newcomers))
    parts: list[Foresight] = []
    for stretch in order.stretches:
        _relist(cols, order.pool, state, stretch.listed)
        parts.append(foretold(cols, scheme, numbers, stretch.rateable, state))
    _relist(cols, order.pool, state, order.listed)
    final = settled(cols, scheme, numbers, order.stretches[-1].rateable, state)
    seconds = timer() - began
    expected, unsettled = np.empty(len(order.places)), np.empty(len(order.places), np.bool_)
    expected[order.places] = np.concatenate([part.expected for part in parts])
    unsettled[order.places] = np.concatenate([part.unsettled for part in parts])
    rating = np.concatenate([part.rating for part in parts])
    years = tuple(Year(year, *spread(rating[sides])) for year, sides in order.last_sides.items())
    return Replayed(expected, unsettled, np.asarray(final), years, seconds)


def _relist(cols: Columns, pool: Pool, state: Column, listed: Mapping[int, Sequence[ListRating]]) -> None:
    """Give players the ratings of lists, in their flat *state*."""
    fields = len(pool.scheme.state)
    for place, lists in listed.items():
        own = slice(place * fields, (place + 1) * fields)
        before = EraState(0, tuple(map(float, state[own])), 0)
        state[own] = cols.floats(pool.carry_state(before, 0, _nobody, lists))


def _nobody(_: int) -> Newcomer:
    raise AssertionError  # within one era no player begins again


def spread(ratings: Any) -> tuple[int, float | None, float | None]:
    """Return how many are no NaN, their mean and standard deviation; None if there are none."""
    numbers = ratings[~np.isnan(ratings)]
    return (len(numbers), float(numbers.mean()), float(numbers.std())) if len(numbers) else (0, None, None)
