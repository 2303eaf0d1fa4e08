"""The error catalogue's cases about copies of a whole ledger onto a server, and back into files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from ledger.backups import server_copies
from ledger.backups.server_copies import copy_to_files, copy_to_server
from ledger.journal.postgres_store import PostgresJournal
from ledger.players.postgres_people import PostgresPeople
from ledger.runtime import sqlite
from ledger.runtime.lazy import psycopg
from ledger.runtime.ledger_files import sidecar
from tests.errors.postgres_cases import shared_server
from tests.kit.clubs import ClubOfTwo
from tests.kit.server_ledgers import SCHEMA

Provoke = Callable[[ClubOfTwo], object]


def run_past_guards(address: str, *statements: str) -> None:
    """What a superuser may do to the rows on a server, past every guard of the tables."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for statement in statements:
            connection.execute(statement.encode())


def copied_again(*statements: str) -> Provoke:
    """Copy onto a server where the ledger stands already, and was changed."""

    def provoke(scene: ClubOfTwo) -> None:
        address = shared_server().new_database()
        copy_to_server(scene.path, address, SCHEMA)
        run_past_guards(address, *statements)
        copy_to_server(scene.path, address, SCHEMA)

    return provoke


def copied_back(*statements: str, name: str = "back.db") -> Provoke:
    """Copy from a server on which somebody changed the ledger."""

    def provoke(scene: ClubOfTwo) -> None:
        address = shared_server().new_database()
        copy_to_server(scene.path, address, SCHEMA)
        run_past_guards(address, *statements)
        copy_to_files(address, SCHEMA, scene.folder / name)

    return provoke


def meddled(function: str) -> Provoke:
    """Copy into tables that were made before, and have a trigger of somebody else since."""

    def provoke(scene: ClubOfTwo) -> None:
        address = shared_server().new_database()
        PostgresJournal.create(address, SCHEMA).close()
        PostgresPeople.create(address, SCHEMA).close()
        run_past_guards(
            address,
            f"CREATE FUNCTION public.meddle() RETURNS trigger LANGUAGE plpgsql AS '{function}'",
            f"CREATE TRIGGER meddle BEFORE INSERT ON {SCHEMA}_names.people "
            "FOR EACH ROW EXECUTE FUNCTION public.meddle()",
        )
        copy_to_server(scene.path, address, SCHEMA)

    return provoke


def false_files(scene: ClubOfTwo) -> None:
    """A name that the journal did not seal."""
    with closing(sqlite.connect(sidecar(scene.path, "people"))) as people:
        people.execute("UPDATE people SET name = 'Mallory' WHERE player = 2")
    copy_to_server(scene.path, shared_server().new_database(), SCHEMA)


def somebody_writes(scene: ClubOfTwo) -> None:
    """A writer who does not end."""
    address = shared_server().new_database()
    copy_to_server(scene.path, address, SCHEMA)
    with pytest.MonkeyPatch.context() as patch, psycopg.connect(address) as other:
        patch.setattr(server_copies, "LOCK_SECONDS", 1)
        other.execute(f"SELECT pg_advisory_xact_lock('{SCHEMA}.journal'::regclass::oid::bigint)".encode())
        copy_to_server(scene.path, address, SCHEMA)


COPY_REFUSALS: dict[str, Provoke] = {
    "storage-copy-file-exists": copied_back(name="club.db"),
    "storage-copy-other-entry": copied_again(f"UPDATE {SCHEMA}.journal SET body = 'x' WHERE position = 2"),
    "storage-copy-other-secret": copied_again(
        f"UPDATE {SCHEMA}_names.secret SET secret = decode(repeat('ab', 32), 'hex')"
    ),
    "storage-copy-more-rows": copied_again(f"INSERT INTO {SCHEMA}_names.erasing VALUES (1, 'eve')"),
    "storage-copy-somebody-writes": somebody_writes,
    "corrupt-copy-files-false": false_files,
    "corrupt-copy-row": copied_back(
        f"ALTER TABLE {SCHEMA}.journal DROP CONSTRAINT journal_key",
        f"UPDATE {SCHEMA}.journal SET key = (SELECT key FROM {SCHEMA}.journal WHERE position = 2) WHERE position = 3",
    ),
    "corrupt-copy-changed": meddled("BEGIN NEW.name = upper(NEW.name); RETURN NEW; END"),
    "corrupt-copy-swallowed": meddled("BEGIN RETURN NULL; END"),
}
