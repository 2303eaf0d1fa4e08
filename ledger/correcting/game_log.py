"""All that the journal says about a game: its recording, what was added, the proposals that concern it, the decisions.

A proposal concerns a game that it names; a game that is one of many, those of a player or tournament, which it
annuls or restores; and the games that a merge gives to another person. It does so whatever became of it, and who
undoes it concerns the game too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import orjson

from ledger.book import corrections
from ledger.book.restand import recorded_facts, rows_at
from ledger.facts.changes import Change, Verb, Which, change_of
from ledger.facts.events import CorrectionDecided, CorrectionProposed
from ledger.facts.instants import instant_ms
from ledger.facts.words import Outcome
from ledger.journal import listing
from ledger.journal.game_keys import game_found
from ledger.ratings.open_ledger import OpenLedger

if TYPE_CHECKING:
    import sqlite3

_CHANGES = (
    "SELECT c.proposal, c.number, c.change, p.decision = 'approved' AND p.why_not IS NULL FROM corrections AS c "
    "JOIN proposals AS p USING (proposal) WHERE "
)
_ABOUT = f"{_CHANGES} c.subject IN (SELECT value FROM json_each(?))"
_MERGES = f"{_CHANGES} c.subject GLOB 'person:*'"


class _Known(NamedTuple):
    """A change that somebody proposed, and whether it was approved."""

    proposal: int
    number: int
    change: Change
    approved: bool


@attrs.frozen
class GameLog:
    """What is told of single games of one ledger.

    Attributes:
        ledger: of whose games it is told.
    """

    ledger: OpenLedger

    def entries(self, game: str) -> list[dict[str, Any]]:
        """Every entry about a game, in order, as plain values; those that have a reason have its words as ``why``.

        Args:
            game: as ``game_found`` takes it.

        Raises:
            UnknownNameError: no such game, or several.
        """
        with self.ledger.moment():
            return self._entries(game)

    def _entries(self, game: str) -> list[dict[str, Any]]:
        found = [orjson.loads(body) for body in listing.about(self.ledger.journal_of_moment, game)]
        concerning = self.proposals(game)
        if concerning:
            parts = [key for number in concerning for key in self._parts(number)]
            keys = [*parts, *(f"decision:{number}" for number in concerning)]
            for stored in self.ledger.journal_of_moment.find(keys).values():
                entry = orjson.loads(stored.body)
                if entry["kind"] == CorrectionDecided.KIND or _holds(entry, concerning):
                    found.append(entry)
        return self._with_reasons(sorted(found, key=lambda entry: entry["position"]))

    def _parts(self, proposal: int) -> Iterator[str]:
        query = "SELECT parts FROM proposals WHERE proposal = ?"
        ((parts,),) = self.ledger.views.connection.execute(query, (proposal,))
        return (f"proposal:{proposal}@{part}" for part in range(1, parts + 1))

    def _with_reasons(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sealed = [entry["facts"]["reason"] for entry in entries if "reason" in entry["facts"]]
        texts = self.ledger.people.reasons.texts(sealed) if sealed else {}
        return [
            {**entry, "why": texts.get(entry["facts"]["reason"])} if "reason" in entry["facts"] else entry
            for entry in entries
        ]

    def proposals(self, game: str) -> dict[int, list[Change]]:
        """By proposal that concerns a game, in order of their numbers, those of its changes that do.

        Args:
            game: as ``game_found`` takes it.

        Raises:
            UnknownNameError: no such game, or several.
        """
        key, stored = game_found(self.ledger.journal_of_moment, game)
        with self.ledger.moment():
            connection = self.ledger.views.connection
            if connection.execute("SELECT 1 FROM proposals LIMIT 1").fetchone() is None:
                return {}
            found = list(_concerning(connection, key, stored.position))
        by_proposal: dict[int, list[Change]] = {}
        for known in sorted(found, key=lambda known: known[:2]):
            by_proposal.setdefault(known.proposal, []).append(known.change)
        return by_proposal


def _holds(entry: Mapping[str, Any], concerning: Mapping[int, list[Change]]) -> bool:
    """Whether a part of a proposal holds one of the changes that concern the game."""
    if entry["kind"] != CorrectionProposed.KIND:
        return False
    wanted = [change.plain() for change in concerning[entry["facts"]["proposal"]]]
    return any(change in wanted for change in entry["facts"]["changes"])


def _concerning(connection: sqlite3.Connection, key: str, position: int) -> list[_Known]:
    by_key = _known(connection, _ABOUT, [f"game:{key}"])
    facts = _ever(connection, position, by_key)
    merges = _known(connection, _MERGES)
    found = [*by_key, *_merging(merges, facts["white"] | facts["black"])]
    white, black = (_same_persons(merges, facts[side]) for side in ("white", "black"))
    of_players = _known(connection, _ABOUT, [f"games-of:{player}" for player in sorted(white | black)])
    tournaments = [f"games-at:{pool}:{name}" for pool in facts["pool"] for name in facts["tournament"]]
    ends = [instant_ms(ended) for ended in facts["ended_at"]]
    for known in (*of_players, *_known(connection, _ABOUT, tournaments)):
        first, last = corrections.span(known.change)
        if any(first <= ms <= last for ms in ends) and _means(known.change, white, black, facts):
            found.append(known)
    waiting = {known.proposal for known in found}
    while waiting:  # who undoes one of them, and who undoes that
        undoing = _known(connection, _ABOUT, [f"proposal:{number}" for number in sorted(waiting)])
        fresh = [known for known in undoing if known not in found]
        found += fresh
        waiting = {known.proposal for known in fresh}
    return found


def _known(connection: sqlite3.Connection, query: str, subjects: list[str] | None = None) -> list[_Known]:
    arguments = () if subjects is None else (orjson.dumps(subjects).decode(),)
    rows = connection.execute(query, arguments).fetchall()
    return [
        _Known(proposal, number, change_of(orjson.loads(change)), bool(approved))
        for proposal, number, change, approved in rows
    ]


def _ever(connection: sqlite3.Connection, position: int, by_key: Iterable[_Known]) -> dict[str, set[Any]]:
    """By field, what a game was recorded with, and what approved corrections made of it at any time."""
    names = dict(connection.execute("SELECT pool, name FROM pools").fetchall())
    (recorded,) = recorded_facts(connection, rows_at(connection, [position]), names)
    fields = ("white", "black", "pool", "tournament", "ended_at", "outcome", "rated")
    found = {name: {recorded[name]} if name in recorded else set() for name in fields}
    for known in by_key:
        if known.approved and known.change.do is Verb.REPLACE:
            for name, value in (known.change.facts or {}).items():
                found.get(name, set()).add(value)
    return found


def _merging(merges: Iterable[_Known], players: set[int]) -> list[_Known]:
    """The merges, and what takes them apart, that make another person of one of these players."""
    listed, reached = list(merges), set(players)
    while True:
        further = {
            known.change.into
            for known in listed
            if known.approved and known.change.do is Verb.MERGE and known.change.player in reached and known.change.into
        }
        if further <= reached:
            return [known for known in listed if known.change.player in reached]
        reached |= further


def _same_persons(merges: Iterable[_Known], players: set[int]) -> set[int]:
    """These players, and all who were at any time one person with one of them."""
    pairs = [
        {known.change.player or 0, known.change.into or 0}
        for known in merges
        if known.approved and known.change.do is Verb.MERGE
    ]
    reached = set(players)
    while further := {player for pair in pairs if pair & reached for player in pair} - reached:
        reached |= further
    return reached


def _means(change: Change, white: set[int], black: set[int], facts: Mapping[str, set[Any]]) -> bool:
    """Whether a change of many games means a game of these players, by any of the facts that it ever had."""
    if change.do is not Verb.ANNUL_GAMES:
        return True
    if facts["rated"] == {False}:
        return False
    if change.which is Which.ALL:
        return True
    won = {Outcome.WHITE: white, Outcome.BLACK: black}
    return any(change.player in players and outcome in facts["outcome"] for outcome, players in won.items())
