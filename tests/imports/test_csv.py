"""CSV files of games: every column, every fault with its line, any block size, and the real files."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.facts.events import KEY_PATTERN
from ledger.facts.source_games import frame_schema
from ledger.imports.csv import rows as csv_rows
from ledger.imports.csv.games import frames
from ledger.imports.csv.header import COLUMNS
from ledger.imports.csv.rows import BATCH_CSV
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl
from tests.kit.places import DATA

SIZES = (1, 7, 64, 1000, BATCH_CSV)
BASE = {"white": "Ann", "black": "Bob", "result": "1-0", "date": "2013-06-04"}


def read(
    content: str | bytes, size: int = BATCH_CSV, **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], Mapping[str, int]]:
    stored = content.encode() if isinstance(content, str) else content
    reading = Reading("games.csv")
    got = list(frames(io.BytesIO(stored), reading, size, **options))
    for frame in got:
        assert dict(frame.schema) == frame_schema()
        assert frame.height
    return (
        [row for frame in got for row in frame.to_dicts()],
        [(f.line, f.message) for f in reading.faults],
        reading.skipped,
    )


def table(*rows: Mapping[str, str], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def one(options: Mapping[str, Any] | None = None, /, **fields: str) -> dict[str, Any]:
    """The one good game of a file with these columns beside the four needed."""
    games, faults, skipped = read(table({**BASE, **fields}), **(options or {}))
    assert (faults, skipped, len(games)) == ([], {}, 1)
    return games[0]


def refused(**fields: str) -> str:
    """The one fault of such a file."""
    games, faults, _ = read(table(BASE, {**BASE}) if not fields else table({**BASE, **fields}))
    assert games == []
    assert [line for line, _ in faults] == [2]
    return faults[0][1]


def test_the_smallest_file_gives_a_whole_game() -> None:
    assert one() == {
        "line": 2,
        "key": "csv:7ab4ff47792cd4fb87a7f7d4",
        "white_id": "name:ann",
        "white_name": "Ann",
        "black_id": "name:bob",
        "black_name": "Bob",
        "outcome": "white",
        "termination": "unknown",
        "half_moves": None,
        "started_at": None,
        "ended_at": "2013-06-04",
        "tournament": None,
        "round": None,
        "rated": True,
        "white_rating": None,
        "black_rating": None,
        "speed": None,
        "variant": "standard",
        "text": None,
    }


# ---- header ------------------------------------------------------------------------------------------------

VALUES = {
    "key": ("g7", "key", "csv:g7"),
    "white": ("Zoe", "white_name", "Zoe"),
    "black": ("Zoe", "black_name", "Zoe"),
    "white_id": ("x:1", "white_id", "x:1"),
    "black_id": ("x:1", "black_id", "x:1"),
    "white_fide_id": ("5", "white_id", "fide:5"),
    "black_fide_id": ("5", "black_id", "fide:5"),
    "result": ("0-1", "outcome", "black"),
    "termination": ("time", "termination", "time"),
    "ended_by_checkmate": ("1", "termination", "checkmate"),
    "half_moves": ("3", "half_moves", 3),
    "started_at": ("2012", "started_at", "2012"),
    "ended_at": ("2014-01", "ended_at", "2014-01"),
    "tournament": ("Open", "tournament", "Open"),
    "round": ("2", "round", "2"),
    "rated": ("0", "rated", False),
    "white_rating": ("1500", "white_rating", 1500),
    "black_rating": ("1500", "black_rating", 1500),
    "speed": ("rapid", "speed", "rapid"),
    "time_control": ("180+0", "speed", "blitz"),
    "time_increment": ("15+2", "speed", "rapid"),
    "variant": ("Atomic", "variant", "atomic"),
}


@pytest.mark.parametrize(
    ("name", "alias"),
    [(n, a) for n in VALUES for a in (n, *COLUMNS[n], n.upper(), n.title().replace("_", " "))],
)
def test_a_column_is_known_by_each_of_its_names(name: str, alias: str) -> None:
    text, field, value = VALUES[name]
    columns = {("ended_at" if k == "date" else k): v for k, v in BASE.items()}
    columns.pop(name, None)
    games, faults, _ = read(table({**columns, "something": "else", alias: text}))
    assert faults == []
    assert games[0][field] == value


def test_columns_may_stand_in_any_order() -> None:
    games, _, _ = read("DATE,Result,what,Black,White\n2013,0-1,x,Bob,Ann\n")
    assert (games[0]["white_name"], games[0]["black_name"], games[0]["ended_at"]) == ("Ann", "Bob", "2013")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(delimiter: str) -> None:
    rows = {**BASE, "white": "Carlsen, M; the first\tof all", "notes: a, b; c": "1,2;3"}
    games, faults, _ = read(table(rows, delimiter=delimiter))
    assert faults == []
    assert games[0]["white_name"] == "Carlsen, M; the first of all"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("black,result,date", ["no column 'white' or 'white_id' or 'white_fide_id' (also read: white_name)"]),
        ("white,result,date", ["no column 'black'"]),
        ("white,black,date", ["no column 'result'; add it"]),
        ("white,black,result", ["no column 'ended_at' or 'started_at'", "date, utc_date_time, end, start"]),
        (
            "a,b,c",
            [
                "no column 'white'",
                "no column 'black'",
                "no column 'result'",
                "no column 'ended_at'",
                "a, b, c",
            ],
        ),
        ("white,White_Name,black,result,date", ["'white' and 'White_Name' both mean 'white'; keep one"]),
        ("white,black,result,date,ended_at", ["'date' and 'ended_at' both mean 'ended_at'"]),
        ("white,black,result,date,result", ["'result' and 'result' both mean 'result'"]),
        ("white\0,black", ["no column 'white'"]),
        (f"white,{'x' * 200_000}", ["no header of a CSV file"]),
        ("x" * 400_000, ["longer than"]),
        ("white,black,result,date\rAnn,Bob,1-0,2013", ["bare carriage return"]),
    ],
)
@pytest.mark.parametrize("size", [1000, BATCH_CSV])
def test_a_wrong_header_is_one_fault_and_nothing_is_read(header: str, words: list[str], size: int) -> None:
    games, faults, skipped = read(f"{header}\nAnn,Bob,1-0\n", size)
    assert (games, skipped) == ([], {})
    assert [line for line, _ in faults] == [1]
    for word in words:
        assert word in faults[0][1]


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n", b"   \n"])
def test_an_empty_file_is_a_fault(content: bytes) -> None:
    games, faults, _ = read(content)
    assert games == []
    assert [line for line, _ in faults] == [1]
    assert "the file is empty; its first line must name columns" in faults[0][1]


def test_a_file_in_utf_16_is_a_fault_that_says_so() -> None:
    _, faults, _ = read(table(BASE).encode("utf-16"))
    assert faults == [(1, "the file is written in UTF-16; save it again as UTF-8")]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n\n"])
def test_a_header_alone_is_no_games_and_no_fault(end: str) -> None:
    assert read(f"white,black,result,date{end}") == ([], [], {})


# ---- players -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "identity", "name"),
    [
        ({"white_id": "lichess:Ann", "white_fide_id": "7"}, "lichess:Ann", "Ann"),
        ({"white_id": "99", "white_fide_id": "7"}, "fide:7", "Ann"),
        ({"white_id": "99", "white_fide_id": ""}, "id:99", "Ann"),
        ({"white_id": "", "white_fide_id": "0"}, "name:ann", "Ann"),
        ({"white": "", "white_id": "99"}, "id:99", "99"),
        ({"white": "?", "white_fide_id": "02003651"}, "fide:2003651", "FIDE 2003651"),
        ({"white": "", "white_id": "fide:2003651"}, "fide:2003651", "FIDE 2003651"),
        ({"white": "", "white_id": "chesscom:ann"}, "chesscom:ann", "chesscom:ann"),
        ({"white_fide_id": "1503014.0"}, "fide:1503014", "Ann"),
        ({"white": "  CARLSEN,  M\n"}, "name:carlsen, m", "CARLSEN, M"),
        ({"white": "Mu\u0308ller"}, "name:müller", "Müller"),
        ({"white": "Weiß"}, "name:weiss", "Weiß"),
    ],
)
def test_an_id_with_a_colon_goes_before_fide_id_bare_id_and_name(
    fields: dict[str, str], identity: str, name: str
) -> None:
    game = one(**fields)
    assert (game["white_id"], game["white_name"]) == (identity, name)


def test_a_namespace_makes_names_and_bare_ids_its_own() -> None:
    game = one({"player_namespace": "lichess"}, white="ThiBault", black="", black_id="DrNykterstein")
    assert (game["white_id"], game["white_name"]) == ("lichess:thibault", "ThiBault")
    assert game["black_id"] == "lichess:drnykterstein"
    assert one({"player_namespace": "lichess"}, white_fide_id="7")["white_id"] == "fide:7"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"black": "ANN "}, "a player cannot play himself, but both are 'name:ann'"),
        ({"white_fide_id": "5", "black_id": "fide:5"}, "a player cannot play himself, but both are 'fide:5'"),
        ({"white": ""}, "white is missing; fill in white"),
        ({"black": "?", "black_id": " "}, "black is missing; fill in black or black_id"),
        ({"white": "A\x07b"}, "white must be at most 128 characters without control characters"),
        ({"white": "A" * 129}, "white must be at most 128"),
        ({"white_fide_id": "12x"}, "white_fide_id must be a FIDE id"),
        ({"white_fide_id": "12345678901"}, "white_fide_id must be a FIDE id"),
        ({"white_id": "lichess:"}, "white_id must be NAMESPACE:ID"),
        ({"white_id": ":ann"}, "white_id must be NAMESPACE:ID"),
    ],
)
def test_players_that_cannot_be_told_are_faults(fields: dict[str, str], words: str) -> None:
    assert words in refused(**fields)


# ---- result and ending -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *((word, "white") for word in ("1-0", "white", "White", "1:0", "1 - 0", "1–0")),
        *((word, "black") for word in ("0-1", "black", "0:1")),
        *((word, "draw") for word in ("1/2-1/2", "½-½", "draw", "0.5-0.5", "1/2:1/2", "½:½", "1/2", "Draw")),
    ],
)
def test_a_result_is_understood(text: str, outcome: str) -> None:
    game = one(result=text)
    assert (game["outcome"], game["termination"]) == (outcome, "unknown")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *((word, "white") for word in ("+/-", "+--", "+:-", "+-", "1-0F", "1-0f", "1-0FF")),
        *((word, "black") for word in ("-/+", "--+", "-:+", "-+", "0-1F")),
    ],
)
def test_a_forfeit_is_won_but_unplayed(text: str, outcome: str) -> None:
    for fields in ({}, {"termination": "Normal", "ended_by_checkmate": "0"}, {"termination": "Time forfeit"}):
        game = one(result=text, **fields)
        assert (game["outcome"], game["termination"]) == (outcome, "unplayed")


@pytest.mark.parametrize("text", ["1", "2-0", "won", "1-1", "?", "-"])
def test_another_result_is_a_fault(text: str) -> None:
    words = refused(result=text)
    assert "result must be 1-0, 0-1, 1/2-1/2" in words
    assert f"got {text!r}" in words


def test_games_left_out_are_counted_and_are_no_faults() -> None:
    rows = [{**BASE, "termination": ""} for _ in range(6)]
    rows[0]["result"] = "*"
    rows[1] |= {"result": "", "date": "", "white": "?"}
    rows[2]["termination"] = "Unterminated"
    rows[3]["result"] = "-/-"
    rows[4]["result"] = "0-0"
    for size in SIZES:
        games, faults, skipped = read(table(*rows), size)
        assert [game["line"] for game in games] == [7]
        assert faults == []
        assert skipped == {"unfinished": 3, "both forfeited": 2}


@pytest.mark.parametrize(
    ("fields", "termination"),
    [
        ({"termination": "Normal"}, "unknown"),
        ({"termination": "Normal", "ended_by_checkmate": "0"}, "resignation"),
        ({"termination": "Normal", "ended_by_checkmate": "1"}, "checkmate"),
        ({"termination": "Normal", "ended_by_checkmate": "0", "variant": "Atomic"}, "unknown"),
        ({"termination": "Normal", "ended_by_checkmate": "0", "variant": "Chess960"}, "resignation"),
        ({"termination": "Normal", "ended_by_checkmate": "0", "result": "1/2-1/2"}, "unknown"),
        ({"termination": "Normal", "stalemate": "1", "result": "1/2-1/2"}, "stalemate"),
        (
            {"termination": "Normal", "insufficient_material": "true", "result": "draw"},
            "insufficient-material",
        ),
        ({"termination": "Time forfeit", "ended_by_checkmate": "0"}, "time"),
        ({"termination": "Abandoned"}, "abandonment"),
        ({"termination": "Rules infraction"}, "rules-infraction"),
        ({"termination": "Insufficient material", "result": "draw"}, "insufficient-material"),
        ({"termination": "Adjudication"}, "adjudication"),
        ({"termination": "adjudication"}, "adjudication"),
        ({"termination": "fifty-move", "result": "draw"}, "fifty-move"),
        ({"termination": "death"}, "unknown"),
        ({"termination": "?"}, "unknown"),
        ({"termination": "", "ended_by_checkmate": "1"}, "checkmate"),
        ({"ended_by_checkmate": "true"}, "checkmate"),
        ({"ended_by_checkmate": ""}, "unknown"),
        ({"stalemate": "yes", "result": "draw"}, "stalemate"),
    ],
)
def test_the_ending_is_told_by_word_and_flags(fields: dict[str, str], termination: str) -> None:
    assert one(**fields)["termination"] == termination


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"termination": "boredom"}, "termination must be empty or one of"),
        (
            {"ended_by_checkmate": "maybe"},
            "ended_by_checkmate must be 1 or 0, true or false, yes or no; got",
        ),
        ({"ended_by_checkmate": "1", "result": "draw"}, "a draw cannot end by checkmate"),
        ({"termination": "resignation", "result": "draw"}, "a draw cannot end by resignation"),
    ],
)
def test_an_ending_that_cannot_be_is_a_fault(fields: dict[str, str], words: str) -> None:
    assert words in refused(**fields)


# ---- time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2013", "2013"),
        ("2013-06", "2013-06"),
        ("2013-06-04", "2013-06-04"),
        ("2013.06.04", "2013-06-04"),
        ("2013.??.??", "2013"),
        ("2013-??-??", "2013"),
        ("2013.06.??", "2013-06"),
        ("2013.??", "2013"),
        ("2012-12-31 23:01:03", "2012-12-31T23:01:03Z"),
        ("2018-01-18T21:01:01Z", "2018-01-18T21:01:01Z"),
        ("2018-01-18T21:01:01", "2018-01-18T21:01:01Z"),
        ("2018-01-18 21:01:01+00:00", "2018-01-18T21:01:01Z"),
        ("2018.01.18 21:01:01", "2018-01-18T21:01:01Z"),
        ("2018-01-18T21:01:01.250Z", "2018-01-18T21:01:01.250Z"),
        ("2018-01-18T21:01:01.000Z", "2018-01-18T21:01:01Z"),
        ("2018-01-18 21:01:01 UTC", "2018-01-18T21:01:01Z"),
        ("2018-01-18T21:01:01.5Z", "2018-01-18T21:01:01.500Z"),
        ("2012-02-29", "2012-02-29"),
        (" 1749 ", "1749"),
    ],
)
def test_a_time_is_as_precise_as_it_was_written(text: str, instant: str) -> None:
    assert one(date=text)["ended_at"] == instant
    game = one(start=text, date="2019")
    assert (game["started_at"], game["ended_at"]) == (instant, "2019")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2013-02-30", "no day or time that exists"),
        ("2013-02-29", "no day or time that exists"),
        ("2013-13-01", "no day or time that exists"),
        ("2013-00-00", "no day or time that exists"),
        ("2013-04-31", "no day or time that exists"),
        ("0000", "no day or time that exists"),
        ("2013-01-01T24:00:00Z", "no day or time that exists"),
        ("2013-01-01T23:59:60Z", "no day or time"),
        ("2013-1-1", "must be YYYY"),
        ("04.06.2013", "must be YYYY"),
        ("2013-06.04", "must be YYYY"),
        ("2018-01-18T21:01:01+02:00", "must be YYYY"),
        ("yesterday", "must be YYYY"),
        ("２０１３", "must be YYYY"),
        ("2013-??-04", "a day of an unknown month"),
        ("2018-01-18T21:01Z", "must be YYYY"),
        ("", "the date of the game is missing; fill in date"),
        ("????.??.??", "the date of the game is missing"),
    ],
)
def test_a_time_that_cannot_be_is_a_fault(text: str, words: str) -> None:
    assert words in refused(date=text)


def test_every_day_of_some_years_is_taken_and_no_other() -> None:
    texts = [f"{y}-{m:02}-{d:02}" for y in (1900, 2000, 2023, 2024) for m in range(14) for d in range(33)]
    games, faults, _ = read(table(*({**BASE, "date": text} for text in texts)))
    assert len(games) == 365 + 366 + 365 + 366
    assert len(faults) == len(texts) - len(games)


def test_the_start_serves_where_the_end_is_missing() -> None:
    games, faults, _ = read("white,black,result,start\nAnn,Bob,1-0,2013-06\n")
    assert (faults, games[0]["started_at"], games[0]["ended_at"]) == ([], "2013-06", "2013-06")
    assert one(date="", start="2012-01-02")["ended_at"] == "2012-01-02"


def test_a_game_cannot_end_before_it_starts() -> None:
    words = refused(start="2013-06-04T10:00:00Z", date="2013-06-04T09:59:59Z")
    assert (
        words == "the game ended before it started: 2013-06-04T09:59:59Z before 2013-06-04T10:00:00Z; "
        "correct one of the two"
    )
    refused(start="2013-06-05T10:00:00Z", date="2013-06-04")
    # Only what both give can contradict.
    for start, end in (
        ("2013-06-04T10:00:00Z", "2013-06-04"),
        ("2013-06-04T10:00:00.250Z", "2013-06-04T10:00:00Z"),
    ):
        assert one(start=start, date=end)["ended_at"] == end


# ---- other columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"plies": "0"}, "half_moves", 0),
        ({"plies": "20000"}, "half_moves", 20000),
        ({"plies": ""}, "half_moves", None),
        ({"plies": " 64 "}, "half_moves", 64),
        ({"plies": "64.0"}, "half_moves", 64),
        ({"plies": "?"}, "half_moves", None),
        ({"white_elo": "0"}, "white_rating", None),
        ({"white_elo": "?"}, "white_rating", None),
        ({"white_elo": "5000"}, "white_rating", 5000),
        ({"white_elo": "2400.0"}, "white_rating", 2400),
        ({"black_elo": ""}, "black_rating", None),
        ({"black_elo": "-"}, "black_rating", None),
        ({"event": "?"}, "tournament", None),
        ({"event": "Rated Blitz game"}, "tournament", None),
        ({"event": "Casual Chess960 game"}, "tournament", None),
        ({"event": ""}, "tournament", None),
        ({"event": "Rated  Blitz\ttournament"}, "tournament", "Rated Blitz tournament"),
        ({"event": "e\u0301" * 128}, "tournament", "é" * 128),
        ({"round": "?"}, "round", None),
        ({"round": "-"}, "round", None),
        ({"round": ""}, "round", None),
        ({"round": "3.1"}, "round", "3.1"),
        ({"round": " Final "}, "round", "Final"),
        *(({"rated": text}, "rated", True) for text in ("1", "true", "True", "YES", "")),
        *(({"rated": text}, "rated", False) for text in ("0", "false", "No")),
        ({"variant": "Standard"}, "variant", "standard"),
        ({"variant": ""}, "variant", "standard"),
        ({"variant": "King of the Hill"}, "variant", "kingOfTheHill"),
        ({"variant": "Three-check"}, "variant", "threeCheck"),
        ({"variant": "From Position"}, "variant", "fromPosition"),
        ({"variant": "racingKings"}, "variant", "racingKings"),
        ({"variant": "Chess960"}, "variant", "chess960"),
        ({"variant": "chess"}, "variant", "standard"),
        ({"time_control": "600+5"}, "speed", "rapid"),
        ({"time_control": "15+0"}, "speed", "ultraBullet"),
        ({"time_control": "180"}, "speed", "blitz"),
        ({"time_control": "-"}, "speed", "correspondence"),
        ({"time_control": "?"}, "speed", None),
        ({"time_control": ""}, "speed", None),
        ({"time_control": "40/5400+30:900+30"}, "speed", "classical"),
        ({"time_control": "1/259200"}, "speed", "correspondence"),
        ({"time_increment": "15+2"}, "speed", "rapid"),
        ({"time_increment": "0.5+0"}, "speed", "bullet"),
        ({"time_increment": "-"}, "speed", "correspondence"),
        ({"speed": "Blitz", "time_control": "15+0"}, "speed", "blitz"),
        ({"speed": "", "time_control": "15+0"}, "speed", "ultraBullet"),
        ({"speed": "daily"}, "speed", "correspondence"),
    ],
)
def test_a_value_is_understood(fields: dict[str, str], name: str, value: object) -> None:
    assert one(**fields)[name] == value


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"plies": "20001"},
            "plies must be a whole number from 0 to 20000; correct it or leave it empty; got",
        ),
        ({"plies": "-1"}, "plies must be a whole number"),
        ({"plies": "6.5"}, "plies must be a whole number"),
        ({"white_elo": "5001"}, "white_elo must be a whole number from 0 to 5000"),
        ({"black_elo": "1800?"}, "black_elo must be a whole number from 0 to 5000"),
        ({"black_elo": "99999999999999"}, "black_elo must be a whole number"),
        ({"event": "x" * 129}, "event must be at most 128 characters"),
        ({"round": "x" * 33}, "round must be at most 32"),
        ({"rated": "maybe"}, "rated must be 1 or 0"),
        ({"variant": "shogi"}, "variant must be empty or one of standard"),
        ({"speed": "slow"}, "speed must be empty or one of ultraBullet"),
        ({"time_control": "5 min"}, "time_control must be BASE+INCREMENT in seconds such as 600+5"),
        ({"time_increment": "a+2"}, "time_increment must be MINUTES+INCREMENT"),
        ({"id": "ü7"}, "id must give a key matching"),
        ({"id": "x" * 97}, "id must give a key matching"),
        ({"id": "a b"}, "got 'csv:a b'"),
    ],
)
def test_a_value_that_cannot_be_is_a_fault(fields: dict[str, str], words: str) -> None:
    assert words in refused(**fields)


def test_all_faults_of_a_row_are_told_at_once_and_in_the_order_of_lines() -> None:
    bad = {**BASE, "plies": "x", "white_elo": "y"}
    good = {**BASE, "plies": "", "white_elo": ""}
    content = table(good, {**bad, "date": "2013-02-30"}, good, {**good, "black": "Ann"}, bad) + "a,b\n" + ",,,,,,\n"
    for size in SIZES:
        games, faults, _ = read(content, size)
        assert [game["line"] for game in games] == [2, 4]
        assert [line for line, _ in faults] == [3, 3, 3, 5, 6, 6, 7, 8]
        assert [words.split()[0] for line, words in faults if line == 3] == ["plies", "date", "white_elo"]


# ---- keys --------------------------------------------------------------------------------------------------


def test_a_key_is_kept_under_the_prefix_unless_it_has_one() -> None:
    assert one(game_id="abcd1234")["key"] == "csv:abcd1234"
    assert one(game_id="lichess:abcd1234")["key"] == "lichess:abcd1234"
    assert one({"key_prefix": "twic"}, n="7")["key"] == "twic:7"
    assert one({"key_prefix": "twic"}, n="")["key"].startswith("twic:")


@pytest.mark.parametrize("options", [{"key_prefix": ""}, {"key_prefix": "a:b"}, {"player_namespace": "a b"}])
def test_a_prefix_that_cannot_stand_in_a_key_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a prefix must match"):
        read(table(BASE), **options)


@pytest.mark.parametrize("size", SIZES)
def test_made_keys_tell_games_apart_and_stay(size: int) -> None:
    facts = {**BASE, "event": "Open", "round": "1"}
    rows = [
        facts,
        facts,
        {**facts, "round": "2"},
        {**facts, "white": "Zoe"},
        {**facts, "date": "2014"},
        facts,
    ]
    keys = [game["key"] for game in read(table(*rows), size)[0]]
    assert len(set(keys)) == 6
    assert all(len(key) == 28 and pl.Series([key]).str.contains(f"^{KEY_PATTERN}$").all() for key in keys)
    assert keys == [game["key"] for game in read(table(*rows))[0]]
    # The result and the ratings are no part of it: a corrected game keeps its key.
    assert read(table({**facts, "result": "0-1"}))[0][0]["key"] == keys[0]


def test_mending_a_bad_row_moves_no_other_key() -> None:
    bad, good = {**BASE, "plies": "x"}, {**BASE, "plies": "1"}
    before = read(table(bad, good))[0]
    after = read(table(good, good))[0]
    assert before[0]["key"] == after[1]["key"]


# ---- rows --------------------------------------------------------------------------------------------------

HEADER = "white,black,result,date\n"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_as_the_file_has_them(size: int, end: str) -> None:
    content = (
        '"white",black,result,date\nAnn,Bob,1-0,2013\n\n"Ann\nthe ""Great""","Bob, Jr",1-0,2013\n   \n'
        'Ann,Bob,x,2013\n"Ann\n\nB",Bob,y,2013\nAnn,Bob\nAnn,Bob,1-0,2013,\nAnn,"",0-1,2013\nZoe,Bob,0-1,"2013"'
    ).replace("\n", end)
    games, faults, _ = read(content, size)
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
    content = HEADER + (
        'Ann,Bob,1-0,2013\n"Robert "Bobby" F","x",1-0,2013\nO"Neill,Bob,1-0,2013\n'
        '"never closed,Bob,1-0,2013\n'
        '"Ann, B",Bob,1-0,2013\n"Ann ""B""","Bob",0-1,2013\nAnn,"open,0-1,2013\nAnn,Bob,0-1,2013\n'
    )
    games, faults, _ = read(content, size)
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
    content = HEADER + f'Ann,Bob,1-0,2013\n"open,Bob,1-0,2013\n{"Ann,Bob,0-1,2014" + chr(10)}' * 30
    content += f"{'x' * 1500}\nZoe,Bob,1-0,2013\n{'a,b,c,' * 100}d\nZoe,Bob,1-0,2013\n"
    games, faults, _ = read(content, size)
    long = [line for line, words in faults if "longer than 200 bytes" in words]
    assert [game["line"] for game in games][-2:] == [93, 95]
    assert long[-2:] == [92, 94]
    assert len(games) + len(faults) == 94
    assert (games, faults) == read(content)[:2]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("quote", ["", '"'])
