"""Two players of one name are told apart wherever no column has their numbers, and publishing names them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import Done, Run
from tests.kit.source_files import written

GAMES = """white,white_id,black,black_id,result,ended_at,half_moves,tournament,round
Bob,id:1,Ann,id:9,1-0,2024-05-01,61,Open,1.1
Bob,id:2,Cleo,id:8,1-0,2024-05-01,61,Open,1.2
Bob,id:1,Bob,id:2,1/2-1/2,2024-05-02,61,Open,2.1
Ann,id:9,Cleo,id:8,0-1,2024-05-02,61,Open,2.2
Ann,id:9,Bob,id:2,1-0,2024-05-03,61,Open,3.1
Cleo,id:8,Bob,id:1,0-1,2024-05-03,61,Open,10
"""


def rows(done: Done) -> list[dict[str, Any]]:
    return list(json.loads(done.out))


@pytest.fixture(name="two_bobs")
def _two_bobs(empty_club: Path, tmp_path: Path, run: Run) -> Path:
    """A tournament of four, two of whom are called Bob; one register gave both a number."""
    assert run("import", empty_club, written(tmp_path, "open.csv", GAMES.encode())).code == 0
    return empty_club


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("games", "id:9", "-t"), ("Bob (1)", "Bob (2)")),
        (("games", "--tournament", "Open", "-t"), ("Bob (1)", "Bob (2)")),
        (("best", "id:9", "-t"), ("Bob (1)", "Bob (2)", "Cleo ")),
        (("upsets", "--margin", "0", "-t"), ("Bob ",)),  # of one Bob alone
        (("crosstable", "Open"), ("Bob (1)", "Bob (2)", "Cleo ")),
    ],
)
def test_tables_without_numbers_tell_two_of_one_name_apart(
    command: tuple[str, ...], words: tuple[str, ...], two_bobs: Path, run: Run
) -> None:
    name, *rest = command
    done = run(name, two_bobs, *rest)
    assert done.code == 0
    assert [word for word in words if word not in done.out] == []


def test_machines_read_the_names_themselves_and_the_numbers(two_bobs: Path, run: Run) -> None:
    told = rows(run("games", two_bobs, "id:9"))
    assert [(row["opponent"], row["opponent_player"]) for row in told] == [("Bob", 2), ("Cleo", 4), ("Bob", 1)]


def test_publishing_notes_two_of_one_name_and_complains_where_they_may_be_one(two_bobs: Path, run: Run) -> None:
    done = run("publish", two_bobs, "--at", "2024-05-31")
    assert done.code == 0
    assert "note: Bob (player 1) has the name of player 2, too" in done.err
    more = b"white,black,result,ended_at,half_moves\nBOB,Ann,1-0,2024-06-01,61\n"
    assert run("import", two_bobs, written(two_bobs.parent, "more.csv", more)).code == 0
    refused = run("publish", two_bobs, "--at", "2024-06-30")
    assert refused.code == 1
    assert "name-twice: Bob (player 1) has the name of player 2, 5, too" in refused.err


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        (("--tournament", "Open"), [6, 7, 8, 9, 10, 11]),
        (("--tournament", "Open", "--round", "1"), [6, 7]),  # 1.1 and 1.2, not 10
        (("--tournament", "Open", "--round", "3.1"), [10]),
        (("--on", "2024-05-02"), [8, 9]),
        (("--on", "2024-05"), [6, 7, 8, 9, 10, 11]),
        (("--tournament", "Open", "--on", "2024-05-03"), [10, 11]),
        (("--on", "2023"), []),
        (("id:9", "--round", "2"), [9]),
        (("id:9", "--on", "2024-05-03"), [10]),
        (("id:9", "--tournament", "Another"), []),
    ],
)
def test_games_of_a_tournament_a_round_and_a_day(
    options: tuple[str, ...], entries: list[int], two_bobs: Path, run: Run
) -> None:
    done = run("games", two_bobs, *options)
    assert done.code == 0
    assert sorted(row["entry"] for row in rows(done)) == entries


def test_voided_games_of_a_round_come_with_all(two_bobs: Path, run: Run) -> None:
    assert run("correct", two_bobs, "void", "#9", "--reason", "no game", "--by", "eve").code == 0
    assert run("correct", two_bobs, "approve", "1", "--by", "adam").code == 0
    for options in (("--on", "2024-05-02"), ("--tournament", "Open", "--round", "2")):
        assert [row["entry"] for row in rows(run("games", two_bobs, *options))] == [8]
    every = rows(run("games", two_bobs, "--on", "2024-05-02", "--all"))
    assert [(row["entry"], row["reason"]) for row in every] == [(8, None), (9, "voided")]


def test_games_ask_for_a_player_a_tournament_or_a_day(two_bobs: Path, run: Run) -> None:
    assert run("games", two_bobs, "--round", "3").code == 2
    unknown = run("games", two_bobs, "--tournament", "Opne")
    assert (unknown.code, "did you mean 'Open'?" in unknown.err) == (1, True)


@pytest.mark.parametrize("scheme", ["fide", "uschess", "ecf-grade", "lichess"])
def test_the_games_of_a_day_are_found_in_every_rhythm(scheme: str, tmp_path: Path, run: Run) -> None:
    club = tmp_path / "club.db"
    assert run("init", club, "--scheme", scheme).code == 0
    assert run("import", club, written(tmp_path, "open.csv", GAMES.encode())).code == 0
    assert sorted(row["entry"] for row in rows(run("games", club, "--on", "2024-05-02"))) == [8, 9]


def test_a_game_is_called_by_the_number_of_its_entry(two_bobs: Path, run: Run) -> None:
    by_number, key = run("explain", two_bobs, "id:9", "#10"), rows(run("games", two_bobs, "id:9"))[0]["game"]
    assert by_number.out == run("explain", two_bobs, "id:9", key).out
    assert "#10 " in run("games", two_bobs, "id:9", "-t").out
    assert f"game:{key}" in run("correct", two_bobs, "swap-colours", "#10", "--reason", "board 1", "--by", "eve").err


@pytest.mark.parametrize("number", ["#1", "#0", "#12", "#99999999999999999999999999"])
def test_a_number_of_no_game_is_refused(number: str, two_bobs: Path, run: Run) -> None:
    done = run("explain", two_bobs, "id:9", number)
    assert done.code == 1
    assert f"no game '{number}'" in done.err
