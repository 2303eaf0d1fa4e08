"""How two lists differ: who was created, unchanged, changed or removed, and steps that lead from number to number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import differences, rating_changes, replays
from ledger.answers.rows import as_rows
from ledger.book.kinds import KINDS, Kind
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.events import GameRecorded
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW, record_game
from tests.kit.corrections import approve
from tests.kit.games import bye, game_recorded, scheme_adopted, seeded

NAMES = ("Ann", "Bob", "Carl", "Dora")


@pytest.fixture(name="two_months")
def _ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Two games of January and one of February; the lists of both months are published."""
    with Ledger.create(tmp_path / NAME, scheme="elo", clock=lambda: NOW) as ledger:
        for name in NAMES:
            ledger.register(f"name:{name.lower()}", name)
        record_game(ledger, "g1", "2021-01-10", 1, 2)
        record_game(ledger, "g2", "2021-01-20", 1, 3)
        ledger.publications.publish("2021-01-31", actor="eve")
        record_game(ledger, "g3", "2021-02-10", 2, 3)
        ledger.publications.publish("2021-02-28", actor="eve")
        ledger.ensure_up_to_date()
        yield ledger


def compared(ledger: Ledger, first: str, second: str) -> dict[int, dict[str, Any]]:
    """By player, what became of each; the steps of each lead from the one rating to the other without a gap."""
    rows = as_rows(differences.list_differences(ledger, *differences.lists_to_compare(ledger, first, second)))
    for row in rows:
        place = row["rating_before"]
        for step in row["why"]:
            assert step["before"] == place != step["after"]
            place = step["after"]
        assert place == row["rating_after"]
    return {row["player"]: row for row in rows}


def causes(row: dict[str, Any]) -> list[str]:
    return [step["cause"] for step in row["why"]]


JANUARY, FEBRUARY = "standard@2021-01-31", "standard@2021-02-28/1"


def test_from_list_to_list_it_is_what_was_played_between(two_months: Ledger) -> None:
    found = compared(two_months, JANUARY, FEBRUARY)
    assert {player: row["change"] for player, row in found.items()} == {1: "unchanged", 2: "changed", 3: "changed"}
    assert causes(found[1]) == []
    assert causes(found[2]) == causes(found[3]) == ["games or time between the two days"]
    assert (found[2]["games_before"], found[2]["games_after"]) == (1, 2)
    assert found[2]["difference"] == found[2]["rating_after"] - found[2]["rating_before"]


def test_a_list_and_what_the_journal_says_now_of_it(two_months: Ledger) -> None:
    assert {row["change"] for row in compared(two_months, JANUARY, "now").values()} == {"unchanged"}
    record_game(two_months, "late", "2021-01-05", 4, 1)
    found = compared(two_months, JANUARY, "now")
    assert {player: row["change"] for player, row in found.items()} == {
        1: "changed",
        2: "changed",
        3: "changed",
        4: "created",
    }
    assert all(causes(row) == ["late result late"] for row in found.values())
    assert (found[4]["rating_before"], found[4]["rank_before"], found[4]["difference"]) == (None, None, None)
    back = compared(two_months, "now", JANUARY)
    assert back[4]["change"] == "removed"
    assert [(step["before"], step["after"]) for step in back[4]["why"]] == [(found[4]["rating_after"], None)]
    assert list(back)[-1] == 4, "who is gone stands at the end"


def test_late_results_and_a_change_of_scheme_are_told_one_by_one(two_months: Ledger) -> None:
    record_game(two_months, "late1", "2021-01-05", 4, 1)
    adoption = two_months.append(scheme_adopted("chessworld", effective_from="2021-01-15", carry=Carry.KEEP))
    record_game(two_months, "late2", "2021-01-25", 4, 2)
    found = compared(two_months, JANUARY, "standard@2021-02/now")
    change = f"entry {adoption.position}: scheme:standard@2021-01-15"
    assert causes(found[1]) == ["late result late1", change]
    assert causes(found[2])[-2:] == ["late result late2", "games or time between the two days"]
    assert "late result late2" in causes(found[4])


def test_results_that_follow_each_other_are_told_together_where_they_are_many(
    two_months: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "FEW_GAMES", 2)
    for n in range(3):
        record_game(two_months, f"late{n}", f"2021-01-0{n + 1}", 4, 1)
    assert causes(compared(two_months, JANUARY, "now")[4]) == ["3 late results, late0 to late2"]


