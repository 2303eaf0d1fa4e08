"""The command ``players alike``: who looks like one person, and who is kept apart."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.searching import CROWD, similar_players
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.source_files import written
from tests.kit.yardsticks import within


@pytest.fixture(name="registered")
def _club(tmp_path: Path) -> Path:
    """A new ledger."""
    path = tmp_path / "club.db"
    Ledger.create(path).close()
    return path


def listed(run: Run, club: Path, tmp_path: Path, *lines: str) -> list[dict[str, Any]]:
    """What is listed once these players, as identity, name in quotes, year of birth, are registered."""
    text = "identity,name,born\n" + "".join(f"{line}\n" for line in lines)
    assert run("players", "import", club, written(tmp_path, "players.csv", text.encode())).code == 0
    answer: list[dict[str, Any]] = json.loads(run("players", "alike", club).out)
    return answer


def groups(rows: list[dict[str, Any]]) -> list[list[int]]:
    """The numbers of each group."""
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row["group"], []).append(row["player"])
    return list(found.values())


CARLSEN = [
    'fide:1503014,"Carlsen, Magnus",1990',
    '"name:carlsen, magnus","Carlsen, Magnus",',
    "name:magnus carlsen,Magnus Carlsen,",
]


def test_a_number_and_bare_names_of_one_person_with_what_is_known_of_each(
    registered: Path, tmp_path: Path, run: Run
) -> None:
    games = b"key,white,black,result,date\ng1,Magnus Carlsen,Bob,1-0,2024-03-04\ng2,Bob,Magnus Carlsen,1-0,2024-03-05\n"
    assert run("import", registered, written(tmp_path, "games.csv", games)).code == 0
    rows = listed(run, registered, tmp_path, *CARLSEN)
    assert rows == [
        {"group": 1, "player": 1, "identity": "name:magnus carlsen", "name": "Magnus Carlsen", "born": None,
         "games": 2, "pools": ["standard"], "apart_from": []},
        {"group": 1, "player": 3, "identity": "fide:1503014", "name": "Carlsen, Magnus", "born": 1990,
         "games": 0, "pools": [], "apart_from": []},
        {"group": 1, "player": 4, "identity": "name:carlsen, magnus", "name": "Carlsen, Magnus", "born": None,
         "games": 0, "pools": [], "apart_from": []},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (['id:1,"Carlsen, M.",', 'fide:1,"Carlsen, Magnus",'], [[1, 2]]),
        (['fide:1,"Ng, Ann",1990', 'name:ann ng,"Ann Ng",1991'], []),
        (['fide:1,"Ng, Ann",1990', 'name:ann ng,"Ann Ng",1990'], [[1, 2]]),
        (['fide:1,"Ng, Ann",', 'fide:2,"Ann Ng",'], []),
        (["lichess:ann_b,ann_b,", "lichess:annb,AnnB,", "chesscom:annb,AnnB,"], [[1, 2, 3]]),
        # An initial that may be either; the two are not each other.
        (['name:a,"Ng, A.",', 'name:b,"Ng, Ann",', 'name:c,"Ng, Alf",'], [[1, 2, 3]]),
        (['name:a,"Ng, A.",', 'name:b,"Ng, Ann",', 'name:c,"Ann Ng",', 'name:d,"Ng, Bo",'], [[1, 2, 3]]),
        # What keeps two apart lets a third go with either.
        (['fide:1,"Ng, Ann",1990', 'name:a,"Ann Ng",', 'id:7,"Ng, Ann",1980'], [[1, 2, 3]]),
        (["name:x,...,", "name:y,???,"], []),
    ],
)
def test_who_looks_alike(lines: list[str], found: list[list[int]], registered: Path, tmp_path: Path, run: Run) -> None:
    assert groups(listed(run, registered, tmp_path, *lines)) == found


def test_who_is_somebody_else_within_a_group_is_named(registered: Path, tmp_path: Path, run: Run) -> None:
    lines = ['fide:1,"Ng, Ann",1990', 'name:a,"Ann Ng",', 'id:7,"Ng, Ann",1980']
    lines += ['name:b,"Ng, A.",', 'name:c,"Ng, Alf",']
    rows = listed(run, registered, tmp_path, *lines)
    assert {row["player"]: row["apart_from"] for row in rows} == {1: [3, 5], 2: [5], 3: [1, 5], 4: [], 5: [1, 2, 3]}


def test_who_has_met_is_not_one_person(registered: Path, tmp_path: Path, run: Run) -> None:
    games = b'key,white,black,result,date,rated\ng1,Ann Ng,"Ng, Ann",1-0,2024-03-04,0\n'
    assert run("import", registered, written(tmp_path, "games.csv", games)).code == 0
    assert json.loads(run("players", "alike", registered).out) == []
    rows = listed(run, registered, tmp_path, 'fide:1,"Ng, Ann",')
    assert [(row["player"], row["apart_from"]) for row in rows] == [(1, [2]), (2, [1]), (3, [])]


def test_who_was_erased_is_not_listed(registered: Path, tmp_path: Path, run: Run) -> None:
    assert groups(listed(run, registered, tmp_path, *CARLSEN)) == [[1, 2, 3]]
    assert run("erase", registered, "2", "--yes").code == 0
    assert groups(json.loads(run("players", "alike", registered).out)) == [[1, 3]]


def test_who_was_merged_is_one_person_of_whom_all_is_known(registered: Path, tmp_path: Path, run: Run) -> None:
    assert groups(listed(run, registered, tmp_path, 'fide:7,"Eck, Ann",1990', '"name:eck, ann","Eck, Ann",')) == [
        [1, 2]
    ]
    by = ("--reason", "one person", "--by", "eve")
    assert run("correct", registered, "merge", "2", "--into", "1", *by).code == 0
    assert run("correct", registered, "approve", "1", "--by", "adam").code == 0
    assert json.loads(run("players", "alike", registered).out) == []
    rows = listed(run, registered, tmp_path, "name:ann eck,Ann Eck,", 'id:8,"Eck, Ann",1991', 'fide:9,"Eck, Ann",')
    told = [(row["player"], row["identity"], row["born"], row["apart_from"]) for row in rows]
    assert told == [
        (1, "fide:7", 1990, [4, 5]),
        (1, "name:eck, ann", 1990, [4, 5]),
        (3, "name:ann eck", None, []),
        (4, "id:8", 1991, [1]),
        (5, "fide:9", None, [1]),
    ]


def test_who_looks_like_a_merged_identity_alone_looks_like_its_person(
    registered: Path, tmp_path: Path, run: Run
) -> None:
    lines = ['"name:schmidt, änne","Schmidt, Änne",', '"name:schmidt, aenne","Schmidt, Aenne",']
    assert listed(run, registered, tmp_path, *lines) == []
    by = ("--reason", "an umlaut", "--by", "eve")
    assert run("correct", registered, "merge", "2", "--into", "1", *by).code == 0
    assert run("correct", registered, "approve", "1", "--by", "adam").code == 0
    rows = listed(run, registered, tmp_path, "fide:1,Aenne Schmidt,")
    assert [(row["player"], row["identity"]) for row in rows] == [(1, "name:schmidt, aenne"), (3, "fide:1")]


@pytest.mark.parametrize("surname", ["Ng, Ann", "Ng, A."])
def test_a_name_of_many_says_nothing_and_is_counted(surname: str, registered: Path, tmp_path: Path, run: Run) -> None:
    names = ["Ann"] * CROWD if surname == "Ng, Ann" else [f"An{n}" for n in range(CROWD)]
    lines = [f'id{n}:{n},"Ng, {name}",' for n, name in enumerate(names)]
    assert listed(run, registered, tmp_path, *lines, f'fide:1,"{surname}",') == []
    assert f"left out: 1 name that more than {CROWD} identities bear" in run("players", "alike", registered).err


def test_a_table_is_cut_and_programs_get_every_row(registered: Path, tmp_path: Path, run: Run) -> None:
    assert len(listed(run, registered, tmp_path, *(f"{site}{n}:x,Ng {n}," for n in range(30) for site in "ab"))) == 60
    assert run("players", "alike", registered, "--csv").out.startswith("group,player,identity,name,born,games,pools,")
    assert len(run("players", "alike", registered, "--nl").out.splitlines()) == 60
    table = run("players", "alike", registered, "-t")
    assert len(table.out.splitlines()) == 52
    assert "the first 50; there are more: --limit 0 shows all" in table.err
    assert len(run("players", "alike", registered, "--nl", "--limit", "3").out.splitlines()) == 3


@pytest.mark.slow
def test_a_federation_is_searched_without_comparing_each_with_each(registered: Path, tmp_path: Path, run: Run) -> None:
    """Of 40,000 players 10,000 have an initial: comparing each with each would take an hour."""
    names = [f"Sur{n % 5_000}x, {'abcd'[n % 4]}{n % 97}y" for n in range(30_000)]
    names += [f"Sur{n % 5_000}x, {'abcdefgh'[n % 8]}." for n in range(10_000)]
    text = "identity,name\n" + "".join(f'id{n}:1,"{name}"\n' for n, name in enumerate(names))
    assert run("players", "import", registered, written(tmp_path, "players.csv", text.encode())).code == 0
    with Ledger.open(registered) as ledger:
        ledger.ensure_up_to_date()
        with within(1_000):
            found = similar_players(ledger)
    assert found.rows
