"""The auditor's reader against journals written by a few lines of this file, then tampered with."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from ledger.audit.reader import (
    FIRST_FALSEHOODS,
    inclusion_proof,
    verify_inclusion,
    verify_journal,
    verify_names,
    verify_texts,
)
from ledger.errors import CorruptError, LedgerError, StorageError, UnknownNameError
from ledger.facts.words import TreeHead
from tests.kit.places import ROOT

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

# The files as they are published, written down once more.
SCHEMA = """
CREATE TABLE journal(
  position INTEGER PRIMARY KEY CHECK(position > 0),
  kind TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  body BLOB NOT NULL CHECK(length(body) <= 65535),
  leaf BLOB NOT NULL CHECK(length(leaf) = 32)
) STRICT;
CREATE TABLE nodes(
  level INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(level, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE texts(sha256 BLOB PRIMARY KEY CHECK(length(sha256) = 32), zstd BLOB NOT NULL) STRICT;
PRAGMA application_id = 0x43524c4a;
PRAGMA user_version = 1;
"""
GUARDS = {
    "journal_never_updates": """
BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: correct a fact by a new entry'); END
""",
    "journal_never_deletes": """
BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: void a fact by a new entry'); END
""",
    "journal_takes_the_next_position": """
BEFORE INSERT ON journal
WHEN new.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM journal)
  OR EXISTS (SELECT 1 FROM journal WHERE key = new.key)
BEGIN SELECT raise(ABORT, 'the journal takes a new key at the next position only'); END
""",
}
PEOPLE_SCHEMA = """
CREATE TABLE people(
  player INTEGER PRIMARY KEY,
  identity TEXT UNIQUE,
  name TEXT,
  salt BLOB,
  joined_at TEXT NOT NULL
) STRICT;
PRAGMA application_id = 0x43524c50;
PRAGMA user_version = 1;
"""
RECORDED_AT = "2026-11-21T03:15:13.123Z"

Fact = tuple[str, str, dict[str, Any]]


# --- an independent writer, and the tree as RFC 6962 section 2.1 defines it --------------------------------


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def split(size: int) -> int:
    k = 1
    while k * 2 < size:
        k *= 2
    return k


def mth(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return sha()
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return sha(b"\x01", mth(leaves[:k]), mth(leaves[k:]))


def path_to(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return [*path_to(m, leaves[:k]), mth(leaves[k:])]
    return [*path_to(m - k, leaves[k:]), mth(leaves[:k])]


def body_of(position: int, fact: Fact, recorded_at: str = RECORDED_AT) -> bytes:
    kind, key, facts = fact
    entry = {
        "actor": "test", "facts": facts, "key": key, "kind": kind, "position": position,
        "recorded_at": recorded_at,
    }  # fmt: skip
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def game(number: int, **facts: Any) -> Fact:
    return ("game-recorded/1", f"game:g{number}", {"black": 2, "outcome": "white", "white": 1, **facts})


def write(path: Path, facts: Iterable[Fact], *, recorded_at: str = RECORDED_AT) -> list[bytes]:
    """Make a journal and return its leaves."""
    leaves = []
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        for position, fact in enumerate(facts, 1):
            body = body_of(position, fact, recorded_at)
            leaves.append(sha(b"\x00", body))
            row = (position, fact[0], fact[1], body, leaves[-1])
            connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", row)
        write_nodes(connection, leaves)
        guard(connection)
    return leaves


def guard(connection: sqlite3.Connection) -> None:
    for name, statement in GUARDS.items():
        connection.execute(f"CREATE TRIGGER {name} {statement.strip()}")


def write_nodes(connection: sqlite3.Connection, leaves: Sequence[bytes]) -> None:
    connection.execute("DELETE FROM nodes")
    level, below = 1, list(leaves)
    while len(below) >= 256:
        below = [mth(below[i : i + 256]) for i in range(0, len(below) - 255, 256)]
        rows = [(level, number, node) for number, node in enumerate(below)]
        connection.executemany("INSERT INTO nodes VALUES (?, ?, ?)", rows)
        level += 1


def edit(path: Path, *statements: tuple[Any, ...]) -> None:
    """As somebody does who knows the guards: they are taken away, and put back as they were."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        guards = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in guards:
            connection.execute(f"DROP TRIGGER {name}")
        for sql, *values in statements:
            assert connection.execute(sql, values).rowcount != 0, sql
        if guards:
            guard(connection)


def loosen(path: Path, columns: str = "position INTEGER PRIMARY KEY, kind TEXT, key TEXT UNIQUE, body, leaf") -> None:
    """Put a journal that takes anything in the place of the strict one."""
    edit(
        path,
        ("ALTER TABLE journal RENAME TO old",),
        (f"CREATE TABLE journal({columns})",),
        ("INSERT INTO journal SELECT * FROM old",),
        ("DROP TABLE old",),
    )


def replaced_body(path: Path, position: int, old: bytes, new: bytes) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        (body,) = connection.execute("SELECT body FROM journal WHERE position = ?", (position,)).fetchone()
    assert old in body
    return bytes(body.replace(old, new))


def found(path: Path, since: TreeHead | None = None) -> list[tuple[str, int | str]]:
    return [(f.table, f.position_or_key) for f in verify_journal(str(path), since).falsehoods]


LOOSE: tuple[str, int | str] = ("journal schema", "table journal")


def lines(path: Path, since: TreeHead | None = None) -> str:
    falsehoods = verify_journal(str(path), since).falsehoods
    assert all("\n" not in str(f) for f in falsehoods)
    return "\n".join(map(str, falsehoods))


def outcome(path: Path, since: TreeHead | None = None) -> str:
    """The falsehoods found, or the one line of an error of ours; any other error is a failure."""
    try:
        text = lines(path, since)
    except LedgerError as error:
        text = str(error)
        if "\n" in text or str(path) not in text:
            pytest.fail(f"not one line that names the file: {text!r}")
    return text


@pytest.fixture
def ten_games(tmp_path: Path) -> Path:
    """Ten games: no complete tile, so no stored node."""
    path = tmp_path / "club.db"
    write(path, map(game, range(1, 11)))
    return path


@pytest.fixture
def six_hundred_games(tmp_path: Path) -> Path:
    """600 games: two complete tiles and 88 leaves."""
    path = tmp_path / "club.db"
    write(path, map(game, range(1, 601)))
    return path


def head_of(path: Path, size: int | None = None) -> TreeHead:
    with closing(sqlite3.connect(path)) as connection:
        leaves = [leaf for (leaf,) in connection.execute("SELECT leaf FROM journal ORDER BY position")]
    return TreeHead(len(leaves[:size]), mth(leaves[:size]))


# --- true journals ------------------------------------------------------------------------------------------


def test_an_empty_journal_has_the_empty_root(tmp_path: Path) -> None:
    write(tmp_path / "club.db", [])
    verdict = verify_journal(str(tmp_path / "club.db"), TreeHead(0, sha()))
    assert (verdict.entries, verdict.falsehoods) == (0, ())
    assert str(verdict.head) == "0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", [1, 2, 3, 70, 255, 256, 257, 511, 512, 513, 1024, 1025, 2100])
