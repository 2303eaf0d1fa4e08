"""The documented tables on a server of PostgreSQL, 15 and the newest: the rows of the views to the last bit."""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from ledger.answers import querying
from ledger.answers.exports import postgres_copy
from ledger.answers.exports.postgres_copy import copy_to_postgres
from ledger.answers.exports.postgres_tables import COPY_MARK
from ledger.errors import MalformedError, ProjectionError, StorageError
from ledger.facts.events import Event, GameRecorded
from ledger.ledger import Ledger
from ledger.ratings.fact_projector import DeclaredFactProjector, FactRows
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.projector import Kept
from ledger.runtime import postgres
from tests.kit.backups import SCHEMA, asked, columns_there, differences, key_there, tables_there
from tests.kit.clubs import open_ledger, record_game, take_made_up_games
from tests.kit.every_table import make_club_with_every_table
from tests.kit.games import game_recorded, scheme_adopted
from tests.kit.plugins import CLIMBS, OF_FACTS, SURPLUSES, WIN_STREAKS
from tests.kit.postgres import Server

pytestmark = pytest.mark.outside  # PostgreSQL

ERASED = 5
PLUGINS = (*BUILT_IN, WIN_STREAKS, SURPLUSES, CLIMBS, *OF_FACTS)


@pytest.fixture(name="database")
def _database(each_server: Server) -> str:
    """The address of an empty database."""
    return each_server.new_database()


@pytest.fixture(name="one_database")
def _one_database(oldest_server: Server) -> str:
    """The address of an empty database on the oldest server, for what is this program's own to say."""
    return oldest_server.new_database()


