"""``correct erase-reason``: why a proposal was made is forgotten, the proposal stays."""

from pathlib import Path

import pytest

from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.backups import bytes_of
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.people import propose
from tools.commands import REFUSED, USAGE

WHY, AGAINST = "Bob Unforgettable said so", "Ann Unforgettable was there"


@pytest.fixture(name="decided")
def _decided(club_of_two: ClubOfTwo) -> Path:
    """A proposal that was rejected; both reasons are known."""
    propose(club_of_two.ledger, WHY)
    club_of_two.ledger.decide(1, Decision.REJECTED, by="adam", reason=AGAINST)
    club_of_two.ledger.close()
    return club_of_two.path


def test_the_reasons_are_gone_and_the_proposal_stays(decided: Path, run: Run) -> None:
    assert WHY in run("correct", decided, "show", "1").out
    done = run("correct", decided, "erase-reason", "1", "--yes")
    assert (done.code, done.out) == (0, "")
    assert "proposal 1: 2 reasons erased; copies of this file may still tell" in done.err
    shown = run("correct", decided, "show", "1")
    assert (shown.code, "rejected" in shown.out, "Unforgettable" in shown.out) == (0, True, False)
    assert b"Unforgettable" not in bytes_of(decided.parent)
    again = run("correct", decided, "erase-reason", "1", "--yes")
    assert (again.code, "proposal 1: no reason was known any more" in again.err) == (0, True)


def test_nothing_is_erased_unasked_or_of_a_proposal_that_is_not_there(decided: Path, run: Run) -> None:
    assert run("correct", decided, "erase-reason", "1").code == USAGE
    done = run("correct", decided, "erase-reason", "7", "--yes")
    assert (done.code, done.err.count("\n"), "see 'correct list'" in done.err) == (REFUSED, 1, True)
    with Ledger.open(decided) as ledger:
        assert ledger.corrections.proposal(1).reason == WHY
