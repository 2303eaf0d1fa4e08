"""CSV files of games: keys, rows with their lines, any block size, and the real files."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.event_fields import KEY_PATTERN
from ledger.imports.csv import rows as csv_rows
from ledger.imports.csv.games import read_frames
from ledger.imports.csv.rows import BATCH_CSV
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl
from tests.kit.places import DATA
from tests.kit.source_files import BASE, FOUR_COLUMNS, SIZES, csv_text, good_game, read_csv
from tests.tiers import examples


def test_a_key_is_kept_under_the_prefix_unless_it_has_one() -> None:
    assert good_game(game_id="abcd1234")["key"] == "csv:abcd1234"
    assert good_game(game_id="lichess:abcd1234")["key"] == "lichess:abcd1234"
    assert good_game({"source": "twic"}, n="7")["key"] == "twic:7"
    assert good_game({"source": "twic"}, n="")["key"].startswith("twic:")


@pytest.mark.parametrize("options", [{"source": ""}, {"source": "a:b"}, {"source": "a b"}])
def test_a_prefix_that_cannot_stand_in_a_key_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a prefix must match"):
        read_csv(csv_text(BASE), **options)


@pytest.mark.parametrize("size", SIZES)
def test_made_keys_tell_games_apart_and_stay(size: int) -> None:
    facts = {**BASE, "event": "Open", "round": "1"}
    rows = [facts, facts, {**facts, "round": "2"}, {**facts, "white": "Zoe"}, {**facts, "date": "2014"}, facts]
    keys = [game["key"] for game in read_csv(csv_text(*rows), size)[0]]
    assert len(set(keys)) == 6
    assert all(len(key) == 28 and pl.Series([key]).str.contains(f"^{KEY_PATTERN}$").all() for key in keys)
    assert keys == [game["key"] for game in read_csv(csv_text(*rows))[0]]
    # The result and the ratings are no part of it: a corrected game keeps its key.
    assert read_csv(csv_text({**facts, "result": "0-1"}))[0][0]["key"] == keys[0]


def test_mending_a_bad_row_moves_no_other_key() -> None:
    bad, good = {**BASE, "plies": "x"}, {**BASE, "plies": "1"}
    before = read_csv(csv_text(bad, good))[0]
    after = read_csv(csv_text(good, good))[0]
    assert before[0]["key"] == after[1]["key"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_as_the_file_has_them(size: int, end: str) -> None:
    content = (
        '"white",black,result,date\nAnn,Bob,1-0,2013\n\n"Ann\nthe ""Great""","Bob, Jr",1-0,2013\n   \n'
        'Ann,Bob,x,2013\n"Ann\n\nB",Bob,y,2013\nAnn,Bob\nAnn,Bob,1-0,2013,x\nAnn,"",0-1,2013\nZoe,Bob,0-1,"2013"'
    ).replace("\n", end)
    games, faults, _ = read_csv(content, size)
    assert [(game["line"], game["white_name"], game["black_name"]) for game in games] == [
        (2, "Ann", "Bob"),
        (4, 'Ann the "Great"', "Bob, Jr"),
        (14, "Zoe", "Bob"),
    ]
    assert [line for line, _ in faults] == [7, 8, 11, 12, 13]
    assert faults[2][1] == "too few fields: 2 where the header names 4; quote a field that holds a comma"
    assert faults[3][1] == "too many fields: 5 where the header names 4; quote a field that holds a comma"
    assert faults[4][1] == "black is missing; fill in black"


@pytest.mark.parametrize("size", SIZES)
def test_a_quote_out_of_place_costs_one_row(size: int) -> None:
    content = FOUR_COLUMNS + (
        'Ann,Bob,1-0,2013\n"Robert "Bobby" F","x",1-0,2013\nO"Neill,Bob,1-0,2013\n'
        '"never closed,Bob,1-0,2013\n'
        '"Ann, B",Bob,1-0,2013\n"Ann ""B""","Bob",0-1,2013\nAnn,"open,0-1,2013\nAnn,Bob,0-1,2013\n'
    )
    games, faults, _ = read_csv(content, size)
    assert [(game["line"], game["white_name"]) for game in games] == [
        (2, "Ann"),
        (4, 'O"Neill'),
        (6, "Ann, B"),
        (7, 'Ann "B"'),
        (9, "Ann"),
    ]
    assert [line for line, _ in faults] == [3, 5, 8]
    assert faults[0][1].startswith("text follows the double quote that closes 'Robert '")
    assert "never closed" in faults[2][1]


@pytest.mark.parametrize("size", [7, 100, 1000, BATCH_CSV])
def test_a_row_without_end_is_one_fault_in_constant_memory(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "MAX_ROW", 200)
    content = FOUR_COLUMNS + f'Ann,Bob,1-0,2013\n"open,Bob,1-0,2013\n{"Ann,Bob,0-1,2014" + chr(10)}' * 30
    content += f"{'x' * 1500}\nZoe,Bob,1-0,2013\n{'a,b,c,' * 100}d\nZoe,Bob,1-0,2013\n"
    games, faults, _ = read_csv(content, size)
    long = [line for line, words in faults if "longer than 200 bytes" in words]
    assert [game["line"] for game in games][-2:] == [93, 95]
    assert long[-2:] == [92, 94]
    assert len(games) + len(faults) == 94
    assert (games, faults) == read_csv(content)[:2]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("quote", ["", '"'])
