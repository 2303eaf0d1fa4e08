"""The token store of a ledger on PostgreSQL, one for all of its nodes, over the session of the journal.

Every question and every change is one round trip, but for the first, which looks for the tables and reads the key. A
change made while the journal's write transaction is open is part of it: an idempotency key is remembered only if its
entries are recorded. ``postgres_token_tables`` defines the tables.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ledger.auth.postgres_token_tables import LAYOUT, PROGRAM, schema_of, writer_lock_sql
from ledger.auth.token_store import KEY_BYTES, NOT_KEPT, RefusalRow, TokenStore, Value
from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from ledger.runtime.postgres import quoted
from ledger.runtime.postgres_session import ServerStatement, numbered

_STANDS = "SELECT to_regnamespace($1::text) IS NOT NULL"
LACKING = (
    "is not there: have its operator bring it back from a copy of the database; until then nobody signs in at the "
    "desk, and nothing refused is kept"
)


class PostgresTokens(TokenStore):
    """The log, the sessions and the idempotency keys of one ledger on a server."""

    # Whoever records adds to the log, and takes nothing out of it: it names only people who have tokens.
    keeps_claims = False

    def __init__(self, journal: PostgresJournal) -> None:
        """Take the journal, whose session runs all statements."""
        self._journal = journal
        self.place = f"{journal.path.rpartition(', schema ')[0]}, schema {schema_of(journal.schema)}"
        self.where = f"for the ledger in {self.place}"
        self._s = quoted(schema_of(journal.schema))
        self._key: bytes | None = None

    def warning(self) -> str | None:
        """Return no warning: the server decides who may read it."""
        return None

    def refusals(self, last: int | None = None) -> list[RefusalRow]:
        """Return the log in order of time; only the *last* rows if a number is given."""
        if self._known_key() is None:
            self._refuse_lack()
        return super().refusals(last)

    # -- the database ----------------------------------------------------------------------------------------------

    @property
    def key(self) -> bytes:
        """The key under which words are hashed, once the tables are open."""
        assert self._key is not None
        return self._key

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""
        (answer,) = self._journal.ask(self._statement(query, values))
        return answer.rows()

    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement, and return the number of rows that it changed."""
        return self._journal.run(self._statement(statement, values))[0].count

    def run_in_turn(self, *statements: tuple[str, Mapping[str, Value]]) -> list[int]:
        """Run all SQL statements or none.

        One writer runs after another, so that each gives the next number.
        """
        # The lock is asked for first: each statement sees then what the writer before has committed.
        lock = ServerStatement(writer_lock_sql(schema_of(self._journal.schema)))
        answers = self._journal.run(lock, *(self._statement(sql, values) for sql, values in statements))
        return [answer.count for answer in answers[1:]]

    def _statement(self, query: str, values: Mapping[str, Value]) -> ServerStatement:
        sql, names = numbered(query.replace("{s}", self._s))
        texts = {name: without_nul(value) if isinstance(value, str) else value for name, value in values.items()}
        return ServerStatement(sql, [texts[name] for name in names])

    @contextmanager
    def _reading(self) -> Iterator[PostgresTokens | None]:
        yield None if self._known_key() is None else self

    @contextmanager
    def _writing(self) -> Iterator[PostgresTokens]:
        if self._known_key() is None:
            self._refuse_lack()
            # whoever comes second goes on with the key of the first
            self.run(
                "INSERT INTO {s}.file(hash_key, ledger) VALUES (:key, :ledger) ON CONFLICT DO NOTHING",
                key=secrets.token_bytes(KEY_BYTES),
                ledger=self._journal.root_at(1),
            )
            if self._known_key() is None:
                raise StorageError(self.place, NOT_KEPT)
        yield self

    def _known_key(self) -> bytes | None:
        """Return the key of the hashes; None if nothing was written yet, or the tables are missing."""
        if self._key is None and self._stands():
            about, file = self._journal.ask(
                ServerStatement(f"SELECT program, layout FROM {self._s}.about"),
                ServerStatement(f"SELECT hash_key, ledger FROM {self._s}.file"),
            )
            program, layout = next(iter(about.rows()), ("", 0))
            if program != PROGRAM:
                message = "is not one of tokens, but another program's: check the name of the schema"
                raise StorageError(self.place, message)
            if layout != LAYOUT:
                newer = "; it was made by a later version of this program: install that one" if layout > LAYOUT else ""
                raise StorageError(self.place, f"has layout {layout}, this program reads layout {LAYOUT}{newer}")
            for key, ledger in file.rows():
                if ledger != self._journal.root_at(1):
                    raise StorageError(self.place, "holds the tokens of another ledger: check the name of the schema")
                self._key = key
        return self._key

    def _stands(self) -> bool:
        (answer,) = self._journal.ask(ServerStatement(_STANDS, [self._s]))
        return bool(answer.value())

    def _refuse_lack(self) -> None:
        if not self._stands():
            raise StorageError(self.place, LACKING)


def without_nul(text: str) -> str:
    """Return a text as a server can store it: each NUL is written as an escape."""
    return text.replace("\0", "\\x00")
