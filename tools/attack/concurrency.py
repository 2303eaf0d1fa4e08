"""Commands side by side in several processes: nothing is lost, nothing true is called false, nothing is left undone.

Each round every process runs one command at once: two import, one audits, shows and lists, one erases.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from .files import copied
from .histories import game, written
from .verdicts import TRUE, AttackJudge, Finding, manners
from .workers import Done, Worker

WAITING = "another process|locked|erase again"  # what a command may say that had to give way


def side_by_side(judge: AttackJudge, rounds: int) -> Iterator[Finding]:
    """Importers, an auditor, a reader and an eraser, for a number of rounds on one ledger."""
    db = copied(judge.history.last.db, judge.scratch / "beside")
    files = {key: _file(judge.scratch, key) for key in _keys(rounds)}
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker()) for _ in range(3)]
        threads = stack.enter_context(ThreadPoolExecutor(len(workers)))
        for worker in workers:
            worker.run("ratings", db)
        answers: list[Done] = []
        for number in range(rounds):
            commands = _round(db, files, number)
            answers += threads.map(lambda pair: pair[0].run(*pair[1]), zip(workers, commands, strict=True))
    yield from _judged(judge, db, answers, set(files))


def _keys(rounds: int) -> list[str]:
    return [f"beside-{number}-{side}" for number in range(rounds) for side in ("left", "right")]


def _file(folder: Path, key: str) -> Path:
    """One game of somebody new against Ann, whom everybody knows."""
    return written(folder / f"{key}.jsonl", game(key, f"Guest {key}", "Ann"))


def _round(db: Path, files: dict[str, Path], number: int) -> list[tuple[object, ...]]:
    left, right = files[f"beside-{number}-left"], files[f"beside-{number}-right"]
    reading: list[tuple[object, ...]] = [("audit", db), ("show", db, "1"), ("audit", db), ("ratings", db)]
    erased = ("erase", db, f"name:guest beside-{number - 2}-left", "--yes")
    second: tuple[object, ...] = erased if number >= 2 and number % 3 == 0 else ("import", db, right)
    return [("import", db, left), second, reading[number % len(reading)]]


def _judged(judge: AttackJudge, db: Path, answers: list[Done], keys: set[str]) -> Iterator[Finding]:
    recorded = set()
    for done in answers:
        command = (" ".join(done.words),)
        yield from (Finding("side by side", command, what) for what in manners(done))
        gave_way = any(word in done.said for word in WAITING.split("|"))
        if done.code != TRUE and not gave_way:
            yield Finding("side by side", command, f"ends with {done.code}: {done.said.strip()}")
        if done.words[0] == "import" and "): 1 game recorded" in done.said:
            recorded.add(Path(done.words[-1]).stem)
    held = {str(entry.key).removeprefix("game:club:") for entry in judge.journal(db) or []}
    if recorded != held & keys:
        odd = sorted(recorded ^ (held & keys))
        yield Finding("side by side", (), f"said to be recorded and not held, or the reverse: {odd}")
    last = judge.worker.run("audit", db)
    faults = judge.truth.faults(db)
    if last.code != TRUE or faults:
        yield Finding("side by side", (" ".join(last.words),), f"{last.said.strip()}; {'; '.join(faults)}")
