"""Four eyes: which decisions break the policy, and from where on it holds."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product

import attrs
import polars as pl
import pytest

from ledger.book.policies import FourEyes, Party, Policies, PolicyRow, four_eyes_at, four_eyes_breach
from ledger.book.timeline import BEGINNING
from ledger.errors import MalformedError, RejectedError
from ledger.facts.events import (
    BirthYearLearnt,
    ClockAccepted,
    Decision,
    Event,
    FederationSet,
    PlayerChanged,
    RatingSeeded,
    Role,
    SchemeAdopted,
)
from ledger.facts.person_names import same_person
from ledger.facts.prior_ratings import PriorRating
from ledger.facts.source_games import player_schema
from ledger.facts.words import Standing
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.recording.recorder import Submission
from tests.errors.rule_cases import later
from tests.kit.clubs import ClubOfTwo
from tests.kit.corrections import ask
from tests.kit.games import game_recorded, run_closed, source_game, tournament_closed

ON, WITH_TOKENS = FourEyes(on=True), FourEyes(on=True, tokens=True)
EVE, ADAM = Party("eve", proven=False), Party("adam", proven=False)
PROVEN_EVE, PROVEN_ADAM = Party("eve", proven=True), Party("adam", proven=True)


def approved(policy: FourEyes, proposed: Party, decided: Party) -> str | None:
    return four_eyes_breach(policy, Decision.APPROVED, proposed, decided)


def test_without_the_policy_anybody_may_approve() -> None:
    for proposed, decided in product((EVE, ADAM, PROVEN_EVE), repeat=2):
        assert approved(FourEyes(), proposed, decided) is None
        assert approved(FourEyes(tokens=True), proposed, decided) is None, "tokens alone ask for nothing"


def test_who_proposed_cannot_approve() -> None:
    for proven in (False, True):
        found = approved(ON, Party("eve", proven), Party("eve", proven))
        assert found == "'eve' proposed it, and who proposed cannot approve"
    assert approved(ON, EVE, ADAM) is None
    assert approved(ON, PROVEN_EVE, PROVEN_ADAM) is None


SPELLINGS = (
    "EVE", "Eve", "\uff25\uff56\uff45", "e\u00adve", "e\u200bve", "e\u2060ve", "\ufeffeve", "eve\u200e", "e\u034fve",
    "e\u3164ve", "e\ufe0fve", "e\U000e0041ve", "eve\u2800",
)  # fmt: skip


def test_blanks_of_any_kind_distinguish_nobody() -> None:
    for spelling in ("Eve \u00a0\u3000lee", "evelee", "e velee"):
        assert same_person("eve lee", spelling)


@pytest.mark.parametrize("name", ["еve", "ЕVЕ", "ève", "e.ve", "eνe", "EVE", "e vе"])  # meant
def test_nobody_approves_under_a_name_that_looks_like_that_of_who_proposed(club_of_two: ClubOfTwo, name: str) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="adam")
    ledger.propose([ask(ledger, "void", game="r1-b1")], reason="a test", by="eve")
    with pytest.raises(RejectedError, match="four-eyes"):
        ledger.decide(1, Decision.APPROVED, by=name)
    assert ledger.decide(1, Decision.APPROVED, by="adam")


def test_nobody_is_given_a_token_under_a_name_that_looks_like_anothers(club_of_two: ClubOfTwo) -> None:
    tokens = club_of_two.ledger.tokens
    tokens.add("eve", [Role.CORRECTOR])
    for name in ("e ve", "Eve", "еve"):  # meant
        with pytest.raises(RejectedError, match=r"name-like-another: .* looks like 'eve', who has a token"):
            tokens.add(name, [Role.CORRECTOR])
    tokens.add("eve", [Role.CORRECTOR])
    assert [row.name for row in tokens.list()] == ["eve", "eve"]


@pytest.mark.parametrize("letter", list("\u00ad\u200b\u200d\u2060\u2800\u3164\ufeff\ufe0f\ue000"))
def test_who_acts_bears_a_name_that_everybody_sees(club_of_two: ClubOfTwo, letter: str) -> None:
    ledger, name = club_of_two.ledger, f"e{letter}ve"
    change = ledger.corrections.drafts.annul("game:r1-b1")
    number = ledger.propose([change], reason="twice", by="eve").proposal
    head = ledger.head()
    doors: tuple[Callable[[], object], ...] = (
        lambda: ledger.propose([change], reason="twice", by=name),
        lambda: ledger.decide(number, Decision.APPROVED, by=name),
        lambda: ledger.append(run_closed("2026-11-21"), actor=name),
        lambda: ledger.register("name:zoe", "Zoe", actor=name),
        lambda: ledger.rename(1, "Anna", actor=name),
        lambda: ledger.erase(1, actor=name),
        lambda: ledger.policies.set("upsets", {"margin": 1}, actor=name),
        lambda: ledger.publications.publish("2026-11-20", actor=name, despite_complaints=True),
        lambda: ledger.import_games(batch_games([source_game("g1", ended_at="2026-11-01")]), actor=name),
        lambda: ledger.tokens.add(name, [Role.CORRECTOR]),
        lambda: Ledger.create(club_of_two.folder / "other.db", actor=name),
    )
    for door in doors:
        with pytest.raises(MalformedError, match=f"holds what nobody sees \\(U\\+{ord(letter):04X}\\): type it anew"):
            door()
    assert ledger.head() == head
    assert {path.name for path in club_of_two.folder.iterdir() if "other" in path.name} == set()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_is_no_other_person(spelling: str) -> None:
    assert same_person("eve", spelling)
    assert approved(ON, EVE, Party(spelling, proven=False)) is not None
    assert not same_person("eve", "eva")


def test_a_word_beside_a_token_may_be_the_same_persons() -> None:
    expected = "'adam' is proven by a token and 'eve' is a word alone, which may be the same person's"
    assert approved(ON, EVE, PROVEN_ADAM) == expected
    assert approved(ON, PROVEN_ADAM, EVE) == expected


def test_the_policy_may_ask_for_tokens() -> None:
    assert approved(WITH_TOKENS, PROVEN_EVE, PROVEN_ADAM) is None
    assert approved(WITH_TOKENS, EVE, ADAM) == (
        "no token proves that 'eve' is who they say, and the policy asks for one"
    )
    assert approved(WITH_TOKENS, PROVEN_EVE, ADAM) == (
        "no token proves that 'adam' is who they say, and the policy asks for one"
    )


@pytest.mark.parametrize("decision", [Decision.REJECTED, Decision.WITHDRAWN])
def test_only_what_takes_effect_needs_two(decision: Decision) -> None:
    assert four_eyes_breach(WITH_TOKENS, decision, EVE, EVE) is None


def test_it_holds_from_its_entry_on_and_never_backwards() -> None:
    rows = [
        PolicyRow("four-eyes", number, BEGINNING, "", {"on": number % 2 == 1}, position)
        for number, position in ((1, 5), (2, 8))
    ]
    found = [four_eyes_at(Policies(rows), position).on for position in range(4, 11)]
    assert found == [False, False, True, True, True, False, False]


BACK: tuple[Event, ...] = (
    later(effective_from="2026-11-20", settings={}),
    later(effective_from="2026", settings={}),
    run_closed("2026-10"),
    run_closed("2026-11-20"),
    tournament_closed("2026-11-20T23:59:59.999Z"),
)
OF_PLAYERS: tuple[Event, ...] = (
    PlayerChanged(player=1, effective_at="2026-11-20", standing=Standing.GUEST),
    PlayerChanged(player=1, effective_at="2026", standing=Standing.FULL, declared_rating=1700),
    BirthYearLearnt(player=1, birth_year=1990),
    FederationSet(player=1, effective_at="2026-11-20", federation="NOR"),
    RatingSeeded(player=1, pool="standard", rating="2300"),
    RatingSeeded(player=1, pool="standard", rating="2300", effective_at="2026-11-20"),
)
TODAY: tuple[Event, ...] = (
    later(effective_from="2026-11-21", settings={}),
    later(effective_from="2027", settings={}),
    run_closed("2026-11-21"),
    tournament_closed("2026-11-21T11:00:00Z"),
)


@pytest.mark.parametrize("event", BACK, ids=lambda event: event.key)
def test_what_reaches_back_before_today_needs_a_proposal(club_of_two: ClubOfTwo, event: Event) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    head = ledger.head()
    with pytest.raises(RejectedError, match=r"^needs-a-proposal: four eyes are on, and this reaches back to 2026"):
        ledger.append(event)
    assert ledger.head() == head


@pytest.mark.parametrize("later", [0, 1, -20_000], ids="{} ms later".format)
@pytest.mark.parametrize("event", OF_PLAYERS, ids=lambda event: event.key)
def test_a_past_of_who_is_registered_needs_a_proposal(club_of_two: ClubOfTwo, event: Event, later: int) -> None:
    """Behind the last entry every clock records under that one's instant: who is registered bears the same."""
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(milliseconds=later)
    head = ledger.head()
    with pytest.raises(RejectedError, match=r"^needs-a-proposal: four eyes are on, and this reaches back to"):
        ledger.append(event)
    assert ledger.head() == head
    number = ledger.propose([ledger.corrections.drafts.add(event)], reason="by letter", by="eve").proposal
    with pytest.raises(RejectedError, match="who proposed cannot approve"):
        ledger.decide(number, Decision.APPROVED, by="eve")
    receipts = ledger.decide(number, Decision.APPROVED, by="adam")
    assert receipts[-1].key == event.key


