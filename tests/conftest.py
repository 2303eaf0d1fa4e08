"""What the tests of several rooms share: running a command, and the clubs that they begin with."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ledger.ratings import views
from tests.kit import golden_views, postgres
from tests.kit.clubs import NAME, ClubOfTwo, copied, new_club_of_two, take_made_up_games
from tests.kit.commands import Done, Run
from tests.kit.places import SAMPLE
from tests.kit.postgres import Server
from tests.kit.secrets import one_secret
from tests.tiers import mark
from tools import cli

# A slow machine is not a fault: neither an example nor the making of it has a time.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(scope="session", autouse=True)
def _one_secret() -> Iterator[None]:
    """Ledgers that are made in these tests make the same keys of the same facts, but where a test says otherwise."""
    with one_secret():
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
    path = tmp_path / "empty.db"
    assert cli.main(["init", str(path)]) == 0
    return path


@pytest.fixture
def club_of_two(tmp_path: Path) -> Iterator[ClubOfTwo]:
    """Ann and Bob, the game that Ann has won, and a clock; open."""
    with new_club_of_two(tmp_path) as club:
        yield club


# --- servers of PostgreSQL ----------------------------------------------------------------------------------


@pytest.fixture(scope="session", params=["oldest", "newest"])
def each_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of each of the two versions."""
    with postgres.running(postgres.needed(newest=request.param == "newest")) as server:
        yield server


@pytest.fixture(scope="session")
def oldest_server() -> Iterator[Server]:
    """A server of the oldest version."""
    with postgres.running(postgres.needed()) as server:
        yield server


# --- a disk that refuses ------------------------------------------------------------------------------------


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


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test is quick if neither it nor a folder says otherwise."""
    mark(item, "quick")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """After a test that held, its ledgers derive what they always did."""
    yield
    golden_views.check(item)


# Whose single tests take longest: begun last, one of them would keep one job busy when the others have ended.
BEGUN_FIRST = (
    "test_packaging.py",
    "test_power_cuts.py",
    "test_memory.py",
    "test_one_road.py",
)


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
