"""The error catalogue's cases about names on a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from ledger.players import postgres_people
from ledger.players.postgres_people import PostgresPeople
from ledger.runtime.lazy import psycopg
from tests.errors.postgres_cases import shared_server
from tests.kit.clubs import ClubOfTwo
from tests.kit.server_ledgers import SCHEMA, run_as_superuser

Provoke = Callable[[ClubOfTwo], object]
TWO = {"id:ann": "Ann", "id:bob": "Bob"}


def new_names() -> str:
    """The address of a new database with the names of Ann and Bob."""
    address = shared_server().new_database()
    with closing(PostgresPeople.create(address, SCHEMA)) as people:
        people.assign_numbers(TWO, "2020")
    return address


def opened(address: str) -> None:
    PostgresPeople(address, SCHEMA).close()


def numbered(address: str) -> None:
    """Give two more people numbers."""
    with closing(PostgresPeople(address, SCHEMA)) as people:
        people.assign_numbers({"id:zoe": "Zoe", "id:eve": "Eve"}, "2020")


def erased(address: str) -> None:
    """Erase Bob.

    It has an erasure's usual patience: on a shared server another program that just connects reads the catalogue of
    all databases, and such a transaction keeps old rows for a moment.
    """
    with closing(PostgresPeople(address, SCHEMA)) as people:
        people.erasures.begin([2], "officer")
        people.purge_or_refuse()


def secret_asked(address: str) -> None:
    with closing(PostgresPeople(address, SCHEMA)) as people:
        people.secret()


def changed(*statements: str, then: Callable[[str], None] = opened) -> Provoke:
    """Do something after the server's operator ran these statements, in which NAMES is the schema."""

    def provoke(_: ClubOfTwo) -> None:
        address = new_names()
        names = f"{SCHEMA}_names"
        run_as_superuser(shared_server(), address, *(statement.replace("NAMES", names) for statement in statements))
        then(address)

    return provoke


def by_a_reader(_: ClubOfTwo) -> None:
    address = new_names()
    database = address.rpartition("/")[2]
    user = f"reader_of_{database}"
    run_as_superuser(shared_server(), address, f"CREATE USER {user} IN ROLE {SCHEMA}_names_reader")
    with closing(PostgresPeople(shared_server().url(database, user), SCHEMA)) as people:
        people.assign_numbers({"id:zoe": "Zoe"}, "2020")


def made_twice(_: ClubOfTwo) -> None:
    PostgresPeople.create(new_names(), SCHEMA)


def still_read(_: ClubOfTwo) -> None:
    address = new_names()
    with pytest.MonkeyPatch.context() as patch, psycopg.connect(address) as reader:
        patch.setattr(postgres_people, "READER_SECONDS", 0.0)
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")
        erased(address)


SWALLOW = "CREATE FUNCTION NAMES.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
TRIGGER = "CREATE TRIGGER swallow BEFORE INSERT ON NAMES.people FOR EACH ROW WHEN (new.player = 4) EXECUTE FUNCTION "

NAMES_REFUSALS: dict[str, Provoke] = {
    "storage-names-no-schema": lambda _: opened(shared_server().new_database()),
    "storage-names-foreign": changed("DROP TABLE NAMES.about"),
    "storage-names-later-layout": changed("UPDATE NAMES.about SET layout = 9"),
    "storage-names-exist": made_twice,
    "storage-names-by-a-reader": by_a_reader,
    "storage-names-no-secret": changed("DELETE FROM NAMES.secret", then=secret_asked),
    "storage-names-swallowed": changed(SWALLOW, f"{TRIGGER} NAMES.swallow()", then=numbered),
    "storage-names-foreign-trigger": changed(SWALLOW, f"{TRIGGER} NAMES.swallow()", then=erased),
    "storage-names-foreign-index": changed("CREATE INDEX by_letters ON NAMES.people (upper(name))", then=erased),
    "storage-names-statistics": changed(
        "ALTER TABLE NAMES.people ALTER COLUMN name SET STATISTICS 100", "ANALYZE NAMES.people", then=erased
    ),
    "storage-names-still-read": still_read,
}
