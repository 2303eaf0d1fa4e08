"""The game book and its projections, which a process holds in memory from one recorded game to the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from ledger.book.assessment import RecordedEvent, Reratings
from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import apply_decoded_block, decode_bodies
from ledger.facts.codec import decode
from ledger.journal import Journal
from ledger.ratings import fact_folds, read_models, table_repairs, views_file
from ledger.ratings.fact_projector import DeclaredFactProjector, fact_projectors_among
from ledger.ratings.projection import PoolProjections
from ledger.ratings.read_models import TablePlan
from ledger.runtime.long_work import Progress

if TYPE_CHECKING:
    import sqlite3


@attrs.define
class LiveBook:
    """A game book and its projections in memory; nothing is read back from the tables that it writes.

    The tables are those that the ledger keeps.

    Attributes:
        position: the entry up to which it has folded; another process may have gone on since.
        data_version: that of the file when this process last looked.
        plan: the read models that are kept here, and those that only other processes can fold.
        of_facts: the projectors of facts among them.
        projections: the projections of the pools.
    """

    book: GameBook
    position: int
    data_version: int
    plan: TablePlan
    of_facts: list[DeclaredFactProjector]
    projections: PoolProjections
    _rule_at: int  # the entry that set which read models are kept

    @classmethod
    def of(cls, book: GameBook, plan: TablePlan, position: int, data_version: int, progress: Progress) -> LiveBook:
        """Return a live book; make and repair its tables by a plan of read models."""
        table_repairs.apply_plan(book, plan, position, progress)
        rule_at = read_models.rule_position(book.connection)
        projections = PoolProjections(book, plan.kept)
        return cls(book, position, data_version, plan, fact_projectors_among(plan.kept), projections, rule_at)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection to the views."""
        return self.book.connection

    @property
    def follows_rule(self) -> bool:
        """True while the ledger keeps the same read models."""
        return read_models.rule_position(self.connection) == self._rule_at

    def apply_recorded(self, journal: Journal, entries: Iterable[RecordedEvent], size: int) -> None:
        """Apply events that this process has recorded to the book, the ratings and the tables.

        The journal then has *size* entries.
        """
        changes = self._changes()
        self.book.apply_entries(entries, changes)
        self._project(journal, changes, size)

    def apply_journal(self, journal: Journal, size: int, *, by_columns: bool) -> None:
        """Apply the journal's entries up to *size* to the book, the ratings and the tables; many of them by columns."""
        changes = self._changes()
        for bodies in journal.read(self.position, size):
            if by_columns:
                apply_decoded_block(self.book, decode_bodies(bodies), changes)
            else:
                self.book.apply_entries(map(decode, bodies), changes)
        self._project(journal, changes, size)

    def _changes(self) -> Reratings:
        return Reratings(former_games={} if self.of_facts else None)

    def _project(self, journal: Journal, changes: Reratings, size: int) -> None:
        done = self.position
        views_file.record_schemes(self.connection, changes.adopted)
        self.projections.update(changes, done)
        if self.of_facts:
            fact_folds.project_changed_facts(self.book, self.of_facts, done, size, changes)
        read_models.mark_stale(self.connection, self.plan.others, done, changes.start_ms)
        views_file.set_checkpoint(self.connection, size, journal.root_at(size))
        self.position = size
