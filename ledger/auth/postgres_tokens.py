"""The token store of a ledger on PostgreSQL, one for all of its nodes, over the session of the journal.

Every question and every change is one round trip, but for the first, which looks whether the tables are there and reads
the key. A change made while the journal's write transaction is open is part of it: what was sent is remembered if it
was recorded, and else is not. The tables are told in ``postgres_token_tables``.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from contextlib import closing
from itertools import starmap

from ledger.auth import token_store
from ledger.auth.postgres_token_tables import LAYOUT, PROGRAM, lock_of, schema_of, statements
from ledger.auth.sessions import IDLE_MS, MOST, NOTED_EVERY_MS, SessionRow
from ledger.auth.token_store import KEY_BYTES, NOT_KEPT, RefusalRow, SendingRow, keyed_hash
from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.runtime import postgres
from ledger.runtime.postgres import quoted, without_password
from ledger.runtime.postgres_session import ServerAnswer, ServerStatement

_STANDS = "SELECT to_regnamespace($1::text) IS NOT NULL"
LACKING = (
    "is not there: have its operator bring it back from a copy of the database; until then nobody signs in at the "
    "desk, and nothing refused is kept"
)
_OF_SESSION = ", ".join(SessionRow._fields)


class PostgresTokens:
    """The log, the sessions and the idempotency keys of one ledger on a server.

    Attributes:
        place: the schema as messages name it, without a password.
    """

    def __init__(self, journal: PostgresJournal) -> None:
        """Take the journal, over whose session everything is asked."""
        self._journal = journal
        self.place = f"{journal.path.rpartition(', schema ')[0]}, schema {schema_of(journal.schema)}"
        self._s = quoted(schema_of(journal.schema))
        self._key: bytes | None = None

    @classmethod
    def create(cls, address: str, schema: str, *, roles: Roles) -> None:
        """Make the empty schema.

        Args:
            address: of the database, for somebody who may make schemas.
            schema: of the journal.
            roles: of the names, which are there.

        Raises:
            StorageError: there is such a schema, or this user may not make one.
        """
        with (
            closing(postgres.connect(address)) as connection,
            postgres.storage_errors(without_password(address)),
            connection.transaction(),
        ):
            for statement in statements(schema, roles):
                connection.execute(statement.encode())

    @property
    def where(self) -> str:
        """The ledger, as a message goes on."""
        return f"for the ledger in {self.place}"

    def warning(self) -> str | None:
        """Return no warning: the server decides who may read it."""
        return None

    # -- the log ---------------------------------------------------------------------------------------------------

    # Whoever records adds to the log, and takes nothing out of it.
    keeps_claims = False

    def forget(self, names: Collection[str]) -> None:
        """Do nothing: no name stands there but those of people who have tokens."""

    def note(self, at: str, tried: str, claimed: str | None, token: int | None, rule: str, reason: str) -> None:
        """Write an attempt that was refused into the log.

        Within a write transaction that fails it is undone with that: the log is written before or after.
        """
        self._needed_key()
        claim = None if claimed is None else storable(claimed)
        (noted,) = self._change(
            ServerStatement(
                f"INSERT INTO {self._s}.refusals(number, at, tried, claimed, token, rule, reason) "
                "SELECT coalesce(max(number), 0) + 1, $1::text, $2::text, $3::text, $4::bigint, $5::text, $6::text "
                f"FROM {self._s}.refusals",
                [at, storable(tried), claim, token, rule, storable(reason)],
            )
        )
        self._check_kept(noted)

    def refusals(self, last: int | None = None) -> list[RefusalRow]:
        """The log in order of time; only the *last* ones where a number is given."""
        if self._known_key() is None:
            self._refuse_lack()
            return []
        (answer,) = self._journal.ask(
            ServerStatement(
                "SELECT number, at, tried, claimed, token, rule, reason "
                f"FROM {self._s}.refusals ORDER BY number DESC LIMIT $1",
                [last],
            )
        )
        return list(starmap(RefusalRow, answer.rows()))[::-1]

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, word: str) -> SessionRow | None:
        """The session of a word, over or not; None where there is none."""
        key = self._known_key()
        if key is None:
            return None
        query = f"SELECT {_OF_SESSION} FROM {self._s}.sessions WHERE hash = $1"
        (answer,) = self._journal.ask(ServerStatement(query, [keyed_hash(key, word)]))
        return next(starmap(SessionRow, answer.rows()), None)

    def begin_session(self, word: str, session: SessionRow) -> None:
        """Keep a session; those that are over go, and the oldest of the same token where there are too many."""
        now_ms = session.begun_ms
        self._change(
            ServerStatement(
                f"DELETE FROM {self._s}.sessions WHERE ends_ms < $1 OR used_ms < $2 OR begun_ms > $1",
                [now_ms, now_ms - IDLE_MS],
            ),
            ServerStatement(
                f"DELETE FROM {self._s}.sessions WHERE hash IN (SELECT hash FROM {self._s}.sessions WHERE token = $1 "
                "ORDER BY begun_ms DESC, used_ms DESC OFFSET $2)",
                # One less, for the one that begins.
                [session.token, MOST - 1],
            ),
            ServerStatement(
                # where the connection was lost all of it is done once more, and the session may stand there
                f"INSERT INTO {self._s}.sessions(hash, {_OF_SESSION}) VALUES ($1, $2, $3, $4, $5, $6, $7) "
                "ON CONFLICT (hash) DO NOTHING",
                [keyed_hash(self._needed_key(), word), *session],
            ),
        )

    def note_use(self, word: str, now_ms: int) -> None:
        """A session is used, which is written down where it was not a moment ago."""
        self._journal.run(
            ServerStatement(
                f"UPDATE {self._s}.sessions SET used_ms = $1 WHERE hash = $2 AND used_ms <= $3",
                [now_ms, keyed_hash(self._needed_key(), word), now_ms - NOTED_EVERY_MS],
            )
        )

    def end_session(self, word: str) -> None:
        """A session is over."""
        word_hash = keyed_hash(self._needed_key(), word)
        self._journal.run(ServerStatement(f"DELETE FROM {self._s}.sessions WHERE hash = $1", [word_hash]))

    # -- what was sent ---------------------------------------------------------------------------------------------

    def sending(self, word: str, content: bytes) -> SendingRow | None:
        """Return the intended entry of a request under a word; None: there was none."""
        key = self._known_key()
        if key is None:
            return None
        query = f"SELECT digest, entry, reason, proposals FROM {self._s}.sendings WHERE hash = $1"
        (answer,) = self._journal.ask(ServerStatement(query, [keyed_hash(key, word)]))
        for digest, *rest in answer.rows():
            return SendingRow(hmac.digest(key, content, "sha256") == digest, *rest)
        return None

    def remember_key(self, word: str, content: bytes, entry: str, reason: str, proposals: int) -> None:
        """Remember what is about to be recorded, in the transaction that is open: both stand then, or neither."""
        key = self._needed_key()
        word_hash = keyed_hash(key, word)
        _, noted, _ = self._change(
            ServerStatement(f"DELETE FROM {self._s}.sendings WHERE hash = $1", [word_hash]),
            ServerStatement(
                f"INSERT INTO {self._s}.sendings(number, hash, digest, entry, reason, proposals) "
                "SELECT coalesce(max(number), 0) + 1, $1::bytea, $2::bytea, $3::text, $4::text, $5::bigint "
                f"FROM {self._s}.sendings",
                [word_hash, hmac.digest(key, content, "sha256"), entry, reason, proposals],
            ),
            ServerStatement(
                f"DELETE FROM {self._s}.sendings WHERE number <= (SELECT max(number) FROM {self._s}.sendings) - $1",
                [token_store.MOST_SENDINGS],
            ),
        )
        self._check_kept(noted)

    # -- the schema ------------------------------------------------------------------------------------------------

    def _change(self, *statements: ServerStatement) -> list[ServerAnswer]:
        """Have statements done by one writer after another, so that each gives the next number; their answers.

        The lock is asked for first: each statement sees then what the writer before has committed.
        """
        return self._journal.run(ServerStatement(lock_of(schema_of(self._journal.schema))), *statements)[1:]

    def _check_kept(self, added: ServerAnswer) -> None:
        """A foreign trigger or rule can swallow a row without an error."""
        if added.count != 1:
            raise StorageError(self.place, NOT_KEPT)

    def _known_key(self) -> bytes | None:
        """The key of the hashes; None where nothing was written yet, or the tables are not there.

        Raises:
            StorageError: they are not ours, or of another ledger, or this user may not read them.
        """
        if self._key is None and self._stands():
            about, file = self._journal.ask(
                ServerStatement(f"SELECT program, layout FROM {self._s}.about"),
                ServerStatement(f"SELECT hash_key, ledger FROM {self._s}.file"),
            )
            self._check_about(about)
            for key, ledger in file.rows():
                if ledger != self._journal.root_at(1):
                    raise StorageError(self.place, "holds the tokens of another ledger: check the name of the schema")
                self._key = key
        return self._key

    def _needed_key(self) -> bytes:
        """The key, made now where nothing was written yet.

        Raises:
            StorageError: the tables are not there, or as for ``_known_key``.
        """
        if self._known_key() is None:
            self._refuse_lack()
            row = [secrets.token_bytes(KEY_BYTES), self._journal.root_at(1)]
            # whoever comes second goes on with the key of the first
            insert = f"INSERT INTO {self._s}.file(hash_key, ledger) VALUES ($1, $2) ON CONFLICT DO NOTHING"
            self._journal.run(ServerStatement(insert, row))
        key = self._known_key()
        if key is None:
            raise StorageError(self.place, NOT_KEPT)
        return key

    def _stands(self) -> bool:
        (answer,) = self._journal.ask(ServerStatement(_STANDS, [self._s]))
        return bool(answer.value())

    def _refuse_lack(self) -> None:
        if not self._stands():
            raise StorageError(self.place, LACKING)

    def _check_about(self, about: ServerAnswer) -> None:
        program, layout = next(iter(about.rows()), ("", 0))
        if program != PROGRAM:
            raise StorageError(self.place, "is not one of tokens, but another program's: check the name of the schema")
        if layout != LAYOUT:
            newer = "; it was made by a later version of this program: install that one" if layout > LAYOUT else ""
            raise StorageError(self.place, f"has layout {layout}, this program reads layout {LAYOUT}{newer}")


def storable(text: str) -> str:
    """A text as the server takes it: without the one sign that no text there has."""
    return text.replace("\0", "\\x00")
