"""What marks a game that was corrected or does not count, wherever games are told of."""

import json
from typing import Any

import pytest

from ledger.answers.explanations import explain
from ledger.answers.player_games import games, graph_points
from ledger.answers.rows import as_row, as_rows
from ledger.errors import UnknownNameError
from ledger.facts.changes import AnnulmentScope
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import approve
from tests.kit.games import game_recorded
from tools.commands import REFUSED


def played(ledger: Ledger, player: str = "Ann", **options: Any) -> list[dict[str, Any]]:
    ledger.ensure_up_to_date()
    return as_rows(games(ledger, ledger.player(player), **options))


def test_a_corrected_game_bears_the_proposals_that_act(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.replace("game:g1", {"outcome": "draw"}))
    approve(three_games, drafts.replace("game:g1", {"outcome": "black"}))
    approve(three_games, drafts.replace("game:g2", {"half_moves": 41}))
    approve(three_games, drafts.undo(3))
    three_games.propose([drafts.replace("game:g3", {"outcome": "black"})], reason="a rumour", by="eve")
    assert [(row["game"], row["corrected"]) for row in played(three_games)] == [("g3", []), ("g2", []), ("g1", [1, 2])]
    points = as_rows(graph_points(three_games, three_games.player("Ann")))
    assert [(point["n"], point["corrected"]) for point in points] == [(1, [1, 2]), (2, []), (3, [])]
    assert [point["corrected"] for point in as_rows(graph_points(three_games, three_games.player("Bob")))] == [[1, 2]]


