"""A scheme that a correction puts in says every setting, as one that is adopted does."""

from __future__ import annotations

from pathlib import Path

from ledger import schemes
from ledger.facts.correction_events import Decision
from ledger.facts.events import SchemeAdopted
from tests.kit.clubs import new_club_of_two


def test_a_corrected_or_late_adoption_is_recorded_with_every_setting(tmp_path: Path) -> None:
    with new_club_of_two(tmp_path) as club:
        drafts = club.ledger.corrections.drafts
        shown = {"from_shown": True}
        partial = SchemeAdopted(pool="standard", scheme="fide", settings=shown, effective_from="2026-11-01")
        for change in (
            drafts.replace("scheme:standard@start", {"scheme": "fide", "settings": shown}),
            drafts.add(partial),
        ):
            number = club.ledger.propose([change], reason="typed wrong", by="eve").proposal
            club.ledger.decide(number, Decision.APPROVED, by="adam")
        whole = schemes.in_full(partial)
        for key in ("scheme:standard@start", partial.key):
            fact = drafts.fact(key).facts
            assert fact["settings"] == whole.settings
