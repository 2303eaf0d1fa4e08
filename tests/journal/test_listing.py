"""Entries of one kind: by their keys where there are few, so that a long journal costs no more; the same entries."""

import random
from collections.abc import Iterator

import pytest

from ledger.facts import codec
from ledger.facts.events import BY_KIND, KEYS_BEGIN, OLD_KINDS, ClockAccepted, Event, SchemeAdopted
from ledger.journal import listing
from ledger.testing import MemoryJournal
from ledger.testing.journal_contract import encode_entry
from tests.kit.games import game_recorded
from tests.kit.golden_entries import GOLDEN

KINDS = (*BY_KIND, *OLD_KINDS)
SCHEME_1 = GOLDEN["scheme-adopted-1.minimal"]


def body_of(position: int, event: Event, kind: str | None = None) -> bytes:
    recorded_at = encode_entry(1).body[-26:-2].decode()
    return codec.assemble(position, recorded_at, "x", kind or event.KIND, event.key, codec.facts(event))


def journal_of(events: list[Event]) -> tuple[MemoryJournal, list[bytes]]:
    journal = MemoryJournal()
    bodies = [body_of(position, event) for position, event in enumerate(events, 1)]
    for event, body in zip(events, bodies, strict=True):
        with journal.writing() as writer:
            writer.append([event.KIND], [event.key], [body])
    return journal, bodies


def test_the_key_of_every_kind_begins_as_the_table_says() -> None:
    events = {name: golden.event for name, golden in GOLDEN.items()}
    assert [name for name, event in events.items() if not event.key.startswith(KEYS_BEGIN[type(event)])] == []
    assert [beginning for beginning in KEYS_BEGIN.values() if not beginning.endswith(":")] == []
    assert KEYS_BEGIN.keys() == set(BY_KIND.values())


@pytest.mark.parametrize("step", [1, 3, 1_000])
@pytest.mark.parametrize("last", [0, 1, 2, 7, 20, 99, None])
def test_the_newest_of_a_kind_are_found_from_the_end(
    step: int, last: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "STEP", step)
    journal = MemoryJournal()
    bodies: list[bytes] = []
    for position in range(1, 41):
        event = ClockAccepted(entry=position) if position % 3 == 0 else game_recorded(f"r{position}")
        body = codec.assemble(
            position, encode_entry(1).body[-26:-2].decode(), "x", event.KIND, event.key, codec.facts(event)
        )
        bodies.append(body)
        with journal.writing() as writer:
            writer.append([event.KIND], [event.key], [body])
    clocks = [body for place, body in enumerate(bodies, 1) if place % 3 == 0]
    for kind, every in (("clock-accepted", clocks), (None, bodies)):
        newest = every[max(len(every) - last, 0) :] if last else every  # 0 means all, as in commands
        assert list(listing.entry_bodies(journal, kind, last)) == newest


@pytest.mark.parametrize("step", [1, 3, 1_000])
def test_every_kind_is_the_same_by_keys_and_by_reading(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    by_key = {golden.event.key: golden.event for golden in GOLDEN.values()}
    events = [*by_key.values(), *(game_recorded(f"r{number}") for number in range(20))]
    random.Random(5).shuffle(events)
    journal, bodies = journal_of(events)
    monkeypatch.setattr(listing, "STEP", step)
    for kind in BY_KIND:
        of_kind = [body for event, body in zip(events, bodies, strict=True) if kind == event.KIND]
        assert of_kind
        for last in (None, 1, 2):
            newest = of_kind[-(last or len(of_kind)) :]
            assert list(listing.entry_bodies(journal, kind, last)) == newest
            assert list(listing.entry_bodies(journal, kind.partition("/")[0], last)) == newest


def test_a_kind_of_few_entries_is_listed_without_reading_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, bodies = journal_of([ClockAccepted(entry=1), *(game_recorded(f"r{number}") for number in range(30))])

    def read(*_: object) -> Iterator[list[bytes]]:
        pytest.fail("the journal was read")

    monkeypatch.setattr(journal, "read", read)
    assert list(listing.entry_bodies(journal, "clock-accepted")) == bodies[:1]
    assert list(listing.entry_bodies(journal, "player-changed", 5)) == []


def test_a_word_means_the_kinds_that_are_no_longer_written_too() -> None:
    journal = MemoryJournal()
    old, new = (
        SCHEME_1.event,
        SchemeAdopted(
            pool="standard", scheme="elo", settings={}, effective_from="2024-01-01", scheme_version=1, arithmetic=1
        ),
    )
    bodies = [body_of(1, old, "scheme-adopted/1"), body_of(2, new)]
    for event, kind, body in ((old, "scheme-adopted/1", bodies[0]), (new, new.KIND, bodies[1])):
        with journal.writing() as writer:
            writer.append([kind], [event.key], [body])
    assert list(listing.entry_bodies(journal, "scheme-adopted")) == bodies
    assert list(listing.entry_bodies(journal, "scheme-adopted/1")) == bodies[:1]
    assert list(listing.entry_bodies(journal, new.KIND)) == bodies[1:]
