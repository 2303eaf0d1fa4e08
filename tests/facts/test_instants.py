"""Instants, rounds and tree heads have one spelling; which rating period an instant lies in, and when that closes."""

import calendar
from calendar import MONDAY, monthrange
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.facts import periods
from ledger.facts.instants import PRECISION_BY_LENGTH, Precision, instant_end_ms, instant_ms, instant_text, precision
from ledger.facts.periods import DAY_MS, MONTHLY, OPEN, Calendar
from ledger.facts.words import TreeHead, round_order
from tests.kit import strategies

ROOT = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "ms", "known"),
    [
        ("1970", 0, Precision.YEAR),
        ("1970-01", 0, Precision.MONTH),
        ("1970-01-01", 0, Precision.DAY),
        ("1970-01-01T00:00:00Z", 0, Precision.SECOND),
        ("1970-01-01T00:00:00.001Z", 1, Precision.MILLISECOND),
        ("2013", 1_356_998_400_000, Precision.YEAR),
        ("2013-06", 1_370_044_800_000, Precision.MONTH),
        ("2013-06-04", 1_370_304_000_000, Precision.DAY),
        ("2013-06-04T19:30:00Z", 1_370_374_200_000, Precision.SECOND),
        ("2013-06-04T19:30:00.250Z", 1_370_374_200_250, Precision.MILLISECOND),
        ("2016-12-31T23:59:59Z", 1_483_228_799_000, Precision.SECOND),
        ("2000-02-29", 951_782_400_000, Precision.DAY),
        ("1969-12-31T23:59:59.999Z", -1, Precision.MILLISECOND),
        ("1969-12-31T23:59:59Z", -1000, Precision.SECOND),
        ("1851", -3_755_289_600_000, Precision.YEAR),
        ("0001", -62_135_596_800_000, Precision.YEAR),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999, Precision.MILLISECOND),
    ],
)
def test_an_instant_is_its_first_moment_and_is_written_back_as_it_was(text: str, ms: int, known: Precision) -> None:
    assert instant_ms(text) == ms
    assert precision(text) is known
    assert instant_text(ms, known) == text


@pytest.mark.parametrize(
    "text",
    ["2013-02-29", "1900-02-29", "2013-04-31", "2013-00-01", "2013-13", "2013-00", "2013-01-00", "0000", "0000-01-01",
     "2013-06-04T24:00:00Z", "2013-06-04T19:60:00Z", "2016-12-31T23:59:60Z"],
)  # fmt: skip
def test_a_day_or_time_that_does_not_exist_is_refused(text: str) -> None:
    advice = "correct it, or leave out what is not known"
    with pytest.raises(MalformedError, match=rf"^no such day or time: '{text}'; {advice}$"):
        instant_ms(text)


@pytest.mark.parametrize(
    "text",
    ["", "13", "02013", "2013-6", "2013-06-4", "20130604", "2013/06/04", "2013-06-04 19:30:00Z", "2013-06-04T19:30Z",
     "2013-06-04T19:30:00", "2013-06-04T19:30:00z", "2013-06-04T19:30:00+00:00", "2013-06-04T19:30:00.000Z",
     "2013-06-04T19:30:00.25Z", "2013-06-04T19:30:00.2500Z", "2013-06-04T19:30:00,250Z", " 2013", "2013 ", "2013\n",
     "2013-06-04Z", "-2013", "+2013", "\u0662\u0660\u0661\u0663", "2013-W23"],
)  # fmt: skip
def test_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected YYYY, YYYY-MM, "):
        instant_ms(text)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_milliseconds_are_those_of_the_calendar(ms: int) -> None:
    text = instant_text(ms)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
    assert instant_ms(text) == ms == calendar.timegm(moment.timetuple()) * 1000 + moment.microsecond // 1000
    assert len(text) == (24 if ms % 1000 else 20)


@given(strategies.instants())
def test_there_is_one_spelling_for_each_instant_and_precision(text: str) -> None:
    assert instant_text(instant_ms(text), precision(text)) == text


@given(strategies.wild_instants())
def test_whatever_is_taken_is_written_back_as_it_was(text: str) -> None:
    try:
        ms = instant_ms(text)
    except ValueError:
        return
    assert instant_text(ms, precision(text)) == text


def test_every_precision_has_its_length() -> None:
    assert list(PRECISION_BY_LENGTH.values()) == list(Precision)


