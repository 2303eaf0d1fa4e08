"""The log of a game: its recording, its supplements, and the proposals and decisions that concern it.

A proposal concerns a game that it names; the games of a player, a tournament or entries that it annuls or restores;
and the games that a merge gives to another person. It does so whatever was decided; a proposal that undoes it concerns
the game too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import orjson

from ledger.book import decisions
from ledger.book.reapplied_games import game_rows, recorded_facts
from ledger.book.stored_proposals import includes_entry
from ledger.facts.changes import AnnulmentScope, Change, Verb, parse_change, tournament_subject
from ledger.facts.events import CorrectionDecided, CorrectionProposed, proposal_key
from ledger.facts.instants import instant_ms
from ledger.facts.words import Outcome
from ledger.handle import OpenLedger
from ledger.journal import listing
from ledger.journal.game_references import find_game
from ledger.journal.listing import JournalEntry, Why
from ledger.runtime.calls import checked_methods

if TYPE_CHECKING:
    import sqlite3

_CHANGES = (
    "SELECT c.proposal, c.number, c.change, p.decision = 'approved' AND p.why_not IS NULL FROM corrections AS c "
    "JOIN proposals AS p USING (proposal) WHERE "
)
_ABOUT = f"{_CHANGES} c.subject IN (SELECT value FROM json_each(?))"
# GLOB takes the index by subject; LIKE, which knows no case, would read all corrections.
_ENTRIES = f"{_CHANGES} c.subject GLOB 'entries:*'"
_MERGES = f"{_CHANGES} c.subject GLOB 'person:*'"


class _Concern(NamedTuple):
    """A proposed change, and whether it was approved."""

    proposal: int
    number: int
    change: Change
    approved: bool


@checked_methods
@attrs.frozen
class GameLog:
    """The logs of single games of one ledger."""

    ledger: OpenLedger

    def entries(self, game: str) -> list[JournalEntry]:
        """Return all journal entries about a game in order, with the texts of their reasons.

        Raises:
            UnknownNameError: ``find_game`` finds no game, or several.
        """
        with self.ledger.read_snapshot():
            journal = self.ledger.snapshot_journal
            entries = listing.entries_of_game(journal, game)
            concerning = self.proposals(game)
            if concerning:
                query = "SELECT parts FROM proposals WHERE proposal = ?"
                keys: list[str] = []
                for number in concerning:
                    ((parts,),) = self.ledger.views.connection.execute(query, (number,))
                    keys += [*(proposal_key(number, part) for part in range(1, parts + 1)), f"decision:{number}"]
                further = [JournalEntry.of(stored.body) for stored in journal.find(keys).values()]
                entries += [entry for entry in further if _concerns_it(entry, concerning)]
            sealed = [entry.facts["reason"] for entry in entries if "reason" in entry.facts]
            texts = self.ledger.people.reasons.texts(sealed) if sealed else {}
        return [
            attrs.evolve(entry, reason=Why(texts.get(entry.facts["reason"]))) if "reason" in entry.facts else entry
            for entry in sorted(entries, key=lambda entry: entry.position)
        ]

    def proposals(self, game: str) -> dict[int, list[Change]]:
        """Return the changes that concern a game, by the number of their proposal, in order.

        Raises:
            UnknownNameError: ``find_game`` finds no game, or several.
        """
        key, stored = find_game(self.ledger.snapshot_journal, game)
        with self.ledger.read_snapshot():
            connection = self.ledger.views.connection
            if connection.execute("SELECT 1 FROM proposals LIMIT 1").fetchone() is None:
                return {}
            concerns = list(_concerning(connection, key, stored.position))
        by_proposal: dict[int, list[Change]] = {}
        # By proposal and number alone: changes themselves have no order.
        for concern in sorted(concerns, key=lambda concern: concern[:2]):
            by_proposal.setdefault(concern.proposal, []).append(concern.change)
        return by_proposal


def _concerns_it(entry: JournalEntry, concerning: Mapping[int, list[Change]]) -> bool:
    """Return whether it is a decision, or a part of a proposal with one of the changes that concern the game."""
    if entry.kind == CorrectionDecided.KIND:
        return True
    if entry.kind != CorrectionProposed.KIND:
        return False
    changes = [change.plain() for change in concerning[entry.facts["proposal"]]]
    return any(change in changes for change in entry.facts["changes"])


def _concerning(connection: sqlite3.Connection, key: str, position: int) -> list[_Concern]:
    by_key = _concerns(connection, _ABOUT, [f"game:{key}"])
    # A decision on many games meant what each was at its time: a later correction may have moved it elsewhere.
    facts = _ever(connection, position, by_key)
    merges = _concerns(connection, _MERGES)
    concerning = [*by_key, *_merging(merges, facts["white"] | facts["black"])]
    white, black = (_same_persons(merges, facts[side]) for side in ("white", "black"))
    of_players = _concerns(connection, _ABOUT, [f"games-of:{player}" for player in sorted(white | black)])
    tournaments = [tournament_subject(pool, name) for pool in facts["pool"] for name in facts["tournament"]]
    ends = [instant_ms(ended) for ended in facts["ended_at"]]
    entries = (concern for concern in _concerns(connection, _ENTRIES) if includes_entry(concern.change, position))
    concerning += entries
    for concern in (*of_players, *_concerns(connection, _ABOUT, tournaments)):
        first, last = decisions.span_ms(concern.change)
        if any(first <= ms <= last for ms in ends) and _means(concern.change, white, black, facts):
            concerning.append(concern)
    waiting = {concern.proposal for concern in concerning}
    # the proposals that undo one of them, and those that undo these
    while waiting:
        undoing = _concerns(connection, _ABOUT, [f"proposal:{number}" for number in sorted(waiting)])
        # each once: an undo may be undone, and that again
        fresh = [concern for concern in undoing if concern not in concerning]
        concerning += fresh
        waiting = {concern.proposal for concern in fresh}
    return concerning


def _concerns(connection: sqlite3.Connection, query: str, subjects: list[str] | None = None) -> list[_Concern]:
    arguments = () if subjects is None else (orjson.dumps(subjects).decode(),)
    rows = connection.execute(query, arguments).fetchall()
    return [
        _Concern(proposal, number, parse_change(orjson.loads(change)), bool(approved))
        for proposal, number, change, approved in rows
    ]


def _ever(connection: sqlite3.Connection, position: int, by_key: Iterable[_Concern]) -> dict[str, set[Any]]:
    """Return, by field, the recorded value of a game and all values that approved corrections gave it."""
    names = dict(connection.execute("SELECT pool, name FROM pools").fetchall())
    (recorded,) = recorded_facts(connection, game_rows(connection, [position]), names)
    fields = ("white", "black", "pool", "tournament", "ended_at", "outcome", "rated")
    ever = {name: {recorded[name]} if name in recorded else set() for name in fields}
    for concern in by_key:
        if concern.approved and concern.change.do is Verb.REPLACE:
            for name, value in (concern.change.facts or {}).items():
                ever.get(name, set()).add(value)
    return ever


def _merging(merges: Iterable[_Concern], players: set[int]) -> list[_Concern]:
    """Return the merges, and their undoing, that make another person of one of these players."""
    listed, reached = list(merges), set(players)
    while True:
        further = {
            concern.change.into
            for concern in listed
            if concern.approved
            and concern.change.do is Verb.MERGE
            and concern.change.player in reached
            and concern.change.into
        }
        if further <= reached:
            return [concern for concern in listed if concern.change.player in reached]
        reached |= further


def _same_persons(merges: Iterable[_Concern], players: set[int]) -> set[int]:
    """Return these players, and all who were at any time the same person as one of them."""
    pairs = [
        {concern.change.player or 0, concern.change.into or 0}
        for concern in merges
        if concern.approved and concern.change.do is Verb.MERGE
    ]
    reached = set(players)
    while further := {player for pair in pairs if pair & reached for player in pair} - reached:
        reached |= further
    return reached


def _means(change: Change, white: set[int], black: set[int], facts: Mapping[str, set[Any]]) -> bool:
    """Return whether a change of many games means a game of these players, by any of its present or former facts."""
    if change.do is not Verb.ANNUL_GAMES:
        return True
    # Such a change annuls rated games alone.
    if facts["rated"] == {False}:
        return False
    if change.which is AnnulmentScope.ALL:
        return True
    # What is left are the losses of the opponents: games that the player won.
    won = {Outcome.WHITE: white, Outcome.BLACK: black}
    return any(change.player in players and outcome in facts["outcome"] for outcome, players in won.items())
