"""The store of the log of refusals, of sessions and of idempotency keys: a file, or tables on a server.

The journal itself issues tokens. An idempotency key names the proposals that were recorded under it, so that a repeat
records none. ``tokens`` decides what a token may do.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from itertools import starmap
from typing import Any, ClassVar, NamedTuple, Protocol

from ledger.auth.sessions import IDLE_MS, MOST, NOTED_EVERY_MS, SessionRow
from ledger.errors import StorageError

KEY_BYTES = 32
NOT_KEPT = "did not keep what was written: run 'audit', and have its operator look"
MOST_KEYS = 10_000  # that are remembered: a sender repeats within minutes or days
_OF_SESSION = ", ".join(SessionRow._fields)
_ALL = 2**62  # rows
Value = bytes | str | int | None


class TokenRow(NamedTuple):
    """A token as it is listed; the token itself cannot be derived from it.

    Attributes:
        number: from 1, in the order in which they were made.
        name: of the person.
        roles: words, in the order of ``Role``, divided by blanks.
        added_at: when it was made.
        revoked_at: when it was revoked; None while it holds.
        expires_at: the last instant at which it is taken; None where it does not expire.
        issued_by: who issued it.
        entry: position of the entry that issued it.
    """

    number: int
    name: str
    roles: str
    added_at: str
    revoked_at: str | None
    expires_at: str | None
    issued_by: str
    entry: int


class RefusalRow(NamedTuple):
    """A row of the log: a refused attempt, or a sign-in or sign-out at the desk.

    Attributes:
        number: from 1, in the order of time.
        at: when.
        tried: what.
        claimed: the name that was given; None without.
        token: number of the token that was shown, where it is one of this ledger.
        rule: the name of the refusal.
        reason: in words.
    """

    number: int
    at: str
    tried: str
    claimed: str | None
    token: int | None
    rule: str
    reason: str


class IdempotencyRow(NamedTuple):
    """An idempotency key in the store: the recorded or intended entries of an earlier request.

    Attributes:
        is_same: whether the same is sent now.
        entry: key of the first entry.
        reason: the commitment to its reason, which distinguishes it from another entry with its key.
        proposals: how many proposals were recorded together; their numbers follow each other.
    """

    is_same: bool
    entry: str
    reason: str
    proposals: int


class TokensDatabase(Protocol):
    """The open tables of a token store, which run SQL that SQLite and PostgreSQL share.

    ``{s}.sessions`` is a table, ``:name`` a value.
    """

    @property
    def key(self) -> bytes:
        """The key under which words are hashed."""

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""

    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement, and return the number of rows that it changed."""

    def run_in_turn(self, *statements: tuple[str, Mapping[str, Value]]) -> list[int]:
        """Run all SQL statements or none.

        One writer runs after another, so that each gives the next number.
        """


