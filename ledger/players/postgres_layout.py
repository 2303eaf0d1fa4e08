"""The schema of names on a server of PostgreSQL: tables, roles and functions, and the detection of foreign objects.

The names are in a schema of their own, ``SCHEMA_names``, with three roles that may not log in and are granted to
those who may: the owner, to whom all belongs; the writer, who stores, renames and erases; the reader. Only the owner
may delete rows of people. The server has no statistics of any column here: the commonest values and the bounds of
the others would be names, readable for everybody who may read the statistics, and there after an erasure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ledger.errors import StorageError
from ledger.journal.postgres_tables import Roles, as_owner, literal
from ledger.players.persons import SECRET_BYTES
from ledger.runtime import postgres
from ledger.runtime.postgres import quoted

if TYPE_CHECKING:
    from psycopg import Connection

LAYOUT = 1
PROGRAM = "names of a rating ledger"
# The tables whose rows may be erased, each rewritten in the order of its primary key.
WITH_NAMES = ("people", "renaming", "reasons", "people_folds", "people_search")
_TEXT = 'text COLLATE "C"'  # by code points, as everywhere; no other rule decides who comes first
_TABLES = f"""
CREATE TABLE {{s}}.about(
  number integer PRIMARY KEY CHECK(number = 1), program {_TEXT} NOT NULL, layout integer NOT NULL
);
CREATE TABLE {{s}}.people(
  player bigint PRIMARY KEY, identity {_TEXT} UNIQUE, name {_TEXT}, salt bytea, joined_at {_TEXT} NOT NULL
);
CREATE TABLE {{s}}.renaming(
  player bigint PRIMARY KEY, number integer NOT NULL, name {_TEXT} NOT NULL, salt bytea NOT NULL
);
CREATE TABLE {{s}}.erasing(player bigint PRIMARY KEY, actor {_TEXT} NOT NULL);
CREATE TABLE {{s}}.reasons(
  number bigint PRIMARY KEY, commitment {_TEXT} NOT NULL UNIQUE, entry {_TEXT} NOT NULL, salt bytea, text {_TEXT}
);
CREATE TABLE {{s}}.secret(
  number integer PRIMARY KEY CHECK(number = 1), secret bytea NOT NULL CHECK(length(secret) = {SECRET_BYTES})
);
CREATE TABLE {{s}}.changes(number bigint PRIMARY KEY, writer bigint NOT NULL);
CREATE TABLE {{s}}.people_folds(player bigint PRIMARY KEY, name {_TEXT} NOT NULL);
CREATE INDEX people_folds_by_name ON {{s}}.people_folds(name);
CREATE TABLE {{s}}.people_search(player bigint PRIMARY KEY, words {_TEXT} NOT NULL, trigrams bigint[] NOT NULL);
CREATE INDEX people_search_by_trigram ON {{s}}.people_search USING gin (trigrams);
"""
# VACUUM FULL is for owners alone and is not allowed in functions; CLUSTER rewrites the same, and can be lent to a
# writer.
_REWRITTEN = """
CREATE FUNCTION {s}.written_anew(which text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT which = ANY('{{{tables}}}') THEN
    RAISE EXCEPTION 'no table of names: %', which;
  END IF;
  EXECUTE format('CLUSTER (VERBOSE) %I.%I USING %I', {name}, which, which || '_pkey');
END $$
"""
# The type of a column is set to what it is: that writes nothing, and takes away what the server had made of it.
_WITHOUT_STATISTICS = """
CREATE FUNCTION {s}.without_statistics() RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place record;
  emptied text[] := '{{}}';
BEGIN
  FOR place IN
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attcollation,
      EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = n.nspname AND s.tablename = c.relname
        AND s.attname = a.attname) AS is_told
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = {name} AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  LOOP
    IF place.is_told THEN
      EXECUTE format('ALTER TABLE %I.%I ALTER COLUMN %I TYPE %s %s', {name}, place.relname, place.attname, place.type,
        CASE WHEN place.attcollation <> 0 THEN 'COLLATE pg_catalog."C"' ELSE '' END);
      emptied := emptied || format('%s.%s', place.relname, place.attname);
    END IF;
    EXECUTE format('ALTER TABLE %I.%I ALTER COLUMN %I SET STATISTICS 0', {name}, place.relname, place.attname);
  END LOOP;
  RETURN emptied;