def test_a_game_that_somebody_reported_late_is_marked_and_one_of_many_is_not(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    drawn = {"outcome": Outcome.DRAW, "termination": Termination.AGREEMENT}
    late = game_recorded("late", white=4, half_moves=40, ended_at="2026-11-03", **drawn)
    approve(three_games, drafts.add(late))
    approve(three_games, drafts.merge(2, 4))
    rows = played(three_games, "Dan", everything=True)
    assert {row["game"]: row["corrected"] for row in rows} == {"late": [1], "g1": []}


def test_a_voided_game_stays_in_the_list_with_its_reason(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.annul("game:g2"), reason="played by a computer")
    three_games.append(game_recorded("short", half_moves=2, ended_at="2026-11-12"))
    assert [row["game"] for row in played(three_games)] == ["g3", "g1"]
    rows = played(three_games, everything=True)
    assert [(row["n"], row["game"], row["reason"], row["voided_by"], row["why"]) for row in rows] == [
        (2, "g3", None, None, None),
        (None, "short", "too-short", None, None),
        (None, "g2", "voided", 1, "played by a computer"),
        (1, "g1", None, None, None),
    ]
    voided = rows[2]
    assert (voided["result"], voided["opponent"], voided["corrected"]) == ("win", "Cleo", [1])
    assert (voided["rating_before"], voided["rating"], voided["in_force"]) == (None, None, None)
    assert voided["rating_now"] == rows[0]["rating_now"] is not None
    assert played(three_games, "Cleo", everything=True)[1]["result"] == "loss"
    assert [row["game"] for row in played(three_games, everything=True, last=2)] == ["g3", "short"]
    assert [list(row) for row in rows] == [list(rows[0])] * 4


def test_who_has_no_rated_game_left_still_has_the_voided_ones(three_games: Ledger) -> None:
    approve(three_games, three_games.corrections.drafts.annul_games(2, AnnulmentScope.ALL))
    with pytest.raises(UnknownNameError):
        played(three_games, "Bob")
    assert [row["voided_by"] for row in played(three_games, "Bob", everything=True)] == [1]
    with pytest.raises(UnknownNameError):
        played(three_games, "Dan", everything=True)


def test_a_game_between_numbers_that_are_one_person_is_listed_once(three_games: Ledger) -> None:
    approve(three_games, three_games.corrections.drafts.merge(2, 1))
    rows = played(three_games, everything=True)
    assert [(row["game"], row["reason"]) for row in rows] == [("g3", None), ("g2", None), ("g1", "same-person")]


def test_explain_says_what_was_recorded_and_what_stands(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.replace("game:g1", {"outcome": "draw", "round": "3"}))
    approve(three_games, drafts.merge(2, 4))
    three_games.ensure_up_to_date()
    told = as_row(explain(three_games, three_games.player("Ann"), "g1"))
    assert (told["corrected"], told["result"]) == ([1], "draw")
    assert told["recorded"] == {"black": "Bob", "outcome": "white", "round": None}
    assert told["stands"] == {"black": "Dan", "outcome": "draw", "round": "3"}
    told = as_row(explain(three_games, three_games.player("Ann"), "g2"))
    assert (told["corrected"], told["recorded"], told["stands"]) == ([], None, None)


def test_explain_of_a_voided_game_says_by_which_proposal_and_why(three_games: Ledger) -> None:
    approve(three_games, three_games.corrections.drafts.annul("game:g2"), reason="played by a computer")
    three_games.ensure_up_to_date()
    with pytest.raises(UnknownNameError, match="it does not count: voided by proposal 1: played by a computer"):
        as_row(explain(three_games, three_games.player("Ann"), "g2"))
    three_games.people.reasons.erase(three_games.journal.writing(), [three_games.log("g2")[1].facts["reason"]])
    with pytest.raises(UnknownNameError, match=r"it does not count: voided by proposal 1$"):
        as_row(explain(three_games, three_games.player("Ann"), "g2"))


def test_a_list_that_said_another_number_stands_beside_the_present_one(three_games: Ledger, run: Run) -> None:
    three_games.publications.publish("2026-11-05", actor="eve")
    three_games.publications.publish("2026-11-12", actor="eve")
    said = [row["rating"] for row in played(three_games)][1:]
    assert {row["published_list"] for row in played(three_games)} == {None}
    approve(three_games, three_games.corrections.drafts.replace("game:g2", {"outcome": "draw"}))
    rows = played(three_games)
    marks = [(row["game"], row["published_list"], row["published_rating"], row["revised_rating"]) for row in rows]
    assert marks == [
        ("g3", None, None, None),
        ("g2", "standard@2026-11-12/1", said[0], rows[1]["rating"]),
        ("g1", None, None, None),
    ]
    points = as_rows(graph_points(three_games, three_games.player("Ann")))
    assert [point["published_rating"] for point in points] == [None, said[0], None]
    explained = as_row(explain(three_games, three_games.player("Ann"), "g2"))
    assert (explained["published_rating"], explained["revised_rating"]) == (said[0], rows[1]["rating"])
    assert as_row(explain(three_games, three_games.player("Ann"), "g1"))["published_list"] is None
    three_games.close()
    words = f"standard@2026-11-12/1: {said[0]:.0f} ({rows[1]['rating']:.0f})"
    assert words in run("games", three_games.path, "Ann", "-t").out
    assert "list standard@2026-11-12/1 said" in run("graph", three_games.path, "Ann").out
    assert "published_rating" in run("explain", three_games.path, "Ann", "g2", "-t").out


def test_the_commands_show_the_marks(three_games: Ledger, run: Run) -> None:
    drafts = three_games.corrections.drafts
    three_games.append(game_recorded("g4", half_moves=40, ended_at="2026-11-16"))
    approve(three_games, drafts.replace("game:g1", {"outcome": "draw"}))
    approve(three_games, drafts.annul("game:g2"), reason="played by a computer")
    three_games.close()
    table = run("games", three_games.path, "Ann", "--all", "-t").out
    assert "corrected by" in table
    assert "voided by proposal 2: played by a computer" in table
    assert "does not count" not in run("games", three_games.path, "Ann", "-t").out
    assert "corrected by" not in run("games", three_games.path, "Cleo", "-t").out
    drawn = run("graph", three_games.path, "Ann").out
    assert "       └┬──\n" in drawn
    assert "┬ game 1, 2026-11-02: corrected by proposal 1\n" in drawn
    explained = run("explain", three_games.path, "Ann", "g1", "-t").out
    assert "recorded_outcome  white" in explained
    assert "corrected         [1]" in explained
    assert "corrected" not in run("explain", three_games.path, "Ann", "g4", "-t").out
    refused = run("explain", three_games.path, "Ann", "g2")
    assert (refused.code, "voided by proposal 2: played by a computer" in refused.err) == (REFUSED, True)
    assert json.loads(run("games", three_games.path, "Ann").out)[-1]["corrected"] == [1]
