"""The rating schemes: the files of this package, and plug-ins from the entry points ``ledger.schemes``.

A scheme's module is loaded when the scheme is asked for: most answers need one of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

import attrs

from ledger.errors import LedgerError, UnknownNameError
from ledger.facts.events import SchemeAdopted
from ledger.runtime import arith, plugins
from ledger.runtime.nearest import expected_names
from ledger.runtime.plugins import load_plugins
from ledger.schemes.scheme import Scheme
from ledger.schemes.scheme_faults import faults_of_scheme

_NO_SCHEMES = {"scheme", "scheme_faults", "settings"}  # what a scheme is, what may be wrong with it, its settings


@cache
def built_in_names() -> tuple[str, ...]:
    """Return the names of the built-in schemes: each is a file of this package, ``ecf-grade`` in ``ecf_grade``."""
    # The package among them, ``formulas``, holds what several schemes need, and is no scheme itself.
    files = {module.name for module in iter_modules(__path__) if not module.ispkg}
    return tuple(sorted(name.replace("_", "-") for name in files - _NO_SCHEMES))


@cache
def _built_in(name: str) -> Scheme:
    scheme: Scheme = import_module(f"{__name__}.{name.replace('-', '_')}").SCHEME
    return scheme


def built_in_schemes() -> tuple[Scheme, ...]:
    """Return every built-in scheme, by name."""
    return tuple(_built_in(name) for name in built_in_names())


@cache
def available_schemes() -> dict[str, Scheme]:
    """Return every scheme by name, except broken plug-ins. A plug-in may not take the name of a built-in one."""
    points = (point for name, point in _points().items() if name not in built_in_names())
    offered, _ = load_plugins(points, Scheme, faults_of_scheme)
    schemes = {scheme.name: scheme for scheme in built_in_schemes()}
    for scheme in offered.values():
        schemes.setdefault(scheme.name, scheme)
    return schemes


def _points() -> dict[str, EntryPoint]:
    """Return the entry points of schemes by their names; no plug-in is loaded."""
    return {point.name: point for point in entry_points(group="ledger.schemes")}


def scheme_names() -> list[str]:
    """Return the names of the schemes, as the entry points have them; no scheme is loaded."""
    return sorted({*built_in_names(), *_points()})


def package_of(name: str) -> str | None:
    """Return the package that brings a scheme; None for a built-in one, and if it is not known."""
    point = None if name in built_in_names() else _points().get(name)
    return None if point is None else plugins.package_of(point)


def find_scheme(name: str) -> Scheme:
    """Return the scheme of that name.

    Raises:
        UnknownNameError: there is none; the known ones are listed.
        ProjectionError: the plug-in that brings it is broken; it and its package are named.
    """
    # entry points are read only for what is not built in
    if name in built_in_names():
        return _built_in(name)
    schemes = available_schemes()
    if name in schemes:
        return schemes[name]
    point = _points().get(name)
    if point is not None:
        plugins.load_plugin(point, Scheme, faults_of_scheme)  # raises with the reason
    raise UnknownNameError("scheme", name, expected_names(name, schemes), where="installed")


def complete_adoption(event: SchemeAdopted, *, stored: bool = False) -> SchemeAdopted:
    """Return an adoption as it is recorded: with every setting, and the versions of scheme and arithmetic.

    Args:
        event: the adoption. One of a scheme that is not installed stays as it is: the rules refuse it.
        stored: whether it is in a journal, so that settings that it does not name are those of its time.
    """
    try:
        scheme = find_scheme(event.scheme)
    except LedgerError:
        return event
    settings = scheme.adopted_settings(event.settings) if stored else scheme.complete_settings(event.settings)
    return attrs.evolve(event, settings=settings, scheme_version=scheme.version, arithmetic=arith.VERSION)
