"""Every transcript of the README is executed and compared, word for word but for what is written as ``...``."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ledger.book import proposal_gate
from ledger.correcting.verbs import VERBS
from ledger.facts.events import BY_KIND
from ledger.journal import rules
from tests.kit.commands import Done, Run
from tests.kit.places import ROOT, SAMPLE
from tools.cli import COMMANDS

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = {"&&", "|", ">", ">>", "<"}  # words of a line that a shell has to read
ELLIPSIS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def transcript(block: str) -> list[tuple[str, str]]:
    """Commands of a console block with the output that is shown."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_the_commands_print_what_the_readme_shows(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "bin" / "rating-ledger"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tools.cli "$@"\n')
    shim.chmod(0o755)
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    shown = [step for block in blocks("console") for step in transcript(block)]
    assert len(shown) >= 6
    monkeypatch.chdir(tmp_path)
    for command, expected in shown:
        name, *words = shlex.split(command)
        if name == "rating-ledger" and SHELL.isdisjoint(words):  # here: loading the program takes longer than a command
            done = run(*words)
        else:
            printed = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
            done = Done(printed.returncode, printed.stdout, printed.stderr)
        told = done.out + done.err
        assert doctest.OutputChecker().check_output(expected, told, ELLIPSIS), f"{command}\n{told}"
        assert done.code == 0


def test_the_python_examples_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("pycon"):
        test = doctest.DocTestParser().get_doctest(block, {}, "README", None, 0)
        results = doctest.DocTestRunner(optionflags=ELLIPSIS).run(test)
        assert results.failed == 0
        assert results.attempted > 5


def test_the_plug_in_works_as_it_stands(tmp_path: Path) -> None:
    """Its files are those of the blocks; where pip would install it stands what pip would make of its pyproject."""
    parts = (block.removeprefix("# ").partition("\n") for block in [*blocks("python"), *blocks("toml")])
    files = {name: content for name, _, content in parts}
    assert set(files) == {"statutes.py", "pyproject.toml", "test_statutes.py"}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    about = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [(group, *point) for group, offered in project["entry-points"].items() for point in offered.items()]
    (about / "entry_points.txt").write_text("".join(f"[{group}]\n{name} = {value}\n" for group, name, value in points))
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}

    def ran(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert " passed" in ran("pytest", "-q", "-p", "no:cacheprovider", "test_statutes.py")
    ran("tools.cli", "init", "club.db", "--scheme", "statutes", "--set", "worth=8")
    ran("tools.cli", "import", "club.db", str(SAMPLE))
    (row,) = (row for row in json.loads(ran("tools.cli", "scheme", "list")) if row["scheme"] == "statutes")
    assert row["package"] == "statutes"
    ratings = [row["rating"] for row in json.loads(ran("tools.cli", "ratings", "club.db"))]
    assert sum(ratings) == 1500 * len(ratings)
    assert {rating % 8 for rating in ratings} == {1500 % 8}


@pytest.mark.parametrize("name", [*COMMANDS, *BY_KIND, *rules.RULES, *proposal_gate.RULES, *VERBS])
def test_every_command_kind_and_rule_is_told(name: str) -> None:
    assert f"`{name}" in README
