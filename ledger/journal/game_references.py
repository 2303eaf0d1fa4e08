"""Finding a game by a reference: its key, its number in the journal, its server's id, or its web address.

Keys are looked up in the index of the journal; no entry is read but the one that is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import orjson

from ledger.errors import UnknownNameError
from ledger.facts.events import GameRecorded
from ledger.imports.reading import key_of_address
from ledger.journal import Journal, StoredEntry
from ledger.runtime.visible import is_storable

_GAME, _AFTER_GAMES = "game:", "game;"
_MOST_SOURCES = 500  # that keys are looked for under
_MOST_WITHOUT = 20_000  # keys in a row without a source
_HINT = "give the key as 'games' shows it, the id that its server gave it, or its web address"


def find_game(journal: Journal, reference: str) -> tuple[str, StoredEntry]:
    """Return the key of a game, without ``game:``, and its entry.

    Args:
        journal: the journal.
        reference: the key, ``#`` and the number of the entry that recorded the game, the part of the key behind its
            source, or the game's address on lichess.org, chess.com or ficsgames.org.

    Raises:
        UnknownNameError: there is no such game, or games of several sources, whose keys are listed.
    """
    if reference[:1] == "#" and reference[1:].isdecimal():
        return _game_of_entry(journal, reference)
    if not is_storable(reference):
        raise UnknownNameError("game", reference, _HINT)
    key = reference.removeprefix(_GAME)
    exact = journal.find([_GAME + key]).get(_GAME + key)
    if exact is not None:
        return key, exact
    at_address = key_of_address(reference)
    keys = [at_address] if at_address else [f"{source}:{key}" for source in _sources(journal)]
    matches = journal.find([_GAME + name for name in keys])
    if len(matches) == 1:
        ((name, stored),) = matches.items()
        return name.removeprefix(_GAME), stored
    named = sorted(name.removeprefix(_GAME) for name in matches)
    raise UnknownNameError("game", reference, f"several sources have one: {named}" if matches else _HINT)


def _game_of_entry(journal: Journal, entry_number: str) -> tuple[str, StoredEntry]:
    # Nineteen digits: no position has more, and Python refuses to read a number of thousands.
    position = int(entry_number[1:20])
    there = 1 <= position <= journal.size()
    bodies = [body for block in journal.read(position - 1, position) for body in block] if there else []
    if not bodies:
        raise UnknownNameError("game", entry_number, f"the journal has {journal.size():,} entries")
    entry = orjson.loads(bodies[0])
    if entry["kind"] != GameRecorded.KIND:
        raise UnknownNameError(
            "game", entry_number, f"that entry is a {entry['kind']}; 'games' shows the numbers of games"
        )
    key = str(entry["key"])
    return key.removeprefix(_GAME), journal.find([key])[key]


def _sources(journal: Journal) -> Iterator[str]:
    """Yield the sources in the games' keys, before the colon, each once: few look-ups, however many games."""
    first: str | None = _GAME
    for _ in range(_MOST_SOURCES):
        if first is None:
            return
        # of the first key that has one; None where there is none among the first few thousand
        names = (key[len(_GAME) :] for key in islice(journal.keys(first, _AFTER_GAMES), _MOST_WITHOUT))
        source = next((name.partition(":")[0] for name in names if ":" in name), None)
        if source is not None:
            yield source
        first = None if source is None else f"{_GAME}{source};"  # the semicolon follows the colon
