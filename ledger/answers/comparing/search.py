"""The search for the point of a grid with the least loss: Sobol points first, then pattern searches. Pure.

The order of the points depends on the seed and on the losses alone. A round's points are chosen before any of them is
tried, so that they may be tried at the same time by any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from math import inf

Point = tuple[int, ...]  # a place on each axis of the grid, 0 to its size
Evaluate = Callable[[Sequence[Point]], Sequence[float]]

# Primitive polynomials and first direction numbers of the axes after the first one: S. Joe and F. Y. Kuo,
# new-joe-kuo-6.21201 (SIAM J. Sci. Comput. 30, 2635-2654, 2008): the coefficients a, then m_1, m_2, ...
_DIRECTIONS = (
    (0, (1,)), (1, (1, 3)), (1, (1, 3, 1)), (2, (1, 1, 1)), (1, (1, 1, 3, 3)), (4, (1, 3, 5, 13)),
    (2, (1, 1, 5, 5, 17)), (4, (1, 1, 5, 5, 5)), (7, (1, 1, 7, 11, 19)),
)  # fmt: skip
MOST_AXES = 1 + len(_DIRECTIONS)
_BITS = 32
FINEST = 256  # a pattern search ends with steps of this part of an axis


def search(sizes: Sequence[int], start: Point, trials: int, seed: int, evaluate: Evaluate) -> dict[Point, float]:
    """Return the loss of each point tried, in the order of the trials; no point is tried twice.

    A quarter to a half of the trials are Sobol points. Pattern searches begin with the best of them that are far from
    each other. The last trials are the ends of each axis through the best point.

    Args:
        sizes: the last place on each axis.
        start: the first point.
        trials: how many points to try at most.
        seed: moves the Sobol points.
        evaluate: returns the losses of points; infinite: the point is not possible.
    """
    losses: dict[Point, float] = {}

    def attempt(points: Sequence[Point], until: int) -> None:
        new = [point for point in dict.fromkeys(points) if point not in losses][: max(0, until - len(losses))]
        losses.update(zip(new, evaluate(new) if new else (), strict=True))

    def centres() -> Iterator[Point]:
        visited: list[Point] = []
        for point in sorted(first, key=losses.__getitem__):
            if not any(_is_near(point, other, sizes) for other in visited) and losses[point] < inf:
                end = _descend(point, sizes, losses, lambda points: attempt(points, searched))
                visited += [point, end]
                yield end

    ends, searched = 2 * len(sizes), max(1, trials - 2 * len(sizes))
    attempt([start, *islice(sobol_points(sizes, seed), 1 << max(0, trials.bit_length() - 2))], searched)
    first = list(losses)
    for _ in centres():
        if len(losses) >= searched:
            break
    attempt([end for axis in range(len(sizes)) for end in axis_ends(best_point(losses), axis, sizes)], searched + ends)
    return losses


def best_point(losses: dict[Point, float]) -> Point:
    """Return the point with the least loss, of several the one tried first."""
    return min(losses, key=losses.__getitem__)


def axis_ends(point: Point, axis: int, sizes: Sequence[int]) -> tuple[Point, Point]:
    """Return the points at both ends of an axis through a point."""
    return _moved(point, axis, -sizes[axis], sizes), _moved(point, axis, sizes[axis], sizes)


def _descend(
    centre: Point, sizes: Sequence[int], losses: dict[Point, float], attempt: Callable[[Sequence[Point]], None]
) -> Point:
    """Return where a compass search ends: it steps along the axes, and halves the steps where none is better."""
    steps, before = [max(1, size // 4) for size in sizes], None
    while True:
        polls = [_moved(centre, axis, turn * steps[axis], sizes) for axis in range(len(sizes)) for turn in (-1, 1)]
        if before is not None:  # the last step once more, which follows a valley that lies across the axes
            twice = (2 * now - was for now, was in zip(centre, before, strict=True))
            polls.append(tuple(min(max(place, 0), size) for place, size in zip(twice, sizes, strict=True)))
        attempt(polls)
        best = min(polls, key=lambda point: losses.get(point, inf))
        if losses.get(best, inf) < losses[centre]:
            before, centre = centre, best
            continue
        if any(point not in losses for point in polls) or all(
            step <= max(1, size // FINEST) for step, size in zip(steps, sizes, strict=True)
        ):
            return centre
        steps, before = [max(1, step // 2) for step in steps], None


def _moved(point: Point, axis: int, by: int, sizes: Sequence[int]) -> Point:
    return (*point[:axis], min(max(point[axis] + by, 0), sizes[axis]), *point[axis + 1 :])


def _is_near(point: Point, other: Point, sizes: Sequence[int]) -> bool:
    """Return whether two points are within a quarter of each axis."""
    return all(abs(a - b) * 4 <= size for a, b, size in zip(point, other, sizes, strict=True))


def sobol_points(sizes: Sequence[int], seed: int) -> Iterator[Point]:
    """Yield the points of a Sobol sequence on a grid of at most ``MOST_AXES``, moved by a digital shift of the seed."""
    directions = [_directions(axis) for axis in range(len(sizes))]
    state = [int.from_bytes(sha256(f"{seed} {axis}".encode()).digest()[:4]) for axis in range(len(sizes))]
    for index in range((1 << _BITS) - 1):
        yield tuple(number * (size + 1) >> _BITS for number, size in zip(state, sizes, strict=True))
        # Gray code: the next point differs by the direction of the lowest 0 of the index (Antonov and Saleev 1979)
        low = (~index & (index + 1)).bit_length() - 1
        state = [number ^ of_axis[low] for number, of_axis in zip(state, directions, strict=True)]


def _directions(axis: int) -> list[int]:
    """Return the direction numbers of an axis as binary fractions of 32 bits."""
    if axis == 0:
        return [1 << (_BITS - 1 - bit) for bit in range(_BITS)]
    coefficients, first = _DIRECTIONS[axis - 1]
    numbers, degree = list(first), len(first)
    for bit in range(degree, _BITS):
        number = numbers[bit - degree] ^ (numbers[bit - degree] << degree)
        for turn in range(1, degree):
            if coefficients >> (degree - 1 - turn) & 1:
                number ^= numbers[bit - turn] << turn
        numbers.append(number)
    return [number << (_BITS - 1 - bit) for bit, number in enumerate(numbers)]
