"""What further tellings add to games of the book: the rows of the games as they are known now, judged again.

The verdicts are the game book's; here are only the facts of a row and what follows from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ledger.book.judging import JUDGED
from ledger.errors import CorruptError
from ledger.facts.events import SUPPLEMENTED, GameSupplemented
from ledger.facts.instants import instant_ms
from ledger.facts.words import round_order, time_loss

if TYPE_CHECKING:
    import sqlite3

BLOCK = 20_000  # games whose rows are Python objects at one time
STORED = tuple(name for name in SUPPLEMENTED if name != "text")  # fields; the movetext stands in no row
_DERIVED = ("ended_ms", "round_order", "time_loss", "reason", "rated_ms", "batch", "began_ms")
_READ = tuple(dict.fromkeys((*JUDGED, *STORED, *_DERIVED)))
_SELECT = f"SELECT {', '.join(_READ)} FROM games WHERE position IN (SELECT value FROM json_each(?)) ORDER BY position"
_WRITTEN = (*STORED, *_DERIVED)
_UPDATE = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE position = ?"
_UNRATED = {"half_moves", "started_at"}  # where the verdict stays, no rating and no row of a table knows them

Verdict = tuple[str | None, int, str, int | None]  # why a game does not count, and its ``Place``
Judge = Callable[[list[tuple[Any, ...]]], Iterable[Verdict]]
Note = Callable[[int, int, tuple[int, int]], None]
Moved = Callable[[int, str | None, int], None]
Added = tuple[int, Mapping[str, Any]]  # position of the entry that recorded the game, and what is known now


def added(event: GameSupplemented) -> Added:
    """What a supplement tells of which game."""
    known = {name: getattr(event, name) for name in STORED}
    return event.entry, {name: _plain(value) for name, value in known.items() if value is not None}


def take(
    connection: sqlite3.Connection, supplements: Iterable[Added], judge: Judge, note: Note, moved: Moved
) -> None:
    """Fold supplements in, in the order of the journal; the games that they touch stand in the book.

    Args:
        connection: the database of the book.
        supplements: what they add to which games.
        judge: ``GameBook.verdicts``.
        note: called with a pool, a place in rating order and two players where these are to be rated anew from there.
        moved: called with a pool, a tournament and an instant where a game of that tournament ended then or does now.

    Raises:
        CorruptError: a game that was supplemented stands in no row.
    """
    games: dict[int, dict[str, Any]] = {}
    for entry, known in supplements:
        games.setdefault(entry, {}).update(known)
    waiting = iter(sorted(games.items()))
    while block := dict(islice(waiting, BLOCK)):
        _take(connection, block, judge, note, moved)


def _take(
    connection: sqlite3.Connection, games: Mapping[int, Mapping[str, Any]], judge: Judge, note: Note,
    moved: Moved,
) -> None:  # fmt: skip
    cursor = connection.execute(_SELECT, (json.dumps(list(games)),))
    before = [dict(zip(_READ, row, strict=True)) for row in cursor.fetchall()]
    if len(before) != len(games):
        lost = min(games.keys() - {row["position"] for row in before})
        raise CorruptError("journal", lost, "is supplemented as a game that it did not record; run 'audit'")
    after = [_with(row, games[row["position"]]) for row in before]
    verdicts = judge([tuple(row[name] for name in JUDGED) for row in after])
    for stood, row, verdict in zip(before, after, verdicts, strict=True):
        row["reason"], row["rated_ms"], row["batch"], row["began_ms"] = verdict
        for known in (stood, row):
            if (stood["tournament"], stood["ended_ms"]) != (row["tournament"], row["ended_ms"]):
                moved(known["pool"], known["tournament"], known["ended_ms"])
        if _is_rated_otherwise(stood, row):
            note(row["pool"], min(stood["rated_ms"], row["rated_ms"]), (row["white"], row["black"]))
    connection.executemany(_UPDATE, _values(after))


def _with(row: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The row with what is known now, and with what follows from that alone."""
    row = {**row, **known}
    row["ended_ms"] = instant_ms(row["ended_at"])
    row["round_order"] = round_order(row["round"])
    row["time_loss"] = time_loss(row["outcome"], row["termination"])
    return row


def _is_rated_otherwise(stood: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """True where ratings, or rows of rated games, may be others than before."""
    if stood["reason"] is not None and row["reason"] is not None:
        return False
    return any(stood[name] != row[name] for name in _WRITTEN if name not in _UNRATED)


def _values(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in (*_WRITTEN, "position")) for row in rows]


def _plain(value: object) -> object:
    return str(value) if isinstance(value, str) else value
