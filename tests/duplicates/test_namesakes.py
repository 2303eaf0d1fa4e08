"""Who is registered under the name of somebody known by another identity is noted, and refused nothing."""

from pathlib import Path

import pytest

from ledger.errors import MalformedError
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.source_files import written

KNOWN = (("name:ann ek", "Ann Ek"), ("lichess:bob", "Bob Lund"), ("fide:9", "Cleo Marsh"))


@pytest.fixture(name="known_club")
def _known_club(tmp_path: Path) -> Path:
    """Three who are registered under identities of three kinds."""
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for identity, name in KNOWN:
            ledger.register(identity, name)
        ledger.catch_up()
    return path


@pytest.mark.parametrize(
    ("identity", "name", "other"),
    [
        ("fide:1", "Ann Ek", "name:ann ek"),
        ("fide:1", "ANN EK", "name:ann ek"),
        ("name:bob lund", "Bob Lund", "lichess:bob"),
        ("lichess:cleo", "Cleo Marsh", "fide:9"),
        ("name:ann e", "Ann Ek", "name:ann ek"),
        ("fide:10", "Cleo Marsh", None),  # one register gives each person one number
        ("lichess:bob2", "Bob Lund", None),
        ("fide:1", "Ann Eke", None),
        ("fide:1", "Ek, Ann", "name:ann ek"),  # the words in another order
        ("fide:1", "Änn Ék", "name:ann ek"),
        ("NAME:Dan Fay", "Dan Fay", None),  # nobody is his own namesake
    ],
)
def test_a_player_of_the_same_name_is_noted_and_added(
    identity: str, name: str, other: str | None, known_club: Path, run: Run
) -> None:
    done = run("player", "add", known_club, identity, name)
    assert done.code == 0
    assert f"{identity} is player 4" in done.err
    words = f"note: {identity} has the name of {other}, and may be the same person: see 'players alike'"
    assert (words in done.err) is (other is not None)
    assert "note:" not in run("player", "add", known_club, identity, name).err


def test_a_list_notes_its_new_players_with_their_lines(known_club: Path, run: Run) -> None:
    players = ("fide:1,Ann Ek", "fide:2,Dan Fay", "fide:3,bob lund", "fide:4,Cleo Marsh", "fide:9,Cleo Marsh")
    rows = "\n".join(("identity,name", *players, "fide:5,Dan Fay\n"))
    done = run("players", "import", known_club, written(known_club.parent, "list.csv", rows.encode()))
    assert done.code == 0
    assert [Path(line).name for line in done.err.splitlines() if "note:" in line] == [
        "list.csv:2: note: fide:1 has the name of name:ann ek, and may be the same person: see 'players alike'",
        "list.csv:4: note: fide:3 has the name of lichess:bob, and may be the same person: see 'players alike'",
    ]
    again = run("players", "import", known_club, known_club.parent / "list.csv")
    assert "note:" not in again.err


GAMES = """white,black,result,ended_at,half_moves
"Lund, Bob",Dan Fay,1-0,2024-05-03,61
"Fay, Dan",Cleo Marsh,1-0,2024-05-04,61
"""
NOTES = [
    "note: name:lund, bob has the name of lichess:bob, and may be the same person: see 'players alike'",
    "note: name:dan fay has the name of name:fay, dan, and may be the same person: see 'players alike'",
    "note: name:cleo marsh has the name of fide:9, and may be the same person: see 'players alike'",
]


@pytest.mark.parametrize("others", [0, 40])
def test_an_import_of_games_names_new_players_with_the_name_of_somebody(
    others: int, known_club: Path, run: Run
) -> None:
    """However many are new: a few are looked up, many are compared as columns."""
    rows = "".join(f"Player {number},Guest {number},1-0,2024-06-01,61\n" for number in range(others))
    file = written(known_club.parent, "games.csv", (GAMES + rows).encode())
    dry = run("import", known_club, file, "--dry-run")
    done = run("import", known_club, file)
    for said in (dry.err, done.err):
        assert [line.partition(": ")[2] for line in said.splitlines() if "note:" in line] == NOTES
    assert "note:" not in run("import", known_club, file).err


def test_a_game_by_hand_names_a_new_player_with_the_name_of_somebody(known_club: Path, run: Run) -> None:
    done = run("record", known_club, "--white", "Ek, Ann", "--black", "Bob Lund", "--result", "1-0", "--new")
    assert done.code == 0
    assert "note: name:ek, ann has the name of name:ann ek" in done.err


def test_new_identities_of_digits_alone_are_refused(known_club: Path, run: Run) -> None:
    refused = run("player", "add", known_club, "12345", "Dan Fay")
    assert refused.code == 2
    words = "may not be digits alone, for players have numbers here, got '12345'; write 'id:12345' @ $.identity"
    assert words in refused.err
    with Ledger.open(known_club) as ledger, pytest.raises(MalformedError, match="digits alone"):
        ledger.register("777", "Dan Fay")


def test_an_identity_of_digits_from_an_earlier_version_stays_known(
    known_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("ledger.facts.prior_ratings.number_fault", lambda _: None)
        assert run("player", "add", known_club, "12345", "Dan Fay").code == 0
    again = run("player", "add", known_club, "12345", "Dan Fay")
    assert (again.code, "12345 is player 4 already" in again.err) == (0, True)


def test_of_many_namesakes_the_first_are_named(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for number in range(12):
            ledger.register(f"name:p{number}", f"P{number}")
        ledger.catch_up()
    rows = "identity,name\n" + "".join(f"fide:{number},P{number}\n" for number in range(12))
    done = run("players", "import", path, written(tmp_path, "list.csv", rows.encode()))
    assert done.err.count(": note: ") == 10
    assert "and 2 more new players with the name of somebody known" in done.err


def test_a_dry_run_of_many_newcomers_meets_a_ledger_without_players(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    Ledger.create(path).close()
    rows = "white,black,result,ended_at\n" + "".join(f"P{number},Q{number},1-0,2024-05-01\n" for number in range(12))
    done = run(
        "import", path, written(tmp_path, "games.csv", (rows + "p0,Jan Ek,1-0,2024-05-02\n").encode()), "--dry-run"
    )
    assert done.code == 0, done.err
    assert "13 games recorded, 0 known already, 25 new players" in done.err
