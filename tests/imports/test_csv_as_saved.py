"""Tables as LibreOffice and Excel save them: titles above the header, sums below, years of two digits, their days."""

import codecs
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ledger.errors import StorageError
from ledger.imports.csv import values
from ledger.imports.csv.header import parse_headings
from ledger.imports.csv.rows import BATCH_CSV
from ledger.imports.files import detect_format, open_source
from ledger.imports.formats import read_game_frames
from ledger.imports.players.rows import PlayerConverter
from ledger.imports.reading import FileHints
from tests.kit.commands import Run
from tests.kit.source_files import FOUR_COLUMNS, good_game, read_csv, written

LEAGUE = "Weiß;Schwarz;Ergebnis;Datum\nMüller, Jörg;Ann;½\u2010½;13.05.24\nBob;Cy;0:1;04.05.24\n;;;\n"
HEADINGS = parse_headings(["white=Weiß", "black=Schwarz", "result=Ergebnis", "date=Datum"])


def table(**options: Any) -> dict[str, Any]:
    return {"headings": HEADINGS, "dates": "dmy", "equal_rows": False, **options}


@pytest.mark.parametrize("size", [7, BATCH_CSV])
@pytest.mark.parametrize(
    "above", ["Liga 2024\n", "Vereinsmeisterschaft;;;\n;;;\nRunde 1;;;\n", "Spieler;;Partie;\n", "Datum;13.05.24\n"]
)
def test_titles_above_a_table_are_passed_over(above: str, size: int) -> None:
    games, faults, _ = read_csv(above + LEAGUE, size, **table())
    assert faults == []
    lines = above.count("\n")
    found = [(game["line"] - lines, game["ended_at"]) for game in games]
    assert found == [(2, "2024-05-13"), (3, "2024-05-04")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "windows-1252", "utf-16"])
def test_a_title_without_dividers_does_not_hide_the_table(encoding: str, tmp_path: Path) -> None:
    text = "Vereinsmeisterschaft 2024\n\n" + LEAGUE.replace("\u2010", "-")
    content = text.replace("\n", "\r\n").encode(encoding)
    said = FileHints(dates="dmy", headings=HEADINGS)
    with open_source(str(written(tmp_path, "liga.csv", content))) as source:
        (frame,) = read_game_frames(source, detect_format(source.first), said)
    assert frame["black_name"].to_list() == ["Ann", "Cy"]
    assert source.reading.faults == []
    (note,) = source.reading.notes
    assert note.message == "the columns are named on line 3; what stands above is passed over"


def test_a_wrong_header_is_no_title() -> None:
    games, faults, _ = read_csv("white;black;note\nAnn;Bob;x\nwhite;black;result;date\nAnn;Bob;1-0;2024\n")
    assert games == []
    assert [line for line, _ in faults] == [1]
    assert "there is no column 'result'" in faults[0][1]
    assert "The header is: white, black, note" in faults[0][1]


def test_without_a_header_near_the_top_the_first_line_is_blamed() -> None:
    _, faults, _ = read_csv("Title\n" * 30 + FOUR_COLUMNS + "Ann,Bob,1-0,2024\n")
    assert [line for line, _ in faults] == [1]
    assert "The header is: Title" in faults[0][1]


@pytest.mark.parametrize("size", [7, BATCH_CSV])
@pytest.mark.parametrize("total", ["Summe;;15,5;", ";;2;", ";;1;", "Total;;2;", ";Partien;7½;", ";;;", ";; 2.0 ;"])
def test_sums_are_no_games(total: str, size: int) -> None:
    games, faults, skipped = read_csv(f"{LEAGUE}{total}\n", size, **table())
    assert (len(games), faults) == (2, [])
    assert sum(skipped.values()) == (0 if total == ";;;" else 1)


@pytest.mark.parametrize("row", ["Ann;;1;", "Ann;;1-0;", ";;1-0;", "Ann;Bob;2;", "Ann;;2;13.05.24", ";;abc;"])
def test_a_game_with_something_forgotten_is_no_sum(row: str) -> None:
    games, faults, skipped = read_csv(f"{LEAGUE}{row}\n", **table())
    assert (len(games), bool(faults), dict(skipped)) == (2, True, {})
    assert {line for line, _ in faults} == {5}


