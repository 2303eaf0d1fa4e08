"""Workbooks of Excel and LibreOffice through the CSV readers: cells, sheets, places of faults, limits, damage."""

from collections.abc import Callable
from datetime import date, datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import StorageError
from ledger.imports import spreadsheet_process, spreadsheets
from ledger.imports.csv.header import column_letters
from ledger.imports.files import detect_format, open_source
from ledger.imports.formats import read_game_frames
from ledger.imports.players import formats as player_lists
from ledger.imports.reading import FileHints, Reading
from tests.kit.commands import Run
from tests.kit.source_files import read_csv, written
from tests.kit.workbooks import Rows, Sheets, ods, xlsx

pytest.importorskip("python_calamine")

HEADER = ["white", "black", "result", "date", "round", "white_elo"]
GAMES: list[list[Any]] = [
    ["Müller, Jörg", 'Ann "A" Lee', "1-0", date(2024, 5, 4), 1.0, 1834.0],
    ["Bob", "Cy", 0.5, datetime(2024, 5, 4, 19, 30, 15), "2", None],
    ["Zoë\nLine", "=SUM(A1)", time(0, 1), datetime(2024, 5, 5), 3, "2100"],
]
WRITERS: dict[str, Callable[[Sheets], bytes]] = {".xlsx": xlsx, ".ods": ods}


def read(path: Path, sheet: str | None = None, **said: Any) -> tuple[list[dict[str, Any]], Reading]:
    with open_source(str(path), sheet=sheet) as source:
        fmt = detect_format(source.first, str(path))
        assert fmt == "csv"
        return [row for f in read_game_frames(source, fmt, FileHints(**said)) for row in f.to_dicts()], source.reading


@pytest.mark.parametrize("kind", WRITERS)
def test_a_sheet_gives_the_games_of_its_csv(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"liga{kind}", WRITERS[kind]({"Games": [HEADER, *GAMES]}))
    games, reading = read(path)
    text = (
        "white;black;result;date;round;white_elo\n"
        'Müller, Jörg;"Ann ""A"" Lee";1-0;2024-05-04;1;1834\n'
        "Bob;Cy;0.5;2024-05-04 19:30:15;2;\n"
        "Zoë Line;=SUM(A1);00:01;2024-05-05;3;2100\n"
    )
    assert (games, reading.faults) == (read_csv(text)[0], [])
    assert [game["outcome"] for game in games] == ["white", "draw", "black"]
    assert (reading.sheet, reading.place, reading.bytes_read) == ("Games", f"{path}[Games]", path.stat().st_size)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_fault_names_sheet_row_and_column(kind: str, run: Run, tmp_path: Path) -> None:
    rows: Rows = [
        ["Club championship"],
        [],
        [None, *HEADER],
        [None, *GAMES[0]],
        [None, "Bob", "Cy", "2-0", "May", 1, "x"],
    ]
    path = written(tmp_path, f"liga{kind}", WRITERS[kind]({"Runde 1": rows}))
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", path)
    assert done.code == 1
    assert f"{path}[Runde 1]:5: error: result (column D) must be 1-0, 0-1" in done.err
    assert f"{path}[Runde 1]:5: error: date (column E) must be YYYY" in done.err
    assert f"{path}[Runde 1]:5: error: white_elo (column G) must be a whole number" in done.err
    assert f"{path}[Runde 1] (csv): 1 game recorded, 0 known already, 2 new players" in done.err
    strict = run("import", tmp_path / "club.db", path, "--strict")
    assert (strict.code, "nothing recorded (--strict)" in strict.err) == (1, True)


