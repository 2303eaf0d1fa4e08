"""What stands in the schemas of a ledger on a server and is not of this program, or is missing there, is told."""

from collections.abc import Iterator

import pytest

from ledger.audit.server_objects import server_faults
from ledger.auth import postgres_token_tables
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.postgres_tables import Roles
from ledger.players.postgres_people import PostgresPeople
from tests.kit.postgres import Server, needed, running
from tests.kit.server_ledgers import SCHEMA, run_as_superuser

pytestmark = pytest.mark.outside  # PostgreSQL

OBJECTS = {
    "a trigger of the journal": (
        "CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER spy AFTER INSERT ON club.journal FOR EACH STATEMENT EXECUTE FUNCTION public.f()",
        "the table 'journal' has a trigger 'spy'",
    ),
    "a trigger of the names": (
        "CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER spy AFTER INSERT ON club_names.people FOR EACH ROW EXECUTE FUNCTION public.f()",
        "trigger 'spy' on table 'people' is not of this program",
    ),
    "a trigger of the tokens": (
        "CREATE OR REPLACE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER quiet BEFORE INSERT ON club_tokens.refusals FOR EACH ROW EXECUTE FUNCTION public.f()",
        "trigger 'quiet' on table 'refusals' is not of this program",
    ),
    "a rule of the tokens": (
        "CREATE RULE deaf AS ON INSERT TO club_tokens.sendings DO INSTEAD NOTHING",
        "rule 'deaf' on table 'sendings' is not of this program",
    ),
    "an index of the tokens": (
        "CREATE INDEX by_claim ON club_tokens.refusals (claimed)",
        "index 'by_claim' on table 'refusals' is not of this program",
    ),
    "sessions unlogged": (
        "ALTER TABLE club_tokens.sessions SET UNLOGGED",
        "schema club_tokens: the table 'sessions' is unlogged, so that a crash empties it",
    ),
    "statistics of the log": (
        "ALTER TABLE club_tokens.refusals ALTER COLUMN claimed SET STATISTICS 100",
        "schema club_tokens: the server makes statistics of the column 'claimed' of the table 'refusals'",
    ),
    "an idempotency key that may stand twice": (
        "ALTER TABLE club_tokens.sendings DROP CONSTRAINT sendings_hash_key",
        "schema club_tokens: the table 'sendings' has lost 'sendings_hash_key UNIQUE (hash)'",
    ),
    "a guard switched off": (
        "ALTER TABLE club.nodes DISABLE TRIGGER nodes_never_changes",
        "the trigger 'nodes_never_changes' of the table 'nodes' is switched off",
    ),
    "a guard gone": (
        "DROP TRIGGER journal_takes_the_next_position ON club.journal",
        "the trigger 'journal_takes_the_next_position' of the table 'journal' is gone",
    ),
    "a guard emptied": (
        "CREATE OR REPLACE FUNCTION club.never() RETURNS trigger LANGUAGE plpgsql "
        "SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN NULL; END'",
        "schema club: the function 'never' was replaced by another one of this name",
    ),
    "a rule": (
        "CREATE RULE quiet AS ON INSERT TO club.texts DO INSTEAD NOTHING",
        "the table 'texts' has a rule 'quiet'",
    ),
    "a policy": (
        "CREATE POLICY blind ON club_names.people USING (player > 3)",
        "policy 'blind' on table 'people' is not of this program",
    ),
    "row security of the journal": (
        "ALTER TABLE club.journal ENABLE ROW LEVEL SECURITY",
        "the table 'journal' has a policy 'row security'",
    ),
    "row security of the names": (
        "ALTER TABLE club_names.reasons ENABLE ROW LEVEL SECURITY",
        "schema club_names: the table 'reasons' has row security switched on, which hides rows",
    ),
    "a journal unlogged": ("ALTER TABLE club.nodes SET UNLOGGED", "the table 'nodes' is unlogged"),
    "names unlogged": (
        "ALTER TABLE club_names.people SET UNLOGGED",
        "schema club_names: the table 'people' is unlogged, so that a crash empties it",
    ),
    "a collation of the journal": (
        'ALTER TABLE club.journal ALTER COLUMN key TYPE text COLLATE "default"',
        "schema club: the table 'journal' has 'key text NOT NULL' in place of 'key text COLLATE \"C\" NOT NULL'",
    ),
    "a collation of the names": (
        'ALTER TABLE club_names.people ALTER COLUMN identity TYPE text COLLATE "POSIX"',
        "schema club_names: the table 'people' has 'identity text COLLATE \"POSIX\"' in place of",
    ),
    "a default": (
        "ALTER TABLE club.texts ALTER COLUMN zstd SET DEFAULT '\\x00'",
        "schema club: the table 'texts' has 'zstd bytea NOT NULL DEFAULT' in place of 'zstd bytea NOT NULL'",
    ),
    "a column": (
        "ALTER TABLE club_names.people ADD COLUMN former text",
        "schema club_names: the table 'people' has 'former text', which this program did not make",
    ),
    "a check gone": (
        "ALTER TABLE club.journal DROP CONSTRAINT journal_leaf_check",
        "schema club: the table 'journal' has lost 'journal_leaf_check CHECK ((length(leaf) = 32))'",
    ),
    "a check that refuses": (
        "ALTER TABLE club.journal ADD CONSTRAINT no_more CHECK (position < 9)",
        "schema club: the table 'journal' has 'no_more CHECK ((\"position\" < 9))', which this program did not make",
    ),
    "an index of the journal": (
        "CREATE INDEX mine ON club.journal(kind)",
        "schema club: the table 'journal' has an index 'mine' that this program did not make",
    ),
    "an index of the names": (
        "CREATE INDEX mine ON club_names.people(name)",
        "index 'mine' on table 'people' is not of this program",
    ),
    "an index gone": (
        "DROP INDEX club_names.people_search_by_trigram",
        "schema club_names: the index 'people_search_by_trigram' is gone",
    ),
    "an index not valid": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'club.journal_key'::regclass",
        "schema club: the index 'journal_key' of the table 'journal' is not valid",
    ),
    "a view": (
        "CREATE VIEW club_names.everybody AS SELECT 1 AS one",
        "schema club_names: it has a view 'everybody' that this program did not make",
    ),
    "a table": ("CREATE TABLE club.ours(a int)", "schema club: it has a table 'ours'"),
    "rows from elsewhere": (
        "CREATE TABLE public.more() INHERITS (club.texts)",
        "schema club: the table 'texts' has rows of other tables in it",
    ),
    "a function": (
        "CREATE FUNCTION club_names.f() RETURNS int LANGUAGE sql AS 'SELECT 1'; "
        "REVOKE ALL ON FUNCTION club_names.f() FROM PUBLIC",
        "schema club_names: it has a function 'f' that this program did not make",
    ),
    "a publication": (
        "CREATE PUBLICATION everything FOR ALL TABLES",
        "schema club_names: the publication 'everything' sends names to others, who keep them: rows of about, changes",
    ),
    "the same publication of tokens": (
        "SELECT",
        "schema club_tokens: the publication 'everything' sends names to others, who keep them: rows of about, file",
    ),
    "statistics": (
        "ALTER TABLE club_names.people ALTER COLUMN name SET STATISTICS 100",
        "schema club_names: the server makes statistics of the column 'name' of the table 'people', which tell names",
    ),
    "a guard that never fires": (
        "DROP TRIGGER texts_never_changes ON club.texts; CREATE TRIGGER texts_never_changes BEFORE DELETE OR UPDATE OR "
        "TRUNCATE ON club.texts FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION club.never()",
        "schema club: the trigger 'texts_never_changes' of the table 'texts' was replaced by another one of this name",
    ),
    "a guard that calls another function": (
        "CREATE OR REPLACE FUNCTION public.never() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "DROP TRIGGER about_never_changes ON club.about; CREATE TRIGGER about_never_changes BEFORE DELETE OR UPDATE OR "
        "TRUNCATE ON club.about FOR EACH STATEMENT EXECUTE FUNCTION public.never()",
        "schema club: the trigger 'about_never_changes' of the table 'about' was replaced by another one of this name",
    ),
    "a word that the ledger left emptied": (  # so that nodes could go on recording where it was
        "CREATE OR REPLACE FUNCTION club.leave(place text) RETURNS void LANGUAGE sql SECURITY DEFINER "
        "SET search_path = pg_catalog, pg_temp AS ''",
        "schema club: the function 'leave' was replaced by another one of this name",
    ),
    "a function with the text of another": (
        "DO $do$ BEGIN EXECUTE replace(pg_get_functiondef('club_names.without_statistics'::regproc), "
        "(SELECT prosrc FROM pg_proc WHERE oid = 'club_names.without_statistics'::regproc), "
        "(SELECT prosrc FROM pg_proc WHERE oid = 'club_names.written_anew'::regproc)); END $do$",
        "schema club_names: the function 'without_statistics' was replaced by another one of this name",
    ),
    "a journal without its number": (
        "ALTER TABLE club.about DISABLE TRIGGER ALL; UPDATE club.about SET value = 'x' WHERE name = 'journal';"
        "ALTER TABLE club.about ENABLE TRIGGER ALL",
        "schema club: the table 'about' says 'x' of 'journal', which this program did not write",
    ),
    "a word about the journal": (
        "INSERT INTO club.about VALUES ('keeper', 'eve')",
        "schema club: the table 'about' says 'eve' of 'keeper', which this program did not write",
    ),
    "an index of another kind": (
        "DROP INDEX club_names.people_folds_by_name;"
        "CREATE UNIQUE INDEX people_folds_by_name ON club_names.people_folds(name)",
        "schema club_names: the index 'people_folds_by_name' of the table 'people_folds' was replaced by another one",
    ),
    "a view elsewhere": (
        "CREATE VIEW public.members AS SELECT name FROM club_names.people",
        "schema club_names: the view public.members shows rows of the table 'people'",
    ),
    "a copy elsewhere": (
        "CREATE MATERIALIZED VIEW public.kept AS SELECT * FROM club_names.reasons",
        "schema club_names: the materialized view public.kept keeps rows of the table 'reasons'",
    ),
    "a table that refers to names": (
        "CREATE TABLE public.guests(player bigint REFERENCES club_names.erasing)",
        "schema club_names: the table public.guests refers to the table 'erasing'",
    ),
    "a table that refers to the journal": (
        "CREATE TABLE public.noted(entry bigint REFERENCES club.journal)",
        "schema club: the table public.noted refers to the table 'journal'",
    ),
    "a table gone": ("DROP TABLE club_names.renaming", "schema club_names: the table 'renaming' is gone"),
}

