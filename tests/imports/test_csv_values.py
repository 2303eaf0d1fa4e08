"""CSV files of games: every value that is understood, and every one that is a fault."""

import pytest

from tests.kit.source_files import BASE, SIZES, csv_text, fault_of, good_game, read_csv


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *((word, "white") for word in ("1-0", "white", "White", "1:0", "1 - 0", "1–0")),
        *((word, "black") for word in ("0-1", "black", "0:1")),
        *((word, "draw") for word in ("1/2-1/2", "½-½", "draw", "0.5-0.5", "1/2:1/2", "½:½", "1/2", "Draw")),
    ],
)
def test_a_result_is_understood(text: str, outcome: str) -> None:
    game = good_game(result=text)
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
        game = good_game(result=text, **fields)
        assert (game["outcome"], game["termination"]) == (outcome, "unplayed")


@pytest.mark.parametrize("text", ["2", "2-0", "won", "1-1", "?", "-"])
def test_another_result_is_a_fault(text: str) -> None:
    words = fault_of(result=text)
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
        games, faults, skipped = read_csv(csv_text(*rows), size)
        assert [game["line"] for game in games] == [7]
        assert faults == []
        assert skipped == {"unfinished": 2, "rows without a game": 1, "both forfeited": 2}


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
        ({"termination": "Normal", "insufficient_material": "true", "result": "draw"}, "insufficient-material"),
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
    assert good_game(**fields)["termination"] == termination


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"termination": "boredom"}, "termination must be empty or one of"),
        ({"ended_by_checkmate": "maybe"}, "ended_by_checkmate must be 1 or 0, true or false, yes or no; got"),
        ({"ended_by_checkmate": "1", "result": "draw"}, "a draw cannot end by checkmate"),
        ({"termination": "resignation", "result": "draw"}, "a draw cannot end by resignation"),
    ],
)
def test_an_ending_that_cannot_be_is_a_fault(fields: dict[str, str], words: str) -> None:
    assert words in fault_of(**fields)


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
    assert good_game(date=text)["ended_at"] == instant
    game = good_game(start=text, date="2019")
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
        ("2013-1-32", "must be YYYY"),
        ("04.06.2013", "may be 2013-06-04 or 2013-04-06"),
        ("04.06.13", "has a year of two digits"),
        ("2013-06.04", "must be YYYY"),
        ("2018-01-18T21:01:01+24:00", "is no time that exists with the offset +24:00"),
        ("yesterday", "must be YYYY"),
        ("２０１３", "must be YYYY"),
        ("2013-??-04", "a day of an unknown month"),
        ("2018-01-18T21:01Z", "must be YYYY"),
        ("", "the date of the game is missing; fill in date"),
        ("????.??.??", "the date of the game is missing"),
    ],
)
def test_a_time_that_cannot_be_is_a_fault(text: str, words: str) -> None:
    assert words in fault_of(date=text)


def test_every_day_of_some_years_is_taken_and_no_other() -> None:
    texts = [f"{y}-{m:02}-{d:02}" for y in (1900, 2000, 2023, 2024) for m in range(14) for d in range(33)]
    games, faults, _ = read_csv(csv_text(*({**BASE, "date": text} for text in texts)))
    assert len(games) == 365 + 366 + 365 + 366
    assert len(faults) == len(texts) - len(games)


def test_the_start_serves_where_the_end_is_missing() -> None:
    games, faults, _ = read_csv("white,black,result,start\nAnn,Bob,1-0,2013-06\n")
    assert (faults, games[0]["started_at"], games[0]["ended_at"]) == ([], "2013-06", "2013-06")
    assert good_game(date="", start="2012-01-02")["ended_at"] == "2012-01-02"


def test_a_game_cannot_end_before_it_starts() -> None:
    words = fault_of(start="2013-06-04T10:00:00Z", date="2013-06-04T09:59:59Z")
    assert (
        words == "the game ended before it started: 2013-06-04T09:59:59Z before 2013-06-04T10:00:00Z; "
        "correct one of the two"
    )
    fault_of(start="2013-06-05T10:00:00Z", date="2013-06-04")
    # Only what both give can contradict.
    for start, end in (("2013-06-04T10:00:00Z", "2013-06-04"), ("2013-06-04T10:00:00.250Z", "2013-06-04T10:00:00Z")):
        assert good_game(start=start, date=end)["ended_at"] == end


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
    assert good_game(**fields)[name] == value


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"plies": "20001"}, "plies must be a whole number from 0 to 20000; correct it or leave it empty; got"),
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
    assert words in fault_of(**fields)


def test_all_faults_of_a_row_are_told_at_once_and_in_the_order_of_lines() -> None:
    bad = {**BASE, "plies": "x", "white_elo": "y"}
    good = {**BASE, "plies": "", "white_elo": ""}
    content = csv_text(good, {**bad, "date": "2013-02-30"}, good, {**good, "black": "Ann"}, bad) + "a,b\n" + ",,,,,,x\n"
    for size in SIZES:
        games, faults, _ = read_csv(content, size)
        assert [game["line"] for game in games] == [2, 4]
        assert [line for line, _ in faults] == [3, 3, 3, 5, 6, 6, 7, 8]
        assert [words.split()[0] for line, words in faults if line == 3] == ["plies", "date", "white_elo"]
