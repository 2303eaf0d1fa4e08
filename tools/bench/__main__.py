"""``python -m tools.bench``: every figure of ours beside its rival, measured in turns in one run.

These are measurements, not tests: a bound that is missed is printed, never hidden, and does not change the exit code.
"""

from __future__ import annotations

import compileall
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from time import perf_counter

import attrs
import click

from .. import output, running
from . import (
    asking_lines,
    build_lines,
    cluster_lines,
    correction_lines,
    crosstable_lines,
    export_lines,
    few_lines,
    figures,
    graph_lines,
    listener_lines,
    live_lines,
    other_lines,
    player_lines,
    postgres_lines,
    scheme_lines,
    server_copy_lines,
    server_ledger_lines,
    serving_lines,
    store_lines,
    writing_lines,
)
from .bounds import BOUNDS, SECTIONS
from .datasets import GameSet, made_up, over_the_board, with_the_same_end
from .table import LEGEND, Line, as_json, number, render, render_bounds

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PACKAGES = [Path(__file__).resolve().parents[2] / name for name in ("ledger", "tools")]


@attrs.frozen
class Size:
    """How much is measured.

    Attributes: games: Of the made-up sets. real: Whether the sets of real games are measured, too. live: Games that are
        appended one by one. events: Events in transactions of 1,000, and of the aggregate that a repository rebuilds.
        players: Of a list of players. listeners: To the stream of a server. failovers: Of each kind, of three nodes.
    """

    games: tuple[int, ...]
    real: bool
    live: int
    events: int
    players: int
    listeners: int
    failovers: int


SIZES: Mapping[str, Size] = {
    "tiny": Size((2_000, 4_000), real=True, live=20, events=2_000, players=3_000, listeners=200, failovers=0),
    "small": Size((10_000, 100_000), real=False, live=500, events=10_000, players=20_000, listeners=1_000, failovers=1),
    "usual": Size(
        (100_000, 1_000_000), real=True, live=3_000, events=50_000, players=300_000, listeners=10_000, failovers=3
    ),
    "large": Size(
        (100_000, 1_000_000, 10_000_000),
        real=True,
        live=3_000,
        events=50_000,
        players=1_500_000,
        listeners=10_000,
        failovers=3,
    ),
}


@attrs.frozen(slots=False)
class Run:
    """What one run of the benchmark works on; every set is made when a section first asks for it."""

    size: Size
    rounds: int
    data: Path
    folder: Path

    @cached_property
    def sets(self) -> list[GameSet]:
        """The real games, where they are wanted and there, then the made-up sets, small ones first."""
        return [*self.real, *made_up(self.size.games, self.made("sets"))]

    @cached_property
    def real(self) -> list[GameSet]:
        """The set of real games, if any."""
        return over_the_board(self.data, self.made("real")) if self.size.real else []

    @cached_property
    def same_end(self) -> list[GameSet]:
        """Sets of different lengths with the same last games."""
        return with_the_same_end(self.size.games, self.made("late"))

    def made(self, name: str) -> Path:
        """A new folder of this run."""
        folder = self.folder / name
        folder.mkdir()
        return folder


def _scheme_lines(run: Run) -> Iterator[Line]:
    for data in run.real:
        columns = data.columns()
        yield from scheme_lines.speed_lines(data.name, columns)
        yield from scheme_lines.accuracy_lines(data.name, columns)
        yield from scheme_lines.agreement_lines(data.name, columns)
    largest = run.sets[-1]
    yield from scheme_lines.speed_lines(largest.name, largest.columns())


MEASURED: Mapping[str, Callable[[Run], Iterator[Line]]] = {
    "replay": lambda run: other_lines.replay_lines(run.sets, run.rounds),
    "schemes": _scheme_lines,
    "import": lambda run: store_lines.import_lines(run.sets, run.rounds),
    "players": lambda run: player_lines.list_lines(run.made("players"), run.rounds, run.size.players),
    "build": lambda run: store_lines.build_lines(run.sets, run.rounds),
    "scheme-builds": lambda run: build_lines.build_lines(run.sets, run.rounds),
    "early": lambda run: store_lines.early_lines(run.sets, run.rounds),
    "audit": lambda run: store_lines.audit_lines(run.sets, run.rounds),
    "stored": lambda run: store_lines.stored_lines(run.sets, run.rounds, run.size.events),
    "late": lambda run: live_lines.late_lines(run.same_end, run.rounds),
    "corrections": lambda run: correction_lines.correction_lines(run.same_end, run.rounds, run.size.events),
    "few": lambda run: few_lines.few_lines(run.sets, run.made("few"), run.rounds),
    "live": lambda run: live_lines.live_lines(run.made("live"), run.rounds, run.size.live, run.size.events),
    "ranking": lambda run: asking_lines.ranking_lines(run.sets, run.rounds),
    "search": lambda run: asking_lines.search_lines(run.made("search"), run.rounds, run.size.players),
    "crosstable": lambda run: crosstable_lines.crosstable_lines(run.real, run.rounds),
    "export": lambda run: export_lines.export_lines(run.sets, run.rounds),
    "pgn": lambda run: other_lines.pgn_lines(run.data, run.rounds),
    "graph": lambda run: graph_lines.graph_lines(run.sets, run.rounds),
    "serve": lambda run: serving_lines.serving_lines(run.size.games[-1], run.made("serve"), run.rounds),
    "write": lambda run: writing_lines.writing_lines(run.sets, run.made("write"), run.rounds, run.size.live),
    "postgres": lambda run: chain(
        postgres_lines.postgres_lines(run.made("postgres"), run.rounds, run.size.live, run.size.events),
        server_copy_lines.server_copy_lines(run.made("copies"), run.rounds, run.size.games[-1]),
        server_ledger_lines.server_ledger_lines(
            run.made("ledgers"), run.rounds, min(run.size.games[-1], server_ledger_lines.IMPORTED)
        ),
        cluster_lines.cluster_lines(run.made("cluster"), run.rounds, run.size.live, run.size.failovers),
    ),
    "listeners": lambda run: listener_lines.listener_lines(run.made("listeners"), run.rounds, run.size.listeners),
    "start": lambda run: other_lines.start_lines(run.made("start"), run.rounds),
}


