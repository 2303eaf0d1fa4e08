"""The named refusals, in their order: one event at a time, many at once, and as columns of an import."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attrs import evolve

from ledger.errors import ConflictError, RejectedError
from ledger.facts.events import (
    ClockAccepted,
    ConversionRange,
    Event,
    GameRecorded,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Carry, Outcome, Standing, Termination
from ledger.imports.reading import frames
from ledger.journal import rules
from ledger.journal.recorder_columns import PoolChoice
from ledger.ledger import Ledger
from tests.crash_driver import source_games

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Club(NamedTuple):
    """A ledger with two players (1 and 2), one game (r1-b1) and a clock."""

    ledger: Ledger
    clock: Clock


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    clock = Clock()
    with Ledger.create(tmp_path / "club.db", clock=clock) as ledger:
        for number, name in enumerate(("ann", "bob"), 1):
            assert ledger.register(f"name:{name}", name) == number
        ledger.append(game("r1-b1"))
        yield Club(ledger, clock)


def game(key: str, **changes: Any) -> GameRecorded:
    return GameRecorded(**{
        "game": key, "pool": "standard", "white": 1, "black": 2, "outcome": Outcome.WHITE,
        "termination": Termination.RESIGNATION, "ended_at": "2026-11-20", "rated": True, **changes,
    })  # fmt: skip


def adoption(**changes: Any) -> SchemeAdopted:
    return SchemeAdopted(**{"pool": "blitz", "scheme": "chessworld", "settings": {}, **changes})


def later(**changes: Any) -> SchemeAdopted:
    """A change of scheme of the pool that the club has."""
    return adoption(**{"pool": "standard", "effective_from": "2026-11-01", **changes})


def run_closed(as_of: str, pool: str = "standard") -> RatingRunClosed:
    return RatingRunClosed(pool=pool, as_of=as_of)


def tournament_closed(ended_at: str, pool: str = "standard") -> TournamentClosed:
    return TournamentClosed(pool=pool, tournament="Club cup", ended_at=ended_at)


CONVERSION = (ConversionRange(factor="0.6", offset="800"),)


def source(key: str, **changes: Any) -> SourceGame:
    """The same game as ``game(key)`` gives, as an importer hands it on."""
    return SourceGame(**{
        "line": 1, "key": key, "white_id": "name:ann", "white_name": "ann", "black_id": "name:bob",
        "black_name": "bob", "outcome": "white", "termination": "resignation", "half_moves": None,
        "started_at": None, "ended_at": "2026-11-20", "tournament": None, "round": None, "rated": True,
        "white_rating": None, "black_rating": None, "speed": None, "variant": "standard", "text": None, **changes,
    })  # fmt: skip


class Case(NamedTuple):
    """A fact that one rule refuses."""

    event: Event
    words: str  # what the refusal says
    imported: SourceGame | None = None  # the same fact for an import, where imports know the rule
    clock: timedelta = timedelta()  # how far the clock moves before


CASES: dict[str, tuple[Case, ...]] = {
    "clock-behind": (
        Case(
            game("r2"),
            "this machine's clock says 2026-11-21T11:58:59.999Z, but the last entry was recorded at "
            "2026-11-21T12:00:00.000Z; set the clock and try again or, where the clock was wrong that recorded it, run "
            "'rating-ledger accept-clock DB': nothing was recorded",
            source("r2"),
            clock=timedelta(milliseconds=-60_001),
        ),
    ),
    "exists-with-different-FIELD": (
        Case(
            game("r1-b1", outcome=Outcome.BLACK),
            "'game:r1-b1' was recorded with outcome='white', not 'black'; a recorded fact is never overwritten",
            source("r1-b1", outcome="black"),
        ),
        Case(
            game("r1-b1", half_moves=31),
            "'game:r1-b1' was recorded without half_moves, not with half_moves=31;",
            source("r1-b1", half_moves=31),
        ),
        Case(
            PlayerRegistered(player=1, joined_at="2026", standing=Standing.GUEST, commitment="0" * 64),
            "'player:1' was recorded with commitment='",
        ),
        Case(adoption(pool="standard", settings={"k": 1}), "recorded with settings={}, not {'k': 1};"),
        Case(adoption(pool="standard", carry=Carry.KEEP), "recorded without carry, not with carry='keep';"),
        Case(
            adoption(pool="standard", conversion=CONVERSION),
            "recorded without conversion, not with conversion=[{'factor': '0.6', 'offset': '800'}];",
        ),
    ),
    "unknown-pool": (
        Case(game("r2", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(run_closed("2026-10", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
        Case(tournament_closed("2026-10", pool="rapid"), "no scheme was adopted for pool 'rapid'; adopt one first"),
    ),
    "unknown-player": (
        Case(game("r2", white=3), "player 3 was never registered"),
        Case(game("r2", black=4), "player 4 was never registered"),
        Case(
            PlayerChanged(player=3, effective_at="2026", standing=Standing.FULL), "player 3 was never registered"
        ),
    ),
    "same-player": (
        Case(
            game("r2", black=1),
            "White and Black are both player 1; check the source",
            source("r2", black_id="name:ann"),
        ),
    ),
    "ended-before-start": (
        Case(
            game("r2", started_at="2026-11-20T10:00:00Z", ended_at="2026-11-20T09:59:59Z"),
            "ended at 2026-11-20T09:59:59Z, before it began at 2026-11-20T10:00:00Z",
            source("r2", started_at="2026-11-20T10:00:00Z", ended_at="2026-11-20T09:59:59Z"),
        ),
        Case(
            game("r2", started_at="2026-11-20T10:00:00.001Z", ended_at="2026-11-20T10:00:00Z"),
            "ended at 2026-11-20T10:00:00Z, before it began at 2026-11-20T10:00:00.001Z",
            source("r2", started_at="2026-11-20T10:00:00.001Z", ended_at="2026-11-20T10:00:00Z"),
        ),
        Case(
            game("r2", started_at="2026-11-21T00:00:00Z", ended_at="2026-11-20"),
            "ended at 2026-11-20, before it began at 2026-11-21T00:00:00Z",
            source("r2", started_at="2026-11-21T00:00:00Z", ended_at="2026-11-20"),
        ),
        Case(
            game("r2", started_at="2026-11-20", ended_at="2026-10"),
            "ended at 2026-10, before it began at 2026-11-20",
            source("r2", started_at="2026-11-20", ended_at="2026-10"),
        ),
    ),
    "ended-in-the-future": (
        Case(
            game("r2", ended_at="2026-11-22T12:00:00.001Z"),
            "ended at 2026-11-22T12:00:00.001Z, but it is 2026-11-21T12:00:00.000Z now; check the date and this "
            "machine's clock",
            source("r2", ended_at="2026-11-22T12:00:00.001Z"),
        ),
        Case(game("r2", ended_at="2027"), "ended at 2027, but it is", source("r2", ended_at="2027")),
        Case(
            run_closed("2026-11-22T12:00:00.001Z"),
            "closes with 2026-11-22T12:00:00.001Z, but it is 2026-11-21T12:00:00.000Z now; check the date and this "
            "machine's clock",
        ),
        Case(run_closed("2026-11-23"), "closes with 2026-11-23, but it is"),
        Case(tournament_closed("2026-12"), "closes with 2026-12, but it is 2026-11-21T12:00:00.000Z now; check the"),
    ),
    "unknown-scheme": (
        Case(adoption(scheme="guesswork"), "no scheme 'guesswork' in this ledger; expected one of ["),
        Case(later(scheme="guesswork"), "no scheme 'guesswork' in this ledger; expected one of ["),
    ),
    "bad-settings": (
        Case(adoption(settings={"knob": 1}), "scheme 'chessworld' has no setting 'knob', expected one of ["),
        Case(later(settings={"cap": -1}), "cap must not be negative"),
    ),
    "pool-has-no-beginning": (
        Case(
            adoption(effective_from="2026-11-21"),
            "pool 'blitz' has no scheme before 2026-11-21; adopt one from the beginning first",
        ),
        Case(adoption(effective_from="2030", carry=Carry.RESTART), "pool 'blitz' has no scheme before 2030;"),
    ),
    "bad-carry": (
        Case(
            later(carry=Carry.CONVERT),
            "carry is convert, conversion missing: a conversion goes with 'convert', and 'convert' with a conversion",
        ),
        Case(later(conversion=CONVERSION), "carry is keep, conversion given: a conversion goes with 'convert'"),
        Case(later(carry=Carry.KEEP, conversion=CONVERSION), "carry is keep, conversion given:"),
        Case(later(carry=Carry.RESTART, conversion=CONVERSION), "carry is restart, conversion given:"),
        Case(adoption(carry=Carry.KEEP), "nothing is carried into a pool's first scheme: leave both out"),
        Case(adoption(carry=Carry.RESTART), "nothing is carried into a pool's first scheme: leave both out"),
        Case(adoption(carry=Carry.CONVERT, conversion=CONVERSION), "nothing is carried into a pool's first scheme"),
        Case(adoption(conversion=CONVERSION), "nothing is carried into a pool's first scheme: leave both out"),
    ),
    "not-the-last-entry": (
        Case(ClockAccepted(entry=3), "entry 3 is not the last one, which is entry 4; name that one"),
        Case(ClockAccepted(entry=5), "entry 5 is not the last one, which is entry 4; name that one"),
        Case(
            ClockAccepted(entry=1), "entry 1 is not the last one, which is entry 4;", clock=timedelta(minutes=-2)
        ),
    ),
    "clock-not-behind": (
        Case(
            ClockAccepted(entry=4),
            "this machine's clock says 2026-11-21T12:00:00Z, and entry 4 was recorded at 2026-11-21T12:00:00.000Z: "
            "there is nothing to accept, record as usual",
        ),
        Case(ClockAccepted(entry=4), "there is nothing to accept", clock=timedelta(milliseconds=-60_000)),
        Case(ClockAccepted(entry=4), "there is nothing to accept", clock=timedelta(days=365)),
    ),
}  # fmt: skip
EVERY = [pytest.param(rule, case, id=f"{rule}-{i}") for rule, cases in CASES.items() for i, case in enumerate(cases)]
IMPORTED = [
    pytest.param(rule, case, id=f"{rule}-{i}")
    for rule, cases in CASES.items()
    for i, case in enumerate(cases)
    if case.imported is not None
]


def is_named(rule: str, name: str) -> bool:
    """True when a refusal of that name comes from *rule*."""
    return re.fullmatch(rule.replace("FIELD", "[a-z-]+"), name) is not None


def test_every_rule_has_a_case_and_they_stand_in_order() -> None:
    assert list(CASES) == list(rules.RULES)


@pytest.mark.parametrize(("rule", "case"), EVERY)
def test_the_ledger_refuses_it_by_name_and_stays_as_it_was(club: Club, rule: str, case: Case) -> None:
    before = club.ledger.head()
    club.clock.now += case.clock
    with pytest.raises(RejectedError) as caught:
        club.ledger.append(case.event)
    assert is_named(rule, caught.value.rule)
    assert caught.value.key == ("" if rule == "clock-behind" else case.event.key)
    assert str(caught.value).startswith(f"{caught.value.rule}: ")
    assert case.words in str(caught.value)
    assert club.ledger.head() == before


@pytest.mark.parametrize(("rule", "case"), IMPORTED)
@pytest.mark.parametrize("strict", [False, True])
def test_an_import_refuses_it_by_the_same_name(club: Club, rule: str, case: Case, strict: bool) -> None:
    assert case.imported is not None
    before = club.ledger.head()
    club.clock.now += case.clock
    if rule == "clock-behind":
        with pytest.raises(RejectedError) as caught:
            club.ledger.import_games(frames([case.imported]), strict=strict)
        assert caught.value.rule == rule
    else:
        outcome = club.ledger.import_games(frames([case.imported]), strict=strict)
        (fault,) = outcome.faults
        name, _, text = fault.message.partition(": ")
        assert fault.line == 1
        assert is_named(rule, name)
        assert case.words in text
        assert (outcome.recorded, outcome.repeated) == (0, 0)
    assert club.ledger.head() == before


@pytest.mark.parametrize(("rule", "case"), IMPORTED)
def test_an_import_takes_the_good_games_around_a_refused_one(club: Club, rule: str, case: Case) -> None:
    assert case.imported is not None
    if rule == "clock-behind":
        return
    games = [source("x1", line=5), case.imported._replace(line=6), source("x2", line=7)]
    outcome = club.ledger.import_games(frames(games))
    assert [fault.line for fault in outcome.faults] == [6]
    assert (outcome.recorded, club.ledger.head().size) == (2, 6)
    strict = club.ledger.import_games(frames([source("x3"), case.imported._replace(line=6)]), strict=True)
    assert [fault.line for fault in strict.faults] == [6]
    assert (strict.recorded, club.ledger.head().size) == (0, 6)


# --- precedence ---------------------------------------------------------------------------------------------

FUTURE = {"started_at": "2030-01-02", "ended_at": "2030-01-01"}
# What is wrong with one game, adding one rule at a time from the last to the first.
WRONG_GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ended-in-the-future", {"ended_at": "2030-01-01"}),
    ("ended-before-start", FUTURE),
    ("same-player", {**FUTURE, "black": 1}),
    ("unknown-player", {**FUTURE, "white": 9, "black": 9}),
    ("unknown-pool", {**FUTURE, "white": 9, "black": 9, "pool": "rapid"}),
    ("exists-with-different-black", {**FUTURE, "white": 9, "black": 9, "pool": "rapid", "key": "r1-b1"}),
    ("clock-behind", {**FUTURE, "white": 9, "black": 9, "pool": "rapid", "key": "r1-b1"}),
)
CARRIED = {"effective_from": "2026", "carry": Carry.CONVERT}
WRONG_ADOPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("bad-carry", {**CARRIED, "pool": "standard"}),
    ("pool-has-no-beginning", CARRIED),
    ("bad-settings", {**CARRIED, "settings": {"knob": 1}}),
    ("unknown-scheme", {**CARRIED, "settings": {"knob": 1}, "scheme": "guesswork"}),
)
WRONG_ACCEPTANCES: tuple[tuple[str, Event], ...] = (
    ("clock-not-behind", ClockAccepted(entry=4)),
    ("not-the-last-entry", ClockAccepted(entry=3)),
)
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
    [(rule, game(**{"key": "r2", **wrong})) for rule, wrong in WRONG_GAMES]
    + [(rule, adoption(**wrong)) for rule, wrong in WRONG_ADOPTIONS]
    + list(WRONG_CLOSINGS)
    + list(WRONG_ACCEPTANCES),
)  # fmt: skip
def test_of_several_rules_the_first_is_named(club: Club, rule: str, event: Event) -> None:
    if rule == "clock-behind":
        club.clock.now -= timedelta(hours=1)
    with pytest.raises(RejectedError) as caught:
        club.ledger.append(event)
    assert caught.value.rule == rule


def test_the_cases_of_precedence_follow_the_list() -> None:
    order = [
        next(i for i, rule in enumerate(rules.RULES) if is_named(rule, name))
        for name, _ in (*reversed(WRONG_GAMES), *reversed(WRONG_ADOPTIONS), *reversed(WRONG_ACCEPTANCES))
    ]
    assert order == list(range(len(rules.RULES)))


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("ended-in-the-future", {"ended_at": "2030-01-01"}),
        pytest.param("ended-before-start", FUTURE),
        ("same-player", {**FUTURE, "black_id": "name:ann"}),
        pytest.param("exists-with-different-ended-at", {**FUTURE, "key": "r1-b1"}),
    ],
)
def test_an_import_names_the_same_rule_first(club: Club, rule: str, changes: dict[str, Any]) -> None:
    outcome = club.ledger.import_games(frames([source("r2", **changes) if "key" not in changes else source(**changes)]))
    assert [fault.message.partition(": ")[0] for fault in outcome.faults] == [rule]


# --- repeats ------------------------------------------------------------------------------------------------


def test_the_same_fact_again_is_success_and_writes_nothing(club: Club) -> None:
    first = club.ledger.append(game("r2"))
    head = club.ledger.head()
    again = club.ledger.append(game("r2"), actor="somebody else")
    assert again == first._replace(duplicate=True)
    assert not first.duplicate
    assert club.ledger.head() == head


@pytest.mark.parametrize(
    "event",
    [
        adoption(pool="standard"),
        later(),
        later(carry=Carry.RESTART, effective_from="2026-11-01T00:00:00Z"),
        later(
            carry=Carry.CONVERT,
            conversion=(*CONVERSION, ConversionRange(from_rating="2000", factor="1", offset="0")),
        ),
        run_closed("2026-10"),
        run_closed("2026-10-31T23:59:59.999Z"),
        tournament_closed("2026-10-31"),
        PlayerChanged(player=1, effective_at="2026-01-01", standing=Standing.GUEST, declared_rating=1500),
        game("r9", tournament="Club", round="1", half_moves=40, white_rating=1500, started_at="2026-11-20"),
    ],
)
def test_every_kind_may_be_repeated(club: Club, event: Event) -> None:
    first = club.ledger.append(event)
    assert club.ledger.append(event) == first._replace(duplicate=True)


def test_a_player_registered_again_keeps_the_number(club: Club) -> None:
    head = club.ledger.head()
    assert club.ledger.register("name:ann", "ann") == 1
    club.clock.now += timedelta(days=3)
    assert club.ledger.register("name:ann", "ann") == 1
    assert club.ledger.head() == head
    with pytest.raises(ConflictError) as caught:
        club.ledger.register("name:ann", "ann", standing=Standing.GUEST)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("standing", "full", "guest")


def test_a_conflict_names_the_first_field_that_differs_and_both_values(club: Club) -> None:
    with pytest.raises(ConflictError) as caught:
        club.ledger.append(game("r1-b1", white=2, black=1, outcome=Outcome.BLACK))
    error = caught.value
    assert (error.rule, error.key) == ("exists-with-different-black", "game:r1-b1")
    assert (error.field, error.stored, error.given) == ("black", 2, 1)


@pytest.mark.parametrize(
    ("first", "other", "field", "stored", "given"),
    [
        (later(), later(carry=Carry.KEEP), "carry", None, "keep"),
        (later(carry=Carry.RESTART), later(), "carry", "restart", None),
        (
            later(carry=Carry.CONVERT, conversion=CONVERSION),
            later(carry=Carry.CONVERT, conversion=(ConversionRange(factor="0.7", offset="800"),)),
            "conversion", [{"factor": "0.6", "offset": "800"}], [{"factor": "0.7", "offset": "800"}],
        ),
        (later(), later(settings={"initial": 1500}), "settings", {}, {"initial": 1500}),
    ],
)  # fmt: skip
def test_a_change_of_scheme_may_not_be_told_in_two_ways(
    club: Club, first: Event, other: Event, field: str, stored: object, given: object
) -> None:
    club.ledger.append(first)
    with pytest.raises(ConflictError) as caught:
        club.ledger.append(other)
    error = caught.value
    assert (error.key, error.field, error.stored, error.given) == (first.key, field, stored, given)


def test_a_pool_may_change_its_scheme_from_any_instant_and_close_any_run_in_any_order(club: Club) -> None:
    facts: list[Event] = [
        later(effective_from="2030", carry=Carry.RESTART),
        later(effective_from="1999", carry=Carry.KEEP),
        later(effective_from="1999-01-01"),
        later(effective_from="0001", carry=Carry.CONVERT, conversion=CONVERSION),
        run_closed("2026-10"),
        run_closed("1900"),
        tournament_closed("1900"),
    ]
    assert [receipt.duplicate for receipt in club.ledger.append_many(facts)] == [False] * len(facts)


FULL = {
    "tournament": "Club", "round": "1", "half_moves": 40, "started_at": "2026-11-19", "white_rating": 1500,
    "black_rating": 1400,
}  # fmt: skip
MOVES = "1. e4 e5"
FULL_GAME = {**FULL, "text": sha256(MOVES.encode()).hexdigest()}


@pytest.mark.parametrize("blank", [*FULL_GAME, None])
def test_a_game_told_again_with_blanks_is_a_repeat_for_all_who_record(club: Club, blank: str | None) -> None:
    less = {name: value for name, value in FULL_GAME.items() if blank not in {name, None}}
    first, again, imported = (game("r2", **FULL_GAME), game("r2", **less), source("r2", **less))
    imported = imported._replace(text=MOVES if "text" in less else None)
    receipts = club.ledger.append_many([first, again])
    assert receipts == [receipts[0], receipts[0]._replace(duplicate=True)]
    assert club.ledger.append(again).duplicate
    head = club.ledger.head()
    outcome = club.ledger.import_games(frames([imported]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (0, 1, [])
    both = [source("r3", **FULL, text=MOVES), imported._replace(key="r3")]
    outcome = club.ledger.import_games(frames(both))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (1, 1, [])
    assert club.ledger.head().size == head.size + 1


@pytest.mark.parametrize("name", FULL)
def test_a_game_told_again_with_more_is_refused_in_the_same_words_by_all_who_record(club: Club, name: str) -> None:
    more = {name: FULL[name]}
    words = f"'game:r1-b1' was recorded without {name}, not with {name}={FULL[name]!r}; "
    with pytest.raises(ConflictError) as caught:
        club.ledger.append(game("r1-b1", **more))
    assert (caught.value.field, caught.value.stored, caught.value.given) == (name, None, FULL[name])
    assert words in str(caught.value)
    with pytest.raises(ConflictError) as caught:
        club.ledger.append_many([game("r2"), game("r2", **more)])
    assert (caught.value.field, caught.value.stored, caught.value.given) == (name, None, FULL[name])
    (fault,) = club.ledger.import_games(frames([source("r1-b1", **more)])).faults
    assert words in fault.message


def test_a_game_told_again_with_blanks_and_a_contradiction_is_refused_for_the_contradiction(club: Club) -> None:
    club.ledger.append(game("r2", **FULL_GAME))
    with pytest.raises(ConflictError) as caught:
        club.ledger.append(game("r2", outcome=Outcome.DRAW))
    (fault,) = club.ledger.import_games(frames([source("r2", outcome="draw")])).faults
    assert fault.message == str(caught.value)
    assert caught.value.rule == "exists-with-different-outcome"


def test_a_player_told_again_with_blanks_is_a_repeat(club: Club) -> None:
    known = PlayerRegistered(
        player=9, joined_at="2026", standing=Standing.FULL, commitment="0" * 64, declared_rating=1500, birth_year=1990
    )
    changed = PlayerChanged(player=9, effective_at="2026-02", standing=Standing.GUEST, declared_rating=1600)
    blank = evolve(known, declared_rating=None, birth_year=None)
    events: list[Event] = [known, blank, changed, evolve(changed, declared_rating=None)]
    receipts = club.ledger.append_many(events)
    assert [receipt.duplicate for receipt in receipts] == [False, True, False, True]
    number = club.ledger.register("name:dora", "dora", declared_rating=1500, birth_year=1990)
    assert club.ledger.register("name:dora", "dora") == number
    with pytest.raises(ConflictError) as caught:
        club.ledger.register("name:dora", "dora", declared_rating=1501)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("declared_rating", 1500, 1501)
    with pytest.raises(ConflictError) as caught:
        club.ledger.register("name:ann", "ann", birth_year=1990)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("birth_year", None, 1990)


def test_imports_and_single_appends_know_each_others_games(club: Club) -> None:
    outcome = club.ledger.import_games(frames([source("r1-b1"), source("r2"), source("r2")]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (1, 2, [])
    assert club.ledger.append(game("r2")).duplicate


def test_two_different_games_of_one_key_in_one_import_are_a_conflict(club: Club) -> None:
    outcome = club.ledger.import_games(frames([source("r2"), source("r2", line=2, outcome="draw")]))
    assert outcome.recorded == 1
    (fault,) = outcome.faults
    assert fault.line == 2
    assert fault.message.startswith(
        "exists-with-different-outcome: 'game:r2' was recorded with outcome='white', not 'draw'"
    )


# --- all or nothing -----------------------------------------------------------------------------------------


def test_many_are_recorded_in_one_go_and_may_lean_on_each_other(club: Club) -> None:
    registered = PlayerRegistered(player=3, joined_at="2026", standing=Standing.FULL, commitment="0" * 64)
    receipts = club.ledger.append_many(
        [registered, adoption(), game("r2", white=3, pool="blitz"), game("r1-b1"), registered]
    )
    assert [receipt.position for receipt in receipts] == [5, 6, 7, 4, 5]
    assert [receipt.duplicate for receipt in receipts] == [False, False, False, True, True]


@pytest.mark.parametrize(("rule", "case"), EVERY)
def test_of_many_none_is_recorded_when_one_is_refused(club: Club, rule: str, case: Case) -> None:
    before = club.ledger.head()
    club.clock.now += case.clock
    with pytest.raises(RejectedError):
        club.ledger.append_many([game("x1"), game("x2"), case.event, game("x3")])
    assert club.ledger.head() == before
    club.clock.now = NOON
    receipt = club.ledger.append(game("x2"))
    assert (receipt.position, receipt.duplicate) == (before.size + 1, False)
    assert club.ledger.head().size == before.size + 1


def test_a_pool_its_next_scheme_and_its_closings_are_recorded_in_one_go(club: Club) -> None:
    changes: list[Event] = [adoption(), adoption(effective_from="2026")]
    closings: list[Event] = [run_closed("2026-10", "blitz"), tournament_closed("2026-10", "blitz")]
    receipts = club.ledger.append_many([*changes, *closings])
    assert [receipt.position for receipt in receipts] == [5, 6, 7, 8]


def test_of_many_none_is_recorded_when_a_pool_is_used_before_it_has_its_beginning(club: Club) -> None:
    before = club.ledger.head()
    for event, rule in (
        (adoption(effective_from="2026"), "pool-has-no-beginning"),
        (run_closed("2026-10", "blitz"), "unknown-pool"),
        (tournament_closed("2026-10", "blitz"), "unknown-pool"),
    ):
        with pytest.raises(RejectedError) as caught:
            club.ledger.append_many([event, adoption()])
        assert caught.value.rule == rule
        assert club.ledger.head() == before


def test_of_many_none_is_recorded_when_the_caller_stops_half_way(club: Club) -> None:
    def events() -> Iterator[Event]:
        yield game("x1")
        raise KeyboardInterrupt

    before = club.ledger.head()
    with pytest.raises(KeyboardInterrupt):
        club.ledger.append_many(events())
    assert club.ledger.head() == before


# --- the clock ----------------------------------------------------------------------------------------------


def record(club: Club, key: str) -> str:
    receipt = club.ledger.append(game(key))
    ((body,),) = club.ledger.journal.read(receipt.position - 1)
    return body[-26:-2].decode()


def test_a_clock_that_is_a_little_behind_records_under_the_last_time(club: Club) -> None:
    club.clock.now = NOON - timedelta(seconds=60)
    assert record(club, "r2") == "2026-11-21T12:00:00.000Z"
    club.clock.now = NOON + timedelta(microseconds=1999)
    assert record(club, "r3") == "2026-11-21T12:00:00.001Z"
    club.clock.now = NOON
    assert record(club, "r4") == "2026-11-21T12:00:00.001Z"


@pytest.mark.parametrize("ended_at", ["2026-11-22T12:00:00Z", "2026-11-22", "2026-11", "2026"])
def test_a_game_may_have_ended_up_to_a_day_from_now(club: Club, ended_at: str) -> None:
    assert not club.ledger.append(game("r2", ended_at=ended_at)).duplicate
    assert club.ledger.import_games(frames([source("r2", ended_at=ended_at)])).repeated == 1


@pytest.mark.parametrize(
    ("started_at", "ended_at"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"),
        ("2026-11-20T10:00:00.500Z", "2026-11-20T10:00:01Z"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.001Z"),
        ("2026-11-20T10:00:00Z", "2026-11-20"),
        ("2026-11-20", "2026-11"),
        ("2026-11", "2026"),
        ("2026", "2026-01-01"),
    ],
)
def test_times_known_to_different_precision_are_compared_as_far_as_both_go(
    club: Club, started_at: str, ended_at: str
) -> None:
    assert not club.ledger.append(game("r2", started_at=started_at, ended_at=ended_at)).duplicate
    outcome = club.ledger.import_games(frames([source("r3", started_at=started_at, ended_at=ended_at)]))
    assert (outcome.recorded, outcome.faults) == (1, [])


@pytest.mark.parametrize("day", ["2026-11-22T12:00:00Z", "2026-11-22", "2026-10", "2025"])
def test_a_run_and_a_tournament_may_close_up_to_a_day_from_now(club: Club, day: str) -> None:
    receipts = club.ledger.append_many([run_closed(day), tournament_closed(day)])
    assert [receipt.duplicate for receipt in receipts] == [False, False]


@pytest.mark.parametrize("day", ["2026-11", "2026", "2026-12", "2026-11-23"])
def test_a_month_or_year_that_is_not_over_is_not_closed(club: Club, day: str) -> None:
    for event in (run_closed(day), tournament_closed(day)):
        with pytest.raises(RejectedError) as caught:
            club.ledger.append(event)
        assert caught.value.rule == "ended-in-the-future"


def test_a_tournament_may_be_closed_once_more_for_a_later_edition(club: Club) -> None:
    receipts = club.ledger.append_many([tournament_closed("2024"), tournament_closed("2025")])
    assert [receipt.duplicate for receipt in receipts] == [False, False]


def test_pools_of_an_import_are_adopted_with_the_first_pools_scheme(club: Club) -> None:
    choice = PoolChoice(pool="rapid")
    outcome = club.ledger.import_games(frames([source("r2")]), choice=choice)
    assert (outcome.recorded, outcome.faults) == (1, [])
    assert club.ledger.append(adoption(pool="rapid")).duplicate


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


def test_a_frame_may_repeat_games_of_the_journal_and_its_own(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame is appended slice by slice: what an earlier slice brought is a repeat in a later one."""
    games = list(source_games(40))
    monkeypatch.setattr("ledger.journal.recorder_columns.SLICE", 7)
    assert club.ledger.import_games(frames(games[:3])).recorded == 3
    outcome = club.ledger.import_games(frames([*games[:20], *games[15:], *games[30:]]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (37, 18, [])
    assert club.ledger.import_games(frames(games)).repeated == 40
