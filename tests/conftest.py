"""What the tests of several rooms share: running a command, and the clubs that they begin with."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.ratings import views
from tests.histories import golden_views
from tests.kit import postgres, snapshots
from tests.kit.clubs import NAME, ClubOfTwo, copied, copy_of, new_club_of_two, one_secret, take_made_up_games
from tests.kit.commands import Done, Run
from tests.kit.disks import nobody_cuts_the_power
from tests.kit.places import SAMPLE
from tests.kit.postgres import Server
from tests.tiers import PROFILE, TierSelection, load_profile
from tools import cli

if PROFILE == "quick":
    # Compiling the kernels takes longer than the quick tests need; the contracts prove that both ways give equal bits.
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
load_profile()


@pytest.fixture(scope="session", autouse=True)
def _same_keys_and_no_flushes() -> Iterator[None]:
    """Ledgers of these tests make the same keys of the same facts, and wait for no disk."""
    with one_secret(), nobody_cuts_the_power():
        yield


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command, which must never end in a traceback."""

    def run(*words: str | Path) -> Done:
        capsys.readouterr()
        code = cli.main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Done(code, out, err)

    return run


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample club, imported and rated once; to be read only."""
    folder = tmp_path_factory.mktemp("club")
    assert cli.main(["init", str(folder / NAME)]) == 0
    assert cli.main(["import", str(folder / NAME), str(SAMPLE)]) == 0
    return folder


@pytest.fixture
def sample_club(sample_folder: Path, tmp_path: Path) -> Path:
    """A copy of the sample club, to read or to spoil."""
    return copied(sample_folder, tmp_path)


@pytest.fixture
def empty_club(tmp_path: Path) -> Path:
    """A ledger that has its first scheme and nothing else."""
    return copy_of(_init, tmp_path / "empty.db")


@pytest.fixture
def fide_db(tmp_path: Path, run: Run) -> Path:
    """A ledger by FIDE's rules with the pools standard, rapid and blitz, and nobody in it."""
    path = tmp_path / "fed.db"
    assert run("init", path, "--scheme", "fide").code == 0
    for pool in ("rapid", "blitz"):
        assert run("scheme", "adopt", path, "--scheme", "fide", "--pool", pool, "--new-pool").code == 0
    return path


def _init(path: Path) -> None:
    assert cli.main(["init", str(path)]) == 0


@pytest.fixture
def club_of_two(tmp_path: Path) -> Iterator[ClubOfTwo]:
    """Ann and Bob, the game that Ann has won, and a clock; open."""
    with new_club_of_two(tmp_path) as club:
        yield club


@pytest.fixture(scope="session")
def folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run have."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session", params=["oldest", "newest"])
def each_server(request: pytest.FixtureRequest, folder_of_the_run: Path) -> Server:
    """The run's server of each of the two versions."""
    return postgres.shared(folder_of_the_run, newest=request.param == "newest")


@pytest.fixture(scope="session")
def oldest_server(folder_of_the_run: Path) -> Server:
    """The run's server of the oldest version."""
    return postgres.shared(folder_of_the_run)


@pytest.fixture
def by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small ledger is built and folded as a large one is."""
    monkeypatch.setattr(views, "FEW_ENTRIES", 0)


@pytest.fixture(scope="module")
def folder_of_600_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 600 games with its views; to be copied before it is hurt."""
    return take_made_up_games(tmp_path_factory.mktemp("club"), 600, 200)


@pytest.fixture
def copy_of_600_games(folder_of_600_games: Path, tmp_path: Path) -> Path:
    """A folder with a copy of it, to be hurt."""
    return Path(shutil.copytree(folder_of_600_games, tmp_path / "copy"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """After a test that held, its ledgers derive what they always did."""
    yield
    golden_views.check(item)


# Their single tests take longest: begun last, one of them would keep one worker busy when the others have ended.
BEGUN_FIRST = ("test_packaging.py", "test_power_cuts.py", "test_memory.py", "test_drawn_histories.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write the snapshots anew."""
    parser.addoption(snapshots.OPTION, action="store_true", help="write the files that tests compare with, if changed")


def pytest_configure(config: pytest.Config) -> None:
    """Run the tiers of the profile."""
    snapshots.writes = config.getoption(snapshots.OPTION)
    config.pluginmanager.register(TierSelection(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first."""
    order = {name: place for place, name in enumerate(BEGUN_FIRST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))


def pytest_collection_finish() -> None:
    """What was collected stays until the end: the collector need not look through it again and again.

    Nor need it run for each few hundred new objects: a fifth of the suite's time went there.
    """
    gc.freeze()
    gc.set_threshold(200_000, 50, 1_000)
