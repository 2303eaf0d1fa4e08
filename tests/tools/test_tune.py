"""The command ``tune``: what it prints in every format, what it saves, how it refuses and stops."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.places import ROOT
from tools.commands import REFUSED, USAGE

ASKED = ("--scheme", "elo", "--vary", "k=8..60", "--trials", "20")


def test_json_holds_the_study_and_says_the_same_each_time(sample_club: Path, run: Run) -> None:
    done = run("tune", sample_club, *ASKED)
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["scheme"], told["searched"] + told["judged"]) == ("elo", 888)
    assert 10 < len(told["trials"]) <= 20
    assert [each["which"] for each in told["judgements"]] == ["winner", "current", "defaults"]
    assert (told["varied"][0]["name"], told["varied"][0]["step"]) == ("k", "0.01")
    assert run("tune", sample_club, *ASKED, "--workers", "3").out == done.out
    assert run("tune", sample_club, *ASKED, "--seed", "2").out != done.out


@pytest.mark.parametrize(("flag", "delimiter"), [("--csv", ","), ("--tsv", "\t")])
def test_csv_and_tsv_hold_the_judgements(flag: str, delimiter: str, sample_club: Path, run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("tune", sample_club, *ASKED, flag).out), delimiter=delimiter))
    assert [row["which"] for row in rows] == ["winner", "current", "defaults"]
    assert {"settings_k", "search_log_loss", "log_loss", "difference", "low", "high", "verdict"} >= {*rows[0]} - {
        "which", "settings",
    }  # fmt: skip


def test_the_table_for_people_tells_settings_judgements_and_drift(sample_club: Path, run: Run) -> None:
    out = run("tune", sample_club, *ASKED, "-t").out
    assert out.startswith("pool standard, elo: ")
    places = [out.index(words) for words in ("Settings", "8..60", "95 % interval", "winner  ")]
    places.append(out.index("Last ratings of each year's players: mean and spread"))
    assert places == sorted(places)


def test_a_study_is_saved_and_goes_on_with_more_trials(sample_club: Path, tmp_path: Path, run: Run) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert run("tune", sample_club, *ASKED, "-o", first).out == ""
    assert json.loads(first.read_text()) == json.loads(run("tune", sample_club, *ASKED).out)
    words = [*ASKED[:-1], "40", "--resume", first, "-o", second]
    assert run("tune", sample_club, *words).code == 0
    assert 20 < len(json.loads(second.read_text())["trials"]) <= 40


def test_a_study_of_another_ledger_is_refused(sample_club: Path, empty_club: Path, tmp_path: Path, run: Run) -> None:
    saved = tmp_path / "study.json"
    assert run("tune", sample_club, *ASKED, "-o", saved).code == 0
    told = json.loads(saved.read_text())
    saved.write_text(json.dumps(told | {"head": "5 0123"}))
    done = run("tune", sample_club, *ASKED, "--resume", saved)
    assert (done.code, done.out) == (REFUSED, "")
    assert "a study of another ledger, or of another state of this one" in done.err
    done = run("tune", empty_club, *ASKED)
    assert (done.code, done.out) == (REFUSED, "")
    assert "no rated game 'at all'" in done.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--scheme", "nope", "--vary", "k=8..60"], REFUSED, "no scheme 'nope'"),
        (["--scheme", "elo"], USAGE, "Missing option '--vary'"),
        (["--scheme", "elo", "--vary", "k"], USAGE, "--vary takes NAME=LOW..HIGH, got 'k'"),
        (["--scheme", "elo", "--vary", "k=8"], USAGE, "--vary takes NAME=LOW..HIGH, got 'k=8'"),
        (["--scheme", "elo", "--vary", "=1..2"], USAGE, "--vary takes NAME=LOW..HIGH, got '=1..2'"),
        (["--scheme", "elo", "--vary", "k=60..8"], REFUSED, "range k=60..8: the first number must be below"),
        (["--scheme", "elo", "--vary", "k=a..b"], REFUSED, "range k=a..b: both ends must be numbers"),
        (["--scheme", "elo", "--vary", "late_reports=1..2"], REFUSED, "has no number 'late_reports'"),
        (["--scheme", "elo", "--vary", "k=8..60", "--vary", "k=1..2"], USAGE, "--vary names 'k' twice"),
        (["--scheme", "elo", "--vary", "k=8..60", "--workers", "0"], USAGE, "'--workers': 0 is not in the range"),
        (["--scheme", "elo", "--vary", "k=8..60", "--trials", "1"], USAGE, "'--trials': 1 is not in the range"),
        (["--scheme", "elo", "--vary", "k=8..60", "--judge-from", "2099"], REFUSED, "no rated game 'from 2099'"),
        (["--scheme", "elo", "--vary", "k=8..60", "--judge-from", "soon"], USAGE, "--judge-from: expected YYYY"),
        (
            ["--scheme", "elo", "--vary", "k=8..60", "--judge-from", "2006", "--judge-to", "2005"],
            USAGE,
            "--judge-from 2006 is not before --judge-to 2005",
        ),
        (
            ["--scheme", "elo", "--vary", "k=8..60", "--from", "2006", "--judge-from", "2005"],
            USAGE,
            "--from 2006 is not before --judge-from 2005",
        ),
        (["--scheme", "elo", "--vary", "k=8..60", "--resume", "nope.json"], USAGE, "'nope.json' cannot be read"),
        (["--scheme", "elo", "--vary", "k=8..60", "-o", "no/such/a.json"], USAGE, "-o: there is no folder 'no/such'"),
    ],
)
def test_refusals_are_one_line_and_change_nothing(
    words: list[str], code: int, says: str, sample_club: Path, run: Run
) -> None:
    before = {path: path.stat().st_mtime_ns for path in sample_club.parent.iterdir() if path.suffix == ".db"}
    done = run("tune", sample_club, *words)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert len(done.err.removesuffix("\n").splitlines()) == 1 or code == USAGE
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_what_is_no_study_is_refused(sample_club: Path, tmp_path: Path, run: Run) -> None:
    for text, code in (("{", USAGE), ("[]", REFUSED), ("{}", REFUSED), ('{"judgements": 3}', REFUSED)):
        (tmp_path / "a.json").write_text(text)
        done = run("tune", sample_club, *ASKED, "--resume", tmp_path / "a.json")
        assert (done.code, done.out) == (code, "")
        assert "study" in done.err


def test_a_ledger_is_not_written_over(sample_club: Path, run: Run) -> None:
    done = run("tune", sample_club, *ASKED, "-o", sample_club)
    assert (done.code, done.out) == (REFUSED, "")


def test_progress_counts_the_trials(sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[tuple[str, int, int]] = []
    monkeypatch.setattr("tools.progress.listeners", [lambda *report: reports.append(report)])
    assert run("tune", sample_club, *ASKED).code == 0
    assert (trials := [done for what, done, total in reports if (what, total) == ("trials", 20)])
    assert trials == list(range(1, len(trials) + 1))


@pytest.mark.slow
def test_ctrl_c_stops_at_once_with_one_line(sample_club: Path, tmp_path: Path) -> None:
    words = ["tune", sample_club, *ASKED[:-1], "100000", "--vary", "initial=1000..2000", "-o", tmp_path / "a.json"]
    command = [sys.executable, "-m", "tools.cli", *map(str, words)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    time.sleep(6)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (out, err.strip()) == ("", "stopped; nothing half done is kept, run the command again")
    assert process.returncode != 0
    assert not (tmp_path / "a.json").exists()
