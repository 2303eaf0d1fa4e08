"""``python -m tools.attack.fuzzing IMPORTER --runs N``: spoiled files against an importer, led by the code they reach.

With atheris (the dependency group ``attack``) the inputs that reach new code are kept and spoiled further; without it
they are spoiled blindly, those kept by an earlier run too. What is found is kept as a file, with the words beside it;
``importers`` says what is demanded.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from random import Random

import click

from .. import output
from . import importers, mutation
from .findings import Findings, counts_file

_CHECKOUT = Path(__file__).resolve().parents[2]
_FOLDERS = (
    _CHECKOUT / "tests" / "fixtures" / "pgn",
    *(_CHECKOUT.parent / "shared" / "data" / part for part in (".", "extra", "trf", "roundrobins")),
)
_TOLD = re.compile(r"^#(\d+)\t.* cov: (\d+) ft: (\d+) corp: (\d+)", re.MULTILINE)
MAX_INPUT = 1_500  # bytes of an input that atheris makes
BUNDLED = {"csv": 50}  # spoiled files that are read as one and counted one by one: each reading takes long to begin
RESTARTS = 20  # after inputs that end the process


@click.command()
@click.argument("name", metavar="IMPORTER", type=click.Choice(list(importers.ATTACKS)))
@click.option("--runs", default=100_000, show_default=True, help="How many inputs.")
@click.option("--seconds", default=3_600, show_default=True, help="Stop after so long.")
@click.option("--seed", default=1, show_default=True, help="Another seed makes other inputs.")
@click.option("--keep", default="attack-findings", show_default=True, help="Folder for what is found.")
@click.option("--blind", is_flag=True, help="Do without atheris even where it is installed.")
def main(name: str, runs: int, seconds: int, seed: int, keep: str, *, blind: bool) -> None:
    """Attack IMPORTER with spoiled files and print runs, coverage and findings; ends with 1 if anything was found.

    \b
    Example:
      python -m tools.attack.fuzzing pgn --runs 1000000 --keep /tmp/findings
    """
    folder = Path(keep)
    folder.mkdir(parents=True, exist_ok=True)
    blind = blind or find_spec("atheris") is None
    started = time.monotonic()
    done, coverage, sorts = (_run_blind if blind else _run_guided)(name, runs, seconds, seed, folder)
    took = time.monotonic() - started
    output.answer(f"{name}: {done:,} runs in {took:,.0f} s, {coverage}; {len(sorts)} sorts of findings")
    for sort, count in sorted(sorts.items()):
        output.answer(f"  {sort}: {count:,} times")
    sys.exit(1 if sorts else 0)


def _seeds(name: str, *more: Path) -> list[bytes]:
    return (
        mutation.built_in(name)
        + importers.seeds(name, [path for path in _FOLDERS if path.exists()])
        + [path.read_bytes() for folder in more for path in sorted(folder.glob("*"))]
    )


def _run_blind(name: str, runs: int, seconds: int, seed: int, folder: Path) -> tuple[int, str, dict[str, int]]:
    mutator, random = mutation.Mutator(name, _seeds(name, folder / f"{name}.corpus")), Random(seed)  # noqa: S311
    findings, end, done = Findings(folder, name), time.monotonic() + seconds, 0
    bundled = BUNDLED.get(name, 1)
    while done < runs and time.monotonic() < end:
        alone = bundled == 1 or random.random() < 0.1
        data = mutator.spoiled(random, limit=MAX_INPUT) if alone else mutator.bundle(random, bundled, MAX_INPUT)
        findings.take(data, importers.wrong_with(name, data))
        done += 1 if alone else bundled
    return done, "coverage not measured", findings.sorts


def _run_guided(name: str, runs: int, seconds: int, seed: int, folder: Path) -> tuple[int, str, dict[str, int]]:
    """Run atheris in a process of its own, which ends with its runs; begin again where an input ended it."""
    corpus = folder / f"{name}.corpus"
    corpus.mkdir(exist_ok=True)
    for data in _seeds(name):
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    done, coverage, sorts, end = 0, "nothing reached", dict[str, int](), time.monotonic() + seconds
    for attempt in range(RESTARTS):
        left = int(end - time.monotonic())
        if done >= runs or left <= 0:
            break
        command = [
            sys.executable, "-m", f"{__package__}.guided", name, str(folder), str(corpus),
            f"-runs={runs - done}", f"-max_total_time={left}", f"-seed={seed + attempt}", f"-max_len={MAX_INPUT}",
            "-timeout=60", "-rss_limit_mb=2048", f"-artifact_prefix={folder}/{name}-died-", "-print_final_stats=1",
            "-len_control=20",
        ]  # fmt: skip
        log = folder / f"{name}.log"
        with log.open("wb") as written:
            code = subprocess.run(command, stdout=written, stderr=written, check=False).returncode  # noqa: S603
        lines = _TOLD.findall(log.read_text("utf-8", "replace"))
        if lines:
            done += int(lines[-1][0])
            coverage = "{1} branches and {2} features reached, {3} inputs kept".format(*lines[-1])
        found = counts_file(folder, name)
        for sort, count in (json.loads(found.read_text()) if found.exists() else {}).items():
            sorts[sort] = sorts.get(sort, 0) + count
        found.unlink(missing_ok=True)
        if code:
            sorts["died"] = sorts.get("died", 0) + 1
    return done, coverage, sorts


if __name__ == "__main__":
    main()
