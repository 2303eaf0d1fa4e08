"""Packages that are not there."""

from __future__ import annotations


class Missing:
    """Stands for a package that is not installed."""

    def __getattr__(self, name: str) -> None:
        raise ModuleNotFoundError(name)
