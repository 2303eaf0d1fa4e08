"""The rows of a file that have faults: named with their faults, and importable again once they are corrected."""

import csv
import io
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ledger.imports import faulty_rows
from ledger.imports.faulty_rows import FaultyRows, read_faulty_rows
from ledger.imports.files import open_source, wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.reading import FileHints
from tests.kit.source_files import written
from tests.kit.workbooks import xlsx

TABLE = (
    "Our season\n"
    "Weiß;black;result;date;event\n"
    'Ann;Bob;1-0;2024-01-01;"Cup,\nnorth"\n'
    'Ann;Bob;2-0;2024-01-41;"Cup,\nnorth"\n'
    "Ann;;1-0;2024-01-01;x\n"
    "Ann;Bob;1-0;2024-01-01;x;y;z\n"
    'Ann;"Bo"b;1-0;2024-01-01;x\n'
    "Ann;Cleo;1-0;2024-01-02;x\n"
).encode("cp1252")
HINTS = FileHints(headings={"white": "Weiß"})
GAME = '[Event "x"]\n[White "A"]\n[Black "B"]\n[Date "2024.12.{}"]\n[Result "1-0"]\n\n1. e4 {} 1-0\n'


def read(content: bytes, fmt: str, hints: FileHints | None = None) -> tuple[int, FaultyRows]:
    """Return how many games of a file are good, and its rows with faults."""
    hints = hints or FileHints()
    source = wrap_file(io.BytesIO(content), "may")
    games = sum(len(frame) for frame in read_game_frames(source, fmt, hints))
    return games, read_faulty_rows(wrap_file(io.BytesIO(content), "may"), fmt, source.reading.faults, hints)


def test_a_row_of_a_table_has_its_line_columns_values_faults_and_cells() -> None:
    games, faulty = read(TABLE, "csv", HINTS)
    assert games == 2
    assert [(row.line, row.columns, row.values) for row in faulty.rows] == [
        (5, ("date", "result"), ("2024-01-41", "2-0")),
        (7, ("black",), ("",)),
        (8, (), ()),
        (9, (), ()),
    ]
    assert faulty.rows[0].cells == ("Ann", "Bob", "2-0", "2024-01-41", "Cup,\nnorth")
    assert faulty.rows[3].cells == ('Ann;"Bo"b;1-0;2024-01-01;x',), "its quotes part no cells"
    table = list(csv.reader(io.StringIO(faulty.as_table("may.csv")), delimiter=";"))
    assert table[0] == ["file", "line", "column", "value", "fault", "Weiß", "black", "result", "date", "event"]
    assert table[1][:4] == ["may.csv", "5", "date; result", "2024-01-41; 2-0"]


def test_a_corrected_table_of_faults_is_imported_and_what_is_still_wrong_comes_again() -> None:
    _, faulty = read(TABLE, "csv", HINTS)
    corrected = faulty.as_table("may.csv").replace(";2-0;2024-01-41;", ";1-0;2024-01-04;").encode()
    games, again = read(corrected, "csv", HINTS)
    assert games == 1
    assert [row.cells[5:7] for row in again.rows[:1]] == [("Ann", "")]
    assert again.as_table("may").splitlines()[0] == faulty.as_table("may").splitlines()[0], "no column comes twice"
    assert again.rows[0].columns == ("black",)


def test_the_rows_alone_are_a_file_of_the_same_format() -> None:
    _, faulty = read(TABLE, "csv", HINTS)
    rows = faulty.as_file()
    assert rows is not None
    assert rows.startswith('Weiß;black;result;date;event\nAnn;Bob;2-0;2024-01-41;"Cup,\nnorth"\nAnn;;1-0;')
    games, again = read(rows.replace("2-0;2024-01-41", "1-0;2024-01-04").encode(), "csv", HINTS)
    assert (games, len(again.rows)) == (1, 3)


def test_games_of_a_pgn_are_named_with_their_tags() -> None:
    content = "\n".join((GAME.format("01", "e5"), GAME.format("41", "e5"), GAME.format("02", "zz9")))
    games, faulty = read(content.encode(), "pgn")
    assert games == 1
    assert [(row.line, row.columns, row.values) for row in faulty.rows] == [
        (9, ("Date",), ("2024.12.41",)),
        (17, (), ()),
    ]
    rows = faulty.as_file()
    assert rows is not None
    assert read(rows.replace("12.41", "12.03").replace("zz9", "e5").encode(), "pgn")[0] == 2
    table = list(csv.reader(io.StringIO(faulty.as_table("may.pgn"))))
    assert (table[0][5], table[1][5]) == ("row", GAME.format("41", "e5").strip())


