"""Late reports: what was known when a rating list was published, in pools with ``late_reports=next-list``.

A list that is published has its games for good. A game that is reported afterwards counts in the next list, with the
ratings and the rules of its own days. ``timeline`` places the games; here are the published lists of a pool, and the
editions of a tournament as they were known after each of them. Nothing is read or written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import attrs

from ledger.book.whole_tournaments import Announcements, Edition

BEFORE_ALL_LISTS = -(2**62)  # an instant before every list, milliseconds


@attrs.frozen
class PublishedLists:
    """The published lists of one pool, in order of the journal.

    Attributes:
        positions: the position of each list's entry, ascending.
        instants: the last millisecond of each list's instant.
    """

    positions: tuple[int, ...] = ()
    instants: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Return the number of lists."""
        return len(self.positions)

    def before(self, position: int) -> int:
        """Return the number of lists that were published before an entry."""
        return bisect_left(self.positions, position)

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """By number of lists, the latest instant of so many lists, milliseconds; the first one is before all lists."""
        return tuple(accumulate((BEFORE_ALL_LISTS, *self.instants), max))

    def with_list(self, position: int, instant: int) -> PublishedLists:
        """Return the lists with one more."""
        pairs = sorted({*zip(self.positions, self.instants, strict=True), (position, instant)})
        return PublishedLists(tuple(place for place, _ in pairs), tuple(ms for _, ms in pairs))


NO_LISTS = PublishedLists()


class Announced(NamedTuple):
    """An opening or a closing of a tournament: its entry, its first millisecond (None: a closing), and its last."""

    position: int
    first_ms: int | None
    last_ms: int


class ReportedEdition(NamedTuple):
    """An edition of a tournament of which parts were reported before and after a list was published.

    Attributes:
        since: the numbers of published lists after which it had another form, ascending.
        editions: its form after each of them.
    """

    since: tuple[int, ...]
    editions: tuple[Edition, ...]

    def after(self, lists: int) -> Edition:
        """Return the edition by what was reported before the list that followed so many lists."""
        return self.editions[max(bisect_right(self.since, lists) - 1, 0)]


KnownEdition = Edition | ReportedEdition


def editions_as_reported(
    games: Iterable[tuple[int, int]],
    announced: Sequence[Announced],
    lists: PublishedLists,
    group: Callable[[Sequence[int], Announcements], Mapping[int, Edition]],
) -> dict[int, KnownEdition]:
    """Return the editions of a tournament by end of a game, each as it was known after each published list.

    Args:
        games: the end and the position of each game.
        announced: the announcements of the tournament.
        lists: the published lists of the pool.
        group: returns editions by end of a game, from ends in order and announcements.
    """
    reported = sorted((lists.before(position), end) for end, position in games)
    announcements = [(lists.before(each.position), each) for each in announced]
    # Until the first game is reported nothing has a place.
    first = reported[0][0] if reported else 0
    turns = sorted({first, *(turn for turn, _ in reported), *(turn for turn, _ in announcements if turn > first)})
    forms: dict[int, list[tuple[int, Edition]]] = {}
    for turn in turns:
        ends = sorted({end for when, end in reported if when <= turn})
        for end, edition in group(ends, announcements_of(each for when, each in announcements if when <= turn)).items():
            of_end = forms.setdefault(end, [])
            if not of_end or of_end[-1][1] != edition:
                of_end.append((turn, edition))
    return {
        end: of_end[0][1] if len(of_end) == 1 else ReportedEdition(*(tuple(part) for part in zip(*of_end, strict=True)))
        for end, of_end in forms.items()
    }


def announcements_of(announced: Iterable[Announced]) -> Announcements:
    """Return the announcements of a tournament's editions."""
    announcements = Announcements()
    for _, first, last in announced:
        announcements = announcements.with_closing(last) if first is None else announcements.with_opening(first, last)
    return announcements