def test_text_that_is_not_utf_8_is_read_as_windows_1252(size: int, quote: str) -> None:
    rows = [f"{quote}M\u00fcller, J{quote}" if quote else "Müller", "Müller", "Žáček", "Ann"]
    content = HEADER.encode() + b"".join(
        f"{name},Bob,1-0,2013\n".encode(code)
        for name, code in zip(rows, ("cp1252", "utf-8", "utf-8", "cp1252"), strict=True)
    )
    games, faults, _ = read(b"\xef\xbb\xbf" + content + b'a"\x81,Bob,1-0,2013\nx,y\n', size)
    assert [line for line, _ in faults] == [7]
    names = [game["white_name"] for game in games]
    assert names == [rows[0].strip('"'), "Müller", "Žáček", "Ann", 'a"\ufffd']


NAMES = st.text(st.sampled_from('ab é",;\n\t?'), max_size=8)
RESULTS = st.sampled_from(["1-0", "0-1", "draw", "*", "+/-", "no", ""])
DATES = st.sampled_from(["2013", "2013-06-04", "2013-02-30", "2012-12-31 23:01:03", "", "x"])
ROWS = st.lists(st.tuples(NAMES, NAMES, RESULTS, DATES, st.sampled_from(["", "5", "x"])), max_size=12)


