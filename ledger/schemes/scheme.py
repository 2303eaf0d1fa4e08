"""What a rating scheme is: settings with their sources, a state for each player, kernels, and words for people.

A *kernel* is a plain function of numbers that works on the flat list ``state``; the player at ``p`` has the fields
``state[p]``, ``state[p + 1]``, ... in the order of ``Scheme.state`` (rating first). It is written once and runs
as ordinary Python for a few games and compiled by Numba for many, with the same bits, so it may use only float
and int arithmetic, comparisons, ``sqrt`` and ``floor`` of ``math``, other such functions at module level, and
``runtime.arith``. Time is given to kernels as ``day`` (days since 1970-01-01 UTC, with fraction) and ``period``
(number of the rating period). What is known of a player before the first rated game, and of the past of a player from
a list, is told to a scheme as ``Newcomer``. No scheme's rules here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from math import inf
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError
from ledger.facts.event_fields import DECIMAL_PATTERN
from ledger.facts.periods import Calendar
from ledger.runtime.nearest import choice_of
from ledger.schemes.settings import EventSettings, as_written

# Settings that every pool takes beside those of its scheme: switches, which are off where an adoption does not say.
FROM_SHOWN = "from_shown"
POOL_SETTINGS: Mapping[str, str] = {
    FROM_SHOWN: (
        "who has no seed and declares no rating begins with the one that the source shows beside the first rated game"
    ),
}
SHOWN_SCALE = "Elo points"  # what sources show beside games
# By scale. 4000 is "what no sane rating reaches" on Lichess; grades are an eighth of ratings (Clarke).
PLAUSIBLE: Mapping[str, tuple[float, float]] = {SHOWN_SCALE: (-1000.0, 4000.0), "ECF points": (-200.0, 425.0)}


class Seed(NamedTuple):
    """The past that a player brings along from a list; None where the list does not tell.

    Attributes:
        rating: rating, in what the scheme counts in.
        games: rated games behind it.
        deviation: RD, points.
        volatility: Glicko-2 volatility, 1/173.7178 points.
        highest: highest rating so far, points.
        k_factor: K on that list.
        day: from when it holds, days since 1970; None: from the first rated game.
    """

    rating: float
    games: float | None = None
    deviation: float | None = None
    volatility: float | None = None
    highest: float | None = None
    k_factor: float | None = None
    day: float | None = None

    @property
    def peak(self) -> float:
        """The highest rating that is known, points."""
        return self.rating if self.highest is None else max(self.rating, self.highest)


class SeedsStand(NamedTuple):
    """Ratings of lists that a scheme takes as they are.

    Attributes:
        low: the lowest one.
        high: the highest one.
        whole: whether whole numbers alone are.
        games: rated games that the list tells at least, if it tells them.
    """

    low: float = 0.0
    high: float = inf
    whole: bool = False
    games: float = 0.0


class Newcomer(NamedTuple):
    """What is known of a player before the first rated game.

    Attributes:
        declared: rating to begin with, points; None where none was declared.
        birth_year: year of birth; None if unknown.
        day: when the first rated game ended, days since 1970.
        seed: the player's past, which goes before a declared rating.
    """

    declared: float | None = None
    birth_year: int | None = None
    day: float = 0.0
    seed: Seed | None = None

    @property
    def has_rating(self) -> bool:
        """Whether a rating is known, of a list or a declared one."""
        return self.declared is not None or self.seed is not None


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

# Codes in which kernels see a game's words; the order of the enumerations in ``facts.words``.
OUTCOME_WHITE, OUTCOME_DRAW, OUTCOME_BLACK, OUTCOME_NONE = range(4)
ENDED_CHECKMATE, ENDED_TIME, ENDED_ABANDONMENT, ENDED_UNPLAYED = 0, 7, 8, 11
STANDING_FULL, STANDING_GUEST, STANDING_WELCOMER = range(3)
HALF_MOVES_UNKNOWN = -1

_DECIMAL = re.compile(DECIMAL_PATTERN, re.ASCII)

# FIDE's lists have 0 there, too, which is no rating.
UNRATED = 0.0  # what stands for the rating of a player who has none, points


class Rhythm(StrEnum):
    """How many games a scheme rates together."""

    GAME = "game"  # each by itself, when it ends
    PERIOD = "period"  # all that end in one rating period, when it closes
    EVENT = "event"  # all of one tournament, when it closes


class When(NamedTuple):
    """The time of a game or batch as kernels see it: number of the period, and days since 1970."""

    period: float = 0.0
    day: float = 0.0


class ExplainedPlayer(NamedTuple):
    """One player in what is to be explained: the state before and after it, and the batch's work numbers, if any."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    work: tuple[float, ...] = ()


