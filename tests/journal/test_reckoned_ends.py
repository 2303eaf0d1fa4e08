"""An end that was reckoned from clocks contradicts no other end of the same game: the earlier one of the two holds.

The PGN of Lichess tells a beginning and clocks. Who berserks begins with half the time, so that tables which reckon
with all of it have the game end half the time later.
"""

from itertools import permutations
from typing import Any

import pytest

from ledger.audit.audit import audit
from ledger.errors import ConflictError
from ledger.imports.reading import frames
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded
from tests.kit.lived_histories import all_rows

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
        report = ledger.import_games(frames([source("r3", **telling(end))]))
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
        (fault,) = club_of_two.ledger.import_games(frames([source(key, **second)])).faults
        assert fault.message == str(caught.value)
