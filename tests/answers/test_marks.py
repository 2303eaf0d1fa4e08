"""What marks a game that was corrected or does not count, wherever games are told of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.answers.explanations import explain
from ledger.answers.player_games import games, graph
from ledger.errors import UnknownNameError
from ledger.facts.changes import Which
from ledger.facts.words import Outcome
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import approve
from tests.kit.games import game_recorded
from tools.commands import REFUSED


def played(ledger: Ledger, player: str = "Ann", **options: Any) -> list[dict[str, Any]]:
    ledger.level()
    return games(ledger, ledger.player(player), **options)


def test_a_corrected_game_bears_the_proposals_that_act(club: Ledger) -> None:
    drafts = club.corrections.drafts
    approve(club, drafts.replace("game:g1", {"outcome": "draw"}))
    approve(club, drafts.replace("game:g1", {"outcome": "black"}))
    approve(club, drafts.replace("game:g2", {"half_moves": 41}))
    approve(club, drafts.undo(3))
    club.propose([drafts.replace("game:g3", {"outcome": "black"})], reason="a rumour", by="eve")
    assert [(row["game"], row["corrected"]) for row in played(club)] == [("g3", []), ("g2", []), ("g1", [1, 2])]
    points = graph(club, club.player("Ann"))
    assert [(point["n"], point["corrected"]) for point in points] == [(1, [1, 2]), (2, []), (3, [])]
    assert [point["corrected"] for point in graph(club, club.player("Bob"))] == [[1, 2]]


def test_a_game_that_somebody_reported_late_is_marked_and_one_of_many_is_not(club: Ledger) -> None:
    drafts = club.corrections.drafts
    late = game_recorded("late", white=4, outcome=Outcome.DRAW, half_moves=40, ended_at="2026-11-03")
    approve(club, drafts.add(late))
    approve(club, drafts.merge(2, 4))
    assert {row["game"]: row["corrected"] for row in played(club, "Dan", everything=True)} == {"late": [1], "g1": []}


def test_a_voided_game_stays_in_the_list_with_its_reason(club: Ledger) -> None:
    drafts = club.corrections.drafts
    approve(club, drafts.annul("game:g2"), reason="played by a computer")
    club.append(game_recorded("short", half_moves=2, ended_at="2026-11-12"))
    assert [row["game"] for row in played(club)] == ["g3", "g1"]
    rows = played(club, everything=True)
    assert [(row["n"], row["game"], row["reason"], row["voided_by"], row["why"]) for row in rows] == [
        (2, "g3", None, None, None),
        (None, "short", "too-short", None, None),
        (None, "g2", "voided", 1, "played by a computer"),
        (1, "g1", None, None, None),
    ]  # fmt: skip
    voided = rows[2]
    assert (voided["result"], voided["opponent"], voided["corrected"]) == ("win", "Cleo", [1])
    assert (voided["rating_before"], voided["rating"], voided["in_force"]) == (None, None, None)
    assert voided["rating_now"] == rows[0]["rating_now"] is not None
    assert played(club, "Cleo", everything=True)[1]["result"] == "loss"
    assert [row["game"] for row in played(club, everything=True, last=2)] == ["g3", "short"]
    assert [list(row) for row in rows] == [list(rows[0])] * 4


def test_who_has_no_rated_game_left_still_has_the_voided_ones(club: Ledger) -> None:
    approve(club, club.corrections.drafts.annul_games(2, Which.ALL))
    with pytest.raises(UnknownNameError):
        played(club, "Bob")
    assert [row["voided_by"] for row in played(club, "Bob", everything=True)] == [1]
    with pytest.raises(UnknownNameError):
        played(club, "Dan", everything=True)


def test_a_game_between_numbers_that_are_one_person_is_listed_once(club: Ledger) -> None:
    approve(club, club.corrections.drafts.merge(2, 1))
    rows = played(club, everything=True)
    assert [(row["game"], row["reason"]) for row in rows] == [("g3", None), ("g2", None), ("g1", "same-person")]


def test_explain_says_what_was_recorded_and_what_stands(club: Ledger) -> None:
    drafts = club.corrections.drafts
    approve(club, drafts.replace("game:g1", {"outcome": "draw", "round": "3"}))
    approve(club, drafts.merge(2, 4))
    club.level()
    told = explain(club, club.player("Ann"), "g1")
    assert (told["corrected"], told["result"]) == ([1], "draw")
    assert told["recorded"] == {"black": "Bob", "outcome": "white", "round": None}
    assert told["stands"] == {"black": "Dan", "outcome": "draw", "round": "3"}
    told = explain(club, club.player("Ann"), "g2")
    assert (told["corrected"], told["recorded"], told["stands"]) == ([], None, None)


def test_explain_of_a_voided_game_says_by_which_proposal_and_why(club: Ledger) -> None:
    approve(club, club.corrections.drafts.annul("game:g2"), reason="played by a computer")
    club.level()
    with pytest.raises(UnknownNameError, match="it does not count: voided by proposal 1: played by a computer"):
        explain(club, club.player("Ann"), "g2")
    club.people.reasons.erase(club.journal.writing(), [club.log("g2")[1]["facts"]["reason"]])
    with pytest.raises(UnknownNameError, match=r"it does not count: voided by proposal 1$"):
        explain(club, club.player("Ann"), "g2")


def test_the_commands_show_the_marks(club: Ledger, run: Run) -> None:
    drafts = club.corrections.drafts
    club.append(game_recorded("g4", half_moves=40, ended_at="2026-11-16"))
    approve(club, drafts.replace("game:g1", {"outcome": "draw"}))
    approve(club, drafts.annul("game:g2"), reason="played by a computer")
    club.close()
    table = run("games", club.path, "Ann", "--all", "-t").out
    assert "corrected by" in table
    assert "voided by proposal 2: played by a computer" in table
    assert "does not count" not in run("games", club.path, "Ann", "-t").out
    assert "corrected by" not in run("games", club.path, "Cleo", "-t").out
    drawn = run("graph", club.path, "Ann").out
    assert "       └┬──\n" in drawn
    assert "┬ game 1, 2026-11-02: corrected by proposal 1\n" in drawn
    explained = run("explain", club.path, "Ann", "g1", "-t").out
    assert "recorded_outcome  white" in explained
    assert "corrected         [1]" in explained
    assert "corrected" not in run("explain", club.path, "Ann", "g4", "-t").out
    refused = run("explain", club.path, "Ann", "g2")
    assert (refused.code, "voided by proposal 2: played by a computer" in refused.err) == (REFUSED, True)
    assert json.loads(run("games", club.path, "Ann").out)[-1]["corrected"] == [1]
