"""Published examples of performance ratings, answered by their public functions."""

from ledger.schemes.formulas.performance import apro, chessmetrics, fide_ptp, fide_tpr, harkness, linear, true
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import appo


def _linear(given: Inputs) -> float:
    """The score is told as wins and losses; the other games are draws."""
    games, wins, losses = len(given["opps"]), given.get("wins", 0), given.get("losses", 0)
    if wins + losses > games:
        raise ValueError(f"{wins} wins and {losses} losses are more than {games} games")
    return linear(given["opps"], given.get("score", (games + wins - losses) / 2))


def _true(given: Inputs) -> float | None:
    """Examples write null where the rating is undefined, which the function refuses."""
    undefined = given["opps"] and given["score"] in {0, len(given["opps"])}
    return None if undefined else true(given["opps"], given["score"])


FUNCTIONS: Functions = {
    ("perf", "linear"): _linear,
    ("perf", "fide_tpr"): lambda given: fide_tpr(given["opps"], given["score"], truncate=bool(given.get("truncate"))),
    ("perf", "fide_ptp"): lambda given: fide_ptp(given["opps"], given["score"]),
    ("perf", "true"): _true,
    ("perf", "harkness"): lambda given: harkness(given["opps"], given["score"]),
    ("perf", "chessmetrics"): lambda given: chessmetrics(given["opps"], given["score"]),
    ("perf", "apro"): lambda given: apro(given["performances"]),
    ("perf", "appo"): lambda given: appo(given["performances"]),
}
