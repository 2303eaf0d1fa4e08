"""Published lists and corrections: the original stays, the revised follows, and the difference names the correction."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import differences, publications
from ledger.answers.rows import as_rows
from ledger.audit.audit import audit
from ledger.facts.changes import Change
from ledger.facts.events import Decision, RatingSeeded
from ledger.ledger import Ledger
from tests.kit.checkpoints import give_key
from tests.kit.clubs import NAME, NOW, ClubOfTwo, record_game

JANUARY, FEBRUARY = "standard@2021-01-31/1", "standard@2021-02-28/1"


@pytest.fixture(name="corrected_club")
def _club_with_a_list_of_january_and_of_february(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / NAME, scheme="elo", clock=lambda: NOW) as ledger:
        for name in ("Ann", "Bob", "Carl", "Dora"):
            ledger.register(f"name:{name.lower()}", name)
        record_game(ledger, "g1", "2021-01-10", 1, 2)
        record_game(ledger, "g2", "2021-01-20", 1, 3)
        ledger.publications.publish("2021-01-31", actor="eve")
        record_game(ledger, "g3", "2021-02-10", 2, 4)
        ledger.publications.publish("2021-02-28", actor="eve")
        ledger.ensure_up_to_date()
        yield ledger


def approve(ledger: Ledger, changes: Sequence[Change]) -> int:
    """Propose and approve; the number of the proposal."""
    number = ledger.propose(changes, reason="scoresheet", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.ensure_up_to_date()
    return number


def steps(ledger: Ledger, first: str, second: str) -> dict[int, list[tuple[str, Any, Any]]]:
    """By player that differs, the steps from number to number, which leave no gap."""
    found = {}
    for row in as_rows(differences.list_differences(ledger, *differences.lists_to_compare(ledger, first, second))):
        place = row["rating_before"]
        for step in row["why"]:
            assert step["before"] == place
            place = step["after"]
        assert place == row["rating_after"]
        if row["change"] != differences.UNCHANGED:
            found[row["player"]] = [(step["cause"], step["before"], step["after"]) for step in row["why"]]
    return found


def test_a_voided_game_moves_the_revised_list_and_is_named(corrected_club: Ledger) -> None:
    ledger = corrected_club
    january = ledger.publications.named(JANUARY)
    original = list(ledger.publications.rows(january))
    number = approve(ledger, [ledger.corrections.drafts.annul("game:g1")])
    assert list(ledger.publications.rows(january)) == original
    found = steps(ledger, JANUARY, "now")
    assert set(found) == {1, 2, 3}
    assert all([cause for cause, _, _ in moved] == [f"correction {number}"] for moved in found.values())
    assert found[2] == [(f"correction {number}", original[1].rating, None)], "Bob has no other game"
    pool = ledger.pool()
    assert [known.is_revised for known in publications.published_ratings(ledger, pool, 2)] == [True, True]
    verdict = audit(ledger.path, lists=True)
    assert (verdict.falsehoods, verdict.lists_recomputed) == ((), 2)


def test_an_undone_correction_leaves_the_list_as_it_was_published(corrected_club: Ledger) -> None:
    ledger = corrected_club
    number = approve(ledger, [ledger.corrections.drafts.annul("game:g1")])
    approve(ledger, [ledger.corrections.drafts.undo(number)])
    assert steps(ledger, JANUARY, "now") == {}
    assert not ledger.publications.publish("2021-01-31", actor="eve").recorded


def test_two_corrections_and_a_late_result_are_told_apart(corrected_club: Ledger) -> None:
    ledger = corrected_club
    drawn = {"outcome": "draw", "termination": "agreement"}
    first = approve(ledger, [ledger.corrections.drafts.replace("game:g2", drawn)])
    record_game(ledger, "late", "2021-01-05", 3, 1)
    second = approve(ledger, [ledger.corrections.drafts.annul("game:g1")])
    found = steps(ledger, JANUARY, "standard@2021-02/now")
    causes = [f"correction {first}", "late result late", f"correction {second}"]
    assert [cause for cause, _, _ in found[1]] == causes
    assert [cause for cause, _, _ in found[4]] == ["games or time between the two days"]


def test_a_merged_player_leaves_the_list_to_who_stays(corrected_club: Ledger) -> None:
    ledger = corrected_club
    number = approve(ledger, [ledger.corrections.drafts.merge(3, 4)])
    found = steps(ledger, JANUARY, "now")
    assert found[3][-1][0::2] == (f"correction {number}", None)
    assert found[4][0][:2] == (f"correction {number}", None)
    published = as_rows(publications.published_list_rows(ledger, ledger.publications.named(JANUARY)))
    assert {row["player"]: row["revised_rating"] is None for row in published}[3] is True
    assert audit(ledger.path, lists=True).falsehoods == ()


def test_a_merged_player_who_came_with_the_rating_of_a_list_and_never_played_leaves_it(corrected_club: Ledger) -> None:
    ledger = corrected_club
    emil = ledger.register("name:emil", "Emil")
    ledger.append(RatingSeeded(player=emil, pool="standard", rating="1800"))
    ledger.publications.publish("2021-03-31", actor="eve")
    merged = approve(ledger, [ledger.corrections.drafts.merge(emil, 4)])
    approve(ledger, [ledger.corrections.drafts.annul("game:g1")])
    assert steps(ledger, "standard@2021-03-31/1", "now")[emil] == [(f"correction {merged}", 1800.0, None)]


def test_an_open_proposal_is_complained_of(corrected_club: Ledger) -> None:
    ledger = corrected_club
    number = ledger.propose([ledger.corrections.drafts.annul("game:g1")], reason="doubled", by="eve").proposal
    record_game(ledger, "g4", "2021-03-10", 3, 4)
    draft = ledger.publications.draft("2021-03-31")
    (complaint,) = ledger.publications.complaints(draft)
    assert (complaint.what, complaint.players) == ("open-proposal", ())
    assert str(complaint) == f"correction {number} is proposed, and nobody has decided it yet"
    ledger.decide(number, Decision.REJECTED, by="adam")
    assert ledger.publications.publish("2021-03-31", actor="eve").complaints == ()


def test_a_checkpoint_follows_a_publication_and_nothing_else(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    give_key(club_of_two.path)
    ledger.publications.publish("2026-11-20", actor="eve")
    last = ledger.checkpoints.last()
    assert last is not None
    assert last.head == ledger.head()
    ledger.append_many([])
    assert not ledger.publications.publish("2026-11-20", actor="eve").recorded
    assert ledger.checkpoints.last() == last
