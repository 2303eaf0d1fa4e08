"""Proposals with reasons, as a ledger records them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ledger.facts.changes import Change, Verb, Which
from ledger.facts.events import CorrectionProposed, Event
from ledger.journal import Writer
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from tests.kit.tampering import run_sql

CHANGE = Change(do=Verb.ANNUL_GAMES, player=1, which=Which.ALL, since="1980", until="1981")


def proposal(number: int, reason: str) -> CorrectionProposed:
    """A proposal that changes nothing, for a commitment to a reason."""
    return CorrectionProposed(proposal=number, part=1, parts=1, changes=(CHANGE,), reason=reason, proven=False)


def propose(ledger: Ledger, *texts: str) -> list[str]:
    """Record a proposal for each of these reasons, in one transaction; the commitments."""
    made: list[str] = []

    def gate(writer: Writer, _: int) -> list[Event]:
        first = 1
        while writer.find([f"proposal:{first}@1"]):
            first += 1
        kept = ledger.people.reasons.keep(writer, {f"proposal:{first + i}@1": text for i, text in enumerate(texts)})
        made.extend(kept.values())
        return [proposal(first + i, sealed) for i, sealed in enumerate(made)]

    ledger.record_judged(gate, "eve")
    return made


def changed_reason(ledger: Ledger) -> None:
    """Read a reason after somebody has changed it."""
    (sealed,) = propose(ledger, "scoresheet")
    run_sql(Path(ledger.people.path), "UPDATE reasons SET text = 'Mallory'")
    ledger.people.reasons.text(sealed)


def left_behind(path: Path, key: str, text: str) -> str:
    """Keep a reason that no entry seals, as one who is stopped leaves it; its commitment."""
    with Ledger.open(path) as ledger, ledger.journal.writing() as writer:
        return ledger.people.reasons.keep(writer, {key: text})[key]


def erase_reasons(path: Path, *commitments: str) -> int:
    with Ledger.open(path) as ledger:
        return ledger.people.reasons.erase(ledger.journal.writing(), commitments)


def kept_reasons(path: Path) -> list[tuple[int, str, str | None]]:
    """Number, entry and text of all that stand in the people file."""
    with closing(sqlite.connect(beside(path, "people"), read_only=True)) as connection:
        return connection.execute("SELECT number, entry, text FROM reasons ORDER BY number").fetchall()


def size_of(path: Path) -> int:
    with closing(SqliteJournal(path)) as journal:
        return journal.size()
