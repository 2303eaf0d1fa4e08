"""A rating scheme: settings with their sources, a state for each player, kernels, and words for people.

A *kernel* is a plain function that reads and writes the numbers of players by their names. It is written once. For a
few games it runs as ordinary Python on objects; for many, Numba compiles it for records, with the same bits. So it
may use only float and int arithmetic, comparisons, ``sqrt`` and ``floor`` of ``math``, other such functions at
module level, and ``runtime.arith``. Kernels receive time as ``day`` (days since 1970-01-01 UTC, with fraction) and
``period`` (number of the rating period). A scheme receives the facts about a player before the first rated game, and
the player's past from a list, as ``Newcomer``. This module holds no scheme's rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache
from math import inf
from typing import Any, Literal, NamedTuple

import attrs

from ledger.errors import MalformedError, ProjectionError
from ledger.facts.event_fields import DECIMAL_PATTERN, FEDERATION_PATTERN, NAME_PATTERN
from ledger.facts.periods import Calendar
from ledger.facts.words import LateReports
from ledger.runtime.nearest import expected_names
from ledger.runtime.plugin_code import describe_failure
from ledger.runtime.records import flat_of, make_reader, number
from ledger.runtime.records import numbers as record_numbers
from ledger.schemes.settings import EventSettings, stored_setting

FROM_SHOWN, LATE_REPORTS, FROM_POOL, FEDERATION = "from_shown", "late_reports", "from_pool", "federation"
WHITE_ADVANTAGE = "white_advantage"
SHOWN_SCALE = "Elo points"  # points that sources show next to games


class PoolSetting(NamedTuple):
    """A setting that every pool takes besides those of its scheme.

    Attributes:
        default: the value if an adoption does not name it: a switch, or one of the *words*; None: it may be absent.
        unit: ``switch``, ``word``, ``pool`` (the name of another one), ``federation`` or ``Elo points``.
        doc: its meaning.
        words: the words that it takes.
        code: the pattern of the codes that it takes.
        most: the largest size of the numbers that it takes; 0: it takes none.
    """

    default: bool | str | None
    unit: str
    doc: str
    words: tuple[str, ...] = ()
    code: str = ""
    most: float = 0.0

    @property
    def in_force(self) -> bool | float | str | None:
        """The value in force if an adoption does not name it: of a number 0."""
        return 0.0 if self.most else self.default

    @property
    def expected(self) -> str:
        """The values that it takes, in words."""
        if self.most:
            return f"a number from {-self.most:g} to {self.most:g}"
        if self.code:
            return "the name of a pool" if self.unit == "pool" else "three capital letters such as NOR"
        return " or ".join(self.words) if self.words else "true or false"

    def problem(self, name: str, value: object) -> str | None:
        """Return why it cannot have a value; None if it can."""
        if self.most:
            fits = _is_number(value) and abs(Decimal(value)) <= self.most  # type: ignore[arg-type]
        elif self.code:
            fits = type(value) is str and re.fullmatch(self.code, value, re.ASCII) is not None
        else:
            fits = value in self.words if self.words else type(value) is bool
        return None if fits else f"setting {name!r}: expected {self.expected}, got {value!r}"


_DECIMAL = re.compile(DECIMAL_PATTERN, re.ASCII)


def _is_number(value: object) -> bool:
    """Return whether a setting states a number: a whole one, or a decimal as text."""
    # By ``type`` and not by ``isinstance``, which takes True for a whole number.
    return type(value) is int or (type(value) is str and _DECIMAL.fullmatch(value) is not None)


POOL_SETTINGS: Mapping[str, PoolSetting] = {
    FROM_SHOWN: PoolSetting(
        default=False,
        unit="switch",
        doc="players without a seed or declared rating begin with the one that the source shows at the first rated "
        "game",
    ),
    LATE_REPORTS: PoolSetting(
        default=LateReports.TRUE_PLACE.value,
        unit="word",
        doc="games reported after their list was published count in that list (true-place), which is then revised, or "
        "in the next one (next-list)",
        words=tuple(word.value for word in LateReports),
    ),
    FROM_POOL: PoolSetting(
        default=None,
        unit="pool",
        doc="players without a seed here begin with the rating in force in that older pool, as rapid and blitz do with "
        "the standard one (FIDE B.02, 7.2.1)",
        code=NAME_PATTERN,
    ),
    FEDERATION: PoolSetting(
        default=None,
        unit="federation",
        doc="players of another federation are guests: opponents are rated against the rating that the report or a "
        "list gives them, they get no rating here and are on no list; without it nobody is a guest",
        code=FEDERATION_PATTERN,
    ),
    WHITE_ADVANTAGE: PoolSetting(
        default=None,
        unit=SHOWN_SCALE,
        doc="White's advantage in predictions; compare fits it; ratings follow the rules of the scheme; without it 0",
        most=400.0,
    ),
}
# By scale. 4000 is "what no sane rating reaches" on Lichess; grades are an eighth of ratings (Clarke).
PLAUSIBLE: Mapping[str, tuple[float, float]] = {SHOWN_SCALE: (-1000.0, 4000.0), "ECF points": (-200.0, 425.0)}


def state(doc: str, start: float = 0.0) -> Any:
    """Return a field of a player's state, with what it means and its unit."""
    return number(start, doc)


