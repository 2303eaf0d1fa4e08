"""Published examples of the nothingbutchess.com scheme."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ledger.schemes.nothingbutchess import DEFAULT, expectancy, k_factor, new_rating


def _expect(inputs: Mapping[str, Any]) -> float:
    return expectancy(inputs["d"])


def _k(inputs: Mapping[str, Any]) -> float:
    return k_factor(inputs["own"], DEFAULT)


def _new(inputs: Mapping[str, Any]) -> float:
    return new_rating(inputs["own"], inputs["opp"], inputs["score"], DEFAULT)


FUNCTIONS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {
    ("nothingbut", "expect"): _expect,
    ("nothingbut", "k"): _k,
    ("nothingbut", "new"): _new,
}
