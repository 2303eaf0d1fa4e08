"""What the tests of several commands share: running one, and the sample club."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.kit.places import SAMPLE
from tools import cli


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample club, imported and rated once."""
    folder = tmp_path_factory.mktemp("club")
    assert cli.main(["init", str(folder / "club.db")]) == 0
    assert cli.main(["import", str(folder / "club.db"), str(SAMPLE)]) == 0
    return folder


@pytest.fixture
def club(made: Path, tmp_path: Path) -> Path:
    """A copy of the sample club, to read or to spoil."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "club.db"
