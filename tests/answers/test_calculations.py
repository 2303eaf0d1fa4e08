"""The calculator against published examples and against each scheme's own kernels, and as a command."""

import csv
import io
import json
from typing import Any

import pytest

from ledger.answers.calculations import CalculationFacts, calculate
from ledger.answers.rows import as_row
from ledger.errors import MalformedError
from ledger.schemes import built_in_names, find_scheme
from ledger.schemes.scheme import Rhythm
from tests.kit.commands import Run

DAY = "2024-05-03"


def calculated(run: Run, *words: str) -> dict[str, Any]:
    done = run("calc", "--on", DAY, *words)
    assert done.code == 0, done.err
    answer: dict[str, Any] = json.loads(done.out)
    return answer


@pytest.mark.parametrize(("result", "after"), [("win", 1520.48), ("draw", 1504.48), ("loss", 1488.48)])
def test_the_example_of_the_elo_page(run: Run, result: str, after: float) -> None:
    """1500 against 1600 with K 32; the page rounds E to 0.36 and gives 1520.48, 1504.48 and 1488.48."""
    assert calculated(run, "1500", "1600", result)["rating_after"] == pytest.approx(after, abs=0.01)


def test_k_of_the_chessworld_faq(run: Run) -> None:
    """A personal rating of 2355: "K = 32 - [(2355 - 1600)/100] = 24.45"."""
    answer = calculated(run, "--scheme", "chessworld", "2355", "2355", "win")
    (explanation,) = answer["explanations"]
    terms = {term["symbol"]: term["value"] for term in explanation["terms"]}
    assert terms["K"] == pytest.approx(24.45, abs=1e-12)
    assert answer["change"] == pytest.approx(24.45 / 2)
    assert answer["assumed"] == {"player": 50, "opponent 1": 50}


def test_k_is_scaled_against_a_provisional_opponent(run: Run) -> None:
    answer = calculated(run, "--scheme", "chessworld", "2355", "2355", "win", "--opponent-games", "9")
    assert answer["change"] == pytest.approx(24.45 / 2 * 10 / 51)
    provisional = calculated(run, "--scheme", "chessworld", "--games", "0", "1200", "2700", "win")
    assert provisional["rating_after"] == 1520 + 400  # "it is like you are playing someone who is a 1520"


def test_the_example_of_the_glicko_2_paper(run: Run) -> None:
    answer = calculated(
        run,
        "--scheme",
        "glicko2",
        "--rd",
        "200",
        "--volatility",
        "0.06",
        "1500",
        "1400",
        "win",
        "1550",
        "loss",
        "1700",
        "loss",
        "--opponent-rd",
        "30",
        "--opponent-rd",
        "100",
        "--opponent-rd",
        "300",
    )
    assert answer["rating_after"] == pytest.approx(1464.06, abs=0.01)
    assert answer["state_after"] == pytest.approx({"rd": 151.52, "volatility": 0.05999}, abs=0.01)
    assert answer["rated_with"] == "one period"
    assert len(answer["explanations"]) == 1


@pytest.mark.parametrize("name", built_in_names())
def test_every_scheme_calculates_and_its_formula_gives_the_result(name: str) -> None:
    scheme = find_scheme(name)
    own, other, third = (150, 160, 170) if scheme.scale == "ECF points" else (1500, 1623, 1700)
    opponents = [CalculationFacts(rating=other), CalculationFacts(rating=third)]
    answer = as_row(calculate(scheme, {}, CalculationFacts(rating=own), opponents, [1.0, 0.5], DAY))
    by_game = scheme.rhythm is Rhythm.GAME
    assert len(answer["explanations"]) == (2 if by_game else 1)
    assert answer["explanations"][-1]["result"] == pytest.approx(answer["rating_after"], abs=1e-9)
    assert [game["result"] for game in answer["games"]] == ["win", "draw"]
    if by_game:
        assert answer["games"][1]["before"] == answer["games"][0]["after"]
    assert answer["change"] == answer["rating_after"] - own > 0
    foretold = as_row(calculate(scheme, {}, CalculationFacts(rating=own), opponents[:1], [], DAY))
    rating = {word: outcome["rating"] for word, outcome in foretold["outcomes"].items()}
    assert rating["win"] > rating["draw"] > rating["loss"]
    alone = as_row(calculate(scheme, {}, CalculationFacts(rating=own), opponents[:1], [1.0], DAY))
    assert rating["win"] == alone["rating_after"]
    assert 0 < foretold["expected_score"] < 1


