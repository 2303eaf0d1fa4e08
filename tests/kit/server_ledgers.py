"""Journals and ledgers on a server of a test, each in a new database: its superuser makes them, its users record."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.journal.settings_file import ServerPlace
from ledger.players.server_stores import setup_sql
from ledger.runtime.lazy import psycopg
from tests.kit.postgres import Server, new_copy
from tools.postgres_servers import USER

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


def new_place(server: Server, *, durability: str = "server") -> ServerPlace:
    """A new database in which the operator has made the schemas, and the address of the user who records."""
    owner = new_copy(server, _make_schemas)
    with psycopg.connect(owner) as connection:
        give_identity(connection)
        recorder = _make_user(connection, owner)
        connection.execute(f"GRANT {SCHEMA}_writer, {SCHEMA}_names_writer TO {recorder}")
    return ServerPlace(server.url(owner.rpartition("/")[2], recorder), SCHEMA, durability=durability)


def _make_schemas(address: str) -> None:
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        recorder = _make_user(connection, address)
        place = ServerPlace(address.replace(f"{USER}@", f"{recorder}@"), SCHEMA)
        connection.execute(setup_sql(place).encode())


def _make_user(connection: Connection[Any], address: str) -> str:
    """Make the user of a database who may neither make schemas nor roles."""
    name = f"ledger_of_{address.rpartition('/')[2]}"
    connection.execute(f"CREATE USER {name}")
    return name


def empty_database(server: Server) -> str:
    """The address of a new database for a user who may neither make schemas nor roles."""
    owner = server.new_database()
    with closing(psycopg.connect(owner, autocommit=True)) as connection:
        return server.url(owner.rpartition("/")[2], _make_user(connection, owner))


def run_sql_on(server: Server, place: ServerPlace, *scripts: str) -> None:
    """What the server's operator does in the database of a ledger."""
    with closing(psycopg.connect(server.url(place.address.rpartition("/")[2]), autocommit=True)) as connection:
        for script in scripts:
            connection.execute(script.encode())


def settings_of(folder: Path, place: ServerPlace) -> Path:
    """The path of a ledger in a new folder, as another node has it: nothing but its settings."""
    folder.mkdir(exist_ok=True)
    (folder / "club.toml").write_text(f'journal = "{place.address}"\nschema = "{place.schema}"\n')
    return folder / "club.db"
