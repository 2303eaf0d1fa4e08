"""What other systems lack: commands on a file system that refuses what Windows refuses, without fork; old SQLite."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.runtime import sqlite
from tests.kit.commands import Run
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.kit.source_files import written
from tools.commands import REFUSED

LAYER = Path(__file__).parent / "windows"
GAMES = b"""key,white,black,result,ended_at,half_moves
g1,Ann,Bob,1-0,2024-05-03,61
g2,Bob,Cleo,1/2-1/2,2024-05-10,88
"""
LINES = """\
init club.db
import club.db games.csv
record club.db --white Ann --black Dora --new --result 1-0 --ended 2024-05-19 --moves e4
correct club.db result g1 --to 1/2-1/2 --reason scoresheet --by eve
correct club.db approve 1 --by adam
player rename club.db Ann Anna
publish club.db --at 2024-05-31 --by eve
export club.db games history -o all.sqlite
export club.db games -o games.parquet
export club.db games -o games.parquet
ratings club.db --known-at 4
query club.db SELECT(1)
checkpoint-key club.db --new example.org
checkpoint club.db
erase club.db Cleo --yes
token add club.db eve --role auditor
audit club.db --save-head club.head
audit club.db --save-head club.head
backup club.db copy
rebuild club.db
restore copy other.db
restore copy club.db --replace --yes
audit club.db
audit other.db"""
RUN = """
import json, os, sys
from ledger.answers.exports import exporting
from ledger.ratings import view_builds
from tools.cli import main
view_builds.OWN_PROCESS_FROM = exporting.FEW_ENTRIES = 0  # every reader and writer is a process of its own
assert not hasattr(os, "fork")
for line in json.loads(sys.argv[1]):
    print("$", *line, flush=True)
    if main(line):
        sys.exit("failed")
"""


@pytest.mark.slow
def test_every_kind_of_command_works_where_open_files_and_folders_are_refused(tmp_path: Path) -> None:
    written(tmp_path, "games.csv", GAMES)
    lines = [line.split() for line in LINES.splitlines()]
    environment = {**os.environ, "PYTHONPATH": f"{LAYER}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN, json.dumps(lines)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=HANGS,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stdout[-2_000:] + done.stderr[-4_000:]
    assert done.stdout.count("TRUE ") == 4
    assert {path.name for path in tmp_path.iterdir()} >= {"club.replaced-1", "copy", "games.parquet", "other.db"}
    assert [path.name for path in tmp_path.iterdir() if path.suffix in {".making", ".restoring", ".being-made"}] == []


def test_serve_says_on_windows_what_it_needs(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    done = run("serve", tmp_path / "club.db")
    assert (done.code, done.out, "serve needs Linux or macOS" in done.err) == (REFUSED, "", True)


@pytest.mark.parametrize(
    ("version", "has_bug"),
    [((3, 44, 5), True), ((3, 44, 6), False), ((3, 45, 0), True), ((3, 50, 6), True), ((3, 50, 7), False),
     ((3, 51, 2), True), ((3, 51, 3), False), ((3, 53, 0), False)],
)  # fmt: skip
def test_a_sqlite_with_the_bug_of_the_reset_is_named_once(
    version: tuple[int, int, int], has_bug: bool, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite.sqlite3, "sqlite_version_info", version)
    assert run("head", tmp_path / "none.db").err.count("WAL reset, fixed in 3.51.3, 3.50.7 and 3.44.6") == has_bug


def test_the_layer_refuses_what_windows_refuses(tmp_path: Path) -> None:
    refused = """
import os, pathlib
folder, file, other = pathlib.Path("folder"), pathlib.Path("folder/file"), pathlib.Path("folder/other")
folder.mkdir(); other.touch()
with file.open("w"):
    for call in (file.unlink, lambda: file.rename("x"), lambda: other.replace(file), lambda: folder.rename("y")):
        try:
            call()
        except PermissionError:
            print("refused")
for call in (lambda: os.open(folder, os.O_RDONLY), lambda: other.rename(file)):
    try:
        call()
    except (PermissionError, FileExistsError):
        print("refused")
"""
    environment = {**os.environ, "PYTHONPATH": str(LAYER)}
    command = [sys.executable, "-P", "-c", refused]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 6
