"""Ledgers that live through drawn histories: facts, corrections of every verb, decisions, previews, lists, restarts.

Views of the same journal follow in steps of their own, each in a way of ``WAYS``. In the end the facts are recorded
right at once elsewhere, and the rows of all views are compared.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
from hypothesis import note
from hypothesis import strategies as st

from ledger.audit.rebuilt_views import table_digests
from ledger.book import assessment, tournament_editions
from ledger.book.stored_pools import stored_pools
from ledger.errors import ProposalError, RejectedError
from ledger.facts import codec
from ledger.facts.changes import Change
from ledger.facts.events import ClockAccepted, Decision, Event, PersonErased, PlayerRenamed
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import engine, reratings, views
from ledger.ratings.queries import table_names
from ledger.ratings.views import Views
from ledger.ratings.views_file import RATING_BOUNDS
from ledger.testing import rows_by_facts, table_rows
from tests.kit.correction_histories import INSTANTS, Account, Drawing
from tests.kit.drawn_clubs import CAFE, PLAYERS, POOLS, games, is_first, new_ledger, opened
from tests.kit.impacts import file_digests
from tests.kit.plugins import BEATEN, CLIMBS, OF_FACTS, SCORES, WIN_STREAKS

PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES, BEATEN, *OF_FACTS)
# Of these, a fact that was corrected leaves traces that one recorded right does not.
BOOKKEEPING = {
    "eras", "runs", "tournaments", "openings", "players", "changes", "seeds", "strengths", "proposals", "corrections",
    "merges", "given_sides", "originals", "pools", "rounds_without_game", "policies", "publications", "entrants",
    "descriptions", "player_details", "sent_reports", "federations",
}  # fmt: skip
# Policy, its settings, and whether it holds from an instant on.
RULES_OF_THE_HOUSE: Sequence[tuple[str, Mapping[str, int | bool | str], bool]] = (
    ("upsets", {"margin": 150}, True),
    ("classes", {"c_from": 1900}, True),
    ("publishing", {"largest_jump": 5}, True),
    ("four-eyes", {"on": True}, False),
)


def in_the_end(ledger: Ledger) -> dict[str, Any]:
    """What is compared with a ledger that knew the right facts: games that count, and all that follows from them."""
    rows = rows_by_facts(ledger.views.connection)
    rows["games"] = [row for row in rows["games"] if dict(row)["reason"] is None]
    told = {table: rows[table] for table in rows.keys() - BOOKKEEPING}
    # The history has a column for each field of every scheme that was ever adopted, blank where it was not in use.
    derived = {table: [tuple(cell for cell in row if cell[1] is not None) for row in told[table]] for table in told}
    return {**derived, "rounds without a game": sorted(byes_of(ledger.views.connection), key=repr)}


def byes_of(connection: sqlite3.Connection) -> set[Any]:
    """Whose rounds without a game stand, as persons; of two of one person and round which one counts is not asked."""
    found: set[Any] = set()
    for pool in stored_pools(connection):
        names = tournament_editions.tournaments_with_rounds(connection, pool)
        for rounds in tournament_editions.rounds_of(connection, pool, names).values():
            found |= {(pool.name, bye.tournament, bye.round, bye.player) for bye in rounds}
    return found


def right_at_once(facts: Sequence[Event]) -> dict[str, Any]:
    """The same of a new ledger that takes these facts."""
    with new_ledger(PROJECTORS) as ledger:
        ledger.append_many(facts)
        ledger.rebuild()
        return in_the_end(ledger)


@attrs.define
class History:
    """A ledger that lives through a history, with views of it that are left behind and follow in steps of their own.

    Attributes:
        ledger: the ledger, level after every step.
        aside: views that are brought up to date now and then.
        account: what the journal says, read naively.
        known: by position, the rows at some moments.
        say: takes a line about what happens.
    """

    ledger: Ledger
    aside: Views
    account: Account
    known: dict[int, dict[str, Any]] = attrs.Factory(dict)
    say: Callable[[str], None] = print

    def take(self, facts: Sequence[Event]) -> None:
        """Record facts; refused are those whose key a correction recorded otherwise, and what four eyes must see."""
        try:
            self.ledger.append_many(facts)
        except RejectedError:
            for fact in facts:
                with suppress(RejectedError):
                    self.ledger.append(fact)

    def propose(self, changes: Sequence[Change]) -> int | None:
        """The number of a proposal of the changes that are not refused; None without any. A refusal changes nothing."""
        head = self.ledger.head()
        try:
            return self.ledger.propose(changes, reason="because", by="eve").proposal
        except ProposalError as error:
            self.say(f"refused: {error}")
            assert self.ledger.head() == head
            refused = {refusal.number for refusal in error.refusals}
        left = [change for number, change in enumerate(changes, 1) if number not in refused]
        return self.propose(left) if len(left) < len(changes) and left else None

    def decide(self, number: int, decision: Decision, by: str = "adam") -> None:
        head = self.ledger.head()
        try:
            self.ledger.decide(number, decision, by=by)
            self.say(f"{decision} {number}: {[change.plain() for change in self.account.proposals.get(number, ())]}")
        except ProposalError as error:
            self.say(f"not {decision}: {error}")
            assert self.ledger.head() == head

    def preview(self, number: int) -> None:
        """Ask what an approval would bring; it writes nothing."""
        files = file_digests(self.ledger.path.parent)
        with suppress(ProposalError):  # stale by now
            self.ledger.preview(number)
        assert file_digests(self.ledger.path.parent) == files

    def open_again(self) -> None:
        path = self.ledger.path
        self.ledger.close()
        self.ledger = opened(path, PROJECTORS)

    def catch_up(self) -> None:
        """Bring the views level; no rating stands above its bound then."""
        self.ledger.catch_up()
        self.account.read(self.ledger.journal)
        assert low_bounds(self.ledger.views.connection) == []

    def follow(self, way: str) -> None:
        """The views that were left behind follow by one of the ways of working."""
        with forced(way):
            self.aside.catch_up()
        self.catch_up()
        for table, rows in all_rows(self.ledger).items():
            assert table_rows(self.aside.connection, table) == rows, table

    def live(self) -> dict[str, str]:
        """The digests of the views as they came to stand step by step."""
        self.catch_up()
        return table_digests(self.ledger.views.connection)

    def at_once(self) -> dict[str, str]:
        """The digests of views that met the whole journal at once."""
        self.ledger.rebuild()
        return table_digests(self.ledger.views.connection)


@contextmanager
def new_history() -> Iterator[History]:
    with new_ledger(PROJECTORS) as ledger, closing(SqliteJournal(ledger.path)) as journal:
        aside = Views(ledger.path.with_name("aside.db"), PROJECTORS, journal)
        history = History(ledger, aside, Account())
        try:
            yield history
        finally:
            aside.close()
            history.ledger.close()


STEPS = (
    *("correct",) * 8, *("propose",) * 2, "decide", "decide", "facts", "facts", "telling", "open", "follow", "preview",
    "publish", "policy", "unseen",
)  # fmt: skip


def live_through(data: st.DataObject, history: History, club: Sequence[Event]) -> None:
    """Steps of every kind, in any order, among facts that come in."""
    history.say = note
    first = [event for event in club if is_first(event)]
    further = [data.draw(games(number, INSTANTS, (None, CAFE))) for number in range(200, 206)]
    rest = [*further, *(event for event in club if not is_first(event))]
    early = data.draw(st.integers(len(rest) // 2, len(rest)))
    history.take([*first, *rest[:early]])
    waiting = rest[early:]
    history.catch_up()
    drawing = Drawing(data.draw, history.account)
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=14)):
        if step == "facts":
            count = data.draw(st.integers(1, 4))
            history.take(waiting[:count])
            del waiting[:count]
        elif step in OTHER_STEPS:
            OTHER_STEPS[step](history, drawing)
        else:
            number = history.propose(drawing.changes(history.ledger.corrections.drafts))
            history.catch_up()
            if step == "correct" and number is not None:
                if data.draw(st.booleans()):
                    history.preview(number)
                history.decide(number, Decision.APPROVED)
        history.catch_up()
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            history.known[history.ledger.head().size] = all_rows(history.ledger)
    history.take(waiting)


def _tell(history: History, drawing: Drawing) -> None:
    event = drawing.telling()
    if event is not None:
        try:
            history.ledger.append(event)
        except RejectedError as error:  # the telling ends before it begins
            history.say(f"not told: {error}")


def _open(history: History, _: Drawing) -> None:
    history.open_again()


def _follow(history: History, drawing: Drawing) -> None:
    history.follow(drawing.draw(st.sampled_from(list(WAYS))))


def _waiting(history: History, drawing: Drawing) -> int | None:
    left = sorted(history.account.proposals.keys() - history.account.decided)
    return drawing.draw(st.sampled_from(left)) if left else None


def _decide(history: History, drawing: Drawing) -> None:
    number = _waiting(history, drawing)
    if number is not None:
        history.decide(number, drawing.draw(st.sampled_from(Decision)), "eve")


def _preview(history: History, drawing: Drawing) -> None:
    number = _waiting(history, drawing)
    if number is not None:
        history.preview(number)


def _publish(history: History, drawing: Drawing) -> None:
    """Publish the list of an instant, whatever it looks like; not one of the future."""
    pool, instant = drawing.draw(st.sampled_from(POOLS)), drawing.draw(st.sampled_from(INSTANTS))
    with suppress(RejectedError):
        history.ledger.publications.publish(instant, pool, actor="adam", despite_complaints=True)


def _set_policy(history: History, drawing: Drawing) -> None:
    policy, settings, dated = drawing.draw(st.sampled_from(RULES_OF_THE_HOUSE))
    since = drawing.draw(st.sampled_from((None, "2020", "2020-03-01"))) if dated else None
    with suppress(RejectedError):  # four eyes are on
        history.ledger.policies.set(policy, settings, effective_from=since, actor="eve")


def _record_unseen(history: History, drawing: Drawing) -> None:
    """Record an entry of which no rating follows, past its own door, which would ask for a people file.

    Tokens are not among them: with one, every door would ask for its own.
    """
    number = 1 + len(history.account.facts)
    event: Event = drawing.draw(
        st.sampled_from(
            (
                PlayerRenamed(player=1 + number % PLAYERS, number=number, commitment=f"{number:064x}"),
                PersonErased(player=1 + number % PLAYERS),
                ClockAccepted(entry=1),
            )
        )
    )
    if not history.ledger.journal.find([event.key]):
        with history.ledger.journal.writing() as writer:
            body = codec.body_of(writer.size + 1, "2022-01-01T00:00:00.000Z", "eve", event)
            writer.append([event.KIND], [event.key], [body])


OTHER_STEPS: Mapping[str, Callable[[History, Drawing], None]] = {
    "telling": _tell,
    "open": _open,
    "follow": _follow,
    "decide": _decide,
    "preview": _preview,
    "publish": _publish,
    "policy": _set_policy,
    "unseen": _record_unseen,
}


# The numbers are thresholds.
WAYS: Mapping[str, Mapping[str, int]] = {
    "as it comes": {},
    "columns to fold": {"FEW_ENTRIES": 0},
    "compiled": {"COMPILE_FROM": 0},
    "columns and compiled": {"FEW_ENTRIES": 0, "COMPILE_FROM": 0},
    "built aside": {"BUILD_FROM": 1, "FEW_ENTRIES": 0},
    "in small blocks": {"BLOCK": 3, "FEW_ASSESSED": 1},
    "in small blocks and compiled": {"BLOCK": 4, "FEW_ASSESSED": 1, "COMPILE_FROM": 0, "FEW_ENTRIES": 0},
    "in short strides": {"STRIDE": 1},
    "in short strides and compiled": {"STRIDE": 2, "COMPILE_FROM": 0},
}
MODULE_OF = {
    "COMPILE_FROM": engine,
    "BLOCK": assessment,
    "FEW_ASSESSED": assessment,
    "STRIDE": reratings,
}  # else ``views``


@contextmanager
def forced(way: str) -> Iterator[None]:
    """Work in a way of ``WAYS``."""
    with ExitStack() as stack:
        for name, value in WAYS[way].items():
            stack.enter_context(patch.object(MODULE_OF.get(name, views), name, value))
        yield


_LOW_BOUNDS = f"""
SELECT * FROM (SELECT pool, player, max(rating) AS highest FROM history GROUP BY pool, player)
LEFT JOIN {RATING_BOUNDS} USING (pool, player) WHERE rating IS NULL OR rating < highest
"""


def low_bounds(connection: sqlite3.Connection) -> list[Any]:
    """Players with a rating above the bound that none of theirs was ever above; a ledger that is true has none."""
    return connection.execute(_LOW_BOUNDS).fetchall()


def all_rows(ledger: Ledger) -> dict[str, Any]:
    """By table, every row of the views; but that no rating is above its bound, bounds may differ."""
    connection = ledger.views.connection
    assert low_bounds(connection) == []
    return {table: table_rows(connection, table) for table in table_names(connection) if table != RATING_BOUNDS}


def rows_by_identity(ledger: Ledger) -> dict[str, Any]:
    """The rows in terms of facts, with identities for the numbers that depend on the order of arrival."""
    people = ledger.people.by_number(sorted(ledger.people.numbers()))
    return rows_by_facts(ledger.views.connection, {number: person.identity or "" for number, person in people.items()})


def tables_that_differ(connection: sqlite3.Connection, other: Path) -> list[str]:
    """The tables that hold other rows than those of another file of views; millions of rows are compared by SQL."""
    connection.execute("ATTACH ? AS other", (str(other),))
    try:
        return [table for table in table_names(connection) if table != RATING_BOUNDS and _differs(connection, table)]
    finally:
        connection.execute("DETACH other")


def _differs(connection: sqlite3.Connection, table: str) -> bool:
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?, 'main')", (table,)).fetchall()
    key = " AND ".join(f'here."{name}" IS there."{name}"' for name, pk in columns if pk) or "here.rowid = there.rowid"
    alike = " AND ".join(f'here."{name}" IS there."{name}"' for name, _ in columns)
    pairs = f'SELECT count(*) FROM main."{table}" AS here CROSS JOIN other."{table}" AS there ON {key} AND {alike}'
    everything = (f'SELECT count(*) FROM {place}."{table}"' for place in ("main", "other"))
    return len({connection.execute(query).fetchone()[0] for query in (*everything, pairs)}) != 1
