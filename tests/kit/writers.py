"""The writer of a server in a process of its own, asked as the processes that answer ask it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ledger.facts import codec
from ledger.facts.events import GameRecorded, Role
from ledger.ledger import Ledger
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tools.serve.settings import Serving
from tools.serve.wire import WriterClient

Answer = TypeVar("Answer")
PATIENCE = 120.0  # seconds for one answer: the machine may be busy


def facts_of(game: GameRecorded) -> Mapping[str, Any]:
    """A game as the verb ``game`` takes it."""
    return {"facts": {"game": game.game, **codec.facts_mapping(game)}}


def told(key: str, **facts: Any) -> Mapping[str, Any]:
    """A game of players 1 and 2 as the verb ``game`` takes it."""
    return facts_of(game_recorded(key, **{"ended_at": "2006-09-10", "half_moves": 40, **facts}))


def recorder(club: Path, name: str = "rita", *roles: Role) -> str:
    """The token of a person, who may record where no role is named."""
    with Ledger.open(club) as ledger:
        return ledger.tokens.add(name, [*roles] or [Role.RECORDER])


class Process:
    """A writer that is started, killed and started again."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tools.serve.writer", self.serving.as_json()]
        self.process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)

    def is_over(self) -> bool:
        """Whether it ended by itself."""
        return self.process is not None and self.process.poll() is not None

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal and wait; the exit code, and what it said."""
        assert self.process is not None
        os.kill(self.process.pid, number)
        _, said = self.process.communicate(timeout=PATIENCE)
        code, self.process = self.process.returncode, None
        return code, said


@contextmanager
def writer(club: Path, folder: Path, **settings: Any) -> Iterator[Process]:
    """A writer of a ledger, ended with the block."""
    folder.mkdir(exist_ok=True)
    process = Process(Serving(path=club, folder=folder, **settings))
    process.start()
    try:
        yield process
    finally:
        if process.process is not None:
            process.end()


def asking(folder: Path, ask: Callable[[WriterClient], Awaitable[Answer]]) -> Answer:
    """What is asked over one connection."""

    async def asked() -> Answer:
        client = WriterClient(folder)
        client.start()
        try:
            return await ask(client)
        finally:
            await client.close()

    return asyncio.run(asked())
