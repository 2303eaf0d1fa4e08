"""The cross-table of a tournament beside the bare statement for its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs
import orjson

from ledger.answers.crosstables.crosstable import crosstable
from ledger.ledger import Ledger

from .datasets import GameSet
from .measuring import both_lines, cost_of, in_turns
from .table import Line

Work = Callable[[Ledger, str], bytes]
# The tournaments of twelve to sixteen players with most games: all-play-alls, mostly.
_LARGEST = """
SELECT tournament FROM games WHERE pool = 1 AND tournament IS NOT NULL AND reason IS NULL GROUP BY tournament
HAVING count(DISTINCT white) BETWEEN 12 AND 16 AND count(*) < 200 ORDER BY count(*) DESC, tournament LIMIT 3
"""
# Each game of a tournament with the ratings of both sides, by the shortest way that SQL has.
_BARE = """
SELECT games.key, games.ended_at, games.round, games.white, games.black, games.half_points, own.rating_before,
  own.rating, theirs.rating_before, theirs.rating
FROM games
CROSS JOIN history AS own ON own.pool = games.pool AND own.player = games.white AND own.game = games.position
CROSS JOIN history AS theirs ON theirs.pool = own.pool AND theirs.player = own.opponent AND theirs.n = own.opponent_n
WHERE games.pool = 1 AND games.tournament = ?
"""


def crosstable_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """Tables of large all-play-alls of each set; a set without tournaments has none."""
    for data in sets:
        with Ledger.open(data.ledger()) as ledger:
            ledger.level()
            tournaments = [name for (name,) in ledger.views.connection.execute(_LARGEST)]
            if not tournaments:
                continue
            works = {
                name: partial(cost_of, partial(_each, work, ledger, tournaments))
                for name, work in (("bare", _bare), ("json", _json))
            }
            in_turns(works, 1)  # to warm up
            measured = in_turns(works, max(rounds, 5))
        yield from both_lines("crosstable", data.name, measured["json"], measured["bare"])


def _each(work: Work, ledger: Ledger, tournaments: Sequence[str]) -> None:
    for tournament in tournaments:
        work(ledger, tournament)


def _bare(ledger: Ledger, tournament: str) -> bytes:
    return orjson.dumps(ledger.views.connection.execute(_BARE, (tournament,)).fetchall())


def _json(ledger: Ledger, tournament: str) -> bytes:
    return orjson.dumps(attrs.asdict(crosstable(ledger, tournament)))
