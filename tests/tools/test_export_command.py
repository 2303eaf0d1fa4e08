"""The command ``export``: what it prints, which options go together, what was known then."""

import csv
import json
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.kit.commands import SAMPLE_ENTRIES, Run


def lines_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_it_says_what_was_written_and_that_names_are_left_out(sample_club: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "players.csv"
    done = run("export", sample_club, "players", "-o", path)
    assert done == (0, f"{path}: 16 rows of players\n", "names are left out; --names puts them in\n")
    assert "name" not in lines_of(path)[0]
    done = run("export", sample_club, "players", "--names", "-o", path, "--player", "ann")
    assert done == (0, f"{path}: 1 row of players\n", "")
    assert [row["name"] for row in lines_of(path)] == ["ann"]


@pytest.mark.parametrize("to", [[], ["-o", "-"]])
@pytest.mark.parametrize("fmt", [[], ["--format", "csv", "--raw"], ["--format", "ndjson"]])
def test_without_a_file_rows_go_to_standard_output(
    to: list[str], fmt: list[str], sample_club: Path, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / f"players.{(fmt or ['', 'csv'])[1]}"
    assert run("export", sample_club, "players", "--names", *fmt, "-o", path).code == 0
    done = run("export", sample_club, "players", "--names", *fmt, *to)
    assert done == (0, path.read_text(encoding="utf-8"), "")
    assert run("export", sample_club, "players").err == "names are left out; --names puts them in\n"


@pytest.mark.parametrize("fmt", ["csv", "ndjson"])
def test_rows_go_into_a_pipe_that_stands_there(fmt: str, sample_club: Path, tmp_path: Path, run: Run) -> None:
    pipe, file = tmp_path / "rows", tmp_path / f"games.{fmt}"
    run("export", sample_club, "games", "-o", file)
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as executor:
        # opened for both, so that the test ends where nobody writes
        reading = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        with closing(os.fdopen(reading, "rb")) as reader:
            done = executor.submit(run, "export", sample_club, "games", "--format", fmt, "-o", pipe)
            size, parts = file.stat().st_size, b""
            while len(parts) < size and not (done.done() and not pipe.is_fifo()):
                parts += reader.read() or b""
    assert (done.result(), parts) == ((0, "", f"{pipe}: 900 rows of games\n"), file.read_bytes())
    assert pipe.is_fifo()


@pytest.mark.parametrize("fmt", ["parquet", "sqlite"])
def test_a_pipe_cannot_hold_every_format(fmt: str, sample_club: Path, tmp_path: Path, run: Run) -> None:
    os.mkfifo(pipe := tmp_path / "rows")
    done = run("export", sample_club, "games", "--format", fmt, "-o", pipe)
    words = f"error: {pipe}: is a device or a pipe, which cannot hold {fmt}: give a file's name\n"
    assert (done, pipe.is_fifo()) == ((1, "", words), True)


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(sample_club: Path, tmp_path: Path, run: Run) -> None:
    (file := tmp_path / "games.csv").write_text("older")
    (link := tmp_path / "latest.csv").symlink_to(file.name)
    assert run("export", sample_club, "games", "-o", link).code == 0
    assert (link.is_symlink(), len(lines_of(file))) == (True, 900)


@pytest.mark.parametrize("command", [("export", "games", "--format", "csv"), ("graph", "ann", "--format", "svg")])
@pytest.mark.parametrize("name", ["club.db-wal", "club.people.db-wal", "club.views.db-shm", "club.db-journal"])
def test_what_stands_beside_a_database_is_not_written_over(
    name: str, command: tuple[str, ...], sample_club: Path, tmp_path: Path, run: Run
) -> None:
    (link := tmp_path / "link.db").symlink_to(sample_club.name)
    for path in (sample_club, link):
        done = run(command[0], path, *command[1:], "-o", tmp_path / name)
        assert done == (1, "", f"error: {tmp_path / name}: is a file of this ledger: give another name\n")


@pytest.mark.parametrize("fmt", ["parquet", "sqlite"])
def test_a_name_that_is_no_text_is_refused_for_what_a_library_writes(
    fmt: str, sample_club: Path, tmp_path: Path, run: Run
) -> None:
    done = run("export", sample_club, "games", "--format", fmt, "-o", tmp_path / "caf\udce9")
    words = f"error: {tmp_path}/caf\\udce9: has bytes in its name that are no UTF-8, for {fmt}: give another\n"
    assert done == (1, "", words)
    assert run("export", sample_club, "games", "--format", "csv", "-o", tmp_path / "caf\udce9").code == 0


@pytest.mark.parametrize("command", [("export", "games", "--format", "csv"), ("graph", "ann")])
def test_links_in_a_circle_are_named(command: tuple[str, ...], sample_club: Path, tmp_path: Path, run: Run) -> None:
    (link := tmp_path / "loop.csv").symlink_to("loop.csv")
    done = run(command[0], sample_club, *command[1:], "-o", link)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {link}: is a symbolic link that leads nowhere (")


def test_an_export_says_the_ratings_that_the_ranking_says(sample_club: Path, tmp_path: Path, run: Run) -> None:
    shown = json.loads(run("ratings", sample_club).out)
    run("export", sample_club, "ratings", "--names", "-o", tmp_path / "now.ndjson")
    exported = [json.loads(line) for line in (tmp_path / "now.ndjson").read_text().splitlines()]
    assert [(row["rank"], row["name"], row["rating"]) for row in exported] == [
        (row["rank"], row["name"], row["rating"]) for row in shown
    ]


def test_an_export_of_a_pool_with_periods_says_which_ratings_it_has(tmp_path: Path, run: Run) -> None:
    club, games, list_ = tmp_path / "club.db", tmp_path / "games.csv", tmp_path / "list.csv"
    list_.write_text("identity,name,rating\nname:ann,Ann,1900\nname:bob,Bob,1700\n")
    games.write_text("key,white,black,result,date\n1,Ann,Bob,0-1,2004-12-17\n")
    run("init", club, "--scheme", "fide")
    assert run("players", "import", club, list_, "--since", "2004-01-01").code == 0
    assert run("import", club, games).code == 0
    done = run("export", club, "ratings", "--names", "-o", tmp_path / "now.csv")
    today = done.err.partition("--at ")[2][: len("2026-11-27")]
    assert done.err == (
        f"ratings in force today, as 'ratings --at {today}' tells them; without --at it tells them after all games\n"
    )
    # since March 2024 FIDE has raised those below 2000
    exported = [float(row["rating"]) for row in lines_of(tmp_path / "now.csv")]
    assert exported == [row["rating"] for row in json.loads(run("ratings", club, "--at", today).out)]
    assert exported != [row["rating"] for row in json.loads(run("ratings", club).out)]
    assert run("export", club, "ratings", "--names", "--at", today, "-o", tmp_path / "now.csv").err == ""


def test_what_was_known_then_can_be_exported(sample_club: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "history.parquet"
    assert run("export", sample_club, "history", "-o", path).code == 0
    now = pl.read_parquet(path)
    assert json.loads(pl.read_parquet_metadata(path)["rating-ledger"])["entries"] == SAMPLE_ENTRIES
    assert run("export", sample_club, "history", "-o", path, "--known-at", "400").code == 0
    then = pl.read_parquet(path)
    assert json.loads(pl.read_parquet_metadata(path)["rating-ledger"])["entries"] == 400
    assert 0 < len(then) < len(now)
    assert then["game"].max() <= 400  # type: ignore[operator]


def test_views_that_are_behind_are_brought_level_first(empty_club: Path, tmp_path: Path, run: Run) -> None:
    games = tmp_path / "g.csv"
    games.write_text("white,black,result,ended_at,half_moves\nAnn,Bob,1-0,2024-05-03,61\n")
    assert run("import", empty_club, games).code == 0
    empty_club.with_name("empty.views.db").unlink()
    assert "1 row of games" in run("export", empty_club, "games", "-o", tmp_path / "games.csv").out


def test_several_tables_stand_in_one_file_of_sqlite(sample_club: Path, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "open.data"
    done = run("export", sample_club, "games", "players", "history", "pools", "--format", "sqlite", "-o", path)
    assert done.out == (
        f"{path}: 900 rows of games\n{path}: 16 rows of players\n"
        f"{path}: 1,776 rows of history\n{path}: 1 row of pools\n"
    )
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert {row[2] for row in connection.execute("PRAGMA foreign_key_list(games)")} == {"players"}


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["games", "--format", "parquet"], "without a file one table goes out, as one of ['csv', 'ndjson']", 1),
        (["games", "players", "-o", "-"], "without a file one table goes out", 1),
        (["games", "--raw", "--format", "ndjson"], "--raw goes with CSV", 2),
        (["-o", "x.csv"], "Missing argument", 2),
        (["games", "-o", "x.csv", "--format", "xls"], "'xls' is not one of", 2),
        (["games", "-o", "x.parquet", "--raw"], "--raw goes with CSV", 2),
        (["games", "-o", "x.csv", "--since", "May"], "--since: expected YYYY", 2),
        (["games", "-o", "x.csv", "--pool", "rapid"], "no pool 'rapid'", 1),
        (["games", "-o", "x.csv", "--player", "nobody"], "no player 'nobody'", 1),
        (["players", "-o", "x.csv", "--actor", "eve"], "--actor goes with --sent", 2),
        (["ratings", "games", "-o", "x.db", "--federation", "NOR"], "'federation' does not go with 'games'", 1),
        (["players", "-o", "x.csv", "--tournament", "Cup"], "'tournament' does not go with 'players'", 1),
        (["lists", "-o", "x.csv", "--list", "nope"], "nope", 1),
    ],
)
def test_what_does_not_go_together_is_said(
    words: list[str], says: str, code: int, sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    done = run("export", sample_club, *words)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert list(folder.iterdir()) == []
