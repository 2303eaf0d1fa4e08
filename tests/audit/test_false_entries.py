"""The auditor's reader on what is sealed and yet no entry: times, forms, types, and tables that are not ours."""

from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.reader import verify_journal
from ledger.journal.sqlite_store import SqliteJournal
from tests.audit.raw_journals import (
    LOOSE,
    RECORDED_AT,
    Fact,
    body_of,
    edit_raw,
    false_entries,
    game_fact,
    index_page,
    lines_of_falsehoods,
    loosen,
    replaced_body,
    sha,
    write_journal,
    write_nodes,
)
from tests.audit.sqlite_library import sqlite3


@pytest.mark.parametrize(
    "recorded_at",
    [
        "2026-11-21T03:15:13.123z",
        "2026-11-21 03:15:13.123Z",
        "2026-13-21T03:15:13.123Z",
        "2026-02-29T03:15:13.123Z",
        "2026-11-21T24:15:13.123Z",
        "2026-11-21T03:60:13.123Z",
        "2026-11-21T03:15:60.123Z",
        "2026-11-21T03:15:13,123Z",
        "2026-11-21T03:15:13Z",
        "0000-11-21T03:15:13.123Z",
    ],
)
def test_a_recorded_at_that_is_no_instant_is_found_even_when_sealed(tmp_path: Path, recorded_at: str) -> None:
    write_journal(tmp_path / "club.db", [game_fact(1)], recorded_at=recorded_at)
    assert false_entries(tmp_path / "club.db") == [("journal", 1)]


EARLIER, RECORDED_LATER = "1999-12-31T23:59:59.999Z", "2035-01-01T00:00:00.000Z"


