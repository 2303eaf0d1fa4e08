"""Wrong programs that the tests must not let pass: one small change of the code each, drawn at random.

    pip install coverage
    python -m tests.mutants --trace traced            which test runs which line; half an hour
    python -m tests.mutants traced --seed 1 --count 200

Each change is written into a copy of the checkout, and the tests run there that run its line, until one of them fails:
those first that are of its file. Then come the rails that hold every change. Whoever is killed by none is printed with
the line as it was and as it is; whether it can be told from the right program at all, a person says. Lines that nothing
runs, such as types that only a checker reads, are no part of the draw.

Of the 200 of seed 1 at commit 7206bc69, 16 change nothing that anybody can see. The tests noticed 167 of the other 184;
the last 17 have tests since.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
TELLS = "LEDGER_TRACED"  # the environment's name for the file to which seconds by test are written
ROOMS = ("book", "journal", "ratings", "correcting")
# Tests of these rooms, and those that go through all of them; what starts servers or browsers is left out.
TRACED = (
    "tests/journal", "tests/book", "tests/ratings", "tests/correcting", "tests/answers", "tests/audit",
    "tests/policies", "tests/postgres", "tests/publishing", "tests/registering", "tests/contracts", "tests/costs",
    "tests/errors", "tests/crashes/test_killed_verbs.py",
)  # fmt: skip
RAILS = ("tests/histories/test_drawn_histories.py", "tests/histories/test_properties.py")
NEAR, FAR = 80, 120  # at most so many tests that run a line, of its own file and of others
AROUND = {"LEDGER_PROFILE": "ci", "POLARS_MAX_THREADS": "1"}  # what "sh tools/run test --all" runs notices a change
SECONDS = 1_200.0  # for one run of tests: a program that hangs is killed, too
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_RECKONED: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*"}


_seconds: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Lines that run from here on are those of this test, with what prepares it."""
    traced = import_module("coverage").Coverage.current()
    traced.switch_context(item.nodeid)
    begun = time.perf_counter()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid] = time.perf_counter() - begun
        traced.switch_context("")


def pytest_sessionfinish() -> None:
    """Keep how long each took."""
    Path(os.environ[TELLS]).write_text(json.dumps(_seconds), "utf-8")


class Mutant(NamedTuple):
    """A change of one place: from which byte to which, and what stands there then."""

    path: str
    line: int
    begin: int
    end: int
    text: str


