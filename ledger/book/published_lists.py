"""Four eyes and published lists: which new games would change a list that is published.

Where late reports count at their true place, such a game needs a proposal while four eyes are on. Where they count in
the next list none changes a published one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ledger.book.evidence import CurrentFacts
from ledger.book.late_reports import KnownEdition
from ledger.book.stored_editions import known_editions
from ledger.book.timeline import Pool
from ledger.errors import RejectedError
from ledger.facts.events import Event, GameRecorded
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.journal import late_facts

if TYPE_CHECKING:
    import sqlite3


class NewGame(NamedTuple):
    """A game that is to be recorded, with its fields of ``GameRecorded``."""

    pool: str
    tournament: str | None
    ended_at: str
    rated: bool
    game: str


def changing_games(facts: CurrentFacts, events: Iterable[Event], position: int) -> Mapping[str, RejectedError]:
    """Return the refusals of the games among new facts that would change a published list, by key of the fact.

    Args:
        facts: the current facts, whose views catch up.
        events: the new facts.
        position: of the next entry.
    """
    pools = published_pools(facts)
    games = [
        NewGame(event.pool, event.tournament, event.ended_at, event.rated, event.game)
        for event in events
        if isinstance(event, GameRecorded) and event.pool in pools
    ]
    refused = PublishedListRule(facts.connection, pools).refusals(games, position) if games else {}
    return {f"game:{games[place].game}": refusal for place, refusal in refused.items()}


def published_pools(facts: CurrentFacts) -> Mapping[str, Pool]:
    """Return the pools by name that have published lists; the views catch up first."""
    facts.views.ensure_up_to_date()
    return {pool.name: pool for pool in facts.views.pools() if len(pool.published)}


class PublishedListRule:
    """The rule that under four eyes no game changes a published list without a proposal."""

    def __init__(self, connection: sqlite3.Connection, pools: Mapping[str, Pool]) -> None:
        """Take the views, and the pools by name that have published lists."""
        self._connection = connection
        self._pools = pools

    def refusals(self, games: Iterable[NewGame], position: int) -> dict[int, RejectedError]:
        """Return by place the refusal of each new game that would change a published list.

        Args:
            games: the games.
            position: of the next entry.
        """
        games = list(games)
        ends: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for game in games:
            if game.tournament and game.pool in self._pools and self._pools[game.pool].by_event:
                ends[game.pool, game.tournament].append(instant_ms(game.ended_at))
        editions = {of: self._editions(*of, each, [(end, position) for end in each]) for of, each in ends.items()}
        moving = {of for of, each in ends.items() if self._move_listed(*of, each, editions[of])}
        refused: dict[int, RejectedError] = {}
        for place, game in enumerate(games):
            pool, end = self._pools.get(game.pool), instant_ms(game.ended_at)
            if pool is None:
                continue
            edition = editions.get((game.pool, game.tournament or ""), {}).get(end)
            published_ms = pool.published.limits[-1]
            is_listed = game.rated and pool.place(end, game.tournament, edition, position).rated_ms <= published_ms
            if is_listed or (game.pool, game.tournament) in moving:
                refused[place] = _refusal(game, published_ms)
        return refused

    def _move_listed(self, name: str, tournament: str, ends: list[int], after: Mapping[int, KnownEdition]) -> bool:
        """Return whether new games move others of their tournament, rated whole, out of or within a published list."""
        pool = self._pools[name]
        limit = pool.published.limits[-1]
        if pool.by_next_list:  # lists have their games for good
            return False
        before = self._editions(name, tournament, ends, [])
        places = [(pool.place(end, tournament, before[end]), pool.place(end, tournament, after[end])) for end in before]
        return any(old != new and min(old.rated_ms, new.rated_ms) <= limit for old, new in places)

    def _editions(
        self, name: str, tournament: str, ends: list[int], reported: list[tuple[int, int]]
    ) -> Mapping[int, KnownEdition]:
        return known_editions(self._connection, self._pools[name], tournament, min(ends), max(ends), reported)


def _refusal(game: NewGame, published_ms: int) -> RejectedError:
    until = instant_text(published_ms, Precision.DAY)
    return RejectedError(
        late_facts.NEEDS_A_PROPOSAL,
        f"game:{game.game}",
        f"four eyes are on, and the lists of pool {game.pool!r} are published up to {until}, which this game would "
        "change; propose it with 'correct late', for somebody else to approve",
    )
