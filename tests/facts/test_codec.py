"""Canonical bytes: pinned for every kind, the same as another library writes, and read back without any coercion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import attrs
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.facts import codec
from ledger.facts.codec import assemble, canonical, decode, facts, facts_mapping, structure_event
from ledger.facts.events import (
    EVENTS,
    ConversionRange,
    Event,
    GameRecorded,
    PlayerRegistered,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.words import Carry, Outcome, Standing, Termination
from tests.kit import strategies
from tests.kit.games import game_recorded
from tests.kit.golden_entries import FOLDER, GOLDEN

RECORDED_AT = "2026-11-21T03:15:13.123Z"
GAME: dict[str, Any] = {
    "black": 2,
    "ended_at": "2013-06-04",
    "outcome": "white",
    "pool": "standard",
    "rated": True,
    "termination": "resignation",
    "white": 1,
}
ENTRY: dict[str, Any] = {
    "actor": "ledger",
    "facts": GAME,
    "key": "game:r1-b1",
    "kind": "game-recorded/1",
    "position": 1,
    "recorded_at": RECORDED_AT,
}
ADOPTED: dict[str, Any] = {"pool": "standard", "scheme": "chessworld", "settings": {}}
FIRST_RANGE = {"factor": "0.6", "offset": "800"}
LATER_RANGE = {"factor": "1", "from_rating": "2000", "offset": "0"}
CAFE_KOEK = hashlib.sha256("Café Kök".encode()).hexdigest()[:32]


def body(**changes: Any) -> bytes:
    """The bytes of ``ENTRY`` with these fields instead; ``...`` leaves one out."""
    entry = {name: value for name, value in {**ENTRY, **changes}.items() if value is not ...}
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def game(**changes: Any) -> bytes:
    """The bytes of ``ENTRY`` with these facts instead; ``...`` leaves one out."""
    return body(facts={name: value for name, value in {**GAME, **changes}.items() if value is not ...})


def adopted(given_settings: object) -> bytes:
    return body(
        kind="scheme-adopted/1",
        key="scheme:standard@start",
        facts={**ADOPTED, "settings": given_settings},
    )


def changed(**changes: object) -> bytes:
    """A scheme adopted from 2020 on, with these facts instead; ``...`` leaves one out."""
    facts_given = {**ADOPTED, "effective_from": "2020", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="scheme-adopted/1", key="scheme:standard@2020", facts=given)


def converting(*ranges: object) -> bytes:
    return changed(carry="convert", conversion=list(ranges))


def run_closed(**changes: object) -> bytes:
    """A closed rating run with these facts instead; ``...`` leaves one out."""
    facts_given = {"as_of": "2024-02-29", "pool": "standard", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="rating-run-closed/1", key="run:standard@2024-02-29", facts=given)


def clock_accepted(**changes: object) -> bytes:
    """An accepted clock with these facts instead; ``...`` leaves one out."""
    given = {name: value for name, value in {"entry": 13, **changes}.items() if value is not ...}
    return body(kind="clock-accepted/1", key="clock:13", facts=given)


def tournament_closed(**changes: object) -> bytes:
    """A closed tournament with these facts instead; ``...`` leaves one out."""
    facts_given = {"ended_at": "1999-06-30", "pool": "standard", "tournament": "Café Kök", **changes}
    given = {name: value for name, value in facts_given.items() if value is not ...}
    return body(kind="tournament-closed/1", key=f"tournament:standard:{CAFE_KOEK}@1999-06-30", facts=given)


def problems_of(refused: bytes) -> tuple[str, ...]:
    with pytest.raises(MalformedError) as caught:
        decode(refused)
    return caught.value.problems


def a_game(**changes: Any) -> GameRecorded:
    """The game of ``ENTRY`` with these facts instead."""
    return game_recorded("r1-b1", **{"ended_at": "2013-06-04", **changes})


# --- the bytes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN)
def test_every_kind_is_written_in_these_bytes_for_ever(name: str) -> None:
    stored = (FOLDER / f"{name}.json").read_bytes().removesuffix(b"\n")
    entry = GOLDEN[name]
    assert entry.body() == stored
    assert decode(stored) == codec.Entry(
        position=entry.position, recorded_at=entry.recorded_at, actor=entry.actor, event=entry.event
    )


def test_every_kind_has_its_shortest_and_its_fullest_form_pinned() -> None:
    wanted = {f"{cls.KIND.replace('/', '-')}.{form}" for cls in EVENTS for form in ("minimal", "full")}
    assert wanted <= GOLDEN.keys()
    assert {path.stem for path in FOLDER.glob("*.json")} == set(GOLDEN)
    for cls in EVENTS:
        full = GOLDEN[f"{cls.KIND.replace('/', '-')}.full"].event
        assert None not in attrs.astuple(full, recurse=False)


@given(strategies.events(), st.integers(1, 2**53 - 1), strategies.recorded_ats(), strategies.plain_texts(128))
def test_what_is_written_is_read_back(event: Event, position: int, recorded_at: str, actor: str) -> None:
    written = assemble(position, recorded_at, actor, event.KIND, event.key, facts(event))
    assert decode(written) == codec.Entry(position=position, recorded_at=recorded_at, actor=actor, event=event)


@given(strategies.events(), strategies.recorded_ats(), strategies.plain_texts(128))
def test_the_bytes_are_those_of_rfc_8785(event: Event, recorded_at: str, actor: str) -> None:
    written = assemble(7, recorded_at, actor, event.KIND, event.key, facts(event))
    assert written == rfc8785.dumps(json.loads(written))


_PLAIN = st.recursive(
    st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | strategies.plain_texts(20)
    | st.text('\x00\x1f\x7f\b\t\n"\\/'),
    lambda inner: st.dictionaries(st.text(st.characters(max_codepoint=127), max_size=8), inner, max_size=4)
    | st.lists(inner, max_size=4),
)


@given(st.dictionaries(st.text(st.characters(max_codepoint=127), max_size=8), _PLAIN, max_size=4))
def test_canonical_agrees_with_rfc_8785_on_the_whole_subset(value: dict[str, Any]) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(strategies.events())
def test_plain_facts_build_the_event_again(event: Event) -> None:
    plain = facts_mapping(event)
    assert all(type(value) in {str, int, bool, dict, list} for value in plain.values())
    assert {type(value) for one in plain.get("conversion", []) for value in one.values()} <= {str}
    assert structure_event(event.KIND, plain) == event


def test_any_mapping_may_hold_settings() -> None:
    event = SchemeAdopted(pool="a", scheme="b", settings=MappingProxyType({"k": 32}))
    assert facts(event) == b'{"pool":"a","scheme":"b","settings":{"k":32}}'


def test_a_range_is_written_without_what_it_leaves_out() -> None:
    ranges = (ConversionRange(factor="0.6", offset="800"), ConversionRange(from_rating="2000", factor="1", offset="0"))
    event = SchemeAdopted(
        pool="a", scheme="b", settings={}, effective_from="2020", carry=Carry.CONVERT, conversion=ranges
    )
    assert facts(event) == (
        b'{"carry":"convert","conversion":[{"factor":"0.6","offset":"800"},'
        b'{"factor":"1","from_rating":"2000","offset":"0"}],"effective_from":"2020",'
        b'"pool":"a","scheme":"b","settings":{}}'
    )


@pytest.mark.parametrize("carry", Carry)
def test_what_an_adoption_leaves_out_is_not_written(carry: Carry) -> None:
    event = SchemeAdopted(pool="a", scheme="b", settings={}, effective_from="2020", carry=carry)
    assert facts(event) == (
        b'{"carry":"%b","effective_from":"2020","pool":"a","scheme":"b","settings":{}}' % carry.encode()
    )
    assert event.key == "scheme:a@2020"


def test_a_closing_is_known_by_its_pool_and_its_day_or_name() -> None:
    assert RatingRunClosed(pool="a", as_of="2024-02-29").key == "run:a@2024-02-29"
    assert TournamentClosed(pool="a", tournament="Café Kök", ended_at="1999").key == f"tournament:a:{CAFE_KOEK}@1999"


@given(st.lists(strategies.closed_tournaments(), min_size=2, max_size=2))
def test_two_tournaments_of_a_pool_have_two_keys_and_so_have_two_editions_of_one(
    both: list[TournamentClosed],
) -> None:
    one, other = both
    known = [(event.pool, event.tournament, event.ended_at) for event in both]
    assert (one.key == other.key) == (known[0] == known[1])
    assert (attrs.evolve(one, ended_at=other.ended_at).key == one.key) == (one.ended_at == other.ended_at)


# --- refusals when read -------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[bytes, str]] = {
    "text for a whole number": (game(white="5"), "expected int, got '5' @ $.facts.white"),
    "a float": (game(white=5.9), "expected int, got 5.9 @ $.facts.white"),
    "a float without fraction": (game(white=5.0), "expected int, got 5.0 @ $.facts.white"),
    "true for a whole number": (game(white=True), "expected int, got True @ $.facts.white"),
    "1 for true": (game(rated=1), "expected bool, got 1 @ $.facts.rated"),
    "text for true": (game(rated="false"), "expected bool, got 'false' @ $.facts.rated"),
    "NaN": (game(white=float("nan")), "not JSON: "),
    "null": (game(pool=None), "expected str, got None @ $.facts.pool"),
    "null for an absent field": (
        game(half_moves=None),
        "null is not written: leave the field out @ $.facts.half_moves",
    ),
    "a list for text": (game(pool=["a"]), "expected str, got ['a'] @ $.facts.pool"),
    "a zone that is not UTC": (game(ended_at="2013-06-04T19:30:00+02:00"), "in UTC, got '2013-06-04T19:30:00+02:00'"),
    "an instant without a zone": (game(ended_at="2013-06-04T19:30:00"), "in UTC, got '2013-06-04T19:30:00'"),
    "a day that does not exist": (game(ended_at="2013-02-29"), "no such day or time: '2013-02-29'"),
    "an unknown word": (game(outcome="1-0"), "expected one of ['white', 'draw', 'black', 'none'], got '1-0'"),
    "a list for a word": (game(outcome=["white"]), "expected one of ['white', 'draw', 'black', 'none']"),
    "an unknown field": (game(colour="w"), "@ $.facts.colour"),
    "a missing field": (game(pool=...), "required field missing @ $.facts.pool"),
    "too large a number": (game(half_moves=20_001), "half_moves must be a whole number from 0 to 20000, got 20001"),
    "a number beyond 2^63": (game(white=2**64), "@ $.facts.white"),
    "decomposed letters": (game(round="e\u0301"), "NFC text without controls or outer blanks, got 'e\u0301'"),
    "a control character": (game(round="1\x07"), "NFC text without controls or outer blanks, got '1\\x07'"),
    "an outer blank": (game(round=" 1"), "@ $.facts.round"),
    "a lone surrogate": (game(round="@").replace(b'"@"', b'"\\ud800"'), "not JSON: "),
    "bytes that are not UTF-8": (game(round="@").replace(b'"@"', b'"\xff"'), "not JSON: "),
    "a decimal in settings": (adopted({"k": 0.5}), "decimals as text at 'k', got 0.5 @ $.facts.settings"),
    "a null in settings": (adopted({"k": None}), "decimals as text at 'k', got None @ $.facts.settings"),
    "words in settings": (adopted({"k": "many"}), "decimals as text at 'k', got 'many' @ $.facts.settings"),
    "a whole number from 2^53": (adopted({"k": 2**53}), f"at 'k', got {2**53} @ $.facts.settings"),
    "a bad name in settings": (adopted({"a b": 1}), "got 'a b' @ $.facts.settings"),
    "settings that are a list": (adopted([1]), "a mapping of names to values, got [1] @ $.facts.settings"),
    "an unknown way to carry": (
        changed(carry="Keep"), "expected one of ['keep', 'restart', 'convert'], got 'Keep' @ $.facts.carry",
    ),
    "null for a way to carry": (changed(carry=None), "null is not written: leave the field out @ $.facts.carry"),
    "a conversion that is no list": (
        changed(conversion=FIRST_RANGE), "expected a list of objects, got {'factor': '0.6', 'offset': '800'}",
    ),
    "text for a conversion": (
        changed(conversion="1:0"), "expected a list of objects, got '1:0' @ $.facts.conversion",
    ),
    "null for a conversion": (
        changed(conversion=None), "null is not written: leave the field out @ $.facts.conversion",
    ),
    "a conversion without a range": (converting(), "at least one ConversionRange, got () @ $.facts.conversion"),
    "a range that is no object": (
        converting(FIRST_RANGE, "1:0"),
        "[1]: expected an object of factor, offset and perhaps from_rating, got '1:0' @ $.facts.conversion",
    ),
    "a range without a factor": (
        converting({"offset": "800"}),
        "[0]: expected an object of factor, offset and perhaps from_rating, got {'offset': '800'} "
        "@ $.facts.conversion",
    ),
    "a range without an offset": (
        converting(FIRST_RANGE, {"factor": "1", "from_rating": "2000"}),
        "[1]: expected an object of factor, offset and perhaps from_rating, got {'factor': '1', 'from_rating': '2000'}",
    ),
    "a range with an unknown field": (
        converting({**FIRST_RANGE, "to_rating": "2000"}), "[0]: expected an object of factor, offset and perhaps",
    ),
    "a number for a factor": (
        converting({**FIRST_RANGE, "factor": 0.6}), "[0]: factor must be text matching -?",
    ),
    "words for an offset": (
        converting(FIRST_RANGE, {**LATER_RANGE, "offset": "much"}), "[1]: offset must be text matching -?",
    ),
    "an exponent in a range": (
        converting(FIRST_RANGE, {**LATER_RANGE, "from_rating": "2e3"}), "[1]: from_rating must be text matching -?",
    ),
    "null for an absent beginning of a range": (
        converting({**FIRST_RANGE, "from_rating": None}),
        "[0]: null is not written: leave from_rating out @ $.facts.conversion",
    ),
    "ranges out of order": (
        converting(FIRST_RANGE, LATER_RANGE, {**LATER_RANGE, "from_rating": "1999.5"}),
        "conversion must be ranges in ascending order of from_rating, which only the first leaves out, "
        "got [None, '2000', '1999.5'] @ $.facts.conversion",
    ),
    "two ranges of one beginning": (
        converting(FIRST_RANGE, LATER_RANGE, {**LATER_RANGE, "from_rating": "2000.0"}),
        "got [None, '2000', '2000.0'] @ $.facts.conversion",
    ),
    "a first range that begins somewhere": (
        converting(LATER_RANGE), "which only the first leaves out, got ['2000'] @ $.facts.conversion",
    ),
    "a later range without a beginning": (
        converting(FIRST_RANGE, FIRST_RANGE), "which only the first leaves out, got [None, None] @ $.facts.conversion",
    ),
    "a repeated field of a range": (
        converting(FIRST_RANGE).replace(b'{"factor"', b'{"factor":"1","factor"'), "not canonical",
    ),
    "another order in a range": (
        converting(FIRST_RANGE).replace(b'"factor":"0.6","offset":"800"', b'"offset":"800","factor":"0.6"'),
        "not canonical",
    ),
    "a clock without its entry": (clock_accepted(entry=...), "required field missing @ $.facts.entry"),
    "a clock of entry 0": (clock_accepted(entry=0), "entry must be a whole number from 1 to"),
    "a clock of an entry in text": (clock_accepted(entry="13"), "expected int, got '13' @ $.facts.entry"),
    "a clock with a time": (clock_accepted(now="2024"), "@ $.facts.now"),
    "a clock of another entry": (clock_accepted(entry=12), "expected 'clock:12', got 'clock:13' @ $.key"),
    "a run without its day": (run_closed(as_of=...), "required field missing @ $.facts.as_of"),
    "a run of a day that does not exist": (
        run_closed(as_of="2023-02-29"), "no such day or time: '2023-02-29' @ $.facts.as_of",
    ),
    "a run of no pool": (run_closed(pool="a b"), "pool must be text matching"),
    "a run with a scheme": (run_closed(scheme="fide"), "@ $.facts.scheme"),
    "a run of another day": (
        run_closed(as_of="2024-03"), "expected 'run:standard@2024-03', got 'run:standard@2024-02-29' @ $.key",
    ),
    "a tournament without a name": (tournament_closed(tournament=...), "required field missing @ $.facts.tournament"),
    "a tournament named by a blank": (
        tournament_closed(tournament=" "), "tournament must be 1 to 128 characters of NFC text",
    ),
    "a tournament in decomposed letters": (tournament_closed(tournament="Cafe\u0301"), "@ $.facts.tournament"),
    "a tournament without its end": (tournament_closed(ended_at=...), "required field missing @ $.facts.ended_at"),
    "a tournament that ended with a zone": (
        tournament_closed(ended_at="1999-06-30T10:00:00+02:00"), "in UTC, got '1999-06-30T10:00:00+02:00'",
    ),
    "a tournament under another key": (
        tournament_closed(tournament="Kök"), f"got 'tournament:standard:{CAFE_KOEK}@1999-06-30' @ $.key",
    ),
    "facts that are a list": (body(facts=[1]), "expected an object, got [1] @ $.facts"),
    "an unknown kind": (body(kind="nope/1"), "unknown kind 'nope/1', expected one of ["),
    "a kind that is no text": (body(kind=["game-recorded/1"]), "unknown kind ['game-recorded/1'], expected one"),
    "a key of another fact": (body(key="player:r1-b1"), "expected 'game:r1-b1', got 'player:r1-b1' @ $.key"),
    "a key that is no text": (body(key=7), "expected text, got 7 @ $.key"),
    "the key field among the facts": (game(game="r1-b1"), "leave it out @ $.facts.game"),
    "an actor that is no text": (body(actor=7), "got 7 @ $.actor"),
    "an empty actor": (body(actor=""), "got '' @ $.actor"),
    "an actor in decomposed letters": (body(actor="Zoe\u0308"), "@ $.actor"),
    "position 0": (body(position=0), "expected a position from 1, got 0 @ $.position"),
    "position true": (body(position=True), "expected a position from 1, got True @ $.position"),
    "position 2^53": (body(position=2**53), "@ $.position"),
    "a time of recording without milliseconds": (
        body(recorded_at="2026-11-21T03:15:13Z"),
        "expected an instant to the millisecond, got '2026-11-21T03:15:13Z' @ $.recorded_at",
    ),
    "a time of recording that does not exist": (body(recorded_at="2026-11-31T03:15:13.000Z"), "@ $.recorded_at"),
    "a missing part": (body(actor=...), "required field missing @ $.actor"),
    "an unknown part": (body(extra=1), "@ $.extra"),
    "a list": (b"[]", "expected an object, got [] @ $"),
    "nothing": (b"", "not JSON: "),
    "something behind it": (body() + b"{}", "not JSON: "),
    "a blank behind it": (body() + b"\n", "not canonical"),
    "blanks inside": (body().replace(b",", b", ", 1), "not canonical"),
    "another order": (json.dumps(ENTRY, separators=(",", ":")).encode().replace(b'"actor":"ledger",', b"", 1)[:-1]
                      + b',"actor":"ledger"}', "not canonical"),
    "an escape too many": (body().replace(b"standard", b"st\\u0061ndard"), "not canonical"),
    "a repeated part": (body().replace(b'{"actor"', b'{"actor":"mallory","actor"'), "not canonical"),
    "a repeated field": (body().replace(b'"outcome"', b'"outcome":"black","outcome"'), "not canonical"),
    "a repeated setting": (adopted({"k": 1}).replace(b'"k":1', b'"k":2,"k":1'), "not canonical"),
    "minus zero": (game(half_moves=0).replace(b'"half_moves":0', b'"half_moves":-0'), "not canonical"),
    "more than 65,535 bytes": (adopted({f"k{i}": i for i in range(10_000)}), "a body has at most 65535 bytes"),
}  # fmt: skip


def test_the_entries_that_the_refusals_start_from_are_good() -> None:
    assert decode(body()).event == a_game()
    assert decode(adopted({})).event == SchemeAdopted(**ADOPTED)
    assert decode(changed()).event == SchemeAdopted(**ADOPTED, effective_from="2020")
    assert decode(converting(FIRST_RANGE, LATER_RANGE)).event == SchemeAdopted(
        **ADOPTED, effective_from="2020", carry=Carry.CONVERT,
        conversion=(ConversionRange(**FIRST_RANGE), ConversionRange(**LATER_RANGE)),
    )  # fmt: skip
    assert decode(run_closed()).event == RatingRunClosed(pool="standard", as_of="2024-02-29")
    assert decode(tournament_closed()).event == TournamentClosed(
        pool="standard", tournament="Café Kök", ended_at="1999-06-30"
    )


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_one_fault_that_names_its_place(name: str) -> None:
    refused, message = REFUSED[name]
    (problem,) = problems_of(refused)
    assert message in problem
    assert " @ $" in problem


def test_all_faults_are_told_at_once_each_with_its_place() -> None:
    refused = body(
        actor=None,
        position="1",
        recorded_at="now",
        extra=1,
        facts={"white": "1", "black": 0, "outcome": "x", "rated": None, "round": "", "odd": 1, "ended_at": "?"},
    )
    assert sorted(problem.rpartition(" @ ")[2] for problem in problems_of(refused)) == [
        "$.actor", "$.extra", "$.facts.black", "$.facts.ended_at", "$.facts.odd", "$.facts.outcome", "$.facts.pool",
        "$.facts.rated", "$.facts.round", "$.facts.termination", "$.facts.white", "$.position", "$.recorded_at",
    ]  # fmt: skip


def test_all_faults_of_an_adoption_are_told_each_range_with_its_place_in_the_list() -> None:
    problems = problems_of(
        changed(
            carry="halve", effective_from="2020-13", scheme=..., settings={"k": 0.5},
            conversion=[{"factor": 1, "offset": "0"}, LATER_RANGE, 7, {**LATER_RANGE, "offset": "x"}, {}],
        )
    )  # fmt: skip
    assert sorted(problem.rpartition(" @ ")[2] for problem in problems) == [
        "$.facts.carry", "$.facts.conversion", "$.facts.effective_from", "$.facts.scheme", "$.facts.settings",
    ]  # fmt: skip
    (told,) = (problem for problem in problems if problem.endswith("$.facts.conversion"))
    assert [part.partition(": ")[0] for part in told.split("; ")] == ["[0]", "[2]", "[3]", "[4]"]


@given(strategies.wild_conversions())
@settings(max_examples=300)
def test_whatever_stands_in_a_conversion_only_malformed_is_raised_and_what_is_read_is_what_is_written(
    value: Any,
) -> None:
    refused = changed(conversion=value)
    try:
        entry = decode(refused)
    except MalformedError as error:
        (problem,) = error.problems
        assert problem.endswith(" @ $.facts.conversion")
        return
    event = entry.event
    assert refused == assemble(entry.position, entry.recorded_at, entry.actor, event.KIND, event.key, facts(event))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
       st.sampled_from([*ENTRY, *(f"facts.{name}" for name in [*GAME, "round", "half_moves", "text"])]))  # fmt: skip
@settings(max_examples=300)
def test_whatever_stands_in_a_field_only_malformed_is_raised(value: Any, field: str) -> None:
    outer, _, inner = field.partition(".")
    refused = game(**{inner: value}) if inner else body(**{outer: value})
    try:
        entry = decode(refused)
    except MalformedError:
        return
    event = entry.event
    assert refused == assemble(entry.position, entry.recorded_at, entry.actor, event.KIND, event.key, facts(event))


@given(st.binary(max_size=80))
def test_whatever_the_bytes_are_only_malformed_is_raised(refused: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(refused)


# --- refusals when built and written ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"white": "1"}, "white must be a whole number from 1 to 2147483647, got '1'"),
        ({"white": 1.0}, "white must be"),
        ({"white": True}, "white must be"),
        ({"white": 0}, "white must be"),
        ({"white": 2**31}, "white must be"),
        ({"white": None}, "white must be"),
        ({"rated": 1}, "rated must be true or false, got 1"),
        ({"outcome": "white"}, "outcome must be one of"),
        ({"ended_at": datetime(2013, 6, 4)}, "ended_at must be YYYY"),
        ({"ended_at": "2013-06-04T00:00:00.000Z"}, "ended_at: expected YYYY"),
        ({"pool": "a b"}, "pool must be text matching"),
        ({"pool": "a\n"}, "pool must be text matching"),
        ({"pool": ""}, "pool must be text matching"),
        ({"game": "x" * 97}, "game must be text matching"),
        ({"round": "x" * 33}, "round must be 1 to 32 characters"),
        ({"round": "\ud800"}, "round must be 1 to 32 characters"),
        ({"round": "\u212b"}, "round must be 1 to 32 characters"),
        ({"tournament": "a\x85b"}, "tournament must be 1 to 128 characters"),
        ({"text": "A" * 64}, "text must be text matching"),
    ],
)
def test_no_event_can_be_built_from(changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message[:20]}") as caught:
        a_game(**changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("conversion", "message"),
    [
        ([ConversionRange(factor="1", offset="0")], "must be a tuple of at least one ConversionRange, got ["),
        ((), "must be a tuple of at least one ConversionRange, got ()"),
        (({"factor": "1", "offset": "0"},), "must be a tuple of at least one ConversionRange, got ("),
        ((ConversionRange(from_rating="1", factor="1", offset="0"),), "conversion must be ranges in ascending order"),
    ],
)
def test_no_adoption_can_be_built_with(conversion: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^conversion must be ") as caught:
        SchemeAdopted(pool="a", scheme="b", settings={}, effective_from="2020", conversion=conversion)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["from_rating", "factor", "offset"])
@pytest.mark.parametrize("value", [1, 0.5, "1e3", "01", "", "1.", "١", "1\n"])
def test_a_range_takes_nothing_but_decimals_as_text(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be text matching "):
        ConversionRange(**{**LATER_RANGE, name: value})


@pytest.mark.parametrize("carry", ["keep", True, Outcome.DRAW])
def test_a_way_to_carry_is_one_of_the_three(carry: Any) -> None:
    with pytest.raises(ValueError, match=r"^carry must be one of \['keep', 'restart', 'convert'\], got "):
        SchemeAdopted(pool="a", scheme="b", settings={}, effective_from="2020", carry=carry)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 2**53}, f"whole numbers must stay below 2^53, got {2**53} @ $.a"),
        ({"a": -(2**53)}, f"whole numbers must stay below 2^53, got {-(2**53)} @ $.a"),
        ({"a": {"b": 0.5}}, "float has no place in an entry, got 0.5 @ $.a.b"),
        ({"a": float("nan")}, "float has no place in an entry, got nan @ $.a"),
        ({"a": None}, "NoneType has no place in an entry, got None @ $.a"),
        ({"a": datetime(2013, 6, 4)}, "datetime has no place in an entry"),
        ({"a": "e\u0301"}, "text must be in Unicode form NFC, got 'e\u0301' @ $.a"),
        ({"a": "\ud800"}, "text must not hold lone surrogates, got '\\ud800' @ $.a"),
        ({"\u00e9": 1}, "keys must be ASCII text, got '\u00e9' @ $"),
        ({1: 1}, "keys must be ASCII text, got 1 @ $"),
        ({"a": [0, 0.5]}, "float has no place in an entry, got 0.5 @ $.a[1]"),
        ({"a": [{"b": [None]}]}, "NoneType has no place in an entry, got None @ $.a[0].b[0]"),
        ({"a": [{"\u00e9": 1}]}, "keys must be ASCII text, got '\u00e9' @ $.a[0]"),
        ({"a": (1,)}, "tuple has no place in an entry, got (1,) @ $.a"),
    ],
)
def test_canonical_refuses_what_lies_outside_the_subset(value: Any, message: str) -> None:
    with pytest.raises(MalformedError) as caught:
        canonical(value)
    (problem,) = caught.value.problems
    assert message in problem


@pytest.mark.parametrize("actor", ["", " eve", "eve\n", "Zoe\u0308", "\ud800", "x" * 129])
def test_no_entry_is_written_for_an_actor_who_is_not_plain_text(actor: str) -> None:
    with pytest.raises(MalformedError, match=r"@ \$\.actor$"):
        assemble(1, RECORDED_AT, actor, "game-recorded/1", "game:r1-b1", b"{}")


def test_a_body_may_have_65535_bytes_and_not_one_more() -> None:
    bare = len(assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b""))
    assert len(assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b"x" * (65_535 - bare))) == 65_535
    with pytest.raises(MalformedError, match="entry 'k:1' has 65536 bytes, more than 65535 @"):
        assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b"x" * (65_536 - bare))


# --- old kinds ----------------------------------------------------------------------------------------------


@pytest.fixture
def old_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kinds that are no longer written: registrations that had a ``level``, games that had a ``result``."""

    def without_level(old: dict[str, Any]) -> dict[str, Any]:
        return {**{k: v for k, v in old.items() if k != "level"}, "standing": {1: "full", 2: "guest"}[old["level"]]}

    def from_result(old: dict[str, Any]) -> dict[str, Any]:
        return {**{k: v for k, v in old.items() if k != "result"}, "outcome": old["result"]}

    def with_termination(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "termination": "unknown"}

    monkeypatch.setitem(codec.UPCASTS, "player-registered/0", ("player-registered/1", without_level))
    monkeypatch.setitem(codec.UPCASTS, "game-recorded/0", ("game-recorded/1", with_termination))
    monkeypatch.setitem(codec.UPCASTS, "game-noted/1", ("game-recorded/0", from_result))