class _Draw(ast.NodeVisitor):
    """Every change of a file."""

    def __init__(self, path: str, source: bytes) -> None:
        self._path, self._source = path, source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.mutants: list[Mutant] = []

    def _take(self, node: ast.expr | ast.stmt, text: str) -> None:
        begin = self._starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        self.mutants.append(Mutant(self._path, node.lineno, begin, end, text))

    def visit_If(self, node: ast.If) -> None:
        """What only a type checker reads is left out."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Its body and its defaults, no types."""
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value alone."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """``<`` becomes ``<=``, ``is`` becomes ``is not``."""
        if len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            self._take(node, f"({left} {_COMPARED[type(node.ops[0])]} {right})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """``and`` becomes ``or``."""
        word = " or " if isinstance(node.op, ast.And) else " and "
        self._take(node, f"({word.join(f'({ast.unparse(value)})' for value in node.values)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """``not`` goes."""
        if isinstance(node.op, ast.Not):
            self._take(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Plus becomes minus."""
        if type(node.op) in _RECKONED:
            self._take(node, f"({ast.unparse(node.left)} {_RECKONED[type(node.op)]} {ast.unparse(node.right)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A whole number becomes the next one, true becomes false."""
        if isinstance(node.value, bool):
            self._take(node, str(not node.value))
        elif isinstance(node.value, int):
            self._take(node, str(node.value + 1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words for people, and SQL made of parts: no test holds each of them."""

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call whose answer nobody takes is left out."""
        if isinstance(node.value, ast.Call):
            self._take(node, "pass")
        self.generic_visit(node)


def every_mutant() -> list[Mutant]:
    """All of them, in the order of files and lines."""
    mutants = []
    for room in ROOMS:
        for path in sorted((ROOT / "ledger" / room).rglob("*.py")):
            source = path.read_bytes()
            draw = _Draw(str(path.relative_to(ROOT)), source)
            draw.visit(ast.parse(source))
            mutants += draw.mutants
    return mutants


def trace(folder: Path, at_once: int) -> int:
    """Run the tests under coverage, and keep which of them runs which line; the exit code says whether they pass."""
    folder.mkdir(parents=True, exist_ok=True)
    tests = sorted({str(path.relative_to(ROOT)) for part in TRACED for path in _test_files(ROOT / part)})

    def run(part: int) -> int:
        around = {**os.environ, **AROUND, TELLS: str(folder / f"seconds.{part}.json")}
        include = ",".join(f"ledger/{room}/*" for room in ROOMS)
        command = [
            sys.executable, "-m", "coverage", "run", f"--data-file={folder / f'lines.{part}'}", f"--include={include}",
            "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants", *tests[part::at_once],
        ]  # fmt: skip
        return subprocess.run(command, cwd=ROOT, env=around, check=False).returncode

    with ThreadPoolExecutor(at_once) as threads:
        return max(threads.map(run, range(at_once)))


def _test_files(place: Path) -> list[Path]:
    return [place] if place.suffix else list(place.rglob("test_*.py"))


class Traced:
    """Which tests run a line, and how long each takes."""

    def __init__(self, folder: Path) -> None:
        self._seconds: dict[str, float] = {}
        for file in sorted(folder.glob("seconds.*.json")):
            self._seconds |= json.loads(file.read_text("utf-8"))
        self._lines = sorted(folder.glob("lines.*"))

    def tests(self, path: str, line: int) -> list[str]:
        """Those that run a line, the quickest first; of one that runs when its file is imported, those of the file."""
        own, of_file = set[str](), set[str]()
        for file in self._lines:
            with closing(sqlite3.connect(file)) as connection:
                rows = connection.execute(
                    "SELECT context, numbits FROM line_bits JOIN file ON file.id = file_id JOIN context "
                    "ON context.id = context_id WHERE path LIKE ? AND context <> ''",
                    [f"%/{path}"],
                )
                for test, bits in rows:
                    of_file.add(test)
                    # a bit for each line of the file, the lowest first
                    if line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1:
                        own.add(test)
        return sorted(own or of_file, key=lambda test: (self._seconds.get(test, 0.0), test))


def runs_of(mutant: Mutant, traced: Traced) -> Iterator[list[str]]:
    """The tests to run for a change, in turns; those first that are likely to notice."""
    module = mutant.path.removesuffix(".py").replace("/", ".")
    importing = f"{module.rpartition('.')[0]} import {module.rpartition('.')[2]}"
    tests = traced.tests(mutant.path, mutant.line)
    texts = {file: (ROOT / file).read_text("utf-8") for file in {test.partition("::")[0] for test in tests}}
    own = {file for file, text in texts.items() if module in text or importing in text}
    near = [test for test in tests if test.partition("::")[0] in own]
    far = [test for test in tests if test.partition("::")[0] not in own]
    yield near[:NEAR]
    yield Random(mutant.begin).sample(far, min(FAR, len(far)))
    yield list(RAILS)


def survives(mutant: Mutant, copy: Path, traced: Traced) -> bool:
    """Whether all tests pass in a copy of the checkout with the change."""
    file = copy / mutant.path
    whole = file.read_bytes()
    file.write_bytes(whole[: mutant.begin] + mutant.text.encode() + whole[mutant.end :])
    around = {**os.environ, **AROUND, "PYTHONPATH": str(copy)}  # for what the tests start, too
    try:
        for tests in filter(None, runs_of(mutant, traced)):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
            done = subprocess.run(command, cwd=copy, env=around, capture_output=True, timeout=SECONDS, check=False)
            if done.returncode != 0:
                return False
    except subprocess.TimeoutExpired:
        return False
    finally:
        file.write_bytes(whole)
    return True


def judged(mutants: Sequence[Mutant], traced: Traced, folder: Path, at_once: int) -> Iterator[tuple[Mutant, bool]]:
    """Each of some mutants, with whether it survives, in their order."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(at_once):
        copy = folder / str(number)
        # with what was compiled, so that no run of tests compiles the program anew
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", ".mypy_cache", ".ruff_cache"))
        copies.put(copy)

    def judge(mutant: Mutant) -> bool:
        copy = copies.get()
        try:
            return survives(mutant, copy, traced)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(at_once) as threads:
        yield from zip(mutants, threads.map(judge, mutants), strict=True)


def main() -> int:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="Of what was traced.")
    parser.add_argument("--trace", action="store_true", help="Trace the tests into the folder, and judge nothing.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--skip", type=int, default=0, help="Of the sample, those that were judged before.")
    parser.add_argument("--at-once", type=int, default=2)
    asked = parser.parse_args()
    if asked.trace:
        return trace(asked.folder.resolve(), asked.at_once)
    every = every_mutant()
    mutants = Random(asked.seed).sample(every, asked.count)[asked.skip :]
    _say(f"{len(mutants)} of {len(every):,} changes of {', '.join(ROOMS)}, seed {asked.seed}")
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        verdicts = judged(mutants, Traced(asked.folder.resolve()), Path(folder), asked.at_once)
        for number, (mutant, lives) in enumerate(verdicts, asked.skip + 1):
            survivors += lives
            was = (ROOT / mutant.path).read_bytes()[mutant.begin : mutant.end].decode()
            verdict = "LIVES" if lives else "killed"
            _say(f"{number} {verdict} {mutant.path}:{mutant.line}: {was!r} -> {mutant.text!r}")
    _say(f"{len(mutants) - survivors} of {len(mutants)} killed")
    return int(survivors > 0)


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
