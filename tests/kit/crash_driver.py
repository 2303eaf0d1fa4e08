"""One run of a small club's ledger, to be killed at any moment and run again: make, import, catch up.

    python -m tests.kit.crash_driver FOLDER [--games N] [--batch N] [--steps WORDS] [--die-at N] ...

The same command again completes what a killed one left. It prints a line when each step is done, so that whoever
kills it knows where it was.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from ledger.errors import LedgerError
from ledger.imports.reading import frames
from ledger.journal import sqlite_store
from ledger.journal.recorder import Telling
from ledger.ledger import Ledger
from ledger.ratings import building, views
from ledger.runtime import sorted_runs, sqlite
from tests.kit.clubs import open_ledger
from tests.kit.games import game_recorded, source_games


def die_at(statement: int) -> list[int]:
    """End this process as kill -9 does when SQLite begins that statement, counted over all files from 1.

    Returns the number of statements left, kept up to date.
    """
    connect, left = sqlite.connect, [statement]

    def count(_: str) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def traced(path: str | Path, *, read_only: bool = False) -> Any:
        connection = connect(path, read_only=read_only)
        connection.set_trace_callback(count)
        return connection

    sqlite.connect = traced
    return left


def say(line: str) -> None:
    """Tell whoever waits, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


MOVES = "1. e4 e5"


def append_batches(ledger: Ledger, games: int, size: int) -> None:
    """Record games by batches, a refused one in each, and say which batch was acknowledged."""
    digest = sha256(MOVES.encode()).hexdigest()
    numbers = [ledger.register(f"made:{name}", name) for name in ("Ann", "Bob")]
    for first in range(0, games, size):
        told = [
            Telling(
                game_recorded(f"g{n}", white=numbers[0], black=numbers[1], ended_at="2020", text=digest),
                "eve",
                None,
                MOVES,
            )
            for n in range(first, first + size)
        ]
        told.insert(1, Telling(game_recorded("refused", white=99, ended_at="2020"), "eve"))
        ledger.append_each(told)
        say(f"acknowledged {first + size}")


def run(arguments: argparse.Namespace) -> None:
    """Do the steps in order."""
    path = arguments.folder / "club.db"
    views.BUILD_FROM = arguments.build_from
    views.FEW_ENTRIES = 0  # else a small club would not be built aside
    sqlite_store.BLOCK = sorted_runs.PIECE = building.SIDES_A_BLOCK = arguments.chunk
    building.ENTRIES_A_COMMIT = building.GAMES_A_BLOCK = building.GAMES_A_RUN = 2 * arguments.chunk
    building.SIDES_A_RUN = 2 * arguments.chunk
    if arguments.own_process:
        building.OWN_PROCESS_FROM = 0
    steps = arguments.steps.split(",") if arguments.steps else []
    left = die_at(arguments.die_at) if arguments.die_at else [0]

    def slowly(*_: Any) -> None:
        time.sleep(arguments.slow_ms / 1000)

    with open_ledger(path) as ledger:
        say("opened")
        for step in steps:
            if step == "import":
                found = frames(source_games(arguments.games, arguments.seed), arguments.batch)
                outcome = ledger.import_games(found, advance=slowly)
                assert not outcome.faults, outcome.faults[:3]
            elif step == "live":
                for frame in frames(source_games(arguments.games, arguments.seed), arguments.batch):
                    ledger.register(f"made:p{arguments.seed}", f"Player {arguments.seed}")
                    ledger.import_games([frame])
                    ledger.catch_up(slowly)
            elif step == "each":
                append_batches(ledger, arguments.games, arguments.batch)
            elif step == "rename":
                ledger.rename(1, "Renamed")
            elif step == "erase":
                ledger.erase(1, actor="officer")
            elif step == "catch-up":
                ledger.catch_up(slowly)
            elif step == "rebuild":
                ledger.rebuild(slowly)
            say(step)
    say(f"statements {arguments.die_at - left[0]}")


def main() -> int:
    """Run, and say in one line what was refused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=750)
    parser.add_argument("--batch", type=int, default=60)
    parser.add_argument("--build-from", type=int, default=50_000)
    parser.add_argument("--chunk", type=int, default=125)
    parser.add_argument("--own-process", action="store_true", help="builds write by a process of its own")
    parser.add_argument("--steps", default="import,catch-up")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow-ms", type=int, default=0)
    parser.add_argument("--die-at", type=int, default=0)
    try:
        run(parser.parse_args())
    except LedgerError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