@click.command()
@click.option("--only", "sections", multiple=True, type=click.Choice(SECTIONS), help="Measure only this; repeatable.")
@click.option(
    "--size",
    default="usual",
    show_default=True,
    type=click.Choice(list(SIZES)),
    help="tiny: every section on a few games, which tells whether it works and nothing else; small: 0.01 and 0.1 M "
    "games, minutes; usual: 0.1 and 1 M and the real games; large: 10 M as well, hours.",
)
@click.option("--games", multiple=True, type=click.IntRange(4), help="Made-up sets of so many games; repeatable.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1), help="Rounds, taken in turns.")
@click.option("--data", default=DATA, type=click.Path(path_type=Path), help="Folder of real games; left out if absent.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where to make files (10 M games: 30 GB).",
)
@click.option("--json", "json_lines", is_flag=True, help="Print JSON lines instead of the table.")
@click.option("--write", "file", type=click.Path(path_type=Path, dir_okay=False), help="Keep the figures in this file.")
@click.option("--beside", is_flag=True, help="With --write: sections of the file that are not measured now stay.")
@click.option("--bounds", is_flag=True, help="Print what is compared with what and the bounds, and measure nothing.")
def main(
    sections: tuple[str, ...],
    size: str,
    games: tuple[int, ...],
    rounds: int,
    data: Path,
    folder: Path | None,
    json_lines: bool,
    file: Path | None,
    beside: bool,
    bounds: bool,
) -> None:
    """Print every figure of ours beside its rival's, measured in this run, and their quotient.

    Each quotient is ours divided by the rival's. Whether a bound is reached is printed; the exit code does not tell.
    A section that fails is named, the others are measured all the same, and the exit code is 1.

    The table of tools/bench/README.md is made of a file of figures:

    \b
      python -m tools.bench --write tools/bench/figures.json
      python -m tools.docs parts
    """
    wanted = [section for section in MEASURED if section in (sections or SECTIONS)]
    if bounds:
        output.answer_lines(render_bounds([bound for bound in BOUNDS if bound.section in wanted]))
        return
    measure = SIZES[size] if not games else attrs.evolve(SIZES[size], games=games)
    began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")  # noqa: TID251
    about = {"began": began, "size": size, "games": measure.games, "rounds": rounds, **figures.machine()}
    measured: dict[str, figures.Section] = {}
    for package in PACKAGES:  # as an installation does; otherwise each start of ours may compile what was edited
        compileall.compile_dir(package, quiet=2)
    with tempfile.TemporaryDirectory(prefix="ledger-bench-", dir=folder) as made:
        run = Run(measure, rounds, data, Path(made))
        for name in wanted:
            measured[name] = figures.Section()
            _measure(name, run, measured[name], json_lines=json_lines)
            if output.undelivered() is not None:
                return  # nobody reads on: the rest would be measured for nothing
            if file is not None:  # after each, so that a run that is stopped keeps what it has
                figures.keep(file, about, measured, beside=beside)
    if not json_lines:
        lines = [line for section in measured.values() for line in section.lines]
        output.answer_lines("\n".join([*LEGEND, "", render(lines)]))
        output.answer_lines("\n".join(f"{name}: {section.seconds:,.0f} s" for name, section in measured.items()))
    if failed := figures.failures(measured):
        output.error(f"of these sections figures are missing, those of the others stand: {'; '.join(failed)}")
        sys.exit(1)


def _measure(name: str, run: Run, section: figures.Section, *, json_lines: bool) -> None:
    """Measure one section; what goes wrong in it is told at once in full, and loses no figure of another one."""
    began = perf_counter()
    try:
        for line in MEASURED[name](run):
            section.lines.append(line)
            if not json_lines:
                output.remark(_in_short(line))
                continue
            output.write(as_json([line]), "nl")
            if output.undelivered() is not None:
                return
    except Exception as error:  # noqa: BLE001  # rivals are other people's programs and may fail in any way
        section.failure = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        output.remark(traceback.format_exc())
    section.seconds = perf_counter() - began


def _in_short(line: Line) -> str:
    """One line while the rest is still measured."""
    where = f"{line.where}: " if line.where else ""
    return f"{where}{line.bound.divided} = {number(line.ratio)} {line.reached.value}".rstrip()


if __name__ == "__main__":
    running.as_process(partial(running.run, main, None, "python -m tools.bench"))