@pytest.fixture(name="club_to_copy", scope="module")
def _club_to_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a row in every table; to be copied before it is written."""
    return make_club_with_every_table(tmp_path_factory.mktemp("club"), 60)


@pytest.fixture(name="full_club")
def _full_club(club_to_copy: Path, tmp_path: Path) -> Iterator[Ledger]:
    """A copy of it, open, with plug-ins of each shape."""
    folder = Path(shutil.copytree(club_to_copy.parent, tmp_path / "full"))
    with Ledger.open(folder / "club.db", projectors=PLUGINS) as ledger:
        ledger.ensure_up_to_date()
        yield ledger


def changed(copied: list[postgres_copy.CopiedTable]) -> dict[str, int]:
    return {table.table: table.changed for table in copied if table.changed}


@pytest.mark.parametrize("names", [False, True])
def test_every_documented_table_has_the_rows_of_the_views_to_the_last_bit(
    names: bool, full_club: Ledger, database: str
) -> None:
    copied = copy_to_postgres(full_club, database, SCHEMA, names=names)
    assert differences(full_club, database, names=names) == []
    counted = {row.table: row.rows for row in querying.readable_tables(full_club) if row.rows is not None}
    told = {table.table: table.rows for table in copied}
    assert {name: told[name] for name in told.keys() & counted.keys()} == {
        name: counted[name] for name in told.keys() & counted.keys()
    }
    assert told["win_streaks"] > 0 < told["long_games"]
    assert told["tournament_performance"] > 0 < told["corrections"]


@pytest.mark.usefixtures("by_columns")
def test_many_rows_are_read_by_a_process_beside_and_are_the_same(
    tmp_path: Path, one_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.answers.exports.exporting.FEW_ENTRIES", 0)
    monkeypatch.setattr("ledger.answers.exports.postgres_tables._ROWS", 700)
    monkeypatch.setattr("ledger.answers.exports.columns._ROWS_A_PART", 300)
    with open_ledger(take_made_up_games(tmp_path, 3_000, 1_000) / "club.db") as ledger:
        seen: list[tuple[str, int, int]] = []
        copy_to_postgres(ledger, one_database, SCHEMA, progress=lambda *words: seen.append(words))
        assert differences(ledger, one_database) == []
    games = [done for what, done, _ in seen if what == "games"]
    assert games == [700, 1_400, 2_100, 2_800, 3_000]
    assert {total for what, _, total in seen if what == "games"} == {3_000}


def test_what_query_says_of_tables_and_columns_stands_as_comments(full_club: Ledger, one_database: str) -> None:
    copy_to_postgres(full_club, one_database, SCHEMA, names=True)
    said: dict[str, str] = dict(
        asked(
            one_database,
            "SELECT c.relname::text, obj_description(c.oid, 'pg_class') FROM pg_class AS c WHERE relkind = 'r' "
            "AND relnamespace = %s::regnamespace",
            [SCHEMA],
        )
    )
    described = querying.view_tables(full_club)
    assert {name: said[name] for name in described} == {
        name: f"{doc.doc} {COPY_MARK}" for name, doc in described.items()
    }
    columns = asked(
        one_database,
        "SELECT table_name::text, column_name::text, data_type::text, col_description(format('%%I.%%I', table_schema, "
        "table_name)::regclass, ordinal_position) FROM information_schema.columns WHERE table_schema = %s",
        [SCHEMA],
    )
    types = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": "text", "BLOB": "bytea"}
    there = {(table, column): (kind, comment) for table, column, kind, comment in columns}
    for row in querying.readable_columns(full_club):
        if row.table != "journal":
            kind, comment = there.pop((row.table, row.column))
            assert row.table == "names" or kind == types[str(row.type)]
            assert comment.startswith(row.says)
            assert row.unit is None or f"({row.unit})" in comment
            assert row.references is None or f"a value of {row.references}" in comment
    assert {table for table, _ in there} == {"origin"}


def test_names_are_those_of_query_and_nothing_else_tells_who_people_are(full_club: Ledger, one_database: str) -> None:
    copy_to_postgres(full_club, one_database, SCHEMA, names=True)
    rows = [tuple(row.values()) for row in querying.query(full_club, "SELECT * FROM names ORDER BY player")]
    assert asked(one_database, f"SELECT player, name, identity FROM {SCHEMA}.names ORDER BY player") == rows
    assert ERASED not in {player for player, _, _ in rows}
    assert ERASED in {player for (player,) in asked(one_database, f"SELECT player FROM {SCHEMA}.players")}
    # no statistics of them, in which they would stand after an erasure
    asked(one_database, "ANALYZE")
    assert (
        asked(one_database, "SELECT attname FROM pg_stats WHERE schemaname = %s AND tablename = 'names'", [SCHEMA])
        == []
    )
    copied = copy_to_postgres(full_club, one_database, SCHEMA)
    assert "names" not in {table.table for table in copied} | tables_there(one_database)
    assert "birth_year" not in columns_there(one_database, "players")
    assert differences(full_club, one_database) == []
    copy_to_postgres(full_club, one_database, SCHEMA, names=True)
    assert differences(full_club, one_database, names=True) == []


def test_indexes_and_keys_are_those_of_the_views(full_club: Ledger, one_database: str) -> None:
    copy_to_postgres(full_club, one_database, SCHEMA)
    there = {
        name for (name,) in asked(one_database, "SELECT indexname FROM pg_indexes WHERE schemaname = %s", [SCHEMA])
    }
    rows = full_club.views.connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    here = {name for (name,) in rows}
    assert here - there == {"originals_of_players"}  # by parts of JSON, for games that are told again
    assert {name for name in there - here if not name.endswith("_pkey")} == {"tournament_performance_by_tournament"}
    assert key_there(one_database, "history") == ["pool", "player", "n"]


def test_what_stands_already_is_not_written_again(full_club: Ledger, database: str) -> None:
    assert "history" in changed(copy_to_postgres(full_club, database, SCHEMA))
    oids = asked(database, "SELECT oid FROM pg_class WHERE relkind IN ('r', 'i') ORDER BY 1")
    assert changed(copy_to_postgres(full_club, database, SCHEMA)) == {}
    assert asked(database, "SELECT oid FROM pg_class WHERE relkind IN ('r', 'i') ORDER BY 1") == oids


def test_what_was_recorded_corrected_and_erased_since_is_written(full_club: Ledger, database: str) -> None:
    before = copy_to_postgres(full_club, database, SCHEMA, names=True)
    full_club.append(game_recorded("late", white=1, black=2, half_moves=60, ended_at="2004-10-05"))
    full_club.erase(7)
    full_club.ensure_up_to_date()
    after = copy_to_postgres(full_club, database, SCHEMA, names=True)
    assert differences(full_club, database, names=True) == []
    sizes = {table.table: table.rows for table in before}
    assert changed(after)["games"] == 1
    assert 0 < changed(after)["history"] < sizes["history"] + 2
    assert changed(after)["names"] == 1
    assert asked(database, f"SELECT position, root, proposal, names FROM {SCHEMA}.origin") == [
        (full_club.head().size, full_club.head().root.hex(), None, 1)
    ]


def test_what_somebody_changed_there_is_put_right_to_the_last_bit(full_club: Ledger, database: str) -> None:
    copy_to_postgres(full_club, database, SCHEMA)
    asked(database, f"UPDATE {SCHEMA}.history SET expected_score = -expected_score WHERE n = 1")
    asked(database, f"UPDATE {SCHEMA}.history SET rating_squares = '-0' WHERE n = 2")
    asked(database, f"UPDATE {SCHEMA}.history SET rating_sum = 'NaN' WHERE n = 3")
    asked(database, f"DELETE FROM {SCHEMA}.players WHERE player = 3")
    asked(database, f"INSERT INTO {SCHEMA}.pools VALUES (9, 'blitz', 1)")
    written = changed(copy_to_postgres(full_club, database, SCHEMA))
    assert written.keys() == {"history", "players", "pools"}
    assert differences(full_club, database) == []


def test_a_ledger_without_games_and_one_without_anything_are_copied(tmp_path: Path, database: str) -> None:
    with Ledger.create(tmp_path / "new.db") as ledger:
        copied = copy_to_postgres(ledger, database, SCHEMA, names=True)
        assert {table.table: table.rows for table in copied if table.rows}.keys() >= {"pools", "eras", "origin"}
        assert differences(ledger, database, names=True) == []
        ledger.register("name:ann", "Ann")
        copy_to_postgres(ledger, database, SCHEMA, names=True)
        assert differences(ledger, database, names=True) == []
        assert asked(database, f"SELECT name FROM {SCHEMA}.names") == [("Ann",)]


def test_the_name_of_a_schema_may_have_any_letters(tmp_path: Path, one_database: str) -> None:
    odd = ['Club "A"; DROP SCHEMA public --', "Ратинги %s it's \\ 1", "s" * 63]
    with open_ledger(tmp_path / "club.db") as ledger:
        for schema in odd:
            assert changed(copy_to_postgres(ledger, one_database, schema))
            assert changed(copy_to_postgres(ledger, one_database, schema)) == {}
    there = {name for (name,) in asked(one_database, "SELECT nspname FROM pg_namespace")}
    assert {*odd, "public"} <= there


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ("", "is no name of a schema"),
        ("s" * 64, "is no name"),
        ("é" * 32, "is no name"),
        ("pg_own", "keeps such names"),
    ],
)
def test_what_can_be_no_schema_is_refused(schema: str, says: str, full_club: Ledger, one_database: str) -> None:
    with pytest.raises((MalformedError, StorageError), match=says):
        copy_to_postgres(full_club, one_database, schema)


def noted(
    name: str, version: int, key: tuple[Kept, ...], columns: tuple[Kept, ...], text: str = "a"
) -> DeclaredFactProjector:
    """A read model of games with such columns; each of text holds the text, each of numbers the position."""

    def stand(rows: FactRows, position: int, _before: Event | None, now: Event | None) -> None:
        if isinstance(now, GameRecorded):
            values = [text if column.type == "TEXT" else position for column in (*key, *columns)]
            rows.put(values[: len(key)], values[len(key) :])

    return DeclaredFactProjector(
        name=name, version=version, kinds=(GameRecorded,), key=key, columns=columns, on_change=stand
    )


GAME, NOTE = Kept("game", "INTEGER", 0, "the game"), Kept("note", "TEXT", 0, "a note")
MORE, ROUND = Kept("more", "REAL", 0, "more"), Kept("round", "INTEGER", 0, "a number")


def test_a_table_that_has_other_columns_now_stays_the_same_table(tmp_path: Path, database: str) -> None:
    path = tmp_path / "club.db"
    take_made_up_games(tmp_path, 50, 50)
    with Ledger.open(path, projectors=(noted("notes", 1, (GAME,), (NOTE, ROUND)),)) as ledger:
        copy_to_postgres(ledger, database, SCHEMA)
        asked(database, f"GRANT SELECT ON {SCHEMA}.notes TO reader")
        asked(database, f"CREATE VIEW public.of_notes AS SELECT game, note FROM {SCHEMA}.notes")
    for made in (
        noted("notes", 2, (GAME,), (NOTE, MORE), text="b"),  # a column less and one more
        noted("notes", 3, (GAME,), (NOTE, MORE._replace(type="INTEGER")), text="c"),  # of another type
    ):
        with Ledger.open(path, projectors=(made,)) as ledger:
            written = changed(copy_to_postgres(ledger, database, SCHEMA))
            assert differences(ledger, database) == []
            assert written["notes"] == 50
            assert changed(copy_to_postgres(ledger, database, SCHEMA)) == {}
    assert asked(database, "SELECT DISTINCT note FROM public.of_notes") == [("c",)]
    assert asked(database, f"SELECT has_table_privilege('reader', '{SCHEMA}.notes', 'SELECT')") == [(True,)]


def test_a_column_or_a_table_on_which_others_depend_is_not_taken_away(tmp_path: Path, one_database: str) -> None:
    path = tmp_path / "club.db"
    take_made_up_games(tmp_path, 50, 50)
    with Ledger.open(path, projectors=(noted("notes", 1, (GAME,), (NOTE, ROUND)),)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
        asked(one_database, f"CREATE VIEW public.rounds_noted AS SELECT round FROM {SCHEMA}.notes")
        before = asked(one_database, f"SELECT * FROM {SCHEMA}.notes ORDER BY game")
    says = r"table 'notes': .*view (public\.)?rounds_noted depends on .*: others depend on it, and they are not taken"
    for made in (
        (noted("notes", 2, (GAME,), (NOTE,)),),  # the column goes
        (noted("notes", 3, (ROUND,), (GAME,)),),  # other columns tell rows apart: the table is made anew
        (),  # the table goes
    ):
        with Ledger.open(path, projectors=made) as ledger, pytest.raises(StorageError, match=says):
            copy_to_postgres(ledger, one_database, SCHEMA)
        assert asked(one_database, f"SELECT * FROM {SCHEMA}.notes ORDER BY game") == before
    asked(one_database, "DROP VIEW public.rounds_noted")
    with Ledger.open(path, projectors=(noted("notes", 3, (ROUND,), (GAME,)),)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
        assert differences(ledger, one_database) == []
        assert key_there(one_database, "notes") == ["round"]
    with Ledger.open(path, projectors=()) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
        assert differences(ledger, one_database) == []
        assert "notes" not in tables_there(one_database)


def test_who_reads_on_keeps_a_table_from_getting_other_columns_and_it_is_said(
    tmp_path: Path, one_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_copy, "PATIENCE", 0.1)
    path = tmp_path / "club.db"
    take_made_up_games(tmp_path, 50, 50)
    with Ledger.open(path, projectors=(noted("notes", 1, (GAME,), (NOTE,)),)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
    with psycopg.connect(one_database) as reader:
        rows = reader.execute(f"SELECT * FROM {SCHEMA}.notes").fetchall()
        with Ledger.open(path, projectors=(noted("notes", 2, (GAME,), (NOTE, MORE)),)) as ledger:
            with pytest.raises(StorageError, match="'notes' has to be changed, and somebody reads it for longer than"):
                copy_to_postgres(ledger, one_database, SCHEMA)
            assert reader.execute(f"SELECT * FROM {SCHEMA}.notes").fetchall() == rows
            reader.rollback()
            copy_to_postgres(ledger, one_database, SCHEMA)
            assert differences(ledger, one_database) == []


@contextmanager
def taking_nothing_after(port: int, words: bytes) -> Iterator[int]:
    """A port that leads to a server until these words come by; from then on nothing is taken any more."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # else the system takes it for us
        door.bind(("127.0.0.1", 0))
        door.listen()
        ended, ends = threading.Event(), [door]

        def pass_on(source: socket.socket, target: socket.socket, until: bytes | None) -> None:
            with suppress(OSError):
                while part := source.recv(4_096):
                    target.sendall(part)
                    if until is not None and until in part:
                        ended.wait()
                        return

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, server = door.accept()[0], socket.create_connection(("127.0.0.1", port))
                    ends.extend((client, server))
                    threading.Thread(target=pass_on, args=(client, server, words), daemon=True).start()
                    threading.Thread(target=pass_on, args=(server, client, None), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield door.getsockname()[1]
        finally:
            ended.set()
            for end in ends:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)  # which wakes whoever waits for it
                end.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux gives such a connection up")
