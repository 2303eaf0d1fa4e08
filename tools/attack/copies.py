"""Older copies: every part of a ledger, and every set of them, put back as it was at an earlier point.

As after restoring a part of a backup, with the logs that belong to it, without any, or beside those of the other age;
and what a stopped build of the views left behind, or a stopped move, of another age or of another ledger.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path

from .files import ROLES, Act, file_of, put
from .histories import BUILDING, History, Point
from .stores import readable, roles_of, roles_on_server, store_of
from .verdicts import AUDIT, FALSE, IMPORT_FRESH, IMPORT_KNOWN, READS, REBUILD, REFUSED, Attack


def older(history: History) -> Iterator[Attack]:
    """Every set of parts from every earlier point, put in the place of the present ones."""
    for now, then in _pairs(history):
        for roles in sets_of(now.db):
            what = f"{' and '.join(roles)} of '{then.name}' put back into '{now.name}'"
            kind = " ".join(roles)
            yield Attack(what, now, restored(then.db, roles), reads_may_err=False, kind=kind)
            yield Attack(
                f"{what}, both torn",
                now,
                restored(then.torn, roles),
                torn=True,
                reads_may_err=False,
                kind=f"{kind} torn",
            )


def mixed_logs(history: History) -> Iterator[Attack]:
    """A file of one age beside the write-ahead log of another, or without the log that belongs to it."""
    for now, then in _pairs(history):
        for role in ROLES:
            both = f"{role} of '{then.name}', log of '{now.name}'"
            codes = (FALSE, REFUSED)  # what comes out of the two may be past reading
            yield Attack(
                both, now, restored(then.db, [role], logs=False), torn=True, audit_codes=codes, kind=f"newer {role}"
            )
            yield Attack(
                f"{role} of '{now.name}', log of '{then.name}'",
                now,
                _log_of(then, role),
                audit_codes=codes,
                kind=f"older {role}",
            )
    for now in history.points:
        for role in ROLES:
            yield Attack(
                f"{role} of '{now.name}' without its log",
                now,
                _without_log(role),
                torn=True,
                reads_may_err=False,
                kind=f"no log {role}",
            )


def stopped_builds(history: History, other: History) -> Iterator[Attack]:
    """What a stopped build left, of any age and of another ledger, beside views and where there are none."""
    for source, whose in ((history, ""), (other, " of another ledger")):
        for then in source.points:
            for now in (history.last, history.points[len(history.points) // 2]):
                for views in ("beside the views", "where there are no views"):
                    yield Attack(
                        f"a build stopped at '{then.name}'{whose}, {views} of '{now.name}'",
                        now,
                        _stopped_build(then, keep=views.startswith("beside")),
                        ((*READS, *AUDIT), IMPORT_KNOWN, IMPORT_FRESH, REBUILD),
                        reads_may_err=False,
                        kind=f"{whose}{views}",
                    )


def stopped_moves(history: History, other: History) -> Iterator[Attack]:
    """Files beside the settings of a ledger on a server, as a move leaves them that was stopped; or as somebody put."""
    for source, whose in ((history, ""), (other, " of another ledger")):
        for then in source.points if roles_on_server(history.last.db) else ():
            yield Attack(
                f"files of '{then.name}'{whose}, beside the settings of '{history.last.name}'",
                history.last,
                _files_beside(then),
                ((*READS, *AUDIT), AUDIT, IMPORT_KNOWN, REBUILD),
                reads_may_err=False,
                audit_codes=(REFUSED,),
                kind=f"{whose}files beside",
            )


def _pairs(history: History) -> Iterator[tuple[Point, Point]]:
    """Each point with each earlier one, the present first."""
    for now in reversed(history.points):
        for then in history.points[: now.number]:
            yield now, then


def sets_of(db: Path) -> tuple[tuple[str, ...], ...]:
    """Every set of parts of a ledger that may be of another age, or of another ledger."""
    parts = roles_of(db)
    return tuple(chain(*(combinations(parts, size) for size in range(1, len(parts) + 1))))


def restored(source: Path, roles: Sequence[str], *, logs: bool = True) -> Act:
    """An act that puts files of the ledger at *source* in the place of the spoilt one's."""

    def act(spoilt: Path) -> None:
        for role in roles:
            store_of(spoilt, role).take(source, role, logs=logs)

    return act


def _log_of(then: Point, role: str) -> Act:
    def act(spoilt: Path) -> None:
        log, target = file_of(then.torn, role), file_of(spoilt, role)
        for word in ("-wal", "-shm"):
            source = log.with_name(log.name + word)
            if source.exists():
                target.with_name(target.name + word).write_bytes(source.read_bytes())

    return act


def _without_log(role: str) -> Act:
    def act(spoilt: Path) -> None:
        path = file_of(spoilt, role)
        for word in ("-wal", "-shm"):
            path.with_name(path.name + word).unlink(missing_ok=True)

    return act


def _stopped_build(then: Point, *, keep: bool) -> Act:
    def act(spoilt: Path) -> None:
        views = file_of(spoilt, "views")
        if not keep:
            views.unlink()
        views.with_name(views.name + BUILDING).write_bytes(then.stopped_build.read_bytes())

    return act


def _files_beside(then: Point) -> Act:
    def act(spoilt: Path) -> None:
        folder = spoilt.parent / "in files"
        copy = readable(then.db, folder)
        for role in ("people", "journal"):
            put(file_of(copy, role), file_of(spoilt, role))
        shutil.rmtree(folder)

    return act
