"""Facts that are recorded at once elsewhere, and by a proposal where four eyes are on: both ways say the same."""

from pathlib import Path

import pytest

from ledger.errors import MalformedError, RejectedError
from ledger.facts.events import Event, RatingRunClosed, SchemeAdopted, TournamentClosed, TournamentOpened
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from tests.kit.corrections import approve, ask, made, ratings

ELO, OPEN = "2026-11-03", "Open"
BY_TWO: dict[str, tuple[dict[str, str], Event]] = {
    "adopt": (
        {"scheme": "elo", "from_": ELO, "settings": '{"k": 40}', "carry": "restart"},
        SchemeAdopted(pool="standard", scheme="elo", settings={"k": 40}, effective_from=ELO, carry=Carry.RESTART),
    ),
    "close-run": ({"ended": "2026-11-04"}, RatingRunClosed(pool="standard", as_of="2026-11-04")),
    "open-tournament": (
        {"tournament": OPEN, "started": "2026-11-01", "ended": "2026-11-04"},
        TournamentOpened(pool="standard", tournament=OPEN, starts_at="2026-11-01", ends_at="2026-11-04"),
    ),
    "close-tournament": (
        {"tournament": OPEN, "ended": "2026-11-04"},
        TournamentClosed(pool="standard", tournament=OPEN, ended_at="2026-11-04"),
    ),
}


@pytest.mark.parametrize("verb", BY_TWO)
def test_two_people_record_what_four_eyes_refuse_one(verb: str, four: Ledger, tmp_path: Path) -> None:
    words, event = BY_TWO[verb]
    with made(tmp_path / "at-once.db") as other:
        other.append(event)
        recorded, there = ratings(other), other.corrections.drafts.fact(event.key)
    four.policies.set("four-eyes", {"on": True}, actor="adam")
    command = "scheme adopt" if verb == "adopt" else verb
    with pytest.raises(RejectedError, match=f"propose it with '{command} --propose'"):
        four.append(event)
    approve(four, ask(four, verb, **words))
    assert ratings(four) == recorded
    assert four.corrections.drafts.fact(event.key).facts == there.facts


def test_an_adoption_in_words_that_mean_nothing_is_named(four: Ledger) -> None:
    for carry, settings, says in (
        ("convrt", "{}", r"carry must be one of \['keep', 'restart', 'convert'\], got 'convrt'"),
        ("keep", "k=40", "settings must be JSON"),
        ("keep", "[40]", "settings must be a mapping"),
    ):
        with pytest.raises(MalformedError, match=says):
            ask(four, "adopt", scheme="elo", from_=ELO, carry=carry, settings=settings)
