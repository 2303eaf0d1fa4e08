"""The comparison of a ledger's schemas on a PostgreSQL server with those that this program makes.

No foreign or missing object makes an entry false; it may change later entries, hide rows, let others change them, or
keep names after an erasure. The stores check triggers, rules and policies of the journal, and foreign objects of the
names, before they write; the rest is compared here with the tables as they are published, which ``server.toml``
repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.auth import postgres_token_tables
from ledger.auth.postgres_tokens import LACKING
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles, creation_sql
from ledger.players import postgres_layout
from ledger.players.postgres_layout import schema_of
from ledger.runtime import postgres
from ledger.runtime.lazy import tomllib
from ledger.runtime.postgres import quoted, without_password

if TYPE_CHECKING:
    from psycopg import Connection


class _Function(NamedTuple):
    """A function as the SQL makes it: its language, whether it has the rights of its owner, and its text."""

    language: str
    as_owner: bool
    text: str


class _Schema(NamedTuple):
    """A schema as this program makes it."""

    name: str
    functions: Mapping[str, _Function]
    calls: frozenset[str]  # functions that the role of those who record may call
    tables: Mapping[str, Sequence[str]]  # columns and constraints of each
    writes: Mapping[str, Sequence[str]]  # by table, the rights of the role of those who record besides reading
    indexes: Mapping[str, str] = MappingProxyType({})  # apart from those of constraints, by the server's definition
    triggers: Mapping[str, str] = MappingProxyType({})  # by the server's definition
    is_of_names: bool = True  # so that nothing of it may be stored elsewhere
    has_readers: bool = True  # a role for those who only read


def _schemas(schema: str) -> tuple[_Schema, _Schema, _Schema]:
    published = tomllib.loads(Path(__file__).with_name("server.toml").read_text("utf-8"))
    names, tokens = schema_of(schema), postgres_token_tables.schema_of(schema)
    made = _functions(schema, creation_sql(schema, Roles.of(schema), ""))
    helpers = _functions(names, "\n".join(postgres_layout.statements(schema, Roles.of(names))))
    return (
        _Schema(schema, made, frozenset({"leave", "keep_texts"}), **published["journal"], is_of_names=False),
        _Schema(names, helpers, frozenset(helpers), **published["names"]),
        _Schema(tokens, {}, frozenset(), **published["tokens"], has_readers=False),
    )


def _functions(schema: str, script: str) -> dict[str, _Function]:
    """Return the functions that the SQL of a schema creates."""
    begin = rf"CREATE FUNCTION {re.escape(quoted(schema))}\.(\w+)\([^$]*? LANGUAGE (\w+)"
    # A body is between dollar signs, with a word between them or none, and ends with the same signs.
    making_one = rf"{begin}([^$]*?) AS (\$\w*\$)(.*?)\4"
    return {
        name: _Function(language, "SECURITY DEFINER" in words, text)
        for name, language, words, _, text in re.findall(making_one, script, re.DOTALL)
    }


def server_faults(address: str, schema: str) -> list[str]:
    """Return a sentence for each difference of a ledger's schemas from those that this program makes.

    It needs the right to read journal and names. The powers of a superuser are not reported.

    Raises:
        StorageError: the server does not answer, or there is no ledger in the schema.
    """
    with closing(PostgresJournal(address, schema)) as journal:
        faults = journal.faults()
    with closing(postgres.connect(address)) as connection:
        place = f"{without_password(address)}, schema {schema_of(schema)}"
        postgres_layout.check(connection, place, schema)
        with postgres.storage_errors(place):
            faults += postgres_layout.foreign_objects(connection, schema)
            schemas = _schemas(schema)
            tokens = schemas[-1]
            words = [each.split() for columns in tokens.tables.values() for each in columns]
            keys = tuple(name for name, kind, *_ in words if kind in {"PRIMARY", "UNIQUE"})
            faults += postgres_layout.foreign_objects_of_names(connection, tokens.name, keys)
            # whose sessions begin with all triggers switched off, which a superuser once had them do
            for (role,) in connection.execute(_WITHOUT_GUARDS).fetchall():
                reset = "ALTER DATABASE" if role is None else f"ALTER ROLE {role}"
                faults.append(
                    f"{role or 'everybody'} works with session_replication_role = replica here, so that no guard of "
                    f"the journal acts: run '{reset} ... RESET session_replication_role'"
                )
            for each in schemas:
                if not postgres.has_schema(connection, each.name):
                    faults.append(f"schema {each.name} {LACKING}")
                    continue
                for question in _QUESTIONS:
                    faults += [f"schema {each.name}: {fault}" for fault in question(connection, each)]
    return faults


def moved_to(address: str, schema: str) -> str | None:
    """Return the address to which the ledger in a schema was moved; None if it was not moved.

    Raises:
        StorageError: the server does not answer, or there is no ledger in the schema.
    """
    with closing(PostgresJournal(address, schema)) as journal:
        return journal.went_to


# Superusers are not reported: they can switch the guards off at any time. A setting of database 0 holds in each, and
# one of role 0, which is none, for all roles.
_WITHOUT_GUARDS = """
SELECT r.rolname::text FROM pg_db_role_setting s
CROSS JOIN unnest(s.setconfig) AS setting LEFT JOIN pg_roles r ON r.oid = s.setrole
WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
  AND setting ILIKE 'session_replication_role=replica' AND r.rolsuper IS NOT TRUE ORDER BY 1
