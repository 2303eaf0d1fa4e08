"""The command line: what it prints in every format, how it refuses, its exit codes. Never a traceback."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.places import ROOT
from tests.kit.source_files import CSV, JSONL, PGN, written
from tools import cli
from tools.commands import FALSE, REFUSED, USAGE
from tools.docs.command_texts import every_command

ON_A_LEDGER = {
    "import": ["games.pgn"], "ratings": [], "show": ["ann"], "games": ["ann"], "graph": ["ann"],
    "explain": ["ann", "pgn:1"], "predict": ["ann", "bob"], "log": ["--game", "pgn:1"], "audit": [], "head": [],
    "journal": [], "follow": ["--until", "1"], "move": ["--journal", "file", "--yes"],
    "changes": ["ann", "--since", "1"], "calculation": ["ann", "--list", "2020"],
    "rebuild": [], "upgrade": [], "pools": [], "runs": [], "health": [], "close-run": ["--as-of", "2020"],
    "open-tournament": ["Cup", "--start", "2020", "--end", "2020"],
    "close-tournament": ["Cup", "--ended", "2020"], "scheme adopt": ["--scheme", "chessworld", "--from", "2020"],
    "bye": ["Cup", "ann", "--round", "2", "--edition", "2020-01-01"],
    "compare": ["--schemes", "chessworld,elo"],
    "tune": ["--scheme", "elo", "--vary", "k=8..60"], "erase": ["ann", "--yes"],
    "accept-lost-names": ["--yes"], "accept-clock": ["--yes"],
    "backup": ["a-copy"], "player add": ["name:zoe", "Zoe"], "player set": ["ann", "--born", "1990"],
    "players import": ["players.csv"], "policy set": ["upsets", "margin=250"], "correct": ["list"],
    "token add": ["eve", "--role", "approver"],
    "checkpoint": [], "checkpoint-key": [], "receipt": ["pgn:1"], "board": ["pgn:1"],
    "search": ["ann"], "record": ["--white", "ann", "--black", "bob", "--result", "1-0"],
    "best": ["ann"], "streaks": ["ann"], "opponents": ["ann"], "time-losses": ["ann"], "upsets": [],
    "tournaments": [], "crosstable": ["Cup"],
    "export": ["games", "-o", "games.csv"], "query": ["SELECT 1"], "tables": [], "projectors": [], "datasette": [],
    "serve": ["--listen", "127.0.0.1:0"],
    "imports": [], "take-back": ["1", "--reason", "x"],
    "describe-tournament": ["Cup", "--rounds", "7"], "reports": [],
    "publish": ["--at", "2020"], "lists": [], "diff": ["standard@2020", "now"],
}  # fmt: skip
ANSWERING = {"health"}  # that a ledger cannot be opened is an answer, too


def test_the_commands_are_those_tested_here() -> None:
    asking = {command.split()[0] for command in ON_A_LEDGER}
    # they begin without a ledger
    without = {
        "init",
        "restore",
        "completion",
        "verify-receipt",
        "verify-checkpoint",
        "verify-bundle",
        "checker",
        "calc",
    }
    assert asking | without == set(cli.COMMANDS)


@pytest.mark.parametrize("command", ON_A_LEDGER)
def test_a_ledger_that_is_not_there_is_refused_and_not_made(command: str, tmp_path: Path, run: Run) -> None:
    done = run(*command.split(), tmp_path / "nope.db", *ON_A_LEDGER[command])
    told, silent = (done.out, done.err) if command in ANSWERING else (done.err, done.out)
    assert (done.code, silent) == (REFUSED, "")
    assert "nope.db" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ON_A_LEDGER)
def test_a_file_that_is_no_ledger_is_refused(command: str, tmp_path: Path, run: Run) -> None:
    path = written(tmp_path, "club.db", PGN * 100)
    done = run(*command.split(), path, *ON_A_LEDGER[command])
    answers = command == "audit" or command in ANSWERING
    assert (done.code, done.out == "") == (FALSE if command == "audit" else REFUSED, not answers)
    assert "club.db" in (done.out if answers else done.err)
    assert path.read_bytes() == PGN * 100


UNKNOWN: dict[str, tuple[Sequence[str], str]] = {
    "player": (["show", "nobody"], "no player 'nobody'"),
    "player number": (["games", "99999999999999999999"], "no player '99999999999999999999'"),
    "player to draw": (["graph", "nobody"], "no player 'nobody'"),
    "opponent": (["predict", "ann", "nobody"], "no player 'nobody'"),
    "game to explain": (["explain", "ann", "pgn:nope"], "no game 'pgn:nope'"),
    "game to list": (["log", "--game", "pgn:nope"], "no game 'pgn:nope'"),
    "player of changes": (["changes", "nobody", "--since", "1"], "no player 'nobody'"),
    "pool to rank": (["ratings", "--pool", "nope"], "no pool 'nope' in this ledger; expected one of ['standard']"),
    "pool to show": (["show", "ann", "--pool", "nope"], "no pool 'nope'"),
    "pool to predict": (["predict", "ann", "bob", "--pool", "nope"], "no pool 'nope'"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_the_ledger_does_not_know_is_named(what: str, sample_club: Path, run: Run) -> None:
    (command, *words), says = UNKNOWN[what]
    done = run(command, sample_club, *words)
    assert (done.code, done.out) == (REFUSED, "")
    assert says in done.err


def test_an_ambiguous_name_lists_the_identities(empty_club: Path, tmp_path: Path, run: Run) -> None:
    run("import", empty_club, written(tmp_path, "1", JSONL))
    run("import", empty_club, written(tmp_path, "2", JSONL.replace(b"fide:1", b"fide:3").replace(b"club:1", b"club:2")))
    done = run("show", empty_club, "Ann")
    assert done.code == REFUSED
    assert "several are called so: ['fide:1', 'fide:3']" in done.err
    assert run("show", empty_club, "fide:3").code == 0


def test_a_player_without_rated_games_in_a_pool_is_told_so(empty_club: Path, tmp_path: Path, run: Run) -> None:
    run("import", empty_club, written(tmp_path, "games.csv", CSV), "--pool", "rapid", "--new-pool")
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


@pytest.mark.slow
def test_every_help_has_an_example_that_calls_the_command(run: Run) -> None:
    without = []
    for words in ["", *every_command()]:
        for flag in ("--help", "-h"):
            done = run(*words.split(), flag)
            called = f"rating-ledger {words}".strip().replace(" correct ", " correct club.db ")
            if (done.code, done.err) != (0, "") or called not in done.out.partition("Example:")[2]:
                without.append((words, flag))
    assert without == []


def test_the_overview_lists_every_command_under_its_task_with_a_whole_sentence(run: Run) -> None:
    told = run("--help").out
    assert list(cli.TASKS) == re.findall(r"^(\S.*):$", told, re.MULTILINE)[-len(cli.TASKS) :]
    sections = dict(zip(cli.TASKS, re.split(r"^\S.*:\n", told, flags=re.MULTILINE)[-len(cli.TASKS) :], strict=True))
    for task, section in sections.items():
        assert re.findall(r"^  (\S+)  ", section, re.MULTILINE) == list(cli.TASKS[task])
        assert "..." not in section
    assert [name for commands in cli.TASKS.values() for name in commands] == list(cli.COMMANDS)
    assert run("--version").out.startswith("rating-ledger, version ")


@pytest.mark.parametrize("words", [["player"], ["players"], ["policy"], ["token"], ["scheme"], ["correct", "club.db"]])
def test_the_help_of_several_commands_has_a_whole_sentence_of_each(words: list[str], run: Run) -> None:
    listed = run(*words, "--help").out.partition("Commands:\n")[2]
    assert len(re.findall(r"^  (\S+)  ", listed, re.MULTILINE)) > 1
    assert "..." not in listed


@pytest.mark.slow
def test_the_module_runs_as_a_command(sample_club: Path) -> None:
    command = [sys.executable, "-m", "tools.cli", "ratings", str(sample_club), "--limit", "1", "--nl"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["name"] == "ann"
    assert done.stderr == "the first 1; there are more: --limit 0 shows all\n"


def test_a_folder_in_the_place_of_the_ledger_is_called_one(tmp_path: Path, run: Run) -> None:
    for path, quoted in (("", "''"), (".", "."), ("/", "/"), (str(tmp_path), str(tmp_path))):
        done = run("ratings", path)
        assert (done.code, done.err) == (1, f"error: {quoted}: is a folder; give the name of the journal's file\n")