def test_a_copy_whose_server_takes_nothing_more_ends_and_says_so(
    full_club: Ledger, oldest_server: Server, one_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "SILENCE", 1)
    with taking_nothing_after(oldest_server.port, b"COPY ") as port:
        address = one_database.replace(f":{oldest_server.port}/", f":{port}/")
        with pytest.raises(StorageError, match="the connection was lost: nothing was changed, or all of it; run the"):
            copy_to_postgres(full_club, address, SCHEMA)
    with psycopg.connect(one_database, autocommit=True) as watching:
        others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        for _ in range(600):  # the server takes a moment to see that nobody is there
            if not watching.execute(others).rowcount:
                break
            time.sleep(0.05)
    copy_to_postgres(full_club, one_database, SCHEMA)
    assert differences(full_club, one_database) == []


def test_a_connection_is_given_up_whose_other_end_says_nothing_unless_the_address_knows_better(
    one_database: str,
) -> None:
    words = ("keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout")
    for address, expected in (
        (one_database, ["10", "10", "2", "30000"]),
        (f"{one_database}?keepalives_count=7&tcp_user_timeout=900000", ["10", "10", "7", "900000"]),
    ):
        with closing(postgres.connect(address)) as connection:
            options = {option.keyword.decode(): option.val for option in connection.pgconn.info}
            assert [(options[word] or b"").decode() for word in words] == expected