def test_text_that_is_not_utf_8_is_read_as_windows_1252(size: int, quote: str) -> None:
    rows = [f"{quote}M\u00fcller, J{quote}" if quote else "Müller", "Müller", "Žáček", "Ann"]
    content = FOUR_COLUMNS.encode() + b"".join(
        f"{name},Bob,1-0,2013\n".encode(code)
        for name, code in zip(rows, ("cp1252", "utf-8", "utf-8", "cp1252"), strict=True)
    )
    games, faults, _ = read_csv(b"\xef\xbb\xbf" + content + b'a"\x81,Bob,1-0,2013\nx,y\n', size)
    assert [line for line, _ in faults] == [7]
    names = [game["white_name"] for game in games]
    assert names == [rows[0].strip('"'), "Müller", "Žáček", "Ann", 'a"\ufffd']


NAMES = st.text(st.sampled_from('ab é",;\n\t?'), max_size=8)
RESULTS = st.sampled_from(["1-0", "0-1", "draw", "*", "+/-", "no", ""])
DATES = st.sampled_from(["2013", "2013-06-04", "2013-02-30", "2012-12-31 23:01:03", "", "x"])
ROWS = st.lists(st.tuples(NAMES, NAMES, RESULTS, DATES, st.sampled_from(["", "5", "x"])), max_size=12)


@examples(quick=10, ci=100, nightly=3_000)
@given(rows=ROWS, size=st.integers(1, 200), ends=st.sampled_from(["\n", "\r\n"]))
def test_the_block_size_never_shows_and_fields_are_those_of_the_csv_module(
    rows: list[tuple[str, ...]], size: int, ends: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=ends).writerows([("white", "black", "result", "date", "plies"), *rows])
    games, faults, skipped = read_csv(out.getvalue())
    assert (games, faults, skipped) == read_csv(out.getvalue(), size)
    said = [row for row in rows if any(map(str.strip, row))]  # a row of dividers alone is none
    assert len(games) + len({line for line, _ in faults}) + sum(skipped.values()) == len(said)
    for game in games:
        # A record reader that never heard of chess must find the same name on the same line.
        text = out.getvalue().replace("\r\n", "\n").split("\n", game["line"] - 1)[-1]
        assert " ".join(next(csv.reader(io.StringIO(text, newline="")))[0].split()) == game["white_name"]


@examples(quick=20, ci=200, nightly=5_000)
@given(body=st.text(st.sampled_from('Ab,"\n\r1-0'), max_size=120) | st.binary(max_size=60), size=st.integers(1, 130))
def test_any_bytes_give_the_same_account_for_any_block_size(body: str | bytes, size: int) -> None:
    content = (
        FOUR_COLUMNS.encode()
        + (body.encode() if isinstance(body, str) else body)
        + b'\nAnn,Bob,1-0,2013\n"Z",Bob,1-0,2013\n'
    )
    assert read_csv(content) == read_csv(content, size)


@pytest.mark.parametrize("stretch", [1, 20, 300])
@pytest.mark.parametrize("size", SIZES)
def test_rows_are_the_same_wherever_care_gives_way_to_speed(
    size: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ("Ann,Bob,1-0,2013\n", 'O"Neill,Bob,0-1,2013\n', '"a\nb",Bob,1-0,2013\n', '"x"y,Bob,1-0,2013\n', "\n")
    content = FOUR_COLUMNS + "".join(rows[n * n % 7 % 5] for n in range(60)) + '"open,Bob,1-0,2013\nAnn,Bob,1-0,2013'
    expected = read_csv(content)
    monkeypatch.setattr(csv_rows, "_STRETCH", stretch)
    assert read_csv(content, size) == expected
    assert expected[1][-1][0] == content.count("\n")


def real(name: str) -> tuple[int, Reading, Counter[str]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the shared folder of real games is absent: no {path}")
    reading, count, endings = Reading(name), 0, Counter[str]()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for frame in read_frames(stream, reading):
            count += frame.height
            endings.update(frame["termination"].to_list())
    return count, reading, endings


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "games", "faults"),
    [
        pytest.param("otb_replay_strict.csv.gz", 960_311, 0, marks=pytest.mark.slow),
        ("lichess_small.csv", 2000, 0),
        ("lichess_slice_20211001.csv", 999, 0),
        ("lichess_full.csv.gz", 51_343, 0),
        ("extra/lichess_first_encounters_2012-12-31.csv", 997, 3),  # three rows name no Black
    ],
)
def test_a_real_file_is_read_whole(name: str, games: int, faults: int) -> None:
    count, reading, _ = real(name)
    assert (count, len(reading.faults), reading.skipped) == (games, faults, {})


@pytest.mark.data
def test_the_endings_of_real_games_are_those_of_the_manifest() -> None:
    _, _, endings = real("lichess_small.csv")
    assert endings["time"] == 1152
    assert endings["abandonment"] == 13
    assert endings["checkmate"] == 483


@pytest.mark.data
def test_a_real_file_without_dates_is_one_clear_fault() -> None:
    count, reading, _ = real("extra/lichess_kaggle20k_nodates.csv.gz")
    assert count == 0
    assert [fault.line for fault in reading.faults] == [1]
    assert "there is no column 'ended_at' or 'started_at'" in reading.faults[0].message