WIDE = """Round,White,WhiteElo,Black,BlackElo,Result,Date,Moves
1,Ann,1500,Bob,1600,1-0,2024-05-04,31
1,Cy,1400,Dee,1300,1/2-1/2,2024-05-04,44
"""
# What stands below a table, in its columns: sums, averages, counts, notes, and empty lines between them.
BELOW: dict[str, tuple[str, int]] = {
    "a sum": ("Total,,,,,2,,\n", 1),
    "a sum of several columns": (",Sum,2900,,2900,1.5,,75\n", 1),
    "an average": (",Average,1450,,1450,0.75,,37.5\n", 1),
    "an average in columns that are not read": (",,1450.5,,1450.5,,,37.5\n", 0),
    "a share": (",White's score,,,,75 %,,\n", 1),
    "a number with marks of thousands": (',Points,,,,"1.250,5",,\n', 1),
    "a sum and an average": (",Sum,2900,,2900,1.5,,75\n,Average,1450,,1450,0.75,,37.5\n", 2),
    "empty lines": ("\n,,,,,,,\n   \n , , , , , , , \n", 0),
    "empty lines and a sum below them": (",,,,,,,\n\nTotal,,,,,2,,\n,,,,,,,\n", 1),
    "a note": (",Played at the club,,,,,,\n", 1),
    "a note in the first column": ("* adjourned and finished on Sunday,,,,,,,\n", 1),
    "notes of several lines": (",,,,,,,\n* a,,,,,,,\n** b,,,,,,,\n", 2),
    "a note with the day of the table": ("Printed on,,,,,,2024-05-05,\n", 1),
}
# What a sum could be taken for, and what a game becomes where something is forgotten or mistyped.
WRONG: dict[str, tuple[str, str]] = {
    "no black": ("2,Ann,1500,,,1-0,2024-05-05,20\n", "black is missing"),
    "no white": ("2,,,Bob,1600,1,2024-05-05,20\n", "white is missing"),
    "no day": ("2,Ann,1500,Bob,1600,1-0,,20\n", "the date of the game is missing"),
    "nobody, but a result": ("2,,,,,1-0,,20\n", "white is missing"),
    "a number for a result": ("2,Ann,1500,Bob,1600,2,2024-05-05,20\n", "Result must be"),
    "a number for a result, without a day": ("2,Ann,1500,Bob,1600,2,,20\n", "Result must be"),
    "a number for a result, without an opponent": ("2,Ann,1500,,,2,2024-05-05,20\n", "Result must be"),
    "a word for a result": ("2,Ann,1500,Bob,1600,won,2024-05-05,20\n", "Result must be"),
    "no player, and a word for a result": (",,,,,won,,\n", "Result must be"),
    "no day that there is": ("2,Ann,1500,Bob,1600,1-0,2024-05-35,20\n", "2024-05-35"),
    "half a row": ("2,Ann,1500\n", "too few fields"),
    "too much": ("2,Ann,1500,Bob,1600,1-0,2024-05-05,20,x\n", "too many fields"),
}


@pytest.mark.parametrize("size", [7, BATCH_CSV])
@pytest.mark.parametrize("kind", BELOW)
def test_what_stands_below_a_table_is_no_fault_and_is_counted(kind: str, size: int) -> None:
    below, rows = BELOW[kind]
    for text in (WIDE + below, WIDE + below.rstrip("\n"), (WIDE + below).replace("\n", "\r\n")):
        games, faults, skipped = read_csv(text, size)
        assert (len(games), faults) == (2, [])
        assert skipped == ({"rows without a game": rows} if rows else {})


@pytest.mark.parametrize("size", [7, BATCH_CSV])
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_row_is_a_fault_wherever_it_stands(kind: str, size: int) -> None:
    row, words = WRONG[kind]
    for below in ("", "Total,,,,,2,,\n", ",,,,,,,\n,Average,1450,,1450,0.75,,37.5\n"):
        games, faults, skipped = read_csv(WIDE + row + below, size)
        assert len(games) == 2
        assert {line for line, _ in faults} == {4}
        assert any(words in message for _, message in faults)
        assert skipped == ({"rows without a game": 1} if below else {})
        games, faults, _ = read_csv(WIDE + below + row, size)  # behind a sum, too: a table may go on below it
        assert len(games) == 2
        assert {line for line, _ in faults} == {4 + below.count("\n")}


def test_a_game_below_a_sum_is_read() -> None:
    games, faults, skipped = read_csv(f"{WIDE}Total,,,,,2,,\n,,,,,,,\n2,Ann,1500,Cy,1400,0-1,2024-05-05,20\n")
    assert ([game["line"] for game in games], faults) == ([2, 3, 6], [])
    assert skipped == {"rows without a game": 1}


