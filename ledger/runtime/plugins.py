"""Plug-ins: what the entry points of installed packages offer."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

from ledger.errors import ProjectionError, one_line


def loaded(point: EntryPoint) -> Any:
    """What an entry point stands for.

    Raises:
        ProjectionError: it cannot be loaded; the package that offers it is broken or of another version.
    """
    try:
        return point.load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        message = (
            f"the plug-in {point.value!r} cannot be loaded ({type(error).__name__}: {one_line(error)}): install the "
            "package again that offers it, or remove it"
        )
        raise ProjectionError(point.name, message) from error
