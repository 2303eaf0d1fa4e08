"""Giving a player another name: what is recorded, kept and forgotten, and what a file with the old name comes to."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import LedgerError, MalformedError, RejectedError, StorageError
from ledger.facts.codec import decode
from ledger.facts.events import PlayerRegistered, PlayerRenamed
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.journal.listing import JournalEntry
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import lost_names
from ledger.players.persons import Person, commitment
from ledger.players.sqlite_layout import LAYOUT
from ledger.players.verified_names import latest_commitments, name_commitments, renamed_players
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import source_game
from tests.kit.people import THREE_NAMES, everybody, import_wins, make_released, put_people_file, won_by_the_first
from tests.kit.tampering import execute, run_sql

NEW = "Ann Ek"
OLD_NAME, NEW_NAME, THIRD_NAME = THREE_NAMES


@pytest.fixture(name="trio")
def _trio(tmp_path: Path) -> Path:
    """Three players who are known by an identity that says nothing of their names; the first has a marked one."""
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for number, name in enumerate((OLD_NAME, "Bob", "Cleo"), 1):
            assert ledger.register(f"id:{number}", name) == number
    return path


def renamings(path: Path) -> list[JournalEntry]:
    with Ledger.open(path, read_only=True) as ledger:
        return list(ledger.entries("player-renamed"))


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def person_in(path: Path, player: int) -> Person:
    return next(person for person in everybody(sidecar(path, "people")) if person.player == player)


def told_by(identity: str, name: str, key: str = "made:1") -> SourceGame:
    """A game that Bob loses to somebody who is called so."""
    return source_game(key, name, "Bob", white_id=identity, black_id="id:2")


def test_the_journal_seals_the_new_name_under_a_new_salt(trio: Path) -> None:
    before = person_in(trio, 1)
    with Ledger.open(trio) as ledger:
        assert ledger.rename(1, NEW_NAME, actor="officer")
    after = person_in(trio, 1)
    assert (after.identity, after.name, after.joined_at) == ("id:1", NEW_NAME, before.joined_at)
    assert after.salt != before.salt
    (entry,) = renamings(trio)
    assert (entry.key, entry.actor) == ("renamed:1@1", "officer")
    sealed = commitment(after.salt or b"", "id:1", NEW_NAME)
    assert entry.facts == {"player": 1, "number": 1, "commitment": sealed}
    assert audit(trio).falsehoods == ()
    assert audit(trio).not_compared[0].part == "derived rows"  # there are no views yet, and nothing else is left out


def test_every_renaming_has_a_number_and_a_salt_of_its_own(trio: Path) -> None:
    salts = {person_in(trio, 1).salt}
    with Ledger.open(trio) as ledger:
        for name in (NEW_NAME, THIRD_NAME, OLD_NAME, NEW_NAME):
            assert ledger.rename(1, name)
            salts.add(person_in(trio, 1).salt)
            assert ledger.player(name).player == 1
        assert ledger.rename(2, "Bob Lund")
    assert [entry.key for entry in renamings(trio)] == [*(f"renamed:1@{n}" for n in range(1, 5)), "renamed:2@1"]
    assert len(salts) == 5
    assert audit(trio).falsehoods == ()


def test_the_name_that_a_player_bears_is_recorded_once(trio: Path) -> None:
    with Ledger.open(trio) as ledger:
        assert ledger.rename(1, NEW_NAME)
        head = ledger.head()
        assert not ledger.rename(1, NEW_NAME)
        assert not ledger.rename(2, "Bob")
        assert ledger.head() == head
        assert ledger.rename(2, "bob")  # the case of a letter is a spelling, too


def test_the_old_name_and_its_salt_stand_in_no_byte_any_more(trio: Path) -> None:
    salt = bytes(person_in(trio, 1).salt or b"")
    assert OLD_NAME.encode() in bytes_of(trio)
    with Ledger.open(trio) as ledger:
        ledger.rename(1, NEW_NAME)
        assert OLD_NAME.encode() not in bytes_of(trio)
        assert salt not in bytes_of(trio)
        ledger.erase(1)
        assert NEW_NAME.encode() not in bytes_of(trio)  # erasing forgets all of them
    assert [person_in(trio, 1)[1:4]] == [(None, None, None)]
    assert audit(trio).falsehoods == ()


def test_a_number_without_a_name_gets_one(tmp_path: Path) -> None:
    """A federation's file that tells numbers alone."""
    path = tmp_path / "fed.db"
    game = told_by("fide:1503014", "FIDE 1503014")
    with Ledger.create(path) as ledger:
        ledger.import_games(batch_games([game]))
        ledger.rename(1, "Carlsen, Magnus")
        assert ledger.player("Carlsen, Magnus") == ledger.player("fide:1503014") == ledger.player("1")
        again = ledger.import_games(batch_games([game, game._replace(key="made:2", line=2)]))
        assert (again.recorded, again.repeated, again.players, again.kept_names) == (1, 1, 0, 1)