@settings(max_examples=150, deadline=None)
@given(rows=ROWS, size=st.integers(1, 200), ends=st.sampled_from(["\n", "\r\n"]))
def test_the_block_size_never_shows_and_fields_are_those_of_the_csv_module(
    rows: list[tuple[str, ...]], size: int, ends: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=ends).writerows([("white", "black", "result", "date", "plies"), *rows])
    games, faults, skipped = read(out.getvalue())
    assert (games, faults, skipped) == read(out.getvalue(), size)
    assert len(games) + len({line for line, _ in faults}) + sum(skipped.values()) == len(rows)
    for game in games:
        # A record reader that never heard of chess must find the same name on the same line.
        text = out.getvalue().replace("\r\n", "\n").split("\n", game["line"] - 1)[-1]
        assert " ".join(next(csv.reader(io.StringIO(text, newline="")))[0].split()) == game["white_name"]


@settings(max_examples=300, deadline=None)
@given(
    body=st.text(st.sampled_from('Ab,"\n\r1-0'), max_size=120) | st.binary(max_size=60),
    size=st.integers(1, 130),
)
def test_any_bytes_give_the_same_account_for_any_block_size(body: str | bytes, size: int) -> None:
    content = (
        HEADER.encode() + (body.encode() if isinstance(body, str) else body) + b'\nAnn,Bob,1-0,2013\n"Z",Bob,1-0,2013\n'
    )
    assert read(content) == read(content, size)


@pytest.mark.parametrize("stretch", [1, 20, 300])
@pytest.mark.parametrize("size", SIZES)
def test_rows_are_the_same_wherever_care_gives_way_to_speed(
    size: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ("Ann,Bob,1-0,2013\n", 'O"Neill,Bob,0-1,2013\n', '"a\nb",Bob,1-0,2013\n', '"x"y,Bob,1-0,2013\n', "\n")
    content = HEADER + "".join(rows[n * n % 7 % 5] for n in range(60)) + '"open,Bob,1-0,2013\nAnn,Bob,1-0,2013'
    expected = read(content)
    monkeypatch.setattr(csv_rows, "_STRETCH", stretch)
    assert read(content, size) == expected
    assert expected[1][-1][0] == content.count("\n")


# ---- real files --------------------------------------------------------------------------------------------


def real(name: str) -> tuple[int, Reading, Counter[str]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the shared folder of real games is absent: no {path}")
    reading, count, endings = Reading(name), 0, Counter[str]()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        for frame in frames(stream, reading):  # type: ignore[arg-type]
            count += frame.height
            endings.update(frame["termination"].to_list())
    return count, reading, endings


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "games", "faults"),
    [
        ("otb_replay_strict.csv.gz", 960_311, 0),
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
