"""Taking back what a file brought: the change that does it, and what stays all the same.

One change names the entries of the import and the players whom they registered. Announcements of tournaments that have
games of other entries are left out, so that those games stay where they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import attrs
import orjson

from ledger.book.decisions import person_of
from ledger.book.stored_proposals import WITH_ENTRIES, StoredProposals
from ledger.book.taken_back import OF_PLAYERS
from ledger.errors import MalformedError
from ledger.facts.changes import SPANS_PATTERN, Change, Verb, spans_of, spans_text
from ledger.facts.events import (
    GameSupplemented,
    PlayerDescribed,
    PlayerEntered,
    PlayerRegistered,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentDescribed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.handle import OpenLedger
from ledger.journal import listing
from ledger.recording.import_register import RegisteredImport

NAMED = 10  # players, games and tournaments that a line names
_STATEMENTS = (PlayerEntered, TournamentDescribed, PlayerDescribed)
_SPANS = re.compile(SPANS_PATTERN, re.ASCII)
_OTHERS_AT = (
    "SELECT position FROM games WHERE pool = (SELECT pool FROM pools WHERE name = ?) AND tournament = ? "
    "AND ended_ms BETWEEN ? AND ? AND voided_by IS NULL"
)
_OTHER_FACTS = (
    *(f"SELECT position FROM games WHERE {side} = ? AND voided_by IS NULL" for side in ("white", "black")),
    *(f"SELECT position FROM {table} WHERE player = ?" for table in OF_PLAYERS if table != "entrants"),
)
_ENTERED = "SELECT player, position FROM entrants WHERE player IN (SELECT value FROM json_each(?))"
_TOUCHED = (
    "SELECT g.key FROM games AS g WHERE g.position BETWEEN ?1 AND ?2 AND (g.voided_by IS NOT NULL OR EXISTS("
    "SELECT 1 FROM corrections AS c JOIN proposals AS p USING (proposal) "
    "WHERE c.subject = 'game:' || g.key AND p.effective)) ORDER BY g.position"
)
_GAMES = "SELECT count(*) FROM games WHERE position BETWEEN ?1 AND ?2 AND voided_by IS NULL"


@attrs.frozen(kw_only=True)
class TakeBack:
    """The change that takes back what an import recorded.

    Attributes:
        change: the change.
        source: the import in the register; None if its entries were given.
        games: the number of its games that count, or would if they were rated.
        rounds: the number of its rounds without a game.
        tournaments: the names of its tournaments whose announcement is taken back.
        players: the number of its new players.
        leaving: the number of those of whom nothing else is recorded, who leave lists and searches.
        statements: the number of its statements about entrants, tournaments and players.
        notes: what stays, and what was corrected since, a line each.
    """

    change: Change
    source: RegisteredImport | None
    games: int
    rounds: int
    tournaments: list[str]
    players: int
    leaving: int
    statements: int
    notes: list[str]


class _Contents(NamedTuple):
    """The facts of some entries."""

    kinds: Counter[str]
    players: list[int]
    openings: list[tuple[int, dict[str, Any]]]  # position and facts
    pools: list[str]


def take_back(ledger: OpenLedger, reference: str) -> TakeBack:
    """Return the change that takes back an import, by its number in the register, or entries such as ``12-80``.

    Whether it may be proposed, the judge of proposals decides.

    Raises:
        UnknownNameError: the register has no such import.
        MalformedError: neither a number nor entries; or nothing of the import can be taken back.
    """
    ledger.ensure_up_to_date()
    source, spans = _entries(ledger, reference)
    # Entries that do not exist yet, and those that no import records, the judge refuses.
    contents = _read_entries(ledger, spans)
    connection = ledger.views.connection
    kept = {position for position, facts in contents.openings if any(_others_at(ledger, spans, facts))}
    positions = (position for first, last in spans for position in range(first, last + 1) if position not in kept)
    entries = spans_text(positions)
    if not entries:
        raise MalformedError([f"entries {spans_text(kept)} announce tournaments that have games of other entries"])
    players = spans_text(sorted(set(contents.players))) or None
    change = Change(do=Verb.ANNUL_ENTRIES, entries=entries, players=players)
    staying = _known_otherwise(ledger, spans, contents.players)
    notes = [
        f"tournament {facts['tournament']!r} stays announced: games of other entries belong to it"
        for position, facts in contents.openings
        if position in kept
    ]
    if staying:
        called = _called(ledger, staying)
        stay = f"{len(staying):,} of its {len(contents.players):,} new players stay"
        notes.append(f"{stay}, for other entries are about them: {called}")
    notes += _notes_on_games(ledger, spans)
    if count := contents.kinds[GameSupplemented.KIND]:
        notes.append(f"{count:,} further facts of games that were recorded before stay with these games")
    notes += [f"pool {pool!r}, which it began, stays without its games" for pool in contents.pools]
    return TakeBack(
        change=change,
        source=source,
        games=sum(connection.execute(_GAMES, span).fetchone()[0] for span in spans),
        rounds=contents.kinds[RoundWithoutGame.KIND],
        tournaments=[facts["tournament"] for position, facts in contents.openings if position not in kept],
        players=len(contents.players),
        leaving=len(contents.players) - len(staying),
        statements=sum(contents.kinds[kind.KIND] for kind in _STATEMENTS),
        notes=notes,
    )


def _entries(ledger: OpenLedger, reference: str) -> tuple[RegisteredImport | None, list[tuple[int, int]]]:
    if reference.isascii() and reference.isdecimal() and len(reference) < 16:
        source = ledger.imports.find(int(reference))
        return source, list(source.spans)
    if not _SPANS.fullmatch(reference):
        raise MalformedError([f"expected the number of an import, or entries such as 12-80, got {reference[:80]!r}"])
    spans = spans_of(reference)
    Change(do=Verb.ANNUL_ENTRIES, entries=reference)  # which refuses spans that overlap
    return None, spans


def _read_entries(ledger: OpenLedger, spans: Sequence[tuple[int, int]]) -> _Contents:
    contents = _Contents(Counter(), [], [], [])
    # of games only the number matters, which the views have
    marks = listing.kind_marks((PlayerRegistered, GameSupplemented, SchemeAdopted, *WITH_ENTRIES))
    for first, last in spans:
        for body in listing.matching_bodies(ledger.journal, first - 1, last, marks):
            entry = orjson.loads(body)
            contents.kinds[entry["kind"]] += 1
            match entry["kind"]:
                case PlayerRegistered.KIND:
                    contents.players.append(entry["facts"]["player"])
                case TournamentOpened.KIND:
                    contents.openings.append((entry["position"], entry["facts"]))
                case SchemeAdopted.KIND:
                    contents.pools.append(entry["facts"]["pool"])
    return contents


def _among(spans: Sequence[tuple[int, int]], position: int) -> bool:
    return any(first <= position <= last for first, last in spans)


def _others_at(ledger: OpenLedger, spans: Sequence[tuple[int, int]], facts: dict[str, Any]) -> Iterator[bool]:
    """Yield True for each game of other entries on the announced days of a tournament."""
    days = instant_ms(facts["starts_at"]), instant_end_ms(facts["ends_at"])
    rows = ledger.views.connection.execute(_OTHERS_AT, (facts["pool"], facts["tournament"], *days))
    yield from (True for (position,) in rows if not _among(spans, position))


def _known_otherwise(ledger: OpenLedger, spans: Sequence[tuple[int, int]], players: Sequence[int]) -> list[int]:
    """Return the players of whom other entries record something that counts."""
    connection, merges = ledger.views.connection, StoredProposals(ledger.views.connection).merges
    entered = connection.execute(_ENTERED, (orjson.dumps(list(players)).decode(),)).fetchall()
    elsewhere = {player for player, position in entered if not _among(spans, position)}
    return [
        player
        for player in players
        if player in elsewhere
        or any(
            not _among(spans, position)
            for query in _OTHER_FACTS
            for (position,) in connection.execute(query, (person_of(merges, player),))
        )
    ]


def _called(ledger: OpenLedger, players: Sequence[int]) -> str:
    persons = ledger.people.by_number(players[:NAMED])
    names = [
        f"{persons[player].name or 'player'} ({player})" if player in persons else str(player)
        for player in players[:NAMED]
    ]
    return _listed(names, len(players))


def _listed(names: Sequence[str], count: int) -> str:
    more = count - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")


def _notes_on_games(ledger: OpenLedger, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return a line on the games that a later correction touched."""
    keys = [key for span in spans for (key,) in ledger.views.connection.execute(_TOUCHED, span)]
    if not keys:
        return []
    games = "game was" if len(keys) == 1 else "games were"
    named = _listed(keys[:NAMED], len(keys))
    return [f"{len(keys):,} {games} corrected or voided since: {named}; a corrected file is recorded as it is then"]
