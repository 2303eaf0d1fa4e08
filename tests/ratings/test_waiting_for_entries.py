"""A question may wait for an entry that was told elsewhere."""

import pytest

from ledger import handle as open_ledger
from ledger.errors import UnknownNameError
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded


def test_an_entry_that_comes_in_time_is_waited_for(club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = club_of_two.ledger
    size = ledger.journal.size()
    looks, told = list[int](), list[int]()

    def come(_: float) -> None:
        looks.append(len(looks))
        if len(looks) == 3:
            ledger.append(game_recorded("late", ended_at="2026-01-02", half_moves=40))

    monkeypatch.setattr(open_ledger, "sleep", come)
    ledger.wait_for(size + 1, within=600.0, waiting=told.append)
    assert (len(looks), told) == (3, [size]), "that it is waited is said once"
    ledger.wait_for(size + 1, within=600.0, waiting=told.append)
    assert (len(looks), told) == (3, [size]), "what is there is not waited for"


def test_an_entry_that_does_not_come_is_refused_with_what_there_is(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    size = ledger.journal.size()
    with pytest.raises(UnknownNameError, match=f"holds entries 1 to {size}, after 0.01 s, too"):
        ledger.wait_for(size + 1, within=0.01)
    with pytest.raises(UnknownNameError, match=f"holds entries 1 to {size}$"):
        ledger.wait_for(size + 1)


def test_programs_may_bring_the_views_up_to_date_by_the_earlier_name(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.append(game_recorded("r2-b1", half_moves=40))
    club_of_two.ledger.level()
    assert club_of_two.ledger.views.position() == club_of_two.ledger.journal.size()
