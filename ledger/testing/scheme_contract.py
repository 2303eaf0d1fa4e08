"""What every rating scheme must do, as tests: subclass ``SchemeContract`` and give the scheme in ``make``."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar

import attrs

from ledger import engine
from ledger.errors import MalformedError
from ledger.events import MAX_HALF_MOVES, NAME_PATTERN
from ledger.heavy import np
from ledger.model import Outcome, Standing, Termination
from ledger.schemes.base import HALF_MOVES_UNKNOWN, REASONS, Explanation, Scheme, Side
from ledger.testing.expect import bits, refused

PLAYERS = 24
GAMES = 3_000  # some 250 a player: past any provisional phase
TOLERANCE = 1e-9  # of a formula worked out by hand against the kernel, which may add in another order
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg,
}  # fmt: skip


class SchemeContract:
    """Tests of one scheme. A subclass gives ``make``.

    Attributes:
        settings: the settings that it is tested with, as in ``scheme-adopted``; the defaults and its switches.
        complementary: whether the two expected scores of a game add up to 1.
        score_decides: whether a win never gives less than a draw, and a draw never less than a loss.
    """

    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = ({},)
    complementary: ClassVar[bool] = True
    score_decides: ClassVar[bool] = True

    def make(self) -> Scheme:
        """The scheme to be tested."""
        raise NotImplementedError

    def numbers(self) -> Iterator[Any]:
        """Each of ``settings`` as the kernels take them."""
        for given in self.settings:
            yield self.make().numbers_from(given)

    # -- what it says of itself ------------------------------------------------------------------------------------

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

    def test_what_is_no_setting_is_refused_with_all_faults_at_once(self) -> None:
        scheme = self.make()
        switches = [f.name for f in attrs.fields(scheme.settings) if isinstance(f.default, bool)]
        amounts = [f.name for f in attrs.fields(scheme.settings) if not isinstance(f.default, bool)]
        wrong: dict[str, Any] = {"no_such_setting": 1, "nor-this": True}
        wrong |= dict.fromkeys(switches, 1) | dict.fromkeys(amounts, True)
        problems = _problems(scheme, wrong)
        assert len(problems) == len(wrong)
        assert all(any(name in problem for problem in problems) for name in wrong)
        bad_amounts: tuple[Any, ...] = ("abc", "", "NaN", "inf", "1e3", " 1", 1.5, None, [1], "٣")
        for name, value in itertools.product(amounts, bad_amounts):
            assert len(_problems(scheme, {name: value})) == 1, (name, value)
        bad_switches: tuple[Any, ...] = ("true", 0, 1, None, "1", [])
        for name, value in itertools.product(switches, bad_switches):
            assert len(_problems(scheme, {name: value})) == 1, (name, value)

    def test_whole_numbers_decimals_and_switches_are_taken_exactly(self) -> None:
        scheme = self.make()
        for field in attrs.fields(scheme.settings):
            given = field.default if isinstance(field.default, bool) else _as_text(field.default)
            assert scheme.numbers_from({field.name: given}) == scheme.numbers_from({})

    # -- who counts ------------------------------------------------------------------------------------------------

    def test_refusals_are_the_same_interpreted_and_compiled(self) -> None:
        scheme = self.make()
        cases = list(
            itertools.product(
                range(len(Outcome)), range(len(Termination)), (HALF_MOVES_UNKNOWN, 0, 1, 10, 11, MAX_HALF_MOVES),
                (True, False), range(len(Standing)), range(len(Standing)),
            )
        )  # fmt: skip
        for numbers in self.numbers():
            plain = [scheme.refuse(*case, numbers) for case in cases]
            assert {type(code) for code in plain} == {int}
            assert set(plain) <= set(range(len(REASONS)))
            columns = [np.asarray(column, np.int32) for column in zip(*cases, strict=True)]
            columns[3] = columns[3].astype(np.bool_)
            reasons = np.zeros(len(cases), np.int32)
            engine.compiled(engine.refusal_loop(scheme))(*columns, reasons, numbers)
            assert reasons.tolist() == plain

    # -- the numbers -----------------------------------------------------------------------------------------------

    def test_newcomers_enter_with_every_field(self) -> None:
        scheme = self.make()
        for numbers, declared in itertools.product(self.numbers(), (None, 0, 1, 1400, 5000)):
            state = scheme.enter(declared, numbers)
            assert len(state) == len(scheme.state)
            assert all(math.isfinite(value) for value in state)

    def test_ratings_are_the_same_bits_interpreted_and_compiled(self) -> None:
        scheme = self.make()
        for numbers, seed in itertools.product(self.numbers(), (1, 2)):
            white, black, score = _games(seed)
            start = self._start(numbers)
            few_state, few_counts = list(start), [0] * PLAYERS
            few, few_n = engine.rate_few(scheme, numbers, white, black, score, few_state, few_counts)
            many_state, many_counts = np.asarray(start, np.float64), np.zeros(PLAYERS, np.int32)
            many, many_n = engine.rate_many(
                scheme, numbers, np.asarray(white, np.int32), np.asarray(black, np.int32),
                np.asarray(score, np.float64), many_state, many_counts,
            )  # fmt: skip
            assert all(math.isfinite(value) for value in few), numbers
            assert bits(few) == bits(many.tolist()), numbers
            assert few_n == many_n.tolist()
            assert bits(few_state) == bits(many_state.tolist())
            assert few_counts == many_counts.tolist()

    def test_a_game_changes_its_two_players_only(self) -> None:
        scheme = self.make()
        fields = len(scheme.state)
        for numbers, (w, b) in itertools.product(self.numbers(), ((0, 2), (2, 1), (1, 0))):
            state = [*scheme.enter(None, numbers), *scheme.enter(1800, numbers), *scheme.enter(2400, numbers)]
            before = list(state)
            scheme.rate_game(state, w * fields, b * fields, 1.0, numbers)
            other = 3 - w - b
            assert len(state) == len(before)
            assert state[other * fields : (other + 1) * fields] == before[other * fields : (other + 1) * fields]

    def test_rating_depends_on_the_states_and_the_score_only(self) -> None:
        """No clock, no chance, no memory of its own."""
        scheme = self.make()
        for numbers in self.numbers():
            white, black, score = _games(3)
            runs = []
            for _ in range(2):
                history, _n = engine.rate_few(scheme, numbers, white, black, score, self._start(numbers), [0] * PLAYERS)
                runs.append(bits(history))
            assert runs[0] == runs[1]

    def test_expected_scores_lie_in_0_to_1(self) -> None:
        scheme = self.make()
        for numbers in self.numbers():
            for own, opponent in self._meetings(numbers):
                expected = scheme.expected_score(own, opponent, numbers)
                assert 0.0 <= expected <= 1.0
                if self.complementary:
                    assert abs(expected + scheme.expected_score(opponent, own, numbers) - 1.0) <= TOLERANCE
                if self.complementary and own == opponent:
                    assert expected == 0.5

    def test_predictions_are_what_rating_gives(self) -> None:
        scheme = self.make()
        fields = len(scheme.state)
        for numbers in self.numbers():
            for own, opponent in self._meetings(numbers):
                predicted = engine.predict(scheme, numbers, own, opponent)
                for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0)):
                    as_white, as_black = [*own, *opponent], [*opponent, *own]
                    scheme.rate_game(as_white, 0, fields, score, numbers)
                    scheme.rate_game(as_black, 0, fields, 1.0 - score, numbers)
                    assert bits(predicted[word]) == bits(as_white[:fields])
                    assert bits(predicted[word]) == bits(as_black[fields:]), "White and Black are rated alike"
                if self.score_decides:
                    assert predicted["win"][0] >= predicted["draw"][0] >= predicted["loss"][0]

    def test_explanations_give_the_rating_and_their_terms_recompute_it(self) -> None:
        scheme = self.make()
        fields = len(scheme.state)
        for numbers in self.numbers():
            for own, opponent in self._meetings(numbers):
                for score in (1.0, 0.5, 0.0):
                    state = [*own, *opponent]
                    scheme.rate_game(state, 0, fields, score, numbers)
                    side, other = Side(own, tuple(state[:fields])), Side(opponent, tuple(state[fields:]))
                    explained = scheme.explain(side, other, score, numbers)
                    assert bits([explained.result]) == bits([state[0]])
                    assert explained.source
                    assert explained.rounding
                    assert all(term.symbol and term.meaning for term in explained.terms)
                    recomputed = evaluated(explained)
                    assert abs(recomputed - explained.result) <= TOLERANCE * max(1.0, abs(explained.result)), explained

    # -- how -------------------------------------------------------------------------------------------------------

    def _start(self, numbers: Any) -> list[float]:
        """Newcomers, some with a declared rating at its limits."""
        declared = [(None, 0, 5000, 1400, 2800, 100)[player % 6] for player in range(PLAYERS)]
        return engine.newcomers(self.make(), numbers, declared)

    def _meetings(self, numbers: Any) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Pairs of states as they come up, those of newcomers among them."""
        scheme = self.make()
        fields = len(scheme.state)
        white, black, score = _games(4)
        state = self._start(numbers)
        for game, (w, b, result) in enumerate(zip(white, black, score, strict=True)):
            if game % 5 == 0 or game < PLAYERS:
                own, opponent = state[w * fields : (w + 1) * fields], state[b * fields : (b + 1) * fields]
                yield tuple(own), tuple(opponent)
            if game % 100 == 0:
                yield tuple(state[:fields]), tuple(state[:fields])
            scheme.rate_game(state, w * fields, b * fields, result, numbers)


def _problems(scheme: Scheme, given: Mapping[str, Any]) -> tuple[str, ...]:
    problems: tuple[str, ...] = ()
    with refused(MalformedError):
        try:
            scheme.numbers_from(given)
        except MalformedError as error:
            problems = error.problems
            raise
    return problems


def _as_text(value: float) -> int | str:
    return int(value) if value == int(value) else format(value, "f").rstrip("0")


def _games(seed: int) -> tuple[list[int], list[int], list[float]]:
    """Who plays whom with what score: at random, but player 0 always wins and player 1 always loses."""
    random = Random(seed)  # noqa: S311
    white, black, score = [], [], []
    for _ in range(GAMES):
        w, b = random.sample(range(PLAYERS), 2)
        result = random.choice((1.0, 1.0, 0.5, 0.0))
        for favourite in (0, PLAYERS + 1):
            if favourite in {w, b}:
                result = 1.0 if w == favourite else 0.0
        if 1 in {w, b} and 0 not in {w, b}:
            result = 0.0 if w == 1 else 1.0
        white.append(w)
        black.append(b)
        score.append(result)
    return white, black, score


def evaluated(explained: Explanation) -> float:
    """The number that an explanation's rule gives, read as arithmetic.

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
