"""A ledger that is moved onto a server and back: the same history, in one place at a time, whoever is stopped."""

import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from ledger import backups
from ledger.backups import moving
from ledger.errors import StorageError
from ledger.journal.settings_file import SettingsFile
from ledger.ledger import Ledger
from tests.kit.clubs import NAME
from tests.kit.commands import Done, Run
from tests.kit.games import game_recorded
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place, run_sql_on


@pytest.fixture(name="moved_club")
def _moved_club(sample_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(sample_folder, tmp_path / "club")
    return tmp_path / "club" / NAME


def record(run: Run, club: Path, key: str) -> Done:
    words = ("--white", "ann", "--black", "bob", "--result", "1-0", "--ended", "2024-05-03", "--key", f"x:{key}")
    return run("record", club, *words)


def test_it_goes_to_a_server_and_back_with_the_same_head_names_and_ratings(
    each_server: Server, moved_club: Path, run: Run
) -> None:
    place = new_place(each_server)
    head, ranked = run("head", moved_club).out, run("ratings", moved_club, "--limit", "0").out
    done = run("move", moved_club, "--journal", place.address, "--schema", place.schema, "--yes")
    assert (done.code, done.out) == (0, head), done.err
    assert "note:" not in done.err
    assert not moved_club.exists()
    assert (run("head", moved_club).out, run("ratings", moved_club, "--limit", "0").out) == (head, ranked)
    assert run("audit", moved_club).code == 0
    assert record(run, moved_club, "1").code == 0
    head, ranked = run("head", moved_club).out, run("ratings", moved_club, "--limit", "0").out
    again = run("move", moved_club, "--journal", place.address, "--yes")
    assert (again.code, "is on a server already, in the schema club of" in again.err) == (1, True)
    back = run("move", moved_club, "--journal", "file", "--yes")
    assert (back.code, back.out) == (0, head), back.err
    assert (moved_club.parent / "club.toml").read_text() == ""
    assert (run("head", moved_club).out, run("ratings", moved_club, "--limit", "0").out) == (head, ranked)
    assert run("audit", moved_club).code == 0
    assert record(run, moved_club, "2").code == 0
    assert (run("move", moved_club, "--journal", "file", "--yes").err, moved_club.exists()) == (
        f"error: {moved_club}: is in files already\n", True,
    )  # fmt: skip


def test_the_files_that_were_left_take_nothing_more_and_say_where_the_ledger_went(
    oldest_server: Server, moved_club: Path, run: Run
) -> None:
    place = new_place(oldest_server)
    with Ledger.open(moved_club) as open_meanwhile:
        folder = backups.move_to_server(moved_club, place).folder
        with pytest.raises(StorageError):
            open_meanwhile.append(game_recorded("late"))
    with Ledger.open(folder / NAME) as left:
        with pytest.raises(StorageError, match="the ledger went to postgresql://ledger_of_"):
            left.append(game_recorded("late"))
        size = left.journal.size()
    audited = run("audit", folder / NAME)
    assert (audited.code, "MOVED" in audited.out) == (0, True), audited.out
    assert "the ledger went to postgresql://ledger_of_" in audited.out
    with Ledger.open(moved_club) as there:
        assert there.journal.size() == size


def test_a_schema_that_was_left_takes_nothing_more_and_says_where_the_ledger_went(
    oldest_server: Server, moved_club: Path, tmp_path: Path, run: Run
) -> None:
    place = new_place(oldest_server)
    backups.move_to_server(moved_club, place)
    (tmp_path / "node").mkdir()
    shutil.copy(moved_club.parent / "club.toml", tmp_path / "node")
    with Ledger.open(tmp_path / "node" / NAME) as another_node:
        another_node.register("name:new", "New")
        backups.move_to_files(moved_club)
    with (
        Ledger.open(tmp_path / "node" / NAME) as another_node,
        pytest.raises(StorageError, match=f"the ledger went to {moved_club}"),
    ):
        another_node.register("name:newer", "Newer")
    audited = run("audit", tmp_path / "node" / NAME)
    assert (audited.code, f"the ledger went to {moved_club}" in audited.out) == (0, True), audited.out
    with Ledger.open(moved_club) as back:
        assert back.player("New").name == "New"


@pytest.mark.parametrize("owner", [moving, SettingsFile], ids=["files are put aside", "settings are written"])
def test_whoever_was_stopped_moves_it_again(
    owner: object, oldest_server: Server, moved_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    place = new_place(oldest_server)
    with monkeypatch.context() as patch:
        patch.setattr(owner, "_move_to_folder" if owner is moving else "put", stopped)
        with pytest.raises(KeyboardInterrupt):
            backups.move_to_server(moved_club, place)
    if owner is moving:
        with pytest.raises(StorageError, match=r"stands there, and club.toml says that the journal is on a server"):
            Ledger.open(moved_club)
    else:
        with Ledger.open(moved_club) as left, pytest.raises(StorageError, match="the ledger went to"):
            left.append(game_recorded("late"))
    other = new_place(oldest_server)
    with pytest.raises(StorageError, match="it cannot be moved to another place from here"):
        backups.move_to_server(moved_club, other)
    moved = backups.move_to_server(moved_club, place)
    with Ledger.open(moved_club) as there:
        assert there.head() == moved.head


def test_a_schema_that_takes_nothing_gets_no_ledger(oldest_server: Server, moved_club: Path, run: Run) -> None:
    place = new_place(oldest_server)
    run_sql_on(oldest_server, place, "INSERT INTO club.about VALUES ('gone', 'nowhere')")
    done = run("move", moved_club, "--journal", place.address, "--yes")
    assert (done.code, "the ledger went to nowhere" in done.err) == (1, True), done.err
    with Ledger.open(moved_club) as ledger:
        ledger.append(game_recorded("still-here"))
