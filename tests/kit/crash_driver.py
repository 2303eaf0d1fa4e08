"""Work on a small club's ledger in a process of its own, to be killed at any moment and run again.

    python -m tests.kit.crash_driver FOLDER [--steps WORDS] [--games N] [--batch N] [--die-at N] ...
    python -m tests.kit.crash_driver FOLDER --verb VERB --copy-of BASE [--die-at N]

In FOLDER lies ``club.db``. The same steps again complete what a killed process left; each step that is done prints a
line, so that the test knows where the process was. A verb is one of ``killed_verbs``: the folder BASE is copied to
FOLDER, and the verb's commands run on the copy. After each of them the size of the journal is written to
``acknowledged`` there, and at the end the number of statements.
"""

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ledger.audit.audit import Verdict
from ledger.backups import backup, disk, restore, restoring
from ledger.errors import LedgerError, StorageError, UnknownNameError
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_store
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.ratings import view_builds, views
from ledger.recording.recorder import Submission
from ledger.runtime import sorted_runs, sqlite
from tests.crashes.killed_verbs import VERBS
from tests.kit.clubs import NAME, open_ledger
from tests.kit.games import game_recorded, source_games
from tools import cli

FILE_STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown"}  # as Python audits them
ACKNOWLEDGED = "acknowledged"
MOVES = "1. e4 e5"


def die_at(step: int, folder: Path | None = None) -> list[int]:
    """End this process as kill -9 does before a step, counted from 1: a statement of SQLite in whatever file.

    With *folder* making, opening, moving and removing files in it are steps, too. Returns the number of steps left,
    kept up to date.
    """
    connect, left = sqlite.connect, [step]

    def count(*_: object) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(path: str | Path, **words: Any) -> Any:
        connection = connect(path, **words)
        connection.set_trace_callback(count)
        return connection

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FILE_STEPS and str(arguments[0]).startswith(str(folder)):
            count()

    sqlite.connect = traced
    if folder is not None:
        sys.addaudithook(audited)
    return left


