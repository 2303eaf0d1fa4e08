"""What is measured on a ledger of many games: import, first build, earliest game, audit, replay of the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from . import ours, rival_documented, rival_stores
from .datasets import GameSet
from .measuring import Rates, SecondsTaken, both_lines, cost_of, in_turns
from .processes import in_a_process
from .rivals import installed
from .table import Line, line

GIB = 1024.0**3
PEAK_ALLOWED = 1.5  # GiB
ROOMY = ("cache_size=-256000",)
MINUTE_MS = 60_000

Script = Callable[[Path, Path], None]


def import_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """From CSV to the journal, and to history, beside the simple scripts; then how the time grows with the games."""
    rival_stores.driver()  # loaded before anything is measured
    min(sets, key=lambda data: data.games).ledger()  # so that no round compiles kernels for the first time
    smaller: _Paces | None = None
    for data in sets:
        works: dict[str, Callable[[], dict[str, float]]] = {
            "ours": data.imported_again,
            "dict": partial(_script, data, rival_stores.dict_loop_executemany),
            "roomy": partial(_script, data, partial(rival_stores.dict_loop_executemany, pragmas=ROOMY)),
            "utils": partial(_script, data, rival_stores.dict_loop_sqlite_utils),
        }
        measured = in_turns(works, rounds)
        alone = [_cost(figures) for figures in measured["ours"]]
        history = [SecondsTaken(figures["history_clock"], figures["history_cpu"]) for figures in measured["ours"]]
        dict_loop, roomy, utils = ([_cost(f) for f in measured[name]] for name in ("dict", "roomy", "utils"))
        yield from both_lines("csv-to-history", data.name, history, dict_loop, games=data.games)
        yield both_lines("csv-to-history-roomy", data.name, history, roomy)[0]
        yield both_lines("csv-to-history-utils", data.name, history, utils)[0]
        yield from both_lines("import-alone", data.name, alone, dict_loop, games=data.games)
        paces = _Paces(data, [c.cpu / data.games for c in alone], [c.cpu / data.games for c in dict_loop])
        if data.source is None:
            if smaller is not None:
                yield from growth_lines(smaller, paces)
            smaller = paces


class _Paces(NamedTuple):
    """CPU seconds a game, of each round."""

    data: GameSet
    imports: list[float]
    dict_loop: list[float]


def growth_lines(smaller: _Paces, larger: _Paces) -> Iterator[Line]:
    """By how much the time a game grows with the number of games, ours beside the dict loop's."""
    where, games = f"{smaller.data.name} to {larger.data.name}", larger.data.games
    import_growth = [after / before for after, before in zip(larger.imports, smaller.imports, strict=True)]
    loop = [after / before for after, before in zip(larger.dict_loop, smaller.dict_loop, strict=True)]
    yield line("import-growth", where, import_growth, loop, games=games)
    yield line("import-flat", where, import_growth, 1.0, games=games)


def _script(data: GameSet, script: Script) -> dict[str, float]:
    with data.scratch() as folder:
        return dict(cost_of(lambda: script(data.csv(), folder / "target.db"))._asdict())


def _cost(figures: dict[str, float]) -> SecondsTaken:
    return SecondsTaken(figures["clock"], figures["cpu"])


def build_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """The first build of the views beside bare ``executemany`` of the rows that it wrote, and its peak memory."""
    smaller: tuple[GameSet, list[float]] | None = None
    for data in sets:
        works: dict[str, Callable[[], dict[str, float]]] = {
            "without": partial(in_a_process, "build-without-player-indexes", data.ledger()),
            "history": partial(in_a_process, "build-history", data.ledger()),
            "ours": partial(in_a_process, "build", data.ledger()),
            "rewritten": partial(_rewritten, data),
        }
        measured = in_turns(works, rounds)
        without, history, built, rewritten = ([_cost(figures) for figures in measured[name]] for name in works)
        yield from both_lines("first-build", data.name, built, rewritten, games=data.games)
        yield from both_lines("player-index", data.name, built, without)
        yield from both_lines("read-models", data.name, built, history, games=data.games)
        peaks = [figures["peak"] / GIB for figures in measured["ours"]]
        if not all(peaks):
            continue  # nothing tells here
        yield line("first-build-peak", data.name, peaks, PEAK_ALLOWED, games=data.games)
        if data.source is None:
            if smaller is not None:
                where = f"{smaller[0].name} to {data.name}"
                yield line("first-build-flat", where, peaks, smaller[1], games=data.games)
            smaller = data, peaks


def _views(data: GameSet) -> Path:
    return data.ledger().with_name("games.views.db")


def _rewritten(data: GameSet) -> dict[str, float]:
    with data.scratch() as folder:
        return dict(rival_stores.rewrite_tables(_views(data), folder / "target.db")._asdict())


def early_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """A late game that took place before all others, so that every game is rated again, beside the first build."""
    for data in sets:
        ledger = data.ledger()
        works: dict[str, Callable[[], dict[str, float]]] = {
            "built": partial(in_a_process, "build", ledger),
            "again": lambda data=data: _record_earliest(data),  # type: ignore[misc]
        }
        measured = in_turns(works, rounds)
        built, again = ([_cost(figures) for figures in measured[name]] for name in works)
        yield from both_lines("early", data.name, again, built)
        peaks = {name: [figures["peak"] / GIB for figures in measured[name]] for name in works}
        if all(peaks["built"] + peaks["again"]):
            yield line("early-peak", data.name, peaks["again"], peaks["built"])


def _record_earliest(data: GameSet) -> dict[str, float]:
    """The game is a minute earlier than the earliest, and its key tells when it was."""
    with closing(rival_stores.driver().connect(str(_views(data)))) as connection:
        ((first_ms,),) = connection.execute("SELECT min(rated_ms) FROM games WHERE reason IS NULL")
    ended_ms = first_ms - MINUTE_MS
    return in_a_process("earliest", data.ledger(), f"earliest-{ended_ms}", ended_ms)


def audit_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """The audit of the journal alone, beside the digests that it cannot do without."""
    for data in sets:
        works = {"ours": partial(ours.audited, data.ledger()), "digests": partial(ours.digested, data.ledger())}
        in_turns(works, 1)  # to warm up
        measured = in_turns(works, rounds)
        yield from both_lines("audit", data.name, measured["ours"], measured["digests"], games=data.games)


def stored_lines(sets: Sequence[GameSet], rounds: int, events: int) -> Iterator[Line]:
    """The stored journal replayed, beside an aggregate of *events* events that its repository rebuilds."""
    if not installed("eventsourcing"):
        return
    for data in sets:
        works = {"ours": partial(ours.replay_stored, data.ledger()), "theirs": partial(_got, data, events)}
        ours.replay_stored(data.ledger())  # to warm up
        measured = in_turns(works, rounds)
        yield from both_lines("stored", data.name, measured["ours"], measured["theirs"], games=data.games)


def _got(data: GameSet, events: int) -> Rates:
    with data.scratch() as folder:
        return rival_documented.documented_figures(folder, events)["replayed"]