def test_rounds_sort_as_people_sort_them() -> None:
    rounds = ["Final", "0.1", "1", "1.1", "1.2", "1.2.1", "1.10", "2", "2.1", "3", "10", "11.1", "999999.999999.999999"]
    orders = [round_order(one) for one in rounds]
    assert sorted(set(orders)) == orders


@pytest.mark.parametrize(
    "text",
    [None, "", "Final", "?", "-", "1.", ".1", "1..2", "1.2.3.4", "1234567", "-1", " 1", "1\n", "1a", "\u0661", "1,2"],
)
def test_a_round_that_is_no_number_comes_first(text: str | None) -> None:
    assert round_order(text) == 0


@given(strategies.wild_rounds())
def test_a_round_order_fits_a_whole_number_of_64_bits(text: str) -> None:
    assert 0 <= round_order(text) < 2**63


@given(st.integers(0, 10**18 - 1), st.binary(min_size=32, max_size=32))
def test_a_tree_head_is_read_as_it_is_written(size: int, root: bytes) -> None:
    head = TreeHead(size, root)
    assert TreeHead.parse(str(head)) == head
    assert TreeHead.parse(f"  {head}\r\n") == head


@pytest.mark.parametrize(
    "line",
    ["", "7", ROOT, f"7  {ROOT}", f"7 {ROOT[1:]}", f"7 {ROOT}0", f"7 {ROOT.upper()}", f"-7 {ROOT}", f"07 {ROOT}",
     f"7.0 {ROOT}", f"\u0667 {ROOT}", f"{10**18} {ROOT}", f"7 {ROOT} x", f"7\t{ROOT}", f"7 {'g' * 64}"],
)  # fmt: skip
def test_what_is_no_tree_head_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"^expected 'SIZE ROOT' with 64 hexadecimal digits, got "):
        TreeHead.parse(line)


FIRST_MS = instant_ms("0001")
LAST_MS = OPEN
MONTHS = [Calendar(months=length, first_month=first) for length in (1, 2, 3, 4, 6, 12, 24, 120) for first in (1, 6, 12)]
DAYS = [Calendar(days=length) for length in (1, 7, 10, 14, 30, 365, 3660)]
RUNS = Calendar(by_runs=True)

INSTANTS = (
    st.integers(FIRST_MS, LAST_MS)
    | st.integers(-(10**9), 10**9)
    | st.integers(instant_ms("9990"), LAST_MS)
    | st.integers(FIRST_MS, instant_ms("0010"))
)
CALENDARS = st.sampled_from(MONTHS) | st.sampled_from(DAYS)
CLOSED_RUNS = st.lists(st.integers(FIRST_MS, LAST_MS), max_size=6, unique=True).map(sorted)


def closing(instant: str, calendar: Calendar, runs: tuple[str, ...] = ()) -> str:
    """The last millisecond of the period of an instant, as text."""
    closed = [instant_end_ms(run) for run in runs]
    return instant_text(periods.closing(periods.number(instant_ms(instant), calendar, closed), calendar, closed))


def closing_ms(ms: int, calendar: Calendar) -> int:
    return periods.closing(periods.number(ms, calendar), calendar)


def last_ms(day: str) -> str:
    return f"{day}T23:59:59.999Z"


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        ("2024-01", "2024-01-31"), ("2024-02-29T23:59:59.999Z", "2024-02-29"), ("2023-02", "2023-02-28"),
        ("1900-02-01", "1900-02-28"), ("2000-02-01", "2000-02-29"), ("2024-12-31", "2024-12-31"),
        ("1970", "1970-01-31"), ("1969-12-31T23:59:59.999Z", "1969-12-31"), ("1851-06-21", "1851-06-30"),
        ("0001", "0001-01-31"), ("9999-12-31", "9999-12-31"),
    ],
)  # fmt: skip
def test_a_month_closes_with_its_last_millisecond(instant: str, day: str) -> None:
    assert closing(instant, MONTHLY) == last_ms(day)


