"""Games after corrections: as recorded, then their changes, then the persons that their players are, judged anew.

Which changes act on a fact is said in ``corrections``; facts of other kinds are the business of ``settled_facts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ledger.book import corrections
from ledger.book.corrections import Acting, Standing
from ledger.book.decided import Decided
from ledger.book.fresh import Fresh
from ledger.book.game_rows import DERIVED, FACTS, PLACED, facts_of, row_of
from ledger.book.judging import JUDGED, Judging
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, MalformedError
from ledger.facts import codec
from ledger.facts.changes import Verb
from ledger.facts.events import GameRecorded

if TYPE_CHECKING:
    import sqlite3

BLOCK = 20_000  # games whose rows are Python objects at one time
_COLUMNS = ("position", "pool", "key", *FACTS, *DERIVED, *PLACED, "voided_by")
_AMONG = "position IN (SELECT value FROM json_each(?))"
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM games WHERE {_AMONG} ORDER BY position"
_ORIGINALS = f"SELECT position, facts FROM originals WHERE {_AMONG}"
_SIDES = f"SELECT position, white, black FROM given_sides WHERE {_AMONG}"
_WRITTEN = tuple(name for name in _COLUMNS if name not in {"position", "key"})
_UPDATE = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE position = ?"
_UNRATED = {"half_moves", "started_at"}  # where the verdict stays, no rating and no row of a table knows them
_KEEP_ORIGINAL = "INSERT OR REPLACE INTO originals VALUES (?, ?)"  # no upsert: a preview writes into a view
_KEEP_SIDES = "INSERT OR REPLACE INTO given_sides VALUES (?, ?, ?)"
NO_CHANGES = Standing({}, None, None)

Moved = Callable[[int, str | None, int], None]
Row = dict[str, Any]


class SettledGames:
    """What makes the games of one book those that its corrections say."""

    def __init__(
        self, connection: sqlite3.Connection, pools: Mapping[str, Pool], judging: Judging, decided: Decided,
        moved: Moved,
    ) -> None:  # fmt: skip
        """Take the parts of the book.

        Args:
            connection: its database.
            pools: its pools by name, as they stand at each moment.
            judging: its judge.
            decided: what was proposed and decided.
            moved: called with a pool, a tournament and an instant where a game of that tournament ended or does now.
        """
        self._connection = connection
        self._pools = pools
        self._judging = judging
        self._decided = decided
        self._moved = moved

    def settle(self, positions: Iterable[int], fresh: Fresh) -> None:
        """Make these games what the corrections in force say; what is to be rated anew is noted in *fresh*."""
        waiting = sorted(set(positions))
        for start in range(0, len(waiting), BLOCK):
            self._settle(waiting[start : start + BLOCK], fresh)

    def supplemented(self, known: Mapping[int, Mapping[str, Any]]) -> list[int]:
        """Take what supplements tell of games that are corrected; returns these games, by position.

        Args:
            known: by position, the fields that are known now.
        """
        found = _by_position(self._connection, _ORIGINALS, list(known))
        for position, (facts,) in found.items():
            recorded = {**orjson.loads(facts), **known[position]}
            self._connection.execute(_KEEP_ORIGINAL, (position, _json(recorded)))
        return list(found)

    def _settle(self, positions: list[int], fresh: Fresh) -> None:
        before = rows_at(self._connection, positions)
        names = {pool.pool: name for name, pool in self._pools.items()}
        recorded = recorded_facts(self._connection, before, names)
        for table in ("originals", "given_sides"):  # what is still to stand there is put in again
            self._connection.execute(f"DELETE FROM {table} WHERE {_AMONG}", (orjson.dumps(positions).decode(),))
        acting = self._decided.acting([f"game:{row['key']}" for row in before])
        after = [
            self._after(row, names[row["pool"]], facts, acting.get(f"game:{row['key']}", []))
            for row, facts in zip(before, recorded, strict=True)
        ]
        verdicts = self._judging.verdicts([tuple(row[name] for name in JUDGED) for row in after])
        for stood, row, verdict in zip(before, after, verdicts, strict=True):
            row.update(zip(PLACED, verdict, strict=True))
            self._note(stood, row, fresh)
        changed = [row for stood, row in zip(before, after, strict=True) if any(stood[n] != row[n] for n in _WRITTEN)]
        values = [tuple(row[name] for name in (*_WRITTEN, "position")) for row in changed]
        self._connection.executemany(_UPDATE, values)

    def _after(self, row: Row, pool_name: str, recorded: Mapping[str, Any], acting: Sequence[Acting]) -> Row:
        """The row of a game that stands in a pool, after the changes of its game, but for the verdict."""
        stands = corrections.standing(acting) if acting else NO_CHANGES
        after = dict(row)
        if stands.fields or dict(recorded) != facts_of(row, pool_name):
            event = _event(row["position"], corrections.with_fields(recorded, stands.fields))
            after |= row_of(event, self._pool(event.pool, row["position"]).pool)
        if stands.fields:
            self._connection.execute(_KEEP_ORIGINAL, (row["position"], _json(recorded)))
        given = (after["white"], after["black"])
        after["white"], after["black"] = (corrections.root(self._decided.merges, player) for player in given)
        if given != (after["white"], after["black"]):
            self._connection.execute(_KEEP_SIDES, (row["position"], *given))
        pool = corrections.with_fields(recorded, stands.fields)["pool"]
        after["voided_by"] = self._voided_by(after, pool, stands)
        return after

    def _voided_by(self, row: Row, pool: str, stands: Standing) -> int | None:
        """The proposal that voided a game; None where the last change that speaks of it lets it stand."""
        found: list[tuple[tuple[int, int], int | None]] = []
        if stands.annulled is not None:
            found.append(stands.annulled)
        if stands.restored is not None:
            found.append((stands.restored, None))
        for span in self._decided.spans_of(row["white"], row["black"], pool, row["tournament"]):
            change, (first, last) = span.change, corrections.span(span.change)
            if not first <= row["ended_ms"] <= last:
                continue
            if change.do is Verb.ANNUL_GAMES:
                person = corrections.root(self._decided.merges, change.player or 0)
                if not row["rated"] or not corrections.is_meant(change, person, row["white"], row["outcome"]):
                    continue
            voids = change.do is not Verb.RESTORE_TOURNAMENT
            found.append(((span.position, span.number), span.proposal if voids else None))
        return max(found)[1] if found else None

    def _pool(self, name: str, position: int) -> Pool:
        pool = self._pools.get(name)
        if pool is None:
            raise CorruptError("journal", position, f"was moved to pool {name!r}, which has no scheme; run 'audit'")
        return pool

    def _note(self, stood: Row, row: Row, fresh: Fresh) -> None:
        """Note what is to be rated anew where a game stands otherwise than before."""
        if not any(stood[name] != row[name] for name in _WRITTEN):
            return
        for known in (stood, row):
            self._moved(known["pool"], known["tournament"], known["ended_ms"])
        counted = [known for known in (stood, row) if known["reason"] is None]
        if not counted or (len(counted) > 1 and all(stood[n] == row[n] for n in _WRITTEN if n not in _UNRATED)):
            return
        first = min(stood["rated_ms"], row["rated_ms"])  # in both pools: a row of the old one may bear the new place
        for known in counted:
            fresh.note(known["pool"], first, (known["white"], known["black"]))


def rows_at(connection: sqlite3.Connection, positions: Sequence[int]) -> list[Row]:
    """The games at positions of the journal as they stand in the book, by column, in order of their positions."""
    cursor = connection.execute(_SELECT, (orjson.dumps(list(positions)).decode(),))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def recorded_facts(
    connection: sqlite3.Connection, rows: Sequence[Row], names: Mapping[int, str]
) -> list[dict[str, Any]]:
    """The plain facts of games before all corrections, with what supplements told of them.

    Args:
        connection: the database of the book.
        rows: the games, as ``rows_at`` gives them.
        names: the names of the pools, by number.
    """
    positions = [row["position"] for row in rows]
    originals = _by_position(connection, _ORIGINALS, positions)
    sides = _by_position(connection, _SIDES, positions)
    facts = []
    for row in rows:
        if row["position"] in originals:
            facts.append(orjson.loads(originals[row["position"]][0]))
        else:
            white, black = sides.get(row["position"], (row["white"], row["black"]))
            facts.append({**facts_of(row, names[row["pool"]]), "white": white, "black": black})
    return facts


def _by_position(connection: sqlite3.Connection, query: str, positions: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    rows = connection.execute(query, (orjson.dumps(list(positions)).decode(),))
    return {position: tuple(row) for position, *row in rows}


def _event(position: int, facts: Mapping[str, Any]) -> GameRecorded:
    try:
        event = codec.structure_event(GameRecorded.KIND, dict(facts))
    except MalformedError as error:
        message = f"was corrected to what no game may be ({error}); run 'audit'"
        raise CorruptError("journal", position, message) from error
    assert isinstance(event, GameRecorded)
    return event


def _json(facts: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(facts), option=orjson.OPT_SORT_KEYS).decode()
