"""The search of a study: its Sobol points, its pattern searches, and that neither depends on workers."""

from collections.abc import Sequence
from itertools import combinations, islice
from math import inf

import pytest

from ledger.answers.comparing.search import MOST_AXES, Point, best_point, search, sobol_points


@pytest.mark.parametrize("seed", [0, 1, 2**53])
def test_every_2_to_the_n_sobol_points_lie_once_in_each_part_of_each_axis(seed: int) -> None:
    points = list(islice(sobol_points([255] * MOST_AXES, seed), 512))
    for some in (points[:256], points[256:]):
        assert all(sorted(axis) == list(range(256)) for axis in zip(*some, strict=True))


def test_the_first_two_axes_share_out_the_plane_in_every_way() -> None:
    points = list(islice(sobol_points([63, 63], 3), 64))
    for bits in range(7):  # 2^bits columns of 2^(6-bits) rows: one point in each
        assert len({(x >> (6 - bits), y >> bits) for x, y in points}) == 64


def test_no_two_axes_are_alike() -> None:
    axes = list(zip(*islice(sobol_points([1023] * MOST_AXES, 0), 64), strict=True))
    assert all(one != other for one, other in combinations(axes, 2))


def bowl(points: Sequence[Point]) -> list[float]:
    """Least at 317, 90, in a valley that lies across the axes."""
    return [2 * (x - 317) ** 2 + (y - 90) ** 2 + 1.5 * (x - 317) * (y - 90) for x, y in points]


@pytest.mark.parametrize("seed", range(5))
def test_the_least_point_of_a_bowl_is_reached_to_a_hundredth_of_the_range(seed: int) -> None:
    losses = search([1000, 2000], (990, 1990), 200, seed, bowl)
    x, y = best_point(losses)
    assert len(losses) <= 200
    assert abs(x - 317) <= 10
    assert abs(y - 90) <= 20


def test_the_deeper_one_of_two_hollows_is_taken() -> None:
    def hollows(points: Sequence[Point]) -> list[float]:
        return [min((x - 100) ** 2 + 500.0, 3.0 * (x - 800) ** 2) for (x,) in points]

    assert all(best_point(search([1000], (100,), 80, seed, hollows))[0] in range(790, 811) for seed in range(5))


def test_no_point_is_tried_twice_and_a_small_grid_is_tried_once() -> None:
    tried: list[Point] = []

    def note(points: Sequence[Point]) -> list[float]:
        tried.extend(points)
        return [float(x) for (x,) in points]

    losses = search([6], (3,), 200, 1, note)
    assert sorted(tried) == [(x,) for x in range(7)] == sorted(losses)
    assert best_point(losses) == (0,)


def test_a_round_is_chosen_before_any_of_its_points_is_tried() -> None:
    one_by_one = search([1000, 2000], (5, 5), 100, 7, lambda points: [bowl([point])[0] for point in points])
    assert list(one_by_one.items()) == list(search([1000, 2000], (5, 5), 100, 7, bowl).items())


def test_the_ends_of_the_axes_are_tried_last_and_points_that_are_not_possible_are_left() -> None:
    def half(points: Sequence[Point]) -> list[float]:
        return [inf if x < 500 else float(x - 500 + y) for x, y in points]

    losses = search([1000, 1000], (0, 0), 120, 1, half)
    x, y = best_point(losses)
    assert (x - 500 + y) < 20
    assert {(0, y), (1000, y), (x, 0), (x, 1000)} <= losses.keys()
