"""The command ``health``: one line that names everything that is wrong, and an exit code for a timer."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.checkpoints import signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tools.commands import REFUSED
from tools.commands import health as health_command

HOUR = 3_600


@pytest.fixture(name="healthy_club")
def _healthy_club(club_of_two: ClubOfTwo) -> Path:
    club_of_two.ledger.ensure_up_to_date()
    return signed(club_of_two).path


def test_a_healthy_ledger_is_said_to_be_so(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "backups").mkdir(exist_ok=True)
    assert run("backup", healthy_club, tmp_path / "backups" / "today").code == 0
    head = tmp_path / "club.head"
    assert run("audit", healthy_club, "--save-head", head).code == 0
    done = run("health", healthy_club, "--backups", tmp_path / "backups", "--audited", head)
    assert (done.code, done.out) == (0, f"{healthy_club}: healthy, 4 entries\n")


def test_everything_that_is_wrong_is_in_one_line(
    healthy_club: Path, tmp_path: Path, run: Run, club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    club_of_two.ledger.append(game_recorded("late", white=2, black=1, ended_at="2026-11-19"))
    head = tmp_path / "club.head"
    head.write_text(f"{club_of_two.ledger.head()}\n")
    old = datetime.now(UTC).timestamp() - 200 * HOUR
    os.utime(head, (old, old))
    monkeypatch.setattr(health_command, "due_day", lambda *_: "2026-10-31")
    (tmp_path / "none").mkdir()
    done = run("health", healthy_club, "--backups", tmp_path / "none", "--audited", head, "--free", "1000000")
    assert done.code == REFUSED
    assert len(done.out.splitlines()) == 1
    for words in (
        "the views lack 1 entry",
        "GB of the disk are free",
        f"no backup of this ledger in {tmp_path / 'none'}",
    ):
        assert words in done.out
    assert "the last true audit of this ledger is 200 hours old, more than 192" in done.out
    club_of_two.ledger.ensure_up_to_date()
    assert "the list of 2026-10-31 of pool standard is due" in run("health", healthy_club).out


def test_a_journal_that_contradicts_its_checkpoint_is_not_healthy(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.db"
    Ledger.create(other, pool="standard", scheme="elo").close()
    for word in ("checkpoints", "key"):
        healthy_club.with_name(f"club.{word}").rename(other.with_name(f"other.{word}"))
    done = run("health", other)
    assert (done.code, "the last checkpoint" in done.out + done.err) == (REFUSED, True)


def test_health_writes_nothing(healthy_club: Path, run: Run) -> None:
    before = {path.name: path.read_bytes() for path in healthy_club.parent.iterdir() if path.suffix != ".db-shm"}
    assert run("health", healthy_club).code == 0
    after = {path.name: path.read_bytes() for path in healthy_club.parent.iterdir() if path.name in before}
    assert after == before


def test_what_is_of_another_ledger_does_not_count(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.db"
    Ledger.create(other, pool="standard", scheme="elo").close()
    (tmp_path / "backups").mkdir()
    assert run("backup", other, tmp_path / "backups" / "other").code == 0
    head = tmp_path / "other.head"
    assert run("audit", other, "--save-head", head).code == 0
    done = run("health", healthy_club, "--backups", tmp_path / "backups", "--audited", head)
    assert done.code == REFUSED
    assert "no backup of this ledger in" in done.out
    assert "no true audit of this ledger in" in done.out
    assert "no backup of this ledger in nowhere" in run("health", healthy_club, "--backups", "nowhere").out
