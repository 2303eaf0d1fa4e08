"""A first build of the views that was killed at any statement: the next command goes on with it or begins it anew."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.audit import table_digests
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import NAME, NOW, open_ledger, take_made_up_games
from tests.kit.games import scheme_adopted, tournament_closed

Killed = dict[str, bytes]  # what a killed build leaves, by name of the file


REACHING_BACK = (
    scheme_adopted("fide", pool="rapid"),
    scheme_adopted("fide", effective_from="2015-01-01"),
    tournament_closed("2016-01-01"),
)


@pytest.fixture(name="club_that_is_built", params=["nobody yet", pytest.param("sixty games", marks=pytest.mark.slow)])
def _club_that_is_built(by_columns: None, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two schemes for the first pool, another pool, a closed tournament, with and without players and games."""
    path = tmp_path / NAME
    if request.param == "sixty games":
        take_made_up_games(tmp_path, 60, 20)
    with open_ledger(path) as ledger:
        ledger.append_many(REACHING_BACK)
        ledger.rebuild()
    return path


def killed_builds(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Killed]:
    """Rebuild the views, and keep the build's files as they stand when each of its statements begins."""
    connect = sqlite.connect
    found: dict[tuple[tuple[str, bytes], ...], Killed] = {}
    views = sidecar(path, "views")

    def keep(_: str) -> None:
        files = {file.name: file.read_bytes() for file in path.parent.glob(f"{views.name}.building*")}
        files.pop(f"{views.name}.building.lock", None)
        found.setdefault(tuple(sorted(files.items())), files)

    def traced(file: str | Path, **words: Any) -> Any:
        connection = connect(file, **words)
        if str(file).endswith(".building"):
            connection.set_trace_callback(keep)
        return connection

    with monkeypatch.context() as patch, Ledger.open(path, clock=lambda: NOW) as ledger:
        patch.setattr(sqlite, "connect", traced)
        ledger.rebuild()
    return list(found.values())


def test_a_build_killed_at_any_statement_is_completed_by_the_next_command(
    club_that_is_built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = club_that_is_built
    killed = killed_builds(path, monkeypatch)
    assert len(killed) >= 4
    with open_ledger(path) as ledger:
        expected = table_digests(ledger.views.connection)
    for number, files in enumerate(killed):
        folder = tmp_path / str(number)
        folder.mkdir()
        for file in (path, sidecar(path, "people")):
            shutil.copy(file, folder)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        with open_ledger(folder / NAME) as ledger:
            ledger.catch_up()
            assert table_digests(ledger.views.connection) == expected
