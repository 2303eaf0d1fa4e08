"""The projectors that are installed: plug-ins from the entry points ``ledger.projectors``.

The rating history is no projector: it is the ledger's own table (``ratings.history``).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from ledger.errors import ProjectionError
from ledger.ratings.projector import Projector
from ledger.runtime.plugins import loadable


@cache
def _installed() -> tuple[tuple[Projector, ...], dict[str, ProjectionError]]:
    """The projectors, and by the name of the entry point why one cannot be loaded."""
    offered, failed = loadable(entry_points(group="ledger.projectors"), Projector)
    found: dict[str, Projector] = {}
    for point, projector in offered.items():
        if projector.name in found:
            raise ProjectionError(projector.name, f"entry point {point!r} takes a name that is taken")
        found[projector.name] = projector
    return tuple(found.values()), failed


def available() -> tuple[Projector, ...]:
    """The installed projectors, by the names of their entry points; those of broken plug-ins are left out.

    Raises:
        ProjectionError: two have one name.
    """
    return _installed()[0]


def broken() -> dict[str, ProjectionError]:
    """By name of a projector that is installed and cannot be loaded, why; a ledger with its table needs it."""
    return _installed()[1]