def test_games_of_the_next_month_are_no_late_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a tournament of January whole into February, where what is reported late counts at its own place."""
    settings = {"late_reports": "true-place"}
    with Ledger.create(tmp_path / NAME, scheme="fide", settings=settings, clock=lambda: NOW) as ledger:
        for number, name in enumerate(NAMES, 1):
            ledger.register(f"name:{name.lower()}", name)
            ledger.append(seeded(number, str(1900 + 50 * number), games=60, effective_at="2020-12-01"))
        for day in (20, 23, 26):
            ledger.append(game_recorded(f"g{day}", ended_at=f"2021-01-{day}", half_moves=60, tournament="Cup"))
        ledger.ensure_up_to_date()
        ledger.publications.publish("2021-01-31", actor="eve")
        for day in range(1, 5):
            ledger.append(game_recorded(f"f{day}", ended_at=f"2021-02-0{day}", half_moves=60, tournament="Cup"))
        ledger.ensure_up_to_date()
        assert causes(compared(ledger, JANUARY, "now")[1]) == ["game f1, which ended after 2021-01-31"]
        monkeypatch.setattr(differences, "FEW_GAMES", 3)
        words = "4 games that ended after 2021-01-31, f1 to f4"
        assert causes(compared(ledger, JANUARY, "now")[1]) == [words]
        ledger.append(game_recorded("late", ended_at="2021-01-25", half_moves=60, tournament="Cup"))
        ledger.ensure_up_to_date()
        words = "5 games, 1 of them late, f1 to late"
        assert causes(compared(ledger, JANUARY, "now")[1]) == [words]


def test_beyond_the_limit_entries_are_told_together(two_months: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "MOST_STEPS", 1)
    head = two_months.journal.size()
    for n, scheme in enumerate(("chessworld", "elo", "chessworld"), 1):
        two_months.append(scheme_adopted(scheme, effective_from=f"2021-01-{n:02}", carry=Carry.RESTART))
    two_months.ensure_up_to_date()
    told = {cause for row in compared(two_months, JANUARY, "now").values() for cause in causes(row)}
    assert told <= {f"entry {head + 1}: scheme:standard@2021-01-01", f"entries {head + 2} to {head + 3}"}
    assert told


def test_byes_move_nobody_and_hide_no_step(two_months: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "MOST_STEPS", 1)
    two_months.append_many([bye(1, edition="2021-01-01", round=number) for number in range(1, 4)])
    record_game(two_months, "late", "2021-01-05", 4, 1)
    two_months.append(bye(2, edition="2021-01-01"))
    assert causes(compared(two_months, JANUARY, "now")[1]) == ["late result late"]


def test_what_moves_nobody_is_told_from_the_rest_by_what_it_reaches() -> None:
    """A kind of fact that the table of kinds gives no reach cannot move a rating."""
    without_reach = {event for event, kind in KINDS.items() if type(kind).reassess_affected is Kind.reassess_affected}
    assert without_reach - {GameRecorded} <= set(replays._MOVES_NOBODY)


def test_what_was_published_later_is_compared_by_what_was_known(two_months: Ledger) -> None:
    """The second edition of January is later in what was known, and of an earlier day, than the list of February."""
    record_game(two_months, "late", "2021-01-05", 4, 1)
    two_months.publications.publish("2021-01-31", actor="eve")
    two_months.ensure_up_to_date()
    found = compared(two_months, FEBRUARY, JANUARY)
    assert found[4]["change"] == "created"
    assert causes(found[4]) == ["late result late"]
    assert causes(found[2]) == ["late result late", "games or time between the two days"]
    assert compared(two_months, "standard@2021-01-31/1", "standard@2021-01-31/2")[1]["change"] == "changed"


def test_words_that_mean_no_list_are_refused(two_months: Ledger) -> None:
    with pytest.raises(MalformedError, match="both lists are 'now'"):
        differences.lists_to_compare(two_months, "now", "now")
    with pytest.raises(UnknownNameError, match="standard@2021-02-28/1"):
        differences.lists_to_compare(two_months, "standard@2021-03-31", "now")
    with pytest.raises(UnknownNameError, match="no pool 'rapid'"):
        differences.lists_to_compare(two_months, JANUARY, "rapid@2021/now")
    with pytest.raises(ValueError, match="february"):
        differences.lists_to_compare(two_months, JANUARY, "standard@february/now")
    two_months.append(scheme_adopted("elo", pool="rapid"))
    two_months.ensure_up_to_date()
    with pytest.raises(MalformedError, match="lists of two pools"):
        differences.lists_to_compare(two_months, JANUARY, "rapid@2021/now")


def test_equal_lists_need_no_views_of_the_past(two_months: Ledger) -> None:
    compared(two_months, JANUARY, "now")
    compared(two_months, JANUARY, FEBRUARY)
    assert list(two_months.path.parent.glob("*known*")) == []


def test_a_late_game_that_was_approved_is_told_as_its_correction_by_both_questions(two_months: Ledger) -> None:
    late = game_recorded("late", white=4, black=1, ended_at="2021-01-05", half_moves=40)
    approve(two_months, two_months.corrections.drafts.add(late))
    assert causes(compared(two_months, JANUARY, "now")[4]) == ["correction 1"]
    parts = rating_changes.changes(two_months, two_months.player(1), JANUARY).parts
    assert [(part.kind, part.proposal) for part in parts] == [("correction", 1)]
