"""White's advantage: fitted to earlier games by a comparison, taken by predictions, and by no rating."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.answers.comparing.comparison import Comparison, candidate, compare, pool_candidate
from ledger.errors import MalformedError
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.schemes import built_in_schemes
from ledger.schemes.formulas.white_advantage import advantage_in, with_advantage
from tests.kit.games import source_game

NOW = datetime(2024, 1, 1, tzinfo=UTC)
FIRST = datetime(2020, 1, 1, tzinfo=UTC)
GAMES = 400


def club_of_equals(path: Path, settings: dict[str, Any] | None = None) -> Path:
    """A game a day of players who are equals; White wins two thirds of them, 191 points."""
    random = Random(3)
    games = []
    for i in range(GAMES):
        white, black = random.sample(("Ann", "Bob", "Cleo", "Dan"), 2)
        day = f"{FIRST + timedelta(days=i):%Y-%m-%d}"
        outcome = random.choices(("white", "draw", "black"), (4, 1, 1))[0]
        games.append(source_game(f"g{i}", white, black, outcome=outcome, termination="resignation", ended_at=day))
    with Ledger.create(path, scheme="elo", settings=settings, clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(games))
        ledger.catch_up()
    return path


@pytest.fixture(name="equals", scope="module")
def _equals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return club_of_equals(tmp_path_factory.mktemp("equals") / "club.db")


@pytest.fixture(name="with_edge", scope="module")
def _with_edge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return club_of_equals(tmp_path_factory.mktemp("edge") / "club.db", {"white_advantage": "45.5"})


def compared(path: Path, settings: dict[str, Any] | None = None, **options: Any) -> Comparison:
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        chosen = pool_candidate(ledger.pool(), "elo", settings), candidate("glicko")
        return compare(ledger, chosen, timer=lambda: 0.0, **options)


def test_thirty_points_make_543_per_mille_of_an_even_game() -> None:
    assert with_advantage(0.5, 30.0) == pytest.approx(1 / (1 + 10 ** (-30 / 400)), abs=1e-15)
    assert with_advantage(0.5, -30.0) == pytest.approx(1 - with_advantage(0.5, 30.0), abs=1e-15)
    assert [with_advantage(certain, 30.0) for certain in (0.0, 1.0)] == [0.0, 1.0]
    assert with_advantage(0.123456789, 0.0) == 0.123456789, "without points no bit changes"


@pytest.mark.parametrize("value", [401, "-400.5", True, "thirty", "1e2"])
def test_an_advantage_that_is_no_number_of_points_is_refused(value: Any) -> None:
    for scheme in built_in_schemes():
        with pytest.raises(MalformedError, match="setting 'white_advantage': expected a number from -400 to 400, got"):
            scheme.numbers_from({"white_advantage": value})


@pytest.mark.parametrize(("value", "points"), [(30, 30.0), ("-12.5", -12.5), ("400", 400.0)])
def test_an_advantage_is_a_whole_number_or_a_decimal_and_no_number_of_a_kernel(value: Any, points: float) -> None:
    assert advantage_in({"white_advantage": value}) == points
    assert advantage_in({}) == 0.0
    for scheme in built_in_schemes():
        assert scheme.numbers_from({"white_advantage": value}) == scheme.numbers_from({})


def test_a_comparison_fits_it_to_the_first_half_and_tries_it_on_the_second(equals: Path) -> None:
    found = compared(equals)
    assert (found.fitted_games, found.later_games) == (GAMES // 2, GAMES // 2)
    for figures in found.schemes:
        assert figures.white_advantage is not None
        assert figures.log_loss_with_advantage is not None
        assert figures.log_loss_without_advantage is not None
        assert 120.0 < figures.white_advantage < 270.0
        assert figures.log_loss_with_advantage < figures.log_loss_without_advantage


def test_a_window_is_predicted_by_the_games_before_it(equals: Path) -> None:
    found = compared(equals, since="2020-11")
    before = (datetime(2020, 11, 1, tzinfo=UTC) - FIRST).days
    assert (found.fitted_games, found.later_games, found.in_window) == (before, GAMES - before, GAMES - before)
    assert all(figures.log_loss_without_advantage == figures.log_loss for figures in found.schemes)


def test_to_fewer_games_than_fifty_nothing_is_fitted(equals: Path) -> None:
    found = compared(equals, since="2020-02")
    assert (found.fitted_games, found.later_games) == (0, 0)
    assert {figures.white_advantage for figures in found.schemes} == {None}
    assert {figures.log_loss_with_advantage for figures in found.schemes} == {None}


def test_a_candidate_with_the_advantage_is_measured_with_it_and_fitted_as_without(equals: Path) -> None:
    plain = compared(equals, since="2020-11").schemes[0]
    told = compared(equals, {"white_advantage": str(plain.white_advantage)}, since="2020-11").schemes[0]
    assert told.log_loss == plain.log_loss_with_advantage
    assert told.white_advantage == plain.white_advantage
    assert (told.mean, told.spread, told.years) == (plain.mean, plain.spread, plain.years)


def test_the_pool_predicts_with_it_and_rates_without(equals: Path, with_edge: Path) -> None:
    with Ledger.open(equals, clock=lambda: NOW) as plain, Ledger.open(with_edge, clock=lambda: NOW) as ledger:
        assert [(row.name, row.rating) for row in ledger.ranking()] == [
            (row.name, row.rating) for row in plain.ranking()
        ]
        without, told = plain.predict("Ann", "Bob"), ledger.predict("Ann", "Bob")
    assert without.with_white == without.with_black == without.expected_score == told.expected_score
    assert told.with_white == with_advantage(told.expected_score, 45.5)
    assert told.with_black == with_advantage(told.expected_score, -45.5)
    assert (told.win, told.draw, told.loss) == (without.win, without.draw, without.loss)
