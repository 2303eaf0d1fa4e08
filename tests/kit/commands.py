"""Running a command of ``tools`` within the test: what the fixture ``run`` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]
