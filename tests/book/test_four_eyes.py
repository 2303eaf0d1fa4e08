"""Four eyes: which decisions break the policy, and from where on it holds."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from ledger.book.eras import BEGINNING
from ledger.book.four_eyes import FourEyes, Party, breach, in_force
from ledger.book.policies import Policies, PolicyRow
from ledger.errors import RejectedError
from ledger.facts.correction_events import Decision
from ledger.facts.events import Event
from ledger.facts.person_names import same_person
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import run_closed, tournament_closed
from tests.kit.refusals import later

ON, WITH_TOKENS = FourEyes(on=True), FourEyes(on=True, tokens=True)
EVE, ADAM = Party("eve", proven=False), Party("adam", proven=False)
PROVEN_EVE, PROVEN_ADAM = Party("eve", proven=True), Party("adam", proven=True)


def approved(policy: FourEyes, proposed: Party, decided: Party) -> str | None:
    return breach(policy, Decision.APPROVED, proposed, decided)


def test_without_the_policy_anybody_may_approve() -> None:
    for proposed, decided in product((EVE, ADAM, PROVEN_EVE), repeat=2):
        assert approved(FourEyes(), proposed, decided) is None
        assert approved(FourEyes(tokens=True), proposed, decided) is None, "tokens alone ask for nothing"


def test_who_proposed_cannot_approve() -> None:
    for proven in (False, True):
        found = approved(ON, Party("eve", proven), Party("eve", proven))
        assert found == "'eve' proposed it, and who proposed cannot approve"
    assert approved(ON, EVE, ADAM) is None
    assert approved(ON, PROVEN_EVE, PROVEN_ADAM) is None


@pytest.mark.parametrize("spelling", ["EVE", "Eve", "\uff25\uff56\uff45"])
def test_another_spelling_is_no_other_person(spelling: str) -> None:
    assert same_person("eve", spelling)
    assert approved(ON, EVE, Party(spelling, proven=False)) is not None
    assert not same_person("eve", "eva")


def test_a_word_beside_a_token_may_be_the_same_persons() -> None:
    expected = "'adam' is proven by a token and 'eve' is a word alone, which may be the same person's"
    assert approved(ON, EVE, PROVEN_ADAM) == expected
    assert approved(ON, PROVEN_ADAM, EVE) == expected


def test_the_policy_may_ask_for_tokens() -> None:
    assert approved(WITH_TOKENS, PROVEN_EVE, PROVEN_ADAM) is None
    assert approved(WITH_TOKENS, EVE, ADAM) == (
        "no token proves that 'eve' is who they say, and the policy asks for one"
    )
    assert approved(WITH_TOKENS, PROVEN_EVE, ADAM) == (
        "no token proves that 'adam' is who they say, and the policy asks for one"
    )


@pytest.mark.parametrize("decision", [Decision.REJECTED, Decision.WITHDRAWN])
def test_only_what_takes_effect_needs_two(decision: Decision) -> None:
    assert breach(WITH_TOKENS, decision, EVE, EVE) is None


def test_it_holds_from_its_entry_on_and_never_backwards() -> None:
    rows = [
        PolicyRow("four-eyes", number, BEGINNING, "", {"on": number % 2 == 1}, position)
        for number, position in ((1, 5), (2, 8))
    ]
    found = [in_force(Policies(rows), position).on for position in range(4, 11)]
    assert found == [False, False, True, True, True, False, False]


# --- adoptions and closings ---------------------------------------------------------------------------------

BACK: tuple[Event, ...] = (
    later(effective_from="2026-11-20", settings={}), later(effective_from="2026", settings={}),
    run_closed("2026-10"), run_closed("2026-11-20"), tournament_closed("2026-11-20T23:59:59.999Z"),
)  # fmt: skip
TODAY: tuple[Event, ...] = (
    later(effective_from="2026-11-21", settings={}), later(effective_from="2027", settings={}),
    run_closed("2026-11-21"), tournament_closed("2026-11-21T11:00:00Z"),
)  # fmt: skip


@pytest.mark.parametrize("event", BACK, ids=lambda event: event.key)
def test_what_reaches_back_before_today_needs_a_proposal(club_of_two: ClubOfTwo, event: Event) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    head = ledger.head()
    with pytest.raises(RejectedError, match=r"^needs-a-proposal: four eyes are on, and this reaches back to 2026"):
        ledger.append(event)
    assert ledger.head() == head


@pytest.mark.parametrize("event", TODAY, ids=lambda event: event.key)
def test_what_holds_from_today_on_is_recorded_as_ever(club_of_two: ClubOfTwo, event: Event) -> None:
    club_of_two.ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    assert not club_of_two.ledger.append(event).duplicate


@pytest.mark.parametrize("event", BACK, ids=lambda event: event.key)
def test_with_four_eyes_off_nothing_is_asked_for(club_of_two: ClubOfTwo, event: Event) -> None:
    club_of_two.ledger.policies.set("four-eyes", {"tokens": True}, actor="eve")
    assert not club_of_two.ledger.append(event).duplicate


def test_what_stands_already_is_a_repeat_whatever_it_reaches_back_to(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.append_many(BACK)
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    assert all(receipt.duplicate for receipt in ledger.append_many(BACK))


def test_the_day_is_that_of_the_recording(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(days=1)
    with pytest.raises(RejectedError, match="needs-a-proposal"):
        ledger.append(run_closed("2026-11-21"))