def test_who_is_erased_or_was_never_registered_gets_no_name(trio: Path) -> None:
    with Ledger.open(trio) as ledger:
        ledger.erase(1)
        head = ledger.head()
        for player, rule in ((1, "erased-player"), (4, "unknown-player")):
            with pytest.raises(RejectedError) as caught:
                ledger.rename(player, "Eve")
            assert caught.value.rule == rule
        for name in ("", " Eve", "E\x00ve", "x" * 129):
            with pytest.raises(MalformedError, match="must be 1 to 128 characters"):
                ledger.rename(2, name)
        execute(sidecar(trio, "people"), "DELETE FROM people WHERE player = 3")
        with pytest.raises(StorageError, match="knows nothing of player 3, whom entry 4 registered"):
            ledger.rename(3, "Eve")
        assert ledger.head() == head
        assert ledger.names.file.pending.rows() == []


def test_a_clock_that_is_behind_leaves_everything_as_it_was(club_of_two: ClubOfTwo) -> None:
    before, people = club_of_two.ledger.head(), everybody(sidecar(club_of_two.path, "people"))
    club_of_two.clock.now = club_of_two.clock.now.replace(year=2020)
    with pytest.raises(RejectedError, match="clock-behind"):
        club_of_two.ledger.rename(1, NEW)
    assert (club_of_two.ledger.head(), everybody(sidecar(club_of_two.path, "people"))) == (before, people)
    assert club_of_two.ledger.names.file.pending.rows() == []


@pytest.mark.parametrize("what", ["actor", "journal"])
def test_what_the_journal_does_not_take_is_no_name(what: str, club_of_two: ClubOfTwo) -> None:
    """The name waits already when the entry is refused."""
    if what == "journal":
        run_sql(club_of_two.path, "CREATE TRIGGER t BEFORE INSERT ON nodes BEGIN SELECT raise(ABORT, 'no'); END")
    with pytest.raises(LedgerError):
        club_of_two.ledger.rename(1, NEW_NAME, actor="eve\n" if what == "actor" else "eve")
    assert club_of_two.ledger.player("Ann").player == 1
    if what == "journal":
        run_sql(club_of_two.path, "DROP TRIGGER t")
    Ledger.open(club_of_two.path).close()
    assert NEW_NAME.encode() not in bytes_of(club_of_two.path)
    assert audit(club_of_two.path).falsehoods == ()


@pytest.mark.parametrize("strict", [False, True])
def test_a_file_with_the_old_name_is_imported_as_before_and_the_name_stays(club_of_four: Path, strict: bool) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.rename(1, NEW)
        head = ledger.head()
        again = ledger.import_games(batch_games(won_by_the_first(("Ann", "Bob"))), strict=strict)
        assert (again.repeated, again.recorded, again.players, again.faults) == (1, 0, 0, [])
        assert again.kept_names == 1
        assert ledger.head() == head
        further = won_by_the_first(("Ann", "Bob"), ("Bob", "Ann"), ("Carl", "Ann"))
        later = ledger.import_games(batch_games(further, 1), strict=strict)
        assert (later.recorded, later.players, later.faults, later.kept_names) == (2, 0, [], 1)  # counted once a file
        assert ledger.player("1").name == NEW
        carl = ledger.import_games(batch_games(won_by_the_first(("Carl", "Dora"))), strict=strict)
        assert carl.kept_names == 0
    assert audit(club_of_four).falsehoods == ()


def test_a_file_with_the_new_name_under_the_old_identity_tells_nothing_new(club_of_four: Path) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.rename(1, NEW)
        (game,) = won_by_the_first(("Ann", "Bob"))
        again = ledger.import_games(batch_games([game._replace(white_name=NEW)]))
        assert (again.repeated, again.kept_names) == (1, 0)


