"""What the engine takes for a kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledger.errors import ProjectionError
from ledger.kernels import compiled


def made(amount: float) -> Callable[[list[float]], None]:
    def kernel(state: list[float]) -> None:
        state[0] += amount

    return kernel


def test_a_kernel_with_values_from_around_it_is_refused_by_name() -> None:
    with pytest.raises(ProjectionError, match="plain function at module level"):
        compiled(made(1.0))
