"""The commands for outsiders: key, checkpoint, receipt and its check; and the loud line of a copy that was put back."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.errors import CheckpointWarning
from ledger.journal.signing_keys import NoteKey
from ledger.ledger import Ledger
from tests.kit.checkpoints import KEY, ORIGIN, RELEASED_GAME, give_key, released_club
from tests.kit.commands import SAMPLE_ENTRIES, Run, latest_game
from tests.kit.golden_entries import FOLDER
from tests.kit.places import ROOT
from tools.choices import pools_of_the_ledger
from tools.commands import FALSE, REFUSED, USAGE

GOLDEN = FOLDER / "proofs"
RECEIPT = GOLDEN / "game-with-name.tlog-proof"
VERIFIER = GOLDEN / "verifier.txt"


@pytest.fixture
def put_back(sample_club: Path, run: Run) -> Path:
    """The sample club as it was before a player joined, beside the checkpoint that was made afterwards."""
    give_key(sample_club)
    copy = sample_club.read_bytes()
    assert run("player", "add", sample_club, "name:zoe", "Zoe").code == 0
    assert run("checkpoint", sample_club).code == 0
    sample_club.write_bytes(copy)
    return sample_club


def test_from_the_key_to_a_receipt_that_is_believed(sample_club: Path, tmp_path: Path, run: Run) -> None:
    game = latest_game(run, sample_club, "ann")
    refused = run("checkpoint", sample_club)
    assert (refused.code, refused.out) == (REFUSED, "")
    assert "make one with 'rating-ledger checkpoint-key DB --new NAME'" in refused.err
    made = run("checkpoint-key", sample_club, "--new", "example.org/a-club")
    assert (made.code, made.err) == (0, f"{tmp_path}/club.key: made; keep it secret, and a copy where it is safe\n")
    (tmp_path / "club.verifier").write_text(made.out)
    assert run("checkpoint-key", sample_club).out == made.out

    done = run("checkpoint", sample_club)
    head = run("head", sample_club).out.split()
    assert done.out.split("\n")[:2] == ["example.org/a-club", head[0]]
    assert done.out.encode() == (tmp_path / "club.checkpoints").read_bytes()
    assert done.err == f"{tmp_path}/club.checkpoints: {SAMPLE_ENTRIES} entries signed by example.org/a-club\n"

    given = run("receipt", sample_club, game)
    written = run("receipt", sample_club, game, "--to", tmp_path / "a.tlog-proof")
    assert (given.code, written.code, written.out) == (0, 0, "")
    assert given.out.encode() == (tmp_path / "a.tlog-proof").read_bytes()
    assert "not that no correction followed" in given.err == written.err

    for key in (made.out.strip(), tmp_path / "club.verifier"):
        proven = run("verify-receipt", tmp_path / "a.tlog-proof", "--key", key)
        assert proven.code == 0
        first, *fields = proven.out.splitlines()
        assert first.startswith(f"TRUE {tmp_path}/a.tlog-proof: entry ")
        assert first.endswith(f" of {SAMPLE_ENTRIES} in the journal of example.org/a-club")
        assert dict(field.split(maxsplit=1) for field in fields)["key"] == f"game:{game}"
        assert "not that no correction followed" in proven.err


def test_a_name_is_in_a_receipt_on_request_alone(sample_club: Path, tmp_path: Path, run: Run) -> None:
    give_key(sample_club)
    run("checkpoint", sample_club)
    game = latest_game(run, sample_club, "ann")
    run("receipt", sample_club, game, "--with-name", "ann", "--to", tmp_path / "ann")
    fields = run("verify-receipt", tmp_path / "ann", "--key", KEY.verifier).out
    assert ["identity", "name:ann"] in [line.split() for line in fields.splitlines()]
    run("receipt", sample_club, game, "--to", tmp_path / "plain")
    assert "identity" not in run("verify-receipt", tmp_path / "plain", "--key", KEY.verifier).out
    refused = run("receipt", sample_club, game, "--with-name", "nobody", "--to", tmp_path / "none")
    assert (refused.code, (tmp_path / "none").exists()) == (REFUSED, False)


def test_a_receipt_that_was_changed_is_exit_code_3_and_named_by_its_line(tmp_path: Path, run: Run) -> None:
    spoilt = tmp_path / "spoilt"
    spoilt.write_bytes(RECEIPT.read_bytes().replace(b"\n167\n", b"\n168\n"))
    done = run("verify-receipt", spoilt, "--key", VERIFIER)
    assert (done.code, done.err) == (FALSE, "")
    place = RECEIPT.read_text("utf-8").split("\n").index("167") + 4
    changed = f"'{ORIGIN}' did not sign this: it was changed, or is of another log"
    assert done.out == f"FALSE {spoilt} line {place}: {changed}; it proves nothing: ask for the receipt anew\n"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "--key is empty: give a value"),
        ("nope", "'nope' is no verifier key, nor a file (No such file"),
        ("a+b", "expected NAME+ID+KEY, one line as 'checkpoint-key' prints it, got 'a+b'"),
        (str(RECEIPT), "expected NAME+ID+KEY"),
        (sys.executable, "--key: "),
        ("/dev/null", "'/dev/null' holds no key"),
    ],
)
def test_what_is_no_key_is_wrong_usage(key: str, words: str, run: Run) -> None:
    done = run("verify-receipt", RECEIPT, "--key", key)
    assert (done.code, done.out) == (USAGE, "")
    assert words in done.err
    assert run("verify-receipt", RECEIPT).code == USAGE


def test_a_receipt_that_is_not_there_is_refused(tmp_path: Path, run: Run) -> None:
    done = run("verify-receipt", tmp_path / "nope", "--key", VERIFIER)
    assert (done.code, done.err) == (REFUSED, f"error: {tmp_path}/nope: No such file or directory\n")
    assert run("verify-receipt", tmp_path, "--key", VERIFIER).code == REFUSED


VERIFY = """
import sys
from tools import cli