def test_registering_again_is_a_repeat_whatever_the_name(trio: Path) -> None:
    """Which name was the first, nobody knows any more; before the renaming another one was refused."""
    with Ledger.open(trio) as ledger:
        with pytest.raises(RejectedError, match=r"^exists-with-different-name: .*, 'player rename' gives another one$"):
            ledger.register("id:1", "Somebody Else")
        registration = decode(ledger.journal.find(["player:1"])["player:1"].body).event
        assert isinstance(registration, PlayerRegistered)
        ledger.rename(1, NEW_NAME)
        head = ledger.head()
        assert ledger.append(registration).duplicate  # judged by what the registration sealed
        for name in (OLD_NAME, NEW_NAME, "Somebody Else"):
            assert ledger.register("id:1", name) == 1
        assert ledger.registry.add("id:1", OLD_NAME, actor="site").name == NEW_NAME
        with pytest.raises(RejectedError, match="exists-with-different-name"):
            ledger.register("id:2", "Somebody Else")
        with pytest.raises(RejectedError, match="exists-with-different-birth-year"):
            ledger.register("id:1", NEW_NAME, birth_year=1990)
        assert ledger.head() == head


def test_a_renaming_by_append_is_refused(trio: Path) -> None:
    with Ledger.open(trio) as ledger:
        with pytest.raises(RejectedError, match="not-by-rename"):
            ledger.append(PlayerRenamed(player=1, number=1, commitment="0" * 64))
        ledger.rename(1, NEW_NAME)
        (entry,) = ledger.journal.find(["renamed:1@1"]).values()
        assert ledger.append(decode(entry.body).event).duplicate
        with pytest.raises(RejectedError, match="exists-with-different-commitment"):
            ledger.append(PlayerRenamed(player=1, number=1, commitment="0" * 64))


def test_the_newest_commitment_holds_for_each_player(trio: Path) -> None:
    with Ledger.open(trio) as ledger:
        for number in range(1, 12):  # "renamed:1@10" sorts before "renamed:1@9"
            ledger.rename(1, f"Name {number}")
        ledger.rename(3, "Cleo Marsh")
    with closing(SqliteJournal(trio)) as journal:
        found = latest_commitments(journal, journal.find, (1, 2, 3, 9))
        assert {player: entry.position for player, entry in found.items()} == {1: 15, 2: 3, 3: 16}
        assert [entry.position for entry in name_commitments(journal.find, [1])[1]] == [2, *range(5, 16)]
        assert renamed_players(journal) == {1, 3}


@pytest.fixture(name="club_with_an_older_name")
def _club_with_an_older_name(club_of_four: Path) -> Path:
    """Carl, in the middle of the numbers, was renamed since the people file was copied that stands there now."""
    copy = shutil.copy(sidecar(club_of_four, "people"), club_of_four.with_name("copy"))
    with Ledger.open(club_of_four) as ledger:
        ledger.rename(3, "Carl Marsh")
    put_people_file(Path(copy), club_of_four)
    return club_of_four


def test_an_older_copy_is_named_with_the_way_out(club_with_an_older_name: Path) -> None:
    words = r"player 3 \('name:carl'\) has the name from before entry 8 of the journal, .*: it is an older copy; "
    for pair in (("Ann", "Bob"), ("Carl", "Dora"), ("New", "Newer")):
        with pytest.raises(StorageError, match=words):
            import_wins(club_with_an_older_name, pair)
    with Ledger.open(club_with_an_older_name) as ledger:
        with pytest.raises(StorageError, match=f"{words}.*'rating-ledger player rename DB 3 NAME'"):
            ledger.player("Carl")
        assert ledger.player("Ann").player == 1
    (falsehood,) = audit(club_with_an_older_name).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people", 3)
    assert "the name is from before entry 8, which gave another one: an older copy" in falsehood.message


@pytest.mark.parametrize("name", ["Carl Marsh", "Carl", "Karl"])
def test_an_older_copy_is_mended_by_giving_the_name_again(club_with_an_older_name: Path, name: str) -> None:
    with Ledger.open(club_with_an_older_name) as ledger:
        assert ledger.rename(3, name)
    import_wins(club_with_an_older_name, ("Carl", "New"))
    with Ledger.open(club_with_an_older_name) as ledger:
        assert ledger.player(name).player == 3
    assert audit(club_with_an_older_name).falsehoods == ()


def test_lost_names_are_not_given_up_beside_an_older_name(club_with_an_older_name: Path) -> None:
    execute(sidecar(club_with_an_older_name, "people"), "DELETE FROM people WHERE player = 4")
    people = everybody(sidecar(club_with_an_older_name, "people"))
    with closing(SqliteJournal(club_with_an_older_name)) as journal:
        from_before = r"has the name from before entry 8 .*; nothing was written"
        with pytest.raises(StorageError, match=from_before):
            lost_names.accept_lost_names(journal, sidecar(club_with_an_older_name, "people"))
    assert everybody(sidecar(club_with_an_older_name, "people")) == people


