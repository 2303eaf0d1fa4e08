"""The projectors: built-in ones in a tuple, plug-ins from the entry points ``ledger.projectors``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from ledger.errors import ProjectionError
from ledger.ratings.projector import Projector
from ledger.ratings.projectors.history import HISTORY

DEFAULT: tuple[Projector, ...] = (HISTORY,)


@cache
def available() -> tuple[Projector, ...]:
    """The built-in projectors in their order, then those of installed plug-ins by name.

    Raises:
        ProjectionError: a plug-in takes a name that is taken.
    """
    found = {projector.name: projector for projector in DEFAULT}
    for point in sorted(entry_points(group="ledger.projectors"), key=lambda point: point.name):
        projector = point.load()
        if projector is found.get(projector.name):
            continue  # a built-in one, registered exactly like a plug-in
        if projector.name in found:
            raise ProjectionError(projector.name, f"entry point {point.value!r} takes a name that is taken")
        found[projector.name] = projector
    return tuple(found.values())
