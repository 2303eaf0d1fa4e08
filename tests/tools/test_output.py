"""Rows as text in every format; text of any origin made harmless; one door to standard output and standard error."""

import csv
import io
import json
import sys
import unicodedata
import xml.etree.ElementTree as ET
from math import inf, nan
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.runtime.visible import MOST_MARKS, in_cell, in_json, in_markup, json_in_cell, lines_in_markup, visible
from tools import output
from tools.output import FORMATS, format_options, titled_table, write, write_one

ROWS: list[dict[str, Any]] = [
    {"name": 'Đurđa, "Ana"', "rating": 1923.46, "games": 7, "note": None, "on": True},
    {"name": "дом\t|", "rating": -0.04, "games": 12345, "note": "two\nlines", "on": False},
]


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(rows: list[dict[str, Any]], fmt: str | None) -> str:
        write(rows, fmt)
        return capsys.readouterr().out

    return run


def test_json_is_one_array_with_a_row_on_each_line(written: Any) -> None:
    text = written(ROWS, None)
    assert json.loads(text) == ROWS
    assert text == written(ROWS, "json")
    assert text.count("\n") == len(ROWS)
    assert "Đurđa" in text


def test_nl_is_one_object_on_each_line(written: Any) -> None:
    assert [json.loads(line) for line in written(ROWS, "nl").splitlines()] == ROWS


@pytest.mark.parametrize(("fmt", "dialect"), [("csv", "excel"), ("tsv", "excel-tab")])
def test_csv_and_tsv_read_back(written: Any, fmt: str, dialect: str) -> None:
    text = written(ROWS, fmt)
    assert "\r" not in text
    back = list(csv.DictReader(io.StringIO(text), dialect=dialect))
    written_out = [{key: "" if value is None else str(value) for key, value in row.items()} for row in ROWS]
    written_out[1]["name"] = "дом\\t|"  # a tab is shown; the line feed stands within quotes
    assert back == written_out


def test_a_table_rounds_ratings_and_keeps_text_and_whole_numbers(written: Any) -> None:
    rows = [{"name": "007", "rating": 1923.5001, "games": 12345, "note": None}]
    head, rule, row = written(rows, "table").splitlines()
    assert head.split() == ["name", "rating", "games", "note"]
    assert set(rule) == {"-", " "}
    assert row.split() == ["007", "1924", "12345", "-"]


@pytest.mark.parametrize(
    ("fmt", "text"), [("json", "[]\n"), ("nl", ""), ("csv", ""), ("tsv", ""), ("table", "(none)\n")]
)
def test_no_rows(written: Any, fmt: str, text: str) -> None:
    assert written([], fmt) == text


def test_one_answer_stands_upright(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "Çelik", "rating": 1923.46, "hera": None, "games": 12}
    write_one(row, "table")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["name", "Çelik"], ["rating", "1923.46"], ["hera", "-"], ["games", "12"]]
    write_one(row, None)
    assert json.loads(capsys.readouterr().out) == row
    write_one(row, "csv")
    assert capsys.readouterr().out == "name,rating,hera,games\nÇelik,1923.46,,12\n"


def test_the_options_give_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    @format_options
    def shown(fmt: str | None) -> None:
        click.echo(fmt)

    given = {flag: shown.main([flag], standalone_mode=False) for flag in ("--nl", "--csv", "--tsv", "--table", "-t")}
    assert set(given.values()) == {None}
    assert capsys.readouterr().out.split() == ["nl", "csv", "tsv", "table", "table"]
    shown.main([], standalone_mode=False)
    assert capsys.readouterr().out.strip() in {"", "None"}
    assert set(FORMATS) == {"json", "nl", "csv", "tsv", "table"}


