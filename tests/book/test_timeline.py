"""A pool's timeline: which era a game lies in, when it is rated, and with what time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.book.timeline import NO_BATCH, Era, Pool
from ledger.facts import periods
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS, MONTHLY, OPEN
from ledger.facts.words import Carry
from ledger.ratings.rated_games import rateable
from ledger.runtime.columns import FEW, MANY, Columns
from ledger.schemes.scheme import Rhythm, When
from tests.kit import strategies
from tests.kit.small_schemes import BY_EVENT, BY_GAME, BY_PERIOD, FORGETFUL
from tests.kit.strategies import ending, era, place, pool

THREE = pool(era(BY_GAME), era(BY_EVENT, "2006"), era(BY_PERIOD, "2010-07-01T12:00:00Z"))


@pytest.mark.parametrize(
    ("instant", "number"),
    [
        ("0001", 0), ("1969", 0), ("2005-12-31T23:59:59.999Z", 0), ("2006", 1), ("2006-01-01T00:00:00.001Z", 1),
        ("2010-07", 1), ("2010-07-01T11:59:59.999Z", 1), ("2010-07-01T12:00:00Z", 2), ("9999-12-31T23:59:59.999Z", 2),
    ],
)  # fmt: skip
def test_an_era_begins_with_its_first_millisecond_and_ends_before_the_next(instant: str, number: int) -> None:
    assert THREE.era_at(instant_ms(instant)) == number
    assert THREE.eras_at(np.array([instant_ms(instant)])).tolist() == [number]


def test_of_eras_that_begin_together_the_last_one_holds() -> None:
    both = pool(era(BY_GAME), era(BY_EVENT, "2006"), era(BY_PERIOD, "2006-01-01"))
    assert both.era_at(instant_ms("2005-12-31T23:59:59.999Z")) == 0
    assert both.era_at(instant_ms("2006")) == 2
    assert both.eras_at(np.array([instant_ms("2006") - 1, instant_ms("2006")])).tolist() == [0, 2]


def test_a_pool_tells_what_rates_it_last_and_what_any_of_its_eras_needs() -> None:
    assert THREE.scheme is BY_PERIOD
    assert THREE.numbers is THREE.eras[2].numbers
    assert THREE.state_fields == ("rating", "games", "last_period")
    assert pool(era(BY_GAME)).state_fields == ("rating", "games")
    assert (pool(era(BY_GAME), era(FORGETFUL, "2006")).by_game, THREE.by_game) == (True, False)


def test_a_pool_goes_by_runs_when_a_scheme_by_period_is_set_so_in_any_era() -> None:
    assert not THREE.by_runs
    assert not pool(era(BY_EVENT, by_runs=True)).by_runs
    assert pool(era(BY_PERIOD, by_runs=True), era(BY_GAME, "2006")).by_runs


def test_a_game_of_a_scheme_by_game_takes_its_place_when_it_ends() -> None:
    where = pool(era(BY_GAME), runs=("2006-01-31",), Cup="2006-02")
    assert place(where, "2006-01-15", "Cup") == (instant_ms("2006-01-15"), NO_BATCH)


def test_a_game_of_a_scheme_by_period_takes_its_place_when_the_period_closes() -> None:
    where = pool(era(BY_PERIOD, period_months=3, first_month=6), runs=("2006-01-31",), Cup="2006-02-03")
    assert place(where, "2006-01-15", "Cup") == (ending("2006-02-28"), NO_BATCH)
    assert place(where, "2006-03-01") == (ending("2006-05-31"), NO_BATCH)


def test_a_game_waits_for_the_first_run_that_closes_with_it_or_later() -> None:
    where = pool(era(BY_PERIOD, by_runs=True), runs=("2006-03-31", "2006-01-31"))
    for ended, day in (("2005-07", "2006-01-31"), ("2006-01-31", "2006-01-31"), ("2006-02-01", "2006-03-31")):
        assert place(where, ended) == (ending(day), NO_BATCH)
    assert place(where, "2006-04-01") == (OPEN, NO_BATCH)


def test_a_tournament_that_nobody_closed_is_what_was_played_of_it_in_a_month() -> None:
    where = pool(era(BY_EVENT), Cup="2006-02-03")
    assert place(where, "2006-01-15", "Café Kök") == (ending("2006-01-31"), "Café Kök")
    assert place(where, "2006-01-31T23:59:59.999Z", "Café Kök") == (ending("2006-01-31"), "Café Kök")
    assert place(where, "2006-02-01", "Café Kök") == (ending("2006-02-28"), "Café Kök")


@pytest.mark.parametrize("tournament", [None, ""])
def test_games_of_no_tournament_are_those_of_a_month(tournament: str | None) -> None:
    assert place(pool(era(BY_EVENT)), "1969-12-31", tournament) == (ending("1969-12-31"), NO_BATCH)


def test_a_closed_tournament_is_rated_as_of_its_end_however_long_it_was() -> None:
    where = pool(era(BY_EVENT), Cup="2006-02-03")
    for ended in ("2004", "2006-01-15", "2006-02-03T23:59:59.999Z"):
        assert place(where, ended, "Cup") == (ending("2006-02-03"), "Cup")


def test_a_game_belongs_to_the_first_edition_of_its_tournament_that_closed_at_or_after_its_end() -> None:
    where = pool(era(BY_EVENT), Cup="2006-02-03 2007-01-31")
    for ended, edition in (("2006-02-03", "2006-02-03"), ("2006-02-04", "2007-01-31"), ("2007-01-31", "2007-01-31")):
        assert place(where, ended, "Cup") == (ending(edition), "Cup")


def test_what_was_played_after_the_last_closed_edition_is_what_was_played_of_it_in_a_month() -> None:
    where = pool(era(BY_EVENT), Cup="2006-02-03")
    for ended in ("2006-02-04", "2006-02-28"):
        assert place(where, ended, "Cup") == (ending("2006-02"), "Cup")


def test_what_is_open_when_the_scheme_changes_closes_with_the_last_millisecond_before() -> None:
    later = era(BY_GAME, "2006-01-20")
    last = instant_ms("2006-01-20") - 1
    for first, tournament, batch in (
        (era(BY_PERIOD), None, NO_BATCH),
        (era(BY_PERIOD, by_runs=True), None, NO_BATCH),
        (era(BY_EVENT), None, NO_BATCH),
        (era(BY_EVENT), "Café Kök", "Café Kök"),
        (era(BY_EVENT), "Cup", "Cup"),
    ):
        where = pool(first, later, runs=("2006-01-31",), Cup="2006-02-03")
        assert place(where, "2006-01-15", tournament) == (last, batch)
        assert place(where, "2006-01-20", tournament) == (instant_ms("2006-01-20"), NO_BATCH)


def test_a_batch_that_closes_before_the_scheme_changes_is_left_alone() -> None:
    where = pool(era(BY_PERIOD, by_runs=True), era(BY_GAME, "2006-02"), runs=("2006-01-31", "2006-01-14"))
    assert place(where, "2006-01-14") == (ending("2006-01-14"), NO_BATCH)
    assert place(where, "2006-01-15") == (ending("2006-01-31"), NO_BATCH)


def test_a_tournament_over_a_change_of_scheme_is_rated_in_two_parts() -> None:
    where = pool(era(BY_EVENT), era(BY_EVENT, "2006-02", worth=20), Cup="2006-02-03")
    assert place(where, "2006-01-31", "Cup") == (ending("2006-01-31"), "Cup")
    assert place(where, "2006-02-01", "Cup") == (ending("2006-02-03"), "Cup")


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Pools with up to four further eras of any rhythm and calendar, with runs and closed tournaments."""

    def some_era(since: str) -> Era:
        scheme = draw(st.sampled_from([BY_GAME, BY_EVENT, BY_PERIOD, BY_PERIOD]))
        chosen: dict[str, Any] = draw(
            st.sampled_from([{}, {"by_runs": True}, {"period_days": 7}, {"period_months": 3, "first_month": 6}])
        )
        return era(scheme, since, draw(st.sampled_from([Carry.KEEP, Carry.RESTART])), **chosen)

    since = draw(st.lists(DAYS, max_size=4))
    eras = sorted((some_era(one) for one in ["", *since]), key=lambda one: (one.since_ms, one.since))
    runs = draw(st.lists(DAYS, max_size=4, unique_by=instant_end_ms))
    return pool(*eras, runs=tuple(runs), **{name: draw(DAYS) for name in draw(st.sets(st.sampled_from(["Cup", "x"])))})