code = cli.main(["verify-receipt", sys.argv[1], "--key", sys.argv[2]])
print(code, *sorted({"numpy", "polars", "numba", "sqlite_utils", "pandas"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_verifying_needs_no_ledger_and_loads_nothing_heavy(tmp_path: Path) -> None:
    command = [sys.executable, "-c", VERIFY, str(RECEIPT), str(VERIFIER)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stdout.startswith("TRUE ")


@pytest.mark.slow
def test_an_output_that_lacks_the_dash_is_named_and_nothing_is_written_wrong(tmp_path: Path) -> None:
    path = released_club(tmp_path)
    with Ledger.open(path) as ledger:
        ledger.checkpoints.make()
    for words, advice in ((["receipt", str(path), RELEASED_GAME], "--to"), (["checkpoint", str(path)], "utf-8")):
        command = [sys.executable, "-m", "tools.cli", *words]
        environment = {"PYTHONIOENCODING": "ascii", "PATH": "/bin"}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (REFUSED, "")
        assert advice in done.stderr


def test_every_command_says_loudly_that_an_older_copy_was_put_back(put_back: Path, run: Run) -> None:
    line = f"ALARM {put_back}: opened for reading only: the journal holds {SAMPLE_ENTRIES} entries, but the last check"
    for words in (["head", put_back], ["log", put_back, "--limit", "1"]):
        done = run(*words)
        assert done.code == 0
        assert (done.err.count("ALARM"), done.err.startswith(line)) == (1, True)
    for words in (["player", "add", put_back, "name:max", "Max"], ["erase", put_back, "ann", "--yes"]):
        done = run(*words)
        assert (done.code, done.out) == (REFUSED, "")
        assert done.err.startswith(line)
        assert "nothing may be written: the journal holds" in done.err
    done = run("checkpoint", put_back)
    assert (done.code, done.out) == (REFUSED, "")
    assert "nothing was signed" in done.err
    (put_back.parent / "club.people.db").unlink()
    done = run("accept-lost-names", put_back, "--yes")
    assert (done.code, done.err.startswith(line), "nothing may be written" in done.err) == (REFUSED, True, True)
    assert not (put_back.parent / "club.people.db").exists()


def test_the_audit_and_proven_answers_find_it_without_being_told_a_head(put_back: Path, run: Run) -> None:
    (put_back.parent / "club.views.db").unlink()
    done = run("audit", put_back)
    assert done.code == FALSE
    holds = f"the journal holds only {SAMPLE_ENTRIES} entries, but the head kept outside says {SAMPLE_ENTRIES + 1}"
    assert done.out.startswith(f"FALSE {put_back} journal entry {SAMPLE_ENTRIES + 1}: {holds}")
    assert run("ratings", put_back, "--verify").code == FALSE


def test_an_audit_that_cannot_read_the_checkpoints_says_so_and_fails(put_back: Path, run: Run) -> None:
    (put_back.parent / "club.checkpoints").write_bytes(b"cut off")
    done = run("audit", put_back, "--journal-only")
    assert done.code == REFUSED
    assert "NOT COMPARED" in done.out
    assert "last checkpoint: " in done.out
    assert "does not end in a whole checkpoint" in done.out


def test_an_audit_takes_a_head_and_the_last_checkpoint_at_once(sample_club: Path, run: Run) -> None:
    give_key(sample_club)
    run("checkpoint", sample_club)
    head = run("head", sample_club).out.strip()
    assert run("audit", sample_club, "--journal-only", "--since", head).code == 0
    false = run("audit", sample_club, "--journal-only", "--since", f"1 {'0' * 64}")
    assert (false.code, false.out.count("FALSE")) == (FALSE, 1)


def test_completing_a_word_says_nothing_of_it(put_back: Path) -> None:
    with pytest.warns(CheckpointWarning):
        Ledger.open(put_back).close()

    class Line:
        params = {"db_path": str(put_back)}  # noqa: RUF012  # as click has it

    assert pools_of_the_ledger(Line, None, "") == ["standard"]  # type: ignore[arg-type]


def test_another_place_is_said_once(sample_club: Path, tmp_path: Path, run: Run) -> None:
    give_key(sample_club)
    outside = tmp_path / "outside.checkpoints"
    assert run("checkpoint", sample_club, "--keep-in", outside).code == 0
    run("player", "add", sample_club, "name:zoe", "Zoe")
    done = run("checkpoint", sample_club)
    assert done.err.startswith(f"{outside}: {SAMPLE_ENTRIES + 1} entries signed by ")
    assert not (tmp_path / "club.checkpoints").exists()
    assert run("checkpoint", sample_club, "--key", tmp_path / "none.key").code == REFUSED


def test_an_audit_takes_a_file_of_checkpoints_and_verifies_who_signed_it(put_back: Path, run: Run) -> None:
    """The auditor's copy of the checkpoints; beside the journal there is none."""
    held = put_back.parent / "club.checkpoints"
    held.rename(put_back.parent / "held")
    held = put_back.parent / "held"
    words = ["audit", put_back, "--journal-only", "--since", held]
    for key in ([], ["--key", KEY.verifier], ["--key", VERIFIER]):
        done = run(*words, *key)
        assert done.code == FALSE
        assert done.out.startswith(f"FALSE {put_back} journal entry {SAMPLE_ENTRIES + 1}: ")
    stranger = NoteKey(ORIGIN, bytes(32)).verifier
    unsigned = run(*words, "--key", stranger)
    assert (unsigned.code, unsigned.out) == (USAGE, "")
    assert "that was not given; nobody vouches for it" in unsigned.err
    held.write_text(held.read_text("utf-8").replace(f"\n{SAMPLE_ENTRIES + 1}\n", f"\n{SAMPLE_ENTRIES}\n"), "utf-8")
    assert "did not sign this" in run(*words, "--key", KEY.verifier).err
    assert run("audit", put_back, "--key", KEY.verifier).code == USAGE
    assert run("audit", put_back, "--since", f"1 {'0' * 64}", "--key", KEY.verifier).code == USAGE


def test_a_head_is_not_saved_over_checkpoints(sample_club: Path, run: Run) -> None:
    give_key(sample_club)
    run("checkpoint", sample_club)
    kept = sample_club.parent / "club.checkpoints"
    content = kept.read_bytes()
    refused = run("audit", sample_club, "--journal-only", "--save-head", kept)
    assert (refused.code, refused.out, "is a file of this ledger" in refused.err) == (REFUSED, "", True)
    assert kept.read_bytes() == content


def test_a_checkpoint_follows_a_published_list_where_there_is_a_key(sample_club: Path, run: Run) -> None:
    kept = sample_club.parent / "club.checkpoints"
    assert run("publish", sample_club, "--at", "2006-06-30", "--by", "eve").code == 0
    assert not kept.exists()
    give_key(sample_club)
    assert run("publish", sample_club, "--at", "2006-08-31", "--by", "eve").code == 0
    size, root = run("head", sample_club).out.split()
    note = kept.read_text("utf-8").split("\n")
    assert (note[1], base64.b64decode(note[2]).hex()) == (size, root)


def test_a_checkpoint_that_cannot_be_made_after_an_approval_is_told_and_the_approval_stands(
    sample_club: Path, run: Run
) -> None:
    give_key(sample_club)
    game = latest_game(run, sample_club, "ann")
    with Ledger.open(sample_club) as ledger:
        change = ledger.corrections.drafts.annul(f"game:{game}")
        first = ledger.propose([change], reason="doubled", by="eve").proposal
    done = run("correct", sample_club, "approve", first, "--by", "adam")
    assert (done.code, "ALARM" in done.err) == (0, False)
    size = run("head", sample_club).out.split()[0]
    assert f"\n{size}\n" in (sample_club.parent / "club.checkpoints").read_text("utf-8")
    with Ledger.open(sample_club) as ledger:
        second = ledger.propose([ledger.corrections.drafts.undo(first)], reason="it was none", by="eve").proposal
    (sample_club.parent / "club.key").chmod(0o644)
    done = run("correct", sample_club, "approve", second, "--by", "adam")
    assert done.code == 0
    assert f"ALARM {sample_club}: what was recorded stands, but no checkpoint was made of it: " in done.err
    assert int(run("head", sample_club).out.split()[0]) > int(size)
