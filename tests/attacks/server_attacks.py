"""What a server's superuser can do to the schemas of a ledger: foreign objects and rights, own objects gone or others.

Of a ledger in files there is nothing to attack here.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from attrs import evolve

from ledger.journal.settings_file import server_of
from tests.attacks import plays as play
from tests.attacks.histories import History
from tests.attacks.plays import Attack
from tests.attacks.servers import PREFIXES, SCHEMAS, as_superuser, edited
from tests.attacks.stores import Act, roles_on_server, store_of

Script = tuple[str, ...]
Columns = Mapping[str, str]  # of a table, with their types
OTHER = "public.guest"  # where whoever may make objects makes them
ABORT = "RAISE EXCEPTION 'not today';"
WRITING_IN = {role: (*play.WRITING, *[play.USE_TOKENS] * (role == "tokens")) for role in SCHEMAS}
ANY_TYPE = {"bigint": "7", "integer": "7", "text": "'x'", "bytea": r"'\x00'", "bigint[]": "'{7}'"}


def running(*script: str) -> Act:
    """Return an act that runs statements as a superuser."""

    def act(spoilt: Path) -> None:
        place = server_of(spoilt)
        assert place is not None
        edited(place, *script)

    return act


def _attack(history: History, name: str, kind: str, script: Script, plays: play.Plays = play.EVERYTHING) -> Attack:
    return Attack(name, history.last, running(*script), plays, audit_codes=play.MAY_BE_UNREADABLE, kind=kind)


def triggers(history: History) -> Iterator[Attack]:
    """Yield a trigger at every moment of every write of every table of every schema."""
    db = history.looked_at()
    for role in roles_on_server(db):
        for table, columns in store_of(db, role).columns().items():
            name = f'{SCHEMAS[role]}."{table}"'
            for moment, made, bodies in _moments(name, columns):
                for effect, body in bodies.items():
                    script = (
                        f"CREATE TABLE {OTHER} AS SELECT * FROM {name}",
                        f"CREATE FUNCTION {OTHER}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
                        f"$$ BEGIN {body} END $$",
                        f"CREATE {made} EXECUTE FUNCTION {OTHER}()",
                    )
                    what = f"a trigger {moment} on {table} of the {role} that {effect}"
                    yield _attack(history, what, f"{moment} {role} {effect}", script, WRITING_IN[role])


def _moments(table: str, columns: Columns) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield each moment at which a trigger acts, how it is made, and by its effect what its function does."""
    for when, event in product(("BEFORE", "AFTER"), ("INSERT", "UPDATE", "DELETE")):
        bodies = _effects(table, columns, f"{when} {event}")
        yield f"{when} {event}".lower(), f"TRIGGER guest {when} {event} ON {table} FOR EACH ROW", bodies
    for event in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        made = f"TRIGGER guest BEFORE {event} ON {table} FOR EACH STATEMENT"
        yield f"before each {event.lower()} statement", made, {"aborts it": ABORT}
    fresh = f"TRIGGER guest AFTER INSERT ON {table} REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT"
    key = next(iter(columns))
    yield "after each insert statement", fresh, {
        "keeps a copy": f"INSERT INTO {OTHER} SELECT * FROM fresh; RETURN NULL;",
        "takes it back": f'DELETE FROM {table} WHERE "{key}" IN (SELECT "{key}" FROM fresh); RETURN NULL;',
    }  # fmt: skip
    at_commit = f"CONSTRAINT TRIGGER guest AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    yield "at the commit of an insert", at_commit, {
        "aborts it": ABORT,
        "takes it back": f'DELETE FROM {table} WHERE "{key}" = new."{key}"; RETURN NULL;',
    }  # fmt: skip


def _effects(table: str, columns: Columns, moment: str) -> dict[str, str]:
    row = "old" if moment.endswith("DELETE") else "new"
    end = f"RETURN {row};"
    bodies = {"aborts it": ABORT, "keeps a copy": f"INSERT INTO {OTHER} SELECT {row}.*; {end}"}
    key, last = next(iter(columns)), list(columns)[-1]
    if moment.startswith("BEFORE"):
        bodies["ignores it"] = "RETURN NULL;"
        if row == "new":
            bodies["changes it"] = f'new."{last}" := {ANY_TYPE[columns[last]]}; {end}'
    elif moment.endswith("INSERT"):
        bodies["takes it back"] = f'DELETE FROM {table} WHERE "{key}" = new."{key}"; {end}'
    return bodies


