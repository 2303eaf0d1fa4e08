"""Clocks that are wrong: behind and ahead in steps around what the rules allow, and a jump of years that is taken back.

The clock of the process that records is stopped at each instant. What is demanded: time never goes back in the journal
unless an administrator said so in it; what the rules allow is recorded; what they do not allow changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from ledger.journal.rules import CLOCK_SLACK_MS, FUTURE_SLACK_MS

from .files import copied
from .histories import game, written
from .truth import JournalRow
from .verdicts import AttackJudge, Finding, manners
from .workers import Done

STEPS_MS = (
    -3_600_000, -CLOCK_SLACK_MS - 1, -CLOCK_SLACK_MS, -CLOCK_SLACK_MS + 1, -1, 0, 1, CLOCK_SLACK_MS, 3_600_000,
)  # fmt: skip
WALK = 8  # imports of a walk
YEARS = timedelta(days=3_650)
_COMMAND = re.compile(r"'rating-ledger ([a-z-]+) DB")


def walks(judge: AttackJudge, count: int, beginning: int = 0) -> Iterator[Finding]:
    """Imports by a clock that goes forward and backward by steps around the slack of a minute; *count* such walks."""
    for seed in range(beginning, beginning + count):
        walk = _Clocked(judge, f"clock walk {seed}")
        random = Random(seed)  # noqa: S311  # the same walk every time
        for _ in range(WALK):
            step = random.choice(STEPS_MS)
            yield from walk.imports(walk.last() + timedelta(milliseconds=step), allowed=step >= -CLOCK_SLACK_MS)
        yield from walk.is_true()


def future_games(judge: AttackJudge) -> Iterator[Finding]:
    """Games that end at and around the last instant that the rules allow, a day after now."""
    for step in (-1, 0, 1, 3_600_000):
        case = _Clocked(judge, f"a game that ends a day and {step} ms after now")
        now = case.last() + timedelta(seconds=1)
        ended = now + timedelta(milliseconds=FUTURE_SLACK_MS + step)
        yield from case.imports(now, allowed=step <= 0, ended=_text(ended))
        yield from case.is_true()


def jumps(judge: AttackJudge) -> Iterator[Finding]:
    """An entry of a far future, and the way out of it, which must be told and must be honest."""
    case = _Clocked(judge, "a clock ten years ahead, put right again")
    now = case.last() + timedelta(seconds=1)
    yield from case.imports(now + YEARS, allowed=True)
    yield from case.imports(now, allowed=False)
    advised = _COMMAND.search(case.done.said)
    if advised is None:
        yield case.finding(f"names no command that lets recording go on: {case.done.said.strip()}")
        return
    way_out = advised[1]
    yield from case.runs(now, way_out, "--yes")
    if case.done.code != 0:
        yield case.finding(f"{way_out} refuses: {case.done.said.strip()}")
        return
    yield from case.imports(now + timedelta(seconds=1), allowed=True, going_back=True)
    yield from case.is_true(telling=r"(?i)clock")
    yield from case.runs(now + timedelta(seconds=2), way_out, "--yes")
    if case.done.code == 0:
        yield case.finding(f"{way_out} accepts a clock that is right")
    yield from case.imports(now - timedelta(minutes=2), allowed=False)


class _Clocked:
    """A ledger to which games are imported under a clock that says what we want."""

    def __init__(self, judge: AttackJudge, name: str) -> None:
        self._judge = judge
        self._name = name
        self._db = copied(judge.history.last.db, judge.scratch / "clocked")
        self._said: list[str] = []
        self._games = 0
        self.done = Done((), 0, "", "", 0.0)

    def finding(self, what: str) -> Finding:
        return Finding(self._name, tuple(self._said), what)

    def last(self) -> datetime:
        """When the last entry was recorded."""
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
        self._games += 1
        played = game(f"clock-{self._games}", "Ann", "Carl")._replace(ended_at=ended)
        yield from self.runs(now, "import", str(written(self._judge.scratch / "clocked.jsonl", played)))
        grown = self._entries()[len(before) :]
        if allowed != bool(grown) or allowed != (self.done.code == 0):
            rule = "allowed" if allowed else "not allowed"
            yield self.finding(f"{rule}, but recorded {len(grown)} entries: {self.done.said.strip()}")
        last = _recorded_at(before[-1])
        for entry in grown:
            at = _recorded_at(entry)
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
