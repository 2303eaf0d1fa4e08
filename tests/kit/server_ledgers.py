"""Ledgers whose journal and names are on a server: the address of somebody who records, in a new database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.journal.settings_file import ServerPlace
from ledger.players.server_stores import sql_of
from ledger.runtime.lazy import psycopg
from tests.kit.postgres import Server, new_copy
from tests.kit.postgres_journals import SCHEMA, give_identity
from tools.postgres_servers import USER

if TYPE_CHECKING:
    from psycopg import Connection


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
        connection.execute(sql_of(place).encode())


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
