"""Two stores of names side by side: whatever is asked, a server finds the same people in the same order as a file."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.players import name_indexes, people
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.postgres_layout import WITH_NAMES, schema_of
from ledger.players.postgres_people import PostgresPeople
from ledger.players.sqlite_people import SqlitePeople
from tests.kit import postgres

pytestmark = pytest.mark.outside  # PostgreSQL

# Letters whose case, accents, order or width a collation would judge in a way of its own, and what patterns know.
ODD = (
    "aAbBzZéÉßẞıİiIøØŁłĳÆæςσΣЖждⅣⅳﬁ１é\u0301ñÑǅǆƵ中文あアｱ\U0001f600\U00010400\U00010428"
    "%_\\'\"*?[]().,:- ~\x7f\xa0\u2003"
)
words = st.text(ODD, min_size=1, max_size=9).filter(lambda text: bool(text.strip()))
namespaces = st.sampled_from(["name:", "Name:", "NAME:", "lichess:", "fide:", "id:", ""])
identities = st.builds(lambda namespace, word: namespace + word, namespaces, words)
rows = st.lists(st.tuples(identities, words), min_size=1, max_size=14, unique_by=lambda row: row[0])


@pytest.fixture(name="far", scope="module", params=["the oldest", "the newest"])
def _far(request: pytest.FixtureRequest) -> Iterator[PostgresPeople]:
    with postgres.running(postgres.needed(newest=request.param == "the newest")) as server:
        # a collation of the database would be English; the names have their own
        name = "odd_letters"
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' {_locale(server)}".encode())
        with closing(PostgresPeople.create(server.url(name), "club")) as made:
            yield made


def _locale(server: postgres.Server) -> str:
    """A locale that orders letters as English dictionaries do, where the server has one."""
    with psycopg.connect(server.url()) as connection:
        if connection.execute("SELECT FROM pg_collation WHERE collprovider = 'i' LIMIT 1").fetchone() is not None:
            return "LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'"
    return "LOCALE 'C.UTF-8'"


def emptied(far: PostgresPeople) -> PostgresPeople:
    with psycopg.connect(far._session().connection().info.dsn) as connection:
        tables = ", ".join(f"{schema_of('club')}.{table}" for table in WITH_NAMES)
        connection.execute(f"TRUNCATE {tables}".encode())
    far._older = None
    return far


def put(store: People, persons: list[Person]) -> None:
    """Rows as they stand, of whatever release."""
    with store.writing():
        store._insert(persons)


def answers(store: People, asked: list[str]) -> list[Any]:
    """Everything that can be asked about names."""

    def found(part: str) -> Any:
        try:
            return store.search.find(part)
        except MalformedError as error:
            return str(error)

    each: list[Callable[[str], Any]] = [
        store.find, store.suggest, found, lambda word: store.whole_names.players_named([word, word.lower()]),
        lambda word: store.by_identity([word, f"name:{word}", f"NAME:  {word}"]),
    ]  # fmt: skip
    return [
        *([(word, question(word)) for question in each] for word in asked),
        store.by_identity(asked), store.whole_names.all_players(), store.names(), store.identities_and_names(),
        store.identities(),
        list(store.iter_named()), list(store.iter_named(highest_first=True)), store.nameless(), store.counts(),
    ]  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    told=rows,
    further=st.lists(words, max_size=6),
    few=st.sampled_from([0, 3, 1_000]),
    compared=st.sampled_from([2, 5_000]),
)
@example(told=[("name:Straße", "Straße"), ("name:STRASSE", "STRASSE")], further=["%", "_", "\\", ""], few=0, compared=1)
def test_both_find_the_same_people_in_the_same_order(
    far: PostgresPeople, told: list[tuple[str, str]], further: list[str], few: int, compared: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_indexes, "_FEW", few)
        patch.setattr(people, "_COMPARED", compared)
        patch.setattr(
            "ledger.players.pending_changes.secrets.token_bytes", lambda size: b"s" * size
        )  # the same in both stores
        persons = [
            Person(player, identity, name, bytes([player]) * 16, "2020")
            for player, (identity, name) in enumerate(told, 1)
        ]
        asked = [*further, *(identity for identity, _ in told), *(name for _, name in told)]
        asked += [name.swapcase() for _, name in told] + [name[:4] for _, name in told]
        with closing(SqlitePeople.create(Path(folder) / "club.people.db")) as near:
            stores: list[People] = [near, emptied(far)]
            for store in stores:
                put(store, persons)
            assert answers(stores[1], asked) == answers(stores[0], asked)
            for store in stores:
                store.pending.apply(store.pending.begin(len(told), 1, asked[0] or "Zoe"))
                store.erasures.begin([1], "officer")
            assert answers(stores[1], asked) == answers(stores[0], asked)
