"""PGN as servers, studies and arbiters write it: glued games, odd tags, other spellings of results, offsets."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from ledger.imports import legality
from ledger.imports.csv import values
from ledger.imports.files import wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.reading import FileHints, Reading

MOVES = "1. e4 e5 2. Nf3 Nc6"


def pgn(text: str, **said: Any) -> tuple[list[dict[str, Any]], Reading]:
    source = wrap_file(BytesIO(text.encode()), "a.pgn")
    rows = [row for frame in read_game_frames(source, "pgn", FileHints(**said)) for row in frame.to_dicts()]
    return rows, source.reading


def game(result: str = "1-0", moves: str = f"{MOVES} 1-0", **tags: str) -> str:
    tags = {"Event": "Cup", "Date": "2024.05.03", "White": "Ann", "Black": "Bob", "Result": result, **tags}
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{moves}\n\n"


@pytest.mark.parametrize("result", ["1-0", "1/2-1/2", "*", "½-½", "0.5-0.5"])
@pytest.mark.parametrize("between", ["", " \t", " {a comment}", " {one} {two}"])
@pytest.mark.parametrize("ends", [MOVES, f"{MOVES} {{[%clk 0:03:00]}}", ""])
def test_games_that_are_glued_behind_a_result_are_parted(result: str, between: str, ends: str) -> None:
    glued = game(result, f"{ends} {result}").rstrip("\n") + between
    rows, reading = pgn(glued + glued + game())
    assert reading.faults == []
    assert len(rows) + reading.skipped["unfinished"] == 3
    assert rows[-1]["line"] == 13
    assert {row["tournament"] for row in rows} == {"Cup"}


@pytest.mark.parametrize("comment", ['{said 1-0[Event "x"]}', '{he\nsaid 1-0[Event "x"]}', '; 1-0[Event "x"]\n'])
def test_a_result_and_a_tag_within_a_comment_part_nothing(comment: str) -> None:
    rows, reading = pgn(game(moves=f"{MOVES} {comment} 1-0") + game())
    assert (len(rows), reading.faults) == (2, [])


def test_tags_whose_name_is_of_two_words_say_nothing_and_may_begin_a_game() -> None:
    odd = '[White ACPL "25"]\n[Event Date "2024.04.01"]\n'
    rows, reading = pgn(odd + game(White="Cy") + odd + game(White="Di"))
    assert reading.faults == []
    assert [(row["white_name"], row["tournament"], row["ended_at"]) for row in rows] == [
        ("Cy", "Cup", "2024-05-03"),
        ("Di", "Cup", "2024-05-03"),
    ]


@pytest.mark.parametrize(
    ("result", "moves", "outcome", "termination"),
    [
        ("0.5-0.5", f"{MOVES} 0.5-0.5", "draw", "unknown"),
        ("½–½", f"{MOVES} ½–½", "draw", "unknown"),
        ("1:0", f"{MOVES} 1:0", "white", "unknown"),
        ("0–1", f"{MOVES} 0–1", "black", "unknown"),
        ("+/-", "+/-", "white", "unplayed"),
        ("-:+", "-:+", "black", "unplayed"),
        ("1-0F", "1-0F", "white", "unplayed"),
        ("+/-", f"{MOVES} +/- 1-0", "white", "unknown"),  # begun, so rated; behind moves "+/-" is an opinion
        ("*", f"{MOVES} 1-0", "white", "unknown"),
    ],
)
def test_results_in_other_spellings_are_read(result: str, moves: str, outcome: str, termination: str) -> None:
    (row,), reading = pgn(game(result, moves))
    assert (row["outcome"], row["termination"], reading.faults) == (outcome, termination, [])
    assert [note.message for note in reading.notes] == (
        ["Result '*', but 1-0 after the moves: the moves are believed"] if result == "*" else []
    )


def test_both_forfeited_is_no_game_and_what_contradicts_or_is_no_result_is_a_fault() -> None:
    rows, reading = pgn(game("0-0", "0-0") + game("-/-", "-/-"))
    assert (rows, dict(reading.skipped), reading.faults) == ([], {"both forfeited": 2}, [])
    for result in ("1", "0", "won", "0.5-0.5"):
        assert len(pgn(game(result))[1].faults) == 1


@pytest.mark.parametrize(
    ("time", "end"),
    [
        ("19:30:00+02:00", "2024-05-03T17:30:00Z"),
        ("00:30:00 +0200", "2024-05-02T22:30:00Z"),
        ("22:30 -03", "2024-05-04T01:30:00Z"),
        ("19:30:00Z", "2024-05-03T19:30:00Z"),
        ("19:30:00 GMT+0000", "2024-05-03T19:30:00Z"),
        ("19:30 GMT+2", "2024-05-03T17:30:00Z"),
        ("19:30 UTC-5", "2024-05-04T00:30:00Z"),
        ("??:??:??", "2024-05-03"),
    ],
)
def test_times_with_an_offset_are_put_into_utc(time: str, end: str) -> None:
    rows, reading = pgn(game(UTCTime=time, UTCDate="2024.05.03"))
    assert (rows[0]["ended_at"], reading.notes) == (end, [])


@pytest.mark.parametrize(("time", "what"), [
    ("19:30 CEST", "CEST"), ("7:30 PM", "PM"), ("19:30:00+99:00", "+99:00"), ("25:00:00", "25:00:00"), ("soon", "soon"),
])  # fmt: skip
@pytest.mark.parametrize("day", ["UTCDate", "Date"])
def test_a_time_that_is_not_understood_is_noted_and_the_day_counts(time: str, what: str, day: str) -> None:
    rows, reading = pgn(2 * game(**{day: "2024.05.03", "UTCTime": time}))
    assert {row["ended_at"] for row in rows} == {"2024-05-03"}
    (note,) = reading.notes
    assert note.message.startswith(f"{what!r} in a time of the day is not understood, so the day alone counts")
    assert note.message.endswith("(2 times)")


def test_a_table_may_give_offsets_as_well() -> None:
    assert values.parse_instant("2024-05-03T00:30:00.250+02:00") == "2024-05-02T22:30:00.250Z"
    assert values.parse_instant("2024-05-03 19:30:00 -0530") == "2024-05-04T01:00:00Z"
    for wrong in ("2024-05-03T00:30:00+15:00", "2024-02-30T00:30:00+02:00"):
        with pytest.raises(ValueError, match="offset"):
            values.parse_instant(wrong)


def test_moves_that_cannot_be_played_are_noted_with_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    king = game(moves="1. e4 e5 2. Ke3 1-0")
    others = game(moves="1. Sf3 Sf6 1-0") + game(moves="1. P@e4 1-0", Variant="Crazyhouse")
    rows, reading = pgn(game() + king + others)
    assert (len(rows), [note.line for note in reading.notes]) == (4, [9])
    assert "move 2. 'Ke3' (half-move 3) cannot be played" in reading.notes[0].message
    for moves, what in (("e4 e5 Nf3#", "the last move 'Nf3#' is no checkmate"), ("e4 Z0 Nf3", "half-move 2 passes")):
        assert what in pgn(game(moves=f"{moves} 1-0"))[1].notes[0].message
    mate = "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7# 1-0"
    assert pgn(game(moves=mate))[1].notes == []
    monkeypatch.setattr(legality, "FEW_GAMES", 3)
    assert pgn(game() + king + others)[1].notes == [], "a large file is not played through"
    assert len(pgn(game() + king + others, check_moves=True)[1].notes) == 1
