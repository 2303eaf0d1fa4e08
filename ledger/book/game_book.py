"""The game book: applies journal entries to a table of games as corrected, with the reason why one is not rated.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here. A proposal or decision is noted when it comes in; when it takes effect, the games that it affects
are reapplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import orjson

from ledger.auth.issued_tokens import IssuedTokens
from ledger.book import assessment, decisions, tables
from ledger.book.assessment import RecordedEvent, Reratings
from ledger.book.book_state import BookState
from ledger.book.kinds import apply_fact, store_moves
from ledger.book.policies import UNPROVEN, Party, breach_of_decision
from ledger.book.reapplied_games import Supplement, apply_supplements, reapply_games, supplement_of
from ledger.book.stored_proposals import WITH_ENTRIES
from ledger.book.tables import PLAYER_BITS, POINTS_BITS
from ledger.book.timeline import Pool
from ledger.facts import codec
from ledger.facts.changes import Change, Verb, spans_of
from ledger.facts.codec import Entry, decode
from ledger.facts.events import (
    FOUR_EYES,
    ROLES_OF,
    CorrectionDecided,
    CorrectionProposed,
    Event,
    GameSupplemented,
    Role,
    RoundWithoutGame,
)
from ledger.journal import Journal, listing
from ledger.schemes import find_scheme

if TYPE_CHECKING:
    import sqlite3

_GAME = "game:"
_OF_ENTRIES = "SELECT position FROM games WHERE position BETWEEN ? AND ?"
_OF_PERSON = (
    "SELECT position FROM games WHERE white = ?1 AND ended_ms BETWEEN ?2 AND ?3 "
    "UNION SELECT position FROM games WHERE black = ?1 AND ended_ms BETWEEN ?2 AND ?3"
)
_AT_TOURNAMENT = "SELECT position FROM games WHERE pool = ? AND tournament = ? AND ended_ms BETWEEN ? AND ?"
_GIVEN = (
    "SELECT position FROM given_sides WHERE white IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM given_sides WHERE black IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM games WHERE white IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT position FROM games WHERE black IN (SELECT value FROM json_each(?1))"
)


_OF_TOURNAMENTS = {Verb.ANNUL_TOURNAMENT, Verb.RESTORE_TOURNAMENT}
# Rounds without a game that were corrected by themselves come and go with their tournament, too.
# In the order of subjects ';' follows ':', so that these two enclose every round.
_ROUNDS_AT = "SELECT position FROM rounds_without_game WHERE pool = ? AND tournament = ? ORDER BY position"
_CORRECTED_ROUNDS = "SELECT DISTINCT subject FROM corrections WHERE subject >= 'round:' AND subject < 'round;'"


class CorrectionApplier:
    """Notes the proposals and decisions of one game book, and applies approved corrections to its facts."""

    def __init__(self, book: BookState) -> None:
        self._book = book
        self._connection, self._journal, self._proposals = book.connection, book.journal, book.proposals
        self._issued = IssuedTokens(book.journal)
        self._toggled: list[int] = []  # proposals that began or ceased to act

    def note(self, entry: Entry) -> None:
        """Note a proposal or a decision; its effects wait for ``apply``."""
        event = entry.event
        if isinstance(event, CorrectionProposed):
            proven = self._is_proven(entry, event, Role.CORRECTOR)
            self._proposals.add_proposal(entry.position, entry.actor, event, proven=proven)
        elif isinstance(event, CorrectionDecided):
            proven = self._is_proven(entry, event, ROLES_OF[event.decision])
            why_not = self._broken_policy(entry, event, proven=proven)
            self._toggled += self._proposals.add_decision(entry.position, entry.actor, event, why_not, proven=proven)

    def _is_proven(self, entry: Entry, event: CorrectionProposed | CorrectionDecided, role: Role) -> bool:
        """Return whether a token authenticates the actor of an entry, by what the journal held at its position."""
        fault = self._issued.register().fault
        return event.proven and fault(entry.actor, event.by_token, role, entry.position) is None

    def _broken_policy(self, entry: Entry, event: CorrectionDecided, *, proven: bool) -> str | None:
        """Return the rule that a decision breaks, so that it has no effect; None if it breaks none."""
        if event.proven and not proven:
            return UNPROVEN
        proposal = self._proposals.proposal(event.proposal)
        if proposal is None:
            return None
        decided = Party(entry.actor, proven)
        words = breach_of_decision(self._connection, entry.position, proposal, event.decision, decided)
        return None if words is None else FOUR_EYES

    def apply(self, reratings: Reratings) -> None:
        """Apply the corrections in force to all facts affected by decisions since the last call."""
        changes = list(self._proposals.changes(self._toggled)) if self._toggled else []
        games = set(self._book.unsettled)
        self._toggled = []
        self._book.unsettled.clear()
        if changes:
            # each scheme that was ever put in, undone or not: views must not depend on when they caught up
            replacements = (change.facts or {} for change in changes if change.do is Verb.REPLACE)
            reratings.adopted.extend(find_scheme(facts["scheme"]) for facts in replacements if "scheme" in facts)
            of_facts = (change.fact for change in changes if change.fact is not None)
            self._reapply_facts([key for key in dict.fromkeys(of_facts) if not key.startswith(_GAME)], reratings)
            # Persons first: the games of a span follow from the merges, and the former spans say which games it meant
            # until now.
            games |= self._settle_persons(changes)
            self._proposals.load_range_changes()
            self._reapply_facts([*dict.fromkeys(self._facts_of_ranges(changes))], reratings)
            for change in changes:
                games.update(self._games_of(change))
                if change.do in _OF_TOURNAMENTS:
                    self._note_rounds(change, reratings)
        if games:
            reapply_games(self._book, {position: {} for position in games}, reratings)

    def apply_all(self, reratings: Reratings) -> None:
        """Apply everything that was ever approved, at the end of a build."""
        self._toggled = self._proposals.approved_proposals()
        self.apply(reratings)

    @property
    def any_approved(self) -> bool:
        """True if a proposal was ever approved."""
        return self._proposals.any_approved

    def _reapply_facts(self, keys: Sequence[str], reratings: Reratings) -> None:
        """Apply the corrections in force to facts other than games."""
        recorded = self._journal.find(keys) if keys else {}
        for stored in sorted(recorded.values(), key=lambda entry: entry.position):
            if self._book.covers(stored.position):
                event = decode(stored.body).event
                reratings.other_facts[stored.position] = event
                apply_fact(
                    self._book, stored.position, event, self._book.corrected_fact(event, stored.position), reratings
                )

    def _facts_of_ranges(self, changes: Sequence[Change]) -> Iterator[str]:
        """Yield the keys of facts that changes of tournaments and of several entries affect."""
        yield from self._facts_of_entries(changes)
        if any(change.do in _OF_TOURNAMENTS for change in changes):
            yield from (key for (key,) in self._connection.execute(_CORRECTED_ROUNDS))
            # a tournament that is restored after some entries were annulled restores their rounds, too
            spans = [span.change for span in self._proposals.range_changes]
            yield from self._facts_of_entries(spans, (RoundWithoutGame,))

    def _facts_of_entries(
        self, changes: Iterable[Change], kinds: Sequence[type[Event]] = WITH_ENTRIES
    ) -> Iterator[str]:
        """Yield the keys of the facts besides games that changes of several entries annul, in their order."""
        marks = listing.kind_marks(kinds)
        for first, last in (span for change in changes for span in spans_of(change.entries)):
            for body in listing.matching_bodies(self._journal, first - 1, last, marks):
                yield decode(body).event.key

    def _note_rounds(self, change: Change, reratings: Reratings) -> None:
        """Note the rounds without a game of a voided or restored tournament: their rows stay as they are."""
        pool = self._book.pools.get(change.pool or "")
        where = () if pool is None else (pool.pool, change.tournament)
        rows = self._connection.execute(_ROUNDS_AT, where).fetchall() if where else []
        # A file reports those of a tournament one after another: they are read in runs, each one query to a server.
        for _, run in groupby(enumerate(position for (position,) in rows), lambda pair: pair[1] - pair[0]):
            positions = [position for _, position in run]
            bodies = chain.from_iterable(self._journal.read(positions[0] - 1, positions[-1]))
            for position, body in zip(positions, bodies, strict=True):
                reratings.other_facts.setdefault(position, decode(body).event)

    def _settle_persons(self, changes: list[Change]) -> set[int]:
        """Update the merges; return the games whose players may be other persons now."""
        proposals = self._proposals
        merging = (change for change in changes if change.do in {Verb.MERGE, Verb.PART})
        players = sorted({change.player for change in merging if change.player is not None})
        if not players:
            return set()
        before, concerned = dict(proposals.merges), set[int]()
        for player in players:
            subject = f"person:{player}"
            merge = decisions.merge_in_force(proposals.approved_changes([subject])[subject])
            proposals.set_merge(player, *((None, 0) if merge is None else (merge.change.into, merge.proposal)))
            concerned |= decisions.numbers_of_person(before, player) | decisions.numbers_of_person(
                proposals.merges, player
            )
        root = decisions.person_of
        moved = {player for player in concerned if root(before, player) != root(proposals.merges, player)}
        games = self._positions(_GIVEN, (orjson.dumps(sorted(moved)).decode(),)) if moved else set()
        for player in sorted(concerned) if moved else ():  # an entry under one number is of the person
            self._book.note_possible_guest(player, decisions.BEFORE_ALL)
        # the games of a person who is another one now
        for span in proposals.range_changes:
            change = span.change
            if change.do is Verb.ANNUL_GAMES and change.player is not None:
                for merges in (before, proposals.merges):
                    person = decisions.person_of(merges, change.player)
                    games |= self._positions(_OF_PERSON, (person, *decisions.span_ms(change)))
        return games

    def _games_of(self, change: Change) -> Iterator[int]:
        """Yield the games that a change means, by position."""
        match change.do:
            case Verb.ANNUL_GAMES:
                person = decisions.person_of(self._proposals.merges, change.player or 0)
                yield from self._positions(_OF_PERSON, (person, *decisions.span_ms(change)))
            case Verb.ANNUL_ENTRIES:
                for span in spans_of(change.entries):
                    yield from self._positions(_OF_ENTRIES, span)
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
                pool = self._book.pools.get(change.pool or "")
                if pool is not None:
                    tables.index_tournaments(self._connection)
                    where = (pool.pool, change.tournament, *decisions.span_ms(change))
                    yield from self._positions(_AT_TOURNAMENT, where)
            case _ if change.fact is not None and change.fact.startswith(_GAME):
                for stored in self._journal.find([change.fact]).values():
                    if self._book.covers(stored.position):
                        yield stored.position
            case _:
                pass

    def _positions(self, query: str, arguments: tuple[Any, ...]) -> set[int]:
        return {position for (position,) in self._connection.execute(query, arguments)}


# Each number from SQLite becomes an object, which costs more than finding it: two share one.
PACKED = (
    f"(position << {2 * POINTS_BITS}) | (half_points << {POINTS_BITS}) | time_loss",
    f"(white << {PLAYER_BITS}) | black",
    "rated_ms",
)
BATCH = ("batch", "ended_ms")  # in a pool that rates games by themselves there is none


def rated_games_sql(pool: Pool, facts: Sequence[str] = ()) -> str:
    """Return the SQL of ``GameBook.rated_games_from``."""
    columns = [*PACKED, *(() if pool.by_game else BATCH), *facts]
    return (
        f"SELECT {', '.join(columns)} FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? "
        f"ORDER BY {tables.IN_RATING_ORDER}"
    )


class GameBook(BookState):
    """The games of one views database as corrected, and the state to apply further entries to them."""

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        super().__init__(connection, journal, until=until)
        self.corrections = CorrectionApplier(self)

    def apply_entries(self, entries: Iterable[codec.Entry | RecordedEvent], reratings: Reratings) -> None:
        """Apply entries, decisions too, to the table of games; note in *reratings* the games to be rated again."""
        self.apply_facts(entries, reratings)
        self.apply_decisions(reratings)

    def apply_facts(self, entries: Iterable[codec.Entry | RecordedEvent], reratings: Reratings) -> None:
        """Apply the facts of entries to the table of games.

        Their decisions wait for ``apply_decisions``, which needs all facts concerned.
        """
        supplements: list[Supplement] = []  # of games that may be among these entries
        for entry in entries:
            match entry.event:
                case CorrectionProposed() | CorrectionDecided():
                    assert isinstance(entry, codec.Entry)  # with the person who proposes or decides
                    self.corrections.note(entry)
                case GameSupplemented() as event:
                    supplements.append(supplement_of(event))
                    store_moves(self, event.entry, event.text)
                case event:
                    apply_fact(self, entry.position, None, event, reratings)
        if supplements:
            apply_supplements(self, supplements, reratings)

    def apply_decisions(self, reratings: Reratings) -> None:
        """Apply decided corrections, and assess again the games whose position in rating order new facts changed."""
        self.corrections.apply(reratings)
        self.place_periods(reratings)
        self.place_tournaments(reratings)
        self.place_guests(reratings)

    def finish_build(self, reratings: Reratings) -> None:
        """Apply all corrections and assess the games of all tournaments, at the end of a build."""
        if self.corrections.any_approved:
            self.corrections.apply_all(reratings)
            self.place_periods(reratings)
        self.played.take_all()
        if self.has_guests:
            tables.index_entrants(self.connection)
        for pool in self.pools.values():
            if pool.by_event:
                tables.index_tournaments(self.connection)
                self.assessor.reassess("pool = ?1", (pool.pool,), reratings)
        self.place_all_guests(reratings)

    @property
    def may_change_at_end(self) -> bool:
        """True if ``finish_build`` may change a game."""
        return self.corrections.any_approved or self.has_guests or any(pool.by_event for pool in self.pools.values())

    def rated_games_from(self, pool: Pool, start_ms: int, facts: Sequence[str] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rated games of a pool from *start_ms* on, in rating order, in blocks of whole batches.

        Each is ``(game, players, place in rating order)``, then ``batch`` and ``end`` if the pool does not rate games
        by themselves, and the columns of the game book in *facts*. A game is its position and, in four lower bits, the
        half points of White and the side that lost on time (1 White, 2 Black, else 0); players are White and,
        in ``PLAYER_BITS`` lower bits, Black.
        """
        cursor = self.connection.execute(rated_games_sql(pool, facts), (pool.pool, start_ms))
        kept: list[tuple[Any, ...]] = []  # the last batch may go on in the next block
        while rows := cursor.fetchmany(assessment.BLOCK):
            rows = [*kept, *rows]
            cut = len(rows)
            if not pool.by_game:
                while cut and rows[cut - 1][2:4] == rows[-1][2:4]:
                    cut -= 1
            if cut:
                yield rows[:cut]
            kept = rows[cut:]
        if kept:
            yield kept