DAYS = st.builds("19{}-{:02}".format, st.integers(68, 71), st.integers(1, 12)) | st.builds(
    "1970-01-{:02}T{:02}:00:00Z".format, st.integers(1, 31), st.integers(0, 23)
)
INSTANTS = DAYS.map(instant_ms) | st.integers(instant_ms("1968"), instant_ms("1973"))
PLAYED = st.lists(st.tuples(INSTANTS, st.sampled_from([None, "Cup", "x", "Café Kök"])), max_size=20)


@given(st.lists(strategies.instants(), max_size=5), st.lists(strategies.instants(), max_size=20))
def test_the_eras_of_a_column_are_those_of_its_instants(since: list[str], instants: list[str]) -> None:
    further = sorted((era(BY_GAME, one) for one in since), key=lambda one: (one.since_ms, one.since))
    where = pool(era(BY_GAME), *further)
    column = [instant_ms(one) for one in [*instants, *since]] + [instant_ms(one) - 1 for one in since]
    numbers = [where.era_at(ms) for ms in column]
    assert where.eras_at(np.array(column, np.int64)).tolist() == numbers
    for ms, number in zip(column, numbers, strict=True):
        assert number == max(i for i, one in enumerate(where.eras) if one.since_ms <= ms)


@given(pools(), PLAYED)
def test_the_places_of_columns_are_those_of_their_games(where: Pool, played: list[tuple[int, str | None]]) -> None:
    ended = np.array([ms for ms, _ in played], np.int64)
    kept = ended.copy()
    rated_ms, batch, began_ms = where.places(ended, [name for _, name in played])
    assert rated_ms.dtype == np.int64
    found = zip(rated_ms.tolist(), batch, began_ms, strict=True)
    assert list(found) == [where.place(ms, name) for ms, name in played]
    assert (ended == kept).all()


