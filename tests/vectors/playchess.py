"""The examples of PlayChess and its kin: from a vector's inputs to the public functions of the schemes."""

from ledger.schemes import playchess, playchess_dummies
from tests.vectors.comparing import Functions, Inputs


def _difference(inputs: Inputs) -> float:
    return playchess.rating_difference(float(inputs["p"]), playchess.DEFAULT.largest_change)


def _provisional(inputs: Inputs) -> float:
    opponents = [float(rating) for rating in inputs["opps"]]
    scores = float(inputs["wins"]) + float(inputs["draws"]) / 2.0
    largest = playchess.DEFAULT.largest_change
    return playchess.provisional_rating(sum(opponents), scores, float(len(opponents)), largest)


def _established(inputs: Inputs) -> float:
    """One rating run from the previous list's rating and number of games."""
    rating, numbers = float(inputs["ro"]), playchess.DEFAULT
    k = playchess.k_factor(rating, float(inputs["pn"]))
    others = [
        (playchess.counted(rating, float(other), numbers.cut_off), float(score)) for other, score in inputs["games"]
    ]
    return rating + sum(playchess.change(rating, other, score, k, numbers.win_bonus) for other, score in others)


FUNCTIONS: Functions = {
    ("playchess", "D"): _difference,
    ("playchess", "F"): lambda inputs: playchess.correction(float(inputs["p"])),
    ("playchess", "dummies"): lambda inputs: playchess_dummies.mean_with(
        float(inputs["r"]), float(inputs["n"]), float(inputs["perf"])
    ),
    ("playchess", "established"): _established,
    ("playchess", "k"): lambda inputs: playchess.k_factor(float(inputs["ro"]), float(inputs["pn"])),
    ("playchess", "lss_r"): lambda inputs: playchess.lss_r(float(inputs["ro"])),
    ("playchess", "provisional"): _provisional,
}