def additions(history: History) -> Iterator[Attack]:
    """Yield objects that no ledger has, in its schemas or elsewhere with rows of its tables, and foreign rights."""
    db = history.looked_at()
    for role in roles_on_server(db):
        schema = SCHEMAS[role]
        for name, script in _in_schema(schema).items():
            yield _attack(history, f"{name} in the schema of the {role}", f"{name} {role}", script)
        for table, columns in store_of(db, role).columns().items():
            for name, script in _on_table(role, table, columns).items():
                yield _attack(history, f"{name} {table} of the {role}", f"{name} {role}", script)
            for column, kind in columns.items():
                for name, script in _on_column(schema, table, column, kind).items():
                    yield _attack(history, f"{name} {column} of {table} of the {role}", f"{name} {role}", script)


def _in_schema(schema: str) -> dict[str, Script]:
    reading = f"CREATE FUNCTION {schema}.guest() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    nothing = f"CREATE FUNCTION {OTHER}() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'"
    event = f"CREATE EVENT TRIGGER guest ON ddl_command_end EXECUTE FUNCTION {OTHER}()"
    return {
        "an empty table": (f"CREATE TABLE {schema}.guest(a int)",),
        "a table with a row": (f"CREATE TABLE {schema}.guest(a int)", f"INSERT INTO {schema}.guest VALUES (1)"),
        "a partitioned table": (f"CREATE TABLE {schema}.guest(a int) PARTITION BY LIST (a)",),
        "a view": (f"CREATE VIEW {schema}.guest AS SELECT 1 AS one",),
        "a materialized view": (f"CREATE MATERIALIZED VIEW {schema}.guest AS SELECT * FROM {schema}.about",),
        "a sequence": (f"CREATE SEQUENCE {schema}.guest",),
        "a function": (reading, f"REVOKE ALL ON FUNCTION {schema}.guest() FROM PUBLIC"),
        "a right to make objects": (f"GRANT CREATE ON SCHEMA {schema} TO PUBLIC",),
        "an event trigger beside it": (nothing, event),
        "a publication of all tables": ("CREATE PUBLICATION guest FOR ALL TABLES",),
        "another owner": (f"ALTER SCHEMA {schema} OWNER TO CURRENT_USER",),
    }


def _on_table(role: str, table: str, columns: Columns) -> dict[str, Script]:
    schema, prefix = SCHEMAS[role], PREFIXES[role]
    readers = f"{prefix}_writer" if role == "tokens" else f"{prefix}_reader"  # only recorders read those
    name, first = f'{schema}."{table}"', next(iter(columns))
    every = ", ".join(f'"{column}"' for column in columns)
    return {
        "a rule on": (f"CREATE RULE guest AS ON INSERT TO {name} DO INSTEAD NOTHING",),
        "a policy on": (
            f"CREATE POLICY guest ON {name} USING (false)",
            f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        ),
        "an index on": (f'CREATE INDEX guest ON {name}("{first}")',),
        "a unique index on": (f"CREATE UNIQUE INDEX guest ON {name}({every})",),
        "a unique index on the coming rows of": (f"CREATE UNIQUE INDEX guest ON {name}((1)) WHERE false",),
        "a statistic on": (f"CREATE STATISTICS {schema}.guest ON ({first}), (1) FROM {name}",),
        "a check on": (f"ALTER TABLE {name} ADD CONSTRAINT guest CHECK (random() >= 0)",),
        "a heir of": (f"CREATE TABLE {OTHER}() INHERITS ({name})",),
        "a column added to": (f"ALTER TABLE {name} ADD COLUMN guest text",),
        "unlogged:": (f"ALTER TABLE {name} SET UNLOGGED",),
        "another owner of": (f"ALTER TABLE {name} OWNER TO CURRENT_USER",),
        "everybody may read": (f"GRANT SELECT ON {name} TO PUBLIC",),
        "everybody may change": (f"GRANT UPDATE ON {name} TO PUBLIC",),
        "recorders may change": (f"GRANT UPDATE, DELETE ON {name} TO {prefix}_writer",),
        "nobody may read": (f"REVOKE SELECT ON {name} FROM {readers}",),
        "guards switched off on": (f"ALTER TABLE {name} DISABLE TRIGGER ALL",),
        "a view elsewhere of": (f"CREATE VIEW {OTHER} AS SELECT * FROM {name}",),
        "a kept copy elsewhere of": (f"CREATE MATERIALIZED VIEW {OTHER} AS SELECT * FROM {name}",),
        "a table elsewhere that refers to": (
            f"CREATE TABLE {OTHER} AS SELECT * FROM {name}",
            f'ALTER TABLE {OTHER} ADD FOREIGN KEY ("{first}") REFERENCES {name}("{first}")',
        ),
        "a publication of": (f"CREATE PUBLICATION guest FOR TABLE {name}",),
    }


