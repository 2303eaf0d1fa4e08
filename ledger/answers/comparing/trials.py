"""Trials: replays of one pool's games under many settings of one scheme; the work that they share is done once.

Shared are the games as columns, their rating periods by calendar, the facts about new players, and the initial states
of players, as far as the varied settings do not change them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from threading import Lock
from typing import Any, NamedTuple

from ledger.answers.comparing import forecasts
from ledger.answers.comparing.replaying import (
    Candidate,
    RatingOrder,
    alone,
    batch_rule,
    columns_of,
    expected_by_end,
    predict_segments,
)
from ledger.ratings import engine
from ledger.runtime.columns import Column, Columns
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage
from ledger.schemes.scheme import Newcomer, Scheme

STATES_KEPT = 4  # sets of initial states: settings that change them have mostly another value in each trial


class Trials:
    """Trials of settings of one scheme over the same games."""

    def __init__(self, orders: Mapping[object, RatingOrder], score: Any, window: Any) -> None:
        """Take the games in rating order by ``batch_rule``, their scores by end, and which predictions count."""
        self._orders = orders
        self._score = score[window]
        self._window = window
        self._starts: dict[object, InitialStates] = {}
        distinct: list[InitialStates] = []
        for rule, order in orders.items():
            # nearly always those of the first order: only tournaments rated whole change who begins when
            equal = next((starts for starts in distinct if starts.newcomers == order.newcomers), None)
            if equal is None:
                distinct.append(equal := InitialStates(order.newcomers, columns_of(order)))
            self._starts[rule] = equal

    def log_loss(self, candidate: Candidate) -> float:
        """Return the log-loss of a scheme's predictions; infinite if they are no numbers."""
        rule = batch_rule(candidate)
        order = self._orders[rule]
        order = order._replace(pool=alone(order.pool, candidate))
        start = self._starts[rule].under(candidate)
        expected = expected_by_end(order, predict_segments(candidate, order, start)[0])[self._window]
        loss = forecasts.log_loss(with_advantage(expected, advantage_in(candidate.settings)), self._score)
        return loss if isfinite(loss) else inf


class _States(NamedTuple):
    """The flat states of new players, and the values of the settings that were read for them."""

    settings: Mapping[str, float | bool]
    states: Column


class InitialStates:
    """The states in which players begin under some settings of a scheme.

    A scheme's functions decide by nothing but their arguments. So settings that are equal in all that was read for some
    states lead to the same states; and so do facts about new players that differ in the day alone, if it was not read.
    """

    def __init__(self, newcomers: Sequence[Newcomer], cols: Columns) -> None:
        """Take the facts about the players, and the kind of columns that is wanted."""
        self.newcomers = newcomers
        self._cols = cols
        # Of 27,600 players with or without the rating of a list there are 800 that differ in more than the day.
        places: dict[Newcomer, int] = {}
        self._places = [places.setdefault(each._replace(day=0.0), len(places)) for each in newcomers]
        self._without_day = list(places)
        self._made: list[_States] = []
        self._lock = Lock()

    def under(self, candidate: Candidate) -> Column:
        """Return the flat states under the settings of a candidate."""
        with self._lock:
            for made in self._made:
                if all(getattr(candidate.numbers, name) == value for name, value in made.settings.items()):
                    return made.states
            made = self._make(candidate.scheme, candidate.numbers)
            self._made = [made, *self._made][:STATES_KEPT]
            return made.states

    def _make(self, scheme: Scheme, numbers: Any) -> _States:
        cols, of_settings, of_players = self._cols, set[str](), set[str]()
        settings = ReadFields(numbers, of_settings)
        who = [ReadFields(each, of_players) for each in self._without_day]
        states = cols.float64_column(engine.initial_states(scheme, settings, who))  # type: ignore[arg-type]
        if "day" in of_players:
            states = cols.float64_column(engine.initial_states(scheme, settings, self.newcomers))
        else:
            states = cols.select_rows(states, self._places, len(scheme.state))
        return _States({name: getattr(numbers, name) for name in of_settings}, states)


class ReadFields:
    """A named tuple that notes which of its fields are read."""

    def __init__(self, values: Any, read: set[str], replaced: frozenset[str] = frozenset()) -> None:
        """Take the tuple, the set to which names are added, and the fields that came later."""
        self.__values, self.__read, self.__replaced = values, read, replaced

    def __getattr__(self, name: str) -> Any:
        # another method may read any of them
        self.__read.update({name} - self.__replaced if name[0] != "_" else self.__values._fields)
        return getattr(self.__values, name)

    def __getitem__(self, place: Any) -> Any:  # for iteration as well
        self.__read.update(self.__values._fields)
        return self.__values[place]

    def _replace(self, **changes: Any) -> ReadFields:
        return ReadFields(self.__values._replace(**changes), self.__read, self.__replaced | changes.keys())