def say(line: str) -> None:
    """Tell whoever waits, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def append_batches(ledger: Ledger, games: int, size: int) -> None:
    """Record games by batches, a refused one in each, and say which batch was acknowledged."""
    digest = sha256(MOVES.encode()).hexdigest()
    numbers = [ledger.register(f"made:{name}", name) for name in ("Ann", "Bob")]
    for first in range(0, games, size):
        told = [
            Submission(
                game_recorded(f"g{n}", white=numbers[0], black=numbers[1], ended_at="2020", text=digest),
                "eve",
                None,
                MOVES,
            )
            for n in range(first, first + size)
        ]
        told.insert(1, Submission(game_recorded("refused", white=99, ended_at="2020"), "eve"))
        ledger.append_each(told)
        say(f"acknowledged {first + size}")


def import_games(ledger: Ledger, arguments: argparse.Namespace) -> None:
    """Import all games at once."""
    found = batch_games(source_games(arguments.games, arguments.seed), arguments.batch)
    outcome = ledger.import_games(found, advance=arguments.slowly)
    assert not outcome.faults, outcome.faults[:3]


def import_live(ledger: Ledger, arguments: argparse.Namespace) -> None:
    """Import the games batch by batch, with a registration before and ratings after each."""
    for frame in batch_games(source_games(arguments.games, arguments.seed), arguments.batch):
        ledger.register(f"made:p{arguments.seed}", f"Player {arguments.seed}")
        ledger.import_games([frame])
        ledger.catch_up(arguments.slowly)


LEDGER_STEPS: Mapping[str, Callable[[Ledger, argparse.Namespace], object]] = {
    "import": import_games,
    "live": import_live,
    "each": lambda ledger, arguments: append_batches(ledger, arguments.games, arguments.batch),
    "rename": lambda ledger, _: ledger.rename(1, "Renamed"),
    "erase": lambda ledger, _: ledger.erase(1, actor="officer"),
    "catch-up": lambda ledger, arguments: ledger.catch_up(arguments.slowly),
    "rebuild": lambda ledger, arguments: ledger.rebuild(arguments.slowly),
}


def restore_kept(folder: Path) -> None:
    """Restore ``kept`` over the ledger without the audit, which writes nothing there and takes most of the time."""
    head = disk.read_manifest(folder / "kept").head

    def believe(*_: Any, **__: Any) -> Verdict:
        return Verdict(head, head.size, 0, 0, {}, ())

    restoring.audit = believe  # type: ignore[attr-defined]
    restore(folder / "kept", folder / NAME, replace=True)


def erase_all(folder: Path) -> None:
    """Erase one player after the other, for as long as there are new ones, up to 5 seconds."""
    ends = time.monotonic() + 5
    with open_ledger(folder / NAME) as ledger:  # by the clock of the imports beside it
        player = 1
        while time.monotonic() < ends and not (folder / "stop").exists():
            with suppress(StorageError, UnknownNameError):  # somebody reads the file, or nobody is new: again later
                ledger.erase(player)
                player += bool(ledger.people.by_number([player]))
            time.sleep(0.02)


FILE_WORK: Mapping[str, Callable[[Path], object]] = {
    "backup": lambda folder: backup(folder / NAME, folder / "b"),
    "restore": restore_kept,
    "erase-all": erase_all,
}


def set_sizes(arguments: argparse.Namespace) -> None:
    """Let a small club be built as a large one is."""
    views.BUILD_FROM = arguments.build_from
    views.FEW_ENTRIES = 0
    sqlite_store.BLOCK = sorted_runs.PIECE = view_builds.SIDES_A_BLOCK = arguments.chunk
    view_builds.ENTRIES_A_COMMIT = view_builds.GAMES_A_BLOCK = view_builds.GAMES_A_RUN = 2 * arguments.chunk
    view_builds.SIDES_A_RUN = 2 * arguments.chunk
    if arguments.own_process:
        view_builds.OWN_PROCESS_FROM = 0


def run_steps(arguments: argparse.Namespace) -> None:
    """Do the steps in order: those of the files alone, or those of an open ledger."""
    steps = arguments.steps.split(",") if arguments.steps else []
    on_files = [step for step in steps if step in FILE_WORK]
    left = die_at(arguments.die_at, arguments.folder if on_files else None) if arguments.die_at else [0]
    for step in on_files:
        FILE_WORK[step](arguments.folder)
        say(step)
    if not on_files:
        set_sizes(arguments)
        with open_ledger(arguments.folder / NAME) as ledger:
            say("opened")
            for step in steps:
                LEDGER_STEPS[step](ledger, arguments)
                say(step)
    say(f"steps {arguments.die_at - left[0]}")


def words_of(step: Sequence[str], folder: Path) -> list[str]:
    """Return a command of ``killed_verbs`` for the ledger in *folder*."""
    return [word.format(club=folder / NAME, folder=folder) for word in step]


def run_verb(arguments: argparse.Namespace) -> int:
    """Run the commands of a verb on a copy of the base."""
    folder = Path(shutil.copytree(arguments.copy_of, arguments.folder))
    left = die_at(arguments.die_at)
    with (folder / ACKNOWLEDGED).open("w", encoding="ascii") as acknowledged:
        for step in VERBS[arguments.verb]:
            code = cli.main(words_of(step, folder))
            if code != 0:
                return code
            so_far = left[0]
            left[0] = 1 << 62  # asking for the size is no part of the command
            with closing(SqliteJournal(folder / NAME, read_only=True)) as journal:
                acknowledged.write(f"{journal.size()}\n")
            acknowledged.flush()
            left[0] = so_far
        acknowledged.write(f"{arguments.die_at - left[0]} statements\n")
    return 0


def main() -> int:
    """Do the work; a refusal is one line on standard error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=750)
    parser.add_argument("--batch", type=int, default=60)
    parser.add_argument("--build-from", type=int, default=50_000)
    parser.add_argument("--chunk", type=int, default=125)
    parser.add_argument("--own-process", action="store_true", help="builds write by a process of its own")
    parser.add_argument("--steps", default="import,catch-up")
    parser.add_argument("--verb")
    parser.add_argument("--copy-of", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow-ms", type=int, default=0)
    parser.add_argument("--die-at", type=int, default=0)
    arguments = parser.parse_args()
    arguments.slowly = lambda *_: time.sleep(arguments.slow_ms / 1000)
    if arguments.verb:
        return run_verb(arguments)
    try:
        run_steps(arguments)
    except LedgerError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
