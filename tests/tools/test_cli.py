"""The command line: what it prints in every format, how it refuses, its exit codes. Never a traceback."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger.answers.wording import names
from ledger.book.timeline import BEGINNING
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.places import ROOT, SAMPLE
from tests.kit.tampering import edit
from tools import cli
from tools.commands import FALSE, REFUSED, USAGE, importing

ENTRIES = 917  # the scheme, 16 players, 900 games

PGN = b"""[Event "Evening"]
[Site "Club"]
[Date "2021.03.01"]
[Round "1"]
[White "Ann"]
[Black "Bob"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0
"""
NDJSON = (
    b'{"id":"AbCdEf12","rated":true,"variant":"standard","speed":"blitz","createdAt":1633082400000,'
    b'"lastMoveAt":1633082900000,"status":"resign","players":{"white":{"user":{"name":"Ann","id":"ann"}},'
    b'"black":{"user":{"name":"Bob","id":"bob"}}},"winner":"white","moves":"e4 e5 Bc4 Nc6 Qh5 Nf6 d3 d6 Nc3 Nd4 h3"}\n'
)
JSONL = (
    b'{"key":"club:1","white":{"id":"fide:1","name":"Ann"},"black":{"id":"fide:2","name":"Bob"},"outcome":"white",'
    b'"termination":"resignation","half_moves":40,"ended_at":"2021-03-01","rated":true}\n'
)
CSV = b"key,white,black,result,half_moves,ended_at\n1,Ann,Bob,1-0,40,2021-03-01\n"
BAD_CSV = (
    CSV + b"2,Ann,Bob,1-0,40,2021-02-30\n3,Ann,Ann,0-1,40,2021-03-02\n4,Bob,Ann,1/2-1/2,40,2021-03-03\n"
    b"5,Ann,,1-0,9,2021\n"
)
MIXED = b"""key,white,black,result,half_moves,ended_at,time_control,variant
1,Ann,Bob,1-0,40,2021-03-01,60+0,standard
2,Ann,Bob,1-0,40,2021-03-02,180+2,standard
3,Ann,Bob,0-1,40,2021-03-03,180+2,crazyhouse
4,Ann,Bob,0-1,40,2021-03-04,,standard
"""


def file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def game_of(run: Run, club: Path, player: str) -> str:
    """The key of a player's latest rated game."""
    return str(json.loads(run("games", club, player, "--last", "1").out)[0]["game"])


# --- init ---------------------------------------------------------------------------------------------------


def test_init_makes_three_files_and_says_what_rates(tmp_path: Path, run: Run) -> None:
    done = run("init", tmp_path / "a.db", "--pool", "blitz", "--set", "initial=1200.5", "--set", "include_initial=TRUE")
    assert done.code == 0
    assert "pool 'blitz' is rated by 'chessworld'; head 1 " in done.err
    assert done.out == ""
    assert {"a.db", "a.people.db", "a.views.db"} <= {path.name for path in tmp_path.iterdir()}
    with Ledger.open(tmp_path / "a.db") as ledger:
        assert dict(ledger.first_scheme().settings) == {"include_initial": True, "initial": "1200.5"}
        assert ledger.pool().numbers.initial == 1200.5


def test_init_twice_leaves_the_first_ledger_as_it_was(empty_club: Path, run: Run) -> None:
    before = empty_club.read_bytes()
    done = run("init", empty_club)
    assert (done.code, done.out) == (REFUSED, "")
    assert "exists already; a journal is never overwritten" in done.err
    assert empty_club.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--scheme", "nope"], REFUSED, "unknown-scheme: no scheme 'nope'"),
        (["--set", "k=1"], REFUSED, "bad-settings: scheme 'chessworld' has no setting 'k'"),
        (["--set", "cap=-1"], REFUSED, "cap must not be negative"),
        (["--set", "initial=abc"], USAGE, "decimals as text at 'initial', got 'abc'"),
        (["--set", "initial"], USAGE, "--set takes NAME=VALUE, got 'initial'"),
        (["--pool", "Bad Pool"], USAGE, "pool must be text matching"),
        (["--actor", "a\nb"], REFUSED, "without controls"),
        (["--no-such"], USAGE, "No such option"),
    ],
)
def test_init_refuses_and_can_then_be_done_right(
    words: list[str], code: int, says: str, tmp_path: Path, run: Run
) -> None:
    done = run("init", tmp_path / "a.db", *words)
    assert done.code == code
    assert says in done.err
    assert not (tmp_path / "a.db").exists()
    assert run("init", tmp_path / "a.db").code == 0