@given(pools(), PLAYED)
def test_a_game_is_rated_when_it_has_ended_and_before_its_era_is_over(
    where: Pool, played: list[tuple[int, str | None]]
) -> None:
    batches: dict[tuple[int, str], set[int]] = {}
    for ended_ms, tournament in played:
        rated_ms, batch, _ = where.place(ended_ms, tournament)
        number = where.era_at(ended_ms)
        assert rated_ms >= ended_ms
        assert where.era_at(rated_ms) == number
        assert batch in {NO_BATCH, tournament}
        batches.setdefault((rated_ms, batch), set()).add(number)
        rhythm = where.eras[number].scheme.rhythm
        assert rhythm is not Rhythm.GAME or (rated_ms, batch) == (ended_ms, NO_BATCH)
        assert rhythm is Rhythm.EVENT or batch == NO_BATCH
    assert all(len(eras) == 1 for eras in batches.values())  # no batch is rated by two schemes


@given(pools(), INSTANTS, INSTANTS)
def test_of_two_games_without_a_tournament_the_later_never_takes_its_place_first(
    where: Pool, one: int, other: int
) -> None:
    first, second = sorted((one, other))
    places = [where.place(ms, None)[:2] for ms in (first, second)]
    assert places == sorted(places)


def test_kernels_see_the_number_of_the_period_and_the_day_on_which_it_closes() -> None:
    where = pool(era(BY_PERIOD))
    month = periods.number(instant_ms("2006-01-15"), MONTHLY)
    assert where.when(0, ending("2006-01-31"), instant_ms("2006-01-15")) == When(month, ending("2006-01-31") / DAY_MS)
    assert month == 2006 * 12


def test_an_open_run_counts_as_closed_with_its_last_game() -> None:
    where = pool(era(BY_PERIOD, by_runs=True), runs=("2006-01-31", "2006-02-28"))
    last = instant_ms("2006-03-15")
    assert where.when(0, OPEN, last) == When(2.0, last / DAY_MS)
    assert where.when(0, ending("2006-02-28"), instant_ms("2006-02-15")) == When(1.0, ending("2006-02-28") / DAY_MS)


def test_an_event_has_a_day_and_no_period() -> None:
    assert pool(era(BY_EVENT)).when(0, ending("2006-01-31"), 5) == When(0.0, ending("2006-01-31") / DAY_MS)


@pytest.mark.parametrize("cols", [FEW, MANY])
def test_games_are_cut_into_batches_with_the_time_of_each(cols: Columns) -> None:
    where = pool(era(BY_PERIOD, by_runs=True), runs=("2006-01-31", "2006-02-28"))
    ended = [instant_ms(day) for day in ("2006-01-05", "2006-01-06", "2006-02-07", "2006-03-08", "2006-03-09")]
    rated = [where.place(ms, None)[0] for ms in ended]
    given_columns = (
        cols.int32_column([0, 1, 0, 1, 0]),
        cols.int32_column([1, 2, 2, 0, 2]),
        cols.float64_column([1, 0, 0.5, 1, 1]),
    )
    games = rateable(
        where,
        cols,
        0,
        *given_columns,
        cols.int64_column(ended),
        cols.int64_column(rated),
        cols.int32_column([1, 0, 1, 1, 0]),
    )
    starts, period, closing, day = cols.to_lists([games.starts, games.period, games.closing, games.day])
    assert starts == [0, 2, 3, 5]
    assert period == [0.0, 1.0, 2.0]
    assert closing == [ending("2006-01-31") / DAY_MS, ending("2006-02-28") / DAY_MS, ended[4] / DAY_MS]
    assert day == [ms / DAY_MS for ms in ended]


@pytest.mark.parametrize("cols", [FEW, MANY])
def test_games_that_are_rated_by_themselves_have_no_batches(cols: Columns) -> None:
    one = cols.int64_column([instant_ms("2006-01-05")])
    column = cols.int32_column([1])
    games = rateable(pool(era(BY_GAME)), cols, 0, column, column, cols.float64_column([1.0]), one, one, column)
    assert (len(games.starts), len(games.period), len(games.closing)) == (0, 0, 0)
    assert cols.to_lists([games.day]) == [[instant_ms("2006-01-05") / DAY_MS]]
