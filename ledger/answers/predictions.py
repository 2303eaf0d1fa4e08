"""What a game would bring: the scheme's own kernel asked for a win, a draw and a loss. Nothing is written."""

from __future__ import annotations

from typing import Any

from ledger.answers.wording import day, shown
from ledger.book.eras import Era
from ledger.errors import UnknownNameError
from ledger.facts.instants import instant_end_ms
from ledger.journal.people import Person
from ledger.ledger import Ledger
from ledger.ratings import engine
from ledger.ratings.listing import is_listed
from ledger.ratings.player_states import PlayerStates


def predict(
    ledger: Ledger, person: Person, opponent: Person, pool: str | None = None, at: str | None = None
) -> dict[str, Any]:
    """What a win, a draw and a loss would bring the player, unrounded; in a list scheme, as its only game.

    The scheme is the one in force then, and both players have the ratings of then. A rating is None, and so is a change
    to or from it, where the scheme lists no such player.

    Args:
        ledger: a ledger whose views are level.
        person: the player.
        opponent: whom they would play.
        pool: name of the pool; the first one by default.
        at: when: the end of this day, month or year; by default at the time of the pool's last game, a period that is
            not over closed with it.

    Raises:
        UnknownNameError: both are one person.
    """
    if person.player == opponent.player:
        raise UnknownNameError("opponent", shown(opponent), "nobody plays himself")
    rated_by = ledger.pool(pool)
    states = PlayerStates(ledger.views.connection, rated_by)
    if at is None:
        ms = ledger.now_ms() if states.latest_ms is None else states.latest_ms
        own, other = (states.now(who.player, ms) for who in (person, opponent))
        number = rated_by.era_at(ms) if states.latest_ms is None else states.latest_era
    else:
        ms = instant_end_ms(at)
        own, other = (states.at(who.player, ms) for who in (person, opponent))
        number = rated_by.era_at(ms)
    era = own.era
    when = rated_by.when(number, ms, ms)
    after = engine.predict(era.scheme, era.numbers, own.state, other.state, when)
    return {
        "player": shown(person),
        "opponent": shown(opponent),
        "pool": rated_by.name,
        "scheme": era.scheme.name,
        "as_of": day(ms),
        "rating": own.rating,
        "opponent_rating": other.rating,
        "expected_score": engine.expected(era.scheme, era.numbers, own.state, other.state, when),
        **{word: _brought(era, own.rating, state) for word, state in after.items()},
    }


def _brought(era: Era, before: float | None, state: tuple[float, ...]) -> dict[str, float | None]:
    """The rating that a result would bring, and the change to it."""
    rating = state[0] if is_listed(era, state) else None
    return {"rating": rating, "change": None if rating is None or before is None else rating - before}
