"""The views of an earlier entry: built aside, kept one at a time, checked, and brought from entry to entry."""

from pathlib import Path

import pytest

from ledger.audit.audit import table_digests
from ledger.errors import StorageError
from ledger.journal.scratch import ScratchJournal
from ledger.ledger import Ledger
from ledger.ratings.past_views import open_advancing_views, open_views_known_at
from tests.kit.clubs import NAME, NOW, copied, take_made_up_games


@pytest.fixture(name="folder_of_the_past", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return take_made_up_games(tmp_path_factory.mktemp("known"), 300, 100)


@pytest.fixture(name="aged_club")
def _copy_of_the_club(folder_of_the_past: Path, tmp_path: Path) -> Path:
    return copied(folder_of_the_past, tmp_path / "copy")


def test_views_of_an_earlier_entry_are_kept_one_at_a_time(aged_club: Path) -> None:
    with Ledger.open(aged_club, clock=lambda: NOW) as ledger:
        for position in (200, 120):
            for _ in range(2):
                with open_views_known_at(aged_club, (), ledger.journal, position) as past:
                    assert past.position() == position
                    assert past.connection.execute("SELECT max(position) FROM games").fetchone()[0] <= position
            assert [file.name for file in aged_club.parent.glob("*known*.db")] == [f"club.known-{position}.db"]


def test_whoever_reads_reads_on_while_another_question_takes_the_file_away(aged_club: Path) -> None:
    with (
        Ledger.open(aged_club, clock=lambda: NOW) as ledger,
        open_views_known_at(aged_club, (), ledger.journal, 200) as past,
    ):
        before = table_digests(past.connection)
        with open_views_known_at(aged_club, (), ledger.journal, 120):
            assert not (aged_club.parent / "club.known-200.db").exists()
            assert table_digests(past.connection) == before


def test_kept_views_of_another_journal_or_damaged_are_built_anew(aged_club: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = take_made_up_games(tmp_path / "other", 90, 30)
    with (
        Ledger.open(other / NAME, clock=lambda: NOW) as ledger,
        open_views_known_at(ledger.path, (), ledger.journal, 60),
    ):
        pass
    foreign = (other / "club.known-60.db").read_bytes()
    with Ledger.open(aged_club, clock=lambda: NOW) as ledger:
        for content in (foreign, b"", b"no database" * 1000):
            (aged_club.parent / "club.known-60.db").write_bytes(content)
            with open_views_known_at(aged_club, (), ledger.journal, 60) as past:
                assert past.is_up_to_date()
                root = past.connection.execute("SELECT root FROM progress").fetchone()[0]
                assert root == ledger.journal.root_at(60)


def test_where_the_folder_cannot_be_written_nothing_is_kept(aged_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.ratings.views.Views.can_be_written", lambda _: False)
    with (
        Ledger.open(aged_club, clock=lambda: NOW) as ledger,
        open_views_known_at(aged_club, (), ledger.journal, 60) as past,
    ):
        assert past.position() == 60
    assert list(aged_club.parent.glob("*known*")) == []


def test_nothing_is_kept_where_that_is_not_wanted(aged_club: Path) -> None:
    with (
        Ledger.open(aged_club, clock=lambda: NOW) as ledger,
        open_views_known_at(aged_club, (), ledger.journal, 60, keep=False) as past,
    ):
        assert past.position() == 60
    assert list(aged_club.parent.glob("*known*")) == []


@pytest.mark.parametrize("begun", [None, 100])
def test_views_in_steps_are_those_of_each_entry(aged_club: Path, begun: int | None) -> None:
    with Ledger.open(aged_club, clock=lambda: NOW) as ledger:
        built = {}
        for position in (120, 121, 230):
            with open_views_known_at(aged_club, (), ledger.journal, position, keep=False) as past:
                built[position] = table_digests(past.connection)
        if begun is None:
            with open_advancing_views(ledger.journal) as steps:
                found = {position: table_digests(steps.advance_to(position).connection) for position in built}
        else:
            with (
                open_views_known_at(aged_club, (), ledger.journal, begun) as past,
                open_advancing_views(ledger.journal, past) as steps,
            ):
                found = {position: table_digests(steps.advance_to(position).connection) for position in built}
    assert found == built


def test_a_journal_that_ends_earlier_tells_nothing_later_and_takes_nothing(aged_club: Path) -> None:
    with Ledger.open(aged_club, clock=lambda: NOW) as ledger:
        until = ScratchJournal(ledger.journal, 50)
        assert (until.size(), until.head().root) == (50, ledger.journal.root_at(50))
        assert sum(map(len, until.read())) == sum(map(len, until.read(0, 90))) == 50
        keys = set(until.keys("a", "z"))
        assert keys == set(until.find(list(ledger.journal.keys("a", "z"))))
        assert len(keys) == 50
        with pytest.raises(ValueError, match="51 entries of 50"):
            until.root_at(51)
        with pytest.raises(StorageError, match="takes no entries"):
            until.writing()
