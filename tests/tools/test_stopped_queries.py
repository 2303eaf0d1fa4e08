"""Statements of ``query`` that take too much, and what stops them: the process that runs them is ended."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import querying
from ledger.errors import MalformedError
from ledger.ledger import Ledger
from ledger.runtime import query_process
from tests.kit.commands import Run
from tests.kit.places import ROOT
from tests.kit.processes import HANGS

LONG, HALF = "printf('%.*c', 90000000, 'a')", "printf('%.*c', 45000000, 'a') || 'b'"
# One call of a function each, in which SQLite's machine makes no step, and which takes hours.
ONE_CALL = {
    "instr": f"SELECT instr({LONG}, {HALF})",
    "replace": f"SELECT length(replace({LONG}, {HALF}, ''))",
    "like": f"SELECT {LONG} LIKE '%' || printf('%.*c', 49000, 'a') || 'b'",
    "glob": f"SELECT {LONG} GLOB '*' || printf('%.*c', 49000, 'a') || 'b'",
    "trim": f"SELECT length(ltrim({LONG}, replace(printf('%.*c', 3000, 'x'), 'x', 'bcdefghijk') || 'a'))",
}
MUCH_MEMORY = {
    "format": "SELECT length(format('%.*c', 500000000, 'x'))",
    "hex": "SELECT length(hex(hex(printf('%.*c', 90000000, 'x'))))",
    "group_concat": "WITH RECURSIVE t(x) AS (SELECT printf('%.*c', 1000000, 'x') UNION ALL SELECT x FROM t LIMIT 400) "
    "SELECT length(group_concat(x)) FROM t",
    "replace": "SELECT length(replace(printf('%.*c', 1000000, 'x'), 'x', printf('%.*c', 900, 'y')))",
    "sorted": "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "
    "SELECT x FROM t ORDER BY printf('%.*c', 100000, x)",
}
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x, 'é\"' AS y FROM t"


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started to run statements."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


@pytest.fixture
def asked_ledger(sample_club: Path) -> Iterator[Ledger]:
    with Ledger.open(sample_club) as opened:
        opened.ensure_up_to_date()
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("function", ONE_CALL)
def test_one_call_of_a_function_is_stopped_with_its_time(
    function: str, asked_ledger: Ledger, processes: list[subprocess.Popen[bytes]]
) -> None:
    with pytest.raises(MalformedError, match=r"query: stopped after 0.5 s; allow it more, or 0: any time"):
        list(querying.query(asked_ledger, ONE_CALL[function], seconds=0.5))
    (process,) = processes
    assert process.returncode == -signal.SIGKILL
    assert list(querying.query(asked_ledger, "SELECT 1 AS a")) == [{"a": 1}]  # nothing is locked, nothing is broken


@pytest.mark.parametrize("kind", MUCH_MEMORY)
def test_what_takes_more_memory_than_it_may_is_stopped(kind: str, asked_ledger: Ledger) -> None:
    with pytest.raises(MalformedError, match="query: stopped: it takes more than 64 MiB of memory; allow it more"):
        list(querying.query(asked_ledger, MUCH_MEMORY[kind], memory=64, seconds=0))


def test_a_row_that_is_too_long_is_refused_and_the_rows_before_it_were_told(
    asked_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(querying, "LONGEST", 2 * 2**20)
    sizes = (
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 4) "
        "SELECT printf('%.*c', 700000 * x, 'x') AS a FROM t"
    )
    rows = querying.query(asked_ledger, sizes)
    assert [len(next(rows)["a"]) for _ in range(2)] == [700_000, 1_400_000]
    with pytest.raises(MalformedError, match="query: a row of more than 2 MiB, the limit of a row: select less"):
        next(rows)
    with pytest.raises(MalformedError, match="the limit of a row"):
        list(querying.query(asked_ledger, "SELECT body || printf('%.*c', 2100000, 'x') FROM journal"))


def test_texts_that_are_no_json_are_no_damaged_file(asked_ledger: Ledger) -> None:
    with pytest.raises(MalformedError, match="query: malformed JSON"):
        list(querying.query(asked_ledger, "SELECT json_extract('[', '$[0]')"))


@pytest.mark.slow
def test_rows_come_as_they_are_asked_for_and_who_asks_no_more_ends_the_process(
    asked_ledger: Ledger, processes: list[subprocess.Popen[bytes]]
) -> None:
    rows = querying.query(asked_ledger, ENDLESS, seconds=0)
    assert [next(rows)["x"] for _ in range(100_000)] == list(range(1, 100_001))
    rows.close()  # type: ignore[attr-defined]
    (process,) = processes
    assert process.returncode == -signal.SIGKILL


def test_time_in_which_nobody_asks_for_rows_does_not_count(
    asked_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter(range(0, 10**9, 1_000))  # a thousand seconds pass between any two looks at the clock
    rows = querying.query(asked_ledger, ENDLESS, seconds=2_500)
    assert next(rows)["x"] == 1
    monkeypatch.setattr(time, "monotonic", lambda: float(next(moments)))
    seen: list[int] = []
    with pytest.raises(MalformedError, match="stopped after 2500 s"):
        seen.extend(row["x"] for row in rows)
    assert seen


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 2, 499, 500, 501, 1_500])
def test_every_form_is_the_same_however_many_rows_there_are(rows: int, sample_club: Path, run: Run) -> None:
    statement = f"{ENDLESS} LIMIT {rows}"
    expected = [{"x": n, "y": 'é"'} for n in range(1, rows + 1)]
    told = run("query", sample_club, statement).out
    assert told == "[" + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in expected) + "]\n"
    nl = run("query", sample_club, statement, "--nl").out
    assert nl == "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in expected)
    divided = run("query", sample_club, statement, "--csv").out
    assert list(csv.DictReader(io.StringIO(divided))) == [{"x": str(row["x"]), "y": row["y"]} for row in expected]
    assert divided.count("x,y\n") == bool(rows)
    assert run("query", sample_club, statement, "--tsv").out.count("\n") == (rows + 1 if rows else 0)
    assert len(run("query", sample_club, statement, "-t").out.splitlines()) == (rows + 2 if rows else 1)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "tools.cli", *map(str, words)]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["", "--nl", "--csv"])
def test_the_first_of_endlessly_many_rows_is_read_and_then_it_ends(form: str, sample_club: Path) -> None:
    words = command("query", sample_club, ENDLESS, "--seconds", "0", *filter(None, [form]))
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(HANGS) == 1


def children(process: int) -> list[int]:
    """The processes that run a statement for another one, and have been told it."""
    tasks = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [
        int(task) for task in tasks if query_process.__name__.encode() in Path(f"/proc/{task}/cmdline").read_bytes()
    ]


def clock_ticks(process: int) -> int:
    """What a process has worked so far."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def is_there(process: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    return False


def until(holds: Any) -> None:
    for _ in range(100 * HANGS):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it never came to that")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux tells them")
@pytest.mark.parametrize(
    ("ended_by", "code"),
    [
        (signal.SIGINT, 1),
        pytest.param(signal.SIGTERM, -15, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, -9, marks=pytest.mark.slow),
    ],
)
def test_however_a_command_ends_its_statement_ends_with_it(
    ended_by: signal.Signals, code: int, sample_club: Path
) -> None:
    words = command("query", sample_club, ONE_CALL["instr"], "--seconds", "0")
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: children(process.pid))
        (child,) = children(process.pid)
        # in the call of the function: it has worked for longer than all before it takes
        until(lambda: clock_ticks(child) > os.sysconf("SC_CLK_TCK"))
        process.send_signal(ended_by)
        assert process.wait(HANGS) == code
        assert process.stderr is not None
        stopped = b"stopped; nothing half done is kept, run the command again\n"
        assert process.stderr.read().lstrip() == (stopped if code == 1 else b"")
        until(lambda: not is_there(child))
