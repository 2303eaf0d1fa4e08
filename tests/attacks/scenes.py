"""Surroundings that are not as they should be: rights, links, odd names, full disks, closed outputs, clocks, others.

Rights are tried as another user where we are the superuser, whom they do not bind. Scenes run several commands, and
judge them by themselves.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from ledger.journal.rules import CLOCK_SLACK_MS, FUTURE_SLACK_MS
from tests.attacks import plays as play
from tests.attacks.histories import History, game, written
from tests.attacks.judge import AttackJudge, Finding, manners
from tests.attacks.plays import Attack
from tests.attacks.stores import ROLES, copied, file_of
from tests.attacks.truth import JournalRow
from tests.attacks.workers import HANG_SECONDS, HUNG, Circumstances, Done, Worker
from tests.kit.places import ROOT
from tools import cli

NOBODY = 65_534
READING = ((*play.READS, *play.AUDIT), play.AUDIT)
WRITING = (play.IMPORT_KNOWN[:1], play.IMPORT_FRESH[:1], play.REGISTER[:1], play.ERASE[:1], play.REBUILD[:1])
NOT_WRITABLE = r"read-only|readonly|permission|[Pp]ermissions|cannot be (opened|written|made)"
FULL = r"full|disk|larger than|too large|cannot be written"

Place = Callable[[Path], Path]


def somebody() -> Circumstances:
    """Return a user whom the rights of files bind."""
    return Circumstances(user=NOBODY if hasattr(os, "getuid") and os.getuid() == 0 else None)


def rights(history: History) -> Iterator[Attack]:
    """Yield folders and files that may be read and not written, or not even read."""
    whom = somebody()
    for point in history.points:
        for what, folder, files in (
            ("a read-only folder", 0o555, 0o644),
            ("read-only files and folder", 0o555, 0o444),
            ("read-only files", 0o777, 0o444),
        ):
            place = _with_rights(folder, files)
            for plays, refusal in ((READING, ""), (WRITING, NOT_WRITABLE)):
                name = f"{what} at '{point.name}', {'to write' if refusal else 'to read'}"
                yield Attack(
                    name, point, plays=plays, place=place, circumstances=whom, refusal=refusal, reads_may_err=False,
                    kind=f"{what} {bool(refusal)}",
                )  # fmt: skip
            yield Attack(
                f"{what} with logs at '{point.name}'", point, plays=READING, torn=True, place=place, circumstances=whom,
                refusal=NOT_WRITABLE, reads_may_err=False, audit_codes=play.MAY_BE_UNREADABLE, kind=f"{what} with logs",
            )  # fmt: skip
        yield Attack(
            f"files that may not be read at '{point.name}'", point, plays=(*READING, *WRITING), circumstances=whom,
            place=_with_rights(0o777, 0o000), refusal=rf"{NOT_WRITABLE}|cannot be r", kind="not readable",
        )  # fmt: skip


def _with_rights(folder: int, files: int) -> Place:
    def place(db: Path) -> Path:
        for path in db.parent.iterdir():
            path.chmod(files)
        db.parent.chmod(folder)
        return db

    return place


def names(history: History) -> Iterator[Attack]:
    """Yield ledgers behind links, and under names with signs that mean something to SQLite, a shell or a terminal."""
    odd = ("a b", "a?mode=memory", "a#b", "100%41", "ü", "a'b", "a;b", "club.people", "-x", "a\u202eb")
    links = {
        "a link to the journal in another folder": _linked("linked.db", "journal"),
        "a link to the folder": _linked_folder,
        "every file a link": _linked("club.db", *ROLES),
        "no suffix": _renamed("club"),
    }
    plays = (*READING, play.IMPORT_KNOWN)
    for point in (history.points[0], history.last):
        at = f" at '{point.name}'"
        for word in odd:
            named = _renamed(f"{word}.db")
            yield Attack(f"called {word!a}{at}", point, plays=plays, place=named, kind="name", reads_may_err=False)
        for what, place in links.items():
            commands, refusal = (*plays, play.REBUILD), "people file"
            yield Attack(what + at, point, plays=commands, place=place, refusal=refusal, kind=what, reads_may_err=False)


def _renamed(name: str) -> Place:
    """Return how the same files come under the names that go with another name of the journal, as hard links."""

    def place(db: Path) -> Path:
        new = db.parent / "named" / name
        new.parent.mkdir()
        for role in ROLES:
            file_of(new, role).hardlink_to(file_of(db, role))
        return new

    return place


def _linked(name: str, *roles: str) -> Place:
    """Return how files come as symbolic links into another folder, the journal under that name."""

    def place(db: Path) -> Path:
        link = db.parent / "elsewhere" / name
        link.parent.mkdir()
        for new, old in [(file_of(link, role), file_of(db, role)) for role in roles]:  # later they would be the same
            new.symlink_to(old)
        return link

    return place


def _linked_folder(db: Path) -> Path:
    link = db.parent / "link to folder"
    link.symlink_to(db.parent, target_is_directory=True)
    return link / db.name


def full_disks(history: History) -> Iterator[Attack]:
    """Yield files that may not grow, from the very first byte on and after a few pages."""
    sizes = [file_of(history.last.db, role).stat().st_size for role in ROLES]
    for limit in sorted({0, 4_096, *(size + pages * 4_096 for size in sizes for pages in (0, 1, 3, 8))}):
        yield Attack(
            f"no file may grow over {limit} bytes", history.last, plays=(*READING, *WRITING), refusal=FULL,
            circumstances=Circumstances(largest_file=limit), audit_codes=(play.REFUSED,),
        )  # fmt: skip


def outputs(judge: AttackJudge, numbers: Sequence[int]) -> Iterator[Finding]:
    """Yield what is wrong where standard outputs are closed or full: tracebacks, success where an answer was lost."""
    db = str(copied(judge.history.last.db, judge.scratch / "outputs"))
    commands = ("show", db, "1"), ("ratings", db, "--csv"), ("audit", db), ("ratings", db), ("head", db)
    closed = ">&-", ">/dev/full", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full"
    for number in numbers[: len(commands) * len(closed)]:
        command, files = commands[(number + number // 6) % 5], closed[number % 6]
        done = _run_in_shell(command, files)
        wrong = list(manners(done))
        answer_lost = files.startswith(">") or (command[0] == "audit" and files.startswith("2"))
        if files.startswith(">") and done.code == play.TRUE:
            wrong.append("ends with 0, though nobody got the answer")
        if done.code not in ({play.TRUE, play.REFUSED} if answer_lost else {play.TRUE}):
            wrong.append(f"ends with {done.code}: {done.err.strip()}")
        yield from (Finding(f"outputs {files}", (" ".join(command),), what) for what in wrong)


def _run_in_shell(command: tuple[str, ...], closed: str) -> Done:
    line = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", cli.__name__, *command]
    try:
        ended = subprocess.run(
            line, cwd=ROOT, capture_output=True, text=True, timeout=HANG_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Done(command, HUNG, "", f"no end within {HANG_SECONDS:.0f} s")
    return Done(command, ended.returncode, ended.stdout, ended.stderr)


WAITING = ("another process", "locked", "erase again")  # what a command may say that had to give way


def side_by_side(judge: AttackJudge, rounds: Sequence[int]) -> Iterator[Finding]:
    """Yield what is wrong where importers, an auditor, a reader and an eraser work on one ledger at once.

    In each round every process runs one command: two import, one audits, shows and lists, one erases.
    """
    db = copied(judge.history.last.db, judge.scratch / "beside")
    keys = [f"beside-{number}-{side}" for number in rounds for side in ("left", "right")]
    files = {key: written(judge.scratch / f"{key}.jsonl", game(key, f"Guest {key}", "Ann")) for key in keys}
    answers: list[Done] = []
    with ExitStack() as stack:
        workers = [stack.enter_context(closing(Worker())) for _ in range(3)]
        threads = stack.enter_context(ThreadPoolExecutor(len(workers)))
        for worker in workers:
            worker.run("ratings", db)
        for number in rounds:
            reading = [("audit", db), ("show", db, "1"), ("audit", db), ("ratings", db)][number % 4]
            second: tuple[object, ...] = ("import", db, files[f"beside-{number}-right"])
            if number >= 2 and number % 3 == 0:
                second = ("erase", db, f"name:guest beside-{number - 2}-left", "--yes")
            commands = [("import", db, files[f"beside-{number}-left"]), second, reading]
            answers += threads.map(lambda pair: pair[0].run(*pair[1]), zip(workers, commands, strict=True))
    yield from _judged(judge, db, answers, set(files))


def _judged(judge: AttackJudge, db: Path, answers: list[Done], keys: set[str]) -> Iterator[Finding]:
    recorded = set()
    for done in answers:
        command = (" ".join(done.words),)
        yield from (Finding("side by side", command, what) for what in manners(done))
        if done.code != play.TRUE and not any(word in done.said for word in WAITING):
            yield Finding("side by side", command, f"ends with {done.code}: {done.said.strip()}")
        if done.words[0] == "import" and "): 1 game recorded" in done.said:
            recorded.add(Path(done.words[-1]).stem)
    held = {str(entry.key).removeprefix("game:club:") for entry in judge.journal(db) or []}
    if odd := sorted(recorded ^ (held & keys)):
        yield Finding("side by side", (), f"said to be recorded and not held, or the reverse: {odd}")
    last = judge.worker.run("audit", db)
    faults = judge.truth.faults(db)
    if last.code != play.TRUE or faults:
        yield Finding("side by side", (" ".join(last.words),), f"{last.said.strip()}; {'; '.join(faults)}")


# The clock of the process that records is stopped at each instant. Time never goes back in the journal unless an
# administrator said so in it; what the rules allow is recorded; what they do not allow changes nothing.


STEPS_MS = (
    -3_600_000, -CLOCK_SLACK_MS - 1, -CLOCK_SLACK_MS, -CLOCK_SLACK_MS + 1, -1, 0, 1, CLOCK_SLACK_MS, 3_600_000,
)  # fmt: skip
WALK = 8  # imports of a walk
YEARS, SECOND = timedelta(days=3_650), timedelta(seconds=1)
_COMMAND = re.compile(r"'rating-ledger ([a-z-]+) DB")


def clocks(judge: AttackJudge, seeds: Sequence[int]) -> Iterator[Finding]:
    """Yield what is wrong under clocks that go back and jump ahead: in walks, and in two scenes more."""
    for seed in seeds:
        walk, random = _ClockedLedger(judge, f"clock walk {seed}"), Random(seed)  # the same walk every time
        for _ in range(WALK):
            step = random.choice(STEPS_MS)
            yield from walk.imports(walk.last() + timedelta(milliseconds=step), allowed=step >= -CLOCK_SLACK_MS)
        yield from walk.is_true()
    yield from _future_games(judge)
    yield from _jump(_ClockedLedger(judge, "a clock ten years ahead, put right again"))


def _future_games(judge: AttackJudge) -> Iterator[Finding]:
    """Import games that end at and around the last instant that the rules allow, a day after now."""
    for step in (-1, 0, 1, 3_600_000):
        case = _ClockedLedger(judge, f"a game that ends a day and {step} ms after now")
        now = case.last() + SECOND
        ended = now + timedelta(milliseconds=FUTURE_SLACK_MS + step)
        yield from case.imports(now, allowed=step <= 0, ended=_text(ended))
        yield from case.is_true()


def _jump(case: _ClockedLedger) -> Iterator[Finding]:
    """Record an entry of a far future, and take the way out of it, which must be told and must be honest."""
    now = case.last() + SECOND
    yield from case.imports(now + YEARS, allowed=True)
    yield from case.imports(now, allowed=False)
    advised = _COMMAND.search(case.done.said)
    if advised is None:
        yield case.finding(f"names no command that lets recording go on: {case.done.said.strip()}")
        return
    yield from case.runs(now, advised[1], "--yes")
    if case.done.code != 0:
        yield case.finding(f"{advised[1]} refuses: {case.done.said.strip()}")
        return
    yield from case.imports(now + SECOND, allowed=True, going_back=True)
    yield from case.is_true(telling=r"(?i)clock")
    yield from case.runs(now + 2 * SECOND, advised[1], "--yes")
    if case.done.code == 0:
        yield case.finding(f"{advised[1]} accepts a clock that is right")
    yield from case.imports(now - timedelta(minutes=2), allowed=False)


class _ClockedLedger:
    """A ledger to which games are imported under a clock that says what we want."""

    def __init__(self, judge: AttackJudge, name: str) -> None:
        self._judge = judge
        self._name = name
        self._db = copied(judge.history.last.db, judge.scratch / "clocked")
        self._said: list[str] = []
        self.done = Done((), 0, "", "")

    def finding(self, what: str) -> Finding:
        return Finding(self._name, tuple(self._said), what)

    def last(self) -> datetime:
        """Return when the last entry was recorded."""
        return _recorded_at(self._entries()[-1])

    def _entries(self) -> list[JournalRow]:
        return self._judge.journal(self._db) or []

    def runs(self, now: datetime, *words: str) -> Iterator[Finding]:
        """Run a command while the clock says *now*."""
        self.done = self._judge.worker.run(words[0], self._db, *words[1:], clock=now)
        self._said.append(f"at {_text(now)}: {' '.join(words)} -> {self.done.code}")
        yield from (self.finding(what) for what in manners(self.done))

    def imports(
        self, now: datetime, *, allowed: bool, ended: str = "2020-12-01", going_back: bool = False
    ) -> Iterator[Finding]:
        """Import one more game while the clock says *now*."""
        before = self._entries()
        played = game(f"clock-{len(self._said)}", "Ann", "Carl", ended_at=ended)
        yield from self.runs(now, "import", str(written(self._judge.scratch / "clocked.jsonl", played)))
        grown = self._entries()[len(before) :]
        if allowed != bool(grown) or allowed != (self.done.code == 0):
            rule = "allowed" if allowed else "not allowed"
            yield self.finding(f"{rule}, but recorded {len(grown)} entries: {self.done.said.strip()}")
        last = _recorded_at(before[-1])
        for at in map(_recorded_at, grown):
            if at != (now if going_back else max(now, last)):
                yield self.finding(f"recorded at {at}, the clock says {now}, the entry before {last}")

    def is_true(self, telling: str = "") -> Iterator[Finding]:
        """Audit; what it says must match *telling*."""
        yield from self.runs(self.last(), "audit")
        if self.done.code != 0:
            yield self.finding(f"the audit says: {self.done.said.strip()}")
        if not re.search(telling, self.done.said):
            yield self.finding("the audit does not tell that a clock was accepted")


def _recorded_at(entry: JournalRow) -> datetime:
    body = entry.body
    assert isinstance(body, bytes)
    return datetime.strptime(body[-26:-2].decode(), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def _text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{instant.microsecond // 1000:03}Z"
