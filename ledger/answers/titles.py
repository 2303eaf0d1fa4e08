"""Titles: the ratings that bring them by the policy ``titles``, and what a player has reached and holds.

"Certain rating milestones (e.g., 2000 for Expert, 2200 for National Master) are recognized titles within the chess
community" (Chess Rating Change Calculator, Recognition). No federation's rules for norms are here: a title follows
from ratings alone. It is reached by the limit of the day on which the game ended. Whether it is kept, and whether
there is such a title at all, follows from the policy on the day of the question.
"""

from __future__ import annotations

from typing import NamedTuple

from ledger.answers.asking import in_one_snapshot
from ledger.answers.read_models import count_games_in_force
from ledger.book.policies import TITLES, Value, stored_policies
from ledger.book.timeline import Pool
from ledger.handle import OpenLedger
from ledger.players.persons import Person
from ledger.ratings import queries

# HERA counts games as this does: those of a list's row are among them, those before a new beginning are not.
_REACHED = """
SELECT n FROM history WHERE pool = ?1 AND player = ?2 AND n <= ?3 AND n + games_before >= ?4 AND rating >= ?5
AND ended_ms >= ?6 AND ended_ms < ?7 ORDER BY n LIMIT 1
"""


class ReachedTitle(NamedTuple):
    """A title that a player has reached.

    Attributes:
        title: in words, such as ``National Master``.
        limit: the rating that brings it now, points.
        n: the player's rated game after which the rating was so high first, from 1.
        is_held: False if the rating has fallen since and the policy does not let players keep a title.
    """

    title: str
    limit: int
    n: int
    is_held: bool


@in_one_snapshot
def reached_titles(ledger: OpenLedger, pool: Pool, player: int, n: int, ms: int) -> list[ReachedTitle]:
    """Return the titles that a player has reached in the first *n* rated games of a pool, the highest first.

    *ms* is the instant whose policy says which titles there are, in milliseconds since 1970.
    """
    connection = ledger.views.connection
    policies = stored_policies(connection)
    today = policies.settings_at(TITLES, ms)
    last = queries.fetch_first(connection, queries.ROW, (pool.pool, player, n)) if today["on"] and n else None
    if last is None:
        return []
    reached = []
    for name, limit in sorted(_limits(today).items(), key=lambda title: (-title[1], title[0])):
        for since_ms, until_ms, settings in policies.periods(TITLES):
            then = _limits(settings).get(name)
            if not settings["on"] or then is None:
                continue
            arguments = (pool.pool, player, n, settings["games"], _least(then), since_ms, until_ms)
            first = queries.fetch_first(connection, _REACHED, arguments)
            if first is not None:
                is_held = bool(today["keep"]) or last["rating"] >= _least(limit)
                reached.append(ReachedTitle(_in_words(name), limit, first["n"], is_held))
                break
    return reached


def _limits(settings: dict[str, Value]) -> dict[str, int]:
    """Return the rating of each title, points."""
    rules = ("on", "keep", "games")
    return {name: int(limit) for name, limit in settings.items() if limit and name not in rules}


def _least(limit: int) -> float:
    """Return the lowest rating that is *limit* to the nearest point."""
    return limit - 0.5


def _in_words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").title()


@in_one_snapshot
def held_title(ledger: OpenLedger, person: Person, pool: str) -> str | None:
    """Return the highest title that a player holds in a pool now; None if there is none."""
    rated_by, now_ms = ledger.pool(pool), ledger.now_ms()
    if not stored_policies(ledger.views.connection).settings_at(TITLES, now_ms)["on"]:
        return None  # without counting games, on each page about a player
    n = count_games_in_force(ledger, rated_by, person, ledger.states(rated_by).in_force_ms(now_ms) or 0)
    titles = reached_titles(ledger, rated_by, person.player, n, now_ms)
    return next((title.title for title in titles if title.is_held), None)
