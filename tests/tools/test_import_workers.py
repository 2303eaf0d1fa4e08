"""``import --workers``: large files are read by worker processes, which are never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.imports.parts import PART
from ledger.ledger import Ledger
from ledger.runtime import call_process
from tests.kit.commands import Run
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.kit.served_processes import is_there, until
from tests.kit.source_files import PGN
from tools.commands import REFUSED

ENDS = ("the workers are killed", "the workers are killed, strict", "Ctrl-C", "interrupted alone", "it is killed")
STOPPED = "stopped; nothing half done is kept, run the command again"


@pytest.fixture(scope="module")
def large_pgn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of ten parts, of few games with long comments; the last game has no result."""
    comment = b"{" + b" a comment of no importance" * 5_000 + b"}"
    games = (
        PGN.replace(b'"Ann"', b'"Ann %d"' % (number % 40)).replace(b"e5", b"e5 " + comment)
        for number in range(10 * PART // len(comment))
    )
    path = tmp_path_factory.mktemp("large") / "large.pgn"
    path.write_bytes(b"\n".join([*games, PGN.removesuffix(b" 1-0\n")]))
    return path


def workers_of(process: int) -> list[int]:
    """The worker processes of a process."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [
        int(child)
        for task in tasks
        for child in task.read_text().split()
        if call_process.__name__.encode() in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


@pytest.mark.slow
def test_a_file_gives_the_same_report_and_games_however_many_workers_read_it(
    large_pgn: Path, tmp_path: Path, run: Run
) -> None:
    reports: list[tuple[str, int, int]] = []
    for workers in (["--workers", "1"], ["--workers", "3"], []):
        path = tmp_path / f"club{len(reports)}.db"
        Ledger.create(path).close()
        done = run("import", path, large_pgn, *workers)
        assert (done.code, "the file ends inside this game" in done.err) == (REFUSED, True)
        shown = run("games", path, "--all", "--json")
        reports.append((done.err, shown.code, shown.out.count("started_at")))
        strict = run("import", tmp_path / "club0.db", large_pgn, *workers, "--strict", "--record-alike")
        assert (strict.code, "nothing recorded (--strict)" in strict.err) == (REFUSED, True)
        assert workers_of(os.getpid()) == []
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes as Linux tells them")
@pytest.mark.parametrize("end", ENDS)
def test_however_an_import_ends_nothing_half_done_is_kept_and_no_process_is_left(
    end: str, large_pgn: Path, empty_club: Path
) -> None:
    words = [sys.executable, "-m", "tools.cli", "import", str(empty_club), "-", "--workers", "2"]
    words += ["--strict"] * end.endswith("strict")
    content, pipe = large_pgn.read_bytes(), subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        assert process.stdin is not None
        process.stdin.write(content[: 6 * PART])  # the work lasts until the rest comes
        until(lambda: len(workers_of(process.pid)) == 2)
        workers = workers_of(process.pid)
        if end == "interrupted alone":
            process.send_signal(signal.SIGINT)
        elif end == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        elif end == "it is killed":
            process.kill()
        else:
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
        output, err = process.communicate(content[6 * PART :], timeout=HANGS)
    broken = b"error: -: a worker process ended (exit code -9): import the file again, or with --workers 1"
    assert process.returncode == (-signal.SIGKILL if end == "it is killed" else REFUSED)
    if end in {"Ctrl-C", "interrupted alone"}:
        assert err.decode().strip() == STOPPED
    elif end.startswith("the workers"):
        assert err.startswith(broken)
        assert err.count(b"\n") == 1
    assert output == b""
    until(lambda: not any(map(is_there, workers)))
    with Ledger.open(empty_club) as ledger:
        assert ledger.head().size == 1


def test_a_number_of_workers_that_is_none_is_a_usage_error(empty_club: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(PGN)
    for word in ("0", "-1", "two", "1.5", "257", ""):
        done = run("import", empty_club, file, "--workers", word)
        assert (done.code, "--workers" in done.err) == (2, True)
    assert run("import", empty_club, file, "--workers", "1").code == 0


def test_a_small_file_starts_no_worker(
    empty_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ledger.runtime.process_executor.Worker", refused)
    file = tmp_path / "games.pgn"
    file.write_bytes(PGN)
    assert run("import", empty_club, file, "--workers", "4").code == 0
