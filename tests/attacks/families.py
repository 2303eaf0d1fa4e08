"""The families of attacks by name: what each tries, and how to try some of it on a history. No attack is made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import attrs

from tests.attacks import file_attacks, histories, object_attacks, power_loss, scenes, server_attacks
from tests.attacks.histories import History
from tests.attacks.judge import Attack, AttackJudge, Finding, next_attacks, shortened
from tests.attacks.truth import Truth
from tests.attacks.workers import Worker
from tests.kit.server_ledgers import new_place
from tools.postgres_servers import Server

ALL_PLAYS = 99


@attrs.frozen
class TriedAttacks:
    """What came of a part of a family."""

    made: int
    of: int | None  # how many there are; None of scenes, whose rounds go on for ever
    findings: list[Finding]


Scene = Callable[[AttackJudge, int, int], Iterable[Finding]]  # of so many rounds, after so many


@attrs.frozen
class Family:
    """A family of attacks: those on copies of a ledger, or a scene of several commands that is judged by itself."""

    name: str  # on the command line
    about: str  # what it tries
    makers: tuple[Callable[[History], Iterable[Attack]], ...] = ()
    scene: Scene | None = None
    is_numbered: bool = False  # a round of its scene is repeated by its number, with which the name of a finding ends
    fits_servers: bool = False

    def attacks(self, history: History) -> list[Attack]:
        """Return every attack of the family on copies of a ledger."""
        return [attack for maker in self.makers for attack in maker(history)]

    def tries(
        self, judge: AttackJudge, count: int, beginning: int = 0, *, only: str | None = None, plays: int = ALL_PLAYS
    ) -> TriedAttacks:
        """Make the next *count* attacks or rounds after so many, kinds in turn, or the one called *only*, and judge."""
        if self.scene is not None:
            if only is not None and self.is_numbered:
                count, beginning = 1, _number_in(only)
            return TriedAttacks(count, None, [*self.scene(judge, count, beginning)])
        every = self.attacks(judge.history)
        named = [attack for attack in every if attack.name == only]
        chosen = next_attacks(every, count, beginning) if only is None else named
        found = [finding for attack in shortened(chosen, plays) for finding in judge.findings(attack)]
        return TriedAttacks(len(chosen), len(every), found)


def _number_in(name: str) -> int:
    number = name.rpartition(" ")[2]
    if not number.isdecimal():
        raise ValueError(f"{name!r}: ends with no number of a round")
    return int(number)


@contextmanager
def attacked_ledger(scratch: Path, source: Path | None = None, server: Server | None = None) -> Iterator[AttackJudge]:
    """Make a small ledger to attack, or a copy of the one in *source*, in files or on a server, and its judge.

    Raises:
        ValueError: *source* holds no ledger, or several.
    """
    with ExitStack() as stack:
        worker = stack.enter_context(closing(Worker()))
        place, other_place = (None, None) if server is None else (new_place(server), new_place(server))
        truth = Truth(scratch / "truth", lambda db, target, size: worker.run("derive", db, target, size).code == 0)
        if source is None:
            history = histories.small(scratch / "ours", worker, truth, place=place)
        else:
            history = histories.of_ledger(source, scratch / "ours", worker, truth, place)
        history.learn(histories.small(scratch / "theirs", worker, truth, foreign=True, place=other_place))
        yield stack.enter_context(closing(AttackJudge(history, truth, worker, scratch / "work")))


FAMILIES: tuple[Family, ...] = (
    Family("older-copies", "sets of files from an earlier point", (file_attacks.older,), fits_servers=True),
    Family("mixed-logs", "files of one age beside logs of another", (file_attacks.mixed_logs,)),
    Family(
        "stopped-builds",
        "what stopped builds and moves leave behind, of any ledger",
        (file_attacks.stopped_builds, file_attacks.stopped_moves),
        fits_servers=True,
    ),
    Family("swapped-files", "files of another ledger", (file_attacks.foreign,), fits_servers=True),
    Family("bit-flips", "one bit of every byte of every file", (file_attacks.flips,)),
    Family("pages", "pages zeroed, swapped, doubled; files cut", (file_attacks.pages,)),
    Family(
        "triggers",
        "foreign triggers on every table",
        (object_attacks.triggers, server_attacks.triggers),
        fits_servers=True,
    ),
    Family(
        "foreign-objects",
        "tables, views, indexes and rights that no ledger has",
        (object_attacks.additions, server_attacks.additions),
        fits_servers=True,
    ),
    Family(
        "removals",
        "tables, indexes, triggers and columns that are gone or became others",
        (object_attacks.removals, server_attacks.removals),
        fits_servers=True,
    ),
    Family("headers", "headers of the files", (object_attacks.headers,)),
    Family(
        "checkpoints",
        "position and settings of the views, and where a journal says that it is",
        (object_attacks.checkpoints, server_attacks.words),
        fits_servers=True,
    ),
    Family("encodings", "text that is no text in every column", (object_attacks.encodings,)),
    Family("torn-logs", "write-ahead logs cut, damaged, of another file", (file_attacks.torn_logs,)),
    Family("hot-journals", "rollback journals beside the files", (file_attacks.hot_journals,)),
    Family("values", "every value and every row changed", (object_attacks.values,), fits_servers=True),
    Family("clocks", "clocks that go back and jump ahead", scene=scenes.clocks),
    Family("concurrency", "commands side by side in several processes", scene=scenes.side_by_side),
    Family("rights-and-names", "read-only folders, links, odd names", (scenes.rights, scenes.names)),
    Family("full-disks", "files that may not grow", (scenes.full_disks,)),
    Family("power-cuts", "the power cut at any moment of a command", scene=power_loss.power_cuts, is_numbered=True),
    Family("outputs", "standard outputs closed or full", scene=scenes.outputs),
)
BY_NAME = {family.name: family for family in FAMILIES}
