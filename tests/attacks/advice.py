"""What messages advise: read from their words, and done on a copy to see that it helps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ledger.journal.settings_file import server_of
from tests.attacks import servers
from tests.attacks.stores import copied, file_of
from tests.attacks.workers import Done, Worker
from tools.cli import COMMANDS

_COMMAND = re.compile(r"(?:run|with|by|then|use|is none,) '(?:rating-ledger )?([a-z]+(?:-[a-z]+)*)\b")
_ERASE = re.compile(r"'rating-ledger erase DB (\d+)'")
_PROVE = "prove it with 'audit"
_WITHOUT_FILE = "with this file moved aside"
_OF_PEOPLE = ("people", "people_folds", "people_search", "renaming", "erasing", "reasons")  # tables of a server


def unknown_commands(words: str) -> list[str]:
    """Return what is advised as a command and is none."""
    return sorted(set(_COMMAND.findall(words)) - COMMANDS.keys())


def disappointments(
    command: Sequence[str], done: Done, db: Path, path: str, worker: Worker, scratch: Path
) -> Iterator[str]:
    """Yield advice in what a command said that does not help.

    The ledger *db*, which messages call *path*, is copied to *scratch*. The worker runs what is advised, then the
    command again: a line that gave the advice may not come back.
    """
    lines = done.said.splitlines()
    for name in ("rebuild", "accept-lost-names", "erase"):
        advising = {line: steps for line in lines if (steps := _steps(name, line))}
        if not advising or command[0] == name:
            continue
        copy = copied(db, scratch)
        if any(_PROVE in line for line in advising) and worker.run("audit", copy, "--journal-only").code != 0:
            continue  # the advice is to prove the journal first, and that ends here
        ended = [_done(steps, copy, worker) for steps in dict.fromkeys(advising.values())]
        failed = next((step for step in ended if step.code != 0), None)
        if failed is not None:
            yield f"advises {name} ({min(advising)}), which ends with {failed.code}: {failed.said.strip()}"
            continue
        again = worker.run(command[0], copy, *command[1:])
        same = {line.replace(str(copy), path) for line in again.said.splitlines()} & advising.keys()
        if same:
            yield f"advises {name}, after which it says the same: {min(same)}"


def _steps(name: str, line: str) -> tuple[str, ...]:
    """Return what a line advises to do by this command; begins with ``aside`` where a file is to be moved away."""
    if name == "erase":
        erasing = _ERASE.search(line)
        return ("erase", erasing[1], "--yes") if erasing else ()
    if not re.search(rf"\b{name}\b", line):
        return ()
    if name == "accept-lost-names":
        return ("aside", name, "--yes") if _WITHOUT_FILE in line else (name, "--yes")
    return (name,)


def _done(steps: Sequence[str], copy: Path, worker: Worker) -> Done:
    if steps[0] == "aside":
        _move_names_aside(copy)
        steps = steps[1:]
    return worker.run(steps[0], copy, *steps[1:])


def _move_names_aside(copy: Path) -> None:
    place, people = server_of(copy), file_of(copy, "people")
    if place is not None:  # its operator takes the rows out of the schema
        servers.edited(place, *(f"DELETE FROM {servers.SCHEMAS['people']}.{table}" for table in _OF_PEOPLE))
        return
    for path in people.parent.glob(f"{people.name}*"):
        path.rename(path.with_name(f"aside-{path.name}"))
