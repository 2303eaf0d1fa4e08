"""The commands that answer: every format tells the same, players are found, graphs drawn, games explained."""

import csv
import io
import json
from pathlib import Path

import pytest

from ledger.answers.asking import names
from ledger.ledger import Ledger
from tests.kit.commands import SAMPLE_ENTRIES, Run, in_columns, latest_game
from tools.commands import REFUSED, USAGE

ANSWERS = {
    "best": ["ann"],
    "streaks": ["ann"],
    "time-losses": ["ann"],
    "upsets": ["--limit", "3"],
    "ratings": ["--limit", "3"],
    "show": ["ann"],
    "games": ["ann", "--limit", "3"],
    "predict": ["ann", "bob"],
}


@pytest.mark.parametrize("command", ANSWERS)
def test_every_format_tells_the_same_fields(command: str, sample_club: Path, run: Run) -> None:
    words = [command, sample_club, *ANSWERS[command]]
    told = json.loads(run(*words).out)
    rows = told if isinstance(told, list) else [told]
    lines = [json.loads(line) for line in run(*words, "--nl").out.splitlines()]
    by_csv = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    by_tsv = list(csv.DictReader(io.StringIO(run(*words, "--tsv").out), dialect="excel-tab"))
    cells = [in_columns(row) for row in rows]
    assert [list(row) for row in by_csv] == [list(row) for row in cells]
    assert lines == rows
    assert by_csv == by_tsv == [{k: "" if v is None else str(v) for k, v in row.items()} for row in cells]
    assert run(*words, "-t").out == run(*words, "--table").out


def test_ratings_are_ranked_and_limited(sample_club: Path, run: Run) -> None:
    rows = json.loads(run("ratings", sample_club).out)
    assert [row["rank"] for row in rows] == list(range(1, 17))
    assert [row["rating"] for row in rows] == sorted((row["rating"] for row in rows), reverse=True)
    assert rows[0] == {
        "rank": 1,
        "player": 13,
        "name": "ann",
        "rating": 1923.0998993145497,
        "games": 106,
        "last_game": "2006-08-30",
    }
    assert json.loads(run("ratings", sample_club, "--limit", "2").out) == rows[:2]
    assert len(run("ratings", sample_club, "--limit", "0", "-t").out.splitlines()) == 18
    assert all(row["games"] >= 120 for row in json.loads(run("ratings", sample_club, "--min-games", "120").out))
    assert run("ratings", sample_club, "--limit", "-1").code == USAGE
    table = run("ratings", sample_club, "--limit", "1", "-t").out.splitlines()
    assert table[2].split() == ["1", "13", "ann", "1923", "106", "2006-08-30"]


def test_a_player_is_found_by_name_identity_or_number(sample_club: Path, run: Run) -> None:
    shown = run("show", sample_club, "ann").out
    assert json.loads(shown)["name"] == "ann"
    for word in ("name:ann", "13", "ANN"):
        assert run("show", sample_club, word).out == shown


def test_show_tells_the_rating_on_a_day_beside_the_present_one(sample_club: Path, run: Run) -> None:
    told = json.loads(run("show", sample_club, "ann", "--at", "2005-06-30").out)
    assert told["then"] == "2005-06-30"
    assert told["scheme"] == told["hera_scheme"] == "chessworld"
    assert told["rating_then"] != told["rating_now"] == 1923.0998993145497
    assert json.loads(run("show", sample_club, "ann", "--at", "1999").out)["rating_then"] is None
    assert run("show", sample_club, "ann", "--at", "1999", "-t").out.count(" -\n") == 1
    done = run("show", sample_club, "ann", "--at", "2005-13")
    assert done.code == USAGE
    assert "--at: no such day or time: '2005-13'" in done.err


def test_games_as_a_table_show_both_ratings_with_the_present_ones_in_brackets(sample_club: Path, run: Run) -> None:
    table = run("games", sample_club, "ann", "--limit", "1", "-t").out.splitlines()
    assert "1923 (1923)" in table[2]
    assert "1882 (1859)" in table[2]
    rows = json.loads(run("games", sample_club, "ann", "--limit", "500").out)
    assert [row["n"] for row in rows] == list(range(106, 0, -1))
    on_time = [row for row in rows if row["termination"] == "time" and row["result"] != "draw"]
    assert run("games", sample_club, "ann", "--limit", "500", "-t").out.count(" on time") == len(on_time) > 0


def test_graph_draws_a_player(sample_club: Path, run: Run) -> None:
    done = run("graph", sample_club, "ann")
    assert done.code == 0
    assert done.out.startswith("ann, rated games from 2004-10-12 to 2006-08-30\n")
    assert done.out.endswith("game 106\n")


