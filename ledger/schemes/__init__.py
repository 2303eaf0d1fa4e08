"""The rating schemes: built-in ones in a table that one can read, plug-ins from the entry points ``ledger.schemes``.

A scheme's module is loaded when the scheme is asked for: most answers need one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from ledger.errors import UnknownNameError
from ledger.schemes.base import Scheme

# Name -> module in this package; each has its SCHEME.
BUILT_IN: Mapping[str, str] = {
    "chessmetrics": "chessmetrics",
    "chessworld": "chessworld",
    "ecf-grade": "ecf_grade",
    "ecf-monthly": "ecf_monthly",
    "elo": "elo",
    "fide": "fide",
    "glicko": "glicko",
    "glicko2": "glicko2",
    "harkness": "harkness",
    "iccf": "iccf",
    "lichess": "lichess",
    "nothingbutchess": "nothingbutchess",
    "playchess": "playchess",
    "playchess-dummies": "playchess_dummies",
    "savard": "savard",
    "uschess": "uschess",
}


@cache
def _built_in(name: str) -> Scheme:
    scheme: Scheme = import_module(f"{__name__}.{BUILT_IN[name]}").SCHEME
    return scheme


def built_in() -> tuple[Scheme, ...]:
    """Every built-in scheme, by name."""
    return tuple(_built_in(name) for name in BUILT_IN)


@cache
def available() -> dict[str, Scheme]:
    """Every scheme by name. A plug-in may not take the name of a built-in one: that one stays."""
    schemes = {scheme.name: scheme for scheme in built_in()}
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
    if name in BUILT_IN:  # entry points are read only for what is not built in
        return _built_in(name)
    try:
        return available()[name]
    except KeyError:
        raise UnknownNameError("scheme", name, f"expected one of {sorted(available())}") from None
