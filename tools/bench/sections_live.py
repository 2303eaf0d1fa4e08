"""Sections of single facts: games as they come, late games, corrections, and commands from the shell."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from ledger.facts.changes import AnnulmentScope
from ledger.ledger import Ledger
from ledger.runtime import sqlite

from . import ours
from .datasets import END_MS, SAMPLE, TAIL_MS, WORKS, Run, projected_of, tail_length, tail_ms
from .measuring import COMMAND, GIB, ROOT, Figure, both_lines, compared, cost_of, in_turns, installed, watched
from .rival_events import documented_figures, fastest_figures
from .rival_stores import BareRows, durable_commits
from .table import Line, line

GAMES_BACK = (1_000, 10_000)
ANNULLED = 500
YEAR_MS = 365 * 86_400_000
MOST_ANNULLED_FROM = 1_000_000  # games of the largest journal in which many games are voided


def live(run: Run) -> Iterator[Line]:
    """Games one at a time, then events in transactions of 1,000, and recorded games folded into the views."""
    games, events = run.size.live, run.size.events
    commits: dict[str, Callable[[Path], Figure]] = {
        "ours": partial(ours.live, games),
        "history": partial(ours.live, games, projectors=()),
        "single": partial(durable_commits, games, ("bare.db",)),
        "pairs": partial(durable_commits, games, ("bare.db", "views.db")),
    }
    measured = in_turns({name: partial(run.apart, work) for name, work in commits.items()}, run.short)
    for name, rival in (("append-one", "single"), ("append-one-pair", "pairs"), ("append-read-models", "history")):
        yield from both_lines(name, "", measured["ours"], measured[rival])
    if not installed("eventsourcing"):
        return
    games = projected_of(events)
    works: dict[str, Callable[[Path], Any]] = {
        "appends": partial(ours.appends, events),
        "documented": partial(documented_figures, events),
        "backlog": partial(ours.projected, games, games),
        "singly": partial(ours.projected, games, 1),
        "fastest": partial(fastest_figures, events),
    }
    # The warm-up counts: the first backlog of a process loads NumPy and Polars, which take longer than its games.
    figures: dict[str, Any] = in_turns({name: partial(run.apart, work) for name, work in works.items()}, run.rounds)
    for name, kind in (("append-many", "saves"), ("append-made", "appends")):
        yield from both_lines(name, "", *([each[kind] for each in figures[side]] for side in ("appends", "documented")))
    fastest = {name: [each[name] for each in figures["fastest"]] for name in figures["fastest"][0]}
    yield line("append-put", "", [each["saves"].clock for each in figures["appends"]], fastest["appends"])
    yield line("project", "", figures["backlog"], fastest["projected"])
    yield line("project-each", "", figures["singly"], fastest["projected"])
    yield line("project-normal", "", figures["singly"], fastest["projected_normal"])


# Facts that reach back.


def late(run: Run) -> Iterator[Line]:
    """Yield a late result some games back in journals of different lengths that end with the same games."""
    tail = tail_length(run.sets[0].games)
    with ExitStack() as stack:
        ledgers = {data.name: stack.enter_context(data.open()) for data in run.sets}
        for back in [back for back in GAMES_BACK if back <= tail]:

            def record(ledger: Ledger, numbers: Iterator[int], back: int = back) -> Figure:
                pair = ledger.player("name:p000000").player, ledger.player("name:p000001").player
                game = ours.game(f"late-{back}-{next(numbers)}", pair, tail_ms(tail - back) - TAIL_MS // 2)
                return ours.record_late(ledger, game)

            taken = in_turns({name: partial(record, each, count()) for name, each in ledgers.items()}, run.short)
            yield from _beside_the_least("late", f"a late result {back:,} games back", taken)


def _beside_the_least(name: str, what: str, taken: Mapping[str, Sequence[Figure]]) -> Iterator[Line]:
    """Compare the same work in journals of different lengths, each with the one that took least."""
    least = min(taken, key=lambda journal: median(cost.clock for cost in taken[journal]))
    words = {"what": what, "rival": f"the same in the journal that took least ({least})"}
    for journal in [journal for journal in taken if journal != least]:
        yield from both_lines(name, f"journal of {journal}", taken[journal], taken[least], **words)


def corrections(run: Run) -> Iterator[Line]:
    """Yield one game corrected in journals of different lengths with the same last games, then many games voided."""
    tail, taken, what = tail_length(run.sets[0].games), dict[str, list[Figure]](), ""
    with ExitStack() as stack:
        ledgers = {data.name: stack.enter_context(data.open()) for data in run.sets}
        for back in [back for back in GAMES_BACK if back <= tail]:
            works = {name: ours.corrected(ledger, tail_ms(tail - back)) for name, ledger in ledgers.items()}
            pairs, what = in_turns(works, 2 * run.short), f"a correction {back:,} games back"  # short, waits for a disk
            previews, taken = ({name: [pair[i] for pair in each] for name, each in pairs.items()} for i in (0, 1))
            yield from _beside_the_least("correction", what, taken)
            for name in works:
                where = f"journal of {name}"
                yield from both_lines("preview", where, previews[name], taken[name], what=f"the preview of {what}")
    # The ways of those who keep no rows to go on from: to rebuild all, to replay a log.
    smallest = run.sets[0]
    rebuilt = run.apart(lambda folder: ours.first_build(_copied(smallest.path, folder)))
    rivals = [("correction-rebuild", smallest, rebuilt.clock)]
    if installed("eventsourcing"):
        pace = run.apart(partial(fastest_figures, run.size.events))["replayed"]
        rivals += [("correction-replay", data, data.games / pace) for data in run.sets]
    for name, data, seconds in rivals:
        yield line(name, f"journal of {data.name}", [cost.clock for cost in taken[data.name]], seconds, what=what)
    yield from _void_lines(run)


def _copied(path: Path, folder: Path) -> Path:
    """Copy a ledger that no process has open; return the journal of the copy."""
    for file in path.parent.glob(f"{path.stem}.*"):
        shutil.copy(file, folder / file.name)
    return folder / path.name


def _void_lines(run: Run) -> Iterator[Line]:
    """Yield all games of a player who played many in a year are voided and reinstated; the bare rows likewise."""
    folder = run.new_folder("voided")
    data = [data for data in run.sets if data.games <= MOST_ANNULLED_FROM][-1]
    with Ledger.open(_copied(data.ledger(), folder)) as ledger:
        player = ledger.register("name:much", "Played Much")
        others = [player - 1 - 7 * place % (player - 1) for place in range(ANNULLED)]
        ends = range(END_MS - YEAR_MS, END_MS, YEAR_MS // ANNULLED)
        games = (ours.game(f"much-{ended_ms}", (player, other), ended_ms) for other, ended_ms in zip(others, ends))  # noqa: B905
        ledger.append_many(games)
        ledger.catch_up()
        with closing(sqlite.connect(ledger.views.path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the file can be copied
        bare, drafts = BareRows(ledger.views.path, folder), ledger.corrections.drafts
        ours.approve(ledger, drafts.annul_games(player, AnnulmentScope.ALL))
        bare.compare()
        bare.change()

        def void() -> Figure:
            last = max(known.proposal.proposal for known in ledger.corrections.proposals() if known.state == "approved")
            ours.approve(ledger, drafts.undo(last))
            return cost_of(lambda: ours.approve(ledger, drafts.annul_games(player, AnnulmentScope.ALL)))

        def change() -> Figure:
            bare.change(back=True)
            return cost_of(bare.change)

        where = f"journal of {data.name}, {bare.rows:,} rows"
        yield from compared("void-many", where, void, change, run.rounds, games=data.games)
        bare.close()
    shutil.rmtree(folder)


# From the shell, each command in a process of its own.

PLAYERS = 40  # who play the games that are imported: the first of each set


def few(run: Run) -> Iterator[Line]:
    """Run each command in every set, against the smallest one; recording a game, against showing a player."""
    folder, days = run.new_folder("few"), count()
    for data in run.sets:
        with data.open():  # its views are up to date
            pass
    works = {
        (command, data.name): partial(run_command, data.ledger(), words, folder, days)
        for data in run.sets
        for command, words in WORKS["commands"].items()
    }
    taken = in_turns(works, run.short, warm=run.size.warm)
    costs = {key: [cost for cost, _ in each] for key, each in taken.items()}
    peaks = {key: [peak for _, peak in each] for key, each in taken.items()}
    smallest, *larger = (data.name for data in run.sets)
    for command in [command for command in WORKS["commands"] if command != "show"]:
        words: Any = {"what": f"{command}, from the shell", "rival": f"the same in the journal of {smallest}"}
        for name in larger:
            own, least = (command, name), (command, smallest)
            yield from both_lines("few", f"journal of {name}", costs[own], costs[least], **words)
            if all(peaks[own] + peaks[least]):
                yield line("few-peak", f"journal of {name}", peaks[own], peaks[least], **words)
    for name in (smallest, *larger):
        yield from both_lines("record-show", f"journal of {name}", costs["record", name], costs["show", name])


def run_command(path: Path, command: str, folder: Path, days: Iterator[int]) -> tuple[Figure, float]:
    """Run a command with a day of its own, so that no game repeats another; returns its seconds and its peak in GiB."""
    number = next(days)
    day = f"{2026 - number // 336}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
    words = command.split()
    if "GAMES" in words:
        pairs = ((f"p{game % PLAYERS:06},p{(game + 1) % PLAYERS:06}", game) for game in range(int(words.pop())))
        rows = (f"{pair},1-0,resignation,40,{day}T{game // 60:02}:{game % 60:02}:00Z\n" for pair, game in pairs)
        file = folder / f"{number}.csv"
        file.write_text("white,black,result,termination,half_moves,ended_at\n" + "".join(rows))
        words[-1] = str(file)
    words = [{"LEDGER": str(path), "DAY": day}.get(word, word) for word in words]
    peaks: list[int] = []
    cost = cost_of(lambda: peaks.extend(watched([*COMMAND, *words])[1]))
    return cost, sum(peaks) / GIB


def start(run: Run) -> Iterator[Line]:
    """From the shell to an answer, after a start of each that warms the disk."""
    club = str(run.new_folder("start") / "start.db")
    for words in (["init", club], ["import", club, str(SAMPLE)]):
        watched([*COMMAND, *words])
    rows = [sys.executable, "-m", "sqlite_utils", "rows", club, "journal", "--limit", "1"]
    start = partial(subprocess.run, capture_output=True, check=True, cwd=ROOT)
    show, other = (partial(cost_of, partial(start, words)) for words in ([*COMMAND, "show", club, "ann"], rows))
    yield from compared("show", "", show, other, 2 * run.short)
