"""The contract test suite of rating schemes: subclass ``SchemeContract`` and return the scheme from ``make``."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, NamedTuple

import attrs

from ledger.book import assessment
from ledger.errors import MalformedError
from ledger.facts.event_fields import MAX_HALF_MOVES, NAME_PATTERN
from ledger.facts.words import Outcome, Standing, Termination
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.columns import FEW, MANY
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.lazy import np
from ledger.runtime.records import flat_of
from ledger.schemes.scheme import (
    HALF_MOVES_UNKNOWN,
    REASONS,
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    Seed,
    When,
    at_time,
    unchanged_by_time,
)
from ledger.schemes.scheme_faults import faults_of_scheme
from ledger.schemes.settings import stored_setting
from ledger.testing.kit import bit_patterns, expect_error

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def evaluate_rule(explained: Explanation) -> float:
    """Return the value of an explanation's rule, read as arithmetic with the values of its terms.

    The rule counts up to its first comma, colon or semicolon; ``·`` and ``×`` multiply, ``^`` is a power, and every
    symbol in it must be among the terms.
    """
    text = re.split(r"[,:;]", explained.rule)[0]
    values: dict[str, float] = {}
    for i, term in enumerate(sorted(explained.terms, key=lambda term: -len(term.symbol))):
        name = f"_{i}_"
        text = re.sub(rf"(?<![\w']){re.escape(term.symbol)}(?![\w'])", name, text)
        values[name] = term.value
    for sign, word in (("·", "*"), ("×", "*"), ("÷", "/"), ("−", "-"), ("^", "**")):
        text = text.replace(sign, word)
    return _value(ast.parse(text.strip(), mode="eval").body, values)


# No ``eval``: the rule is a text of a plug-in's, and nothing but arithmetic is to be found in it.
def _value(node: ast.AST, values: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left, sign, right):
            return _OPERATORS[type(sign)](_value(left, values), _value(right, values))
        case ast.UnaryOp(sign, operand):
            return _OPERATORS[type(sign)](_value(operand, values))
        case ast.Name(name):
            return values[name]
        case ast.Constant(int() | float() as number):
            return float(number)
    raise AssertionError(f"a rule is arithmetic with the symbols of its terms, not {ast.dump(node)}")


PLAYERS = 24
FIRST_DAY = 18_500.0  # 26 August 2020
A_WHILE_LATER = When(600.0, FIRST_DAY + 500.0)
GAMES = 3_000  # some 250 a player: past any provisional phase
TOLERANCE = 1e-9  # of a formula calculated manually, compared with the kernel, which may add in another order


class SchemeContract:
    """The tests of a rating scheme; a subclass defines ``make``.

    Attributes:
        settings: the settings to be tested, as in ``scheme-adopted``; the defaults and those with switches.
        birth_years: of the players, in turn.
        batches: the numbers of games of batches, in turn; for schemes by period or event.
        complementary: whether the two expected scores of a game add up to 1.
        score_decides: whether a win never gives less than a draw, and a draw never less than a loss.
    """

    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = ({},)
    birth_years: ClassVar[Sequence[int | None]] = (None, 1950, 1990, 2005, None)
    batches: ClassVar[Sequence[int]] = (1, 40, 7, 120, 2, 60)
    complementary: ClassVar[bool] = True
    score_decides: ClassVar[bool] = True

    def make(self) -> Scheme:
        """Return the scheme to be tested."""
        raise NotImplementedError

    def numbers(self) -> Iterator[Any]:
        """Return each of ``settings`` as the kernels take them."""
        for settings in self.settings:
            yield self.make().numbers_from(settings)

    # -- what it says of itself ------------------------------------------------------------------------------------

    def test_it_has_no_faults(self) -> None:
        assert list(faults_of_scheme(self.make())) == []

    def test_it_is_declared_in_full(self) -> None:
        scheme = self.make()
        assert re.fullmatch(NAME_PATTERN, scheme.name)
        assert scheme.title
        assert scheme.source
        assert scheme.version >= 1
        assert scheme.state[0] == "rating"
        assert len(scheme.state) == len(set(scheme.state))

    def test_every_setting_has_a_meaning_a_unit_and_a_source(self) -> None:
        scheme = self.make()
        fields = attrs.fields(scheme.settings)
        for field in fields:
            assert re.fullmatch(NAME_PATTERN, field.name)
            assert isinstance(field.default, float | bool), f"{field.name}: a setting is a float or a switch"
            for word in ("doc", "unit", "source"):
                assert field.metadata.get(word), f"{field.name} has no {word}"
        numbers = scheme.numbers_from({})
        assert numbers._fields == tuple(field.name for field in fields), "numbers must repeat the settings in order"
        assert tuple(numbers) == attrs.astuple(scheme.settings())

    def test_wrong_settings_are_refused_with_all_faults_at_once(self) -> None:
        scheme = self.make()
        switches = [f.name for f in attrs.fields(scheme.settings) if isinstance(f.default, bool)]
        amounts = [f.name for f in attrs.fields(scheme.settings) if not isinstance(f.default, bool)]
        wrong: dict[str, Any] = {"no_such_setting": 1, "nor-this": True}
        wrong |= dict.fromkeys(switches, 1) | dict.fromkeys(amounts, True)
        problems = _problems(scheme, wrong)
        assert len(problems) == len(wrong)
        assert all(any(name in problem for problem in problems) for name in wrong)
        # ``float`` would take the blank, the exponent, the words for no number, and the Arabic digit 3 at the end.
        bad_amounts: tuple[Any, ...] = ("abc", "", "NaN", "inf", "1e3", " 1", 1.5, None, [1], "٣")
        for name, value in itertools.product(amounts, bad_amounts):
            assert len(_problems(scheme, {name: value})) == 1, (name, value)
        bad_switches: tuple[Any, ...] = ("true", 0, 1, None, "1", [])
        for name, value in itertools.product(switches, bad_switches):
            assert len(_problems(scheme, {name: value})) == 1, (name, value)

    def test_whole_numbers_decimals_and_switches_are_taken_exactly(self) -> None:
        scheme = self.make()
        for field in attrs.fields(scheme.settings):
            assert scheme.numbers_from({field.name: stored_setting(field.default)}) == scheme.numbers_from({})

    # -- who counts ------------------------------------------------------------------------------------------------

    def test_refusals_are_the_same_interpreted_and_compiled(self) -> None:
        scheme = self.make()
        cases = list(
            itertools.product(
                range(len(Outcome)),
                range(len(Termination)),
                (HALF_MOVES_UNKNOWN, 0, 1, 10, 11, MAX_HALF_MOVES),
                (True, False),
                range(len(Standing)),
                range(len(Standing)),
            )
        )
        for numbers in self.numbers():
            plain = [scheme.refuse(*case, numbers) for case in cases]
            assert {type(code) for code in plain} == {int}
            assert set(plain) <= set(range(len(REASONS)))
            columns = [np.asarray(column, np.int32) for column in zip(*cases, strict=True)]
            columns[3] = columns[3].astype(np.bool_)
            reasons = np.zeros(len(cases), np.int32)
            compile_kernel(assessment.reason_kernel(scheme))(*columns, reasons, numbers)
            assert reasons.tolist() == plain

    # -- the numbers -----------------------------------------------------------------------------------------------

    def test_newcomers_enter_with_every_field(self) -> None:
        scheme = self.make()
        declared_ratings = (None, 0.0, 1.0, 1400.0, 5000.0)
        for numbers, declared, born in itertools.product(self.numbers(), declared_ratings, (None, 1999)):
            state = scheme.begin(Newcomer(declared, born, FIRST_DAY), numbers)  # says what is no player
            assert all(type(value) is float and math.isfinite(value) for value in state)

    def test_players_from_another_scheme_enter_with_every_field(self) -> None:
        scheme = self.make()
        for numbers, rating, games in itertools.product(self.numbers(), (100.0, 1400.5, 2800.0), (0.0, 3.0, 500.0)):
            state = scheme.carried(rating, games, Newcomer(None, 1980, FIRST_DAY), numbers)
            assert all(type(value) is float and math.isfinite(value) for value in state)

    def test_a_game_is_rated_by_changing_both_players(self) -> None:
        scheme = self.make()
        if scheme.rate_game is None:
            return
        for numbers in self.numbers():
            white, black = (
                scheme.player_of(scheme.begin(Newcomer(declared, 1980, FIRST_DAY), numbers))
                for declared in (None, 1600.0)
            )
            returned = scheme.rate_game(white, black, 1.0, FIRST_DAY, numbers)
            assert returned is None, f"rate_game returned {returned!r}: it changes white and black, and returns nothing"

    def test_ratings_are_the_same_bits_interpreted_and_compiled(self) -> None:
        scheme = self.make()
        for numbers, seed in itertools.product(self.numbers(), (1, 2)):
            games = self._games(seed)
            start = self._start(numbers)
            few_state, few_counts = list(start), [0] * PLAYERS
            few = engine.rate(FEW, scheme, numbers, games, few_state, few_counts)
            many_state, many_counts = MANY.float64_column(start), MANY.zeros(PLAYERS)
            many = engine.rate(MANY, scheme, numbers, _as_arrays(games), many_state, many_counts)
            assert all(math.isfinite(value) for value in few.history), numbers
            assert all(math.isfinite(value) for value in few.before), numbers
            assert bit_patterns(few.history) == bit_patterns(many.history.tolist()), numbers
            assert bit_patterns(few.before) == bit_patterns(many.before.tolist()), numbers
            assert bit_patterns(few.expected) == bit_patterns(many.expected.tolist()), numbers
            assert few.n == many.n.tolist()
            assert bit_patterns(few_state) == bit_patterns(many_state.tolist())
            assert few_counts == many_counts.tolist()

    def test_answers_about_a_state_are_the_same_interpreted_and_compiled(self) -> None:
        scheme = self.make()
        ask, compiled_ask = _asking(scheme), compile_kernel(_asking(scheme))
        for numbers in self.numbers():
            for case in itertools.islice(self._cases(numbers), 60):
                flat = [*flat_of(case.side.before), *flat_of(case.meetings[0].opponent)]
                few, many = engine.records(FEW, scheme.player, flat), MANY.float64_column(flat)
                later = When(case.when.period + 3.0, case.when.day + 100.0)
                answers = ask(few, later, numbers)
                assert bit_patterns(answers) == bit_patterns(
                    compiled_ask(engine.records(MANY, scheme.player, many), later, numbers)
                )
                assert bit_patterns([value for player in few for value in flat_of(player)]) == bit_patterns(
                    many.tolist()
                )

    def test_ratings_declared_constant_do_not_change_with_time(self) -> None:
        scheme = self.make()
        for numbers, later in itertools.product(self.numbers(), (1.0, 45.0, 1500.0)):
            for case in itertools.islice(self._cases(numbers), 60):
                when = When(case.when.period + later // 30.0, case.when.day + later)
                is_unchanged = scheme.at is unchanged_by_time
                if not is_unchanged and scheme.unchanged_since is not None:
                    is_unchanged = scheme.unchanged_since(when.day, numbers) <= case.when.day
                if is_unchanged:
                    state = at_time(scheme, numbers, flat_of(case.side.after), when)
                    assert bit_patterns([state[0]]) == bit_patterns([case.side.after.rating])
                    assert scheme.is_listed(state, numbers) == bool(scheme.listed(case.side.after, numbers))

    def test_initial_ratings_declared_unchanged_are_listed_as_they_are(self) -> None:
        scheme = self.make()
        if scheme.accepted_ratings is None:
            return
        pasts = itertools.product((None, 0.0, 3.0, 500.0), (None, 30.0, 900.0), (None, 2900.0), (None, 10.0, 40.0))
        listed = ((0.25, None), (1500.0, None), (99.0, 0.0), (1234.5, 1.0), (2345.0, 400.0), (9000.0, 30.0))
        for numbers, (games, deviation, highest, k), (rating, ago) in itertools.product(self.numbers(), pasts, listed):
            day = FIRST_DAY if ago is None or ago < 100.0 else FIRST_DAY + 1500.0
            limits = scheme.accepted_ratings(day, numbers)
            fits = limits.low <= rating <= limits.high and not (limits.whole and rating % 1.0)
            if fits and (games is None or games >= limits.games):
                since = None if ago is None else day - ago
                seed = Seed(rating, games, deviation, None, highest, k, since)
                state = scheme.begin(Newcomer(1500.0, 1990, day, seed), numbers)
                assert (state[0], scheme.is_listed(state, numbers)) == (rating, True), (numbers, seed)

    def test_a_game_changes_its_two_players_only(self) -> None:
        scheme = self.make()
        fields = len(scheme.state)
        for numbers, (w, b) in itertools.product(self.numbers(), ((0, 2), (2, 1), (1, 0))):
            who = [Newcomer(rating, None, FIRST_DAY) for rating in (None, 1800.0, 2400.0)]
            state = engine.initial_states(scheme, numbers, who)
            before = list(state)
            engine.rate(FEW, scheme, numbers, _one_game(w, b, 1.0), state, [0, 0, 0])
            other = 3 - w - b
            assert len(state) == len(before)
            assert state[other * fields : (other + 1) * fields] == before[other * fields : (other + 1) * fields]

    def test_rating_depends_on_the_states_and_the_score_only(self) -> None:
        """The rating has no clock, no chance, no memory of its own."""
        scheme = self.make()
        for numbers in self.numbers():
            runs = []
            for _ in range(2):
                kept = engine.rate(FEW, scheme, numbers, self._games(3), self._start(numbers), [0] * PLAYERS)
                runs.append([bit_patterns(column) for column in (kept.history, kept.before, kept.expected)])
            assert runs[0] == runs[1]

    def test_any_slicing_of_the_games_between_batches_is_one_replay(self) -> None:
        scheme = self.make()
        for numbers in self.numbers():
            games = self._games(5)
            whole = engine.rate(FEW, scheme, numbers, games, self._start(numbers), [0] * PLAYERS)
            cut = games.starts[len(games.starts) // 2] if games.starts else GAMES // 2
            state, counts, parts, fitted = self._start(numbers), [0] * PLAYERS, [], engine.FittedGames()
            for part in (_part(games, 0, cut), _part(games, cut, GAMES)):
                parts += engine.rate(FEW, scheme, numbers, part, state, counts, fitted).history
            assert bit_patterns(parts) == bit_patterns(whole.history)

    def test_expected_scores_lie_in_0_to_1(self) -> None:
        scheme = self.make()
        for numbers in self.numbers():
            for case in self._cases(numbers):
                own, opponent = flat_of(case.side.before), flat_of(case.meetings[0].opponent)
                expected = engine.expected_result(scheme, numbers, own, opponent, case.when)
                assert 0.0 <= expected <= 1.0
                if self.complementary:
                    back = engine.expected_result(scheme, numbers, opponent, own, case.when)
                    assert abs(expected + back - 1.0) <= TOLERANCE
                    assert engine.expected_result(scheme, numbers, own, own, case.when) == 0.5

    def test_mirrored_expected_scores_add_up_to_1_to_the_bit(self) -> None:
        scheme = self.make()
        if not scheme.mirrored:
            return
        for numbers in self.numbers():
            for case in self._cases(numbers):
                own, opponent = flat_of(case.side.before), flat_of(case.meetings[0].opponent)
                expected = engine.expected_result(scheme, numbers, own, opponent, case.when)
                back = engine.expected_result(scheme, numbers, opponent, own, case.when)
                assert bit_patterns([1.0 - expected, 1.0 - back]) == bit_patterns([back, expected])

    def test_predictions_are_what_rating_gives(self) -> None:
        scheme = self.make()
        fields = len(scheme.state)
        for numbers in self.numbers():
            for case in self._cases(numbers):
                own, opponent = flat_of(case.side.before), flat_of(case.meetings[0].opponent)
                predicted = engine.predict(scheme, numbers, own, opponent, case.when)
                for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0)):
                    as_black = [*opponent, *own]
                    engine.rate(FEW, scheme, numbers, _one_game(0, 1, 1.0 - score, case.when), as_black, [0, 0])
                    assert bit_patterns(predicted[word]) == bit_patterns(as_black[fields:]), (
                        "White and Black are rated alike"
                    )
                if self.score_decides:
                    assert predicted["win"][0] >= predicted["draw"][0] >= predicted["loss"][0]

    def test_explanations_give_the_rating_and_their_terms_recompute_it(self) -> None:
        scheme = self.make()
        for numbers in self.numbers():
            for case in self._cases(numbers):
                explained = scheme.explain(case.side, case.meetings, case.when, numbers)
                assert bit_patterns([explained.result]) == bit_patterns([case.side.after.rating])
                assert explained.source
                assert explained.rounding
                assert all(term.symbol and term.meaning for term in explained.terms)
                assert len(explained.lines) in {0, len(case.meetings)}, "lines are those of the meetings"
                assert explained.differences(case.meetings) == []
                recomputed = evaluate_rule(explained)
                assert abs(recomputed - explained.unrounded) <= TOLERANCE * max(1.0, abs(recomputed)), explained

    # -- how -------------------------------------------------------------------------------------------------------

    def _start(self, numbers: Any) -> list[float]:
        """Return newcomers, some with a declared rating at its limits."""
        declared = [(None, 0.0, 5000.0, 1400.0, 2800.0, 100.0)[player % 6] for player in range(PLAYERS)]
        born = [self.birth_years[player % len(self.birth_years)] for player in range(PLAYERS)]
        who = [Newcomer(rating, year, FIRST_DAY) for rating, year in zip(declared, born, strict=True)]
        return engine.initial_states(self.make(), numbers, who)

    def _games(self, seed: int) -> RateableGames:
        """Return games at random, in batches where the scheme wants them, some periods apart."""
        white, black, score = _games(seed)
        day = [FIRST_DAY + 0.7 * game for game in range(GAMES)]
        if self.make().rhythm is Rhythm.GAME:
            return RateableGames(white, black, score, day)
        starts = [0]
        while starts[-1] < GAMES:
            starts.append(min(starts[-1] + self.batches[len(starts) % len(self.batches)], GAMES))
        # After every ninth batch two periods without a game: time that passes for everybody.
        period = [600.0 + batch + 2 * (batch // 9) for batch in range(len(starts) - 1)]
        closing = [day[last - 1] + 0.5 for last in starts[1:]]
        if self.make().in_force is None:
            return RateableGames(white, black, score, day, starts, period, closing)
        began = [float(round(ended) - 11 * (game % 7)) for game, ended in enumerate(day)]  # some before the last batch
        return RateableGames(white, black, score, day, starts, period, closing, began)

    def _cases(self, numbers: Any) -> Sequence[SchemeTestCase]:
        """Return players in games and batches as they come up, those of new players too; six tests use the same."""
        case_key = (self.make(), numbers, tuple(self.birth_years), tuple(self.batches))
        if case_key not in _CASES:
            _CASES[case_key] = tuple(self._played(numbers))
        return _CASES[case_key]

    def _played(self, numbers: Any) -> Iterator[SchemeTestCase]:
        scheme = self.make()
        games, state = self._games(4), self._start(numbers)
        batches = list(itertools.pairwise(games.starts)) or [(game, game + 1) for game in range(GAMES)]
        for batch, (first, last) in enumerate(batches):
            part = _part(games, first, last)
            when = When(part.period[0], part.closing[0]) if games.starts else When(0.0, part.day[0])
            begins = part.began or [when.day] * len(part.white)
            players = engine.records(FEW, scheme.player, state)
            if scheme.rhythm is Rhythm.GAME:
                later = list(state)
                engine.rate(FEW, scheme, numbers, part, later, [0] * PLAYERS)
                sides = list(map(ExplainedPlayer, players, engine.records(FEW, scheme.player, later)))
            else:
                sides = engine.rate_one_batch(scheme, numbers, part, players)
            if games.starts or batch % 5 == 0 or batch < PLAYERS:
                for player in list(dict.fromkeys([*part.white, *part.black]))[:4]:
                    meetings = [
                        OpponentGame(sides[other].before, points, colour, sides[other].work, began)
                        for w, b, score, began in zip(part.white, part.black, part.score, begins, strict=True)
                        for me, other, points, colour in ((w, b, score, 0), (b, w, 1.0 - score, 1))
                        if me == player
                    ]
                    yield SchemeTestCase(sides[player], tuple(meetings), when)
            engine.rate(FEW, scheme, numbers, part, state, [0] * PLAYERS)


# Names that ``scheme_loop`` gives to the function below.
at: Callable[..., None]
expected_score: Callable[..., float]
listed: Callable[..., bool]
provisional: Callable[..., bool]


def ask_scheme(players: Any, when: Any, numbers: Any) -> tuple[float, float, float]:
    """Move the second of two players to a time, and return everything that a scheme answers about both."""
    at(players[1], when.period, when.day, numbers)  # noqa: F821
    expected = expected_score(players[0], players[1], numbers)  # noqa: F821
    return expected, 1.0 if provisional(players[0], numbers) else 0.0, 1.0 if listed(players[0], numbers) else 0.0  # noqa: F821


def _asking(scheme: Scheme) -> Callable[..., tuple[float, float, float]]:
    return engine.scheme_loop(ask_scheme, scheme)


class SchemeTestCase(NamedTuple):
    """One game or batch from a player's view, by which the tests check a scheme: player, opponents, time."""

    side: ExplainedPlayer
    meetings: tuple[OpponentGame, ...]
    when: When


