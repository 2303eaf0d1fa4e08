"""Ledgers whose journal and names are on a server: the address of somebody who records, in a new database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ledger.journal.settings_file import ServerPlace
from ledger.players.server_stores import sql_of
from ledger.runtime.lazy import psycopg
from tests.kit.postgres import Server

SCHEMA = "club"


def new_place(server: Server, schema: str = SCHEMA, *, durability: str = "server") -> ServerPlace:
    """A new database in which the operator has made the schemas, and the address of the user who records."""
    database = empty_database(server)
    place = ServerPlace(database, schema, durability=durability)
    run_sql_on(server, place, sql_of(place))
    return place


def empty_database(server: Server) -> str:
    """The address of a new database for a user who may neither make schemas nor roles."""
    owner = server.new_database()
    name = owner.rpartition("/")[2]
    with closing(psycopg.connect(owner, autocommit=True)) as connection:
        connection.execute(f'CREATE USER "ledger_of_{name}"')
    return server.url(name, f"ledger_of_{name}")


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
