"""Compiled kernels on disk: found again, and in nobody's way when the plug-in that they were compiled for is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.places import ROOT

pytestmark = pytest.mark.slow  # the quick tests compile no kernels

PLUG_IN = """
import attrs
from ledger.schemes.settings import numbers_of, setting

@attrs.frozen(kw_only=True)
class Settings:
    initial: float = setting(1500.0, "rating of a newcomer", "points", "this file")
    worth: float = setting(10.0, "worth of a win", "points", "this file")

Numbers = numbers_of(Settings)
NUMBERS = Numbers(1500.0, 10.0)
"""
# Kernels that schemes share, asked with the numbers of one: how often each was found on disk, and what it answers.
QUESTION = """
import json, sys
from importlib import import_module
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.lazy import np
from ledger.schemes.scheme import always_listed, never_provisional, unchanged_by_time

numbers = {numbers}
state, asked = np.array([1500.0, 3.0]), (unchanged_by_time, never_provisional, always_listed)
answers = [
    compile_kernel(kernel)(state, *((1.0, 2.0) if kernel is unchanged_by_time else ()), numbers) for kernel in asked
]
json.dump([[sum(compile_kernel(kernel).stats.cache_hits.values()) for kernel in asked], answers], sys.stdout)
"""
OF_THE_PLUG_IN = QUESTION.format(numbers='import_module("gone_scheme").NUMBERS')
BUILT_IN = QUESTION.format(numbers='import_module("ledger.schemes").find_scheme("elo").numbers_from({})')
ANSWERS = [None, False, True]


def asked(script: str, cache: Path, *packages: Path) -> Any:
    path = os.pathsep.join(map(str, (*packages, ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cache, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_plug_in_that_is_gone_leaves_the_kernels_of_others_as_they_were(tmp_path: Path) -> None:
    packages, cache = tmp_path / "packages", tmp_path / "cache"
    packages.mkdir()
    cache.mkdir()
    (packages / "gone_scheme.py").write_text(PLUG_IN)
    assert asked(BUILT_IN, cache) == [[0, 0, 0], ANSWERS]
    assert asked(OF_THE_PLUG_IN, cache, packages) == [[0, 0, 0], ANSWERS]
    assert asked(OF_THE_PLUG_IN, cache, packages) == [[1, 1, 1], ANSWERS]
    assert asked(BUILT_IN, cache) == [[1, 1, 1], ANSWERS]


def test_kernels_of_the_same_code_and_other_settings_are_other_kernels(tmp_path: Path) -> None:
    """Which number a name means is part of the compiled code: settings in another order need code of their own.

    The kernel is called like the setting that it reads.
    """
    packages, cache = tmp_path / "packages", tmp_path / "cache"
    packages.mkdir()
    cache.mkdir()
    (packages / "moved_kernel.py").write_text("def worth(numbers):\n    return numbers.worth\n")
    script = (
        "import json, sys, moved_numbers, moved_kernel; from ledger.runtime.kernels import compile_kernel; "
        "json.dump(compile_kernel(moved_kernel.worth)(moved_numbers.NUMBERS), sys.stdout)"
    )
    for order in ("initial worth", "worth initial"):
        (packages / "moved_numbers.py").write_text(
            f"from collections import namedtuple\nNumbers = namedtuple('Numbers', {order!r})\n"
            "NUMBERS = Numbers(initial=1500.0, worth=10.0)\n"
        )
        assert asked(script, cache, packages) == 10.0
