"""What a rating scheme is: settings with their sources, a state for each player, a kernel, and words for people.

A *kernel* is a plain function of numbers that changes the flat list ``state`` in place; player *p*'s fields stand at
``state[p]``, ``state[p + 1]``, ... in the order of ``Scheme.state`` (rating first). It is written once and runs
as ordinary Python for a few games and compiled by Numba for many, with the same bits, so it may use only float
and int arithmetic, comparisons, other such functions at module level, and ``ledger.arith``. No scheme's rules here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.events import DECIMAL_PATTERN

# Why a game does not count, by code; a scheme's ``refuse`` kernel answers with one of these, 0 for a game that does.
REASONS = (
    "",
    "unplayed",
    "unfinished",
    "abandoned-by-both",
    "casual",
    "too-short",
    "guest",
)
COUNTS, UNPLAYED, UNFINISHED, ABANDONED_BY_BOTH, CASUAL, TOO_SHORT, GUEST = range(len(REASONS))

# Codes in which kernels see a game's words; the order of the enumerations in ``ledger.model``.
OUTCOME_WHITE, OUTCOME_DRAW, OUTCOME_BLACK, OUTCOME_NONE = range(4)
ENDED_CHECKMATE, ENDED_TIME, ENDED_ABANDONMENT, ENDED_UNPLAYED = 0, 7, 8, 11
STANDING_FULL, STANDING_GUEST, STANDING_WELCOMER = range(3)
HALF_MOVES_UNKNOWN = -1

_DECIMAL = re.compile(DECIMAL_PATTERN, re.ASCII)


def setting(default: float | bool, doc: str, unit: str, source: str) -> Any:
    """A field of a settings class: its default, what it is, its unit, and where the rule stands."""
    return attrs.field(default=default, metadata={"doc": doc, "unit": unit, "source": source})


class Side(NamedTuple):
    """One player's part in a game that is to be explained: the state before it, and what the kernel needs."""

    before: tuple[float, ...]
    after: tuple[float, ...]


class Term(NamedTuple):
    """One symbol of a formula with this game's number."""

    symbol: str
    value: float
    meaning: str


class Explanation(NamedTuple):
    """How one rating came about.

    Attributes:
        rule: the formula in the scheme's own symbols.
        terms: every symbol with this game's unrounded number.
        result: the rating after the game, unrounded, points.
        rounding: how the scheme rounds it, or that it does not.
        source: document and section of the rule.
    """

    rule: str
    terms: tuple[Term, ...]
    result: float
    rounding: str
    source: str


@attrs.frozen(kw_only=True)
class Scheme:
    """A rating scheme as the engine, the projections and the commands see it.

    Attributes:
        name: the name under which ``scheme-adopted`` refers to it.
        title: for people.
        source: the document that publishes it.
        version: counts changes that alter any number.
        settings: attrs class of its constants, each made by ``setting``.
        numbers: NamedTuple of the same fields in the same order: the settings as kernels take them.
        state: names of a player's state fields; the first is ``rating``.
        enter: ``(declared rating or None, numbers) -> state`` of a newcomer.
        refuse: kernel ``(outcome, termination, half_moves, rated, white standing, black standing, numbers) -> code``
            into ``REASONS``.
        rate_game: kernel ``(state, w, b, score, numbers)``: one game, White's *score* 0, 0.5 or 1.
        expected_score: ``(own state, opponent's state, numbers) -> 0..1``.
        explain: ``(own side, opponent's side, score, numbers) -> Explanation``.
    """

    name: str
    title: str
    source: str
    version: int
    settings: type[Any]
    numbers: Callable[..., Any]
    state: tuple[str, ...]
    enter: Callable[[int | None, Any], tuple[float, ...]]
    refuse: Callable[..., int]
    rate_game: Callable[..., None]
    expected_score: Callable[[tuple[float, ...], tuple[float, ...], Any], float]
    explain: Callable[[Side, Side, float, Any], Explanation]

    def numbers_from(self, given: Mapping[str, int | bool | str]) -> Any:
        """The settings of a ``scheme-adopted`` event as the kernels take them; the rest keeps its defaults.

        Raises:
            MalformedError: a setting that the scheme does not have, or of the wrong type, or out of its range.
        """
        fields = attrs.fields_dict(self.settings)
        problems = [
            f"scheme {self.name!r} has no setting {name!r}, expected one of {sorted(fields)} @ $.facts.settings"
            for name in given
            if name not in fields
        ]
        values: dict[str, float | bool] = {}
        for name, value in given.items():
            field = fields.get(name)
            if field is None:
                continue
            if isinstance(field.default, bool):
                wanted, fits = "true or false", type(value) is bool
            else:
                wanted = "a whole number or a decimal as text"
                fits = type(value) is int or (type(value) is str and _DECIMAL.fullmatch(value) is not None)
            if fits:
                values[name] = value if isinstance(value, bool) else float(Decimal(value))
            else:
                problems.append(f"expected {wanted}, got {value!r} @ $.facts.settings.{name}")
        if not problems:
            try:
                return self.numbers(*attrs.astuple(self.settings(**values)))
            except ValueError as error:
                problems.append(f"{error} @ $.facts.settings")
        raise MalformedError(problems)


def refuse_common(outcome: int, termination: int, rated: bool) -> int:
    """The reasons that hold in every scheme: not played, no result, given up by both, not asked to be rated."""
    if termination == ENDED_UNPLAYED:
        return UNPLAYED
    if outcome == OUTCOME_NONE:
        return ABANDONED_BY_BOTH if termination == ENDED_ABANDONMENT else UNFINISHED
    if not rated:
        return CASUAL
    return COUNTS
