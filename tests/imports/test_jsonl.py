"""The ledger's own JSON lines: strict in, the same out."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.event_fields import is_plain_text
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Outcome, Termination
from ledger.imports import jsonl
from ledger.imports.reading import SPEEDS, Reading
from tests.kit.games import source_game
from tests.kit.source_files import OUR_GAME, game_line


def read(*lines: object) -> tuple[list[SourceGame], Reading]:
    reading = Reading("test")
    raw = [one if isinstance(one, bytes) else orjson.dumps(one) + b"\n" for one in lines]
    return list(jsonl.read_games(raw, reading)), reading


def test_optional_fields_may_be_left_out_and_the_variant_is_standard() -> None:
    (game,), reading = read(OUR_GAME)
    assert reading.faults == []
    assert game == SourceGame(
        line=1,
        key="club:1",
        white_id="name:ann",
        white_name="Ann",
        black_id="fide:1503014",
        black_name="Bob",
        outcome="white",
        termination="resignation",
        half_moves=None,
        started_at=None,
        ended_at="2013",
        tournament=None,
        round=None,
        rated=True,
        white_rating=None,
        black_rating=None,
        speed=None,
        variant="standard",
        text=None,
    )


def test_a_whole_second_written_with_its_milliseconds_is_that_second() -> None:
    times = {"started_at": "2013-06-04T19:00:00.250Z", "ended_at": "2013-06-04T19:30:00.000Z"}
    (game,), reading = read({**OUR_GAME, **times})
    assert reading.faults == []
    assert (game.started_at, game.ended_at) == ("2013-06-04T19:00:00.250Z", "2013-06-04T19:30:00Z")


@pytest.mark.parametrize(
    "instant", ["2013.000Z", "2013-06-04.000Z", "2013-06-04T19:30:61.000Z", "2013-06-04T19:30:00.00Z"]
)
def test_an_instant_that_does_not_exist_stays_a_fault_with_its_milliseconds(instant: str) -> None:
    games, reading = read({**OUR_GAME, "ended_at": instant})
    assert games == []
    assert [fault.message.rpartition(" @ ")[2] for fault in reading.faults] == ["$.ended_at"]


def test_all_faults_of_a_line_are_told_at_once_with_their_places() -> None:
    bad = {**OUR_GAME, "colour": 1, "white": {"id": 5, "nick": "x"}, "rated": "yes", "half_moves": True}
    games, reading = read(b"\n", {**bad, "round": None})
    assert games == []
    assert {fault.line for fault in reading.faults} == {2}
    places = {fault.message.rpartition(" @ ")[2] for fault in reading.faults}
    assert places == {"$.colour", "$.white.id", "$.white.nick", "$.white.name", "$.rated", "$.half_moves", "$.round"}
    assert any("expected true or false, got 'yes'" in fault.message for fault in reading.faults)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "no blanks"), ("key", 1), ("outcome", "1-0"), ("termination", "Normal"),
        ("ended_at", "2013.06.04"),
        ("ended_at", "2013-02-30"), ("started_at", 2013), ("half_moves", -1), ("half_moves", 20_001),
        ("half_moves", 1.0), ("tournament", ""), ("tournament", " x"), ("tournament", "x" * 129),
        ("round", "x" * 33), ("rated", 1), ("white_rating", 5001), ("black_rating", "1500"),
        ("speed", "fast"),
        ("variant", "From Position"), ("text", ""), ("white", "Ann"),
        ("black", {"id": "a", "name": "e\u0301"}), ("white", {"id": "12345", "name": "Ann"}),
    ],
)  # fmt: skip
def test_nothing_is_taken_for_something_else(field: str, value: object) -> None:
    games, reading = read({**OUR_GAME, field: value})
    assert games == []
    assert len(reading.faults) == 1
    assert f"@ $.{field}" in reading.faults[0].message


@pytest.mark.parametrize("field", sorted(OUR_GAME))
def test_needed_fields_are_asked_for(field: str) -> None:
    _, reading = read({name: value for name, value in OUR_GAME.items() if name != field})
    assert [fault.message for fault in reading.faults] == [f"required field missing @ $.{field}"]


@pytest.mark.parametrize("line", [b"{", b"[]\n", b"nonsense", b'{"a":1}{"b":2}\n', b"\xff\xfe"])
def test_what_is_no_object_is_a_fault(line: bytes) -> None:
    games, reading = read(line)
    assert games == []
    assert reading.faults


def plain(limit: int) -> st.SearchStrategy[str]:
    letters = "aZ9 ,'\"\\é蝶\u0301🐎"
    return st.text(letters, min_size=1, max_size=limit).filter(lambda text: is_plain_text(text, limit))


IDENTITIES = plain(20).filter(lambda text: not text.isdecimal())
GAMES = st.builds(
    SourceGame, line=st.just(1), key=st.from_regex(r"[a-z]{1,8}:[A-Za-z0-9/_-]{1,24}", fullmatch=True),
    white_id=IDENTITIES, white_name=plain(20), black_id=IDENTITIES, black_name=plain(20),
    outcome=st.sampled_from([o.value for o in Outcome]),
    termination=st.sampled_from([t.value for t in Termination]),
    half_moves=st.none() | st.integers(0, 20_000), started_at=st.sampled_from([None, "1851", "2013-06"]),
    ended_at=st.sampled_from(["2013", "2013-06-04T19:30:00Z", "2013-06-04T19:30:00.250Z"]),
    tournament=st.none() | plain(128), round=st.none() | plain(32), rated=st.booleans(),
    white_rating=st.none() | st.integers(0, 5000), black_rating=st.none() | st.integers(0, 5000),
    speed=st.none() | st.sampled_from(SPEEDS), variant=st.sampled_from(["standard", "fromPosition"]),
    text=st.none() | st.just("e4 {[%clk 0:03:00]} e5"), is_made=st.just(value=False),
    sequence=st.none() | st.integers(1, 2**53 - 1),
)  # fmt: skip


@given(GAMES)
def test_what_is_written_reads_back_the_same(game: SourceGame) -> None:
    line = game_line(game)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    games, reading = read(line)
    assert reading.faults == []
    assert games == [game]


def test_a_key_that_an_earlier_release_made_of_names_is_made_again() -> None:
    lines = [game_line(source_game(key)) for key in (f"csv:{7:024x}", f"lichess:{7:024x}", f"csv:k{7:023x}")]
    assert [game.is_made for game in read(*lines)[0]] == [True, False, False]


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    read(*data.splitlines(keepends=True))
