"""Which games count, and where they stand in rating order, for many at a time; for one, see ``GameBook``.

What a scheme refuses is its own compiled kernel's business, where a game stands is the timeline's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from ledger.book.eras import Era
from ledger.book.roster import STANDING_CODE, Roster
from ledger.book.timeline import ALONE, Pool
from ledger.book.tournament_games import Editions
from ledger.facts.words import OUTCOME_CODE, TERMINATION_CODE
from ledger.runtime.kernels import bound, compiled
from ledger.runtime.lazy import np, pl
from ledger.schemes.scheme import HALF_MOVES_UNKNOWN, REASONS, STANDING_FULL, STANDING_GUEST, Scheme

if TYPE_CHECKING:
    from polars import DataFrame, Series

refuse: Callable[..., int]  # a name that ``bound`` gives to the loop below


def judged(pools: Iterable[Pool], roster: Roster, frame: DataFrame, editions: Editions | None = None) -> DataFrame:
    """The frame with the columns ``reason``, ``rated_ms``, ``batch`` and ``began_ms``.

    Args:
        pools: every pool that has games in it.
        roster: the players.
        frame: games in columns of the table ``games``: ``pool``, ``outcome``, ``termination``, ``half_moves``,
            ``rated``, ``white``, ``black``, ``ended_ms`` and ``tournament``.
        editions: those of tournaments that are rated whole; a game of none of them counts as its own tournament.
    """
    present = list(_by_pool(pools, frame))
    frame = frame.with_columns(reason=_reasons(present, roster, frame, editions or {}))
    return frame.with_columns(_places(present, frame, editions or {}))


def _by_pool(pools: Iterable[Pool], frame: DataFrame) -> Iterator[tuple[Pool, Any]]:
    """Each pool that has games in the frame, with their places."""
    number = frame["pool"].to_numpy()
    for pool in pools:
        places = np.flatnonzero(number == pool.pool)
        if len(places):
            yield pool, places


def _reasons(present: list[tuple[Pool, Any]], roster: Roster, frame: DataFrame, editions: Editions) -> Series:
    """Why each game does not count, null for those that do."""
    columns = [
        frame["outcome"].replace_strict(dict(OUTCOME_CODE), return_dtype=pl.Int32).to_numpy(),
        frame["termination"].replace_strict(dict(TERMINATION_CODE), return_dtype=pl.Int32).to_numpy(),
        frame["half_moves"].fill_null(HALF_MOVES_UNKNOWN).cast(pl.Int32).to_numpy(),
        frame["rated"].cast(pl.Boolean).to_numpy(),
        *(_standings(roster, frame, side) for side in ("white", "black")),
    ]
    ended_ms = frame["ended_ms"].to_numpy()
    reasons = np.zeros(len(frame), np.int32)
    for pool, places in present:
        rated_ms = ended_ms[places]
        if pool.is_crossed:
            rated_ms = pool.places(rated_ms, frame["tournament"].gather(places).to_list(), editions.get(pool.pool))[0]
        eras = pool.eras_at(rated_ms)
        for number, era in enumerate(pool.eras):
            here = places[eras == number]
            if len(here):
                asked = [column[here] for column in columns]
                _welcome(era, asked[4], asked[5], frame["tournament"], here)
                reasons[here] = _refused(era, asked)
    return pl.Series("reason", [None, *REASONS[1:]], dtype=pl.String).gather(reasons)


def _welcome(era: Era, white: Any, black: Any, tournaments: Series, here: Any) -> None:
    """Put in the standings of tournaments in which guests are rated; few games have a guest."""
    for place in np.flatnonzero((white == STANDING_GUEST) | (black == STANDING_GUEST)):
        sides = era.standings(int(white[place]), int(black[place]), tournaments[int(here[place])])
        white[place], black[place] = sides


def _refused(era: Era, columns: list[Any]) -> Any:
    reasons = np.zeros(len(columns[0]), np.int32)
    compiled(refusal_loop(era.scheme))(*columns, reasons, era.numbers)
    return reasons


def _places(present: list[tuple[Pool, Any]], frame: DataFrame, editions: Editions) -> list[Series]:
    """When each game takes its place in rating order, its batch, and when its tournament began."""
    began_ms = pl.Series([None], dtype=pl.Int64).new_from_index(0, len(frame))
    rated_ms, batch = frame["ended_ms"], pl.Series([ALONE], dtype=pl.String).new_from_index(0, len(frame))
    counts = frame["reason"].is_null().to_numpy()
    for pool, places in present:
        if not pool.by_game:
            counting = places[counts[places]]
            games = frame[counting]
            ms, batches, begins = pool.places(
                games["ended_ms"].to_numpy(), games["tournament"].to_list(), editions.get(pool.pool)
            )
            rated_ms, batch = rated_ms.scatter(counting, ms), batch.scatter(counting, batches)
            if pool.by_event:
                began_ms = began_ms.scatter(counting, pl.Series(begins, dtype=pl.Int64))
    return [rated_ms.alias("rated_ms"), batch.alias("batch"), began_ms.alias("began_ms")]


def _standings(roster: Roster, frame: DataFrame, side: str) -> Any:
    """Codes of one side's standings; only players who are or were special are looked up one by one."""
    standings = np.full(len(frame), STANDING_FULL, np.int32)
    special = roster.special()
    if special:
        players, ends = frame[side].to_numpy(), frame["ended_ms"].to_numpy()
        for place in np.flatnonzero(np.isin(players, list(special))):
            standings[place] = roster.standing_at(int(players[place]), int(ends[place]))
    return standings


def refuse_all(
    outcome: Any, termination: Any, half_moves: Any, rated: Any, white: Any, black: Any, reasons: Any, numbers: Any
) -> None:
    """Ask a scheme's ``refuse`` for each game; fills *reasons* with codes."""
    for game in range(len(outcome)):
        reasons[game] = refuse(  # noqa: F821
            outcome[game], termination[game], half_moves[game], rated[game], white[game], black[game], numbers
        )


@cache
def refusal_loop(scheme: Scheme) -> Callable[..., None]:
    """``refuse_all`` for one scheme."""
    return bound(refuse_all, f"refuse_{scheme.name}", refuse=scheme.refuse)


assert STANDING_CODE["full"] == STANDING_FULL