def test_a_clock_that_was_set_back_and_accepted_makes_nothing_of_the_past_a_thing_of_today(
    club_of_two: ClubOfTwo,
) -> None:
    ledger, adoption = club_of_two.ledger, later(effective_from="2026-10-05", settings={})
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now -= timedelta(days=60)
    ledger.append(ClockAccepted(entry=ledger.journal.size()))
    with pytest.raises(RejectedError, match="needs-a-proposal: four eyes are on, and this reaches back to 2026-10-05"):
        ledger.append(adoption)
    number = ledger.propose([ledger.corrections.drafts.add(adoption)], reason="by letter", by="eve").proposal
    assert ledger.decide(number, Decision.APPROVED, by="adam")[-1].key == adoption.key


def test_a_clock_accepted_in_the_transaction_of_what_reaches_back_makes_it_no_thing_of_today(
    club_of_two: ClubOfTwo,
) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now -= timedelta(days=60)
    size = ledger.journal.size()
    for event in (later(effective_from="2026-10-05", settings={}), BirthYearLearnt(player=1, birth_year=1990)):
        with pytest.raises(RejectedError, match="needs-a-proposal: four eyes are on, and this reaches back to"):
            ledger.append_many([ClockAccepted(entry=size), event])
    assert ledger.journal.size() == size


