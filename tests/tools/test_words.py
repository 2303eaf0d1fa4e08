"""Words that a newcomer needs: mistyped commands, shell completion, files that are no ledger, changes of scheme."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.errors import MalformedError
from ledger.ledger import Ledger
from tests.kit.commands import Run
from tests.kit.places import ROOT
from tools.commands import REFUSED, USAGE


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ratngs"], "no command 'ratngs'; did you mean 'ratings'? 'rating-ledger --help' lists them"),
        (["close"], "did you mean 'close-run' or 'close-tournament'?"),
        (["scheme", "lst"], "no command 'lst'; did you mean 'list'? 'rating-ledger scheme --help' lists them"),
        (["frobnicate"], "no command 'frobnicate'; 'rating-ledger --help' lists them"),
        (["scheme", "show", "glico2"], "no scheme 'glico2' installed; did you mean 'glicko2' or 'glicko'?"),
        (["init", "x.db", "--scheme", "fida"], "no scheme 'fida' installed; did you mean 'fide'?"),
        (["init", "x.db", "--set", "inital=1500"], "has no setting 'inital'; did you mean 'initial'"),
    ],
)
def test_a_mistyped_word_is_answered_by_the_right_one(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.code != 0
    assert says in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ratings", "--pool", "standrad"], "did you mean 'standard'? expected one of ['standard']"),
        (["show", "anne"], "did you mean 'ann'? names are matched whole"),
        (["log", "--kind", "game-recoded"], "did you mean 'game-recorded/1'"),
    ],
)
def test_a_mistyped_name_is_answered_by_the_right_one(words: list[str], says: str, sample_club: Path, run: Run) -> None:
    done = run(words[0], sample_club, *words[1:])
    assert (done.code, done.out) == (REFUSED, "")
    assert says in done.err


def completed(*words: str) -> list[str]:
    """What bash would offer for the last of *words*."""
    line = {"COMP_WORDS": " ".join(["rating-ledger", *words]), "COMP_CWORD": str(len(words))}
    asked = {**os.environ, **line, "_RATING_LEDGER_COMPLETE": "bash_complete"}
    command = [sys.executable, "-c", "from tools.cli import run; run()"]
    done = subprocess.run(command, cwd=ROOT, env=asked, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.slow
def test_a_shell_completes_commands_options_schemes_and_pools(sample_club: Path) -> None:
    assert completed("ra") == ["ratings"]
    assert completed("audit", str(sample_club), "--si") == ["--since"]
    assert completed("init", "new.db", "--scheme", "glicko") == ["glicko", "glicko2"]
    assert completed("scheme", "show", "che") == ["chessmetrics", "chessworld"]
    assert completed("ratings", str(sample_club), "--pool", "s") == ["standard"]
    assert completed("ratings", "nowhere.db", "--pool", "s") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed_for_it(shell: str, run: Run, tmp_path: Path) -> None:
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_RATING_LEDGER_COMPLETE={shell}_complete" in done.out
    if shutil.which(shell):
        script = tmp_path / "script"
        script.write_text(done.out, encoding="utf-8")
        subprocess.run([shell, "-n", script], check=True)
    assert run("completion", "csh").code == USAGE


def test_a_file_of_the_ledger_that_is_not_the_ledger_is_called_what_it_is(sample_club: Path, run: Run) -> None:
    for role, called in (("people", "the people file of a ledger"), ("views", "the views of a ledger")):
        done = run("ratings", sample_club.with_name(f"club.{role}.db"))
        assert (done.code, done.out) == (REFUSED, "")
        assert f"is not a ledger, but {called}: check the name" in done.err
        assert "0x" not in done.err


@pytest.mark.parametrize(
    ("where", "arguments", "says"),
    [
        ("bad = 1", (), "no such column: bad; its columns are ['pool', 'player', "),
        ("rating >", (), "incomplete input"),
        ("rating > ?", (), "condition 'rating > ?' on table 'current'"),
        ("nofunction(1)", (), "no such function"),
    ],
)
def test_a_condition_that_sql_does_not_understand_is_named(
    where: str, arguments: tuple[object, ...], says: str, sample_club: Path
) -> None:
    with Ledger.open(sample_club) as ledger:
        with pytest.raises(MalformedError) as caught:
            ledger.rows("current", where, arguments)
        assert says in str(caught.value)
        assert "not as this program left it" not in str(caught.value)
        assert len(list(ledger.rows("current", "rating > ? ORDER BY rating LIMIT 3", (0,)))) == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--carry", "convert"], "--carry convert needs --map [FROM:]FACTOR:OFFSET, such as --map 1:100"),
        (["--map", "1:100"], "--map goes with --carry convert"),
        (["--carry", "keep", "--map", "1:100"], "--map goes with --carry convert"),
        (["--pool", "standrad"], "no pool 'standrad' in this ledger; did you mean 'standard'? expected one of"),
    ],
)
def test_an_adoption_that_lacks_a_word_asks_for_it(words: list[str], says: str, sample_club: Path, run: Run) -> None:
    before = run("head", sample_club).out
    done = run("scheme", "adopt", sample_club, "--scheme", "elo", "--from", "2006", *words)
    assert (done.code, done.out) == (USAGE, "")
    assert says in done.err
    assert run("head", sample_club).out == before


def test_a_new_pool_is_adopted_on_request(sample_club: Path, run: Run) -> None:
    words = ["scheme", "adopt", sample_club, "--scheme", "elo", "--pool", "rapid"]
    assert run(*words).code == USAGE
    assert run(*words, "--new-pool").code == 0
    assert "was adopted already" in run(*words).err


def test_a_scheme_from_a_day_to_come_says_so(sample_club: Path, run: Run) -> None:
    done = run("scheme", "adopt", sample_club, "--scheme", "elo", "--from", "2099-01-01")
    assert done.code == 0
    told = "note: 2099-01-01 is in the future: games that end before then go on by 'chessworld'"
    assert told in done.err.splitlines()
    assert "in the future" not in run("scheme", "adopt", sample_club, "--scheme", "elo", "--from", "2006-01-01").err