def test_a_scheme_that_is_adopted_brings_its_state_as_columns(tmp_path: Path, database: str) -> None:
    take_made_up_games(tmp_path, 50, 50)
    with open_ledger(tmp_path / "club.db") as ledger:
        copy_to_postgres(ledger, database, SCHEMA)
        before = columns_there(database, "history")
        ledger.append(scheme_adopted("glicko2", effective_from="2020-01-01"))
        record_game(ledger, "r2", "2020-01-02")
        copy_to_postgres(ledger, database, SCHEMA)
        assert {"rd", "volatility"} <= set(columns_there(database, "history")) - set(before)
        assert differences(ledger, database) == []


def test_a_text_that_postgresql_cannot_hold_is_refused_before_anything_changes(
    tmp_path: Path, one_database: str
) -> None:
    take_made_up_games(tmp_path, 50, 50)
    says = r"table 'notes', column 'note': a text has the character U\+0000"
    with (
        Ledger.open(tmp_path / "club.db", projectors=(noted("notes", 1, (GAME,), (NOTE,), "a\0b"),)) as ledger,
        pytest.raises(MalformedError, match=says),
    ):
        copy_to_postgres(ledger, one_database, SCHEMA)
    assert tables_there(one_database) == set()


TEXTS = ["", "\\.", "\\N", 'a"b', "a,b", "NULL", "1.5", "1\n2", "1\r\n2", "\t", " ", "\u2028 日本 🨀", "\x01"]


