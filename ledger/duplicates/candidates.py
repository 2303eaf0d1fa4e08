"""Known games: what is known of each, and which of them the games of an import may be, by players and day.

They are held as whole columns, a few numbers for each game.

A day is that of the end or of the beginning. Players count as alike under one number or one name, whatever the case of
its letters. For many games the whole journal is read, once; for a few only those entries that an index of its games
names (``GameIndex``) and those that came after it: both give the same answers, for what is read is looked through in
the same way. What is found may be the same game, and is compared by ``alike``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ledger.facts.events import SUPPLEMENTED, GameRecorded, GameSupplemented
from ledger.facts.words import Outcome, Termination
from ledger.journal import Find, Stored, rules

# What is known of one game: the facts of its recording with those of every supplement. Supplements of a game are
# numbered, so that each is found by its key; nearly all journals have none.

_WORDS: Mapping[str, Callable[[str], Any]] = {"outcome": Outcome, "termination": Termination}


@attrs.define
class KnownGame:
    """A game that a journal holds.

    Attributes:
        entry: position of the entry that recorded it.
        facts: what is known of it, in the fields of ``game-recorded/1`` as plain values, without the key.
        supplements: how many supplements it has.
    """

    entry: int
    facts: dict[str, Any]
    supplements: int = 0

    def supplement(self, game: str, added: Mapping[str, Any]) -> GameSupplemented:
        """The supplement that tells what is *added*; it is known from now on.

        Raises:
            ValueError: a field may not be what it is.
        """
        event = GameSupplemented(
            game=game,
            entry=self.entry,
            number=self.supplements + 1,
            **_in_words(added),
        )
        self.supplements += 1
        self.facts = {**self.facts, **added}
        return event

    def with_facts(self, game: str, added: Mapping[str, Any]) -> GameRecorded:
        """The game as it would be recorded with what is *added*."""
        return GameRecorded(game=game, **_in_words({**self.facts, **added}))


def load_games(find: Find, recorded: Mapping[str, Stored]) -> dict[str, KnownGame]:
    """What is known of games, by key of the game.

    Args:
        find: what looks up keys in the journal.
        recorded: the entries that recorded them, by their key in the journal.
    """
    games = {key[len("game:") :]: KnownGame(entry.position, rules.facts_of(entry)) for key, entry in recorded.items()}
    waiting = list(games)
    while waiting:
        entries = find([f"supplement:{game}@{games[game].supplements + 1}" for game in waiting])
        for entry in entries.values():
            facts = rules.facts_of(entry)
            game = games[facts["game"]]
            game.facts.update({field: facts[field] for field in SUPPLEMENTED if field in facts})
            game.supplements += 1
        waiting = [game for game in waiting if f"supplement:{game}@{games[game].supplements}" in entries]
    return games


def _in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values as the event classes take them."""
    return {field: _WORDS[field](value) if field in _WORDS else value for field, value in facts.items()}
