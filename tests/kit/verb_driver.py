"""The verbs of ``killed_verbs`` in a process of its own, to be killed: ``main`` is run by ``run_module``.

    tests.kit.verb_driver BASE TARGET VERB STATEMENT

The folder BASE is copied to TARGET/STATEMENT, and the commands of the verb run on the copy until the process dies as by
kill -9. After each command that succeeded, the size of the journal is written into ``acknowledged`` there, and at the
end, where it is reached, the number of statements.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ledger.journal.sqlite_store import SqliteJournal
from tests.kit.clubs import NAME
from tests.kit.crash_driver import die_at
from tests.kit.killed_verbs import VERBS
from tools import cli

ACKNOWLEDGED = "acknowledged"


def words_of(step: Sequence[str], folder: Path) -> list[str]:
    """A command for the ledger in *folder*."""
    return [word.format(club=folder / NAME, folder=folder) for word in step]


def main() -> int:
    """Run the verb until that statement."""
    base, target, verb, statement = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    folder = Path(shutil.copytree(base, target / str(statement)))
    left = die_at(statement)
    with (folder / ACKNOWLEDGED).open("w", encoding="ascii") as acknowledged:
        for step in VERBS[verb]:
            code = cli.main(words_of(step, folder))
            if code != 0:
                return code
            so_far = left[0]
            left[0] = 1 << 62  # asking for the size is no part of the command
            journal = SqliteJournal(folder / NAME, read_only=True)
            acknowledged.write(f"{journal.size()}\n")
            acknowledged.flush()
            journal.close()
            left[0] = so_far
        acknowledged.write(f"{statement - left[0]} statements\n")
    return 0
