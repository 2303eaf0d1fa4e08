"""The check of a token store on a server: it finds rows that this program cannot have written or the journal denies.

Tokens, their roles and revocations are entries of the journal, and proven there. The other rows prove nothing:
sessions and idempotency keys come and go; the newest lines of the log may have been removed without a trace; and
people who may record there may add rows like any others. So rows are compared with the available facts: the form in
which they are written, numbers that count without a gap, and the entries that they name, or that were recorded with
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.audit.reader.snapshots import FIRST_FALSEHOODS, facts_of
from ledger.auth.postgres_token_tables import LAYOUT, PROGRAM, schema_of
from ledger.runtime import postgres
from ledger.runtime.lazy import psycopg
from ledger.runtime.postgres import quoted, without_password

if TYPE_CHECKING:
    from psycopg import Connection

_LONGEST_MS, _SLACK_MS = 12 * 60 * 60 * 1_000, 60 * 1_000  # of a session; between a look at the clock and the next
_INSTANT = r"'^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$'"
_NO_SUCH_TABLE = "42"  # how the SQLSTATE begins of what is not there as it was made, or may not be read

# By table, with the word for a row: the condition that every row meets which this program writes.
_FORMS: Mapping[str, tuple[str, str]] = {
    "refusals": (
        "line of the log",
        f"at ~ {_INSTANT} AND tried <> '' AND rule ~ '^[a-z]+(-[a-z]+)*$' AND coalesce(token > 0, true)",
    ),
    "sendings": (
        "row of what was sent",
        "number > 0 AND length(hash) = 32 AND length(digest) = 32 AND entry ~ '^proposal:[1-9][0-9]*@1$' "
        "AND reason ~ '^[0-9a-f]{64}$' AND proposals > 0",
    ),
}


class TokensVerdict(NamedTuple):
    """The findings of an audit about the token store, as sentences: of each kind of false rows the first 20."""

    faults: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


def verify_tokens(address: str, schema: str) -> TokensVerdict:
    """Compare the rows of the token store of a journal's schema with their format and the journal, in one snapshot.

    ``server_faults`` reports tables that are not as this program makes them; rows that cannot be read because of them,
    or for want of a right, are reported as not compared.

    Raises:
        StorageError: the server does not answer.
    """
    place = f"{without_password(address)}, schema {schema_of(schema)}"
    with closing(postgres.connect(address)) as connection, postgres.storage_errors(place):
        if not postgres.has_schema(connection, schema_of(schema)):
            return TokensVerdict()
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return _TokenRows(connection, schema).verdict()
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith(_NO_SUCH_TABLE):
                raise
            words = str(error.diag.message_primary)
            return TokensVerdict(not_compared=(f"what is kept of tokens: it cannot be read ({words})",))


class _TokenRows:
    """The token store and the journal's entries about tokens, in one snapshot."""

    def __init__(self, connection: Connection[Any], schema: str) -> None:
        self._connection = connection
        self._name = schema_of(schema)
        self._journal, self._s = quoted(schema), quoted(self._name)
        # By the range of their keys, which the index over keys gives: by kind alone the whole journal would be read.
        bodies = self._rows(
            f"SELECT position, body FROM {self._journal}.journal "
            "WHERE key >= 'token:' AND key < 'token;' AND kind = 'token-issued/1'"
        )
        self._issued = {position: facts_of(body) for position, body in bodies}
        self._keys = self._rows(f"SELECT hash_key, ledger FROM {self._s}.file")

    def verdict(self) -> TokensVerdict:
        faults = [*self._of_the_schema()]
        faults += self._gaps()
        for table, (word, condition) in _FORMS.items():
            query = f"SELECT number FROM {self._s}.{table} WHERE NOT ({condition})"
            numbers = self._rows(f"{query} ORDER BY number LIMIT {FIRST_FALSEHOODS}")
            faults += [f"{word} {number} holds what this program does not write" for (number,) in numbers]
        faults += islice(self._of_sessions(), FIRST_FALSEHOODS)
        return TokensVerdict(tuple(f"schema {self._name}: {fault}" for fault in faults))

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode()).fetchall()

    def _of_the_schema(self) -> Iterator[str]:
        """Yield the faults in the schema's description of itself and of its ledger."""
        about = self._rows(f"SELECT number, program, layout FROM {self._s}.about")
        if about != [(1, PROGRAM, LAYOUT)]:
            yield f"the table 'about' says {about} of it, in place of {[(1, PROGRAM, LAYOUT)]}"
        first = self._rows(f"SELECT body FROM {self._journal}.journal WHERE position = 1")
        leaves = [sha256(b"\x00" + body).digest() for (body,) in first]
        for _, ledger in self._keys:
            # The rows identify their ledger by the leaf of the first entry, which never changes.
            if ledger not in leaves:
                yield (
                    "its key is of another ledger, whose journal begins with another entry: nobody signs in, and "
                    "nothing refused is kept, until its operator has brought back the rows of this one"
                )
        holds = " OR ".join(f"EXISTS (SELECT FROM {self._s}.{table})" for table in (*_FORMS, "sessions"))
        if not self._keys and self._rows(f"SELECT {holds}") == [(True,)]:
            yield "the key is gone: no session and no idempotency key can be found by the rows there"

    def _gaps(self) -> Iterator[str]:
        """Yield a fault for each gap in the log, of which no row is ever deleted; those at the end leave no trace."""
        pairs = f"SELECT number, lag(number, 1, 0::bigint) OVER (ORDER BY number) AS before FROM {self._s}.refusals"
        query = (
            f"SELECT before, number FROM ({pairs}) AS pairs WHERE number <> before + 1 "
            f"ORDER BY number LIMIT {FIRST_FALSEHOODS}"
        )
        for before, number in self._rows(query):
            yield (
                f"after line of the log {before} follows {number}: nothing there is ever taken away, or gets another "
                "number"
            )

    def _of_sessions(self) -> Iterator[str]:
        query = f"SELECT token, entry, digest, begun_ms, used_ms, ends_ms, length(hash) FROM {self._s}.sessions"
        for token, entry, digest, begun, used, ends, length in self._rows(f"{query} ORDER BY begun_ms, hash"):
            whose = f"a session of token {token}"
            if length != 32 or not begun <= used <= ends + _SLACK_MS or ends - begun > _LONGEST_MS:
                yield f"{whose} holds what this program does not write: none lasts for more than twelve hours"
            facts = self._issued.get(entry, {})
            if (token, digest) != (facts.get("number"), facts.get("digest")):
                words = "nobody is taken for its person by that"
                yield f"{whose} is of another one than was issued by entry {entry}: {words}"
