"""Recorded games with the facts of their supplements, as duplicate detection compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ledger.facts.events import SUPPLEMENTED, GameRecorded, GameSupplemented
from ledger.facts.words import Outcome, Termination
from ledger.journal import Find, Stored, rules

# Supplements of a game are numbered, so that each is found by its key; nearly all journals have none.

_WORDS: Mapping[str, Callable[[str], Any]] = {"outcome": Outcome, "termination": Termination}


@attrs.define
class SupplementedGame:
    """A game that a journal holds.

    Attributes:
        entry: position of the entry that recorded it.
        facts: recorded and supplemented, in the fields of ``game-recorded/1`` as plain values, without the key.
        supplements: number of its supplements.
    """

    entry: int
    facts: dict[str, Any]
    supplements: int = 0

    def supplement(self, game: str, added: Mapping[str, Any]) -> GameSupplemented:
        """Return the supplement with what is *added*, and add this to the facts.

        Raises:
            ValueError: a value is not allowed in its field.
        """
        event = GameSupplemented(game=game, entry=self.entry, number=self.supplements + 1, **_in_words(added))
        self.supplements += 1
        self.facts = {**self.facts, **added}
        return event

    def with_facts(self, game: str, added: Mapping[str, Any]) -> GameRecorded:
        """Return the game as it would be recorded with what is *added*."""
        return GameRecorded(game=game, **_in_words({**self.facts, **added}))


def load_games(find: Find, recorded: Mapping[str, Stored]) -> dict[str, SupplementedGame]:
    """Return recorded games with their supplements, by key of the game.

    Args:
        find: looks up keys in the journal.
        recorded: the entries that recorded them, by their key in the journal.
    """
    games = {
        key[len("game:") :]: SupplementedGame(entry.position, rules.facts_of(entry)) for key, entry in recorded.items()
    }
    pending = list(games)
    while pending:
        entries = find([f"supplement:{game}@{games[game].supplements + 1}" for game in pending])
        for entry in entries.values():
            facts = rules.facts_of(entry)
            game = games[facts["game"]]
            game.facts.update({field: facts[field] for field in SUPPLEMENTED if field in facts})
            game.supplements += 1
        pending = [game for game in pending if f"supplement:{game}@{games[game].supplements}" in entries]
    return games


def _in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values as the event classes take them."""
    return {field: _WORDS[field](value) if field in _WORDS else value for field, value in facts.items()}
