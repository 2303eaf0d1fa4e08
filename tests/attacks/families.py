"""The families of attacks by name: what each tries, and how to try some of it on a history. No attack is made here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path

import attrs

from tests.attacks import file_attacks as files
from tests.attacks import histories, power_loss, scenes
from tests.attacks import object_attacks as objects
from tests.attacks import server_attacks as schemas
from tests.attacks.histories import History
from tests.attacks.judge import AttackJudge, Finding, report
from tests.attacks.plays import Attack, first_attacks, shortened
from tests.attacks.truth import Truth
from tests.attacks.workers import Worker
from tests.kit.server_ledgers import new_place
from tools.postgres_servers import Server

ALL_PLAYS = 99
IS_NUMBERED = {"power-cuts"}  # a round is repeated by the number with which the name of a finding ends
FITS_SERVERS = {
    "older-copies", "stopped-builds", "swapped-files", "triggers", "foreign-objects", "removals", "checkpoints",
    "values",
}  # fmt: skip


@attrs.frozen
class TriedAttacks:
    """What came of a part of a family."""

    made: int
    of: int | None  # how many there are; None where nobody counted them, or rounds go on for ever
    findings: list[Finding]


Scene = Callable[[AttackJudge, Sequence[int]], Iterable[Finding]]  # the rounds of these numbers


@attrs.frozen
class Family:
    """A family of attacks: those on copies of a ledger, or a scene of several commands that is judged by itself."""

    name: str  # on the command line
    about: str  # what it tries
    makers: tuple[Callable[[History], Iterable[Attack]], ...] = ()
    scene: Scene | None = None

    def attacks(self, history: History) -> Iterator[Attack]:
        """Yield every attack of the family on copies of a ledger."""
        return (attack for maker in self.makers for attack in maker(history))

    def tries(self, judge: AttackJudge, count: int, *, only: str | None = None, plays: int = ALL_PLAYS) -> TriedAttacks:
        """Make so many attacks or rounds, kinds in turn, or the one called *only*, and judge them."""
        if self.scene is not None:
            numbers = [_number_in(only)] if only is not None and self.name in IS_NUMBERED else range(count)
            return TriedAttacks(len(numbers), None, [*self.scene(judge, numbers)])
        if only is None:
            every = [*self.attacks(judge.history)]
            chosen, of = first_attacks(every, count), len(every)
        else:
            named = (attack for attack in self.attacks(judge.history) if attack.name == only)
            chosen, of = [*islice(named, 1)], None
        found = [finding for attack in shortened(chosen, plays) for finding in judge.findings(attack)]
        return TriedAttacks(len(chosen), of, found)


def _number_in(name: str) -> int:
    if name.rpartition(" ")[2].isdecimal():
        return int(name.rpartition(" ")[2])
    raise ValueError(f"{name!r}: ends with no number of a round")


@contextmanager
def attacked_ledger(scratch: Path, source: Path | None = None, server: Server | None = None) -> Iterator[AttackJudge]:
    """Make a small ledger to attack, or a copy of the one in *source*, in files or on a server, and its judge."""
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
    Family("older-copies", "sets of files from an earlier point", (files.older,)),
    Family("mixed-logs", "files of one age beside logs of another", (files.mixed_logs,)),
    Family("stopped-builds", "what stopped builds or moves leave", (files.stopped_builds, files.stopped_moves)),
    Family("swapped-files", "files of another ledger", (files.foreign,)),
    Family("bit-flips", "one bit of every byte of every file", (files.flips,)),
    Family("pages", "pages zeroed, swapped, doubled; files cut", (files.pages,)),
    Family("triggers", "foreign triggers on every table", (objects.triggers, schemas.triggers)),
    Family("foreign-objects", "tables, indexes and rights that no ledger has", (objects.additions, schemas.additions)),
    Family("removals", "objects and columns that are gone or became others", (objects.removals, schemas.removals)),
    Family("headers", "headers of the files", (objects.headers,)),
    Family("checkpoints", "what views and journals say of themselves", (objects.checkpoints, schemas.words)),
    Family("encodings", "text that is no text in every column", (objects.encodings,)),
    Family("torn-logs", "write-ahead logs cut, damaged, of another file", (files.torn_logs,)),
    Family("hot-journals", "rollback journals beside the files", (files.hot_journals,)),
    Family("values", "every value and every row changed", (objects.values,)),
    Family("clocks", "clocks that go back and jump ahead", scene=scenes.clocks),
    Family("concurrency", "commands side by side in several processes", scene=scenes.side_by_side),
    Family("rights-and-names", "read-only folders, links, odd names", (scenes.rights, scenes.names)),
    Family("full-disks", "files that may not grow", (scenes.full_disks,)),
    Family("power-cuts", "the power cut at any moment of a command", scene=power_loss.power_cuts),
    Family("outputs", "standard outputs closed or full", scene=scenes.outputs),
)
BY_NAME = {family.name: family for family in FAMILIES}


def holds(
    judge: AttackJudge, family: str, count: int, plays: int = 2, options: str = "", only: str | None = None
) -> None:
    """Check that attacks of a family deceive no command; a failure says how to repeat each that did."""
    tried = BY_NAME[family].tries(judge, count, plays=plays, only=only)
    assert tried.made > 0
    again = f"python -m tests.attacks {options}--family {family} --only"
    lines = "\n".join(report(tried.findings, lambda name: f"{again} {name!r}"))
    assert not tried.findings, f"{len(tried.findings)} things did not hold:\n{lines}"
