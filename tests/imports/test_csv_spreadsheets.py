"""CSV as people's spreadsheets write it: dates either way round, words for results, their own headings, ragged rows."""

import codecs
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger.imports.csv import values
from ledger.imports.csv.games import parse_results, read_result
from ledger.imports.csv.header import parse_headings
from ledger.imports.files import encoding_name, open_source
from ledger.imports.formats import read_game_frames
from tests.kit.commands import Run
from tests.kit.source_files import SIZES, good_game, read_csv, written

LEAGUE = (
    "Runde;Weiß;Elo;Schwarz;Ergebnis;Datum;Bemerkung\r\n"
    '1;Müller, Jörg;1834,0;Ann;½ : ½;04/05/2024;"lange\r\nPartie"\r\n'
    "1;Bob;;Cy;0 : 1;13/05/2024;\r\n"
    ";;;;;;\r\n"
    "Summe;;;;;;2 Partien\r\n"
)
HEADINGS = ["white=Weiß", "black=Schwarz", "result=Ergebnis", "date=Datum", "round=Runde", "white_elo=Elo"]
WORDS = [word for heading in HEADINGS for word in ("--column", heading)]


def table(**options: Any) -> dict[str, Any]:
    return {"equal_rows": False, **options}


@pytest.mark.parametrize("size", SIZES)
def test_a_league_table_is_read_as_it_was_saved(size: int) -> None:
    games, faults, skipped = read_csv(LEAGUE, size, **table(headings=parse_headings(HEADINGS), dates="dmy"))
    assert [(game["line"], game["white_name"], game["black_name"], game["outcome"]) for game in games] == [
        (2, "Müller, Jörg", "Ann", "draw"),
        (4, "Bob", "Cy", "black"),
    ]
    assert [(game["ended_at"], game["round"], game["white_rating"]) for game in games] == [
        ("2024-05-04", "1", 1834),
        ("2024-05-13", "1", None),
    ]
    assert (faults, dict(skipped)) == ([], {"rows without a game": 1})


@pytest.mark.parametrize(
    ("text", "order", "instant"),
    [
        ("04/05/2024", "dmy", "2024-05-04"),
        ("04/05/2024", "mdy", "2024-04-05"),
        ("13/05/2024", None, "2024-05-13"),
        ("5/13/2024", None, "2024-05-13"),
        ("05/05/2024", None, "2024-05-05"),
        ("4.5.2024", "dmy", "2024-05-04"),
        ("31-12-1999", None, "1999-12-31"),
        ("4/5/2024 19:30", "dmy", "2024-05-04T19:30:00Z"),
        ("4/5/2024 9:05:07", "mdy", "2024-04-05T09:05:07Z"),
        ("2024-05-04", "mdy", "2024-05-04"),
        ("2024-05-04 19:30:00", "dmy", "2024-05-04T19:30:00Z"),
    ],
)
def test_days_that_end_with_their_year(text: str, order: str | None, instant: str) -> None:
    assert values.parse_instant(text, order) == instant


@pytest.mark.parametrize(
    ("text", "order", "words"),
    [
        ("04/05/2024", None, "may be 2024-05-04 or 2024-04-05: write YYYY-MM-DD, or say by --dates dmy or --dates mdy"),
        ("13/05/2024", "mdy", "has the month 13 with --dates mdy"),
        ("05/13/2024", "dmy", "has the month 13 with --dates dmy"),
        ("32/05/2024", None, "is no day that exists"),
        ("30/02/2024", "dmy", "is no day that exists"),
        ("04/05/2024 25:00", "dmy", "is no time that exists"),
        ("04/05/24", None, "has a year of two digits"),
    ],
)
def test_a_day_is_never_guessed(text: str, order: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        values.parse_instant(text, order)


def test_rows_whose_day_may_be_two_are_named_and_the_option_with_them() -> None:
    rows = "white,black,result,date\nAnn,Bob,1-0,04/05/2024\nAnn,Bob,1-0,14/05/2024\nAnn,Bob,0-1,05/06/2024\n"
    games, faults, _ = read_csv(rows)
    assert [game["line"] for game in games] == [3]
    assert [line for line, words in faults if "--dates dmy" in words] == [2, 4]


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("1:0", "white"), ("0 : 1", "black"), ("½-½", "draw"), ("½:½", "draw"), ("0,5", "draw"), ("0.5", "draw"),
     ("1", "white"), ("0", "black"), ("1,0", "white"), ("0,0-1,0", "black"), ("0,5:0,5", "draw"), ("Remis", "draw")],
)  # fmt: skip
def test_results_as_people_write_them(word: str, outcome: str) -> None:
    assert good_game(result=word)["outcome"] == outcome