def test_init_in_a_folder_that_is_not_there(tmp_path: Path, run: Run) -> None:
    done = run("init", tmp_path / "nowhere" / "a.db")
    assert done.code == REFUSED
    assert "nowhere" in done.err


# --- import -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "fmt", "key"),
    [
        (PGN, "pgn", "pgn:"), (NDJSON, "lichess-ndjson", "lichess:AbCdEf12"), (JSONL, "ledger-jsonl", "club:1"),
        (CSV, "csv", "csv:1"), (CSV.replace(b",", b";"), "csv", "csv:1"),
    ],
)  # fmt: skip
def test_formats_are_told_by_content_not_by_name(
    content: bytes, fmt: str, key: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    path = file(tmp_path, "games.txt", content)
    done = run("import", empty_club, path)
    assert done == (0, "", f"{path} ({fmt}): 1 games recorded, 0 known already, 2 new players\n")
    assert game_of(run, empty_club, "Ann").startswith(key)
    assert run("import", empty_club, path) == (0, "", f"{path} ({fmt}): 0 games recorded, 1 known already\n")


def test_several_files_of_several_formats_at_once(empty_club: Path, tmp_path: Path, run: Run) -> None:
    files = [file(tmp_path, "1", PGN), file(tmp_path, "2", gzip.compress(NDJSON)), file(tmp_path, "3", JSONL)]
    done = run("import", empty_club, *files)
    assert done.code == 0
    assert [line.split()[1] for line in done.err.splitlines()] == ["(pgn):", "(lichess-ndjson):", "(ledger-jsonl):"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_is_standard_input_packed_or_not(
    pack: Callable[[bytes], bytes], empty_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pack(PGN))))
    done = run("import", empty_club, "-")
    assert done == (0, "", "- (pgn): 1 games recorded, 0 known already, 2 new players\n")


