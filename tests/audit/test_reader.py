"""The auditor's reader against journals written by a few lines of this file, then tampered with."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.reader import verify_journal
from ledger.facts.words import TreeHead
from tests.audit.raw_journals import edit_raw, false_entries, game_fact, mth, raw_head, sha, write_journal
from tests.audit.sqlite_library import sqlite3


def test_an_empty_journal_has_the_empty_root(tmp_path: Path) -> None:
    write_journal(tmp_path / "club.db", [])
    verdict = verify_journal(str(tmp_path / "club.db"), TreeHead(0, sha()))
    assert (verdict.entries, verdict.falsehoods) == (0, ())
    assert str(verdict.head) == "0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("size", [1, 2, 3, 70, 255, 256, 257, 511, 512, 513, 1024, 1025, 2100])
def test_the_head_is_that_of_the_recursive_definition(tmp_path: Path, size: int) -> None:
    leaves = write_journal(tmp_path / "club.db", map(game_fact, range(size)))
    verdict = verify_journal(str(tmp_path / "club.db"))
    assert verdict.head == TreeHead(size, mth(leaves))
    assert (verdict.entries, verdict.falsehoods) == (size, ())


@pytest.mark.slow
def test_nodes_of_the_second_level_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    leaves = write_journal(path, map(game_fact, range(65_536 + 300)))
    assert verify_journal(str(path), TreeHead(65_536, mth(leaves[:65_536]))).falsehoods == ()
    edit_raw(path, ("UPDATE nodes SET hash = ? WHERE level = 2", sha(b"x")))
    assert false_entries(path) == [("nodes", "2/0")]


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 512, 599, 600])
def test_every_head_kept_earlier_is_proven_a_prefix(six_hundred_games: Path, size: int) -> None:
    assert false_entries(six_hundred_games, raw_head(six_hundred_games, size)) == []


def test_keys_with_quotation_marks_and_letters_of_any_script_are_compared_in_their_json_spelling(
    tmp_path: Path,
) -> None:
    keys = ['game:"x"', "game:a\\b", "game:дом\u007f", "game:\t\u0001", 'a","kind":"game-recorded/1']
    write_journal(tmp_path / "club.db", [("game-recorded/1", key, {}) for key in keys])
    assert false_entries(tmp_path / "club.db") == []


def test_progress_ends_at_the_last_position(six_hundred_games: Path) -> None:
    seen: list[tuple[int, int]] = []
    verify_journal(str(six_hundred_games), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (600, 600)


def test_a_path_with_marks_of_a_uri_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#50%.db"
    write_journal(path, [game_fact(1)])
    assert verify_journal(str(path)).entries == 1


def test_a_journal_is_read_while_a_writer_has_it_open_and_uncommitted_entries_are_not_seen(ten_games: Path) -> None:
    with closing(sqlite3.connect(ten_games, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DROP TRIGGER journal_never_deletes")
        writer.execute("DELETE FROM journal")
        assert false_entries(ten_games, raw_head(ten_games)) == []
        writer.execute("ROLLBACK")


def test_the_whole_file_is_read_as_it_stood_at_the_beginning(six_hundred_games: Path) -> None:
    verdict = verify_journal(
        str(six_hundred_games), progress=lambda *_: edit_raw(six_hundred_games, ("UPDATE nodes SET hash = x'00'",))
    )
    assert verdict.falsehoods == ()
    assert false_entries(six_hundred_games) == [("nodes", "1/0"), ("nodes", "1/1")]


@pytest.mark.skipif(os.geteuid() == 0, reason="a folder is never read-only to root")
def test_a_journal_in_a_read_only_folder_is_read(ten_games: Path) -> None:
    ten_games.parent.chmod(0o555)
    try:
        assert false_entries(ten_games) == []
    finally:
        ten_games.parent.chmod(0o755)
