"""``python -m tools.bench``: every figure of ours next to its rival, measured in turns in one run.

These are measurements, not tests: a missed bound is printed, never hidden, and does not change the exit code.
"""

from __future__ import annotations

import compileall
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import attrs
import click

from .. import output, running
from . import (
    sections_accuracy,
    sections_checker,
    sections_growth,
    sections_postgres,
    sections_schemes,
    sections_tune,
)
from . import sections_ledgers as ledgers
from . import sections_live as live
from . import sections_serve as serve
from .datasets import SIZES, Run
from .measuring import ROOT, cost_of
from .table import LEGEND, SECTIONS, Line, Section, as_json, keep, render, seconds

DATA = ROOT.parent / "shared" / "data"
PACKAGES = [ROOT / name for name in ("ledger", "tools")]
MEASURED: Mapping[str, Callable[[Run], Iterator[Line]]] = {
    "replay": sections_schemes.replay, "schemes": sections_schemes.schemes,
    "accuracy": sections_accuracy.accuracy, "tune": sections_tune.tuning, "import": ledgers.imports,
    "players": ledgers.players, "build": ledgers.build, "early": ledgers.early, "scheme-builds": ledgers.scheme_builds,
    "audit": ledgers.audit, "stored": ledgers.stored, "late": live.late, "corrections": live.corrections,
    "growth": sections_growth.growth, "few": live.few, "live": live.live, "crosstable": ledgers.crosstable,
    "ranking": ledgers.ranking, "search": ledgers.search, "export": ledgers.export, "pgn": ledgers.pgn,
    "graph": ledgers.graph,
    "listeners": serve.listeners, "start": live.start, "serve": serve.serve, "write": serve.write,
    "checker": sections_checker.checker, "postgres": sections_postgres.postgres,
}  # fmt: skip


@click.command()
@click.option("--only", "sections", multiple=True, type=click.Choice(SECTIONS), help="Measure only this; repeatable.")
@click.option("--size", default="usual", show_default=True, type=click.Choice(list(SIZES)), help="What is measured.")
@click.option("--quick", "size", flag_value="quick", help="The same as --size quick.")
@click.option("--games", multiple=True, type=click.IntRange(4), help="Made-up sets of so many games; repeatable.")
@click.option("--with-moves", "has_moves", is_flag=True, help="With growth: a third of the games has moves.")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1), help="Rounds; short works take more.")
@click.option("--data", default=DATA, type=click.Path(path_type=Path), help="Folder of real games; made up if absent.")
@click.option("--folder", type=click.Path(path_type=Path, exists=True), help="For files (10 M games: 30 GB).")
@click.option("--json", "json_lines", is_flag=True, help="Print JSON lines instead of the table.")
@click.option("--write", "file", type=click.Path(path_type=Path, dir_okay=False), help="Keep the figures in this file.")
@click.option("--beside", is_flag=True, help="With --write: sections of the file that are not measured now stay.")
def main(
    sections: tuple[str, ...], size: str, games: tuple[int, ...], has_moves: bool, rounds: int, data: Path,
    folder: Path | None, json_lines: bool, file: Path | None, beside: bool,
) -> None:  # fmt: skip
    """Print every figure of ours next to its rival's, measured in this run, and their quotient.

    Sizes: quick measures every line on a few games, in minutes, which shows that it works and little else; usual, 0.1
    and 1 M games and the real ones, within 25 minutes; large, 10 M as well, in hours.

    Each quotient is ours divided by the rival's. A missed bound is printed, without an exit code. A section that
    fails is named, the others are measured all the same, and the exit code is 1.

    The table of tools/bench/README.md is made of a file of figures:

    \b
      python -m tools.bench --write tools/bench/figures.json
      python -m tools.docs parts
    """
    wanted = [section for section in SECTIONS if section in (sections or SECTIONS)]
    measure = attrs.evolve(SIZES[size], games=tuple(sorted(games))) if games else SIZES[size]
    began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")  # noqa: TID251
    about = {"began": began, "size": size, "games": measure.games, "rounds": rounds}
    about |= {"cores": os.cpu_count(), "python": platform.python_version()}
    measured: dict[str, Section] = {}
    for package in PACKAGES:  # as an installation does; otherwise each start of ours may compile what was edited
        compileall.compile_dir(package, quiet=2)
    with tempfile.TemporaryDirectory(prefix="ledger-bench-", dir=folder) as made:
        run = Run(measure, rounds, data, Path(made), has_moves)
        for name in wanted:
            section = measured[name] = Section()
            section.seconds, section.cpu = cost_of(partial(_measure, name, run, section))
            if file is not None:  # after each, so that a run that is stopped keeps its figures
                keep(file, about, measured, beside=beside)
            if json_lines:
                output.write(list(map(as_json, section.lines)), "nl")
            if output.undelivered() is not None:
                return  # the reader has gone: the rest would be measured for nothing
    if not json_lines:
        lines = [line for section in measured.values() for line in section.lines]
        output.answer_lines("\n".join([LEGEND, render(lines), "", seconds(measured)]))
    if failed := [f"{name}: {section.failure}" for name, section in measured.items() if section.failure]:
        output.error(f"of these sections figures are missing, those of the others stand: {'; '.join(failed)}")
        sys.exit(1)


def _measure(name: str, run: Run, section: Section) -> None:
    """Measure one section; a failure is reported at once in full, and loses no figure of another section."""
    try:
        for line in MEASURED[name](run):
            section.lines.append(line)
            output.remark(str(line))
    except Exception as error:  # noqa: BLE001  # rivals are other people's programs and may fail in any way
        section.failure = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        output.remark(traceback.format_exc())


if __name__ == "__main__":
    running.as_process(partial(running.run, main, None, "python -m tools.bench"))
