"""Supplements and corrections applied again to games of the book: their rows are read, changed, assessed and written.

A correction, a merge, a voided tournament and a supplement take one path: the facts as they were recorded, with their
supplements, then the changes in force, the persons of merged players, and whether the game is voided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from ledger.book import decisions
from ledger.book.assessment import ASSESSED_COLUMNS, Reratings
from ledger.book.book_state import BookState
from ledger.book.decisions import ApprovedChange
from ledger.book.stored_proposals import StoredProposals
from ledger.book.tables import ASSESSMENT_COLUMNS, DERIVED_COLUMNS, FACT_COLUMNS, game_facts, game_row
from ledger.errors import CorruptError, MalformedError
from ledger.facts import codec
from ledger.facts.changes import Verb
from ledger.facts.events import SUPPLEMENTED, GameRecorded, GameSupplemented

if TYPE_CHECKING:
    import sqlite3


BLOCK = 20_000  # games whose rows are Python objects at one time
SUPPLEMENTED_COLUMNS = tuple(
    name for name in SUPPLEMENTED if name != "text"
)  # by supplements; the movetext is in no row
_COLUMNS = ("position", "pool", "key", *FACT_COLUMNS, *DERIVED_COLUMNS, *ASSESSMENT_COLUMNS, "voided_by")
# One statement however many positions there are: it is prepared once, and no limit on question marks is met.
_AMONG = "position IN (SELECT value FROM json_each(?))"
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM games WHERE {_AMONG} ORDER BY position"
_ORIGINALS = f"SELECT position, facts FROM originals WHERE {_AMONG}"
_SIDES = f"SELECT position, white, black FROM given_sides WHERE {_AMONG}"
_WRITTEN = tuple(name for name in _COLUMNS if name not in {"position", "key"})
_UPDATE = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE position = ?"
_UNRATED = {"half_moves", "started_at"}  # if the assessment stays, no rating and no row of a table depends on them
# the columns that determine the days of a tournament
_OF_TOURNAMENT = ("pool", "tournament", "ended_ms", "white", "black", "voided_by")
_KEEP_ORIGINAL = "INSERT OR REPLACE INTO originals VALUES (?, ?)"
_KEEP_SIDES = "INSERT OR REPLACE INTO given_sides VALUES (?, ?, ?)"

Row = dict[str, Any]
Supplement = tuple[int, Mapping[str, Any]]  # position of the entry that recorded a game, and the added facts


def supplement_of(event: GameSupplemented) -> Supplement:
    """Return the game of a supplement and the facts that it adds, as plain values."""
    facts = codec.facts_mapping(event)
    return event.entry, {name: facts[name] for name in SUPPLEMENTED_COLUMNS if name in facts}


def apply_supplements(book: BookState, supplements: Iterable[Supplement], reratings: Reratings) -> None:
    """Add the facts of supplements, in the order of the journal, to their games.

    Raises:
        CorruptError: a supplemented game has no row.
    """
    games: dict[int, dict[str, Any]] = {}
    for entry, more in supplements:
        games.setdefault(entry, {}).update(more)
    reapply_games(book, games, reratings)


def reapply_games(book: BookState, games: Mapping[int, Mapping[str, Any]], reratings: Reratings) -> None:
    """Apply supplements and corrections to games again.

    The games to be rated again are noted in *reratings*.

    Args:
        book: the book of the games.
        games: by position of the entry that recorded a game, the facts that a supplement adds; none for a correction.
        reratings: takes the games to be rated again.
    """
    # by position, as their rows lie in the table: they are read and written from one end to the other
    waiting = iter(sorted(games.items()))
    while block := dict(islice(waiting, BLOCK)):
        before = game_rows(book.connection, list(block))
        if lost := {entry for entry, more in block.items() if more} - {row["position"] for row in before}:
            message = "is supplemented as a game that it did not record; run 'audit'"
            raise CorruptError("journal", min(lost), message)
        after = _after_all(book, before, block)
        assessments = book.assessor.assess_rows([tuple(row[name] for name in ASSESSED_COLUMNS) for row in after])
        changed = []
        for former, row, assessment in zip(before, after, assessments, strict=True):
            row.update(zip(ASSESSMENT_COLUMNS, assessment, strict=True))
            if any(former[name] != row[name] for name in _WRITTEN):
                _note(book, former, row, reratings)
                if reratings.former_games is not None:
                    # If a game changes twice in one step, the first row is the former one.
                    reratings.former_games.setdefault(row["position"], former)
                changed.append(tuple(row[name] for name in (*_WRITTEN, "position")))
        book.connection.executemany(_UPDATE, changed)


def _after_all(book: BookState, before: Sequence[Row], more: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """Return the rows after all supplements and corrections, not yet assessed."""
    names = {pool.pool: name for name, pool in book.pools.items()}
    recorded = recorded_facts(book.connection, before, names)
    # rows that still apply are inserted again
    for table in ("originals", "given_sides"):
        book.connection.execute(f"DELETE FROM {table} WHERE {_AMONG}", (orjson.dumps(list(more)).decode(),))
    subjects = [f"game:{row['key']}" for row in before] if book.proposals.any_approved else []
    acting = book.proposals.approved_changes(subjects) if subjects else {}
    return [
        _after(book, row, names[row["pool"]], {**facts, **more[row["position"]]}, acting.get(f"game:{row['key']}", ()))
        for row, facts in zip(before, recorded, strict=True)
    ]


def _after(book: BookState, row: Row, pool: str, recorded: Mapping[str, Any], acting: Sequence[ApprovedChange]) -> Row:
    """Return the row of a game in a pool after its changes."""
    in_force = decisions.combined_change(acting)
    facts = decisions.with_fields(recorded, in_force.fields) if in_force.fields else recorded
    after = dict(row)
    if in_force.fields:
        try:
            codec.structure_event(GameRecorded.KIND, dict(facts))
        except MalformedError as error:  # only a journal that was written past the judge has such corrections
            message = f"was corrected to what no game may be ({error}); run 'audit'"
            raise CorruptError("journal", row["position"], message) from error
        original = orjson.dumps(dict(recorded), option=orjson.OPT_SORT_KEYS).decode()
        book.connection.execute(_KEEP_ORIGINAL, (row["position"], original))
    if facts != game_facts(row, pool):
        if facts["pool"] not in book.pools:
            message = f"was moved to pool {facts['pool']!r}, which has no scheme; run 'audit'"
            raise CorruptError("journal", row["position"], message)
        after |= game_row(facts, book.pools[facts["pool"]].pool)
    sides = (after["white"], after["black"])
    after["white"], after["black"] = (decisions.person_of(book.proposals.merges, player) for player in sides)
    if sides != (after["white"], after["black"]):
        book.connection.execute(_KEEP_SIDES, (row["position"], *sides))
    after["voided_by"] = in_force.annulled_by(_spans(book.proposals, after, facts["pool"]))
    return after


def _spans(proposals: StoredProposals, row: Row, pool: str) -> Iterator[ApprovedChange]:
    """Yield the changes in force of all games of a player, a tournament or some entries that a game is among."""
    yield from proposals.range_changes_for_entry(row["position"])
    for span in proposals.range_changes_for_game(row["white"], row["black"], pool, row["tournament"]):
        change, (first, last) = span.change, decisions.span_ms(span.change)
        if not first <= row["ended_ms"] <= last:
            continue
        if change.do is Verb.ANNUL_GAMES:
            # By the present person: the number in the change, if it was merged since, would be taken for Black's in
            # each game.
            person = decisions.person_of(proposals.merges, change.player or 0)
            if not row["rated"] or not decisions.annuls_game(change, person, row["white"], row["outcome"]):
                continue
        yield span


def _note(book: BookState, former: Row, row: Row, reratings: Reratings) -> None:
    """Note the games to be rated again after a game changed."""
    if any(former[name] != row[name] for name in _OF_TOURNAMENT):
        for version in (former, row):
            book.note_tournament_game(version["pool"], version["tournament"], version["ended_ms"])
    counted = [version for version in (former, row) if version["reason"] is None]
    if not counted or (len(counted) > 1 and all(former[n] == row[n] for n in _WRITTEN if n not in _UNRATED)):
        return
    # in both pools: a row of the old one may have the new place
    first = min(former["rated_ms"], row["rated_ms"])
    for version in counted:
        reratings.note(version["pool"], first, (version["white"], version["black"]))


def game_rows(connection: sqlite3.Connection, positions: Sequence[int]) -> list[Row]:
    """Return the current rows of games by their positions in the journal, in that order."""
    cursor = connection.execute(_SELECT, (orjson.dumps(list(positions)).decode(),))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def recorded_facts(
    connection: sqlite3.Connection, rows: Sequence[Row], names: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the plain facts of games before all corrections, with their supplements.

    Args:
        connection: the database of the book.
        rows: the rows of the games, as ``game_rows`` returns them.
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
            facts.append({**game_facts(row, names[row["pool"]]), "white": white, "black": black})
    return facts


def _by_position(connection: sqlite3.Connection, query: str, positions: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    rows = connection.execute(query, (orjson.dumps(list(positions)).decode(),))
    return {position: tuple(row) for position, *row in rows}