RIGHTS = {
    "an owner": (
        "ALTER TABLE club.texts OWNER TO postgres",
        "schema club: the table 'texts' belongs to postgres, not to the owner of the schema",
    ),
    "an owner who logs in": (
        "ALTER ROLE club_owner LOGIN",
        "schema club: its owner club_owner may log in, and change and delete what is recorded",
    ),
    "a member of the owner": (
        "CREATE ROLE climber; GRANT club_names_owner TO climber",
        "schema club_names: climber has the rights of its owner club_names_owner",
    ),
    "a right of everybody": (
        "GRANT SELECT ON club_names.people TO PUBLIC",
        "schema club_names: everybody was granted what this program grants nobody: SELECT on the table 'people'",
    ),
    "a right to read hashes": (
        "GRANT SELECT ON club_tokens.sessions TO club_reader",
        "schema club_tokens: club_reader was granted what this program does not grant: SELECT on the table 'sessions'",
    ),
    "a right to empty the log": (
        "GRANT DELETE ON club_tokens.refusals TO club_names_writer",
        "schema club_tokens: club_names_writer was granted what this program does not grant: DELETE on the table 'ref",
    ),
    "a right too many": (
        "GRANT UPDATE (leaf) ON club.journal TO club_writer",
        "schema club: club_writer was granted what this program does not grant: UPDATE on the column 'leaf'",
    ),
    "a right to call": (
        "GRANT EXECUTE ON FUNCTION club_names.written_anew TO PUBLIC",
        "schema club_names: everybody was granted what this program grants nobody: EXECUTE on the function",
    ),
    "a right to make": (
        "GRANT CREATE ON SCHEMA club TO club_reader",
        "schema club: club_reader was granted what this program does not grant: CREATE on the schema",
    ),
    "a right to pass on": (
        "GRANT SELECT ON club_names.secret TO club_names_reader WITH GRANT OPTION",
        "schema club_names: club_names_reader may pass on to others: SELECT on the table 'secret'",
    ),
    "a right missing": (
        "REVOKE INSERT ON club.journal FROM club_writer",
        "schema club: club_writer lacks what this program granted: INSERT on the table 'journal'",
    ),
    "guards that never act": (
        "CREATE ROLE unguarded; ALTER ROLE unguarded SET session_replication_role = replica",
        "unguarded works with session_replication_role = replica here, so that no guard of the journal acts",
    ),
    "a role of its own": (
        "CREATE ROLE other; GRANT SELECT ON club_names.people TO other",
        "schema club_names: this program made one role that may read; now there are 2: club_names_reader, other",
    ),
}


