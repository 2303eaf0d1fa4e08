"""What the ledger itself does in the benchmark: each function does one piece of work and returns a figure.

Rates are per second of the clock, costs are both clock and processor. Every function makes the files it needs where it
is told.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, cast

from ledger.audit.audit import audit
from ledger.book import tables
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
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.ratings import engine, views_file
from ledger.ratings.projector import Projector
from ledger.ratings.views import Views
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import collector_paused, mapped_ahead
from ledger.schemes import chessworld
from ledger.schemes.scheme import Newcomer

from .measuring import FREE, Rates, SecondsTaken, cost_of
from .rivals import pace, sha256_each

FIRST_MS = 1_262_304_000_000  # 2010-01-01: where live games begin


@contextmanager
def _ledger(folder: Path, name: str) -> Iterator[Ledger]:
    with Ledger.create(folder / f"{name}.db") as ledger:
        yield ledger


class Imported(NamedTuple):
    """A CSV file brought in, alone, and with two rows of indexed history a game."""

    games: int
    alone: SecondsTaken
    to_history: SecondsTaken


def import_csv(path: Path, csv: Path, on_server: ServerPlace | None = None) -> Imported:
    """From a CSV file to a sealed journal and two rows of indexed history a game, in a new ledger.

    The rival writes no more: so does this, without the read models beside the history. The journal is a file, or in
    schemas that stand on a server.
    """
    Ledger.create(path, on_server=on_server).close()
    with Ledger.open(path, projectors=()) as ledger, open_source(str(csv)) as source:
        gc.collect()
        recorded = 0

        def bring_in() -> None:
            nonlocal recorded
            recorded = ledger.import_games(csv_games.frames(source.stream(), source.reading)).recorded

        alone = cost_of(bring_in)
        rated = cost_of(ledger.catch_up)
        return Imported(recorded, alone, alone.plus(rated))


def first_build(path: Path, projectors: Sequence[Projector] | None = None) -> SecondsTaken:
    """Build the views of a whole journal from nothing, with these read models; the installed ones by default."""
    for leftover in path.parent.glob(f"{path.stem}.views*"):
        leftover.unlink()
    with Ledger.open(path, projectors=projectors) as ledger:
        return cost_of(ledger.catch_up)


def player_indexes() -> tuple[str, ...]:
    """The statements that make all games of a player, rated or not, quick to find."""
    return tuple(statement for statement in tables.INDEXES if "games_of_" in statement)


def first_build_without_player_indexes(path: Path) -> SecondsTaken:
    """``first_build`` by a program that has no such index: for a process of its own, which it spoils for all else."""
    left_out = player_indexes()
    indexes, objects = vars(views_file)["_INDEXES"], vars(views_file)["_OBJECTS"]
    vars(views_file).update(
        _INDEXES=tuple(statement for statement in indexes if statement not in left_out),
        _OBJECTS={name: statement for name, statement in objects.items() if statement not in left_out},
    )
    return first_build(path)


def late_game(key: str, players: tuple[int, int], ended_ms: int) -> GameRecorded:
    """A game that is recorded now and was played then."""
    return GameRecorded(
        game=key,
        pool="standard",
        white=players[0],
        black=players[1],
        outcome=Outcome.WHITE,
        termination=Termination.RESIGNATION,
        half_moves=40,
        ended_at=instant_text(ended_ms),
        rated=True,
    )


def one_who_played_much(ledger: Ledger, games: int, first_ms: int, step_ms: int) -> int:
    """Record so many games of a new player, one each *step_ms*, against others in turn; returns the player's number."""
    player = ledger.register("name:much", "Played Much")
    others = [player - 1 - 7 * place % (player - 1) for place in range(games)]
    ledger.append_many(
        late_game(f"much-{place}", (player, other), first_ms + place * step_ms) for place, other in enumerate(others)
    )
    return player


def copied(path: Path, folder: Path) -> Path:
    """Copy a ledger that nobody has open into a folder; returns the journal of the copy."""
    for file in path.parent.glob(f"{path.stem}.*"):
        shutil.copy(file, folder / file.name)
    return folder / path.name


def record_late(ledger: Ledger, game: GameRecorded) -> SecondsTaken:
    """Record a game that took place long ago, and see it and all later ones rated."""

    def record() -> None:
        ledger.append(game)
        ledger.catch_up()

    return cost_of(record)


def record_earliest(path: Path, key: str, ended_ms: int) -> SecondsTaken:
    """Record a game before all others, between the first two players, and see all games rated again."""
    with Ledger.open(path) as ledger:
        return record_late(ledger, late_game(key, (1, 2), ended_ms))


def audited(path: Path) -> Rates:
    """The audit of the journal alone: entries a second."""
    entries = 0

    def run() -> None:
        nonlocal entries
        verdict = audit(path, journal_only=True)
        assert not verdict.falsehoods
        entries = verdict.entries

    cost = cost_of(run)
    return cost.rates(entries)


def digested(path: Path) -> Rates:
    """SHA-256 of every body of the journal: digests a second, without the reading."""
    entries, cost = 0, FREE
    with Ledger.open(path, read_only=True) as ledger:
        for bodies in ledger.journal.read():
            entries, cost = entries + len(bodies), cost.plus(cost_of(partial(sha256_each, bodies)))
    return cost.rates(entries)


