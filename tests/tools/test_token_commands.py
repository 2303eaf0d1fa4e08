"""The commands about tokens, and how the others take one: from the environment or a file, never as an argument."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

from ledger.facts.events import Role
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.harmless import ALLOWED, EVERYTHING, raw_in
from tests.kit.tokens import issued, sealed, token_of
from tools import cli
from tools.commands import REFUSED, USAGE
from tools.commands.token_options import VARIABLE


@pytest.fixture(autouse=True)
def _no_token_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def proposed(run: Run, club: Path, *words: str | Path) -> tuple[int, str]:
    game = json.loads(run("games", club, "ann", "--limit", "1").out)[0]["game"]
    done = run("correct", club, "void", game, "--reason", "played twice", *words)
    return done.code, done.err


def test_a_token_is_shown_once_and_said_to_be_asked_for(sample_club: Path, run: Run) -> None:
    done = run("token", "add", sample_club, "eve", "--role", "corrector")
    assert (done.code, done.out.count("\n"), done.out[:4]) == (0, 1, "rlt_")
    assert "this is the only time it shows" in done.err
    assert "from now on corrections here ask for a token" in done.err
    token = done.out.strip()
    listed = run("token", "list", sample_club)
    assert token not in listed.out + run("token", "log", sample_club).out
    assert json.loads(listed.out)[0]["roles"] == "corrector"
    assert run("token", "list", sample_club, "-t").out.splitlines()[0].split() == [
        "number", "name", "roles", "added_at", "revoked_at", "expires_at", "issued_by", "entry",
    ]  # fmt: skip
    assert "from now on" not in run("token", "add", sample_club, "adam", "--role", "approver").err


@pytest.mark.parametrize("words", [["add", "--role", "approver"], ["reset", "--yes"]])
def test_a_token_is_shown_whatever_fails_after_it_was_recorded(sample_club: Path, run: Run, words: list[str]) -> None:
    verb, *options = words
    if verb == "reset":
        run("token", "add", sample_club, "adam", "--role", "approver")
    size = int(run("head", sample_club).out.split()[0])
    sidecar(sample_club, "views").write_bytes(b"no views")
    done = run("token", verb, sample_club, "adam", *options)
    assert (done.code, done.out[:4]) == (REFUSED, "rlt_")
    assert done.err.splitlines()[-1] == f"{sample_club}: 1 entry was recorded before that, and stands"
    assert int(run("head", sample_club).out.split()[0]) == size + 1
    assert run("rebuild", sample_club).code == 0


def test_the_environment_and_a_file_give_a_token(
    sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve, adam = token_of(run, sample_club, "eve", "corrector"), token_of(run, sample_club, "adam", "approver")
    (tmp_path / "eve.token").write_text(f"{eve}\n")
    (tmp_path / "eve.token").chmod(0o600)
    head = run("head", sample_club).out
    code, err = proposed(run, sample_club, "--by", "eve")
    assert (code, err.startswith("error: needs-a-token: tokens are set up for this ledger")) == (REFUSED, True)
    assert run("head", sample_club).out == head
    assert proposed(run, sample_club, "--token-file", tmp_path / "eve.token")[0] == 0
    monkeypatch.setenv(VARIABLE, adam)
    assert run("correct", sample_club, "approve", "1", "--by", "eve").err.startswith("error: not-this-name: ")
    assert run("correct", sample_club, "approve", "1").code == 0
    (row,) = json.loads(run("correct", sample_club, "list").out)
    assert (row["proposed_by"], row["proven"], row["decided_by"], row["decided_proven"]) == ("eve", True, "adam", True)
    assert "(unproven)" not in run("correct", sample_club, "list", "-t").out
    assert [row["rule"] for row in json.loads(run("token", "log", sample_club).out)] == [
        "needs-a-token",
        "not-this-name",
    ]


def test_without_tokens_a_table_says_that_nobody_proved_who_it_was(sample_club: Path, run: Run) -> None:
    assert proposed(run, sample_club, "--by", "eve")[0] == 0
    table = run("correct", sample_club, "list", "-t").out.splitlines()
    assert table[-1].split()[-3:] == ["eve", "(unproven)", "-"]
    (row,) = json.loads(run("correct", sample_club, "list").out)
    assert (row["proposed_by"], row["proven"]) == ("eve", False)


def test_a_revoked_token_holds_no_longer(sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, token_of(run, sample_club, "eve", "corrector"))
    assert "1 token of 'eve' revoked" in run("token", "revoke", sample_club, "eve").err
    assert "0 tokens of 'eve' revoked" in run("token", "revoke", sample_club, "eve").err
    assert proposed(run, sample_club)[1].startswith("error: revoked-token: this token of 'eve' was revoked at 20")
    done = run("token", "revoke", sample_club, "adam")
    assert (done.code, "no token 'adam' in this ledger" in done.err) == (REFUSED, True)


RECORDING = (
    ("player", "add", "DB", "name:zoe", "Zoe"),
    ("player", "set", "DB", "ann", "--born", "1990"),
    ("player", "rename", "DB", "ann", "Ann Ek"),
    ("close-run", "DB", "--as-of", "2020"),
    ("erase", "DB", "ann", "--yes"),
    ("scheme", "adopt", "DB", "--scheme", "elo", "--from", "2020"),
    ("import", "DB", "games.csv"),
    ("close-tournament", "DB", "Club evening", "--ended", "2020"),
    ("players", "import", "DB", "players.csv"),
    ("open-tournament", "DB", "Cup", "--start", "2020", "--end", "2020"),
    ("bye", "DB", "Cup", "ann", "--round", "1", "--edition", "2020-01-01"),
)


@pytest.mark.parametrize("words", RECORDING, ids=lambda words: "-".join(words[:2]))
def test_recording_asks_for_a_token_once_somebody_is_a_recorder(
    words: tuple[str, ...], sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.csv").write_text("key,white,black,result,ended_at\nx1,Ann,Bob,1-0,2024-05-03\n")
    Path("players.csv").write_text("identity,name,rating\nfide:9,Nine,1500\n")
    given = [sample_club if word == "DB" else word for word in words]
    monkeypatch.setenv(VARIABLE, token_of(run, sample_club, "eve", "corrector"))
    desk = token_of(run, sample_club, "desk", "recorder")
    head = run("head", sample_club).out
    done = run(*given)
    assert (done.code, "not-this-role: to record facts needs the role recorder" in done.err) == (REFUSED, True)
    monkeypatch.delenv(VARIABLE)
    done = run(*given)
    assert (done.code, "needs-a-token: " in done.err) == (REFUSED, True)
    assert run("head", sample_club).out == head
    Path("desk.token").write_text(f"{desk}\n")
    Path("desk.token").chmod(0o600)
    assert run(*given, "--token-file", "nobody.token").code == REFUSED
    monkeypatch.setenv(VARIABLE, token_of(run, sample_club, "ida", "recorder"))
    assert run(*given, "--token-file", "desk.token").code == 0  # the file goes before the environment
    assert json.loads(run("log", sample_club, "--limit", "1").out)[0]["actor"] == "desk"


def test_erasing_a_player_needs_an_approver(sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, eve = token_of(run, sample_club, "desk", "recorder"), token_of(run, sample_club, "eve", "approver")
    for token, rule in ((None, "needs-a-token"), (desk, "not-this-role: to erase player 1 needs the role approver")):
        if token is not None:
            monkeypatch.setenv(VARIABLE, token)
        done = run("erase", sample_club, "1", "--yes")
        assert (done.code, rule in done.err) == (REFUSED, True)
    monkeypatch.setenv(VARIABLE, eve)
    assert run("erase", sample_club, "1", "--yes").code == 0
    assert json.loads(run("log", sample_club, "--limit", "1").out)[0]["actor"] == "eve"


def test_setting_a_policy_needs_an_approver(sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    eve, adam = token_of(run, sample_club, "eve", "corrector"), token_of(run, sample_club, "adam", "approver")
    head = run("head", sample_club).out
    monkeypatch.setenv(VARIABLE, eve)
    assert run("policy", "set", sample_club, "four-eyes", "on=true").err.startswith("error: not-this-role: to set pol")
    assert run("head", sample_club).out == head
    monkeypatch.setenv(VARIABLE, adam)
    assert run("policy", "set", sample_club, "four-eyes", "on=true").code == 0
    (entry,) = json.loads(run("log", sample_club, "--kind", "policy-set").out)
    assert entry["actor"] == "adam"
    assert run("policy", "set", sample_club, "four-eyes", "on=false").code == REFUSED
    assert [row["rule"] for row in json.loads(run("token", "log", sample_club).out)] == [
        "not-this-role",
        "needs-a-proposal",
    ]


def test_permissions_that_tell_too_much_are_said(
    sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "eve.token").write_text(token_of(run, sample_club, "eve", "corrector"))
    (tmp_path / "eve.token").chmod(0o644)
    code, err = proposed(run, sample_club, "--token-file", tmp_path / "eve.token")
    assert (code, "others may read this token" in err) == (0, True)
    assert proposed(run, sample_club)[0] == REFUSED
    sidecar(sample_club, "tokens").chmod(0o644)
    for words in (["token", "list"], ["token", "log"]):
        done = run(*words, sample_club)
        assert (done.code, "run 'chmod 600' on it" in done.err) == (0, True)
    sidecar(sample_club, "tokens").chmod(0o622)
    done = run("token", "log", sample_club)
    assert (done.code, done.out, "others may write it" in done.err) == (REFUSED, "", True)
    assert run("token", "list", sample_club).code == 0, "who holds tokens stands in the journal"


@pytest.mark.slow
def test_a_backup_has_the_tokens_of_its_journal_and_not_the_log(
    sample_club: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(run, sample_club, "eve", "corrector")
    assert proposed(run, sample_club, "--by", "eve")[0] == REFUSED
    assert run("backup", sample_club, tmp_path / "copy").code == 0
    assert list((tmp_path / "copy").glob("*tokens*")) == []
    assert run("restore", tmp_path / "copy", sample_club, "--replace", "--yes").code == 0
    assert proposed(run, sample_club, "--by", "eve")[0] == REFUSED
    assert len(json.loads(run("token", "log", sample_club).out)) == 2
    monkeypatch.setenv(VARIABLE, token)
    assert proposed(run, sample_club)[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["add", "eve"], USAGE, "Missing option '--role'"),
        (["add", "eve", "--role", "king"], USAGE, "'king' is not one of"),
        (["add", " eve", "--role", "approver"], USAGE, "without controls or outer blanks"),
        (["revoke", "eve"], REFUSED, "no token 'eve' in this ledger; give a name or a number of 'token list'"),
    ],
)
def test_what_cannot_be_makes_no_file(words: list[str], code: int, says: str, empty_club: Path, run: Run) -> None:
    done = run("token", words[0], empty_club, *words[1:])
    assert (done.code, done.out, says in done.err) == (code, "", True)
    assert not sidecar(empty_club, "tokens").exists()


def test_a_token_file_that_is_not_there_is_one_clear_line(sample_club: Path, tmp_path: Path, run: Run) -> None:
    token_of(run, sample_club, "eve", "corrector")
    code, err = proposed(run, sample_club, "--token-file", tmp_path / "no.token")
    assert (code, "no.token" in err, err.count("\n")) == (REFUSED, True, 1)


def test_a_token_file_without_an_end_is_refused(sample_club: Path, tmp_path: Path, run: Run) -> None:
    token_of(run, sample_club, "eve", "corrector")
    endless = Path("/dev/zero") if Path("/dev/zero").exists() else tmp_path / "large.token"
    if not endless.exists():
        endless.write_bytes(bytes(5_000))
    code, err = proposed(run, sample_club, "--token-file", endless)
    assert (code, "larger than 4,096 bytes" in err, err.count("\n")) == (REFUSED, True, 1)


def test_evil_names_come_back_harmless(sample_club: Path, run: Run) -> None:
    with Ledger.open(sample_club) as ledger:
        sealed(ledger, "eve", issued(1, f"Eve {ALLOWED}", Role.CORRECTOR))
    assert proposed(run, sample_club, "--by", EVERYTHING)[0] == REFUSED
    with closing(sqlite.connect(sidecar(sample_club, "tokens"))) as connection:
        connection.execute("UPDATE refusals SET tried = ?1, rule = ?1, reason = ?1", (EVERYTHING,))
    for words in (["list"], ["list", "-t"], ["list", "--csv"], ["log"], ["log", "-t"], ["log", "--csv"]):
        done = run("token", words[0], sample_club, *words[1:])
        assert (done.code, raw_in((done.out + done.err).encode())) == (0, set()), words


def test_a_token_that_is_typed_as_a_name_stands_nowhere(sample_club: Path, run: Run) -> None:
    typed = f"rlt_{'secret-' * 6}a"
    head = run("head", sample_club).out
    code, err = proposed(run, sample_club, "--by", typed)
    assert (code, "a token is no name" in err, "secret" in err) == (REFUSED, True, False)
    assert run("head", sample_club).out == head
    token = token_of(run, sample_club, "eve", "corrector")
    for by in (token, f"eve {token}", token[:20]):
        assert proposed(run, sample_club, "--by", by)[0] == REFUSED
    done = run("token", "log", sample_club)
    assert [row["claimed"] for row in json.loads(done.out)] == ["rlt_...", "eve rlt_...", "rlt_..."]
    assert token[5:15] not in done.out + sidecar(sample_club, "tokens").read_bytes().decode("latin-1")


@pytest.mark.slow
def test_an_approver_issues_revokes_and_a_lost_token_is_reset(
    sample_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    adam = token_of(run, sample_club, "adam", "approver")
    for words in (("add", "eve", "--role", "corrector"), ("revoke", "adam"), ("add", "zoe", "--role", "approver")):
        done = run("token", words[0], sample_club, *words[1:])
        assert (done.code, done.out, done.err.startswith("error: needs-a-token: ")) == (REFUSED, "", True)
    monkeypatch.setenv(VARIABLE, adam)
    done = run("token", "add", sample_club, "eve", "--role", "corrector", "--expires", "2999-12-31")
    assert (done.code, "(corrector, until 2999-12-31)" in done.err) == (0, True)
    assert run("token", "add", sample_club, "zoe", "--role", "auditor", "--expires", "2001").code == USAGE
    assert "1 token of 'eve' revoked" in run("token", "revoke", sample_club, "eve").err
    monkeypatch.delenv(VARIABLE)
    assert run("token", "reset", sample_club, "adam").code != 0, "nobody can be asked"
    done = run("token", "reset", sample_club, "adam", "--by", "bob", "--yes")
    assert (done.code, done.out[:4]) == (0, "rlt_")
    audited = run("audit", sample_club)
    assert audited.code == 0
    assert "gave 'adam' a new token, on the word of 'bob' and no approver's" in audited.out
    assert [line.split()[0] for line in audited.out.splitlines()[:2]] == ["TRUE", "RESET"]
    rows = json.loads(run("token", "list", sample_club).out)
    assert [(row["name"], row["revoked_at"] is None, row["issued_by"]) for row in rows] == [
        ("adam", False, "admin"),
        ("eve", False, "adam"),
        ("adam", True, "bob"),
    ]
    monkeypatch.setenv(VARIABLE, adam)
    assert run("token", "add", sample_club, "eve", "--role", "corrector").err.startswith("error: revoked-token")


def options() -> Iterator[str]:
    waiting: list[click.Command] = [
        command for name in cli.COMMANDS if (command := cli.cli.get_command(click.Context(cli.cli), name))
    ]
    while waiting:
        command = waiting.pop()
        if isinstance(command, click.Group):
            waiting += list(command.commands.values())
        yield from (option for parameter in command.params for option in parameter.opts)


def test_no_command_takes_a_token_on_its_line() -> None:
    named = {option for option in options() if "token" in option}
    assert named == {"--token-file"}
