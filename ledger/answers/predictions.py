"""What a game would bring: the scheme's own kernel asked for a win, a draw and a loss. Nothing is written."""

from __future__ import annotations

from typing import Any

from ledger.answers.wording import day, shown
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.journal.people import Person
from ledger.ledger import Ledger
from ledger.ratings import engine, player_states, queries


def predict(
    ledger: Ledger, person: Person, opponent: Person, pool: str | None = None, at: str | None = None
) -> dict[str, Any]:
    """What a win, a draw and a loss would bring the player, unrounded; in a list scheme, as its only game.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        opponent: whom they would play.
        pool: name of the pool; the first one by default.
        at: when; by default at the time of the pool's last game.

    Raises:
        UnknownNameError: both are one person.
    """
    if person.player == opponent.player:
        raise UnknownNameError("opponent", shown(opponent), "nobody plays himself")
    rated_by = ledger.pool(pool)
    if at is None:
        latest = queries.first_row(ledger.views.connection, queries.LATEST_END, (rated_by.pool,))
        ms = ledger.now_ms() if latest is None or latest["ms"] is None else latest["ms"]
    else:
        ms = instant_end_ms(at)
    era = rated_by.eras[rated_by.era_at(ms)]
    connection = ledger.views.connection
    own, opponent_state = (player_states.at_instant(connection, rated_by, who.player, ms) for who in (person, opponent))
    when = rated_by.when(rated_by.era_at(ms), ms, ms)
    after = engine.predict(era.scheme, era.numbers, own, opponent_state, when)
    return {
        "player": shown(person),
        "opponent": shown(opponent),
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "as_of": day(ms),
        "rating": own[0],
        "opponent_rating": opponent_state[0],
        "expected_score": engine.expected(era.scheme, era.numbers, own, opponent_state, when),
        **{word: {"rating": state[0], "change": state[0] - own[0]} for word, state in after.items()},
    }
