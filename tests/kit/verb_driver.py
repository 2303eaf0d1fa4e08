"""The steps of one verb on copies of a ledger, each copy's process killed before another statement of SQLite.

    python -m tests.kit.verb_driver BASE TARGET VERB STATEMENT...

For each STATEMENT the folder BASE is copied to TARGET/STATEMENT, and a forked process runs the commands of the verb on
the copy until it dies as by kill -9; the programs are loaded once. After each command that succeeded, the size of the
journal is written into ``acknowledged`` there, and at the end, where it is reached, the number of statements.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from ledger.journal.sqlite_store import SqliteJournal
from ledger.runtime.lazy import np, pl
from tests.kit.clubs import NAME
from tests.kit.crash_driver import die_at
from tests.kit.killed_verbs import VERBS
from tools import cli, commands

ACKNOWLEDGED = "acknowledged"


def words_of(step: Sequence[str], folder: Path) -> list[str]:
    """A command for the ledger in *folder*."""
    return [word.format(club=folder / NAME, folder=folder) for word in step]


def main() -> None:
    """Fork one process after the other."""
    base, target, verb = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for place in cli.COMMANDS.values():
        importlib.import_module(f"{commands.__name__}.{place.partition('.')[0]}")
    assert all(map(callable, (np.ndarray, pl.DataFrame)))  # loaded now; their threads begin with their first work
    for statement in map(int, sys.argv[4:]):
        folder = Path(shutil.copytree(base, target / str(statement)))
        child = os.fork()
        if not child:
            try:
                os._exit(_run(verb, folder, statement))
            except BaseException:  # noqa: BLE001  # the process ends here whatever it was
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if not (os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0):
            sys.exit(f"{verb}: exit code {os.waitstatus_to_exitcode(status)}")


def _run(verb: str, folder: Path, statement: int) -> int:
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


if __name__ == "__main__":
    main()
