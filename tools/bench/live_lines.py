"""Single games as they come: one at a time, 1,000 a transaction, and late ones that took place some games ago."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from ledger.ledger import Ledger

from . import ours, rival_documented, rival_eventsourcing, rival_stores
from .datasets import TAIL_MS, GameSet, tail_length, tail_ms
from .measuring import Rates, SecondsTaken, both_lines, in_turns
from .rivals import installed
from .table import Line, line

GAMES_BACK = (1_000, 10_000)
ROUNDS_OF_DISK = 3  # times as many where a round is short and waits for the disk
T = TypeVar("T")


def live_lines(folder: Path, rounds: int, games: int, events: int) -> Iterator[Line]:
    """*games* one at a time, then *events* in transactions of 1,000."""
    works: dict[str, Callable[[], Rates]] = {
        "ours": partial(_apart, folder, lambda made: ours.live(made, games)),
        "history": partial(_apart, folder, lambda made: ours.live(made, games, ())),
        "single": partial(_apart, folder, lambda made: rival_stores.durable_commits(made / "bare.db", games)),
        "pairs": partial(
            _apart, folder, lambda made: rival_stores.durable_pairs(made / "bare.db", made / "views.db", games)
        ),
    }
    measured = in_turns(works, rounds * ROUNDS_OF_DISK)
    yield from both_lines("append-one", "", measured["ours"], measured["single"])
    yield from both_lines("append-one-pair", "", measured["ours"], measured["pairs"])
    yield from both_lines("append-read-models", "", measured["ours"], measured["history"])
    if installed("eventsourcing"):
        yield from _eventsourcing_lines(folder, rounds, events)


def _eventsourcing_lines(folder: Path, rounds: int, events: int) -> Iterator[Line]:
    recorded = in_turns(
        {
            "ours": partial(_apart, folder, lambda made: ours.appends(made, events)),
            "documented": partial(_apart, folder, lambda made: rival_documented.documented_figures(made, events)),
        },
        rounds,
    )
    saves, rival = ([rates["saves"] for rates in recorded[work]] for work in ("ours", "documented"))
    yield from both_lines("append-many", "", saves, rival)
    made, rival = ([rates["appends"] for rates in recorded[work]] for work in ("ours", "documented"))
    yield from both_lines("append-made", "", made, rival)
    projected = in_turns(
        {
            "ours": partial(_apart, folder, lambda made: ours.projected(made, max(1_000, events // 5))),
            "fastest": partial(_apart, folder, lambda made: rival_eventsourcing.eventsourcing_figures(made, events)),
        },
        rounds,
    )

    def each(work: str, figure: str) -> list[float]:
        return [figures[figure] for figures in projected[work]]

    yield line("append-put", "", [rates.clock for rates in saves], each("fastest", "appends"))
    yield line("project", "", each("ours", "backlog"), each("fastest", "projected"))
    yield line("project-each", "", each("ours", "singly"), each("fastest", "projected"))
    yield line("project-normal", "", each("ours", "singly"), each("fastest", "projected_normal"))


def _apart(folder: Path, work: Callable[[Path], T]) -> T:
    """Do a work in a folder of its own that is gone afterwards."""
    with TemporaryDirectory(dir=folder) as made:
        return work(Path(made))


def late_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """A late result some games back in journals of different lengths that end with the same games."""
    length = tail_length(sets)
    with ExitStack() as stack:
        ledgers = [stack.enter_context(Ledger.open(data.ledger())) for data in sets]
        for back in (back for back in GAMES_BACK if back <= length):
            yield from _late_lines(back, sets, [_Late(ledger, back, length) for ledger in ledgers], rounds)


class _Late:
    """Late games *back* games before the end of a ledger whose common end is *length* games long."""

    def __init__(self, ledger: Ledger, back: int, length: int) -> None:
        self._ledger = ledger
        self._players = ledger.player("name:p000000").player, ledger.player("name:p000001").player
        self._back = back
        self._ended_ms = tail_ms(length - back) - TAIL_MS // 2
        self._recorded = 0

    def record(self) -> SecondsTaken:
        """Record another one at the same place."""
        self._recorded += 1
        key = f"late-{self._back}-{self._recorded}"
        return ours.record_late(self._ledger, ours.late_game(key, self._players, self._ended_ms))


def _late_lines(back: int, sets: Sequence[GameSet], late: Sequence[_Late], rounds: int) -> Iterator[Line]:
    works = {data.name: each.record for data, each in zip(sets, late, strict=True)}
    in_turns(works, 1)  # to warm up
    taken = in_turns(works, rounds)
    least = min(taken, key=lambda name: median(cost.clock for cost in taken[name]))
    for name, costs in taken.items():
        if name != least:
            words = {
                "what": f"a late result {back:,} games back",
                "rival": f"the same in the journal that took least ({least})",
            }
            yield from both_lines("late", f"journal of {name}", costs, taken[least], **words)
