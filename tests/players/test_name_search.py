"""The search by a part of a name: what is found, that index and names agree, that no byte of a forgotten name stays."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedError
from ledger.ledger import Ledger
from ledger.players import name_indexes, sqlite_layout, sqlite_people
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.people import make_released

NAMES = ("Müller, Thomas", "Mullins Anna", "O'Kelly, Albéric", "Ivančević, Đorđe", "van der Mullen, Jan", "Иванов Пётр")


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of six players, whose names stand in the index from the first search on."""
    monkeypatch.setattr(name_indexes, "_FEW", 0)
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for number, name in enumerate(NAMES, 1):
            ledger.register(f"id:{number}", name)
    return path


def found(path: Path, part: str) -> list[str]:
    with Ledger.open(path) as ledger:
        return [match.name for match in ledger.people.search.find(part)]


def has_index(path: Path) -> bool:
    with closing(sqlite.connect(sidecar(path, "people"))) as connection:
        return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'people_search'").fetchone() is not None


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize(
    ("part", "who"),
    [
        ("mull", ["Mullins Anna", "Müller, Thomas", "van der Mullen, Jan"]),
        ("MÜLL", ["Müller, Thomas", "Mullins Anna", "van der Mullen, Jan"]),
        ("okel", ["O'Kelly, Albéric"]),
        ("alberic o'k", ["O'Kelly, Albéric"]),
        ("dorde", ["Ivančević, Đorđe"]),
        ("jan mul", ["van der Mullen, Jan"]),
        ("mul ja", ["van der Mullen, Jan"]),
        ("ПЕТР", ["Иванов Пётр"]),
        ("zzz", []),
    ],
)
def test_part_of_a_name_without_case_and_accents(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, part: str, who: list[str], few: int
) -> None:
    monkeypatch.setattr(name_indexes, "_FEW", few)
    assert sorted(found(indexed, part)) == sorted(who)
    assert has_index(indexed) == (few == 0)
    if who:
        assert found(indexed, part)[0] == who[0]


def test_fewer_than_three_letters_are_refused(indexed: Path) -> None:
    for part in ("mu", "", "a b c", "--", "m-u"):
        with pytest.raises(MalformedError, match="give 3 letters on end or more"):
            found(indexed, part)


def test_the_words_of_a_query_language_are_words(indexed: Path) -> None:
    assert found(indexed, 'mull" OR "ivan') == []
    assert found(indexed, "words:mull*") == []


def test_who_comes_is_renamed_or_erased_is_found_so(indexed: Path) -> None:
    assert found(indexed, "mullins") == ["Mullins Anna"]
    with Ledger.open(indexed) as ledger:
        ledger.register("id:7", "Mullins Berta")
        ledger.rename(2, "Smith Anna")
        ledger.erase(1)
        assert [match.name for match in ledger.people.search.find("mull")] == ["Mullins Berta", "van der Mullen, Jan"]
        assert [match.player for match in ledger.people.search.find("smith")] == [2]
        ledger.rename(7, "Mullova Berta")
    assert found(indexed, "berta") == ["Mullova Berta"]
    assert found(indexed, "mullins") == []


@pytest.mark.parametrize("has_secure_delete", [True, False])
def test_no_byte_of_a_forgotten_name_stays(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, *, has_secure_delete: bool
) -> None:
    if not has_secure_delete:
        monkeypatch.setattr(sqlite_people, "SECURE_DELETE_SINCE", (99,))
    with Ledger.open(indexed) as ledger:
        erased, renamed = ledger.register("id:8", "Qwyxzer Vjkqh"), ledger.register("id:9", "Bqxwzam Fjwqk")
        assert len(ledger.people.search.find("qwyx")) == 1
        assert len(ledger.people.search.find("bqxwz")) == 1
    assert has_index(indexed)
    assert b"qwyxzer vjkqh" in sidecar(indexed, "people").read_bytes()
    with Ledger.open(indexed) as ledger:
        ledger.erase(erased)
        ledger.rename(renamed, "Smith")
    data = b"".join(path.read_bytes() for path in indexed.parent.iterdir()).lower()
    for rest in (b"qwyx", b"wyxz", b"vjkq", b"bqxw", b"fjwq", b"wyx", b"jkq"):
        assert rest not in data
    assert found(indexed, "smith") == ["Smith"]
    assert found(indexed, "qwyxz") == []


def test_a_file_that_cannot_be_written_is_read(indexed: Path) -> None:
    with Ledger.open(indexed, read_only=True) as ledger:
        assert [match.name for match in ledger.people.search.find("okel")] == ["O'Kelly, Albéric"]
    assert not has_index(indexed)


def test_a_file_of_an_earlier_release_is_searched_and_upgraded(indexed: Path) -> None:
    people = sidecar(indexed, "people")
    make_released(people)
    with closing(SqlitePeople(people, read_only=True)) as opened:
        assert len(opened.search.find("mull")) == 3
    assert len(found(indexed, "mull")) == 3
    with closing(sqlite.connect(people)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (sqlite_layout.LAYOUT,)


def test_the_audit_and_a_backup_take_the_index_as_it_is(indexed: Path, tmp_path: Path, run: Run) -> None:
    found(indexed, "mull")
    assert run("audit", indexed).out.startswith("TRUE")
    assert run("backup", indexed, tmp_path / "kept").code == 0
    assert run("restore", tmp_path / "kept", tmp_path / "again.db").code == 0
    assert found(tmp_path / "again.db", "okel") == ["O'Kelly, Albéric"]


def test_the_audit_names_a_forgotten_name_in_the_index_and_a_changed_index(indexed: Path, run: Run) -> None:
    found(indexed, "mull")
    with closing(sqlite.connect(sidecar(indexed, "people"))) as connection:
        connection.execute("INSERT INTO people_search(rowid, words) VALUES (99, 'forgotten')")
    assert "people_search 99: holds a name of a player who has none" in run("audit", indexed).out
    with closing(sqlite.connect(sidecar(indexed, "people"))) as connection:
        connection.execute("UPDATE people_search_content SET c0 = 'otherwise' WHERE id = 99")
    assert "people file integrity" in run("audit", indexed).out


def test_the_command(indexed: Path, run: Run) -> None:
    rows = json.loads(run("search", indexed, "mull").out)
    assert rows[0] == {"player": 2, "name": "Mullins Anna", "identity": "id:2"}
    done = run("search", indexed, "mull", "-t", "--limit", "1")
    assert "the first 1; there are more" in done.err
    assert run("search", indexed, "mu").code == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_index_and_names_agree(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    letters = st.text("abéßŁ -'Ж", min_size=1, max_size=8).filter(lambda text: bool(text.strip()))
    names = data.draw(st.lists(letters, min_size=1, max_size=12))
    part = data.draw(st.text("abéßŁ Ж", min_size=3, max_size=5))
    path = tmp_path_factory.mktemp("agree") / "club.people.db"
    with closing(SqlitePeople.create(path)) as people:
        people.assign_numbers({f"id:{i}": name for i, name in enumerate(names)}, "2020")
        answers = []
        for few in (1_000, 3, 0):
            name_indexes._FEW, usual = few, name_indexes._FEW
            try:
                answers.append(people.search.find(part))
            except MalformedError:
                answers.append([])
            finally:
                name_indexes._FEW = usual
    assert answers[0] == answers[1] == answers[2]
