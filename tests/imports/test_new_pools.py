"""Pools that an import makes: with the first game that is taken into each, and not without one."""

import json
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import written

HEAD = "key,white,black,result,ended_at\n"
TAKEN = "k1,Ann,Bob,1-0,2024-05-03\n"


def pools(run: Run, club: Path) -> list[str]:
    return [row["pool"] for row in json.loads(run("pools", club).out)]


@pytest.mark.parametrize(
    "row",
    ["k2,Ann,Bob,1-0,2924-05-03", "k2,Ann,Ann,1-0,2024-05-03", "k2,Ann,Bob,9-9,2024-05-03", TAKEN.strip()],
    ids=["in the future", "himself", "no result", "known in another pool"],
)
def test_an_import_that_takes_no_game_makes_no_pool(empty_club: Path, tmp_path: Path, run: Run, row: str) -> None:
    assert run("import", empty_club, written(tmp_path, "first.csv", (HEAD + TAKEN).encode())).code == 0
    before = pools(run, empty_club)
    bad = written(tmp_path, "a.csv", f"{HEAD}{row}\n".encode())
    done = run("import", empty_club, bad, "--pool", "rapid", "--new-pool")
    assert (done.code, "0 games recorded" in done.err, "new pools" in done.err) == (1, True, False)
    assert pools(run, empty_club) == before
    good = f"{HEAD}{row}\nk3,Ann,Bob,0-1,2024-05-04\n".encode()
    done = run("import", empty_club, written(tmp_path, "b.csv", good), "--pool", "rapid", "--new-pool")
    assert (done.code, "1 game recorded" in done.err, "new pools: rapid" in done.err) == (1, True, True)
    assert pools(run, empty_club) == [*before, "rapid"]
    assert run("audit", empty_club).code == 0


def test_a_game_that_a_file_tells_twice_stands_where_its_supplement_says_in_a_new_pool(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    rows = "key,white,black,result,ended_at,half_moves\nk1,Ann,Bob,1-0,2024-05-03,\nk1,Ann,Bob,1-0,2024-05-03,40\n"
    done = run("import", empty_club, written(tmp_path, "a.csv", rows.encode()), "--pool", "rapid", "--new-pool")
    assert (done.code, "with new details" in done.err, "new pools: rapid" in done.err) == (0, True, True)
    assert run("audit", empty_club).code == 0
