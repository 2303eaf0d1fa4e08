"""The tiers of the tests, and what a run takes of them.

======== ===================================================== ============================
tier     what belongs there                                    command
======== ===================================================== ============================
quick    everything that names no other tier                   ``sh tools/run test``
slow     takes a third of a CPU second and more: kills         ``sh tools/run test --all``
outside  needs other programs: PostgreSQL, browsers, proxies   ``sh tools/run test --all``
nightly  takes minutes: long properties, failovers, memory     ``sh tools/run test --nightly``
======== ===================================================== ============================

A folder gives its tests a tier by a line ``TIER = "outside"`` in its ``conftest.py``, a module by
``pytestmark = pytest.mark.slow``; a test's own mark wins. A quick test that takes a server of PostgreSQL or a browser
as a fixture is outside.

Each of the three commands has a profile, which says which tiers run and how much a test tries. ``LEDGER_PROFILE``
names it: ``quick`` (the default), ``ci`` for ``--all``, or ``nightly``. The first two always draw the same examples,
the third draws new ones.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TIERS = ("quick", "slow", "outside", "nightly")
RUNS = {"quick": {"quick"}, "ci": {"quick", "slow", "outside"}, "nightly": set(TIERS)}
"""By profile the tiers that run."""
COMMANDS = {"quick": "sh tools/run test", "ci": "sh tools/run test --all", "nightly": "sh tools/run test --nightly"}
PROFILE = os.environ.get("LEDGER_PROFILE", "quick")
if PROFILE not in RUNS:
    raise pytest.UsageError(f"LEDGER_PROFILE is {PROFILE!r}; it may be {', '.join(RUNS)}")
TESTS = Path(__file__).parent
OTHER_PROGRAMS = frozenset({"each_server", "oldest_server", "judge_on_server", "chromium"})
"""The fixtures that start a program of others."""

_OF_FOLDER = re.compile(r'^TIER = "(\w+)"', re.MULTILINE)
_OF_MODULE = re.compile(r"^pytestmark = .*\bpytest\.mark\.(quick|slow|outside|nightly)\b", re.MULTILINE)


def times(*, quick: int, ci: int, nightly: int) -> int:
    """Return how often a test repeats something under this run's profile."""
    return {"quick": quick, "ci": ci, "nightly": nightly}[PROFILE]


def examples(*, quick: int = 5, ci: int = 15, nightly: int = 300) -> settings:
    """Return the settings of a property that tries so many examples; other properties try the numbers given here."""
    return settings(max_examples=times(quick=quick, ci=ci, nightly=nightly))


