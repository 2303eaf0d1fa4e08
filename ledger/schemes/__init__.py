"""The rating schemes: built-in ones in a tuple that one can read, plug-ins from the entry points ``ledger.schemes``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from ledger.errors import UnknownNameError
from ledger.schemes import (
    chessmetrics,
    chessworld,
    ecf_grade,
    ecf_monthly,
    elo,
    fide,
    glicko,
    glicko2,
    harkness,
    iccf,
    nothingbutchess,
    playchess,
    playchess_dummies,
    savard,
    uschess,
)
from ledger.schemes.base import Scheme

BUILT_IN: tuple[Scheme, ...] = (
    chessmetrics.SCHEME,
    chessworld.SCHEME,
    ecf_grade.SCHEME,
    ecf_monthly.SCHEME,
    elo.SCHEME,
    fide.SCHEME,
    glicko.SCHEME,
    glicko2.SCHEME,
    harkness.SCHEME,
    iccf.SCHEME,
    nothingbutchess.SCHEME,
    playchess.SCHEME,
    playchess_dummies.SCHEME,
    savard.SCHEME,
    uschess.SCHEME,
)


@cache
def available() -> dict[str, Scheme]:
    """Every scheme by name. A plug-in may not take the name of a built-in one: that one stays."""
    schemes = {scheme.name: scheme for scheme in BUILT_IN}
    for point in sorted(entry_points(group="ledger.schemes"), key=lambda point: point.name):
        if point.name not in schemes:
            scheme = point.load()
            schemes[scheme.name] = scheme
    return schemes


def named(name: str) -> Scheme:
    """The scheme of that name.

    Raises:
        UnknownNameError: there is none; the known ones are listed.
    """
    for scheme in BUILT_IN:  # entry points are read only for what is not built in
        if scheme.name == name:
            return scheme
    try:
        return available()[name]
    except KeyError:
        raise UnknownNameError("scheme", name, f"expected one of {sorted(available())}") from None
