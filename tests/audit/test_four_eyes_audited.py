"""The audit on four eyes: entries that got past the gate against the policy then in force, and the book beside it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit
from ledger.facts import codec, events
from ledger.facts.changes import Change, Verb
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.words import Standing
from ledger.journal import late_facts
from tests.kit.clubs import NOON, ClubOfTwo, new_club_of_two
from tests.kit.commands import Run
from tests.kit.games import run_closed, tournament_closed, tournament_opened
from tests.kit.tokens import sealed
from tools.commands import FALSE

VOID = Change(do=Verb.ANNUL, fact="game:r1-b1", entry=4)


def proposal(number: int, *changes: Change, proven: bool = False) -> events.CorrectionProposed:
    return events.CorrectionProposed(
        proposal=number, part=1, parts=1, changes=changes or (VOID,), reason="0" * 64, proven=proven
    )


def approval(number: int, *, proven: bool = False) -> events.CorrectionDecided:
    return events.CorrectionDecided(proposal=number, decision=events.Decision.APPROVED, proven=proven)


@contextmanager
def unsealed_names() -> Iterator[None]:
    """Names are taken as earlier releases took them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codec, "actor_faults", lambda _: [])
        codec.actor_json.cache_clear()
        codec._head.cache_clear()
        yield
    codec.actor_json.cache_clear()
    codec._head.cache_clear()


def policy(number: int, *, on: bool, tokens: bool = False) -> events.PolicySet:
    return events.PolicySet(policy="four-eyes", number=number, settings={"on": on, "tokens": tokens})


def named(path: Path) -> dict[str, str]:
    """The falsehoods about four eyes: where, and in which words. The reasons of these proposals were never kept."""
    found = audit(path).falsehoods
    return {str(falsehood.position_or_key): falsehood.message for falsehood in found if falsehood.table == "four eyes"}


