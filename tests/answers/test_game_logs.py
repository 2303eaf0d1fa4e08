"""What is told of one game: every entry that concerns it, with who, whether proven, and why."""

import csv
import io
import json

import pytest

from ledger.answers.player_games import GameFilter, games
from ledger.answers.recorded_games import game_log
from ledger.answers.rows import as_rows
from ledger.correcting import drafts
from ledger.facts.changes import AnnulmentScope
from ledger.facts.events import Decision
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.corrections import approve
from tests.kit.games import game_recorded


def positions(ledger: Ledger, game: str) -> list[tuple[str, int]]:
    return [(entry.kind.partition("/")[0], entry.position) for entry in ledger.log(game)]


def proposals(ledger: Ledger, game: str) -> list[int]:
    return list(ledger.game_log.proposals(game))


def test_a_correction_of_the_game_stands_below_its_recording(three_games: Ledger) -> None:
    g1 = {"half_moves": 40, "termination": Termination.UNKNOWN, "ended_at": "2026-11-02"}
    three_games.append(game_recorded("g1", round="3", **g1))
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.replace("game:g1", {"outcome": "draw"}), reason="the scoresheet")
    recorded, added, proposed, decided = three_games.log("g1")
    assert (recorded.key, added.facts["round"]) == ("game:g1", "3")
    assert (proposed.actor, proposed.facts["proven"], proposed.why) == ("eve", False, "the scoresheet")
    assert (decided.actor, decided.facts["decision"]) == ("adam", "approved")
    assert [row["what"] for row in as_rows(game_log(three_games, "g1"))] == [
        "recorded: Ann - Bob 1-0 (unknown), ended 2026-11-02",
        "supplemented: round 3",
        "proposal 1: game:g1: outcome white -> draw",
        "proposal 1 approved",
    ]
    assert [row["by"] for row in as_rows(game_log(three_games, "g1"))][2:] == ["eve", "adam"]
    assert positions(three_games, "g2") == [("game-recorded", 7)]


def test_an_open_a_rejected_and_an_undone_proposal_are_told_and_so_is_what_undid_it(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    rejected = three_games.propose([drafts.replace("game:g1", {"outcome": "draw"})], reason="a rumour", by="eve")
    three_games.decide(rejected.proposal, Decision.REJECTED, by="adam", reason="no proof")
    approve(three_games, drafts.annul("game:g1"), reason="played by a computer")
    approve(three_games, drafts.undo(2), reason="it was not")
    three_games.propose([drafts.replace("game:g1", {"outcome": "black"})], reason="once more", by="eve")
    told = [(row["what"], row["why"]) for row in as_rows(game_log(three_games, "g1"))][1:]
    assert told == [
        ("proposal 1: game:g1: outcome white -> draw", "a rumour"),
        ("proposal 1 rejected", "no proof"),
        ("proposal 2: void game:g1", "played by a computer"),
        ("proposal 2 approved (undone by now)", None),
        ("proposal 3: undo proposal 2", "it was not"),
        ("proposal 3 approved", None),
        ("proposal 4: game:g1: outcome white -> black", "once more"),
    ]


def test_proposals_about_many_games_concern_those_that_they_mean(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.annul_games(3, AnnulmentScope.LOSSES))  # g3: the opponent lost
    approve(three_games, drafts.annul_games(1, AnnulmentScope.LOSSES, since="2026-11-05"))  # g2, not g1 from before
    approve(three_games, drafts.undo(1))
    approve(three_games, drafts.tournament("standard", "Cup"))
    assert {game: proposals(three_games, game) for game in ("g1", "g2", "g3")} == {"g1": [], "g2": [2], "g3": [1, 3, 4]}


def test_a_merge_concerns_the_games_of_who_becomes_another_person(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.merge(2, 4))
    approve(three_games, drafts.merge(4, 3))
    approve(three_games, drafts.annul_games(3, AnnulmentScope.ALL, until="2026-11-05"))
    assert {game: proposals(three_games, game) for game in ("g1", "g2", "g3")} == {"g1": [1, 2, 3], "g2": [], "g3": []}
    approve(three_games, drafts.unmerge(2))
    assert proposals(three_games, "g1") == [1, 2, 3, 4]


def test_a_game_that_moved_is_meant_where_it_was_and_where_it_is(three_games: Ledger) -> None:
    drafts = three_games.corrections.drafts
    approve(three_games, drafts.annul_games(2, AnnulmentScope.ALL, since="2026-11-01"))
    approve(three_games, drafts.undo(1))
    approve(three_games, drafts.replace("game:g1", {"ended_at": "2026-10-01", "black": 4}))
    approve(three_games, drafts.annul_games(1, AnnulmentScope.ALL, since="2026-11-03", until="2026-11-12"))
    approve(three_games, drafts.annul_games(4, AnnulmentScope.ALL, until="2026-10-31"))
    assert (proposals(three_games, "g1"), proposals(three_games, "g2")) == ([1, 2, 3, 5], [4])


def test_a_late_game_begins_with_the_proposal_that_told_of_it(three_games: Ledger) -> None:
    drawn = {"outcome": Outcome.DRAW, "termination": Termination.AGREEMENT}
    late = game_recorded("late", white=4, half_moves=40, ended_at="2026-11-03", **drawn)
    approve(three_games, three_games.corrections.drafts.add(late))
    assert [kind for kind, _ in positions(three_games, "late")] == [
        "correction-proposed",
        "correction-decided",
        "game-recorded",
    ]


def test_of_a_proposal_in_parts_the_part_that_concerns_the_game_is_told(
    three_games: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "MOST_CHANGES", 1)
    approve(three_games, *map(three_games.corrections.drafts.annul, ("game:g1", "game:g2")))
    proposed, decided = three_games.log("g2")[1:]
    assert (proposed.facts["part"], proposed.facts["parts"], decided.facts["proposal"]) == (2, 2, 1)


def test_an_erased_reason_leaves_the_entry(three_games: Ledger) -> None:
    approve(three_games, three_games.corrections.drafts.annul("game:g1"), reason="Bob said so")
    sealed = three_games.log("g1")[1].facts["reason"]
    three_games.people.reasons.erase(three_games.journal.writing(), [sealed])
    assert [row["why"] for row in as_rows(game_log(three_games, "g1"))] == [None, None, None]


def test_the_command_tells_it_in_every_format(three_games: Ledger, run: Run) -> None:
    approve(three_games, three_games.corrections.drafts.replace("game:g1", {"outcome": "draw"}))
    three_games.close()
    table = run("log", three_games.path, "--game", "g1", "-t").out
    assert "game:g1: outcome white -> draw" in table
    assert "the scoresheet" in table
    assert json.loads(run("log", three_games.path, "--game", "g1").out) == [
        json.loads(line) for line in run("log", three_games.path, "--game", "g1", "--nl").out.splitlines()
    ]
    rows = list(csv.DictReader(io.StringIO(run("log", three_games.path, "--game", "g1", "--csv").out)))
    assert [(row["kind"], row["outcome"], row["decision"]) for row in rows] == [
        ("game-recorded/1", "white", ""),
        ("correction-proposed/2", "", ""),
        ("correction-decided/2", "", "approved"),
    ]
    assert [row["why"] for row in rows] == ["", "the scoresheet", ""]


def test_games_of_a_round_are_those_that_have_it_whatever_it_is_called(three_games: Ledger) -> None:
    three_games.append(game_recorded("r1", ended_at="2026-11-16", round="None"))
    three_games.ensure_up_to_date()
    told = games(three_games, three_games.player("1"), selection=GameFilter(round="None"))
    assert [row.game for row in told] == ["r1"]
