"""Passes new and changed facts, or all of them, to the projectors of facts.

Each receives a fact once a fold, after all corrections have taken effect: before the fold, and now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from ledger.book.assessment import Reratings
from ledger.book.book_state import BookState
from ledger.book.tables import FACT_COLUMNS, game_facts
from ledger.facts import codec
from ledger.facts.events import Event, GameRecorded
from ledger.journal import listing
from ledger.ratings.fact_projector import DeclaredFactProjector, FactRows
from ledger.runtime.long_work import Progress, no_progress

_COLUMNS = ("position", "pool", "key", *FACT_COLUMNS)
# Voided games do not count, nor do games between two numbers of one person.
_STAND = f"SELECT {', '.join(_COLUMNS)} FROM games WHERE voided_by IS NULL AND white <> black AND "
_NEW = f"{_STAND} position > ? AND position <= ? ORDER BY position"
_SOME = f"{_STAND} position IN (SELECT value FROM json_each(?))"
_BLOCK = 10_000  # rows that are read at one time, and entries between two signs of progress


class FactAtPosition(NamedTuple):
    """A changed fact of the entry at a position: before and now, which differ."""

    position: int
    before: Event | None
    now: Event | None


def project_changed_facts(
    book: BookState, projectors: Sequence[DeclaredFactProjector], after: int, until: int, fresh: Reratings
) -> None:
    """Update the tables of fact projectors by the new entries and the facts that they changed.

    Args:
        book: up to date with entry *until*.
        projectors: their tables are those after the entry *after*.
        after: the last entry that was known before.
        until: the last one that is known now.
        fresh: what the fold has noted: rows of games before, positions of other corrected facts.
    """
    kinds = {kind for projector in projectors for kind in projector.kinds}
    tables = [(frozenset(projector.kinds), FactRows(book.connection, projector)) for projector in projectors]
    for fact in changed_facts(book, kinds, after, until, fresh):
        kind = type(fact.before if fact.now is None else fact.now)
        for kinds_told, rows in tables:
            if kind in kinds_told:
                rows.apply(*fact)
    for _, rows in tables:
        rows.write()


def changed_facts(
    book: BookState, kinds: set[type[Event]], after: int, until: int, fresh: Reratings
) -> Iterator[FactAtPosition]:
    """Yield the facts of some kinds that new entries record or change, with the arguments of the above."""
    yield from _new(book, kinds, after, until)
    yield from _corrected(book, kinds, after, fresh.other_facts)
    if GameRecorded in kinds:
        yield from _changed_games(book, after, fresh.former_games or {})


def project_all_facts(
    book: BookState, projectors: Sequence[DeclaredFactProjector], until: int, progress: Progress = no_progress
) -> None:
    """Fill the empty tables of fact projectors from all current facts of an entry.

    It runs in the caller's transaction.
    """
    names = ", ".join(projector.name for projector in projectors)
    for last in range(0, until, _BLOCK):
        project_changed_facts(book, projectors, last, min(last + _BLOCK, until), Reratings())
        progress(f"table {names}", min(last + _BLOCK, until), until)


def _new(book: BookState, kinds: set[type[Event]], after: int, until: int) -> Iterator[FactAtPosition]:
    """Yield the current facts of new entries."""
    if GameRecorded in kinds:
        for position, now in _games(book, _NEW, (after, until)):
            yield FactAtPosition(position, None, now)
    if others := kinds - {GameRecorded}:
        for body in listing.matching_bodies(book.journal, after, until, listing.kind_marks(others)):
            entry = codec.decode(body)
            # while nothing was ever approved, each fact is as it was recorded, and nothing need be looked up
            current: Event | None = entry.event
            if book.proposals.any_approved:
                current = book.corrected_fact(entry.event, entry.position, in_force=True)
            if current is not None:
                yield FactAtPosition(entry.position, None, current)


def _games(book: BookState, query: str, arguments: Sequence[object]) -> Iterator[tuple[int, Event]]:
    names = {pool.pool: name for name, pool in book.pools.items()}
    cursor = book.connection.execute(query, arguments)
    while rows := cursor.fetchmany(_BLOCK):
        for row in rows:
            game = dict(zip(_COLUMNS, row, strict=True))
            yield game["position"], _game(game, names[game["pool"]])


def _game(row: Mapping[str, Any], pool: str) -> Event:
    return codec.structure_event(GameRecorded.KIND, game_facts(row, pool))


def _changed_games(book: BookState, after: int, former: Mapping[int, Mapping[str, Any]]) -> Iterator[FactAtPosition]:
    """Yield games of earlier entries that a fold changed, from their former rows."""
    names = {pool.pool: name for name, pool in book.pools.items()}
    earlier = sorted(position for position in former if position <= after)
    now_by_position = dict(_games(book, _SOME, (orjson.dumps(earlier).decode(),)))
    for position in earlier:
        row = former[position]
        is_none = row["voided_by"] is not None or row["white"] == row["black"]
        before = None if is_none else _game(row, names[row["pool"]])
        # a game that was only judged again has the same facts: no projector receives it
        if before != now_by_position.get(position):
            yield FactAtPosition(position, before, now_by_position.get(position))


def _corrected(
    book: BookState, kinds: set[type[Event]], after: int, other_facts: Mapping[int, Event]
) -> Iterator[FactAtPosition]:
    """Yield other facts of earlier entries that a decision changed; before, by what was decided up to then."""
    for position, event in sorted(other_facts.items()):
        if position <= after and type(event) in kinds:
            before = book.corrected_fact(event, position, until=after, in_force=True)
            now = book.corrected_fact(event, position, in_force=True)
            if before != now:
                yield FactAtPosition(position, before, now)
