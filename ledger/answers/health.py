"""The health of a ledger: one answer for the command and the desk, which names every fault and not only the first.

Backups and audits leave their marks outside the ledger; the caller gives what it found of them (``OutsideMark``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import attrs

from ledger.answers.publications import DueList, due_list
from ledger.correcting.corrections import Corrections
from ledger.errors import LedgerError
from ledger.facts.instants import instant_end_ms, instant_text
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.publishing.publications import Publications
from ledger.ratings.disk_space import disk_of

Part = Literal["ledger", "checkpoint", "names", "views", "disk", "list", "backup", "audit"]
Answer = TypeVar("Answer")
HOUR_MS, _GB = 3_600_000, 1e9


@attrs.frozen(kw_only=True, slots=False)
class HealthFault:
    """A fault of one part of a ledger."""

    part: Part = documented("the faulty part; ledger: it cannot be opened or read")
    fault: str = documented("what is wrong and, if not obvious, what to do")


@attrs.frozen(kw_only=True, slots=False)
class Health:
    """The health of a ledger: every fault, and the numbers from which it follows."""

    healthy: bool = documented("whether there is no fault")
    faults: list[HealthFault] = documented("every fault")
    entries: int | None = documented("entries of the journal; null: it cannot be read", minimum=0)
    behind: int | None = documented("how many of them the views lack", minimum=0)
    signed: int | None = documented("entries under the last checkpoint; null: there is none", minimum=0)
    open_proposals: int | None = documented("proposals that wait for a decision", minimum=0)
    due: list[DueList] = documented("lists that are due")
    free: int | None = documented("bytes of the ledger's disk that are free", minimum=0)
    room: int | None = documented("all bytes of that disk", minimum=0)
    backup: str | None = documented("when the newest backup that counts was made, UTC; null: none, or none asked for")
    proven: str | None = documented("when that backup was restored as a test and audited, UTC; null: never")
    audit: str | None = documented("when the last true audit was, UTC; null: none, or none asked for")


@attrs.frozen(kw_only=True)
class OutsideMark:
    """The mark that a backup or an audit left outside the ledger.

    Attributes:
        part: ``backup`` or ``audit``.
        noun: its name in a fault.
        place: where it was looked for.
        max_hours: how old it may be.
        made_ms: when it was made, milliseconds since 1970; None if there is none.
        fault: what is wrong with it; empty if nothing.
        proven: when a backup was proven, UTC.
    """

    part: Literal["backup", "audit"]
    noun: str
    place: str
    max_hours: int
    made_ms: int | None = None
    fault: str = ""
    proven: str | None = None


class _Findings:
    """The faults so far; an error of one part is a fault, and the other parts are looked at all the same."""

    def __init__(self) -> None:
        self.faults: list[HealthFault] = []

    def add(self, part: Part, fault: str) -> None:
        # the same damage may be met by several parts
        if all(fault != each.fault for each in self.faults):
            self.faults.append(HealthFault(part=part, fault=fault))

    def look(self, part: Part, question: Callable[[], Answer]) -> Answer | None:
        try:
            return question()
        except (LedgerError, OSError) as error:
            self.add(part, " ".join(str(error).split()))
            return None


def ledger_health(
    ledger: OpenLedger, marks: Sequence[OutsideMark] = (), *, min_free_gb: int = 1, list_hours: int = 0
) -> Health:
    """Return the health of a ledger, and write nothing if the ledger does not follow its journal (``follow=False``).

    Args:
        ledger: the ledger.
        marks: of backups and audits.
        min_free_gb: how many GB of the disk must be free.
        list_hours: how long after its rating period a list may be published.
    """
    findings, now_ms = _Findings(), ledger.now_ms()
    last = None
    if fault := findings.look("checkpoint", ledger.checkpoints.fault):
        findings.add("checkpoint", fault)
    else:
        last = findings.look("checkpoint", ledger.checkpoints.last)
    entries = findings.look("ledger", ledger.journal.size)
    findings.look("names", lambda: ledger.people)
    position = findings.look("views", ledger.views.position)
    behind = None if entries is None or position is None else entries - position
    if behind:
        words = "1 entry" if behind == 1 else f"{behind:,} entries"
        findings.add("views", f"the views lack {words}; the next command that reads adds them")
    disk = findings.look("disk", lambda: disk_of(ledger.path.parent))
    if disk and disk.free < min_free_gb * _GB:
        findings.add("disk", f"{disk.free / _GB:.1f} GB of the disk are free, less than {min_free_gb}")
    due = findings.look("list", lambda: _due_lists(ledger, now_ms - list_hours * HOUR_MS)) if position else None
    for each in due or ():
        findings.add("list", f"the list of {each.list_from} of pool {each.pool} is due (period up to {each.day})")
    waiting = findings.look("views", lambda: len(Corrections(ledger).stored(open_only=True))) if position else None
    by_part = {mark.part: mark for mark in marks}
    for mark in marks:
        if fault := _mark_fault(mark, now_ms):
            findings.add(mark.part, fault)
    return Health(
        healthy=not findings.faults,
        faults=findings.faults,
        entries=entries,
        behind=behind,
        signed=None if last is None else last.head.size,
        open_proposals=waiting,
        due=due or [],
        free=disk and disk.free,
        room=disk and disk.total,
        backup=_instant(by_part.get("backup")),
        proven=by_part["backup"].proven if "backup" in by_part else None,
        audit=_instant(by_part.get("audit")),
    )


def unreadable_ledger(error: Exception) -> Health:
    """Return the health of a ledger that cannot be opened."""
    findings = _Findings()
    findings.add("ledger", " ".join(str(error).split()))
    nothing = dict.fromkeys(name for name in attrs.fields_dict(Health) if name not in {"healthy", "faults", "due"})
    return Health(healthy=False, faults=findings.faults, due=[], **nothing)


def _due_lists(ledger: OpenLedger, until_ms: int) -> list[DueList]:
    """Return the lists of rating periods that were over by an instant, but for those that the journal has."""
    due = []
    for pool in ledger.pools():
        each = due_list(ledger, pool)
        if each is None or (end_ms := instant_end_ms(each.day)) > until_ms:
            continue
        # Views that are behind may lack the entry of the list.
        if all(published.at_ms < end_ms for published in Publications(ledger).all(pool.name)):
            due.append(each)
    return due


def _mark_fault(mark: OutsideMark, now_ms: int) -> str:
    """Return what is wrong with a mark; empty if nothing."""
    if mark.fault:
        return mark.fault
    if mark.made_ms is None:
        return f"no {mark.noun} in {mark.place}"
    hours = (now_ms - mark.made_ms) / HOUR_MS
    if hours < -1:
        return f"the last {mark.noun} is dated {instant_text(mark.made_ms)}, which is in the future: set the clock"
    return f"the last {mark.noun} is {hours:,.0f} hours old, more than {mark.max_hours}" * (hours > mark.max_hours)


def _instant(mark: OutsideMark | None) -> str | None:
    return None if mark is None or mark.made_ms is None else instant_text(mark.made_ms)
