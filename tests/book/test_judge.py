"""The table of the judge, read by context: which rules are asked of which kind of event."""

import pytest

from ledger.book import judge
from ledger.book.evidence import Context, Rule
from ledger.facts.events import (
    EVENTS,
    BirthYearLearnt,
    Event,
    FederationSet,
    GameRecorded,
    PlayerChanged,
    PlayerDescribed,
    PlayerEntered,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    StrengthChosen,
    TournamentClosed,
    TournamentDescribed,
    TournamentOpened,
)

GAME = "same-player ended-before-start ended-in-the-future"
ADOPTION = "unknown-scheme bad-settings bad-from-pool pool-has-no-beginning bad-carry"
OVERLAP = "overlapping-editions"
CLOSED = "edition-closed played-after-closing"
CHOICE = "no-choice-of-strength rating-decides"
OTHER = "exists-with-different-key"
# The rules in their order; of no kind but these a proposal moves a fact to a place where another one may be.
ASKED: tuple[tuple[Context, type[Event], str], ...] = (
    (Context.APPEND, GameRecorded, f"unknown-pool unknown-player erased-player {GAME} needs-a-proposal"),
    (Context.WITHOUT_VIEWS, GameRecorded, f"unknown-pool unknown-player erased-player {GAME} needs-a-proposal"),
    (Context.IMPORT, GameRecorded, GAME),
    (Context.PROPOSAL, GameRecorded, f"impossible-ending unknown-pool unknown-player erased-player {GAME}"),
    (Context.APPROVAL, GameRecorded, f"unknown-pool unknown-player {GAME}"),
    (Context.CHANGE, GameRecorded, ""),
    (Context.APPEND, RatingSeeded, f"unknown-pool unknown-player {OTHER} same-instant needs-a-proposal"),
    (Context.IMPORT, RatingSeeded, f"{OTHER} same-instant"),
    (Context.PROPOSAL, RatingSeeded, f"unknown-pool unknown-player {OTHER} same-instant"),
    (Context.CHANGE, RatingSeeded, "same-instant"),
    (Context.RESTORE, RatingSeeded, "same-instant"),
    (Context.APPROVAL, RatingSeeded, "unknown-pool unknown-player"),
    (Context.APPEND, PlayerChanged, f"unknown-player after-the-first-game {OTHER} same-instant needs-a-proposal"),
    (Context.CHANGE, PlayerChanged, "after-the-first-game same-instant"),
    (Context.RESTORE, PlayerChanged, "same-instant"),
    (Context.APPEND, BirthYearLearnt, "unknown-player exists-with-different-birth-year needs-a-proposal"),
    (Context.RESTORE, BirthYearLearnt, ""),
    (Context.APPROVAL, BirthYearLearnt, "unknown-player"),
    (Context.APPEND, StrengthChosen, f"unknown-pool unknown-player {CHOICE} {OTHER} same-instant needs-a-proposal"),
    (Context.PROPOSAL, StrengthChosen, f"unknown-pool unknown-player {CHOICE} {OTHER} same-instant"),
    (Context.CHANGE, StrengthChosen, "rating-decides same-instant"),
    (Context.RESTORE, StrengthChosen, "same-instant"),
    (Context.APPROVAL, StrengthChosen, "unknown-pool unknown-player"),
    (Context.APPEND, FederationSet, f"unknown-player {OTHER} same-instant needs-a-proposal"),
    (Context.PROPOSAL, FederationSet, f"unknown-player {OTHER} same-instant"),
    (Context.CHANGE, FederationSet, "same-instant"),
    (Context.APPROVAL, FederationSet, "unknown-player"),
    (Context.APPEND, RoundWithoutGame, f"unknown-pool unknown-player {OTHER}"),
    (Context.APPEND, PlayerEntered, "unknown-pool unknown-player"),
    (Context.IMPORT, PlayerEntered, ""),
    (Context.APPEND, TournamentDescribed, "unknown-pool"),
    (Context.APPEND, PlayerDescribed, "recorded-otherwise"),
    (Context.APPEND, SchemeAdopted, f"{ADOPTION} {OTHER} same-instant needs-a-proposal"),
    (Context.WITHOUT_VIEWS, SchemeAdopted, f"{ADOPTION} needs-a-proposal"),
    (Context.APPROVAL, SchemeAdopted, ADOPTION),
    (
        Context.APPEND,
        TournamentOpened,
        f"unknown-pool ended-before-start {OTHER} overlapping-editions needs-a-proposal",
    ),
    (Context.IMPORT, TournamentOpened, f"ended-before-start {OTHER} {OVERLAP}"),
    (Context.APPEND, TournamentClosed, f"unknown-pool ended-in-the-future {OTHER} {CLOSED} needs-a-proposal"),
    (Context.COMMAND, TournamentClosed, "no-such-tournament"),
    (Context.PROPOSAL, TournamentClosed, f"unknown-pool ended-in-the-future no-such-tournament {OTHER} {CLOSED}"),
    (Context.CHANGE, TournamentClosed, f"no-such-tournament {CLOSED}"),
    (Context.RESTORE, TournamentClosed, CLOSED),
    (Context.APPROVAL, TournamentClosed, "unknown-pool ended-in-the-future"),
)


@pytest.mark.parametrize(("context", "kind", "names"), ASKED, ids=lambda value: getattr(value, "KIND", str(value)))
def test_a_context_asks_these_rules_of_a_kind(context: Context, kind: type[Event], names: str) -> None:
    asked = [rule.__name__.replace("_", "-") for rule in judge.rules_for(context)[kind.KIND]]
    assert asked == names.split()


def test_every_kind_has_rules_every_rule_a_kind_and_every_context_a_rule() -> None:
    assert judge.RULES.keys() == {*EVENTS}
    contexts: dict[Rule, set[Context]] = {}
    for rules in judge.RULES.values():
        for rule, asked in rules.items():
            assert contexts.setdefault(rule, asked) == asked, "one rule, one set of contexts"
    assert all(contexts.values())
    assert all(any(judge.rules_for(context).values()) for context in Context)


def test_every_rule_says_what_it_refuses() -> None:
    docstrings = {rule.__doc__ for rules in judge.RULES.values() for rule in rules}
    assert [words for words in docstrings if words is None or not words.startswith("Refuse ")] == []