def test_letters_of_columns() -> None:
    assert [column_letters(place) for place in (0, 25, 26, 701, 702, 16_383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


def test_a_sheet_is_chosen_by_name_and_must_be_where_several_have_cells(run: Run, tmp_path: Path) -> None:
    sheets = {"Runde 1": [HEADER, GAMES[0]], "Runde 2": [HEADER, GAMES[1]], "Notes": []}
    path = written(tmp_path, "liga.xlsx", xlsx(sheets))
    assert read(path, "Runde 2")[0][0]["white_name"] == "Bob"
    assert read(path, "runde 1 ")[0][0]["white_name"] == "Müller, Jörg"
    assert run("init", tmp_path / "club.db").code == 0
    several = run("import", tmp_path / "club.db", path)
    assert (several.code, several.err) == (
        1,
        f"error: {path}: has 2 sheets with cells, 'Runde 1', 'Runde 2': say which with --sheet\n",
    )
    missing = run("import", tmp_path / "club.db", path, "--sheet", "Runde 3")
    assert f"{path}: has no sheet 'Runde 3', but 'Runde 1', 'Runde 2', 'Notes'" in missing.err
    assert run("import", tmp_path / "club.db", path, "--sheet", "Runde 2").code == 0


def test_several_sheets_are_imported_at_once_and_all_are_looked_at_before(run: Run, tmp_path: Path) -> None:
    sheets = {"R 1": [HEADER, GAMES[0]], "R 2": [HEADER, GAMES[1]], "Notes": [], "R 3": [HEADER, GAMES[2]]}
    path = written(tmp_path, "season.xlsx", xlsx(sheets, hidden=["R 3"]))
    assert run("init", tmp_path / "club.db").code == 0
    wrong = run("import", tmp_path / "club.db", path, "--sheet", "R 1", "--sheet", "R 9")
    assert (wrong.code, "has no sheet 'R 9'" in wrong.err, "nothing was recorded" in wrong.err) == (1, True, True)
    look = run("import", tmp_path / "club.db", path, "--sheet", "*", "--dry-run")
    assert (look.code, f"{path}[R 2] (csv, dry run): 1 game recorded" in look.err) == (0, True)
    done = run("import", tmp_path / "club.db", path, "--sheet", "*", "--sheet", "R 3", "--sheet", "R 1")
    assert [f"{path}[{name}] (csv): 1 game recorded" in done.err for name in ("R 1", "R 2", "R 3")] == [True] * 3
    assert done.err.count("[R 1]") == 1
    text = written(tmp_path, "liga.csv", b"white,black,result,date\n")
    assert "leave --sheet out" in run("import", tmp_path / "club.db", text, "--sheet", "*").err
    assert "cannot be read" in run("import", tmp_path / "club.db", tmp_path / "none.xlsx", "--sheet", "*").err


def test_the_only_sheet_with_cells_is_read_and_hidden_ones_by_name_alone(tmp_path: Path) -> None:
    sheets = {"old": [HEADER, GAMES[0]], "now": [HEADER, GAMES[1]], "Sheet3": []}
    path = written(tmp_path, "liga.xlsx", xlsx(sheets, hidden=["old"]))
    assert read(path)[1].sheet == "now"
    assert read(path, "old")[0][0]["white_name"] == "Müller, Jörg"
    nothing = written(tmp_path, "empty.ods", ods({"Sheet1": []}))
    assert read_any(nothing)[1].faults == [(1, "has no cells in the sheet 'Sheet1'")]
    with pytest.raises(StorageError, match="is no spreadsheet, so that it has no sheet 'now': leave --sheet out"):
        read(written(tmp_path, "liga.csv", b"white,black\n"), "now")


def test_a_result_that_became_a_day_or_a_day_that_became_a_number_is_explained(tmp_path: Path) -> None:
    rows: Rows = [HEADER, ["Ann", "Bob", date(2024, 2, 1), date(2024, 5, 4)], ["Ann", "Bob", "1-0", 45416]]
    _, reading = read(written(tmp_path, "liga.xlsx", xlsx({"A": rows})))
    assert [fault.message for fault in reading.faults] == [
        "result (column C) is a day, for which a spreadsheet takes 1/2: write ½ or 0.5 there, in a cell of text, or a "
        "word that --result gives a meaning, such as --result Sieg=1-0; got '2024-02-01'",
        "date (column D) is a number, by which a spreadsheet means 2024-05-04: give its cells a format of dates; got "
        "'45416'",
    ]


@pytest.mark.parametrize(("text", "outcome"), [("01:00", "white"), ("1:00:00", None), ("00:01", "black")])
def test_scores_that_became_times_of_the_day_are_read_in_csv_too(text: str, outcome: str | None) -> None:
    games, faults, _ = read_csv(f"white,black,result,date\nAnn,Bob,{text},2024\n")
    assert [game["outcome"] for game in games] == ([outcome] if outcome else [])
    assert bool(faults) == (outcome is None)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_list_of_players_may_be_a_sheet(kind: str, run: Run, tmp_path: Path) -> None:
    rows: Rows = [["fide_id", "name", "rating", "birth_date"], [1503014, "Carlsen, Magnus", 2839.0, date(1990, 11, 30)]]
    faulty = [2, "Bad", -3, None]
    path = written(tmp_path, f"list{kind}", WRITERS[kind]({"May": rows, "June": [*rows, faulty]}))
    with open_source(str(path), sheet="May") as source:
        (frame,) = player_lists.read_players(source, player_lists.detect_format(source.first), "standard", None)
    row = frame.to_dicts()[0]
    assert [row[name] for name in ("identity", "rating", "birth_year")] == ["fide:1503014", "2839", 1990]
    assert run("init", tmp_path / "club.db").code == 0
    bad = run("players", "import", tmp_path / "club.db", path, "--sheet", "June", "--since", "2024-06-01")
    assert (bad.code, f"{path}[June]:3: error: rating (column C) must be a number above 0" in bad.err) == (1, True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04" + b"xl/" * 40, "is no workbook that can be read"),
        (xlsx({"A": [HEADER, *GAMES]})[:900], "is no workbook that can be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is no workbook that can be read"),
        (xlsx({"A": [[None] * 1_200 + ["x"]]}), "has 1,201 columns in the sheet 'A', more than 1,000, the limit"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_nothing_is_recorded(
    content: bytes, words: str, run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, "liga.xlsx", content)
    assert run("init", tmp_path / "club.db").code == 0
    before = run("head", tmp_path / "club.db").out
    done = run("import", tmp_path / "club.db", path)
    assert (done.code, words in done.err) == (1, True), done.err
    assert run("head", tmp_path / "club.db").out == before


def test_two_cells_at_opposite_corners_cost_no_memory(tmp_path: Path) -> None:
    sheet = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = written(tmp_path, "far.xlsx", xlsx({"A": []}, body=sheet))
    _, reading = read_any(path)
    assert "cannot be read with at most 2 GiB of memory" in reading.faults[0].message


def read_any(path: Path) -> tuple[bytes, Reading]:
    with open_source(str(path)) as source:
        return b"".join(source.chunks()), source.reading


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = written(tmp_path, "liga.xlsx", xlsx({"A": [HEADER, *GAMES]}))
    monkeypatch.setattr(spreadsheets, "find_spec", lambda name: None if name == "python_calamine" else find_spec(name))
    with pytest.raises(StorageError, match=r"pip install 'rating-ledger\[spreadsheets\]', or save the sheet as CSV"):
        read(path)


def test_numbers_are_shown_as_spreadsheets_show_them() -> None:
    shown = spreadsheet_process.cell_text
    assert [shown(value) for value in (2400.0, 0.1 + 0.2, -3.0, 1e20, True, time(19, 30), time(1, 2, 3))] == [
        "2400", "0.3", "-3", "1e+20", "TRUE", "19:30", "01:02:03",
    ]  # fmt: skip
