"""Any proposal, in any history: the preview says what its approval then makes, to the last bit, and writes nothing."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import ConflictError, ProposalError, RejectedError
from ledger.facts.changes import Change
from ledger.facts.events import Decision, Event
from ledger.ledger import Ledger
from tests.kit.correction_histories import INSTANTS, Account, Drawing
from tests.kit.drawn_clubs import CAFE, clubs, games, is_first, new_ledger
from tests.kit.impacts import as_plain, check, check_lists, counting_games, file_digests, revised_lists, standings
from tests.kit.lived_histories import WAYS, forced

pytestmark = pytest.mark.slow


def what_may_be(ledger: Ledger, changes: Sequence[Change]) -> list[Change]:
    """The changes that the gate lets pass together."""
    left = list(changes)
    while left and (refusals := ledger.corrections.refusals(left)):
        refused = {refusal.number for refusal in refusals}
        left = [change for number, change in enumerate(left, 1) if number not in refused]
    return left


def take(ledger: Ledger, facts: Sequence[Event]) -> None:
    """Record facts; one whose key a correction has recorded with another fact is left out."""
    for fact in facts:
        try:
            ledger.append(fact)
        except (ConflictError, RejectedError):
            continue


@given(st.data(), clubs(), st.sampled_from(list(WAYS)))
def test_the_preview_of_any_proposal_is_what_its_approval_makes(
    data: st.DataObject, club: list[Event], way: str
) -> None:
    with new_ledger() as ledger:
        further = [data.draw(games(number, INSTANTS, (None, CAFE))) for number in range(200, 206)]
        ledger.append_many([*(event for event in club if is_first(event)), *further])
        waiting = [event for event in club if not is_first(event)]
        account = Account()
        for _ in range(data.draw(st.integers(1, 3))):
            count = data.draw(st.integers(0, len(waiting)))
            take(ledger, waiting[:count])
            del waiting[:count]
            ledger.catch_up()
            account.read(ledger.journal)
            publish(data, ledger)
            changes = what_may_be(ledger, Drawing(data.draw, account).changes(ledger.corrections.drafts))
            if changes:
                compare(ledger, changes, way)


def publish(data: st.DataObject, ledger: Ledger) -> None:
    """Publish the list of an instant in each pool, whatever it looks like; not one of the future."""
    for pool in ledger.pools():
        with suppress(RejectedError):
            ledger.publications.publish(
                data.draw(st.sampled_from(INSTANTS)), pool.name, actor="adam", despite_complaints=True
            )


def as_many(previewed: int, rated: int, way: str) -> bool:
    """Whether a preview told how many games are rated again.

    It folds no read models but the history. Between blocks it may so see that a change has died out where a row of
    another table still differs, and pass over games that the approval rates: in blocks of a few games, here.
    """
    return previewed <= rated if "small" in way or "short" in way else previewed == rated


def compare(ledger: Ledger, changes: Sequence[Change], way: str) -> None:
    """Preview changes, propose them, preview the proposal, approve it: four times the same."""
    with forced(way):  # where a change dies out, how many games are rated again depends on the way
        unproposed = ledger.preview(changes)
    number = ledger.propose(changes, reason="because", by="eve").proposal
    before, lists, files = standings(ledger), revised_lists(ledger), file_digests(ledger.path.parent)
    with forced(way), counting_games() as games:
        impact = ledger.preview(number)
    assert file_digests(ledger.path.parent) == files
    assert as_plain(impact) == as_plain(unproposed)
    assert impact.recorded_since == 0
    assert as_many(impact.games, sum(games), way)
    try:
        ledger.decide(number, Decision.APPROVED, by="adam", seen=impact.seen)
    except ProposalError as error:
        raise AssertionError(f"what was previewed may not be: {error}") from error
    with forced(way), counting_games() as games:
        ledger.catch_up()
    assert as_many(impact.games, sum(games), way)
    check(impact, before, standings(ledger))
    check_lists(impact, lists, revised_lists(ledger))
