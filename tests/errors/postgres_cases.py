"""The error catalogue's cases about journals on PostgreSQL."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.runtime import lazy, postgres
from ledger.testing.journal_contract import append_entries, encode_entry, fill_journal
from tests.kit.clubs import ClubOfTwo
from tests.kit.poolers import pooling
from tests.kit.postgres import Server, needed, running
from tests.kit.server_ledgers import SCHEMA, as_reader, as_superuser, new_journal, run_as_superuser

Provoke = Callable[[ClubOfTwo], object]


_servers: list[Server] = []


def use_server(server: Server) -> None:
    """Take the server on which the cases that follow provoke their refusals."""
    _servers[:] = [server]


def shared_server() -> Server:
    """Return it; the role ``locked`` needs a password there."""
    return _servers[0]


def opened(address: str, **words: Any) -> None:
    """Open a journal, and close it again."""
    PostgresJournal(address, SCHEMA, **words).close()


def recorded(address: str) -> None:
    """Add one entry."""
    with closing(PostgresJournal(address, SCHEMA)) as journal, journal.writing() as writer:
        append_entries(writer, encode_entry(writer.size + 1))


def changed(*statements: str, then: Callable[[str], None] = opened) -> Provoke:
    """Open a journal after the server's operator ran these statements; WRITER is the one who records."""

    def provoke(_: ClubOfTwo) -> None:
        address = new_journal(shared_server())
        user = address.partition("//")[2].partition("@")[0]
        run_as_superuser(shared_server(), address, *(statement.replace("WRITER", user) for statement in statements))
        then(address)

    return provoke


def with_password(password: str) -> Provoke:
    def provoke(_: ClubOfTwo) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGPASSWORD", password)
            patch.setenv("PGPASSFILE", "/no/such/file")
            opened(shared_server().url(user="locked"))

    return provoke


def without_psycopg(_: ClubOfTwo) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "psycopg_conninfo", type(lazy.tqdm)("psycopg_that_nobody_installed"))
        opened("postgresql://ledger@db1/chess")


def too_old(_: ClubOfTwo) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "OLDEST", 99)
        opened(shared_server().url())


def without_fsync(_: ClubOfTwo) -> None:
    with running(needed(), fsync="off") as server:
        opened(server.url())


def on_a_standby(address: Callable[[Server], str]) -> Provoke:
    """Open a journal on a server that waits for what a leader would send it."""

    def provoke(_: ClubOfTwo) -> None:
        with running(needed()) as server:
            server.stop()
            (server.folder / "data" / "standby.signal").touch()
            server.start(unix_socket_directories=str(server.folder), listen_addresses="127.0.0.1")
            opened(address(server))

    return provoke


def behind_one_that_is_gone(server: Server) -> str:
    """An address of two servers, of which nobody is at the first."""
    return server.url().replace("127.0.0.1", "127.0.0.1:1,127.0.0.1")


def behind_a_pooler(_: ClubOfTwo) -> None:
    server = shared_server()
    address = new_journal(server)
    with pooling(server, by_transaction=True) as port:
        opened(address.replace(str(server.port), str(port)))


def exists_already(_: ClubOfTwo) -> None:
    server = shared_server()
    address = as_superuser(server, new_journal(server))
    PostgresJournal.create(address, SCHEMA, roles=Roles.of("other"))


def may_not_make(_: ClubOfTwo) -> None:
    address = new_journal(shared_server())
    PostgresJournal.create(address, "second", roles=Roles.of("second"))


def server_killed(_: ClubOfTwo) -> None:
    with (
        running(needed()) as server,
        closing(PostgresJournal(new_journal(server), SCHEMA)) as journal,
        journal.writing() as writer,
    ):
        append_entries(writer, encode_entry(1))
        server.kill()


def cut_off(_: ClubOfTwo) -> None:
    """The last entries are gone, from a journal that a process knows."""
    server = shared_server()
    address = new_journal(server)
    with closing(PostgresJournal(address, SCHEMA)) as journal:
        fill_journal(journal, (5,))
        run_as_superuser(
            server, address, f"ALTER TABLE {SCHEMA}.journal DISABLE TRIGGER USER",
            f"DELETE FROM {SCHEMA}.journal WHERE position > 3",
        )  # fmt: skip
        with journal.writing():
            pass


