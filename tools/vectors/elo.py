"""Published examples of plain Elo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ledger.schemes.elo import DEFAULT, expected, new_rating
from tools.vectors.published import new_rating_of_many


def _k(inputs: Mapping[str, Any]) -> float:
    k = inputs.get("k")
    return DEFAULT.k if k is None else float(k)


def _expected(inputs: Mapping[str, Any]) -> float:
    return expected(inputs["ra"], inputs["rb"])


def _new(inputs: Mapping[str, Any]) -> float:
    return new_rating(inputs["ra"], inputs["rb"], inputs["s"], _k(inputs))


def _batch(inputs: Mapping[str, Any]) -> float:
    return new_rating_of_many(inputs["ra"], inputs["opps"], inputs["scores"], _k(inputs))


FUNCTIONS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Any]] = {
    ("elo", "expected"): _expected,
    ("elo", "new"): _new,
    ("elo", "batch"): _batch,
}
