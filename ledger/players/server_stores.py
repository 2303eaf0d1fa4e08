"""The stores of a ledger on a server: schemas that are made together, and opened on one connection."""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ledger.auth import postgres_token_tables
from ledger.auth.postgres_tokens import PostgresTokens
from ledger.auth.token_store import TokenStore
from ledger.auth.tokens_file import TokensFile
from ledger.errors import StorageError
from ledger.journal import Journal
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles, creation_sql
from ledger.journal.settings_file import ServerPlace
from ledger.players.persons import new_secret
from ledger.players.postgres_layout import schema_of, statements
from ledger.players.postgres_people import PostgresPeople
from ledger.runtime import postgres
from ledger.runtime.postgres import quoted
from ledger.runtime.visible import is_hidden

if TYPE_CHECKING:
    from psycopg import Connection


def open_on_server(place: ServerPlace) -> tuple[PostgresJournal, PostgresPeople]:
    """Open journal and names on a server, on one connection, so that they share transactions.

    Raises:
        StorageError: the server cannot be reached or trusted, promises too little, or holds no such ledger.
    """
    journal = PostgresJournal(place.address, place.schema, patience=place.patience, needs_quorum=place.needs_quorum)
    try:
        return journal, PostgresPeople(place.address, place.schema, session=journal.session)
    except BaseException:
        journal.close()
        raise


def open_names_on_server(place: ServerPlace) -> PostgresPeople:
    """Open the names on a server without the journal.

    Raises:
        StorageError: as ``open_on_server``.
    """
    return PostgresPeople(place.address, place.schema)


def token_store_of(journal: Journal, file: TokensFile) -> TokenStore:
    """Return the token store of a journal: in its database, or the file if the journal is on no server."""
    return PostgresTokens(journal) if isinstance(journal, PostgresJournal) else file


# The longest name of a role ends in ``_names_writer``. A server silently cuts names to 63 bytes: those of owner, writer
# and reader would be one, and a recorder would be the owner of the names.
_LONGEST = 63 - len("_names_writer")
_UNFIT = ";'%$"  # would end a statement, a text or the body of a function, or be a placeholder


def _refuse_name(place: ServerPlace) -> None:
    """Refuse a schema name that would give the SQL, or the names of the roles, another meaning."""
    name, size = place.schema, len(place.schema.encode("utf-8", "surrogatepass"))
    unfit = [sign for sign in name if sign in _UNFIT or is_hidden(sign)]
    if name.startswith("pg_") or unfit or not 1 <= size <= _LONGEST:
        raise StorageError(
            place.shown,
            f"no ledger is made in a schema called {name!r}: a name has 1 to {_LONGEST} bytes, none of {_UNFIT}, and "
            "does not begin with 'pg_'; give another --schema",
        )


def setup_sql(place: ServerPlace) -> str:
    """Return the SQL that makes schemas and roles, and lets the address's user record.

    Raises:
        StorageError: the address is none, or names no user; or a schema must not be called so.
    """
    _refuse_name(place)
    return f"BEGIN;\n{_making(place)}{_grant(place.schema, quoted(_recorder(place)))};\nCOMMIT;\n"


def _recorder(place: ServerPlace) -> str:
    if user := postgres.user_of(place.address):
        return user
    raise StorageError(place.shown, "names no user who is to record: postgresql://USER@HOST/...")


def _making(place: ServerPlace) -> str:
    """Return the SQL that makes all schemas, within a transaction."""
    roles = Roles.of(schema_of(place.schema))
    journal = creation_sql(place.schema, Roles.of(place.schema), secrets.token_hex(16))
    others = [*statements(place.schema, roles), *postgres_token_tables.statements(place.schema, roles)]
    return journal + "".join(f"{statement};\n" for statement in others)


def _grant(schema: str, user: str) -> str:
    writers = (Roles.of(schema).writer, Roles.of(schema_of(schema)).writer)
    return f"GRANT {', '.join(map(quoted, writers))} TO {user}"


def make_on_server(place: ServerPlace, secret: bytes | None) -> tuple[PostgresJournal, PostgresPeople]:
    """Make the schemas, if they are missing, and open the empty journal and names.

    Args:
        place: the server and the schema.
        secret: that of another ledger; None: a new one.

    Raises:
        StorageError: there is a ledger already, or the user of the address may not make one.
    """
    if make_schemas(place):
        schemas = _schemas(place)
        raise StorageError(
            place.shown,
            "is the address of a superuser, who may change what is recorded, and so nobody records as one. The schemas "
            f"{', '.join(schemas[:-1])} and {schemas[-1]} are there: run '{_grant(place.schema, 'USER')}' for the user "
            "who is to record, and 'init' again with the address of that user",
        )
    journal, people = open_on_server(place)
    try:
        _refuse_entries(place, journal)
        # If the SQL was run before, there is none yet: that SQL is printed, and must not show a secret.
        people.adopt_secret(secret or new_secret())
    except BaseException:
        journal.close()
        raise
    return journal, people


def _refuse_entries(place: ServerPlace, journal: PostgresJournal) -> None:
    if size := journal.size():
        raise StorageError(
            journal.path,
            f"holds a ledger already, up to entry {size:,}, and a journal is never overwritten: a new one needs "
            f'another schema. Another node of this one has two lines in its settings, journal = "'
            f'{place.shown}" and schema = "{place.schema}"',
        )


def _schemas(place: ServerPlace) -> list[str]:
    """Return the schemas of the journal, of the names and of the tokens."""
    return [place.schema, schema_of(place.schema), postgres_token_tables.schema_of(place.schema)]


def make_schemas(place: ServerPlace) -> bool:
    """Make the schemas and their roles if none of them exists, all or nothing.

    The user of the address is let record there; but a superuser never records.

    Returns:
        Whether that user is a superuser.

    Raises:
        StorageError: the user may not make them, or the server refuses.
    """
    query = "SELECT count(*), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) FROM pg_namespace "
    query += "WHERE nspname = ANY(%s)"
    with closing(postgres.connect(place.address)) as connection:
        with postgres.storage_errors(place.address):
            ((number, is_superuser),) = connection.execute(query.encode(), [_schemas(place)]).fetchall()
        if number == 0:
            _refuse_name(place)
            _make(place, connection, "" if is_superuser else _grant(place.schema, quoted(_recorder(place))))
    return bool(is_superuser)


def _make(place: ServerPlace, connection: Connection[Any], grant: str) -> None:
    try:
        with postgres.storage_errors(place.address), connection.transaction():
            connection.execute(f"{_making(place)}{grant}".encode())
    except StorageError as error:
        raise StorageError(
            place.shown,
            f"the user may not make the ledger's schemas and roles: 'init --sql' prints what somebody who may must run "
            f"first ({str(error).removeprefix(error.path).lstrip(': ')})",
        ) from error
