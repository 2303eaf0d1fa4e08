"""What is written twice for speed, once for a value and once for a column, means the same in both."""

import unicodedata
from typing import Any

import attrs
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.facts import codec, codec_columns
from ledger.facts.event_fields import MAX_HALF_MOVES, MAX_PLAYER, MAX_WHOLE, is_plain_text
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_ms, instant_ms_column, round_order_column
from ledger.facts.words import Outcome, Termination, round_order
from tests.kit import strategies
from tests.tiers import examples

WHOLE = {"sequence", "white", "black", "half_moves", "white_rating", "black_rating"}
SCHEMA: dict[str, Any] = {
    field.name: pl.Int64 if field.name in WHOLE else pl.Boolean if field.name == "rated" else pl.String
    for field in attrs.fields(GameRecorded)
}
GOOD: dict[str, Any] = {
    "game": "r1-b1",
    "pool": "standard",
    "white": 1,
    "black": 2,
    "outcome": "white",
    "termination": "time",
    "half_moves": None,
    "started_at": None,
    "ended_at": "2013-06-04",
    "tournament": None,
    "round": None,
    "sequence": None,
    "rated": True,
    "text": None,
    "white_rating": None,
    "black_rating": None,
}


def frame_of(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([tuple(row[name] for name in SCHEMA) for row in rows], schema=SCHEMA, orient="row")


def row_of(game: GameRecorded) -> dict[str, Any]:
    return attrs.asdict(game, value_serializer=lambda _, __, value: getattr(value, "value", value))


def is_an_event(row: dict[str, Any]) -> bool:
    """True when the event class takes the row."""
    try:
        words = {"outcome": Outcome(row["outcome"]), "termination": Termination(row["termination"])}
        GameRecorded(**{**row, **words})
    except ValueError:
        return False
    return True


def ms_or_none(text: str | None) -> int | None:
    try:
        return None if text is None else instant_ms(text)
    except ValueError:
        return None


@given(st.lists(st.none() | strategies.instants(), max_size=30))
def test_a_column_of_instants_is_its_values(texts: list[str | None]) -> None:
    column = instant_ms_column(pl.Series("any name", texts, dtype=pl.String))
    assert column.dtype == pl.Int64
    assert column.to_list() == [ms_or_none(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    ["2013-02-29", "1900-02-29", "2000-02-29", "2013-13", "0000", "0000-12-31T23:59:59Z", "0001", "9999-12-31",
     "2013-06-04T24:00:00Z", "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.500Z", "2013-06-04T12:60:00Z",
     "1969-12-31T23:59:59.999Z"],
)  # fmt: skip
def test_a_day_or_time_that_does_not_exist_is_null_in_a_column(text: str) -> None:
    assert instant_ms_column(pl.Series([text])).to_list() == [ms_or_none(text)]


@given(st.lists(st.none() | strategies.wild_rounds(), max_size=30))
def test_a_column_of_rounds_is_its_values(rounds: list[str | None]) -> None:
    column = round_order_column(pl.Series("any name", rounds, dtype=pl.String))
    assert column.dtype == pl.Int64
    assert column.to_list() == [round_order(one) for one in rounds]


WILD: dict[str, st.SearchStrategy[Any]] = {
    "game": strategies.game_keys() | strategies.wild_texts() | st.sampled_from(["a" * 96, "a" * 97, "a\n", ".a"]),
    "pool": strategies.names() | strategies.wild_texts() | st.sampled_from(["a" * 32, "a" * 33, "a\n", "_a", "\u0661"]),
    "white": st.sampled_from([0, 1, MAX_PLAYER, MAX_PLAYER + 1, -1]) | st.integers(-(2**63), 2**63 - 1),
    "black": st.sampled_from([0, 1, MAX_PLAYER, MAX_PLAYER + 1, -1]) | st.integers(-(2**63), 2**63 - 1),
    "outcome": st.sampled_from([*(one.value for one in Outcome), "1-0", "White", "", "white "]),
    "termination": st.sampled_from([*(one.value for one in Termination), "mate", "", "Time"]),
    "half_moves": st.sampled_from([-1, 0, MAX_HALF_MOVES, MAX_HALF_MOVES + 1]) | st.integers(-(2**63), 2**63 - 1),
    "started_at": strategies.wild_instants(),
    "ended_at": strategies.wild_instants(),
    "tournament": strategies.wild_texts(),
    "round": strategies.wild_texts() | strategies.wild_rounds(),
    "sequence": st.sampled_from([0, 1, MAX_WHOLE, MAX_WHOLE + 1]) | st.integers(-(2**63), 2**63 - 1),
    "rated": st.booleans(),
    "text": strategies.hashes() | st.sampled_from(["A" * 64, "a" * 63, "a" * 65, "", "a" * 64 + "\n"]),
    "white_rating": st.sampled_from([-1, 0, 5000, 5001]) | st.integers(-(2**63), 2**63 - 1),
    "black_rating": st.sampled_from([-1, 0, 5000, 5001]) | st.integers(-(2**63), 2**63 - 1),
}


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A good row in which at most two fields hold anything."""
    changed = draw(st.lists(st.sampled_from(sorted(WILD)), max_size=2, unique=True))
    return {**GOOD, **{name: draw(st.none() | WILD[name]) for name in changed}}


def faults(rows: list[dict[str, Any]]) -> list[str | None]:
    """What is wrong with each row, in words: only those that the columns suspect are looked at."""
    frame = frame_of(rows)
    judged = codec_columns.build_events(frame, codec_columns.suspects(frame))
    return [event if isinstance(event, str) else None for event in judged]


@given(st.lists(rows(), min_size=1, max_size=30))
@examples(quick=20, ci=100, nightly=3_000)
def test_columns_refuse_exactly_what_the_class_refuses(candidates: list[dict[str, Any]]) -> None:
    judged = [(fault is None, row) for fault, row in zip(faults(candidates), candidates, strict=True)]
    assert judged == [(is_an_event(row), row) for row in candidates]


@given(st.lists(strategies.games(), min_size=1, max_size=20))
@examples(quick=20, ci=100, nightly=2_000)
def test_columns_read_the_events_that_were_written(games: list[GameRecorded]) -> None:
    frame = frame_of([row_of(game) for game in games])
    assert list(codec_columns.build_events(frame, pl.Series([True] * len(games)))) == games
    unchecked = codec_columns.build_events(frame, pl.Series([False] * len(games)))
    assert [attrs.asdict(game) for game in unchecked if isinstance(game, GameRecorded)] == [
        attrs.asdict(game) for game in games
    ]


@pytest.mark.parametrize("name", SCHEMA)
def test_an_absent_value_is_refused_just_where_the_class_refuses_it(name: str) -> None:
    (fault,) = faults([{**GOOD, name: None}])
    assert (fault is None) == is_an_event({**GOOD, name: None})


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("white", 0, "white must be a whole number from 1 to 2147483647, got 0"),
        ("outcome", "1-0", "outcome must be one of ['white', 'draw', 'black', 'none'], got '1-0'"),
        ("ended_at", "2013-02-29", "ended_at: no such day or time: '2013-02-29'"),
        ("ended_at", None, "ended_at must be YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or "),
        ("ended_at", "2013-06-04T00:00:00.000Z", "in UTC, got '2013-06-04T00:00:00.000Z'"),
        ("started_at", "2016-12-31T23:59:60Z", "started_at: no such day or time: '2016-12-31T23:59:60Z'"),
        ("pool", "a b", "pool must be text matching [A-Za-z0-9][A-Za-z0-9_-]{0,31}, got 'a b'"),
        ("round", "e\u0301", "characters of NFC text without controls or outer blanks, got 'e\u0301'"),
    ],
)
def test_a_fault_says_which_field_what_is_wanted_and_what_was_given(name: str, value: object, fault: str) -> None:
    (found,) = faults([{**GOOD, name: value}])
    assert found is not None
    assert fault in found


@given(
    st.lists(strategies.games(), min_size=1, max_size=20),
    st.integers(1, 10**12),
    strategies.recorded_ats(),
    strategies.actors(),
)
@examples(quick=20, ci=100, nightly=2_000)
def test_columns_write_the_bytes_of_the_codec(
    games: list[GameRecorded], first: int, recorded_at: str, actor: str
) -> None:
    frame = frame_of([row_of(game) for game in games])
    assert not codec_columns.suspects(frame).any()
    facts = codec_columns.facts(frame)
    assert [one.encode() for one in facts.to_list()] == [codec.facts(game) for game in games]
    bodies = codec_columns.bodies(frame, first, recorded_at, actor)
    assert bodies == [
        codec.assemble(first + i, recorded_at, actor, game.KIND, game.key, codec.facts(game))
        for i, game in enumerate(games)
    ]
    assert [codec.decode(body).event for body in bodies] == games


@pytest.mark.parametrize(
    "text", ['"', "\\", '\\"', "\\u0041", "a/b", "</script>", "a\u2028b", "\u00ad", "\u200b", "\ufeffa", "Ålesund",
             "日本", "\U0001f600", "{}", "${x}", "$1", "null", "a,b", "\u0378", "\ufffd", "\ufffe"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["tournament", "round"])
def test_awkward_text_is_written_as_the_codec_writes_it(name: str, text: str) -> None:
    rows = [{**GOOD, name: one} for one in (text, None, "1", text)]
    frame = frame_of(rows)
    words = {"outcome": Outcome.WHITE, "termination": Termination.TIME}
    expected = [codec.facts(GameRecorded(**{**row, **words})) for row in rows]
    assert [one.encode() for one in codec_columns.facts(frame).to_list()] == expected


@pytest.mark.parametrize("control", [chr(code) for code in [*range(32), *range(127, 160)]])
@pytest.mark.parametrize("name", ["tournament", "round"])
def test_control_characters_come_through_neither_way(name: str, control: str) -> None:
    row = {**GOOD, name: f"a{control}b"}
    (fault,) = faults([row])
    assert fault is not None
    assert not is_an_event(row)


def test_an_actor_who_is_not_plain_text_is_refused_by_columns_too() -> None:
    frame = frame_of([GOOD])
    with pytest.raises(MalformedError, match=r"@ \$\.actor$"):
        codec_columns.bodies(frame, 1, "2026-11-21T03:15:13.123Z", "eve\n")


@given(st.text(st.sampled_from([*map(chr, range(0x20)), " ", "a", "~", "\x7f"]), max_size=5))
def test_plain_ascii_text_is_known_by_the_definition_that_holds_for_any_text(text: str) -> None:
    outer = text.strip() != text
    controls = any(unicodedata.category(character) == "Cc" for character in text)
    assert is_plain_text(text, 4) == (0 < len(text) <= 4 and not outer and not controls)
