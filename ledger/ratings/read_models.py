"""The read models that a ledger keeps, and which of their tables are stale.

The rule is the ledger's, not the process's: the built-in read models, those that the policy ``read-models`` names, and
those that have a table already. Entry points only offer projectors. Opening a ledger drops no table; a process that
lacks the projector of one goes on without it, and notes from which place in rating order on its rows may be stale.
Until a process with the projector has repaired it, answers from the table are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson

from ledger.book.policies import READ_MODELS, Settings, stored_policies
from ledger.errors import ProjectionError, ReadModelError, ReadModelWarning
from ledger.facts.codec import decode
from ledger.facts.events import PolicySet
from ledger.journal import Journal
from ledger.journal.late_facts import policy_entries
from ledger.ratings import views_file
from ledger.ratings.fact_projector import ReadModel, is_fact_identity
from ledger.ratings.view_tables import refuse_taken_names
from ledger.runtime import plugins

if TYPE_CHECKING:
    import sqlite3


_LEFT = "SELECT DISTINCT name FROM left_behind ORDER BY name"
_SET_AT = "SELECT coalesce(max(position), 0) FROM policies WHERE policy = ?"
_LEFT_AT = "SELECT min(position), max(pool) FROM left_behind WHERE name = ?"
_WHERE = "SELECT pool, since_ms FROM left_behind WHERE name = ?"
_LEAVE = """
INSERT INTO left_behind VALUES (?1, ?2, ?3, ?4)
ON CONFLICT(name, pool) DO UPDATE SET since_ms = min(since_ms, excluded.since_ms)
"""  # the position stays: up to there the rows are right; NULL, from the beginning, is below everything
NO_TABLE_YET = 0  # the pool of a read model that has no table yet
ALL_POOLS = -1  # that of a table of facts


class ReadModelRule(NamedTuple):
    """The policy of read models: for each named read model, whether the ledger keeps its table."""

    said: Mapping[str, bool]

    def keeps(self, name: str) -> bool | None:
        """Return whether the policy keeps a read model; None if it does not name it."""
        return self.said.get(name)


class TablePlan(NamedTuple):
    """The steps that make the views hold the right tables.

    Attributes:
        drop: names of tables that the rule does not keep.
        make: projectors whose tables are to be folded from the beginning.
        mend: projectors whose tables are stale.
        kept: the projectors whose tables are up to date after that, and are kept so here.
        others: names of present tables that this process cannot fold.
    """

    drop: Sequence[str]
    make: Sequence[ReadModel]
    mend: Sequence[ReadModel]
    kept: tuple[ReadModel, ...]
    others: Sequence[str]

    @property
    def is_done(self) -> bool:
        """True if there is nothing to do."""
        return not (self.drop or self.make or self.mend)


class InstalledProjectors:
    """The projectors that a process has.

    Attributes:
        offered: those whose tables it makes where there are none.
        further: those that it makes only if the ledger keeps them: by its rule, or because their tables exist.
        broken: by name, why one cannot be loaded, or failed.

    Raises:
        ProjectionError: the table of one would be another one's.
    """

    def __init__(
        self,
        making: Sequence[ReadModel],
        further: Sequence[ReadModel] = (),
        broken: Mapping[str, ProjectionError] | None = None,
    ) -> None:
        self.offered = tuple(making)
        names = {projector.name for projector in making}
        self.further = tuple(projector for projector in further if projector.name not in names)
        self.broken = dict(broken or {})
        self._made_here: set[str] = set()  # whose table was seen to be this process's
        refuse_taken_names(self.all, views_file.OWN_TABLES)

    @property
    def all(self) -> tuple[ReadModel, ...]:
        """All projectors of the process."""
        return (*self.offered, *self.further)

    def leave_out(self, error: ReadModelError) -> None:
        """Disable the projector that failed, as if its plug-in were missing."""
        self.offered = tuple(made for made in self.offered if made.name != error.projector)
        self.further = tuple(made for made in self.further if made.name != error.projector)
        self.broken[error.projector] = error
        plugins.mark_broken(error)
        warnings.warn(f"left out: {error}", ReadModelWarning, stacklevel=2)

    def projectors_to_keep(self, rule: ReadModelRule, present: Iterable[str]) -> list[ReadModel]:
        """Return the projectors whose tables views keep here; *present* names the tables that exist, or did."""
        there = set(present)
        return [
            *(made for made in self.offered if rule.keeps(made.name) is not False),
            *(
                made
                for made in self.further
                if rule.keeps(made.name) or (made.name in there and rule.keeps(made.name) is None)
            ),
        ]

    def plan(self, connection: sqlite3.Connection) -> TablePlan:
        """Return the steps that make these views hold the right tables."""
        rule, stored, left = (
            rule_in_views(connection),
            views_file.stored_projectors(connection),
            stale_tables(connection),
        )
        drop = [name for name in (stored.keys() | left) if rule.keeps(name) is False]
        make, mend, kept = list[ReadModel](), list[ReadModel](), list[ReadModel]()
        for projector in self.projectors_to_keep(rule, stored.keys() | left):
            identity = stored.get(projector.name)
            if identity == projector.identity:
                if projector.name in left:
                    mend.append(projector)
            elif identity is None or self._takes_over(projector, identity):
                make.append(projector)
            else:  # another version's: who has that one keeps it level
                there = version_in_identity(identity)
                self.broken[projector.name] = ProjectionError(
                    projector.name,
                    f"its table was made by version {there}, and version {projector.version} of "
                    "the projector is here; install that version, or raise the version to make the table again",
                )
                continue
            kept.append(projector)
        here = {projector.name for projector in kept}
        others = sorted(name for name in stored if name not in here and name not in drop)
        return TablePlan(sorted(drop), make, mend, tuple(kept), others)

    def note_made(self, plan: TablePlan) -> None:
        """Note that a plan is done: its tables are this process's."""
        self._made_here |= {projector.name for projector in plan.kept}

    def _takes_over(self, projector: ReadModel, identity: str) -> bool:
        """Return whether a table of another version of the projector is made again."""
        version = version_in_identity(identity)
        if version is None or version == projector.version:
            # Of one version with other settings the one that came last is kept: who has had the table gives way, or
            # two processes would make it again by turns for ever.
            return projector.name not in self._made_here
        return version < projector.version


