"""How many rows an answer has: all of them for programs, in a table the first few with a word on the rest.

And numbers: they are numbers in every format that programs read.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.kit.commands import SAMPLE_ENTRIES, Run, in_columns
from tests.kit.source_files import imported_club
from tools import limits
from tools.commands import USAGE

# A question about the ledger of monthly runs, how many rows its answer has, how many of them a table shows, and which.
MONTHS, PLAYERS = 30, 60
QUESTIONS: dict[str, tuple[list[str], int, int, str]] = {
    "ratings": (["ratings"], PLAYERS, 20, "first"),
    "games": (["games", "p0"], 3 * MONTHS, 50, "first"),
    "runs": (["runs"], MONTHS, 20, "newest"),
    "list in force": (["runs", "--on", "2031"], PLAYERS, 20, "first"),
    "log": (["log"], 1 + PLAYERS + 3 * MONTHS + PLAYERS, 50, "newest"),
}


@pytest.fixture(scope="module")
def monthly_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty players, of whom the first plays three games in each of thirty months, and everybody two at the end."""
    lines: list[str] = []
    for month in range(MONTHS):
        for game in range(3):
            day = f"{2020 + month // 12}-{month % 12 + 1:02}-{game + 1:02}"
            lines.append(f"m{month}-{game},p0,p{1 + game},1-0,{day},60")
    lines += [f"e{place},p{place},p{(place + 1) % PLAYERS},1-0,2022-06-20,60" for place in range(PLAYERS)]
    return imported_club(tmp_path_factory.mktemp("monthly"), "glicko", lines)


def rows_of(run: Run, club: Path, question: list[str], fmt: str | None, *words: str) -> tuple[int, str]:
    """How many rows an answer has in a format, and what is said beside it."""
    done = run(question[0], club, *question[1:], *([fmt] if fmt else []), *words)
    assert done.code == 0
    if fmt is None:
        return len(json.loads(done.out)), done.err
    lines = done.out.splitlines()
    return len(lines) - {"--nl": 0, "--csv": 1, "--tsv": 1, "-t": 2}[fmt], done.err


@pytest.mark.parametrize("what", QUESTIONS)
@pytest.mark.parametrize("fmt", [None, "--nl", "--csv", "--tsv"])
def test_programs_get_every_row(what: str, fmt: str | None, monthly_club: Path, run: Run) -> None:
    question, count, _, _ = QUESTIONS[what]
    assert rows_of(run, monthly_club, question, fmt) == (count + (what == "games") * 2, "")


@pytest.mark.parametrize("what", QUESTIONS)
def test_a_limit_beyond_what_sqlite_holds_is_every_row(what: str, monthly_club: Path, run: Run) -> None:
    question, count, _, _ = QUESTIONS[what]
    rows = rows_of(run, monthly_club, question, "--nl", "--limit", str(10**20))
    assert rows == (count + (what == "games") * 2, "")


def test_a_margin_beyond_what_sqlite_holds_is_that_of_no_upset(sample_club: Path, run: Run) -> None:
    done = run("upsets", sample_club, "--margin", "9" * 30)
    assert (done.code, json.loads(done.out)) == (0, [])


@pytest.mark.parametrize("what", QUESTIONS)
def test_a_table_is_cut_and_says_so_below(what: str, monthly_club: Path, run: Run) -> None:
    question, count, in_a_table, which = QUESTIONS[what]
    said = f"the {which} {in_a_table}; there are more: --limit 0 shows all\n"
    assert rows_of(run, monthly_club, question, "-t") == (in_a_table, said)
    assert rows_of(run, monthly_club, question, "-t", "--limit", "0")[0] >= count
    assert rows_of(run, monthly_club, question, "-t", "--limit", "0")[1] == ""


@pytest.mark.parametrize("what", QUESTIONS)
@pytest.mark.parametrize("fmt", [None, "--nl", "--csv", "--tsv", "-t"])
def test_a_limit_holds_in_every_format_and_is_said(what: str, fmt: str | None, monthly_club: Path, run: Run) -> None:
    question, _, _, which = QUESTIONS[what]
    assert rows_of(run, monthly_club, question, fmt, "--limit", "3") == (
        3,
        f"the {which} 3; there are more: --limit 0 shows all\n",
    )
    assert rows_of(run, monthly_club, question, fmt, "--last", "3")[0] == 3  # as it was called first
    assert run(question[0], monthly_club, *question[1:], "--limit", "-1").code == USAGE


