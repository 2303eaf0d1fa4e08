"""Instants, rounds and tree heads: one spelling for each, and what is not one is refused."""

import calendar
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.facts.instants import PRECISION_BY_LENGTH, Precision, instant_ms, instant_text, precision
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
