"""Killed at any moment, written by many at once, on a full or read-only disk: nothing is lost.

Kill -9 stands for every way to stop without warning.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from random import Random

import pytest

from tests.kit.backups import LEDGER_FILES
from tests.kit.clubs import open_ledger
from tests.kit.crashes import (
    assert_one_clear_line,
    audited,
    check_journal,
    check_views,
    command,
    completed,
    derived,
    driven,
    facts,
    identities,
)
from tests.kit.disks import mounted, remount
from tests.kit.games import source_games
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.tiers import few_quick, in_tiers, times

SCENARIOS = {
    "import, then a first build": (),
    "a first build written by a process of its own": ("--own-process", "--slow-ms", "20"),
    "a rebuild beside standing views": ("--steps", "import,catch-up,rebuild", "--slow-ms", "4"),
    "games one batch after the other": (
        "--games", "300", "--batch", "15", "--steps", "live", "--build-from", "100", "--slow-ms", "4",
    ),
}  # fmt: skip


# What a run that nothing disturbed has left is read once.
expected_facts, expected_rows = cache(facts), cache(derived)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, float, int]]:
    """By scenario: the folder of a run that nothing disturbed, how long it took once open, its statements."""
    made: dict[str, tuple[Path, float, int]] = {}

    def run(scenario: str) -> tuple[Path, float, int]:
        if scenario not in made:
            folder = tmp_path_factory.mktemp("undisturbed")
            started = time.monotonic()
            done = driven(folder, *SCENARIOS[scenario], "--die-at", str(2**62))
            assert done.returncode == 0, done.stderr
            seconds = time.monotonic() - started
            made[scenario] = (folder, seconds, int(done.stdout.split()[-1]))
        return made[scenario]

    return run


def killed_after(folder: Path, options: tuple[str, ...], seconds: float) -> bool:
    """Run until so long after the ledger was opened, then kill; False where the run was faster."""
    with subprocess.Popen(command(folder, *options), cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"opened\n"
        time.sleep(seconds)
        process.kill()
        process.stdout.read()
        return process.wait() != 0


@pytest.mark.parametrize("scenario", few_quick(SCENARIOS, "import, then a first build"))
def test_killed_at_any_moment_the_same_command_completes_it(
    scenario: str, undisturbed: Callable[[str], tuple[Path, float, int]], tmp_path: Path
) -> None:
    expected, seconds, statements = undisturbed(scenario)
    options = SCENARIOS[scenario]
    random = Random(scenario)
    run = 0
    folder = tmp_path / "0"
    folder.mkdir()
    for kill in range(times(quick=1, ci=3, nightly=25)):
        if kill % 2:
            stopped = killed_after(folder, options, random.uniform(0, 0.7 * seconds))
        else:
            stopped = driven(folder, *options, "--die-at", str(random.randint(1, statements))).returncode == -9
        if (folder / "club.db").exists():
            check_journal(folder)
            check_views(folder, tmp_path)
        if not stopped or random.random() < 0.3:
            completed(folder, *options)
            assert facts(folder) == expected_facts(expected)
            assert derived(folder) == expected_rows(expected)
            run += 1
            folder = tmp_path / str(run)
            folder.mkdir()
    completed(folder, *options)
    assert facts(folder) == expected_facts(expected)
    assert derived(folder) == expected_rows(expected)


def test_making_a_ledger_is_whole_or_begun_again(tmp_path: Path) -> None:
    """Killed at every few statements of its making."""
    made = driven(tmp_path, "--steps", "", "--die-at", str(2**62))
    statements = int(made.stdout.split()[-1])
    for statement in range(1, statements + 1, times(quick=20, ci=7, nightly=1)):
        folder = tmp_path / str(statement)
        folder.mkdir()
        assert driven(folder, "--steps", "", "--die-at", str(statement)).returncode == -9
        with open_ledger(folder / "club.db") as ledger:
            assert ledger.first_scheme().pool == "standard"
            assert ledger.catch_up() == 1
        assert sorted(path.name for path in folder.glob("*.making*")) == []
        assert len(check_journal(folder)) == 1


@pytest.mark.slow
def test_four_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    count = times(quick=30, ci=30, nightly=60)
    completed(tmp_path, "--steps", "")
    options = [("--steps", "live", "--games", str(count), "--batch", "3", "--seed", str(seed)) for seed in range(1, 5)]
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(command(tmp_path, *one), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            )
            for one in options
        ]
        ends = [(process.communicate(timeout=HANGS)[1].decode(), process.returncode) for process in running]
    assert ends == [("", 0)] * 4
    entries = check_journal(tmp_path)
    keys = [entry["key"] for entry in entries]
    assert len(set(keys)) == len(keys)
    games = {f"game:{game.key}" for seed in range(1, 5) for game in source_games(count, seed)}
    assert {key for key in keys if key.startswith("game:")} == games
    who = identities(tmp_path)
    assert sorted(who) == list(range(1, len(who) + 1))
    assert len(set(who.values())) == len(who)
    assert {key for key in keys if key.startswith("player:")} == {f"player:{number}" for number in who}
    stamps = [entry["recorded_at"] for entry in entries]
    assert stamps == sorted(stamps)
    with open_ledger(tmp_path / "club.db") as ledger:
        assert ledger.catch_up() == len(entries)
    check_views(tmp_path, tmp_path)
    assert audited(tmp_path) == ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of one megabyte."""
    with mounted(tmp_path / "disk", megabytes=1) as folder:
        yield folder


