"""Commands that officers and auditors use from day to day: pools, heads that are kept, games told twice."""

import csv
import io
import json
import shlex
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from ledger.answers import player_games
from ledger.answers.rows import as_rows
from ledger.facts.events import SchemeAdopted
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from ledger.runtime.sqlite import sqlite3
from tests.kit.commands import Run
from tools.cli import main

CSV = "key,white,black,result,half_moves,ended_at,time_control\n1,Ann,Bob,1-0,40,2020-01-01,300+0\n"
PGN = """[Event "?"]
[Site "https://lichess.org/abcdefgh"]
[White "ann"]
[Black "bob"]
[Result "1-0"]
[UTCDate "2020.01.01"]
[UTCTime "10:00:00"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 1-0
"""
LESS = "key,white,black,result,termination,half_moves,started_at,ended_at\n"


def test_pools_are_listed_and_a_new_one_is_named(empty_club: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (games := empty_club.parent / "games.csv").write_text(CSV)
    assert main(["import", str(empty_club), str(games), "--pools", "by-speed"]) == 0
    assert "new pools: blitz" in capsys.readouterr().err
    assert main(["pools", str(empty_club)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["pool"], row["players"], row["rated_games"]) for row in rows] == [("standard", 0, 0), ("blitz", 2, 1)]
    assert rows[0] == {
        "pool": "standard",
        "scheme": "chessworld",
        "settings": {"guest_tournaments": True},
        "since": None,
        "next_scheme": None,
        "next_since": None,
        "players": 0,
        "rated_games": 0,
    }
    assert main(["ratings", str(empty_club)]) == 0
    assert "nobody in this pool 'standard'; there are players in: blitz" in capsys.readouterr().err
    assert main(["ratings", str(empty_club), "--pool", "blitz", "--at", "1999-01-01"]) == 0
    assert "nobody in this ranking of 'blitz'; there are players in: blitz" in capsys.readouterr().err


def test_a_pool_whose_scheme_gives_nobody_a_rating_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (games := tmp_path / "games.csv").write_text(CSV)
    assert main(["init", db := str(tmp_path / "our club.db"), "--scheme", "fide"]) == 0
    assert main(["import", db, str(games)]) == 0
    assert main(["ratings", db]) == 0
    said = capsys.readouterr().err
    assert "of its 2 players nobody has enough games, or nobody has a rating by the rules of 'fide'" in said
    adopt = next(part for part in said.split("'scheme adopt")[1:]).partition("from_shown=true'")[0]
    assert main(["scheme", "adopt", *shlex.split(f"{adopt}from_shown=true")]) == 0


def test_a_pool_that_begins_with_standard_ratings_is_adopted_or_refused_at_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = str(tmp_path / "fed.db")
    assert main(["init", db, "--scheme", "fide"]) == 0
    adopt = ["scheme", "adopt", db, "--scheme", "fide", "--set", "rapid=true", "--pool"]
    assert main([*adopt, "rapid", "--new-pool", "--set", "from_pool=standard"]) == 0
    capsys.readouterr()
    for pool, source, words, code in (
        ("blitz", "bullet", "bad-from-pool: setting 'from_pool': there is no pool 'bullet'; name the pool in", 1),
        ("blitz", "blitz", "bad-from-pool: setting 'from_pool': pool 'blitz' cannot begin with its own ratings", 1),
        ("blitz", "b/z", "--set from_pool: give the name of a pool; got 'b/z'", 2),
    ):
        assert main([*adopt, pool, "--new-pool", "--set", f"from_pool={source}"]) == code
        assert words in capsys.readouterr().err
    younger = [*adopt, "standard", "--from", "2025-01-01", "--set", "from_pool=rapid"]
    for wish in ([], ["--propose", "--reason", "cycle", "--by", "eve"]):
        assert main([*younger, *wish]) == 1
        assert "pool 'rapid' is younger than pool 'standard'" in capsys.readouterr().err
    assert main(["init", str(tmp_path / "new.db"), "--pool", "rapid", "--set", "from_pool=standard"]) == 1
    assert not (tmp_path / "new.db").exists()
    grades = ["scheme", "adopt", db, "--scheme", "ecf-grade", "--pool", "grades", "--new-pool"]
    assert main([*grades, "--set", "from_pool=standard"]) == 0
    assert "counts in Elo points, and 'grades' in ECF points: no player begins with" in capsys.readouterr().err


def test_pools_tell_what_rates_them_now_with_its_settings_and_since_when(
    empty_club: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for since, initial in (("2020-06", "1500"), ("2015", "1300")):
        with Ledger.open(empty_club) as ledger:
            ledger.append(
                SchemeAdopted(pool="standard", scheme="chessworld", settings={"initial": initial}, effective_from=since)
            )
    capsys.readouterr()
    assert main(["pools", str(empty_club)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row) == ["pool", "scheme", "settings", "since", "next_scheme", "next_since", "players", "rated_games"]
    settings = {"initial": "1500", "guest_tournaments": True}
    assert (row["scheme"], row["since"], row["settings"]) == ("chessworld", "2020-06", settings)
    assert (row["next_scheme"], row["next_since"]) == (None, None)
    assert main(["pools", str(empty_club), "--csv"]) == 0
    (told,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert list(told) == list(row)


def test_pools_name_the_scheme_after_all_that_is_recorded_and_the_next_one(empty_club: Path, run: Run) -> None:
    """Whatever day it is: the scheme of the last game's day, and one that was adopted from a later day on."""
    game = CSV.splitlines()[0] + "\n1,Ann,Bob,1-0,40,2019-12-31,300+0\n"
    (games := empty_club.parent / "games.csv").write_text(game)
    assert run("import", empty_club, games).code == 0
    assert run("scheme", "adopt", empty_club, "--scheme", "elo", "--from", "2020").code == 0
    (row,) = json.loads(run("pools", empty_club).out)
    told = [row[name] for name in ("scheme", "since", "next_scheme", "next_since")]
    assert told == ["chessworld", None, "elo", "2020"]
    games.write_text(game.replace("2019-12-31", "2020-01-01").replace("1,Ann", "2,Ann"))
    assert run("import", empty_club, games).code == 0
    (row,) = json.loads(run("pools", empty_club).out)
    assert [row[name] for name in ("scheme", "since", "next_scheme", "next_since")] == ["elo", "2020", None, None]


def test_a_change_of_scheme_shows_in_show_and_graph(empty_club: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = [date(2020, 1, 1) + timedelta(days=number) for number in range(60)]
    rows = [f"{number},Ann,Bob,1-0,40,{day},300+0\n" for number, day in enumerate(days)]
    (games := empty_club.parent / "games.csv").write_text(CSV.splitlines()[0] + "\n" + "".join(rows))
    assert main(["import", str(empty_club), str(games)]) == 0
    with Ledger.open(empty_club) as ledger:
        since = str(days[55])
        ledger.append(
            SchemeAdopted(pool="standard", scheme="elo", settings={}, effective_from=since, carry=Carry.RESTART)
        )
    capsys.readouterr()
    assert main(["show", str(empty_club), "Ann"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["scheme"], told["games"]) == ("elo", 60)
    assert told["hera"] > told["rating_now"]  # begun anew
    assert (told["hera_date"], told["hera_scheme"]) == (str(days[54]), "chessworld")
    with Ledger.open(empty_club) as ledger:
        drawn = [row["scheme"] for row in as_rows(player_games.graph_points(ledger, ledger.player("Ann")))]
    assert drawn == ["chessworld"] * 55 + ["elo"] * 5


def test_a_kept_head_is_proven_before_it_is_replaced(empty_club: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (games := empty_club.parent / "games.csv").write_text(CSV)
    kept = empty_club.parent / "kept.head"
    assert main(["import", str(empty_club), str(games)]) == 0
    assert main(["audit", str(empty_club), "--save-head", str(kept)]) == 0
    before = kept.read_text()
    connection = sqlite3.connect(empty_club)
    connection.executescript("DROP TRIGGER journal_never_deletes; DELETE FROM journal WHERE position > 3;")
    connection.close()
    assert main(["rebuild", str(empty_club)]) == 0
    assert main(["audit", str(empty_club), "--save-head", str(kept)]) == 3
    assert "the tail was cut off" in capsys.readouterr().out
    assert kept.read_text() == before


def test_an_import_refuses_a_journal_that_was_cut_before_it_writes(empty_club: Path) -> None:
    (games := empty_club.parent / "games.csv").write_text(CSV)
    assert main(["import", str(empty_club), str(games)]) == 0
    connection = sqlite3.connect(empty_club)
    connection.executescript("DROP TRIGGER journal_never_deletes; DELETE FROM journal WHERE position > 3;")
    assert main(["import", str(empty_club), str(games)]) == 1
    assert connection.execute("SELECT max(position) FROM journal").fetchone() == (3,)
    connection.close()


def test_a_source_that_tells_less_of_a_known_game_repeats_it(
    empty_club: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pgn := empty_club.parent / "games.pgn").write_text(PGN)
    (less := empty_club.parent / "less.csv").write_text(
        LESS + "abcdefgh,ann,bob,1-0,unknown,12,2020-01-01T10:00:00Z,2020-01-01T10:00:00Z\n"
    )
    assert main(["import", str(empty_club), str(pgn)]) == 0
    capsys.readouterr()
    assert main(["import", str(empty_club), str(less), "--source", "lichess"]) == 0
    assert "0 games recorded, 1 known already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version = 1",
        "UPDATE projections SET identity = '1' WHERE name = 'arithmetic'",
        "DELETE FROM projections WHERE name = 'arithmetic'",
    ],
)
def test_views_of_an_earlier_layout_or_arithmetic_are_built_anew_without_a_word(
    empty_club: Path, capsys: pytest.CaptureFixture[str], statement: str
) -> None:
    (games := empty_club.parent / "games.csv").write_text(CSV)
    assert main(["import", str(empty_club), str(games)]) == 0
    capsys.readouterr()
    assert main(["ratings", str(empty_club)]) == 0
    told = capsys.readouterr()
    with closing(sqlite3.connect(empty_club.parent / "empty.views.db")) as connection:
        connection.execute("UPDATE current SET rating = 1")
        connection.execute(statement)
        connection.commit()
    assert main(["ratings", str(empty_club)]) == 0
    assert capsys.readouterr() == told
