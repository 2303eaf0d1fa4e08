"""The read models that a ledger keeps, and which of their tables are stale.

The rule is the ledger's, not the process's: the built-in read models, those that the policy
``read-models`` names, and those that have a table already. Entry points are only at hand. Opening a ledger takes no
table away; a process that has not the projector of one goes on without it, and notes from which place in rating order
on its rows may be others. Until a process that has it brings it level, the table refuses to answer.
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
from ledger.ratings.fact_projector import ReadModel, is_of_facts
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
NOWHERE = 0  # the pool of a read model that has no table yet
EVERYWHERE = -1  # that of a table of facts


class Rule(NamedTuple):
    """The policy of read models: by name, whether one is kept; others are not named."""

    said: Mapping[str, bool]

    def keeps(self, name: str) -> bool | None:
        """True and False as it was set; None where nothing was."""
        return self.said.get(name)


class Plan(NamedTuple):
    """The steps to make the views keep the right read models.

    Attributes:
        drop: names of tables that the rule does not keep.
        make: projectors whose tables are to be folded from the beginning.
        mend: projectors whose tables were left behind.
        kept: the projectors whose tables are level after that, and are kept level here.
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
        making: those whose tables it makes where there are none.
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
        self.making = tuple(making)
        names = {projector.name for projector in making}
        self.further = tuple(projector for projector in further if projector.name not in names)
        self.broken = dict(broken or {})
        self._made_here: set[str] = set()  # whose table was seen to be this process's
        refuse_taken_names(self.all, views_file.OWN_TABLES)

    @property
    def all(self) -> tuple[ReadModel, ...]:
        """All of them."""
        return (*self.making, *self.further)

    def leave_out(self, error: ReadModelError) -> None:
        """Go on without the projector that failed, as if its plug-in were missing."""
        self.making = tuple(made for made in self.making if made.name != error.projector)
        self.further = tuple(made for made in self.further if made.name != error.projector)
        self.broken[error.projector] = error
        plugins.leave_out(error)
        warnings.warn(f"left out: {error}", ReadModelWarning, stacklevel=2)

    def to_keep(self, rule: Rule, present: Iterable[str]) -> list[ReadModel]:
        """Return the projectors that views should keep here.

        Args:
            rule: what the ledger says.
            present: names of the tables that there are, or were.
        """
        there = set(present)
        return [
            *(made for made in self.making if rule.keeps(made.name) is not False),
            *(
                made
                for made in self.further
                if rule.keeps(made.name) or (made.name in there and rule.keeps(made.name) is None)
            ),
        ]

    def plan(self, connection: sqlite3.Connection) -> Plan:
        """Return the steps for the tables of these views."""
        rule, stored, left = rule_in(connection), views_file.stored_projectors(connection), left_behind(connection)
        drop = [name for name in (stored.keys() | left) if rule.keeps(name) is False]
        make, mend, kept = list[ReadModel](), list[ReadModel](), list[ReadModel]()
        for projector in self.to_keep(rule, stored.keys() | left):
            identity = stored.get(projector.name)
            if identity == projector.identity:
                if projector.name in left:
                    mend.append(projector)
            elif identity is None or self._takes_over(projector, identity):
                make.append(projector)
            else:  # another version's: who has that one keeps it level
                self.broken[projector.name] = ProjectionError(
                    projector.name,
                    f"its table was made by version {version_of(identity)}, and version {projector.version} of the "
                    "projector is here; install that version, or raise the version to make the table anew",
                )
                continue
            kept.append(projector)
        here = {projector.name for projector in kept}
        others = sorted(name for name in stored if name not in here and name not in drop)
        return Plan(sorted(drop), make, mend, tuple(kept), others)

    def has_made(self, plan: Plan) -> None:
        """Take note that what was planned is done: these tables are this process's."""
        self._made_here |= {projector.name for projector in plan.kept}

    def _takes_over(self, projector: ReadModel, identity: str) -> bool:
        """Return whether a table of another version of the projector is made again."""
        version = version_of(identity)
        if version is None or version == projector.version:
            # Of one version with other settings the one that came last is kept: who has had the table gives way, or
            # two processes would make it again by turns for ever.
            return projector.name not in self._made_here
        return version < projector.version


def version_of(identity: str) -> int | None:
    """Return the version in a projector's identity; None if it has none."""
    try:
        _, version, _, _ = orjson.loads(identity)
    except (ValueError, TypeError):
        return None
    return version if type(version) is int else None


