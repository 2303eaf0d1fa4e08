"""Single games of many clients at the one process that writes: in common transactions, and beside a large upload."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from ledger.facts import codec
from ledger.facts.events import GameRecorded, Role
from ledger.facts.words import Outcome, Termination
from ledger.ledger import Ledger

from ..serve.settings import Serving
from ..serve.wire import WriterClient, meeting
from .datasets import GameSet
from .measuring import in_turns
from .table import Line, line

CLIENTS = 64
PATIENCE = 600.0  # seconds for one answer
A_FRAME = 1_000  # entries at once: a single transaction of single games is far smaller
GLANCE = 0.002  # seconds between two looks at how much the journal holds
# The same process, with a transaction for each game: what the common ones are measured against.
_EACH_BY_ITSELF = "import sys; from tools.serve import waiting, writer; waiting.A_BATCH = 1; writer.main(sys.argv[1:])"


def writing_lines(sets: Sequence[GameSet], folder: Path, rounds: int, games: int) -> Iterator[Line]:
    """About *games* single games of one client and of many, then some beside the upload of the first set."""
    seconds = games / 1_000
    works: dict[str, Callable[[], list[int]]] = {
        "one": partial(_recorded, folder, 1, seconds),
        "many": partial(_recorded, folder, CLIENTS, seconds),
        "each": partial(_recorded, folder, CLIENTS, seconds, alone=True),
    }
    counts = in_turns(works, rounds)
    rates = {name: [sum(each) / seconds for each in measured] for name, measured in counts.items()}
    where = f"{CLIENTS} clients"
    yield line("write-many", where, rates["many"], rates["one"])
    yield line("write-grouped", where, rates["many"], rates["each"])
    slowest, quickest = ([of(each) / seconds for each in counts["many"]] for of in (min, max))
    yield line("write-fair", where, [max(each, 1e-6) for each in slowest], quickest)
    yield _beside_an_upload(sets[0], folder)


@contextmanager
def _writer(club: Path, *, alone: bool = False) -> Iterator[Path]:
    """The process that writes, for the length of a block; gives the folder in which it is met."""
    words = ["-c", _EACH_BY_ITSELF] if alone else ["-m", "tools.serve.writer"]
    with meeting() as folder:
        command = [sys.executable, *words, Serving(path=club, folder=folder).as_json()]
        process = subprocess.Popen(command)  # noqa: S603  # our own program
        try:
            yield folder
        finally:
            process.terminate()
            process.wait(60)


def _club(folder: Path) -> tuple[Path, str]:
    """A ledger of many players without a game, and the token of who records."""
    club = folder / "club.db"
    with Ledger.create(club) as ledger:
        for number in range(2 * CLIENTS):
            ledger.register(f"club:{number}", f"Player {number}")
        ledger.level()
        return club, ledger.tokens.add("clerk", [Role.RECORDER])


def _asked(folder: Path, ask: Callable[[WriterClient], Awaitable[Any]]) -> Any:
    """What is asked over one connection, as a process that answers asks."""

    async def asked() -> Any:
        client = WriterClient(folder)
        client.start()
        try:
            return await ask(client)
        finally:
            await client.close()

    return asyncio.run(asked())


def _facts(client: int, number: int) -> Mapping[str, Any]:
    """A game of two players whom no other client has, as the verb takes it."""
    game = GameRecorded(
        game=f"bench:{client}-{number}",
        pool="standard",
        white=2 * client + 1,
        black=2 * client + 2,
        outcome=Outcome.WHITE,
        termination=Termination.CHECKMATE,
        rated=True,
        ended_at=f"2020-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        half_moves=60,
    )
    return {"facts": {"game": game.game, **codec.facts_mapping(game)}}


def _recorded(folder: Path, clients: int, seconds: float, *, alone: bool = False) -> list[int]:
    """How many games of each client were acknowledged within so many seconds, each sent after the one before."""
    with TemporaryDirectory(dir=folder) as name:
        club, token = _club(Path(name))

        async def ask(client: WriterClient) -> list[int]:
            async def client_of(place: int) -> int:
                done = 0
                while asyncio.get_running_loop().time() < until:
                    await client.ask("game", _facts(place, done), token=token, patience=PATIENCE)
                    done += 1
                return done

            for number in range(-3, 0):  # the first ones load what is needed
                await client.ask("game", _facts(0, number % 86_400), token=token, patience=PATIENCE)
            until = asyncio.get_running_loop().time() + seconds
            return await asyncio.gather(*map(client_of, range(clients)))

        with _writer(club, alone=alone) as met:
            counts: list[int] = _asked(met, ask)
        return counts


def _beside_an_upload(data: GameSet, folder: Path) -> Line:
    """For how many transactions of a large upload a single game waits that comes beside it, at most."""
    with TemporaryDirectory(dir=folder) as name:
        club, token = _club(Path(name))
        upload = Path(name) / "upload.csv"
        copyfile(data.csv(), upload)
        named = {"path": str(upload), "name": upload.name, "format": "csv"}
        sent = {**dict.fromkeys(("pool", "source", "dates", "day")), **named, "strict": False, "record_alike": True}
        waits: list[tuple[float, float]] = []

        async def ask(client: WriterClient) -> None:
            words = {"upload": "bench", "sent": sent}
            uploading = asyncio.create_task(client.ask("desk-import", words, token=token, patience=PATIENCE))
            for number in count():
                if uploading.done():
                    break
                begun = time.perf_counter()
                await client.ask("game", _facts(0, number), token=token, patience=PATIENCE)
                waits.append((begun, time.perf_counter()))
            await uploading

        with _writer(club) as met, _frames(club) as frames:
            _asked(met, ask)
        most = max(sum(begun < frame <= ended for frame in frames) for begun, ended in waits)
        return line("write-upload", data.name, float(max(most, 1)), 1.0)


@contextmanager
def _frames(club: Path) -> Iterator[list[float]]:
    """When the journal grew by many entries at once, looked at all the time within the block."""
    grown: list[float] = []
    stopped = threading.Event()

    def look() -> None:
        with Ledger.open(club, read_only=True) as ledger:
            size = ledger.journal.size()
            while not stopped.wait(GLANCE):
                now = ledger.journal.size()
                if now - size >= A_FRAME:
                    grown.append(time.perf_counter())
                size = now

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield grown
    finally:
        stopped.set()
        thread.join()
