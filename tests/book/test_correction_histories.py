"""Histories of corrections that once went wrong, and what was known at an earlier position of any history.

Any history at all is asked for in ``tests/histories/test_drawn_histories.py``.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.changes import Verb
from ledger.facts.events import BirthYearLearnt, Decision, Event, PlayerRegistered, RatingSeeded, SchemeAdopted
from ledger.facts.words import Standing
from ledger.ratings.views import Views
from ledger.testing import table_rows
from tests.kit.correction_histories import Drawing
from tests.kit.drawn_clubs import CAFE, PLAYERS, POOLS, WHOLE_TOURNAMENTS, clubs
from tests.kit.games import game_recorded
from tests.kit.lived_histories import PROJECTORS, WAYS, all_rows, in_the_end, live_through, new_history, right_at_once
from tests.tiers import examples

JOINED = [
    PlayerRegistered(player=number, joined_at="2019", standing=Standing.FULL, commitment=f"{number:064x}")
    for number in range(1, PLAYERS + 1)
]
# Which say whether a fact stands, or whose it is: several of them speak of one game.
STANDING = (
    Verb.ADD, Verb.ANNUL, Verb.RESTORE, Verb.ANNUL_TOURNAMENT, Verb.RESTORE_TOURNAMENT, Verb.ANNUL_GAMES, Verb.UNDO,
    Verb.UNDO, Verb.MERGE, Verb.PART,
)  # fmt: skip


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
        history.catch_up()
        live = all_rows(history.ledger)
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


def test_a_voided_game_tells_nothing_of_the_days_of_its_tournament() -> None:
    with new_history() as history:
        name, given = WHOLE_TOURNAMENTS[0]
        played = [
            game_recorded("g2", black=2, tournament="Cup", ended_at="2020-01-28", half_moves=40),
            game_recorded("g4", black=3, tournament="Cup", ended_at="2020-02-01", half_moves=40),
        ]
        history.take([SchemeAdopted(pool="standard", scheme=name, settings=given), *JOINED, *played])
        number = history.propose([history.ledger.corrections.drafts.annul("game:g4")])
        assert number is not None
        history.decide(number, Decision.APPROVED)
        history.catch_up()
        live = all_rows(history.ledger)
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


def test_a_merge_that_is_parted_and_undone_in_one_proposal_is_gone() -> None:
    with new_history() as history:
        played = [game_recorded("g1", black=3, ended_at="2020-01-28"), game_recorded("g2", ended_at="2020-02-06")]
        history.take([SchemeAdopted(pool="standard", scheme="elo", settings={}), *JOINED, *played])
        drafts = history.ledger.corrections.drafts
        first = history.propose([drafts.merge(1, 3)])
        assert first is not None
        history.decide(first, Decision.APPROVED)
        second = history.propose([drafts.unmerge(1), drafts.undo(first)])
        assert second is not None
        history.decide(second, Decision.APPROVED)
        history.catch_up()
        live = all_rows(history.ledger)
        assert history.account.persons() == {}
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


@pytest.mark.parametrize("reinstated_first", [True, False])
def test_a_game_whose_adding_is_undone_where_its_tournament_is_reinstated_follows_the_order_of_the_changes(
    reinstated_first: bool,
) -> None:
    with new_history() as history:
        cup = {"ended_at": "2020-01-28", "tournament": "Cup"}
        history.take([SchemeAdopted(pool="standard", scheme="elo", settings={}), *JOINED, game_recorded("g1", **cup)])
        drafts = history.ledger.corrections.drafts
        late = history.propose([drafts.add(game_recorded("late", black=3, **cup))])
        assert late is not None
        history.decide(late, Decision.APPROVED)
        voided = history.propose([drafts.tournament("standard", "Cup")])
        assert voided is not None
        history.decide(voided, Decision.APPROVED)
        both = [drafts.tournament("standard", "Cup", restore=True), drafts.undo(late)]
        number = history.propose(both if reinstated_first else both[::-1])
        assert number is not None
        history.decide(number, Decision.APPROVED)
        history.catch_up()
        counting = {row["key"] for row in history.ledger.rows("games", "reason IS NULL")}
        assert counting == ({"g1"} if reinstated_first else {"g1", "late"})
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        live = all_rows(history.ledger)
        history.ledger.rebuild()
        assert all_rows(history.ledger) == live


@examples(quick=10, ci=60, nightly=2_000)
@given(st.data())
def test_changes_of_few_facts_act_in_their_order_however_many_speak_of_one(data: st.DataObject) -> None:
    """Three games of two tournaments, and proposals of several changes each, all of which are approved."""
    with new_history() as history:
        played = [
            game_recorded("g1", ended_at="2020-01-28", tournament="Cup", half_moves=40),
            game_recorded("g2", white=2, black=3, ended_at="2020-02-01", tournament="Cup", half_moves=40),
            game_recorded("g3", white=3, black=1, ended_at="2020-02-06", tournament=CAFE, half_moves=40),
        ]
        history.take([SchemeAdopted(pool=POOLS[0], scheme="elo", settings={}), *JOINED, *played])
        history.catch_up()
        drawing = Drawing(data.draw, history.account, STANDING, sizes=(1, 2, 2, 3))
        for _ in range(data.draw(st.integers(2, 7))):
            number = history.propose(drawing.changes(history.ledger.corrections.drafts))
            history.catch_up()
            if number is not None:
                history.decide(number, Decision.APPROVED)
                history.catch_up()
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
        live = history.live()
        assert history.at_once() == live


@examples(quick=2, ci=8, nightly=300)
@given(st.data(), clubs())
def test_what_was_known_at_an_earlier_position_stays_so(data: st.DataObject, club: list[Event]) -> None:
    with new_history() as history:
        live_through(data, history, club)
        for position, rows in history.known.items():
            views = Views(history.ledger.path.with_name(f"{position}.db"), PROJECTORS, history.ledger.journal)
            views.build_up_to_entry(position)
            for table, known in rows.items():
                assert table_rows(views.connection, table) == known, (position, table)
            views.close()


@pytest.mark.parametrize("way", list(WAYS))
def test_facts_that_are_met_with_their_corrections_stand_as_corrected(way: str) -> None:
    with new_history() as history:
        history.take([SchemeAdopted(pool="standard", scheme="elo", settings={}), *JOINED])
        history.follow("as it comes")  # what comes now is a backlog of standing views
        history.take(
            [
                game_recorded("g1", black=3, ended_at="2020-01-28"),
                game_recorded("g2", ended_at="2020-02-06"),
                RatingSeeded(player=2, pool="standard", rating="1800"),
                BirthYearLearnt(player=3, birth_year=2001),
            ]
        )
        drafts = history.ledger.corrections.drafts
        number = history.propose(
            [
                drafts.replace("game:g1", {"outcome": "draw"}),
                drafts.annul("game:g2"),
                drafts.replace("seed:standard:2@start", {"rating": "1900"}),
                drafts.replace("born:3", {"birth_year": 2002}),
            ]
        )
        assert number is not None
        history.decide(number, Decision.APPROVED)
        history.follow(way)
        assert in_the_end(history.ledger) == right_at_once(history.account.final())
