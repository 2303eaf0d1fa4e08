"""What is kept of tokens on a server: a ledger there with one entry, and ways to it as nodes have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ledger.facts.codec import assemble, canonical
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tokens import PostgresTokens
from ledger.journal.settings_file import ServerPlace
from ledger.journal.tokens_file import TokensFile
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place

AT = "2020-01-01T00:00:00.000Z"


def place_with_an_entry(server: Server) -> ServerPlace:
    """A ledger on a server that has begun, so that its tokens can be told from those of another."""
    place = new_place(server)
    body = assemble(1, AT, "contract", "test/1", "first", canonical({}))
    with closing(PostgresJournal(place.address, place.schema)) as journal, journal.writing() as writer:
        writer.append(["test/1"], ["first"], [body])
    return place


@contextmanager
def tokens_of_a_node(place: ServerPlace, folder: Path) -> Iterator[PostgresTokens]:
    """What is kept of the tokens of a ledger on a server, as a node has it whose files are in a folder."""
    with closing(PostgresJournal(place.address, place.schema)) as journal:
        yield PostgresTokens(journal, TokensFile(folder / "club.tokens.db", lambda: journal.root_at(1)))
