"""Every transcript of the README is executed and compared, word for word but for what is written as ``...``."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.facts.events import BY_KIND
from ledger.journal import rules
from tests.kit.places import ROOT
from tools.cli import COMMANDS

README = (ROOT / "README.md").read_text(encoding="utf-8")
ELLIPSIS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def transcript(block: str) -> list[tuple[str, str]]:
    """Commands of a console block with the output that is shown."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_the_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "rating-ledger"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tools.cli "$@"\n')
    shim.chmod(0o755)
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    shown = [step for block in blocks("console") for step in transcript(block)]
    assert len(shown) >= 6
    for command, expected in shown:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        printed = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(expected, printed, ELLIPSIS), f"{command}\n{printed}"
        assert done.returncode == 0


def test_the_python_examples_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("pycon"):
        test = doctest.DocTestParser().get_doctest(block, {}, "README", None, 0)
        results = doctest.DocTestRunner(optionflags=ELLIPSIS).run(test)
        assert results.failed == 0
        assert results.attempted > 5


@pytest.mark.parametrize("name", [*COMMANDS, *BY_KIND, *rules.RULES])
def test_every_command_kind_and_rule_is_told(name: str) -> None:
    assert f"`{name}" in README
