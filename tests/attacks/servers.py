"""A ledger on a server as the server's superuser sees it: its database copied, its rows and objects read and changed.

No store and no auditor of the library takes part. A copy of a ledger has a database of its own on the same server,
made from the other as its template, so that the objects in it have the same numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from zlib import crc32

from ledger.journal.settings_file import ServerPlace, SettingsFile, server_of
from ledger.runtime.lazy import psycopg
from tests.kit.server_ledgers import SCHEMA
from tests.kit.tampering import Statement
from tools.postgres_servers import USER

# By role, as ``stores.ROLES``, and what is kept of tokens, which belongs to the roles of the names.
SCHEMAS = {"journal": SCHEMA, "people": f"{SCHEMA}_names", "tokens": f"{SCHEMA}_tokens"}
PREFIXES = {"journal": SCHEMA, "people": f"{SCHEMA}_names", "tokens": f"{SCHEMA}_names"}  # of the roles who have it
ROLES_OF_A_LEDGER = tuple(
    f"{prefix}_{word}" for prefix in sorted({*PREFIXES.values()}) for word in ("owner", "writer", "reader")
)

Row = tuple[object, ...]


@contextmanager
def as_superuser(place: ServerPlace) -> Iterator[psycopg.Connection[Row]]:
    """Open a connection that guards and policies do not bind."""
    with closing(psycopg.connect(re.sub("//[^@]*@", f"//{USER}@", place.address), autocommit=True)) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET row_security = off")
        yield connection


def give_own_database(db: Path) -> None:
    """Copy the database that the settings of a copied ledger name, and let them name the copy."""
    place = server_of(db)
    if place is None:
        return
    server, _, source = place.address.rpartition("/")
    name = f"copy_{crc32(str(db.absolute()).encode()):08x}"
    with as_superuser(ServerPlace(f"{server}/postgres", SCHEMA)) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {source}".encode())
    SettingsFile(db).put(journal=f"{server}/{name}")


def edited(place: ServerPlace, *statements: Statement) -> None:
    """Run statements in one transaction."""
    with as_superuser(place) as connection, connection.transaction():
        for statement in statements:
            sql, values = (statement, None) if isinstance(statement, str) else statement
            connection.execute(sql.encode(), values)


def columns_of(connection: psycopg.Connection[Row], role: str) -> dict[str, dict[str, str]]:
    """Return, by table, its columns with their types."""
    query = (
        "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
        "JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind = 'r' "
        "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum"
    )
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(query.encode(), [SCHEMAS[role]]).fetchall():
        tables.setdefault(str(table), {})[str(column)] = str(kind)
    return tables


def rows_of(connection: psycopg.Connection[Row], role: str, table: str, columns: Sequence[str]) -> list[Row]:
    """Return all rows of a table, in their order."""
    listed = ", ".join(f'"{column}"' for column in columns)
    query = f'SELECT {listed} FROM {SCHEMAS[role]}."{table}" ORDER BY {listed}'
    return connection.execute(query.encode()).fetchall()


def put(source: ServerPlace, target: ServerPlace, role: str) -> None:
    """Put all rows of one schema in the place of those of another ledger's."""
    with as_superuser(source) as reader, as_superuser(target) as writer, writer.transaction():
        for table in columns_of(writer, role):
            name = f'{SCHEMAS[role]}."{table}"'
            writer.execute(f"TRUNCATE {name}".encode())
            with (
                reader.cursor().copy(f"COPY {name} TO STDOUT (FORMAT binary)".encode()) as reading,
                writer.cursor().copy(f"COPY {name} FROM STDIN (FORMAT binary)".encode()) as writing,
            ):
                for piece in reading:
                    writing.write(piece)