@pytest.mark.parametrize(
    "change",
    [
        "name = 'Carl'",
        "salt = zeroblob(16)",
        "identity = 'name:carla'",
        "name = (SELECT name FROM people WHERE player = 1)",
    ],
)
def test_a_name_that_was_changed_after_a_renaming_is_found(club_of_four: Path, change: str) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.rename(3, "Carl Marsh")
    execute(sidecar(club_of_four, "people"), f"UPDATE people SET {change} WHERE player = 3")
    with (
        Ledger.open(club_of_four) as ledger,
        pytest.raises(StorageError, match=r"player 3 .* is not whom entry 8 of the journal renamed: .*'.* erase DB 3'"),
    ):
        ledger.register("name:new", "New")
    with Ledger.open(club_of_four) as ledger, pytest.raises(StorageError, match="is not whom entry 8"):
        ledger.rename(3, "Carl")
    (falsehood,) = audit(club_of_four).falsehoods
    assert "the name is not the one sealed in entry 8" in falsehood.message


def test_an_older_journal_beside_a_renamed_player_is_named(club_of_four: Path) -> None:
    journal = club_of_four.read_bytes()
    with Ledger.open(club_of_four) as ledger:
        ledger.rename(3, "Carl Marsh")
    for leftover in club_of_four.parent.glob("club.db*"):
        leftover.unlink()
    club_of_four.write_bytes(journal)
    with Ledger.open(club_of_four) as ledger, pytest.raises(StorageError, match=r"is not whom entry 5 .* registered"):
        ledger.player("Carl Marsh")
    assert [falsehood.position_or_key for falsehood in audit(club_of_four).falsehoods] == [3]


@pytest.fixture(name="club_of_a_release")
def _club_of_a_release(club_of_four: Path) -> Path:
    make_released(sidecar(club_of_four, "people"))
    return club_of_four


def layout_of(path: Path) -> int:
    with closing(sqlite.connect(sidecar(path, "people"), read_only=True)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_file_of_an_earlier_release_is_read_as_it_is(club_of_a_release: Path) -> None:
    people = sidecar(club_of_a_release, "people").read_bytes()
    for read_only in (True, False):
        with Ledger.open(club_of_a_release, read_only=read_only) as ledger:
            assert ledger.player("Carl").player == 3
    assert audit(club_of_a_release).falsehoods == ()
    assert layout_of(club_of_a_release) == 1
    assert sidecar(club_of_a_release, "people").read_bytes() == people


@pytest.mark.parametrize("way", ["rename", "register", "erase"])
def test_whoever_writes_a_file_of_an_earlier_release_upgrades_it(way: str, club_of_a_release: Path) -> None:
    with Ledger.open(club_of_a_release) as ledger:
        if way == "rename":
            ledger.rename(3, "Carl Marsh")
        elif way == "register":
            ledger.register("name:new", "New")
        else:
            ledger.erase(3)
    assert layout_of(club_of_a_release) == LAYOUT
    assert audit(club_of_a_release).falsehoods == ()


@pytest.mark.parametrize("layout", [0, 2, 3, 4, LAYOUT + 1])
def test_a_file_of_a_layout_that_was_never_released_is_refused(layout: int, club_of_a_release: Path) -> None:
    execute(sidecar(club_of_a_release, "people"), f"PRAGMA user_version={layout}")
    with pytest.raises(StorageError, match=f"has layout {layout}, this program reads layout {LAYOUT}"):
        Ledger.open(club_of_a_release)
    assert "layout" in {falsehood.position_or_key for falsehood in audit(club_of_a_release).falsehoods}


def test_a_foreign_table_of_that_name_is_no_layout(club_of_a_release: Path) -> None:
    execute(sidecar(club_of_a_release, "people"), "CREATE TABLE renaming(x)")
    with Ledger.open(club_of_a_release) as ledger:
        assert ledger.player("Carl").player == 3
        with pytest.raises(LedgerError):
            ledger.rename(3, "Carl Marsh")
    assert layout_of(club_of_a_release) == 1
    assert renamings(club_of_a_release) == []


def test_the_journal_holds_no_letter_of_a_name(trio: Path) -> None:
    with Ledger.open(trio) as ledger:
        ledger.rename(1, NEW_NAME)
        bodies = [str(entry) for entry in ledger.entries()]
    assert not [body for body in bodies if NEW_NAME in body or OLD_NAME in body]
