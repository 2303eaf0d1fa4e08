"""The auditor's reader on journals that were edited: rows, leaves, nodes and tails, with and without a kept head."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.reader import FIRST_FALSEHOODS, verify_journal
from ledger.facts.words import TreeHead
from tests.audit.raw_journals import (
    body_of,
    edit_raw,
    false_entries,
    game_fact,
    lines_of_falsehoods,
    loosen,
    mth,
    raw_head,
    replaced_body,
    sha,
    write_journal,
    write_nodes,
)
from tests.audit.sqlite_library import sqlite3


def test_a_changed_body_is_found_at_its_position(six_hundred_games: Path) -> None:
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit_raw(six_hundred_games, ("UPDATE journal SET body = ? WHERE position = 300", body))
    assert false_entries(six_hundred_games) == [("journal", 300)]
    assert f"hashes to {sha(bytes(1), body).hex()}, but the sealed leaf is" in lines_of_falsehoods(six_hundred_games)


def test_a_changed_leaf_is_found_at_its_position(six_hundred_games: Path) -> None:
    edit_raw(six_hundred_games, ("UPDATE journal SET leaf = ? WHERE position = 7", sha(b"x")))
    assert false_entries(six_hundred_games) == [("journal", 7)]


def test_a_body_changed_with_its_leaf_is_found_by_the_stored_node(six_hundred_games: Path) -> None:
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit_raw(
        six_hundred_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 300", body, sha(b"\x00", body))
    )
    assert false_entries(six_hundred_games) == [("nodes", "1/1")]
    assert "entries 257 to 512 hash to" in lines_of_falsehoods(six_hundred_games)


def test_a_body_changed_with_its_leaf_outside_complete_tiles_is_found_only_by_a_head_kept_outside(
    ten_games: Path,
) -> None:
    head = raw_head(ten_games)
    body = replaced_body(ten_games, 3, b'"white"', b'"black"')
    edit_raw(ten_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 3", body, sha(b"\x00", body)))
    assert false_entries(ten_games) == []
    assert false_entries(ten_games, head) == [("journal", "1..10")]
    assert "entries 1..10 do not have the root kept outside" in lines_of_falsehoods(ten_games, head)


def test_history_rewritten_with_all_its_nodes_is_found_only_by_a_head_kept_outside(six_hundred_games: Path) -> None:
    head = raw_head(six_hundred_games, 500)
    body = replaced_body(six_hundred_games, 300, b'"white"', b'"black"')
    edit_raw(
        six_hundred_games, ("UPDATE journal SET body = ?, leaf = ? WHERE position = 300", body, sha(b"\x00", body))
    )
    with closing(sqlite3.connect(six_hundred_games)) as connection, connection:
        rows = connection.execute("SELECT leaf FROM journal ORDER BY position").fetchall()
        write_nodes(connection, [leaf for (leaf,) in rows])
    assert false_entries(six_hundred_games) == []
    assert false_entries(six_hundred_games, head) == [("journal", "1..500")]
    assert false_entries(six_hundred_games, raw_head(six_hundred_games, 299)) == []


def test_a_replaced_row_is_found_by_the_stored_node(six_hundred_games: Path) -> None:
    body = body_of(20, game_fact(20, outcome="draw"))
    row = (20, "game-recorded/1", "game:g20", body, sha(b"\x00", body))
    edit_raw(six_hundred_games, ("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    assert false_entries(six_hundred_games) == [("nodes", "1/0")]


def test_a_deleted_row_is_named_as_missing(six_hundred_games: Path) -> None:
    edit_raw(six_hundred_games, ("DELETE FROM journal WHERE position = 300",))
    assert false_entries(six_hundred_games) == [("journal", 300)]
    assert "entry 300: this entry is missing, the next is 301" in lines_of_falsehoods(six_hundred_games)
    assert verify_journal(str(six_hundred_games)).head.size == 299


def test_a_gap_is_named_by_its_first_position_and_what_follows_is_still_checked(six_hundred_games: Path) -> None:
    edit_raw(
        six_hundred_games,
        ("DELETE FROM journal WHERE position BETWEEN 1 AND 5",),
        ("UPDATE journal SET leaf = x'00' WHERE position = 600",),
    )
    assert false_entries(six_hundred_games) == [("journal", 1), ("journal", 600)]
    assert "entries 1 to 5 are missing, the next is 6" in lines_of_falsehoods(six_hundred_games)


def test_the_head_ends_before_the_first_gap_however_many_entries_follow(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    leaves = write_journal(path, map(game_fact, range(1, 3001)))
    edit_raw(path, ("DELETE FROM journal WHERE position = 5",))
    verdict = verify_journal(str(path))
    assert (verdict.head, verdict.entries) == (TreeHead(4, mth(leaves[:4])), 2999)


def test_a_gap_beneath_the_head_kept_outside_leaves_nothing_proven(six_hundred_games: Path) -> None:
    head = raw_head(six_hundred_games)
    edit_raw(six_hundred_games, ("DELETE FROM journal WHERE position = 300",))
    assert "covers 600 entries, but only 1 to 299 can be read without a gap" in lines_of_falsehoods(
        six_hundred_games, head
    )
    assert false_entries(six_hundred_games, TreeHead(299, verify_journal(str(six_hundred_games)).head.root)) == [
        ("journal", 300)
    ]


def test_a_row_before_the_first_position_is_out_of_order(ten_games: Path) -> None:
    edit_raw(ten_games, ("INSERT INTO journal SELECT 0, kind, 'game:x', body, leaf FROM journal WHERE position = 1",))
    assert false_entries(ten_games, raw_head(ten_games, 0)) == [("journal", 0)]


def test_a_row_moved_to_the_end_of_all_numbers_is_found(ten_games: Path) -> None:
    edit_raw(ten_games, ("UPDATE journal SET position = 9223372036854775807 WHERE position = 4",))
    assert false_entries(ten_games) == [("journal", 4), ("journal", 11), ("journal", 9223372036854775807)]


def test_a_cut_off_tail_is_found_by_a_head_kept_outside(six_hundred_games: Path) -> None:
    head = raw_head(six_hundred_games)
    edit_raw(six_hundred_games, ("DELETE FROM journal WHERE position > 590",))
    assert false_entries(six_hundred_games) == []
    assert false_entries(six_hundred_games, head) == [("journal", 591)]
    assert "the journal holds only 590 entries, but the head kept outside says 600" in lines_of_falsehoods(
        six_hundred_games, head
    )


def test_a_tail_cut_off_inside_complete_tiles_leaves_a_node_too_many(six_hundred_games: Path) -> None:
    edit_raw(six_hundred_games, ("DELETE FROM journal WHERE position > 500",))
    assert false_entries(six_hundred_games) == [("nodes", "1/1")]
    assert "the journal of 500 entries has no such complete subtree" in lines_of_falsehoods(six_hundred_games)


def test_a_restored_older_copy_is_found_by_a_head_kept_outside(ten_games: Path, tmp_path: Path) -> None:
    shutil.copy(ten_games, tmp_path / "older.db")
    body = body_of(11, game_fact(11))
    row = (11, "game-recorded/1", "game:g11", body, sha(b"\x00", body))
    edit_raw(ten_games, ("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", *row))
    head = verify_journal(str(ten_games)).head
    assert false_entries(tmp_path / "older.db", head) == [("journal", 11)]
    assert "an older copy was restored" in lines_of_falsehoods(tmp_path / "older.db", head)


def test_an_older_copy_continued_with_other_entries_is_found_by_a_head_kept_outside(tmp_path: Path) -> None:
    write_journal(tmp_path / "true.db", map(game_fact, range(12)))
    write_journal(
        tmp_path / "other.db",
        [*map(game_fact, range(10)), game_fact(10, outcome="draw"), *map(game_fact, range(11, 20))],
    )
    assert false_entries(tmp_path / "other.db", raw_head(tmp_path / "true.db")) == [("journal", "1..12")]


@pytest.mark.parametrize(
    ("column", "value", "sealed"),
    [
        ("kind", "game-recorded/2", "game-recorded/1"),
        ("kind", "", "game-recorded/1"),
        ("key", "game:other", "game:g4"),
        ("key", 'game:"', "game:g4"),
        ("key", "", "game:g4"),
    ],
)
def test_an_edited_column_is_told_from_what_the_body_says(
    ten_games: Path, column: str, value: str, sealed: str
) -> None:
    edit_raw(ten_games, (f"UPDATE journal SET {column} = ? WHERE position = 4", value))
    assert false_entries(ten_games) == [("journal", 4)]
    assert f"column {column} says {value!r}, but the body says {sealed!r}" in lines_of_falsehoods(ten_games)


def test_swapped_rows_are_both_named(ten_games: Path) -> None:
    edit_raw(
        ten_games,
        ("UPDATE journal SET position = 99 WHERE position = 3",),
        ("UPDATE journal SET position = 3 WHERE position = 7",),
        ("UPDATE journal SET position = 7 WHERE position = 99",),
    )
    assert false_entries(ten_games) == [("journal", 3), ("journal", 7)]
    assert "entry 3: column position says 3, but the body says 7" in lines_of_falsehoods(ten_games)


def test_a_missing_changed_or_superfluous_node_is_found(six_hundred_games: Path) -> None:
    edit_raw(
        six_hundred_games,
        ("DELETE FROM nodes WHERE number = 0",),
        ("UPDATE nodes SET hash = x'00' WHERE number = 1",),
        ("INSERT INTO nodes VALUES (2, 0, x'00')",),
    )
    assert false_entries(six_hundred_games) == [("nodes", "1/0"), ("nodes", "1/1"), ("nodes", "2/0")]


def test_of_many_falsehoods_the_first_twenty_are_told_and_the_head_kept_outside_still_has_its_say(
    six_hundred_games: Path,
) -> None:
    head = raw_head(six_hundred_games)
    edit_raw(six_hundred_games, ("UPDATE journal SET body = CAST('{' || position AS BLOB) WHERE position >= 100",))
    expected: list[tuple[str, int | str]] = [("journal", p) for p in range(100, 100 + FIRST_FALSEHOODS)]
    assert false_entries(six_hundred_games, head) == [*expected, ("journal", "1..600")]


def test_a_falsehood_is_one_line_of_letters_that_can_be_seen(ten_games: Path) -> None:
    loosen(ten_games)
    edit_raw(ten_games, ("UPDATE journal SET key = ? WHERE position = 4", "\x1b[2J\u202e\u2028\n"))
    with closing(sqlite3.connect(ten_games)) as connection:
        connection.execute('CREATE TABLE "\x1b]0;title\x07"(x)')
    assert all(line.isprintable() for line in lines_of_falsehoods(ten_games).splitlines())
