"""Games of one day are rated in the order of their numbers or, without numbers, of their rows in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import written

HEADER = b"white,black,result,date\n"
ROWS = [b"Ann,Bob,1-0,2024-05-01\n"] * 6 + [b"Ann,Bob,0-1,2024-05-01\n"] * 6
AT_ONE_TIME = [row.replace(b"05-01", b"05-01 19:00:00") for row in ROWS]
NUMBERED = [b"%d,%s" % (number, row) for number, row in enumerate(ROWS, 1)]
PADDED = [b"%02d,%s" % (number, row) for number, row in enumerate(ROWS, 1)]
IN_ORDER = 1467.0688289111772  # six wins, then six losses


def rating(run: Run, folder: Path, name: str, lines: list[bytes], header: bytes = HEADER) -> float:
    club = folder / f"{name}.db"
    assert run("init", club, "--scheme", "elo").code == 0
    assert run("import", club, written(folder, f"{name}.csv", header + b"".join(lines)), "--equal-rows").code == 0
    done = run("query", club, "select rating from current where player = 1", "--csv", "--raw")
    return float(done.out.split()[1])


@pytest.mark.parametrize("lines", [ROWS, AT_ONE_TIME])
def test_a_file_without_numbers_gives_one_rating_in_every_new_ledger(
    lines: list[bytes], tmp_path: Path, run: Run
) -> None:
    assert {rating(run, tmp_path, name, lines) for name in "abc"} == {IN_ORDER}


@pytest.mark.parametrize("lines", [NUMBERED, NUMBERED[::-1], PADDED])
def test_numbers_count_as_numbers_whatever_the_order_of_the_rows(lines: list[bytes], tmp_path: Path, run: Run) -> None:
    assert rating(run, tmp_path, "a", lines, b"n," + HEADER) == IN_ORDER


def sequences(run: Run, club: Path) -> list[str]:
    return str(run("query", club, "select sequence from games order by position", "--csv", "--raw").out).split()[1:]


def test_a_repeat_in_another_order_neither_contradicts_nor_adds(tmp_path: Path, run: Run) -> None:
    assert rating(run, tmp_path, "a", NUMBERED, b"id," + HEADER) == IN_ORDER
    again = written(tmp_path, "again.csv", b"id," + HEADER + b"".join(NUMBERED[::-1]))
    done = run("import", tmp_path / "a.db", again)
    assert (done.code, "0 games recorded, 12 known already" in done.err) == (0, True)
    assert sequences(run, tmp_path / "a.db") == ['""', *(str(number) for number in range(2, 13))]
    assert run("audit", tmp_path / "a.db").code == 0


def test_a_number_that_a_file_gives_later_supplements_a_game_without_one(tmp_path: Path, run: Run) -> None:
    club = tmp_path / "a.db"
    assert run("init", club, "--scheme", "elo").code == 0
    for key in ("b", "a"):
        game = ("--white", "Ann", "--black", "Bob", "--result", "1-0", "--ended", "2024-05-01", "--key", f"x:{key}")
        assert run("record", club, *game, "--new").code == 0
    told = "key,sequence,white,black,result,date\nx:b,1,Ann,Bob,1-0,2024-05-01\nx:a,2,Ann,Bob,1-0,2024-05-01\n"
    assert run("import", club, written(tmp_path, "told.csv", told.encode())).code == 0
    assert sequences(run, club) == ["1", "2"]
    query = "select game from history where player = 1 order by n"
    games = run("query", club, query, "--csv", "--raw").out.split()[1:]
    assert games == sorted(games, key=int), "x:b, recorded first, is the first game of the day"