"""


def _rows(connection: Connection[Any], query: str, schema: _Schema) -> list[tuple[Any, ...]]:
    # As bytes, because psycopg's types take no text that was put together. ``to_regnamespace`` reads the name as SQL
    # does, so that one with capitals must be in quotation marks.
    return connection.execute(query.encode(), {"schema": quoted(schema.name)}).fetchall()


_OF_SCHEMA = "to_regnamespace(%(schema)s)"
# Indexes have a question of their own, and a composite type ('c') has no rows.
_RELATIONS = f"""
SELECT c.relname, c.relkind::text, c.relpersistence::text, c.relrowsecurity,
  EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)),
  ARRAY(SELECT p.pubname::text FROM pg_publication p WHERE p.puballtables OR EXISTS
    (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = c.oid) OR EXISTS
    (SELECT FROM pg_publication_namespace s WHERE s.pnpubid = p.oid AND s.pnnspid = c.relnamespace))
FROM pg_class c WHERE c.relnamespace = {_OF_SCHEMA} AND c.relkind <> 'i' AND c.relkind <> 'c' ORDER BY 1
"""
_WITHOUT_SCHEMA = f"replace({{}}, concat({_OF_SCHEMA}::text, '.'), '')"
_KINDS = {"r": "table", "v": "view", "m": "materialized view", "S": "sequence", "f": "foreign table"}


def _of_relations(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    rows = _rows(connection, _RELATIONS, schema)
    published: dict[str, list[str]] = {}
    for table in sorted(schema.tables.keys() - {name for name, kind, *_ in rows if kind == "r"}):
        yield f"the table {table!r} is gone"
    for name, kind, persistence, hides, inherits, publications in rows:
        if name not in schema.tables or kind != "r":
            yield f"it has a {_KINDS.get(kind, 'table')} {name!r} that this program did not make"
            continue
        if inherits:
            yield f"the table {name!r} has rows of other tables in it, or its rows in others (it inherits)"
        # the journal's store reports the same about its own tables
        if schema.is_of_names and persistence != "p":
            yield f"the table {name!r} is unlogged, so that a crash empties it"
        if schema.is_of_names and hides:
            yield f"the table {name!r} has row security switched on, which hides rows"
        for publication in publications if schema.is_of_names else ():
            published.setdefault(publication, []).append(name)
    for publication, tables in sorted(published.items()):
        yield f"the publication {publication!r} sends names to others, who keep them: rows of {', '.join(tables)}"


# From PostgreSQL 18 on NOT NULL is a constraint as well ('n'), which is reported with its column already; constraint
# triggers ('t') are reported with the triggers. A target of 0 makes no statistics; the usual one is -1, or NULL from 17
# on.
_COLUMNS = f"""
SELECT c.relname, concat(a.attname, ' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attcollation NOT IN (0, 'pg_catalog."default"'::regcollation)
      THEN ' COLLATE ' || (SELECT quote_ident(o.collname)
        FROM pg_collation o WHERE o.oid = a.attcollation) END,
    CASE WHEN a.attnotnull THEN ' NOT NULL' END,
    CASE WHEN a.attgenerated <> '' THEN ' GENERATED' WHEN a.atthasdef OR a.attidentity <> '' THEN ' DEFAULT' END),
  a.attname::text, a.attstattarget IS DISTINCT FROM 0
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = {_OF_SCHEMA} AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT c.relname, concat(o.conname, ' ', pg_get_constraintdef(o.oid)), o.conname::text, false
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
WHERE c.relnamespace = {_OF_SCHEMA} AND o.contype <> 'n' AND o.contype <> 't' ORDER BY 1, 2
"""


_ABOUT = """
SELECT name, value FROM {schema}.about WHERE name NOT IN ('program', 'layout', 'journal', 'gone')
OR name = 'journal' AND value !~ '^[0-9a-f]{{32}}$'
UNION ALL SELECT 'journal', '' WHERE NOT EXISTS (SELECT FROM {schema}.about WHERE name = 'journal') ORDER BY 1
"""


def _of_words(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    # program and layout, and those of the names, are checked when they are opened; views know the number of their
    # journal
    query = "" if schema.is_of_names else _ABOUT.format(schema=quoted(schema.name))
    for name, value in connection.execute(query.encode()).fetchall() if query else ():
        yield f"the table 'about' says {value!r} of {name!r}, which this program did not write"


def _of_columns(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    there: dict[str, dict[str, str]] = {}
    with_statistics: set[tuple[str, str]] = set()
    for table, words, name, has_statistics in _rows(connection, _COLUMNS, schema):
        there.setdefault(table, {})[name] = words
        if schema.is_of_names and has_statistics:
            with_statistics.add((table, name))
    for table in sorted(schema.tables.keys() & there.keys()):
        own = {words.partition(" ")[0]: words for words in schema.tables[table]}
        for name in sorted(own.keys() | there[table].keys()):
            present, expected = there[table].get(name), own.get(name)
            if present is None:
                yield f"the table {table!r} has lost '{expected}'"
            elif expected is None:
                yield f"the table {table!r} has '{present}', which this program did not make"
            elif present != expected:
                yield f"the table {table!r} has '{present}' in place of '{expected}'"
            elif (table, name) in with_statistics:
                yield f"the server makes statistics of the column {name!r} of the table {table!r}, which tell names"


_INDEXES = f"""
SELECT i.relname, c.relname, x.indisvalid AND x.indisready, EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid),
  {_WITHOUT_SCHEMA.format("pg_get_indexdef(i.oid)")}
FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
WHERE c.relnamespace = {_OF_SCHEMA} AND c.relkind = 'r' ORDER BY 2, 1
"""


def _of_indexes(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    rows = _rows(connection, _INDEXES, schema)
    for name in sorted(schema.indexes.keys() - {row[0] for row in rows}):
        yield f"the index {name!r} is gone"
    for name, table, is_sound, is_of_constraint, definition in rows:
        if not is_sound:
            yield f"the index {name!r} of the table {table!r} is not valid, so that rows may not be found"
        elif definition != schema.indexes.get(name, definition):
            yield f"the index {name!r} of the table {table!r} was replaced by another one of this name"
        # those on the names are reported with the other objects there
        elif not (schema.is_of_names or is_of_constraint or name in schema.indexes):
            yield f"the table {table!r} has an index {name!r} that this program did not make"


_TRIGGERS_THERE = f"""
SELECT t.tgname, c.relname, {_WITHOUT_SCHEMA.format("pg_get_triggerdef(t.oid)")}
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {_OF_SCHEMA} ORDER BY 2, 1
"""


def _of_triggers(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    # the stores report those that are foreign, gone or switched off
    for name, table, definition in _rows(connection, _TRIGGERS_THERE, schema):
        if definition != schema.triggers.get(name, definition):
            yield f"the trigger {name!r} of the table {table!r} was replaced by another one of this name"


# What rows of names go to outside of their schema; and who else's table forbids that a row be changed or taken away.
_ELSEWHERE = f"""
SELECT DISTINCT v.relkind::text, v.oid::regclass::text, c.relname FROM pg_depend d
JOIN pg_class c ON c.oid = d.refobjid JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
WHERE d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_rewrite'::regclass AND c.relnamespace = {_OF_SCHEMA}
AND v.relnamespace <> c.relnamespace
UNION ALL SELECT DISTINCT 'key', k.conrelid::regclass::text, c.relname FROM pg_constraint k
JOIN pg_class c ON c.oid = k.confrelid JOIN pg_class o ON o.oid = k.conrelid
WHERE c.relnamespace = {_OF_SCHEMA} AND o.relnamespace <> c.relnamespace ORDER BY 3, 1, 2
"""


def _of_others(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    for kind, name, table in _rows(connection, _ELSEWHERE, schema):
        if kind == "key":
            yield f"the table {name} refers to the table {table!r}, whose rows may then not be taken away"
        elif schema.is_of_names:
            verb = "keeps" if kind == "m" else "shows"
            yield f"the {_KINDS.get(kind, 'view')} {name} {verb} rows of the table {table!r}"


_FUNCTIONS = f"""
SELECT p.proname::text, l.lanname::text, p.prosecdef, p.prosrc, p.proconfig::text
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = {_OF_SCHEMA} ORDER BY 1
"""
# Otherwise a function with the rights of its owner would seek names by the path of its caller, and find the caller's
# own objects; temporary objects come first unless ``pg_temp`` is named.
_SEARCH_PATH = '{"search_path=pg_catalog, pg_temp"}'


def _of_functions(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    rows = _rows(connection, _FUNCTIONS, schema)
    for name in sorted(schema.functions.keys() - {row[0] for row in rows}):
        yield f"the function {name!r} is gone"
    for name, language, as_owner, text, settings in rows:
        if name not in schema.functions:
            yield f"it has a function {name!r} that this program did not make"
        elif schema.functions[name] != (language, as_owner, text) or settings != _SEARCH_PATH:
            yield f"the function {name!r} was replaced by another one of this name"


_OWNERS = f"""
SELECT kind, name, owner::regrole::text FROM (
  SELECT 'table' AS kind, relname AS name, relowner AS owner FROM pg_class
  WHERE relnamespace = {_OF_SCHEMA} AND relkind = 'r'
  UNION ALL SELECT 'function', proname, proowner FROM pg_proc WHERE pronamespace = {_OF_SCHEMA}
) AS objects WHERE owner <> (SELECT nspowner FROM pg_namespace WHERE oid = {_OF_SCHEMA}) ORDER BY 1, 2
"""
_OWNER = f"""
SELECT r.oid::regrole::text, r.rolcanlogin, ARRAY(SELECT m.oid::regrole::text FROM pg_roles m
  WHERE m.oid <> r.oid AND NOT m.rolsuper AND {{member}} ORDER BY 1)
FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.oid = {_OF_SCHEMA}
"""
# From version 16 on the maker of a role is a member of it without any of its rights.
_MEMBER = "pg_has_role(m.oid, r.oid, 'MEMBER')"
_MEMBER_SINCE_16 = "(pg_has_role(m.oid, r.oid, 'USAGE') OR pg_has_role(m.oid, r.oid, 'SET'))"


def _of_owners(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    for kind, name, owner in _rows(connection, _OWNERS, schema):
        if name in schema.tables or name in schema.functions:
            yield f"the {kind} {name!r} belongs to {owner}, not to the owner of the schema"
    member = _MEMBER_SINCE_16 if connection.info.server_version >= 16_00_00 else _MEMBER
    for owner, may_log_in, members in _rows(connection, _OWNER.format(member=member), schema):
        if not schema.has_readers:
            return  # it is the owner of the names, for whom all of this is reported there
        if may_log_in:
            yield f"its owner {owner} may log in, and change and delete what is recorded"
        for role in members:
            yield f"{role} has the rights of its owner {owner}, and may change and delete what is recorded"


# Without a list of rights (NULL) tables and schemas are their owner's alone, but a function everybody may call: what
# NULL means there has to be asked for. The role 0 is everybody.
_GRANTS = f"""
SELECT kind, name, privilege, nullif(grantee, 0)::regrole::text, is_grantable FROM (
  SELECT 'schema' AS kind, '' AS name, g.privilege_type AS privilege, g.grantee, g.is_grantable, n.nspowner AS owner
  FROM pg_namespace n CROSS JOIN aclexplode(n.nspacl) g WHERE n.oid = {_OF_SCHEMA}
  UNION ALL SELECT 'table', c.relname, g.privilege_type, g.grantee, g.is_grantable, c.relowner
  FROM pg_class c CROSS JOIN aclexplode(c.relacl) g WHERE c.relnamespace = {_OF_SCHEMA} AND c.relkind = 'r'
  UNION ALL SELECT 'table', c.relname, concat(g.privilege_type, ' ', a.attname), g.grantee, g.is_grantable, c.relowner
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid CROSS JOIN aclexplode(a.attacl) g
  WHERE c.relnamespace = {_OF_SCHEMA} AND c.relkind = 'r' AND NOT a.attisdropped
  UNION ALL SELECT 'function', p.proname, g.privilege_type, g.grantee, g.is_grantable, p.proowner
  FROM pg_proc p CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
  WHERE p.pronamespace = {_OF_SCHEMA}
) AS granted WHERE grantee <> owner ORDER BY 1, 2, 3, 4
"""
Right = tuple[str, str, str]  # kind and name of an object, and what may be done with it


def _of_grants(connection: Connection[Any], schema: _Schema) -> Iterator[str]:
    granted: dict[str | None, set[Right]] = {}
    for kind, name, privilege, role, may_pass_on in _rows(connection, _GRANTS, schema):
        granted.setdefault(role, set()).add((kind, name, privilege))
        if may_pass_on:
            yield f"{role or 'everybody'} may pass on to others: {_right_in_words((kind, name, privilege))}"
    tables = {name for name, *_ in _rows(connection, _RELATIONS, schema)} & schema.tables.keys()
    reads: set[Right] = {("schema", "", "USAGE")} | {("table", table, "SELECT") for table in tables}
    writes = reads | {("table", table, word) for table in tables for word in schema.writes.get(table, ())}
    writes |= {("function", name, "EXECUTE") for name in schema.calls}
    everybody = granted.pop(None, set())
    writers = sorted(role for role in granted if role and granted[role] & (writes - reads))
    readers = sorted(role for role in granted if role and role not in writers)
    for right in sorted(everybody):
        yield f"everybody was granted what this program grants nobody: {_right_in_words(right)}"
    kinds = ((writers, writes, "record"), (readers, reads if schema.has_readers else set(), "read"))
    for roles, own, what in kinds:
        if len(roles) != 1 and own:
            yield f"this program made one role that may {what}; now there are {len(roles)}: {', '.join(roles)}"
        for role in roles:
            for right in sorted(granted[role] - own):
                yield f"{role} was granted what this program does not grant: {_right_in_words(right)}"
            # of several each may have been given a part
            for right in sorted(own - granted[role]) if len(roles) == 1 else ():
                yield f"{role} lacks what this program granted: {_right_in_words(right)}"


def _right_in_words(right: Right) -> str:
    kind, name, privilege = right
    word, _, column = privilege.partition(" ")
    of = f"the column {column!r} of " if column else ""
    return f"{word} on {of}the {kind}{f' {name!r}' if name else ''}"


_QUESTIONS = (
    _of_relations, _of_words, _of_columns, _of_indexes, _of_triggers, _of_functions, _of_others, _of_owners, _of_grants,
)  # fmt: skip
