"""What disks, copies, crashes and thieves do to files: bytes damaged, files of another age, ledger or role, lost logs.

No SQL is used. A write-ahead log is a head of 32 bytes and frames of 24 bytes and a page each
(sqlite.org/fileformat2.html#walformat); a hot rollback journal puts the pages that it holds back into the file
(sqlite.org/fileformat2.html#rollbackjournal).
"""

import shutil
import struct
import sys
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.attacks import plays as play
from tests.attacks.histories import BUILDING, History, Point
from tests.attacks.plays import Attack
from tests.attacks.stores import ROLES, Act, file_of, put, readable, roles_in_files, roles_on_server, store_of

PAGE, SECTOR = 4_096, 512
HEADER, FRAME = 32, 24  # bytes, of a log
END = sys.maxsize  # of a file
PLAYS = ((*play.READS, *play.AUDIT), play.AUDIT, play.IMPORT_KNOWN, play.IMPORT_FRESH, play.REBUILD)
HOT: dict[str, Any] = {"plays": PLAYS, "audit_codes": play.MAY_BE_UNREADABLE, "refusal": "-journal"}


def spliced(role: str, start: int, end: int = END, new: bytes = b"", log: str = "") -> Act:
    """Return an act that puts other bytes in the place of some of a file, or of its log."""

    def act(spoilt: Path) -> None:
        path = file_of(spoilt, role, log)
        held = path.read_bytes() if path.exists() else b""
        path.write_bytes(held[:start] + new + held[end:])

    return act


def replaced(role: str, new: bytes | None, log: str = "") -> Act:
    """Return an act that puts a whole file, or log, in the place of another, or takes it away."""

    def act(spoilt: Path) -> None:
        path = file_of(spoilt, role, log)
        path.unlink(missing_ok=True)
        if new is not None:
            path.write_bytes(new)

    return act


def all_of(*acts: Act) -> Act:
    """Return an act that does several."""
    return lambda spoilt: [act(spoilt) for act in acts]


def _bytes_of(db: Path, role: str, log: str = "") -> bytes:
    path = file_of(db, role, log)
    return path.read_bytes() if path.exists() else b""


def flips(history: History) -> Iterator[Attack]:
    """Yield one bit of every byte of every file."""
    for role in ROLES:
        for place, byte in enumerate(_bytes_of(history.last.db, role)):
            bit, page = crc32(f"{role} {place}".encode()) % 8, f"page {place // PAGE + 1} of the {role}"
            act = spliced(role, place, place + 1, bytes([byte ^ 1 << bit]))
            yield _damage(history, f"bit {bit} of byte {place % PAGE} of {page}", page, act)