def test_the_head_is_that_of_the_recursive_definition(tmp_path: Path, size: int) -> None:
    leaves = write(tmp_path / "club.db", map(game, range(size)))
    verdict = verify_journal(str(tmp_path / "club.db"))
    assert verdict.head == TreeHead(size, mth(leaves))
    assert (verdict.entries, verdict.falsehoods) == (size, ())


def test_nodes_of_the_second_level_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    leaves = write(path, map(game, range(65_536 + 300)))
    assert verify_journal(str(path), TreeHead(65_536, mth(leaves[:65_536]))).falsehoods == ()
    edit(path, ("UPDATE nodes SET hash = ? WHERE level = 2", sha(b"x")))
    assert found(path) == [("nodes", "2/0")]


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 512, 599, 600])
def test_every_head_kept_earlier_is_proven_a_prefix(six_hundred_games: Path, size: int) -> None:
    assert found(six_hundred_games, head_of(six_hundred_games, size)) == []


def test_keys_with_quotation_marks_and_letters_of_any_script_are_compared_in_their_json_spelling(
    tmp_path: Path,
) -> None:
    keys = ['game:"x"', "game:a\\b", "game:дом\u007f", "game:\t\u0001", 'a","kind":"game-recorded/1']
    write(tmp_path / "club.db", [("game-recorded/1", key, {}) for key in keys])
    assert found(tmp_path / "club.db") == []


