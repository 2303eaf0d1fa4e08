"""Canonical bytes, pinned for every kind, and the published JSON Schemas, of one mind with the codec on bad entries."""

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import attrs
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ledger.errors import MalformedError
from ledger.facts import codec
from ledger.facts.codec import assemble, decode, facts, facts_mapping, structure_event
from ledger.facts.events import (
    BY_KIND,
    EVENTS,
    OLD_KINDS,
    ConversionRange,
    Event,
    PlayerRegistered,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.json_schemas import documents, entry_schema
from ledger.facts.words import Carry, Outcome, Standing, Termination
from tests.kit import strategies
from tests.kit.entries import CAFE_KOEK, LATER_RANGE, RECORDED_AT, REFUSED, a_game, body, problems_of
from tests.kit.golden_entries import FOLDER, GOLDEN
from tools.schemas import PUBLISHED


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


@given(strategies.events(), st.integers(1, 2**53 - 1), strategies.recorded_ats(), strategies.actors())
def test_what_is_written_is_read_back(event: Event, position: int, recorded_at: str, actor: str) -> None:
    written = assemble(position, recorded_at, actor, event.KIND, event.key, facts(event))
    assert decode(written) == codec.Entry(position=position, recorded_at=recorded_at, actor=actor, event=event)
    assert codec.body_of(position, recorded_at, actor, event) == written


@given(strategies.events(), strategies.recorded_ats(), strategies.actors())
def test_the_bytes_are_those_of_rfc_8785(event: Event, recorded_at: str, actor: str) -> None:
    written = assemble(7, recorded_at, actor, event.KIND, event.key, facts(event))
    assert written == rfc8785.dumps(json.loads(written))


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
def test_two_tournaments_of_a_pool_have_two_keys_and_so_have_two_editions_of_one(both: list[TournamentClosed]) -> None:
    one, other = both
    known = [(event.pool, event.tournament, event.ended_at) for event in both]
    assert (one.key == other.key) == (known[0] == known[1])
    assert (attrs.evolve(one, ended_at=other.ended_at).key == one.key) == (one.ended_at == other.ended_at)


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
        ({"outcome": "1-0"}, "outcome must be one of"),
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


@pytest.mark.parametrize("carry", ["kept", True, Outcome.DRAW])
def test_a_way_to_carry_is_one_of_the_three(carry: Any) -> None:
    with pytest.raises(ValueError, match=r"^carry must be one of \['keep', 'restart', 'convert'\], got "):
        SchemeAdopted(pool="a", scheme="b", settings={}, effective_from="2020", carry=carry)


@pytest.mark.parametrize("actor", ["", " eve", "eve\n", "Zoe\u0308", "\ud800", "x" * 129])
def test_no_entry_is_written_for_an_actor_who_is_not_plain_text(actor: str) -> None:
    with pytest.raises(MalformedError, match=r"@ \$\.actor$"):
        assemble(1, RECORDED_AT, actor, "game-recorded/1", "game:r1-b1", b"{}")


def test_a_body_may_have_65535_bytes_and_not_one_more() -> None:
    bare = len(assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b""))
    assert len(assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b"x" * (65_535 - bare))) == 65_535
    with pytest.raises(MalformedError, match="entry 'k:1' has 65536 bytes, more than 65535 @"):
        assemble(1, RECORDED_AT, "ledger", "k/1", "k:1", b"x" * (65_536 - bare))


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
    assert problem.startswith("unknown kind 'player-registered/0', expected one of ['birth-year-learnt/1', ")


KINDS = (*BY_KIND, *OLD_KINDS)
VALIDATORS = {kind: Draft202012Validator(entry_schema(kind)) for kind in KINDS}

# What a schema cannot say; the codec alone refuses these.
BEYOND_A_SCHEMA = {
    "a float without fraction",  # JSON Schema counts 5.0 among the whole numbers
    "a lone surrogate",  # some JSON readers take such an escape
    "a day that does not exist",
    "a time of recording that does not exist",
    "decomposed letters",
    "an actor in decomposed letters",
    "a key of another fact",
    "a run of a day that does not exist",
    "a run of another day",
    "a clock of another entry",
    "a tournament in decomposed letters",
    "a tournament under another key",
    "ranges out of order",
    "two ranges of one beginning",
    "a first range that begins somewhere",
    "a later range without a beginning",
    "a repeated field of a range",
    "another order in a range",
    "more than 65,535 bytes",
    "a blank behind it",
    "blanks inside",
    "another order",
    "an escape too many",
    "a repeated part",
    "a repeated field",
    "a repeated setting",
    "minus zero",
}


def is_valid(body: bytes) -> bool:
    """What the schema of its kind says of a body; False where it is no JSON or of no known kind."""
    try:
        entry = json.loads(body, parse_constant=_refuse)
    except ValueError:
        return False
    kind = entry.get("kind") if isinstance(entry, dict) else None
    return isinstance(kind, str) and kind in VALIDATORS and VALIDATORS[kind].is_valid(entry)


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def is_decoded(body: bytes) -> bool:
    try:
        codec.decode(body)
    except MalformedError:
        return False
    return True


def test_the_published_schemas_are_those_of_the_classes() -> None:
    published = {path.name: path.read_text("utf-8") for path in (PUBLISHED / "events").glob("*.json")}
    assert published == documents(), "run 'python -m tools.schemas'"


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_itself_valid_and_says_what_each_field_is(kind: str) -> None:
    schema = entry_schema(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == kind
    facts = schema["properties"].pop("facts")
    fields = {**schema["properties"], **facts["properties"]}
    assert [name for name, field in fields.items() if not field.get("description")] == []


@pytest.mark.parametrize("name", GOLDEN)
def test_the_pinned_entries_are_valid(name: str) -> None:
    entry = json.loads((FOLDER / f"{name}.json").read_bytes())
    VALIDATORS[entry["kind"]].validate(entry)


@given(strategies.events(), strategies.recorded_ats(), strategies.actors())
def test_whatever_the_codec_writes_is_valid(event: Event, recorded_at: str, actor: str) -> None:
    body = codec.assemble(1, recorded_at, actor, event.KIND, event.key, codec.facts(event))
    VALIDATORS[event.KIND].validate(json.loads(body))


@pytest.mark.parametrize("name", REFUSED)
def test_schema_and_codec_agree_on_what_is_wrong(name: str) -> None:
    body, _ = REFUSED[name]
    assert not is_decoded(body)
    assert is_valid(body) == (name in BEYOND_A_SCHEMA)


def test_the_exceptions_are_cases() -> None:
    assert REFUSED.keys() >= BEYOND_A_SCHEMA
