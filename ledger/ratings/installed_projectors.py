"""The installed projectors: the built-in ones (``projectors``) and plug-ins, all from ``ledger.projectors``.

Built-in ones are entry points like plug-ins; ``BUILT_IN`` is their order, and what a ledger keeps if an installation is
older than its files. The rating history is no projector: it is the ledger's own table (``projectors.history``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points

from ledger.errors import ProjectionError
from ledger.ratings.fact_projector import DeclaredFactProjector, ReadModel
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.projectors import bests, highest_lowest, streaks, time_losses, tournament_performance, upsets
from ledger.ratings.read_models import InstalledProjectors
from ledger.runtime.plugins import load_plugins

BUILT_IN: tuple[ReadModel, ...] = (
    highest_lowest.PROJECTOR,
    bests.PROJECTOR,
    streaks.PROJECTOR,
    time_losses.PROJECTOR,
    upsets.PROJECTOR,
)
RETIRED = frozenset({tournament_performance.NAME})  # an installation that is older than its files still offers them


@cache
def _installed() -> tuple[tuple[ReadModel, ...], dict[str, ProjectionError]]:
    """Return the projectors, and by name of an entry point why it cannot be loaded."""
    points = (point for point in entry_points(group="ledger.projectors") if point.name not in RETIRED)
    offered, failed = load_plugins(points, (DeclaredProjector, DeclaredFactProjector))
    by_name = {projector.name: projector for projector in BUILT_IN}
    for point, projector in offered.items():
        if projector in BUILT_IN:
            continue
        if projector.name in by_name:
            raise ProjectionError(projector.name, f"entry point {point!r} takes a name that is taken; give it another")
        by_name[projector.name] = projector
    return tuple(by_name.values()), failed


def installed_projectors() -> tuple[ReadModel, ...]:
    """Return the installed projectors: built-in ones first, then the others by entry point, without broken plug-ins.

    Raises:
        ProjectionError: two have one name.
    """
    return _installed()[0]


def projectors_for(projectors: Sequence[ReadModel] | None = None) -> InstalledProjectors:
    """Return the projectors of a process that makes the tables of *projectors*, by default of the built-in ones.

    Raises:
        ProjectionError: two have one name.
    """
    kinds = {made.name: type(made) for made in installed_projectors()}
    built_in = {made.name: made.made for made in BUILT_IN}
    for made in projectors or ():
        if kinds.get(made.name, type(made)) is not type(made):
            raise ProjectionError(made.name, "takes the name of an installed projector of another kind")
        if built_in.get(made.name, made.made) is not made.made:
            raise ProjectionError(made.name, "takes the name of a projector of the ledger; give it another name")
    return InstalledProjectors(
        BUILT_IN if projectors is None else projectors, installed_projectors(), broken_projectors()
    )


def broken_projectors() -> dict[str, ProjectionError]:
    """Return, by name of an installed projector that cannot be loaded, the reason.

    A ledger with its table needs it.
    """
    return _installed()[1]