@pytest.mark.parametrize("kind", BELOW)
def test_a_table_with_something_below_it_is_imported_whole(kind: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text(WIDE + BELOW[kind][0])
    assert run("init", tmp_path / "club.db").code == 0
    done = run("import", tmp_path / "club.db", tmp_path / "games.csv", "--strict")
    assert (done.code, "2 games recorded" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("text", "order", "instant"),
    [
        ("13.05.24", "dmy", "2024-05-13"),
        ("05/13/99", "mdy", "1999-05-13"),
        ("4-5-70", "dmy", "1970-05-04"),
        ("1-May-24", "dmy", "2024-05-01"),
        ("13-May-2024", None, "2024-05-13"),
        ("May 4, 2024", None, "2024-05-04"),
        ("2024/05/04", None, "2024-05-04"),
        ("2024-5-4", None, "2024-05-04"),
        ("2024-05-04 19:30", None, "2024-05-04T19:30:00Z"),
        ("5/13/2024 7:30 PM", None, "2024-05-13T19:30:00Z"),
        ("5/13/2024 12:05:09 am", None, "2024-05-13T00:05:09Z"),
        ("13.05.24 19:30", "dmy", "2024-05-13T19:30:00Z"),
    ],
)
def test_days_as_spreadsheets_show_them(text: str, order: str | None, instant: str) -> None:
    assert values.parse_instant(text, order) == instant


@pytest.mark.parametrize(
    ("text", "order", "words"),
    [
        ("13.05.24", None, "has a year of two digits: write YYYY-MM-DD, or say by --dates dmy or --dates mdy"),
        ("13-May-24", None, "has a year of two digits"),
        ("13.05.24", "mdy", "has the month 13 with --dates mdy"),
        ("5/13/2024 13:00 PM", None, "is no time that exists"),
        ("5/13/2024 0:30 AM", None, "is no time that exists"),
        ("2024-05 19:30", None, "must be YYYY"),
        ("4 mai 2024", None, "must be YYYY"),
        ("31-Feb-2024", None, "must be YYYY"),
    ],
)
def test_days_that_are_not_guessed(text: str, order: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        values.parse_instant(text, order)


@pytest.mark.parametrize("dash", ["-", "–", "—", "\u2010", "\u2011", "−"])
def test_every_dash_is_a_dash(dash: str) -> None:
    game = good_game(result=f"½ {dash} ½", white_elo="–", round=dash if dash in "-–—" else "?")
    assert (game["outcome"], game["white_rating"], game["round"]) == ("draw", None, None)


def test_a_word_that_is_no_result_tells_how_to_give_it_a_meaning() -> None:
    _, faults, _ = read_csv(f"{FOUR_COLUMNS}Ann,Bob,01. Jan,2024\n")
    assert "or a word that --result gives a meaning, such as --result Sieg=1-0; got '01. Jan'" in faults[0][1]


def test_a_list_of_players_names_no_option_that_its_command_lacks() -> None:
    _, faults = PlayerConverter({"name": "name", "since": "since"}).convert(
        pl.DataFrame({"name": ["Ann", "Bob"], "since": ["04/05/2024", "13.05.24"], "line": [2, 3]})
    )
    assert [fault.message.partition(";")[0] for fault in faults.first] == [
        "since may be 2024-05-04 or 2024-04-05: write YYYY-MM-DD",
        "since has a year of two digits: write YYYY-MM-DD",
    ]


@pytest.mark.parametrize("inside", ["[Content_Types].xml", "mimetype"])
def test_a_damaged_workbook_is_named(inside: str, tmp_path: Path) -> None:
    path = tmp_path / "liga.xlsx"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(inside, "application/vnd.oasis.opendocument.spreadsheet")
    words = "is no workbook that can be read .*: save the sheet as CSV and give that"
    with pytest.raises(StorageError, match=words), open_source(str(path)):
        pass


@pytest.mark.parametrize("content", [b"", codecs.BOM_UTF8])
def test_an_empty_file_is_called_so(content: bytes, tmp_path: Path) -> None:
    with open_source(str(written(tmp_path, "liga.csv", content))) as source:
        assert list(read_game_frames(source, detect_format(source.first))) == []
    words = [fault.message for fault in source.reading.faults]
    said = "no PGN tag in the whole file" if content else "the file is empty"
    assert words == [f"{said}: give PGN, CSV, TRF, Lichess NDJSON, chess.com JSON or JSON lines"]