def registered_0(level: object) -> bytes:
    old = {"commitment": "0" * 64, "joined_at": "2013", "level": level, "player": 1}
    return body(kind="player-registered/0", key="player:1", facts=old)


@pytest.mark.usefixtures("old_kinds")
def test_an_old_kind_is_carried_forward_when_it_is_read() -> None:
    assert decode(registered_0(2)).event == PlayerRegistered(
        player=1, joined_at="2013", standing=Standing.GUEST, commitment="0" * 64
    )


@pytest.mark.usefixtures("old_kinds")
def test_an_old_kind_goes_from_version_to_version_and_keeps_the_field_in_its_key() -> None:
    old = {"black": 2, "ended_at": "2013-06-04", "pool": "standard", "rated": True, "result": "white", "white": 1}
    carried = decode(body(kind="game-noted/1", facts=old)).event
    assert carried == a_game(termination=Termination.UNKNOWN)


@pytest.mark.usefixtures("old_kinds")
@pytest.mark.parametrize("level", [3, [1], None])
def test_facts_that_no_old_kind_had_are_refused(level: object) -> None:
    (problem,) = problems_of(registered_0(level))
    assert problem.startswith("not the facts of a 'player-registered/0' (")
    assert problem.endswith(" @ $.facts")


def test_an_old_kind_is_unknown_where_nothing_carries_it_forward() -> None:
    (problem,) = problems_of(registered_0(1))
    assert problem.startswith("unknown kind 'player-registered/0', expected one of ['clock-accepted/1', ")
