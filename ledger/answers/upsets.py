"""Upsets: wins against players rated higher by at least the margin of the policy ``upsets`` on that day.

The rows have every win against a higher rating with its surplus; the margin is applied here, so that another one costs
nothing, and each game has that of its day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import attrs

from ledger.answers.asking import EVERY_ROW, in_one_snapshot, names, row_limit
from ledger.answers.policies import upset_margins
from ledger.answers.read_models import require_read_model
from ledger.book.policies import POLICIES, stored_policies
from ledger.book.policies import UPSETS as POLICY
from ledger.book.tables import opponent_rating_sql
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries
from ledger.ratings.projectors.upsets import LARGE, PROJECTOR

Row = dict[str, Any]
# CROSS JOIN fixes the order: from the upsets, each looked up in the rest, never from the whole history.
_ROWS = f"""
SELECT u.player, u.n, games.key AS game, games.ended_at, own.colour, own.rating_before, own.rating,
  own.opponent, {opponent_rating_sql("rating_before", "own", "theirs")} AS opponent_rating_before, u.surplus, u.ended_ms
FROM upsets AS u
CROSS JOIN history AS own ON own.pool = u.pool AND own.player = u.player AND own.n = u.n
CROSS JOIN games ON games.position = own.game
LEFT JOIN history AS theirs ON theirs.pool = u.pool AND theirs.player = own.opponent AND theirs.n = own.opponent_n
WHERE u.pool = ?1 AND u.surplus >= ?2 AND u.ended_ms BETWEEN ?3 AND ?4{{}}
ORDER BY u.surplus DESC, u.ended_ms, u.player, u.n
"""
_ALL, _OF_ONE = _ROWS.format(""), _ROWS.format(" AND u.player = ?5")
_ONE = _ROWS.format(" AND u.player = ?5 AND u.n = ?6")
# The largest of a pool, without their details: from the end of an index, or, for a margin below those that the index
# holds, by one pass that keeps as many as are requested.
_LARGEST = """
SELECT player, n, surplus, ended_ms FROM upsets WHERE pool = ?1 AND surplus >= ?2 AND ended_ms BETWEEN ?3 AND ?4{}
ORDER BY surplus DESC, ended_ms, player, n LIMIT ?5
"""
_SMALL, _LARGE = _LARGEST.format(""), _LARGEST.format(f" AND surplus >= {LARGE.least}")
_MORE = 8  # times as many are looked at where the margins of their days leave too few
# Milliseconds far beyond every instant, and still a whole number of SQLite's.
_EVER = 2**62


@attrs.frozen(kw_only=True, slots=False)
class Upset:
    """A win against a player rated higher by at least the margin, with both ratings."""

    player: int = documented("number of the winner", minimum=1)
    name: str = documented("what the winner is called")
    n: int = documented("the winner's n-th rated game in the pool", minimum=1)
    game: str = documented("key of the game")
    ended_at: str = documented("when it ended, as precisely as it is known")
    colour: Literal["white", "black"] = documented("the winner's colour")
    rating_before: float = documented("the winner's rating before it, points")
    rating: float = documented("the winner's rating after it or its period, points")
    opponent: str = documented("what the loser is called")
    opponent_player: int = documented("number of the loser", minimum=1)
    opponent_rating_before: float = documented("the loser's rating before it, points")
    surplus: float = documented("how far that was above the winner's, points")
    margin: int = documented("the margin of the day, points", minimum=0)


@in_one_snapshot
def upsets(
    ledger: OpenLedger,
    pool: str | None = None,
    *,
    person: Person | None = None,
    since: str | None = None,
    until: str | None = None,
    margin: int | None = None,
    limit: int | None = None,
) -> list[Upset]:
    """Return the upsets of a pool, or of one player in it, the largest first.

    Only games that ended from *since* to *until* count, each a day, month or year. A *margin*, in points, replaces
    those of the policy.

    Raises:
        UnknownNameError: there is no such pool, or the ledger does not keep this read model.
        MalformedError: no such instant.
    """
    require_read_model(ledger, PROJECTOR)
    most = row_limit(limit)
    # No upset is that large, and SQLite holds no larger number.
    margin = None if margin is None else min(margin, EVERY_ROW)
    rows = list(islice(_upset_rows(ledger, ledger.pool(pool), person, (since, until), margin, most), most))
    called = names(ledger, {row[side] for row in rows for side in ("player", "opponent")})
    plain = ("player", "n", "game", "ended_at", "rating_before", "rating", "opponent_rating_before", "surplus")
    return [
        Upset(
            name=called[row["player"]],
            colour="black" if row["colour"] else "white",
            opponent=called[row["opponent"]],
            opponent_player=row["opponent"],
            margin=row["margin"],
            **{name: row[name] for name in plain},
        )
        for row in rows
    ]


def _upset_rows(
    ledger: OpenLedger,
    pool: Pool,
    person: Person | None,
    span: tuple[str | None, str | None],
    margin: int | None,
    most: int,
) -> Iterator[Row]:
    """Yield the rows that are upsets, each with its margin; of a pool at least *most*, if there are."""
    since, until = span
    in_force = upset_margins(ledger) if margin is None else lambda _: margin
    least = None if margin is None else min(margin, _EVER)  # no number of SQLite is larger
    # A margin may change from day to day: with the smallest none is missed; that of the day is applied below.
    if least is None:
        default = int(POLICIES[POLICY].settings["margin"].default)
        every = (row.settings for row in stored_policies(ledger.views.connection).rows if row.policy == POLICY)
        least = min([default, *(int(settings.get("margin", default)) for settings in every)])
    first = -_EVER if since is None else instant_ms(since)
    last = _EVER if until is None else instant_end_ms(until)
    connection, arguments = ledger.views.connection, [pool.pool, least, first, last]
    if person is not None:
        rows: Iterable[Row] = queries.fetch_dicts(connection, _OF_ONE, [*arguments, person.player])
    elif most < EVERY_ROW:
        rows = _largest(ledger, arguments, in_force, most)
    else:
        rows = queries.fetch_dicts(connection, _ALL, arguments)
    for row in rows:
        margin_of_the_day = in_force(row["ended_ms"])
        if row["surplus"] >= margin_of_the_day:
            yield {**row, "margin": margin_of_the_day}


def _largest(ledger: OpenLedger, arguments: Sequence[int], in_force: Callable[[int], int], most: int) -> Iterator[Row]:
    """Yield the rows of the largest upsets of a pool, found first, so that only they are looked up in full."""
    connection, looked_at = ledger.views.connection, most
    query = _LARGE if arguments[1] >= LARGE.least else _SMALL
    while True:
        largest = queries.fetch_tuples(connection, query, [*arguments, looked_at])
        upsets_of_days = [(player, n) for player, n, surplus, ended_ms in largest if surplus >= in_force(ended_ms)]
        # Fewer rows than the limit are all that there are.
        if len(upsets_of_days) >= most or len(largest) < looked_at:
            break
        looked_at *= _MORE
    for player, n in upsets_of_days[:most]:
        yield from queries.fetch_dicts(connection, _ONE, [*arguments, player, n])
