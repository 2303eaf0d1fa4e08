"""The contract of stores of names, over the file of SQLite and over each version of PostgreSQL that is here."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from ledger.players.people import People
from ledger.players.postgres_people import PostgresPeople
from ledger.players.sqlite_people import SqlitePeople
from ledger.testing import PeopleContract
from tests.kit import postgres

_numbers = count(1)  # of schemas: to make one is quicker than to make a database


class TestSqlitePeople(PeopleContract):
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make(self) -> People:
        return SqlitePeople.create(self.folder / "club.people.db")

    def again(self, people: People) -> People:
        return SqlitePeople(people.path)


class TestPostgresPeople(PeopleContract):
    @pytest.fixture(autouse=True)
    def _on_a_server(self, each_server: postgres.Server) -> None:
        self.address, self.schema = each_server.url(), f"club{next(_numbers)}"

    def make(self) -> People:
        return PostgresPeople.create(self.address, self.schema)

    def again(self, _people: People) -> People:
        return PostgresPeople(self.address, self.schema)
