"""The contract of what is kept of tokens, over the file and over each version of PostgreSQL that is here."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from ledger.auth.postgres_tokens import PostgresTokens
from ledger.auth.token_store import TokenStore
from ledger.auth.tokens_file import TokensFile
from ledger.facts.codec import assemble
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace
from tests.contracts.tokens_contract import TokenStoreContract
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place, run_sql_on

AT = "2020-01-01T00:00:00.000Z"


def place_with_an_entry(server: Server) -> ServerPlace:
    """A ledger on a server that has begun, so that its tokens can be told from those of another."""
    place = new_place(server)
    body = assemble(1, AT, "contract", "test/1", "first", b"{}")
    with closing(PostgresJournal(place.address, place.schema)) as journal, journal.writing() as writer:
        writer.append(["test/1"], ["first"], [body])
    return place


@contextmanager
def tokens_of_a_node(place: ServerPlace) -> Iterator[PostgresTokens]:
    """Yield the token store of a ledger on a server, as a node has it."""
    with closing(PostgresJournal(place.address, place.schema)) as journal:
        yield PostgresTokens(journal)


OURS, ANOTHER = bytes(32), bytes([1] * 32)  # first entries, by their leaves


class TestTokensFile(TokenStoreContract):
    @pytest.fixture(autouse=True)
    def _in_a_folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def opened(self, ledger: bytes) -> TokensFile:
        return TokensFile(self.folder / "club.tokens.db", lambda: ledger)

    @contextmanager
    def store(self) -> Iterator[TokenStore]:
        yield self.opened(OURS)

    @contextmanager
    def second(self) -> Iterator[TokenStore]:
        yield self.opened(OURS)

    @contextmanager
    def of_another_ledger(self) -> Iterator[TokenStore]:
        yield self.opened(ANOTHER)


class TestPostgresTokens(TokenStoreContract):
    @pytest.fixture(autouse=True)
    def _on_a_server(self, each_server: Server) -> None:
        self.server = each_server
        self.place = place_with_an_entry(each_server)

    def store(self) -> AbstractContextManager[TokenStore]:
        return tokens_of_a_node(self.place)

    def second(self) -> AbstractContextManager[TokenStore]:
        return tokens_of_a_node(self.place)

    @contextmanager
    def of_another_ledger(self) -> Iterator[TokenStore]:
        run_sql_on(self.server, self.place, "UPDATE club_tokens.file SET ledger = sha256(ledger)")
        with tokens_of_a_node(self.place) as other:
            yield other