def load_profile() -> None:
    """Load this run's profile for all properties: an example has no time limit, for a slow machine is not a fault."""
    settings.register_profile(
        PROFILE,
        examples(),
        deadline=None,
        derandomize=PROFILE != "nightly",
        print_blob=PROFILE == "nightly",
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile(PROFILE)


def in_tiers(cases: Iterable[Any], tier: Callable[[Any], str], name: Callable[[Any], str] = str) -> list[Any]:
    """Return the cases of a test as its parameters, each with the tier that a rule gives it."""
    return [pytest.param(case, marks=getattr(pytest.mark, tier(case)), id=name(case)) for case in cases]


def few_quick(cases: Iterable[Any], *quick: str, others: str = "slow", name: Callable[[Any], str] = str) -> list[Any]:
    """Return the cases of a test as its parameters: those of these names stand for all in the quick tests."""
    cases = list(cases)
    if unknown := set(quick).difference(map(name, cases)):
        raise pytest.UsageError(f"no case is called {', '.join(sorted(unknown))}: name cases that there are")
    return in_tiers(cases, lambda case: "quick" if name(case) in quick else others, name)


@cache
def folder_tier(folder: Path) -> str:
    """Return the tier that the nearest ``conftest.py`` gives, from this folder upwards."""
    try:
        named = _OF_FOLDER.search((folder / "conftest.py").read_text("utf-8"))
    except FileNotFoundError:
        named = None
    if named:
        return named[1]
    return folder_tier(folder.parent) if TESTS in folder.parents else "quick"


def file_tier(file: Path) -> str:
    """Return the tier of the tests of a file that have no mark of their own."""
    named = _OF_MODULE.search(file.read_text("utf-8"))
    return named[1] if named else folder_tier(file.parent)


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: its own mark's, its class's, its module's or its folder's, in this order.

    A test that compares compiled kernels with interpreted ones says so in its name. It is slow: the quick tests compile
    nothing. A test with a fixture that starts a program of others is outside.

    Raises:
        pytest.UsageError: if the test and its case name different tiers; pytest would take the test's.
    """
    own = {mark.name for mark in item.own_markers if mark.name in TIERS}
    if len(own) > 1:
        raise pytest.UsageError(
            f"{item.nodeid} names the tiers {', '.join(sorted(own))}: leave one to it or to its case"
        )
    marked = next((mark.name for mark in item.iter_markers() if mark.name in TIERS), None)
    if marked is not None:
        return marked
    tier = folder_tier(item.path.parent)
    if tier != "quick":
        return tier
    if OTHER_PROGRAMS.intersection(getattr(item, "fixturenames", ())):
        return "outside"
    return "slow" if "compiled" in item.name else "quick"


def skips_file(file: Path) -> bool:
    """Return whether a run leaves a file out unread: no test in it belongs to the run.

    Such a file may import packages that the quick tests do not install.
    """
    runs = RUNS[PROFILE]
    return file_tier(file) not in runs and not any(f"mark.{tier}" in file.read_text("utf-8") for tier in runs)


class TierSelection:
    """Selects the tests of the profile, and says at the end what it left out."""

    SLOWEST = 10  # quick tests that a run of more than the quick ones names

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._left_out = Counter[str]()  # by tier
        self._seconds: dict[str, float] = {}  # by quick test

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave a file unread if the run takes no test of it."""
        is_test_file = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        return True if is_test_file and skips_file(collection_path) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Give each test its tier as a mark, and deselect those that the run does not take."""
        selected: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        for item in items:
            tier = tier_of(item)
            item.add_marker(tier)
            (selected if tier in RUNS[PROFILE] else left_out).append(item)
            self._left_out[tier] += tier not in RUNS[PROFILE]
        if left_out:
            self._config.hook.pytest_deselected(items=left_out)
            items[:] = selected

    def pytest_sessionfinish(self) -> None:
        """Hand the counts of a worker to the process that reports."""
        output: dict[str, object] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["left_out"] = dict(self._left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the counts of a worker: every worker collects the same tests."""
        self._left_out = Counter(getattr(node, "workeroutput", {}).get("left_out", self._left_out))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what a quick test takes with its set-up."""
        if "quick" in report.keywords:
            self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what the run leaves out; before that, if it takes more than the quick tests, the slowest of these."""
        if PROFILE != "quick":
            terminalreporter.section(f"the {self.SLOWEST} slowest quick tests")
            for test, seconds in nlargest(self.SLOWEST, self._seconds.items(), key=itemgetter(1)):
                terminalreporter.line(f"{seconds:6.2f} s  {test}")
        for line in left_out(self._left_out):
            terminalreporter.line(line)


def left_out(deselected: Mapping[str, int]) -> list[str]:
    """Return a line for each command that would run more, with what it adds: by tier tests deselected, files unread."""
    lines, taken = [], RUNS[PROFILE]
    for profile, tiers in RUNS.items():
        added, taken = tiers - taken, taken | tiers
        unread = [file for file in TESTS.rglob("test_*.py") if file_tier(file) in added and skips_file(file)]
        single = sum(deselected.get(tier, 0) for tier in added)
        folders = sorted({str(file.parent.relative_to(TESTS.parent)) for file in unread})
        parts = [f"{single} single tests"] * bool(single) + [f"{len(unread)} files of {', '.join(folders)}"] * bool(
            unread
        )
        if parts:
            lines.append(f"left out ({', '.join(sorted(added))}): {' and '.join(parts)}; run {COMMANDS[profile]}")
    return lines
