"""Loading plug-ins from the entry points of installed packages, and remembering the broken ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint
from typing import Any

from ledger.errors import LedgerError, ProjectionError, one_line

# Those that this process does without: by the value of the entry point that it tried to load, or by their own name.
_broken: dict[str, ProjectionError] = {}


def no_faults(_offered: object) -> tuple[str, ...]:
    """Return no faults: the default check of a plug-in."""
    return ()


def package_of(point: EntryPoint) -> str | None:
    """Return the name of the package that declares an entry point; None if it is not known."""
    return point.dist.name if point.dist is not None else None


def load_plugin(
    point: EntryPoint,
    kind: type | tuple[type, ...] | None = None,
    faults_of: Callable[[Any], Iterable[str]] = no_faults,
) -> Any:
    """Load the plug-in of an entry point.

    Args:
        point: the entry point.
        kind: the class, or one of the classes, that the plug-in must be an instance of; None for any.
        faults_of: a check that yields messages about a plug-in's faults.

    Raises:
        ProjectionError: it cannot be loaded, or is something else; the package is broken or of another version.
    """
    try:
        offered = point.load()
        if kind is not None and not isinstance(offered, kind):
            right = " or ".join(f"a {each.__name__}" for each in (kind if isinstance(kind, tuple) else (kind,)))
            raise TypeError(f"{type(offered).__name__}, where {right} should stand")  # noqa: TRY301  # named below
        if faults := "; ".join(faults_of(offered)):
            raise ProjectionError(point.name, faults)  # noqa: TRY301  # with its package below
    except Exception as error:  # another author's module may raise anything when it is imported
        package = package_of(point)
        owner = f"package {package!r}" if package else "a package without a name"
        # our errors state file, line and remedy, and are reported in full
        is_ours = isinstance(error, LedgerError)
        failure = str(error) if is_ours else f"{type(error).__name__}: {one_line(error)}"
        way_out = "correct it, or remove the package" if is_ours else "install the package again, or remove it"
        message = f"the plug-in {point.value!r} of {owner} cannot be loaded ({failure}): {way_out}"
        raise ProjectionError(point.name, message) from error
    return offered


def load_plugins(
    points: Iterable[EntryPoint],
    kind: type | tuple[type, ...] | None = None,
    faults_of: Callable[[Any], Iterable[str]] = no_faults,
) -> tuple[dict[str, Any], dict[str, ProjectionError]]:
    """Load the plug-ins of entry points; return them, and the errors of broken ones, by name in alphabetical order."""
    plugins: dict[str, Any] = {}
    failed: dict[str, ProjectionError] = {}
    for point in sorted(points, key=lambda point: (point.name, point.value)):  # installed in any order, one answer
        try:
            offered = load_plugin(point, kind, faults_of)
        except ProjectionError as error:
            failed[point.name] = _broken[point.value] = error
            continue
        plugins[point.name if point.name not in plugins else f"{point.name} ({point.value})"] = offered
    return plugins, failed


def mark_broken(error: ProjectionError) -> None:
    """Remember a plug-in as broken."""
    _broken[error.projector] = error


def broken_plugins() -> tuple[ProjectionError, ...]:
    """Return the errors of the plug-ins that failed in this process; commands report them."""
    return tuple(_broken[value] for value in sorted(_broken))
