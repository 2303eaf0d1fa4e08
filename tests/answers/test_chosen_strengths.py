"""Members choose their strength during the provisional games: recorded, corrected, undone, shown and audited."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import rankings
from ledger.book.conflicts import WhatIfFacts
from ledger.errors import ProposalError, RejectedError
from ledger.facts.events import Decision, StrengthChosen
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.words import Strength
from ledger.ledger import Ledger
from tests.kit.games import game_recorded, scheme_adopted, strength_chosen

KEY = "strength:standard:1@2024-01-01"


@pytest.fixture(name="members")
def _members(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger of ChessWorld's scheme with a limit of three provisional games, and two players."""
    with Ledger.create(tmp_path / "club.db", settings={"provisional_games": "3"}) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        yield ledger


def choose(day: str, strength: Strength = Strength.ADVANCED, **more: Any) -> StrengthChosen:
    return strength_chosen(effective_at=day, strength=strength, **more)


def play(ledger: Ledger, *days: str) -> None:
    for day in days:
        ledger.append(game_recorded(f"g{day}", half_moves=60, ended_at=day))


def shown(ledger: Ledger) -> tuple[str | None, bool]:
    place = ledger.player("Ann").summary().place
    (row,) = (row.details for row in ledger.ranking(details=True) if row.name == "Ann")
    assert row is not None
    assert (row.strength, row.strength_chosen) == (place.strength, place.strength_chosen)
    return place.strength, place.strength_chosen


def test_the_choice_is_shown_until_the_provisional_games_are_completed(members: Ledger) -> None:
    members.append(choose("2024-01-01"))
    members.append(choose("2024-01-01"))
    members.ensure_up_to_date()
    assert rankings.chosen_strength(members, "standard", 1) == "Advanced"
    play(members, "2024-02-01")
    assert shown(members) == ("Advanced", True)
    members.append(choose("2024-02-02", Strength.BEGINNER))
    play(members, "2024-02-03")
    assert shown(members) == ("Beginner", True)
    play(members, "2024-02-04")
    assert shown(members) == ("Intermediate", False)
    assert rankings.chosen_strength(members, "standard", 1) is None
    assert members.ranking(at="2024-02-01", details=True)[0].details.strength == "Advanced"  # type: ignore[union-attr]
    assert members.audit().ok


def test_a_choice_after_the_provisional_games_is_refused_and_one_before_them_is_not(members: Ledger) -> None:
    play(members, "2024-02-01", "2024-02-02", "2024-02-03")
    with pytest.raises(RejectedError, match="completed 3 rated games in pool 'standard' by 2024-03-01") as refused:
        members.append(choose("2024-03-01"))
    assert refused.value.rule == "rating-decides"
    size = members.journal.size()
    late = members.corrections.drafts.add(choose("2024-03-01"))
    with pytest.raises(ProposalError, match="from then on the rating decides"):
        members.propose([late], reason="forgotten", by="eve")
    assert members.journal.size() == size
    members.append(choose("2024-02-02"))
    assert shown(members) == ("Intermediate", False)


def test_the_games_of_a_list_count(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", settings={"provisional_games": "30"}) as ledger:
        ledger.registry.add("name:ann", "Ann", past=PriorRating(rating="1900", games=30), actor="x")
        with pytest.raises(RejectedError, match="rating-decides"):
            ledger.append(choose("2024-01-01"))


def test_it_is_corrected_previewed_taken_back_and_undone(members: Ledger) -> None:
    members.append(choose("2024-01-01"))
    play(members, "2024-02-01")
    drafts = members.corrections.drafts
    changed = drafts.replace(KEY, {"strength": "beginner"})
    with members.as_if([changed]) as would_be:
        assert shown(would_be) == ("Beginner", True)
    proposal = members.propose([changed], reason="misread", by="eve").proposal
    assert members.preview(proposal).games == 0, "no rating changes"
    members.decide(proposal, Decision.APPROVED, by="adam")
    assert shown(members) == ("Beginner", True)
    gone = members.propose([drafts.annul(KEY)], reason="not hers", by="eve").proposal
    members.decide(gone, Decision.APPROVED, by="adam")
    assert shown(members) == ("Intermediate", False)
    for number in (gone, proposal):
        undo = members.propose([drafts.undo(number)], reason="hers", by="eve").proposal
        members.decide(undo, Decision.APPROVED, by="adam")
    assert shown(members) == ("Advanced", True)
    fact = WhatIfFacts(members.views.connection, members.journal).fact(KEY)
    assert fact is not None
    assert fact.facts["strength"] == "advanced"
    before = list(members.rows("strengths"))
    members.rebuild()
    assert list(members.rows("strengths")) == before
    assert members.audit().ok


def test_a_pool_without_strengths_takes_none_unless_the_policy_has_them(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as ledger:
        ledger.register("name:ann", "Ann")
        ledger.append(scheme_adopted("elo", pool="elo", settings={}))
        with pytest.raises(RejectedError, match="pool 'elo' has no strengths") as refused:
            ledger.append(choose("2024-01-01", pool="elo"))
        assert refused.value.rule == "no-choice-of-strength"
        ledger.policies.set("classes", {"everywhere": True}, actor="adam")
        ledger.append(choose("2024-01-01", pool="elo"))
        with pytest.raises(RejectedError, match="same-instant"):
            ledger.append(choose("2024", Strength.BEGINNER, pool="elo"))


def test_four_eyes_take_a_choice_of_before_today_as_a_proposal(members: Ledger) -> None:
    members.policies.set("four-eyes", {"on": True}, actor="adam")
    with pytest.raises(RejectedError, match="needs-a-proposal"):
        members.append(choose("2024-01-01"))
    number = members.propose([members.corrections.drafts.add(choose("2024-01-01"))], reason="form", by="eve").proposal
    members.decide(number, Decision.APPROVED, by="adam")
    members.ensure_up_to_date()
    assert rankings.chosen_strength(members, "standard", 1) == "Advanced"
