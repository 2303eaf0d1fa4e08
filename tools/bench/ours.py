"""What the ledger itself does in the benchmark: each function does one piece of work and returns what it took.

``python -m tools.bench.ours WORK …`` does one in a process of its own and prints its figures as JSON.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ledger.audit.audit import Verdict, audit
from ledger.book import tables
from ledger.book.game_book_columns import decode_bodies
from ledger.facts import periods
from ledger.facts.changes import Change
from ledger.facts.events import Decision, GameRecorded
from ledger.facts.instants import instant_text
from ledger.facts.periods import DAY_MS, MONTHLY
from ledger.facts.words import Outcome, Termination
from ledger.imports.csv import games as csv_games
from ledger.imports.files import open_source
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.ratings import engine, views_file
from ledger.ratings.projector import DeclaredProjector
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import np, pl
from ledger.runtime.long_work import collector_paused, mapped_in_threads
from ledger.schemes import chessworld
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme

from .. import output
from .datasets import PROJECTED_BEFORE, TAIL_MS, Columns
from .measuring import FREE, Figure, bytes_written, cost_of, memory_of

FIRST_MS = 1_262_304_000_000  # 2010-01-01: when live games begin
SCHEMA = "club"  # of a journal on a server
PLAYERS = 200  # of it


def take_csv(ledger: Ledger, csv: Path) -> None:
    """Import a CSV file."""
    with open_source(str(csv)) as source:
        ledger.import_games(csv_games.read_frames(source.chunks(), source.reading))


def first_build(path: Path, projectors: Sequence[DeclaredProjector] | None = None) -> Figure:
    """Build the views of a whole journal from nothing, with these read models; the installed ones by default."""
    for leftover in path.parent.glob(f"{path.stem}.views*"):
        leftover.unlink()
    with Ledger.open(path, projectors=projectors) as ledger:
        return cost_of(ledger.catch_up)


def game(key: str, players: tuple[int, int], ended_ms: int, outcome: Outcome = Outcome.WHITE) -> GameRecorded:
    """Return a game that is recorded now and ended then."""
    return GameRecorded(
        game=key, pool="standard", white=players[0], black=players[1], outcome=outcome, half_moves=40, rated=True,
        termination=Termination.RESIGNATION, ended_at=instant_text(ended_ms),
    )  # fmt: skip


def record_late(ledger: Ledger, late: GameRecorded) -> Figure:
    """Record a game that ended long ago, and rate it and all later ones."""
    return cost_of(lambda: (ledger.append(late), ledger.catch_up()))


def corrected(ledger: Ledger, ended_ms: int) -> Callable[[], tuple[Figure, Figure]]:
    """Prepare to correct a game to and fro: seconds of the preview, and of the correction until all is rated."""
    query = "SELECT key, outcome FROM games WHERE pool = 1 AND rated_ms = ? AND reason IS NULL"
    key, outcome = ledger.views.connection.execute(query, (ended_ms,)).fetchone()
    outcomes, turns = ("white", "black") if outcome == "black" else ("black", "white"), count()

    def correct() -> tuple[Figure, Figure]:
        facts = {"outcome": outcomes[next(turns) % 2]}
        change = partial(ledger.corrections.drafts.replace, f"game:{key}", facts)
        return cost_of(lambda: ledger.preview([change()])), cost_of(lambda: approve(ledger, change()))

    return correct


def approve(ledger: Ledger, change: Change) -> None:
    """Propose a change and approve it, and rate what it changes."""
    number = ledger.propose([change], reason="measured", by="eve").proposal
    ledger.decide(number, Decision.APPROVED, by="adam")
    ledger.catch_up()


def _registered(ledger: Ledger) -> list[int]:
    return [ledger.register(f"name:p{number}", f"p{number}") for number in range(PLAYERS)]


def _live_games(who: Sequence[int], first: int, count: int) -> list[GameRecorded]:
    """Return games that end one after the other."""
    outcomes = (Outcome.WHITE, Outcome.DRAW, Outcome.BLACK)
    pairs = ((i, (who[i * 7 % PLAYERS], who[(i * 7 + 1 + i % 97) % PLAYERS])) for i in range(first, first + count))
    return [game(f"live-{i}", pair, FIRST_MS + 60_000 * i, outcomes[i % 3]) for i, pair in pairs]


@contextmanager
def _begun(
    folder: Path, count: int, projectors: Sequence[DeclaredProjector] | None = None
) -> Iterator[tuple[Ledger, list[GameRecorded]]]:
    """Yield a new ledger with some rated games, and so many to be recorded."""
    Ledger.create(folder / "live.db").close()
    with Ledger.open(folder / "live.db", projectors=projectors) as ledger:
        games = _live_games(_registered(ledger), 0, PROJECTED_BEFORE + count)
        ledger.append_many(games[:PROJECTED_BEFORE])
        ledger.catch_up()
        yield ledger, games[PROJECTED_BEFORE:]


def live(count: int, folder: Path, projectors: Sequence[DeclaredProjector] | None = None) -> Figure:
    """Games/s recorded durably and rated one by one, with these read models; the installed ones by default."""
    with _begun(folder, count, projectors) as (ledger, games):
        return cost_of(lambda: [(ledger.append(each), ledger.catch_up()) for each in games]).rates(count)


def projected(count: int, at_once: int, folder: Path) -> float:
    """Games/s of recorded games folded into the views, so many at once; the recording is not timed."""
    seconds = 0.0
    with _begun(folder, count) as (ledger, games):
        for first in range(0, count, at_once):
            ledger.append_many(games[first : first + at_once])
            seconds += cost_of(ledger.catch_up).clock
    return count / seconds


def appends(count: int, folder: Path) -> dict[str, Figure]:
    """Events/s recorded durably, 1,000 a transaction: ``appends`` with making them, ``saves`` without."""
    made = saved = FREE
    with Ledger.create(folder / "appends.db") as ledger:
        who = _registered(ledger)
        for first in range(0, count, 1_000):
            games: list[GameRecorded] = []
            made = made.plus(cost_of(lambda: games.extend(_live_games(who, first, 1_000))))  # noqa: B023
            saved = saved.plus(cost_of(partial(ledger.append_many, games)))
    return {"appends": made.plus(saved).rates(count), "saves": saved.rates(count)}


def replay_stored(path: Path) -> Figure:
    """Entries/s from the stored journal to ratings in memory: read, decoded, put in rating order, rated."""
    with Ledger.open(path, read_only=True) as ledger:

        def replay() -> None:
            with collector_paused():
                blocks = [block.games for _, block in mapped_in_threads(decode_bodies, ledger.journal.read())]
            games = pl.concat(block for block in blocks if block is not None).sort("ended_ms", "round_order", "key")
            score = games["outcome"].replace_strict({"white": 1.0, "draw": 0.5, "black": 0.0}, default=0.5)
            # Writable, as the columns of a build are: a kernel would be compiled once more for those only read.
            white, black = (games[side].cast(pl.Int32).to_numpy(writable=True) for side in ("white", "black"))
            days = games["ended_ms"].to_numpy() / DAY_MS
            rateable = engine.RateableGames(white, black, score.to_numpy(writable=True), days)
            players = int(max(white.max(), black.max())) + 1
            state = MANY.float64_column(
                engine.initial_states(chessworld.SCHEME, chessworld.DEFAULT, [Newcomer()]) * players
            )
            engine.rate(MANY, chessworld.SCHEME, chessworld.DEFAULT, rateable, state, MANY.zeros(players))

        return cost_of(replay).rates(ledger.journal.size())


def cut(columns: Columns, scheme: Scheme, numbers: Any) -> engine.RateableGames:
    """Return the games in the batches, and so in the order, in which the scheme rates them.

    Games by event are cut by month and tournament, or by month alone if they name none.
    """
    ended_at = columns["ended_at"]
    games = engine.RateableGames(columns["white"], columns["black"], columns["score"], ended_at / DAY_MS)
    if scheme.rhythm is Rhythm.GAME:
        return games
    calendar = scheme.calendar(numbers) if scheme.rhythm is Rhythm.PERIOD else MONTHLY
    period, closing = periods.numbers(ended_at, calendar), periods.closings(ended_at, calendar)
    begins = np.diff(period, prepend=period[0] - 1) != 0
    if scheme.rhythm is Rhythm.EVENT and "event" in columns:
        order = np.lexsort((columns["event"], period))
        event, period, closing = columns["event"][order], period[order], closing[order]
        games = engine.RateableGames(*(column[order] for column in games[:4]))
        begins |= np.diff(event, prepend=event[0]) != 0
    first = np.flatnonzero(begins)
    starts = np.append(first, len(period))
    return games._replace(starts=starts, period=MANY.float64_column(period[first]), closing=closing[first] / DAY_MS)


# Works in a process of their own.


def _import(path: Path, csv: str, address: str = "") -> list[Figure]:
    """From CSV to a sealed journal, in a file or on a server, and to two rows of indexed history a game.

    The rival writes no more: so does this, without the read models other than the history.
    """
    Ledger.create(path, on_server=ServerPlace(address, SCHEMA) if address else None).close()
    with Ledger.open(path, projectors=()) as ledger:
        gc.collect()
        alone = cost_of(partial(take_csv, ledger, Path(csv)))
        return [alone, alone.plus(cost_of(ledger.catch_up))]


def _build_without_player_indexes(path: Path) -> list[Figure]:
    """Build without the indexes of all games of a player; it spoils its process for everything else."""
    # those of guests hold few games
    names = ("INDEX games_of_white ON", "INDEX games_of_black ON")
    left_out = {statement for statement in tables.INDEXES if any(name in statement for name in names)}
    indexes, objects = vars(views_file)["_INDEXES"], vars(views_file)["_OBJECTS"]
    vars(views_file).update(
        _INDEXES=tuple(statement for statement in indexes if statement not in left_out),
        _OBJECTS={name: statement for name, statement in objects.items() if statement not in left_out},
    )
    return [first_build(path)]


def _record_earliest(path: Path, ended_ms: str) -> list[Figure]:
    """Record a game before all others, between the first two players, and rate all games again."""
    with Ledger.open(path) as ledger:
        return [record_late(ledger, game(f"earliest-{ended_ms}", (1, 2), int(ended_ms)))]


def _make_read_model_late(path: Path) -> list[Figure]:
    """Have a ledger keep the streaks that it did not keep."""
    with Ledger.open(path) as ledger:
        ledger.policies.set("read-models", {"streaks": False})
        ledger.catch_up()
        return [cost_of(lambda: (ledger.policies.set("read-models", {"streaks": True}), ledger.catch_up()))]


def _import_file(path: Path, file: str) -> list[Figure]:
    """Import a file into a new ledger, and build no views."""
    Ledger.create(path).close()
    with Ledger.open(path, projectors=()) as ledger:
        return [cost_of(partial(ledger.import_file, file))]


def _audit(path: Path) -> list[Figure]:
    """Audit a ledger, which must be true."""
    verdicts: list[Verdict] = []
    cost = cost_of(lambda: verdicts.append(audit(path)))
    if verdicts[0].falsehoods:
        raise ValueError(f"{path} is not true: {verdicts[0].falsehoods[0]}")
    return [cost]


def _record_late_games(path: Path, ended_ms: str, rounds: str) -> list[Figure]:
    """Record games that ended then; the first one warms up."""
    with Ledger.open(path) as ledger:
        pair = (ledger.player("name:p000000").player, ledger.player("name:p000001").player)
        before = int(ended_ms) - TAIL_MS // 2
        return [record_late(ledger, game(f"late-{each}", pair, before + each)) for each in range(int(rounds) + 1)][1:]


def _correct(path: Path, ended_ms: str, rounds: str) -> list[Figure]:
    """Correct the game that ended then to and fro; the first correction warms up."""
    with Ledger.open(path) as ledger:
        correct = corrected(ledger, int(ended_ms))
        return [correct()[1] for _ in range(int(rounds) + 1)][1:]


WORKS: Mapping[str, Callable[..., list[Figure]]] = {
    "import": _import,
    "import-file": _import_file,
    "audit": _audit,
    "late": _record_late_games,
    "correction": _correct,
    "build": lambda path: [first_build(path)],
    "build-history": lambda path: [first_build(path, ())],
    "build-without-player-indexes": _build_without_player_indexes,
    "earliest": _record_earliest,
    "read-model": _make_read_model_late,
}

if __name__ == "__main__":
    costs = WORKS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
    output.write([{"costs": costs, "peak": memory_of(), "written": bytes_written()}], "nl")
