"""The journal on PostgreSQL is under the contract of every store, on the oldest version and on the newest."""

from collections.abc import Iterator

import pytest

from ledger.journal import Journal
from ledger.journal.postgres_store import PostgresJournal
from ledger.testing import JournalContract
from tests.kit.postgres import Server
from tests.kit.server_ledgers import SCHEMA, new_journal


class TestPostgresJournal(JournalContract):
    @pytest.fixture(autouse=True)
    def _server(self, each_server: Server) -> Iterator[None]:
        self.server = each_server
        self.addresses: dict[str, str] = {}
        self.journals: list[PostgresJournal] = []
        yield
        for journal in self.journals:
            journal.close()

    def opened(self, address: str) -> PostgresJournal:
        self.journals.append(PostgresJournal(address, SCHEMA))
        self.addresses[self.journals[-1].path] = address
        return self.journals[-1]

    def make(self) -> PostgresJournal:
        return self.opened(new_journal(self.server))

    def reopen(self, journal: Journal) -> Journal:
        assert isinstance(journal, PostgresJournal)
        return self.opened(self.addresses[journal.path])
