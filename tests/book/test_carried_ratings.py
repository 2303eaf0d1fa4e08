"""What a player brings into the next era, and what the state is at an instant."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.book.timeline import EraState, NewPlayerAt, Pool
from ledger.facts import periods
from ledger.facts.events import ConversionRange
from ledger.facts.instants import instant_ms
from ledger.facts.periods import MONTHLY
from ledger.facts.words import Carry
from ledger.schemes.scheme import Newcomer, Scheme, Seed, always_listed, state
from tests.kit import strategies
from tests.kit.small_schemes import BY_EVENT, BY_GAME, BY_PERIOD, FORGETFUL, Player
from tests.kit.strategies import era, map_of, nobody, pool

MAPS = (map_of("0.6", "800"), map_of("1", "0", "2000"), map_of("-0.5", "3600.25", "2400.5"))


@pytest.mark.parametrize(
    ("rating", "converted"),
    [
        (-100.0, 740.0),
        (0.0, 800.0),
        (1999.999, 0.6 * 1999.999 + 800),
        (2000.0, 2000.0),
        (2000.5, 2000.5),
        (2400.499, 2400.499),
        (2400.5, 2400.0),
        (3000.25, 2100.125),
    ],
)
def test_a_rating_is_converted_by_the_last_range_that_begins_at_or_below_it(rating: float, converted: float) -> None:
    assert era(BY_GAME, "2006", Carry.CONVERT, *MAPS).converted(rating) == converted


@given(st.floats(-5000, 5000), strategies.conversions())
def test_one_range_converts_each_rating(rating: float, ranges: tuple[ConversionRange, ...]) -> None:
    fitting = [one for one in ranges if one.from_rating is None or float(one.from_rating) <= rating]
    assert era(BY_GAME, "2006", Carry.CONVERT, *ranges).converted(rating) == (
        float(fitting[-1].factor) * rating + float(fitting[-1].offset)
    )


def test_nothing_changes_within_an_era() -> None:
    held = EraState(1, (1600.5, 12.0), 12)
    assert pool(era(BY_GAME), era(BY_GAME, "2006", Carry.RESTART)).carry_state(held, 1, nobody) == held.state


@pytest.mark.parametrize(
    ("scheme", "state"), [(BY_GAME, (1600.5, 12.0)), (BY_EVENT, (1600.5, 12.0)), (BY_PERIOD, (1600.5, 12.0, 23.0))]
)
def test_the_same_scheme_with_other_settings_goes_on_from_the_state_as_it_is(
    scheme: Scheme, state: tuple[float, ...]
) -> None:
    where = pool(era(scheme), era(scheme, "2006", worth=20, initial=1000))
    assert where.carry_state(EraState(0, state, 12), 1, nobody) == state


def test_the_same_scheme_that_counts_periods_otherwise_is_entered_with_the_rating_as_it_had_become() -> None:
    month = periods.number(instant_ms("2005-10"), MONTHLY)
    for settings in ({"period_days": 7}, {"by_runs": True}, {"period_months": 2}, {"first_month": 6}):
        where = pool(era(BY_PERIOD), era(BY_PERIOD, "2006", **settings))
        assert where.carry_state(EraState(0, (1600.5, 12.0, month), 12), 1, nobody) == (1598.5, 12.0, -1.0)


def test_another_scheme_keeps_rating_and_games_as_of_the_last_moment_before_it() -> None:
    where = pool(era(BY_PERIOD), era(BY_GAME, "2006"))
    october = periods.number(instant_ms("2005-10"), MONTHLY)
    assert where.carry_state(EraState(0, (1600.5, 12.0, october), 99), 1, nobody) == (
        1598.5,
        12.0,
    )  # November, December
    december = periods.number(instant_ms("2005-12"), MONTHLY)
    assert where.carry_state(EraState(0, (1600.5, 12.0, december), 99), 1, nobody) == (1600.5, 12.0)


@attrs.define
class InForm:
    rating: float = state("points")
    form: float = state("games won of the last ten")


def test_a_state_without_a_number_of_games_brings_those_of_the_pool() -> None:
    bare = attrs.evolve(BY_GAME, name="bare", player=InForm, listed=always_listed)
    where = pool(era(bare), era(BY_GAME, "2006"))
    assert where.carry_state(EraState(0, (1600.5, 7.0), 99), 1, nobody) == (1600.5, 99.0)


def everybody_at_1000(newcomer: Newcomer, numbers: Any) -> Player:
    return Player(1000.0)


@pytest.mark.parametrize("scheme", [FORGETFUL, attrs.evolve(FORGETFUL, enter=everybody_at_1000)])
def test_a_scheme_that_says_nothing_of_players_of_another_one_keeps_their_ratings_and_games(scheme: Scheme) -> None:
    where = pool(era(BY_GAME), era(scheme, "2006"))
    assert where.carry_state(EraState(0, (1600.5, 12.0), 12), 1, lambda _: Newcomer(declared=1800.0)) == (1600.5, 12.0)
    seeds = [Seed(1700.0, games) for games in (None, 5.0)]
    numbers = scheme.numbers_from({})
    assert [scheme.begin(Newcomer(seed=seed), numbers) for seed in seeds] == [(1700.0, 0.0), (1700.0, 5.0)]


def test_a_restart_begins_anew_with_what_is_known_of_the_player_then() -> None:
    asked: list[int] = []

    def who(ms: int) -> Newcomer:
        asked.append(ms)
        return Newcomer(declared=1800.0 if len(asked) == 1 else None)

    for scheme in (BY_GAME, BY_EVENT):
        where = pool(era(BY_GAME), era(scheme, "2006", Carry.RESTART, initial=1000))
        declared = 1800.0 if scheme is BY_GAME else 1000.0
        assert where.carry_state(EraState(0, (1600.5, 12.0), 12), 1, who) == (declared, 0.0)
    assert asked == [instant_ms("2006")] * 2


def test_a_conversion_maps_the_rating_as_it_had_become_and_keeps_the_games() -> None:
    where = pool(era(BY_PERIOD), era(BY_GAME, "2006", Carry.CONVERT, *MAPS))
    month = periods.number(instant_ms("2005-10"), MONTHLY)
    assert where.carry_state(EraState(0, (2001.0, 12.0, month), 99), 1, nobody) == (0.6 * 1999.0 + 800, 12.0)
    assert where.carry_state(EraState(0, (2002.0, 12.0, month), 99), 1, nobody) == (2000.0, 12.0)


def test_a_conversion_maps_within_one_scheme_too() -> None:
    where = pool(era(BY_GAME), era(BY_GAME, "2006", Carry.CONVERT, map_of("1", "100")))
    assert where.carry_state(EraState(0, (1600.5, 12.0), 12), 1, nobody) == (1700.5, 12.0)


@pytest.mark.parametrize("carry", Carry)
def test_a_player_whom_the_old_scheme_did_not_list_begins_anew(carry: Carry) -> None:
    ranges = MAPS if carry is Carry.CONVERT else ()
    where = pool(era(BY_GAME, min_listed=10), era(BY_EVENT, "2006", carry, *ranges))
    assert where.carry_state(EraState(0, (1600.5, 9.0), 9), 1, nobody) == (1500.0, 0.0)
    listed = where.carry_state(EraState(0, (1600.5, 10.0), 10), 1, nobody)
    assert (
        listed
        == {Carry.KEEP: (1600.5, 10.0), Carry.RESTART: (1500.0, 0.0), Carry.CONVERT: (0.6 * 1600.5 + 800, 10.0)}[carry]
    )


def test_a_player_is_carried_over_every_change_in_between() -> None:
    where = pool(
        era(BY_GAME),
        era(BY_EVENT, "2006", Carry.CONVERT, map_of("1", "100")),
        era(BY_PERIOD, "2007"),
        era(BY_GAME, "2008", Carry.CONVERT, map_of("0.5", "0")),
        era(FORGETFUL, "2009"),
        era(BY_GAME, "2010", Carry.RESTART, initial=1234),
    )
    held = EraState(0, (1600.0, 12.0), 12)
    assert [where.carry_state(held, number, nobody) for number in range(6)] == [
        (1600.0, 12.0),
        (1700.0, 12.0),
        (1700.0, 12.0, -1.0),
        (850.0, 12.0),
        (850.0, 12.0),
        (1234.0, 0.0),
    ]
    assert where.carry_state(EraState(2, (1800.0, 20.0, -1.0), 20), 4, nobody) == (900.0, 20.0)


def test_eras_that_begin_together_are_gone_through_one_after_the_other() -> None:
    where = pool(
        era(BY_GAME),
        era(BY_PERIOD, "2006", Carry.CONVERT, map_of("1", "100")),
        era(BY_GAME, "2006-01-01", Carry.CONVERT, map_of("2", "0")),
    )
    assert where.carry_state(EraState(0, (1600.0, 12.0), 12), where.era_at(instant_ms("2006")), nobody) == (
        3400.0,
        12.0,
    )


def state_at(where: Pool, left: EraState, ms: int, who: NewPlayerAt) -> tuple[int, tuple[float, ...]]:
    era = max(where.era_at(ms), left.era)
    return era, where.at_time(era, where.carry_state(left, era, who), ms)


def test_a_state_at_an_instant_is_that_of_its_era_brought_to_it() -> None:
    where = pool(era(BY_GAME), era(BY_PERIOD, "2006", Carry.RESTART))
    held = EraState(0, (1600.5, 12.0), 12)
    assert state_at(where, held, instant_ms("2005-12-31"), nobody) == (0, held.state)
    assert state_at(where, held, instant_ms("2006-05"), nobody) == (1, (1500.0, 0.0, -1.0))
    month = periods.number(instant_ms("2006-03"), MONTHLY)
    rusted = state_at(where, EraState(1, (1600.5, 12.0, month), 12), instant_ms("2006-05"), nobody)
    assert rusted == (1, (1598.5, 12.0, month + 2.0))


def test_a_state_is_never_led_back_into_an_earlier_era() -> None:
    where = pool(era(BY_GAME), era(BY_EVENT, "2006", Carry.RESTART))
    held = EraState(1, (1600.5, 12.0), 12)
    assert state_at(where, held, instant_ms("2005"), nobody) == (1, held.state)


def test_what_is_asked_is_not_changed() -> None:
    month = float(periods.number(instant_ms("2005-03"), MONTHLY))
    held = EraState(0, (1600.5, 12.0, month), 12)
    where = pool(era(BY_PERIOD), era(BY_GAME, "2006"))
    for ms in (instant_ms("2005-05"), instant_ms("2006-05")):
        assert state_at(where, held, ms, nobody) == state_at(where, held, ms, nobody)
    assert held == EraState(0, (1600.5, 12.0, month), 12)
