"""Reading source code as the tests of its shape do."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.kit.places import ROOT


@cache
def sources(*packages: str) -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    found = {}
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Every node of a file, walked once for all who ask about each."""
    return list(ast.walk(tree_of(path)))


def imported_names(nodes: Iterable[ast.AST], package: str = "") -> Iterator[str]:
    """Dotted names of what these nodes import: ``from a import b`` gives ``a.b``.

    Only the tools import relative to their own *package*: they stand elsewhere when installed.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            if node.level:
                assert package.startswith("tools"), "the library's imports are absolute"
                parts = package.split(".")
                start = ".".join([*parts[: len(parts) + 1 - node.level], *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)