class MetOpponent(NamedTuple):
    """One game of that player: the opponent's state before it, the score 0, 0.5 or 1, the colour (0 White, 1 Black).

    ``work`` holds the opponent's work numbers of the batch, if any; ``began`` is the day on which the tournament began,
    days since 1970, for a scheme that rates from the ratings in force then.
    """

    opponent: tuple[float, ...]
    score: float
    colour: int = 0
    work: tuple[float, ...] = ()
    began: float = 0.0


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
        unrounded: what the formula gives, points.
        result: the rating after the game or batch, points.
        rounding: how the scheme gets from one to the other, or that it does not round.
        source: document and section of the rule.
        opponents: the opponents' ratings that the formula took, in the order of the meetings; empty where these are the
            ratings that the meetings tell.
    """

    rule: str
    terms: tuple[Term, ...]
    unrounded: float
    result: float
    rounding: str
    source: str
    opponents: tuple[float, ...] = ()


def calendar_of(numbers: Any) -> Calendar:
    """How a scheme by period cuts time, from its settings."""
    return Calendar(numbers.period_days, numbers.period_months, numbers.first_month, numbers.by_runs)


def refuse_common(outcome: int, termination: int, rated: bool) -> int:
    """The reasons that hold in every scheme: not played, no result, given up by both, not asked to be rated."""
    if termination == ENDED_UNPLAYED:
        return UNPLAYED
    if outcome == OUTCOME_NONE:
        return ABANDONED_BY_BOTH if termination == ENDED_ABANDONMENT else UNFINISHED
    if not rated:
        return CASUAL
    return COUNTS


def refuse_by_common_reasons(
    outcome: int,
    termination: int,
    half_moves: int,  # noqa: ARG001
    rated: bool,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    numbers: Any,  # noqa: ARG001
) -> int:
    """Kernel ``refuse`` of a scheme without a reason of its own."""
    return refuse_common(outcome, termination, rated)


# Engine and rankings compare with this very function: with another one that does nothing each player is looked up.
def as_it_stands(state: Any, p: int, period: float, day: float, numbers: Any) -> None:
    """Kernel ``at`` of a scheme whose ratings do not change by time alone."""


def from_the_beginning(day: float, numbers: Any) -> float:  # noqa: ARG001
    """``stands_from`` of a scheme in which time alone changes neither a rating nor who is listed."""
    return -inf


def seeds_stand(day: float, numbers: Any) -> SeedsStand:  # noqa: ARG001
    """``seeds_stand`` of a scheme that takes every rating of a list as it is."""
    return SeedsStand()


def never(state: Any, p: int, numbers: Any) -> bool:  # noqa: ARG001
    """Kernel ``provisional`` of a scheme that has no provisional ratings."""
    return False


def nowhere(tournament: str, numbers: Any) -> bool:  # noqa: ARG001
    """``welcomes`` of a scheme without tournaments in which guests are rated."""
    return False


# ``lists_everybody`` of a pool compares with this very function, and only by it rows are read without the states.
def always(state: Any, p: int, numbers: Any) -> bool:  # noqa: ARG001
    """Kernel ``listed`` of a scheme that lists everybody who has played."""
    return True


@attrs.frozen(kw_only=True)
class Scheme:
    """A rating scheme as the engine, the projections and the commands see it.

    A scheme by game gives ``rate_game``; one by period or event gives ``rate_player``. The settings of one by period
    are a kind of ``PeriodSettings``.

    Attributes:
        name: the name under which ``scheme-adopted`` refers to it.
        title: for people.
        source: the document that publishes it.
        readings: where the source allows several, the readings that are implemented, a sentence each.
        version: counts changes that alter any number.
        settings: attrs class of its constants, each made by ``setting``.
        numbers: the settings as kernels take them: ``numbers_of(settings)``.
        state: names of a player's state fields; the first is ``rating``.
        enter: ``(newcomer, numbers) -> state`` of a player without a seed; ``begin`` is what others call.
        refuse: kernel ``(outcome, termination, half_moves, rated, white standing, black standing, numbers) -> code``
            into ``REASONS``; by default the reasons that hold in every scheme.
        expected_score: kernel ``(state, own p, opponent's p, numbers) -> 0..1``, both brought to the time by ``at``.
        mirrored: whether what is expected of Black is, to the bit, 1 minus what is expected of White, so that one of
            the two need not be worked out.
        explain: ``(own side, meetings, when, numbers) -> Explanation``; one meeting for a scheme by game.
        rhythm: how many games are rated together.
        rate_game: kernel ``(state, w, b, score, day, numbers)``: one game, White's *score* 0, 0.5 or 1, in place.
        rate_player: kernel ``(step, state, work, after, player, opponent, score, colour, first, last, period, day,
            numbers)``: one player's games of one batch, called for every player of the batch in each of ``steps``
            rounds. A player is a number that holds for this batch alone. *state* holds the fields of all who play in
            it as they were before it, brought to it by ``at``, and is only read; player *i*'s fields stand from
            ``i * len(state fields)``, the work numbers from ``i * len(work)`` of *work* (to be read by others in a
            later round; zero at the start of a batch). The games are *first* <= g < *last*: ``opponent[g]`` is a
            player, ``score[g]`` the player's own score, ``colour[g]`` 0 for White. The last round fills the player's
            fields in *after*.
        in_force: kernel ``(state, p, day) -> rating``: the rating in force on a day not after that of the state; for a
            scheme that rates from the ratings in force when a tournament began. Its state counts time in days: it stays
            as it is when the pool goes on with other settings. It may keep the ratings of the last three lists
            (``timeline.LISTS_KEPT``). Its ``rate_player`` takes one more column, ``began``, after ``colour``: by game
            when its tournament began, the same for two games of a batch if they are of one tournament, and that of the
            batch where tournaments are not rated whole.
        welcomes: ``(tournament, numbers) -> bool``: whether guests are rated in a tournament of that name, where
            everybody is to ``refuse`` what a Welcomer is.
        for_new_pools: settings with which a pool begins that adopts the scheme now, where they differ from those that
            an adoption of earlier days meant by saying nothing.
        steps: number of rounds.
        work: names of the work numbers.
        at: kernel ``(state, p, period, day, numbers)``: bring a state to a later time, in place. Called before a batch
            and before a state is shown or predicts; not before ``rate_game``, which does it by itself.
        stands_from: ``(day, numbers) -> day``: who was rated from that day on has at *day* the rating given then, and
            is listed or not as then, whatever else ``at`` changes; -inf for everybody. None: nobody knows, so that
            rankings bring every player to their day (in a scheme without an ``at`` every rating stands).
        carry: ``(rating, rated games, newcomer, numbers) -> state`` of a player who comes from another scheme.
        seeded: ``(seed, newcomer, numbers) -> state`` of a player with a past; by default that of ``carry`` after its
            games, or of ``enter`` with its rating declared where their number is unknown.
        seeds_stand: ``(day, numbers) -> SeedsStand``: whoever comes with such a rating of a list is listed with that
            very rating, from the day of the list up to *day*, unless time has changed it (``stands_from``). Players who
            have not played are counted by it. None: nobody knows, so that each is looked up.
        relist: ``(state, fresh, seed, numbers) -> state`` of a player who has played and gets the rating of a list:
            from the state on the day of the list, and that of a player who comes with it; by default the latter,
            with the higher one of both highest ratings (``peak``, ``highest``).
        provisional: kernel ``(state, p, numbers) -> bool``.
        listed: kernel ``(state, p, numbers) -> bool``: whether a rating list shows the player; an unrated player
            has the rating ``UNRATED``.
        scale: what its ratings count in; a rating means the same in two schemes of one scale.
    """

    name: str
    title: str
    source: str
    version: int
    settings: type[Any]
    numbers: Callable[..., Any]
    state: tuple[str, ...]
    enter: Callable[[Newcomer, Any], tuple[float, ...]]
    expected_score: Callable[..., float]
    explain: Callable[[ExplainedPlayer, Sequence[MetOpponent], When, Any], Explanation]
    refuse: Callable[..., int] = refuse_by_common_reasons
    mirrored: bool = False
    rhythm: Rhythm = Rhythm.GAME
    rate_game: Callable[..., None] | None = None
    rate_player: Callable[..., None] | None = None
    in_force: Callable[..., float] | None = None
    welcomes: Callable[[str, Any], bool] = nowhere
    # Without the hash, which a dictionary has not: loops that were compiled are kept by scheme.
    for_new_pools: Mapping[str, int | bool | str] = attrs.field(factory=dict, hash=False)
    readings: tuple[str, ...] = ()
    steps: int = 1
    work: tuple[str, ...] = ()
    at: Callable[..., None] = as_it_stands
    stands_from: Callable[[float, Any], float] | None = None
    carry: Callable[[float, float, Newcomer, Any], tuple[float, ...]] | None = None
    seeded: Callable[[Seed, Newcomer, Any], tuple[float, ...]] | None = None
    seeds_stand: Callable[[float, Any], SeedsStand] | None = None
    relist: Callable[[Sequence[float], tuple[float, ...], Seed, Any], tuple[float, ...]] | None = None
    provisional: Callable[..., bool] = never
    listed: Callable[..., bool] = always
    scale: str = "Elo points"

    def __attrs_post_init__(self) -> None:
        """Refuse a scheme without the kernel of its rhythm."""
        kernel = self.rate_game if self.rhythm is Rhythm.GAME else self.rate_player
        if kernel is None:
            raise ValueError(f"scheme {self.name!r} rates by {self.rhythm.value} and lacks the kernel for it")

    @property
    def plausible(self) -> tuple[float, float]:
        """The lowest and the highest rating that a person may have; infinite for a scale that nobody knows."""
        return PLAUSIBLE.get(self.scale, (-inf, inf))

    def calendar(self, numbers: Any) -> Calendar:
        """How a scheme by period cuts time, from its settings."""
        plain = calendar_of(numbers)
        if not issubclass(self.settings, EventSettings):
            return plain
        return Calendar(
            *plain[:4],
            numbers.by_event,
            numbers.event_gap,
            numbers.event_days,
            numbers.included_until,
            numbers.in_force_after,
        )

    def carried(self, rating: float, games: float, newcomer: Newcomer, numbers: Any) -> tuple[float, ...]:
        """The state of a player who comes from another scheme with *rating* after *games* rated games."""
        if self.carry is None:
            return self.enter(newcomer._replace(declared=rating), numbers)
        return self.carry(rating, games, newcomer, numbers)

    def begin(self, newcomer: Newcomer, numbers: Any) -> tuple[float, ...]:
        """The state with which a player begins: from the seed, where there is one, as of its day."""
        seed = newcomer.seed
        if seed is None:
            return self.enter(newcomer, numbers)
        # RD grows, ages and rules go from the day of the list on
        if seed.day is not None:
            newcomer = newcomer._replace(day=seed.day)
        if self.seeded is not None:
            return self.seeded(seed, newcomer, numbers)
        if seed.games is None:
            return self.enter(newcomer._replace(declared=seed.rating), numbers)
        return self.carried(seed.rating, seed.games, newcomer, numbers)

    def relisted(self, state: Sequence[float], listed: Newcomer, numbers: Any) -> tuple[float, ...]:
        """Return the state of a player from the day of a later list on: only what the list states takes its place.

        A list without a number of games leaves that of the state, unless such a list is worth more games to the scheme.

        Args:
            state: the player's state on the day of the list.
            listed: what is known of the player then, with the rating of the list.
            numbers: the settings.
        """
        seed = listed.seed
        assert seed is not None
        fresh = self.begin(listed, numbers)
        if seed.games is None and "games" in self.state:
            games = self.state.index("games")
            if state[games] > fresh[games]:
                fresh = self.begin(listed._replace(seed=seed._replace(games=state[games])), numbers)
        if self.relist is not None:
            return self.relist(state, fresh, seed, numbers)
        goes_on = {"peak", "highest", "birth_year"}
        return tuple(
            max(own, listed_value) if name in goes_on else listed_value
            for name, own, listed_value in zip(self.state, state, fresh, strict=True)
        )

    def in_full(self, settings: Mapping[str, int | bool | str]) -> dict[str, int | bool | str]:
        """Every setting by name, as an adoption made now states it: those given, and what new pools begin with."""
        return self.meant({**self.for_new_pools, **settings})

    def meant(self, stored: Mapping[str, int | bool | str]) -> dict[str, int | bool | str]:
        """Every setting of an adoption that stands in a journal; one that it does not name has its default."""
        defaults = {field.name: as_written(field.default) for field in attrs.fields(self.settings)}
        return {**defaults, **dict.fromkeys(POOL_SETTINGS, False), **stored}

    def numbers_from(self, settings: Mapping[str, int | bool | str]) -> Any:
        """The settings of an adoption as the kernels take them; those that it does not name have their defaults.

        Raises:
            MalformedError: a setting that the scheme does not have, or of the wrong type, or out of its range.
        """
        fields = attrs.fields_dict(self.settings)
        names = (*fields, *POOL_SETTINGS)
        problems = [
            f"scheme {self.name!r} has no setting {name!r}; {choice_of(name, names)}"
            for name in settings
            if name not in names
        ]
        problems += [
            f"setting {name!r}: expected true or false, got {settings[name]!r}"
            for name in POOL_SETTINGS
            if name in settings and type(settings[name]) is not bool
        ]
        if settings.get(FROM_SHOWN) is True and self.scale != SHOWN_SCALE:
            problems.append(
                f"setting {FROM_SHOWN!r}: sources show {SHOWN_SCALE}, and the scheme counts in {self.scale}"
            )
        values: dict[str, float | bool] = {}
        for name, value in settings.items():
            field = fields.get(name)
            if field is None:
                continue
            # By ``type`` and not by ``isinstance``, which takes True for a whole number.
            if isinstance(field.default, bool):
                expected, fits = "true or false", type(value) is bool
            else:
                expected = "a whole number or a decimal as text"
                fits = type(value) is int or (type(value) is str and _DECIMAL.fullmatch(value) is not None)
            if fits:
                values[name] = value if isinstance(value, bool) else float(Decimal(value))
            else:
                problems.append(f"setting {name!r}: expected {expected}, got {value!r}")
        if not problems:
            try:
                # the class refuses what its formulas cannot take; kernels get the plain tuple of the same fields
                return self.numbers(*attrs.astuple(self.settings(**values)))
            except ValueError as error:
                problems.append(str(error))
        raise MalformedError(problems)


def at_time(scheme: Scheme, numbers: Any, state: Sequence[float], when: When) -> tuple[float, ...]:
    """A player's state as it stands at a time."""
    later = list(state)
    scheme.at(later, 0, when.period, when.day, numbers)
    return tuple(later)
