"""Which games make up an edition of a tournament, when it began and when it was over."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.book.whole_tournaments import Announcements, Edition, group_into_editions, single_game_edition
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS

WEEK = 7.0


def days(*instants: str) -> list[int]:
    return [instant_ms(f"2025-{instant}") for instant in instants]


def found(
    played: str, *, closed: str = "", opened: tuple[tuple[str, str], ...] = (), gap: float = WEEK
) -> list[tuple[str, str, str]]:
    """By game the first and the last day of its edition, as month and day."""
    announced = Announcements(
        tuple(instant_end_ms(f"2025-{day}") for day in closed.split()),
        tuple((instant_ms(f"2025-{first}"), instant_end_ms(f"2025-{last}")) for first, last in opened),
    )
    names = {instant_ms(f"2025-08-{day:02}"): f"08-{day:02}" for day in range(1, 32)}
    by_end = group_into_editions(days(*played.split()), lambda _: gap, announced)
    return [
        (names[end], names[edition.first_ms], names[edition.last_ms // DAY_MS * DAY_MS])
        for end, edition in by_end.items()
    ]


def test_more_days_than_the_gap_without_a_game_end_an_edition() -> None:
    assert found("08-01 08-08 08-16") == [
        ("08-01", "08-01", "08-08"),
        ("08-08", "08-01", "08-08"),
        ("08-16", "08-16", "08-16"),
    ]


def test_a_closing_ends_the_edition_before_it_and_parts_the_next_one() -> None:
    assert found("08-01 08-03 08-04", closed="08-03") == [
        ("08-01", "08-01", "08-03"),
        ("08-03", "08-01", "08-03"),
        ("08-04", "08-04", "08-04"),
    ]
    assert found("08-01 08-03", closed="08-20") == [("08-01", "08-01", "08-20"), ("08-03", "08-01", "08-20")]
    assert found("08-01 08-15", closed="08-20") == [("08-01", "08-01", "08-01"), ("08-15", "08-15", "08-20")]


def test_a_game_that_ends_with_the_closing_is_of_the_edition_that_it_closes() -> None:
    first, last = days("08-01", "08-03")
    whole = Edition(first, last)
    assert group_into_editions([first, last], lambda _: WEEK, Announcements((last,))) == {first: whole, last: whole}


def test_what_was_opened_holds_whatever_the_gaps_are() -> None:
    assert found("08-02 08-20 08-30", opened=(("08-01", "08-28"),)) == [
        ("08-02", "08-01", "08-28"),
        ("08-20", "08-01", "08-28"),
        ("08-30", "08-30", "08-30"),
    ]


def test_a_closing_within_an_opened_edition_or_after_it_says_when_it_was_over() -> None:
    for closing in ("08-20", "08-30"):
        assert found("08-02 08-20", opened=(("08-01", "08-28"),), closed=closing) == [
            ("08-02", "08-01", closing),
            ("08-20", "08-01", closing),
        ]


def test_an_edition_ends_where_the_next_one_was_opened_to_begin() -> None:
    both = (("08-01", "08-20"), ("08-10", "08-25"))
    assert found("08-05 08-12", opened=both) == [("08-05", "08-01", "08-09"), ("08-12", "08-10", "08-25")]
    assert found("08-05 08-12", opened=both, closed="08-15") == [
        ("08-05", "08-01", "08-09"),
        ("08-12", "08-10", "08-15"),
    ]


def test_of_three_editions_each_ends_where_the_very_next_one_begins() -> None:
    three = (("08-01", "08-30"), ("08-10", "08-30"), ("08-20", "08-25"))
    assert found("08-05 08-12 08-22", opened=three) == [
        ("08-05", "08-01", "08-09"),
        ("08-12", "08-10", "08-19"),
        ("08-22", "08-20", "08-25"),
    ]


def test_a_closing_of_what_was_opened_later_ends_nothing_before_it() -> None:
    assert found("08-01 08-12", opened=(("08-10", "08-20"),), closed="08-15") == [
        ("08-01", "08-01", "08-01"),
        ("08-12", "08-10", "08-15"),
    ]


@pytest.mark.parametrize(("first", "last", "length"), [("08-01", "08-01", 1), ("08-01", "08-30", 30)])
def test_both_days_count(first: str, last: str, length: int) -> None:
    assert Edition(instant_ms(f"2025-{first}"), instant_end_ms(f"2025-{last}")).days == length


def test_a_game_of_no_tournament_began_on_the_day_on_which_it_ended() -> None:
    for end in (instant_ms("2025-08-01T19:30:00Z"), instant_ms("1850-02-03T19:30:00Z")):
        assert single_game_edition(end).first_ms <= end == single_game_edition(end).last_ms
        assert (single_game_edition(end).first_ms % DAY_MS, single_game_edition(end).days) == (0, 1)


ENDS = st.lists(st.integers(0, 40 * 24).map(lambda hour: hour * 3_600_000), min_size=1, max_size=20).map(sorted)
SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=3, unique_by=lambda span: span[0])


@given(ENDS, st.lists(st.integers(0, 40), max_size=3, unique=True), SPANS, st.integers(1, 9))
def test_every_game_lies_in_its_edition_and_no_two_editions_share_a_moment(
    ends: list[int], closed: list[int], spans: list[tuple[int, int]], gap: int
) -> None:
    announced = Announcements(
        tuple((day + 1) * DAY_MS - 1 for day in sorted(closed)),
        tuple((first * DAY_MS, (first + more + 1) * DAY_MS - 1) for first, more in sorted(spans)),
    )
    by_end = group_into_editions(ends, lambda _: gap, announced)
    assert set(by_end) == set(ends)
    for end, edition in by_end.items():
        assert edition.first_ms <= end <= edition.last_ms
    in_order = sorted(set(by_end.values()), key=lambda edition: edition.last_ms)
    for before, after in pairwise(in_order):
        assert before.last_ms < min(end for end, edition in by_end.items() if edition == after)


@given(ENDS, st.integers(1, 9))
def test_games_in_any_order_and_told_twice_make_the_same_editions(ends: list[int], gap: int) -> None:
    assert group_into_editions(sorted(ends * 2), lambda _: gap) == group_into_editions(ends, lambda _: gap)