def _on_column(schema: str, table: str, column: str, kind: str) -> dict[str, Script]:
    alter = f'ALTER TABLE {schema}."{table}" ALTER COLUMN "{column}"'
    changes: dict[str, Script] = {
        "a default for": (f"{alter} SET DEFAULT {ANY_TYPE[kind]}",),
        "no constraint on": (f"{alter} DROP NOT NULL",),
        "statistics of": (f"{alter} SET STATISTICS 100",),
        "everybody may read": (f'GRANT SELECT ("{column}") ON {schema}."{table}" TO PUBLIC',),
    }
    if kind == "text":
        changes["another collation of"] = (f'{alter} TYPE text COLLATE "POSIX"',)
        changes["another type of"] = (f"{alter} TYPE varchar(9999)",)
    if kind == "bigint":
        changes["another type of"] = (f"{alter} TYPE numeric",)
    return changes


ELSEWHERE = "postgresql://db9/chess, schema club"  # where a ledger says that it went


def words(history: History) -> Iterator[Attack]:
    """Yield what a journal may say of where it is: that it went elsewhere, or that it is another one than it was."""
    about = f"{SCHEMAS['journal']}.about"
    scripts = {
        "went elsewhere": (f"INSERT INTO {about} VALUES ('gone', '{ELSEWHERE}')",),
        "is another one": (f"UPDATE {about} SET value = md5(value) WHERE name = 'journal'",),
        "is none": (f"UPDATE {about} SET value = 'nobody' WHERE name = 'journal'",),
        "is of a later layout": (f"UPDATE {about} SET value = '99' WHERE name = 'layout'",),
    }
    for what, script in scripts.items() if roles_on_server(history.looked_at()) else ():
        attack = _attack(
            history, f"the journal says that it {what}", what, script, (*play.READING, play.IMPORT_FRESH, play.ERASE)
        )
        yield evolve(attack, refusal=f"the ledger went to {ELSEWHERE}") if what == "went elsewhere" else attack


def removals(history: History) -> Iterator[Attack]:
    """Yield every object of every schema gone, or another one in its place under its name; every table emptied."""
    db = history.looked_at()
    for role in roles_on_server(db):
        schema = SCHEMAS[role]
        for what, scripts in _own(db, schema):
            for how, script in scripts.items():
                kind = f"{what.split()[0]} {role} {how}"
                yield _attack(history, f"{what} of the {role} {how}", kind, script, play.READING)
        for table, columns in store_of(db, role).columns().items():
            name = f'{schema}."{table}"'
            scripts = {
                "dropped": (f"DROP TABLE {name} CASCADE",),
                "emptied": (f"TRUNCATE {name}",),
                "a view": (
                    f"ALTER TABLE {name} SET SCHEMA public",
                    f'CREATE VIEW {name} AS SELECT * FROM public."{table}"',
                    f"GRANT SELECT, INSERT ON {name} TO {PREFIXES[role]}_writer",
                ),
            }
            for column in columns:
                scripts[f"with the column {column} renamed"] = (f'ALTER TABLE {name} RENAME "{column}" TO guest',)
            for how, script in scripts.items():
                yield _attack(
                    history, f"the table {table} of the {role} {how}", f"table {role} {how}", script, play.READING
                )


