"""A study of one scheme's settings: searched on earlier games, judged once on later ones. In memory, nothing written.

The search takes the settings with the least log-loss over the earlier games. Those, the current settings and the
scheme's defaults are then each replayed once, and compared over the later games, which the search has not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from itertools import product
from math import inf, isfinite, prod
from typing import Any, NamedTuple

import attrs

from ledger.answers.asking import day
from ledger.answers.comparing import forecasts, replaying
from ledger.answers.comparing.replaying import Candidate, ReplayResult, Year, batch_rule, candidate, pool_candidate
from ledger.answers.comparing.search import MOST_AXES, Point, axis_ends, best_point, search
from ledger.answers.comparing.trials import Trials
from ledger.answers.rows import as_row
from ledger.book.timeline import BEGINNING
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.event_fields import DECIMAL_PATTERN
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS, OPEN
from ledger.facts.words import TreeHead
from ledger.handle import OpenLedger
from ledger.runtime.lazy import np
from ledger.runtime.long_work import Progress, no_progress
from ledger.runtime.nearest import expected_names
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage
from ledger.schemes.scheme import POOL_SETTINGS
from ledger.schemes.settings import stored_setting

Values = dict[str, int | bool | str]
FEWEST_WEEKS = 8  # with games: by fewer the interval would be chance
MOST_CALENDARS = 400  # each is worked out before the first trial
JUDGED_SHARE = 5  # by default the last fifth of the games is judged
INERT, AT_THE_EDGE, INSIDE = "inert", "at the edge", "inside"
BETTER, WORSE, NO_DIFFERENCE = "better", "worse", "no difference"
CURRENT, WINNER, DEFAULTS = "current", "winner", "defaults"
STEP_DIGITS = 3  # of a range: a thousand values at least
TERMS = ("head", "pool", "scheme", "from_shown", "searched_from", "judged_from", "last_game", "searched", "judged")
_SHORT = {"period": "period_days"}


@attrs.frozen(slots=False)
class VariedSetting:
    """A setting that a study varied, and where its best value lies."""

    name: str = documented("name of the setting")
    low: str = documented("lowest value tried")
    high: str = documented("highest value tried")
    step: str = documented("distance of the values that could be tried")
    current: int | bool | str = documented("its current value")
    best: int | bool | str = documented("its value in the best settings")
    finding: str = documented("inert: no value changed a prediction; at the edge: widen the range; or inside")


@attrs.frozen(slots=False)
class JudgedSettings:
    """Settings that were judged on the later games, compared with the best ones."""

    which: str = documented("winner: the best of the search; current: as the pool has them; defaults: of a new pool")
    settings: Values = documented("those that differ from the scheme's defaults")
    search_log_loss: float = documented("log-loss over the games of the search")
    log_loss: float = documented("log-loss over the games of the judgement")
    difference: float | None = documented(
        "log-loss of the winner less that of these, a game; null: they predict alike, game by game"
    )
    low: float | None = documented("lower end of its 95 % interval, whole weeks being resampled")
    high: float | None = documented("upper end")
    verdict: str | None = documented("the winner is better or worse, or there is no difference; null: as above")
    years: tuple[Year, ...] = documented("ratings of the players with games, by year")


@attrs.frozen(slots=False)
class Trial:
    """One trial of a study."""

    settings: Values = documented("the values of the settings that were varied")
    log_loss: float | None = documented("log-loss over the games of the search; null: the scheme refuses them")


@attrs.frozen(slots=False)
class Study:
    """A study of the settings of one rating scheme."""

    head: str = documented("size and root of the journal of whose games it is")
    pool: str = documented("name of the pool")
    scheme: str = documented("name of the scheme")
    from_shown: bool = documented("whether players begin with the rating that the source shows")
    first_game: str = documented("day of the first game replayed")
    searched_from: str = documented("day from which predictions count in the search")
    judged_from: str = documented("day on which the search ends and the judgement begins")
    last_game: str = documented("day of the last game replayed")
    searched: int = documented("games of the search", minimum=0)
    judged: int = documented("games of the judgement", minimum=0)
    weeks: int = documented("weeks with games in the judgement", minimum=0)
    seed: int = documented("the seed of the search")
    varied: tuple[VariedSetting, ...] = documented("the settings varied")
    judgements: tuple[JudgedSettings, ...] = documented("the winner, the current settings and the defaults")
    trials: tuple[Trial, ...] = documented("every trial, in order")


class Axis(NamedTuple):
    """A varied setting as an axis of a grid."""

    name: str
    low: Decimal
    high: Decimal
    step: Decimal

    @property
    def size(self) -> int:
        """The last place on the axis, which is the highest value."""
        return -int((self.low - self.high) // self.step)

    def value(self, place: int) -> int | str:
        """Return the value at a place, as an adoption states it."""
        number = min(self.high, self.low + place * self.step).normalize()
        return int(number) if number == int(number) else format(number, "f")

    def place(self, value: object) -> int:
        """Return the place nearest to a value."""
        return min(max(round((Decimal(str(value)) - self.low) / self.step), 0), self.size)


class _Space(NamedTuple):
    """The settings of a study: the current ones, and those that are varied."""

    current: Candidate
    axes: tuple[Axis, ...]

    def values(self, point: Point) -> Values:
        return {axis.name: axis.value(place) for axis, place in zip(self.axes, point, strict=True)}

    def candidate(self, values: Values) -> Candidate:
        """Return the current settings changed by *values*; raises MalformedError if the scheme refuses them."""
        scheme, _, settings = self.current
        settings = {**settings, **values}
        return Candidate(scheme, scheme.numbers_from({**scheme.adopted_settings({}), **settings}), settings)


def tune(
    ledger: OpenLedger,
    scheme: str,
    ranges: Mapping[str, tuple[str, str]],
    pool: str | None = None,
    *,
    settings: Values | None = None,
    trials: int = 200,
    since: str | None = None,
    judge_from: str | None = None,
    judge_to: str | None = None,
    from_shown: bool = False,
    seed: int = 1,
    workers: int = 1,
    earlier: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Study:
    """Search the settings of a scheme that predict a pool's games best, and judge them on later games.

    Args:
        ledger: a ledger whose views are up to date.
        scheme: name of the scheme.
        ranges: the lowest and the highest value of each setting to vary, by its name.
        pool: name of the pool; the first one by default.
        settings: other settings than the pool's own, or a new pool's.
        trials: how many settings to try at most.
        since: predictions count in the search from this instant on; games before it are replayed, too.
        judge_from: the instant on which the judgement begins; by default the day that leaves it a fifth of the games.
        judge_to: games that ended later are left out.
        from_shown: whether players without a declared rating begin with the one that the source shows.
        seed: of the search.
        workers: how many trials run at the same time; the study does not depend on it.
        earlier: an earlier study as JSON has it, whose trials are not repeated.
        progress: receives the number of trials.

    Raises:
        UnknownNameError: there is no such pool, scheme or setting, or no game to search or to judge.
        MalformedError: settings or ranges that the scheme cannot work with, or a study of something else.
    """
    with ledger.read_snapshot() as position:
        actual, connection = ledger.pool(pool), ledger.views.connection
        space = _space(pool_candidate(actual, scheme, settings), ranges)
        games = replaying.load_games(connection, actual.pool, OPEN if judge_to is None else instant_end_ms(judge_to))
        searched, judged = _windows(games.ended_ms, actual.name, since, judge_from)
        calendars, ends = _calendars(space), (space.current, candidate(scheme))
        *orders, of_current, of_defaults = replaying.order_games(
            connection, actual, games, [*calendars, *ends], from_shown=from_shown, runs=trials
        )
    by_rule = {batch_rule(each): order for each, order in zip(calendars, orders, strict=True)}
    first, search_first, judge_first, last = (
        day(ms) for ms in games.ended_ms[[0, np.argmax(searched), np.argmax(judged), -1]].tolist()
    )
    weeks = forecasts.weeks_of(games.ended_ms)
    terms = Study(
        head=str(TreeHead(position, ledger.journal.root_at(position))),
        pool=actual.name,
        scheme=scheme,
        from_shown=from_shown,
        first_game=first,
        searched_from=search_first,
        judged_from=judge_first,
        last_game=last,
        searched=int(searched.sum()),
        judged=int(judged.sum()),
        weeks=len(np.unique(weeks[judged])),
        seed=seed,
        varied=(),
        judgements=(),
        trials=(),
    )
    previous = {} if earlier is None else _known_losses(earlier, terms, space)
    losses = _search(space, Trials(by_rule, games.score, searched), previous, trials, seed, workers, progress)
    winner = _winner(space, losses)
    of_winner = by_rule[batch_rule(winner)]._replace(pool=replaying.alone(actual, winner))
    results = replaying.replay_schemes([winner, *ends], [of_winner, of_current, of_defaults], lambda: 0.0, workers)
    judgements = _judgements([winner, *ends], results, games.score, (searched, judged), weeks)
    return attrs.evolve(
        terms,
        varied=tuple(_varied(space, losses, judgements[0].settings)),
        judgements=judgements,
        trials=tuple(Trial(space.values(point), loss if isfinite(loss) else None) for point, loss in losses.items()),
    )


def _space(current: Candidate, ranges: Mapping[str, tuple[str, str]]) -> _Space:
    """Return the settings of a study; refuse what is no range of a number of the scheme."""
    if not 1 <= len(ranges) <= MOST_AXES:
        raise MalformedError([f"a study varies from 1 to {MOST_AXES} settings, got {len(ranges)}"])
    axes, problems = [], []
    for word, (low, high) in ranges.items():
        name = word if word in attrs.fields_dict(current.scheme.settings) else _SHORT.get(word, word)
        try:
            axes.append(_axis(current, name, low, high))
        except MalformedError as error:
            problems += [f"range {word}={low}..{high}: {problem}" for problem in error.problems]
    names = [axis.name for axis in axes]
    problems += [f"setting {name!r} is varied twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if problems:
        raise MalformedError(problems)
    return _Space(current, tuple(axes))


def _axis(current: Candidate, name: str, low: str, high: str) -> Axis:
    scheme = current.scheme
    numbers = [field.name for field in attrs.fields(scheme.settings) if not isinstance(field.default, bool)]
    numbers += [each for each, setting in POOL_SETTINGS.items() if setting.most]
    if name not in numbers:
        raise MalformedError([f"scheme {scheme.name!r} has no number {name!r}; {expected_names(name, numbers)}"])
    if re.fullmatch(DECIMAL_PATTERN, low) is None or re.fullmatch(DECIMAL_PATTERN, high) is None:
        raise MalformedError(["both ends must be numbers such as 32 or 0.5"])
    lowest, highest = Decimal(low), Decimal(high)
    if lowest >= highest:
        raise MalformedError(["the first number must be below the second one"])
    space = _Space(current, ())
    for end in (low, high):
        space.candidate({name: end})
    step = Decimal(1).scaleb((highest - lowest).adjusted() - STEP_DIGITS)
    try:
        space.candidate({name: format(lowest + (Decimal("0.5") if highest - lowest > 1 else step), "f")})
    except MalformedError:
        step = Decimal(1)  # the scheme takes whole numbers alone
    return Axis(name, lowest, highest, step)


def _windows(ended_ms: Any, pool: str, since: str | None, judge_from: str | None) -> tuple[Any, Any]:
    """Mark the games of the search and those of the judgement; refuse if there are too few."""
    if not len(ended_ms):
        raise UnknownNameError("rated game", "at all", f"asked for in pool {pool!r}")
    last_fifth = int(ended_ms[-1 - len(ended_ms) // JUDGED_SHARE]) // DAY_MS * DAY_MS
    begin = last_fifth if judge_from is None else instant_ms(judge_from)
    judged = ended_ms >= begin
    searched = ~judged & (ended_ms >= (BEGINNING if since is None else instant_ms(since)))
    for window, words in (
        (searched, f"{f'from {since} ' if since else ''}before {judge_from or day(begin)}"),
        (judged, f"from {judge_from or day(begin)}"),
    ):
        if not window.any():
            raise UnknownNameError("rated game", words, f"asked for in pool {pool!r}")
    weeks = len(np.unique(forecasts.weeks_of(ended_ms[judged])))
    if weeks < FEWEST_WEEKS:
        words = f"the games from {judge_from or day(begin)} on are of {weeks} weeks, a judgement takes {FEWEST_WEEKS}"
        raise MalformedError([f"{words}: let it begin earlier"])
    return searched, judged


def _calendars(space: _Space) -> list[Candidate]:
    """Return settings of each calendar, or of the one, by which the games of a study may be rated together."""
    axes = [
        axis
        for axis in space.axes
        if len({batch_rule(space.candidate({axis.name: axis.value(place)})) for place in (0, axis.size)}) > 1
    ]
    count = prod(axis.size + 1 for axis in axes)
    if count > MOST_CALENDARS:
        words = " and ".join(axis.name for axis in axes)
        raise MalformedError(
            [
                f"the ranges of {words} make {count:,} calendars of rating periods, at most "
                f"{MOST_CALENDARS} are possible: narrow them"
            ]
        )
    candidates = []
    for places in product(*(range(axis.size + 1) for axis in axes)):
        with suppress(MalformedError):
            candidates.append(space.candidate({a.name: a.value(place) for a, place in zip(axes, places, strict=True)}))
    return candidates


def _search(
    space: _Space,
    trials: Trials,
    previous: Mapping[Point, float],
    count: int,
    seed: int,
    workers: int,
    progress: Progress,
) -> dict[Point, float]:
    """Return the loss of each point tried, in order."""
    done = 0

    def loss(point: Point) -> float:
        if point in previous:
            return previous[point]
        try:
            return trials.log_loss(space.candidate(space.values(point)))
        except MalformedError:  # values that each would be possible, and together are not
            return inf

    def evaluate(points: Sequence[Point]) -> list[float]:
        nonlocal done
        losses = []
        for each in executor.map(loss, points):
            losses.append(each)
            done += 1
            progress("trials", done, count)
        return losses

    start = tuple(axis.place(_value(space.current, axis.name)) for axis in space.axes)
    # Threads: the compiled loops and NumPy, which take nearly all of a trial, leave Python's lock to the others.
    with ThreadPoolExecutor(workers) as executor:
        losses = search([axis.size for axis in space.axes], start, count, seed, evaluate)
    if not isfinite(losses[best_point(losses)]):
        raise MalformedError(
            [f"scheme {space.current.scheme.name!r} refuses all {len(losses)} settings that were tried"]
        )
    return losses


def _known_losses(earlier: Mapping[str, Any], terms: Study, space: _Space) -> dict[Point, float]:
    """Return the losses of an earlier study by point; refuse one of other games or settings."""
    expected = {**as_row(terms), "current": dict(space.current.settings)}
    try:
        (current,) = (each["settings"] for each in earlier["judgements"] if each["which"] == CURRENT)
        stated = {name: earlier[name] for name in TERMS} | {"current": current}
        losses = {tuple(sorted(each["settings"].items())): each["log_loss"] for each in earlier["trials"]}
        previous = {
            tuple(axis.place(settings[axis.name]) for axis in space.axes): inf if loss is None else float(loss)
            for settings, loss in ((dict(items), loss) for items, loss in losses.items())
            if settings.keys() == {axis.name for axis in space.axes}
            and all(axis.value(axis.place(settings[axis.name])) == settings[axis.name] for axis in space.axes)
        }
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise MalformedError(["it is no study as 'tune -o' writes it"]) from None
    for name, value in stated.items():
        if value != expected[name]:
            what = "ledger, or of another state of this one" if name == "head" else name.replace("_", " ")
            raise MalformedError([f"it is a study of another {what}: {value!r}, here {expected[name]!r}"])
    return previous


def _value(candidate: Candidate, name: str) -> int | bool | str:
    """Return the value of a number among the settings of a candidate."""
    field = attrs.fields_dict(candidate.scheme.settings).get(name)
    return candidate.settings.get(name, 0 if field is None else stored_setting(field.default or 0.0))


def _is_inert(axis: int, losses: dict[Point, float], sizes: Sequence[int]) -> bool:
    """Return whether the ends of an axis predict as the best point does."""
    best = best_point(losses)
    return all(losses.get(end) == losses[best] for end in axis_ends(best, axis, sizes))


def _winner(space: _Space, losses: dict[Point, float]) -> Candidate:
    """Return the best settings of a search; those without effect keep their current values."""
    sizes, values = [axis.size for axis in space.axes], space.values(best_point(losses))
    kept = {name: value for place, (name, value) in enumerate(values.items()) if not _is_inert(place, losses, sizes)}
    return space.candidate(kept)


def _judgements(
    candidates: Sequence[Candidate],
    results: Sequence[ReplayResult],
    score: Any,
    windows: tuple[Any, Any],
    weeks: Any,
) -> tuple[JudgedSettings, ...]:
    """Return the judgement of the winner, the current settings and the defaults; the current ones may be the winner."""
    searched, judged = windows
    losses = [
        forecasts.game_losses(with_advantage(result.expected, advantage_in(each.settings)), score)
        for each, result in zip(candidates, results, strict=True)
    ]
    of_search = [float(each[searched].mean()) for each in losses]
    best = 0 if of_search[0] < of_search[1] else 1
    judgements = []
    for which, place in ((WINNER, best), (CURRENT, 1), (DEFAULTS, 2)):
        difference, low, high, verdict = None, None, None, None
        if (losses[best] != losses[place]).any():
            values = (losses[best] - losses[place])[judged]
            difference, (low, high) = float(values.mean()), forecasts.interval_by_weeks(values, weeks[judged])
            verdict = BETTER if high < 0.0 else WORSE if low > 0.0 else NO_DIFFERENCE
        judgements.append(
            JudgedSettings(
                which=which,
                settings=dict(candidates[place].settings),
                search_log_loss=of_search[place],
                log_loss=float(losses[place][judged].mean()),
                difference=difference,
                low=low,
                high=high,
                verdict=verdict,
                years=results[place].years,
            )
        )
    return tuple(judgements)


def _varied(space: _Space, losses: dict[Point, float], best: Values) -> Iterator[VariedSetting]:
    """Yield each varied setting with its finding."""
    point, sizes = best_point(losses), [axis.size for axis in space.axes]
    for place, axis in enumerate(space.axes):
        finding = (
            INERT if _is_inert(place, losses, sizes) else AT_THE_EDGE if point[place] in {0, axis.size} else INSIDE
        )
        low, high, step = (format(number, "f") for number in (axis.low, axis.high, axis.step))
        current = _value(space.current, axis.name)
        yield VariedSetting(axis.name, low, high, step, current, best.get(axis.name, current), finding)
