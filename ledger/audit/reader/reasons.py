"""Reasons of corrections against what the journal sealed of them. They stand in the people file and can be erased."""

from __future__ import annotations

import hmac
from typing import Any, NamedTuple

import attrs

from ledger.audit.reader.commitments import SALT_BYTES, facts_of
from ledger.audit.reader.files import (
    FIRST_FALSEHOODS,
    READ_ERRORS,
    RESTORE,
    Falsehood,
    Snapshot,
    opened,
    shown,
    text_fault,
)
from ledger.audit.reader.published import PEOPLE
from ledger.errors import one_line

REMEDY = "restore that row from a copy, or erase the reason"
# The keys of proposals and of decisions lie between these.
_SEALING = (("proposal:", "proposal;"), ("decision:", "decision;"))


@attrs.frozen
class ReasonsVerdict:
    """What the reasons were found to be.

    Attributes:
        checked: reasons that were compared with their commitments.
        erased: reasons whose text and salt were erased; there is nothing to compare.
        missing: commitments of the journal that have no row: the reasons are lost, and nobody erased them.
        waiting: reasons that no entry sealed, as a correction that was stopped leaves them.
        falsehoods: the first 20 in order of the reasons.
    """

    checked: int
    erased: int
    missing: int
    waiting: int
    falsehoods: tuple[Falsehood, ...]


class _Row(NamedTuple):
    """A row of reasons."""

    number: int
    commitment: Any
    entry: Any
    salt: Any
    text: Any

    @property
    def is_erased(self) -> bool:
        return self.salt is self.text is None


def verify_reasons(journal: str | Snapshot, people: str | Snapshot) -> ReasonsVerdict:
    """Compare every reason with what the journal sealed.

    Args:
        journal: the journal, or a snapshot of it.
        people: the people file, or a snapshot of it that is not older than the journal's: reasons are kept first.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
        CorruptError: one is no database or lacks its table.
    """
    found: list[Falsehood] = []
    sealed = _sealed(journal, found)
    with opened(people, "people") as file:
        rows = _rows(file, found)
    # Reasons are kept one after another, each before its entry: those without an entry are the newest.
    last_sealed = max((place for place, row in enumerate(rows, 1) if _position(row, sealed)), default=0)
    checked = erased = waiting = position = 0
    for place, row in enumerate(rows, 1):
        fault, sealing = _row_fault(row), _position(row, sealed)
        if row.number != place:
            fault = f"is number {row.number}, but there are {place - 1} before it; {REMEDY}"
        elif not fault and not sealing and (place < last_sealed or row.is_erased):
            fault = f"no entry {shown(row.entry)} sealed it; {REMEDY}"
        elif not fault and 0 < sealing < position:
            fault = f"entry {sealing} sealed it, but entry {position} one before it; {REMEDY}"
        if fault:
            found.append(Falsehood("reasons", row.number, fault))
        checked += bool(sealing) and not row.is_erased
        erased += row.is_erased
        waiting += not sealing
        position = max(position, sealing)
    missing = len(sealed.keys() - {row.commitment for row in rows})
    return ReasonsVerdict(checked, erased, missing, waiting, tuple(found[:FIRST_FALSEHOODS]))


def _sealed(journal: str | Snapshot, found: list[Falsehood]) -> dict[str, dict[str, int]]:
    """By commitment to a reason, the keys of the entries that hold it, with their positions."""
    sealed: dict[str, dict[str, int]] = {}
    sql = "SELECT position, key, body FROM journal WHERE key >= ? AND key < ? ORDER BY position"
    with opened(journal, "journal") as file:
        for first, last in _SEALING:
            position = 0
            try:
                for position, key, body in file.connection.execute(sql, (first, last)):
                    reason = facts_of(body).get("reason")
                    if isinstance(reason, str):
                        sealed.setdefault(reason, {})[key] = position
            except READ_ERRORS as error:
                fault = f"no {first[:-1]} after this entry can be read ({one_line(error)}); {RESTORE}"
                found.append(Falsehood("journal", position, fault))
    return sealed


def _rows(file: Snapshot, found: list[Falsehood]) -> list[_Row]:
    """The rows in their order; none in a file of an earlier layout."""
    file.read_any_text()
    sql = "SELECT number, commitment, entry, salt, text FROM reasons ORDER BY number"
    rows: list[_Row] = []
    if not file.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'reasons'").fetchone():
        return rows
    try:
        rows.extend(_Row(*row) for row in file.connection.execute(sql))
    except READ_ERRORS as error:
        fault = f"no reason after this one can be read ({one_line(error)}); {PEOPLE.remedy}"
        found.append(Falsehood("reasons", rows[-1].number if rows else 0, fault))
    return rows


def _position(row: _Row, sealed: dict[str, dict[str, int]]) -> int:
    """Where the entry stands that sealed a reason; 0 where none did."""
    return sealed.get(row.commitment, {}).get(row.entry, 0)


def _row_fault(row: _Row) -> str:
    """What is false in a row by itself."""
    for word, value in (("commitment", row.commitment), ("entry", row.entry)):
        if fault := text_fault(value):
            return f"{word} {fault}; {REMEDY}"
    if row.is_erased:
        return ""
    if row.salt is None or row.text is None:
        return f"is half erased: without {'salt' if row.salt is None else 'text'}; {REMEDY}"
    if fault := text_fault(row.text):
        return f"text {fault}; {REMEDY}"
    if not isinstance(row.salt, bytes) or len(row.salt) != SALT_BYTES:
        return f"the salt is not {SALT_BYTES} bytes; {REMEDY}"
    if hmac.digest(row.salt, row.text.encode(), "sha256").hex() != row.commitment:
        return f"the reason of {row.entry} is not the one sealed: text or salt was changed; {REMEDY}"
    return ""
