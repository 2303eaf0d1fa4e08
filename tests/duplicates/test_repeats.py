"""The same fact told again is success and writes nothing; another fact under its key is a conflict."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from attrs import evolve

from ledger.errors import ConflictError
from ledger.facts.events import ConversionRange, Event, PlayerChanged, PlayerRegistered
from ledger.facts.words import Carry, Outcome, Standing, Termination
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import CONVERSION, adoption, later, source
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded, run_closed, source_games, tournament_closed

FULL = {
    "tournament": "Club",
    "round": "1",
    "half_moves": 40,
    "started_at": "2026-11-19",
    "white_rating": 1500,
    "black_rating": 1400,
}
MOVES = "1. e4 e5"
FULL_GAME = {**FULL, "text": sha256(MOVES.encode()).hexdigest()}


@pytest.mark.parametrize("blank", [*FULL_GAME, None])
def test_a_game_told_again_with_blanks_is_a_repeat_for_all_who_record(
    club_of_two: ClubOfTwo, blank: str | None
) -> None:
    less = {name: value for name, value in FULL_GAME.items() if blank not in {name, None}}
    first, again, imported = (game_recorded("r2", **FULL_GAME), game_recorded("r2", **less), source("r2", **less))
    imported = imported._replace(text=MOVES if "text" in less else None)
    receipts = club_of_two.ledger.append_many([first, again])
    assert receipts == [receipts[0], receipts[0]._replace(duplicate=True)]
    assert club_of_two.ledger.append(again).duplicate
    head = club_of_two.ledger.head()
    outcome = club_of_two.ledger.import_games(batch_games([imported]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (0, 1, [])
    both = [source("r3", **FULL, text=MOVES), imported._replace(key="r3")]
    outcome = club_of_two.ledger.import_games(batch_games(both))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (1, 1, [])
    assert club_of_two.ledger.head().size == head.size + 1


def test_a_game_told_again_with_blanks_and_a_contradiction_is_refused_for_the_contradiction(
    club_of_two: ClubOfTwo,
) -> None:
    club_of_two.ledger.append(game_recorded("r2", **FULL_GAME))
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.append(game_recorded("r2", outcome=Outcome.DRAW))
    (fault,) = club_of_two.ledger.import_games(batch_games([source("r2", outcome="draw")])).faults
    assert fault.message == str(caught.value)
    assert caught.value.rule == "exists-with-different-outcome"


@pytest.mark.parametrize(
    ("full", "less"),
    [
        ({"termination": Termination.CHECKMATE}, {"termination": Termination.UNKNOWN}),
        ({"ended_at": "2026-11-19T10:00:00.250Z"}, {"ended_at": "2026-11-19T10:00:00Z"}),
        ({"ended_at": "2026-11-19T10:00:00Z"}, {"ended_at": "2026-11-19"}),
        ({"ended_at": "2026-11-19"}, {"ended_at": "2026"}),
        ({"started_at": "2026-11-19"}, {"started_at": "2026-11"}),
        (  # a source that knows the beginning alone
            {"started_at": "2026-11-19T10:00:00Z", "ended_at": "2026-11-19T10:07:00Z"},
            {"started_at": "2026-11-19T10:00:00Z", "ended_at": "2026-11-19T10:00:00Z"},
        ),
        (  # the date of a game that went on past midnight
            {"started_at": "2026-11-18T23:50:00Z", "ended_at": "2026-11-19T00:07:00Z"},
            {"ended_at": "2026-11-18"},
        ),
    ],
)
def test_a_game_told_again_less_precisely_is_a_repeat(
    club_of_two: ClubOfTwo, full: dict[str, Any], less: dict[str, Any]
) -> None:
    club_of_two.ledger.append(game_recorded("full", **full))
    head = club_of_two.ledger.head()
    assert club_of_two.ledger.append(game_recorded("full", **less)).duplicate
    report = club_of_two.ledger.import_games(
        batch_games([source("full", **{name: str(value) for name, value in less.items()})])
    )
    assert (report.recorded, report.repeated, report.faults) == (0, 1, [])
    assert club_of_two.ledger.head() == head


def test_another_instant_or_termination_is_a_conflict(club_of_two: ClubOfTwo) -> None:
    first = {"ended_at": "2026-11-19", "termination": Termination.RESIGNATION}
    club_of_two.ledger.append(game_recorded("r2", **first))
    for other in ({"ended_at": "2025"}, {"ended_at": "2026-11-18"}, {"termination": Termination.TIME}):
        with pytest.raises(ConflictError):
            club_of_two.ledger.append(game_recorded("r2", **{**first, **other}))


def test_a_player_told_again_with_blanks_is_a_repeat(club_of_two: ClubOfTwo) -> None:
    number = club_of_two.ledger.register("name:dora", "dora", declared_rating=1500, birth_year=1990)
    assert club_of_two.ledger.register("name:dora", "dora") == number
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.register("name:dora", "dora", declared_rating=1501)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("declared_rating", 1500, 1501)
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.register("name:ann", "ann", birth_year=1990)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("birth_year", None, 1990)
    known = PlayerRegistered(
        player=9, joined_at="2026", standing=Standing.FULL, commitment="0" * 64, declared_rating=1500, birth_year=1990
    )
    changed = PlayerChanged(player=9, effective_at="2026-02", standing=Standing.GUEST, declared_rating=1600)
    blank = evolve(known, declared_rating=None, birth_year=None)
    events: list[Event] = [known, blank, changed, evolve(changed, declared_rating=None)]
    receipts = club_of_two.ledger.append_many(events)
    assert [receipt.duplicate for receipt in receipts] == [False, True, False, True]


def test_the_same_fact_again_is_success_and_writes_nothing(club_of_two: ClubOfTwo) -> None:
    first = club_of_two.ledger.append(game_recorded("r2"))
    head = club_of_two.ledger.head()
    again = club_of_two.ledger.append(game_recorded("r2"), actor="somebody else")
    assert again == first._replace(duplicate=True)
    assert not first.duplicate
    assert club_of_two.ledger.head() == head


@pytest.mark.parametrize(
    "event",
    [
        adoption(pool="standard"),
        later(),
        later(carry=Carry.RESTART, effective_from="2026-11-01T00:00:00Z"),
        later(
            carry=Carry.CONVERT, conversion=(*CONVERSION, ConversionRange(from_rating="2000", factor="1", offset="0"))
        ),
        run_closed("2026-10"),
        run_closed("2026-10-31T23:59:59.999Z"),
        tournament_closed("2026-10-31"),
        PlayerChanged(player=1, effective_at="2026-01-01", standing=Standing.GUEST, declared_rating=1500),
        game_recorded(
            "r9", tournament="ClubOfTwo", round="1", half_moves=40, white_rating=1500, started_at="2026-11-20"
        ),
    ],
)
def test_every_kind_may_be_repeated(club_of_two: ClubOfTwo, event: Event) -> None:
    first = club_of_two.ledger.append(event)
    assert club_of_two.ledger.append(event) == first._replace(duplicate=True)


def test_a_player_registered_again_keeps_the_number(club_of_two: ClubOfTwo) -> None:
    head = club_of_two.ledger.head()
    assert club_of_two.ledger.register("name:ann", "ann") == 1
    club_of_two.clock.now += timedelta(days=3)
    assert club_of_two.ledger.register("name:ann", "ann") == 1
    assert club_of_two.ledger.head() == head
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.register("name:ann", "ann", standing=Standing.GUEST)
    assert (caught.value.field, caught.value.stored, caught.value.given) == ("standing", "full", "guest")


def test_a_conflict_names_the_first_field_that_differs_and_both_values(club_of_two: ClubOfTwo) -> None:
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.append(game_recorded("r1-b1", white=2, black=1, outcome=Outcome.BLACK))
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
            "conversion",
            [{"factor": "0.6", "offset": "800"}],
            [{"factor": "0.7", "offset": "800"}],
        ),
        (later(), later(settings={"initial": 1500}), "settings", {"initial": 1400}, {"initial": 1500}),
    ],
)
def test_a_change_of_scheme_may_not_be_told_in_two_ways(
    club_of_two: ClubOfTwo, first: Event, other: Event, field: str, stored: object, given: object
) -> None:
    club_of_two.ledger.append(first)
    with pytest.raises(ConflictError) as caught:
        club_of_two.ledger.append(other)
    error = caught.value
    assert (error.key, error.field, error.stored, error.given) == (first.key, field, stored, given)


def test_a_pool_may_change_its_scheme_from_any_instant_and_close_any_run_in_any_order(club_of_two: ClubOfTwo) -> None:
    facts: list[Event] = [
        later(effective_from="2030", carry=Carry.RESTART),
        later(effective_from="1999", carry=Carry.KEEP),
        later(effective_from="1999-01-02"),
        later(effective_from="0001", carry=Carry.CONVERT, conversion=CONVERSION),
        run_closed("2026-10"),
        run_closed("1900"),
        tournament_closed("1900"),
    ]
    assert [receipt.duplicate for receipt in club_of_two.ledger.append_many(facts)] == [False] * len(facts)


def test_imports_and_single_appends_know_each_others_games(club_of_two: ClubOfTwo) -> None:
    outcome = club_of_two.ledger.import_games(batch_games([source("r1-b1"), source("r2"), source("r2")]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (1, 2, [])
    assert club_of_two.ledger.append(game_recorded("r2")).duplicate


def test_two_different_games_of_one_key_in_one_import_are_a_conflict(club_of_two: ClubOfTwo) -> None:
    outcome = club_of_two.ledger.import_games(batch_games([source("r2"), source("r2", line=2, outcome="draw")]))
    assert outcome.recorded == 1
    (fault,) = outcome.faults
    assert fault.line == 2
    assert fault.message.startswith(
        "exists-with-different-outcome: 'game:r2' was recorded with outcome='white', not 'draw'"
    )


def test_a_frame_may_repeat_games_of_the_journal_and_its_own(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame is appended slice by slice: what an earlier slice brought is a repeat in a later one."""
    games = list(source_games(40))
    monkeypatch.setattr("ledger.recording.game_import.SLICE", 7)
    assert club_of_two.ledger.import_games(batch_games(games[:3])).recorded == 3
    outcome = club_of_two.ledger.import_games(batch_games([*games[:20], *games[15:], *games[30:]]))
    assert (outcome.recorded, outcome.repeated, outcome.faults) == (37, 18, [])
    assert club_of_two.ledger.import_games(batch_games(games)).repeated == 40
