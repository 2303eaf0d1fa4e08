"""The published JSON Schemas: up to date, true of what is written, and of one mind with the codec on bad entries."""

import json
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from ledger.errors import MalformedError
from ledger.facts import codec
from ledger.facts.events import BY_KIND, OLD_KINDS, Event
from ledger.facts.json_schemas import documents, entry_schema
from tests.kit import strategies
from tests.kit.entries import REFUSED
from tests.kit.golden_entries import FOLDER, GOLDEN
from tools.schemas import PUBLISHED

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
