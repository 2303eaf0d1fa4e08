"""The cluster to watch: what its lines say, what its verdict is, and that nothing of it stays whoever ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.errors import StorageError
from tests.kit.places import ROOT
from tools.cluster import guard, nodes
from tools.cluster.__main__ import Watch
from tools.cluster.judging import Load
from tools.cluster.load import CLIENTS

yaml = pytest.importorskip("yaml")  # Patroni's own
COMMAND = [sys.executable, "-m", "tools.cluster"]


@pytest.fixture(name="watched")
def _watched() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The command, and the folder in which everything of it stands."""
    try:
        nodes.programs()
        nodes.patroni()
    except StorageError as error:
        if os.environ.get("LEDGER_CLUSTER") == "required":  # where nothing may be passed over
            raise
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory(prefix="ledger-watching-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)  # whoever runs the servers must get through
        process = subprocess.Popen(
            COMMAND, cwd=ROOT, env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            yield process, folder
        finally:
            process.kill()
            ended(process)
            if process.stdout is not None:
                process.stdout.close()


def ended(process: subprocess.Popen[str]) -> int:
    """Wait until it has ended, and its guard and clients with it: they have the other end of its output, too."""
    assert process.stdout is not None
    process.stdout.read()
    return process.wait()


def lines_until(process: subprocess.Popen[str], pattern: str) -> tuple[list[str], re.Match[str]]:
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if match := re.search(pattern, line):
            return lines, match
    raise AssertionError("".join(lines))


def test_a_server_is_killed_as_the_lines_say_and_every_promise_is_kept(
    watched: tuple[subprocess.Popen[str], Path],
) -> None:
    process, place = watched
    _, told = lines_until(process, r"^  kill -9 (\d+) +(db\d) loses its server")
    lines, _ = lines_until(process, r"^ +\d+ s  db\d leads, db\d db\d follow; [\d,]+ entries acknowledged, [\d,]+ in ")
    assert any("psql 'postgresql://postgres@127.0.0.1:" in line for line in lines)
    os.kill(int(told[1]), signal.SIGKILL)
    lines_until(process, r"^  kill -9 \d+ +db\d loses its server")  # another process, or another node
    lines_until(process, r"^ +\d+ s  db\d leads, db\d db\d follow; ")
    process.send_signal(signal.SIGINT)
    lines_until(process, r"^KEPT every promise: [\d,]+ entries, [\d,]+ acknowledgements, [\d,]+ heads, ")
    assert ended(process) == 0
    assert guard.members(place) == []
    assert list(place.iterdir()) == []


def test_nothing_stays_of_a_cluster_whose_owner_is_killed(watched: tuple[subprocess.Popen[str], Path]) -> None:
    process, place = watched
    lines_until(process, r"^ +\d+ s  db\d leads")
    (folder,) = place.iterdir()
    process.kill()
    ended(process)
    assert guard.members(folder) == []
    assert not folder.exists()


def test_a_guard_leaves_those_alone_who_only_look(tmp_path: Path) -> None:
    (folder := tmp_path / "cluster").mkdir()
    (folder / "log").touch()
    reader = subprocess.Popen(["tail", "-f", folder / "log"], cwd=tmp_path)
    of_it = subprocess.Popen(["tail", "-f", folder / "log"], cwd="/")
    try:
        subprocess.run([sys.executable, "-I", guard.__file__, folder], input=b"", check=True)
        assert of_it.wait() == -signal.SIGKILL
        assert reader.poll() is None
        assert not folder.exists()
    finally:
        for process in (reader, of_it):
            process.kill()
            process.wait()


def note(load: Load, at: float, first: int, last: int | None = None, client: int = 1) -> None:
    stands = [["key", place, "", False] for place in (first, last) if place]
    with (load.folder / f"client-{client}.log").open("a") as log:
        log.write(json.dumps({"at": at, "stands": stands}) + "\n")


def test_an_entry_counts_once_however_often_it_is_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(Load, "now", lambda _: now)
    load = Load(tmp_path, [])
    watch = Watch(load)
    assert watch.look() == (0, 0.0)
    note(load, 101.0, 1)
    note(load, 104.5, 2, 1001, client=CLIENTS)
    note(load, 104.0, 1, client=2)
    now = 105.0
    assert watch.look() == (1001, 0.5)
    assert (watch.entries, watch.silence) == (1001, 3.0)
    note(load, 105.5, 1000, client=2)
    now = 112.0
    assert watch.look() == (0, 6.5)
    assert (watch.entries, watch.silence) == (1001, 6.5)


def test_the_example_for_three_machines_has_the_settings_that_are_tried() -> None:
    example = yaml.safe_load((ROOT / "tools" / "cluster" / "patroni.yml").read_text("utf-8"))
    told, tried = example["bootstrap"]["dcs"], nodes.shared_settings()
    assert told["loop_wait"] + 2 * told["retry_timeout"] <= told["ttl"]
    for seconds in ("ttl", "loop_wait", "retry_timeout"):
        assert told.pop(seconds) >= tried.pop(seconds)
    here, there = (each["postgresql"].pop("parameters") for each in (told, tried))
    assert told == tried
    assert there.keys() - here.keys() == {"max_connections", "shared_buffers", "wal_keep_size", "max_wal_senders"}
    assert {name: here[name] for name in here if name in there} == {name: there[name] for name in there if name in here}
