"""How far a long work is: what it calls while it goes on. Bars are drawn by the tools."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (what, done, of how many)


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
