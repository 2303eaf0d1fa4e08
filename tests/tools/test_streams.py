"""The command as a process whose standard streams are closed, full, without a reader, or of a poor encoding.

Each ends with one clear line or none, never in a traceback nor in what Python says of itself on its way out.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ledger.answers.exports.exporting import FORMATS
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from tests.kit.commands import Done, Run
from tests.kit.games import game_recorded
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.tiers import few_quick
from tools import cli, running
from tools.commands import FALSE, REFUSED, USAGE

COMMAND = f"{sys.executable} -W error -m tools.cli"
CLOSED = "error: standard output is closed, the answer is lost: leave it open, or send it to a file"
FULL = "error: standard output: No space left on device; the answer is not whole: send it elsewhere"
# Python holds answers back until they are many, or passes every word on at once.
HOLDING = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


def shell(script: str, variables: Mapping[str, str] | None = None) -> Done:
    """Run a line of shell, in which ``ledger`` is the command; its output in whatever bytes as text."""
    words = {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}
    done = subprocess.run(
        ["/bin/bash", "-c", f'set -o pipefail; ledger() {{ {COMMAND} "$@"; }}; {script}'],
        cwd=ROOT,
        env=words,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="backslashreplace",
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@HOLDING
@pytest.mark.parametrize(("where", "told"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_an_answer_that_is_lost_is_told(where: str, told: str, unbuffered: str, sample_folder: Path) -> None:
    done = shell(f"ledger graph {sample_folder / 'club.db'} ann {where}", {"PYTHONUNBUFFERED": unbuffered})
    assert done == (REFUSED, "", f"{told}\n")


@pytest.mark.slow
@HOLDING
@pytest.mark.parametrize(
    "command", ["export DB games --format csv", "log DB --nl", "graph DB ann --last 0 --format html"]
)
def test_an_answer_of_which_a_part_is_taken_is_told(
    command: str, unbuffered: str, sample_folder: Path, tmp_path: Path
) -> None:
    command = command.replace("DB", str(sample_folder / "club.db"))
    file = tmp_path / "answer"
    # so many blocks of 1,024 bytes: a file of that size is what a full disk leaves of a longer one
    done = shell(f"ulimit -f 64; ledger {command} > {file}", {"PYTHONUNBUFFERED": unbuffered})
    assert done == (REFUSED, "", FULL.replace("No space left on device", "File too large") + "\n")
    assert file.stat().st_size == 64 * 1024


@pytest.mark.parametrize("fmt", few_quick(FORMATS, "csv"))
def test_an_export_for_which_there_is_no_room_is_told_and_leaves_the_older_one(
    fmt: str, sample_folder: Path, tmp_path: Path
) -> None:
    (file := tmp_path / "history").write_text("older")
    done = shell(f"ulimit -f 64; ledger export {sample_folder / 'club.db'} history --format {fmt} -o {file}")
    assert (done.code, done.out, done.err.count("\n")) == (REFUSED, "", 1)
    assert done.err.startswith(f"error: {file}")
    assert "File too large" in done.err or "disk I/O error" in done.err
    assert ([path.name for path in tmp_path.iterdir()], file.read_text()) == (["history"], "older")


@pytest.mark.slow
@pytest.mark.parametrize(("where", "unbuffered"), [(">&-", ""), (">/dev/full", "1")])
def test_help_that_is_lost_is_told_in_one_line(where: str, unbuffered: str) -> None:
    done = shell(f"ledger --help {where}", {"PYTHONUNBUFFERED": unbuffered})
    assert (done.code, done.err.count("\n"), done.err[:7]) == (REFUSED, 1, "error: ")
    assert "standard output" in done.err


@pytest.mark.slow
def test_a_falsehood_is_told_and_the_exit_code_kept_where_the_answer_is_lost(sample_club: Path) -> None:
    with sqlite.sqlite3.connect(sample_club.with_name("club.views.db")) as connection:
        # within the band of ratings in which the distribution counts the player: nothing else is false
        connection.execute("UPDATE current SET rating = rating + 0.001 WHERE player = 13")
    done = shell(f"ledger audit {sample_club} >/dev/full", {"PYTHONUNBUFFERED": "1"})
    assert done.code == FALSE
    false, told = done.err.splitlines()  # a verdict is not lost with its digests
    assert false.startswith(f"FALSE {sample_club} current ")
    assert told == FULL


@pytest.mark.slow
@HOLDING
@pytest.mark.parametrize("command", ["games DB ann --limit 500 --nl", "--help"])
def test_a_reader_who_leaves_is_no_error_worth_a_word(command: str, unbuffered: str, sample_folder: Path) -> None:
    command = command.replace("DB", str(sample_folder / "club.db"))
    done = shell(f"ledger {command} | true", {"PYTHONUNBUFFERED": unbuffered})
    assert done == (REFUSED, "", "")


@pytest.mark.slow
def test_a_reader_of_the_first_line_gets_it(sample_folder: Path) -> None:
    done = shell(f"ledger games {sample_folder / 'club.db'} ann --limit 500 --nl | head -n 1")
    assert json.loads(done.out)["n"] == 106
    assert done.err == ""


@pytest.mark.slow
def test_words_that_nobody_takes_stop_no_work(sample_club: Path) -> None:
    for number, where in enumerate(("2>/dev/full", "<&- >&- 2>&-"), 1):
        done = shell(f"ledger close-tournament {sample_club} 'Club evening' --ended 200{number} {where}")
        assert done == (0, "", "")
        assert shell(f"ledger head {sample_club} 2>&-").out.startswith(f"{917 + number} ")
    assert shell(f"ledger show {sample_club} nobody {where}") == (REFUSED, "", "")


@pytest.mark.slow
def test_a_file_never_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    script = (
        "import sys; from tools import running; running.hold_standard_streams();"
        f"file = open({str(tmp_path / 'x')!r}, 'w'); sys.exit(10 + file.fileno())"
    )
    for where in (">&-", "<&- >&- 2>&-", ""):
        assert shell(f"{sys.executable} -c {json.dumps(script)} {where}").code >= 13


@pytest.mark.slow
def test_a_closed_standard_input_is_said_to_be_none(sample_club: Path) -> None:
    done = shell(f"ledger import {sample_club} - <&-")
    assert done == (REFUSED, "", "error: -: there is no standard input: give a file\n")
    done = shell(f"ledger erase {sample_club} ann <&-")
    assert (done.code, done.err.splitlines()[-1]) == (USAGE, "error: nobody can be asked here: give --yes")
    done = shell(f"{sys.executable} -m tests.vectors - <&-")
    assert (done.code, done.err) == (REFUSED, "-: there is no standard input: give a file\n")


@pytest.mark.slow
def test_a_question_goes_to_standard_error(sample_club: Path, tmp_path: Path) -> None:
    script = f"""
