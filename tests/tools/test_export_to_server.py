"""The command ``export --to``: readers meanwhile, killed commands, what is others', what it refuses in which words."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger.answers.exports import postgres_copy
from ledger.answers.exports.postgres_copy import copy_to_postgres
from ledger.answers.exports.postgres_tables import postgres_tables
from ledger.ledger import Ledger
from ledger.runtime.lazy import psycopg
from tests.kit.backups import SCHEMA, Rows, asked, columns_there, differences, tables_there
from tests.kit.clubs import record_game
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tests.kit.places import ROOT
from tests.kit.postgres import Server


@pytest.fixture(name="read_by_others")
def _read_by_others(oldest_server: Server) -> str:
    """The address of an empty database on a server that has users ``member`` and ``reader``."""
    return oldest_server.new_database()


def everything(url: str) -> dict[str, Rows]:
    """Each relation of others' and ours with its rows, where it has any, to be compared."""
    relations = asked(
        url,
        "SELECT format('%I.%I', nspname, relname), relkind::text FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1",
    )
    return {name: asked(url, f"SELECT * FROM {name}") if kind in "rvS" else [] for name, kind in relations}


def exported_words(club: Path, url: str, *more: str) -> list[str | Path]:
    return ["export", club, "--to", url, "--schema", SCHEMA, *more]


def test_it_says_what_was_written_and_a_second_time_that_nothing_was(
    sample_club: Path, read_by_others: str, run: Run
) -> None:
    done = run(*exported_words(sample_club, read_by_others))
    assert (done.code, done.err) == (0, "names are left out; --names puts them in\n")
    lines = done.out.splitlines()
    assert lines[0] == "ratings.games: 900 rows, 900 new or changed"
    assert lines[-1] == "ratings.origin: 1 row, 1 new or changed"
    done = run(*exported_words(sample_club, read_by_others, "--names"))
    assert done.err == ""
    assert "ratings.games: 900 rows, 0 new or changed" in done.out
    assert "ratings.names: 16 rows, 16 new or changed" in done.out
    with Ledger.open(sample_club) as ledger:
        assert differences(ledger, read_by_others, names=True) == []


def test_what_was_known_then_and_what_an_approval_would_bring_can_be_copied(
    sample_club: Path, read_by_others: str, run: Run
) -> None:
    assert run(*exported_words(sample_club, read_by_others, "--known-at", "400")).code == 0
    ((position, root),) = asked(read_by_others, f"SELECT position, root FROM {SCHEMA}.origin")
    with Ledger.open(sample_club) as ledger:
        assert (position, root) == (400, ledger.journal.root_at(400).hex())
        assert asked(read_by_others, f"SELECT max(position) FROM {SCHEMA}.games") == [(400,)]
        game = next(ledger.rows("games", "reason IS NULL LIMIT 1"))
        proposed = ledger.propose([ledger.corrections.drafts.annul(f"game:{game['key']}")], reason="a fake", by="eve")
        size = ledger.head().size
    assert run(*exported_words(sample_club, read_by_others, "--as-if", str(proposed.proposal))).code == 0
    assert asked(read_by_others, f"SELECT position, proposal FROM {SCHEMA}.origin") == [(size, proposed.proposal)]
    reason = f"SELECT reason FROM {SCHEMA}.games WHERE key = %s"
    assert asked(read_by_others, reason, [game["key"]]) == [("voided",)]
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    assert asked(read_by_others, reason, [game["key"]]) == [(None,)]
    assert asked(read_by_others, f"SELECT position, proposal FROM {SCHEMA}.origin") == [(size, None)]
    assert size == SAMPLE_ENTRIES + 1


@contextmanager
def under_way(club: Path, url: str) -> Iterator[None]:
    """Within the block an export of the club has written all tables but the last, and goes on after it."""
    with psycopg.connect(url) as connection, ThreadPoolExecutor(1) as elsewhere:
        connection.execute(f"LOCK TABLE {SCHEMA}.origin IN ROW EXCLUSIVE MODE")

        def export() -> None:
            with Ledger.open(club) as ledger:
                copy_to_postgres(ledger, url, SCHEMA)

        going = elsewhere.submit(export)
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        while not asked(url, waits, [f"{SCHEMA}.origin"]):
            assert not going.done(), going.exception()
            time.sleep(0.02)
        yield
        connection.rollback()
        going.result()


