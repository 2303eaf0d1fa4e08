"""Surroundings that are not as they should be: rights, links, odd names, closed outputs, full disks.

Rights are tried as another user where we are the superuser, whom they do not bind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import cli
from .files import copied, file_of
from .histories import History
from .verdicts import (
    AUDIT,
    ERASE,
    IMPORT_FRESH,
    IMPORT_KNOWN,
    READS,
    REBUILD,
    REFUSED,
    REGISTER,
    TRUE,
    Attack,
    AttackJudge,
    Finding,
    manners,
)
from .workers import HANG_SECONDS, HUNG, Circumstances, Done

NOBODY = 65_534
READING = ((*READS, *AUDIT), AUDIT)
WRITING = (IMPORT_KNOWN[:1], IMPORT_FRESH[:1], REGISTER[:1], ERASE[:1], REBUILD[:1])
NOT_WRITABLE = r"read-only|readonly|permission|[Pp]ermissions|cannot be (opened|written|made)"
FULL = r"full|disk|larger than|too large|cannot be written"
TOP = Path(__file__).parents[2]  # of the checkout

Place = Callable[[Path], Path]


def somebody() -> Circumstances:
    """A user whom the rights of files bind."""
    return Circumstances(user=NOBODY if hasattr(os, "getuid") and os.getuid() == 0 else None)


def rights(history: History) -> Iterator[Attack]:
    """Folders and files that may be read and not written, or not even read."""
    for point in history.points:
        for what, folder, files in (
            ("a read-only folder", 0o555, 0o644),
            ("read-only files and folder", 0o555, 0o444),
            ("read-only files", 0o777, 0o444),
        ):
            for plays, refusal in ((READING, ""), (WRITING, NOT_WRITABLE)):
                yield Attack(
                    f"{what} at '{point.name}', {'to write' if refusal else 'to read'}",
                    point,
                    _nothing,
                    plays,
                    place=_with_rights(folder, files),
                    circumstances=somebody(),
                    refusal=refusal,
                    reads_may_err=False,
                    kind=f"{what} {bool(refusal)}",
                )
            yield Attack(
                f"{what} with logs at '{point.name}'",
                point,
                _nothing,
                READING,
                torn=True,
                place=_with_rights(folder, files),
                circumstances=somebody(),
                refusal=NOT_WRITABLE,
                reads_may_err=False,
                audit_codes=(3, REFUSED),
                kind=f"{what} with logs",
            )
        yield Attack(
            f"files that may not be read at '{point.name}'",
            point,
            _nothing,
            (*READING, *WRITING),
            place=_with_rights(0o777, 0o000),
            circumstances=somebody(),
            refusal=rf"{NOT_WRITABLE}|cannot be r",
            kind="not readable",
        )


def names(history: History) -> Iterator[Attack]:
    """Ledgers behind links, and under names with signs that mean something to SQLite, to a shell or to a terminal."""
    for point in (history.points[0], history.last):
        for word in ("a b", "a?mode=memory", "a#b", "100%41", "ü", "a'b", "a;b", "club.people", "-x", "a\u202eb"):
            yield Attack(
                f"called {word!a} at '{point.name}'",
                point,
                _nothing,
                (*READING, IMPORT_KNOWN),
                place=_renamed(f"{word}.db"),
                kind="name",
                reads_may_err=False,
            )
        for what, place in (
            ("a link to the journal in another folder", _linked),
            ("a link to the folder", _linked_folder),
            ("every file a link", _every_file_linked),
            ("no suffix", _renamed("club")),
        ):
            yield Attack(
                f"{what} at '{point.name}'",
                point,
                _nothing,
                (*READING, IMPORT_KNOWN, REBUILD),
                place=place,
                refusal=r"people file",
                kind=what,
                reads_may_err=False,
            )


def full_disks(history: History) -> Iterator[Attack]:
    """Files that may not grow, from the very first byte on and after a few pages."""
    sizes = [file_of(history.last.db, role).stat().st_size for role in ("journal", "people", "views")]
    for limit in sorted({0, 4_096, *(size + pages * 4_096 for size in sizes for pages in (0, 1, 3, 8))}):
        yield Attack(
            f"no file may grow over {limit} bytes",
            history.last,
            _nothing,
            (*READING, *WRITING),
            circumstances=Circumstances(largest_file=limit),
            refusal=FULL,
            audit_codes=(REFUSED,),
        )


def outputs(judge: AttackJudge, count: int, beginning: int = 0) -> Iterator[Finding]:
    """Standard outputs that are closed or full: no traceback, and no success where an answer was lost."""
    db = str(copied(judge.history.last.db, judge.scratch / "outputs"))
    commands = ("show", db, "1"), ("ratings", db, "--csv"), ("audit", db), ("ratings", db), ("head", db)
    closings = ">&-", ">/dev/full", "2>&-", ">&- 2>&-", "<&-", "2>/dev/full"
    every = range(beginning, min(beginning + count, len(commands) * len(closings)))
    for command, closing in ((commands[(i + i // 6) % 5], closings[i % 6]) for i in every):
        done = _shell(command, closing)
        wrong = list(manners(done))
        answer_lost = closing.startswith(">") or (command[0] == "audit" and closing.startswith("2"))
        if closing.startswith(">") and done.code == TRUE:
            wrong.append("ends with 0, though nobody got the answer")
        if done.code not in ({TRUE, REFUSED} if answer_lost else {TRUE}):
            wrong.append(f"ends with {done.code}: {done.err.strip()}")
        yield from (Finding(f"outputs {closing}", (" ".join(command),), what) for what in wrong)


def _shell(command: tuple[str, ...], closing: str) -> Done:
    """Run a command as a shell does, with some of its standard files closed."""
    line = ["sh", "-c", f'exec "$@" {closing}', "sh", sys.executable, "-m", cli.__name__, *command]
    try:
        ended = subprocess.run(  # noqa: S603  # our own command
            line, cwd=TOP, capture_output=True, text=True, timeout=HANG_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Done(command, HUNG, "", f"no end within {HANG_SECONDS:.0f} s", HANG_SECONDS)
    return Done(command, ended.returncode, ended.stdout, ended.stderr, 0.0)


def _nothing(_: Path) -> None:
    """Leave the files as they are: what is wrong is around them."""


def _with_rights(folder: int, files: int) -> Place:
    def place(db: Path) -> Path:
        for path in db.parent.iterdir():
            path.chmod(files)
        db.parent.chmod(folder)
        return db

    return place


def _renamed(name: str) -> Place:
    """The same files under the names that go with another name of the journal, as hard links."""

    def place(db: Path) -> Path:
        new = db.parent / "named" / name
        new.parent.mkdir()
        for role in ("journal", "people", "views"):
            file_of(new, role).hardlink_to(file_of(db, role))
        return new

    return place


def _linked(db: Path) -> Path:
    link = db.parent / "elsewhere" / "linked.db"
    link.parent.mkdir()
    link.symlink_to(db)
    return link


def _linked_folder(db: Path) -> Path:
    link = db.parent / "link to folder"
    link.symlink_to(db.parent, target_is_directory=True)
    return link / db.name


def _every_file_linked(db: Path) -> Path:
    folder = db.parent / "links"
    folder.mkdir()
    for role in ("journal", "people", "views"):
        (folder / file_of(db, role).name).symlink_to(file_of(db, role))
    return folder / db.name
