"""Worker processes as an executor: whatever ends, nobody waits for ever and no process is left."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import ConflictError
from ledger.runtime import process_executor
from ledger.runtime.long_work import PartMap
from ledger.runtime.process_executor import ProcessExecutor, part_map, usable_cores
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.kit.served_processes import is_there, until

pytestmark = pytest.mark.slow


def test_results_come_in_order_from_processes_that_last() -> None:
    with ProcessExecutor(2) as executor:
        parts = PartMap(executor, 3, few=2)
        assert list(parts.results(math.factorial, range(200))) == [math.factorial(n) for n in range(200)]
        processes = {executor.submit(os.getpid).result() for _ in range(20)}
    assert 1 <= len(processes) <= 2
    assert os.getpid() not in processes
    until(lambda: not any(map(is_there, processes)))


def fails(fault: Exception) -> None:
    raise fault


def fails_with_a_function() -> None:
    raise ValueError(lambda: None)


def test_an_exception_is_raised_where_the_result_is_taken_and_the_worker_goes_on() -> None:
    with ProcessExecutor(1) as executor:
        process = executor.submit(os.getpid).result()
        conflict = executor.submit(fails, ConflictError("game:1", "outcome", "white", "black"))
        with pytest.raises(ConflictError, match="was recorded with outcome='white'") as caught:
            conflict.result()
        assert (caught.value.key, caught.value.given) == ("game:1", "black")
        with pytest.raises(ZeroDivisionError):
            executor.submit(divmod, 1, 0).result()
        with pytest.raises(RuntimeError, match=r"ValueError\(<function "):  # no pickle has it
            executor.submit(fails_with_a_function).result()
        assert executor.submit(os.getpid).result() == process


@pytest.mark.parametrize("work", [(os.kill, signal.SIGKILL, -9), (os._exit, 3, 3)])
def test_a_worker_that_dies_breaks_its_own_work_and_another_one_takes_its_place(work: Any) -> None:
    function, number, code = work
    with ProcessExecutor(1) as executor:
        process = executor.submit(os.getpid).result()
        last: Future[Any] = executor.submit(
            partial(function, process, number) if code < 0 else partial(function, number)
        )
        with pytest.raises(BrokenExecutor, match=rf"a worker process ended \(exit code {code}\)"):
            last.result(HANGS)
        assert executor.submit(os.getpid).result(HANGS) != process


def test_an_interruption_kills_the_workers_and_cancels_what_waits() -> None:
    executor = ProcessExecutor(2)
    processes = {executor.submit(os.getpid).result() for _ in range(9)}
    futures = [executor.submit(time.sleep, HANGS) for _ in range(9)]
    with pytest.raises(KeyboardInterrupt), executor:
        raise KeyboardInterrupt
    assert all(future.done() for future in futures)
    assert not any(map(is_there, processes))
    with pytest.raises(RuntimeError):
        executor.submit(os.getpid)


def test_the_default_is_the_cores_that_this_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    for text, expected in (("max 100000", cores), ("100000 100000", 1), ("50000 100000", 1), ("", cores)):
        quota = tmp_path / "cpu.max"
        quota.write_text(text)
        monkeypatch.setattr(process_executor, "_QUOTA", quota)
        assert usable_cores() == expected
    quota.write_text("100000 100000")
    with part_map() as parts:
        assert parts.executor is None
    with part_map(3) as parts:
        assert (isinstance(parts.executor, ProcessExecutor), parts.in_flight) == (True, 5)
    with part_map(1) as parts:
        assert parts.executor is None


SCRIPT = """
import os, sys, time
from ledger.runtime.process_executor import ProcessExecutor
executor = ProcessExecutor(2)
print(executor.submit(os.getpid).result(), flush=True)
executor.submit(time.sleep, float(sys.argv[1]))
sys.stdin.read()
executor.shutdown()
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_script_needs_no_guard_and_leaves_no_process_however_it_ends(tmp_path: Path, is_killed: bool) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    words = [sys.executable, str(path), "1" if is_killed else "0.1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        if is_killed:
            process.kill()
    assert process.returncode == (-signal.SIGKILL if is_killed else 0)
    until(lambda: not is_there(worker))
