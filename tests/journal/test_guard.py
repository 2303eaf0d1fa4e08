"""A writer knows its file: strangers' triggers, changed tables, moved files; and it counts what the file took."""

import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_store
from ledger.ledger import Ledger
from ledger.runtime import file_guard, sqlite
from tests.kit.clubs import open_ledger
from tests.kit.commands import Run
from tests.kit.games import game_of_2020, source_games
from tests.kit.people import heads
from tests.kit.tampering import execute

NEVER_UPDATES, NEVER_DELETES = (
    statement
    for statement in file_guard.split_statements(sqlite_store.ENTRIES[sqlite_store.LAYOUT])
    if "CREATE TRIGGER" in statement
)


def strict_import(ledger: Ledger) -> None:
    ledger.import_games(batch_games(source_games(30)), strict=True)


# How a ledger is written; each has something new to write.
WRITERS: dict[str, Callable[[Ledger], object]] = {
    "append": lambda ledger: ledger.append(game_of_2020("r2")),
    "append many": lambda ledger: ledger.append_many([game_of_2020("r2"), game_of_2020("r3")]),
    "register": lambda ledger: ledger.register("name:new", "New"),
    "import": lambda ledger: ledger.import_games(batch_games(source_games(30))),
    "large import": lambda ledger: ledger.import_games(batch_games(source_games(sqlite_store.MANY + 200))),
    "strict import": strict_import,
    "erase": lambda ledger: ledger.erase(2),
}
OF_THE_JOURNAL = tuple(name for name in WRITERS if name != "erase")
OF_THE_PEOPLE = ("register", "import", "large import", "strict import", "erase")

IGNORE = "BEGIN SELECT raise(IGNORE); END"
# A stranger's objects on tables of ours: file, statement, and what is to be dropped.
STRANGERS = {
    "swallows entries": ("club.db", f"CREATE TRIGGER t BEFORE INSERT ON journal {IGNORE}", "trigger"),
    "swallows games": (
        "club.db",
        f"CREATE TRIGGER t BEFORE INSERT ON journal WHEN new.key LIKE 'game:%' {IGNORE}",
        "trigger",
    ),
    "swallows nodes": ("club.db", f"CREATE TRIGGER t BEFORE INSERT ON nodes {IGNORE}", "trigger"),
    "swallows texts": ("club.db", f"CREATE TRIGGER t BEFORE INSERT ON texts {IGNORE}", "trigger"),
    "changes texts": (
        "club.db",
        "CREATE TRIGGER t AFTER INSERT ON texts BEGIN UPDATE texts SET zstd = x'00'; END",
        "trigger",
    ),
    "written in capitals": ("club.db", f"CREATE TRIGGER T BEFORE INSERT ON JOURNAL {IGNORE}", "trigger"),
    "only watches": ("club.db", "CREATE TRIGGER t AFTER INSERT ON journal BEGIN SELECT 1; END", "trigger"),
    "keeps texts out by an index": ("club.db", "CREATE UNIQUE INDEX t ON texts(length(zstd))", "index"),
    "keeps entries out by an index": ("club.db", "CREATE UNIQUE INDEX t ON journal(kind) WHERE position > 5", "index"),
    "swallows people": ("club.people.db", f"CREATE TRIGGER t BEFORE INSERT ON people {IGNORE}", "trigger"),
    "renames people": (
        "club.people.db",
        "CREATE TRIGGER t AFTER INSERT ON people BEGIN UPDATE people SET name = 'x' WHERE player = new.player; END",
        "trigger",
    ),
    "stops erasing": ("club.people.db", f"CREATE TRIGGER t BEFORE UPDATE ON people {IGNORE}", "trigger"),
    "undoes erasing": (
        "club.people.db",
        "CREATE TRIGGER t AFTER UPDATE ON people WHEN new.name IS NULL BEGIN UPDATE people SET name = old.name, "
        "identity = old.identity, salt = old.salt WHERE player = old.player; END",
        "trigger",
    ),
    "keeps a copy of who is erased": (
        "club.people.db",
        "CREATE TRIGGER t AFTER UPDATE ON people BEGIN INSERT INTO kept VALUES (old.name); END",
        "trigger",
    ),
    "has an index of names": ("club.people.db", "CREATE INDEX t ON people(name)", "index"),
}
# What is missing of ours, or changed: file, statements, how it is told.
CHANGES = {
    "no guard of updates": (
        "club.db", ["DROP TRIGGER journal_never_updates"], "trigger 'journal_never_updates' is missing",
    ),
    "no guard of deletes": (
        "club.db", ["DROP TRIGGER journal_never_deletes"], "trigger 'journal_never_deletes' is missing",
    ),
    "no guard of positions": (
        "club.db", ["DROP TRIGGER journal_takes_the_next_position"],
        "trigger 'journal_takes_the_next_position' is missing",
    ),
    "a guard that lets pass": (
        "club.db",
        ["DROP TRIGGER journal_never_deletes", re.sub(r"ABORT, '.*'", "IGNORE", NEVER_DELETES)],
        "trigger 'journal_never_deletes' is not as this program made it",
    ),
    "a guard on another table": (
        "club.db",
        ["DROP TRIGGER journal_never_updates", f"CREATE TRIGGER journal_never_updates BEFORE UPDATE ON texts {IGNORE}"],
        "trigger 'journal_never_updates' is not as this program made it",
    ),
    "another column": ("club.db", ["ALTER TABLE journal ADD COLUMN note TEXT"], "table 'journal' is not as this"),
    "no texts": ("club.db", ["DROP TABLE texts"], "table 'texts' is missing"),
    "a view for texts": (
        "club.db", ["ALTER TABLE texts RENAME TO other", "CREATE VIEW texts AS SELECT * FROM other"],
        "table 'texts' is missing",
    ),
    "another column of people": (
        "club.people.db", ["ALTER TABLE people ADD COLUMN note TEXT"], "table 'people' is not as this program made it",
    ),
}  # fmt: skip


