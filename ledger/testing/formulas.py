"""Formulas that explanations print, read back as arithmetic, so that a test can work them out again."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from ledger.schemes.scheme import Explanation

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


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
