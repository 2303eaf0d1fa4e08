"""The commands ``player add``, ``player set`` and ``players import``."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ledger import Ledger
from ledger.registering import player_lists
from tests.kit.commands import Run
from tests.kit.source_files import combined, of_september, written, xml
from tools.commands import REFUSED, USAGE
from tools.commands import player as players

GAMES = b"""key,white,black,result,date,half_moves
g1,Ann,Bob,1-0,2024-03-04,60
g2,Bob,Cleo,1-0,2024-03-05,60
"""
MEMBERS = """identity,name,rating,games,RD,birth year,standing,since
name:ann,Ann,2344,30,,1990,,2024-01-01
name:zoe,Zoe,1850.5,,60,,welcomer,
,Max,,,,,guest,
"""


@pytest.fixture(name="fide_pool")
def _club(tmp_path: Path, run: Run) -> Path:
    """A FIDE pool in which Ann, Bob and Cleo begin with 1800 and have played in March 2024."""
    path = tmp_path / "fide.db"
    assert run("init", path, "--scheme", "fide", "--set", "start=1800").code == 0
    assert run("import", path, written(tmp_path, "games.csv", GAMES)).code == 0
    return path


def head(club: Path) -> str:
    """Size and root of the journal."""
    with Ledger.open(club, read_only=True) as ledger:
        return str(ledger.head())


def facts(run: Run, club: Path, kind: str) -> list[dict[str, Any]]:
    """The facts of the entries of a kind."""
    return [entry["facts"] for entry in json.loads(run("log", club, "--kind", kind).out)]


def k_of(run: Run, club: Path, player: str, game: str) -> float:
    """The K-factor that rated a game."""
    terms = json.loads(run("explain", club, player, f"csv:{game}").out)["terms"]
    return float(next(term["value"] for term in terms if term["symbol"] == "K"))


def test_a_player_is_added_with_the_day_of_joining(fide_pool: Path, run: Run) -> None:
    words = ("player", "add", fide_pool, "name:zoe", "Zoe")
    assert run(*words, "--joined", "2019-09-01").code == 0
    assert facts(run, fide_pool, "player-registered")[-1]["joined_at"] == "2019-09-01"
    assert "is player 4 already" in run(*words).err
    assert "is player 4 already" in run(*words, "--joined", "2019-09-01").err
    other = run(*words, "--joined", "2019-09-02")
    assert (other.code, "joined_at='2019-09-01', not '2019-09-02'" in other.err) == (REFUSED, True)


@pytest.mark.parametrize(("joined", "code"), [("2999-01-01", REFUSED), ("2019-02-30", USAGE)])
def test_a_day_of_joining_that_is_none_is_refused(joined: str, code: int, fide_pool: Path, run: Run) -> None:
    before = head(fide_pool)
    assert run("player", "add", fide_pool, "name:zoe", "Zoe", "--joined", joined).code == code
    assert head(fide_pool) == before


def test_a_player_is_added_with_a_past_and_the_same_again_is_known(fide_pool: Path, run: Run) -> None:
    words = ["fide:7", "Quill, Ada", "--rating", "2344", "--games", "30", "--since", "2024-01-01", "--born", "1990"]
    more = ["--list", "made-up list", "--k", "20", "--rd", "60.5", "--highest", "2350"]
    done = run("player", "add", fide_pool, *words, *more)
    assert (done.code, done.out) == (0, "")
    assert "fide:7 is player 4; head" in done.err
    (seed,) = facts(run, fide_pool, "rating-seeded")
    assert seed == {
        "player": 4, "pool": "standard", "rating": "2344", "games": 30, "effective_at": "2024-01-01",
        "source": "made-up list", "k_factor": "20", "deviation": "60.5", "highest": "2350",
    }  # fmt: skip
    before = head(fide_pool)
    assert "is player 4 already" in run("player", "add", fide_pool, *words, *more).err
    assert "is player 4 already" in run("player", "add", fide_pool, *words).err  # tells less
    assert head(fide_pool) == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["name:x", "X", "--rating", "12x"], USAGE, "rating must be text matching"),
        (["name:x", "X", "--rating", "0"], USAGE, "rating must be text matching"),
        (["name:x", "X", "--games", "0"], USAGE, "--games: what a list tells needs the rating that it shows"),
        (["name:x", "X", "--pool", "rapid", "--since", "2024"], USAGE, "--since and --pool: what a list tells needs"),
        (["name:x", "X", "--born", "990"], USAGE, "birth_year must be a whole number from 1700"),
        (["name:x", "X", "--rating", "1800", "--pool", "rapid"], REFUSED, "unknown-pool"),
        (["name:ann", "Ann", "--standing", "guest"], REFUSED, "exists-with-different-standing"),
    ],
)
def test_what_cannot_be_added_is_refused_and_nothing_is_recorded(
    words: list[str], code: int, says: str, fide_pool: Path, run: Run
) -> None:
    before = head(fide_pool)
    done = run("player", "add", fide_pool, *words)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert head(fide_pool) == before


def test_a_ledger_refuses_controls_in_a_name_too(fide_pool: Path) -> None:
    with Ledger.open(fide_pool) as ledger:
        with pytest.raises(MalformedError, match=r"\$\.name"):
            ledger.register("name:x", "X\x1b[31m")
        assert ledger.people.by_identity(["name:x"]) == {}


@pytest.mark.slow
def test_a_year_of_birth_learnt_later_rates_the_games_again(fide_pool: Path, run: Run) -> None:
    assert run("player", "set", fide_pool, "Ann", "--rating", "2250", "--games", "60").code == 0
    assert k_of(run, fide_pool, "Ann", "g1") == 20.0
    assert "player 1: recorded" in run("player", "set", fide_pool, "Ann", "--born", "2010").err
    assert k_of(run, fide_pool, "Ann", "g1") == 40.0
    assert "was known already" in run("player", "set", fide_pool, "Ann", "--born", "2010").err
    done = run("player", "set", fide_pool, "Ann", "--born", "2011")
    assert (done.code, "exists-with-different-birth-year" in done.err) == (REFUSED, True)
    key = re.search(r"propose 'correct fact (\S+) --field birth_year'", done.err)
    assert key is not None
    words = ("fact", key[1], "--field", "birth_year", "--to", "2011", "--reason", "passport", "--by", "eve")
    assert run("correct", fide_pool, *words).code == 0
    assert run("audit", fide_pool).code == 0


def test_a_declared_rating_acts_up_to_the_first_game_and_is_refused_after_it(fide_pool: Path, run: Run) -> None:
    before = head(fide_pool)
    done = run("player", "set", fide_pool, "Bob", "--declared", "2000")
    assert done.code == REFUSED
    assert "after-the-first-game: this declared rating holds from 20" in done.err
    assert "of 2024-03-04, so that it could not act" in done.err
    assert head(fide_pool) == before
    assert run("player", "set", fide_pool, "Bob", "--declared", "2000", "--since", "2024-03-04").code == 0
    assert json.loads(run("explain", fide_pool, "Bob", "csv:g1").out)["before"] == 2000.0


def test_a_standing_changes_from_a_day_on(fide_pool: Path, run: Run) -> None:
    assert run("player", "set", fide_pool, "Cleo", "--standing", "guest", "--since", "2024-03-01").code == 0
    assert facts(run, fide_pool, "player-changed") == [{"player": 3, "standing": "guest", "effective_at": "2024-03-01"}]
    assert run("player", "set", fide_pool, "Cleo").code == USAGE


@pytest.mark.slow
def test_a_list_registers_seeds_and_adds_what_is_learnt_of_others(fide_pool: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "members.csv", MEMBERS.encode())
    done = run("players", "import", fide_pool, path, "--list", "members")
    assert (done.code, done.out) == (0, "")
    assert "members.csv (csv): 3 players, 2 of them new, 2 ratings, 1 year of birth learnt; head" in done.err
    assert facts(run, fide_pool, "birth-year-learnt") == [{"player": 1, "birth_year": 1990}]
    assert k_of(run, fide_pool, "Ann", "g1") == 20.0
    before = head(fide_pool)
    done = run("players", "import", fide_pool, path, "--list", "members")
    assert "3 players, 0 of them new, 0 ratings; head" in done.err
    assert head(fide_pool) == before
    assert run("audit", fide_pool).code == 0


@pytest.mark.parametrize("text", [combined(), xml()])
def test_a_fide_list_is_told_by_its_content(text: str, fide_pool: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "list", text.encode())
    assert run("players", "import", fide_pool, path).code == REFUSED
    assert run("players", "import", fide_pool, path, "--since", "2024-01-01").code == 0
    first, second = facts(run, fide_pool, "rating-seeded")
    assert first == {
        "player": 4,
        "pool": "standard",
        "rating": "2344",
        "k_factor": "20",
        "effective_at": "2024-01-01",
        "source": "FIDE standard rating list",
    }
    assert (second["rating"], second["k_factor"]) == ("1402", "40")
    with Ledger.open(fide_pool) as ledger:
        (person,) = ledger.people.find("Quill, Ada")
        assert person.identity == "fide:900001"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,rating\nZoe,abc\n", "list:2: error: rating must be"),
        ("identity,rating\nid:1,1500\nid:2,1500\nid:1,1600\n", "list:4: error: 'id:1' stands in line 2 already"),
        ("identity,name,born\nname:zoe,Zoe,2000\nname:ann,Ann,x\n", "list:3: error: born must be a whole number"),
        ("name,standing\nZoe,full\nAnn,guest\n", "list:3: error: 'name:ann' is full in the ledger, not guest"),
    ],
)
def test_a_fault_anywhere_leaves_journal_and_people_as_they_were(
    text: str, says: str, fide_pool: Path, tmp_path: Path, run: Run
) -> None:
    before = head(fide_pool)
    done = run("players", "import", fide_pool, written(tmp_path, "list", text.encode()))
    assert (done.code, done.out) == (REFUSED, "")
    assert says in done.err
    assert "(csv): 1 fault: nothing recorded" in done.err
    assert head(fide_pool) == before
    with Ledger.open(fide_pool) as ledger:
        assert ledger.people.numbers() == {1, 2, 3}


def test_a_list_applies_from_its_day_on_to_who_has_played_before(fide_pool: Path, tmp_path: Path, run: Run) -> None:
    later = written(tmp_path, "list", b"name,rating,since,born\nZoe,1500,,\nAnn,1900,2024-04,1990\n")
    done = run("players", "import", fide_pool, later)
    assert (done.code, "2 players, 1 of them new, 2 ratings, 1 year of birth learnt; head" in done.err) == (0, True)
    shown = json.loads(run("show", fide_pool, "Ann").out)
    assert (shown["rating_now"], shown["games"]) == (1900.0, 1)
    (part,) = json.loads(run("changes", fide_pool, "Ann", "--since", "2024-03-31").out)["parts"]
    assert (part["kind"], part["rating"]) == ("list", 1900.0)
    assert run("audit", fide_pool).code == 0


def test_a_dry_run_shows_by_how_much_a_list_would_change_ratings_and_writes_nothing(
    fide_pool: Path, tmp_path: Path, run: Run
) -> None:
    rows = b"name,rating\nZoe,1500\nAnn,1900\nBob,2101\nCleo,1400\n"
    later, before = written(tmp_path, "list", rows), head(fide_pool)
    command = ("players", "import", fide_pool, later, "--since", "2024-04-01")
    changes = [("Cleo", 1780.0, 1400.0, -380.0), ("Bob", 1800.0, 2101.0, 301.0), ("Ann", 1820.0, 1900.0, 80.0)]
    for more in ((), ("--propose", "--by", "eve", "--reason", "list of April")):
        done = run(*command, "--dry-run", *more)
        found = [(row["name"], row["rating"], row["listed"], row["difference"]) for row in json.loads(done.out)]
        assert found == changes
        assert "4 players, 1 of them new, " in done.err
        assert (done.code, "dry run: nothing was written" in done.err) == (0, True)
    table = run(*command, "--dry-run", "-t", "--limit", "1")
    assert len(table.out.splitlines()) == 3
    assert "the first 1; there are more: --limit 0 shows all" in table.err
    assert head(fide_pool) == before
    assert run(*command, "-t").code == USAGE


@pytest.mark.parametrize(
    ("words", "first", "rest"),
    [
        ((), "list:2: error: 'name:ann' is full in the ledger", "list: and 1 more fault\n"),
    ],
)
def test_of_many_faults_of_a_list_the_first_are_told_and_how_many_more_there_are(
    words: tuple[str, ...],
    first: str,
    rest: str,
    fide_pool: Path,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(players, "FAULTS_SHOWN", 1)
    late = written(tmp_path, "list", b"name,standing\nAnn,guest\nBob,guest\n")
    done = run("players", "import", fide_pool, late, *words)
    assert first in done.err
    assert done.err.count("is full in the ledger") == 1
    assert rest in done.err


def test_a_seed_that_says_something_else_of_the_same_day_is_a_fault(fide_pool: Path, tmp_path: Path, run: Run) -> None:
    assert run("players", "import", fide_pool, written(tmp_path, "a", b"name,rating\nZoe,1500\n")).code == 0
    done = run("players", "import", fide_pool, written(tmp_path, "b", b"name,rating\nZoe,1600\n"))
    assert done.code == REFUSED
    words = "exists-with-different-rating: 'seed:standard:4@start' was recorded with rating='1500'"
    assert f"b:2: error: {words}" in done.err


def test_the_journal_of_a_list_is_that_of_the_players_one_by_one(tmp_path: Path, run: Run) -> None:
    for name in ("many.db", "few.db"):
        assert run("init", tmp_path / name, "--scheme", "glicko2").code == 0
    path = written(tmp_path, "list.csv", MEMBERS.encode())
    assert run("players", "import", tmp_path / "many.db", path, "--list", 'a "b" \\ c').code == 0
    word = ["--list", 'a "b" \\ c']
    few = tmp_path / "few.db"
    run(
        "player",
        "add",
        few,
        "name:ann",
        "Ann",
        "--born",
        "1990",
        "--rating",
        "2344",
        "--games",
        "30",
        "--since",
        "2024-01-01",
        *word,
    )
    run("player", "add", few, "name:zoe", "Zoe", "--standing", "welcomer", "--rating", "1850.5", "--rd", "60", *word)
    run("player", "add", few, "name:max", "Max", "--standing", "guest")
    told = [
        sorted(
            json.dumps({n: v for n, v in e["facts"].items() if n not in {"commitment", "joined_at"}}, sort_keys=True)
            for e in json.loads(run("log", tmp_path / name).out)
        )
        for name in ("many.db", "few.db")
    ]
    assert told[0] == told[1]
    assert run("audit", tmp_path / "many.db").code == 0


def test_an_import_that_is_stopped_while_it_writes_leaves_the_journal_as_it_was(
    fide_pool: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = head(fide_pool)
    path = written(tmp_path, "list", of_september().encode())
    with monkeypatch.context() as patched:
        patched.setattr(player_lists, "append_rows", stop)  # the players stand, their ratings do not yet
        assert run("players", "import", fide_pool, path).code == REFUSED
    assert head(fide_pool) == before
    assert run("players", "import", fide_pool, path).code == 0


def test_a_rating_that_a_later_list_ends_says_so(fide_pool: Path, run: Run) -> None:
    run("player", "add", fide_pool, "fide:7", "Quill, Ada", "--rating", "2210", "--since", "2024-07-01")
    done = run("player", "set", fide_pool, "fide:7", "--rating", "2300")
    assert done.code == 0
    assert "note: a later list has this player: its rating holds from 2024-07-01 on" in done.err
    assert json.loads(run("show", fide_pool, "fide:7", "--at", "2024-06-30").out)["rating_then"] == 2300
    assert json.loads(run("show", fide_pool, "fide:7").out)["rating_now"] == 2210
    assert "note" not in run("player", "set", fide_pool, "fide:7", "--rating", "2250", "--since", "2024-08-01").err


def test_a_member_chooses_a_strength_during_the_provisional_games(tmp_path: Path, run: Run) -> None:
    club = tmp_path / "club.db"
    assert run("init", club, "--set", "provisional_games=2").code == 0
    assert run("import", club, written(tmp_path, "games.csv", GAMES)).code == 0
    done = run("player", "set", club, "Ann", "--strength", "advanced", "--since", "2024-01-01")
    assert (done.code, "player 1: recorded" in done.err) == (0, True)
    assert (
        "was known already" in run("player", "set", club, "Ann", "--strength", "advanced", "--since", "2024-01-01").err
    )
    shown = json.loads(run("show", club, "Ann").out)
    assert (shown["strength"], shown["strength_chosen"]) == ("Advanced", True)
    rows = {row["name"]: row for row in json.loads(run("ratings", club, "--details").out)}
    assert (rows["Ann"]["strength"], rows["Bob"]["strength_chosen"]) == ("Advanced", False)
    refused = run("player", "set", club, "Bob", "--strength", "beginner", "--since", "2024-03-06")
    assert refused.code == REFUSED
    assert (
        "has completed 2 rated games in pool 'standard' by 2024-03-06: from then on the rating decides" in refused.err
    )
    assert run("player", "set", club, "Ann", "--pool", "standard").code == USAGE
    corrected = run(
        "correct", club, "strength", "Ann", "--to", "beginner", "--from", "2024-02-01", "--reason", "x", "--by", "eve"
    )
    assert corrected.code == 0, corrected.err
    assert run("correct", club, "approve", "1", "--by", "adam").code == 0
    assert json.loads(run("show", club, "Ann").out)["strength"] == "Beginner"
    assert run("audit", club).code == 0
