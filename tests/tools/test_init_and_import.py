"""The commands ``init`` and ``import``: files of every format, pools, faults by file and line, interruptions."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger.answers import pools
from ledger.answers.rows import as_rows
from ledger.ledger import Ledger
from ledger.schemes import chessworld
from tests.kit.commands import Run, latest_game
from tests.kit.games import STATED_OF_POOLS
from tests.kit.places import SAMPLE
from tests.kit.source_files import BAD_CSV, CSV, JSONL, MIXED, NDJSON, PGN, written
from tools.commands import REFUSED, USAGE
from tools.commands import import_steps as importing


def test_init_makes_three_files_and_says_what_rates(tmp_path: Path, run: Run) -> None:
    done = run("init", tmp_path / "a.db", "--pool", "blitz", "--set", "initial=1200.5", "--set", "include_initial=TRUE")
    assert done.code == 0
    assert "pool 'blitz' is rated by 'chessworld'; head 1 " in done.err
    assert done.out == ""
    assert {"a.db", "a.people.db", "a.views.db"} <= {path.name for path in tmp_path.iterdir()}
    with Ledger.open(tmp_path / "a.db") as ledger:
        adopted = ledger.first_scheme()
        assert adopted.settings.items() >= {"include_initial": True, "initial": "1200.5"}.items()
        assert adopted.settings.keys() == {*chessworld.SCHEME.numbers_from({})._fields, *STATED_OF_POOLS}
        shown = as_rows(pools.pools(ledger))[0][
            "settings"
        ]  # guests are rated in their tournaments in pools that begin now
        assert shown == {"guest_tournaments": True, "include_initial": True, "initial": "1200.5"}
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
        (["--set", "initial=abc"], USAGE, "--set initial: give a number such as 32 or 0.5, true or false; got 'abc'"),
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


@pytest.mark.parametrize(
    ("content", "fmt", "key"),
    [
        (PGN, "pgn", "pgn:"),
        (NDJSON, "lichess-ndjson", "lichess:AbCdEf12"),
        (JSONL, "ledger-jsonl", "club:1"),
        (CSV, "csv", "csv:1"),
        (CSV.replace(b",", b";"), "csv", "csv:1"),
    ],
)
def test_formats_are_told_by_content_not_by_name(
    content: bytes, fmt: str, key: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    path = written(tmp_path, "games.txt", content)
    done = run("import", empty_club, path)
    assert done == (0, "", f"{path} ({fmt}): 1 game recorded, 0 known already, 2 new players\n")
    assert latest_game(run, empty_club, "Ann").startswith(key)
    assert run("import", empty_club, path) == (0, "", f"{path} ({fmt}): 0 games recorded, 1 known already\n")


def test_several_files_of_several_formats_at_once(empty_club: Path, tmp_path: Path, run: Run) -> None:
    files = [written(tmp_path, "1", PGN), written(tmp_path, "2", gzip.compress(NDJSON)), written(tmp_path, "3", JSONL)]
    done = run("import", empty_club, *files)
    assert done.code == 0
    accounts = [line for line in done.err.splitlines() if ": note: " not in line]  # the notes: Ann has three identities
    assert [line.split()[1] for line in accounts] == ["(pgn):", "(lichess-ndjson):", "(ledger-jsonl):"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_is_standard_input_packed_or_not(
    pack: Callable[[bytes], bytes], empty_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pack(PGN))))
    done = run("import", empty_club, "-")
    assert done == (0, "", "- (pgn): 1 game recorded, 0 known already, 2 new players\n")


def test_a_format_can_be_demanded(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "games.csv", CSV)
    assert run("import", empty_club, path, "--format", "pgn").code == REFUSED
    assert run("import", empty_club, path, "--format", "csv").code == 0
    assert run("import", empty_club, path, "--format", "foo").code == USAGE


def test_a_source_gives_its_names_to_players_and_games_of_a_csv_file(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    assert run("import", empty_club, written(tmp_path, "games.csv", CSV), "--source", "lichess").code == 0
    assert json.loads(run("show", empty_club, "lichess:ann").out)["name"] == "Ann"
    assert latest_game(run, empty_club, "lichess:bob") == "lichess:1"


def test_importing_again_records_nothing_new(sample_club: Path, run: Run) -> None:
    before = run("head", sample_club).out
    done = run("import", sample_club, SAMPLE)
    assert done == (0, "", f"{SAMPLE} (pgn): 0 games recorded, 900 known already\n")
    assert run("head", sample_club).out == before


def test_games_without_moves_have_their_keys_and_lengths_and_a_later_import_adds_the_moves(
    empty_club: Path, run: Run
) -> None:
    assert run("import", empty_club, SAMPLE, "--without-moves").code == 0
    ratings = run("ratings", empty_club, "--limit", "0").out
    with Ledger.open(empty_club) as ledger:
        games = list(ledger.rows("games"))
    assert all(row["half_moves"] for row in games)
    assert "1. " not in run("board", empty_club, games[0]["key"], "--format", "pgn").out
    assert f"{len(games)} known already, with new details" in run("import", empty_club, SAMPLE).err
    assert run("ratings", empty_club, "--limit", "0").out == ratings
    assert "1. " in run("board", empty_club, games[0]["key"], "--format", "pgn").out
    before = run("head", empty_club).out
    assert f"0 games recorded, {len(games)} known already\n" in run("import", empty_club, SAMPLE, "--without-moves").err
    assert run("head", empty_club).out == before


def test_bad_games_are_named_by_file_and_line_and_left_out(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "games.csv", BAD_CSV)
    done = run("import", empty_club, path)
    assert done.code == REFUSED
    *faults, summary = done.err.splitlines()
    assert [line.split(": ")[0] for line in faults] == [f"{path}:{line}" for line in (3, 4, 6)]
    assert "2021-02-30" in faults[0]
    assert summary == f"{path} (csv): 2 games recorded, 0 known already, 2 new players, 3 faulty games, 3 faults"
    assert json.loads(run("show", empty_club, "Ann").out)["games"] == 2


def test_strict_records_nothing_of_a_file_with_a_fault_and_lists_them_all(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    bad, good = written(tmp_path, "bad.csv", BAD_CSV), written(tmp_path, "good.ndjson", NDJSON)
    before = run("head", empty_club).out
    done = run("import", empty_club, bad, "--strict")
    assert done.code == REFUSED
    assert [line.partition(": ")[0] for line in done.err.splitlines()[:-1]] == [f"{bad}:{line}" for line in (3, 4, 6)]
    summary = "(csv): 0 games recorded, 0 known already, 3 faulty games, 3 faults: nothing recorded (--strict)\n"
    assert done.err.endswith(summary)
    assert run("head", empty_club).out == before
    assert run("audit", empty_club).code == 0
    # "of that file": a good one beside it is recorded
    assert run("import", empty_club, bad, good, "--strict").code == REFUSED
    assert run("head", empty_club).out.split()[0] == "4"


def test_a_game_told_otherwise_is_a_fault_and_the_first_telling_stands(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    assert run("import", empty_club, written(tmp_path, "1.csv", CSV)).code == 0
    before = run("head", empty_club).out
    done = run("import", empty_club, written(tmp_path, "2.csv", CSV.replace(b",1-0,", b",0-1,")))
    assert done.code == REFUSED
    difference = "exists-with-different-outcome: 'game:csv:1' was recorded with outcome='white', not 'black'"
    assert f":2: error: {difference}" in done.err
    hint = "--propose-differences FILE.csv writes corrections, for 'correct batch'"
    assert done.err.endswith(f"{hint}\n")
    for file, words in (
        (CSV.replace(b",1-0,", b",0-1,"), ("--propose-differences", str(tmp_path / "told.csv"))),
        (CSV + b"9,Ann,Bob,1-0,40,2021-02-30\n", ()),
    ):
        assert hint not in run("import", empty_club, written(tmp_path, "3.csv", file), *words).err
    assert run("head", empty_club).out == before


def test_a_flood_of_faults_is_cut_with_their_number(
    empty_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "FAULTS_SHOWN", 3)
    rows = b"".join(b"%d,Ann,Bob,1-0,40,2021-02-30\n" % n for n in range(10, 20))
    done = run("import", empty_club, written(tmp_path, "bad.csv", CSV + rows))
    assert done.code == REFUSED
    assert done.err.splitlines()[3].endswith("bad.csv: and 7 more faults")
    assert "10 faults" in done.err.splitlines()[4]


def test_a_pool_of_its_own(empty_club: Path, tmp_path: Path, run: Run) -> None:
    assert run("import", empty_club, written(tmp_path, "games.csv", CSV), "--pool", "rapid", "--new-pool").code == 0
    assert json.loads(run("ratings", empty_club).out) == []
    ranking = json.loads(run("ratings", empty_club, "--pool", "rapid").out)
    assert [row["name"] for row in ranking] == ["Ann", "Bob"]


def test_pools_by_speed_cut_by_speed_and_variant_and_count_the_rest(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "mixed.csv", MIXED)
    done = run("import", empty_club, path, "--pools", "by-speed")
    assert done.code == 0
    assert "3 games recorded" in done.err
    assert "1 left out: no time control" in done.err
    for pool in ("bullet", "blitz", "crazyhouse"):
        assert len(json.loads(run("ratings", empty_club, "--pool", pool).out)) == 2
    with Ledger.open(empty_club) as ledger:
        assert {row["name"] for row in ledger.rows("pools")} == {"standard", "bullet", "blitz", "crazyhouse"}


def test_variants_are_left_out_and_counted_unless_given_a_pool(empty_club: Path, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "mixed.csv", MIXED)
    done = run("import", empty_club, path)
    assert done.code == 0
    assert "3 games recorded" in done.err
    assert "1 left out: variant crazyhouse" in done.err
    done = run("import", empty_club, path, "--variant", "crazyhouse=zh", "--new-pool")
    assert "1 game recorded, 3 known already" in done.err
    assert json.loads(run("ratings", empty_club, "--pool", "zh").out)[0]["name"] == "Bob"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--pool", "a", "--pools", "by-speed"], "give --pool or --pools, not both"),
        (["--pools", "by-colour"], "by-speed"),
        (["--variant", "crazyhouse"], "--variant takes VARIANT=POOL, got 'crazyhouse'"),
        (["--variant", "crazyhouse=Bad Pool"], "pool must be text matching"),
        (["--pool", "Bad Pool"], "pool must be text matching"),
        (["--pool", ""], "--pool is empty: give a value"),
        (["--source", "bad site!"], "--source must match"),
    ],
)
def test_wrong_words_of_an_import_record_nothing(
    words: list[str], says: str, empty_club: Path, tmp_path: Path, run: Run
) -> None:
    before = run("head", empty_club).out
    done = run("import", empty_club, written(tmp_path, "games.csv", CSV), *words)
    assert done.code == USAGE
    assert says in done.err
    assert run("head", empty_club).out == before


def test_files_that_cannot_be_read_are_all_named_before_anything_is_recorded(
    empty_club: Path, tmp_path: Path, run: Run
) -> None:
    before = run("head", empty_club).out
    good, zipped = written(tmp_path, "games.csv", CSV), written(tmp_path, "games.zip", b"PK\x03\x04")
    done = run("import", empty_club, good, tmp_path / "nope.pgn", zipped, tmp_path)
    assert done.code == REFUSED
    missing, packed, folder, end = done.err.splitlines()
    assert missing.endswith("nope.pgn: no such file: check the name")
    assert "games.zip: is a zip archive" in packed
    assert folder.startswith(f"error: {tmp_path}: cannot be read")
    assert end == "error: nothing was recorded"
    assert run("head", empty_club).out == before
    assert run("import", empty_club, tmp_path).code == REFUSED
    assert run("import", empty_club).code == USAGE


def test_the_order_in_which_files_arrive_changes_nothing(tmp_path: Path, run: Run) -> None:
    games = SAMPLE.read_bytes().split(b"\n[Event ")
    older, newer = b"\n[Event ".join(games[:500]) + b"\n", b"[Event " + b"\n[Event ".join(games[500:])
    files = [written(tmp_path, "older.pgn", older), written(tmp_path, "newer.pgn", newer)]
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
        done = run("import", empty_club, written(tmp_path, "games.csv", CSV))
    assert done.code == REFUSED
    assert "stopped; nothing half done is kept, run the command again" in done.err
    assert "1 game recorded" in done.err
    assert run("import", empty_club, tmp_path / "games.csv").err.endswith("0 games recorded, 1 known already\n")
    assert len(json.loads(run("ratings", empty_club).out)) == 2