def test_a_decision_of_who_proposed_is_false_from_the_policy_on(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    sealed(ledger, "eve", proposal(1), approval(1))
    assert named(club_of_two.path) == {}
    sealed(ledger, "admin", policy(1, on=True))
    assert named(club_of_two.path) == {}, "what was decided before stands"
    position = sealed(ledger, "eve", proposal(2), approval(2))
    sealed(ledger, "eve", proposal(3))
    sealed(ledger, "adam", approval(3))
    assert named(club_of_two.path) == {
        f"entry {position}": "approves proposal 2 against four eyes: 'eve' proposed it; it has no effect; propose it "
        "again, for another person to approve"
    }


@pytest.mark.parametrize(
    ("tokens", "first", "second", "says"),
    [
        (False, ("eve", True), ("adam", False), "a token named only one of 'eve' and 'adam'"),
        (False, ("eve", False), ("\uff25VE", False), "proposed it"),
        (True, ("eve", False), ("adam", False), "no token named 'eve'"),
        (True, ("eve", True), ("adam", False), "no token named 'adam'"),
    ],
)
def test_what_tokens_have_to_do_with_it_is_judged_too(
    club_of_two: ClubOfTwo, tokens: bool, first: tuple[str, bool], second: tuple[str, bool], says: str
) -> None:
    ledger = club_of_two.ledger
    sealed(ledger, "admin", policy(1, on=True, tokens=tokens))
    sealed(ledger, first[0], proposal(1, proven=first[1]))
    position = sealed(ledger, second[0], approval(1, proven=second[1]))
    found = named(club_of_two.path)
    assert list(found) == [f"entry {position}"]
    assert says in found[f"entry {position}"]


def test_the_policy_is_not_changed_by_who_is_alone(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    off = ledger.policies.proposed("four-eyes", {"on": False})
    number = ledger.propose([ledger.corrections.drafts.add(off)], reason="we are one", by="eve").proposal
    ledger.decide(number, events.Decision.APPROVED, by="adam")
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    assert named(club_of_two.path) == {}
    position = sealed(ledger, "eve", policy(4, on=False))
    found = named(club_of_two.path)
    assert list(found) == [f"entry {position}"]
    assert found[f"entry {position}"].startswith("sets the policy that is in force, by nobody's approval; ask both")


BACK: tuple[events.Event, ...] = (
    events.SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026"),
    events.SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-20T23:59:59Z"),
    run_closed("2026-10"),
    run_closed("2025"),
    tournament_closed("2026-11-20"),
    tournament_opened("2026-11-20", "2026-11-30"),
    tournament_opened("2026-10", "2026-12"),
    events.PlayerChanged(player=1, effective_at="2026-11-20", standing=Standing.GUEST),
    events.BirthYearLearnt(player=1, birth_year=1990),
    events.FederationSet(player=1, effective_at="2026-11-20", federation="NOR"),
    events.RatingSeeded(player=1, pool="standard", rating="2300"),
    events.RatingSeeded(player=1, pool="standard", rating="2300", effective_at="2026-11"),
)
ON: tuple[events.Event, ...] = (
    events.SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-21"),
    run_closed("2026-11-21"),
    tournament_closed("2026-11-21T10:00:00Z"),
    tournament_opened("2026-11-21", "2026-11-30"),
    events.PlayerChanged(player=1, effective_at="2026-11-21", standing=Standing.GUEST),
)


@pytest.mark.parametrize("event", BACK, ids=lambda event: event.key)
def test_what_reaches_back_without_an_approval_is_false(
    club_of_two: ClubOfTwo, event: events.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(seconds=1)
    monkeypatch.setattr(late_facts, "are_four_eyes_on", lambda _: False)
    receipt = ledger.append(event)
    found = named(club_of_two.path)
    assert list(found) == [f"entry {receipt.position}"]
    assert found[f"entry {receipt.position}"].startswith(("reaches back to '202", "reaches back to the beginning"))


def test_what_reaches_back_by_a_clock_that_was_set_back_and_accepted_is_false(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, clock = club_of_two.ledger, club_of_two.clock
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    # as an earlier release, or a program of somebody's own, records it
    monkeypatch.setattr(late_facts, "are_four_eyes_on", lambda _: False)
    joined = json.loads(ledger.journal.find(["player:1"])["player:1"].body)["recorded_at"]
    today = clock.now
    clock.now -= timedelta(days=20)
    ledger.append(events.ClockAccepted(entry=ledger.journal.size()))
    adopted = ledger.append(
        events.SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-11-10")
    )
    clock.now = datetime.fromisoformat(joined)
    seeded = ledger.append(events.RatingSeeded(player=1, pool="standard", rating="2300"))
    assert set(named(club_of_two.path)) >= {f"entry {seeded.position}"}
    clock.now = today
    ledger.register("name:dan", "Dan")
    found = named(club_of_two.path)
    assert list(found) == [f"entry {adopted.position}", f"entry {seeded.position}"]
    assert found[f"entry {adopted.position}"].startswith("reaches back to '2026-11-10' while four eyes are on")


def test_a_clock_that_was_years_ahead_makes_nothing_false_that_is_recorded_after_its_acceptance(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, clock = club_of_two.ledger, club_of_two.clock
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    clock.now += timedelta(days=3650)
    ledger.register_many([("name:dan", "Dan"), ("name:fay", "Fay")])  # the first of them is named by no acceptance
    clock.now -= timedelta(days=3650)
    monkeypatch.setattr(late_facts, "are_four_eyes_on", lambda _: False)
    ledger.append(events.ClockAccepted(entry=ledger.journal.size()))
    ledger.append(events.SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-12-01"))
    assert named(club_of_two.path) == {}


def test_the_past_of_a_player_who_comes_with_it_is_true(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(seconds=1)
    past = PriorRating(rating="2100", since="2020", games=40)
    learnt = ledger.registry.add("fide:9", "Zoe", birth_year=1990, past=past, actor="desk")
    assert learnt.recorded == 2
    assert audit(club_of_two.path).falsehoods == ()


@pytest.mark.parametrize("letter", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u3164", "\U000e0041"])
def test_a_name_with_a_letter_that_nobody_sees_is_the_same_persons(club_of_two: ClubOfTwo, letter: str) -> None:
    """Journals of earlier releases may hold such names: the book and the audit read them alike."""
    ledger = club_of_two.ledger
    sealed(ledger, "admin", policy(1, on=True))
    sealed(ledger, "eve", proposal(1))
    with unsealed_names():
        position = sealed(ledger, f"e{letter}ve", approval(1))
    assert list(named(club_of_two.path)) == [f"entry {position}"]
    ledger.ensure_up_to_date()
    (row,) = ledger.rows("proposals")
    assert (row["effective"], row["why_not"]) == (0, "four-eyes")


@pytest.mark.parametrize("event", BACK + ON, ids=lambda event: event.key)
def test_what_was_approved_or_holds_from_today_on_is_true(club_of_two: ClubOfTwo, event: events.Event) -> None:
    ledger = club_of_two.ledger
    if event in BACK and isinstance(event, events.TournamentClosed):
        ledger.append(tournament_opened("2026-11-10", "2026-11-20"))
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    if event in ON:
        ledger.append(event)
    else:
        number = ledger.propose([ledger.corrections.drafts.add(event)], reason="late", by="eve").proposal
        ledger.decide(number, events.Decision.APPROVED, by="adam")
    assert audit(club_of_two.path).falsehoods == ()


def test_the_command_names_it_and_ends_with_3(club_of_two: ClubOfTwo, run: Run) -> None:
    sealed(club_of_two.ledger, "admin", policy(1, on=True))
    position = sealed(club_of_two.ledger, "eve", proposal(1), approval(1))
    club_of_two.ledger.ensure_up_to_date()
    for words in ([], ["--journal-only"]):
        done = run("audit", club_of_two.path, *words)
        assert done.code == FALSE
        assert f"four eyes entry {position}: approves proposal 1 against four eyes: 'eve' proposed it" in done.out


NAMES = st.sampled_from(["eve", "Eve", "adam", "ann"])
STEPS = st.one_of(
    st.tuples(st.just("policy"), st.booleans(), st.booleans()),
    st.tuples(st.just("propose"), NAMES, st.booleans()),
    st.tuples(st.just("approve"), NAMES, st.booleans(), st.integers(0, 5)),
)


@pytest.mark.slow
@given(st.lists(STEPS, min_size=2, max_size=14))
def test_the_reader_and_the_book_find_the_same_decisions(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder, new_club_of_two(Path(folder)) as club:
        ledger, numbers, policies, waiting = club.ledger, 0, 0, list[int]()
        for step in steps:
            match step:
                case ("policy", bool(on), bool(tokens)):
                    policies += 1
                    sealed(ledger, "admin", policy(policies, on=on, tokens=tokens))
                case ("propose", str(name), bool(proven)):
                    numbers += 1
                    waiting.append(numbers)
                    sealed(ledger, name, proposal(numbers, proven=proven))
                case ("approve", str(name), bool(proven), int(which)) if waiting:
                    number = waiting.pop(which % len(waiting))
                    sealed(ledger, name, approval(number, proven=proven))
                case _:
                    pass
        ledger.ensure_up_to_date()
        broken = {f"entry {row['decided_position']}" for row in ledger.rows("proposals", "why_not = 'four-eyes'")}
        assert {where for where, words in named(club.path).items() if words.startswith("approves")} == broken
        assert club.clock.now == NOON
