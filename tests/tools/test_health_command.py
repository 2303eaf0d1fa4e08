"""The command ``health``: one line that names everything that is wrong, and an exit code for a timer."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.answers import health as answers
from ledger.answers.publications import DueList, due_list
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.checkpoints import signed
from tests.kit.clubs import ClubOfTwo
from tests.kit.commands import Run
from tests.kit.games import game_recorded, seeded
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place
from tools.commands import REFUSED, USAGE

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
    due = DueList(pool="standard", day="2026-10-31", list_from="2026-11-01")
    monkeypatch.setattr(answers, "due_list", lambda *_: due)
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
    assert "the list of 2026-11-01 of pool standard is due (period up to 2026-10-31)" in done.out
    assert "is due" not in run("health", healthy_club, "--list-age", "2000d").out


def test_a_journal_that_contradicts_its_checkpoint_is_not_healthy(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.db"
    Ledger.create(other, pool="standard", scheme="elo").close()
    for word in ("checkpoints", "key"):
        healthy_club.with_name(f"club.{word}").rename(other.with_name(f"other.{word}"))
    done = run("health", other)
    assert (done.code, done.err, "the last checkpoint" in done.out) == (REFUSED, "", True)
    assert len(done.out.splitlines()) == 1


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


def test_only_a_backup_that_proved_itself_counts_where_proofs_are_asked_for(
    healthy_club: Path, tmp_path: Path, run: Run
) -> None:
    nights = tmp_path / "nights"
    nights.mkdir()
    asked = ("health", healthy_club, "--backups", nights, "--proven")
    assert f"no proven backup of this ledger in {nights}\n" in run(*asked).out
    assert run("backup", healthy_club, nights / "one").code == 0
    assert f"no proven backup of this ledger in {nights}, only unproven ones" in run(*asked).out
    assert run("backup", healthy_club, nights / "two", "--prove").code == 0
    assert run(*asked).code == 0
    answer = json.loads(run(*asked, "--format", "json").out)
    assert (answer["healthy"], answer["faults"], answer["backup"] < answer["proven"]) == (True, [], True)
    (nights / "two" / "club.people.db").unlink()
    assert f"{nights / 'two' / 'club.people.db'} is missing: make a backup anew" in run(*asked).out
    assert run("health", healthy_club, "--proven").code == USAGE


def test_a_ledger_that_cannot_be_opened_is_a_fault_in_one_line(tmp_path: Path, healthy_club: Path, run: Run) -> None:
    missing = tmp_path / "nope.db"
    done = run("health", missing)
    assert (done.code, done.err, done.out.count("\n")) == (REFUSED, "", 1)
    assert done.out.startswith(f"{missing}: ")
    answer = json.loads(run("health", missing, "--format", "json").out)
    assert (answer["healthy"], answer["entries"], [each["part"] for each in answer["faults"]]) == (
        False, None, ["ledger"],
    )  # fmt: skip
    content = bytearray(healthy_club.read_bytes())
    content[200:] = b"\xff" * (len(content) - 200)
    healthy_club.write_bytes(content)
    done = run("health", healthy_club)
    assert (done.code, done.err, done.out.count("\n")) == (REFUSED, "", 1)


@pytest.mark.parametrize("word", ["\udcff", "/", "a\x1b[2J\nb.db", "9" * 5_000])
def test_a_hostile_name_of_a_ledger_is_a_fault_in_one_harmless_line(word: str, run: Run) -> None:
    done = run("health", word)
    assert (done.code, done.err, done.out.count("\n"), "\x1b" in done.out) == (REFUSED, "", 1, False)


def test_damaged_views_and_swapped_names_are_named_together(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.db"
    with Ledger.create(other, pool="standard", scheme="elo") as ledger:
        ledger.register_many([("name:zoe", "Zoe"), ("name:yan", "Yan")])
    sidecar(other, "people").replace(sidecar(healthy_club, "people"))
    views = sidecar(healthy_club, "views")
    views.write_bytes(views.read_bytes()[:5_000])
    answer = json.loads(run("health", healthy_club, "--backups", tmp_path, "--format", "json").out)
    assert {each["part"] for each in answer["faults"]} == {"names", "views", "backup"}


def test_views_that_are_not_there_yet_are_behind(healthy_club: Path, run: Run) -> None:
    sidecar(healthy_club, "views").unlink()
    assert run("health", healthy_club).out == (
        f"{healthy_club}: the views lack 4 entries; the next command that reads adds them\n"
    )
    assert not sidecar(healthy_club, "views").exists()


def test_marks_of_the_future_are_no_reason_to_be_healthy(healthy_club: Path, tmp_path: Path, run: Run) -> None:
    head = tmp_path / "club.head"
    assert run("audit", healthy_club, "--save-head", head).code == 0
    later = datetime.now(UTC).timestamp() + 48 * HOUR
    os.utime(head, (later, later))
    assert "which is in the future: set the clock" in run("health", healthy_club, "--audited", head).out


@pytest.mark.parametrize(("age", "code"), [("1h", REFUSED), ("2", REFUSED), ("3h", 0), ("1d", 0), ("soon", USAGE)])
def test_ages_are_in_hours_or_days(age: str, code: int, healthy_club: Path, tmp_path: Path, run: Run) -> None:
    head = tmp_path / "club.head"
    assert run("audit", healthy_club, "--save-head", head).code == 0
    old = datetime.now(UTC).timestamp() - 2.5 * HOUR
    os.utime(head, (old, old))
    assert run("health", healthy_club, "--audited", head, "--audit-age", age).code == code


@pytest.mark.parametrize("published", ["day", "list_from"])
def test_the_list_of_a_period_is_due_until_it_is_published_of_either_day(
    published: str, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "fed.db"
    with Ledger.create(path, pool="standard", scheme="fide") as ledger:
        ledger.register_many([("name:ann", "Ann"), ("name:bob", "Bob"), ("name:cleo", "Cleo")])
        for player in (1, 2, 3):
            ledger.append(seeded(player, "1800", effective_at="2025-12-01"))
        ledger.append(game_recorded("g1", ended_at="2026-01-10"))
        ledger.ensure_up_to_date()
        due = due_list(ledger, ledger.pool())
    assert due is not None
    words = f"the list of {due.list_from} of pool standard is due (period up to {due.day})"
    assert run("health", path).out == f"{path}: {words}\n"
    assert run("publish", path, "--at", getattr(due, published), "--despite-complaints").code == 0
    assert run("health", path).code == 0


def test_a_first_list_that_nobody_would_be_on_is_not_due(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "fed.db"
    with Ledger.create(path, pool="standard", scheme="fide") as ledger:
        ledger.register_many([("name:ann", "Ann"), ("name:bob", "Bob")])
        ledger.append(game_recorded("g1", ended_at="2026-01-10"))
        ledger.ensure_up_to_date()
    assert run("health", path).code == 0


def test_a_ledger_on_a_server_is_as_healthy_and_a_server_that_is_gone_is_a_fault(
    oldest_server: Server, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "club.db"
    with Ledger.create(path, on_server=new_place(oldest_server)) as ledger:
        ledger.register_many([("name:ann", "Ann"), ("name:bob", "Bob")])
        ledger.append(game_recorded("g1"))
        ledger.ensure_up_to_date()
    nights = tmp_path / "nights"
    nights.mkdir()
    asked = ("health", path, "--backups", nights, "--proven")
    assert f"no proven backup of this ledger in {nights}" in run(*asked).out
    assert run("backup", path, nights / "one", "--prove").code == 0
    assert run(*asked).out == f"{path}: healthy, 4 entries\n"
    settings = path.with_suffix(".toml")
    settings.write_text(re.sub(r"(:|port=)\d+", r"\g<1>1", settings.read_text()) + "\npatience = 1\n")
    done = run(*asked)
    assert (done.code, done.err, done.out.count("\n")) == (REFUSED, "", 1)
