"""Logs that a crash, a copy or somebody else left: write-ahead logs cut, damaged or of another file; hot journals.

A write-ahead log is a head of 32 bytes and frames of 24 bytes and a page each (sqlite.org/fileformat2.html#walformat);
a hot rollback journal puts the pages that it holds back into the file (sqlite.org/fileformat2.html#rollbackjournal).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from .files import ROLES, Act, file_of
from .foreign_objects import MAY_BE_UNREADABLE
from .histories import History, Point
from .verdicts import AUDIT, IMPORT_FRESH, IMPORT_KNOWN, READS, REBUILD, Attack

HEADER, FRAME = 32, 24
SECTOR = 512
HOT: dict[str, Any] = {"audit_codes": MAY_BE_UNREADABLE, "refusal": "-journal"}
PLAYS = ((*READS, *AUDIT), AUDIT, IMPORT_KNOWN, IMPORT_FRESH, REBUILD)


def cut_logs(history: History) -> Iterator[Attack]:
    """Every log cut before, inside and behind the head of every frame, and inside its own head."""
    for point in history.points:
        for role in ROLES:
            size, page = _log_size(point, role), _page_size(point, role)
            places = {16: "inside the head of the log"}
            for frame, start in enumerate(range(HEADER, size, FRAME + page), 1):
                places[start] = f"before frame {frame}"
                places[start + 10] = f"inside the head of frame {frame}"
                places[start + FRAME + page // 2] = f"inside frame {frame}"
            for length, where in places.items():
                name = f"the log of the {role} of '{point.name}' cut {where}"
                yield _of_log(point, name, _cut(role, length), f"cut {role} {where.split(' frame')[0]}")


def damaged_logs(history: History) -> Iterator[Attack]:
    """One bit of every field of every head, and of every page, of every log."""
    for point in history.points:
        for role in ROLES:
            size, page = _log_size(point, role), _page_size(point, role)
            places = {place: f"its head, byte {place}" for place in range(0, min(HEADER, size), 4)}
            for frame, start in enumerate(range(HEADER, size, FRAME + page), 1):
                places |= {start + place: f"frame {frame}, byte {place}" for place in range(0, FRAME, 4)}
                in_page = crc32(f"{role} {frame}".encode()) % page
                places[start + FRAME + in_page] = f"frame {frame}, its page"
            for place, where in places.items():
                name = f"a bit of the log of the {role} of '{point.name}' changed: {where}"
                yield _of_log(point, name, _bit(role, place), f"bit {role} {where.rpartition(',')[2]}")


def other_logs(history: History) -> Iterator[Attack]:
    """The log of another file; a shared-memory file that is missing, empty, or noise."""
    for point in history.points:
        for role in ROLES:
            for other in ROLES:
                if other != role:
                    yield Attack(
                        f"the log of the {other} beside the {role} of '{point.name}'",
                        point,
                        _log_from(other, role),
                        PLAYS,
                        torn=True,
                        audit_codes=MAY_BE_UNREADABLE,
                        kind="other log",
                    )
            noises = ("missing", None), ("empty", b""), ("noise", b"\xa5" * 32_768), ("zeros", b"\x00" * 32_768)
            for what, noise in noises:
                yield Attack(
                    f"the shared memory of the {role} of '{point.name}' {what}",
                    point,
                    _written(role, "-shm", noise),
                    PLAYS,
                    torn=True,
                    reads_may_err=False,
                    kind=f"shared memory {what}",
                )


def hot_journals(history: History) -> Iterator[Attack]:
    """Rollback journals beside every file: whole ones, which put back an older file; headless, cut and noisy ones.

    No command of ours leaves one, so all may refuse, as long as they name it.
    """
    for now in history.points:
        for role in ROLES:
            for then in history.points[: now.number]:
                held = hot_journal(file_of(then.db, role).read_bytes())
                yield Attack(
                    f"a hot journal that puts the {role} of '{then.name}' back into '{now.name}'",
                    now,
                    _written(role, "-journal", held),
                    PLAYS,
                    reads_may_err=False,
                    kind=f"hot journal {role}",
                    **HOT,
                )
            held = hot_journal(file_of(history.points[0].db, role).read_bytes())
            for what, noise in (
                ("cut inside a page", held[: len(held) // 2]),
                ("empty", b""),
                ("noise", b"\xa5" * 5_000),
                ("zeros", b"\x00" * 5_000),
                ("headless", b"\x00" * 28 + held[28:]),
            ):
                yield Attack(
                    f"a hot journal of the {role} of '{now.name}', {what}",
                    now,
                    _written(role, "-journal", noise),
                    PLAYS,
                    kind=f"broken hot journal {role} {what}",
                    **HOT,
                )


def hot_journal(old: bytes, page: int = 4_096, nonce: int = 7) -> bytes:
    """A rollback journal that makes a file what *old* is."""
    count = len(old) // page
    head = struct.pack(">8sIIIII", bytes.fromhex("d9d505f920a163d7"), count, nonce, count, SECTOR, page)
    records = []
    for number in range(count):
        held = old[number * page : (number + 1) * page]
        checksum = (nonce + sum(held[place] for place in range(page - 200, 0, -200))) % 2**32
        records.append(struct.pack(">I", number + 1) + held + struct.pack(">I", checksum))
    return head.ljust(SECTOR, b"\x00") + b"".join(records)


def _of_log(point: Point, name: str, act: Act, kind: str) -> Attack:
    return Attack(name, point, act, PLAYS, torn=True, reads_may_err=False, kind=kind)


def _log(db: Path, role: str, word: str = "-wal") -> Path:
    path = file_of(db, role)
    return path.with_name(path.name + word)


def _log_size(point: Point, role: str) -> int:
    log = _log(point.torn, role)
    return log.stat().st_size if log.exists() else 0


def _page_size(point: Point, role: str) -> int:
    return int.from_bytes(file_of(point.torn, role).read_bytes()[16:18], "big")


def _cut(role: str, length: int) -> Act:
    def act(spoilt: Path) -> None:
        log = _log(spoilt, role)
        log.write_bytes(log.read_bytes()[:length] if log.exists() else b"")

    return act


def _bit(role: str, place: int) -> Act:
    def act(spoilt: Path) -> None:
        log = _log(spoilt, role)
        held = bytearray(log.read_bytes())
        if place < len(held):
            held[place] ^= 1 << place % 8
            log.write_bytes(held)

    return act


def _log_from(other: str, role: str) -> Act:
    def act(spoilt: Path) -> None:
        source = _log(spoilt, other)
        _log(spoilt, role).write_bytes(source.read_bytes() if source.exists() else b"")
        _log(spoilt, role, "-shm").unlink(missing_ok=True)

    return act


def _written(role: str, word: str, held: bytes | None) -> Act:
    def act(spoilt: Path) -> None:
        log = _log(spoilt, role, word)
        if held is None:
            log.unlink(missing_ok=True)
        else:
            log.write_bytes(held)

    return act
