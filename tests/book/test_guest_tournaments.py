"""ChessWorld's Guest Welcoming Tournaments: in them guests are rated, by a setting that older ledgers do not have."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.audit import audit
from ledger.book import assessment
from ledger.facts.events import Decision
from ledger.facts.words import Standing
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW
from tests.kit.games import game_recorded

TOURNAMENTS: Mapping[str, tuple[str | None, bool]] = {
    "g1": ("Guest Welcoming Tournament 7", True),
    "g2": ("January GUEST-WELCOMING tournament", True),
    "g3": ("Guest tournament", False),
    "g4": (None, False),
}


def club(path: Path, **settings: Any) -> Ledger:
    """Gus and Gil are guests, Full is none."""
    ledger = Ledger.create(path / NAME, settings=settings, clock=lambda: NOW)
    for name, standing in (("Gus", Standing.GUEST), ("Gil", Standing.GUEST), ("Full", Standing.FULL)):
        ledger.register(f"name:{name.lower()}", name, standing=standing)
    for day, (key, (tournament, _)) in enumerate(TOURNAMENTS.items(), 1):
        for black in (2, 3):
            ledger.append(
                game_recorded(
                    f"{key}-{black}", black=black, ended_at=f"2021-05-{day:02}", half_moves=60, tournament=tournament
                )
            )
    ledger.ensure_up_to_date()
    return ledger


def rated(ledger: Ledger) -> dict[str, bool]:
    ledger.ensure_up_to_date()
    return {row["key"].partition("-")[0]: row["reason"] is None for row in ledger.rows("games")}


@pytest.mark.parametrize("few", [True, False])
def test_guests_are_rated_in_guest_welcoming_tournaments(
    few: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr(assessment, "FEW_ASSESSED", 0)
    with club(tmp_path) as ledger:
        assert rated(ledger) == {key: counts for key, (_, counts) in TOURNAMENTS.items()}
        ledger.rebuild()
        assert rated(ledger) == {key: counts for key, (_, counts) in TOURNAMENTS.items()}
        assert audit(ledger.path).falsehoods == ()


def test_ledgers_whose_adoption_does_not_say_so_rate_none(tmp_path: Path) -> None:
    with club(tmp_path, guest_tournaments=False) as ledger:
        assert set(rated(ledger).values()) == {False}


def test_a_game_that_is_put_into_such_a_tournament_is_rated(tmp_path: Path) -> None:
    with club(tmp_path) as ledger:
        for word, counts in (("guest welcoming tournament", True), ("Cup", False)):
            words = {"game": "g4-2", "field": "tournament", "to": word}
            change = ledger.corrections.verbs.change("game", words)
            proposed = ledger.propose([change], reason="so it was", by="eve")
            ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
            ledger.ensure_up_to_date()
            (row,) = ledger.rows("games", "key = ?", ["g4-2"])
            assert (row["reason"] is None) == counts
