"""The named refusals, in their order: one event at a time, many at once, and as columns of an import."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger.book import judge
from ledger.book.evidence import Context, Rule
from ledger.book.rules_by_keys import RECORDED_OTHERWISE, recorded_otherwise
from ledger.errors import RejectedError
from ledger.facts.events import (
    ClockAccepted,
    Event,
    GameSupplemented,
    PersonErased,
    PlayerChanged,
    PlayerDescribed,
    PlayerRegistered,
    PlayerRenamed,
    RatingSeeded,
    SchemeAdopted,
)
from ledger.facts.words import Carry, Standing
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.recording.pool_choice import PoolChoice
from tests.errors.rule_cases import CASES, Case, adoption, is_named, prepared, source
from tests.kit.clubs import NOON, ClubOfTwo
from tests.kit.games import game_recorded, run_closed, tournament_closed

EVERY = [pytest.param(rule, case, id=f"{rule}-{i}") for rule, cases in CASES.items() for i, case in enumerate(cases)]
IMPORTED = [
    pytest.param(rule, case, id=f"{rule}-{i}")
    for rule, cases in CASES.items()
    for i, case in enumerate(cases)
    if case.imported is not None
]


CLOCKS_AND_REPEATS = ("clock-behind", "exists-with-different-FIELD", "clock-not-behind")  # no kind of event has these
APPENDED = judge.rules_for(Context.APPEND)


OTHERWISE = {kind.KIND: name for kind, (name, _) in RECORDED_OTHERWISE.items()}


def named(rule: Rule, kind: str) -> str:
    """The case of a rule, which bears its name; of facts that only other calls record each kind has a name."""
    name = OTHERWISE[kind] if rule is recorded_otherwise else rule.__name__.replace("_", "-")
    return next(case for case in CASES if is_named(case, name))


def test_every_rule_has_a_case_and_each_kind_has_its_rules_in_their_order() -> None:
    assert {*CASES} == {*CLOCKS_AND_REPEATS} | {named(rule, kind) for kind, rules in APPENDED.items() for rule in rules}
    order = [case for case in CASES if case not in CLOCKS_AND_REPEATS]
    for kind, rules in APPENDED.items():
        names = [named(rule, kind) for rule in rules if named(rule, kind) in order]
        assert names == sorted(names, key=order.index)


@pytest.mark.parametrize(("rule", "case"), EVERY)
def test_the_rule_of_a_case_is_one_of_its_kind(rule: str, case: Case) -> None:
    assert rule in CLOCKS_AND_REPEATS or rule in {named(asked, case.event.KIND) for asked in APPENDED[case.event.KIND]}


@pytest.mark.parametrize(("rule", "case"), EVERY)
def test_the_ledger_refuses_it_by_name_and_stays_as_it_was(club_of_two: ClubOfTwo, rule: str, case: Case) -> None:
    prepared(club_of_two.ledger, case)
    before = club_of_two.ledger.head()
    club_of_two.clock.now += case.clock
    with pytest.raises(RejectedError) as caught:
        club_of_two.ledger.append(case.event)
    assert is_named(rule, caught.value.rule)
    assert caught.value.key == ("" if rule == "clock-behind" else case.event.key)
    assert str(caught.value).startswith(f"{caught.value.rule}: ")
    assert case.words in str(caught.value)
    assert club_of_two.ledger.head() == before


@pytest.mark.parametrize(("rule", "case"), IMPORTED)
@pytest.mark.parametrize("strict", [False, True])
def test_an_import_refuses_it_by_the_same_name(club_of_two: ClubOfTwo, rule: str, case: Case, strict: bool) -> None:
    assert case.imported is not None
    before = club_of_two.ledger.head()
    club_of_two.clock.now += case.clock
    if rule == "clock-behind":
        with pytest.raises(RejectedError) as caught:
            club_of_two.ledger.import_games(batch_games([case.imported]), strict=strict)
        assert caught.value.rule == rule
    else:
        outcome = club_of_two.ledger.import_games(batch_games([case.imported]), strict=strict)
        (fault,) = outcome.faults
        name, _, text = fault.message.partition(": ")
        assert fault.line == 1
        assert is_named(rule, name)
        assert case.words in text
        assert (outcome.recorded, outcome.repeated) == (0, 0)
    assert club_of_two.ledger.head() == before


@pytest.mark.parametrize(("rule", "case"), IMPORTED)
def test_an_import_takes_the_good_games_around_a_refused_one(club_of_two: ClubOfTwo, rule: str, case: Case) -> None:
    assert case.imported is not None
    if rule == "clock-behind":
        return
    games = [source("x1", line=5), case.imported._replace(line=6), source("x2", line=7)]
    outcome = club_of_two.ledger.import_games(batch_games(games))
    assert [fault.line for fault in outcome.faults] == [6]
    assert (outcome.recorded, club_of_two.ledger.head().size) == (2, 6)
    strict = club_of_two.ledger.import_games(batch_games([source("x3"), case.imported._replace(line=6)]), strict=True)
    assert [fault.line for fault in strict.faults] == [6]
    assert (strict.recorded, club_of_two.ledger.head().size) == (0, 6)


FUTURE = {"started_at": "2030-01-02", "ended_at": "2030-01-01"}
# What is wrong with one game, adding one rule at a time from the last to the first.
WRONG_GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ended-in-the-future", {"ended_at": "2030-01-01"}),
    ("ended-before-start", FUTURE),
    ("same-player", {**FUTURE, "black": 1}),
    ("erased-player", {**FUTURE, "black": 1}),
    ("unknown-player", {**FUTURE, "white": 9, "black": 9}),
    ("unknown-pool", {**FUTURE, "white": 9, "black": 9, "pool": "rapid"}),
    ("exists-with-different-black", {**FUTURE, "white": 9, "black": 9, "pool": "rapid", "key": "r1-b1"}),
    ("clock-behind", {**FUTURE, "white": 9, "black": 9, "pool": "rapid", "key": "r1-b1"}),
)
CARRIED = {"effective_from": "2026", "carry": Carry.CONVERT}
WRONG_ADOPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (  # while four eyes are on
    ("bad-carry", {**CARRIED, "pool": "standard"}),
    ("pool-has-no-beginning", CARRIED),
    ("bad-from-pool", {**CARRIED, "settings": {"from_pool": "nowhere"}}),
    ("bad-settings", {**CARRIED, "settings": {"knob": 1, "from_pool": "nowhere"}}),
    ("unknown-scheme", {**CARRIED, "settings": {"knob": 1, "from_pool": "nowhere"}, "scheme": "guesswork"}),
)
WRONG_ACCEPTANCES: tuple[tuple[str, Event], ...] = (
    ("clock-not-behind", ClockAccepted(entry=4)),
    ("not-the-last-entry", ClockAccepted(entry=3)),
)
WRONG_WAYS: tuple[tuple[str, Event], ...] = (
    ("not-a-telling", GameSupplemented(game="r9", entry=4, number=1)),
    ("not-by-append", PersonErased(player=9)),
    ("not-by-rename", PlayerRenamed(player=9, number=1, commitment="0" * 64)),
    ("not-by-describe", PlayerDescribed(player=9, effective_at="2026", number=1, details="0" * 64)),
)
LATE: dict[str, Any] = {"rating": "2344", "effective_at": "2026-12"}
WRONG_SEEDS: tuple[tuple[str, Event], ...] = (
    ("unknown-player", RatingSeeded(player=9, pool="standard", **LATE)),
    ("unknown-pool", RatingSeeded(player=1, pool="rapid", **LATE)),
)
# Each of these is judged of facts of its own, beside what stands: none can break two of them.
WRONG_PLACES: tuple[tuple[str, Event], ...] = tuple(
    (rule, CASES[rule][0].event) for rule in list(CASES)[list(CASES).index("same-instant") : -1]
)
PROPOSED_LAST = ("needs-a-proposal", adoption(pool="standard", effective_from="2026-10"))
TOLD_OTHERWISE = adoption(pool="standard", carry=Carry.CONVERT, settings={"knob": 1}, scheme="guesswork")
WRONG_CLOSINGS: tuple[tuple[str, Event], ...] = (
    ("ended-in-the-future", run_closed("2030")),
    ("ended-in-the-future", tournament_closed("2030")),
    ("unknown-pool", run_closed("2030", pool="rapid")),
    ("unknown-pool", tournament_closed("2030", pool="rapid")),
    ("exists-with-different-carry", TOLD_OTHERWISE),
)


@pytest.mark.parametrize(
    ("rule", "event"),
    [(rule, game_recorded(**{"key": "r2", **wrong})) for rule, wrong in WRONG_GAMES]
    + [(rule, adoption(**wrong)) for rule, wrong in WRONG_ADOPTIONS]
    + list(WRONG_CLOSINGS)
    + list(WRONG_ACCEPTANCES)
    + list(WRONG_WAYS)
    + list(WRONG_SEEDS)
    + [PROPOSED_LAST],
)
def test_of_several_rules_the_first_is_named(club_of_two: ClubOfTwo, rule: str, event: Event) -> None:
    if rule == "clock-behind":
        club_of_two.clock.now -= timedelta(hours=1)
    if rule == "erased-player":
        club_of_two.ledger.erase(1)
    if isinstance(event, SchemeAdopted):
        club_of_two.ledger.policies.set("four-eyes", {"on": True}, actor="admin")
    with pytest.raises(RejectedError) as caught:
        club_of_two.ledger.append(event)
    assert caught.value.rule == rule


@pytest.mark.parametrize("rule", [rule for rule, _ in WRONG_PLACES])
def test_what_cannot_stand_is_not_proposed_either(club_of_two: ClubOfTwo, rule: str) -> None:
    prepared(club_of_two.ledger, CASES[rule][0])
    club_of_two.ledger.policies.set("four-eyes", {"on": True}, actor="admin")
    with pytest.raises(RejectedError) as caught:
        club_of_two.ledger.append(CASES[rule][0].event)
    assert caught.value.rule == rule


def test_the_cases_of_precedence_follow_the_list() -> None:
    order = [
        next(i for i, rule in enumerate(CASES) if is_named(rule, name))
        for name, _ in (
            *reversed(WRONG_GAMES),
            *reversed(WRONG_ADOPTIONS),
            *reversed(WRONG_ACCEPTANCES),
            *WRONG_WAYS,
            ("after-the-first-game", None),
            ("no-choice-of-strength", None),
            ("rating-decides", None),
            *WRONG_PLACES,
            PROPOSED_LAST,
        )
    ]
    assert order == list(range(len(CASES)))


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("ended-in-the-future", {"ended_at": "2030-01-01"}),
        pytest.param("ended-before-start", FUTURE),
        ("same-player", {**FUTURE, "black_id": "name:ann"}),
        pytest.param("exists-with-different-ended-at", {**FUTURE, "key": "r1-b1"}),
    ],
)
def test_an_import_names_the_same_rule_first(club_of_two: ClubOfTwo, rule: str, changes: dict[str, Any]) -> None:
    outcome = club_of_two.ledger.import_games(
        batch_games([source("r2", **changes) if "key" not in changes else source(**changes)])
    )
    assert [fault.message.partition(": ")[0] for fault in outcome.faults] == [rule]


def test_many_are_recorded_in_one_go_and_may_lean_on_each_other(club_of_two: ClubOfTwo) -> None:
    registered = PlayerRegistered(player=3, joined_at="2026", standing=Standing.FULL, commitment="0" * 64)
    receipts = club_of_two.ledger.append_many(
        [registered, adoption(), game_recorded("r2", white=3, pool="blitz"), game_recorded("r1-b1"), registered]
    )
    assert [receipt.position for receipt in receipts] == [5, 6, 7, 4, 5]
    assert [receipt.duplicate for receipt in receipts] == [False, False, False, True, True]


@pytest.mark.parametrize(("rule", "case"), EVERY)
def test_of_many_none_is_recorded_when_one_is_refused(club_of_two: ClubOfTwo, rule: str, case: Case) -> None:
    prepared(club_of_two.ledger, case)
    before = club_of_two.ledger.head()
    club_of_two.clock.now += case.clock
    with pytest.raises(RejectedError):
        club_of_two.ledger.append_many([game_recorded("x1"), game_recorded("x2"), case.event, game_recorded("x3")])
    assert club_of_two.ledger.head() == before
    club_of_two.clock.now = NOON
    newcomer = PlayerRegistered(player=3, joined_at="2026", standing=Standing.FULL, commitment="0" * 64)
    receipt = club_of_two.ledger.append(game_recorded("x2") if case.erased is None else newcomer)
    assert (receipt.position, receipt.duplicate) == (before.size + 1, False)
    assert club_of_two.ledger.head().size == before.size + 1


def test_a_pool_its_next_scheme_and_its_closings_are_recorded_in_one_go(club_of_two: ClubOfTwo) -> None:
    changes: list[Event] = [adoption(), adoption(effective_from="2026")]
    closings: list[Event] = [run_closed("2026-10", "blitz"), tournament_closed("2026-10", "blitz")]
    receipts = club_of_two.ledger.append_many([*changes, *closings])
    assert [receipt.position for receipt in receipts] == [5, 6, 7, 8]


def test_of_many_none_is_recorded_when_a_pool_is_used_before_it_has_its_beginning(club_of_two: ClubOfTwo) -> None:
    before = club_of_two.ledger.head()
    for event, rule in (
        (adoption(effective_from="2026"), "pool-has-no-beginning"),
        (run_closed("2026-10", "blitz"), "unknown-pool"),
        (tournament_closed("2026-10", "blitz"), "unknown-pool"),
    ):
        with pytest.raises(RejectedError) as caught:
            club_of_two.ledger.append_many([event, adoption()])
        assert caught.value.rule == rule
        assert club_of_two.ledger.head() == before


def test_of_many_none_is_recorded_when_the_caller_stops_half_way(club_of_two: ClubOfTwo) -> None:
    def events() -> Iterator[Event]:
        yield game_recorded("x1")
        raise KeyboardInterrupt

    before = club_of_two.ledger.head()
    with pytest.raises(KeyboardInterrupt):
        club_of_two.ledger.append_many(events())
    assert club_of_two.ledger.head() == before


def test_pools_of_an_import_are_adopted_with_the_first_pools_scheme(club_of_two: ClubOfTwo) -> None:
    choice = PoolChoice(pool="rapid")
    outcome = club_of_two.ledger.import_games(batch_games([source("r2")]), choice=choice)
    assert (outcome.recorded, outcome.faults) == (1, [])
    assert club_of_two.ledger.append(adoption(pool="rapid")).duplicate


def test_creating_a_ledger_runs_the_same_rules(tmp_path: Path) -> None:
    attempts: dict[str, Callable[[], Ledger]] = {
        "unknown-scheme": lambda: Ledger.create(tmp_path / "club.db", scheme="guesswork"),
        "bad-settings": lambda: Ledger.create(tmp_path / "club.db", settings={"knob": 1}),
    }
    for rule, attempt in attempts.items():
        with pytest.raises(RejectedError) as caught:
            attempt()
        assert caught.value.rule == rule
        assert list(tmp_path.iterdir()) == []


def test_a_rating_to_begin_with_that_acts_is_recorded_and_one_that_is_known_is_no_refusal(
    club_of_two: ClubOfTwo,
) -> None:
    ledger = club_of_two.ledger
    acting = RatingSeeded(player=1, pool="standard", rating="2344", effective_at="2026-11-20")
    assert not ledger.append(acting).duplicate
    newer = RatingSeeded(player=3, pool="standard", rating="1500", effective_at="2026-12")
    registered = PlayerRegistered(player=3, joined_at="2026", standing=Standing.FULL, commitment="0" * 64)
    ledger.append_many([registered, newer])  # who has not played
    ledger.append(game_recorded("r2", white=3, ended_at="2026-11-21"))
    assert ledger.append(newer).duplicate


def test_whichever_door_it_comes_through_the_same_rule_judges_it(club_of_two: ClubOfTwo) -> None:
    late = PlayerChanged(player=1, effective_at="2026-12", standing=Standing.FULL, declared_rating=2344)
    told = []
    for door in (
        lambda: club_of_two.ledger.append(late),
        lambda: club_of_two.ledger.append_many([game_recorded("r7"), late]),
        lambda: club_of_two.ledger.registry.learn(1, declared_rating=2344, since="2026-12", actor="registry"),
    ):
        with pytest.raises(RejectedError) as caught:
            door()
        told.append(str(caught.value))
    assert len(set(told)) == 1
    assert told[0].startswith("after-the-first-game: ")
