"""Names and journal in one database: what belongs together is committed together."""

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any, NamedTuple

import psycopg
import pytest

from ledger.errors import LedgerError, RejectedError, StorageError
from ledger.facts.instants import instant_text
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.transactions import Transaction
from ledger.players import erasing, renaming
from ledger.players.postgres_people import PostgresPeople
from ledger.players.verified_names import VerifiedNames, add_lost_players, lost_players
from ledger.recording.new_players import register
from tests.contracts.people_contract import everybody
from tests.kit.postgres import Server
from tests.kit.server_ledgers import as_superuser, new_journal, run_as_superuser

pytestmark = pytest.mark.outside  # PostgreSQL

NOW = 1_767_323_045_678


class StoppedError(Exception):
    """The program is stopped."""


class Pair(NamedTuple):
    """Journal and names on one connection, and another way to both."""

    journal: PostgresJournal
    people: PostgresPeople
    server: Server
    address: str

    def other_people(self) -> PostgresPeople:
        return PostgresPeople(self.address, "club")


@pytest.fixture(name="pair")
def _pair(each_server: Server) -> Iterator[Pair]:
    address = new_journal(each_server)
    PostgresPeople.create(as_superuser(each_server, address), "club").close()
    run_as_superuser(each_server, address, f"GRANT club_names_writer TO {address.split('//')[1].split('@')[0]}")
    with closing(PostgresJournal(address, "club")) as journal:
        people = PostgresPeople(address, "club", session=journal.session)
        yield Pair(journal, people, each_server, address)


def registered(pair: Pair, *names: str) -> None:
    with pair.journal.writing() as writer:
        named = {f"id:{name.lower()}": name for name in names}
        register(Transaction(writer, NOW, "club"), VerifiedNames(pair.journal, pair.people), named)


def test_newcomers_and_their_entries_are_committed_together_or_not_at_all(pair: Pair) -> None:
    registered(pair, "Ann", "Bob")
    assert (pair.journal.size(), pair.people.counts()) == (2, (2, 2))
    names = VerifiedNames(pair.journal, pair.people)
    with suppress(StoppedError), pair.journal.writing() as writer, closing(pair.other_people()) as other:
        register(Transaction(writer, NOW, "club"), names, {"id:zoe": "Zoe"})
        assert (writer.size, pair.people.counts(), other.counts()) == (3, (3, 3), (2, 2))
        raise StoppedError
    assert (pair.journal.size(), pair.people.counts()) == (2, (2, 2))
    registered(pair, "Eve")
    assert [(person.player, person.name) for person in everybody(pair.people)] == [(1, "Ann"), (2, "Bob"), (3, "Eve")]
    assert lost_players(pair.journal, pair.people) == {}
    assert names.verify(everybody(pair.people)[2]).name == "Eve"


def test_a_connection_that_is_lost_between_the_two_leaves_neither(pair: Pair) -> None:
    registered(pair, "Ann")
    names = VerifiedNames(pair.journal, pair.people)
    refusals: list[StorageError] = []
    try:
        with pair.journal.writing() as writer:
            register(Transaction(writer, NOW, "club"), names, {"id:zoe": "Zoe"})
            process = pair.journal.session().connection().info.backend_pid
            with psycopg.connect(pair.server.url(), autocommit=True) as operator:
                operator.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
            register(Transaction(writer, NOW, "club"), names, {"id:eve": "Eve"})
    except StorageError as error:
        refusals.append(error)
    assert len(refusals) == 1
    assert (pair.journal.size(), pair.people.counts()) == (1, (1, 1))
    registered(pair, "Zoe")
    assert (pair.journal.size(), pair.people.counts()) == (2, (2, 2))


def test_what_keeps_newcomers_out_leaves_the_rest_of_the_transaction(pair: Pair) -> None:
    def refuse(_: object) -> None:
        raise StorageError("names", "no")

    with pair.journal.writing() as writer:
        register(Transaction(writer, NOW, "club"), VerifiedNames(pair.journal, pair.people), {"id:ann": "Ann"})
        with pytest.raises(StorageError, match="no"):
            pair.people.assign_numbers({"id:bob": "Bob"}, instant_text(NOW), refuse)
    assert (pair.journal.size(), pair.people.counts()) == (1, (1, 1))
    assert pair.journal.head().size == 1


def test_a_player_is_renamed_and_erased(pair: Pair) -> None:
    registered(pair, "Ann", "Bob")
    renamed = renaming.rename(pair.journal, pair.people, 1, "Anna Lind", actor="club", clock_ms=lambda: NOW)
    assert (renamed.person.name, renamed.recorded, renamed.is_forgotten) == ("Anna Lind", True, True)
    names = VerifiedNames(pair.journal, pair.people)
    assert names.verify(pair.people.by_number([1])[1]).name == "Anna Lind"
    assert erasing.erase_persons(pair.journal, pair.people, [2], actor="club", clock_ms=lambda: NOW)
    assert everybody(pair.people)[1].is_erased
    assert (pair.people.erasures.rows(), pair.people.pending.rows(), pair.journal.size()) == ({}, [], 4)
    with pytest.raises(RejectedError, match="who player 2 was is forgotten"):
        renaming.rename(pair.journal, pair.people, 2, "Bob", actor="club", clock_ms=lambda: NOW)


@pytest.mark.parametrize("clock_ms", [lambda: 0], ids=["a clock that is behind"])
def test_who_is_not_recorded_as_erased_is_not_forgotten(pair: Pair, clock_ms: Any) -> None:
    registered(pair, "Ann")
    with pytest.raises(LedgerError):
        erasing.erase_persons(pair.journal, pair.people, [1], actor="club", clock_ms=clock_ms)
    assert everybody(pair.people)[0].name == "Ann"
    assert (pair.people.erasures.rows(), pair.journal.size()) == ({}, 1)


def test_names_that_are_lost_are_told_and_gone_on_without(pair: Pair) -> None:
    registered(pair, "Ann", "Bob")
    run_as_superuser(pair.server, pair.address, "DELETE FROM club_names.people WHERE player = 2")
    with pytest.raises(StorageError, match="knows nothing of 1 player whom the journal registered: 2 "):
        registered(pair, "Zoe")
    with pair.journal.writing():
        assert add_lost_players(pair.journal, pair.people) == 1
    registered(pair, "Zoe")
    assert [person.name for person in everybody(pair.people)] == ["Ann", None, "Zoe"]