def test_readers_see_the_old_tables_whole_or_the_new_ones_and_wait_for_nothing(
    sample_club: Path, read_by_others: str, run: Run
) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with Ledger.open(sample_club) as ledger:
        record_game(ledger, "late", "2004-10-05")
    before = everything(read_by_others)
    with psycopg.connect(read_by_others) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        assert reader.execute("SELECT 1").fetchall() == [(1,)]  # its snapshot is taken, no table is touched
        with under_way(sample_club, read_by_others), psycopg.connect(read_by_others) as another:
            another.execute("SET lock_timeout = '1ms'")  # whoever waits for a lock at all fails
            for table in tables_there(read_by_others):
                rows = another.execute(f"SELECT * FROM {SCHEMA}.{table}").fetchall()
                assert rows == before[f"{SCHEMA}.{table}"]
        # the transaction that began before goes on to see what stood then
        assert reader.execute("SELECT * FROM ratings.games").fetchall() == before["ratings.games"]
        assert reader.execute("SELECT * FROM ratings.origin").fetchall() == before["ratings.origin"]
        reader.rollback()
        assert reader.execute("SELECT max(position) FROM ratings.games").fetchall() == [(SAMPLE_ENTRIES + 1,)]
        assert reader.execute("SELECT position FROM ratings.origin").fetchall() == [(SAMPLE_ENTRIES + 1,)]


def test_a_second_export_meanwhile_is_refused(sample_club: Path, read_by_others: str, run: Run) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with under_way(sample_club, read_by_others):
        done = run(*exported_words(sample_club, read_by_others))
        assert (done.code, done.out) == (1, "")
        assert "schema 'ratings': another export into it is under way: wait for it to end" in done.err
        assert done.err.count("\n") == 1
    assert run(*exported_words(sample_club, read_by_others)).code == 0


KILLED = """
import os, signal, sys
from ledger.answers.exports import postgres_copy
from tools import cli
step, table, *words = sys.argv[1:]
whole = getattr(postgres_copy._Copy, step)
def killed(self, at, *more, **named):
    done = whole(self, at, *more, **named)
    if at.name == table:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
setattr(postgres_copy._Copy, step, killed)
sys.exit(cli.main(words))
"""


