"""Corrections under four eyes: the gate refuses, what got past it has no effect, two people change the policy."""

from contextlib import closing

import attrs
import pytest

from ledger.audit.audit import table_digests
from ledger.correcting.corrections import RecordedProposal
from ledger.errors import ProposalError, RejectedError
from ledger.facts.changes import Change
from ledger.facts.events import CorrectionDecided, Decision, SchemeAdopted
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import run_closed, tournament_opened
from tests.kit.tokens import team

GAME = "game:r1-b1"


def four_eyes_on(ledger: Ledger, **settings: bool) -> None:
    ledger.policies.set("four-eyes", {"on": True, **settings}, actor="admin")


def voiding(ledger: Ledger, *, by: str | None = "eve", token: str | None = None) -> int:
    change = ledger.corrections.drafts.annul(GAME)
    return ledger.corrections.propose([change], reason="doubled", by=by, token=token).proposal


def proposed(ledger: Ledger, change: Change) -> RecordedProposal:
    return ledger.propose([change], reason="late", by="eve")


def reason_of_the_game(ledger: Ledger) -> str | None:
    ledger.ensure_up_to_date()
    (row,) = ledger.rows("games", "key = 'r1-b1'")
    reason = row["reason"]
    assert reason is None or isinstance(reason, str)
    return reason


def rules_of(error: pytest.ExceptionInfo[ProposalError]) -> list[str]:
    return [refusal.rule for refusal in error.value.refusals]


