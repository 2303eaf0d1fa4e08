"""The keys of facts that are recorded again after their import was taken back.

A journal has no two entries of one key, and an entry stays for ever. A fact that was taken back with its import no
longer holds its key: the corrected file reports it again, and it is recorded under the next key of its own.

* A game gets the key of its source with a number, ``lichess:Mxzwh32Z+2``; one whose key was derived from its facts
  gets the next derived key, as the second game of a pair on one day does (``game_keys``).
* A round without a game has a day of its edition in its key, and an announcement its first day. They get another
  spelling of that day, its first second, then the next millisecond (of an announcement, the one before).
"""

from __future__ import annotations

import attrs

from ledger.duplicates.game_keys import MOST_OF_ONE_KEY, next_key
from ledger.facts.events import Event, GameRecorded, RoundWithoutGame, TournamentOpened
from ledger.facts.instants import Precision, instant_ms, instant_text, precision

RENEWED = (GameRecorded, RoundWithoutGame, TournamentOpened)
MOST = MOST_OF_ONE_KEY  # records of one fact, each taken back but the last


def renewed(event: Event, number: int) -> Event:
    """Return a fact under the key of its *number*-th record (from 2 on); unchanged if its kind has no such keys."""
    match event:
        case GameRecorded():
            return attrs.evolve(event, game=next_key(event.game, number))
        case RoundWithoutGame():
            return attrs.evolve(event, edition=_respelled(event.edition, number, 1))
        case TournamentOpened():
            return attrs.evolve(event, starts_at=_respelled(event.starts_at, number, -1))
        case _:
            return event


def _respelled(instant: str, number: int, step: int) -> str:
    is_exact = precision(instant) in {Precision.SECOND, Precision.MILLISECOND}
    return instant_text(instant_ms(instant) + step * (number - (1 if is_exact else 2)))