@pytest.mark.parametrize(
    ("content", "fmt", "columns"),
    [
        (b'{"id":"abcdefgh"}\n{"b":2\n', "lichess-ndjson", [(), ()]),
        (b'{"games":[{"url":"x"},{"url":"y"}]}', "chess-com", [("$.games[0]",), ("$.games[1]",)]),
    ],
    ids=str,
)
def test_rows_of_json_keep_their_text(content: bytes, fmt: str, columns: list[tuple[str, ...]]) -> None:
    _, faulty = read(content, fmt)
    assert [row.columns for row in faulty.rows] == columns
    rows = faulty.as_file()
    assert rows is not None
    assert all(row.text in content.decode() for row in faulty.rows)
    assert len(read(rows.encode(), fmt)[1].rows) == 2


def test_what_is_no_table_and_a_line_of_a_report_cannot_be_imported_alone() -> None:
    _, letter = read(b"Dear Sir\nthank you\n", "csv")
    assert (letter.as_file(), letter.rows[0].cells) == (None, ("Dear Sir",))
    _, report = read(b"012 Open\n001    x m    Ann\n", "trf")
    assert report.rows
    assert report.as_file() is None


def test_rows_of_a_sheet_tell_their_columns_by_letters_and_come_back_as_text(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    good = ["Ann", "Bob", "1-0", date(2024, 5, 4), "Cup, north"]
    rows: list[list[Any]] = [["Season"], [], [None, "Weiß", "Schwarz", "Ergebnis", "Datum", "Turnier"], [None, *good]]
    rows += [[None, *good[:2], "2-0", *good[3:]]]
    path = written(tmp_path, "liga.xlsx", xlsx({"Runde 1": rows, "Runde 2": [["x"]]}))
    with open_source(str(path), sheet="Runde 1") as source:
        assert sum(map(len, read_game_frames(source, "csv"))) == 1
    with open_source(str(path), sheet="Runde 1") as again:
        faulty = read_faulty_rows(again, "csv", source.reading.faults)
    (row,) = faulty.rows
    assert (row.line, row.columns, row.values) == (5, ("Ergebnis (column D)",), ("2-0",))
    table = faulty.as_table("liga.xlsx[Runde 1]").replace(",2-0,2024", ",0-1,2024")
    assert 'liga.xlsx[Runde 1],5,Ergebnis (column D),2-0,"Ergebnis (column D) must be ' in table
    assert read(table.encode(), "csv")[0] == 1
    text = faulty.as_file()
    assert text is not None
    assert read(text.replace("2-0", "0-1").encode(), "csv")[0] == 1


def test_rows_of_a_cross_table_and_of_pairings_are_named_and_not_imported_alone() -> None:
    cross_table = (
        "Open\nDate : 2024/05/04\nNo.;Name;Rtg;1.Rd;2.Rd\n1;Ann;x;2w1;3b1\n2;Bob;1500;1b0;-1\n3;Cy;1500;-1;1w0\n"
    )
    _, faulty = read(cross_table.encode(), "crosstable")
    assert faulty.rows[0].cells == ("1;Ann;x;2w1;3b1",)
    assert faulty.as_file() is None
    pairings = "Round 1 on 2024/05/04\nBo.;Name;Result;Name\n1;Ann;2 - 0;Bob\n2;Cy;1 - 0;Dan\n"
    games, faulty = read(pairings.encode(), "pairings")
    assert (games, [(row.line, row.cells) for row in faulty.rows]) == (1, [(3, ("1;Ann;2 - 0;Bob",))])
    assert faulty.as_file() is None


def test_rows_without_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty_rows, "MOST_TEXT", 60)
    _, faulty = read(TABLE, "csv", HINTS)
    assert (len(faulty.rows), faulty.left_out) == (2, 2)


def test_a_cell_of_a_foreign_file_is_no_formula_and_a_result_stays_one() -> None:
    content = b"white,black,result,date,event\n=cmd|'/c calc'!A1,Bob,-/+,2024-13-01,-\n"
    (row,) = csv.reader(read(content, "csv")[1].as_table("may").splitlines()[1:])
    assert row[5:] == ["'=cmd|'/c calc'!A1", "Bob", "-/+", "2024-13-01", "-"]