def test_other_words_for_results_are_given_by_whoever_imports() -> None:
    given = parse_results(["Sieg=1-0", "0=1-0", "kampflos =+/-", "vertagt=*"])
    meaning = partial(read_result, results=given)
    assert [meaning(word) for word in ("SIEG", "0", "Kampflos", "vertagt", "0-1")] == [
        "white",
        "white",
        "+white",
        "*",
        "black",
    ]
    for bad in (["Sieg"], ["=1-0"], ["Sieg="], ["Sieg=maybe"], ["Sieg=1-0", "sieg=0-1"]):
        with pytest.raises(ValueError, match=r"takes WORD=RESULT|two meanings|must be 1-0"):
            parse_results(bad)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["weiß"], "takes COLUMN=HEADING such as white=Weiß, got 'weiß'"),
        (["whte=Weiß"], "there is no column 'whte' to fill: did you mean 'white'"),
        (["white=A", "white=B"], "the column 'white' is given two headings, 'A' and 'B'"),
        (["date=A", "ended_at=B"], "the column 'ended_at' is given two headings"),
        (["white=A", "black=a "], "the heading 'a ' is given to two columns"),
    ],
)
def test_headings_that_cannot_be_meant(words: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        parse_headings(words)


def test_a_heading_that_is_given_is_the_only_one_of_its_column() -> None:
    rows = "white,black,result,date,Datum\nAnn,Bob,1-0,x,2024\n"
    (game,), faults, _ = read_csv(rows, **table(headings={"ended_at": "Datum"}))
    assert (game["ended_at"], faults) == ("2024", [])


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Weis;Schwarz;result;date", "there is no heading 'Weiß' for 'white' (did you mean 'Weis'?)"),
        ("Weiß;weiß;black;result;date", "the columns 'Weiß' and 'weiß' both mean 'white'"),
        ("Weiß;blakc;result;date", "(did you mean 'blakc'?); add it, or name its heading: --column black="),
    ],
)
def test_headings_that_are_missing_or_doubled_are_named(header: str, said: str) -> None:
    games, faults, _ = read_csv(f"\n;;;\n{header}\nA;B;1-0;2024\n", **table(headings={"white": "Weiß"}))
    assert games == []
    assert [line for line, _ in faults] == [3]
    assert said in faults[0][1]
    assert "The header is: " in faults[0][1]


FIVE = "white;black;result;date;white_elo;note\n"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("quote", ["", '"'])
def test_dividers_behind_the_last_column_and_missing_ones_do_no_harm(size: int, quote: str) -> None:
    rows = FIVE + f"{quote}Ann{quote};Bob;1-0;2024;1500;x;; ;\nAnn;Bob;1-0;2024\nAnn;Bob;0-1;2024;1600\n"
    games, faults, _ = read_csv(rows + "Ann;Bob;1-0\nA;B;1-0;2024;;;x\nAnn;Bob;=;2024;1700;\n", size)
    assert [(game["line"], game["white_rating"]) for game in games] == [(2, 1500), (3, None), (4, 1600), (7, 1700)]
    said = [(line, words.partition(":")[0]) for line, words in faults]
    assert said == [(5, "too few fields"), (6, "too many fields")]