def refused(club: Path, writer: str) -> str:
    """What a writer is refused with, before anything is written."""
    before = heads(club)
    with open_ledger(club) as ledger, pytest.raises(StorageError) as caught:
        WRITERS[writer](ledger)
    head, people = heads(club)
    assert head == before[0]
    if writer == "erase":
        assert people == before[1]
    told = str(caught.value)
    assert told.endswith("nothing was recorded")
    assert "\n" not in told
    return told


@pytest.mark.slow
@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_strangers_trigger_or_index_on_our_tables_stops_every_writer_and_is_named(
    stranger: str, club_of_three: Path
) -> None:
    file, statement, kind = STRANGERS[stranger]
    if "kept" in statement:
        execute(club_of_three.with_name(file), "CREATE TABLE kept(name)")
    execute(club_of_three.with_name(file), statement)
    table = re.search(r" ON (\w+)", statement)
    assert table is not None
    for writer in OF_THE_JOURNAL if file == "club.db" else OF_THE_PEOPLE:
        told = refused(club_of_three, writer)
        assert f"{file}: {kind} " in told
        assert f"on table '{table[1]}' is not of this program" in told
        assert "then run 'audit'" in told
    drop = re.search(r"remove it with '(.*?)', then", told)
    assert drop is not None
    execute(club_of_three.with_name(file), drop[1])
    with open_ledger(club_of_three) as ledger:
        for act in WRITERS.values():
            act(ledger)


