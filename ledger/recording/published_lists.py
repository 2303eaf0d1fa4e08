"""Four eyes and published lists: which games of an import would change a list that is published.

Where late reports count at their true place, such a game needs a proposal while four eyes are on. Where they count in
the next list none changes a published one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.book.late_reports import KnownEdition
from ledger.book.stored_editions import known_editions
from ledger.book.timeline import Pool
from ledger.errors import RejectedError
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.journal import late_facts

if TYPE_CHECKING:
    import sqlite3

    from ledger.recording.game_columns import GameColumns
    from ledger.recording.game_rows import GameRows


class PublishedListRule:
    """The rule that under four eyes no game changes a published list without a proposal."""

    def __init__(self, connection: sqlite3.Connection, pools: Mapping[str, Pool]) -> None:
        """Take the views, and the pools by name that have published lists."""
        self._connection = connection
        self._pools = pools

    def refusals(self, games: GameRows | GameColumns, position: int) -> Iterator[tuple[int, RejectedError]]:
        """Yield the place of each new game that would change a published list, with its refusal.

        Args:
            games: the games.
            position: of the next entry.
        """
        names = ("pool", "tournament", "ended_at", "rated", "game")
        rows = list(zip(*(games.column(name) for name in names), strict=True))
        ends: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for pool, tournament, ended_at, _, _ in rows:
            if tournament and pool in self._pools and self._pools[pool].by_event:
                ends[pool, tournament].append(instant_ms(ended_at))
        editions = {
            of_tournament: self._editions(*of_tournament, each, position) for of_tournament, each in ends.items()
        }
        for place, (name, tournament, ended_at, is_rated, key) in enumerate(rows):
            pool, end = self._pools.get(name), instant_ms(ended_at)
            if pool is None or not is_rated:
                continue
            edition = editions.get((name, tournament), {}).get(end)
            published_ms = pool.published.limits[-1]
            if pool.place(end, tournament, edition, position).rated_ms <= published_ms:
                yield place, _refusal(name, key, published_ms)

    def _editions(self, name: str, tournament: str, ends: list[int], position: int) -> Mapping[int, KnownEdition]:
        reported = [(end, position) for end in ends]
        return known_editions(self._connection, self._pools[name], tournament, min(ends), max(ends), reported)


def _refusal(pool: str, key: str, published_ms: int) -> RejectedError:
    until = instant_text(published_ms, Precision.DAY)
    return RejectedError(
        late_facts.NEEDS_A_PROPOSAL,
        f"game:{key}",
        f"four eyes are on, and the lists of pool {pool!r} are published up to {until}, which this game would change; "
        "propose it with 'correct late', for somebody else to approve",
    )
