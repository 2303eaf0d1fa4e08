"""A proposal that is made again, as by somebody whose first command was killed after its commit."""

from __future__ import annotations

from ledger.facts.events import Decision
from tests.kit.clubs import ClubOfTwo
from tests.kit.corrections import ask


def test_the_same_open_proposal_of_the_same_person_is_not_recorded_twice(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    change = ask(ledger, "void", game="r1-b1")
    first = ledger.propose([change], reason="never played", by="eve")
    size = ledger.head().size
    again = ledger.propose([change], reason="never played", by="eve")
    assert (again.proposal, again.duplicate, ledger.head().size) == (first.proposal, True, size)
    assert [receipt.position for receipt in again.receipts] == [receipt.position for receipt in first.receipts]
    for reason, by in (("another reason", "eve"), ("never played", "bob")):
        other = ledger.propose([change], reason=reason, by=by)
        assert not other.duplicate
        ledger.decide(other.proposal, Decision.REJECTED, by="adam")
    ledger.decide(first.proposal, Decision.REJECTED, by="adam")
    assert not ledger.propose([change], reason="never played", by="eve").duplicate, "the first one is decided"


def test_a_batch_is_a_repeat_if_all_of_it_is(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    void, born = ask(ledger, "void", game="r1-b1"), ask(ledger, "game", game="r1-b1", field="round", to="7")
    first = ledger.corrections.propose_each([[void]], reason="a list", by="eve")
    both = ledger.corrections.propose_each([[void], [born]], reason="a list", by="eve")
    assert [proposed.duplicate for proposed in both] == [False, False]
    again = ledger.corrections.propose_each([[void], [born]], reason="a list", by="eve")
    assert [proposed.duplicate for proposed in again] == [True, True]
    assert {proposed.proposal for proposed in again} <= {proposed.proposal for proposed in first + both}
