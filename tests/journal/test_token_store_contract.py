"""The contract of what is kept of tokens, over the file and over each version of PostgreSQL that is here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ledger.journal.token_store import TokenStore
from ledger.journal.tokens_file import TokensFile
from ledger.testing import TokenStoreContract
from tests.kit.postgres import Server
from tests.kit.server_ledgers import run_sql_on
from tests.kit.token_stores import place_with_an_entry, tokens_of_a_node

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
    def _on_a_server(self, each_server: Server, tmp_path: Path) -> None:
        self.server, self.folder = each_server, tmp_path
        self.place = place_with_an_entry(each_server)

    def store(self) -> AbstractContextManager[TokenStore]:
        return tokens_of_a_node(self.place, self.folder)

    def second(self) -> AbstractContextManager[TokenStore]:
        return tokens_of_a_node(self.place, self.folder)

    @contextmanager
    def of_another_ledger(self) -> Iterator[TokenStore]:
        run_sql_on(self.server, self.place, "UPDATE club_tokens.file SET ledger = sha256(ledger)")
        with tokens_of_a_node(self.place, self.folder) as other:
            yield other
