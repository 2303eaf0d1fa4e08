"""Damage to bytes: one bit, one page or the end of a file, over every page of every file.

No SQL is used: what a failing disk, a bad cable or a cut copy does to the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from .files import ROLES, Act, file_of
from .foreign_objects import MAY_BE_UNREADABLE, looked_at
from .histories import History
from .verdicts import QUICK, Attack

PAGE = 4_096
Change = Callable[[bytearray], object]  # of a file's bytes, in place


def flips(history: History) -> Iterator[Attack]:
    """One bit of every byte of every file."""
    for role, size in _sizes(history).items():
        for place in range(size):
            bit = crc32(f"{role} {place}".encode()) % 8
            name = f"bit {bit} of byte {place % PAGE} of page {place // PAGE + 1} of the {role}"
            yield _damage(history, role, name, _flip(place, bit), f"page {place // PAGE + 1} of the {role}")


def pages(history: History) -> Iterator[Attack]:
    """Every page of every file zeroed, filled, swapped with the next, copied over it; files cut short, made longer."""
    for role, size in _sizes(history).items():
        for start in range(0, size, PAGE):
            page = f"page {start // PAGE + 1} of the {role}"
            yield _damage(history, role, f"{page} zeroed", _filled(start, 0), f"zeroed {role}")
            yield _damage(history, role, f"{page} filled", _filled(start, 255), f"filled {role}")
            yield _damage(history, role, f"{page} swapped with the next", _swapped(start), f"swapped {role}")
            yield _damage(history, role, f"{page} copied over the next", _doubled(start), f"doubled {role}")
            yield _damage(history, role, f"the file cut before {page}", _cut(start), f"cut {role}")
            yield _damage(history, role, f"the file cut inside {page}", _cut(start + PAGE // 2), f"cut inside {role}")
        yield _damage(history, role, f"a page of noise behind the {role}", _added(b"\xa5" * PAGE), f"longer {role}")
        yield _damage(history, role, f"a part of a page behind the {role}", _added(b"\x00" * 100), f"longer {role}")


def _sizes(history: History) -> dict[str, int]:
    db = looked_at(history)
    return {role: file_of(db, role).stat().st_size for role in ROLES}


def _damage(history: History, role: str, name: str, change: Change, kind: str) -> Attack:
    return Attack(name, history.last, _changed(role, change), QUICK, audit_codes=MAY_BE_UNREADABLE, kind=kind)


def _changed(role: str, change: Change) -> Act:
    def act(spoilt: Path) -> None:
        path = file_of(spoilt, role)
        held = bytearray(path.read_bytes())
        change(held)
        path.write_bytes(held)

    return act


def _flip(place: int, bit: int) -> Change:
    def change(held: bytearray) -> None:
        held[place] ^= 1 << bit

    return change


def _filled(start: int, value: int) -> Change:
    def change(held: bytearray) -> None:
        held[start : start + PAGE] = bytes([value]) * PAGE

    return change


def _swapped(start: int) -> Change:
    def change(held: bytearray) -> None:
        first, second = held[start : start + PAGE], held[start + PAGE : start + 2 * PAGE]
        held[start : start + len(first) + len(second)] = second + first

    return change


def _doubled(start: int) -> Change:
    def change(held: bytearray) -> None:
        if start + PAGE < len(held):
            held[start + PAGE : start + 2 * PAGE] = held[start : start + PAGE]

    return change


def _cut(length: int) -> Change:
    def change(held: bytearray) -> None:
        del held[length:]

    return change


def _added(noise: bytes) -> Change:
    def change(held: bytearray) -> None:
        held += noise

    return change
