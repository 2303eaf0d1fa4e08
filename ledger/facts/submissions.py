"""Comparison of two reports of one game: what the second adds to the first, or where it contradicts it.

A submission may leave fields blank, may not know how the game ended, and may know an instant less precisely. The
order of two submissions does not change what they state together. Other modules decide whether two submissions are
of one game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ledger.facts.events import BLANKS, GameRecorded
from ledger.facts.instants import instant_ms, is_before
from ledger.facts.words import Termination

LONGEST_MS = 12 * 3_600_000  # no game on clocks lasts longer, milliseconds
_SECOND = 20  # characters of an instant that is known to the second
_CONFLICT = object()
# Lichess states less in its PGN than in its JSON (lila, PgnDump): a player who left the game has lost by "Time forfeit"
# there, like one who overstepped the time, and a game that a player never joined is "Abandoned". The finer word holds,
# whichever comes first; without it the two exports of one game would contradict each other.
_FINER_OF_LICHESS: Mapping[frozenset[Any], str] = {
    frozenset((Termination.TIME.value, Termination.ABANDONMENT.value)): Termination.ABANDONMENT.value,
    frozenset((Termination.ABANDONMENT.value, Termination.UNPLAYED.value)): Termination.UNPLAYED.value,
}
_LICHESS_EVENT = re.compile(r"lichess\.org/(?:tournament|swiss)/([A-Za-z0-9_-]{1,64})", re.ASCII)


class ReportComparison(NamedTuple):
    """The result of comparing a further report of a game with the recorded facts.

    Attributes:
        conflict: the first field, in alphabetical order, that says something else; None if none does.
        added: the fields that were blank or less precise, with what is known of them now.
    """

    conflict: str | None
    added: dict[str, Any]


def compare_reports(stored: Mapping[str, Any], further: Mapping[str, Any], game: str = "") -> ReportComparison:
    """Return what a further report of a game adds to the recorded facts, or which of them it contradicts.

    Args:
        stored: the facts that are known, in the fields of ``game-recorded/1`` as plain values, without the key.
        further: the facts of the further submission, likewise.
        game: the key of the game, if both submissions have it.
    """
    added: dict[str, Any] = {}
    for field, both in _both(stored, further, game):
        if both is _CONFLICT:
            return ReportComparison(field, {})
        if both != stored.get(field):
            added[field] = both
    return ReportComparison(None, added)


def contradictions(stored: Mapping[str, Any], further: Mapping[str, Any], game: str = "") -> dict[str, Any]:
    """Return the fields of a further report of a game that contradict the recorded facts, with its values."""
    return {field: further.get(field) for field, both in _both(stored, further, game) if both is _CONFLICT}


def _both(stored: Mapping[str, Any], further: Mapping[str, Any], game: str) -> Iterator[tuple[str, Any]]:
    """Yield the fields in which two submissions differ, with their combined value."""
    for field in sorted(stored.keys() | further.keys()):
        before, now = stored.get(field), further.get(field)
        if before == now:
            continue
        if field == "ended_at":
            yield field, _end(stored, further)
        elif field == "termination" and game.startswith("lichess:"):
            yield field, _FINER_OF_LICHESS.get(frozenset((before, now))) or _joined(field, before, now)
        else:
            yield field, _joined(field, before, now)


def tournament_key(event: str) -> str:
    """Return the name by which games are grouped into a tournament: for one of Lichess, its identifier there."""
    match = _LICHESS_EVENT.search(event)
    return f"lichess:{match[1]}" if match else event


def _joined(field: str, before: Any, now: Any) -> Any:
    """Return the combined value of a field, ``_CONFLICT`` if the submissions contradict each other."""
    if field in BLANKS[GameRecorded] and (before is None or now is None):
        return now if before is None else before
    if field == "sequence":
        return before  # a file may list the games of a day in another order
    if field == "termination" and Termination.UNKNOWN in {before, now}:
        return now if before == Termination.UNKNOWN else before
    if field == "started_at":
        return _finer(before, now) or _CONFLICT
    if field == "tournament" and tournament_key(before) == tournament_key(now):
        # two spellings of one tournament of Lichess
        return before
    return _CONFLICT


def _finer(first: str, second: str) -> str | None:
    """Return the more precise of two instants of which one lies within the other; None if neither does."""
    for coarse, fine in ((first, second), (second, first)):
        # 19:30:00Z says no more than 19:30:00.250Z, nor less
        if fine.startswith(coarse.removesuffix("Z")):
            return fine
    return None


def _end(stored: Mapping[str, Any], further: Mapping[str, Any]) -> Any:
    """Return the end of the game, as far as both submissions know it."""
    # A source that knows the beginning alone gives it for the end too; and a date without a beginning may be that of
    # the day on which the game began. Two players begin one game in a second: of two ends of that game the earlier one
    # holds, for an end that was reckoned from clocks comes out too late where a side took half of its time only, and
    # the facts do not say which of the two was reckoned.
    first, second = stored["ended_at"], further["ended_at"]
    began, also_began = stored.get("started_at"), further.get("started_at")
    finer = _finer(first, second)
    if finer is not None:
        return finer
    if began == first and also_began == second:  # it is the beginnings that differ
        return first
    if (began == first and not is_before(second, first)) or (began is None and _is_day_of(also_began, first)):
        return second
    if (also_began == second and not is_before(first, second)) or (also_began is None and _is_day_of(began, second)):
        return first
    if began is not None and began == also_began and len(began) >= _SECOND <= min(len(first), len(second)):
        lengths = [instant_ms(end) - instant_ms(began) for end in (first, second)]
        if all(0 <= length <= LONGEST_MS for length in lengths):  # a game on clocks may last so long
            return first if is_before(first, second) else second
    return _CONFLICT


def _is_day_of(began: str | None, date: str) -> bool:
    return began is not None and len(date) <= len("2013-06-04") and began.startswith(date)
