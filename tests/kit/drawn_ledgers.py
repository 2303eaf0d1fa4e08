"""The ledgers that drawn clubs are recorded in: on disk for as long as a test looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.ledger import Ledger
from tests.kit.clubs import NOW, takes_late_pasts
from tests.kit.plugins import CLIMBS, SCORES, WIN_STREAKS

PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES)


@contextmanager
def new_ledger() -> Iterator[Ledger]:
    """A ledger that keeps WIN_STREAKS too; its first scheme is the club's own, so the file begins empty."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        Ledger.create(path, pool="unused", clock=lambda: NOW).close()
        with takes_late_pasts(Ledger.open(path, projectors=PROJECTORS, clock=lambda: NOW)) as ledger:
            yield ledger
