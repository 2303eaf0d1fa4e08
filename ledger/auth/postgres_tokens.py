"""What is kept of tokens of a ledger on PostgreSQL, one for all of its nodes, over the session of the journal.

Every question and every change is one round trip, but for the first, which looks whether the tables are there and reads
the key. A change made while the journal's write transaction is open is part of it: what was sent is remembered if it
was recorded, and else is not. The tables are told in ``postgres_token_tables``.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from ledger.auth import token_store
from ledger.auth.postgres_token_tables import LAYOUT, PROGRAM, lock_of, schema_of, statements
from ledger.auth.sessions import IDLE_MS, MOST, NOTED_EVERY_MS, SessionRow
from ledger.auth.token_store import KEY_BYTES, NOT_KEPT, RefusalRow, SendingRow, TokenRow, keyed_hash
from ledger.auth.tokens_file import TokensFile
from ledger.errors import StorageError
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.runtime import postgres
from ledger.runtime.postgres import quoted, without_password
from ledger.runtime.postgres_session import BIGINT, ServerAnswer, ServerStatement, Value, array, bigint, number

_STANDS = "SELECT (to_regnamespace($1::text) IS NOT NULL)::integer"
LACKING = (
    "is not there, for the ledger was made by an earlier release: have somebody who may make schemas run what "
    "'rating-ledger init {name} --sql' prints; until then nobody signs in at the desk, and nothing refused is kept"
)
_NUMBERS = "number, name, roles, added_at, revoked_at"
_OF_SESSION = ", ".join(SessionRow._fields)


class PostgresTokens:
    """What is kept of the tokens of one ledger on a server.

    Attributes:
        path: of the file that a release before this kept on this machine. Tokens of an earlier release that stand in
            it, and nowhere on the server, count on this machine until the journal issues the first.
        place: the schema as messages name it, without a password.
    """

    def __init__(self, journal: PostgresJournal, file: TokensFile) -> None:
        """Take the journal, in whose session everything is asked, and the file that may stand on this machine."""
        self._journal, self._file = journal, file
        self.path: Path = file.path
        self.place = f"{journal.path.rpartition(', schema ')[0]}, schema {schema_of(journal.schema)}"
        self._s = quoted(schema_of(journal.schema))
        self._key: bytes | None = None
        self._has_tokens = True  # of earlier releases, as far as is known: none come by recording

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
        """Nothing is to be said: who may read it is the server's to say."""
        return None

    # -- tokens of earlier releases --------------------------------------------------------------------------------

    def rows(self) -> list[TokenRow]:
        """Every token, in order; those that were revoked too."""
        return [row for _, row in self._tokens()] or self._file.rows()

    def find(self, token: str) -> TokenRow | None:
        """The row of a token; None where it is none of these. Every hash is compared, each in constant time."""
        tokens = self._tokens()
        if not tokens:
            return self._file.find(token)
        token_hash = keyed_hash(self._needed_key(), token)
        met = [row for row_hash, row in tokens if hmac.compare_digest(row_hash, token_hash)]
        return met[0] if met else None

    def hashes(self) -> dict[int, tuple[bytes, bytes]]:
        """By number, the key under which a token was hashed, and the hash."""
        tokens = self._tokens()
        if not tokens:
            return self._file.hashes()
        key = self._needed_key()
        return {row.number: (key, token_hash) for token_hash, row in tokens}

    def _tokens(self) -> list[tuple[bytes, TokenRow]]:
        """Each token on the server with its hash; asked once where there are none, for each entry asks for them."""
        if not self._has_tokens or self._known_key() is None:
            self._has_tokens = False
            return []
        (answer,) = self._journal.ask(ServerStatement(f"SELECT hash, {_NUMBERS} FROM {self._s}.tokens ORDER BY number"))
        self._has_tokens = answer.count > 0
        return [
            (
                token_hash or b"",
                TokenRow(number(count), _text(name), _text(roles), _text(added), _text_or_none(revoked)),
            )
            for token_hash, count, name, roles, added, revoked in answer.rows()
        ]

    def add(self, name: str, roles: str, token: str, at: str) -> int:
        """Keep a token as earlier releases did; returns its number."""
        values: list[Value] = [storable(name), roles, keyed_hash(self._needed_key(), token), at]
        (added,) = self._change(
            ServerStatement(
                f"INSERT INTO {self._s}.tokens(number, name, roles, hash, added_at) "
                "SELECT coalesce(max(number), 0) + 1, $1::text, $2::text, $3::bytea, $4::text "
                f"FROM {self._s}.tokens RETURNING number",
                values,
            )
        )
        self._has_tokens = True
        return number(added.column()[0])

    def revoke(self, numbers: list[int], at: str) -> None:
        """Tokens hold no longer, from now on."""
        if not self._tokens():
            self._file.revoke(numbers, at)
            return
        self._change(
            ServerStatement(
                f"UPDATE {self._s}.tokens SET revoked_at = $1 WHERE number = ANY($2::bigint[]) AND revoked_at IS NULL",
                [at, array(BIGINT, map(bigint, numbers))],
            )
        )

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
        rows = [
            RefusalRow(
                number(place), _text(at), _text(tried), _text_or_none(claimed),
                None if token is None else number(token), _text(rule), _text(reason),
            )
            for place, at, tried, claimed, token, rule, reason in answer.rows()
        ]  # fmt: skip
        return rows[::-1]

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, word: str) -> SessionRow | None:
        """The session of a word, over or not; None where there is none."""
        key = self._known_key()
        if key is None:
            return None
        query = f"SELECT {_OF_SESSION} FROM {self._s}.sessions WHERE hash = $1"
        (answer,) = self._journal.ask(ServerStatement(query, [keyed_hash(key, word)]))
        for token, entry, digest, begun, used, ends in answer.rows():
            issued = None if entry is None else number(entry)
            return SessionRow(number(token), issued, _text(digest), number(begun), number(used), number(ends))
        return None

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
        self._journal.change(
            ServerStatement(
                f"UPDATE {self._s}.sessions SET used_ms = $1 WHERE hash = $2 AND used_ms <= $3",
                [now_ms, keyed_hash(self._needed_key(), word), now_ms - NOTED_EVERY_MS],
            )
        )

    def end_session(self, word: str) -> None:
        """A session is over."""
        word_hash = keyed_hash(self._needed_key(), word)
        self._journal.change(ServerStatement(f"DELETE FROM {self._s}.sessions WHERE hash = $1", [word_hash]))

    # -- what was sent ---------------------------------------------------------------------------------------------

    def sending(self, word: str, content: bytes) -> SendingRow | None:
        """What was to be recorded of what was sent under a word; None: nothing was sent."""
        key = self._known_key()
        if key is None:
            return None
        query = f"SELECT digest, entry, reason, proposals FROM {self._s}.sendings WHERE hash = $1"
        (answer,) = self._journal.ask(ServerStatement(query, [keyed_hash(key, word)]))
        for digest, entry, reason, proposals in answer.rows():
            is_same = hmac.digest(key, content, "sha256") == digest
            return SendingRow(is_same, _text(entry), _text(reason), number(proposals))
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
        return self._journal.change(ServerStatement(lock_of(schema_of(self._journal.schema))), *statements)[1:]

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
            self._journal.change(ServerStatement(insert, row))
        key = self._known_key()
        if key is None:
            raise StorageError(self.place, NOT_KEPT)
        return key

    def _stands(self) -> bool:
        (answer,) = self._journal.ask(ServerStatement(_STANDS, [self._s]))
        return bool(number(answer.column()[0]))

    def _refuse_lack(self) -> None:
        if not self._stands():
            name = self.path.name.replace(".tokens", "", 1)
            raise StorageError(self.place, LACKING.format(name=name))

    def _check_about(self, about: ServerAnswer) -> None:
        program, layout = next(((_text(word), number(of)) for word, of in about.rows()), ("", 0))
        if program != PROGRAM:
            raise StorageError(self.place, "is not one of tokens, but another program's: check the name of the schema")
        if layout != LAYOUT:
            raise StorageError(
                self.place,
                f"has layout {layout}, this program reads layout {LAYOUT}; it was made by a later version of this "
                "program: install that one",
            )


def _text(value: bytes | None) -> str:
    return (value or b"").decode()


def _text_or_none(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def storable(text: str) -> str:
    """A text as the server takes it: without the one sign that no text there has."""
    return text.replace("\0", "\\x00")
