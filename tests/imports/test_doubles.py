"""One file that tells a game twice, or gives a player two opponents in a round."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ledger.imports.files import wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.reading import FileHints
from tests.kit.commands import Run
from tests.kit.source_files import written

HEADER = "white,black,result,date,event,round\n"
TAGS = '[Event "Cup"]\n[Round "1"]\n[Date "2025.03.01"]\n[White "Ann"]\n[Black "{}"]\n[Result "1-0"]\n\n{}1-0\n\n'


def told(text: str, fmt: str = "csv", **said: Any) -> tuple[list[int], list[tuple[int, str]]]:
    """The lines of the games that are taken, and the faults."""
    source = wrap_file(BytesIO(text.encode()), "a")
    lines = [line for frame in read_game_frames(source, fmt, FileHints(**said)) for line in frame["line"].to_list()]
    return lines, [(fault.line, fault.message.partition(":")[0]) for fault in source.reading.faults]


def test_an_equal_row_is_a_fault_that_names_both_lines_unless_the_option_says_that_it_is_a_game() -> None:
    row = "Ann,Bob,1-0,2025-03-01,Cup,\n"
    assert told(HEADER + row + row) == ([2], [(3, "the same row as line 2")])
    assert told(HEADER + row + row, equal_rows=True) == ([2, 3], [])


@pytest.mark.parametrize(
    "other",
    ["Ann,Bob,0-1,2025-03-01,Cup,1", "Ann,Bob,1-0,2025-03-01,Cup,2", "Ann,Bob,1-0,2025-03-02,Cup,1",
     "Bob,Ann,1-0,2025-03-01,Cup,1", "Ann,Bob,1-0,2025-03-01,Cup B,1", "Ann,Cleo,1-0,2025-03-08,Cup,1"],
)  # fmt: skip
def test_rows_that_differ_in_result_round_time_colours_or_tournament_are_two_games(other: str) -> None:
    assert told(f"{HEADER}Ann,Bob,1-0,2025-03-01,Cup,1\n{other}\n") == ([2, 3], [])


def test_a_row_with_fewer_details_equals_one_with_more_and_two_numbers_of_moves_are_two_games() -> None:
    rows = "".join(f"Ann,Bob,1-0,2025-03-01,Cup,1,{moves}\n" for moves in (40, 35, "", 35))
    words = "the same row as line {}".format
    assert told("white,black,result,date,event,round,half_moves\n" + rows) == ([2, 3], [(4, words(2)), (5, words(3))])


@pytest.mark.parametrize("column", ["key", "n", "sequence"])
def test_equal_rows_with_different_numbers_are_two_games(column: str) -> None:
    rows = "".join(f"{n},Ann,Bob,1-0,2025-03-01,Cup,1\n" for n in (1, 2))
    assert told(f"{column},{HEADER}{rows}") == ([2, 3], [])


@pytest.mark.parametrize("other", ["2025-03-01,Cup,01", "2025-03-01,cup ,1.0", "2025.3.1,CUP,1"])
def test_rounds_and_tournaments_are_compared_as_people_read_them(other: str) -> None:
    row = "Ann,Bob,1-0,2025-03-01,Cup,1\n"
    assert told(f"{HEADER}{row}Ann,Bob,1-0,{other}\n") == ([2], [(3, "the same row as line 2")])
    words = "'Ann' has another opponent in round {} of {!r} on line 2"
    event, number = other.split(",")[1:]
    assert told(f"{HEADER}{row}Ann,Cleo,1-0,{other}\n") == ([2], [(3, words.format(number, event.strip()))])


@pytest.mark.parametrize("day", ["2025-02-26", "2025-02-28", "2025-03-02", "2025-03-04"])
def test_a_second_opponent_within_three_days_is_a_fault(day: str) -> None:
    assert told(f"{HEADER}Ann,Bob,1-0,2025-03-01,Cup,1\nAnn,Cleo,1-0,{day},Cup,1\n")[0] == [2]


def test_a_bye_beside_a_game_of_the_same_round_is_noted() -> None:
    source = wrap_file(BytesIO(f"{HEADER}Ann,bye,1-0,2025-03-01,Cup,1\nAnn,Bob,1-0,2025-03-01,Cup,01\n".encode()), "a")
    assert sum(map(len, read_game_frames(source, "csv"))) == 1
    words = "'Ann' has a bye in round 1 of 'Cup', and a game on line 3: correct one of the two lines"
    assert (2, words) in [(note.line, note.message) for note in source.reading.notes]


@pytest.mark.parametrize("second", ["Ann,Cleo", "Cleo,Ann", "Bob,Cleo", "Cleo,Bob"])
def test_a_second_opponent_in_a_round_is_a_fault_however_far_away_the_lines_are(second: str) -> None:
    between = "".join(f"P{n},Q{n},1-0,2025-03-01,Cup,1\n" for n in range(40_000))
    lines, faults = told(f"{HEADER}Ann,Bob,1-0,2025-03-01,Cup,1\n{between}{second},1-0,2025-03-01,Cup,1\n")
    name = "Ann" if "Ann" in second else "Bob"
    words = f"'{name}' has another opponent in round 1 of 'Cup' on line 2"
    assert (len(lines), faults) == (40_001, [(40_003, words)])


def test_two_games_with_moves_in_one_round_count_with_a_note() -> None:
    text = TAGS.format("Bob", "1. e4 e5 ") + TAGS.format("Cleo", "1. d4 d5 ")
    assert told(text, "pgn") == ([1, 10], [])
    assert told(TAGS.format("Bob", "") + TAGS.format("Cleo", ""), "pgn")[0] == [1]


def test_an_import_ends_with_1_and_records_the_first_row(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "a.csv", f"{HEADER}{'Ann,Bob,1-0,2025-03-01,Cup,' + chr(10)}".encode() * 1)
    twice = written(tmp_path, "b.csv", Path(path).read_bytes() + b"Ann,Bob,1-0,2025-03-01,Cup,\n")
    done = run("import", empty_club, twice)
    assert (done.code, "b.csv:3: error: the same row as line 2" in done.err, "1 game recorded" in done.err) == (
        1,
        True,
        True,
    )
    assert "1 known already" in run("import", empty_club, path).err
    assert "1 game recorded, 1 known already" in run("import", empty_club, twice, "--equal-rows").err
