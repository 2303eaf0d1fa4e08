"""The 001 line of TRF16 and TRF26: what each column means, what may be blank, and what is refused in which words."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.imports.trf.lines import RESULTS, PlayerLine, RoundCell, parse_player_line

EXAMPLE = (
    "001    2 wWGM Polgar, Susan                     2577 USA     2000032 1969/04/19  3.5    1"
    "     1 b 0     0 - Z  0005 w ="
)
# FIDE's ruler from the TRF26 document, where each letter stands in the column of its field.
RULER = (
    "DDD SSSS sTTT NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN RRRR FFF IIIIIIIIIII BBBB/BB/BB PPPP RRRR"
    "  1111 1 1  2222 2 2  3333 3 3"
)


def line_of(**fields: str) -> str:
    """``EXAMPLE`` with some fields overwritten, each written from its first column."""
    first = {
        "kind": 1, "rank": 5, "sex": 10, "title": 11, "name": 15, "rating": 49, "federation": 54, "fide_id": 58,
        "birth": 70, "points": 81, "place": 86, "opponent": 92, "colour": 97, "result": 99,
    }  # fmt: skip
    width = {"name": 33, "fide_id": 11, "birth": 10, "title": 3, "federation": 3, "kind": 3}
    line = EXAMPLE
    for field, text in fields.items():
        at = first[field] - 1
        wide = width.get(field, 1 if field in {"sex", "colour", "result"} else 4)
        line = line[:at] + text.ljust(wide) + line[at + wide :]
    return line


def problems(line: str) -> list[str]:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are what is compared
        parse_player_line(line)
    return str(caught.value).split("; ")


def test_the_published_example_is_read_in_full() -> None:
    assert parse_player_line(EXAMPLE) == PlayerLine(
        rank=2,
        sex="w",
        title="WGM",
        name="Polgar, Susan",
        rating=2577,
        federation="USA",
        fide_id="2000032",
        birth="1969/04/19",
        points=3.5,
        place=1,
        rounds=(RoundCell(1, "b", "0"), RoundCell(0, "-", "Z"), RoundCell(5, "w", "=")),
    )


def test_a_record_cannot_be_changed() -> None:
    read = parse_player_line(EXAMPLE)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        read.rank = 3  # type: ignore[misc]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_the_end_of_the_line_does_not_show(end: str) -> None:
    assert parse_player_line(EXAMPLE + end) == parse_player_line(EXAMPLE)


@pytest.mark.parametrize("title", ["GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM"])
def test_every_title_is_read_also_of_three_letters_and_in_small_ones(title: str) -> None:
    for written in (title, title.lower(), title.rjust(3)):
        assert parse_player_line(line_of(title=written)).title == title


def test_a_line_that_fills_every_column_keeps_its_fields_apart() -> None:
    line = "001 9999 mWGM " + "N" * 33 + " 2999 USA 12345678901 1969/04/19 11.5 9999  9998 w 1  9997 b ="
    assert len(line) == len(RULER) - 10
    read = parse_player_line(line)
    assert (read.rank, read.name, read.fide_id, read.points, read.place) == (9999, "N" * 33, "12345678901", 11.5, 9999)
    assert read.rounds == (RoundCell(9998, "w", "1"), RoundCell(9997, "b", "="))


def test_what_a_line_leaves_blank_is_empty_or_none() -> None:
    assert parse_player_line("001    7      Nobody") == PlayerLine(
        rank=7,
        sex="",
        title="",
        name="Nobody",
        rating=None,
        federation="",
        fide_id="",
        birth="",
        points=None,
        place=None,
        rounds=(),
    )


def test_a_fide_number_may_stand_for_a_name() -> None:
    assert parse_player_line(line_of(name="")).name == ""
    assert problems(line_of(name="", fide_id="")) == [
        f"columns 15-47: expected the player's name, or a FIDE number in columns 58-68, got {' ' * 33!r}"
    ]


@pytest.mark.parametrize("rating", ["0", "   0", "0000"])
def test_a_rating_of_0_is_told_as_written(rating: str) -> None:
    assert parse_player_line(line_of(rating=rating)).rating == 0


@pytest.mark.parametrize(
    "birth", ["1969/04/19", "1969/04/00", "1969/00/00", "1969/04", "1969", "0000/00/00", "1969.04.19", "1969-04"]
)
def test_a_date_of_birth_may_lack_its_day_and_month(birth: str) -> None:
    assert parse_player_line(line_of(birth=birth)).birth == birth


@pytest.mark.parametrize(("points", "value"), [(" 3.5", 3.5), ("11.5", 11.5), ("0.0", 0), ("   4", 4), (" .5", 0.5)])
def test_points(points: str, value: float) -> None:
    assert parse_player_line(line_of(points=points)).points == value


@pytest.mark.parametrize("result", RESULTS)
def test_results_are_read_in_either_case(result: str) -> None:
    for written in (result, result.lower()):
        assert parse_player_line(line_of(result=written)).rounds[0] == RoundCell(1, "b", result)


@pytest.mark.parametrize("opponent", ["0000", "   0", "    ", "0"])
def test_no_opponent_is_0_however_it_is_written(opponent: str) -> None:
    assert parse_player_line(line_of(opponent=opponent, colour="-", result="U")).rounds[0] == RoundCell(0, "-", "U")


def test_a_blank_colour_is_none_and_a_blank_result_an_absence() -> None:
    assert parse_player_line(line_of(opponent="", colour="", result="")).rounds == (
        RoundCell(0, "-", "Z", is_blank=True),
        RoundCell(0, "-", "Z"),
        RoundCell(5, "w", "="),
    )


@pytest.mark.parametrize("colour", ["w", "W", "b", "B"])
def test_colours_are_read_in_either_case(colour: str) -> None:
    assert parse_player_line(line_of(colour=colour)).rounds[0].colour == colour.lower()


@pytest.mark.parametrize(
    ("tail", "rounds"),
    [
        ("", 3), ("  ", 3), (" " * 9, 3), (" " * 10, 4), (" " * 20, 5), ("  0007", 4), ("  0007 w", 4), ("     ", 3),
    ],
)  # fmt: skip
def test_a_round_is_told_when_the_line_reaches_its_result_or_says_anything_of_it(tail: str, rounds: int) -> None:
    read = parse_player_line(EXAMPLE + tail)
    assert len(read.rounds) == rounds
    assert all(one.result == "Z" for one in read.rounds[3:])


@pytest.mark.parametrize("line", ["", "\n", "001", "001    ", "00", "013    1", "USA    2", "0011   2 w", "### SSSS s"])
def test_what_is_no_player_line_is_refused(line: str) -> None:
    assert "column" in problems(line)[0]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("rating", "5001", "columns 49-52: expected a rating of at most 5000, got '5001'"),
        ("kind", "012", "columns 1-3: expected '001', the record of a player, got '012 '"),
        ("rank", "   0", "columns 5-8: expected the starting rank, from 1, got '   0'"),
        ("rank", "", "columns 5-8: expected the starting rank, from 1, got '    '"),
        ("rank", "  2x", "columns 5-8: expected the starting rank, from 1, got '  2x'"),
        ("rating", "25?7", "columns 49-52: expected a rating or blank, got '25?7'"),
        ("rating", "-250", "columns 49-52: expected a rating or blank, got '-250'"),
        ("rating", "٢٥٧٧", "columns 49-52: expected a rating or blank, got '٢٥٧٧'"),
        ("fide_id", "    200x032", "columns 58-68: expected a FIDE number or blank, got '    200x032'"),
        ("opponent", "  x1", "columns 92-95: expected an opponent's starting rank, 0000 or blank, got '  x1'"),
        ("opponent", "   2", "columns 92-95: expected another player than the line's own, got '   2'"),
        ("colour", "s", "column 97: expected the colour w, b or - or blank, got 's'"),
        ("result", "2", "column 99: expected one of 1 = 0 + - W D L H F U Z, or blank, got '2'"),
        ("result", "½", "column 99: expected one of 1 = 0 + - W D L H F U Z, or blank, got '½'"),
    ],
)
def test_a_wrong_field_is_refused_by_its_columns_and_its_value(field: str, text: str, words: str) -> None:
    assert problems(line_of(**{field: text})) == [words]


@pytest.mark.parametrize(
    ("field", "text", "empty", "words"),
    [
        ("sex", "x", "", "column 10: expected m or w or blank, got 'x'"),
        ("title", "G M", "", "columns 11-13: expected a title such as GM or WGM or blank, got 'G M'"),
        ("federation", "US", "", "columns 54-56: expected a federation of three letters or blank, got 'US '"),
        ("birth", "19.04.1969", "", "columns 70-79: expected a date of birth YYYY/MM/DD or blank, got '19.04.1969'"),
        ("birth", "1969/13/01", "", "columns 70-79: expected a date of birth YYYY/MM/DD or blank, got '1969/13/01'"),
        ("points", " 3,5", None, "columns 81-84: expected points such as 3.5 or blank, got ' 3,5'"),
        ("place", "1st", None, "columns 86-89: expected a place or blank, got '1st '"),
    ],
)
def test_a_wrong_field_that_no_game_needs_is_left_out_and_named(
    field: str, text: str, empty: object, words: str
) -> None:
    read = parse_player_line(line_of(**{field: text}))
    assert (getattr(read, field), read.doubts) == (empty, (words,))
    assert read.rounds == parse_player_line(EXAMPLE).rounds


@pytest.mark.parametrize("column", [80, 85])
def test_what_stands_between_fields_that_no_game_needs_is_named(column: int) -> None:
    shifted = EXAMPLE[: column - 1] + "x" + EXAMPLE[column:]
    assert parse_player_line(shifted).doubts[0].startswith(f"column {column}:")


@pytest.mark.parametrize("column", [4, 9, 14, 48, 53, 57, 69, 90, 91, 96, 98, 100, 101, 110])
def test_a_line_out_of_step_is_found_by_what_parts_its_fields(column: int) -> None:
    shifted = EXAMPLE[: column - 1] + "x" + EXAMPLE[column:]
    assert any(one.startswith((f"column {column}:", "columns 1-3:")) for one in problems(shifted))


def test_every_fault_of_a_line_is_told_at_once() -> None:
    found = problems(line_of(rating="25?7", fide_id="x", opponent="  x1", result="2"))
    said = [problem.partition(":")[0] for problem in found]
    assert said == ["columns 58-68", "columns 49-52", "column 99", "columns 92-95"]
    doubts = parse_player_line(line_of(sex="x", birth="1969/13/01", place="x")).doubts
    assert [doubt.partition(":")[0] for doubt in doubts] == ["column 10", "columns 70-79", "columns 86-89"]


@given(st.text(max_size=140) | st.text(st.sampled_from("001 w-=ZGM/.xé\t"), max_size=140).map("001 ".__add__))
def test_any_text_is_read_or_refused_with_words(line: str) -> None:
    try:
        read = parse_player_line(line)
    except ValueError as error:
        assert "column" in str(error)  # noqa: PT017  # either way is right
    else:
        assert read.rank > 0


@given(
    st.lists(
        st.tuples(st.integers(3, 9999), st.sampled_from("wb"), st.sampled_from("1=0"))
        | st.tuples(st.just(0), st.just("-"), st.sampled_from("+-HFUZ")),
        max_size=13,
    )
)
def test_any_number_of_rounds_is_read_as_written(rounds: list[tuple[int, str, str]]) -> None:
    cells = "".join(f"  {opponent:4} {colour} {result}" for opponent, colour, result in rounds)
    assert parse_player_line(EXAMPLE[:89] + cells).rounds == tuple(RoundCell(*one) for one in rounds)