_TRIGGERS = """
SELECT tgname, c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
WHERE c.relnamespace = to_regnamespace(%s) AND NOT tgisinternal ORDER BY 1
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text, pg_get_functiondef(oid), prosrc FROM pg_proc
WHERE pronamespace = to_regnamespace(%s) ORDER BY 1
"""
_INDEXES = """
SELECT i.relname, pg_get_indexdef(i.oid), o.conname IS NOT NULL, x.indrelid::regclass::text
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_constraint o ON o.conindid = i.oid
WHERE i.relnamespace = to_regnamespace(%s) AND x.indrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r') ORDER BY 1
"""
_CONSTRAINTS = """
SELECT o.conname, o.conrelid::regclass::text, o.contype FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
WHERE c.relnamespace = to_regnamespace(%s) AND o.contype IN ('c', 'u', 'p') ORDER BY 1
"""


def _own(db: Path, schema: str) -> Iterator[tuple[str, dict[str, Script]]]:
    """Yield each trigger, function, index and constraint of a schema, with what can be done to it."""
    place = server_of(db)
    assert place is not None
    with as_superuser(place) as connection:
        rows = {query: connection.execute(query.encode(), [schema]).fetchall()
                for query in (_TRIGGERS, _FUNCTIONS, _INDEXES, _CONSTRAINTS)}  # fmt: skip
    for name, table, made in rows[_TRIGGERS]:
        on = f'{schema}."{table}"'
        drop = f'DROP TRIGGER "{name}" ON {on}'
        never = str(made).replace(" EXECUTE ", " WHEN (false) EXECUTE ")
        begins = str(made).partition(" EXECUTE ")[0]
        elsewhere = f"CREATE FUNCTION {OTHER}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'"
        yield f"the trigger {name}", {
            "dropped": (drop,),
            "switched off": (f'ALTER TABLE {on} DISABLE TRIGGER "{name}"',),
            "only for replicas": (f'ALTER TABLE {on} ENABLE REPLICA TRIGGER "{name}"',),
            "that never fires": (drop, never),
            "that calls another function": (drop, elsewhere, f"{begins} EXECUTE FUNCTION {OTHER}()"),
        }  # fmt: skip
    texts = [str(text) for *_, text in rows[_FUNCTIONS]]
    for name, made, text in rows[_FUNCTIONS]:
        scripts: dict[str, Script] = {
            "dropped": (f"DROP FUNCTION {name} CASCADE",),
            "called by everybody": (f"GRANT EXECUTE ON FUNCTION {name} TO PUBLIC",),
            "without its search path": (f"ALTER FUNCTION {name} RESET search_path",),
            "of another owner": (f"ALTER FUNCTION {name} OWNER TO CURRENT_USER",),
            "with the rights of others": (f"ALTER FUNCTION {name} SECURITY DEFINER",),
            "with a blank more": (str(made).replace(str(text), f"{text} "),),
            "emptied": (str(made).replace(str(text), "" if "LANGUAGE sql" in str(made) else "BEGIN END"),),
        }
        for other in texts:
            if other != text:
                scripts[f"with the text of that which begins with {other.split()[:3]}"] = (
                    str(made).replace(str(text), other),
                )
        yield f"the function {name}", scripts
    for name, made, is_of_constraint, table in rows[_INDEXES]:
        scripts = {
            "not valid": (f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{schema}.{name}'::regclass",)
        }
        if not is_of_constraint:
            drop = f'DROP INDEX {schema}."{name}"'
            scripts["dropped"] = (drop,)
            scripts["on other rows"] = (drop, f"{made} WHERE false")
            scripts["of another kind"] = (drop, f'CREATE UNIQUE INDEX "{name}" ON {table}(player)')
        yield f"the index {name}", scripts
    for name, table, kind in rows[_CONSTRAINTS]:
        drop = f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'
        scripts = {"dropped": (drop,)}
        if kind == "c":
            scripts["that checks nothing"] = (drop, f'ALTER TABLE {table} ADD CONSTRAINT "{name}" CHECK (true)')
        yield f"the constraint {name}", scripts
