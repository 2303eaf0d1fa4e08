"""The clock of recording, how far into the future a fact may lie, and ends that were reckoned from clocks.

The PGN of Lichess tells a beginning and clocks. Who berserks begins with half the time, so that tables which reckon
with all of it have the game end half the time later.
"""

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from ledger.audit.audit import audit
from ledger.errors import ConflictError, RejectedError
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import source
from tests.kit.clubs import NOON, ClubOfTwo
from tests.kit.games import game_recorded, run_closed, tournament_closed
from tests.kit.lived_histories import all_rows


def record(club: ClubOfTwo, key: str) -> str:
    receipt = club.ledger.append(game_recorded(key))
    ((body,),) = club.ledger.journal.read(receipt.position - 1)
    return body[-26:-2].decode()


def test_a_clock_that_is_a_little_behind_records_under_the_last_time(club_of_two: ClubOfTwo) -> None:
    club_of_two.clock.now = NOON - timedelta(seconds=60)
    assert record(club_of_two, "r2") == "2026-11-21T12:00:00.000Z"
    club_of_two.clock.now = NOON + timedelta(microseconds=1999)
    assert record(club_of_two, "r3") == "2026-11-21T12:00:00.001Z"
    club_of_two.clock.now = NOON
    assert record(club_of_two, "r4") == "2026-11-21T12:00:00.001Z"


@pytest.mark.parametrize("ended_at", ["2026-11-22T12:00:00Z", "2026-11-22", "2026-11", "2026"])
def test_a_game_may_have_ended_up_to_a_day_from_now(club_of_two: ClubOfTwo, ended_at: str) -> None:
    assert not club_of_two.ledger.append(game_recorded("r2", ended_at=ended_at)).duplicate
    assert club_of_two.ledger.import_games(batch_games([source("r2", ended_at=ended_at)])).repeated == 1


@pytest.mark.parametrize(
    ("started_at", "ended_at"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20T10:00:00.500Z", "2026-11-20T10:00:01Z"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.001Z"),
        ("2026-11-20T10:00:00Z", "2026-11-20"),
        ("2026-11-20", "2026-11"),
        ("2026-11", "2026"),
        ("2026", "2026-01-01"),
    ],
)
def test_times_known_to_different_precision_are_compared_as_far_as_both_go(
    club_of_two: ClubOfTwo, started_at: str, ended_at: str
) -> None:
    assert not club_of_two.ledger.append(game_recorded("r2", started_at=started_at, ended_at=ended_at)).duplicate
    outcome = club_of_two.ledger.import_games(batch_games([source("r3", started_at=started_at, ended_at=ended_at)]))
    assert (outcome.recorded, outcome.faults) == (1, [])


@pytest.mark.parametrize("day", ["2026-11-22T12:00:00Z", "2026-11-22", "2026-10", "2025"])
def test_a_run_and_a_tournament_may_close_up_to_a_day_from_now(club_of_two: ClubOfTwo, day: str) -> None:
    receipts = club_of_two.ledger.append_many([run_closed(day), tournament_closed(day)])
    assert [receipt.duplicate for receipt in receipts] == [False, False]


@pytest.mark.parametrize("day", ["2026-11", "2026", "2026-12", "2026-11-23"])
def test_a_month_or_year_that_is_not_over_is_not_closed(club_of_two: ClubOfTwo, day: str) -> None:
    for event in (run_closed(day), tournament_closed(day)):
        with pytest.raises(RejectedError) as caught:
            club_of_two.ledger.append(event)
        assert caught.value.rule == "ended-in-the-future"


def test_a_tournament_may_be_closed_once_more_for_a_later_edition(club_of_two: ClubOfTwo) -> None:
    receipts = club_of_two.ledger.append_many([tournament_closed("2024"), tournament_closed("2025")])
    assert [receipt.duplicate for receipt in receipts] == [False, False]


BEGAN = "2026-11-19T16:43:39Z"
BERSERK, FULL, SHORTEST = (f"2026-11-19T16:{end}Z" for end in ("44:50", "45:20", "44:20"))


def telling(end: str, **more: Any) -> dict[str, Any]:
    return {"started_at": BEGAN, "ended_at": end, **more}


@pytest.mark.parametrize("order", list(permutations((BERSERK, FULL, SHORTEST))))
def test_the_earliest_end_holds_whoever_told_first_and_whoever_records(
    club_of_two: ClubOfTwo, order: tuple[str, ...]
) -> None:
    ledger = club_of_two.ledger
    for end in order:
        ledger.append(game_recorded("r2", **telling(end)))
        report = ledger.import_games(batch_games([source("r3", **telling(end))]))
        assert report.faults == []
    ledger.catch_up()
    assert {row["ended_at"] for row in ledger.rows("games", "key IN ('r2', 'r3')")} == {SHORTEST}
    before = all_rows(ledger)
    ledger.rebuild()
    assert all_rows(ledger) == before
    assert audit(ledger.path).falsehoods == ()


@pytest.mark.parametrize(
    ("told", "given"),
    [
        (telling(BERSERK), telling("2026-11-20T04:43:40Z")),  # more than twelve hours
        (telling(BERSERK), telling(FULL, started_at="2026-11-19T16:43:40Z")),
        (telling(BERSERK), telling("2026-11-20")),
        ({"ended_at": BERSERK}, {"ended_at": FULL}),  # nobody knows when it began
        (telling(BERSERK, started_at="2026-11-19"), telling(FULL, started_at="2026-11-19")),
    ],
)
def test_other_ends_contradict_in_both_orders(
    club_of_two: ClubOfTwo, told: dict[str, Any], given: dict[str, Any]
) -> None:
    for key, (first, second) in (("r2", (told, given)), ("r3", (given, told))):
        club_of_two.ledger.append(game_recorded(key, **first))
        with pytest.raises(ConflictError) as caught:
            club_of_two.ledger.append(game_recorded(key, **second))
        (fault,) = club_of_two.ledger.import_games(batch_games([source(key, **second)])).faults
        assert fault.message == str(caught.value)