class TokenStore(ABC):
    """The refusals, sessions and idempotency keys of one ledger. If nothing was written yet, all answers are empty.

    Words and tokens are stored as hashes under a key of the store, so that they cannot be computed from it.

    Attributes:
        place: the store as messages name it, without a password.
        where: its ledger, as a message goes on after "no tokens are set up".
        keeps_claims: whether the log has names of people without a token, which ``forget`` takes out again.
    """

    place: str
    where: str
    keeps_claims: ClassVar[bool]

    @abstractmethod
    def warning(self) -> str | None:
        """Return a warning about other readers; None if there is none."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[TokensDatabase | None]:
        """Open the tables; None if nothing was written yet.

        Raises:
            StorageError: they are not ours, or of another ledger.
        """

    @abstractmethod
    def _writing(self) -> AbstractContextManager[TokensDatabase]:
        """Open the tables for writing, made now if necessary.

        Raises:
            StorageError: as for ``_reading``, or the store refuses.
        """

    def _check_kept(self, added: int) -> None:
        # A foreign trigger or rule can swallow a row without an error.
        if added != 1:
            raise StorageError(self.place, NOT_KEPT)

    # -- the log ---------------------------------------------------------------------------------------------------

    def log_refusal(self, at: str, tried: str, claimed: str | None, token: int | None, rule: str, reason: str) -> None:
        """Add a refused attempt to the log.

        On a server it is undone with a write transaction that is open and fails: the log is written before or after.

        Raises:
            StorageError: the store refuses, or did not keep it.
        """
        row = {"at": at, "tried": tried, "claimed": claimed, "token": token, "rule": rule, "reason": reason}
        insert = (
            "INSERT INTO {s}.refusals(number, at, tried, claimed, token, rule, reason) "
            "VALUES ((SELECT coalesce(max(number), 0) + 1 FROM {s}.refusals), :at, :tried, :claimed, :token, :rule, "
            ":reason)"
        )
        with self._writing() as database:
            (added,) = database.run_in_turn((insert, row))
        self._check_kept(added)

    def refusals(self, last: int | None = None) -> list[RefusalRow]:
        """Return the refused attempts and sign-ins, oldest first; only the *last* rows if a number is given."""
        query = f"SELECT {', '.join(RefusalRow._fields)} FROM {{s}}.refusals ORDER BY number DESC LIMIT :last"
        with self._reading() as database:
            rows = [] if database is None else database.rows(query, last=_ALL if last is None else last)
        return list(starmap(RefusalRow, rows))[::-1]

    def forget(self, names: Collection[str]) -> None:  # noqa: B027  # a store without claims has nothing to forget
        """Remove the names of an erased person from the log."""

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, word: str) -> SessionRow | None:
        """Return the session of a word, expired or not; None if there is none."""
        query = f"SELECT {_OF_SESSION} FROM {{s}}.sessions WHERE hash = :hash"
        with self._reading() as database:
            rows = [] if database is None else database.rows(query, hash=keyed_hash(database.key, word))
        return next(starmap(SessionRow, rows), None)

    def begin_session(self, word: str, session: SessionRow) -> None:
        """Store a session.

        Expired ones are deleted, and the oldest of the same token if there are too many.
        """
        now_ms = session.begun_ms
        # what began in the future was begun by a clock that was wrong
        expired = "DELETE FROM {s}.sessions WHERE ends_ms < :now OR used_ms < :idle OR begun_ms > :now"
        # SQLite has no OFFSET without a LIMIT
        oldest = (
            "DELETE FROM {s}.sessions WHERE hash IN (SELECT hash FROM {s}.sessions WHERE token = :token "
            "ORDER BY begun_ms DESC, used_ms DESC LIMIT :all OFFSET :others)"
        )
        # If the connection to a server was lost, all of it is done once more, and the session may be there already.
        insert = (
            f"INSERT INTO {{s}}.sessions(hash, {_OF_SESSION}) "
            f"VALUES (:hash, :{_OF_SESSION.replace(', ', ', :')}) ON CONFLICT (hash) DO NOTHING"
        )
        with self._writing() as database:
            database.run_in_turn(
                (expired, {"now": now_ms, "idle": now_ms - IDLE_MS}),
                (oldest, {"token": session.token, "all": _ALL, "others": MOST - 1}),
                (insert, {"hash": keyed_hash(database.key, word), **session._asdict()}),
            )

    def note_use(self, word: str, now_ms: int) -> None:
        """Store that a session is used, unless that was stored a moment ago."""
        update = "UPDATE {s}.sessions SET used_ms = :now WHERE hash = :hash AND used_ms <= :before"
        with self._writing() as database:
            database.run(update, now=now_ms, hash=keyed_hash(database.key, word), before=now_ms - NOTED_EVERY_MS)

    def end_session(self, word: str) -> None:
        """Delete a session."""
        with self._writing() as database:
            database.run("DELETE FROM {s}.sessions WHERE hash = :hash", hash=keyed_hash(database.key, word))

    # -- idempotency keys ------------------------------------------------------------------------------------------

    def find_request(self, word: str, content: bytes) -> IdempotencyRow | None:
        """Return the stored entries of an earlier request with the same idempotency key; None if there was none.

        The journal says whether it was recorded: a process that was stopped before may leave the row behind.

        Args:
            word: the idempotency key, with its sender.
            content: the request, compared with the earlier one.
        """
        query = "SELECT digest, entry, reason, proposals FROM {s}.sendings WHERE hash = :hash"
        with self._reading() as database:
            if database is None:
                return None
            for digest, *rest in database.rows(query, hash=keyed_hash(database.key, word)):
                return IdempotencyRow(hmac.digest(database.key, content, "sha256") == digest, *rest)
        return None

    def remember_key(self, word: str, content: bytes, entry: str, reason: str, proposals: int) -> None:
        """Store, durably, the idempotency key of a request with the entries that it is about to record.

        On a server it belongs to the write transaction that is open: both are committed, or neither.
        """
        # A row that is replaced gets the highest number: the last request is forgotten last.
        insert = (
            "INSERT INTO {s}.sendings(number, hash, digest, entry, reason, proposals) VALUES "
            "((SELECT coalesce(max(number), 0) + 1 FROM {s}.sendings), :hash, :digest, :entry, :reason, :proposals)"
        )
        oldest = "DELETE FROM {s}.sendings WHERE number <= (SELECT max(number) FROM {s}.sendings) - :most"
        with self._writing() as database:
            word_hash = keyed_hash(database.key, word)
            row = {"hash": word_hash, "digest": hmac.digest(database.key, content, "sha256")}
            _, added, _ = database.run_in_turn(
                ("DELETE FROM {s}.sendings WHERE hash = :hash", {"hash": word_hash}),
                (insert, {**row, "entry": entry, "reason": reason, "proposals": proposals}),
                (oldest, {"most": MOST_KEYS}),
            )
        self._check_kept(added)


def keyed_hash(key: bytes, word: str) -> bytes:
    """Return the HMAC-SHA256 of a word under the key of a store: without the key nobody can make it."""
    # Bytes of the environment that are no UTF-8 come as lone surrogates: a word of them is unknown, and no error.
    return hmac.digest(key, word.encode("utf-8", "surrogatepass"), "sha256")