def test_a_limit_that_is_just_enough_is_not_said(monthly_club: Path, run: Run) -> None:
    assert rows_of(run, monthly_club, ["ratings"], "-t", "--limit", str(PLAYERS)) == (PLAYERS, "")


def test_the_newest_rows_are_those_shown(monthly_club: Path, run: Run) -> None:
    everything = json.loads(run("runs", monthly_club).out)
    assert json.loads(run("runs", monthly_club, "--limit", "2").out) == everything[-2:]
    entries = json.loads(run("log", monthly_club).out)
    assert json.loads(run("log", monthly_club, "--limit", "2").out) == entries[-2:]
    played = json.loads(run("games", monthly_club, "p0").out)
    assert json.loads(run("games", monthly_club, "p0", "--limit", "2").out) == played[:2]
    assert played[0]["n"] == len(played)


def test_the_help_tells_the_limit_once(run: Run) -> None:
    for command in ("ratings", "games", "runs", "log"):
        told = run(command, "--help").out
        assert "--limit N" in told
        assert "0: all." in " ".join(told.split())
        assert "--last" not in told
    assert limits.EVERY_ROW < 2**63  # for SQLite


@pytest.mark.parametrize(
    "question", [["predict", "ann", "bob"], ["show", "ann"], ["ratings"], ["games", "ann"], ["pools"]]
)
@pytest.mark.parametrize("fmt", ["--csv", "--tsv"])
def test_a_number_is_the_same_number_in_every_format(
    question: list[str], fmt: str, sample_club: Path, run: Run
) -> None:
    told = json.loads(run(question[0], sample_club, *question[1:]).out)
    expected = told if isinstance(told, list) else [in_columns(told)]
    text = run(question[0], sample_club, *question[1:], fmt).out
    rows = list(csv.DictReader(io.StringIO(text), dialect="excel" if fmt == "--csv" else "excel-tab"))
    assert len(rows) == len(expected)
    for row, answer in zip(rows, expected, strict=True):
        for name, value in answer.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert type(value)(row[name]) == value
    lines = [json.loads(line) for line in run(question[0], sample_club, *question[1:], "--nl").out.splitlines()]
    assert lines == (told if isinstance(told, list) else [told])


def test_what_a_result_would_bring_is_numbers_for_programs(sample_club: Path, run: Run) -> None:
    (row,) = csv.DictReader(io.StringIO(run("predict", sample_club, "ann", "bob", "--csv").out))
    told = json.loads(run("predict", sample_club, "ann", "bob").out)
    assert float(row["win_change"]) == told["win"]["change"]
    assert float(row["loss_rating"]) == told["loss"]["rating"]


def test_csv_names_each_part_of_a_state_and_a_table_leaves_the_schemes_counting_out(
    sample_club: Path, run: Run
) -> None:
    told = json.loads(run("show", sample_club, "ann").out)
    (row,) = csv.DictReader(io.StringIO(run("show", sample_club, "ann", "--csv").out))
    parts = {name.removeprefix("state_"): float(text) for name, text in row.items() if name.startswith("state_")}
    assert parts == told["state"]
    lines = dict(line.split(maxsplit=1) for line in run("show", sample_club, "ann", "-t").out.splitlines())
    assert not [name for name in lines if name.startswith("state")]
    assert not [text for text in lines.values() if text.startswith(("{", "["))]


def test_defaults_of_settings_are_numbers_and_whole_in_a_table(run: Run) -> None:
    rows = json.loads(run("scheme", "show", "glicko2").out)["settings"]
    assert {type(row["default"]) for row in rows if row["unit"] not in {"word", "pool", "federation"}} <= {
        int,
        float,
        bool,
    }
    tau = next(row for row in rows if row["setting"] == "tau")
    (line,) = [line for line in run("scheme", "show", "glicko2", "-t").out.splitlines() if line.startswith("tau ")]
    assert float(line.split()[1]) == tau["default"]


def test_the_log_of_the_sample_is_whole_for_programs(sample_club: Path, run: Run) -> None:
    assert len(run("log", sample_club, "--nl").out.splitlines()) == SAMPLE_ENTRIES