def test_texts_of_any_other_kind_come_through(tmp_path: Path, one_database: str) -> None:
    def stand(rows: FactRows, position: int, _before: Event | None, now: Event | None) -> None:
        if isinstance(now, GameRecorded):
            rows.put((TEXTS[position % len(TEXTS)], position))

    made = DeclaredFactProjector(name="notes", version=1, kinds=(GameRecorded,), key=(NOTE, GAME), on_change=stand)
    take_made_up_games(tmp_path, 30, 30)
    with Ledger.open(tmp_path / "club.db", projectors=(made,)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
        assert {note for (note,) in asked(one_database, f"SELECT note FROM {SCHEMA}.notes")} == set(TEXTS)
        assert changed(copy_to_postgres(ledger, one_database, SCHEMA)) == {}
        assert differences(ledger, one_database) == []


def test_a_read_model_that_is_called_as_a_table_beside_is_refused(tmp_path: Path, one_database: str) -> None:
    take_made_up_games(tmp_path, 5, 5)
    with (
        Ledger.open(tmp_path / "club.db", projectors=(noted("Origin", 1, (GAME,), ()),)) as ledger,
        pytest.raises(ProjectionError, match="its table would have the name of a table that the export adds"),
    ):
        copy_to_postgres(ledger, one_database, SCHEMA)


def test_a_read_model_without_its_plug_in_is_not_copied_half_old(tmp_path: Path, one_database: str) -> None:
    """Its table would be of another position than those beside it: it is taken away until the plug-in is back."""
    take_made_up_games(tmp_path, 5, 5)
    path = tmp_path / "club.db"
    with Ledger.open(path, projectors=(noted("notes", 1, (GAME,), (NOTE,)),)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
    with Ledger.open(path, projectors=()) as ledger:
        record_game(ledger, "r2", "2020-01-01")
        copy_to_postgres(ledger, one_database, SCHEMA)
        assert differences(ledger, one_database) == []
        assert "notes" not in tables_there(one_database)
    with Ledger.open(path, projectors=(noted("notes", 1, (GAME,), (NOTE,)),)) as ledger:
        copy_to_postgres(ledger, one_database, SCHEMA)
        assert differences(ledger, one_database) == []
        assert "notes" in tables_there(one_database)