END $$
"""
_GRANTS = """
GRANT USAGE ON SCHEMA {s} TO {writer}, {reader};
GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO {writer}, {reader};
GRANT INSERT, UPDATE (identity, name, salt) ON {s}.people TO {writer};
GRANT INSERT, UPDATE, DELETE ON {s}.renaming, {s}.people_folds, {s}.people_search TO {writer};
GRANT INSERT, UPDATE (salt, text), DELETE ON {s}.reasons TO {writer};
GRANT INSERT, DELETE ON {s}.erasing, {s}.changes TO {writer};
GRANT INSERT, UPDATE ON {s}.secret TO {writer};
REVOKE ALL ON FUNCTION {s}.written_anew, {s}.without_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {s}.written_anew, {s}.without_statistics TO {writer};
"""


def schema_of(schema: str) -> str:
    """Return the schema of the names of the ledger whose journal is in *schema*."""
    return f"{schema}_names"


def statements(schema: str, roles: Roles) -> list[str]:
    """Return the statements that make an empty schema of names in one transaction.

    The secret is not in it: the caller puts it in before the last statement, which takes the owner's rights back.

    Args:
        schema: of the journal.
        roles: of the names; by usage those of ``schema_of(schema)``, which are others than the journal's.
    """
    names = {"owner": quoted(roles.owner), "writer": quoted(roles.writer), "reader": quoted(roles.reader)}
    words = {
        "s": quoted(schema_of(schema)),
        "name": literal(schema_of(schema)),
        "tables": ",".join(WITH_NAMES),
        **names,
    }
    made = [
        f"DO $$ BEGIN IF to_regrole({literal(name)}) IS NULL THEN CREATE ROLE {name} NOLOGIN; END IF; END $$"
        for name in names.values()
    ]
    begin, end = as_owner(roles.owner)
    made.append(begin)
    made.append("CREATE SCHEMA {s} AUTHORIZATION {owner}".format(**words))
    made.append("SET LOCAL ROLE {owner}".format(**names))
    made += [statement.strip() for statement in _TABLES.format(**words).split(";") if statement.strip()]
    made += [_REWRITTEN.format(**words).strip(), _WITHOUT_STATISTICS.format(**words).strip()]
    made.append(f"SELECT {words['s']}.without_statistics()")
    made += [statement.strip() for statement in _GRANTS.format(**words).split(";") if statement.strip()]
    made.append(f"INSERT INTO {words['s']}.about VALUES (1, {literal(PROGRAM)}, {LAYOUT})")
    return [*made, "RESET ROLE", end]


_STANDS = "SELECT to_regnamespace(%(schema)s) IS NOT NULL, to_regclass(%(about)s) IS NOT NULL"
_ABOUT = "SELECT program, layout FROM {s}.about"


def check(connection: Connection[Any], place: str, schema: str) -> None:
    """Refuse a schema that is not of names, or was made by a later version.

    Args:
        connection: to the database.
        place: as messages name it.
        schema: of the journal.

    Raises:
        StorageError: there is none, another program's or a later layout; or this role may not read it.
    """
    names = quoted(schema_of(schema))
    with postgres.storage_errors(place):
        row = connection.execute(_STANDS, {"schema": names, "about": f"{names}.about"}).fetchone()
        is_there, is_ours = row or (False, False)
        if not is_there:
            raise StorageError(
                place,
                "is not there, where the names of the ledger should stand: check the name of the journal's schema, or "
                "restore the names from a copy",
            )
        about = connection.execute(_ABOUT.format(s=names)).fetchone() if is_ours else None
    if about is None or about[0] != PROGRAM:
        raise StorageError(place, "is not one of names, but another program's: check the name of the journal's schema")
    if about[1] != LAYOUT:
        newer = "; it was made by a later version of this program: install that one" if about[1] > LAYOUT else ""
        raise StorageError(place, f"has layout {about[1]}, this program reads layout {LAYOUT}{newer}")


# What may change rows, hide them or keep copies of names, and is not of this program.
_FOREIGN = """
SELECT 'trigger', t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = {n} AND NOT t.tgisinternal
UNION ALL SELECT 'rule', r.rulename, c.relname FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = {n} AND c.relkind = 'r'
UNION ALL SELECT 'policy', p.polname, c.relname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE c.relnamespace = {n}
UNION ALL SELECT 'index', i.relname, c.relname FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid WHERE c.relnamespace = {n} AND c.relkind = 'r' AND i.relname <> ALL(%(indexes)s)
UNION ALL SELECT 'statistics', e.stxname, c.relname FROM pg_statistic_ext e JOIN pg_class c ON c.oid = e.stxrelid
WHERE c.relnamespace = {n}
ORDER BY 3, 1, 2
"""
_INDEXES = (
    *(f"{table}_pkey" for table in (*WITH_NAMES, "about", "erasing", "secret", "changes")),
    "people_identity_key", "reasons_commitment_key", "people_folds_by_name", "people_search_by_trigram",
)  # fmt: skip


def foreign_objects(connection: Connection[Any], schema: str) -> Iterator[str]:
    """Yield, in words with a remedy, each object of another program on the tables of names."""
    return foreign_objects_of_names(connection, schema_of(schema), _INDEXES)


def foreign_objects_of_names(connection: Connection[Any], schema: str, indexes: Iterable[str]) -> Iterator[str]:
    """Yield, in words with a remedy, each foreign object of any schema that names people.

    Args:
        connection: to the database.
        schema: that one.
        indexes: that this program made there, those of constraints included.
    """
    place = quoted(schema)
    query = _FOREIGN.format(n=f"to_regnamespace({literal(place)})")
    for kind, name, table in connection.execute(query, {"indexes": list(indexes)}).fetchall():
        where = f" ON {place}.{quoted(table)}" if kind in {"trigger", "rule", "policy"} else ""
        own = f"{place}." if kind in {"index", "statistics"} else ""
        yield (
            f"{kind} {name!r} on table {table!r} is not of this program and may change what is written, or keep names: "
            f"have it removed with 'DROP {kind.upper()} {own}{quoted(name)}{where}', then run 'audit'"
        )
