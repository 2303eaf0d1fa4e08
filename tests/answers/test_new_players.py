"""New players who resemble known ones: until a list is published, and never one person twice."""

from pathlib import Path

import pytest

from ledger.answers import searching
from ledger.answers.searching import new_players_like_known_ones
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from tests.kit.games import game_recorded


@pytest.fixture(name="named")
def _named(tmp_path: Path) -> Ledger:
    """A ledger with two players who were published, and new ones."""
    ledger = Ledger.create(tmp_path / "club.db")
    ann, bob = ledger.register("name:ann weir", "Ann Weir"), ledger.register("name:bob stone", "Bob Stone")
    ledger.append(game_recorded("g1", white=ann, black=bob, ended_at="2024-05-01"))
    ledger.publications.publish("2024-05-31", actor="adam", despite_complaints=True)
    return ledger


def seen(ledger: Ledger) -> list[tuple[str, list[str], bool]]:
    """The new players who resemble others, with the names of those."""
    rows = new_players_like_known_ones(ledger).rows
    return [(row.name, [other.name for other in row.others], row.is_misspelt) for row in rows]


def test_a_new_player_with_a_known_name_or_nearly_is_seen_until_the_next_list(named: Ledger) -> None:
    with named as ledger:
        assert seen(ledger) == []
        ledger.register("fide:7", "Weir, Ann")
        ledger.register("name:bob ston", "Bob Ston")
        ledger.register("name:cleo", "Cleo March")
        assert seen(ledger) == [("Bob Ston", ["Bob Stone"], True), ("Weir, Ann", ["Ann Weir"], False)]
        answer = new_players_like_known_ones(ledger)
        assert (answer.compared, answer.since) == (3, "standard@2024-05-31/1")
        ledger.append(game_recorded("g2", white=3, black=4, ended_at="2024-06-01"))
        ledger.publications.publish("2024-06-30", actor="adam", despite_complaints=True)
        assert seen(ledger) == []


def test_merged_players_and_certainly_different_persons_are_left_out(named: Ledger) -> None:
    with named as ledger:
        twin = ledger.register("fide:7", "Weir, Ann")
        ledger.register("name:bob ston", "Bob Ston")
        ledger.append(game_recorded("g2", white=2, black=4, ended_at="2024-06-01"))  # they met
        number = ledger.propose([ledger.corrections.drafts.merge(twin, 1)], reason="one person", by="eve").proposal
        ledger.decide(number, Decision.APPROVED, by="adam")
        assert seen(ledger) == []


@pytest.mark.parametrize("at_once", [1, 2, 20])
def test_only_the_newest_are_compared_however_they_are_parted(
    named: Ledger, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST", 3)
    monkeypatch.setattr(searching, "_AT_ONCE", at_once)
    with named as ledger:
        for place, name in enumerate(("Ann Weir", "Dora Field", "Field, Dora", "Eve Long")):
            ledger.register(f"club{place}:7", name)
        assert seen(ledger) == [("Field, Dora", ["Dora Field"], False)], "two new ones are one pair"
        assert new_players_like_known_ones(ledger).compared == 3
