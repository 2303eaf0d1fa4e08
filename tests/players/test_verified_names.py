"""The people file against the journal: what a writer compares, what it refuses, and the ways out."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import StorageError
from ledger.facts.events import PlayerChanged
from ledger.facts.words import Standing
from ledger.imports.reading import batch_games
from ledger.journal import StoredEntry
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import verified_names
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.verified_names import is_committed
from ledger.runtime.ledger_files import sidecar
from ledger.testing import MemoryJournal
from ledger.testing.kit import record
from tests.kit.commands import Run
from tests.kit.people import everybody, head_text, import_wins, put_people_file, registration_of, won_by_the_first
from tests.kit.tampering import execute
from tools.commands import REFUSED, USAGE

WAY_OUT = "'rating-ledger accept-lost-names DB'"


@pytest.mark.parametrize("pairs", [[("Mallory", "Oscar")], [("Ann", "Bob")], [("Carl", "Mallory")], [("Ann", "Carl")]])
@pytest.mark.parametrize("strict", [False, True])
def test_an_import_refuses_a_people_file_that_knows_fewer_players_than_the_journal(
    club_with_older_names: Path, pairs: Sequence[tuple[str, str]], strict: bool
) -> None:
    before, people = head_text(club_with_older_names), everybody(sidecar(club_with_older_names, "people"))
    with Ledger.open(club_with_older_names) as ledger, pytest.raises(StorageError) as caught:
        ledger.import_games(batch_games(won_by_the_first(*pairs)), strict=strict)
    told = str(caught.value)
    assert "club.people.db: knows nothing of 2 players whom the journal registered: 3 (entry 5), 4 (entry 6)" in told
    assert "put the newest copy in its place" in told
    assert WAY_OUT in told
    assert head_text(club_with_older_names) == before
    assert everybody(sidecar(club_with_older_names, "people")) == people  # nobody was given a number


@pytest.mark.parametrize("name", ["Mallory", "Carl", "Ann"])
def test_registering_refuses_it_too(club_with_older_names: Path, name: str) -> None:
    before, people = head_text(club_with_older_names), everybody(sidecar(club_with_older_names, "people"))
    with Ledger.open(club_with_older_names) as ledger, pytest.raises(StorageError, match="knows nothing of 2 players"):
        ledger.register(f"name:{name.lower()}", name)
    assert head_text(club_with_older_names) == before
    assert everybody(sidecar(club_with_older_names, "people")) == people


def test_with_the_newest_copy_back_in_its_place_all_goes_on(club_with_older_names: Path) -> None:
    with pytest.raises(StorageError):
        import_wins(club_with_older_names, ("Mallory", "Oscar"))
    put_people_file(club_with_older_names.with_name("newest"), club_with_older_names)
    import_wins(club_with_older_names, ("Mallory", "Carl"))
    with Ledger.open(club_with_older_names) as ledger:
        games = [entry.facts for entry in ledger.entries("game-recorded")]
        assert [(game["white"], game["black"]) for game in games] == [(1, 2), (3, 4), (5, 3)]
        assert ledger.player("Mallory").player == 5
    assert audit(club_with_older_names).falsehoods == ()


def test_what_needs_no_names_goes_on_with_an_older_copy(club_with_older_names: Path, run: Run) -> None:
    assert run("head", club_with_older_names).out.strip() == head_text(club_with_older_names)
    assert run("log", club_with_older_names).code == 0
    assert run("rebuild", club_with_older_names).code == 0
    ranking = json.loads(run("ratings", club_with_older_names).out)
    lost = {player: f"(not in the people file) {player}" for player in (3, 4)}  # nobody erased them
    assert {row["player"]: row["name"] for row in ranking} == {1: "Ann", 2: "Bob", **lost}
    assert json.loads(run("show", club_with_older_names, "3").out)["player"] == 3  # by number
    assert run("show", club_with_older_names, "Carl").code == REFUSED
    with Ledger.open(club_with_older_names) as ledger:
        ledger.append(PlayerChanged(player=3, effective_at="2021", standing=Standing.GUEST))


def test_many_players_that_are_lost_are_counted_and_the_first_few_named(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    Ledger.create(path).close()
    shutil.copy(sidecar(path, "people"), tmp_path / "empty")
    import_wins(path, *((f"A{i}", f"B{i}") for i in range(600)))
    put_people_file(tmp_path / "empty", path)
    with pytest.raises(StorageError, match=r"nothing of 1,200 players .*: 1 \(entry 2\), (\d \(.{7}\), ){4}\.\.\.; "):
        import_wins(path, ("New", "Newer"))


def test_one_row_that_was_lost_in_the_middle_is_found(club_of_four: Path) -> None:
    execute(sidecar(club_of_four, "people"), "DELETE FROM people WHERE player = 2")
    with pytest.raises(StorageError, match=r"nothing of 1 player whom the journal registered: 2 \(entry 3\)"):
        import_wins(club_of_four, ("Ann", "Mallory"))


def test_people_whom_no_entry_registered_are_no_loss(club_of_four: Path) -> None:
    """A crash between the two files leaves them: their numbers are used when they come again."""
    with closing(SqlitePeople(sidecar(club_of_four, "people"))) as people:
        people.assign_numbers({"name:eve": "Eve", "name:finn": "Finn"}, "2020")
    import_wins(club_of_four, ("Finn", "Gus"))
    with Ledger.open(club_of_four) as ledger:
        assert ledger.player("Finn").player == 6
        assert ledger.register("name:eve", "Eve") == 5
    assert audit(club_of_four).falsehoods == ()


def test_a_repeated_register_looks_at_the_whole_file_once(club_of_four: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    counts, keys = SqlitePeople.counts, SqliteJournal.keys

    def seen_counts(people: SqlitePeople) -> tuple[int, int]:
        looked.append("people")
        return counts(people)

    def seen_keys(journal: SqliteJournal, first: str, last: str) -> Iterator[str]:
        looked.append(f"journal {first}")
        return keys(journal, first, last)

    monkeypatch.setattr(SqlitePeople, "counts", seen_counts)
    monkeypatch.setattr(SqliteJournal, "keys", seen_keys)
    with Ledger.open(club_of_four) as ledger, Ledger.open(club_of_four) as other:
        for i in range(20):
            ledger.register(f"id:{i}", f"Name {i}")
        few = {"journal renamed:", "journal erased:", "journal token:"}  # the last: was anybody given a token?
        assert [word for word in looked if word not in few] == ["people"]  # the views know who was registered last
        assert looked.count("journal erased:") == 3  # when each was opened, and before the first number
        assert looked.count("journal renamed:") == 5  # twice for each end, and for all who were renamed
        other.register("id:other", "Other")
        looked.clear()
        for i in range(20):
            ledger.register(f"more:{i}", f"Name {i}")
        # Somebody else has written; the journal's numbers are known.
        assert [word for word in looked if word not in few] == ["people"]
        assert looked.count("journal renamed:") == 3


def test_a_row_that_another_process_loses_meanwhile_is_found(club_of_four: Path) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.register("id:1", "One")
        execute(sidecar(club_of_four, "people"), "DELETE FROM people WHERE player = 3")
        with pytest.raises(StorageError, match=r"nothing of 1 player whom the journal registered: 3 \(entry 5\)"):
            ledger.register("id:2", "Two")


CHANGES = {
    "name": "UPDATE people SET name = 'Carla' WHERE player = 3",
    "identity": "UPDATE people SET identity = 'name:carla' WHERE player = 3",
    "salt": "UPDATE people SET salt = zeroblob(16) WHERE player = 3",
    "no salt": "UPDATE people SET salt = NULL WHERE player = 3",
    "half a salt": "UPDATE people SET salt = substr(salt, 1, 8) WHERE player = 3",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_player_whose_row_is_not_what_was_sealed_is_not_used(club_of_four: Path, what: str) -> None:
    execute(sidecar(club_of_four, "people"), CHANGES[what])
    name = "name:carla" if what == "identity" else "name:carl"
    before = head_text(club_of_four)
    game = next(iter(won_by_the_first(("Ann", "Bob"))))._replace(key="made:next", black_id=name, black_name="Carl")
    for strict in (False, True):
        with Ledger.open(club_of_four) as ledger, pytest.raises(StorageError) as caught:
            ledger.import_games(batch_games([game]), strict=strict)
        assert f"player 3 ('{name}') is not whom entry 5 of the journal registered" in str(caught.value)
        assert "'rating-ledger erase DB 3'" in str(caught.value)
    with Ledger.open(club_of_four) as ledger, pytest.raises(StorageError, match=r"player 3 .* is not whom entry 5"):
        ledger.register(name, "Carl")
    assert head_text(club_of_four) == before
    with Ledger.open(club_of_four) as ledger:
        with pytest.raises(StorageError, match=r"player 3 .* is not whom entry 5"):
            ledger.player(name)
        assert ledger.player("Bob").player == 2


def test_two_players_who_changed_places_are_not_used(club_of_four: Path) -> None:
    execute(
        sidecar(club_of_four, "people"),
        "UPDATE people SET player = 99 WHERE player = 2",
        "UPDATE people SET player = 2 WHERE player = 3",
        "UPDATE people SET player = 3 WHERE player = 99",
    )
    before = head_text(club_of_four)
    for pair in (("Bob", "Ann"), ("Ann", "Carl"), ("Bob", "Carl")):
        with pytest.raises(StorageError, match=r"player [23] \('name:(bob|carl)'\) is not whom entry [35]"):
            import_wins(club_of_four, pair)
    assert head_text(club_of_four) == before


def test_a_row_without_a_salt_but_with_a_name_is_erased_whole(club_of_four: Path, run: Run) -> None:
    execute(sidecar(club_of_four, "people"), "UPDATE people SET salt = NULL WHERE player = 3")
    assert run("erase", club_of_four, "3").code == USAGE  # it asks: there is something to forget
    assert "is forgotten" in run("erase", club_of_four, "3", "--yes").err
    assert everybody(sidecar(club_of_four, "people"))[2][1:4] == (None, None, None)


def test_the_name_that_was_changed_may_be_given_up_alone(club_of_four: Path, run: Run) -> None:
    """Also where it stands at an end, so that nothing with names can be read."""
    for player in (4, 1):
        execute(sidecar(club_of_four, "people"), f"UPDATE people SET name = 'X' WHERE player = {player}")
        done = run("ratings", club_of_four)
        assert (done.code, f"erase DB {player}'" in done.err) == (REFUSED, True)
        assert run("erase", club_of_four, "name:ann", "--yes").code == REFUSED  # by name: of which ledger?
        assert run("erase", club_of_four, str(player), "--yes").code == 0
    import_wins(club_of_four, ("Dora", "Ann"), ("Bob", "Carl"))
    with Ledger.open(club_of_four) as ledger:
        assert [ledger.player(name).player for name in ("Bob", "Carl", "Dora", "Ann")] == [2, 3, 5, 6]
    assert audit(club_of_four).falsehoods == ()


def test_a_registration_in_a_body_that_cannot_be_read_is_not_taken_for_true() -> None:
    person = Person(3, "name:carl", "Carl", bytes(16), "2020")
    assert not is_committed(person, StoredEntry(5, b"{}", b""))
    assert not is_committed(person._replace(salt=None, name=None, identity=None), StoredEntry(5, b"", b""))


@pytest.mark.parametrize(
    "words",
    [["ratings"], ["show", "1"], ["show", "Zoe"], ["games", "1"], ["graph", "1"], ["predict", "1", "2"],
     ["explain", "1", "made:Ann-Bob"], ["erase", "Zoe", "--yes"]],
)  # fmt: skip
def test_a_foreign_people_file_is_refused_for_reading_too(
    club_with_foreign_names: Path, words: list[str], run: Run
) -> None:
    held = everybody(sidecar(club_with_foreign_names, "people"))
    done = run(words[0], club_with_foreign_names, *words[1:])
    assert (done.code, done.out) == (REFUSED, "")
    assert "player 1 ('name:zoe') is not whom entry 2 of the journal registered" in done.err
    assert "move" in done.err
    assert "accept-lost-names" in done.err
    assert everybody(sidecar(club_with_foreign_names, "people")) == held


@pytest.mark.parametrize("pairs", [[("Zoe", "Yan")], [("Ann", "Bob")], [("New", "Newer")]])
def test_a_foreign_people_file_is_refused_for_writing_whoever_plays(
    club_with_foreign_names: Path, pairs: Sequence[tuple[str, str]]
) -> None:
    before, held = head_text(club_with_foreign_names), everybody(sidecar(club_with_foreign_names, "people"))
    with pytest.raises(StorageError, match="is not whom entry 2"):
        import_wins(club_with_foreign_names, *pairs)
    with Ledger.open(club_with_foreign_names) as ledger, pytest.raises(StorageError, match="is not whom entry 2"):
        ledger.register("name:new", "New")
    assert head_text(club_with_foreign_names) == before
    assert everybody(sidecar(club_with_foreign_names, "people")) == held


def test_numbers_are_read_and_the_audit_lists_all_falsehoods_of_a_foreign_file(
    club_with_foreign_names: Path, run: Run
) -> None:
    for words in (["head"], ["log"], ["pools"], ["rebuild"]):
        assert run(words[0], club_with_foreign_names, *words[1:]).code == 0
    with Ledger.open(club_with_foreign_names, read_only=True) as ledger:
        assert len(list(ledger.rows("history"))) == 4
    found = {(falsehood.table, falsehood.position_or_key) for falsehood in audit(club_with_foreign_names).falsehoods}
    assert found == {("people", player) for player in (1, 2, 3, 4)}  # name, and when the player joined


def test_only_the_highest_number_tells_a_file_of_a_ledger_that_parted_ways(club_with_older_names: Path) -> None:
    """Two ledgers that were one: their first players are the same."""
    with closing(SqlitePeople(sidecar(club_with_older_names, "people"))) as people:
        people.assign_numbers({"name:zoe": "Zoe", "name:yan": "Yan", "name:xia": "Xia"}, "2020")
    with (
        Ledger.open(club_with_older_names) as ledger,
        pytest.raises(StorageError, match=r"player 4 .'name:yan'. is not whom entry 6"),
    ):
        ledger.player("Ann")
    with pytest.raises(StorageError, match="player 4 "):
        import_wins(club_with_older_names, ("Ann", "Bob"))


def test_people_without_entry_and_erased_ones_at_the_ends_hide_nothing(club_of_four: Path) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.erase(1)
        ledger.erase(4)
    with closing(SqlitePeople(sidecar(club_of_four, "people"))) as people:
        people.assign_numbers({f"name:n{i}": f"N{i}" for i in range(100)}, "2020")  # whom no entry registered
    for player, entry in ((2, 3), (3, 5)):
        execute(sidecar(club_of_four, "people"), f"UPDATE people SET name = name || '!' WHERE player = {player}")
        with (
            Ledger.open(club_of_four) as ledger,
            pytest.raises(StorageError, match=f"player {player} .* entry {entry} "),
        ):
            ledger.player("Bob")
        execute(sidecar(club_of_four, "people"), f"UPDATE people SET name = rtrim(name, '!') WHERE player = {player}")
    with Ledger.open(club_of_four) as ledger:
        assert ledger.player("Bob").player == 2


@pytest.fixture(name="journal_and_people")
def _journal_and_people(tmp_path: Path) -> Iterator[tuple[MemoryJournal, People]]:
    journal = MemoryJournal()
    with closing(SqlitePeople.create(tmp_path / "people.db")) as people:
        yield journal, people


def test_names_are_compared_over_any_store_of_the_journal(journal_and_people: tuple[MemoryJournal, People]) -> None:
    journal, people = journal_and_people
    sealed = verified_names.VerifiedNames(journal, people)
    numbered = sealed.assign_numbers({"name:ann": "Ann"}, "2020", journal.find)
    assert numbered.registered == set()
    record(journal, [registration_of(1)])  # somebody else's commitment
    with pytest.raises(StorageError, match=r"player 1 .* is not whom entry 1"):
        sealed.assign_numbers({"name:ann": "Ann"}, "2020", journal.find)
    record(journal, [registration_of(12)])
    with pytest.raises(StorageError, match="is not whom entry 1"):
        verified_names.VerifiedNames(journal, people).people()
    people.erasures.begin([1], "ledger")
    with pytest.raises(StorageError, match=r"nothing of 1 player .*: 12 \(entry 2\)"):
        verified_names.VerifiedNames(journal, people).assign_numbers({"name:bob": "Bob"}, "2020", journal.find)


def test_keys_of_changes_are_no_registrations(journal_and_people: tuple[MemoryJournal, People]) -> None:
    journal, people = journal_and_people
    record(journal, [registration_of(3), PlayerChanged(player=3, effective_at="2021", standing=Standing.GUEST)])
    record(journal, [PlayerChanged(player=3, effective_at="2022-01-01", standing=Standing.GUEST)])
    assert verified_names.lost_players(journal, people) == {3: 1}
