"""A scheme that a correction puts in says every setting, as one that is adopted does."""

from pathlib import Path

import pytest

from ledger import schemes
from ledger.audit.audit import irreproducible_adoptions
from ledger.errors import ProposalError
from ledger.facts.events import Decision, SchemeAdopted
from ledger.runtime import arith
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
        whole = schemes.complete_adoption(partial)
        for key in ("scheme:standard@start", partial.key):
            fact = drafts.fact(key).facts
            assert fact["settings"] == whole.settings
            assert (fact["scheme_version"], fact["arithmetic"]) == (whole.scheme_version, whole.arithmetic)


def test_an_adoption_takes_the_versions_of_the_program_that_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_club_of_two(tmp_path) as club:
        drafts = club.ledger.corrections.drafts
        monkeypatch.setattr(arith, "VERSION", arith.VERSION + 1)
        number = club.ledger.propose(
            [drafts.replace("scheme:standard@start", {"scheme": "elo"})], reason="typed wrong", by="eve"
        ).proposal
        club.ledger.decide(number, Decision.APPROVED, by="adam")
        fact = drafts.fact("scheme:standard@start").facts
        elo = schemes.find_scheme("elo")
        assert (fact["scheme_version"], fact["arithmetic"]) == (elo.version, arith.VERSION)
        assert (
            fact["settings"]
            == schemes.complete_adoption(SchemeAdopted(pool="standard", scheme="elo", settings={})).settings
        )
        monkeypatch.undo()
        ((what, why),) = irreproducible_adoptions(club.ledger.views)
        assert what == "numbers first published in pool standard"
        assert f"version {elo.version} of 'elo' with arithmetic {arith.VERSION + 1}" in why


def test_versions_alone_are_not_corrected(tmp_path: Path) -> None:
    with new_club_of_two(tmp_path) as club:
        change = club.ledger.corrections.drafts.replace("scheme:standard@start", {"arithmetic": 7})
        with pytest.raises(ProposalError, match="not-correctable"):
            club.ledger.propose([change], reason="why not", by="eve")
