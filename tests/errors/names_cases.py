"""The error catalogue's cases about names on a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import count

import pytest

from ledger.players import postgres_people
from ledger.players.postgres_people import PostgresPeople
from ledger.runtime.lazy import psycopg
from tests.errors.postgres_cases import shared_server
from tests.kit.clubs import ClubOfTwo

Provoke = Callable[[ClubOfTwo], object]
TWO = {"id:ann": "Ann", "id:bob": "Bob"}
_numbers = count(1)


def run(*statements: str) -> None:
    """Run statements as the server's operator."""
    with psycopg.connect(shared_server().url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def new_names() -> str:
    """The schema of a journal whose names are those of Ann and Bob."""
    schema = f"names_{next(_numbers)}"
    with closing(PostgresPeople.create(shared_server().url(), schema)) as people:
        people.number(TWO, "2020")
    return schema


def opened(schema: str) -> None:
    PostgresPeople(shared_server().url(), schema).close()


def numbered(schema: str) -> None:
    """Give two more people numbers."""
    with closing(PostgresPeople(shared_server().url(), schema)) as people:
        people.number({"id:zoe": "Zoe", "id:eve": "Eve"}, "2020")


def erased(schema: str) -> None:
    """Forget Bob."""
    with (
        pytest.MonkeyPatch.context() as patch,
        closing(PostgresPeople(shared_server().url(), schema)) as people,
    ):
        patch.setattr(postgres_people, "READER_SECONDS", 0.0)
        people.erasures.begin([2], "officer")
        people.clean_whole()


def secret_asked(schema: str) -> None:
    with closing(PostgresPeople(shared_server().url(), schema)) as people:
        people.secret()


def changed(*statements: str, then: Callable[[str], None] = opened) -> Provoke:
    """Do something after the server's operator ran these statements, in which NAMES is the schema."""

    def provoke(_: ClubOfTwo) -> None:
        schema = new_names()
        run(*(statement.replace("NAMES", f"{schema}_names") for statement in statements))
        then(schema)

    return provoke


def by_a_reader(_: ClubOfTwo) -> None:
    schema = new_names()
    run("DROP USER IF EXISTS reader", "CREATE USER reader", f"GRANT {schema}_names_reader TO reader")
    with closing(PostgresPeople(shared_server().url(user="reader"), schema)) as people:
        people.number({"id:zoe": "Zoe"}, "2020")


def made_twice(_: ClubOfTwo) -> None:
    PostgresPeople.create(shared_server().url(), new_names())


def still_read(_: ClubOfTwo) -> None:
    schema = new_names()
    with psycopg.connect(shared_server().url()) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")
        erased(schema)


SWALLOW = "CREATE FUNCTION NAMES.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
TRIGGER = "CREATE TRIGGER swallow BEFORE INSERT ON NAMES.people FOR EACH ROW WHEN (new.player = 4) EXECUTE FUNCTION "

NAMES_REFUSALS: dict[str, Provoke] = {
    "storage-names-no-schema": lambda _: opened("names_0"),
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