@pytest.mark.parametrize("size", SIZES)
def test_the_last_row_of_a_file_without_line_end_may_be_cut_off(size: int) -> None:
    games, faults, _ = read_csv(FIVE + "Ann;Bob;1-0;2024;1500\nAnn;Bob;1-0;2024;15", size)
    assert ([game["line"] for game in games], [line for line, _ in faults]) == ([2], [3])


@pytest.mark.parametrize("size", SIZES)
def test_a_byte_order_mark_within_a_file_is_text(size: int) -> None:
    games, _, _ = read_csv(FIVE.encode() + codecs.BOM_UTF8 + b"Ann;Bob;1-0;2024;;\n", size)
    assert [game["white_name"] for game in games] == ["\ufeffAnn"]


def test_rows_of_dividers_are_none_and_sums_are_counted() -> None:
    rows = FIVE + "Ann;Bob;1-0;2024;;\n;;;;;\n;;;;;\nTotal;;;;;1 game\n;;;;1500;\nAnn;Bob;;2024;;\n"
    games, faults, skipped = read_csv(rows)
    assert (len(games), faults) == (1, [])
    assert dict(skipped) == {"rows without a game": 2, "unfinished": 1}


@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\n', "\n\n", ";;;;;\n"])
def test_what_stands_above_the_header_of_a_spreadsheet(first: str) -> None:
    (game,), faults, _ = read_csv(first + FIVE + "Ann;Bob;1-0;2024;;\n")
    assert (game["line"], faults) == (2 + first.count("\n"), [])


TABBED = "white\tblack\tresult\tdate\r\nŽáček\tAnn\t½-½\t2024-05-04\r\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (codecs.BOM_UTF16_LE + TABBED.encode("utf-16-le"), None),
        (codecs.BOM_UTF16_BE + TABBED.encode("utf-16-be"), None),
        (codecs.BOM_UTF8 + TABBED.encode(), None),
        (TABBED.replace("½-½", "=").encode("windows-1250"), "windows-1250"),
        (TABBED.encode("utf-16"), "utf-16"),
    ],
)
def test_letters_of_other_encodings(content: bytes, encoding: str | None, tmp_path: Path) -> None:
    path = written(tmp_path, "club.txt", content)
    with open_source(str(path), None if encoding is None else encoding_name(encoding)) as source:
        (frame,) = read_game_frames(source, "csv")
    assert (frame["white_name"].to_list(), frame["outcome"].to_list()) == (["Žáček"], ["draw"])
    assert source.reading.faults == []


def test_bytes_that_are_no_text_of_the_encoding_end_the_reading(tmp_path: Path) -> None:
    path = written(tmp_path, "club.txt", TABBED.encode())
    with open_source(str(path), encoding_name("ascii")) as source:
        assert list(read_game_frames(source, "csv")) == []
    (fault, *_) = source.reading.faults
    assert (fault.line, source.reading.is_cut) == (2, True)
    assert "are no text in ascii" in fault.message
    assert "name the right --encoding" in fault.message


def test_the_command_takes_headings_words_and_dates(empty_club: Path, tmp_path: Path, run: Run) -> None:
    content = LEAGUE.replace("½ : ½", "Punkteteilung").encode("utf-16")
    path = written(tmp_path, "liga.csv", content)
    done = run("import", empty_club, path, *WORDS, "--dates", "dmy", "--result", "Punkteteilung=½-½")
    assert (done.code, "2 games recorded" in done.err, "1 left out: rows without a game" in done.err) == (0, True, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--column", "whit=Weiß"], "--column: there is no column 'whit' to fill: did you mean 'white'"),
        (["--result", "Sieg"], "--result: takes WORD=RESULT"),
        (["--dates", "ymd"], "'ymd' is not one of"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(
    words: list[str], said: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", empty_club, written(tmp_path, "liga.csv", LEAGUE.encode()), *words)
    assert (done.code, said in done.err) == (2, True)