# The server's own word for every object of the schemas and for what hangs on them; what changes by itself (the
# number of a file on the disk, estimates, ages, what a table was last ordered by) is left out. Who reads the journal,
# publishes it or makes statistics of it changes nothing there; of names all of that keeps or shows them.
_OURS = "(SELECT oid FROM pg_namespace WHERE nspname = ANY(%(schemas)s))"
_RELATIONS = f"(SELECT oid FROM pg_class WHERE relnamespace IN {_OURS})"
_NAMING = "(SELECT oid FROM pg_namespace WHERE nspname = ANY(%(naming)s))"
_OF_NAMES = f"(SELECT oid FROM pg_class WHERE relnamespace IN {_NAMING})"
_CHANGING = (
    "relfilenode", "relpages", "reltuples", "relallvisible", "relallfrozen", "relfrozenxid", "relminmxid",
    "reltoastrelid", "indisclustered", "indcheckxmin", "reloptions",
)  # fmt: skip
_CATALOGS = (
    ("pg_namespace", f"oid IN {_OURS}"),
    ("pg_class", f"relnamespace IN {_OURS}"),
    ("pg_attribute", f"attrelid IN {_OF_NAMES}"),
    ("pg_attrdef", f"adrelid IN {_RELATIONS}"),
    ("pg_constraint", f"conrelid IN {_RELATIONS} OR confrelid IN {_RELATIONS}"),
    ("pg_index", f"indrelid IN {_RELATIONS}"),
    ("pg_trigger", f"tgrelid IN {_RELATIONS}"),
    ("pg_rewrite", f"ev_class IN {_RELATIONS}"),
    ("pg_policy", f"polrelid IN {_RELATIONS}"),
    ("pg_inherits", f"inhrelid IN {_RELATIONS} OR inhparent IN {_RELATIONS}"),
    ("pg_proc", f"pronamespace IN {_OURS}"),
    ("pg_type", f"typnamespace IN {_OURS}"),
    ("pg_collation", f"collnamespace IN {_OURS}"),
    ("pg_operator", f"oprnamespace IN {_OURS}"),
    ("pg_statistic_ext", f"stxrelid IN {_OF_NAMES}"),
    ("pg_depend", f"refobjid IN {_OF_NAMES}"),
    ("pg_publication_rel", f"prrelid IN {_OF_NAMES}"),
    ("pg_publication_namespace", f"pnnspid IN {_NAMING}"),
    ("pg_publication", "puballtables"),
    ("pg_auth_members", "roleid IN (SELECT oid FROM pg_authid WHERE rolname = ANY(%(roles)s))"),
    ("pg_authid", "rolname = ANY(%(roles)s)"),
)
_OBJECTS = " UNION ALL ".join(
    f"SELECT '{name}', (to_jsonb(c) - %(changing)s::text[])::text FROM {name} c WHERE {condition}"
    for name, condition in _CATALOGS
) + (
    " UNION ALL SELECT 'pg_attribute', (to_jsonb(c) - 'attstattarget')::text FROM pg_attribute c "
    f"WHERE attrelid IN {_RELATIONS} AND attrelid NOT IN {_OF_NAMES}"
)
_ABOUT = " UNION ALL ".join(f"SELECT '{name}', to_jsonb(a)::text FROM {name}.about a" for name in SCHEMAS.values())
# Any recorder may say where the ledger went, and then nobody records there; which journal it is, nothing else tells.
_ANY_WORD = re.compile(r"""\{"name": "(gone", .*|journal", "value": "[0-9a-f]{32}")\}""")


def objects_of(db: Path) -> str | None:
    """Return all that stands in the schemas besides rows, and what those say of themselves; None of files."""
    place = server_of(db)
    if place is None:
        return None
    naming = [SCHEMAS["people"], SCHEMAS["tokens"]]
    words = {"schemas": [*SCHEMAS.values()], "naming": naming, "roles": [*ROLES_OF_A_LEDGER], "changing": [*_CHANGING]}
    with as_superuser(place) as connection:
        objects = connection.execute(_OBJECTS.encode(), words).fetchall()
        try:
            about = connection.execute(_ABOUT.encode()).fetchall()
            objects += [row for row in about if not _ANY_WORD.fullmatch(str(row[1]))]
        except psycopg.Error as error:
            objects.append((str(error),))
    return json.dumps(sorted(objects))