def missing_nodes(_: ClubOfTwo) -> None:
    server = shared_server()
    address = new_journal(server)
    with closing(PostgresJournal(address, SCHEMA)) as journal:
        fill_journal(journal, (300,))
    run_as_superuser(server, address, f"ALTER TABLE {SCHEMA}.nodes DISABLE TRIGGER USER", f"DELETE FROM {SCHEMA}.nodes")
    with closing(PostgresJournal(address, SCHEMA)) as journal:
        journal.head()


def another_writes(_: ClubOfTwo) -> None:
    address = new_journal(shared_server())
    with (
        closing(PostgresJournal(address, SCHEMA)) as first,
        closing(PostgresJournal(address, SCHEMA)) as second,
        first.writing(),
        second.writing(patience=0),
    ):
        pass


def closed(_: ClubOfTwo) -> None:
    journal = PostgresJournal(new_journal(shared_server()), SCHEMA)
    journal.close()
    journal.size()


POSTGRES_REFUSALS: dict[str, Provoke] = {
    "storage-postgres-no-psycopg": without_psycopg,
    "storage-postgres-no-address": lambda _: opened("postgresql://ledger@db1:/chess?hoster=1"),
    "storage-postgres-password-shown": lambda _: opened("postgresql://ledger:pa/ss@wo:rd@db1/chess"),
    "storage-postgres-no-server": lambda _: opened("postgresql://ledger@127.0.0.1:1/chess"),
    "storage-postgres-wrong-password": with_password("wrong"),
    "storage-postgres-no-password": with_password(""),
    "storage-postgres-no-database": lambda _: opened(shared_server().url("chess")),
    "storage-postgres-no-role": lambda _: opened(shared_server().url(user="nobody")),
    "storage-postgres-too-old": too_old,
    "storage-postgres-not-utf8": lambda _: opened(shared_server().new_database("LATIN1")),
    "storage-postgres-no-fsync": without_fsync,
    "storage-postgres-standby": on_a_standby(Server.url),
    "storage-postgres-nobody-leads": on_a_standby(behind_one_that_is_gone),
    "storage-postgres-pooler": behind_a_pooler,
    "storage-postgres-read-only": changed("ALTER ROLE WRITER SET default_transaction_read_only = on"),
    "storage-postgres-no-schema": lambda _: opened(shared_server().new_database()),
    "storage-postgres-no-ledger": changed(f"DROP SCHEMA {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}",
                                          f"GRANT USAGE ON SCHEMA {SCHEMA} TO PUBLIC"),
    "storage-postgres-other-program": changed(
        f"ALTER TABLE {SCHEMA}.about DISABLE TRIGGER USER",
        f"UPDATE {SCHEMA}.about SET value = 'shop' WHERE name = 'program'",
    ),
    "storage-postgres-later-layout": changed(
        f"ALTER TABLE {SCHEMA}.about DISABLE TRIGGER USER",
        f"UPDATE {SCHEMA}.about SET value = '9' WHERE name = 'layout'",
    ),
    "storage-postgres-another-ledger": lambda _: opened(new_journal(shared_server()), identity="0" * 32),
    "storage-postgres-may-not-read": changed(f"REVOKE USAGE ON SCHEMA {SCHEMA} FROM \"WRITER\"",
                                             "CREATE USER \"stranger_WRITER\"",
                                             then=lambda address: opened(address.replace("//", "//stranger_"))),
    "storage-postgres-may-only-read": changed(then=lambda address: recorded(as_reader(address))),
    "storage-postgres-may-change": changed(then=lambda address: recorded(as_superuser(shared_server(), address))),
    "storage-postgres-may-not-make": may_not_make,
    "storage-postgres-exists": exists_already,
    "storage-postgres-foreign-trigger": changed(
        "CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        f"CREATE TRIGGER swallow BEFORE INSERT ON {SCHEMA}.journal FOR EACH ROW EXECUTE FUNCTION public.swallow()",
        then=recorded,
    ),
    "storage-postgres-guard-off": changed(
        f"ALTER TABLE {SCHEMA}.journal DISABLE TRIGGER journal_never_changes", then=recorded
    ),
    "storage-postgres-guard-gone": changed(f"DROP TRIGGER texts_never_changes ON {SCHEMA}.texts", then=recorded),
    "storage-postgres-unlogged": changed(f"ALTER TABLE {SCHEMA}.nodes SET UNLOGGED", then=recorded),
    "storage-postgres-another-writes": another_writes,
    "storage-postgres-lost": server_killed,
    "storage-postgres-closed": closed,
    "corrupt-postgres-entry-gone": cut_off,
    "corrupt-postgres-missing-nodes": missing_nodes,
}  # fmt: skip