@pytest.fixture(name="lone_server", scope="module", params=["oldest", "newest"])
def _lone_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server whose roles no other test sees: those of the whole server are changed here."""
    with running(needed(newest=request.param == "newest")) as server:
        yield server


def new_ledger(server: Server) -> str:
    """The address of a new database with an empty ledger, for its superuser."""
    address = server.new_database()
    PostgresJournal.create(address, SCHEMA).close()
    PostgresPeople.create(address, SCHEMA).close()
    tables = postgres_token_tables.statements(SCHEMA, Roles.of(f"{SCHEMA}_names"))
    run_as_superuser(server, address, "; ".join(tables))
    return address


def test_nothing_is_told_of_a_ledger_as_it_was_made(lone_server: Server) -> None:
    address = new_ledger(lone_server)
    assert server_faults(address, SCHEMA) == []
    database = address.rpartition("/")[2]
    user = f"audits_{database}"
    run_as_superuser(lone_server, address, f"CREATE USER {user} IN ROLE club_reader, club_names_reader")
    assert server_faults(lone_server.url(database, user), SCHEMA) == []


@pytest.mark.parametrize("cases", [OBJECTS, RIGHTS], ids=["objects", "rights"])
def test_what_is_foreign_or_missing_is_told_once(lone_server: Server, cases: dict[str, tuple[str, str]]) -> None:
    address = new_ledger(lone_server)
    try:
        for statements, _ in cases.values():
            run_as_superuser(lone_server, address, statements)
        faults = server_faults(address, SCHEMA)
    finally:
        run_as_superuser(lone_server, address, *UNDONE)
    for case, (_, words) in cases.items():
        assert len([fault for fault in faults if words in fault]) == 1, (case, faults)
    assert len(faults) == len(cases), faults


# What the cases did to the roles of the whole server.
UNDONE = (
    "ALTER ROLE club_owner NOLOGIN",
    *(
        f"DO $$ BEGIN IF to_regrole('{role}') IS NOT NULL THEN DROP OWNED BY {role}; DROP ROLE {role}; END IF; END $$"
        for role in ("climber", "other", "unguarded")
    ),
)


def test_tokens_that_are_not_there_are_told_in_one_sentence(lone_server: Server) -> None:
    address = new_ledger(lone_server)
    run_as_superuser(lone_server, address, "DROP SCHEMA club_tokens CASCADE")
    (fault,) = server_faults(address, SCHEMA)
    assert fault.startswith("schema club_tokens is not there: have its operator bring it back from a copy")
