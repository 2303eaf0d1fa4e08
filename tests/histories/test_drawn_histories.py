"""Any history of a ledger gives one state of its views, whichever way it was met; and that of the facts right at once.

The histories are drawn: facts of every kind under every scheme, corrections of every verb, decisions, previews, lists,
policies and restarts, in any order; every night new ones. LEDGER_SHRINK=1 makes a failing history small, which takes
minutes.
"""

import os

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from ledger.errors import LedgerError
from ledger.facts.events import Event
from tests.kit.drawn_clubs import clubs
from tests.kit.lived_histories import WAYS, in_the_end, live_through, new_history, right_at_once
from tests.tiers import examples

# Processes that test at the same time share the histories by parts; the first few stand for all in each quick run.
PARTS = [pytest.param(part, marks=pytest.mark.slow if part > 2 else ()) for part in range(10)]
histories = settings(
    examples(quick=10, ci=10, nightly=1_000),
    phases=[phase for phase in Phase if phase is not Phase.shrink or "LEDGER_SHRINK" in os.environ],
)


@pytest.mark.parametrize("part", PARTS)
def test_any_history_gives_one_state_of_the_views_and_that_of_the_right_facts(part: int) -> None:
    @seed(part if histories.derandomize else int.from_bytes(os.urandom(8)))
    @histories
    @given(st.data(), clubs(), st.sampled_from(list(WAYS)))
    def one_state(data: st.DataObject, club: list[Event], way: str) -> None:
        with new_history() as history:
            live_through(data, history, club)
            live = history.live()  # met step by step, proposals previewed and then approved
            history.follow(way)  # met in other slices
            right = in_the_end(history.ledger)
            assert history.at_once() == live
            try:
                assert right == right_at_once(history.account.final())
            except LedgerError as error:
                raise AssertionError(f"a ledger may not say at once what this one says now: {error}") from error

    one_state()
