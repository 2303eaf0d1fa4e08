"""Guests at the command line: a national open with a master of another federation, lists of players, corrections."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import written
from tools.commands import REFUSED, USAGE

LIST = b"identity,name,rating,k,federation\nfide:1,Ann,2000,20,NOR\nfide:2,Bob,1900,20,NOR\n"
OPEN = b"""012 National open
042 2024/03/04
052 2024/03/06
132                                                                                        24/03/04  24/03/05  24/03/06
001    1 m IM Mia                               2312 SWE           3 1990/02/03  0.5    3     2 w =     3 b 0  0000 - Z
001    2 m    Ann                               2000 NOR           1 1995/02/03  0.5    2     1 b =  0000 - Z     3 w 0
001    3 m    Bob                               1900 NOR           2 1996/02/03  2.0    1  0000 - Z     1 w 1     2 b 1
"""


@pytest.fixture(name="norway")
def _club(tmp_path: Path, run: Run) -> Path:
    """The pool of a federation with two of its players on a list, after an open with a guest."""
    path = tmp_path / "nor.db"
    assert run("init", path, "--scheme", "fide", "--set", "federation=NOR").code == 0
    assert run("players", "import", path, written(tmp_path, "list.csv", LIST), "--since", "2024-03-02").code == 0
    assert run("import", path, written(tmp_path, "open.trf", OPEN)).code == 0
    return path


def ratings(run: Run, club: Path, *options: str) -> dict[str, float]:
    rows: list[dict[str, Any]] = json.loads(run("ratings", club, *options).out)
    return {row["name"]: row["rating"] for row in rows}


def test_the_federations_of_a_report_make_guests_and_corrections_of_them_rate_again(norway: Path, run: Run) -> None:
    assert ratings(run, norway) == {"Ann": 1994.0, "Bob": 1931.0}
    entries = json.loads(run("log", norway, "--kind", "player-entered/1").out)
    assert [entry["facts"]["federation"] for entry in entries] == ["SWE", "NOR", "NOR"]
    assert run("import", norway, norway.with_name("open.trf")).code == 0
    assert len(json.loads(run("log", norway, "--kind", "player-entered/1").out)) == 3, "told again it adds nothing"
    fact = ("fact", entries[0]["key"], "--field", "federation", "--to", "NOR", "--reason", "passport", "--by", "eve")
    assert run("correct", norway, *fact).code == 0
    assert ratings(run, norway) == {"Ann": 1994.0, "Bob": 1931.0}
    assert "Bob" in run("correct", norway, "preview", "1", "-t").out
    assert run("correct", norway, "approve", "1", "--by", "adam").code == 0
    assert ratings(run, norway)["Bob"] == 1913.0, "Mia counts as a newcomer, and her games for nobody"
    assert run("correct", norway, "undo", "1", "--reason", "no", "--by", "eve").code == 0
    assert run("correct", norway, "approve", "2", "--by", "adam").code == 0
    assert ratings(run, norway) == {"Ann": 1994.0, "Bob": 1931.0}
    assert run("audit", norway).out.startswith("TRUE")


def test_the_games_of_a_guest_have_the_ratings_with_which_they_count(norway: Path, run: Run) -> None:
    games = json.loads(run("games", norway, "Mia", "--all").out)
    shown = [(game["opponent"], game["rating_before"], game["opponent_rating_before"]) for game in games]
    assert shown == [("Bob", 2312.0, 1900.0), ("Ann", 2312.0, 2000.0)]
    assert [game["rating"] for game in games] == [None, None]


def test_a_list_of_players_records_the_federations_of_guests(norway: Path, tmp_path: Path, run: Run) -> None:
    mia = b"identity,name,rating,federation\nfide:3,Mia,2320,SWE\nfide:9,Zoe,2100,DEN\nfide:1,Ann,2010,NOR\n"
    done = run("players", "import", norway, written(tmp_path, "mia.csv", mia), "--since", "2024-04-01")
    assert (done.code, "2 federations" in done.err) == (0, True), done.err
    assert set(ratings(run, norway, "--min-games", "0")) == {"Ann", "Bob"}
    again = run("players", "import", norway, written(tmp_path, "mia.csv", mia), "--since", "2024-04-01")
    assert (again.code, "federation" in again.err) == (0, False), again.err
    moved = written(tmp_path, "moved.csv", mia.replace(b"SWE", b"NOR"))
    refused = run("players", "import", norway, moved, "--since", "2024-04-01")
    assert refused.code == REFUSED
    assert (
        "player 3 belongs to SWE from 2024-04-01 on, not to NOR, says the ledger; 'correct federation'" in refused.err
    )
    assert run("players", "import", norway, moved, "--since", "2024-05-01").code == 0
    assert set(ratings(run, norway, "--min-games", "0")) == {"Ann", "Bob", "Mia"}
    assert run("policy", "set", norway, "four-eyes", "on=true", "--by", "eve").code == 0
    refused = run("players", "import", norway, written(tmp_path, "mia.csv", mia), "--since", "2024-06-01")
    assert (refused.code, "needs-a-proposal" in refused.err) == (REFUSED, True)
    wish = ("--propose", "--reason", "list of June", "--by", "eve")
    assert run("players", "import", norway, tmp_path / "mia.csv", "--since", "2024-06-01", *wish).code == 0
    for number in json.loads(run("correct", norway, "list", "--open").out):
        seen = ("--seen", run("head", norway).out.split()[0])
        assert run("correct", norway, "approve", str(number["proposal"]), "--by", "adam", *seen).code == 0
    assert set(ratings(run, norway, "--min-games", "0")) == {"Ann", "Bob"}


def test_a_federation_is_set_from_a_day_on(norway: Path, run: Run) -> None:
    done = run("player", "set", norway, "Ann", "--federation", "swe", "--since", "2025-01-01")
    assert (done.code, "recorded" in done.err) == (0, True)
    assert set(ratings(run, norway)) == {"Bob"}
    assert set(ratings(run, norway, "--at", "2024-12-31")) == {"Ann", "Bob"}
    assert (
        "was known already" in run("player", "set", norway, "Ann", "--federation", "SWE", "--since", "2025-01-01").err
    )
    wrong = run("player", "set", norway, "Ann", "--federation", "Sweden")
    assert (wrong.code, "federation must be" in wrong.err) == (USAGE, True)


def test_the_setting_takes_the_code_of_a_federation(tmp_path: Path, run: Run) -> None:
    wrong = run("init", tmp_path / "x.db", "--scheme", "fide", "--set", "federation=Norway")
    assert (wrong.code, "--set federation: give three capital letters such as NOR" in wrong.err) == (USAGE, True)
    assert not (tmp_path / "x.db").exists()
    shown = {row["setting"]: row for row in json.loads(run("scheme", "show", "fide").out)["settings"]}
    assert (shown["federation"]["default"], shown["federation"]["unit"]) == (None, "federation")


def test_an_import_with_guests_is_taken_back_and_recorded_again(norway: Path, run: Run) -> None:
    assert run("correct", norway, "void-import", "1", "--reason", "twice", "--by", "eve").code == 0
    assert run("correct", norway, "approve", "1", "--by", "adam").code == 0
    assert ratings(run, norway) == {}
    assert json.loads(run("query", norway, "SELECT count(*) AS n FROM entrants").out) == [{"n": 0}]
    assert run("import", norway, norway.with_name("open.trf")).code == 0
    assert ratings(run, norway) == {"Ann": 1994.0, "Bob": 1931.0}
    assert run("audit", norway).out.startswith("TRUE")


SECOND = OPEN.replace(b"National", b"Second").replace(b"24/03", b"24/04").replace(b"2000 NOR", b"2000 SWE")
THIRD = b"""white_id,white,black_id,black,result,ended_at,white_rating,tournament
fide:3,Mia,fide:2,Bob,1-0,2024-05-05,2300,Third open
fide:3,Mia,fide:1,Ann,1-0,2024-05-06,2300,Third open
"""


def test_an_import_and_its_dry_run_count_no_game_between_guests(norway: Path, tmp_path: Path, run: Run) -> None:
    """Mia and, by the report of April and her transfer in May, Ann are guests: their games are not rated."""
    assert run("player", "set", norway, "Mia", "--federation", "SWE", "--since", "2024-05-01").code == 0
    assert run("player", "set", norway, "Ann", "--federation", "DEN", "--since", "2024-05-01").code == 0
    second, third = written(tmp_path, "second.trf", SECOND), written(tmp_path, "third.csv", THIRD)
    for more in (["--dry-run"], []):
        done = run("import", norway, second, "--accept", "federation-differs", *more)
        words = "tournament 'Second open': 2 games count in the list of 2024-05-01; 1 game of guests is not rated"
        assert (done.code, f"{second}: {words}\n" in done.err) == (0, True), done.err
        done = run("import", norway, third, *more)
        words = "tournament 'Third open': 1 game counts in the list of 2024-06-01; 1 game of guests is not rated"
        assert (done.code, f"{third}: {words}\n" in done.err) == (0, True), done.err
    rows = json.loads(run("query", norway, "SELECT reason FROM games WHERE ended_at > '2024-04'").out)
    assert [row["reason"] for row in rows] == ["guest", None, None, None, "guest"]
