"""Tournaments that are rated whole: groups the games of one name into editions with a first and a last instant.

An edition is announced (opened), ended by a closing, or recognised by its games: so many days without one end it.
``timeline`` places its games. Nothing is read or written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import attrs

from ledger.facts.periods import DAY_MS


class Edition(NamedTuple):
    """One edition of a tournament.

    Attributes:
        first_ms: its first millisecond: of the day of its first game, or as announced.
        last_ms: its last: the end of its last game, or as announced.
    """

    first_ms: int
    last_ms: int

    @property
    def days(self) -> int:
        """The length in days, with the first and the last one."""
        return self.last_ms // DAY_MS - self.first_ms // DAY_MS + 1


@attrs.frozen
class Announcements:
    """The announcements of one tournament's editions.

    Attributes:
        closed: the last milliseconds by closings, ascending.
        opened: the first and last milliseconds by openings, ascending.
    """

    closed: tuple[int, ...] = ()
    opened: tuple[tuple[int, int], ...] = ()

    def with_closing(self, last: int) -> Announcements:
        """Return the announcements with one more closing, given by its last millisecond."""
        return attrs.evolve(self, closed=tuple(sorted({*self.closed, last})))

    def with_opening(self, first: int, last: int) -> Announcements:
        """Return the announcements with one more opening.

        Of two with one beginning the longer holds.
        """
        opened = dict(self.opened)
        opened[first] = max(last, opened.get(first, last))
        return attrs.evolve(self, opened=tuple(sorted(opened.items())))

    def editions(self) -> list[Edition]:
        """Return the opened editions in order.

        Each ends before the next one begins, or with a closing within it.
        """
        spans = []
        begins = [first for first, _ in self.opened]
        for place, (first, last) in enumerate(self.opened):
            before = begins[place + 1] - 1 if place + 1 < len(begins) else None
            closing = bisect_left(self.closed, first)
            if closing < len(self.closed) and (before is None or self.closed[closing] <= before):
                last = self.closed[closing]  # noqa: PLW2901
            spans.append(Edition(first, last if before is None else min(last, before)))
        return spans


NO_ANNOUNCEMENTS = Announcements()

GapDays = Callable[[int], float]  # by end of a game, the days without one before it that do not yet end an edition


def single_game_edition(ended_ms: int) -> Edition:
    """Return the edition of a game that is rated alone, from the beginning of the day on which it ended."""
    return Edition(ended_ms - ended_ms % DAY_MS, ended_ms)


def group_into_editions(
    ends: Sequence[int], gap_days: GapDays, announced: Announcements = NO_ANNOUNCEMENTS
) -> dict[int, Edition]:
    """Return the edition of each game of a tournament, by end of the game.

    A closing ends the last edition before it, unless that was opened, or another one was opened in between.

    Args:
        ends: when the games ended, milliseconds, ascending; an instant may occur several times.
        gap_days: returns of a game's end the number of days without a game before it that do not end an edition.
        announced: the announcements of the tournament.
    """
    opened = announced.editions()
    clusters = list(_clusters(ends, gap_days, announced.closed, opened))
    by_end: dict[int, Edition] = {}
    for place, (edition, games) in enumerate(clusters):
        if edition is None:
            first, last = games[0], games[-1]
            closing = first_closing_from(last, announced.closed)
            later = [begin for begin, _ in opened if begin > last]
            if place + 1 < len(clusters):
                later.append(clusters[place + 1][1][0])
            # a closing that comes after another edition began is not of this one
            if closing is not None and all(closing < begin for begin in later):
                last = closing
            edition = Edition(first - first % DAY_MS, last)  # noqa: PLW2901
        by_end.update(dict.fromkeys(games, edition))
    return by_end


def _clusters(
    ends: Sequence[int], gap_days: GapDays, closed: Sequence[int], opened: Sequence[Edition]
) -> Iterator[tuple[Edition | None, list[int]]]:
    """Yield the games of each edition in order, with the edition if it was opened."""
    games: list[int] = []
    inside: Edition | None = None
    for end in ends:
        edition = next((span for span in opened if span.first_ms <= end <= span.last_ms), None)
        parted = edition is None and games and _parted(games[-1], end, gap_days, closed, opened)
        if games and (edition is not inside or parted):
            yield inside, games
            games = []
        inside = edition
        games.append(end)
    if games:
        yield inside, games


def _parted(before: int, end: int, gap_days: GapDays, closed: Sequence[int], opened: Sequence[Edition]) -> bool:
    """Return whether an edition ends between two games that lie in no opened one."""
    if end // DAY_MS - before // DAY_MS > gap_days(end):
        return True
    closing = first_closing_from(before, closed)
    return (closing is not None and closing < end) or any(before < edition.first_ms < end for edition in opened)


def first_closing_from(end: int, closed: Sequence[int]) -> int | None:
    """Return the first closing at or after a game's end; None if there is none."""
    place = bisect_left(closed, end)
    return closed[place] if place < len(closed) else None
