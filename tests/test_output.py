"""Rows as text: every format with floats, missing values, letters of any script, and nothing at all."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import click
import pytest

from tools.output import FORMATS, format_options, write, write_one

ROWS: list[dict[str, Any]] = [
    {"name": "Đurđa, \"Ana\"", "rating": 1923.46, "games": 7, "note": None, "on": True},
    {"name": "дом\t|", "rating": -0.04, "games": 12345, "note": "two\nlines", "on": False},
]  # fmt: skip


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
    assert back == [{key: "" if value is None else str(value) for key, value in row.items()} for row in ROWS]


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