@pytest.mark.parametrize(
    ("instant", "length", "first_month", "day"),
    [
        # three months from June on: June to August, September to November, December to February, March to May
        ("2023-06-01", 3, 6, "2023-08-31"), ("2023-08-31T23:59:59.999Z", 3, 6, "2023-08-31"),
        ("2023-09", 3, 6, "2023-11-30"), ("2023-12", 3, 6, "2024-02-29"), ("2024-02-29", 3, 6, "2024-02-29"),
        ("2024-03", 3, 6, "2024-05-31"), ("1969-12-31", 3, 6, "1970-02-28"), ("1899-12", 3, 6, "1900-02-28"),
        # a year from June on
        ("2023-05-31T23:59:59Z", 12, 6, "2023-05-31"), ("2023-06", 12, 6, "2024-05-31"), ("2024", 12, 6, "2024-05-31"),
        ("1970", 12, 6, "1970-05-31"), ("1969-05-31", 12, 6, "1969-05-31"), ("1969-06-01", 12, 6, "1970-05-31"),
        # half years, quarters and years of the calendar
        ("2024-06-30", 6, 1, "2024-06-30"), ("2024-07", 6, 1, "2024-12-31"), ("2024-11", 3, 1, "2024-12-31"),
        ("2024-11", 12, 1, "2024-12-31"), ("1850-03", 12, 1, "1850-12-31"),
        # a period begins in each month that is so many months from the given one
        ("2024-01", 2, 12, "2024-01-31"), ("2024-02", 2, 12, "2024-03-31"), ("2024-03", 3, 12, "2024-05-31"),
    ],
)  # fmt: skip
def test_periods_of_several_months_begin_in_the_month_that_is_given(
    instant: str, length: int, first_month: int, day: str
) -> None:
    assert closing(instant, Calendar(months=length, first_month=first_month)) == last_ms(day)


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        ("2024-03-04", "2024-03-10"),
        ("2024-03-10T23:59:59.999Z", "2024-03-10"),
        ("2024-03-11", "2024-03-17"),
        ("1970-01-01", "1970-01-04"),
        ("1970-01-05", "1970-01-11"),
        ("1969-12-29", "1970-01-04"),
        ("1969-12-28T23:59:59.999Z", "1969-12-28"),
        ("1851-06-21", "1851-06-22"),
    ],
)
def test_a_week_closes_with_its_sunday(instant: str, day: str) -> None:
    assert closing(instant, Calendar(days=7)) == last_ms(day)


@given(st.integers(FIRST_MS + 7 * DAY_MS, LAST_MS - 7 * DAY_MS))
def test_weeks_begin_on_mondays(ms: int) -> None:
    begins = closing_ms(ms, Calendar(days=7)) + 1 - 7 * DAY_MS
    assert begins <= ms < begins + 7 * DAY_MS
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=begins)
    assert moment.weekday() == MONDAY
    assert (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)


@pytest.mark.parametrize("days", [1, 10, 14, 30, 365])
@pytest.mark.parametrize("instant", ["0001-01-01", "1851-06-21", "1969-12-31", "1970", "2024-02-29", "9000"])
def test_periods_of_days_are_whole_days_and_so_many_of_them(instant: str, days: int) -> None:
    calendar, ms = Calendar(days=days), instant_ms(instant)
    ends = closing_ms(ms, calendar)
    begins = closing_ms(ends - days * DAY_MS, calendar) + 1
    assert (ends + 1) % DAY_MS == 0
    assert ends + 1 - begins == days * DAY_MS
    assert begins <= ms <= ends


def test_a_length_in_days_goes_before_one_in_months_and_runs_before_both() -> None:
    both = Calendar(days=7, months=3, first_month=6)
    assert closing("2024-03-04", both) == closing("2024-03-04", Calendar(days=7))
    by_runs = Calendar(days=7, months=3, first_month=6, by_runs=True)
    assert closing("2024-03-04", by_runs, ("2024-06",)) == last_ms("2024-06-30")


@pytest.mark.parametrize(
    ("instant", "closed"),
    [
        ("0001", last_ms("1969-06-30")),
        ("1969-06-30T23:59:59.999Z", last_ms("1969-06-30")),
        ("1969-07-01", last_ms("1970-01-31")),
        ("1970-01-31", last_ms("1970-01-31")),
        ("1970-02-01", "1970-02-01T12:00:00.999Z"),
        ("1970-02-01T12:00:00.999Z", "1970-02-01T12:00:00.999Z"),
        ("1970-02-01T12:00:01Z", last_ms("9999-12-31")),
        ("2024", last_ms("9999-12-31")),
    ],
)
def test_an_instant_belongs_to_the_first_run_that_closes_with_it_or_later(instant: str, closed: str) -> None:
    assert closing(instant, RUNS, ("1969-06", "1970-01-31", "1970-02-01T12:00:00Z")) == closed


def test_without_runs_everything_waits() -> None:
    assert periods.number(0, RUNS) == 0
    assert periods.closing(0, RUNS) == OPEN
    assert periods.closings(np.array([-5, 0, 5]), RUNS).tolist() == [OPEN] * 3