import pty, os, sys
pid, terminal = pty.fork()
if not pid:
    os.execvp("/bin/sh", ["sh", "-c", "exec {COMMAND} erase {sample_club} ann > {tmp_path / "out"}"])
asked = b""
while b"[y/N]" not in asked:
    asked += os.read(terminal, 1000)
os.write(terminal, b"n\\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False, timeout=HANGS)
    assert done.returncode == REFUSED
    assert (tmp_path / "out").read_text().strip() == ""


@pytest.mark.slow
def test_a_poor_encoding_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "small.db"
    with Ledger.create(path) as ledger:
        lev, habu = ledger.register("id:1", "Лев"), ledger.register("id:2", "羽生")
        ledger.append(game_recorded("g1", white=lev, black=habu, half_moves=40, ended_at="2021-03-01"))
        ledger.catch_up()
    variables = {"PYTHONIOENCODING": "ascii:strict"}
    assert [row["name"] for row in json.loads(shell(f"ledger ratings {path}", variables).out)] == ["Лев", "羽生"]
    head, _, *rows = shell(f"ledger ratings {path} -t", variables).out.splitlines()
    assert r"\u041b\u0435\u0432" in rows[0]
    assert [row[head.index("last_game") :] for row in rows] == ["2021-03-01"] * 2
    graph = shell(f"ledger graph {path} Лев", variables)
    assert graph.out.splitlines()[-2] == "       +-"
    done = shell(f"ledger ratings {path} --csv", variables)
    assert (done.code, done.out) == (REFUSED, "")
    assert "set PYTHONIOENCODING=utf-8, or take JSON (--nl), which escapes it" in done.err
    done = shell(f"ledger show {path} Чужой", variables)
    assert done.code == REFUSED
    assert done.err.startswith("error: no player '\\u0427\\u0443\\u0436\\u043e\\u0439' in this ledger")


def test_a_file_that_cannot_be_written_is_named(sample_club: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "full.svg").symlink_to("/dev/full")
    done = run("graph", sample_club, "emma", "-o", tmp_path / "full.svg")
    assert done == (REFUSED, "", f"error: {tmp_path / 'full.svg'}: No space left on device\n")
    done = run("audit", sample_club, "--journal-only", "--save-head", "/dev/full")
    assert (done.code, done.err.splitlines()[-1]) == (REFUSED, "error: /dev/full: No space left on device")


def test_a_mistake_in_the_program_stays_a_traceback_and_harmless(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("\x1b[2J\u202e")

    monkeypatch.setattr(cli.cli, "main", mistaken)
    with pytest.raises(ZeroDivisionError) as raised:
        cli.main(["ratings"])
    capsys.readouterr()
    running._show_mistake(raised.type, raised.value, raised.tb)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == r"ZeroDivisionError: \x1b[2J\u202e"
