"""Journals on a server of a test: made by its superuser, written and read by users who have the roles for it."""

from __future__ import annotations

from contextlib import closing
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.runtime.lazy import psycopg
from tests.kit.postgres import Server, new_copy

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "club"


ROLES = Roles.of("journal")


def new_journal(server: Server) -> str:
    """Make an empty journal in a new database; the address of its writer, ``writer_of_…``."""
    owner = new_copy(server, _make_journal)
    name = owner.rpartition("/")[2]
    with psycopg.connect(owner) as connection:
        give_identity(connection)
        for role in ("writer", "reader"):
            connection.execute(f'CREATE USER "{role}_of_{name}" IN ROLE "{getattr(ROLES, role)}"')
    return server.url(name, f"writer_of_{name}")


def _make_journal(address: str) -> None:
    PostgresJournal.create(address, SCHEMA, roles=ROLES).close()


def give_identity(connection: Connection[Any]) -> None:
    """Let a copied journal be another one than that of which it is a copy."""
    connection.execute("SET LOCAL session_replication_role = replica")
    connection.execute(f"UPDATE {SCHEMA}.about SET value = %s WHERE name = 'journal'", [token_hex(16)])


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
