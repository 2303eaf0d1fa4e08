"""Two facts of one kind cannot come to stand at one instant: the proposal that would do it is refused by name."""

from collections.abc import Sequence

import pytest

from ledger.errors import ConflictError, ProposalError
from ledger.facts.changes import Change
from ledger.facts.events import Event, PlayerChanged, SchemeAdopted
from ledger.facts.words import Standing
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo, recorded_of_old
from tests.kit.corrections import approve
from tests.kit.games import game_recorded, run_closed, tournament_closed, tournament_opened


def adopted(since: str) -> SchemeAdopted:
    return SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from=since)


def changed(since: str) -> PlayerChanged:
    return PlayerChanged(player=1, effective_at=since, standing=Standing.GUEST)


PAIRS: dict[str, tuple[Event, Event, dict[str, str]]] = {
    "adoptions": (adopted("2020"), adopted("2021"), {"effective_from": "2021"}),
    "runs": (run_closed("2026-01"), run_closed("2026-02"), {"as_of": "2026-02"}),
    "closings": (tournament_closed("2026-01-05"), tournament_closed("2026-01-06"), {"ended_at": "2026-01-06"}),
    "openings": (
        tournament_opened("2026-01-01", "2026-01-05"),
        tournament_opened("2026-01-03", "2026-01-06"),
        {"starts_at": "2026-01-03"},
    ),
    "tournaments that get one name": (
        tournament_closed("2026-01-06", tournament="Cup"),
        tournament_closed("2026-01-06"),
        {"tournament": "Club cup"},
    ),
    "standings": (changed("2020"), changed("2021"), {"effective_at": "2021"}),
}


def refused(ledger: Ledger, changes: Sequence[Change]) -> str:
    """What is said of changes that are refused as conflicting."""
    with pytest.raises(ProposalError) as caught:
        ledger.propose(changes, reason="because", by="eve")
    assert [refusal.rule for refusal in caught.value.refusals] == ["conflicting"]
    return caught.value.refusals[0].message


def pair(name: str, ledger: Ledger) -> tuple[Event, Event, dict[str, str]]:
    """Two facts and what moves the first to the other; the ledger knows the tournament that it is moved to."""
    first, second, move = PAIRS[name]
    if "tournament" in move:
        ledger.append(game_recorded("cup", tournament=move["tournament"], ended_at="2025"))
    return first, second, move


@pytest.mark.parametrize("name", PAIRS)
def test_a_fact_is_not_recorded_where_another_one_was_moved(name: str, club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    first, second, move = pair(name, ledger)
    ledger.append(first)
    drafts = ledger.corrections.drafts
    approve(ledger, drafts.replace(first.key, move))
    size = ledger.journal.size()
    message = f"exists-with-different-key: {second.key!r}: {first.key!r} was moved there by a correction; correct"
    with pytest.raises(ConflictError) as caught:
        ledger.append(second)
    assert str(caught.value).startswith(message)
    with pytest.raises(ProposalError, match="exists-with-different-key"):
        ledger.propose([drafts.add(second)], reason="because", by="eve")
    assert ledger.journal.size() == size
    approve(ledger, drafts.annul(first.key))
    assert not ledger.append(second).duplicate


@pytest.mark.parametrize("name", PAIRS)
def test_a_fact_is_not_moved_to_where_another_one_stands(name: str, club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    first, second, move = pair(name, ledger)
    recorded_of_old(ledger, first, second)
    drafts = ledger.corrections.drafts
    change = drafts.replace(first.key, move)
    instant = second.key.rpartition("@")[2]
    message = f"{first.key!r} and {second.key!r} would both be at {instant}; move one elsewhere"
    assert refused(ledger, [change]) == message
    approve(ledger, drafts.annul(second.key))
    approve(ledger, change)
    assert refused(ledger, [drafts.restore(second.key)]).endswith(f"would both be at {instant}; move one elsewhere")


def test_two_facts_do_not_meet_where_neither_stood(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.append_many([adopted("2020"), adopted("2021")])
    drafts = ledger.corrections.drafts
    moves = [drafts.replace(f"scheme:standard@{year}", {"effective_from": "2022"}) for year in (2020, 2021)]
    with pytest.raises(ProposalError, match="would both be at 2022"):
        ledger.propose(moves, reason="because", by="eve")
    approve(ledger, moves[0])
    assert "would both be at 2022" in refused(ledger, moves[1:])
