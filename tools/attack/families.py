"""The families of attacks by name: what each tries, and how to try some of it on a history. No attack is made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from ..postgres_servers import Server
from . import (
    bit_flips,
    clocks,
    concurrency,
    copies,
    environment,
    foreign_objects,
    histories,
    power_loss,
    server_objects,
    servers,
    torn_logs,
    values,
)
from . import swapped_files as swapped
from .histories import History
from .truth import Truth
from .verdicts import Attack, AttackJudge, Finding, next_attacks, shortened
from .workers import Worker

MEMORY = Path("/dev/shm")  # noqa: S108  # where files cost no wait for a disk


@attrs.frozen
class Battlefield:
    """All that attacks need.

    Attributes:
        judge: judges attacks on ``history``.
        history: the ledger that is attacked.
        other: another one of the same shape, whose files come in the place of ours.
    """

    judge: AttackJudge
    history: History
    other: History


@attrs.frozen
class FamilyPart:
    """Which part of a family to try.

    Attributes:
        count: how many attacks, or how many rounds of a scene.
        beginning: how many were tried before.
        only: the one attack of this name instead; the number at its end is enough where rounds are numbered.
        shortened: try two plays of each attack instead of all.
    """

    count: int
    beginning: int = 0
    only: str | None = None
    shortened: bool = False


@attrs.frozen
class Tried:
    """What came of a part of a family: how many attacks were made, of how many, and what did not hold."""

    made: int
    of: int | None
    findings: list[Finding]


Scene = Callable[[AttackJudge, int, int], Iterable[Finding]]  # of so many rounds, after so many


@attrs.frozen
class Family:
    """A family of attacks.

    Attributes:
        name: what it is called on the command line.
        about: what it tries, in words.
        alone: yield attacks on a history.
        with_others: yield attacks that need another ledger's files.
        scenes: commands of several rounds that are judged by themselves.
        is_numbered: a round of its scenes can be repeated by its number, with which the name of a finding ends.
        fits_servers: it attacks a ledger on a server, too.
    """

    name: str
    about: str
    alone: tuple[Callable[[History], Iterable[Attack]], ...] = ()
    with_others: tuple[Callable[[History, History], Iterable[Attack]], ...] = ()
    scenes: tuple[Scene, ...] = ()
    is_numbered: bool = False
    fits_servers: bool = False

    def attacks(self, on: Battlefield) -> list[Attack]:
        """Every attack of the family on copies of files."""
        found = [attack for generator in self.alone for attack in generator(on.history)]
        return found + [attack for generator in self.with_others for attack in generator(on.history, on.other)]

    def tries(self, on: Battlefield, part: FamilyPart) -> Tried:
        """Make some attacks, kinds in turn, and judge them."""
        if self.scenes:
            if part.only is not None and self.is_numbered:
                part = FamilyPart(1, _number_in(part.only))
            found = [finding for scene in self.scenes for finding in scene(on.judge, part.count, part.beginning)]
            return Tried(part.count, None, found)
        every = self.attacks(on)
        chosen = [attack for attack in every if attack.name == part.only]
        if part.only is None:
            chosen = next_attacks(every, part.count, part.beginning)
        return Tried(len(chosen), len(every), on.judge.judged(shortened(chosen) if part.shortened else chosen))


def _number_in(name: str) -> int:
    """The number with which the name of a finding ends.

    Raises:
        ValueError: it ends with none.
    """
    number = name.rpartition(" ")[2]
    if not number.isdecimal():
        raise ValueError(f"{name!r}: ends with no number of a round")
    return int(number)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder to work in, in memory where there is such a place, which other users may read."""
    with TemporaryDirectory(prefix="ledger-attack-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        Path(made).chmod(0o755)
        yield Path(made)


@contextmanager
def field(scratch: Path, source: Path | None = None, server: Server | None = None) -> Iterator[Battlefield]:
    """Everything that attacks need, on a small ledger or on a copy of the one in *source*, in files or on a server.

    Raises:
        ValueError: *source* holds no ledger, or several.
    """
    with ExitStack() as stack:
        worker = stack.enter_context(Worker())
        place, other_place = (None, None) if server is None else (servers.new_place(server), servers.new_place(server))
        truth = Truth(scratch / "truth", lambda db, target, size: worker.run("derive", db, target, size).code == 0)
        own_folder, other_folder = scratch / "ours", scratch / "theirs"
        history = (
            histories.small(own_folder, worker, truth, place=place)
            if source is None
            else histories.of_ledger(source, own_folder, worker, truth, place)
        )
        other = histories.small(other_folder, worker, truth, foreign=True, place=other_place)
        history.learn(other)
        judge = AttackJudge(history, truth, worker, scratch / "work")
        try:
            yield Battlefield(judge, history, other)
        finally:
            judge.close()


def _once(scene: Callable[[AttackJudge], Iterable[Finding]]) -> Scene:
    """A scene of which there is one: it belongs to the first round."""
    return lambda judge, _, beginning: [] if beginning else scene(judge)


def _side_by_side(judge: AttackJudge, count: int, _: int) -> Iterable[Finding]:
    return concurrency.side_by_side(judge, count)


FAMILIES: tuple[Family, ...] = (
    Family("older-copies", "sets of files from an earlier point", (copies.older,), fits_servers=True),
    Family("mixed-logs", "files of one age beside logs of another", (copies.mixed_logs,)),
    Family(
        "stopped-builds",
        "what stopped builds and moves leave behind, of any ledger",
        (),
        (copies.stopped_builds, copies.stopped_moves),
        fits_servers=True,
    ),
    Family("swapped-files", "files of another ledger", (), (swapped.foreign,), fits_servers=True),
    Family("bit-flips", "one bit of every byte of every file", (bit_flips.flips,)),
    Family("pages", "pages zeroed, swapped, doubled; files cut", (bit_flips.pages,)),
    Family(
        "triggers",
        "foreign triggers on every table",
        (foreign_objects.triggers, server_objects.triggers),
        fits_servers=True,
    ),
    Family(
        "foreign-objects",
        "tables, views, indexes and rights that no ledger has",
        (foreign_objects.additions, server_objects.additions),
        fits_servers=True,
    ),
    Family(
        "removals",
        "tables, indexes, triggers and columns that are gone or became others",
        (foreign_objects.removals, server_objects.removals),
        fits_servers=True,
    ),
    Family("headers", "headers of the files", (foreign_objects.headers,)),
    Family(
        "checkpoints",
        "position and settings of the views, and where a journal says that it is",
        (foreign_objects.checkpoints, server_objects.words),
        fits_servers=True,
    ),
    Family("encodings", "text that is no text in every column", (foreign_objects.encodings,)),
    Family(
        "torn-logs",
        "write-ahead logs cut, damaged, of another file",
        (torn_logs.cut_logs, torn_logs.damaged_logs, torn_logs.other_logs),
    ),
    Family("hot-journals", "rollback journals beside the files", (torn_logs.hot_journals,)),
    Family(
        "values", "every value and every row changed", (values.changed_values, values.changed_rows), fits_servers=True
    ),
    Family(
        "clocks",
        "clocks that go back and jump ahead",
        scenes=(clocks.walks, _once(clocks.future_games), _once(clocks.jumps)),
    ),
    Family("concurrency", "commands side by side in several processes", scenes=(_side_by_side,)),
    Family("rights-and-names", "read-only folders, links, odd names", (environment.rights, environment.names)),
    Family("full-disks", "files that may not grow", (environment.full_disks,)),
    Family("power-cuts", "the power cut at any moment of a command", scenes=(power_loss.power_cuts,), is_numbered=True),
    Family("outputs", "standard outputs closed or full", scenes=(environment.outputs,)),
)
