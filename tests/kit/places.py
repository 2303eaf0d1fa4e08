"""Where the tests find what is not code: the checkout, the sample club, kept files, real games."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
SAMPLE = ROOT / "tools" / "sample" / "club.pgn"

SHARED = ROOT.parent / "shared"
"""Beside the checkout, on some machines only."""
DATA = SHARED / "data"
"""Large sets of real games."""
OTB = DATA / "otb_replay_strict.csv.gz"
"""Games over the board of many years."""

MEMORY = Path("/dev/shm")
"""Where files cost no wait for a disk, on some systems."""


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Make a folder to work in, in memory where there is such a place, which other users may read."""
    with TemporaryDirectory(prefix="ledger-tests-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        Path(made).chmod(0o755)
        yield Path(made)
