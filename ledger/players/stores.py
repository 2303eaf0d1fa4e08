"""The stores of a ledger, of its journal, its names and its tokens: files beside each other, or schemas on a server."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.errors import StorageError
from ledger.journal import Journal, StoredJournal, postgres_token_tables
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles, making
from ledger.journal.postgres_tokens import PostgresTokens
from ledger.journal.settings_file import ServerPlace, SettingsFile
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.token_store import TokenStore
from ledger.journal.tokens_file import TokensFile
from ledger.players.people import People, new_secret
from ledger.players.postgres_layout import schema_of, statements
from ledger.players.postgres_people import PostgresPeople
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import postgres
from ledger.runtime.ledger_files import beside
from ledger.runtime.postgres import quoted

if TYPE_CHECKING:
    from psycopg import Connection

READ_ONLY = "it was opened for reading only"


def open_stores(path: Path, *, read_only: bool = False) -> tuple[StoredJournal, People]:
    """Journal and names of the ledger at a path, in files or where its ``club.toml`` says.

    Raises:
        StorageError: a file or a server refuses, or both a file and a server hold a journal.
        CorruptError: a file is damaged.
    """
    settings = SettingsFile(path)
    place = _place(path, settings)
    if place is None:
        return SqliteJournal(path, read_only=read_only), SqlitePeople(beside(path, "people"), read_only=read_only)
    if path.exists():
        raise StorageError(
            str(path),
            f"stands there, and {settings.path.name} says that the journal is on a server: move the file aside, or "
            "take the line 'journal' away, whichever of the two is not the ledger",
        )
    journal, people = on_server(place)
    if read_only:
        journal.refusal = people.refusal = READ_ONLY
    return journal, people


def open_names(path: Path) -> People:
    """The names of the ledger at a path, alone.

    Raises:
        StorageError: a file or a server refuses.
    """
    place = _place(path, SettingsFile(path))
    return SqlitePeople(beside(path, "people")) if place is None else PostgresPeople(place.address, place.schema)


def token_store_of(path: Path, journal: Journal) -> TokenStore:
    """What is kept of tokens beside a journal: where that is."""
    file = TokensFile(beside(path, "tokens"), lambda: journal.root_at(1))
    return PostgresTokens(journal, file) if isinstance(journal, PostgresJournal) else file


def _place(path: Path, settings: SettingsFile) -> ServerPlace | None:
    """Where the settings say that the journal is; of a file that stands there they may be wrong in what they say."""
    try:
        return settings.server()
    except StorageError:
        # whoever looks for the checkpoints of such a ledger opens it for reading only, and says why
        if not path.exists():
            raise
        return None


def on_server(place: ServerPlace) -> tuple[PostgresJournal, PostgresPeople]:
    """Journal and names on a server, on one connection, so that what belongs together is recorded together.

    Raises:
        StorageError: the server cannot be reached or trusted, promises too little, or holds no such ledger.
    """
    journal = PostgresJournal(place.address, place.schema, patience=place.patience, needs_quorum=place.needs_quorum)
    try:
        return journal, PostgresPeople(place.address, place.schema, connect=journal.connection)
    except BaseException:
        journal.close()
        raise


def sql_of(place: ServerPlace) -> str:
    """The SQL that makes schemas, roles and grants, for whoever may do that; the user of the address records.

    Raises:
        StorageError: the address is none, or names no user.
    """
    return f"BEGIN;\n{_making(place)}{_grant(place.schema, quoted(_recorder(place)))};\nCOMMIT;\n"


def sql_of_missing(place: ServerPlace) -> str:
    """The SQL that adds to a ledger what an earlier release did not make; nothing where nothing is missing.

    Raises:
        StorageError: the server cannot be reached, or there is no ledger.
    """
    journal, people = on_server(place)
    with closing(people), closing(journal), postgres.storage_errors(place.address):
        query = "SELECT to_regnamespace(%s) IS NULL"
        names = [quoted(postgres_token_tables.schema_of(place.schema))]
        ((is_missing,),) = journal.connection().execute(query, names).fetchall()
    roles = Roles.of(schema_of(place.schema))
    missing = postgres_token_tables.statements(place.schema, roles) if is_missing else []
    return f"BEGIN;\n{_script(missing)}COMMIT;\n" if missing else ""


def _recorder(place: ServerPlace) -> str:
    if user := postgres.user_of(place.address):
        return user
    raise StorageError(place.shown, "names no user who is to record: postgresql://USER@HOST/...")


def _making(place: ServerPlace) -> str:
    """The SQL that makes all schemas, within a transaction."""
    roles = Roles.of(schema_of(place.schema))
    journal = making(place.schema, Roles.of(place.schema), secrets.token_hex(16))
    return journal + _script([*statements(place.schema, roles), *postgres_token_tables.statements(place.schema, roles)])


def _script(statements: Sequence[str]) -> str:
    return "".join(f"{statement};\n" for statement in statements)


def _grant(schema: str, user: str) -> str:
    writers = (Roles.of(schema).writer, Roles.of(schema_of(schema)).writer)
    return f"GRANT {', '.join(map(quoted, writers))} TO {user}"


def make_on_server(place: ServerPlace, secret: bytes | None) -> tuple[PostgresJournal, PostgresPeople]:
    """Both stores, empty, made now or by somebody who may before.

    Args:
        place: where.
        secret: that of another ledger; None: a new one.

    Raises:
        StorageError: a ledger stands there already, or the user of the address may not make one.
    """
    with closing(postgres.connect(place.address)) as connection:
        schemas = (place.schema, schema_of(place.schema), postgres_token_tables.schema_of(place.schema))
        query = "SELECT count(*) FROM pg_namespace WHERE nspname = ANY(%s)"
        with postgres.storage_errors(place.address):
            ((number,),) = connection.execute(query, [list(schemas)]).fetchall()
            is_superuser = _is_superuser(connection)
        if number == 0:
            _make(place, connection, is_superuser=is_superuser)
    if is_superuser:
        raise StorageError(
            place.shown,
            "is the address of a superuser, who may change what is recorded, and so nobody records as one. The schemas "
            f"{', '.join(schemas[:-1])} and {schemas[-1]} are there: run '{_grant(place.schema, 'USER')}' for the user "
            "who is to record, and 'init' again with the address of that user",
        )
    journal, people = on_server(place)
    try:
        _refuse_entries(place, journal)
        people.take_secret(secret or new_secret())
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


def _make(place: ServerPlace, connection: Connection[Any], *, is_superuser: bool) -> None:
    """Make schemas and roles, all or nothing, and let the user of the address record in them."""
    script, user = _making(place), _recorder(place)
    if not is_superuser:  # who never records
        script += _grant(place.schema, quoted(user))
    try:
        with postgres.storage_errors(place.address), connection.transaction():
            connection.execute(script.encode())
    except StorageError as error:
        raise StorageError(
            place.shown,
            f"the user may not make the ledger's schemas and roles: 'init --sql' prints what somebody who may must run "
            f"first ({str(error).removeprefix(error.path).lstrip(': ')})",
        ) from error


def _is_superuser(connection: Connection[Any]) -> bool:
    return connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (True,)
