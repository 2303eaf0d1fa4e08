"""The contract of stores of names, over the file of SQLite and over each version of PostgreSQL that is here."""

from pathlib import Path

import pytest

from ledger.players.people import People
from ledger.players.postgres_people import PostgresPeople
from ledger.players.sqlite_people import SqlitePeople
from tests.contracts.people_contract import PeopleContract
from tests.kit.postgres import Server, new_copy


class TestSqlitePeople(PeopleContract):
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> People:
        return SqlitePeople.create(self.folder / "club.people.db")

    def again(self, people: People) -> People:
        return SqlitePeople(people.path)


def make_people(address: str) -> None:
    PostgresPeople.create(address, "club").close()


class TestPostgresPeople(PeopleContract):
    @pytest.fixture(autouse=True)
    def _on_a_server(self, each_server: Server) -> None:
        self.address = new_copy(each_server, make_people)

    def make(self) -> People:
        return PostgresPeople(self.address, "club")

    def again(self, _people: People) -> People:
        return PostgresPeople(self.address, "club")