class Seed(NamedTuple):
    """The rating and history that a player brings along from a list; None for what the list omits.

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
    def highest_known(self) -> float:
        """The highest known rating of the player, in rating points."""
        return self.rating if self.highest is None else max(self.rating, self.highest)


class AcceptedRatings(NamedTuple):
    """Ratings of lists that a scheme takes as they are.

    Attributes:
        low: the lowest one.
        high: the highest one.
        whole: whether whole numbers alone are.
        games: the least number of rated games that the list states, if it states one.
    """

    low: float = 0.0
    high: float = inf
    whole: bool = False
    games: float = 0.0


class Newcomer(NamedTuple):
    """The known facts about a player before the first rated game.

    Attributes:
        declared: rating to begin with, points; None if none was declared.
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
        """True if a rating is known, of a list or a declared one."""
        return self.declared is not None or self.seed is not None


# Why a game does not count, by code; a scheme's ``refuse`` kernel answers with one of these, 0 for a game that does.
REASONS = ("", "unplayed", "unfinished", "abandoned-by-both", "casual", "too-short", "guest")
COUNTS, UNPLAYED, UNFINISHED, ABANDONED_BY_BOTH, CASUAL, TOO_SHORT, GUEST = range(len(REASONS))

# Codes in which kernels see a game's words; the order of the enumerations in ``facts.words``.
OUTCOME_WHITE, OUTCOME_DRAW, OUTCOME_BLACK, OUTCOME_NONE = range(4)
ENDED_CHECKMATE, ENDED_TIME, ENDED_ABANDONMENT, ENDED_UNPLAYED = 0, 7, 8, 11
STANDING_FULL, STANDING_GUEST, STANDING_WELCOMER = range(3)
HALF_MOVES_UNKNOWN = -1

# FIDE's lists have 0 there, too, which is no rating.
UNRATED = 0.0  # the rating of a player who has none, points
EXACT = 1e-9  # of a sum: kernels and explanations may add in another order


class Rhythm(StrEnum):
    """The number of games that a scheme rates together."""

    GAME = "game"  # each by itself, when it ends
    PERIOD = "period"  # all that end in one rating period, when it closes
    EVENT = "event"  # all of one tournament, when it closes


class When(NamedTuple):
    """The time of a game or batch as kernels see it: number of the period, and days since 1970."""

    period: float = 0.0
    day: float = 0.0


class ExplainedPlayer(NamedTuple):
    """One player in an explanation: before and after the game or batch, and the intermediate numbers."""

    before: Any
    after: Any
    work: Any = None


