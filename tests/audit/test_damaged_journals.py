"""The auditor's reader on files that are damaged, locked, or no journals."""

import resource
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.reader import verify_journal, verify_names, verify_texts
from ledger.audit.reader.snapshots import translate_errors
from ledger.errors import CorruptError, LedgerError, StorageError
from tests.audit.raw_journals import (
    body_of,
    edit_raw,
    false_entries,
    game_fact,
    lines_of_falsehoods,
    outcome,
    raw_head,
    write_journal,
)
from tests.audit.sqlite_library import sqlite3


def dump(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = [name.decode() for (name,) in names]
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]


def test_a_flipped_byte_in_any_page_is_found_or_changes_nothing_and_never_ends_in_a_traceback(
    six_hundred_games: Path, tmp_path: Path
) -> None:
    head, whole, rows = raw_head(six_hundred_games), six_hundred_games.read_bytes(), dump(six_hundred_games)
    copy = tmp_path / "copy.db"
    offsets = range(0, len(whole), 1009)
    for offset in offsets:
        copy.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0x55]) + whole[offset + 1 :])
        if not outcome(copy, head):
            assert dump(copy) == rows, offset


def test_a_flipped_bit_anywhere_in_a_body_is_found_at_its_position(six_hundred_games: Path) -> None:
    whole = six_hundred_games.read_bytes()
    body = body_of(123, game_fact(123))
    start = whole.index(body)
    for offset in range(start, start + len(body), 7):
        six_hundred_games.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        assert false_entries(six_hundred_games) == [("journal", 123)]


def test_an_overwritten_page_of_the_journal_is_named_by_its_first_entry(six_hundred_games: Path) -> None:
    whole = six_hundred_games.read_bytes()
    page = whole.index(body_of(300, game_fact(300))) // 4096 * 4096
    six_hundred_games.write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096 :])
    falsehoods = verify_journal(str(six_hundred_games)).falsehoods
    assert falsehoods[0].table == "journal"
    assert 257 < int(falsehoods[0].position_or_key) <= 300
    assert "cannot be read (" in str(falsehoods[0])
    assert (falsehoods[-1].table, falsehoods[-1].position_or_key) == ("journal file", "integrity")


def test_damage_outside_the_rows_is_told_by_the_check_of_pages(ten_games: Path) -> None:
    whole = ten_games.read_bytes()
    ten_games.write_bytes(whole[:36] + b"\x00\x00\x00\x05" + whole[40:])  # pages in the free list
    assert set(false_entries(ten_games)) == {("journal file", "integrity")}
    assert "Freelist: size is 0 but should be 5" in lines_of_falsehoods(ten_games)


@pytest.mark.parametrize("keep", [0.9, 0.5, 0.1])
def test_a_truncated_file_is_a_falsehood_or_an_error(six_hundred_games: Path, keep: float) -> None:
    whole = six_hundred_games.read_bytes()
    six_hundred_games.write_bytes(whole[: int(len(whole) * keep)])
    assert outcome(six_hundred_games)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"not a database at all, but long enough to be looked at as one. " * 20, CorruptError, "not an SQLite"),
        (b"short", CorruptError, "not an SQLite"),
        (b"", CorruptError, "has no table 'journal'"),
        (None, StorageError, "no such file"),
    ],
)
def test_what_is_no_ledger_file_is_an_error(
    tmp_path: Path, content: bytes | None, error: type[LedgerError], message: str
) -> None:
    path = tmp_path / "club.db"
    if content is not None:
        path.write_bytes(content)
    readers: list[Callable[[], object]] = [
        lambda: verify_journal(str(path)),
        lambda: verify_names(str(path), str(path)),
        lambda: verify_texts(str(path)),
    ]
    for reader in readers:
        with pytest.raises(error, match=message):
            reader()
    assert path.exists() is (content is not None)


def test_a_folder_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such file"):
        verify_journal(str(tmp_path))


def test_a_locked_file_is_a_storage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.audit.reader.snapshots.LOCK_WAIT_SECONDS", 0.01)
    path = tmp_path / "club.db"
    write_journal(path, [game_fact(1)])
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            verify_journal(str(path))


def test_a_full_disk_is_no_damage(six_hundred_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No log can be made beside the file, and files of logs may not grow: what is there is still proven."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # half of a compiled module would be left
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    head = raw_head(six_hundred_games)
    with closing(sqlite3.connect(six_hundred_games)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
        verdict = verify_journal(str(six_hundred_games))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (verdict.head, verdict.falsehoods) == (head, ())


def test_what_the_disk_refuses_to_read_is_not_called_false(ten_games: Path) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_READ"
    with (
        pytest.raises(StorageError, match=r"cannot be read \(disk I/O error\): the disk"),
        translate_errors(str(ten_games)),
    ):
        raise error


def test_a_missing_journal_table_is_corrupt(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute("ALTER TABLE journal RENAME TO other")
    with pytest.raises(CorruptError, match="has no table 'journal'"):
        verify_journal(str(ten_games))


def test_a_view_in_place_of_the_journal_is_corrupt(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute("ALTER TABLE journal RENAME TO other")
        connection.execute("CREATE VIEW journal AS SELECT * FROM other")
    with pytest.raises(CorruptError, match="has no table 'journal'"):
        verify_journal(str(ten_games))


def test_a_missing_nodes_table_is_a_falsehood(ten_games: Path) -> None:
    edit_raw(ten_games, ("DROP TABLE nodes",))
    assert false_entries(ten_games) == [("nodes", "table"), ("journal schema", "table nodes")]


def test_a_journal_table_without_one_of_its_columns_is_corrupt(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.executescript("DROP TRIGGER journal_takes_the_next_position; ALTER TABLE journal DROP COLUMN kind")
    with pytest.raises(CorruptError, match="table journal has no column 'kind'"):
        verify_journal(str(ten_games))