def test_progress_ends_at_the_last_position(six_hundred_games: Path) -> None:
    seen: list[tuple[int, int]] = []
    verify_journal(str(six_hundred_games), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (600, 600)


def test_a_path_with_marks_of_a_uri_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#50%.db"
    write(path, [game(1)])
    assert verify_journal(str(path)).entries == 1


def test_a_journal_is_read_while_a_writer_has_it_open_and_uncommitted_entries_are_not_seen(
    ten_games: Path,
) -> None:
    with closing(sqlite3.connect(ten_games, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DROP TRIGGER journal_never_deletes")
        writer.execute("DELETE FROM journal")
        assert found(ten_games, head_of(ten_games)) == []
        writer.execute("ROLLBACK")


def test_the_whole_file_is_read_as_it_stood_at_the_beginning(six_hundred_games: Path) -> None:
    verdict = verify_journal(
        str(six_hundred_games), progress=lambda *_: edit(six_hundred_games, ("UPDATE nodes SET hash = x'00'",))
    )
    assert verdict.falsehoods == ()
    assert found(six_hundred_games) == [("nodes", "1/0"), ("nodes", "1/1")]


@pytest.mark.skipif(os.geteuid() == 0, reason="a folder is never read-only to root")
def test_a_journal_in_a_read_only_folder_is_read(ten_games: Path) -> None:
    ten_games.parent.chmod(0o555)
    try:
        assert found(ten_games) == []
    finally:
        ten_games.parent.chmod(0o755)


# --- tampering ----------------------------------------------------------------------------------------------


def test_a_changed_body_is_found_at_its_position(six_hundred_games: Path) -> None:
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit(six_hundred_games, ("UPDATE journal SET body = ? WHERE position = 300", body))
    assert found(six_hundred_games) == [("journal", 300)]
    assert f"hashes to {sha(bytes(1), body).hex()}, but the sealed leaf is" in lines(six_hundred_games)


def test_a_changed_leaf_is_found_at_its_position(six_hundred_games: Path) -> None:
    edit(six_hundred_games, ("UPDATE journal SET leaf = ? WHERE position = 7", sha(b"x")))
    assert found(six_hundred_games) == [("journal", 7)]


def test_a_body_changed_with_its_leaf_is_found_by_the_stored_node(six_hundred_games: Path) -> None:
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit(six_hundred_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 300", body, sha(b"\x00", body)))
    assert found(six_hundred_games) == [("nodes", "1/1")]
    assert "entries 257 to 512 hash to" in lines(six_hundred_games)


def test_a_body_changed_with_its_leaf_outside_complete_tiles_is_found_only_by_a_head_kept_outside(
    ten_games: Path,
) -> None:
    head = head_of(ten_games)
    body = replaced_body(ten_games, 3, b'"white"', b'"black"')
    edit(ten_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 3", body, sha(b"\x00", body)))
    assert found(ten_games) == []
    assert found(ten_games, head) == [("journal", "1..10")]
    assert "entries 1..10 do not have the root kept outside" in lines(ten_games, head)


def test_history_rewritten_with_all_its_nodes_is_found_only_by_a_head_kept_outside(six_hundred_games: Path) -> None:
    head = head_of(six_hundred_games, 500)
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit(six_hundred_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 300", body, sha(b"\x00", body)))
    with closing(sqlite3.connect(six_hundred_games)) as connection, connection:
        rows = connection.execute("SELECT leaf FROM journal ORDER BY position").fetchall()
        write_nodes(connection, [leaf for (leaf,) in rows])
    assert found(six_hundred_games) == []
    assert found(six_hundred_games, head) == [("journal", "1..500")]
    assert found(six_hundred_games, head_of(six_hundred_games, 299)) == []


def test_a_replaced_row_is_found_by_the_stored_node(six_hundred_games: Path) -> None:
    body = body_of(20, game(20, outcome="draw"))
    row = (20, "game-recorded/1", "game:g20", body, sha(b"\x00", body))
    edit(six_hundred_games, ("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    assert found(six_hundred_games) == [("nodes", "1/0")]


def test_a_deleted_row_is_named_as_missing(six_hundred_games: Path) -> None:
    edit(six_hundred_games, ("DELETE FROM journal WHERE position = 300",))
    assert found(six_hundred_games) == [("journal", 300)]
    assert "entry 300: this entry is missing, the next is 301" in lines(six_hundred_games)
    assert verify_journal(str(six_hundred_games)).head.size == 299


def test_a_gap_is_named_by_its_first_position_and_what_follows_is_still_checked(six_hundred_games: Path) -> None:
    edit(
        six_hundred_games,
        ("DELETE FROM journal WHERE position BETWEEN 1 AND 5",),
        ("UPDATE journal SET leaf = x'00' WHERE position = 600",),
    )
    assert found(six_hundred_games) == [("journal", 1), ("journal", 600)]
    assert "entries 1 to 5 are missing, the next is 6" in lines(six_hundred_games)


def test_the_head_ends_before_the_first_gap_however_many_entries_follow(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    leaves = write(path, map(game, range(1, 3001)))
    edit(path, ("DELETE FROM journal WHERE position = 5",))
    verdict = verify_journal(str(path))
    assert (verdict.head, verdict.entries) == (TreeHead(4, mth(leaves[:4])), 2999)


def test_a_gap_beneath_the_head_kept_outside_leaves_nothing_proven(six_hundred_games: Path) -> None:
    head = head_of(six_hundred_games)
    edit(six_hundred_games, ("DELETE FROM journal WHERE position = 300",))
    assert "covers 600 entries, but only 1 to 299 can be read without a gap" in lines(six_hundred_games, head)
    assert found(six_hundred_games, TreeHead(299, verify_journal(str(six_hundred_games)).head.root)) == [
        ("journal", 300)
    ]


def test_a_row_before_the_first_position_is_out_of_order(ten_games: Path) -> None:
    edit(ten_games, ("INSERT INTO journal SELECT 0, kind, 'game:x', body, leaf FROM journal WHERE position = 1",))
    assert found(ten_games, head_of(ten_games, 0)) == [("journal", 0)]


def test_a_row_moved_to_the_end_of_all_numbers_is_found(ten_games: Path) -> None:
    edit(ten_games, ("UPDATE journal SET position = 9223372036854775807 WHERE position = 4",))
    assert found(ten_games) == [("journal", 4), ("journal", 11), ("journal", 9223372036854775807)]


def test_a_cut_off_tail_is_found_by_a_head_kept_outside(six_hundred_games: Path) -> None:
    head = head_of(six_hundred_games)
    edit(six_hundred_games, ("DELETE FROM journal WHERE position > 590",))
    assert found(six_hundred_games) == []
    assert found(six_hundred_games, head) == [("journal", 591)]
    assert "the journal holds only 590 entries, but the head kept outside says 600" in lines(six_hundred_games, head)


def test_a_tail_cut_off_inside_complete_tiles_leaves_a_node_too_many(six_hundred_games: Path) -> None:
    edit(six_hundred_games, ("DELETE FROM journal WHERE position > 500",))
    assert found(six_hundred_games) == [("nodes", "1/1")]
    assert "the journal of 500 entries has no such complete subtree" in lines(six_hundred_games)


def test_a_restored_older_copy_is_found_by_a_head_kept_outside(ten_games: Path, tmp_path: Path) -> None:
    shutil.copy(ten_games, tmp_path / "older.db")
    body = body_of(11, game(11))
    row = (11, "game-recorded/1", "game:g11", body, sha(b"\x00", body))
    edit(ten_games, ("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    head = verify_journal(str(ten_games)).head
    assert found(tmp_path / "older.db", head) == [("journal", 11)]
    assert "an older copy was restored" in lines(tmp_path / "older.db", head)


def test_an_older_copy_continued_with_other_entries_is_found_by_a_head_kept_outside(tmp_path: Path) -> None:
    write(tmp_path / "true.db", map(game, range(12)))
    write(tmp_path / "other.db", [*map(game, range(10)), game(10, outcome="draw"), *map(game, range(11, 20))])
    assert found(tmp_path / "other.db", head_of(tmp_path / "true.db")) == [("journal", "1..12")]


@pytest.mark.parametrize(
    ("column", "value", "sealed"),
    [
        ("kind", "game-recorded/2", "game-recorded/1"), ("kind", "", "game-recorded/1"),
        ("key", "game:other", "game:g4"), ("key", 'game:"', "game:g4"), ("key", "", "game:g4"),
    ],
)  # fmt: skip
def test_an_edited_column_is_told_from_what_the_body_says(
    ten_games: Path, column: str, value: str, sealed: str
) -> None:
    edit(ten_games, (f"UPDATE journal SET {column} = ? WHERE position = 4", value))
    assert found(ten_games) == [("journal", 4)]
    assert f"column {column} says {value!r}, but the body says {sealed!r}" in lines(ten_games)


def test_swapped_rows_are_both_named(ten_games: Path) -> None:
    edit(
        ten_games,
        ("UPDATE journal SET position = 99 WHERE position = 3",),
        ("UPDATE journal SET position = 3 WHERE position = 7",),
        ("UPDATE journal SET position = 7 WHERE position = 99",),
    )
    assert found(ten_games) == [("journal", 3), ("journal", 7)]
    assert "entry 3: column position says 3, but the body says 7" in lines(ten_games)


def test_a_missing_changed_or_superfluous_node_is_found(six_hundred_games: Path) -> None:
    edit(
        six_hundred_games,
        ("DELETE FROM nodes WHERE number = 0",),
        ("UPDATE nodes SET hash = x'00' WHERE number = 1",),
        ("INSERT INTO nodes VALUES (2, 0, x'00')",),
    )
    assert found(six_hundred_games) == [("nodes", "1/0"), ("nodes", "1/1"), ("nodes", "2/0")]


@pytest.mark.parametrize(
    "recorded_at",
    [
        "2026-11-21T03:15:13.123z", "2026-11-21 03:15:13.123Z", "2026-13-21T03:15:13.123Z",
        "2026-02-29T03:15:13.123Z", "2026-11-21T24:15:13.123Z", "2026-11-21T03:60:13.123Z",
        "2026-11-21T03:15:60.123Z", "2026-11-21T03:15:13,123Z", "2026-11-21T03:15:13Z",
        "0000-11-21T03:15:13.123Z",
    ],
)  # fmt: skip
def test_a_recorded_at_that_is_no_instant_is_found_even_when_sealed(tmp_path: Path, recorded_at: str) -> None:
    write(tmp_path / "club.db", [game(1)], recorded_at=recorded_at)
    assert found(tmp_path / "club.db") == [("journal", 1)]


EARLIER, RECORDED_LATER = "1999-12-31T23:59:59.999Z", "2035-01-01T00:00:00.000Z"


def write_recorded(path: Path, *entries: tuple[Fact, str]) -> None:
    """A journal whose entries were recorded at these times."""
    write(path, [])
    bodies = [body_of(position, fact, at) for position, (fact, at) in enumerate(entries, 1)]
    rows = [
        (position, fact[0], fact[1], body, sha(b"\x00", body))
        for position, ((fact, _), body) in enumerate(zip(entries, bodies, strict=True), 1)
    ]
    edit(path, *(("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row) for row in rows))
    with closing(sqlite3.connect(path)) as connection, connection:
        write_nodes(connection, [row[-1] for row in rows])


def accepted(entry: object) -> Fact:
    return ("clock-accepted/1", f"clock:{entry}", {"entry": entry})


def test_an_entry_recorded_before_the_one_before_it_is_found(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    now = (RECORDED_AT, RECORDED_AT, EARLIER, EARLIER, RECORDED_AT, EARLIER)
    write_recorded(path, *((game(n), at) for n, at in enumerate(now, 1)))
    assert found(path) == [("journal", 3), ("journal", 6)]
    assert f"entry 3: was recorded at {EARLIER}, before the entry before it ({RECORDED_AT})" in lines(path)


def test_time_may_not_fall_between_two_blocks_that_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    for last in (255, 256, 257):
        path.unlink(missing_ok=True)
        write_recorded(path, *((game(n), RECORDED_AT if n <= last else EARLIER) for n in range(1, 300)))
        assert found(path) == [("journal", last + 1)]


def test_an_accepted_clock_lets_time_go_on_from_its_own_entry_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    write_recorded(
        path, (game(1), RECORDED_AT), (game(2), RECORDED_LATER), (accepted(2), RECORDED_AT), (game(3), RECORDED_AT),
    )  # fmt: skip
    verdict = verify_journal(str(path))
    assert (verdict.falsehoods, verdict.clocks) == ((), (3,))


@pytest.mark.parametrize("entry", [1, 3, 4, "2", 2.0, True, None])
def test_only_the_clock_of_the_entry_just_before_can_be_accepted(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "club.db"
    write_recorded(path, (game(1), RECORDED_AT), (game(2), RECORDED_LATER), (accepted(entry), RECORDED_AT))
    assert found(path) == [("journal", 3)]
    assert f"accepts the clock of entry {entry!r}; only that of the entry just before it" in lines(path)
    assert verify_journal(str(path)).clocks == ()


def test_after_an_accepted_clock_time_may_not_fall_again(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    write_recorded(
        path, (game(1), RECORDED_LATER), (accepted(1), RECORDED_AT), (game(2), RECORDED_AT), (game(3), EARLIER)
    )
    assert found(path) == [("journal", 4)]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\x00", b"[]", b"null", b"[" * 5000, b"\xff\xfe", b"x" * 30,
        b" " + body_of(1, game(1)), body_of(1, game(1)) + b"\n", body_of(1, game(1)).replace(b":", b": "),
        body_of(1, game(1)).replace(b'"actor":"test",', b""),
        body_of(1, game(1)).replace(b"}", b"]", 1), body_of(1, game(1)).replace(b"position", b"pos", 1),
        body_of(2, game(1)), body_of(1, game(1)).replace(b":1,", b":1.0,").replace(b'n":1', b'n":1.0'),
    ],
)  # fmt: skip
def test_a_sealed_body_that_is_not_an_entry_in_canonical_form_is_found(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "club.db"
    write(path, [game(1)])
    edit(path, ("UPDATE journal SET body = ?, leaf = ?", body, sha(b"\x00", body)))
    assert found(path) == [("journal", 1)]


def test_a_sealed_body_whose_facts_are_not_json_is_left_to_whoever_decodes_the_facts(ten_games: Path) -> None:
    body = replaced_body(ten_games, 3, b'{"black"', b'{black"')
    edit(ten_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 3", body, sha(b"\x00", body)))
    assert found(ten_games) == []


@pytest.mark.parametrize("column", ["kind", "key", "body", "leaf"])
def test_a_null_is_found(ten_games: Path, column: str) -> None:
    loosen(ten_games)
    edit(ten_games, (f"UPDATE journal SET {column} = NULL WHERE position = 2",))
    assert found(ten_games) == [("journal", 2), LOOSE]


def test_rows_of_other_types_in_a_table_without_strict_are_found(ten_games: Path) -> None:
    loosen(ten_games)
    edit(
        ten_games,
        ("UPDATE journal SET body = 'text' WHERE position = 2",),
        ("UPDATE journal SET key = x'00' WHERE position = 3",),
        ("UPDATE journal SET kind = CAST(x'ff' AS TEXT) WHERE position = 8",),
        ("UPDATE journal SET key = CAST(x'ff' AS TEXT) WHERE position = 9",),
        ("UPDATE journal SET leaf = 0 WHERE position = 10",),
    )
    assert found(ten_games) == [*(("journal", position) for position in (2, 3, 8, 9, 10)), LOOSE]
    assert "entry 9: column key says '\\udcff', but the body says 'game:g9'" in lines(ten_games)


def test_a_text_that_is_not_utf_8_is_named_and_what_follows_is_still_read(six_hundred_games: Path) -> None:
    edit(
        six_hundred_games,
        ("UPDATE journal SET key = CAST(x'67616d653aff' AS TEXT) WHERE position = 300",),
        ("UPDATE journal SET leaf = ? WHERE position = 599", sha(b"x")),
    )
    assert found(six_hundred_games) == [("journal", 300), ("journal", 599)]


def test_a_position_that_is_no_number_is_found(ten_games: Path) -> None:
    loosen(ten_games, "position, kind TEXT, key TEXT UNIQUE, body, leaf")
    edit(ten_games, ("UPDATE journal SET position = 'ten' WHERE position = 10",))
    assert found(ten_games) == [("journal", "ten"), LOOSE]
    with pytest.raises(UnknownNameError):
        inclusion_proof(str(ten_games), 10)


def test_a_key_that_is_no_longer_unique_by_schema_is_found(ten_games: Path) -> None:
    loosen(ten_games, "position INTEGER PRIMARY KEY, kind TEXT, key TEXT, body, leaf")
    assert found(ten_games) == [("journal schema", "index sqlite_autoindex_journal_1"), LOOSE]


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
    assert found(ten_games) == []


@pytest.mark.parametrize(("pragma", "which"), [("application_id", "application_id"), ("user_version", "layout")])
def test_a_file_that_bears_another_mark_or_layout_is_found(ten_games: Path, pragma: str, which: str) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute(f"PRAGMA {pragma} = 99")
    assert found(ten_games) == [("journal file", which)]


def index_page(path: Path, name: str) -> int:
    """The first byte of the root page of an index."""
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        page = connection.execute(query, (name,)).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    return int((page - 1) * size)


def test_an_index_of_keys_that_does_not_agree_with_the_table_is_found(ten_games: Path) -> None:
    whole = ten_games.read_bytes()
    start = index_page(ten_games, "sqlite_autoindex_journal_1")
    place = whole.index(b"game:g4", start)
    ten_games.write_bytes(whole[:place] + b"game:h4" + whole[place + 7 :])
    assert set(found(ten_games)) == {("journal file", "integrity")}
    assert "missing from index sqlite_autoindex_journal_1" in lines(ten_games)


def test_of_many_falsehoods_the_first_twenty_are_told_and_the_head_kept_outside_still_has_its_say(
    six_hundred_games: Path,
) -> None:
    head = head_of(six_hundred_games)
    edit(six_hundred_games, ("UPDATE journal SET body = CAST('{' || position AS BLOB) WHERE position >= 100",))
    expected: list[tuple[str, int | str]] = [("journal", p) for p in range(100, 100 + FIRST_FALSEHOODS)]
    assert found(six_hundred_games, head) == [*expected, ("journal", "1..600")]


def test_a_falsehood_is_one_line_of_letters_that_can_be_seen(ten_games: Path) -> None:
    loosen(ten_games)
    edit(ten_games, ("UPDATE journal SET key = ? WHERE position = 4", "\x1b[2J\u202e\u2028\n"))
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute('CREATE TABLE "\x1b]0;title\x07"(x)')
    assert all(line.isprintable() for line in lines(ten_games).splitlines())


# --- damaged files ------------------------------------------------------------------------------------------


def dump(path: Path) -> list[object]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = [name.decode() for (name,) in names]
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]


def test_a_flipped_byte_in_any_page_is_found_or_changes_nothing_and_never_ends_in_a_traceback(
    six_hundred_games: Path, tmp_path: Path
) -> None:
    head, whole, rows = head_of(six_hundred_games), six_hundred_games.read_bytes(), dump(six_hundred_games)
    copy = tmp_path / "copy.db"
    offsets = range(0, len(whole), 1009)
    for offset in offsets:
        copy.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0x55]) + whole[offset + 1 :])
        if not outcome(copy, head):
            assert dump(copy) == rows, offset


def test_a_flipped_bit_anywhere_in_a_body_is_found_at_its_position(six_hundred_games: Path) -> None:
    whole = six_hundred_games.read_bytes()
    body = body_of(123, game(123))
    start = whole.index(body)
    for offset in range(start, start + len(body), 7):
        six_hundred_games.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
        assert found(six_hundred_games) == [("journal", 123)]


def test_an_overwritten_page_of_the_journal_is_named_by_its_first_entry(six_hundred_games: Path) -> None:
    whole = six_hundred_games.read_bytes()
    page = whole.index(body_of(300, game(300))) // 4096 * 4096
    six_hundred_games.write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096 :])
    falsehoods = verify_journal(str(six_hundred_games)).falsehoods
    assert falsehoods[0].table == "journal"
    assert 257 < int(falsehoods[0].position_or_key) <= 300
    assert "cannot be read (" in str(falsehoods[0])
    assert (falsehoods[-1].table, falsehoods[-1].position_or_key) == ("journal file", "integrity")


def test_damage_outside_the_rows_is_told_by_the_check_of_pages(ten_games: Path) -> None:
    whole = ten_games.read_bytes()
    ten_games.write_bytes(whole[:36] + b"\x00\x00\x00\x05" + whole[40:])  # pages in the free list
    assert set(found(ten_games)) == {("journal file", "integrity")}
    assert "Freelist: size is 0 but should be 5" in lines(ten_games)


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
        lambda: inclusion_proof(str(path), 1),
    ]
    for reader in readers:
        with pytest.raises(error, match=message):
            reader()
    assert path.exists() is (content is not None)


def test_a_folder_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no such file"):
        verify_journal(str(tmp_path))


def test_a_locked_file_is_a_storage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.audit.reader.files.LOCK_WAIT_SECONDS", 0.01)
    path = tmp_path / "club.db"
    write(path, [game(1)])
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked"):
            verify_journal(str(path))


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
    edit(ten_games, ("DROP TABLE nodes",))
    assert found(ten_games) == [("nodes", "table"), ("journal schema", "table nodes")]


def test_a_journal_table_without_one_of_its_columns_is_corrupt(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.executescript("DROP TRIGGER journal_takes_the_next_position; ALTER TABLE journal DROP COLUMN kind")
    with pytest.raises(CorruptError, match="table journal has no column 'kind'"):
        verify_journal(str(ten_games))


# --- inclusion ----------------------------------------------------------------------------------------------

# The eight leaves and roots that the Certificate Transparency implementations share.
CT_LEAVES = [bytes.fromhex(h) for h in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(1, 9))
def test_inclusion_holds_under_the_shared_roots_of_certificate_transparency(size: int) -> None:
    leaves = [sha(b"\x00", data) for data in CT_LEAVES[:size]]
    head = TreeHead(size, bytes.fromhex(CT_ROOTS[size - 1]))
    for index, leaf in enumerate(leaves):
        assert verify_inclusion(leaf, index + 1, head, path_to(index, leaves))


def test_proofs_are_those_of_the_recursive_definition_for_every_size_up_to_70(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    leaves = write(path, map(game, range(70)))
    for size in range(1, 71):
        head = TreeHead(size, mth(leaves[:size]))
        for position in range(1, size + 1):
            proof = inclusion_proof(str(path), position, size)
            assert proof == path_to(position - 1, leaves[:size])
            assert verify_inclusion(leaves[position - 1], position, head, proof)


def test_a_proof_holds_for_no_other_leaf_place_head_or_length(tmp_path: Path) -> None:
    leaves = [sha(b"\x00", bytes([n])) for n in range(70)]
    for size in range(1, 71):
        head = TreeHead(size, mth(leaves[:size]))
        for index in range(size):
            proof, leaf = path_to(index, leaves[:size]), leaves[index]
            others = [p for p in range(-1, size + 3) if p != index + 1]
            assert not any(verify_inclusion(leaf, p, head, proof) for p in others)
            assert not verify_inclusion(sha(b"x"), index + 1, head, proof)
            assert not verify_inclusion(leaf, index + 1, TreeHead(size, sha(b"x")), proof)
            assert not verify_inclusion(leaf, index + 1, head, [*proof, sha(b"x")])
            assert not proof or not verify_inclusion(leaf, index + 1, head, proof[:-1])
    assert not verify_inclusion(sha(), 1, TreeHead(0, sha()), [])


@pytest.mark.parametrize("size", [256, 257, 511, 512, 513, 600])
def test_proofs_through_stored_nodes_lead_to_the_head(six_hundred_games: Path, size: int) -> None:
    head = head_of(six_hundred_games, size)
    for position in (1, 2, 255, 256, size):
        proof = inclusion_proof(str(six_hundred_games), position, size)
        assert verify_inclusion(sha(b"\x00", body_of(position, game(position))), position, head, proof)
    assert inclusion_proof(str(six_hundred_games), 9) == inclusion_proof(str(six_hundred_games), 9, 600)


@pytest.mark.parametrize(("position", "size"), [(0, None), (11, None), (5, 4), (1, 11)])
def test_an_entry_that_is_not_there_has_no_proof(ten_games: Path, position: int, size: int | None) -> None:
    with pytest.raises(UnknownNameError, match="no entry"):
        inclusion_proof(str(ten_games), position, size)


def test_a_proof_that_needs_a_missing_row_is_refused(six_hundred_games: Path) -> None:
    edit(six_hundred_games, ("DELETE FROM nodes WHERE number = 1",))
    with pytest.raises(CorruptError, match="no hash of entries 257 to 512 is stored"):
        inclusion_proof(str(six_hundred_games), 1)


# --- names --------------------------------------------------------------------------------------------------


@pytest.fixture
def five_players(tmp_path: Path) -> tuple[Path, Path]:
    """A game, then players 1 to 5, and their names."""
    journal, people = tmp_path / "club.db", tmp_path / "club.people.db"
    facts = [game(1)]
    with closing(sqlite3.connect(people)) as connection, connection:
        connection.executescript(PEOPLE_SCHEMA)
        for player in range(1, 6):
            identity, name, salt = f"site:{player}", f"Ñame {player}", bytes([player]) * 16
            message = identity.encode() + b"\x00" + name.encode()
            commitment = hmac.new(salt, message, "sha256").hexdigest()
            facts.append(
                (
                    "player-registered/1", f"player:{player}",
                    {"commitment": commitment, "joined_at": f"202{player}", "player": player},
                )
            )  # fmt: skip
            connection.execute(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?)", (player, identity, name, salt, f"202{player}")
            )
    write(journal, facts)
    return journal, people


def test_true_names_are_counted(five_players: tuple[Path, Path]) -> None:
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.erased, verdict.unregistered, verdict.falsehoods) == (5, 0, 0, ())


CHANGES = {
    "name = 'Name 3'": "the name is not the one sealed in entry 4",
    "identity = 'site:33'": "the name is not the one sealed in entry 4",
    "identity = 'site:3' || char(0) || 'x', name = 'x'": "the name is not the one sealed in entry 4",
    "salt = zeroblob(16)": "the name is not the one sealed in entry 4",
    "salt = CAST(salt || x'00' AS BLOB)": "the salt is not 16 bytes",
    "salt = x'00'": "the salt is not 16 bytes",
    "name = NULL": "is half erased: without name",
    "salt = NULL": "is half erased: without salt",
    "identity = NULL": "is half erased: without identity",
    "identity = NULL, salt = NULL": "is half erased: without identity and salt",
    "name = CAST(x'ff' AS TEXT)": "name holds '\\udcff', which is no UTF-8",
    "identity = CAST(x'c3' AS TEXT)": "identity holds '\\udcc3', which is no UTF-8",
    "joined_at = '2029'": "joined_at is '2029', but entry 4 says '2023'",
    "joined_at = CAST(x'ff' AS TEXT)": "joined_at holds '\\udcff', which is no UTF-8",
    "identity = NULL, name = NULL, salt = NULL, joined_at = '2029'": "joined_at is '2029', but entry 4 says '2023'",
}


@pytest.mark.parametrize(("change", "message"), CHANGES.items(), ids=CHANGES)
def test_a_changed_row_of_people_is_found_and_named_by_its_player(
    five_players: tuple[Path, Path], change: str, message: str
) -> None:
    edit(five_players[1], (f"UPDATE people SET {change} WHERE player = 3",))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people", 3)
    assert falsehood.message.startswith(message)


@pytest.mark.parametrize("column", ["identity", "name", "salt", "joined_at"])
@pytest.mark.parametrize("value", [7, 1.5, b"bytes", "text"])
def test_a_value_of_the_wrong_type_in_a_table_without_strict_is_named(
    five_players: tuple[Path, Path], column: str, value: object
) -> None:
    edit(
        five_players[1],
        ("ALTER TABLE people RENAME TO old",),
        ("CREATE TABLE people(player INTEGER PRIMARY KEY, identity UNIQUE, name, salt, joined_at)",),
        ("INSERT INTO people SELECT * FROM old",),
        ("DROP TABLE old",),
        (f"UPDATE people SET {column} = ? WHERE player = 3", value),
    )
    named = [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods]
    assert named == [("people", 3), ("people schema", "table people")]


@pytest.mark.parametrize(
    ("statement", "which"),
    [
        ("CREATE TRIGGER evil AFTER UPDATE ON people BEGIN DELETE FROM people; END", "trigger evil"),
        ("CREATE TABLE copies AS SELECT * FROM people", "table copies"),
        ("CREATE INDEX by_name ON people(name)", "index by_name"),
        ("CREATE VIEW everybody AS SELECT * FROM people", "view everybody"),
        ("ALTER TABLE people ADD COLUMN note TEXT", "table people"),
    ],
)
def test_what_does_not_belong_into_the_people_file_is_found(
    five_players: tuple[Path, Path], statement: str, which: str
) -> None:
    with closing(sqlite3.connect(five_players[1])) as connection:
        connection.execute(statement)
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people schema", which)


def test_an_index_of_identities_that_does_not_agree_with_the_table_is_found(five_players: tuple[Path, Path]) -> None:
    whole = five_players[1].read_bytes()
    place = whole.index(b"site:4", index_page(five_players[1], "sqlite_autoindex_people_1"))
    five_players[1].write_bytes(whole[:place] + b"sitf:4" + whole[place + 6 :])
    verdict = verify_names(*map(str, five_players))
    assert {(f.table, f.position_or_key) for f in verdict.falsehoods} == {("people file", "integrity")}


def test_swapped_names_are_both_found(five_players: tuple[Path, Path]) -> None:
    edit(five_players[1], ("UPDATE people SET name = 'Ñame ' || (6 - player) WHERE player IN (2, 4)",))
    assert [f.position_or_key for f in verify_names(*map(str, five_players)).falsehoods] == [2, 4]


def test_people_swapped_with_identity_salt_and_day_are_both_found(five_players: tuple[Path, Path]) -> None:
    edit(
        five_players[1],
        ("UPDATE people SET player = 99 WHERE player = 2",),
        ("UPDATE people SET player = 2 WHERE player = 4",),
        ("UPDATE people SET player = 4 WHERE player = 99",),
    )
    falsehoods = verify_names(*map(str, five_players)).falsehoods
    assert [f.position_or_key for f in falsehoods] == [2, 2, 4, 4]
    assert "joined_at is '2024', but entry 3 says '2022'" in str(falsehoods[0])


def test_an_erased_person_is_counted_and_no_falsehood(five_players: tuple[Path, Path]) -> None:
    edit(five_players[1], ("UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = 3",))
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.erased, verdict.falsehoods) == (4, 1, ())


def test_a_missing_person_is_found(five_players: tuple[Path, Path]) -> None:
    edit(five_players[1], ("DELETE FROM people WHERE player = 3",))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert "player 3 of entry 4 is missing here" in str(falsehood)


def test_a_person_without_an_entry_is_counted_as_unregistered(five_players: tuple[Path, Path]) -> None:
    edit(five_players[1], ("INSERT INTO people VALUES (6, 'site:6', 'Name 6', zeroblob(16), '2026')",))
    verdict = verify_names(*map(str, five_players))
    assert (verdict.checked, verdict.unregistered, verdict.falsehoods) == (5, 1, ())


def test_a_person_without_an_entry_must_be_whole_too(five_players: tuple[Path, Path]) -> None:
    edit(five_players[1], ("INSERT INTO people VALUES (6, CAST(x'ff' AS TEXT), 'Name 6', x'06', '2026')",))
    assert [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods] == [("people", 6)]


@pytest.mark.parametrize(
    "body", [b"", b"null", b'{"facts":1}', b'{"facts":{"player":9,"commitment":""}}', b'{"facts":{"player":"3"}}']
)
def test_a_registration_that_cannot_be_compared_is_named_and_the_others_are_compared(
    five_players: tuple[Path, Path], body: bytes
) -> None:
    edit(five_players[0], ("UPDATE journal SET body = ? WHERE position = 4", body))
    edit(five_players[1], ("UPDATE people SET name = 'x' WHERE player = 5",))
    falsehoods = [(f.table, f.position_or_key) for f in verify_names(*map(str, five_players)).falsehoods]
    assert falsehoods[0] == ("journal", 4)
    assert ("people", 5) in falsehoods


def test_a_registration_under_another_key_is_named_and_compared(five_players: tuple[Path, Path]) -> None:
    edit(five_players[0], ("UPDATE journal SET key = 'player:77' WHERE position = 4",))
    verdict = verify_names(*map(str, five_players))
    assert [(f.table, f.position_or_key) for f in verdict.falsehoods] == [("journal", 4)]
    assert verdict.checked == 5


def test_a_player_registered_twice_is_named(five_players: tuple[Path, Path]) -> None:
    body = body_of(7, ("player-registered/1", "player:33", {"player": 3}))
    row = (7, "player-registered/1", "player:33", body, sha(b"\x00", body))
    edit(five_players[0], ("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    (falsehood,) = verify_names(*map(str, five_players)).falsehoods
    assert str(falsehood).startswith("journal entry 7: registers player 3 again after entry 4")


def test_a_damaged_people_file_is_named_and_says_after_whom_nothing_can_be_read(
    five_players: tuple[Path, Path],
) -> None:
    with closing(sqlite3.connect(five_players[1])) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'people'").fetchone()
    whole = five_players[1].read_bytes()
    start = (page - 1) * 4096
    five_players[1].write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
    falsehoods = verify_names(*map(str, five_players)).falsehoods
    assert str(falsehoods[0]).startswith("people 0: no player after this one can be read")
    assert {f.table for f in falsehoods} == {"people", "people file"}


# --- texts --------------------------------------------------------------------------------------------------


@pytest.fixture
def games_with_texts(tmp_path: Path) -> Path:
    """Three games, two of which have a text."""
    path = tmp_path / "club.db"
    texts = [b"1. e4 e5", b"1. d4 " * 50_000]
    write(path, [game(1), *(game(n, text=sha(text).hex()) for n, text in enumerate(texts, 2))])
    edit(path, *(("INSERT INTO texts VALUES (?, ?)", sha(text), zstandard.compress(text)) for text in texts))
    return path


def test_true_texts_are_counted(games_with_texts: Path) -> None:
    verdict = verify_texts(str(games_with_texts))
    assert (verdict.checked, verdict.references, verdict.falsehoods) == (2, 2, ())


def frame(text: bytes, **parameters: Any) -> bytes:
    """A zstd frame that does not say how much is in it."""
    made = zstandard.ZstdCompressionParameters(**parameters)
    compressor = zstandard.ZstdCompressor(compression_params=made).compressobj()
    return bytes(compressor.compress(text) + compressor.flush())


PACKED: dict[str, bytes] = {
    "another text": zstandard.compress(b"1. c4"),
    "cut off": zstandard.compress(b"1. e4 e5")[:-2],
    "bytes after it": zstandard.compress(b"1. e4 e5") + b"x",
    "a second frame": zstandard.compress(b"1. e4 e5") * 2,
    "no zstd": b"not zstd",
    "nothing": b"",
    "a window of 128 MB": frame(b"1. e4 e5", window_log=27),
    "100 MB that say so": zstandard.compress(bytes(100 << 20)),
    "100 MB that do not say so": frame(bytes(100 << 20), window_log=20),
}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_a_text_that_does_not_decompress_to_its_hash_is_found(games_with_texts: Path, packed: bytes) -> None:
    edit(games_with_texts, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", packed, sha(b"1. e4 e5")))
    (falsehood,) = verify_texts(str(games_with_texts)).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("texts", sha(b"1. e4 e5").hex())


def test_a_text_that_says_not_how_long_it_is_is_read(games_with_texts: Path) -> None:
    edit(games_with_texts, ("UPDATE texts SET zstd = ? WHERE sha256 = ?", frame(b"1. e4 e5"), sha(b"1. e4 e5")))
    assert verify_texts(str(games_with_texts)).falsehoods == ()


UNPACK = """
import resource, sys
from ledger.audit.reader import verify_texts
verify_texts(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert len(verify_texts(sys.argv[2]).falsehoods) == 6
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_texts_made_to_fill_the_memory_are_refused_without_filling_it(tmp_path: Path, games_with_texts: Path) -> None:
    path = tmp_path / "bombs.db"
    write(path, [game(1)])
    bombs = [frame(bytes(size << 20), window_log=log) for size in (64, 200) for log in (20, 23, 27)]
    edit(path, *(("INSERT INTO texts VALUES (?, ?)", sha(bomb), bomb) for bomb in bombs))
    command = [sys.executable, "-c", UNPACK, str(games_with_texts), str(path)]
    megabytes = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert int(megabytes) < 64


def test_a_reference_to_a_missing_text_is_found(games_with_texts: Path) -> None:
    edit(games_with_texts, ("DELETE FROM texts WHERE sha256 = ?", sha(b"1. e4 e5")))
    verdict = verify_texts(str(games_with_texts))
    assert [(f.table, f.position_or_key) for f in verdict.falsehoods] == [("journal", 2)]
    assert sha(b"1. e4 e5").hex() in str(verdict.falsehoods[0])


def test_a_text_reference_that_is_no_hash_is_found(tmp_path: Path) -> None:
    write(tmp_path / "club.db", [game(1, text="zz"), game(2, note='"text":"'), game(3, inner={"text": "x"})])
    verdict = verify_texts(str(tmp_path / "club.db"))
    assert (verdict.references, [f.position_or_key for f in verdict.falsehoods]) == (1, [1])