def write_recorded(path: Path, *entries: tuple[Fact, str]) -> None:
    """A journal whose entries were recorded at these times."""
    write_journal(path, [])
    bodies = [body_of(position, fact, at) for position, (fact, at) in enumerate(entries, 1)]
    rows = [
        (position, fact[0], fact[1], body, sha(b"\x00", body))
        for position, ((fact, _), body) in enumerate(zip(entries, bodies, strict=True), 1)
    ]
    edit_raw(path, *(("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row) for row in rows))
    with closing(sqlite3.connect(path)) as connection, connection:
        write_nodes(connection, [row[-1] for row in rows])


def accepted(entry: object) -> Fact:
    return ("clock-accepted/1", f"clock:{entry}", {"entry": entry})


def test_an_entry_recorded_before_the_one_before_it_is_found(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    now = (RECORDED_AT, RECORDED_AT, EARLIER, EARLIER, RECORDED_AT, EARLIER)
    write_recorded(path, *((game_fact(n), at) for n, at in enumerate(now, 1)))
    assert false_entries(path) == [("journal", 3), ("journal", 6)]
    assert f"entry 3: was recorded at {EARLIER}, before the entry before it ({RECORDED_AT})" in lines_of_falsehoods(
        path
    )


def test_time_may_not_fall_between_two_blocks_that_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    for last in (255, 256, 257):
        path.unlink(missing_ok=True)
        write_recorded(path, *((game_fact(n), RECORDED_AT if n <= last else EARLIER) for n in range(1, 300)))
        assert false_entries(path) == [("journal", last + 1)]


def test_an_accepted_clock_lets_time_go_on_from_its_own_entry_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    write_recorded(
        path,
        (game_fact(1), RECORDED_AT),
        (game_fact(2), RECORDED_LATER),
        (accepted(2), RECORDED_AT),
        (game_fact(3), RECORDED_AT),
    )
    verdict = verify_journal(str(path))
    assert (verdict.falsehoods, verdict.clocks) == ((), (3,))


@pytest.mark.parametrize("entry", [1, 3, 4, "2", 2.0, True, None])
def test_only_the_clock_of_the_entry_just_before_can_be_accepted(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "club.db"
    write_recorded(path, (game_fact(1), RECORDED_AT), (game_fact(2), RECORDED_LATER), (accepted(entry), RECORDED_AT))
    assert false_entries(path) == [("journal", 3)]
    assert f"accepts the clock of entry {entry!r}; only that of the entry just before it" in lines_of_falsehoods(path)
    assert verify_journal(str(path)).clocks == ()


def test_after_an_accepted_clock_time_may_not_fall_again(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    write_recorded(
        path,
        (game_fact(1), RECORDED_LATER),
        (accepted(1), RECORDED_AT),
        (game_fact(2), RECORDED_AT),
        (game_fact(3), EARLIER),
    )
    assert false_entries(path) == [("journal", 4)]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\x00", b"[]", b"null", b"[" * 5000, b"\xff\xfe", b"x" * 30,
        b" " + body_of(1, game_fact(1)), body_of(1, game_fact(1)) + b"\n",
        body_of(1, game_fact(1)).replace(b":", b": "),
        body_of(1, game_fact(1)).replace(b'"actor":"test",', b""),
        body_of(1, game_fact(1)).replace(b"}", b"]", 1), body_of(1, game_fact(1)).replace(b"position", b"pos", 1),
        body_of(2, game_fact(1)), body_of(1, game_fact(1)).replace(b":1,", b":1.0,").replace(b'n":1', b'n":1.0'),
    ],
)  # fmt: skip
def test_a_sealed_body_that_is_not_an_entry_in_canonical_form_is_found(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "club.db"
    write_journal(path, [game_fact(1)])
    edit_raw(path, ("UPDATE journal SET body = ?, leaf = ?", body, sha(b"\x00", body)))
    assert false_entries(path) == [("journal", 1)]


def test_a_sealed_body_whose_facts_are_not_json_is_left_to_whoever_decodes_the_facts(ten_games: Path) -> None:
    body = replaced_body(ten_games, 3, b'{"black"', b'{black"')
    edit_raw(ten_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 3", body, sha(b"\x00", body)))
    assert false_entries(ten_games) == []


@pytest.mark.parametrize("column", ["kind", "key", "body", "leaf"])
def test_a_null_is_found(ten_games: Path, column: str) -> None:
    loosen(ten_games)
    edit_raw(ten_games, (f"UPDATE journal SET {column} = NULL WHERE position = 2",))
    assert false_entries(ten_games) == [("journal", 2), LOOSE]


def test_rows_of_other_types_in_a_table_without_strict_are_found(ten_games: Path) -> None:
    loosen(ten_games)
    edit_raw(
        ten_games,
        ("UPDATE journal SET body = 'text' WHERE position = 2",),
        ("UPDATE journal SET key = x'00' WHERE position = 3",),
        ("UPDATE journal SET kind = CAST(x'ff' AS TEXT) WHERE position = 8",),
        ("UPDATE journal SET key = CAST(x'ff' AS TEXT) WHERE position = 9",),
        ("UPDATE journal SET leaf = 0 WHERE position = 10",),
    )
    assert false_entries(ten_games) == [*(("journal", position) for position in (2, 3, 8, 9, 10)), LOOSE]
    assert "entry 9: column key says '\\udcff', but the body says 'game:g9'" in lines_of_falsehoods(ten_games)


@pytest.mark.parametrize(
    ("column", "value"), [("kind", "CAST(kind AS BLOB)"), ("key", "CAST(key AS BLOB)"), ("body", "CAST(body AS TEXT)")]
)
def test_the_right_bytes_of_another_type_are_found_in_a_strict_table(ten_games: Path, column: str, value: str) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        (strict,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'journal'").fetchone()
        loose = strict.removesuffix("STRICT")
        make = "UPDATE sqlite_master SET sql = ? WHERE name = 'journal'"
        assert loose != strict
    edit_raw(ten_games, ("PRAGMA writable_schema = ON",), (make, loose.replace(" TEXT", "").replace(" BLOB", "")))
    edit_raw(ten_games, (f"UPDATE journal SET {column} = {value} WHERE position = 2",))
    edit_raw(ten_games, ("PRAGMA writable_schema = ON",), (make, strict))
    assert false_entries(ten_games)[0] == ("journal", 2)
    assert f"value in journal.{column}" in lines_of_falsehoods(ten_games)


def test_a_text_that_is_not_utf_8_is_named_and_what_follows_is_still_read(six_hundred_games: Path) -> None:
    edit_raw(
        six_hundred_games,
        ("UPDATE journal SET key = CAST(x'67616d653aff' AS TEXT) WHERE position = 300",),
        ("UPDATE journal SET leaf = ? WHERE position = 599", sha(b"x")),
    )
    assert false_entries(six_hundred_games) == [("journal", 300), ("journal", 599)]


def test_a_position_that_is_no_number_is_found(ten_games: Path) -> None:
    loosen(ten_games, "position, kind TEXT, key TEXT UNIQUE, body, leaf")
    edit_raw(ten_games, ("UPDATE journal SET position = 'ten' WHERE position = 10",))
    assert false_entries(ten_games) == [("journal", "ten"), LOOSE]


def test_a_key_that_is_no_longer_unique_by_schema_is_found(ten_games: Path) -> None:
    loosen(ten_games, "position INTEGER PRIMARY KEY, kind TEXT, key TEXT, body, leaf")
    assert false_entries(ten_games) == [("journal schema", "index sqlite_autoindex_journal_1"), LOOSE]


OBJECTS: dict[str, tuple[str, str, str]] = {
    "a guard is missing": (
        "DROP TRIGGER journal_never_updates", "trigger journal_never_updates", "is missing",
    ),
    "a guard that lets everything pass": (
        "DROP TRIGGER journal_never_deletes; CREATE TRIGGER journal_never_deletes BEFORE DELETE ON journal "
        "BEGIN SELECT 1; END",
        "trigger journal_never_deletes", "is '1; END' where \"raise(ABORT, 'the journal is append-only",
    ),
    "a foreign trigger": (
        "CREATE TRIGGER evil BEFORE INSERT ON journal BEGIN SELECT raise(IGNORE); END",
        "trigger evil", "does not belong here",
    ),
    "a foreign trigger on the texts": (
        "CREATE TRIGGER evil AFTER INSERT ON texts BEGIN DELETE FROM texts; END",
        "trigger evil", "does not belong here",
    ),
    "a foreign table": ("CREATE TABLE notes(x)", "table notes", "does not belong here"),
    "a foreign index": (
        "CREATE INDEX by_kind ON journal(kind)", "index by_kind", "does not belong here",
    ),
    "a foreign view": ("CREATE VIEW games AS SELECT 1", "view games", "does not belong here"),
    "a further column": ("ALTER TABLE journal ADD COLUMN note TEXT", "table journal", "is ', note TEXT) STRICT' where"),
    "no table of texts": ("DROP TABLE texts", "table texts", "is missing"),
}  # fmt: skip


@pytest.mark.parametrize(("script", "which", "message"), OBJECTS.values(), ids=OBJECTS)
def test_tables_indices_and_guards_that_are_not_the_published_ones_are_found(
    ten_games: Path, script: str, which: str, message: str
) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.executescript(script)
    falsehoods = {f.position_or_key: f for f in verify_journal(str(ten_games)).falsehoods}
    assert falsehoods[which].table == "journal schema"
    assert message in falsehoods[which].message


def test_the_statistics_of_analyze_are_no_foreign_table(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute("ANALYZE")
    assert false_entries(ten_games) == []


@pytest.mark.parametrize(("pragma", "which"), [("application_id", "application_id"), ("user_version", "layout")])
def test_a_file_that_bears_another_mark_or_layout_is_found(six_games: Path, pragma: str, which: str) -> None:
    with closing(sqlite3.connect(six_games)) as connection:
        connection.execute(f"PRAGMA {pragma} = 99")
    assert false_entries(six_games) == [("journal file", which)]


@pytest.fixture(name="six_games")
def _six_games(tmp_path: Path) -> Path:
    """A journal of the present layout."""
    path = tmp_path / "now.db"
    with closing(SqliteJournal.create(path)) as journal, journal.writing() as writer:
        kinds, keys, facts = zip(*map(game_fact, range(1, 7)), strict=True)
        entries = zip(kinds, keys, facts, strict=True)
        writer.append(kinds, keys, [body_of(place, fact) for place, fact in enumerate(entries, 1)])
    assert false_entries(path) == []
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM keys_0 WHERE key = 'game:g4'",
        "UPDATE keys_0 SET position = 5 WHERE key = 'game:g4'",
        "UPDATE keys_0 SET key = 'game:h4' WHERE key = 'game:g4'",
        "UPDATE keys_0 SET key = CAST(x'63ff' AS TEXT) WHERE key = 'game:g4'",
        "UPDATE keys_0 SET position = 11 - position WHERE key IN ('game:g5', 'game:g6')",
        "INSERT INTO keys_0 VALUES (0, 'game:g7', 7)",
        "INSERT INTO keys_3 VALUES (2, 'game:g4', 4)",
        "UPDATE keys_0 SET run = 1 WHERE key = 'game:g4'",
        "INSERT INTO keys_2 VALUES (8, 'game:g9', 9)",
        "INSERT INTO keys_2 VALUES (-1, 'game:g9', 9)",
    ],
)
def test_runs_of_keys_that_do_not_agree_with_the_entries_are_found(six_games: Path, statement: str) -> None:
    with closing(sqlite3.connect(six_games)) as connection, connection:
        assert connection.execute(statement).rowcount
    assert false_entries(six_games) == [("journal file", "integrity")]
    assert "the index of keys does not agree with the entries" in lines_of_falsehoods(six_games)


def test_an_index_of_keys_that_does_not_agree_with_the_table_is_found(ten_games: Path) -> None:
    whole = ten_games.read_bytes()
    start = index_page(ten_games, "sqlite_autoindex_journal_1")
    place = whole.index(b"game:g4", start)
    ten_games.write_bytes(whole[:place] + b"game:h4" + whole[place + 7 :])
    assert set(false_entries(ten_games)) == {("journal file", "integrity")}
    assert "missing from index sqlite_autoindex_journal_1" in lines_of_falsehoods(ten_games)