def pages(history: History) -> Iterator[Attack]:
    """Yield every page of every file zeroed, filled, swapped with the next, copied over it; files cut or longer."""
    for role in ROLES:
        held = _bytes_of(history.last.db, role)
        for start in range(0, len(held), PAGE):
            page, end, last = f"page {start // PAGE + 1} of the {role}", start + PAGE, start + 2 * PAGE
            here, following = held[start:end], held[end:last]
            for kind, name, act in (
                ("zeroed", f"{page} zeroed", spliced(role, start, end, bytes(PAGE))),
                ("filled", f"{page} filled", spliced(role, start, end, b"\xff" * PAGE)),
                ("swapped", f"{page} swapped with the next", spliced(role, start, last, following + here)),
                ("doubled", f"{page} copied over the next", spliced(role, end, last, here if following else b"")),
                ("cut", f"the file cut before {page}", spliced(role, start)),
                ("cut inside", f"the file cut inside {page}", spliced(role, start + PAGE // 2)),
            ):
                yield _damage(history, name, f"{kind} {role}", act)
        for what, noise in (("a page of noise", b"\xa5" * PAGE), ("a part of a page", bytes(100))):
            yield _damage(history, f"{what} behind the {role}", f"longer {role}", spliced(role, END, END, noise))


def _damage(history: History, name: str, kind: str, act: Act) -> Attack:
    return Attack(name, history.last, act, play.QUICK, audit_codes=play.MAY_BE_UNREADABLE, kind=kind)


def torn_logs(history: History) -> Iterator[Attack]:
    """Yield every log cut or damaged in every frame; the log of another file; no or noisy shared memory."""
    codes = play.MAY_BE_UNREADABLE
    for point in history.points:
        for role in ROLES:
            log, page = _bytes_of(point.torn, role, "-wal"), int.from_bytes(_bytes_of(point.torn, role)[16:18], "big")
            frames = list(enumerate(range(HEADER, len(log), FRAME + page), 1))
            cuts = {16: "inside the head of the log"}
            bits = {place: f"its head, byte {place}" for place in range(0, min(HEADER, len(log)), 4)}
            for frame, start in frames:
                cuts |= {start: f"before frame {frame}", start + 10: f"inside the head of frame {frame}"}
                cuts[start + FRAME + page // 2] = f"inside frame {frame}"
                bits |= {start + place: f"frame {frame}, byte {place}" for place in range(0, FRAME, 4)}
                bits[start + FRAME + crc32(f"{role} {frame}".encode()) % page] = f"frame {frame}, its page"
            its_log = f"the log of the {role} of '{point.name}'"
            for length, where in cuts.items():
                kind = f"cut {role} {where.split(' frame')[0]}"
                yield _of_log(point, f"{its_log} cut {where}", spliced(role, length, log="-wal"), kind)
            for place, where in bits.items():
                flipped = bytes(byte ^ 1 << place % 8 for byte in log[place : place + 1])
                kind = f"bit {role} {where.rpartition(',')[2]}"
                act = spliced(role, place, place + 1, flipped, "-wal")
                yield _of_log(point, f"a bit of {its_log} changed: {where}", act, kind)
            for other in ROLES:
                name = f"the log of the {other} beside the {role} of '{point.name}'"
                act = all_of(replaced(role, _bytes_of(point.torn, other, "-wal"), "-wal"), replaced(role, None, "-shm"))
                if other != role:
                    yield Attack(name, point, act, PLAYS, torn=True, audit_codes=codes, kind="other log")
            noises = ("missing", None), ("empty", b""), ("noise", b"\xa5" * 32_768), ("zeros", bytes(32_768))
            for what, noise in noises:
                name = f"the shared memory of the {role} of '{point.name}' {what}"
                yield _of_log(point, name, replaced(role, noise, "-shm"), f"shared memory {what}")


def _of_log(point: Point, name: str, act: Act, kind: str) -> Attack:
    return Attack(name, point, act, PLAYS, torn=True, reads_may_err=False, kind=kind)


def hot_journals(history: History) -> Iterator[Attack]:
    """Yield rollback journals beside every file: whole ones, which put back an older file; headless, cut, noisy ones.

    No command of ours leaves one, so all may refuse, as long as they name it.
    """
    for now in history.points:
        for role in ROLES:
            for then in history.points[: now.number]:
                name = f"a hot journal that puts the {role} of '{then.name}' back into '{now.name}'"
                act = replaced(role, hot_journal(_bytes_of(then.db, role)), "-journal")
                yield Attack(name, now, act, reads_may_err=False, kind=f"hot journal {role}", **HOT)
            held = hot_journal(_bytes_of(history.points[0].db, role))
            for what, broken in (
                ("cut inside a page", held[: len(held) // 2]),
                ("empty", b""),
                ("noise", b"\xa5" * 5_000),
                ("zeros", bytes(5_000)),
                ("headless", bytes(28) + held[28:]),
            ):
                name, kind = f"a hot journal of the {role} of '{now.name}', {what}", f"broken hot journal {role} {what}"
                yield Attack(name, now, replaced(role, broken, "-journal"), kind=kind, **HOT)


def hot_journal(old: bytes, page: int = PAGE, nonce: int = 7) -> bytes:
    """Return a rollback journal that makes a file what *old* is."""
    count = len(old) // page
    head = struct.pack(">8sIIIII", bytes.fromhex("d9d505f920a163d7"), count, nonce, count, SECTOR, page)
    records = []
    for number in range(count):
        held = old[number * page : (number + 1) * page]
        checksum = (nonce + sum(held[place] for place in range(page - 200, 0, -200))) % 2**32
        records.append(struct.pack(">I", number + 1) + held + struct.pack(">I", checksum))
    return head.ljust(SECTOR, b"\x00") + b"".join(records)


def older(history: History) -> Iterator[Attack]:
    """Yield every set of parts from every earlier point, put in the place of the present ones."""
    for now, then in _pairs(history):
        yield from _put_back(now, then, f"of '{then.name}' put back into '{now.name}'")


def foreign(history: History) -> Iterator[Attack]:
    """Yield every set of parts of another ledger, as it was at the same point or at another one."""
    assert history.other is not None
    for now in history.points:
        for then in history.other.points:
            yield from _put_back(now, then, f"of another ledger at '{then.name}' in '{now.name}'")


def _put_back(now: Point, then: Point, where: str) -> Iterator[Attack]:
    parts = (*roles_on_server(now.db), *roles_in_files(now.db))
    for roles in (roles for size in range(len(parts)) for roles in combinations(parts, size + 1)):
        for torn in (False, True):
            what, kind = f"{' and '.join(roles)} {where}{', both torn' * torn}", f"{' '.join(roles)}{' torn' * torn}"
            act = all_of(*(partial(_take, then.torn if torn else then.db, role) for role in roles))
            yield Attack(what, now, act, torn=torn, reads_may_err=False, kind=kind)


def _take(source: Path, role: str, spoilt: Path) -> None:
    store_of(spoilt, role).take(source, role)


def _pairs(history: History) -> Iterator[tuple[Point, Point]]:
    """Yield each point with each earlier one, the present first."""
    return ((now, then) for now in reversed(history.points) for then in history.points[: now.number])


def mixed_logs(history: History) -> Iterator[Attack]:
    """Yield a file of one age beside the write-ahead log of another, or without the log that belongs to it."""
    codes = play.MAY_BE_UNREADABLE  # what comes out of the two may be past reading
    for now, then in _pairs(history):
        for role in ROLES:
            name, act = f"{role} of '{then.name}', log of '{now.name}'", replaced(role, _bytes_of(then.db, role))
            yield Attack(name, now, act, torn=True, audit_codes=codes, kind=f"newer {role}")
            name = f"{role} of '{now.name}', log of '{then.name}'"
            yield Attack(name, now, _log_of(then, role), audit_codes=codes, kind=f"older {role}")
    for now in history.points:
        for role in ROLES:
            name = f"{role} of '{now.name}' without its log"
            act = all_of(replaced(role, None, "-wal"), replaced(role, None, "-shm"))
            yield Attack(name, now, act, torn=True, reads_may_err=False, kind=f"no log {role}")


def _log_of(then: Point, role: str) -> Act:
    logs = ((log, file_of(then.torn, role, log)) for log in ("-wal", "-shm"))
    return all_of(*(replaced(role, path.read_bytes(), log) for log, path in logs if path.exists()))


def stopped_builds(history: History) -> Iterator[Attack]:
    """Yield what a stopped build of the views left, of any age and ledger, beside views and where there are none."""
    plays = ((*play.READS, *play.AUDIT), play.IMPORT_KNOWN, play.IMPORT_FRESH, play.REBUILD)
    for then, whose in _of_both(history):
        for now in (history.last, history.points[len(history.points) // 2]):
            for where, act in (("beside the views", all_of()), ("where there are no views", replaced("views", None))):
                name = f"a build stopped at '{then.name}'{whose}, {where} of '{now.name}'"
                spoil = all_of(act, replaced("views", then.stopped_build.read_bytes(), BUILDING))
                yield Attack(name, now, spoil, plays, reads_may_err=False, kind=f"{whose}{where}")


def stopped_moves(history: History) -> Iterator[Attack]:
    """Yield files beside the settings of a ledger on a server, as a move leaves them that was stopped."""
    plays = ((*play.READS, *play.AUDIT), play.AUDIT, play.IMPORT_KNOWN, play.REBUILD)
    for then, whose in _of_both(history) if roles_on_server(history.last.db) else ():
        name, act = f"files of '{then.name}'{whose}, beside the settings of '{history.last.name}'", _files_beside(then)
        codes, kind = (play.REFUSED,), f"{whose}files beside"
        yield Attack(name, history.last, act, plays, reads_may_err=False, audit_codes=codes, kind=kind)


def _of_both(history: History) -> Iterator[tuple[Point, str]]:
    """Yield every point of this ledger and of the other, with the word for whose it is."""
    assert history.other is not None
    yield from ((point, "") for point in history.points)
    yield from ((point, " of another ledger") for point in history.other.points)


def _files_beside(then: Point) -> Act:
    def act(spoilt: Path) -> None:
        folder = spoilt.parent / "in files"
        copy = readable(then.db, folder)
        for role in ("people", "journal"):
            put(file_of(copy, role), file_of(spoilt, role))
        shutil.rmtree(folder)

    return act
