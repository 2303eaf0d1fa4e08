"""The examples of the English grade: from a vector's inputs to the public functions of the scheme."""

from collections.abc import Callable

from ledger.schemes import ecf_grade
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import elo_2020, season_grade, season_grade_by_percentage


def _points(inputs: Inputs) -> float:
    own, opponent, score = (float(inputs[name]) for name in ("own", "opp", "score"))
    return ecf_grade.game_points(own, opponent, score, ecf_grade.DEFAULT)


def _season(inputs: Inputs, grade: Callable[..., float]) -> float:
    opponents = [float(opponent) for opponent, _score in inputs["games"]]
    scores = [float(score) for _opponent, score in inputs["games"]]
    return grade(float(inputs["own"]), opponents, scores, ecf_grade.DEFAULT)


FUNCTIONS: Functions = {
    ("ecf_old", "points"): _points,
    ("ecf_old", "opp"): lambda inputs: ecf_grade.counted(float(inputs["own"]), float(inputs["opp"]), ecf_grade.DEFAULT),
    ("ecf_old", "season"): lambda inputs: _season(inputs, season_grade),
    ("ecf_old", "season_equiv"): lambda inputs: _season(inputs, season_grade_by_percentage),
    ("ecf_conv", "old"): lambda inputs: ecf_grade.elo(float(inputs["g"])),
    ("ecf_conv", "2020"): lambda inputs: elo_2020(float(inputs["g"])),
}