class OpponentGame(NamedTuple):
    """An opponent as a game begins, with the player's score 0, 0.5 or 1 and colour (0 White, 1 Black) in it.

    ``work`` holds the opponent's work numbers of the batch, if any; ``began`` is the day on which the tournament began,
    days since 1970, for a scheme that rates from the ratings in force then.
    """

    opponent: Any
    score: float
    colour: int = 0
    work: Any = None
    began: float = 0.0


class BatchGames(NamedTuple):
    """One player's games of a batch: *first* <= g < *last* of the columns.

    Attributes:
        players: by place in the batch, each player as it begins; only read.
        work: by place, the work numbers.
        opponent: by game, the place of the opponent.
        score: by game, the player's own score 0, 0.5 or 1.
        colour: by game, 0 White, 1 Black.
        began: by game, when its tournament began, days since 1970: the same for two games of a batch if they are of
            one tournament, and that of the batch where tournaments are not rated whole. Only for schemes that ask.
        place: the player's own place.
        first: the first game.
        last: the one after the last.
    """

    players: Any
    work: Any
    opponent: Any
    score: Any
    colour: Any
    began: Any
    place: int
    first: int
    last: int


def opponent_of(games: BatchGames, game: int) -> Any:
    """Return the opponent of a game, as the batch begins."""
    return games.players[games.opponent[game]]


def work_of(games: BatchGames, game: int) -> Any:
    """Return the work numbers of the opponent of a game."""
    return games.work[games.opponent[game]]


def own_work(games: BatchGames) -> Any:
    """Return the player's own work numbers, which others may read in a later pass."""
    return games.work[games.place]


class PastGames(NamedTuple):
    """All games that a scheme by fit has rated so far: by *side*, one player's half of a game, and by *node*.

    A node is a player on one list, with the player's games of it; a *chain* has the nodes of a player in order. If a
    player's state is another one than the fit gave, such as that of a later list, a new chain begins.

    Attributes:
        count: how many nodes, sides and chains.
        chain: by player of the present games, the chain and 1; 0: none yet.
        given: by chain, flat, the player's state as the fit gave it.
        root: by chain, the first node.
        last: by chain, the last node.
        before: by node, the one before it in its chain; -1: none.
        after: by node, the one after it; -1: none.
        first: by node, its first side; those of the next node begin where its own end.
        opponent: by side, the opponent's node.
        colour: by side, 0 White, 1 Black.
        score: by side, the player's own score 0, 0.5 or 1.
        nodes: by node, the numbers of the scheme (``Scheme.node``).
    """

    count: Any
    chain: Any
    given: Any
    root: Any
    last: Any
    before: Any
    after: Any
    first: Any
    opponent: Any
    colour: Any
    score: Any
    nodes: Any


@attrs.define
class NoWork:
    """The work numbers of a scheme that has none."""

    nothing: float = number(0.0, "nothing")


class Term(NamedTuple):
    """One symbol of a formula with this game's number."""

    symbol: str
    value: float
    meaning: str


class GameLine(NamedTuple):
    """One game of an explanation: the numbers that it adds to the sums of the formula.

    Attributes:
        opponent: the opponent's rating that the formula takes, points.
        own: the own rating against this opponent, points.
        difference: the own rating less the opponent's as it counts, points; None: the formula takes none.
        limit: the rule that limited the difference or the opponent's rating; empty: none did.
        expected: the expected score; None: the formula takes none.
        gain: score less expected score; None: the same.
        weight: the share with which score, expected score and gain count.
        factor: the number by which the weighed gain is multiplied, such as K; None: there is none.
        points: the change of the rating by this game, unrounded; None: the formula takes all games at once.
        worth: what else the game adds to a sum of the formula; None: nothing.
        left_out: the reason why the formula leaves out the game; empty: it counts.
        words: other numbers of the game, for people.
    """

    opponent: float
    own: float
    difference: float | None = None
    limit: str = ""
    expected: float | None = None
    gain: float | None = None
    weight: float = 1.0
    factor: float | None = None
    points: float | None = None
    worth: float | None = None
    left_out: str = ""
    words: str = ""


