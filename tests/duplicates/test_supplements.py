"""A game told again with more: what is new is recorded, by import and by append alike, and nothing is contradicted."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit
from ledger.errors import ConflictError, RejectedError
from ledger.facts.codec import facts_mapping
from ledger.facts.submissions import compare_reports
from ledger.facts.words import Outcome, Termination
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.kit.lived_histories import all_rows
from tests.kit.strategies import tellings
from tests.tiers import examples

MOVES = "1. e4 e5"
MORE: dict[str, Any] = {
    "tournament": "Club",
    "round": "1",
    "half_moves": 40,
    "started_at": "2026-11-19",
    "white_rating": 1500,
    "black_rating": 1400,
}
FURTHER: dict[str, Any] = {
    "tournament": "Club",
    "round": "1",
    "half_moves": 40,
    "white_rating": 1500,
    "text": "0" * 64,
    "termination": Termination.CHECKMATE,
}
PRECISE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"termination": Termination.CHECKMATE}, {"termination": Termination.UNKNOWN}),
    ({"ended_at": "2026-11-19T10:00:00.250Z"}, {"ended_at": "2026-11-19T10:00:00Z"}),
    ({"ended_at": "2026-11-19T10:00:00Z"}, {"ended_at": "2026-11-19"}),
    ({"ended_at": "2026-11-19"}, {"ended_at": "2026"}),
    ({"started_at": "2026-11-19"}, {"started_at": "2026-11"}),
    (
        {"started_at": "2026-11-19T10:00:00Z", "ended_at": "2026-11-19T10:07:00Z"},
        {"started_at": "2026-11-19T10:00:00Z", "ended_at": "2026-11-19T10:00:00Z"},
    ),
    ({"started_at": "2026-11-18T23:50:00Z", "ended_at": "2026-11-19T00:07:00Z"}, {"ended_at": "2026-11-18"}),
]


def game_row(club: ClubOfTwo, key: str) -> dict[str, Any]:
    club.ledger.catch_up()
    (row,) = club.ledger.rows("games", "key = ?", (key,))
    return row


@pytest.mark.parametrize("name", MORE)
def test_a_blank_that_a_later_telling_fills_is_recorded_by_all_who_record(club_of_two: ClubOfTwo, name: str) -> None:
    more = {name: MORE[name]}
    receipt = club_of_two.ledger.append(game_recorded("r1-b1", **more))
    assert (receipt.position, receipt.key, receipt.duplicate) == (5, "supplement:r1-b1@1", False)
    again = club_of_two.ledger.append(game_recorded("r1-b1", **more))
    assert (again.position, again.key, again.duplicate) == (4, "game:r1-b1", True)
    club_of_two.ledger.import_games(batch_games([source("r2")]))
    report = club_of_two.ledger.import_games(batch_games([source("r2", **more)]))
    assert (report.recorded, report.repeated, report.supplemented, report.faults) == (0, 0, 1, [])
    report = club_of_two.ledger.import_games(batch_games([source("r2", **more), source("r2")]))
    assert (report.recorded, report.repeated, report.supplemented, report.faults) == (0, 2, 0, [])
    first, second = club_of_two.ledger.entries("game-supplemented")
    assert first.facts == {"entry": 4, "game": "r1-b1", "number": 1, **more}
    assert second.facts == {"entry": 6, "game": "r2", "number": 1, **more}
    assert game_row(club_of_two, "r1-b1")[name] == game_row(club_of_two, "r2")[name] == MORE[name]
    assert [entry.position for entry in club_of_two.ledger.log("r2")] == [6, 7]


@pytest.mark.parametrize(("full", "less"), PRECISE)
def test_a_more_precise_telling_is_recorded(club_of_two: ClubOfTwo, full: dict[str, Any], less: dict[str, Any]) -> None:
    tellings = [game_recorded("r2", **less), game_recorded("r2", **full), game_recorded("r2", **less)]
    assert [receipt.duplicate for receipt in club_of_two.ledger.append_many(tellings)] == [False, False, True]
    texts = [{name: str(value) for name, value in fields.items()} for fields in (less, full, less)]
    report = club_of_two.ledger.import_games(batch_games([source("r3", **fields) for fields in texts]))
    assert (report.recorded, report.repeated, report.supplemented, report.faults) == (1, 1, 1, [])
    for key in ("r2", "r3"):
        row = game_row(club_of_two, key)
        assert {name: row[name] for name in full} == {name: str(value) for name, value in full.items()}


def test_movetext_that_comes_later_is_kept(club_of_two: ClubOfTwo) -> None:
    digest = sha256(MOVES.encode()).hexdigest()
    report = club_of_two.ledger.import_games(batch_games([source("r1-b1", text=MOVES), source("r2"), source("r3")]))
    assert (report.recorded, report.supplemented) == (2, 1)
    report = club_of_two.ledger.import_games(batch_games([source("r2", text=MOVES), source("r3", text="1. d4")]))
    assert (report.recorded, report.supplemented) == (0, 2)
    assert club_of_two.ledger.movetext(digest) == MOVES
    assert [entry.facts.get("text") for entry in club_of_two.ledger.log("r1-b1")] == [None, digest]
    club_of_two.ledger.catch_up()
    assert audit(club_of_two.ledger.path).falsehoods == ()


def test_of_three_tellings_each_adds_what_it_knows(club_of_two: ClubOfTwo) -> None:
    events = [game_recorded("r2", **{name: value}) for name, value in MORE.items()]
    receipts = club_of_two.ledger.append_many(events)
    assert [receipt.key for receipt in receipts] == ["game:r2", *(f"supplement:r2@{n}" for n in range(1, 6))]
    row = game_row(club_of_two, "r2")
    assert {name: row[name] for name in MORE} == MORE


def test_what_contradicts_a_supplement_is_refused_and_names_the_field(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.append(game_recorded("r1-b1", round="1", half_moves=40))
    head = club_of_two.ledger.head()
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.append(game_recorded("r1-b1", round="2", tournament="Club"))
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("round", "1", "2")
    (fault,) = club_of_two.ledger.import_games(batch_games([source("r1-b1", round="2", tournament="Club")])).faults
    assert fault.message == str(caught.value)
    assert club_of_two.ledger.head() == head


def test_a_telling_that_would_end_a_game_before_it_began_is_refused(club_of_two: ClubOfTwo) -> None:
    with pytest.raises(RejectedError) as caught:
        club_of_two.ledger.append(game_recorded("r1-b1", started_at="2026-11-21", ended_at="2026-11-20"))
    assert caught.value.rule == "ended-before-start"
    late = source("r1-b1", started_at="2026-11-21", ended_at="2026-11-20")
    (fault,) = club_of_two.ledger.import_games(batch_games([late])).faults
    assert fault.message == str(caught.value)


def test_half_moves_that_come_later_make_a_game_count(club_of_two: ClubOfTwo) -> None:
    short = {"termination": Termination.UNKNOWN, "half_moves": 4, "outcome": Outcome.DRAW}
    club_of_two.ledger.append(game_recorded("r2", **{**short, "half_moves": None}))
    counted = game_row(club_of_two, "r2")["reason"]
    club_of_two.ledger.append(game_recorded("r2", **short))
    assert (counted, game_row(club_of_two, "r2")["reason"]) == (None, "too-short")
    before = all_rows(club_of_two.ledger)
    club_of_two.ledger.rebuild()
    assert all_rows(club_of_two.ledger) == before
    assert audit(club_of_two.ledger.path).falsehoods == ()


@examples(quick=20, ci=100, nightly=2_000)
@given(st.data(), st.sampled_from([None, "2020", "2020-03", "2020-03-01", "2020-02-29T23:50:00Z"]))
def test_tellings_of_one_game_come_to_the_same_in_any_order(data: st.DataObject, began: str | None) -> None:
    game = game_recorded("r2", started_at=began, ended_at="2020-03-01T00:00:00.500Z", **FURTHER)
    told = [facts_mapping(event) for event in data.draw(st.lists(tellings(game), min_size=1, max_size=4))]
    known = []
    for order in (told, data.draw(st.permutations(told))):
        facts: dict[str, Any] = dict(order[0])
        for telling in order:
            conflict, added = compare_reports(facts, telling)
            assert conflict is None
            facts.update(added)
            assert compare_reports(facts, telling) == (None, {})
        known.append(facts)
    assert known[0] == known[1]
