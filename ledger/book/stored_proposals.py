"""Stored proposals: the proposals and decisions in the views, their changes, and which of them are in force.

``game_book`` and ``kinds`` apply them to games and other facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ledger.errors import CorruptError
from ledger.facts.changes import Change, Verb, parse_change, spans_of, tournament_subject
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.events import (
    CorrectionDecided,
    CorrectionProposed,
    Decision,
    Event,
    PlayerDescribed,
    PlayerEntered,
    RoundWithoutGame,
    TournamentDescribed,
    TournamentOpened,
)

if TYPE_CHECKING:
    import sqlite3
from ledger.book.decisions import (
    ApprovedChange,
    DecisionPlace,
    UndoingProposal,
    find_undone,
    numbers_of_person,
    person_of,
)


def load_merges(connection: sqlite3.Connection) -> dict[int, int]:
    """Return by number of a merged player the number that the player was merged into directly."""
    return dict(connection.execute("SELECT player, into_player FROM merges").fetchall())


def person_numbers(connection: sqlite3.Connection, player: int) -> list[int]:
    """Return all numbers of the person who has a number, in their order; the views must be up to date."""
    return sorted(numbers_of_person(load_merges(connection), player))


# Every part of a proposal comes with it: the first one makes the row.
_ADD_PROPOSAL = (
    "INSERT INTO proposals(proposal, position, proposed_by, proposed_proven, reason, parts, effective) "
    "VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING"
)
_ADD_CHANGE = "INSERT INTO corrections(proposal, number, subject, change) VALUES (?, ?, ?, ?)"
_DECIDE = (
    "UPDATE proposals SET decision = ?, decided_position = ?, decided_by = ?, decided_proven = ?, decision_reason = ?, "
    "effective = ?, why_not = ? WHERE proposal = ?"
)
_APPROVED = "decision = 'approved' AND why_not IS NULL"
_UNDOING = (
    "SELECT p.decided_position, c.proposal, c.subject, c.number "
    "FROM corrections AS c JOIN proposals AS p USING (proposal) "
    f"WHERE c.subject GLOB 'proposal:*' AND p.{_APPROVED.replace('AND why', 'AND p.why')} "
    "ORDER BY p.decided_position, c.number"
)
_ACTING = (
    "SELECT c.subject, p.decided_position, c.proposal, c.number, c.change FROM corrections AS c "
    "JOIN proposals AS p USING (proposal) WHERE p.decision = 'approved' AND p.why_not IS NULL AND "
)
_OPEN_ABOUT = (
    "SELECT DISTINCT proposal FROM corrections JOIN proposals USING (proposal) "
    "WHERE decision IS NULL AND subject IN (SELECT value FROM json_each(?)) ORDER BY proposal"
)
_SPANS = "(c.subject GLOB 'games-of:*' OR c.subject GLOB 'games-at:*' OR c.subject GLOB 'entries:*') AND p.effective"
_OF_ENTRIES = "SELECT DISTINCT subject FROM corrections WHERE subject GLOB 'entries:*'"
_OF_PROPOSALS = (
    "SELECT change FROM corrections WHERE proposal IN (SELECT value FROM json_each(?)) ORDER BY proposal, number"
)


# The facts, besides games, that a change of several entries annuls. Players, pools and supplements stay.
WITH_ENTRIES = (RoundWithoutGame, TournamentOpened, PlayerEntered, TournamentDescribed, PlayerDescribed)


class Proposal(NamedTuple):
    """A proposal with its decision, as the table ``proposals`` stores it.

    Attributes:
        proposal: its number.
        position: of its first entry.
        proposed_by: the proposer.
        proposed_proven: 1 if a token authenticated the proposer.
        reason: commitment of the reason.
        parts: number of its entries.
        decision: ``approved``, ``rejected``, ``withdrawn``; None while it is open.
        decided_position: of the decision.
        decided_by: the person who decided.
        decided_proven: 1 if a token authenticated that person.
        decision_reason: commitment of the reason of the decision.
        effective: 1 while it acts.
        why_not: the rule that the decision broke, so that it never acted: four eyes, or an invalid token.
    """

    proposal: int
    position: int
    proposed_by: str
    proposed_proven: int
    reason: str
    parts: int
    decision: str | None
    decided_position: int | None
    decided_by: str | None
    decided_proven: int | None
    decision_reason: str | None
    effective: int
    why_not: str | None


class StoredProposals:
    """The corrections proposed in a ledger and the decisions about them, as its views store them.

    Attributes:
        any_approved: True if one was ever approved.
        merges: by number of a merged player, the number that the player was merged into directly.
        range_changes: the changes in force of all games of a player, a tournament or some entries.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.merges: dict[int, int] = load_merges(connection)
        cursor = connection.execute(f"SELECT EXISTS(SELECT 1 FROM proposals WHERE {_APPROVED})")
        # held here: a build asks while another process writes the file
        self.any_approved = bool(cursor.fetchone()[0])
        self.range_changes: list[ApprovedChange] = []
        self._by_player: dict[int, list[ApprovedChange]] = {}
        self._by_tournament: dict[tuple[str, str], list[ApprovedChange]] = {}
        self._of_entries: list[ApprovedChange] = []
        self.load_range_changes()

    def add_proposal(self, position: int, actor: str, event: CorrectionProposed, *, proven: bool) -> None:
        """Store an entry of a proposal.

        *proven* says that a token of the journal authenticates the proposer.
        """
        # Parts follow each other in the journal without a gap: this is the place of the first one.
        row = (event.proposal, position - event.part + 1, actor, int(proven), event.reason, event.parts)
        self._connection.execute(_ADD_PROPOSAL, row)
        # Earlier parts have brought changes: their numbering goes on.
        count = self._connection.execute(
            "SELECT count(*) FROM corrections WHERE proposal = ?", (event.proposal,)
        ).fetchone()[0]
        rows = [
            (event.proposal, count + place, change.subject, orjson.dumps(change.plain()).decode())
            for place, change in enumerate(event.changes, 1)
        ]
        self._connection.executemany(_ADD_CHANGE, rows)

    def add_decision(
        self, position: int, actor: str, event: CorrectionDecided, why_not: str | None, *, proven: bool
    ) -> list[int]:
        """Store a decision; return the proposals that begin or cease to act.

        Args:
            position: of its entry.
            actor: the person who decided.
            event: the decision.
            why_not: the rule that it breaks, so that it has no effect; None if it breaks none.
            proven: a token of the journal authenticates the actor.

        Raises:
            CorruptError: there is no such proposal.
        """
        if self.proposal(event.proposal) is None:
            message = f"decides proposal {event.proposal}, which nobody made; run 'audit'"
            raise CorruptError("journal", position, message)
        acts = event.decision is Decision.APPROVED and why_not is None
        # A decision that breaks a rule is stored all the same: it is in the journal, and the audit reports it.
        row = (event.decision.value, position, actor, int(proven), event.reason, int(acts), why_not)
        self._connection.execute(_DECIDE, (*row, event.proposal))
        self.any_approved = self.any_approved or acts
        return [event.proposal, *self._toggled()] if acts else []

    def _toggled(self) -> list[int]:
        """Update ``effective`` of proposals that undo others or are undone; return those that changed."""
        undone = self.undone_proposals()
        # Not those alone that this decision names: where it undoes an undo, what that one undid acts again.
        chains = {number for _, proposal, undoes in self._undoing() for number in (proposal, *undoes)}
        changed = []
        for number in sorted(chains):
            acts = int(number not in undone)
            cursor = self._connection.execute(
                f"UPDATE proposals SET effective = ? WHERE proposal = ? AND effective <> ? AND {_APPROVED}",
                (acts, number, acts),
            )
            if cursor.rowcount:
                changed.append(number)
        return changed

    def _undoing(self) -> list[UndoingProposal]:
        by_proposal: dict[tuple[int, int], dict[int, int]] = {}
        for position, proposal, subject, number in self._connection.execute(_UNDOING):
            by_proposal.setdefault((position, proposal), {})[int(subject.partition(":")[2])] = number
        return [UndoingProposal(position, proposal, undoes) for (position, proposal), undoes in by_proposal.items()]

    def undone_proposals(
        self, further: Sequence[UndoingProposal] = (), *, until: int | None = None
    ) -> dict[int, DecisionPlace]:
        """Return, by number of an undone proposal, the change that undid it: its entry's position and its number.

        Args:
            further: further proposals, as if they were approved.
            until: the last entry whose decisions count; by default all that were applied.
        """
        return find_undone([*(act for act in self._undoing() if until is None or act.position <= until), *further])

    def merge_subjects(self) -> list[str]:
        """Return the subjects of all merges and partings that were ever proposed."""
        rows = self._connection.execute("SELECT DISTINCT subject FROM corrections WHERE subject GLOB 'person:*'")
        return [subject for (subject,) in rows]

    def open_proposals_about(self, subjects: Sequence[str]) -> list[int]:
        """Return the numbers of the open proposals with a change of one of these subjects."""
        return [number for (number,) in self._connection.execute(_OPEN_ABOUT, (_json(subjects),))]

    def proposal(self, number: int) -> Proposal | None:
        """Return the proposal of a number; None if there is none."""
        # above, no journal has one, and SQLite cannot be asked
        if not 0 < number <= MAX_WHOLE:
            return None
        row = self._connection.execute("SELECT * FROM proposals WHERE proposal = ?", (number,)).fetchone()
        return None if row is None else Proposal(*row)

    def proposals(self, *, open_only: bool = False, numbers: Sequence[int] | None = None) -> list[Proposal]:
        """Return proposals in order of their numbers: all, only the open ones, or only those of *numbers*."""
        where = "WHERE (decision IS NULL OR NOT ?1) AND (?2 IS NULL OR proposal IN (SELECT value FROM json_each(?2)))"
        # as of ``proposal``: no journal has one above, and JSON cannot express it
        json_numbers = None if numbers is None else _json(number for number in numbers if number <= MAX_WHOLE)
        rows = self._connection.execute(
            f"SELECT * FROM proposals {where} ORDER BY proposal", (int(open_only), json_numbers)
        )
        return [Proposal(*row) for row in rows.fetchall()]

    def entries_since(self, number: int, entries: int) -> int:
        """Return how many of the first *entries* follow a proposal and are not of proposals; 0 if there is none."""
        proposal = self.proposal(number)
        if proposal is None:
            return 0
        query = "SELECT coalesce(sum(parts), 0) FROM proposals WHERE position > ?"
        (others,) = self._connection.execute(query, (proposal.position,)).fetchone()
        return entries - (proposal.position + proposal.parts - 1) - int(others)

    def next_number(self) -> int:
        """Return the number of the next proposal."""
        return int(self._connection.execute("SELECT coalesce(max(proposal), 0) + 1 FROM proposals").fetchone()[0])

    def changes(self, proposals: Iterable[int]) -> Iterator[Change]:
        """Yield the changes of some proposals, in their order."""
        for (change,) in self._connection.execute(_OF_PROPOSALS, (_json(proposals),)):
            yield parse_change(orjson.loads(change))

    def with_undone(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Yield some changes, the changes that they undo, those that these undo, and so on.

        If an undo is undone, the proposal that it undid acts again: it is two proposals back.
        """
        waiting, met = list(changes), set[int]()
        while waiting:
            change = waiting.pop()
            yield change
            if change.do is Verb.UNDO and change.proposal is not None and change.proposal not in met:
                met.add(change.proposal)
                waiting += self.changes([change.proposal])

    def approved_proposals(self) -> list[int]:
        """Return the numbers of all approved proposals, whether they act or not."""
        return [number for (number,) in self._connection.execute(f"SELECT proposal FROM proposals WHERE {_APPROVED}")]

    def approved_changes(
        self, subjects: Sequence[str], undone: Mapping[int, DecisionPlace] | None = None, *, until: int | None = None
    ) -> Mapping[str, list[ApprovedChange]]:
        """Return the approved changes of each subject, undone ones among them.

        Args:
            subjects: the keys of facts, or other subjects of changes.
            undone: what ``undone_proposals`` returns, or would return after a further decision.
            until: the last entry whose decisions count; by default all that were applied.
        """
        # By the decision and not by the proposal: what was decided later was not known then.
        where = "c.subject IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR p.decided_position <= ?2)"
        changes: dict[str, list[ApprovedChange]] = {subject: [] for subject in subjects}
        undone = self.undone_proposals(until=until) if undone is None else undone
        for subject, *row in self._connection.execute(_ACTING + where, (_json(subjects), until)):
            changes[subject].append(_approved_change(undone, *row))
        return changes

    def load_range_changes(self) -> None:
        """Read from the database the changes in force that cover every game of a player, a tournament or entries."""
        rows = self._connection.execute(_ACTING + _SPANS).fetchall()
        # Only changes in force are read: none of them is undone.
        self.range_changes = [_approved_change({}, *row) for _, *row in rows]
        self._by_player.clear()
        self._by_tournament.clear()
        self._of_entries = [span for span in self.range_changes if span.change.do is Verb.ANNUL_ENTRIES]
        for span in self.range_changes:
            change = span.change
            if change.do is Verb.ANNUL_GAMES:
                # By the present person: games of the book have persons, whatever number was reported.
                person = person_of(self.merges, change.player or 0)
                self._by_player.setdefault(person, []).append(span)
            elif change.do is not Verb.ANNUL_ENTRIES:
                self._by_tournament.setdefault((change.pool or "", change.tournament or ""), []).append(span)

    def range_changes_for_game(self, white: int, black: int, pool: str, tournament: str | None) -> list[ApprovedChange]:
        """Return the changes in force that cover every game of one of its players, or of its tournament.

        White and Black are persons: numbers after all merges.
        """
        of_players = self._by_player.get(white, []) + self._by_player.get(black, [])
        return of_players + self.range_changes_for_tournament(pool, tournament or "")

    def range_changes_for_tournament(
        self, pool: str, tournament: str, *, until: int | None = None
    ) -> list[ApprovedChange]:
        """Return the changes in force that cover every game of a tournament.

        *until* is as in ``approved_changes``.
        """
        if until is None:
            return self._by_tournament.get((pool, tournament), [])
        subject = tournament_subject(pool, tournament)
        return [act for act in self.approved_changes([subject], until=until)[subject] if not act.is_undone]

    def range_changes_for_entry(self, position: int, *, until: int | None = None) -> list[ApprovedChange]:
        """Return the changes in force of several entries that this one is among.

        *until* is as in ``approved_changes``.
        """
        spans = self._of_entries
        if until is not None:
            subjects = [subject for (subject,) in self._connection.execute(_OF_ENTRIES)]
            changes = self.approved_changes(subjects, until=until) if subjects else {}
            spans = [act for of_one in changes.values() for act in of_one if not act.is_undone]
        return [span for span in spans if includes_entry(span.change, position)]

    @property
    def spans_of_entries(self) -> list[ApprovedChange]:
        """The changes in force of several entries."""
        return self._of_entries

    def spans_of_fact(self, event: Event, position: int, *, until: int | None = None) -> list[ApprovedChange]:
        """Return the changes in force of several entries that annul a fact which is no game."""
        return self.range_changes_for_entry(position, until=until) if isinstance(event, WITH_ENTRIES) else []

    def may_affect(self, white: int, black: int, pool: str, tournament: str | None) -> bool:
        """Return whether a correction in force may change a new game of these players or this tournament."""
        if not self.merges and not self.range_changes:
            return False
        return (
            white in self.merges
            or black in self.merges
            or white in self._by_player
            or black in self._by_player
            or (pool, tournament or "") in self._by_tournament
        )

    @property
    def players_and_tournaments_affected(self) -> tuple[set[int], set[tuple[str, str]]]:
        """The players, and pairs of pool and tournament, whose new games a correction in force may change."""
        return {*self.merges, *self._by_player}, set(self._by_tournament)

    def set_merge(self, player: int, into: int | None, proposal: int) -> None:
        """Store that a player is merged into another one, or into none."""
        self._connection.execute("DELETE FROM merges WHERE player = ?", (player,))
        self.merges.pop(player, None)
        if into is not None:
            self._connection.execute("INSERT INTO merges VALUES (?, ?, ?)", (player, into, proposal))
            self.merges[player] = into


def includes_entry(change: Change, position: int) -> bool:
    """Return whether a change of some entries is about this one."""
    return any(first <= position <= last for first, last in spans_of(change.entries))


def _approved_change(
    undone: Mapping[int, DecisionPlace], position: int, proposal: int, number: int, change: str
) -> ApprovedChange:
    plain = parse_change(orjson.loads(change))
    at, place = undone.get(proposal, (position, number))
    return ApprovedChange(at, proposal, place, plain, proposal in undone)


def _json(values: Iterable[Any]) -> str:
    return orjson.dumps(list(values)).decode()
