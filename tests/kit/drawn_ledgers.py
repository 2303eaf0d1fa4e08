"""The ledgers that drawn clubs are recorded in: on disk for as long as a test looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.ledger import Ledger
from ledger.ratings.projector import ReadModel
from tests.kit.clubs import NOW, takes_misfits
from tests.kit.plugins import CLIMBS, SCORES, WIN_STREAKS

PROJECTORS = (WIN_STREAKS, CLIMBS, SCORES)


def opened(path: Path, projectors: Sequence[ReadModel] = PROJECTORS) -> Ledger:
    """A ledger with these read models, in the year after the last drawn game."""
    return takes_misfits(Ledger.open(path, projectors=projectors, clock=lambda: NOW))


@cache
def _empty() -> Mapping[str, bytes]:
    """The files of a new ledger, by name: what is drawn asks for thousands, and making one takes a twentieth of it."""
    with TemporaryDirectory() as folder:
        Ledger.create(Path(folder) / "club.db", pool="unused", clock=lambda: NOW).close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@contextmanager
def new_ledger(projectors: Sequence[ReadModel] = PROJECTORS) -> Iterator[Ledger]:
    """A ledger that keeps these read models; its first scheme is the club's own, so the file begins empty."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "club.db"
        for name, content in _empty().items():
            path.with_name(name).write_bytes(content)
        with opened(path, projectors) as ledger:
            yield ledger