# -- the rule --------------------------------------------------------------------------------------------------------


def rule_in(connection: sqlite3.Connection) -> Rule:
    """The rule as views know it."""
    row = stored_policies(connection).last(READ_MODELS)
    return _rule({} if row is None else row.settings)


def _rule(settings: Settings) -> Rule:
    return Rule({name: value for name, value in settings.items() if isinstance(value, bool)})


def rule_position(connection: sqlite3.Connection) -> int:
    """Return the entry that last set the policy of read models, as stored in the views; 0 if none did."""
    (position,) = connection.execute(_SET_AT, (READ_MODELS,)).fetchone()
    return int(position)


def rule_of(journal: Journal) -> Rule:
    """Return the rule of a journal, for views that are to be made."""
    # As with four eyes the entry decides, not an instant: a table is kept or not, for questions about any day.
    last = max(policy_entries(journal.find, READ_MODELS), key=lambda entry: entry.position, default=None)
    event = None if last is None else decode(last.body).event
    return _rule(event.settings if isinstance(event, PolicySet) else {})


# -- what was left behind --------------------------------------------------------------------------------------------


def left_behind(connection: sqlite3.Connection) -> set[str]:
    """Names of the read models whose tables are not level with the views, or are still to be made."""
    return {name for (name,) in connection.execute(_LEFT)}


def places(connection: sqlite3.Connection, name: str) -> dict[int, int | None]:
    """By pool, from which place in rating order on the rows of a table may be others; None: from the beginning."""
    return dict(connection.execute(_WHERE, (name,)).fetchall())


def leave(connection: sqlite3.Connection, names: Collection[str], position: int, start_ms: Mapping[int, int]) -> None:
    """Note that the rows of tables were not changed with the views.

    Args:
        connection: the views.
        names: of the tables.
        position: up to which entry they were level.
        start_ms: by pool, the earliest place in rating order from which games were rated again.
    """
    stored = views_file.stored_projectors(connection) if names else {}
    of_facts = [name for name in names if is_of_facts(stored.get(name, ""))]
    rows = [(name, pool, position, ms) for name in names if name not in of_facts for pool, ms in start_ms.items()]
    connection.executemany(_LEAVE, [*rows, *((name, EVERYWHERE, position, None) for name in of_facts)])


def remember(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Note read models that the ledger keeps and that have no table in views that were built without them."""
    connection.executemany(_LEAVE, [(name, NOWHERE, 0, None) for name in names])


def level_again(connection: sqlite3.Connection, name: str) -> None:
    """The table of a read model is level with the views, or gone."""
    connection.execute("DELETE FROM left_behind WHERE name = ?", (name,))


def refuse_left_behind(
    connection: sqlite3.Connection, name: str, broken: Mapping[str, ProjectionError] | None = None
) -> None:
    """Refuse to answer from the table of a read model that is not level with the views.

    Raises:
        ProjectionError: saying since when, and what to do.
    """
    if refusal := table_state(connection, name, broken).refusal:
        raise refusal


class TableState(NamedTuple):
    """The state of a read model's table.

    Attributes:
        position: the entry up to which its rows follow from the journal.
        refusal: since when it is not level with the views, why, and what to do; None if it is level.
    """

    position: int
    refusal: ProjectionError | None


def table_state(
    connection: sqlite3.Connection, name: str, broken: Mapping[str, ProjectionError] | None = None
) -> TableState:
    """Return how far the table of a read model is, and why answers from it are refused."""
    left_at, pool = connection.execute(_LEFT_AT, (name,)).fetchone()
    now, fault = views_file.position(connection), (broken or {}).get(name)
    if left_at is None:
        return TableState(now, None if name in views_file.stored_projectors(connection) else fault)
    if fault is not None:
        return TableState(left_at, fault)
    way_out = (
        "bring it level where its plug-in is installed (any command that reads), or by Ledger.open with its projector "
        "among 'projectors'"
    )
    message = (
        f"the ledger keeps it, but its table was never made from these views; {way_out}"
        if pool == NOWHERE
        else f"its table is of entry {left_at:,}, the views are of entry {now:,}: a process without its plug-in has "
        f"gone on since; {way_out}"
    )
    return TableState(left_at, ProjectionError(name, message))
