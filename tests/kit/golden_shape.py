"""How an entry whose bytes are pinned is given: to the codec, with its position, its actor and the moment."""

from __future__ import annotations

from typing import NamedTuple

from ledger.facts.codec import assemble, facts
from ledger.facts.events import Event


class Golden(NamedTuple):
    """An entry as it is given to the codec."""

    position: int
    recorded_at: str
    actor: str
    event: Event
    old_kind: str = ""  # where it is of a kind that is no longer written

    def body(self) -> bytes:
        """Its bytes as the codec writes them, or wrote them."""
        event = self.event
        kind = self.old_kind or event.KIND
        return assemble(self.position, self.recorded_at, self.actor, kind, event.key, facts(event))


SETTINGS_OF_EVERY_SHAPE: dict[str, int | bool | str] = {
    "provisional_games": 50,
    "a-switch": True,
    "Z": "-0.250",
    "k": "32",
    "big": -(2**53 - 1),
}
