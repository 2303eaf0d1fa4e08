"""The commands ``backup`` and ``restore``: what they say, and what they ask before they replace a ledger."""

import json
from pathlib import Path

import attrs
import pytest

from ledger import backups
from ledger.audit.audit import Verdict
from ledger.audit.reader import Falsehood
from ledger.backups import Loss, disk, proofs
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import contents_of, head_of_ledger, record
from tests.kit.checkpoints import signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tools.commands import FALSE, REFUSED, USAGE


def test_the_commands_tell_what_they_did(club_of_120_games: Path, tmp_path: Path, run: Run) -> None:
    head = str(head_of_ledger(club_of_120_games))
    done = run("backup", club_of_120_games, tmp_path / "b")
    assert (done.code, done.out) == (0, f"{head}\n")
    assert "126 entries, 5 names, views at 126; " in done.err
    (tmp_path / "heads.txt").write_text(done.out)
    done = run("restore", tmp_path / "b", tmp_path / "new.db", "--since", tmp_path / "heads.txt")
    assert (done.code, done.out) == (0, f"{head}\n")
    assert "restored, 126 entries, 5 names, with its views" in done.err
    assert run("backup", club_of_120_games, tmp_path / "b").code == REFUSED
    assert run("restore", tmp_path / "b", club_of_120_games).code == REFUSED
    assert run("restore", tmp_path / "b", club_of_120_games, "--since", "nonsense").code == USAGE


@pytest.mark.slow
def test_nothing_is_replaced_unasked(
    kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(club_of_120_games, 120, 125)
    before = contents_of(club_of_120_games.parent)
    done = run("restore", kept_backup, club_of_120_games, "--replace")
    assert (done.code, "give --yes" in done.err) == (USAGE, True)
    assert "an earlier state of it; its last 6 entries would be lost: 5 game-recorded/1, 1 player-" in done.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run("restore", kept_backup, club_of_120_games, "--replace").code == REFUSED
    assert contents_of(club_of_120_games.parent) == before
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "y")
    done = run("restore", kept_backup, club_of_120_games, "--replace")
    assert (done.code, "club.replaced-1" in done.err) == (0, True)


def test_a_backup_from_before_the_last_checkpoint_is_told_by_it_before_it_is_put_in_place(
    club_of_two: ClubOfTwo, tmp_path: Path, run: Run
) -> None:
    signed(club_of_two)
    assert run("backup", club_of_two.path, tmp_path / "b").code == 0
    assert "ALARM" not in run("restore", tmp_path / "b", club_of_two.path, "--replace", "--yes").err
    club_of_two.ledger.close()
    with Ledger.open(club_of_two.path, clock=club_of_two.clock) as ledger:
        ledger.append(game_recorded("g2"))
        ledger.checkpoints.make()
    alarm = "restored, it would answer and take nothing: the journal holds 4 entries, but the last checkpoint in"
    done = run("restore", tmp_path / "b", club_of_two.path, "--replace")
    assert (done.code, alarm in done.err) == (USAGE, True)
    for file in (club_of_two.path, *(sidecar(club_of_two.path, what) for what in ("people", "views"))):
        file.unlink(missing_ok=True)
    done = run("restore", tmp_path / "b", club_of_two.path)
    assert (done.code, alarm in done.err) == (0, True)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Loss(5, 5, 5), "it has the same 5 entries as the backup: nothing would be lost"),
        (Loss(7, 5, 5, {"game-recorded/1": 2}), "its last 2 entries would be lost: 2 game-recorded/1"),
        (Loss(7, 6, 5, {"game-recorded/1": 2}), "part after entry 5; its last 2 entries would be lost"),
        (Loss(5, 6, 5), "the backup is a later state of it: nothing would be lost, it has 1 entry more"),
        (Loss(7, 6, 0, {"game-recorded/1": 7}), "it is another ledger than the backup; all its 7 entries"),
        (Loss(None, 6), "its journal cannot be read"),
    ],
)
def test_what_would_be_lost_is_said_in_a_sentence(loss: Loss, words: str) -> None:
    from tools.commands.backup import words_of

    assert words in words_of(loss)


def test_the_results_are_documented() -> None:
    for name in backups.__all__:
        assert getattr(backups, name).__doc__
    for result in (backups.Backup, backups.Restored, Loss):
        assert all(f"    {field.name}: " in (result.__doc__ or "") for field in attrs.fields(result))


def test_the_manifest_can_be_read_by_people(kept_backup: Path) -> None:
    text = (kept_backup / disk.NAME).read_text(encoding="utf-8")
    assert json.loads(text)["files"]["journal"]["name"] == "club.db"
    assert len(text.splitlines()) > 10


def test_a_backup_proves_itself_by_a_restore(club_of_120_games: Path, tmp_path: Path, run: Run) -> None:
    made = run("backup", club_of_120_games, tmp_path / "nightly", "--prove")
    assert (made.code, len(made.out.splitlines())) == (0, 1)
    assert "nightly: restored as a test and audited: TRUE" in made.err
    assert [path.name for path in tmp_path.iterdir() if ".proof-" in path.name] == []


def test_a_backup_whose_restore_is_false_is_no_success(
    club_of_120_games: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    falsehood = Falsehood("journal", 7, "is another entry")
    verdict = Verdict(TreeHead(0, b""), 0, 0, 0, {}, (falsehood,))
    monkeypatch.setattr(proofs, "audit", lambda *_, **__: verdict)
    made = run("backup", club_of_120_games, tmp_path / "nightly", "--prove")
    assert made.code == FALSE
    assert "journal entry 7: is another entry" in made.out + made.err
