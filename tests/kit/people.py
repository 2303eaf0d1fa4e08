"""People of a ledger: the rows of the names file, erasures, reasons of proposals, and names found in raw bytes."""

import secrets
import shutil
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ledger.facts.changes import AnnulmentScope, Change, Verb
from ledger.facts.events import CorrectionProposed, Event, PlayerRegistered
from ledger.facts.source_games import SourceGame
from ledger.facts.words import Standing
from ledger.imports.reading import batch_games
from ledger.journal import Writer
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.sqlite_layout import RELEASED
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.games import source_game
from tests.kit.tampering import run_sql

# As an erasure empties a row.
BLANK = "UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = ?"


def everybody(path: Path) -> list[Person]:
    with closing(sqlite.connect(path, read_only=True)) as connection:
        rows = connection.execute("SELECT player, identity, name, salt, joined_at FROM people ORDER BY player")
        return [Person(*row) for row in rows]


def connection_of(people: People) -> Any:
    """The connection to the people file."""
    assert isinstance(people, SqlitePeople)
    return people._connection


def marked(count: int, tail: str = "") -> list[str]:
    """Names of so many people, each with a mark of its own."""
    return [f"Qz{secrets.token_hex(5)}, Anna{tail}" for _ in range(count)]


def won_by_the_first(*pairs: tuple[str, str]) -> Iterable[SourceGame]:
    """The first of each pair wins."""
    for line, (white, black) in enumerate(pairs, 1):
        yield source_game(f"made:{white}-{black}", white, black, line=line)


def import_wins(path: Path, *pairs: tuple[str, str]) -> None:
    with Ledger.open(path) as ledger:
        assert ledger.import_games(batch_games(won_by_the_first(*pairs))).faults == []
        ledger.catch_up()


def put_people_file(copy: Path, path: Path) -> None:
    """Put a copy of the people file in place, without the log of the present one."""
    for leftover in path.parent.glob("club.people.db*"):
        leftover.unlink()
    shutil.copy(copy, sidecar(path, "people"))


def make_released(people: Path) -> None:
    """Make a people file one of release 0.1.0: take out the tables that it did not have."""
    later = ("renaming", "reasons", "erasing", "secret", "people_folds", "people_search")
    run_sql(people, *(f"DROP TABLE IF EXISTS {table}" for table in later), f"PRAGMA user_version={RELEASED}")


def head_text(path: Path) -> str:
    with closing(SqliteJournal(path)) as journal:
        return str(journal.head())


def registration_of(player: int) -> PlayerRegistered:
    return PlayerRegistered(player=player, joined_at="2020", standing=Standing.FULL, commitment=f"{player:064x}")


THREE_NAMES = marked(3)


def heads(club: Path) -> tuple[object, ...]:
    with closing(SqliteJournal(club)) as journal:
        return (journal.head(), tuple(everybody(sidecar(club, "people"))))


def waiting(club: Path) -> list[tuple[Any, ...]]:
    """Player, number and name of those whose name is to be given."""
    with closing(sqlite.connect(sidecar(club, "people"), read_only=True)) as connection:
        return connection.execute("SELECT player, number, name FROM renaming").fetchall()


def erasures(path: Path) -> list[tuple[str, int]]:
    """By whom and of whom, as the journal says."""
    with Ledger.open(path, read_only=True) as ledger:
        return [(entry.actor, entry.facts["player"]) for entry in ledger.entries("person-erased")]


def pending(path: Path) -> dict[int, str]:
    """Those who are not brought to their end yet, and who had them erased."""
    with closing(SqlitePeople(sidecar(path, "people"), read_only=True)) as people:
        return people.erasures.rows()


CHANGE = Change(do=Verb.ANNUL_GAMES, player=1, which=AnnulmentScope.ALL, since="1980", until="1981")


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
        kept = ledger.people.reasons.store(writer, {f"proposal:{first + i}@1": text for i, text in enumerate(texts)})
        made.extend(kept.values())
        return [proposal(first + i, sealed) for i, sealed in enumerate(made)]

    ledger._record_judged(gate, "eve")
    return made


def changed_reason(ledger: Ledger) -> None:
    """Read a reason after somebody has changed it."""
    (sealed,) = propose(ledger, "scoresheet")
    run_sql(Path(ledger.people.path), "UPDATE reasons SET text = 'Mallory'")
    ledger.people.reasons.text(sealed)


def left_behind(path: Path, key: str, text: str) -> str:
    """Keep a reason that no entry seals, as one who is stopped leaves it; its commitment."""
    with Ledger.open(path) as ledger, ledger.journal.writing() as writer:
        return ledger.people.reasons.store(writer, {key: text})[key]


def erase_reasons(path: Path, *commitments: str) -> int:
    with Ledger.open(path) as ledger:
        return ledger.people.reasons.erase(ledger.journal.writing(), commitments)


def kept_reasons(path: Path) -> list[tuple[int, str, str | None]]:
    """Number, entry and text of all that stand in the people file."""
    with closing(sqlite.connect(sidecar(path, "people"), read_only=True)) as connection:
        return connection.execute("SELECT number, entry, text FROM reasons ORDER BY number").fetchall()


def size_of(path: Path) -> int:
    with closing(SqliteJournal(path)) as journal:
        return journal.size()
