"""What the tests of attacks share: ledgers to attack, and a try of a family that must leave nothing to tell.

Small in continuous integration; ``LEDGER_ATTACKS=20`` makes twenty times as many attacks, each with all its plays.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import postgres
from tests.kit.attacks import Holds
from tests.kit.harmless import Ran, RunRaw
from tools import cli, output, running
from tools.attack import report
from tools.attack.families import FAMILIES, Battlefield, FamilyPart, field, folder

TIMES = int(os.environ.get("LEDGER_ATTACKS", "1"))
BY_NAME = {family.name: family for family in FAMILIES}


@pytest.fixture(scope="session", name="attacked")
def _attacked() -> Iterator[Battlefield]:
    """A small ledger with a past, another one like it, and a judge."""
    with folder() as scratch, field(scratch) as on:
        yield on


@pytest.fixture
def holds(attacked: Battlefield) -> Holds:
    """Make so many attacks of a family; nothing false may be recorded, shown or called TRUE."""

    return lambda family, count: _hold(attacked, family, count)


def _hold(on: Battlefield, family: str, count: int, where: str = "") -> None:
    tried = BY_NAME[family].tries(on, FamilyPart(count * TIMES, shortened=TIMES == 1))
    assert tried.made > 0
    again = f"python -m tools.attack {where}--family {family} --only"
    told = "\n".join(report.lines(tried.findings, lambda name: f"{again} {name!r}"))
    assert not tried.findings, f"{len(tried.findings)} things did not hold:\n{told}"


@pytest.fixture(scope="session", name="attacked_on_server")
def _attacked_on_server() -> Iterator[Battlefield]:
    """The same two ledgers on a server of its own, and a judge."""
    programs = postgres.needed()
    with folder() as scratch, postgres.running(programs, scratch) as server, field(scratch, None, server) as on:
        yield on


@pytest.fixture
def holds_on_server(attacked_on_server: Battlefield) -> Holds:
    """As ``holds``, of a ledger on a server."""
    return lambda family, count: _hold(attacked_on_server, family, count, "--server ")


@pytest.fixture
def run_raw(monkeypatch: pytest.MonkeyPatch) -> RunRaw:
    """Run one command; a mistake in the program is shown as the process would show it, and has the code -1."""
    shown: list[Any] = []
    for name in ("write", "write_one"):
        real = getattr(output, name)

        def kept(rows: Any, fmt: str | None, real: Callable[..., None] = real) -> None:
            if rows != shown[-1:]:  # what write_one hands on to write is the same again
                shown.append(rows)
            real(rows, fmt)

        monkeypatch.setattr(output, name, kept)
    monkeypatch.setattr("time.thread_time", lambda: 0.0)  # compare shows it

    def run_raw(*words: str | Path) -> Ran:
        shown.clear()
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
            try:
                code = cli.main([str(word) for word in words])
            except Exception:  # noqa: BLE001  # whatever it is, it is shown
                code = -1
                kind, mistake, trace = sys.exc_info()
                assert kind is not None
                assert mistake is not None
                running._show_mistake(kind, mistake, trace)
        out, err = (stream.buffer.getvalue() for stream in streams)
        return Ran(code, out, err, list(shown))

    return run_raw
