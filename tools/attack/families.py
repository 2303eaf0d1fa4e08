"""The families of attacks by name: what each tries, and how to try some of it on a history. No attack is made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from . import (
    bit_flips,
    clocks,
    concurrency,
    copies,
    environment,
    foreign_objects,
    histories,
    swapped_files,
    torn_logs,
    values,
)  # fmt: skip
from .histories import History
from .truth import Truth
from .verdicts import Attack, Finding, Judge, shortened, some
from .workers import Worker

MEMORY = Path("/dev/shm")  # noqa: S108  # where files cost no wait for a disk


@attrs.frozen
class Field:
    """All that attacks need.

    Attributes:
        judge: judges attacks on ``history``.
        history: the ledger that is attacked.
        other: another one of the same shape, whose files come in the place of ours.
    """

    judge: Judge
    history: History
    other: History


@attrs.frozen
class Tried:
    """What came of a part of a family: how many attacks were made, of how many, and what did not hold."""

    made: int
    of: int | None
    findings: list[Finding]


@attrs.frozen
class Part:
    """Which part of a family to try.

    Attributes:
        count: how many attacks, or how many rounds of a scene.
        beginning: how many were tried before.
        only: the one attack of this name instead.
        shortened: try two plays of each attack instead of all.
    """

    count: int
    beginning: int = 0
    only: str | None = None
    shortened: bool = False


Try = Callable[[Field, Part], Tried]


@attrs.frozen
class Family:
    """A family of attacks: its name, what it tries in words, and how."""

    name: str
    about: str
    tries: Try


@contextmanager
def folder() -> Iterator[Path]:
    """A folder to work in, in memory where there is such a place, which other users may read."""
    with TemporaryDirectory(prefix="ledger-attack-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        Path(made).chmod(0o755)
        yield Path(made)


@contextmanager
def field(scratch: Path, source: Path | None = None) -> Iterator[Field]:
    """Everything that attacks need, on a small ledger or on a copy of the one in *source*.

    Raises:
        ValueError: *source* holds no ledger, or several.
    """
    with Worker() as worker:
        truth = Truth(scratch / "truth", lambda db, target, size: worker.run("derive", db, target, size).code == 0)
        make = histories.small
        history = (
            make(scratch / "ours", worker, truth)
            if source is None
            else histories.of_ledger(source, scratch / "ours", worker, truth)
        )
        other = make(scratch / "theirs", worker, truth, foreign=True)
        history.learn(other)
        judge = Judge(history, truth, worker, scratch / "work")
        try:
            yield Field(judge, history, other)
        finally:
            judge.close()


def _ours(*generators: Callable[[History], Iterable[Attack]]) -> Try:
    """Attacks on copies of the files, from several generators, their kinds in turn."""
    return _of_files(lambda on: [attack for generator in generators for attack in generator(on.history)])


def _with_others(generator: Callable[[History, History], Iterable[Attack]]) -> Try:
    """Attacks that need another ledger's files."""
    return _of_files(lambda on: list(generator(on.history, on.other)))


def _of_files(listed: Callable[[Field], list[Attack]]) -> Try:
    def tries(on: Field, part: Part) -> Tried:
        every = listed(on)
        chosen = [attack for attack in every if attack.name == part.only]
        if part.only is None:
            chosen = some(every, part.count, part.beginning)
        return Tried(len(chosen), len(every), on.judge.judged(shortened(chosen) if part.shortened else chosen))

    return tries


def _of_scenes(*scenes: Callable[[Judge, int, int], Iterable[Finding]]) -> Try:
    """Scenes of several commands, each as long or as often as is asked for."""

    def tries(on: Field, part: Part) -> Tried:
        found = [finding for scene in scenes for finding in scene(on.judge, part.count, part.beginning)]
        return Tried(part.count, None, found)

    return tries


def _once(scene: Callable[[Judge], Iterable[Finding]]) -> Callable[[Judge, int, int], Iterable[Finding]]:
    """A scene of which there is one: it belongs to the first round."""
    return lambda judge, _, beginning: [] if beginning else scene(judge)


FAMILIES: tuple[Family, ...] = (
    Family("older-copies", "sets of files from an earlier point", _ours(copies.older)),
    Family("mixed-logs", "files of one age beside logs of another", _ours(copies.mixed_logs)),
    Family("stopped-builds", "builds of the views left behind, of any ledger", _with_others(copies.stopped_builds)),
    Family("swapped-files", "files of another ledger", _with_others(swapped_files.foreign)),
    Family("bit-flips", "one bit of every byte of every file", _ours(bit_flips.flips)),
    Family("pages", "pages zeroed, swapped, doubled; files cut", _ours(bit_flips.pages)),
    Family("triggers", "foreign triggers on every table", _ours(foreign_objects.triggers)),
    Family("foreign-objects", "tables, views and indexes that no ledger has", _ours(foreign_objects.additions)),
    Family("removals", "tables, indexes, triggers and columns that are gone", _ours(foreign_objects.removals)),
    Family(
        "headers-and-checkpoints", "headers of the files, position and settings of the views",
        _ours(foreign_objects.headers, foreign_objects.checkpoints),
    ),
    Family("encodings", "text that is no text in every column", _ours(foreign_objects.encodings)),
    Family(
        "torn-logs", "write-ahead logs cut, damaged, of another file",
        _ours(torn_logs.cut_logs, torn_logs.damaged_logs, torn_logs.other_logs),
    ),
    Family("hot-journals", "rollback journals beside the files", _ours(torn_logs.hot_journals)),
    Family("values", "every value and every row changed", _ours(values.changed_values, values.changed_rows)),
    Family(
        "clocks", "clocks that go back and jump ahead",
        _of_scenes(clocks.walks, _once(clocks.future_games), _once(clocks.jumps)),
    ),
    Family(
        "concurrency", "commands side by side in several processes",
        _of_scenes(lambda judge, count, _: concurrency.side_by_side(judge, count)),
    ),
    Family("rights-and-names", "read-only folders, links, odd names", _ours(environment.rights, environment.names)),
    Family("full-disks", "files that may not grow", _ours(environment.full_disks)),
    Family("outputs", "standard outputs closed or full", _of_scenes(environment.outputs)),
)  # fmt: skip
