"""The table that says what is read of a CSV file says all of it, and each word of it is read."""

import re

import pytest

from ledger.imports.csv import values
from ledger.imports.csv.header import COLUMNS, DELIMITERS
from tests.kit.places import ROOT
from tests.kit.source_files import BASE, csv_text, good_game, read_csv

README = (ROOT / "ledger" / "imports" / "README.md").read_text(encoding="utf-8")
TABLE = re.search(r"^\| column \| also read \| value \|\n\|---.*\n((?:\|.*\n)+)", README, re.MULTILINE)
assert TABLE is not None
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in TABLE[1].splitlines()]
OF_RESULTS = ROWS[[row[0] for row in ROWS].index("`result`") :][:3]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_column_and_every_other_name_of_it_is_told() -> None:
    told = {word for row in ROWS for cell in row[:2] for word in words(cell)}
    assert told == {name for column, aliases in COLUMNS.items() for name in (column, *aliases)}


@pytest.mark.parametrize(
    ("part", "meaning"),
    [
        ("White won: ", "white"),
        ("Black won: ", "black"),
        ("drawn: ", "draw"),
        ("not rated: ", "+white"),
        ("for Black: ", "+black"),
        ("both sides: ", "-"),
    ],
)
def test_each_way_to_write_a_result_is_read(part: str, meaning: str) -> None:
    (cell,) = (row[2] for row in OF_RESULTS if part in row[2])
    told = words(re.split(r"; |and the same", cell.partition(part)[2])[0])
    assert told
    assert {values.parse_result(word) for word in told} == {meaning}
    assert {word.casefold().replace(":", "-") for word in told} == set(values._RESULTS[meaning])


def test_dashes_of_any_length_and_no_result_are_read() -> None:
    assert values.parse_result("1–0") == values.parse_result("1−0") == "white"
    assert values.parse_result("*") == values.parse_result("") == values.UNFINISHED


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize(("mark", "encoding"), [(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"", "latin-1")])
def test_what_stands_between_cells_and_how_letters_are_written(delimiter: str, mark: bytes, encoding: str) -> None:
    text = csv_text({**BASE, "white": "Müller, Jörg", "result": "0:1"}, delimiter=delimiter)
    (game,), faults, _ = read_csv(mark + text.encode(encoding))
    assert (game["white_name"], game["outcome"], faults) == ("Müller, Jörg", "black", [])


@pytest.mark.parametrize("column", ["ended_at", "rated", "ended_by_checkmate"])
def test_each_way_to_write_a_day_or_a_switch_is_read(column: str) -> None:
    (row,) = (row for row in ROWS if f"`{column}`" in row[0])
    told = words(row[2])
    assert len(told) > 5
    for word in told:
        text = {**BASE, column: word} if column != "ended_at" else {**BASE, "date": word}
        assert good_game(**text)["ended_at"].startswith("2013")
