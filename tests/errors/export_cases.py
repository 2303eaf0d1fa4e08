"""The error catalogue's cases about copies of the tables on a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest

from ledger.answers.exports import postgres_copy
from ledger.answers.exports.postgres_copy import copy_to_postgres
from ledger.facts.events import Event, GameRecorded
from ledger.ledger import Ledger
from ledger.ratings.fact_projector import DeclaredFactProjector, FactRows
from ledger.ratings.projector import Kept
from ledger.runtime.lazy import psycopg
from tests.errors.postgres_cases import shared_server
from tests.kit.backups import SCHEMA
from tests.kit.clubs import ClubOfTwo

Provoke = Callable[[ClubOfTwo], object]


@cache
def _database() -> str:
    """The address of a database for whoever wants to see a refusal."""
    return shared_server().new_database()


def _run(*statements: str) -> None:
    with psycopg.connect(_database(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _copy(ledger: Ledger, schema: str = SCHEMA, *, names: bool = False) -> None:
    copy_to_postgres(ledger, _database(), schema, names=names)


def into(*statements: str) -> Provoke:
    """Copy into a schema in which others have run statements."""

    def provoke(scene: ClubOfTwo) -> None:
        _run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}", *statements)
        _copy(scene.ledger)

    return provoke


def over(*statements: str) -> Provoke:
    """Copy over a copy with names, after others have run statements."""

    def provoke(scene: ClubOfTwo) -> None:
        _run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        _copy(scene.ledger, names=True)
        _run(*statements)
        _copy(scene.ledger)

    return provoke


def while_others(statement: str) -> Provoke:
    """Copy over a copy with names while somebody else has begun something with it, and has little patience."""

    def provoke(scene: ClubOfTwo) -> None:
        _run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        _copy(scene.ledger, names=True)
        with psycopg.connect(_database()) as other, pytest.MonkeyPatch.context() as patch:
            other.execute(statement.encode())
            patch.setattr(postgres_copy, "PATIENCE", 0.1)
            _copy(scene.ledger)

    return provoke


def another_ledger(scene: ClubOfTwo) -> None:
    _run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    _copy(scene.ledger)
    _run(f"UPDATE {SCHEMA}.origin SET ledger = repeat('0', 64), root = repeat('1', 64)")
    _copy(scene.ledger)


def read_model(name: str, note: str) -> Provoke:
    """Copy a read model of that name, each row of which has that note."""

    def stand(rows: FactRows, position: int, _before: Event | None, now: Event | None) -> None:
        if isinstance(now, GameRecorded):
            rows.put((position,), (note,))

    key: Sequence[Kept] = (Kept("game", "INTEGER", 0, "the game"),)
    columns = (Kept("note", "TEXT", 0, "a note"),)
    made = DeclaredFactProjector(
        name=name, version=1, kinds=(GameRecorded,), key=tuple(key), columns=columns, on_change=stand
    )

    def provoke(scene: ClubOfTwo) -> None:
        scene.ledger.close()
        with Ledger.open(scene.path, projectors=(made,)) as ledger:
            _copy(ledger)

    return provoke


EXPORT_REFUSALS: dict[str, Provoke] = {
    "malformed-export-schema": lambda scene: _copy(scene.ledger, "s" * 64),
    "malformed-export-text": read_model("notes", "a\0b"),
    "projection-export-name-taken": read_model("names", "a"),
    "storage-export-another-ledger": another_ledger,
    "storage-export-changed": while_others(f"UPDATE {SCHEMA}.pools SET name = 'x'"),
    "storage-export-columns": over(f"ALTER TABLE {SCHEMA}.players ADD COLUMN phone text"),
    "storage-export-depended-on": over(f"CREATE VIEW {SCHEMA}.who AS SELECT name FROM {SCHEMA}.names"),
    "storage-export-foreign": into(f"CREATE TABLE {SCHEMA}.games(x int)"),
    "storage-export-journal": into(f"CREATE TABLE {SCHEMA}.journal(x int)"),
    "storage-export-kept-away": over(
        f"DELETE FROM {SCHEMA}.games", f"CREATE RULE r AS ON INSERT TO {SCHEMA}.games DO INSTEAD NOTHING"
    ),
    "storage-export-reserved": lambda scene: _copy(scene.ledger, "pg_club"),
    "storage-export-still-read": while_others(f"SELECT * FROM {SCHEMA}.names"),
    "storage-export-under-way": while_others(
        f"SELECT pg_advisory_xact_lock(hashtextextended('rating-ledger export {SCHEMA}', 0))"
    ),
}
