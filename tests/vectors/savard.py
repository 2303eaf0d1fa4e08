"""Worked examples of Savard's proposed scheme."""

from ledger.schemes.savard import (
    DEFAULT,
    RANKS,
    mixing,
    new_e,
    opponent_rating,
    share,
    single_game,
    step_size,
    undecided,
    updated,
)
from ledger.schemes.settings import replace_settings
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import initial_rating


def _step(inputs: Inputs) -> dict[str, float | None]:
    numbers = replace_settings(DEFAULT, score_scale=float(inputs.get("score_scale") or 1.0))
    e, h, other_e, other_h = (float(inputs[name]) for name in ("E", "H", "oE", "oH"))
    score, rank = float(inputs["W"]), RANKS.index(inputs["cls"])
    r = opponent_rating(e, other_e, other_h, score)
    z = step_size(rank, score, numbers)
    after_e, after_h = updated(e, h, other_e, other_h, score, rank, numbers)
    return {
        "E": after_e,
        "H": after_h,
        "R": None if undecided(e, other_e, other_h, score) else r,
        "S": single_game(e, other_e, score, numbers),
        "Y": share(rank, score, numbers),
        "Z": z,
        "M": mixing(rank, numbers),
        "E1": new_e(e, r, score, z, numbers),
    }


def _initial(inputs: Inputs) -> float:
    """The scores one by one, or their sum spread over the games, which gives the same mean."""
    opponents = inputs["opps"]
    scores = inputs.get("scores") or [inputs["score"] / len(opponents)] * len(opponents)
    return initial_rating(opponents, scores)


FUNCTIONS: Functions = {("savard", "step"): _step, ("savard", "initial"): _initial}
