"""The people file alone: numbers, salts that are whole and nobody else's, rows without names, all or nothing."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

import pytest

from ledger.errors import ConflictError, CorruptError, StorageError
from ledger.imports.reading import batch_games
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import sqlite_layout
from ledger.players.persons import Person, commitment
from ledger.players.reasons import SALT_BYTES
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.verified_names import is_committed
from ledger.registering.registry import NewPlayer
from ledger.runtime.ledger_files import sidecar
from tests.kit.games import source_game, source_games
from tests.kit.people import everybody
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.kit.tampering import edit


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Iterator[SqlitePeople]:
    with closing(SqlitePeople.create(tmp_path / "club.people.db")) as made:
        yield made


def test_no_text_shows_a_salt(file: SqlitePeople) -> None:
    person = file.assign_numbers({"name:ann": "Ann"}, "2020")["name:ann"]
    assert person.salt is not None
    for text in (repr(person), str(person), f"{person}", f"{[person]}"):
        assert repr(person.salt) not in text
        assert "'name:ann'" in text


def test_a_refused_import_leaves_no_name_behind(tmp_path: Path) -> None:
    path, people = tmp_path / "club.db", tmp_path / "club.people.db"
    with Ledger.create(path) as ledger:
        ledger.import_games(batch_games(source_games(3)))
        rows = everybody(people)
        games = [source_game("x1", "Zoe Quill", "Yan Quill"), source_game("x2", "Zoe Quill", "Zoe Quill", line=2)]
        for _ in range(2):
            assert ledger.import_games(batch_games(games), strict=True).fault_count == 1
        with pytest.raises(ZeroDivisionError):
            ledger.import_games(batch_games(chain(games[:1], (games[1 // 0] for _ in range(1)))), strict=True)
        assert everybody(people) == rows
        assert not any(b"Quill" in file.read_bytes() for file in tmp_path.iterdir())
        assert ledger.import_games(batch_games(games[:1])).players == 2
        assert [person.name for person in everybody(people)][len(rows) :] == ["Zoe Quill", "Yan Quill"]
        assert ledger.player("Zoe Quill").player == len(rows) + 1


def test_a_refused_registration_leaves_no_name_behind(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db") as ledger:
        ledger.register("name:ann", "Ann", declared_rating=1500)
        with pytest.raises(ConflictError):
            ledger.registry.add_many(
                [NewPlayer("name:odd", "Odd Quill"), NewPlayer("name:ann", "Ann", declared_rating=1600)], actor="eve"
            )
        assert [person.name for person in everybody(tmp_path / "club.people.db")] == ["Ann"]


def named(*words: str) -> dict[str, str]:
    return {f"name:{word.lower()}": word for word in words}


def test_identities_get_the_next_numbers_in_the_given_order_and_keep_them(file: SqlitePeople) -> None:
    first = file.assign_numbers(named("Bob", "Ann"), "2020")
    assert {person.name: person.player for person in first.values()} == {"Bob": 1, "Ann": 2}
    again = file.assign_numbers({"name:ann": "Ann Other", "name:zoe": "Zoe", "name:bob": "Bob"}, "2021")
    assert again["name:ann"] == first["name:ann"]  # neither name nor salt nor day changes
    assert again["name:bob"] == first["name:bob"]
    assert (again["name:zoe"].player, again["name:zoe"].joined_at) == (3, "2021")
    assert everybody(Path(file.path)) == sorted([*first.values(), again["name:zoe"]])


def test_nobody_is_numbered_for_nothing(file: SqlitePeople) -> None:
    assert file.assign_numbers({}, "2020") == {}
    assert file.counts() == (0, 0)


def test_another_process_that_was_faster_is_not_numbered_again(file: SqlitePeople) -> None:
    """Between the look-up and the lock somebody else registers one of them, and a third."""
    writing = file.writing
    faster = closing(SqlitePeople(file.path))

    @contextmanager
    def slowly() -> Iterator[None]:
        with faster as other:
            other.assign_numbers(named("Carl", "Bob"), "2020")
        with writing():
            yield

    file.assign_numbers(named("Ann"), "2020")
    file.writing = slowly  # type: ignore[method-assign,assignment]
    found = file.assign_numbers(named("Ann", "Bob", "Dora"), "2021")
    assert {person.name: person.player for person in found.values()} == {"Ann": 1, "Bob": 3, "Dora": 4}
    assert [(person.player, person.name) for person in everybody(Path(file.path))] == [
        (1, "Ann"),
        (2, "Carl"),
        (3, "Bob"),
        (4, "Dora"),
    ]


def test_rows_that_another_process_adds_while_they_are_counted_are_no_damage(file: SqlitePeople) -> None:
    names = iter("ABCDEFGH")
    with closing(SqlitePeople(file.path)) as other:

        def add(_: str) -> None:  # whenever a statement begins
            other.assign_numbers(named(next(names)), "2020")

        file._connection.set_trace_callback(add)
        rows, highest = file.counts()
        file._connection.set_trace_callback(None)
    assert rows == highest


def test_who_confirms_sees_the_new_ones_and_may_keep_them_out(file: SqlitePeople) -> None:
    file.assign_numbers(named("Ann"), "2020")
    seen: list[str | None] = []

    def refuse(persons: Sequence[Person]) -> None:
        seen.extend(person.name for person in persons)
        raise StorageError("people", "no")

    with pytest.raises(StorageError, match="no"):
        file.assign_numbers(named("Ann", "Bob"), "2020", refuse)
    assert seen == ["Bob"]
    assert file.counts() == (1, 1)
    file.assign_numbers(named("Ann"), "2020", refuse)  # there is nobody to confirm
    assert file.assign_numbers(named("Carl"), "2020")["name:carl"].player == 2


def test_a_number_is_not_given_out_again_after_its_person_was_erased(file: SqlitePeople) -> None:
    file.assign_numbers(named("Ann", "Bob"), "2020")
    assert file.erasures.begin([2], "ledger") == 1
    assert file.assign_numbers(named("Bob"), "2021")["name:bob"].player == 3


def assert_whole_and_nobody_elses(persons: Sequence[Person]) -> None:
    """Sixteen bytes each, and no two people share so much as eight of them in a row."""
    salts = [bytes(person.salt or b"") for person in persons]
    assert {len(salt) for salt in salts} == {16}
    pieces = list(chain.from_iterable({salt[start : start + 8] for start in range(9)} for salt in salts))
    assert len(set(pieces)) == len(pieces) == 9 * len(salts)


def test_the_salts_of_one_call_are_whole_and_nobody_elses(file: SqlitePeople) -> None:
    file.assign_numbers({f"name:{i}": f"{i}" for i in range(2_000)}, "2020")
    assert SALT_BYTES == 16
    assert_whole_and_nobody_elses(everybody(Path(file.path)))


@pytest.mark.slow
def test_the_salts_of_many_calls_imports_and_processes_are_whole_and_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for i in range(60):
            ledger.register(f"id:{i}", f"Name {i}")
        for games in (30, 300, 1_200):
            ledger.import_games(batch_games(source_games(games), 100))
    script = "import sys; from ledger import Ledger\nwith Ledger.open(sys.argv[1]) as ledger:\n"
    script += " for i in range(40): ledger.register(f'{sys.argv[2]}:{i}', f'Name {i}')"
    running = [subprocess.Popen([sys.executable, "-c", script, str(path), word], cwd=ROOT) for word in ("one", "two")]
    assert [process.wait(HANGS) for process in running] == [0, 0]
    persons = everybody(sidecar(path, "people"))
    assert len(persons) == 60 + 40 + 80
    assert_whole_and_nobody_elses(persons)
    with closing(SqliteJournal(path)) as journal:
        sealed = journal.find([f"player:{person.player}" for person in persons])
    assert all(is_committed(person, sealed[f"player:{person.player}"]) for person in persons)


def test_the_same_person_has_another_salt_in_every_ledger(tmp_path: Path) -> None:
    salts: list[Person] = []
    for number in range(20):
        with closing(SqlitePeople.create(tmp_path / f"{number}.db")) as file:
            salts += file.assign_numbers(named("Ann"), "2020").values()
    assert_whole_and_nobody_elses(salts)


def test_a_commitment_is_the_hmac_of_identity_and_name_under_the_whole_salt() -> None:
    """Computed here by hand, RFC 2104: SHA-256 over blocks of 64 bytes."""
    salt = bytes(range(16))
    block = salt.ljust(64, b"\0")
    message = b"name:zo\xc3\xab" + b"\0" + b"Zo\xc3\xab"
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    expected = hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()
    assert commitment(salt, "name:zo\u00eb", "Zo\u00eb") == expected


def test_every_bit_of_the_salt_and_every_part_of_the_name_counts() -> None:
    salt = bytes(range(16))
    told = [commitment(salt, "id:1", "Ann"), commitment(salt, "id:1A", "nn"), commitment(salt, "id:1", "Anne")]
    told += [commitment(salt, "id:2", "Ann"), commitment(salt, "Ann", "id:1")]
    for place in range(128):
        flipped = bytearray(salt)
        flipped[place // 8] ^= 1 << place % 8
        told.append(commitment(bytes(flipped), "id:1", "Ann"))
    assert len(set(told)) == len(told) == 133


def test_rows_without_names_are_all_kept_or_none(file: SqlitePeople) -> None:
    file.assign_numbers(named("Ann"), "2020")
    file.add_nameless({4: "2019", 2: "2018-05"})
    assert everybody(Path(file.path))[1:] == [
        Person(2, None, None, None, "2018-05"),
        Person(4, None, None, None, "2019"),
    ]
    with pytest.raises(StorageError):
        file.add_nameless({7: "2019", 1: "2019"})
    assert file.numbers() == {1, 2, 4}
    assert file.counts() == (3, 4)
    file.add_nameless({})
    assert file.assign_numbers(named("Bob"), "2021")["name:bob"].player == 5


def test_people_with_names_come_in_order_from_either_end(file: SqlitePeople) -> None:
    file.assign_numbers({f"name:{i}": f"{i}" for i in range(1, 101)}, "2020")
    assert file.erasures.begin((1, 2, 50, 100), "ledger") == 4
    low = [person.player for block in file.iter_named() for person in block]
    high = [person.player for block in file.iter_named(highest_first=True) for person in block]
    assert low == high[::-1] == [i for i in range(1, 101) if i not in {1, 2, 50, 100}]
    assert [person.player for person in next(file.iter_named())] == [3]
    assert [person.player for person in next(file.iter_named(highest_first=True))] == [99]


def test_a_file_put_together_from_two_copies_is_found_by_its_index(file: SqlitePeople, tmp_path: Path) -> None:
    file.assign_numbers(named("Ann", "Bob"), "2020")
    file.close()
    edit(
        tmp_path / "club.people.db",
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE people(player INTEGER PRIMARY KEY, identity TEXT, name TEXT, "
        "salt BLOB, joined_at TEXT NOT NULL) STRICT' WHERE name = 'people'",
        "DELETE FROM sqlite_master WHERE type = 'index'",
    )
    edit(tmp_path / "club.people.db", "INSERT INTO people VALUES (3, 'name:carl', 'Carl', x'00', '2020')")
    edit(
        tmp_path / "club.people.db",
        "PRAGMA writable_schema=ON",
        f"UPDATE sqlite_master SET sql = '{sqlite_layout.PEOPLE.strip().rstrip(';')}' WHERE name = 'people'",
        "INSERT INTO sqlite_master VALUES ('index', 'sqlite_autoindex_people_1', 'people', 3, NULL)",
    )
    with closing(SqlitePeople(tmp_path / "club.people.db")) as again, pytest.raises(CorruptError, match="from two"):
        again.counts()


def test_names_are_written_so_that_nothing_is_left_where_they_were(file: SqlitePeople) -> None:
    asked = [file._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("secure_delete", "temp_store")]
    assert asked == [1, 2]  # on; in memory