@pytest.mark.parametrize(
    ("step", "table"),
    [("_staged", "history"), ("_replaced", "games"), ("_replaced", "origin"), ("_describe", "origin")],
)
def test_a_killed_command_leaves_what_stood_there(
    step: str, table: str, sample_club: Path, read_by_others: str, run: Run
) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with Ledger.open(sample_club) as ledger:
        record_game(ledger, "late", "2004-10-05")
    before = everything(read_by_others)
    words = [str(word) for word in exported_words(sample_club, read_by_others)]
    done = subprocess.run([sys.executable, "-c", KILLED, step, table, *words], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    while asked(read_by_others, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"):
        time.sleep(0.02)  # until the server has seen that nobody is there
    assert everything(read_by_others) == before
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with Ledger.open(sample_club) as ledger:
        assert differences(ledger, read_by_others) == []


@pytest.mark.parametrize(("step", "table"), [("_new", "history"), ("_describe", "origin")])
def test_a_killed_first_command_leaves_nothing(step: str, table: str, sample_club: Path, read_by_others: str) -> None:
    words = [str(word) for word in exported_words(sample_club, read_by_others)]
    done = subprocess.run([sys.executable, "-c", KILLED, step, table, *words], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert everything(read_by_others) == {}
    assert asked(read_by_others, "SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]) == []


def test_grants_views_and_foreign_keys_of_others_stay(sample_club: Path, read_by_others: str, run: Run) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    for statement in (
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO reader",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO reader",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {SCHEMA} GRANT SELECT ON TABLES TO reader",
        f"CREATE VIEW public.games_of AS SELECT player, max(n) AS games FROM {SCHEMA}.history GROUP BY player",
        f"CREATE TABLE public.members(player bigint REFERENCES {SCHEMA}.players)",
        f"INSERT INTO public.members SELECT player FROM {SCHEMA}.players",
    ):
        asked(read_by_others, statement)
    (before,) = asked(read_by_others, "SELECT sum(games) FROM public.games_of")[0]
    with Ledger.open(sample_club) as ledger:
        record_game(ledger, "late", "2004-10-05")
    assert run(*exported_words(sample_club, read_by_others, "--names")).code == 0
    assert asked(read_by_others, "SELECT sum(games) FROM public.games_of") == [(before + 2,)]
    as_reader = read_by_others.replace("postgres@", "reader@")
    for table in tables_there(read_by_others):
        asked(as_reader, f"SELECT * FROM {SCHEMA}.{table} LIMIT 1")
    assert len(asked(as_reader, f"SELECT name FROM {SCHEMA}.names")) == 16


def test_a_row_that_others_refer_to_is_not_taken_away(sample_club: Path, read_by_others: str, run: Run) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    asked(read_by_others, f"INSERT INTO {SCHEMA}.players VALUES (99, '2000', 'full')")
    asked(read_by_others, f"CREATE TABLE public.members(player bigint REFERENCES {SCHEMA}.players)")
    asked(read_by_others, "INSERT INTO public.members VALUES (99)")
    before = everything(read_by_others)
    done = run(*exported_words(sample_club, read_by_others))
    assert (done.code, done.out) == (1, "")
    assert "table 'players': " in done.err
    assert "members" in done.err
    assert "a table of others refers to a row that is no more" in done.err
    assert everything(read_by_others) == before


NOTHING = "CREATE FUNCTION public.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
KEEPING_AWAY = [
    f"CREATE RULE r AS ON INSERT TO {SCHEMA}.games DO INSTEAD NOTHING",
    f"CREATE RULE r AS ON DELETE TO {SCHEMA}.games WHERE old.position = 99 DO INSTEAD NOTHING",
    f"{NOTHING}; CREATE TRIGGER t BEFORE INSERT ON {SCHEMA}.games FOR EACH ROW EXECUTE FUNCTION public.nothing()",
    f"{NOTHING}; CREATE TRIGGER t BEFORE UPDATE ON {SCHEMA}.games FOR EACH ROW EXECUTE FUNCTION public.nothing()",
]


@pytest.mark.parametrize("statements", KEEPING_AWAY)
def test_rows_that_a_trigger_or_a_rule_of_others_keeps_away_are_told(
    statements: str, sample_club: Path, read_by_others: str, run: Run
) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    # one row is to be inserted again, one updated, one deleted
    asked(read_by_others, f"UPDATE {SCHEMA}.games SET round = 'x' WHERE position = 21")
    asked(read_by_others, f"UPDATE {SCHEMA}.games SET position = 9999 WHERE position = 20")
    asked(read_by_others, statements.replace("position = 99", "position = 9999"))
    before = everything(read_by_others)
    done = run(*exported_words(sample_club, read_by_others))
    assert (done.code, done.out, everything(read_by_others)) == (1, "", before)
    assert (
        "table 'games': of 3 rows that differ 2 can be written; a trigger or a rule of others keeps the rest"
        in done.err
    )


FOREIGN = [
    ("CREATE TABLE ratings.games(x int)", "holds ['games'], which this program did not make"),
    ("CREATE VIEW ratings.pools AS SELECT 1 AS x", "holds ['pools'], which this program did not make"),
    ("CREATE SEQUENCE ratings.names", "holds ['names'], which this program did not make"),
    (
        "CREATE TABLE ratings.t(x int); CREATE INDEX games_of_white ON ratings.t(x)",
        "holds ['games_of_white'], which this program did not make",
    ),
    ("CREATE TABLE ratings.journal(position bigint)", "holds a journal: give a schema of its own"),
    ("CREATE TYPE ratings.games AS (x int)", "holds ['games'], which this program did not make"),
    ("CREATE TYPE ratings.games AS ENUM ('a')", "something of others has the name: give another --schema"),
]


@pytest.mark.parametrize(("statements", "says"), FOREIGN)
def test_what_others_made_is_not_overwritten(
    statements: str, says: str, sample_club: Path, read_by_others: str, run: Run
) -> None:
    for statement in ["CREATE SCHEMA ratings", *statements.split("; ")]:
        asked(read_by_others, statement)
    before = everything(read_by_others)
    done = run(*exported_words(sample_club, read_by_others, "--names"))
    assert (done.code, done.out) == (1, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert everything(read_by_others) == before


def test_other_tables_of_the_schema_and_a_column_of_others_are_left(
    sample_club: Path, read_by_others: str, run: Run
) -> None:
    asked(read_by_others, "CREATE SCHEMA ratings")
    asked(read_by_others, "CREATE TABLE ratings.clubs AS SELECT 'Riga' AS town")
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    assert asked(read_by_others, "SELECT * FROM ratings.clubs") == [("Riga",)]
    asked(read_by_others, "ALTER TABLE ratings.players ADD COLUMN phone text DEFAULT '112'")
    before = everything(read_by_others)
    done = run(*exported_words(sample_club, read_by_others))
    assert done.code == 1
    assert "table 'players' has columns ['phone'], which this program did not make" in done.err
    assert everything(read_by_others) == before


def test_a_copy_of_another_ledger_is_not_overwritten(
    sample_club: Path, empty_club: Path, read_by_others: str, run: Run, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(sample_club.parent, tmp_path / "copy")) / sample_club.name
    for path, key in ((sample_club, "late"), (copy, "later")):
        with Ledger.open(path) as ledger:
            record_game(ledger, key, "2004-10-05")
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    before = everything(read_by_others)
    for other in (empty_club, copy):  # of another beginning, and of the same one with another game since
        done = run(*exported_words(other, read_by_others))
        assert done.code == 1
        assert f"holds a copy of another ledger (position {SAMPLE_ENTRIES + 1}, root " in done.err
        assert everything(read_by_others) == before


def test_names_on_which_others_depend_are_not_taken_away(sample_club: Path, read_by_others: str, run: Run) -> None:
    assert run(*exported_words(sample_club, read_by_others, "--names")).code == 0
    asked(read_by_others, f"CREATE VIEW public.who AS SELECT name FROM {SCHEMA}.names")
    before = everything(read_by_others)
    done = run(*exported_words(sample_club, read_by_others))
    assert (done.code, done.out) == (1, "")
    assert "table 'names': " in done.err
    assert "view who depends on table ratings.names" in done.err.replace("view public.who", "view who")
    assert everything(read_by_others) == before


def test_who_may_not_make_the_schema_or_the_tables_is_told_so(sample_club: Path, read_by_others: str, run: Run) -> None:
    as_member = read_by_others.replace("postgres@", "member@")
    done = run(*exported_words(sample_club, as_member))
    assert done.code == 1
    assert "permission denied for database" in done.err
    assert "or to have CREATE on the database while the schema is not there yet; nothing was changed" in done.err
    asked(read_by_others, f"CREATE SCHEMA {SCHEMA}")
    done = run(*exported_words(sample_club, as_member))
    assert done.code == 1
    assert "this role may not do that: it has to be the owner of the schema" in done.err
    asked(read_by_others, f"ALTER SCHEMA {SCHEMA} OWNER TO member")
    assert run(*exported_words(sample_club, as_member)).code == 0
    asked(read_by_others, f"ALTER TABLE {SCHEMA}.games OWNER TO postgres")
    before = everything(read_by_others)
    with Ledger.open(sample_club) as ledger:
        record_game(ledger, "late", "2004-10-05")
    done = run(*exported_words(sample_club, as_member))
    assert done.code == 1
    assert "table 'games': " in done.err
    assert everything(read_by_others) == before


@pytest.mark.outside
def test_a_password_is_refused_in_an_address_and_never_shown(sample_club: Path, run: Run) -> None:
    for address in ("postgresql://eve:s3cret@127.0.0.1/chess", "postgresql://127.0.0.1/chess?password=s3cret"):
        done = run(*exported_words(sample_club, address))
        assert done.code == 1
        assert "has a password in it" in done.err
        assert "s3cret" not in done.err + done.out


def test_a_server_that_is_not_there_and_a_database_that_is_not(
    sample_club: Path, oldest_server: Server, run: Run
) -> None:
    done = run(*exported_words(sample_club, "postgresql://postgres@127.0.0.1:1/chess"))
    assert done.code == 1
    assert "the server cannot be reached" in done.err
    done = run(*exported_words(sample_club, oldest_server.url("chess")))
    assert done.code == 1
    assert "the server has no database 'chess'" in done.err


@pytest.mark.slow
def test_without_psycopg_it_says_what_to_install(sample_club: Path) -> None:
    code = "import sys; sys.modules['psycopg'] = None; from tools import cli; sys.exit(cli.main(sys.argv[1:]))"
    words = [str(word) for word in exported_words(sample_club, "postgresql://127.0.0.1/chess")]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs psycopg, which is not installed: pip install 'rating-ledger[postgres]'" in done.stderr
    assert "Traceback" not in done.stderr


ADDRESS = "postgresql://ledger@db/chess"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--to", ADDRESS], "--to needs --schema"),
        (["--schema", "ratings"], "--schema goes with --to"),
        (["games", "--schema", "ratings", "-o", "x.csv"], "--schema goes with --to"),
        (["--to", "ratings.db", "--schema", "ratings"], "--to takes the address of a database"),
        (["--to", ADDRESS, "--schema", "ratings", "games"], "goes without games"),
        (["--to", ADDRESS, "--schema", "ratings", "-o", "x.csv"], "goes without --output"),
        (["--to", ADDRESS, "--schema", "ratings", "--raw", "--format", "csv"], "goes without --format, --raw"),
        (["--to", ADDRESS, "--schema", "ratings", "--pool", "p", "--at", "2004"], "goes without --pool, --at"),
        (["--to", ADDRESS, "--schema", "r", "--known-at", "1", "--as-if", "1"], "give one of the two"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    words: list[str], says: str, sample_club: Path, run: Run
) -> None:
    done = run("export", sample_club, *words)
    assert (done.code, done.out) == (2, "")
    assert says in " ".join(done.err.split())


def test_who_changes_the_rows_meanwhile_is_waited_for_and_named(
    sample_club: Path, read_by_others: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_copy, "PATIENCE", 0.1)
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with psycopg.connect(read_by_others) as other:
        other.execute("UPDATE ratings.pools SET name = 'x'")
        done = run(*exported_words(sample_club, read_by_others))
        assert done.code == 1
        assert "table 'pools': canceling statement due to lock timeout: somebody else changes the same rows" in done.err
    assert run(*exported_words(sample_club, read_by_others)).code == 0


def test_a_copy_that_an_earlier_release_made_is_brought_to_the_tables_of_this_one(
    sample_club: Path, read_by_others: str, run: Run
) -> None:
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    for statement in (
        "ALTER TABLE ratings.games DROP COLUMN time_loss",
        "ALTER TABLE ratings.origin DROP COLUMN proposal",
        "ALTER TABLE ratings.players ADD COLUMN title text",
        "COMMENT ON COLUMN ratings.players.title IS 'as an earlier release had it'",
        "DROP INDEX ratings.games_of_black",
    ):
        asked(read_by_others, statement)
    assert run(*exported_words(sample_club, read_by_others)).code == 0
    with Ledger.open(sample_club) as ledger:
        assert differences(ledger, read_by_others) == []
        assert {table.name for table in postgres_tables(ledger)} <= tables_there(read_by_others)
    assert "proposal" in columns_there(read_by_others, "origin")
    assert asked(read_by_others, "SELECT 1 FROM pg_indexes WHERE indexname = 'games_of_black'") == [(1,)]
