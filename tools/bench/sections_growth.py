"""The section of growth: what a game costs in small ledgers and in large ones, whose keys are in random order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import attrs

from ledger.ratings.disk_space import SpaceNeed, require_space

from .. import output
from .datasets import WORKS, GameSet, Run, tail_length, tail_ms
from .growth_games import write_games
from .measuring import Figure, Worked, both_lines, in_a_process
from .sections_live import run_command
from .table import Line, line

UNIT = 1_000_000  # games of the first size
LATE = 1_000  # games before the end: a late game, and one that is corrected
_DISK = 1_700  # bytes a game of the largest set: file, journal, views, those that the audit builds and sorts
_SECONDS = 200e-6  # a game of each set, on the machine of tools/bench/README.md
_MICRO = 1e6
_REMEDY = "free some space there, name a folder on another disk by --folder, or fewer --games"
# What touches few games: commands from the shell, and works of ``ours``.
_COMMANDS = {
    "record, from the shell": WORKS["commands"]["record"],
    "ranking, from the shell": "ratings LEDGER --limit 20",
}
_FEW = ("late", "correction")
_NAMES = {"late": f"late game {LATE:,} games back", "correction": f"correction {LATE:,} games back"}


@attrs.frozen
class GrowthFigures:
    """The works on a set of games, and what each took.

    Attributes:
        data: the set.
        works: by name, what each took in processes of its own, by round.
        stored: bytes of the journal and the people file.
    """

    data: GameSet
    works: Mapping[str, Worked]
    stored: int

    def costs_a_game(self, work: str) -> list[Figure]:
        """Return the microseconds a game that a work took, by round."""
        factor = _MICRO / self.data.games
        return [Figure(*(seconds * factor for seconds in cost)) for cost in self.works[work].costs]


def growth_sizes(games: Sequence[int]) -> list[int]:
    """Return the sizes to measure: those that were named, or 1, 3, 10, 30, … times the first one up to a single one."""
    if len(games) > 1:
        return sorted(games)
    (most,) = games
    first = UNIT if most > UNIT else max(most // 10, 4)
    steps = [first * factor * 10**power for power in range(9) for factor in (1, 3)]
    return [*(step for step in steps if step < most), most]


def growth(run: Run) -> Iterator[Line]:
    """Measure each size by itself and delete it: import, first build, audit, and what touches few games.

    Raises:
        StorageError: the disk lacks the space.
    """
    sizes = growth_sizes(run.size.games)
    need = SpaceNeed(run.folder, _DISK * sizes[-1], _REMEDY)
    named = ", ".join(f"{size:,}" for size in sizes)
    minutes = _SECONDS * sum(sizes) / 60
    output.remark(f"growth to {named} games: {need.size / 1e9:,.1f} GB in {run.folder}, about {minutes:,.0f} minutes")
    require_space(f"growth to {sizes[-1]:,} games", [need])
    first = None
    for size in sizes:
        folder = run.new_folder(f"growth-{size}")
        figures = _measured(run, GameSet(f"{size / 1e6:g} M", size, folder, dict), sizes[0])
        shutil.rmtree(folder)
        yield from _lines(figures, figures if first is None else first)
        first = first or figures


def _measured(run: Run, data: GameSet, smallest: int) -> GrowthFigures:
    """Do all works on a set, one after the other."""
    tail = tail_length(smallest)
    file = data.folder / ("games.pgn" if run.has_moves else "games.csv")
    write_games(file, data.games, tail, max(2, smallest // 40), with_moves=run.has_moves)
    data.path.parent.mkdir()
    works = {"import": in_a_process("import-file", data.path, file)}
    file.unlink()
    stored = sum(each.stat().st_size for each in data.path.parent.iterdir() if ".views" not in each.name)
    works["first build"] = in_a_process("build", data.path)
    works["audit"] = in_a_process("audit", data.path)
    ended_ms = tail_ms(tail - min(LATE, tail))
    for work in _FEW:
        works[work] = in_a_process(work, data.path, ended_ms, run.short)
    days = count()
    for name, command in _COMMANDS.items():
        rounds = [run_command(data.path, command, data.folder, days) for _ in range(run.short + 1)]
        costs, peaks = zip(*rounds[1:], strict=True)  # the first one warms the disk
        works[name] = Worked(list(costs), max(peaks))
    return GrowthFigures(data, works, stored)


def _lines(own: GrowthFigures, first: GrowthFigures) -> Iterator[Line]:
    """Yield the lines of a size: what it took for itself, and in proportion to the *first* size."""
    data, games = own.data, own.data.games
    if written := own.works["import"].written:
        yield line("growth-written", data.name, written / games, own.stored / games)
    audit, build = (own.works[work].costs for work in ("audit", "first build"))
    yield from both_lines("growth-audit", data.name, audit, build, games=games)
    if own is first:
        return
    where = f"{first.data.name} to {data.name}"
    for work, bound in (("import", "growth-import"), ("first build", "growth-build")):
        yield from both_lines(bound, where, own.costs_a_game(work), first.costs_a_game(work), games=games)
    for work in (*_COMMANDS, *_FEW):
        few = (each.works[work].costs for each in (own, first))
        yield from both_lines("growth-few", where, *few, games=games, what=_NAMES.get(work, work))
    for work, worked in own.works.items():
        if worked.peak and (least := first.works[work].peak):
            what = f"peak: {_NAMES.get(work, work)}"
            yield line("growth-peak", where, worked.peak, least, games=games, what=what)
