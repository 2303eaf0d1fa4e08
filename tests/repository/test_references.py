"""The names that docstrings and comments have in double backquotes exist: ``Class.method``, ``package.module``."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.kit.code import nodes_of, sources, tree_of
from tests.kit.places import ROOT

_DOTTED = re.compile(r"``([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(\))?``")
_FILE = frozenset({"toml", "json", "csv", "db", "checkpoints", "reader"})  # names of files and of other programs


def attributes_of(kind: ast.ClassDef) -> Iterator[str]:
    """Names of what a class has, those that its methods set among them; ``<name>`` for a base."""
    yield from (f"<{base.id}>" for base in kind.bases if isinstance(base, ast.Name))
    for node in ast.walk(kind):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name | ast.Attribute):
            yield node.target.id if isinstance(node.target, ast.Name) else node.target.attr
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Attribute):
                        yield part.attr
                    elif isinstance(part, ast.Name):
                        yield part.id


def names_in(path: Path) -> Iterator[str]:
    """Names of the top level of a module."""
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name
        else:
            for part in ast.walk(node):
                if isinstance(part, ast.Name):
                    yield part.id
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value  # of a table of names that are imported only when they are used


def test_what_a_text_names_by_its_class_or_package_is_there() -> None:
    files = sources("ledger", "tools")
    classes: dict[str, set[str]] = defaultdict(set)
    packages: dict[str, set[str]] = defaultdict(set)
    for name, path in files.items():
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                classes[node.name].update(attributes_of(node))
        if path.name == "__init__.py":
            inside = {each.stem for each in path.parent.iterdir()}
            packages[name.rpartition(".")[2]] |= inside | set(names_in(path))

    def has(kind: str, attribute: str) -> bool:
        bases = {name[1:-1] for name in classes[kind] if name.startswith("<")}
        if attribute in classes[kind]:
            return True
        return any(base not in classes or has(base, attribute) for base in bases)

    gone = []
    for path in files.values():
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for reference in _DOTTED.findall(line):
                first, second = [*reference.removeprefix("ledger.").split("."), ""][:2]
                if reference.rpartition(".")[2] in _FILE:
                    continue
                lacks_it = first in classes and second and not has(first, second)
                if lacks_it or (first in packages and second and second not in packages[first]):
                    gone.append(f"{path.relative_to(ROOT)}:{number}: {reference}")
    assert gone == []
