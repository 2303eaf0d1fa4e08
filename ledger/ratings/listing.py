"""Who a rating list shows: what the scheme says, for one state or for many, and whose account is not closed then.

No other place decides it. The scheme's answer for each player's last state is stored with the current ratings, so that
a ranking is one look at an index; who is closed depends on the instant of the list, is nearly nobody, and is asked for.
What time or a later scheme makes of a state is the business of ``player_states``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ledger.book.roster import standing_sql
from ledger.book.timeline import Era, Pool
from ledger.ratings import engine
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compiled
from ledger.runtime.lazy import np
from ledger.schemes.scheme import Scheme, always

if TYPE_CHECKING:
    import sqlite3

# Names that ``scheme_loop`` gives to the loop below, each time to something else.
FIELDS = 0
listed: Callable[..., bool]

# Those whose standing at an instant, ?1, is closed.
CLOSED_AT = f"""
SELECT player FROM players WHERE player IN (
  SELECT player FROM players WHERE standing <> 'full' AND standing = 'closed'
  UNION SELECT player FROM changes WHERE standing = 'closed')
  AND {standing_sql("players", "?1")} = 'closed'
"""


def closed_at(connection: sqlite3.Connection, ms: int) -> frozenset[int]:
    """The players whose accounts are closed at an instant: no list shows them, and their games count as ever.

    Args:
        connection: the views.
        ms: the instant, milliseconds since 1970.
    """
    return frozenset(player for (player,) in connection.execute(CLOSED_AT, (ms,)))


def is_listed(era: Era, state: Sequence[float]) -> bool:
    """Whether the scheme of an era lists a player with this state; who is not listed has no rating to show."""
    return era.scheme.listed is always or bool(era.scheme.listed(state, 0, era.numbers))


def mark(state: Any, flags: Any, numbers: Any) -> None:
    """Flag the players whom a scheme lists.

    Args:
        state: flat, FIELDS numbers a player.
        flags: by player; filled with 1 or 0.
        numbers: the scheme's settings.
    """
    for player in range(len(flags)):
        # ``bound`` puts the scheme's own kernel in under this name.
        if listed(state, player * FIELDS, numbers):  # noqa: F821
            flags[player] = 1
        else:
            flags[player] = 0


@cache
def _marking_loop(scheme: Scheme) -> Callable[..., None]:
    return engine.scheme_loop(mark, scheme)


def listed_flags(cols: Columns, pool: Pool, rated_ms: Column, fields: Mapping[str, Column]) -> Column:
    """1 for each state that its scheme lists, else 0.

    Args:
        cols: how the columns are held.
        pool: the pool.
        rated_ms: when the last game of each state took its place, which says by which scheme it was rated.
        fields: the columns of ``pool.state_fields``.
    """
    if pool.lists_everybody:
        return cols.small([1] * len(rated_ms))
    if cols is FEW:
        few_flags = []
        for i, ms in enumerate(rated_ms):
            era = pool.eras[pool.era_at(ms)]
            few_flags.append(int(is_listed(era, [fields[name][i] for name in era.scheme.state])))
        return few_flags
    flags, eras = np.ones(len(rated_ms), np.int32), pool.eras_at(rated_ms)
    for number, era in enumerate(pool.eras):
        players = np.flatnonzero(eras == number)
        if len(players) and era.scheme.listed is not always:
            state = np.stack([fields[name][players] for name in era.scheme.state], axis=1).reshape(-1)
            flags[players] = _marked(cols, era, state, len(players))
    return flags


def _marked(cols: Columns, era: Era, state: Any, players: int) -> Any:
    """The flags of so many players of one era; interpreted where compiling would not pay."""
    loop = _marking_loop(era.scheme)
    if players < engine.COMPILE_FROM:
        marks = [0] * players
        loop(state.tolist(), marks, era.numbers)
        return marks
    flags = cols.zeros(players)
    compiled(loop)(state, flags, era.numbers)
    return flags
