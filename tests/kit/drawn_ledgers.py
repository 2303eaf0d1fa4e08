"""The ledgers that drawn clubs are recorded in: on disk for as long as a test looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.ledger import Ledger
from ledger.ratings.fact_projector import ReadModel
from tests.kit.clubs import NOW, takes_late_pasts
from tests.kit.plugins import CLIMBS, SCORES, WIN_STREAKS

PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES)


def opened(path: Path, projectors: Sequence[ReadModel] = PROJECTORS) -> Ledger:
    """A ledger with these read models, in the year after the last drawn game."""
    return takes_late_pasts(Ledger.open(path, projectors=projectors, clock=lambda: NOW))


@contextmanager
def new_ledger(projectors: Sequence[ReadModel] = PROJECTORS) -> Iterator[Ledger]:
    """A ledger that keeps these read models; its first scheme is the club's own, so the file begins empty."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        Ledger.create(path, pool="unused", clock=lambda: NOW).close()
        with opened(path, projectors) as ledger:
            yield ledger
