"""Compile the kernels of every built-in scheme before the tests start, so that no two workers compile the same one.

    python -m tests.kernels

Numba keeps what it compiles beside the sources; a second run takes seconds.
"""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.imports.pgn import games as pgn
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.ratings import views
from ledger.schemes import built_in_names
from tests.kit.places import SAMPLE
from tests.kit.source_files import open_lines


def main() -> None:
    """Rate the sample club by every scheme, in columns."""
    views.FEW_ENTRIES = 0  # even a small ledger is built in columns
    with open_lines(str(SAMPLE)) as (lines, reading):
        club = list(pgn.read_games(lines, reading))
    for scheme in built_in_names():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "club.db"
            with Ledger.create(path, scheme=scheme, clock=lambda: datetime(2026, 11, 21, tzinfo=UTC)) as ledger:
                ledger.import_games(batch_games(club, 500))
                ledger.catch_up()


if __name__ == "__main__":
    main()