def test_a_format_can_be_demanded(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = file(tmp_path, "games.csv", CSV)
    assert run("import", empty_club, path, "--format", "pgn").code == REFUSED
    assert run("import", empty_club, path, "--format", "csv").code == 0
    assert run("import", empty_club, path, "--format", "foo").code == USAGE


def test_a_source_gives_its_names_to_players_and_games_of_a_csv_file(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    assert run("import", empty_club, file(tmp_path, "games.csv", CSV), "--source", "lichess").code == 0
    assert json.loads(run("show", empty_club, "lichess:ann").out)["name"] == "Ann"
    assert game_of(run, empty_club, "lichess:bob") == "lichess:1"


def test_importing_again_records_nothing_new(sample_club: Path, run: Run) -> None:
    before = run("head", sample_club).out
    done = run("import", sample_club, SAMPLE)
    assert done == (0, "", f"{SAMPLE} (pgn): 0 games recorded, 900 known already\n")
    assert run("head", sample_club).out == before


def test_bad_games_are_named_by_file_and_line_and_left_out(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = file(tmp_path, "games.csv", BAD_CSV)
    done = run("import", empty_club, path)
    assert done.code == REFUSED
    *faults, summary = done.err.splitlines()
    assert [line.split(": ")[0] for line in faults] == [f"{path}:{line}" for line in (3, 4, 6)]
    assert "2021-02-30" in faults[0]
    assert summary == f"{path} (csv): 2 games recorded, 0 known already, 2 new players, 3 faults"
    assert json.loads(run("show", empty_club, "Ann").out)["games"] == 2


def test_strict_records_nothing_of_a_file_with_a_fault_and_lists_them_all(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    bad, good = file(tmp_path, "bad.csv", BAD_CSV), file(tmp_path, "good.ndjson", NDJSON)
    before = run("head", empty_club).out
    done = run("import", empty_club, bad, "--strict")
    assert done.code == REFUSED
    assert [line.partition(": ")[0] for line in done.err.splitlines()[:-1]] == [f"{bad}:{line}" for line in (3, 4, 6)]
    assert done.err.endswith("(csv): 0 games recorded, 0 known already, 3 faults: nothing recorded (--strict)\n")
    assert run("head", empty_club).out == before
    assert run("audit", empty_club).code == 0
    # "of that file": a good one beside it is recorded
    assert run("import", empty_club, bad, good, "--strict").code == REFUSED
    assert run("head", empty_club).out.split()[0] == "4"


def test_a_game_told_otherwise_is_a_fault_and_the_first_telling_stands(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    assert run("import", empty_club, file(tmp_path, "1.csv", CSV)).code == 0
    before = run("head", empty_club).out
    done = run("import", empty_club, file(tmp_path, "2.csv", CSV.replace(b",1-0,", b",0-1,")))
    assert done.code == REFUSED
    assert ":2: exists-with-different-outcome: 'game:csv:1' was recorded with outcome='white', not 'black'" in done.err
    assert run("head", empty_club).out == before


def test_a_flood_of_faults_is_cut_with_their_number(
    empty_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "FAULTS_SHOWN", 3)
    rows = b"".join(b"%d,Ann,Bob,1-0,40,2021-02-30\n" % n for n in range(10, 20))
    done = run("import", empty_club, file(tmp_path, "bad.csv", CSV + rows))
    assert done.code == REFUSED
    assert done.err.splitlines()[3].endswith("bad.csv: and 7 more faults")
    assert "10 faults" in done.err.splitlines()[4]


def test_a_pool_of_its_own(empty_club: Path, tmp_path: Path, run: Run) -> None:
    assert run("import", empty_club, file(tmp_path, "games.csv", CSV), "--pool", "rapid").code == 0
    assert json.loads(run("ratings", empty_club).out) == []
    ranking = json.loads(run("ratings", empty_club, "--pool", "rapid").out)
    assert [row["name"] for row in ranking] == ["Ann", "Bob"]


def test_pools_by_speed_cut_by_speed_and_variant_and_count_the_rest(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = file(tmp_path, "mixed.csv", MIXED)
    done = run("import", empty_club, path, "--pools", "by-speed")
    assert done.code == 0
    assert "3 games recorded" in done.err
    assert "1 left out: no time control" in done.err
    for pool in ("bullet", "blitz", "crazyhouse"):
        assert len(json.loads(run("ratings", empty_club, "--pool", pool).out)) == 2
    with Ledger.open(empty_club) as ledger:
        assert {row["name"] for row in ledger.rows("pools")} == {"standard", "bullet", "blitz", "crazyhouse"}


def test_variants_are_left_out_and_counted_unless_given_a_pool(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = file(tmp_path, "mixed.csv", MIXED)
    done = run("import", empty_club, path)
    assert done.code == 0
    assert "3 games recorded" in done.err
    assert "1 left out: variant crazyhouse" in done.err
    done = run("import", empty_club, path, "--variant", "crazyhouse=zh")
    assert "1 games recorded, 3 known already" in done.err
    assert json.loads(run("ratings", empty_club, "--pool", "zh").out)[0]["name"] == "Bob"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pool", "a", "--pools", "by-speed"], "give --pool or --pools, not both"),
        (["--pools", "by-colour"], "by-speed"),
        (["--variant", "crazyhouse"], "--variant takes VARIANT=POOL, got 'crazyhouse'"),
        (["--variant", "crazyhouse=Bad Pool"], "pool must be text matching"),
        (["--pool", "Bad Pool"], "pool must be text matching"),
        (["--pool", ""], "pool must be text matching"),
        (["--source", "bad site!"], "--source must match"),
    ],
)
def test_wrong_words_of_an_import_record_nothing(
    words: list[str], says: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    before = run("head", empty_club).out
    done = run("import", empty_club, file(tmp_path, "games.csv", CSV), *words)
    assert done.code == USAGE
    assert says in done.err
    assert run("head", empty_club).out == before


def test_a_file_that_is_not_there_is_named_and_those_before_it_are_rated(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    done = run("import", empty_club, file(tmp_path, "games.csv", CSV), tmp_path / "nope.pgn")
    assert done.code == REFUSED
    assert "nope.pgn: no such file" in done.err
    assert len(json.loads(run("ratings", empty_club).out)) == 2
    assert run("import", empty_club, tmp_path).code == REFUSED
    assert run("import", empty_club).code == USAGE


def test_the_order_in_which_files_arrive_changes_nothing(tmp_path: Path, run: Run) -> None:
    games = SAMPLE.read_bytes().split(b"\n[Event ")
    older, newer = b"\n[Event ".join(games[:500]) + b"\n", b"[Event " + b"\n[Event ".join(games[500:])
    files = [file(tmp_path, "older.pgn", older), file(tmp_path, "newer.pgn", newer)]
    told = {}
    for name, order in (("forth", files), ("back", files[::-1])):
        run("init", tmp_path / f"{name}.db")
        for path in order:
            assert run("import", tmp_path / f"{name}.db", path).code == 0
        rows = list(csv.DictReader(io.StringIO(run("ratings", tmp_path / f"{name}.db", "--csv").out)))
        # the number of a player is that of his arrival; it only stands for the name
        told[name] = [{key: value for key, value in row.items() if key != "player"} for row in rows]
        assert run("audit", tmp_path / f"{name}.db").code == 0
    assert len(told["forth"]) == 16
    assert told["forth"] == told["back"]


def test_an_interrupted_command_says_that_what_was_recorded_stands(
    empty_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "catch_up", interrupted)
        done = run("import", empty_club, file(tmp_path, "games.csv", CSV))
    assert done.code == REFUSED
    assert "stopped; nothing half done is kept, run the command again" in done.err
    assert "1 games recorded" in done.err
    assert run("import", empty_club, tmp_path / "games.csv").err.endswith("0 games recorded, 1 known already\n")
    assert len(json.loads(run("ratings", empty_club).out)) == 2


# --- answers ------------------------------------------------------------------------------------------------

ANSWERS = {
    "ratings": ["--limit", "3"], "show": ["ann"], "games": ["ann", "--last", "3"], "predict": ["ann", "bob"],
}  # fmt: skip


@pytest.mark.parametrize("command", ANSWERS)
def test_every_format_tells_the_same_fields(command: str, sample_club: Path, run: Run) -> None:
    words = [command, sample_club, *ANSWERS[command]]
    told = json.loads(run(*words).out)
    rows = told if isinstance(told, list) else [told]
    lines = [json.loads(line) for line in run(*words, "--nl").out.splitlines()]
    by_csv = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    by_tsv = list(csv.DictReader(io.StringIO(run(*words, "--tsv").out), dialect="excel-tab"))
    assert [list(row) for row in lines] == [list(row) for row in by_csv] == [list(row) for row in rows]
    assert by_csv == by_tsv
    assert run(*words, "-t").out == run(*words, "--table").out
    if command != "predict":  # its answers in JSON are objects, elsewhere words
        assert lines == rows
        assert by_csv == [{k: "" if v is None else _cell(v) for k, v in row.items()} for row in rows]


def _cell(value: object) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)


def test_ratings_are_ranked_and_limited(sample_club: Path, run: Run) -> None:
    rows = json.loads(run("ratings", sample_club).out)
    assert [row["rank"] for row in rows] == list(range(1, 17))
    assert [row["rating"] for row in rows] == sorted((row["rating"] for row in rows), reverse=True)
    assert rows[0] == {
        "rank": 1, "player": 13, "name": "ann", "rating": 1923.0998993145497, "games": 106, "last_game": "2006-08-30"
    }  # fmt: skip
    assert json.loads(run("ratings", sample_club, "--limit", "2").out) == rows[:2]
    assert run("ratings", sample_club, "--limit", "0", "-t").out == "(none)\n"
    assert all(row["games"] >= 120 for row in json.loads(run("ratings", sample_club, "--min-games", "120").out))
    assert run("ratings", sample_club, "--limit", "-1").code == USAGE
    table = run("ratings", sample_club, "--limit", "1", "-t").out.splitlines()
    assert table[2].split() == ["1", "13", "ann", "1923", "106", "2006-08-30"]


def test_a_player_is_found_by_name_identity_or_number(sample_club: Path, run: Run) -> None:
    shown = run("show", sample_club, "ann").out
    assert json.loads(shown)["name"] == "ann"
    for word in ("name:ann", "13", "ANN"):
        assert run("show", sample_club, word).out == shown


def test_show_tells_the_rating_on_a_day_beside_the_present_one(sample_club: Path, run: Run) -> None:
    told = json.loads(run("show", sample_club, "ann", "--at", "2005-06-30").out)
    assert told["then"] == "2005-06-30"
    assert told["scheme"] == told["hera_scheme"] == "chessworld"
    assert told["rating_then"] != told["rating_now"] == 1923.0998993145497
    assert json.loads(run("show", sample_club, "ann", "--at", "1999").out)["rating_then"] is None
    assert run("show", sample_club, "ann", "--at", "1999", "-t").out.count(" -\n") == 1
    done = run("show", sample_club, "ann", "--at", "2005-13")
    assert done.code == USAGE
    assert "--at: no such day or time: '2005-13'" in done.err


def test_games_as_a_table_show_both_ratings_with_the_present_ones_in_brackets(sample_club: Path, run: Run) -> None:
    table = run("games", sample_club, "ann", "--last", "1", "-t").out.splitlines()
    assert "1923 (1923)" in table[2]
    assert "1882 (1859)" in table[2]
    rows = json.loads(run("games", sample_club, "ann", "--last", "500").out)
    assert [row["n"] for row in rows] == list(range(106, 0, -1))
    on_time = [row for row in rows if row["termination"] == "time" and row["result"] != "draw"]
    assert run("games", sample_club, "ann", "--last", "500", "-t").out.count(" on time") == len(on_time) > 0


def test_graph_draws_a_player(sample_club: Path, run: Run) -> None:
    done = run("graph", sample_club, "ann")
    assert done.code == 0
    assert done.out.startswith("ann, rated games from 2004-10-12 to 2006-08-30\n")
    assert done.out.endswith("game 106\n")


def test_explain_gives_the_change_that_the_history_shows(sample_club: Path, run: Run) -> None:
    last, before = json.loads(run("games", sample_club, "ann", "--last", "2").out)
    told = json.loads(run("explain", sample_club, "ann", last["game"]).out)
    assert (told["before"], told["after"]) == (before["rating"], last["rating"])
    assert told["change"] == told["after"] - told["before"]
    assert (told["rated_with"], told["games"], told["unrounded"]) == ("this game", 1, told["after"])
    assert list(told) == [
        "game", "player", "opponent", "result", "pool", "scheme", "rated_with", "games", "before", "after", "change",
        "carried_from", "rule", "terms", "unrounded", "rounding", "source", "meetings",
    ]  # fmt: skip
    table = run("explain", sample_club, "ann", last["game"], "-t").out
    assert repr(told["after"]) in table
    assert all(repr(term["value"]) in table for term in told["terms"])


def test_explain_of_a_game_that_does_not_count_names_the_reason(sample_club: Path, run: Run) -> None:
    with Ledger.open(sample_club) as ledger:
        short = next(ledger.rows("games", "reason = 'too-short'"))
        name = names(ledger, {short["white"]})[short["white"]]
    done = run("explain", sample_club, name, short["key"])
    assert (done.code, done.out) == (REFUSED, "")
    assert "it does not count: too-short" in done.err


def test_explain_of_a_game_of_others_says_so(sample_club: Path, run: Run) -> None:
    last = json.loads(run("games", sample_club, "ann", "--last", "1").out)[0]
    other = "cleo" if last["opponent"] != "cleo" else "dan"
    done = run("explain", sample_club, other, last["game"])
    assert done.code == REFUSED
    assert f"no player of game {last['game']!r} named '{other}'" in done.err


def test_predict_tells_each_result(sample_club: Path, run: Run) -> None:
    told = json.loads(run("predict", sample_club, "ann", "bob").out)
    assert told["win"]["rating"] > told["draw"]["rating"] > told["loss"]["rating"]
    assert told["win"]["change"] == told["win"]["rating"] - told["rating"]
    win = f"{told['win']['rating']:.2f} ({told['win']['change']:+.2f})"
    assert win in run("predict", sample_club, "ann", "bob", "-t").out


def test_log_shows_the_entries_of_a_game(sample_club: Path, run: Run) -> None:
    key = game_of(run, sample_club, "ann")
    (entry,) = json.loads(run("log", sample_club, "--game", key).out)
    assert (entry["kind"], entry["key"], entry["actor"]) == ("game-recorded/1", f"game:{key}", "import")
    (row,) = csv.DictReader(io.StringIO(run("log", sample_club, "--game", key, "--csv").out))
    assert "facts" not in row
    assert row["outcome"] == entry["facts"]["outcome"]
    assert row["position"] == str(entry["position"])


def test_views_that_were_deleted_are_built_again_by_the_next_question(sample_club: Path, run: Run) -> None:
    before = run("ratings", sample_club).out
    for path in sample_club.parent.glob("club.views.db*"):
        path.unlink()
    assert run("ratings", sample_club).out == before
    done = run("rebuild", sample_club)
    assert done == (0, "", f"{sample_club.with_name('club.views.db')}: rebuilt from {ENTRIES} entries\n")
    assert run("ratings", sample_club).out == before


# --- refusals -----------------------------------------------------------------------------------------------

ON_A_LEDGER = {
    "import": ["games.pgn"], "ratings": [], "show": ["ann"], "games": ["ann"], "graph": ["ann"],
    "explain": ["ann", "pgn:1"], "predict": ["ann", "bob"], "log": ["--game", "pgn:1"], "audit": [], "head": [],
    "rebuild": [], "pools": [], "runs": [], "close-run": ["--as-of", "2020"],
    "close-tournament": ["Cup", "--ended", "2020"], "scheme adopt": ["--scheme", "chessworld", "--from", "2020"],
    "compare": ["--schemes", "chessworld,elo"], "erase": ["ann", "--yes"],
    "accept-lost-names": ["--yes"], "accept-clock": ["--yes"],
    "backup": ["a-copy"],
}  # fmt: skip


def test_the_commands_are_those_tested_here() -> None:
    asking = {command.split()[0] for command in ON_A_LEDGER}
    assert asking | {"init", "restore"} == set(cli.COMMANDS)  # these two begin where there is no ledger


@pytest.mark.parametrize("command", ON_A_LEDGER)
def test_a_ledger_that_is_not_there_is_refused_and_not_made(command: str, tmp_path: Path, run: Run) -> None:
    done = run(*command.split(), tmp_path / "nope.db", *ON_A_LEDGER[command])
    assert (done.code, done.out) == (REFUSED, "")
    assert "nope.db" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ON_A_LEDGER)
def test_a_file_that_is_no_ledger_is_refused(command: str, tmp_path: Path, run: Run) -> None:
    path = file(tmp_path, "club.db", PGN * 100)
    done = run(*command.split(), path, *ON_A_LEDGER[command])
    assert (done.code, done.out) == (FALSE if command == "audit" else REFUSED, "")
    assert "club.db" in done.err
    assert path.read_bytes() == PGN * 100


UNKNOWN: dict[str, tuple[Sequence[str], str]] = {
    "player": (["show", "nobody"], "no player 'nobody'"),
    "player number": (["games", "99999999999999999999"], "no player '99999999999999999999'"),
    "player to draw": (["graph", "nobody"], "no player 'nobody'"),
    "opponent": (["predict", "ann", "nobody"], "no player 'nobody'"),
    "game to explain": (["explain", "ann", "pgn:nope"], "no game 'pgn:nope'"),
    "game to list": (["log", "--game", "pgn:nope"], "no game 'pgn:nope'"),
    "pool to rank": (["ratings", "--pool", "nope"], "no pool 'nope' in this ledger; expected one of ['standard']"),
    "pool to show": (["show", "ann", "--pool", "nope"], "no pool 'nope'"),
    "pool to predict": (["predict", "ann", "bob", "--pool", "nope"], "no pool 'nope'"),
    "text that is no text": (["show", "\udcff"], "cannot be written in utf-8"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_the_ledger_does_not_know_is_named(what: str, sample_club: Path, run: Run) -> None:
    (command, *words), says = UNKNOWN[what]
    done = run(command, sample_club, *words)
    assert (done.code, done.out) == (REFUSED, "")
    assert says in done.err


def test_an_ambiguous_name_lists_the_identities(empty_club: Path, tmp_path: Path, run: Run) -> None:
    run("import", empty_club, file(tmp_path, "1", JSONL))
    run("import", empty_club, file(tmp_path, "2", JSONL.replace(b"fide:1", b"fide:3").replace(b"club:1", b"club:2")))
    done = run("show", empty_club, "Ann")
    assert done.code == REFUSED
    assert "several are called so: ['fide:1', 'fide:3']" in done.err
    assert run("show", empty_club, "fide:3").code == 0


def test_a_player_without_rated_games_in_a_pool_is_told_so(empty_club: Path, tmp_path: Path, run: Run) -> None:
    run("import", empty_club, file(tmp_path, "games.csv", CSV), "--pool", "rapid")
    for command in ("show", "games", "graph"):
        done = run(command, empty_club, "Ann")
        assert done.code == REFUSED
        assert "pool 'standard' has none" in done.err
    assert json.loads(run("predict", empty_club, "Ann", "Bob").out)["rating"] == 1400.0


@pytest.mark.parametrize("words", [["no-such-command"], ["--no-such-option"], ["show"], ["head", "a.db", "b.db"], []])
def test_wrong_usage_is_exit_code_2(words: list[str], run: Run) -> None:
    done = run(*words)
    assert (done.code, done.out) == (USAGE, "")
    assert "Usage: rating-ledger" in done.err


# --- help ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [*cli.COMMANDS, ""])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_help_has_an_example_that_calls_the_command(command: str, flag: str, run: Run) -> None:
    done = run(*filter(None, [command, flag]))
    assert (done.code, done.err) == (0, "")
    assert "Example:" in done.out
    assert f"rating-ledger {command}".strip() in done.out.partition("Example:")[2]


def test_the_overview_lists_every_command_in_the_order_of_its_table(run: Run) -> None:
    listed = run("--help").out.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line.strip()] == list(cli.COMMANDS)
    assert run("--version").out.startswith("rating-ledger, version ")


# --- audit --------------------------------------------------------------------------------------------------


def test_a_true_ledger_is_exit_code_0_with_head_and_digests(sample_club: Path, run: Run) -> None:
    done = run("audit", sample_club)
    assert done.code == 0
    assert done.err == f"TRUE {sample_club}: {ENTRIES} entries: journal, 16 names, and every derived row\n"
    head, *digests = done.out.splitlines()
    assert head == f"head {run('head', sample_club).out.strip()}"
    assert [line.split()[0] for line in digests] == [
        "changes", "current", "eras", "games", "history", "players", "pools", "runs", "tournaments",
    ]  # fmt: skip
    short = run("audit", sample_club, "--journal-only")
    assert short.out == f"{head}\n"
    assert short.err.splitlines() == [
        f"NOT COMPARED {sample_club} names, texts and derived rows: the journal alone was asked for",
        f"TRUE {sample_club}: {ENTRIES} entries: journal",
    ]


def test_an_edited_entry_is_exit_code_3_and_named_by_position(sample_club: Path, run: Run) -> None:
    edit(sample_club, "UPDATE journal SET leaf = zeroblob(32) WHERE position = 500")
    for words in ([], ["--journal-only"]):
        done = run("audit", sample_club, *words)
        assert done.code == FALSE
        assert f"FALSE {sample_club} journal entry 500: the body hashes to " in done.err
        assert "TRUE" not in done.err
        assert len(done.out.splitlines()) == 1  # no digests: nothing follows from a false journal


@pytest.mark.parametrize(
    ("table", "column", "value", "where"),
    [
        ("history", "rating", "rating + 1e-9", "player = 13 AND n = 20"), ("current", "n", "n + 1", "player = 13"),
        ("games", "ended_ms", "ended_ms + 1", "position = 300"), ("pools", "name", "'rapid'", "pool = 1"),
        ("games", "rated_ms", "rated_ms + 1", "position = 300"), ("games", "batch", "'Cup'", "position = 300"),
        ("eras", "scheme", "'elo'", f"pool = 1 AND since_ms = {BEGINNING} AND since = ''"),
        ("players", "joined_at", "'2020'", "player = 3"),
    ],
)  # fmt: skip
def test_an_edited_row_of_any_derived_table_is_named(
    table: str, column: str, value: str, where: str, sample_club: Path, run: Run
) -> None:
    edit(sample_club.with_name("club.views.db"), f"UPDATE {table} SET {column} = {value} WHERE {where}")
    done = run("audit", sample_club)
    assert done.code == FALSE
    (line,) = done.err.splitlines()
    assert line.startswith(f"FALSE {sample_club} {table} ")
    key = where.replace(" = ", " ").replace(" AND ", ", ").replace("''", "")
    assert f"{key}: {column} is " in line
    assert "the journal gives" in line
    run("rebuild", sample_club)
    assert run("audit", sample_club).code == 0


def test_swapped_names_are_named(sample_club: Path, run: Run) -> None:
    people = sample_club.with_name("club.people.db")
    edit(people, "UPDATE people SET name = CASE name WHEN 'ann' THEN 'bob' ELSE 'ann' END WHERE name IN ('ann', 'bob')")
    done = run("audit", sample_club)
    assert done.code == FALSE
    assert sorted(line.split()[2:4] for line in done.err.splitlines()) == [["people", "13:"], ["people", "1:"]]


def test_a_saved_head_is_proven_to_be_before_what_is_there_later(sample_club: Path, tmp_path: Path, run: Run) -> None:
    kept = tmp_path / "club.head"
    assert run("audit", sample_club, "--save-head", kept).code == 0
    assert TreeHead.parse(kept.read_text()).size == ENTRIES
    assert run("import", sample_club, file(tmp_path, "games.csv", CSV)).code == 0
    assert run("audit", sample_club, "--since", kept, "--save-head", kept).code == 0
    assert TreeHead.parse(kept.read_text()).size == ENTRIES + 1  # both players are known
    assert run("audit", sample_club, "--since", kept.read_text().strip()).code == 0


def test_a_file_of_heads_counts_by_its_last_line(sample_club: Path, tmp_path: Path, run: Run) -> None:
    first = run("head", sample_club).out
    run("import", sample_club, file(tmp_path, "games.csv", CSV))
    kept = file(tmp_path, "heads.txt", f"{first}{run('head', sample_club).out}".encode())
    assert run("audit", sample_club, "--since", kept).code == 0
    edit(sample_club, f"DELETE FROM journal WHERE position > {ENTRIES}")
    assert run("audit", sample_club, "--since", first.strip(), "--journal-only").code == 0
    assert run("audit", sample_club, "--since", kept, "--journal-only").code == FALSE


def test_a_cut_off_tail_is_found_by_a_kept_head(sample_club: Path, tmp_path: Path, run: Run) -> None:
    kept = tmp_path / "club.head"
    run("audit", sample_club, "--save-head", kept)
    edit(sample_club, "DELETE FROM journal WHERE position > 900")
    run("rebuild", sample_club)
    assert run("audit", sample_club).code == 0  # a shorter journal is a true one
    done = run("audit", sample_club, "--since", kept)
    assert done.code == FALSE
    assert "journal entry 901: the journal holds only 900 entries, but the head kept outside says 917" in done.err


def test_a_restored_older_copy_is_found_by_a_kept_head(sample_club: Path, tmp_path: Path, run: Run) -> None:
    older = tmp_path / "older"
    older.mkdir()
    for path in sample_club.parent.glob("club.*"):
        shutil.copy(path, older)
    run("import", sample_club, file(tmp_path, "games.csv", CSV))
    kept = tmp_path / "new.head"
    assert run("audit", sample_club, "--save-head", kept).code == 0
    done = run("audit", older / "club.db", "--since", kept)
    assert done.code == FALSE
    assert "an older copy was restored" in done.err


def test_a_false_ledger_saves_no_head(sample_club: Path, tmp_path: Path, run: Run) -> None:
    edit(sample_club.with_name("club.views.db"), "UPDATE current SET rating = 3000 WHERE player = 13")
    assert run("audit", sample_club, "--save-head", tmp_path / "new.head").code == FALSE
    assert not (tmp_path / "new.head").exists()


@pytest.mark.parametrize("since", ["nope.head", "917", "917 abc", "x" * 300, "-1 " + "0" * 64, ".", "\udcff"])
def test_what_is_no_head_is_wrong_usage(since: str, sample_club: Path, run: Run) -> None:
    done = run("audit", sample_club, "--since", since)
    assert (done.code, done.out) == (USAGE, "")
    assert "--since takes 'SIZE ROOT' or a file whose last line is one" in done.err


def test_a_head_that_cannot_be_saved_is_told(sample_club: Path, tmp_path: Path, run: Run) -> None:
    done = run("audit", sample_club, "--save-head", tmp_path / "nowhere" / "club.head")
    assert done.code == REFUSED
    assert "error: " in done.err
    assert "nowhere" in done.err
    assert run("audit", sample_club, "--save-head", tmp_path).code == USAGE


# --- as a process -------------------------------------------------------------------------------------------


def test_the_module_runs_as_a_command(sample_club: Path) -> None:
    command = [sys.executable, "-m", "tools.cli", "ratings", str(sample_club), "--limit", "1", "--nl"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["name"] == "ann"
    assert done.stderr == "the first 1; there are more: --limit\n"
