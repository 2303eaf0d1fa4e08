"""Entries that are refused when they are read: every fault at once, each with its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.facts.codec import actor_json, assemble, decode, facts
from ledger.facts.events import ConversionRange, RatingRunClosed, SchemeAdopted, TournamentClosed
from ledger.facts.person_names import actor_faults
from ledger.facts.words import Carry
from tests.kit import strategies
from tests.kit.entries import (
    ADOPTED,
    ENTRY,
    FIRST_RANGE,
    GAME,
    LATER_RANGE,
    REFUSED,
    a_game,
    adoption_body,
    body,
    change_body,
    conversion_body,
    game_body,
    problems_of,
    run_body,
    tournament_body,
)
from tests.tiers import examples


def test_the_entries_that_the_refusals_start_from_are_good() -> None:
    assert decode(body()).event == a_game()
    assert decode(adoption_body({})).event == SchemeAdopted(**ADOPTED)
    assert decode(change_body()).event == SchemeAdopted(**ADOPTED, effective_from="2020")
    assert decode(conversion_body(FIRST_RANGE, LATER_RANGE)).event == SchemeAdopted(
        **ADOPTED,
        effective_from="2020",
        carry=Carry.CONVERT,
        conversion=(ConversionRange(**FIRST_RANGE), ConversionRange(**LATER_RANGE)),
    )
    assert decode(run_body()).event == RatingRunClosed(pool="standard", as_of="2024-02-29")
    assert decode(tournament_body()).event == TournamentClosed(
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
        change_body(
            carry="halve",
            effective_from="2020-13",
            scheme=...,
            settings={"k": 0.5},
            conversion=[{"factor": 1, "offset": "0"}, LATER_RANGE, 7, {**LATER_RANGE, "offset": "x"}, {}],
        )
    )
    assert sorted(problem.rpartition(" @ ")[2] for problem in problems) == [
        "$.facts.carry",
        "$.facts.conversion",
        "$.facts.effective_from",
        "$.facts.scheme",
        "$.facts.settings",
    ]
    (told,) = (problem for problem in problems if problem.endswith("$.facts.conversion"))
    assert [part.partition(": ")[0] for part in told.split("; ")] == ["[0]", "[2]", "[3]", "[4]"]


@given(strategies.wild_conversions())
@examples(quick=20, ci=300, nightly=3_000)
def test_whatever_stands_in_a_conversion_only_malformed_is_raised_and_what_is_read_is_what_is_written(
    value: Any,
) -> None:
    refused = change_body(conversion=value)
    try:
        entry = decode(refused)
    except MalformedError as error:
        (problem,) = error.problems
        assert problem.endswith(" @ $.facts.conversion")
        return
    event = entry.event
    assert refused == assemble(entry.position, entry.recorded_at, entry.actor, event.KIND, event.key, facts(event))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([*ENTRY, *(f"facts.{name}" for name in [*GAME, "round", "half_moves", "text"])]),
)
@examples(quick=20, ci=300, nightly=3_000)
def test_whatever_stands_in_a_field_only_malformed_is_raised(value: Any, field: str) -> None:
    outer, _, inner = field.partition(".")
    refused = game_body(**{inner: value}) if inner else body(**{outer: value})
    try:
        entry = decode(refused)
    except MalformedError:
        return
    event = entry.event
    if actor_faults(entry.actor):  # what is read is judged less strictly: journals of old may hold such names
        with pytest.raises(MalformedError):
            actor_json(entry.actor)
        return
    assert refused == assemble(entry.position, entry.recorded_at, entry.actor, event.KIND, event.key, facts(event))


@given(st.binary(max_size=80))
def test_whatever_the_bytes_are_only_malformed_is_raised(refused: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(refused)
