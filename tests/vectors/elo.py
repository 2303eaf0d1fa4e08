"""Published examples of plain Elo, and of nothingbutchess.com, which has a K of its own."""

from ledger.schemes import elo, nothingbutchess
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import new_rating_of_many


def _k(given: Inputs) -> float:
    return elo.DEFAULT.k if given.get("k") is None else float(given["k"])


FUNCTIONS: Functions = {
    ("elo", "expected"): lambda given: elo.expected(given["ra"], given["rb"]),
    ("elo", "new"): lambda given: elo.new_rating(given["ra"], given["rb"], given["s"], _k(given)),
    ("elo", "batch"): lambda given: new_rating_of_many(given["ra"], given["opps"], given["scores"], _k(given)),
    ("nothingbut", "expect"): lambda given: nothingbutchess.expectancy(given["d"]),
    ("nothingbut", "k"): lambda given: nothingbutchess.k_factor(given["own"], nothingbutchess.DEFAULT),
    ("nothingbut", "new"): lambda given: nothingbutchess.new_rating(
        given["own"], given["opp"], given["score"], nothingbutchess.DEFAULT
    ),
}
