"""Which entries followed a position, and whom each is about, however far away the game is that it speaks of."""

from pathlib import Path

import pytest

from ledger.answers.recorded_entries import RecordedEntry, entries_after
from ledger.facts.events import BirthYearLearnt
from ledger.ledger import Ledger
from tests.kit.corrections import ANN, BOB, TODAY, approve
from tests.kit.games import game_recorded


@pytest.fixture(name="followed")
def _followed(tmp_path: Path) -> Ledger:
    ledger = Ledger.create(tmp_path / "club.db", clock=lambda: TODAY)
    for name in ("Ann", "Bob", "Cleo"):
        ledger.register(f"name:{name.lower()}", name)
    ledger.append(game_recorded("g1", white=ANN, black=BOB, half_moves=60))
    ledger.ensure_up_to_date()
    return ledger


def told(ledger: Ledger, position: int = 0, limit: int = 1_000) -> list[RecordedEntry]:
    ledger.ensure_up_to_date()
    return entries_after(ledger, position, limit)


def test_each_entry_says_whom_it_is_about(followed: Ledger) -> None:
    entries = told(followed)
    assert [entry.position for entry in entries] == [1, 2, 3, 4, 5]
    assert [(entry.key, entry.players) for entry in entries[1:]] == [
        ("player:1", [1]), ("player:2", [2]), ("player:3", [3]), ("game:g1", [ANN, BOB]),
    ]  # fmt: skip
    assert {entry.correction for entry in entries} == {None}


def test_pages_follow_each_other(followed: Ledger) -> None:
    assert told(followed, 0, 2) + told(followed, 2, 2) + told(followed, 4, 2) == told(followed)
    assert told(followed, 5) == told(followed, 999) == []


def test_a_correction_is_about_the_players_of_its_games_whether_proposed_decided_or_undone(followed: Ledger) -> None:
    drafts = followed.corrections.drafts
    approve(followed, drafts.annul("game:g1"))
    number = max(shown.proposal.proposal for shown in followed.corrections.proposals())
    approve(followed, drafts.undo(number))
    entries = told(followed, 5)
    assert [entry.kind.partition("/")[0] for entry in entries] == ["correction-proposed", "correction-decided"] * 2
    assert [entry.correction for entry in entries] == [number, number, number + 1, number + 1]
    assert [entry.players for entry in entries] == [[ANN, BOB]] * 4


def test_a_decision_about_a_proposal_in_parts_is_about_the_players_of_all(followed: Ledger) -> None:
    games = [game_recorded(f"m{place}", white=ANN, black=BOB, half_moves=60) for place in range(200)]
    followed.append_many([*games, game_recorded("last", white=3, black=BOB, half_moves=60)])
    drafts = followed.corrections.drafts
    changes = [drafts.annul(f"game:m{place}") for place in range(200)]
    before = followed.journal.size()
    approve(followed, *changes, drafts.annul("game:last"))
    first, second, decided = told(followed, before)
    assert (first.key.rpartition("@")[2], second.players, decided.players) == ("1", [BOB, 3], [ANN, BOB, 3])


def test_a_fact_that_is_added_and_a_merge_name_their_players(followed: Ledger) -> None:
    drafts = followed.corrections.drafts
    before = followed.journal.size()
    followed.propose([drafts.add(BirthYearLearnt(player=3, birth_year=1990))], reason="x", by="eve")
    followed.propose([drafts.merge(3, BOB)], reason="x", by="eve")
    born, merged = told(followed, before)
    assert (born.players, merged.players) == ([3], [BOB, 3])
    assert "1990" not in repr(born)
    assert "eve" not in repr((born, merged))


@pytest.mark.slow
def test_what_it_costs_is_what_is_asked_for(followed: Ledger) -> None:
    followed.append_many([game_recorded(f"m{place}", white=ANN, black=BOB, half_moves=60) for place in range(3_000)])
    followed.ensure_up_to_date()
    counted = [0]
    connection = followed.journal._connection  # type: ignore[attr-defined]

    def steps(position: int) -> int:
        counted[0] = 0
        connection.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1), 10)
        assert len(entries_after(followed, position, 10)) == 10
        connection.set_progress_handler(None, 0)
        return counted[0]

    assert steps(2_900) <= steps(10) + 2
