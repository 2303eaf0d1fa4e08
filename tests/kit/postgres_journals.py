"""Journals on a server of a test: made by its superuser, written and read by users who have the roles for it."""

from __future__ import annotations

from contextlib import closing

from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.runtime.lazy import psycopg
from tests.kit.postgres import Server

SCHEMA = "club"


def new_journal(server: Server, schema: str = SCHEMA) -> str:
    """Make an empty journal in a new database; the address of its writer, ``writer_of_…``."""
    owner = server.new_database()
    name = owner.rpartition("/")[2]
    roles = Roles.of(f"{name}_{schema}")
    PostgresJournal.create(owner, schema, roles=roles).close()
    with closing(psycopg.connect(owner, autocommit=True)) as connection:
        for role in ("writer", "reader"):
            connection.execute(f'CREATE USER "{role}_of_{name}" IN ROLE "{getattr(roles, role)}"')
    return server.url(name, f"writer_of_{name}")


def as_reader(address: str) -> str:
    """The address of the same journal's reader."""
    return address.replace("writer_of_", "reader_of_", 1)


def as_superuser(server: Server, address: str) -> str:
    """The address of the same database's superuser."""
    return server.url(address.rpartition("/")[2])


def run_as_superuser(server: Server, address: str, *statements: str) -> None:
    """What nobody but the server's operator may do."""
    with closing(psycopg.connect(as_superuser(server, address), autocommit=True)) as connection:
        for statement in statements:
            connection.execute(statement)
