"""Any history of corrections gives the ratings of a ledger in which the facts had been recorded right at once.

The histories are drawn: facts, corrections of every verb, decisions and restarts, in any order. Hypothesis tries a few
in each run; LEDGER_HISTORIES sets another number.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from ledger.book import stored_rounds
from ledger.book.stored_pools import stored_pools
from ledger.errors import ConflictError, LedgerError, ProposalError, RejectedError
from ledger.facts.changes import Change
from ledger.facts.correction_events import Decision
from ledger.facts.events import Event, PlayerRegistered, SchemeAdopted
from ledger.facts.words import Standing
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings.queries import tables
from ledger.ratings.views import Views
from ledger.testing import in_terms_of_facts, table_rows
from tests.kit.clubs import NOW, takes_late_pasts
from tests.kit.correction_histories import INSTANTS, Drawing
from tests.kit.derived import all_rows
from tests.kit.drawn_clubs import CAFE, WHOLE_TOURNAMENTS, clubs, games, is_first
from tests.kit.games import game_recorded
from tests.kit.plugins import BEATEN, CLIMBS, SCORES, WIN_STREAKS
from tests.kit.right_at_once import Account
from tests.kit.ways import WAYS, forced

PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES, BEATEN)
# Of these, a fact that was corrected leaves traces that one recorded right does not.
BOOKKEEPING = {
    "eras", "runs", "tournaments", "openings", "players", "changes", "seeds", "proposals", "corrections",
    "merges", "given_sides", "originals", "pools", "rounds_without_game",
}  # fmt: skip

histories = settings(
    max_examples=int(os.environ.get("LEDGER_HISTORIES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def opened(path: Path) -> Ledger:
    return takes_late_pasts(Ledger.open(path, projectors=PROJECTORS, clock=lambda: NOW))


@contextmanager
def new_ledger() -> Iterator[Ledger]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        Ledger.create(path, pool="unused", clock=lambda: NOW).close()
        with opened(path) as ledger:
            yield ledger


def in_the_end(ledger: Ledger) -> dict[str, Any]:
    """What is compared with a ledger that knew the right facts: games that count, and all that follows from them."""
    rows = in_terms_of_facts(ledger.views.connection)
    rows["games"] = [row for row in rows["games"] if dict(row)["reason"] is None]
    told = {table: rows[table] for table in rows.keys() - BOOKKEEPING}
    # The history has a column for each field of every scheme that was ever adopted, blank where it was not in use.
    derived = {table: [tuple(cell for cell in row if cell[1] is not None) for row in told[table]] for table in told}
    return {**derived, "rounds without a game": sorted(byes_of(ledger.views.connection), key=repr)}


def byes_of(connection: sqlite3.Connection) -> set[Any]:
    """Whose rounds without a game stand, as persons; of two of one person and round which one counts is not asked."""
    found: set[Any] = set()
    for pool in stored_pools(connection):
        names = stored_rounds.names_in(connection, pool)
        for rounds in stored_rounds.rounds_of(connection, pool, names).values():
            found |= {(pool.name, bye.tournament, bye.round, bye.player) for bye in rounds}
    return found


def right_at_once(facts: Sequence[Event]) -> dict[str, Any]:
    """The same of a new ledger that takes these facts."""
    with new_ledger() as ledger:
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
        """Record facts; one whose key a correction has recorded with another fact is refused."""
        try:
            self.ledger.append_many(facts)
        except ConflictError:
            for fact in facts:
                with suppress(ConflictError):
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

    def open_again(self) -> None:
        path = self.ledger.path
        self.ledger.close()
        self.ledger = opened(path)

    def catch_up(self) -> dict[str, Any]:
        self.ledger.catch_up()
        self.account.read(self.ledger.journal)
        return all_rows(self.ledger)

    def follow(self, way: str) -> None:
        """The views that were left behind follow by one of the ways of working."""
        with forced(way):
            self.aside.catch_up()
        expected = self.catch_up()
        for table in tables(self.aside.connection):
            assert table_rows(self.aside.connection, table) == expected[table], table


@contextmanager
def new_history() -> Iterator[History]:
    with new_ledger() as ledger, closing(SqliteJournal(ledger.path)) as journal:
        aside = Views(ledger.path.with_name("aside.db"), PROJECTORS, journal)
        history = History(ledger, aside, Account())
        try:
            yield history
        finally:
            aside.close()
            history.ledger.close()


STEPS = (*("correct",) * 8, *("propose",) * 2, "decide", "decide", "facts", "facts", "telling", "open", "follow")


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
        elif step == "telling":
            tell(history, drawing)
        elif step == "open":
            history.open_again()
        elif step == "follow":
            history.follow(data.draw(st.sampled_from(list(WAYS))))
        elif step == "decide":
            left = sorted(history.account.proposals.keys() - history.account.decided)
            if left:
                history.decide(data.draw(st.sampled_from(left)), data.draw(st.sampled_from(Decision)), "eve")
        else:
            number = history.propose(drawing.changes(history.ledger.corrections.drafts))
            history.catch_up()
            if step == "correct" and number is not None:
                history.decide(number, Decision.APPROVED)
        rows = history.catch_up()
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            history.known[history.ledger.head().size] = rows
    history.take(waiting)


def tell(history: History, drawing: Drawing) -> None:
    event = drawing.telling()
    if event is not None:
        try:
            history.ledger.append(event)
        except RejectedError as error:  # the telling ends before it begins
            history.say(f"not told: {error}")


@histories
@given(st.data(), clubs())
def test_any_history_of_corrections_gives_the_ratings_of_the_right_facts(
    data: st.DataObject, club: list[Event]
) -> None:
    with new_history() as history:
        live_through(data, history, club)
        live = history.catch_up()
        facts = history.account.final()
        history.follow(data.draw(st.sampled_from(list(WAYS))))
        found = in_the_end(history.ledger)
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live
        try:
            assert found == right_at_once(facts)
        except LedgerError as error:
            raise AssertionError(f"a ledger may not say at once what this one says now: {error}") from error


def test_a_scheme_that_was_put_in_by_mistake_leaves_the_same_views_whenever_they_are_brought_level() -> None:
    with new_history() as history:
        history.take([SchemeAdopted(pool="standard", scheme="elo", settings={})])
        for change in (
            history.ledger.corrections.drafts.replace("scheme:standard@start", {"scheme": "lichess", "settings": {}}),
            history.ledger.corrections.drafts.undo(1),
        ):
            number = history.propose([change])
            assert number is not None
            history.decide(number, Decision.APPROVED)
            if number == 1:
                history.catch_up()
        history.follow("as it comes")
        live = history.catch_up()
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


def test_a_voided_game_tells_nothing_of_the_days_of_its_tournament() -> None:
    with new_history() as history:
        name, given = WHOLE_TOURNAMENTS[0]
        joined = [
            PlayerRegistered(player=number, joined_at="2019", standing=Standing.FULL, commitment=f"{number:064x}")
            for number in (1, 2, 3)
        ]
        played = [
            game_recorded("g2", black=2, tournament="Cup", ended_at="2020-01-28", half_moves=40),
            game_recorded("g4", black=3, tournament="Cup", ended_at="2020-02-01", half_moves=40),
        ]
        history.take([SchemeAdopted(pool="standard", scheme=name, settings=given), *joined, *played])
        number = history.propose([history.ledger.corrections.drafts.annul("game:g4")])
        assert number is not None
        history.decide(number, Decision.APPROVED)
        live = history.catch_up()
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


def test_a_merge_that_is_parted_and_undone_in_one_proposal_is_gone() -> None:
    with new_history() as history:
        joined = [
            PlayerRegistered(player=number, joined_at="2019", standing=Standing.FULL, commitment=f"{number:064x}")
            for number in (1, 2, 3)
        ]
        played = [game_recorded("g1", black=3, ended_at="2020-01-28"), game_recorded("g2", ended_at="2020-02-06")]
        history.take([SchemeAdopted(pool="standard", scheme="elo", settings={}), *joined, *played])
        drafts = history.ledger.corrections.drafts
        first = history.propose([drafts.merge(1, 3)])
        assert first is not None
        history.decide(first, Decision.APPROVED)
        second = history.propose([drafts.part(1), drafts.undo(first)])
        assert second is not None
        history.decide(second, Decision.APPROVED)
        live = history.catch_up()
        assert history.account.persons() == {}
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


@settings(histories, max_examples=max(1, histories.max_examples // 3))
@given(st.data(), clubs())
def test_what_was_known_at_an_earlier_position_stays_so(data: st.DataObject, club: list[Event]) -> None:
    with new_history() as history:
        live_through(data, history, club)
        for position, rows in history.known.items():
            views = Views(history.ledger.path.with_name(f"{position}.db"), PROJECTORS, history.ledger.journal)
            views.build_until(position)
            for table in tables(views.connection):
                assert table_rows(views.connection, table) == rows[table], (position, table)
            views.close()
