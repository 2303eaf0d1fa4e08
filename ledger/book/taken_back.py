"""Changes of several entries, such as those of an import: what they may cover, and what was recorded again since.

A fact that was taken back may be recorded again, under its next key (``duplicates.renewed_keys``). Then the change
cannot be undone, or both records would hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import orjson

from ledger.book.conflicts import WhatIfFacts, keys_beginning
from ledger.book.stored_proposals import WITH_ENTRIES, StoredProposals
from ledger.duplicates.game_keys import is_derived_key
from ledger.duplicates.renewed_keys import renewed
from ledger.facts.changes import Change, spans_of
from ledger.facts.codec import decode
from ledger.facts.events import (
    GameRecorded,
    GameSupplemented,
    PlayerRegistered,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentOpened,
    WarningsAccepted,
)
from ledger.journal import Journal, listing

if TYPE_CHECKING:
    import sqlite3

IMPORTED = (GameRecorded, PlayerRegistered, GameSupplemented, SchemeAdopted, WarningsAccepted, *WITH_ENTRIES)
# Statements about tournaments and players are numbered: an earlier one may hold beside the one that was recorded again.
_HOLD_ALONE = (RoundWithoutGame, TournamentOpened)
_GAMES = "SELECT count(*), count(voided_by) FROM games WHERE position BETWEEN ? AND ?"
_BLOCK = 20_000  # keys that are looked up at a time
_VOIDED = "SELECT position, key FROM games WHERE position BETWEEN ? AND ? AND voided_by = ? ORDER BY position"
_KEY = "SELECT position, key FROM games WHERE position = ?"
# Of games with derived keys nobody knows the next key without the file: they are the same players' and that day's.
_LIKE = (
    "SELECT g.key, o.key FROM json_each(?) AS s CROSS JOIN games AS g ON g.position = s.value "
    "CROSS JOIN games AS o ON o.white = g.white AND o.black = g.black AND o.ended_ms = g.ended_ms "
    "WHERE o.pool = g.pool AND o.voided_by IS NULL AND o.position > ? LIMIT 64"
)
# Tables of other facts by which a player is known: what was taken back has no row in them.
OF_PLAYERS = ("rounds_without_game", "entrants", "player_details", "seeds", "changes", "federations")
_WITHOUT_GAMES = (
    "SELECT s.value FROM json_each(?1) AS s "
    "WHERE NOT EXISTS(SELECT 1 FROM games WHERE white = s.value AND voided_by IS NULL) "
    "AND NOT EXISTS(SELECT 1 FROM games WHERE black = s.value AND voided_by IS NULL) "
    + "".join(
        f"AND s.value NOT IN (SELECT player FROM {table} WHERE player IN (SELECT value FROM json_each(?1))) "
        for table in OF_PLAYERS
    )
)
_LIVE = "SELECT key FROM games WHERE position = ? AND voided_by IS NULL"


def range_change_faults(
    connection: sqlite3.Connection, journal: Journal, facts: WhatIfFacts, change: Change
) -> Iterator[tuple[str, str]]:
    """Yield why a change of several entries may not be proposed: rules and messages.

    Args:
        connection: the views, up to date with the journal.
        journal: the facts as they were recorded.
        facts: the facts after corrections.
        change: the change.
    """
    spans, size = spans_of(change.entries), journal.size()
    if spans[-1][1] > size:
        yield "no-such-fact", f"the journal holds entries 1 to {size:,}, and none up to {spans[-1][1]:,}"
        return
    marks = listing.kind_marks(IMPORTED)
    for body in (body for first, last in spans for block in journal.read(first - 1, last) for body in block):
        if not any(mark in body for mark in marks) or (_ADOPTION in body and b'@start","kind"' not in body):
            entry = orjson.loads(body)
            message = f"entry {entry['position']} is {entry['key']!r}, which no import records; give other entries"
            yield "not-correctable", message
            return
    registered = journal.find([f"player:{number}" for first, last in spans_of(change.players)
                               for number in range(first, min(last, first + size) + 1)])  # fmt: skip
    count = sum(last - first + 1 for first, last in spans_of(change.players))
    among = [entry for entry in registered.values() if any(first <= entry.position <= last for first, last in spans)]
    if len(among) != count:
        yield "bad-value", f"players {change.players} are not all registered by entries {change.entries}"
        return
    counts = [connection.execute(_GAMES, span).fetchone() for span in spans]
    others = [] if any(games > voided for games, voided in counts) else list(_others_in_force(journal, facts, spans))
    if any(games > voided for games, voided in counts) or others:
        return
    by = sorted({act.proposal for act in facts.proposals.spans_of_entries if act.change.subject == change.subject})
    if by:
        yield "changes-nothing", f"entries {change.entries} were taken back by proposal {by[-1]} already"
    else:
        yield "changes-nothing", f"entries {change.entries} hold nothing that can be taken back"


_ADOPTION = b'"kind":"scheme-adopted/'


def _others_in_force(journal: Journal, facts: WhatIfFacts, spans: list[tuple[int, int]]) -> Iterator[str]:
    """Yield the keys of facts besides games that still hold."""
    for first, last in spans:
        for body in listing.matching_bodies(journal, first - 1, last, listing.kind_marks(WITH_ENTRIES)):
            key = str(orjson.loads(body)["key"])
            fact = facts.fact(key)
            if fact is not None and fact.annulled_by is None:
                yield key


def players_taken_back(connection: sqlite3.Connection, players: Iterable[int]) -> set[int]:
    """Return those of some players whom an import brought that was taken back, and of whom nothing else is recorded."""
    proposals = StoredProposals(connection)
    spans = [span for act in proposals.spans_of_entries for span in spans_of(act.change.players)]
    if not spans:
        return set()
    among = [player for player in players if any(first <= player <= last for first, last in spans)]
    numbers = orjson.dumps([player for player in among if player not in proposals.merges]).decode()
    return {player for (player,) in connection.execute(_WITHOUT_GAMES, (numbers,))}


def recorded_again(
    connection: sqlite3.Connection, journal: Journal, facts: WhatIfFacts, change: Change, proposal: int
) -> tuple[str, str] | None:
    """Return the first fact that a change of several entries took back and its newer record; None if there is none.

    Args:
        connection: the views, up to date with the journal.
        journal: the facts as they were recorded.
        facts: the facts after corrections.
        change: the change.
        proposal: the proposal of the change.
    """
    for span in spans_of(change.entries):
        if pair := _games_again(connection, journal, connection.execute(_VOIDED, (*span, proposal))):
            return pair
        marks = listing.kind_marks(_HOLD_ALONE)
        for body in listing.matching_bodies(journal, span[0] - 1, span[1], marks):
            event = decode(body).event
            keys = [renewed(event, number).key for number in (2, 3, 4)]
            if isinstance(event, RoundWithoutGame):
                keys = [key for key in keys_beginning(journal, event.place) if key != event.key]
            for key in keys:
                fact = facts.fact(key)
                if fact is not None and fact.annulled_by is None:
                    return event.key, key
    return None


def game_recorded_again(
    connection: sqlite3.Connection, journal: Journal, entry: int, proposals: StoredProposals
) -> tuple[str, str] | None:
    """Return a game that was taken back with others and its newer record; None if there is none."""
    if not proposals.range_changes_for_entry(entry):
        return None
    return _games_again(connection, journal, connection.execute(_KEY, (entry,)))


def _games_again(connection: sqlite3.Connection, journal: Journal, games: sqlite3.Cursor) -> tuple[str, str] | None:
    while block := games.fetchmany(_BLOCK):
        derived = [position for position, key in block if is_derived_key(key)]
        for key, other in connection.execute(_LIKE, (orjson.dumps(derived).decode(), max(derived, default=0))):
            if is_derived_key(other):
                return f"game:{key}", f"game:{other}"
        named = [f"game:{key}" for _, key in block if not is_derived_key(key)]
        pending = {f"{key}+2": key for key in named}
        while pending:
            newer = journal.find([*pending])
            for other, entry in newer.items():
                if connection.execute(_LIVE, (entry.position,)).fetchone():
                    return pending[other], other
            pending = {_following(other): pending[other] for other in newer}
    return None


def _following(key: str) -> str:
    base, _, number = key.rpartition("+")
    return f"{base}+{int(number) + 1}"
