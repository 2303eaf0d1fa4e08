"""The commands ``imports`` and ``take-back``: what they print, what they refuse, and a file that comes corrected."""

import json
from pathlib import Path

import pytest

from tests.kit.commands import Run

ROWS = (
    "white,black,result,ended_at,half_moves,tournament\nAnn,Bob,{},2024-05-01,40,Cup\nCleo,Ann,0-1,2024-05-02,40,Cup\n"
)
TRF = (
    "012 Open\n042 2024/06/01\n052 2024/06/02\n"
    "001    1      Emil                              0000                             1.5    1  "
    "   2 w 1  0000 - H\n"
    "001    2      Fred                              0000                             0.0    2  "
    "   1 b 0         \n"
)


@pytest.fixture
def journal(tmp_path: Path, run: Run) -> Path:
    """A journal with one import."""
    path = tmp_path / "club.db"
    assert run("init", path, "--scheme", "elo").code == 0
    (tmp_path / "may.csv").write_text(ROWS.format("1-0"))
    assert run("import", path, tmp_path / "may.csv").code == 0
    return path


def states(journal: Path, run: Run) -> list[tuple[int, str, str, int | None]]:
    rows = json.loads(run("imports", journal).out)
    return [(row["number"], row["file"], row["state"], row["proposal"]) for row in rows]


def test_imports_are_listed_with_what_they_brought_and_their_state(journal: Path, run: Run) -> None:
    (row,) = json.loads(run("imports", journal).out)
    assert {**row, "recorded_at": ""} == {
        "number": 1, "file": "may.csv", "recorded_at": "", "by": "import", "games": 2, "byes": 0, "players": 3,
        "supplements": 0, "tournaments": 0, "statements": 0, "entries": "2-6", "state": "recorded", "proposal": None,
    }  # fmt: skip
    table = run("imports", journal, "-t").out
    assert "may.csv" in table
    assert run("imports", journal, "--csv").out.startswith("number,file,recorded_at")


def test_an_import_is_previewed_taken_back_and_imported_corrected(journal: Path, tmp_path: Path, run: Run) -> None:
    dry = run("take-back", journal, "1", "--dry-run")
    assert (dry.code, "3 ratings would change" in dry.out, "dry run: nothing was recorded" in dry.err) == (
        0,
        True,
        True,
    )
    assert "may.csv (2-6): 2 games, 0 byes, 3 players would go" in dry.err
    assert states(journal, run) == [(1, "may.csv", "recorded", None)]
    done = run("take-back", journal, "1", "--reason", "the wrong file", "--by", "eve")
    assert (done.code, done.out.startswith("proposal 1 is open")) == (0, True)
    assert states(journal, run) == [(1, "may.csv", "proposed", 1)]
    assert run("correct", journal, "approve", "1", "--by", "adam").code == 0
    assert states(journal, run) == [(1, "may.csv", "taken back", 1)]
    assert json.loads(run("ratings", journal).out) == []
    (tmp_path / "right.csv").write_text(ROWS.format("0-1"))
    imported = run("import", journal, tmp_path / "right.csv")
    assert (imported.code, "2 games recorded, 0 known already" in imported.err) == (0, True)
    assert len(json.loads(run("ratings", journal).out)) == 3
    assert states(journal, run)[1] == (2, "right.csv", "recorded", None)
    assert run("audit", journal).code == 0


def test_a_report_of_a_tournament_comes_back_with_its_byes_and_days(journal: Path, tmp_path: Path, run: Run) -> None:
    report = tmp_path / "open.trf"
    report.write_text(TRF)
    assert run("import", journal, report, "--open-tournaments").code == 0
    row = json.loads(run("imports", journal).out)[-1]
    assert [row[name] for name in ("games", "byes", "players", "tournaments", "statements")] == [1, 1, 2, 1, 2]
    dry = run("take-back", journal, "2", "--dry-run")
    assert "1 game, 1 bye, 2 players, 2 statements, the days of 'Open' would go" in dry.err
    run("take-back", journal, "2", "--reason", "wrong", "--by", "eve")
    assert run("correct", journal, "approve", "1", "--by", "adam").code == 0
    tables = ("openings", "rounds_without_game", "entrants")
    assert [run("query", journal, f"SELECT count(*) AS n FROM {table}").out.strip() for table in tables] == [
        '[{"n": 0}]'
    ] * 3
    report.write_text(TRF.replace("- H", "- F").replace(" 1.5 ", " 2.0 "))
    assert run("import", journal, report, "--open-tournaments").code == 0
    assert json.loads(run("imports", journal).out)[-1]["tournaments"] == 1
    brings = json.loads(run("query", journal, "SELECT brings FROM rounds_without_game").out)
    assert brings == [{"brings": "full"}]
    assert json.loads(run("query", journal, "SELECT starts_at FROM openings").out) == [
        {"starts_at": "2024-06-01T00:00:00Z"}
    ]
    assert run("import", journal, report, "--open-tournaments").code == 0
    assert len(states(journal, run)) == 3, "all of it is known"
    assert run("audit", journal).code == 0


@pytest.mark.parametrize(("reference", "words"), [
    ("9", "no import '9' in this ledger; the register has imports 1 to 1; see 'imports'"),
    ("may.csv", "expected the number of an import, or entries such as 12-80, got 'may.csv'"),
    ("5-2", "spans in ascending order"),
    ("2-99", "the journal holds entries 1 to 6, and none up to 99"),
    ("1-6", "nothing"),
])  # fmt: skip
def test_what_cannot_be_taken_back_is_refused_in_a_line(reference: str, words: str, journal: Path, run: Run) -> None:
    done = run("take-back", journal, reference, "--reason", "x", "--by", "eve")
    if reference == "1-6":  # the first entry is the pool's scheme, which stays: its games go
        assert done.code == 0
        assert "pool 'standard', which it began, stays without its games" in done.err
        return
    assert (done.code, words in done.err) == (1, True), done.err


def test_what_was_taken_back_is_not_taken_back_twice(journal: Path, run: Run) -> None:
    run("take-back", journal, "1", "--reason", "x", "--by", "eve")
    run("correct", journal, "approve", "1", "--by", "adam")
    again = run("take-back", journal, "1", "--reason", "x", "--by", "eve")
    assert (again.code, "entries 2-6 were taken back by proposal 1 already" in again.err) == (1, True)
