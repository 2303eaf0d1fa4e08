"""The tiers of the tests, and ``tools/run``, the way in from a fresh clone, against an environment of a few stubs."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import tiers
from tests.kit.places import ROOT

QUICK_TESTS = 8_000  # at least so many run in every run
MODULE_OF_ITS_OWN = "import pytest\n\npytestmark = [pytest.mark.timeout(9), pytest.mark.nightly]\n"


def test_the_nearest_folder_gives_a_tier_and_a_module_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "TESTS", tmp_path)
    tiers.folder_tier.cache_clear()
    deep = tmp_path / "postgres" / "moving" / "test_deep.py"
    deep.parent.mkdir(parents=True)
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "postgres" / "conftest.py").write_text('"""Servers."""\n\nTIER = "outside"\n')
    for file in (tmp_path / "test_top.py", deep):
        file.write_text("")
    (own := deep.with_name("test_own.py")).write_text(MODULE_OF_ITS_OWN)
    assert [tiers.file_tier(file) for file in (tmp_path / "test_top.py", deep, own)] == ["quick", "outside", "nightly"]


def test_a_quick_run_leaves_files_unread_that_have_no_quick_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "PROFILE", "quick")
    (slow := tmp_path / "test_slow.py").write_text("pytestmark = pytest.mark.slow\n")
    (smoke := tmp_path / "test_smoke.py").write_text("pytestmark = pytest.mark.slow\n@pytest.mark.quick\n")
    assert [tiers.skips_file(file) for file in (slow, smoke)] == [True, False]


def test_a_test_and_its_case_may_not_name_two_tiers() -> None:
    marks = [pytest.mark.slow.mark, pytest.mark.nightly.mark]
    item: Any = SimpleNamespace(nodeid="test_a.py::test_b[c]", own_markers=marks)
    with pytest.raises(pytest.UsageError, match=r"test_b\[c\] names the tiers nightly, slow"):
        tiers.tier_of(item)


def test_a_case_that_stands_for_all_must_be_a_case() -> None:
    assert [case.id for case in tiers.few_quick(["a", "b"], "b")] == ["a", "b"]
    with pytest.raises(pytest.UsageError, match="no case is called c"):
        tiers.few_quick(["a", "b"], "c")


def test_every_tier_is_run_by_a_command_of_the_script() -> None:
    script = (ROOT / "tools" / "run").read_text("utf-8")
    assert set().union(*tiers.RUNS.values()) == set(tiers.TIERS)
    assert tiers.RUNS.keys() == tiers.COMMANDS.keys()
    assert all(f"{command} " in script for command in tiers.COMMANDS.values())


@pytest.mark.slow
def test_the_quick_tests_are_collected_with_the_packages_that_they_install() -> None:
    """Whoever imports another one at the top of a quick module breaks the quick run, which this run is not."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    named = {re.split(r"[^\w-]", package)[0].lower() for package in groups["all"] if isinstance(package, str)}
    absent = {module for module, owners in packages_distributions().items() if named & {o.lower() for o in owners}}
    assert {"playwright", "psycopg", "schemathesis"} <= absent
    program = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(absent)}))
import pytest
sys.exit(pytest.main(["--collect-only", "-q", *"-p no:cacheprovider -p xdist.plugin -p pytest_timeout".split()]))
"""
    # pytest loads the plug-ins of every package that is there: those of the absent ones as well
    environment = {**os.environ, "LEDGER_PROFILE": "quick", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2_000:]
    collected = re.search(r"(\d+)(?:/\d+)? tests collected", done.stdout)
    assert collected is not None
    assert int(collected[1]) >= QUICK_TESTS


def test_the_command_runs_in_the_folder_of_who_calls_it(tmp_path: Path) -> None:
    """A relative path of a ledger is one of the caller, not one in the checkout."""
    (bin_folder := tmp_path / "venv" / "bin").mkdir(parents=True)
    for name, body in (("python", "exit 0"), ("rating-ledger", 'echo "$PWD: $*"')):
        (bin_folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_folder / name).chmod(0o755)
    (tmp_path / "venv" / ".installed-base").touch()
    (caller := tmp_path / "my club").mkdir()
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "run"), "ledger", "init", "club.db"],
        cwd=caller,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LEDGER_VENV": str(tmp_path / "venv")},
    )
    assert done.stdout == f"{caller}: init club.db\n"


@pytest.mark.parametrize(("word", "code"), [("help", 0), ("tset", 2)])
def test_help_and_a_misspelt_word_are_answered_without_an_environment(tmp_path: Path, word: str, code: int) -> None:
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "run"), word],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LEDGER_VENV": str(tmp_path / "venv")},
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (code, [])
    assert "demo" in (done.stderr if code else done.stdout)