def test_explain_gives_the_change_that_the_history_shows(sample_club: Path, run: Run) -> None:
    last, before = json.loads(run("games", sample_club, "ann", "--limit", "2").out)
    told = json.loads(run("explain", sample_club, "ann", last["game"]).out)
    assert (told["before"], told["after"]) == (before["rating"], last["rating"])
    assert told["before"] == last["rating_before"]
    assert told["change"] == told["after"] - told["before"]
    assert (told["rated_with"], told["games"], told["unrounded"]) == ("this game", 1, told["after"])
    assert list(told) == [
        "game", "player", "opponent", "result", "pool", "scheme", "rated_with", "games", "before", "after", "change",
        "list", "carried_from", "began_with", "corrected", "recorded", "stands", "published_list", "published_rating",
        "revised_rating", "rule", "terms", "unrounded", "rounding", "source", "meetings",
    ]  # fmt: skip
    table = run("explain", sample_club, "ann", last["game"], "-t").out
    assert repr(told["after"]) in table
    assert all(repr(term["value"]) in table for term in told["terms"])


def test_explain_of_a_game_that_does_not_count_names_the_reason(sample_club: Path, run: Run) -> None:
    with Ledger.open(sample_club) as ledger:
        short = next(ledger.rows("games", "reason = 'too-short'"))
        name = names(ledger, {short["white"]})[short["white"]]
    done = run("explain", sample_club, name, short["key"])
    assert (done.code, done.out) == (REFUSED, "")
    assert "it does not count: too-short" in done.err


def test_explain_of_a_game_of_others_says_so(sample_club: Path, run: Run) -> None:
    last = json.loads(run("games", sample_club, "ann", "--limit", "1").out)[0]
    other = "cleo" if last["opponent"] != "cleo" else "dan"
    done = run("explain", sample_club, other, last["game"])
    assert done.code == REFUSED
    assert f"no player of game {last['game']!r} named '{other}'" in done.err


def test_predict_tells_each_result(sample_club: Path, run: Run) -> None:
    told = json.loads(run("predict", sample_club, "ann", "bob").out)
    assert told["win"]["rating"] > told["draw"]["rating"] > told["loss"]["rating"]
    assert told["win"]["change"] == told["win"]["rating"] - told["rating"]
    win = f"{told['win']['rating']:.2f} ({told['win']['change']:+.2f})"
    assert win in run("predict", sample_club, "ann", "bob", "-t").out


def test_predict_says_who_has_no_rating_to_expect_anything_from(tmp_path: Path, run: Run) -> None:
    club = tmp_path / "fide.db"
    assert run("init", club, "--scheme", "fide").code == 0
    for name, *rating in (("Ann",), ("Bob",), ("Cleo", "--rating", "2000", "--games", "30")):
        assert run("player", "add", club, f"id:{name}", name, *rating).code == 0
    for who, unrated, says in (
        (("Ann", "Bob"), "both", "neither player has a rating: the expected score is what fide makes of newcomers"),
        (("Ann", "Cleo"), "player", "Ann has no rating: the expected"),
        (("Cleo", "Ann"), "opponent", "Ann has no rating: the expected"),
    ):
        done = run("predict", club, *who)
        assert (json.loads(done.out)["unrated"], says in done.err) == (unrated, True)
        assert "unrated" in run("predict", club, *who, "-t").out
    assert run("player", "add", club, "id:Dan", "Dan", "--rating", "2100", "--games", "30").code == 0
    done = run("predict", club, "Cleo", "Dan", "-t")
    assert (done.err, "unrated" in done.out) == ("", False)


def test_log_shows_the_entries_of_a_game(sample_club: Path, run: Run) -> None:
    key = latest_game(run, sample_club, "ann")
    (entry,) = json.loads(run("log", sample_club, "--game", key).out)
    assert json.loads(run("log", sample_club, key).out) == [entry]
    assert run("log", sample_club, key, "--game", "another").code == USAGE
    assert (entry["kind"], entry["key"], entry["actor"]) == ("game-recorded/1", f"game:{key}", "import")
    (row,) = csv.DictReader(io.StringIO(run("log", sample_club, "--game", key, "--csv").out))
    assert "facts" not in row
    assert row["outcome"] == entry["facts"]["outcome"]
    assert row["position"] == str(entry["position"])


@pytest.mark.slow
def test_views_that_were_deleted_are_built_again_by_the_next_question(sample_club: Path, run: Run) -> None:
    before = run("ratings", sample_club).out
    for path in sample_club.parent.glob("club.views.db*"):
        path.unlink()
    assert run("ratings", sample_club).out == before
    done = run("rebuild", sample_club)
    assert done == (0, "", f"{sample_club.with_name('club.views.db')}: rebuilt from {SAMPLE_ENTRIES} entries\n")
    assert run("ratings", sample_club).out == before
