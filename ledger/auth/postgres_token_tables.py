"""The tables of the token store on PostgreSQL, and the rights to read and write them.

They stand in a schema of their own, ``SCHEMA_tokens``, which belongs to the owner of the names; whoever may write names
may write there, and nobody else may so much as read: hashes are nobody's business, and the log names people. There is
no role for readers. The tables are those of the file, with the same columns.
"""

from __future__ import annotations

from ledger.auth.token_store import KEY_BYTES
from ledger.journal.postgres_tables import Roles, as_owner, literal
from ledger.runtime.postgres import quoted

LAYOUT = 2
PROGRAM = "tokens of a rating ledger"
_TEXT = 'text COLLATE "C"'
_TABLES = f"""
CREATE TABLE {{s}}.about(
  number integer PRIMARY KEY CHECK(number = 1), program {_TEXT} NOT NULL, layout integer NOT NULL
);
CREATE TABLE {{s}}.file(
  number integer PRIMARY KEY DEFAULT 1 CHECK(number = 1),
  hash_key bytea NOT NULL CHECK(length(hash_key) = {KEY_BYTES}), ledger bytea NOT NULL CHECK(length(ledger) = 32)
);
CREATE TABLE {{s}}.refusals(
  number bigint PRIMARY KEY, at {_TEXT} NOT NULL, tried {_TEXT} NOT NULL, claimed {_TEXT}, token bigint,
  rule {_TEXT} NOT NULL, reason {_TEXT} NOT NULL
);
CREATE TABLE {{s}}.sessions(
  hash bytea PRIMARY KEY, token bigint NOT NULL, entry bigint NOT NULL, digest {_TEXT} NOT NULL,
  begun_ms bigint NOT NULL, used_ms bigint NOT NULL, ends_ms bigint NOT NULL
);
CREATE TABLE {{s}}.sendings(
  number bigint PRIMARY KEY, hash bytea NOT NULL UNIQUE, digest bytea NOT NULL, entry {_TEXT} NOT NULL,
  reason {_TEXT} NOT NULL, proposals bigint NOT NULL
);
"""
# The log is added to and never changed; which ledger it is, and the key, are written once.
WRITES = {
    "file": frozenset({"INSERT"}),
    "refusals": frozenset({"INSERT"}),
    "sessions": frozenset({"INSERT", "UPDATE used_ms", "DELETE"}),
    "sendings": frozenset({"INSERT", "DELETE"}),
}
# The commonest values of a column would be names, and hashes, for whoever may read the server's statistics.
_WITHOUT_STATISTICS = """
DO $ledger$
DECLARE
  place record;
BEGIN
  FOR place IN SELECT c.relname, a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a
    ON a.attrelid = c.oid WHERE c.relnamespace = {name}::regnamespace AND c.relkind = 'r' AND a.attnum > 0
  LOOP
    EXECUTE format('ALTER TABLE %s.%I ALTER COLUMN %I SET STATISTICS 0', {name}, place.relname, place.attname);
  END LOOP;
END $ledger$
"""


def schema_of(schema: str) -> str:
    """Return the name of the token schema of the ledger whose journal is in *schema*."""
    return f"{schema}_tokens"


def writer_lock_sql(schema_of_tokens: str) -> str:
    """Return the SQL that locks the token tables for one writer until its transaction ends."""
    return f"SELECT pg_advisory_xact_lock('{quoted(schema_of_tokens)}.file'::regclass::oid::bigint)"


def statements(schema: str, roles: Roles) -> list[str]:
    """Return the SQL that makes the token schema, in one transaction, once its roles exist.

    Args:
        schema: of the journal.
        roles: of the names, whose owner and writer have it.
    """
    s, owner, writer = quoted(schema_of(schema)), quoted(roles.owner), quoted(roles.writer)
    begin, end = as_owner(roles.owner)
    made = [
        begin,
        f"CREATE SCHEMA {s} AUTHORIZATION {owner}",
        f"SET LOCAL ROLE {owner}",
    ]
    made += [part.strip().replace("{s}", s) for part in _TABLES.split(";") if part.strip()]
    made.append(_WITHOUT_STATISTICS.strip().replace("{name}", literal(s)))
    made.append(f"GRANT USAGE ON SCHEMA {s} TO {writer}")
    made.append(f"GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO {writer}")
    for table, rights in WRITES.items():
        parted = (right.partition(" ") for right in sorted(rights))  # a privilege, and a column that it is on
        words = (f"{word} ({column})" if column else word for word, _, column in parted)
        made.append(f"GRANT {', '.join(words)} ON {s}.{table} TO {writer}")
    made.append(f"INSERT INTO {s}.about VALUES (1, {literal(PROGRAM)}, {LAYOUT})")
    return [*made, "RESET ROLE", end]