def test_who_proposed_is_refused_and_somebody_else_is_not(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    before = reason_of_the_game(ledger)
    four_eyes_on(ledger)
    number = voiding(ledger)
    head = ledger.head()
    for name in ("eve", "EVE"):
        with pytest.raises(ProposalError, match="who proposed cannot approve") as caught:
            ledger.decide(number, Decision.APPROVED, by=name)
        assert rules_of(caught) == ["four-eyes"]
    assert ledger.head() == head
    ledger.decide(number, Decision.APPROVED, by="adam")
    assert reason_of_the_game(ledger) == "voided" != before


def test_who_proposed_may_withdraw_and_reject(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    four_eyes_on(ledger)
    ledger.decide(voiding(ledger), Decision.WITHDRAWN, by="eve")
    ledger.decide(voiding(ledger), Decision.REJECTED, by="eve")
    assert [known.state for known in ledger.corrections.proposals()] == ["withdrawn", "rejected"]


def test_what_was_proposed_before_the_policy_needs_two_when_it_is_decided(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    number = voiding(ledger)
    four_eyes_on(ledger)
    with pytest.raises(ProposalError, match="four-eyes"):
        ledger.decide(number, Decision.APPROVED, by="eve")


def test_a_word_does_not_approve_what_a_token_proposed(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    four_eyes_on(ledger)
    word, tokens = voiding(ledger, by="zoe"), team(ledger)
    with pytest.raises(ProposalError, match="a word alone"):
        ledger.decide(word, Decision.APPROVED, token=tokens["adam"])
    number = voiding(ledger, token=tokens["eve"])
    with pytest.raises(RejectedError, match="needs-a-token"):
        ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.decide(number, Decision.APPROVED, token=tokens["adam"])
    assert reason_of_the_game(ledger) == "voided"


def sealed_past_the_gate(ledger: Ledger, number: int, by: str) -> None:
    decided = CorrectionDecided(proposal=number, decision=Decision.APPROVED, proven=False)
    ledger._record_judged(lambda *_: [decided], by)


def test_a_decision_against_the_policy_has_no_effect_in_any_way_to_fold(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    before = reason_of_the_game(ledger)
    first = voiding(ledger)
    ledger.decide(first, Decision.APPROVED, by="eve")  # there is no policy yet
    assert reason_of_the_game(ledger) == "voided"
    ledger.decide(proposed(ledger, ledger.corrections.drafts.undo(first)).proposal, Decision.APPROVED, by="eve")
    four_eyes_on(ledger)
    second = voiding(ledger)
    sealed_past_the_gate(ledger, second, "eve")
    assert reason_of_the_game(ledger) == before
    told = ledger.corrections.proposal(second)
    assert (told.state, told.proposal.why_not) == ("without effect", "four-eyes")
    with closing(sqlite.connect(sidecar(club_of_two.path, "views"))) as connection:
        folded = table_digests(connection)
    ledger.rebuild()
    with closing(sqlite.connect(sidecar(club_of_two.path, "views"))) as connection:
        assert table_digests(connection) == folded
    assert ledger.corrections.proposal(first).state == "undone", "decisions before the policy stand as they were made"


def test_what_reaches_back_comes_in_by_a_proposal_that_another_person_approves(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    four_eyes_on(ledger)
    drafts = ledger.corrections.drafts
    adoption = SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from="2026-01-01")
    for event in (adoption, run_closed("2026-10"), tournament_opened("2026-11-01", "2026-11-30")):
        number = proposed(ledger, drafts.add(event)).proposal
        with pytest.raises(ProposalError, match="four-eyes"):
            ledger.decide(number, Decision.APPROVED, by="eve")
        _, receipt = ledger.decide(number, Decision.APPROVED, by="adam")
        assert receipt.key == event.key
    assert [era.scheme.name for era in ledger.pool("standard").eras] == ["chessworld", "elo"]


def test_four_eyes_are_switched_off_by_two(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    four_eyes_on(ledger)
    number = proposed(ledger, ledger.corrections.drafts.add(ledger.policies.proposed("four-eyes", {"on": False})))
    with pytest.raises(ProposalError, match="four-eyes"):
        ledger.decide(number.proposal, Decision.APPROVED, by="eve")
    assert ledger.policies.at("four-eyes", "2026")["on"]
    ledger.decide(number.proposal, Decision.APPROVED, by="adam")
    assert not ledger.policies.at("four-eyes", "2026")["on"]
    ledger.decide(voiding(ledger), Decision.APPROVED, by="eve")
    ledger.rebuild()
    assert not ledger.policies.at("four-eyes", "2026")["on"]


def test_four_eyes_are_never_taken_back(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    four_eyes_on(ledger)
    drafts = ledger.corrections.drafts
    number = proposed(ledger, drafts.add(ledger.policies.proposed("four-eyes", {"tokens": True}))).proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    for change in (
        drafts.annul("policy:four-eyes@1"),
        drafts.replace("policy:four-eyes@1", {"settings": {"on": False}}),
        drafts.undo(number),
    ):
        with pytest.raises(ProposalError, match="holds from its entry on") as caught:
            ledger.propose([change], reason="a slip", by="eve")
        assert rules_of(caught) == ["not-correctable"]


def test_other_policies_are_corrected_like_any_fact(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    policies, drafts = ledger.policies, ledger.corrections.drafts
    policies.set("upsets", {"margin": 300}, effective_from="2020", actor="eve")
    change = drafts.replace("policy:upsets@1", {"settings": {"margin": 250}, "effective_from": "2021"})
    moved = proposed(ledger, change).proposal
    ledger.decide(moved, Decision.APPROVED, by="eve")
    assert (policies.at("upsets", "2020-06"), policies.at("upsets", "2021")) == ({"margin": 200}, {"margin": 250})
    annulled = proposed(ledger, drafts.annul("policy:upsets@1")).proposal
    ledger.decide(annulled, Decision.APPROVED, by="eve")
    assert policies.at("upsets", "2021") == {"margin": 200}
    assert policies.set("upsets", {"margin": 150}, actor="eve").key == "policy:upsets@2", "a number is used once"
    ledger.decide(proposed(ledger, drafts.undo(annulled)).proposal, Decision.APPROVED, by="eve")
    rows = [(row.number, row.since, row.settings) for row in policies.list()]
    assert rows == [(1, "2021", {"margin": 250}), (2, "", {"margin": 150})]
    ledger.rebuild()
    assert [(row.number, row.since, row.settings) for row in policies.list()] == rows


def test_a_policy_that_cannot_be_is_not_proposed(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    fact = ledger.policies.proposed("upsets", {"margin": 1})
    change = ledger.corrections.drafts.add(fact)
    odd = Change(do=change.do, fact=change.fact, kind=change.kind, facts={**(change.facts or {}), "settings": {"x": 1}})
    policies = ledger.policies
    policies.set("upsets", {"margin": 1}, actor="eve")
    corrected = ledger.corrections.drafts.replace("policy:upsets@1", {"settings": {"x": 1}})
    odd_again = attrs.evolve(odd, fact="policy:upsets@2", facts={**(odd.facts or {}), "number": 2})
    for fault in (corrected, odd_again):
        with pytest.raises(ProposalError, match="has no setting 'x'") as caught:
            ledger.propose([fault], reason="why not", by="eve")
        assert rules_of(caught) == ["bad-value"]
    eyes = policies.proposed("four-eyes", {"on": True})
    for event, words in (
        (attrs.evolve(eyes, effective_from="2020"), "holds from its entry on: give no instant"),
        (attrs.evolve(eyes, number=7), "the next setting of this policy has number 1"),
    ):
        with pytest.raises(ProposalError, match=words) as caught:
            ledger.propose([ledger.corrections.drafts.add(event)], reason="why not", by="eve")
        assert rules_of(caught) == ["bad-value"]
