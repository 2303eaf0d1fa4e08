"""Hypothesis strategies for tellings of games: each leaves blank or coarser what another one says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from ledger.facts.events import BLANKS, Event, GameRecorded
from ledger.facts.words import Termination

_COARSER = (4, 7, 10, 20)  # characters of a year, a month, a day, a second


@st.composite
def tellings(draw: st.DrawFn, game: GameRecorded) -> GameRecorded:
    """The game as a source tells it that may know less of it."""
    blank = draw(st.sets(st.sampled_from(sorted(BLANKS[GameRecorded]))))
    absent: dict[str, Any] = dict.fromkeys(blank)
    told = attrs.evolve(game, **absent)
    if draw(st.booleans()):
        told = attrs.evolve(told, termination=Termination.UNKNOWN)
    if told.started_at is not None and draw(st.booleans()):
        told = attrs.evolve(told, ended_at=told.started_at)
    elif draw(st.booleans()):
        told = attrs.evolve(told, ended_at=draw(st.sampled_from(coarser(game.ended_at))))
    return told


def coarser(instant: str) -> list[str]:
    """The instant as it is, and as those write it who know less of it."""
    cut = [instant[:length] for length in _COARSER[:3] if length < len(instant)]
    return [*cut, *([f"{instant[:19]}Z"] if len(instant) > _COARSER[3] else []), instant]


@st.composite
def told_often(draw: st.DrawFn, club: Sequence[Event]) -> list[Event]:
    """The facts of a club, in which each game is told one to three times, in any order."""
    first = [event for event in club if not isinstance(event, GameRecorded)]
    games = [attrs.evolve(event, **draw(_more(event))) for event in club if isinstance(event, GameRecorded)]
    told: list[Event] = [draw(tellings(game)) for game in games for _ in range(draw(st.integers(1, 3)))]
    return [*first, *told]


def _more(game: GameRecorded) -> st.SearchStrategy[dict[str, Any]]:
    """What games of a drawn club lack."""
    return st.fixed_dictionaries(
        {
            # No source knows the fraction of a second in which a game began.
            "started_at": st.sampled_from((None, *(known for known in coarser(game.ended_at) if "." not in known))),
            "white_rating": st.sampled_from((None, 1500)),
            "black_rating": st.sampled_from((None, 0, 1400)),
            "text": st.sampled_from((None, "0" * 64)),
        }
    )
