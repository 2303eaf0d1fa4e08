"""Games that end before the day of a player's list are recorded, and whoever records them is told what follows."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.facts.words import Carry
from ledger.ledger import Ledger
from ledger.ratings.views import Views
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded, scheme_adopted, seeded
from tests.kit.source_files import written

LIST = b"identity,name,rating,games,since\nname:ann,Ann,2344,30,2024-01-01\nname:bob,Bob,2210.5,210,2024-01-01\n"
HEADER = b"white,black,result,date,half_moves\n"


@pytest.fixture(name="seeded_club")
def _seeded_club(tmp_path: Path, run: Run) -> Path:
    """Ann and Bob, who come with a list of January 2024."""
    club = tmp_path / "club.db"
    assert run("init", club, "--scheme", "fide").code == 0
    assert run("players", "import", club, written(tmp_path, "list.csv", LIST)).code == 0
    return club


def imported(run: Run, club: Path, name: str, *lines: bytes, options: tuple[str, ...] = ()) -> str:
    """What an import that succeeds says beside its result."""
    file = written(club.parent, name, HEADER + b"".join(line + b"\n" for line in lines))
    done = run("import", club, file, *options)
    assert done.code == 0
    return str(done.err)


def test_a_typo_in_a_year_is_told_with_file_and_line_and_recorded(seeded_club: Path, run: Run) -> None:
    told = imported(run, seeded_club, "games.csv", b"Ann,Cleo,1-0,2024-03-04,60", b"Cleo,Ann,1-0,1924-03-05,60")
    (note,) = [line for line in told.splitlines() if "note:" in line]
    assert "games.csv:3: note: this game ended on 1924-03-05, before 2024-01-01, from when 'Ann' has" in note
    assert "2344 of a list in pool 'standard'" in note
    assert "check the year of the game" in note
    assert "2 games recorded" in told
    assert json.loads(run("show", seeded_club, "Ann", "--at", "2024-02").out)["rating_then"] == 2344
    assert "note" not in imported(run, seeded_club, "games.csv", b"Ann,Cleo,1-0,2024-03-04,60")


def test_each_player_is_named_once_a_file_and_many_are_counted(tmp_path: Path, run: Run) -> None:
    rows = "".join(f"name:p{i},P{i},2000,50,2024-01-01\n" for i in range(24))
    club = tmp_path / "club.db"
    run("init", club, "--scheme", "fide")
    run("players", "import", club, written(tmp_path, "l.csv", b"identity,name,rating,games,since\n" + rows.encode()))
    lines = [f"P{i},P{i + 12},1-0,2023-0{month}-04,60".encode() for month in (1, 2) for i in range(12)]
    told = imported(run, club, "games.csv", *lines)
    assert told.count(": note: ") == 10
    assert "and 14 more notes of this kind" in told


@pytest.mark.parametrize("line", [b"Ann,Bob,1-0,2024-01-01,60", b"Cleo,Dan,1-0,1924-01-01,60"])
def test_nothing_is_told_of_other_games(line: bytes, seeded_club: Path, run: Run) -> None:
    assert "note" not in imported(run, seeded_club, "games.csv", line)


def test_a_late_game_after_the_day_of_the_list_or_of_who_had_begun_without_it_says_nothing(
    seeded_club: Path, run: Run
) -> None:
    assert "note" not in imported(run, seeded_club, "a.csv", b"Ann,Cleo,1-0,2024-03-04,60")
    assert "note" not in imported(run, seeded_club, "b.csv", b"Ann,Dan,1-0,2024-02-04,60")
    assert "note" in imported(run, seeded_club, "c.csv", b"Ann,Dan,1-0,2023-02-04,60")
    assert "note" not in imported(run, seeded_club, "d.csv", b"Ann,Dan,1-0,2023-01-04,60")


def test_a_strict_import_that_records_nothing_notes_nothing(seeded_club: Path, run: Run) -> None:
    file = written(seeded_club.parent, "s.csv", HEADER + b"Ann,Cleo,1-0,1924-03-05,60\nAnn,Cleo,1-0,never,60\n")
    done = run("import", seeded_club, file, "--strict")
    assert done.code == 1
    assert "note:" not in done.err


def test_the_receipt_of_one_game_tells_it(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        for number, name in enumerate(("Ann", "Bob", "Cleo"), 1):
            ledger.register(f"id:{number}", name)
        ledger.append_many([seeded(1, "2344", effective_at="2015-01-01"), seeded(2, "2000", effective_at="2015")])
        ledger.catch_up()
        games = [game_recorded("a", ended_at="1915-01-02"), game_recorded("b", white=3, black=2, ended_at="2016")]
        first, second = ledger.append_many(games)
        assert first.note is not None
        assert "1915-01-02, before 2015-01-01, from when player 1 has the rating 2344" in first.note
        assert "from when player 2 has the rating 2000" in first.note
        assert second.note is None
        assert ledger.append(games[0]).note is None  # recorded already
        casual = game_recorded("c", white=3, black=1, ended_at="1914", rated=False)
        assert ledger.append(casual).note is None


def test_where_everybody_begins_anew_later_the_list_still_counts(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="elo", clock=lambda: NOW) as ledger:
        for number in (1, 2):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append(seeded(1, "2344", effective_at="2015-01-01"))
        ledger.append(scheme_adopted("glicko2", effective_from="2016-01-01", carry=Carry.RESTART))
        ledger.catch_up()
        assert ledger.append(game_recorded("a", ended_at="1915-01-02")).note is None


def test_a_ledger_without_lists_is_asked_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one without views, which a first import has not."""
    asked: list[str] = []
    connection = Views.connection.fget  # type: ignore[attr-defined]

    def watched(views: Views) -> Any:
        found = connection(views)
        found.set_trace_callback(asked.append)
        return found

    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        for number in (1, 2):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append(game_recorded("a", ended_at="2015-01-02"))
        ledger.catch_up()
        monkeypatch.setattr(Views, "connection", property(watched))
        ledger.append(game_recorded("b", ended_at="2015-01-03"))
    assert [statement for statement in asked if "seeds" in statement] == ["SELECT EXISTS(SELECT 1 FROM seeds) AS found"]