class FormulaSum(NamedTuple):
    """A sum over the games of an explanation, as the formula has it.

    Attributes:
        symbol: as the formula or people call it.
        of: the column of the lines that is added up.
        total: the sum that the formula takes.
        meaning: what it is.
        brought: the part of it that earlier games, or something else than games, brought.
    """

    symbol: str
    of: Literal["games", "score", "expected", "gain", "opponent", "points", "worth"]
    total: float
    meaning: str
    brought: float = 0.0


class Explanation(NamedTuple):
    """The derivation of one rating.

    Attributes:
        rule: the formula in the scheme's own symbols.
        terms: every symbol with this game's unrounded number.
        unrounded: the formula's result, points.
        result: the rating after the game or batch, points.
        rounding: how the scheme gets from one to the other, or that it does not round.
        source: document and section of the rule.
        opponents: the opponents' ratings that the formula took, in the order of the meetings; empty if these
            are the ratings in the meetings.
        lines: what each game adds, in the order of the meetings; empty if the scheme does not say.
        sums: the sums over these lines.
        steps: the rating after each step of a calculation in several steps.
        limited: the limit, such as a floor, that the result keeps instead of what the formula gives; empty: none.
    """

    rule: str
    terms: tuple[Term, ...]
    unrounded: float
    result: float
    rounding: str
    source: str
    opponents: tuple[float, ...] = ()
    lines: tuple[GameLine, ...] = ()
    sums: tuple[FormulaSum, ...] = ()
    steps: tuple[Term, ...] = ()
    limited: str = ""

    def differences(self, meetings: Sequence[OpponentGame]) -> list[str]:
        """Return what does not add up: sums that are not those of their lines, and a result that is no rounding."""
        faults = []
        for each in self.sums:
            added = each.brought + sum_of_lines(self.lines, meetings, each.of)
            if abs(added - each.total) > EXACT * max(1.0, abs(each.total)):
                faults.append(f"{each.symbol}: the games add up to {added:g}, the formula takes {each.total:g}")
        # A whole number may be the nearest one; any other result is the formula's own. Of a scheme without lines it is
        # unknown whether it has limits.
        most = 0.5 * float(self.result).is_integer() + EXACT * max(1.0, abs(self.result))
        if self.lines and not self.limited and abs(self.result - self.unrounded) > most:
            faults.append(f"the formula gives {self.unrounded:g}, the rating is {self.result:g}")
        return faults


def sum_of_lines(lines: Sequence[GameLine], meetings: Sequence[OpponentGame], of: str) -> float:
    """Return the sum of a column over the lines of the games that count; *of* is one of ``FormulaSum``."""
    counting = [pair for pair in zip(lines, meetings, strict=True) if not pair[0].left_out]
    if of == "games":
        return float(len(counting))
    if of == "score":
        return sum(line.weight * meeting.score for line, meeting in counting)
    share = {"expected", "gain"}
    return sum((line.weight if of in share else 1.0) * (getattr(line, of) or 0.0) for line, _ in counting)


def rating_period_calendar(numbers: Any) -> Calendar:
    """Return the calendar of a scheme by period, which says when its rating periods begin and end."""
    return Calendar(numbers.period_days, numbers.period_months, numbers.first_month, numbers.by_runs)


def common_reason(outcome: int, termination: int, rated: bool) -> int:
    """Return the reason, common to all schemes, why a game is not rated: unplayed, unfinished, casual or abandoned."""
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
    """Refuse games by the common reasons alone: the kernel ``refuse`` of a scheme without reasons of its own."""
    return common_reason(outcome, termination, rated)


# Engine and rankings compare with this very function: with another one that does nothing each player is looked up.
def unchanged_by_time(player: Any, period: float, day: float, numbers: Any) -> None:
    """Change nothing: the kernel ``at`` of a scheme whose ratings do not change by time alone."""


