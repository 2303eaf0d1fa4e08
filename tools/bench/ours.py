"""What the ledger itself does in the benchmark: each function does one piece of work and returns a figure.

Rates are per second of the clock unless the name says ``cpu``. Every function makes the files it needs in the folder
that it is given.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple, cast

from ledger.audit.audit import audit
from ledger.book.game_book_columns import decode_bodies
from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_text
from ledger.facts.periods import DAY_MS
from ledger.facts.words import Outcome, Termination
from ledger.imports.csv import games as csv_games
from ledger.imports.files import open_source
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from ledger.journal import Journal
from ledger.ledger import Ledger
from ledger.ratings import engine
from ledger.ratings.views import Views
from ledger.runtime.collector import collector_paused
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import pl
from ledger.runtime.prefetch import mapped_ahead
from ledger.schemes import chessworld
from ledger.schemes.scheme import Newcomer

from .rivals import pace

FIRST_MS = 1_262_304_000_000  # 2010-01-01: where live games begin


@contextmanager
def _ledger(folder: Path, name: str) -> Iterator[Ledger]:
    with Ledger.create(folder / f"{name}.db") as ledger:
        yield ledger


class Imported(NamedTuple):
    """A CSV file brought in and rated."""

    path: Path
    games: int
    import_cpu_rate: float
    seconds_to_history: float
    project_seconds: float


def import_csv(folder: Path, csv: Path) -> Imported:
    """From a CSV file to a sealed journal and two rows of indexed history a game."""
    with _ledger(folder, "import") as ledger, open_source(str(csv)) as source:
        gc.collect()
        cpu, begun = process_time(), perf_counter()
        outcome = ledger.import_games(csv_games.frames(source.stream(), source.reading))
        cpu = process_time() - cpu
        imported = perf_counter()
        ledger.catch_up()
        done = perf_counter()
        return Imported(ledger.path, outcome.recorded, outcome.recorded / cpu, done - begun, done - imported)


def audit_cpu_rate(path: Path) -> tuple[float, list[bytes]]:
    """Entries per second of CPU time of the audit of the journal alone, best of two, and the first million bodies."""
    rate = 0.0
    for _ in range(2):
        begun = process_time()
        verdict = audit(path, journal_only=True)
        rate = max(rate, verdict.entries / (process_time() - begun))
        assert not verdict.falsehoods
    bodies: list[bytes] = []
    with Ledger.open(path, read_only=True) as ledger:
        for block in ledger.journal.read(0, 1_000_000):
            bodies += block
    return rate, bodies


def parse_pgn(path: Path) -> float:
    """Games/s from a PGN file to source games, as the rival gives its games."""

    def run() -> None:
        with path.open("rb") as file:
            for _ in pgn.games(file, Reading(path.name)):
                pass

    with path.open("rb") as file:
        count = sum(1 for _ in pgn.games(file, Reading(path.name)))
    return pace(count, run, 3)


def _registered(ledger: Ledger, players: int = 200) -> list[int]:
    return [ledger.register(f"name:p{i}", f"p{i}") for i in range(players)]


def _live_games(numbers: list[int], first: int, count: int) -> list[GameRecorded]:
    """Games that end one after the other, between registered players."""
    outcomes = (Outcome.WHITE, Outcome.DRAW, Outcome.BLACK)
    players = len(numbers)
    return [
        GameRecorded(
            game=f"live-{i}", pool="standard", white=numbers[i * 7 % players],
            black=numbers[(i * 7 + 1 + i % 97) % players], outcome=outcomes[i % 3],
            termination=Termination.RESIGNATION, half_moves=40,
            ended_at=instant_text(FIRST_MS + 60_000 * i), rated=True,
        )
        for i in range(first, first + count)
    ]  # fmt: skip


def live(folder: Path, count: int) -> float:
    """Games/s recorded durably and rated one by one, each seen rated before the next is recorded."""
    with _ledger(folder, "live") as ledger:
        games = _live_games(_registered(ledger), 0, count + 500)
        ledger.append_many(games[:500])
        ledger.catch_up()
        begun = perf_counter()
        for game in games[500:]:
            ledger.append(game)
            ledger.catch_up()
        return count / (perf_counter() - begun)


def appends(folder: Path, count: int) -> dict[str, float]:
    """Events/s recorded durably, 1,000 a transaction: ``appends`` with making them, ``saves`` without."""
    with _ledger(folder, "appends") as ledger:
        numbers = _registered(ledger)
        seconds = 0.0
        started = perf_counter()
        for first in range(0, count, 1_000):
            games = _live_games(numbers, first, 1_000)
            begun = perf_counter()
            ledger.append_many(games)
            seconds += perf_counter() - begun
        return {"appends": count / (perf_counter() - started), "saves": count / seconds}


def projected(folder: Path, count: int) -> tuple[float, float]:
    """Single games already recorded, folded into the views: games/s one a transaction, and as one backlog."""
    with _ledger(folder, "projected") as ledger:
        games = _live_games(_registered(ledger), 0, count + 500)
        ledger.append_many(games[:500])
        ledger.catch_up()
        ledger.append_many(games[500:])
        upto = ledger.journal.size() - count
        seen = _UpTo(ledger.journal, upto)
        standing = Views(ledger.views.path, ledger.views.projectors, cast("Journal", seen))
        begun = perf_counter()
        for position in range(upto + 1, upto + count // 2 + 1):
            seen.limit = position
            standing.catch_up()
        singly = (count // 2) / (perf_counter() - begun)
        begun = perf_counter()
        ledger.catch_up()
        return singly, (count - count // 2) / (perf_counter() - begun)


class _UpTo:
    """A journal as it was when it had *limit* entries, so that a recorded stream arrives entry by entry."""

    def __init__(self, journal: Any, limit: int) -> None:
        self._journal = journal
        self.limit = limit

    def size(self) -> int:
        return self.limit

    def root_at(self, size: int) -> bytes:
        root: bytes = self._journal.root_at(size)
        return root

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        blocks: Iterator[list[bytes]] = self._journal.read(after, self.limit if until is None else until)
        return blocks


def replayed(path: Path) -> float:
    """Entries/s from the stored journal to ratings in memory: read, decoded, put in rating order, rated."""

    def run() -> None:
        with Ledger.open(path, read_only=True) as ledger, collector_paused():
            blocks = [block.games for _, block in mapped_ahead(decode_bodies, ledger.journal.read())]
        games = pl.concat(block for block in blocks if block is not None).sort("ended_ms", "round_order", "key")
        score = games["outcome"].replace_strict({"white": 1.0, "draw": 0.5, "black": 0.0}, default=0.5).to_numpy()
        white, black = (games[side].cast(pl.Int32).to_numpy() for side in ("white", "black"))
        rateable = engine.Rateable(white, black, score, games["ended_ms"].to_numpy() / DAY_MS)
        players = int(max(white.max(), black.max())) + 1
        scheme, numbers = chessworld.SCHEME, chessworld.DEFAULT
        state = MANY.floats(engine.newcomers(scheme, numbers, [Newcomer()]) * players)
        engine.rate(MANY, scheme, numbers, rateable, state, MANY.zeros(players))

    with Ledger.open(path, read_only=True) as ledger:
        count = ledger.journal.size()
    return pace(count, run, 1)


def peak_memory(work: Callable[[], object]) -> float:
    """Peak resident bytes of this process after *work*; for a process made for it."""
    work()
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def project_in_a_process(path: Path) -> tuple[float, float]:
    """Seconds and peak resident bytes of projecting a whole journal in a process of its own."""
    for leftover in path.parent.glob(f"{path.stem}.views*"):
        leftover.unlink()
    code = (
        "import sys, time\n"
        f"from {__name__.rsplit('.', 1)[0]}.ours import peak_memory\n"
        "from ledger.ledger import Ledger\n"
        "begun = time.perf_counter()\n"
        "ledger = Ledger.open(sys.argv[1])\n"
        "print(peak_memory(ledger.catch_up), time.perf_counter() - begun)\n"
    )
    done = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    peak, seconds = map(float, done.stdout.split())
    return seconds, peak


def start_seconds(command: list[str], runs: int = 7) -> float:
    """Median seconds of a whole command, after one that warms the disk."""
    taken = []
    for _ in range(runs + 1):
        begun = perf_counter()
        subprocess.run(command, capture_output=True, check=True)  # noqa: S603  # the commands measured here
        taken.append(perf_counter() - begun)
    return sorted(taken[1:])[runs // 2]
