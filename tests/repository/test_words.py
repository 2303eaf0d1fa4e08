"""The words of the code: docstrings have a subject and a verb, and new names take the field's words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.kit.code import nodes_of, sources

# "What is told", "Whether it stands": a stranger looks for the noun. A function's line begins with a verb, those of a
# class and a property with a noun, that of a predicate with "Return whether" or "True if".
HEADLESS = re.compile(r"(?:What|Who|Whose|Whom|Whether|Whoever|Why|How|That|Those|The same|Of |Which|Nothing|As of)\b")
# For each of these the field has another word: report or submission, current or former, next to, again, a person.
HOUSE = re.compile(
    r"(?i:(?:^|_)(?:tells?|told|tellings?|stands?|stood|anew|alike|aside|beside|whoever|somebody|nobody|mend|mended)(?:_|$))"
    r"|Told|Telling"
)
# Those that are stored, public, or not renamed yet. The list may only become shorter.
KEPT = {
    "NOBODY", "SET_ASIDE", "_BESIDE", "_BESIDE_GAMES", "_MOVES_NOBODY", "_STAND", "_STANDS", "_TOLD_SO", "_aside",
    "_mend", "_nobody", "_stands", "alike", "alike_count", "kinds_told", "look_alike", "mend", "mended",
    "player_as_told", "record_alike", "stands", "tells",
}  # fmt: skip


def described(module: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and docstring of the classes and functions of a module."""
    for node in nodes_of(sources("ledger", "tools")[module]):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name, ast.get_docstring(node) or ""


def named(module: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything that a module of the library names, but for its tests of contracts."""
    for node in nodes_of(sources("ledger")[module]):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("test_"):
                    yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case _:
                pass


def test_the_first_line_of_a_docstring_has_a_subject_and_a_verb() -> None:
    headless = {
        module: lines
        for module in sources("ledger", "tools")
        if (lines := [(line, name) for line, name, words in described(module) if HEADLESS.match(words)])
    }
    assert headless == {}


def test_new_names_take_the_words_of_the_field() -> None:
    names = {name for module in sources("ledger") for _, name in named(module) if HOUSE.search(name)}
    assert names - KEPT == set()
    assert KEPT - names == set(), "these are gone: take them out of the list"