ORDINARY = [
    "", "Ann", "Đurđa, \"Ana\"", "C:\\games", "O'Neil", "Müller–Ærø", "Дом Ёлка", "羽生　善治", "곽우준", "عبد الله",
    "דָּוִד",    "Nguyễn Ngọc Trường Sơn", "e\u0301a\u0300", "สมชาย", "👑 ♞\ufe0f", "नरेन्द्र", "a\u00a0b",
    "علی\u200cرضا", "رَ\u200cضا", "ශ්\u200dරී", "രാജന്\u200d", "ক্\u200cষ", "辻\U000e0100子", "葛\ufe00",
    "\u1820\u180b\u1828",
]  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY, ids=ascii)
def test_names_as_people_write_them_stay_as_they_are(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x07\x00\x7f\x9b", r"\x1b[2J\x07\x00\x7f\x9b"),
        ("a\tb\nc\rd\x85", r"a\tb\nc\rd\x85"),
        ("\u202egpj.exe\u2066\u061c\u200f", r"\u202egpj.exe\u2066\u061c\u200f"),
        ("\u200b\ufeff\u2060\xad\u3164\u034f\ufff9", r"\u200b\ufeff\u2060\xad\u3164\u034f\ufff9"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0041\udcff\ud800\ue000\u0378", r"\U000e0041\udcff\ud800\ue000\u0378"),
        ("A\u200cB\u200d", r"A\u200cB\u200d"),  # joiners that join nothing
        ("\u200cعلی\u200c", r"\u200cعلی\u200c"),
        ("👩\u200d💻", r"👩\u200d💻"),
        ("7\ufe0f a\U000e0100 \ufe0e", r"7\ufe0f a\U000e0100 \ufe0e"),  # selectors that select nothing
        ("辻\U000e01f0", r"辻\U000e01f0"),
        ("辻\U000e0100\U000e0101", "辻\U000e0100\\U000e0101"),
        ("\u0301a \u0301", r"\u0301a \u0301"),  # marks without a letter
        ("O" + "\u0336" * 6, "O" + "\u0336" * MOST_MARKS + r"\u0336\u0336"),
    ],
)
def test_what_could_deceive_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_hidden_character_may_be_wanted() -> None:
    assert visible("a\n\x1b\r", keep="\n") == "a\n\\x1b\\r"


TRICKY = st.sampled_from("\u200c\u200d\u180e\u1820\ufe0f\u0301\u094d\x1b\n辻\U000e0100\U000e01f0\u0639\u202e")


@given(st.text(st.characters(codec=None) | TRICKY))
def test_nothing_that_is_shown_moves_hides_or_breaks_a_line(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert len((shown + "x").splitlines()) == 1
    for char in shown:
        hidden = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
        assert not hidden or char in "\u200c\u200d\u180e"


@given(st.recursive(st.none() | st.text(st.characters(codec=None)), st.lists))
def test_json_parses_back_and_holds_no_hidden_character(value: Any) -> None:
    text = in_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not {unicodedata.category(char) for char in text} & {"Cc", "Cs", "Zl", "Zp"}
    assert len((text + "x").splitlines()) == 1


@pytest.mark.parametrize("fmt", [None, "nl"])
def test_numbers_without_end_are_null_in_json(written: Any, fmt: str | None) -> None:
    text = written([{"a": inf, "b": [nan, {"c": -inf}], "d": 1.5, "Infinity": "NaN"}], fmt)
    (row,) = json.loads(text) if fmt is None else [json.loads(text)]
    assert row == {"a": None, "b": [None, {"c": None}], "d": 1.5, "Infinity": "NaN"}
    assert written([{"a": inf, "b": -3, "c": nan}], "csv") == "a,b,c\ninf,-3,nan\n"


@pytest.mark.parametrize(
    ("text", "csv_cell", "tsv_cell"),
    [
        ("=1+1", "'=1+1", "'=1+1"), ("+x", "'+x", "'+x"), ("-x", "'-x", "'-x"), ("@x", "'@x", "'@x"),
        ("-2+3+cmd|' /C calc'!D2", "'-2+3+cmd|' /C calc'!D2", "'-2+3+cmd|' /C calc'!D2"),
        (" =1", "' =1", "' =1"), ('"=1', "'\"=1", "'\"=1"), ("'=1", "''=1", "''=1"),
        ("\u3000=1", "'\u3000=1", "'\u3000=1"),
        ("＝1", "'＝1", "'＝1"), ("a;=1", "a;'=1", "a;'=1"), ("a,=1", "a,=1", "a,'=1"), ("\nx", "'\nx", "'\nx"),
        ("-5", "-5", "-5"), ("+1.5e-3", "+1.5e-3", "+1.5e-3"), ("a-b", "a-b", "a-b"), ("'a'", "'a'", "'a'"),
        ("1840.00 (+40.00)", "1840.00 (+40.00)", "1840.00 (+40.00)"), ("", "", ""), ("a;-5;b", "a;-5;b", "a;-5;b"),
    ],
)  # fmt: skip
def test_an_apostrophe_stands_before_what_a_spreadsheet_would_run(text: str, csv_cell: str, tsv_cell: str) -> None:
    assert (in_cell(text, "csv"), in_cell(text, "tsv")) == (csv_cell, tsv_cell)


@pytest.mark.parametrize(
    ("name", "csv_cell", "tsv_cell"),
    [
        ("x;=1+1;y", '["x;\\u003d1+1;y"]', '["x;\\u003d1+1;y"]'), ("=1", '["=1"]', '["\\u003d1"]'),
        ("a, =1", '["a, =1"]', '["a, \\u003d1"]'), ("a; '@x", '["a; \'\\u0040x"]', '["a; \'\\u0040x"]'),
        ("a;-5;b", '["a;-5;b"]', '["a;-5;b"]'), ("a;-5", '["a;-5"]', '["a;-5"]'), ("-5", '["-5"]', '["-5"]'),
        ('";=1"', '["\\";\\u003d1\\""]', '["\\";\\u003d1\\""]'), ("a;\uff1d1", '["a;\\uff1d1"]', '["a;\\uff1d1"]'),
        ("a-b; c-d", '["a-b; c-d"]', '["a-b; c-d"]'), ("\\;=", '["\\\\;\\u003d"]', '["\\\\;\\u003d"]'),
    ],
)  # fmt: skip
def test_json_in_a_cell_says_the_same_and_no_spreadsheet_runs_it(name: str, csv_cell: str, tsv_cell: str) -> None:
    text = json.dumps([name], ensure_ascii=False)
    assert (json_in_cell(text, "csv"), json_in_cell(text, "tsv")) == (csv_cell, tsv_cell)
    assert json.loads(csv_cell) == json.loads(tsv_cell) == [name]


def test_numbers_and_headers_in_csv(written: Any) -> None:
    rows = [{"=h": -5, "b": -0.5, "c": "-7.5", "d": "=x", "e": ["=y"], "f": None}]
    assert written(rows, "csv") == '\'=h,b,c,d,e,f\n-5,-0.5,-7.5,\'=x,"[""=y""]",\n'


def test_raw_leaves_formulas_but_shows_controls(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    @format_options
    def shown(fmt: str | None) -> None:
        write([{"name": "=1+\x1b"}], fmt)

    for flags, text in ((["--csv"], "name\n'=1+\\x1b\n"), (["--raw", "--csv"], "name\n=1+\\x1b\n")):
        shown.main(flags, standalone_mode=False)
        assert capsys.readouterr().out == text
    for flags in (["--raw"], ["--raw", "--nl"], ["-t", "--raw"]):
        with pytest.raises(click.UsageError, match="--raw goes with --csv or --tsv"):
            shown.main(flags, standalone_mode=False)


def test_tables_stay_aligned_with_wide_letters_marks_and_escapes(written: Any) -> None:
    names = ["Ann", "羽生　善治", "علی\u200cرضا", "e\u0301", "a\x1b[2J", "x\ny", "\u202e"]
    lines = written([{"name": name, "rating": 1500.0} for name in names], "table").split("\n")[:-1]
    assert len(lines) == 2 + len(names)
    assert len({_width(line) for line in lines[1:]}) == 1


def _width(text: str) -> int:
    """Columns on a terminal, told without the library that lays the table out."""
    narrow = [char for char in text if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"]
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in narrow)


def test_titled_tables_show_what_is_foreign_on_one_line() -> None:
    lines = titled_table("a\nb", ["x", "y\x1b"], [["\u202e", None], ["two\nlines", 5]]).split("\n")
    assert lines[0] == r"a\nb"
    cells = [line.split() for line in lines[1:2] + lines[3:]]
    assert cells == [["x", r"y\x1b"], [r"\u202e", "-"], [r"two\nlines", "5"]]


def test_a_remark_of_megabytes_is_cut_in_its_middle(capsys: pytest.CaptureFixture[str]) -> None:
    output.remark("begin " + "x" * 1_000_000 + " end")
    line = capsys.readouterr().err
    assert len(line) < 2_100
    assert line.startswith("begin ")
    assert line.endswith(" end\n")
    assert "998,010 characters" in line


class Terminal(io.TextIOWrapper):
    """A terminal of some encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding, newline="", write_through=True)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode(self.encoding)


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_errors_are_coloured_on_a_terminal_unless_that_is_unwanted(
    variables: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal("utf-8")
    monkeypatch.setattr(sys, "stderr", terminal)
    output.error("no player '\x1b[2J'")
    assert terminal.text().endswith("no player '\\x1b[2J'\n")
    assert ("\x1b[38;5;166m" in terminal.text()) is coloured
    assert ("\x1b" in terminal.text()) is coloured
    answered = Terminal("utf-8")
    monkeypatch.setattr(sys, "stdout", answered)
    output.verdict("FALSE", "club.db \x1b[2J", alarm=True)
    output.verdict("TRUE", "club.db")
    assert answered.text().endswith("club.db \\x1b[2J\nTRUE club.db\n")
    assert ("\x1b[38;5;166m" in answered.text()) is coloured
    assert ("\x1b" in answered.text()) is coloured


def test_an_encoding_that_lacks_letters_shows_their_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"name": "Лев 👑", "rating": 1500.0}]

    def shown(fmt: str | None) -> str:
        terminal = Terminal("latin-1")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            write(rows, fmt)
        return terminal.text()

    assert json.loads(shown(None)) == rows
    assert json.loads(shown("nl")) == rows[0]
    head, rule, row = shown("table").splitlines()
    assert row.startswith(r"\u041b\u0435\u0432 \U0001f451  ")
    assert len(head) == len(rule) == len(row)
    with pytest.raises(click.ClickException, match=r"cannot be written in latin-1: set PYTHONIOENCODING=utf-8, or"):
        shown("csv")


THIEF = "</title><script>alert('\x1b\u202e')</script>\" onload=\"&lt;"


@pytest.mark.parametrize("text", [THIEF, *ORDINARY, "\ufffe\uffff\ud800\0", "]]>", "-->"], ids=ascii)
def test_any_text_stands_in_markup_as_it_is_shown(text: str) -> None:
    element = ET.fromstring(f"<t a=\"{in_markup(text)}\" b='{in_markup(text)}'>{in_markup(text)}</t>")
    assert (element.text or "") == visible(text)
    assert [element.get("a"), element.get("b"), len(element)] == [visible(text), visible(text), 0]


@given(st.lists(st.text(st.sampled_from(["a", " ", "'", '"', "<", "&", "\n", "\u202e", "é", "~"])) | st.text()))
def test_lines_stand_in_markup_as_each_of_them_does(lines: list[str]) -> None:
    assert lines_in_markup(lines) == "\n".join(map(in_markup, lines))


def test_a_document_goes_out_byte_by_byte(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for content in (b"\x89PNG\r\n\0\xff", "<svg>é</svg>\n".encode()):
        output.document(content)
        assert capfdbinary.readouterr().out == content


def test_what_is_no_text_is_kept_from_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    with pytest.raises(click.ClickException, match="give -o FILE"):
        output.document(b"\x89PNG\0")