def unchanged_always(day: float, numbers: Any) -> float:  # noqa: ARG001
    """Return -inf: ``unchanged_since`` of a scheme in which time alone changes neither ratings nor who is listed."""
    return -inf


def accept_every_rating(day: float, numbers: Any) -> AcceptedRatings:  # noqa: ARG001
    """Return no limits: ``accepted_ratings`` of a scheme that takes every rating of a list as it is."""
    return AcceptedRatings()


def never_provisional(player: Any, numbers: Any) -> bool:  # noqa: ARG001
    """Return False: the kernel ``provisional`` of a scheme without provisional ratings."""
    return False


def welcomes_no_guests(tournament: str, numbers: Any) -> bool:  # noqa: ARG001
    """Return False: ``welcomes`` of a scheme without tournaments in which guests are rated."""
    return False


# ``lists_everybody`` of a pool compares with this very function, and only by it rows are read without the states.
def always_listed(player: Any, numbers: Any) -> bool:  # noqa: ARG001
    """Return True: the kernel ``listed`` of a scheme that lists all players who have played."""
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
        player: the class of a player's state: a record (``runtime.records``) whose first number is the rating.
        enter: ``(newcomer, numbers) -> player`` without a seed; others call ``begin``.
        refuse: kernel ``(outcome, termination, half_moves, rated, white, black, numbers) -> code``: a code is a place
            into ``REASONS``; by default the reasons that hold in every scheme.
        expected_score: kernel ``(player, opponent, numbers) -> 0..1``, both brought to the time by ``at``.
        mirrored: whether Black's expected score is, to the bit, 1 minus White's, so that one of the two need not
            be calculated.
        explain: ``(own side, meetings, when, numbers) -> Explanation``; one meeting for a scheme by game.
        rhythm: how many games are rated together.
        rate_game: kernel ``(white, black, score, day, numbers)``: one game, White's *score* 0, 0.5 or 1, in place.
        passes: kernels ``(player, after, games, when, numbers)`` over one player's games of one batch, called one after
            the other, each for every player of the batch. *player* is as before the batch, brought to it by ``at``, and
            is only read; *games* are ``BatchGames``; the last pass fills *after*.
        fit: kernel ``(past, fresh, own, after, when, numbers)`` instead of passes: one batch with all games before it.
            *past* are ``PastGames``, whose nodes from *fresh* on are those of the batch; by place among these, *own*
            are the players before the batch, brought to it by ``at``, and *after* is to be filled.
        node: the class of the numbers of a node: a record that only ``fit`` reads and writes.
        in_force: kernel ``(player, day) -> rating``: the rating in force on a day not after that of the state; for a
            scheme that rates from the ratings in force when a tournament began. Its state counts time in days: it stays
            as it is when the pool goes on with other settings. It may keep the ratings of the last three lists
            (``timeline.LISTS_KEPT``), and its passes may read ``games.began``.
        welcomes: ``(tournament, numbers) -> bool``: whether guests are rated in a tournament of that name; there
            ``refuse`` treats everybody as a Welcomer.
        for_new_pools: settings with which a pool begins that adopts the scheme now, if they differ from those
            of an earlier adoption that did not name them.
        work: the class of the work numbers: a record that a pass fills and later passes of others read.
        at: kernel ``(player, period, day, numbers)``: bring a player to a later time, in place. Called before a batch
            and before a state is shown or predicts; not before ``rate_game``, which does it by itself.
        unchanged_since: ``(day, numbers) -> day``: a player rated from that day on has at *day* the rating given then,
            and is listed or not as then, even if ``at`` changes other numbers; -inf for all players. None: unknown, so
            that rankings bring every player to their day (in a scheme without an ``at`` every rating holds).
        carry: ``(rating, rated games, newcomer, numbers) -> player`` who comes from another scheme; by default one
            who enters with that rating declared, with the number of games if the state has ``games``.
        seeded: ``(seed, newcomer, numbers) -> player`` with a past; by default that of ``carry`` after its
            games, or of ``enter`` with its rating declared if their number is unknown.
        accepted_ratings: ``(day, numbers) -> AcceptedRatings``: a player who comes with such a rating from a list is
            listed with it, from the day of the list up to *day*, unless time has changed it (``unchanged_since``).
            Players who have not played are counted by it. None: unknown, so that each is looked up.
        relist: ``(player, fresh, seed, numbers) -> player`` who has played and gets the rating of a list: from the
            player on the day of the list, and one who comes with it; by default the latter,
            with the higher one of both highest ratings (``peak``, ``highest``).
        provisional: kernel ``(player, numbers) -> bool``.
        listed: kernel ``(player, numbers) -> bool``: whether a rating list shows the player; an unrated player
            has the rating ``UNRATED``.
        fide_limits: True if FIDE's limits of standard, rapid and blitz say to which pool of these names a game belongs.
        scale: the unit of its ratings; a rating means the same in two schemes of one scale.
    """

    name: str
    title: str
    source: str
    version: int
    settings: type[Any]
    numbers: Callable[..., Any]
    player: type
    enter: Callable[[Newcomer, Any], Any]
    expected_score: Callable[..., float]
    explain: Callable[[ExplainedPlayer, Sequence[OpponentGame], When, Any], Explanation]
    refuse: Callable[..., int] = refuse_by_common_reasons
    mirrored: bool = False
    rhythm: Rhythm = Rhythm.GAME
    rate_game: Callable[..., None] | None = None
    passes: tuple[Callable[..., None], ...] = ()
    fit: Callable[..., None] | None = None
    node: type = NoWork
    in_force: Callable[..., float] | None = None
    welcomes: Callable[[str, Any], bool] = welcomes_no_guests
    # Without the hash, which a dictionary has not: loops that were compiled are kept by scheme.
    for_new_pools: Mapping[str, int | bool | str] = attrs.field(factory=dict, hash=False)
    readings: tuple[str, ...] = ()
    work: type = NoWork
    at: Callable[..., None] = unchanged_by_time
    unchanged_since: Callable[[float, Any], float] | None = None
    carry: Callable[[float, float, Newcomer, Any], Any] | None = None
    seeded: Callable[[Seed, Newcomer, Any], Any] | None = None
    accepted_ratings: Callable[[float, Any], AcceptedRatings] | None = None
    relist: Callable[[Any, Any, Seed, Any], Any] | None = None
    provisional: Callable[..., bool] = never_provisional
    listed: Callable[..., bool] = always_listed
    scale: str = "Elo points"
    fide_limits: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse a scheme without the kernel of its rhythm; ``scheme_faults`` reports its other faults."""
        if not (self.passes or self.fit if self.rhythm is not Rhythm.GAME else self.rate_game):
            raise ValueError(f"scheme {self.name!r} rates by {self.rhythm.value} and lacks the kernel for it")

    @property
    def is_own(self) -> bool:
        """True if the scheme belongs to this package."""
        return self.player.__module__.startswith(f"{__package__}.")

    @property
    def plausible(self) -> tuple[float, float]:
        """The lowest and the highest rating that a person may have; infinite for an unknown scale."""
        return PLAUSIBLE.get(self.scale, (-inf, inf))

    def calendar(self, numbers: Any) -> Calendar:
        """Return the calendar of a scheme by period, which says when its rating periods begin and end."""
        plain = rating_period_calendar(numbers)
        if not issubclass(self.settings, EventSettings):
            return plain
        return Calendar(
            *plain[:4],
            numbers.by_event,
            numbers.event_gap,
            numbers.event_days,
            numbers.included_until,
            numbers.in_force_after,
            numbers.first_day_ratings,
        )

    @property
    def state(self) -> tuple[str, ...]:
        """The names of the numbers of a player's state, in their order; the first is ``rating``."""
        return _names_of(self.player)

    def player_of(self, state: Sequence[float]) -> Any:
        """Return the player of a state as rows store it."""
        return make_reader(self.player)(state, 0)

    def player_at(self, state: Sequence[float], when: When, numbers: Any) -> Any:
        """Return the player of a state at a time."""
        player = self.player_of(state)
        self._calls("at", player, when.period, when.day, numbers)
        return player

    def is_listed(self, state: Sequence[float], numbers: Any) -> bool:
        """Return whether a rating list shows the player of a state."""
        return self.listed is always_listed or bool(self._calls("listed", self.player_of(state), numbers))

    def is_provisional(self, state: Sequence[float], numbers: Any) -> bool:
        """Return whether the rating of a state is provisional."""
        if self.provisional is never_provisional:
            return False
        return bool(self._calls("provisional", self.player_of(state), numbers))

    def carried(self, rating: float, games: float, newcomer: Newcomer, numbers: Any) -> tuple[float, ...]:
        """Return the state of a player who comes from another scheme with *rating* after *games* rated games."""
        return tuple(flat_of(self._carried(rating, games, newcomer, numbers)))

    def _carried(self, rating: float, games: float, newcomer: Newcomer, numbers: Any) -> Any:
        if self.carry is None:
            return self._entered(rating, games, newcomer, numbers)
        return self._made_by("carry", rating, games, newcomer, numbers)

    def _entered(self, rating: float, games: float | None, newcomer: Newcomer, numbers: Any) -> Any:
        """Return the player who enters with a rating, and with a number of games if the scheme counts them."""
        player = self._made_by("enter", newcomer._replace(declared=rating), numbers)
        # An author's ``enter`` that asks for no declared rating would let all players begin again.
        if player.rating != rating and player == self._made_by("enter", newcomer._replace(declared=None), numbers):
            player.rating = rating
        if games is not None and "games" in self.state:
            player.games = games
        return player

    def _made_by(self, name: str, *arguments: Any) -> Any:
        """Return the player that a function of the scheme makes."""
        player = self._calls(name, *arguments)
        if not isinstance(player, self.player):
            function = getattr(self, name)
            where = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
            raise ProjectionError(
                self.name, f"{name} ({where}) is to return a {self.player.__name__}, got {player!r}; correct it"
            )
        return player

    def _calls(self, name: str, *arguments: Any) -> Any:
        """Return the result of a function of the scheme.

        Raises:
            ProjectionError: it failed.
        """
        function = getattr(self, name)
        try:
            return function(*arguments)
        except Exception as error:  # another author's function may raise anything
            if self.is_own:
                raise
            raise self.failed(error, name) from error

    def failed(self, error: BaseException, name: str = "") -> ProjectionError:
        """Return an error that names the function of the scheme that failed, and its line.

        Args:
            error: what it raised.
            name: of the function; by default one of those that rate games.
        """
        name = name or ("rate_game" if self.rate_game is not None else "fit" if self.fit is not None else "a pass")
        function = getattr(self, name, None) or self.passes[0]
        return ProjectionError(self.name, f"{describe_failure(name, function, error)}; correct the scheme")

    def explained(
        self, side: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any
    ) -> Explanation:
        """Return the explanation of a player's new rating after a game or batch, as the scheme's ``explain`` makes it.

        Raises:
            ProjectionError: it failed.
        """
        explanation: Explanation = self._calls("explain", side, meetings, when, numbers)
        return explanation

    def begin(self, newcomer: Newcomer, numbers: Any) -> tuple[float, ...]:
        """Return the state with which a player begins; a rating from a list counts as of the day of the list."""
        return tuple(flat_of(self._begin(newcomer, numbers)))

    def _begin(self, newcomer: Newcomer, numbers: Any) -> Any:
        seed = newcomer.seed
        if seed is None:
            return self._made_by("enter", newcomer, numbers)
        # RD grows, ages and rules go from the day of the list on
        if seed.day is not None:
            newcomer = newcomer._replace(day=seed.day)
        if self.seeded is not None:
            return self._made_by("seeded", seed, newcomer, numbers)
        if seed.games is None:
            return self._entered(seed.rating, None, newcomer, numbers)
        return self._carried(seed.rating, seed.games, newcomer, numbers)

    def apply_list(self, state: Sequence[float], listed: Newcomer, numbers: Any) -> tuple[float, ...]:
        """Return the state of a player from the day of a later list on, which replaces only what it states.

        A list without a number of games leaves that of the state, unless such a list is worth more games to the scheme.

        Args:
            state: the player's state on the day of the list.
            listed: what is known of the player then, with the rating of the list.
            numbers: the settings.
        """
        seed, player = listed.seed, self.player_of(state)
        assert seed is not None
        fresh = self._begin(listed, numbers)
        if seed.games is None and "games" in self.state and player.games > fresh.games:
            fresh = self._begin(listed._replace(seed=seed._replace(games=player.games)), numbers)
        if self.relist is not None:
            return tuple(flat_of(self._made_by("relist", player, fresh, seed, numbers)))
        goes_on = {"peak", "highest", "birth_year"}
        return tuple(
            max(own, listed_value) if name in goes_on else listed_value
            for name, own, listed_value in zip(self.state, state, flat_of(fresh), strict=True)
        )

    def complete_settings(self, settings: Mapping[str, int | bool | str]) -> dict[str, int | bool | str]:
        """Return every setting by name, as an adoption made now states it: those given, and new pools' defaults."""
        return self.adopted_settings({**self.for_new_pools, **settings})

    def adopted_settings(self, stored: Mapping[str, int | bool | str]) -> dict[str, int | bool | str]:
        """Return every setting of an adoption in a journal; one that it does not name has its default."""
        defaults = {field.name: stored_setting(field.default) for field in attrs.fields(self.settings)}
        of_pool = {name: each.default for name, each in POOL_SETTINGS.items() if each.default is not None}
        return {**defaults, **of_pool, **stored}

    def numbers_from(self, settings: Mapping[str, int | bool | str]) -> Any:
        """Return the settings of an adoption as the kernels take them; settings without a value have their defaults.

        Raises:
            MalformedError: a setting that the scheme does not have, or of the wrong type, or out of its range.
        """
        fields = attrs.fields_dict(self.settings)
        names = (*fields, *POOL_SETTINGS)
        problems = [
            f"scheme {self.name!r} has no setting {name!r}; {expected_names(name, names)}"
            for name in settings
            if name not in names
        ]
        problems += [
            problem
            for name, each in POOL_SETTINGS.items()
            if name in settings and (problem := each.problem(name, settings[name])) is not None
        ]
        if settings.get(LATE_REPORTS) == LateReports.NEXT_LIST and self.rhythm is not Rhythm.PERIOD:
            problems.append(
                f"setting {LATE_REPORTS!r}: {LateReports.NEXT_LIST} is for schemes that rate by period, and "
                f"{self.name!r} rates by {self.rhythm.value}; leave it at {LateReports.TRUE_PLACE}"
            )
        if settings.get(FROM_SHOWN) is True and self.scale != SHOWN_SCALE:
            problems.append(
                f"setting {FROM_SHOWN!r}: sources show {SHOWN_SCALE}, and the scheme counts in {self.scale}"
            )
        values: dict[str, float | bool] = {}
        for name, value in settings.items():
            field = fields.get(name)
            if field is None:
                continue
            if isinstance(field.default, bool):
                expected, fits = "true or false", type(value) is bool
            else:
                expected = "a whole number or a decimal as text"
                fits = _is_number(value)
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


@cache
def _names_of(player: type) -> tuple[str, ...]:
    return tuple(each.name for each in record_numbers(player))


def at_time(scheme: Scheme, numbers: Any, state: Sequence[float], when: When) -> tuple[float, ...]:
    """Return a player's state at a time."""
    return tuple(state) if scheme.at is unchanged_by_time else tuple(flat_of(scheme.player_at(state, when, numbers)))
