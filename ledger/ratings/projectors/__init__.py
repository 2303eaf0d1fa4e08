"""The projectors that are installed: plug-ins from the entry points ``ledger.projectors``.

The rating history is no projector: it is the ledger's own table (``ratings.history``).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from ledger.errors import ProjectionError
from ledger.ratings.projector import Projector
from ledger.runtime.plugins import loaded


@cache
def available() -> tuple[Projector, ...]:
    """The installed projectors, by the names of their entry points.

    Raises:
        ProjectionError: two have one name, or one cannot be loaded.
    """
    found: dict[str, Projector] = {}
    for point in sorted(entry_points(group="ledger.projectors"), key=lambda point: point.name):
        projector = loaded(point)
        if projector.name in found:
            raise ProjectionError(projector.name, f"entry point {point.value!r} takes a name that is taken")
        found[projector.name] = projector
    return tuple(found.values())