def test_what_waits_for_a_run_waits_till_the_end_of_the_calendar() -> None:
    assert instant_text(OPEN) == last_ms("9999-12-31")


@given(INSTANTS, CLOSED_RUNS)
def test_runs_leave_no_gap_and_do_not_overlap(ms: int, runs: list[int]) -> None:
    number = periods.number(ms, RUNS, runs)
    assert 0 <= number <= len(runs)
    assert ms <= periods.closing(number, RUNS, runs)
    assert number == 0 or periods.closing(number - 1, RUNS, runs) < ms


@given(INSTANTS, CLOSED_RUNS, st.integers(FIRST_MS, LAST_MS))
def test_a_further_run_brings_a_closing_forward_or_leaves_it(ms: int, runs: list[int], further: int) -> None:
    more = sorted({*runs, further})
    before = periods.closing(periods.number(ms, RUNS, runs), RUNS, runs)
    after = periods.closing(periods.number(ms, RUNS, more), RUNS, more)
    assert after == (further if ms <= further < before else before)


@given(INSTANTS, CALENDARS)
def test_an_instant_lies_between_the_closing_before_its_period_and_that_of_its_own(ms: int, calendar: Calendar) -> None:
    number = periods.number(ms, calendar)
    ends = periods.closing(number, calendar)
    assert ms <= ends
    assert periods.number(min(ends, LAST_MS), calendar) == number
    if ms >= instant_ms("0130"):  # the period before it has begun in a year that can be written
        begins = periods.closing(number - 1, calendar) + 1
        assert begins <= ms
        assert periods.number(begins, calendar) == number
        assert periods.number(begins - 1, calendar) == number - 1


@given(st.integers(instant_ms("0130"), instant_ms("9800")), CALENDARS)
def test_closings_follow_each_other_without_gap_or_overlap(ms: int, calendar: Calendar) -> None:
    number = periods.number(ms, calendar)
    ends = [periods.closing(number + further, calendar) for further in range(-2, 4)]
    assert ends == sorted(set(ends))
    for further, end in enumerate(ends, -2):
        assert periods.number(end, calendar) == number + further
        assert periods.number(end + 1, calendar) == number + further + 1


@given(st.integers(instant_ms("0130"), instant_ms("9800")), st.sampled_from(MONTHS))
def test_a_period_of_months_is_so_many_whole_months_and_begins_in_one_that_is_named(
    ms: int, calendar: Calendar
) -> None:
    begins = instant_text(periods.closing(periods.number(ms, calendar) - 1, calendar) + 1)
    ends = instant_text(closing_ms(ms, calendar))
    (year, month), (last_year, last_month) = ((int(one[:4]), int(one[5:7])) for one in (begins, ends))
    assert begins[7:] == "-01T00:00:00Z"
    assert ends[7:] == f"-{monthrange(last_year, last_month)[1]}T23:59:59.999Z"
    assert (last_year - year) * 12 + last_month - month + 1 == calendar.months
    assert (month - calendar.first_month) % min(calendar.months, 12) == 0


@given(st.lists(INSTANTS, max_size=30), CALENDARS | st.just(RUNS), CLOSED_RUNS)
def test_columns_of_instants_give_what_each_instant_gives(
    instants: list[int], calendar: Calendar, runs: list[int]
) -> None:
    column = np.array(instants, np.int64)
    kept = column.copy()
    numbers = [periods.number(ms, calendar, runs) for ms in instants]
    assert periods.numbers(column, calendar, runs).tolist() == numbers
    closings = periods.closings(column, calendar, runs)
    assert closings.dtype == np.int64
    assert closings.tolist() == [periods.closing(number, calendar, runs) for number in numbers]
    assert (column == kept).all()


@given(st.integers(1, 366), CALENDARS)
def test_a_list_in_force_in_the_first_days_of_the_calendar_is_of_an_earlier_period_or_the_same(
    days: int, calendar: Calendar
) -> None:
    number = periods.listed(FIRST_MS, calendar._replace(in_force=days))
    assert number <= periods.number(FIRST_MS, calendar)
    column = np.array([FIRST_MS - days * DAY_MS], np.int64)
    assert periods.numbers(column, calendar).tolist() == [number]


@given(INSTANTS, INSTANTS, CALENDARS)
def test_later_instants_never_close_earlier(one: int, other: int, calendar: Calendar) -> None:
    first, second = sorted((one, other))
    assert closing_ms(first, calendar) <= closing_ms(second, calendar)