@pytest.mark.parametrize("change", CHANGES)
def test_a_guard_that_is_missing_and_a_table_that_was_changed_stop_every_writer(
    change: str, club_of_three: Path
) -> None:
    file, statements, words = CHANGES[change]
    execute(club_of_three.with_name(file), *statements)
    for writer in OF_THE_JOURNAL if file == "club.db" else OF_THE_PEOPLE:
        told = refused(club_of_three, writer)
        assert f"{file}: {words}" in told
    mend = re.search(r"put it back with '(.*)'; nothing", told)
    assert (mend is None) == ("guard" not in change)
    if mend is not None:
        with closing(sqlite.sqlite3.connect(club_of_three)) as connection:
            connection.executescript(mend[1])
        with open_ledger(club_of_three) as ledger:
            ledger.append(game_of_2020("r2"))


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE _replica(seq INTEGER PRIMARY KEY)", "INSERT INTO _replica VALUES (1)"],
        ["CREATE VIEW entries AS SELECT position, kind FROM journal"],
        ["CREATE TABLE x(a)", "CREATE INDEX x_a ON x(a)", f"CREATE TRIGGER x_t BEFORE INSERT ON x {IGNORE}"],
        ["ANALYZE"],
        ["CREATE TABLE x(a)", "DROP TABLE x"],
        ["VACUUM"],
    ],
)
@pytest.mark.parametrize("file", ["club.db", "club.people.db"])
def test_what_touches_none_of_our_tables_stops_nobody(statements: list[str], file: str, club_of_three: Path) -> None:
    with closing(sqlite.sqlite3.connect(club_of_three.with_name(file), isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement.replace("FROM journal", "FROM sqlite_master").replace("position, kind", "*"))
    with open_ledger(club_of_three) as ledger:
        for act in WRITERS.values():
            act(ledger)


def test_the_same_text_with_other_blanks_is_ours(club_of_three: Path) -> None:
    execute(
        club_of_three,
        "DROP TRIGGER journal_never_updates",
        "CREATE TRIGGER journal_never_updates\n  BEFORE UPDATE ON journal\n\nBEGIN SELECT raise(ABORT, "
        "'the journal is append-only: correct a fact by a new entry'); END",
    )
    with open_ledger(club_of_three) as ledger:
        ledger.append(game_of_2020("r2"))


@pytest.mark.parametrize("writer", OF_THE_JOURNAL)
def test_a_trigger_that_comes_while_the_ledger_is_open_is_found(writer: str, club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger:
        ledger.append(game_of_2020("before"))
        execute(club_of_three, STRANGERS["swallows entries"][1])
        with pytest.raises(StorageError, match="trigger 't' on table 'journal' is not of this program"):
            WRITERS[writer](ledger)
        execute(club_of_three, "DROP TRIGGER t")
        WRITERS[writer](ledger)


@pytest.mark.slow
def test_the_writers_own_change_of_the_guard_disturbs_no_writer_beside_it(club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger, open_ledger(club_of_three) as other:
        for turn in range(3):
            ledger.import_games(batch_games(source_games(1_500, seed=turn), 1_200))
            other.append(game_of_2020(f"t{turn}"))
            other.import_games(batch_games(source_games(1_500, seed=turn + 10), 1_200))
    with closing(sqlite.sqlite3.connect(club_of_three)) as connection:
        assert list(file_guard.schema_faults(connection, sqlite_store.SCHEMAS[sqlite_store.LAYOUT])) == []


def test_the_schema_is_looked_at_once_and_again_when_it_changed(club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger:
        asked: list[str] = []
        vars(ledger.journal)["_connection"].set_trace_callback(asked.append)
        for number in range(5):
            ledger.append(game_of_2020(f"a{number}"))
        assert sum("sqlite_master" in statement for statement in asked) == 1
        execute(club_of_three, "CREATE TABLE x(a)")
        for number in range(5):
            ledger.append(game_of_2020(f"b{number}"))
        assert sum("sqlite_master" in statement for statement in asked) == 2
        assert sum("schema_version" in statement for statement in asked) == 10


@pytest.mark.parametrize("how", ["replaced", "deleted"])
@pytest.mark.parametrize("file", ["club.db", "club.people.db"])
def test_a_file_that_was_moved_away_is_not_written_any_more(file: str, how: str, club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger:
        ledger.register("name:before", "Before")
        moved = club_of_three.with_name(file).rename(club_of_three.with_name("away"))
        if how == "replaced":
            shutil.copy(moved, club_of_three.with_name(file))
        for writer in OF_THE_JOURNAL if file == "club.db" else OF_THE_PEOPLE:
            with pytest.raises(StorageError, match=rf"{file}: was moved, deleted or replaced while it was open"):
                WRITERS[writer](ledger)


@pytest.mark.parametrize("writer", OF_THE_JOURNAL)
def test_an_older_copy_written_over_the_open_journal_is_found(writer: str, club_of_three: Path) -> None:
    """In its place, byte by byte, so that it is the same file to the system."""
    with open_ledger(club_of_three) as ledger:
        vars(ledger.journal)["_connection"].execute("PRAGMA wal_checkpoint(TRUNCATE)")
        older = club_of_three.read_bytes()
        ledger.append_many([game_of_2020("a"), game_of_2020("b")])
        vars(ledger.journal)["_connection"].execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with club_of_three.open("r+b") as file:
            file.truncate(0)
            file.write(older)
        execute(club_of_three, "CREATE TABLE x(a)")  # any writer beside makes it look again
        with pytest.raises(LedgerError, match=r"was in the journal while it was open and is gone|malformed"):
            WRITERS[writer](ledger)


def test_a_journal_that_was_cut_while_it_was_open_takes_nothing_more(club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger:
        ledger.append(game_of_2020("last"))
        with closing(sqlite.sqlite3.connect(club_of_three)) as connection, connection:
            connection.execute("DROP TRIGGER journal_never_deletes")
            connection.execute("DELETE FROM journal WHERE key = 'game:last'")
            connection.execute(NEVER_DELETES)
        for act in (ledger.head, lambda: ledger.append(game_of_2020("more"))):
            with pytest.raises(CorruptError, match="entry 6: was in the journal while it was open and is gone"):
                act()


def test_a_last_entry_that_was_exchanged_while_the_journal_was_open_is_found(club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger:
        ledger.append(game_of_2020("last"))
        with closing(sqlite.sqlite3.connect(club_of_three)) as connection, connection:
            connection.execute("DROP TRIGGER journal_never_updates")
            connection.execute("UPDATE journal SET leaf = zeroblob(32) WHERE key = 'game:last'")
            connection.execute(NEVER_UPDATES)
        with pytest.raises(CorruptError, match="entry 6: was in the journal while"):
            ledger.append(game_of_2020("more"))
        with open_ledger(club_of_three) as other:
            other.append(game_of_2020("others"))  # which does not know it to be false
        with pytest.raises(CorruptError, match="entry 6: was in the journal while"):
            ledger.append(game_of_2020("more"))


def test_the_trigger_of_the_issue_makes_no_command_say_that_games_were_recorded(
    club_of_three: Path, tmp_path: Path, run: Run
) -> None:
    execute(club_of_three, STRANGERS["swallows entries"][1])
    (tmp_path / "games.csv").write_text("key,white,black,result,half_moves,ended_at\n1,Xan,Yul,1-0,40,2021-03-01\n")
    done = run("import", club_of_three, tmp_path / "games.csv")
    assert (done.code, "games recorded" in done.out + done.err) == (1, False)
    assert 'DROP TRIGGER "t"' in done.err