def test_an_entry_of_a_wrong_clock_that_was_called_so_asks_for_no_proposal_until_that_day(
    club_of_two: ClubOfTwo,
) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(days=3650)
    ledger.append(PlayerChanged(player=1, effective_at="2036-11-19", standing=Standing.GUEST))
    club_of_two.clock.now -= timedelta(days=3649)
    ledger.append(ClockAccepted(entry=ledger.journal.size()))
    assert not ledger.append(later(effective_from="2026-11-23", settings={})).duplicate


def test_a_past_that_comes_with_its_player_is_recorded_as_ever(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(days=1)
    past = PriorRating(rating="2100", since="2020")
    assert ledger.registry.add("fide:9", "Zoe", birth_year=1990, past=past, actor="desk").recorded == 2
    club_of_two.clock.now += timedelta(days=1)
    with pytest.raises(RejectedError, match="needs-a-proposal"):
        ledger.registry.learn(3, past=PriorRating(rating="2200", since="2021"), actor="desk")


def test_registering_somebody_again_tells_no_past_alone(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    head = ledger.head()
    with pytest.raises(RejectedError, match="needs-a-proposal: four eyes are on, and this reaches back to 2020"):
        ledger.registry.add("name:ann", "Ann", past=PriorRating(rating="2300", since="2020"), actor="desk")
    assert ledger.head() == head
    assert ledger.registry.add("name:ann", "Ann", actor="desk").recorded == 0


def test_a_list_of_players_tells_no_past_of_who_is_registered(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(days=1)
    rows = [
        {"line": 1, "identity": "fide:9", "name": "Zoe", "rating": "2100", "birth_year": 1990},
        {"line": 2, "identity": "name:ann", "name": "Ann", "rating": "2300"},
        {"line": 3, "identity": "name:bob", "name": "Bob", "birth_year": 1990},
    ]
    frame = pl.DataFrame(rows, schema=dict(player_schema()))
    head = ledger.head()
    report = ledger.registry.take_list([frame], actor="desk")
    assert sorted((fault.line, fault.message.split(":")[0]) for fault in report.faults) == [
        (2, "needs-a-proposal"),
        (3, "needs-a-proposal"),
    ]
    assert ledger.head() == head
    report = ledger.registry.take_list([frame[:1]], actor="desk")
    assert (report.registered, report.seeded, report.fault_count) == (1, 1, 0)


@pytest.mark.parametrize("event", TODAY, ids=lambda event: event.key)
def test_what_holds_from_today_on_is_recorded_as_ever(club_of_two: ClubOfTwo, event: Event) -> None:
    club_of_two.ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    assert not club_of_two.ledger.append(event).duplicate


@pytest.mark.parametrize("event", BACK, ids=lambda event: event.key)
def test_with_four_eyes_off_nothing_is_asked_for(club_of_two: ClubOfTwo, event: Event) -> None:
    club_of_two.ledger.policies.set("four-eyes", {"tokens": True}, actor="eve")
    assert not club_of_two.ledger.append(event).duplicate


def test_what_stands_already_is_a_repeat_whatever_it_reaches_back_to(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.append_many(BACK)
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    assert all(receipt.duplicate for receipt in ledger.append_many(BACK))


def test_the_day_is_that_of_the_recording(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    club_of_two.clock.now += timedelta(days=1)
    with pytest.raises(RejectedError, match="needs-a-proposal"):
        ledger.append(run_closed("2026-11-21"))


def test_a_game_that_would_change_a_published_list_needs_a_proposal(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.publications.publish("2026-11-20", actor="adam", despite_complaints=True)
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    late, later = (game_recorded(key, ended_at=f"2026-11-{key}") for key in ("19", "21"))
    head = ledger.head()
    with pytest.raises(RejectedError, match=r"^needs-a-proposal: four eyes are on, and the lists of pool 'standard'"):
        ledger.append_many([later, late])
    assert ledger.head() == head
    refused, recorded = ledger.append_each([Submission(late, "desk"), Submission(later, "desk")])
    assert isinstance(refused, RejectedError)
    assert (refused.rule, ledger.append(later).duplicate) == ("needs-a-proposal", True)
    assert not isinstance(recorded, RejectedError | MalformedError)
    number = ledger.propose([ledger.corrections.drafts.add(late)], reason="late report", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    assert ledger.append(late).duplicate


def test_a_game_that_moves_its_tournament_out_of_a_published_list_needs_a_proposal(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    whole = SchemeAdopted(
        pool="fide", scheme="fide", settings={"start": 1800, "by_event": True, "late_reports": "true-place"}
    )
    first = game_recorded("f1", pool="fide", tournament="Open", ended_at="2026-10-28")
    ledger.append_many([whole, first])
    ledger.publications.publish("2026-11-01", "fide", actor="adam", despite_complaints=True)
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    with pytest.raises(RejectedError, match="needs-a-proposal: four eyes are on, and the lists of pool 'fide'"):
        ledger.append(attrs.evolve(first, game="f2", ended_at="2026-11-02"))
    assert not ledger.append(attrs.evolve(first, game="f3", ended_at="2026-11-02", tournament="Cup")).duplicate


def test_what_holds_from_a_published_day_on_needs_a_proposal(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    ledger.policies.set("four-eyes", {"on": True}, actor="eve")
    today = PlayerChanged(player=1, effective_at="2026-11-21", standing=Standing.CLOSED)
    ledger.publications.publish("2026-11-21", actor="adam", despite_complaints=True)
    with pytest.raises(RejectedError, match="needs-a-proposal: four eyes are on, and this reaches back to 2026-11-21"):
        ledger.append(today)
    assert not ledger.append(attrs.evolve(today, effective_at="2026-11-22")).duplicate
