"""The news of a pool: the players who climbed most of late, and the largest upsets."""

from __future__ import annotations

import attrs

from ledger.answers.asking import day, in_one_snapshot, names
from ledger.answers.read_models import has_read_model
from ledger.answers.upsets import Upset, upsets
from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS
from ledger.handle import OpenLedger
from ledger.ratings.projectors.upsets import PROJECTOR

DAYS = 30
MOST_GAMES = 500  # whose players are compared: two looks for each
MOST_OF_POOL = 100_000  # rated games of a pool whose upsets are looked through
_LATEST = """
SELECT white, black, rated_ms FROM games
WHERE pool = ?1 AND reason IS NULL AND rated_ms IS NOT NULL ORDER BY rated_ms DESC LIMIT ?2
"""


@attrs.frozen(kw_only=True, slots=False)
class Climber:
    """A player who climbed."""

    player: int = documented("the player's number in the ledger", minimum=1)
    name: str = documented("what the player is called")
    rating: float = documented("the rating now, points")
    change: float = documented("how far it rose, points")


@attrs.frozen(kw_only=True, slots=False)
class PoolNews:
    """The news of a pool up to its last rated game."""

    since: str = documented("the day from which on games are looked at")
    until: str = documented("the day of the last one")
    climbers: list[Climber] = documented("who climbed most, established players alone")
    upsets: list[Upset] = documented("the largest upsets")


@in_one_snapshot
def news(ledger: OpenLedger, pool: str | None = None, *, rated_games: int, most: int = 3) -> PoolNews | None:
    """Return the news of the last 30 days with a game, or of the last 500 games if there were more; None without one.

    Args:
        ledger: a ledger whose views are up to date.
        pool: name of the pool; the first one by default.
        rated_games: the number of rated games in the pool: upsets of a large pool are left out, for all would be read.
        most: the number of climbers, and of upsets.
    """
    rated_by = ledger.pool(pool)
    rows = ledger.views.connection.execute(_LATEST, (rated_by.pool, MOST_GAMES)).fetchall()
    if not rows:
        return None
    last_ms = rows[0][2]
    since_ms = last_ms - DAYS * DAY_MS if len(rows) < MOST_GAMES else max(rows[-1][2], last_ms - DAYS * DAY_MS)
    players = {player for white, black, rated_ms in rows if rated_ms > since_ms for player in (white, black)}
    states, today = ledger.states(rated_by), ledger.now_ms()
    climbed = []
    for player in sorted(players):
        before, now = states.at(player, since_ms), states.now(player, today)
        if before.in_force is None or now.in_force is None or before.provisional or now.provisional:
            continue
        if (change := now.in_force - before.in_force) >= 1.0:
            climbed.append((change, player, now.in_force))
    climbed = sorted(climbed, key=lambda each: (-each[0], each[1]))[:most]
    called = names(ledger, {player for _, player, _ in climbed})
    surprises: list[Upset] = []
    if rated_games <= MOST_OF_POOL and has_read_model(ledger, PROJECTOR):
        surprises = upsets(ledger, rated_by.name, since=day(since_ms), limit=most)
    return PoolNews(
        since=day(since_ms),
        until=day(last_ms),
        climbers=[
            Climber(player=player, name=called[player], rating=rating, change=change)
            for change, player, rating in climbed
        ],
        upsets=surprises,
    )