def parse_pgn(path: Path) -> float:
    """Games/s from a PGN file to source games, as the rival gives its games."""

    def run() -> None:
        with path.open("rb") as file:
            for _ in pgn.games(file, Reading(path.name)):
                pass

    with path.open("rb") as file:
        count = sum(1 for _ in pgn.games(file, Reading(path.name)))
    return pace(count, run, 1)


def _registered(ledger: Ledger, players: int = 200) -> list[int]:
    return [ledger.register(f"name:p{i}", f"p{i}") for i in range(players)]


def _live_games(numbers: list[int], first: int, count: int) -> list[GameRecorded]:
    """Games that end one after the other, between registered players."""
    outcomes = (Outcome.WHITE, Outcome.DRAW, Outcome.BLACK)
    players = len(numbers)
    return [
        GameRecorded(
            game=f"live-{i}",
            pool="standard",
            white=numbers[i * 7 % players],
            black=numbers[(i * 7 + 1 + i % 97) % players],
            outcome=outcomes[i % 3],
            termination=Termination.RESIGNATION,
            half_moves=40,
            ended_at=instant_text(FIRST_MS + 60_000 * i),
            rated=True,
        )
        for i in range(first, first + count)
    ]


def live(folder: Path, count: int, projectors: Sequence[Projector] | None = None) -> Rates:
    """Games/s recorded durably and rated one by one, each seen rated before the next is recorded.

    The read models are these, the installed ones by default.
    """
    Ledger.create(folder / "live.db").close()
    with Ledger.open(folder / "live.db", projectors=projectors) as ledger:
        games = _live_games(_registered(ledger), 0, count + 500)
        ledger.append_many(games[:500])
        ledger.catch_up()

        def record() -> None:
            for game in games[500:]:
                ledger.append(game)
                ledger.catch_up()

        return cost_of(record).rates(count)


def appends(folder: Path, count: int) -> dict[str, Rates]:
    """Events/s recorded durably, 1,000 a transaction: ``appends`` with making them, ``saves`` without."""
    with _ledger(folder, "appends") as ledger:
        numbers = _registered(ledger)
        made = saved = FREE
        for first in range(0, count, 1_000):
            games: list[GameRecorded] = []
            made = made.plus(cost_of(lambda: games.extend(_live_games(numbers, first, 1_000))))  # noqa: B023  # at once
            saved = saved.plus(cost_of(partial(ledger.append_many, games)))
        return {"appends": made.plus(saved).rates(count), "saves": saved.rates(count)}


def projected(folder: Path, count: int) -> dict[str, float]:
    """Games/s of single games already recorded, folded into the views: ``singly`` a transaction each, ``backlog``."""
    with _ledger(folder, "projected") as ledger:
        games = _live_games(_registered(ledger), 0, count + 500)
        ledger.append_many(games[:500])
        ledger.catch_up()
        ledger.append_many(games[500:])
        upto = ledger.journal.size() - count
        seen = _UpTo(ledger.journal, upto)
        standing = Views(ledger.views.path, ledger.views.at_hand, cast("Journal", seen))
        begun = perf_counter()
        for position in range(upto + 1, upto + count // 2 + 1):
            seen.limit = position
            standing.catch_up()
        singly = (count // 2) / (perf_counter() - begun)
        begun = perf_counter()
        ledger.catch_up()
        return {"singly": singly, "backlog": (count - count // 2) / (perf_counter() - begun)}


class _UpTo:
    """A journal as it was when it had *limit* entries, so that a recorded stream arrives entry by entry."""

    def __init__(self, journal: Any, limit: int) -> None:
        self._journal = journal
        self.limit = limit

    def fence(self) -> None:
        pass

    def size(self) -> int:
        return self.limit

    def root_at(self, size: int) -> bytes:
        root: bytes = self._journal.root_at(size)
        return root

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        blocks: Iterator[list[bytes]] = self._journal.read(after, self.limit if until is None else until)
        return blocks


def replay_stored(path: Path) -> Rates:
    """Entries/s from the stored journal to ratings in memory: read, decoded, put in rating order, rated."""
    with Ledger.open(path, read_only=True) as ledger:
        count = ledger.journal.size()
    return cost_of(partial(_replay_stored, path)).rates(count)


def _replay_stored(path: Path) -> None:
    with Ledger.open(path, read_only=True) as ledger, collector_paused():
        blocks = [block.games for _, block in mapped_ahead(decode_bodies, ledger.journal.read())]
    games = pl.concat(block for block in blocks if block is not None).sort("ended_ms", "round_order", "key")
    score = games["outcome"].replace_strict({"white": 1.0, "draw": 0.5, "black": 0.0}, default=0.5)
    white, black = (games[side].cast(pl.Int32).to_numpy(writable=True) for side in ("white", "black"))
    # Writable, as the columns of a build are: a kernel would be compiled once more for columns that are only read.
    rateable = engine.Rateable(white, black, score.to_numpy(writable=True), games["ended_ms"].to_numpy() / DAY_MS)
    players = int(max(white.max(), black.max())) + 1
    scheme, numbers = chessworld.SCHEME, chessworld.DEFAULT
    state = MANY.floats(engine.newcomers(scheme, numbers, [Newcomer()]) * players)
    engine.rate(MANY, scheme, numbers, rateable, state, MANY.zeros(players))