def version_in_identity(identity: str) -> int | None:
    """Return the version in a projector's identity; None if it has none."""
    try:
        _, version, _, _ = orjson.loads(identity)
    except (ValueError, TypeError):
        return None
    return version if type(version) is int else None


# -- the rule --------------------------------------------------------------------------------------------------------


def rule_in_views(connection: sqlite3.Connection) -> ReadModelRule:
    """Return the policy of read models, as the views store it."""
    row = stored_policies(connection).last(READ_MODELS)
    return _rule({} if row is None else row.settings)


def _rule(settings: Settings) -> ReadModelRule:
    return ReadModelRule({name: value for name, value in settings.items() if isinstance(value, bool)})


def rule_position(connection: sqlite3.Connection) -> int:
    """Return the entry that last set the policy of read models, as stored in the views; 0 if none did."""
    (position,) = connection.execute(_SET_AT, (READ_MODELS,)).fetchone()
    return int(position)


def rule_in_journal(journal: Journal) -> ReadModelRule:
    """Return the rule of a journal, for views that are to be made."""
    # As with four eyes the entry decides, not an instant: a table is kept or not, for questions about any day.
    last = max(policy_entries(journal.find, READ_MODELS), key=lambda entry: entry.position, default=None)
    event = None if last is None else decode(last.body).event
    return _rule(event.settings if isinstance(event, PolicySet) else {})


# -- stale tables ----------------------------------------------------------------------------------------------------


def stale_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the read models whose tables are stale, or are still to be made."""
    return {name for (name,) in connection.execute(_LEFT)}


def stale_since(connection: sqlite3.Connection, name: str) -> dict[int, int | None]:
    """Return, by pool, the rating time from which on a table may be stale; None for the beginning."""
    return dict(connection.execute(_WHERE, (name,)).fetchall())


def mark_stale(
    connection: sqlite3.Connection, names: Collection[str], position: int, start_ms: Mapping[int, int]
) -> None:
    """Note that tables were not updated with the views.

    *position* is the entry up to which they were; *start_ms* the earliest place in rating order, by pool, from which
    games were rated again.
    """
    stored = views_file.stored_projectors(connection) if names else {}
    of_facts = [name for name in names if is_fact_identity(stored.get(name, ""))]
    rows = [(name, pool, position, ms) for name in names if name not in of_facts for pool, ms in start_ms.items()]
    connection.executemany(_LEAVE, [*rows, *((name, ALL_POOLS, position, None) for name in of_facts)])


def mark_missing(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Note read models that the ledger keeps and that have no table in views that were built without them."""
    connection.executemany(_LEAVE, [(name, NO_TABLE_YET, 0, None) for name in names])


def mark_up_to_date(connection: sqlite3.Connection, name: str) -> None:
    """Note that the table of a read model is up to date, or gone."""
    connection.execute("DELETE FROM left_behind WHERE name = ?", (name,))


def refuse_stale_table(
    connection: sqlite3.Connection, name: str, broken: Mapping[str, ProjectionError] | None = None
) -> None:
    """Refuse to answer from the table of a read model that is stale.

    Raises:
        ProjectionError: saying since when, and what to do.
    """
    if refusal := table_state(connection, name, broken).refusal:
        raise refusal


class TableState(NamedTuple):
    """The state of a read model's table.

    Attributes:
        position: the entry up to which its rows follow from the journal.
        refusal: since when it is stale, why, and what to do; None if it is up to date.
    """

    position: int
    refusal: ProjectionError | None


def table_state(
    connection: sqlite3.Connection, name: str, broken: Mapping[str, ProjectionError] | None = None
) -> TableState:
    """Return the entry up to which a read model's table is right, and why answers from it are refused."""
    left_at, pool = connection.execute(_LEFT_AT, (name,)).fetchone()
    now, fault = views_file.position(connection), (broken or {}).get(name)
    if left_at is None:
        return TableState(now, None if name in views_file.stored_projectors(connection) else fault)
    if fault is not None:
        return TableState(left_at, fault)
    way_out = (
        "update it where its plug-in is installed (any command that reads), or by Ledger.open with its projector "
        "among 'projectors'"
    )
    message = (
        f"the ledger keeps it, but its table was never made from these views; {way_out}"
        if pool == NO_TABLE_YET
        else f"its table is of entry {left_at:,}, the views are of entry {now:,}: a process without its plug-in has "
        f"gone on since; {way_out}"
    )
    return TableState(left_at, ProjectionError(name, message))