_CASES: dict[object, Sequence[SchemeTestCase]] = {}  # by scheme, its settings, and whom and what the games are between


def _part(games: RateableGames, first: int, last: int) -> RateableGames:
    """Return the games from *first* to *last* (exclusive), which must not cut a batch."""
    white, black, score, day = (column[first:last] for column in games[:4])
    if not games.starts:
        return RateableGames(white, black, score, day)
    begin, end = games.starts.index(first), games.starts.index(last)
    starts = [start - first for start in games.starts[begin : end + 1]]
    began = games.began[first:last]
    return RateableGames(white, black, score, day, starts, games.period[begin:end], games.closing[begin:end], began)


def _one_game(w: int, b: int, score: float, when: When = A_WHILE_LATER) -> RateableGames:
    return RateableGames([w], [b], [score], [when.day], [0, 1], [when.period], [when.day])


def _as_arrays(games: RateableGames) -> RateableGames:
    white, black, score, day, starts, period, closing, began = games
    return RateableGames(
        MANY.int32_column(white),
        MANY.int32_column(black),
        MANY.float64_column(score),
        MANY.float64_column(day),
        # as a build of games one by one has them: the same machine code
        MANY.int64_column(starts) if starts else (),
        MANY.float64_column(period) if period else (),
        MANY.float64_column(closing) if closing else (),
        MANY.float64_column(began) if began else (),
    )


def _problems(scheme: Scheme, settings: Mapping[str, Any]) -> tuple[str, ...]:
    problems: tuple[str, ...] = ()
    with expect_error(MalformedError):
        try:
            scheme.numbers_from(settings)
        except MalformedError as error:
            problems = error.problems
            raise
    return problems


def _games(seed: int) -> tuple[list[int], list[int], list[float]]:
    """Return opponents and scores: at random, but player 0 always wins and player 1 always loses."""
    random = Random(seed)  # noqa: S311
    white, black, score = [], [], []
    for _ in range(GAMES):
        w, b = random.sample(range(PLAYERS), 2)
        result = random.choice((1.0, 1.0, 0.5, 0.0))
        if 0 in {w, b}:
            result = 1.0 if w == 0 else 0.0
        if 1 in {w, b} and 0 not in {w, b}:
            # One rises and one falls without end, so that limits and caps of a scheme are met.
            result = 0.0 if w == 1 else 1.0
        white.append(w)
        black.append(b)
        score.append(result)
    return white, black, score