def tier_of_limit(case: str) -> str:
    """Return the tier of a limit with a size of batches: the other size does the same in other places."""
    batch, limit = map(int, case.split("-"))
    if (batch, limit) == (25, 80_000):
        return "quick"
    return "slow" if (batch == 25) == (limit < 100_000) else "nightly"


@pytest.mark.parametrize(
    "case",
    in_tiers(
        [f"{batch}-{limit}" for batch in (25, 750) for limit in (20_000, 40_000, 80_000, 150_000, 250_000, 330_000)],
        tier_of_limit,
    ),
)
def test_a_file_that_may_not_grow_loses_nothing(
    case: str, undisturbed: Callable[[str], tuple[Path, float, int]], tmp_path: Path
) -> None:
    expected, *_ = undisturbed("import, then a first build")
    batch, limit = case.split("-")
    options = ("--batch", batch)
    done = driven(tmp_path, *options, largest_file=int(limit))
    assert_one_clear_line(done, "full", "space", "disk", "too large")
    if (tmp_path / "club.db").exists():
        check_journal(tmp_path)
    completed(tmp_path, *options)
    assert facts(tmp_path) == expected_facts(expected)
    assert derived(tmp_path) == expected_rows(expected)


@pytest.mark.slow
def test_a_full_disk_loses_nothing(small_disk: Path, undisturbed: Callable[[str], tuple[Path, float, int]]) -> None:
    expected, *_ = undisturbed("import, then a first build")
    options = SCENARIOS["import, then a first build"]
    for size in ("20k", "100k", "400k", "700k"):
        remount(small_disk, f"size={size}")
        assert_one_clear_line(driven(small_disk, *options), "full", "space")
        if (small_disk / "club.db").exists():
            check_journal(small_disk)
    remount(small_disk, "size=20m")
    completed(small_disk, *options)
    assert facts(small_disk) == expected_facts(expected)
    assert derived(small_disk) == expected_rows(expected)


def test_a_read_only_disk_is_named(small_disk: Path, folder_of_600_games: Path) -> None:
    remount(small_disk, "size=20m")
    folder = Path(shutil.copytree(folder_of_600_games, small_disk / "club"))
    before = {name: (folder / name).read_bytes() for name in LEDGER_FILES}
    remount(small_disk, "ro")
    try:
        for steps in ("import", "catch-up", "rebuild", "import,catch-up"):
            done = driven(folder, "--steps", steps, "--games", "700")
            if steps != "catch-up":
                assert_one_clear_line(done, "read-only", "Read-only", "readonly", "cannot be opened")
            else:
                assert len(done.stderr.splitlines()) <= 1
    finally:
        remount(small_disk, "rw")
    assert {name: (folder / name).read_bytes() for name in LEDGER_FILES} == before


@pytest.mark.parametrize("what", few_quick(["folder", *LEDGER_FILES], "club.db"))
def test_a_file_that_may_not_be_written_is_named(what: str, copy_of_600_games: Path) -> None:
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("permissions do not bind root, and there is no setpriv to take that right away")
    (copy_of_600_games if what == "folder" else copy_of_600_games / what).chmod(0o555 if what == "folder" else 0o444)
    try:
        bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
        done = subprocess.run(
            [*bound, *command(copy_of_600_games, "--games", "900")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert_one_clear_line(done, "read-only", "readonly", "cannot be opened", "ermission")
    finally:
        copy_of_600_games.chmod(0o755)
    assert len(check_journal(copy_of_600_games)) >= 600
