"""``python -m tools.bench.working WORK …``: one work of the ledger in a process of its own, its figures as JSON.

The figures are seconds, counts, and as ``peak`` the peak memory of this process at its end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ledger.journal.settings_file import ServerPlace

from .. import output
from . import ours
from .processes import own_peak


def _import(ledger: str, csv: str, address: str = "") -> dict[str, float]:
    made = ours.import_csv(Path(ledger), Path(csv), ServerPlace(address, "club") if address else None)
    return {
        "games": made.games,
        "clock": made.alone.clock,
        "cpu": made.alone.cpu,
        "history_clock": made.to_history.clock,
        "history_cpu": made.to_history.cpu,
    }


def _build(ledger: str) -> dict[str, float]:
    return dict(ours.first_build(Path(ledger))._asdict())


def _build_history(ledger: str) -> dict[str, float]:
    return dict(ours.first_build(Path(ledger), ())._asdict())


def _build_without(ledger: str) -> dict[str, float]:
    return dict(ours.first_build_without_player_indexes(Path(ledger))._asdict())


def _earliest(ledger: str, key: str, ended_ms: str) -> dict[str, float]:
    return dict(ours.record_earliest(Path(ledger), key, int(ended_ms))._asdict())


WORKS: Mapping[str, Callable[..., dict[str, float]]] = {
    "import": _import,
    "build": _build,
    "build-history": _build_history,
    "build-without-player-indexes": _build_without,
    "earliest": _earliest,
}


if __name__ == "__main__":
    figures = WORKS[sys.argv[1]](*sys.argv[2:])
    output.write([figures | {"peak": float(own_peak())}], "nl")
