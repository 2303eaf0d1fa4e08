"""Since when a player is there, as far as anything tells."""

from __future__ import annotations

from ledger.answers.moments import of_one_moment
from ledger.answers.wording import day
from ledger.ledger import Ledger
from ledger.players.people import Person

_FIRST_GAME = (
    "SELECT min(ended_ms) FROM (SELECT min(ended_ms) AS ended_ms FROM games WHERE white = ?1 "
    "UNION ALL SELECT min(ended_ms) FROM games WHERE black = ?1)"
)


@of_one_moment
def joined(ledger: Ledger, person: Person) -> str:
    """The day on which a player joined: the one that was registered, or that of the first game where that is earlier.

    Who comes in by an import is registered when the file is read, which says nothing of the player.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
    """
    (first_ms,) = ledger.views.connection.execute(_FIRST_GAME, (person.player,)).fetchone()
    registered = person.joined_at[:10]
    return registered if first_ms is None else min(registered, day(first_ms))
