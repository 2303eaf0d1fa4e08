"""Listings of journal entries: of a kind, of a game, the newest ones; and the names of the pools.

No entry is decoded: its facts are plain values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

import attrs
import orjson

from ledger.errors import UnknownNameError
from ledger.facts.events import BY_KIND, KEYS_BEGIN, OLD_KINDS, Event, PlayerChanged, PlayerRegistered
from ledger.facts.json_schemas import documented, flattened
from ledger.journal import Journal
from ledger.journal.game_references import find_game
from ledger.runtime.nearest import expected_names

_POOL, _AFTER_POOLS, _START = "scheme:", "scheme;", "@start"  # keys of the adoptions that a pool begins with
STEP = 20_000  # entries looked through at a time, from the end backwards; and looked up by their keys at most
_AFTER_COLON = ";"  # in the order of keys it follows ':', and so ends the keys of one beginning
_OF_PLAYERS = (PlayerRegistered, PlayerChanged)


@attrs.frozen(slots=False)
class Why:
    """The reason of a proposal or a decision; None if it was erased."""

    why: str | None = documented("its words; null: they were erased, or are not in the people file")


@attrs.frozen(kw_only=True, slots=False)
class JournalEntry:
    """A journal entry, with its facts as plain values."""

    actor: str = documented("who recorded it")
    facts: dict[str, Any] = documented("what it says, as the schema of its kind describes it")
    key: str = documented("what it is about: no two entries have one key")
    kind: str = documented("name and version of the event, such as game-recorded/1")
    position: int = documented("its place in the journal, from 1", minimum=1)
    recorded_at: str = documented("when it was recorded, UTC")
    reason: Why | None = flattened()

    @property
    def why(self) -> str | None:
        """The text of its reason; None if it has none, or the text was erased."""
        return None if self.reason is None else self.reason.why

    @classmethod
    def of(cls, body: bytes) -> JournalEntry:
        """Parse the body of an entry."""
        return cls(**orjson.loads(body))


def entry_bodies(journal: Journal, kind: str | None = None, last: int | None = None) -> Iterator[bytes]:
    """Return the bodies of the entries of a kind, in order.

    Args:
        journal: the journal.
        kind: with its version (``clock-accepted/1``) or without; by default all kinds.
        last: only so many of the newest ones; 0 or None: all.

    Raises:
        UnknownNameError: there is no such kind.
    """
    size = journal.size()
    if kind is None:
        return iter(_newest(journal, size, None, last)) if last else matching_bodies(journal, 0, size, None)
    # kinds that are no longer written, too, each with the class that reads it
    every_kind = _every_kind()
    kinds = {name: cls for name, cls in every_kind.items() if kind in {name, name.partition("/")[0]}}
    if not kinds:
        raise UnknownNameError("kind", kind, expected_names(kind, every_kind))
    marks_of_kinds = _marks(kinds)
    keys = _few_keys(journal, set(kinds.values()))
    if keys is not None:
        # Others may record between the two questions: the answer is of the size that was read first.
        entries = sorted(entry for entry in journal.find(keys).values() if entry.position <= size)
        every = [entry.body for entry in entries if any(mark in entry.body for mark in marks_of_kinds)]
        return iter(every[-last:] if last else every)
    return (
        iter(_newest(journal, size, marks_of_kinds, last))
        if last
        else matching_bodies(journal, 0, size, marks_of_kinds)
    )


def pool_names(journal: Journal) -> list[str]:
    """Return the names of the rating pools, in alphabetical order."""
    adoptions = journal.keys(_POOL, _AFTER_POOLS)
    return [key[len(_POOL) : -len(_START)] for key in adoptions if key.endswith(_START)]


def entries_of_game(journal: Journal, game: str) -> list[JournalEntry]:
    """Return the entries that recorded and supplemented a game, in order.

    Args:
        journal: the journal.
        game: a reference as ``find_game`` takes it.

    Raises:
        UnknownNameError: no such game, or several.
    """
    name, recorded = find_game(journal, game)
    entries = [recorded]
    while more := list(journal.find([f"supplement:{name}@{len(entries)}"]).values()):
        entries += more
    return [JournalEntry.of(entry.body) for entry in entries]


def _every_kind() -> dict[str, type[Event]]:
    return {**BY_KIND, **{old: cls for old, (cls, _) in OLD_KINDS.items()}}


def _few_keys(journal: Journal, classes: Iterable[type[Event]]) -> list[str] | None:
    """Return the keys of all entries of these kinds, from the index of keys; None if there are many."""
    # Most kinds have few entries among the games of a journal. Many entries are a large part of it, and some of them
    # are near its end: then its bodies are read.
    keys: list[str] = []
    for cls in classes:
        beginning = KEYS_BEGIN[cls]
        every = journal.keys(beginning, beginning[:-1] + _AFTER_COLON)
        # Both have one beginning, and there are as many as players: the key of a change has a day.
        of_cls = (key for key in every if cls not in _OF_PLAYERS or ("@" in key) is (cls is PlayerChanged))
        # One more than allowed shows that there are too many, without reading them all.
        keys += islice(of_cls, STEP + 1 - len(keys))
    return keys if len(keys) <= STEP else None


def kind_marks(classes: Collection[type[Event]]) -> tuple[bytes, ...]:
    """Return byte strings that occur only in bodies of these kinds, older versions included."""
    return _marks([name for name, cls in _every_kind().items() if cls in classes])


def _marks(kinds: Iterable[str]) -> tuple[bytes, ...]:
    # In canonical JSON the quotation marks of a text are escaped: no fact can spell these bytes.
    return tuple(b',"kind":"%b","position":' % kind.encode() for kind in sorted(kinds))


def matching_bodies(journal: Journal, after: int, until: int, marks: tuple[bytes, ...] | None) -> Iterator[bytes]:
    """Yield the bodies between two positions that contain one of the *marks* (see ``kind_marks``); None: all."""
    for block in journal.read(after, until):
        for body in block:
            if marks is None or any(mark in body for mark in marks):
                yield body


def _newest(journal: Journal, size: int, marks: tuple[bytes, ...] | None, last: int) -> list[bytes]:
    """Return the newest entries, read from the end backwards."""
    entries: list[bytes] = []
    # If every entry qualifies, no more are read than are shown.
    step = last if marks is None else STEP
    while size > 0 and len(entries) < last:
        after = max(size - step, 0)
        entries = [*matching_bodies(journal, after, size, marks), *entries]
        size = after
    return entries[max(len(entries) - last, 0) :]
