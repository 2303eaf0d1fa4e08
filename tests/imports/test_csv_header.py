"""CSV files of games: columns by each of their names, and how players are told."""

import pytest

from ledger.imports.csv.header import COLUMNS, read_header
from ledger.imports.csv.rows import BATCH_CSV
from tests.kit.source_files import BASE, csv_text, fault_of, good_game, read_csv


def test_the_smallest_file_gives_a_whole_game() -> None:
    assert good_game() == {
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
        "sequence": None,
        "rated": True,
        "white_rating": None,
        "black_rating": None,
        "speed": None,
        "is_made": True,
        "variant": "standard",
        "text": None,
    }


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
    "sequence": ("3", "sequence", 3),
    "rated": ("0", "rated", False),
    "white_rating": ("1500", "white_rating", 1500),
    "black_rating": ("1500", "black_rating", 1500),
    "speed": ("rapid", "speed", "rapid"),
    "time_control": ("180+0", "speed", "blitz"),
    "time_increment": ("15+2", "speed", "rapid"),
    "variant": ("Atomic", "variant", "atomic"),
}


@pytest.mark.parametrize(
    ("name", "alias"), [(n, a) for n in VALUES for a in (n, *COLUMNS[n], n.upper(), n.title().replace("_", " "))]
)
def test_a_column_is_known_by_each_of_its_names(name: str, alias: str) -> None:
    text, field, value = VALUES[name]
    columns = {("ended_at" if k == "date" else k): v for k, v in BASE.items()}
    columns.pop(name, None)
    games, faults, _ = read_csv(csv_text({**columns, "something": "else", alias: text}))
    assert faults == []
    assert games[0][field] == value


def test_columns_may_stand_in_any_order() -> None:
    games, _, _ = read_csv("DATE,Result,what,Black,White\n2013,0-1,x,Bob,Ann\n")
    assert (games[0]["white_name"], games[0]["black_name"], games[0]["ended_at"]) == ("Ann", "Bob", "2013")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(delimiter: str) -> None:
    rows = {**BASE, "white": "Carlsen, M; the first\tof all", "notes: a, b; c": "1,2;3"}
    games, faults, _ = read_csv(csv_text(rows, delimiter=delimiter))
    assert faults == []
    assert games[0]["white_name"] == "Carlsen, M; the first of all"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("black,result,date", ["no column 'white' or 'white_id' or 'white_fide_id' (also read: white_name)"]),
        ("white,result,date", ["no column 'black'"]),
        ("white,black,date", ["no column 'result'; add it"]),
        ("white,black,result", ["no column 'ended_at' or 'started_at'", "date, utc_date_time, end, start"]),
        ("a,b,c", ["no column 'white'", "no column 'black'", "no column 'result'", "no column 'ended_at'", "a, b, c"]),
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
    games, faults, skipped = read_csv(f"{header}\nAnn,Bob,1-0\n", size)
    assert (games, skipped) == ([], {})
    assert [line for line, _ in faults] == [1]
    for word in words:
        assert word in faults[0][1]


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n", b"   \n"])
def test_an_empty_file_is_a_fault(content: bytes) -> None:
    games, faults, _ = read_csv(content)
    assert games == []
    assert [line for line, _ in faults] == [1]
    assert "the file is empty; its first line must name columns" in faults[0][1]


@pytest.mark.parametrize("size", [7, 14, BATCH_CSV])
def test_rows_of_dividers_alone_are_passed_over_wherever_a_block_ends(size: int) -> None:
    file = ",,,,,,\n" * 100 + csv_text(BASE)
    games, faults, _ = read_csv(file, size)
    assert (len(games), faults) == (1, [])


def test_a_file_in_utf_16_is_a_fault_that_says_so() -> None:
    _, faults, _ = read_csv(csv_text(BASE).encode("utf-16"))
    assert faults == [(1, "the file is written in UTF-16; save it again as UTF-8")]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n\n"])
def test_a_header_alone_is_no_games_and_no_fault(end: str) -> None:
    assert read_csv(f"white,black,result,date{end}") == ([], [], {})


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
    game = good_game(**fields)
    assert (game["white_id"], game["white_name"]) == (identity, name)


def test_a_namespace_makes_names_and_bare_ids_its_own() -> None:
    game = good_game({"source": "lichess"}, white="ThiBault", black="", black_id="DrNykterstein")
    assert (game["white_id"], game["white_name"]) == ("lichess:thibault", "ThiBault")
    assert game["black_id"] == "lichess:drnykterstein"
    assert good_game({"source": "lichess"}, white_fide_id="7")["white_id"] == "fide:7"


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
    assert words in fault_of(**fields)


def test_a_heading_that_resembles_a_column_is_suggested() -> None:
    with pytest.raises(ValueError, match="nothing was read") as refused:
        read_header("Whites,Blacks,result,date", headings={})
    for_white, for_black = str(refused.value).split("; there is no column 'black'")
    assert "(did you mean 'Whites'?)" in for_white
    assert "(did you mean 'Blacks'?)" in for_black


def test_the_white_ones_are_not_suggested_for_black() -> None:
    with pytest.raises(ValueError, match="there is no column 'black'") as refused:
        read_header("white,Blancs,result,date", headings={})
    assert "did you mean" not in str(refused.value)