def test_settings_and_k_are_taken(run: Run) -> None:
    assert calculated(run, "1500", "1500", "win", "--k", "24")["change"] == 12
    assert calculated(run, "1500", "1500", "win", "--set", "k=10")["change"] == 5
    assert calculated(run, "--scheme", "fide", "--k", "20", "2300", "2300", "win")["change"] == 10
    assert calculated(run, "--scheme", "fide", "2300", "2300", "win")["change"] == 20


def test_what_a_scheme_does_not_ask_for_is_refused() -> None:
    with pytest.raises(MalformedError, match=r"begins with no RD.*\n.*no volatility"):
        as_row(
            calculate(
                find_scheme("elo"),
                {},
                CalculationFacts(rating=1500, deviation=80, volatility=0.06),
                [CalculationFacts(rating=1500)],
                [1.0],
                DAY,
            )
        )
    with pytest.raises(MalformedError, match="has no setting 'kk'"):
        as_row(
            calculate(
                find_scheme("elo"),
                {"kk": 1},
                CalculationFacts(rating=1500),
                [CalculationFacts(rating=1500)],
                [1.0],
                DAY,
            )
        )


def test_words_that_are_no_game_are_wrong_usage(run: Run) -> None:
    for words, problem in (
        (["1500"], "Missing argument"),
        (["1500", "x", "win"], "an opponent's rating is a number"),
        (["1500", "1600", "won?"], "a result is win, draw or loss"),
        (["1500", "1600", "win", "1700"], "has no result"),
        (["1500", "1600", "win", "--on", "soon"], "--on"),
        (["1500", "99999", "win"], "from -10000 to 10000"),
        (["nan", "1600", "win"], "'nan' is not a finite number"),
        (["1500", "1600", "win", "--scheme", "glicko2", "--rd", "nan"], "'nan' is not a finite number"),
        (["1500", "1600", "win", "--scheme", "glicko2", "--opponent-rd", "nan"], "'nan' is not a finite number"),
        (["1500", "1600", "win", "--opponent-games", "-1"], "-1.0 is not in the range"),
        (["1500", "1600", "win", "--highest", "inf"], "inf is not in the range"),
        (["1500", "1600", "win", "--opponent-rd", "1", "--opponent-rd", "2"], "2 values of deviation for 1 opponents"),
    ):
        done = run("calc", *words)
        assert (done.code, problem in done.err) == (2, True), done.err
    assert run("calc", "--scheme", "elow", "1500", "1600").code == 1


def test_tables_and_csv(run: Run) -> None:
    out = run("calc", "1500", "1600", "win", "1700", "draw", "-t", "--on", DAY).out
    assert "+20.48" in out
    assert out.count("Ra + K·(Sa - Ea)") == 2
    rows = list(csv.DictReader(io.StringIO(run("calc", "1500", "1600", "win", "1700", "draw", "--csv").out)))
    assert [row["result"] for row in rows] == ["win", "draw"]
    assert "outcomes_win_rating" in run("calc", "1500", "1600", "-t").out


def test_savards_h_of_both_players_counts(run: Run) -> None:
    """E'' of a beginning player by hand: E' = 1550 + 48·(1 - X), H' = 0.75·1620 + 0.25·2000, E'' = 0.8·E' + 0.2·H'."""
    answer = calculated(run, "--scheme", "savard", "--h", "1620", "1550", "1600", "win", "--opponent-h", "1580")
    main = 1550 + 48 * (1 - 1 / (10 ** ((1580 - 1550) / 400) + 1))
    assert answer["rating_after"] == pytest.approx(0.8 * main + 0.2 * 1715)
    assert answer["state_after"]["h"] == pytest.approx(1715)
    assert run("calc", "--h", "1620", "1550", "1600", "win").code == 1  # Elo has none
