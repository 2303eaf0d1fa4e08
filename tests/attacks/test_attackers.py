"""The attackers themselves: an untouched ledger holds, the judge sees what is false, and no original is touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from tools.attack import environment, verdicts, yardsticks
from tools.attack.__main__ import attack
from tools.attack.families import FAMILIES, Battlefield
from tools.attack.files import edited, file_of
from tools.attack.histories import Point
from tools.attack.verdicts import EVERYTHING, Attack, AttackJudge
from tools.attack.workers import HUNG, Done, Worker


def nothing(_: Path) -> None:
    """Leave a ledger as it is."""


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("number", [0, -1])
def test_an_untouched_ledger_holds(attacked: Battlefield, number: int, *, torn: bool) -> None:
    point = attacked.history.points[number]
    control = Attack("none", point, nothing, EVERYTHING, torn=torn, reads_may_err=False)
    assert list(attacked.judge.findings(control)) == []


class _Lying(Worker):
    """Runs commands truly and tells something else."""

    def __init__(self, true: Worker, lie: Callable[[Done], Done]) -> None:
        super().__init__()
        self._true = true
        self._lie = lie

    def run(self, *words: object, **more: object) -> Done:
        return self._lie(self._true.run(*words, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "lie", "finding"),
    [
        (("ratings",), {"out": '[{"rank": 1}]'}, "answers "),
        (("ratings",), {"code": 1, "err": "error: no\n"}, "it refuses"),
        (("ratings",), {"code": 7}, "exit code 7"),
        (("ratings",), {"err": "Traceback (most recent call last):\nKeyError: 1\n"}, "traceback"),
        (("ratings",), {"code": 1, "err": "error: something\nelse\n"}, "several lines"),
        (("ratings",), {"err": "error: \x1b[2J\n"}, "control characters"),
        (("ratings",), {"code": HUNG, "err": "no end"}, "no end"),
        (("ratings",), {"yardsticks": 1e6}, "takes"),
        (("audit",), {"code": 3, "err": "FALSE all\n"}, "cries"),
        (("audit",), {"err": "error: run 'mend'\n"}, "no command"),
        (("import", "{fresh}"), {"err": "x.jsonl (ledger-jsonl): 900 games recorded\n"}, "has 1 more"),
        (("import", "{fresh}"), {"code": 1, "err": "error: no\n"}, "refused"),
        (("erase", "{ann}"), {"code": 0, "err": "x: who player 1 was is forgotten\n"}, "the row holds"),
    ],
)
def test_the_judge_sees_a_lie(
    attacked: Battlefield, tmp_path: Path, command: tuple[str, ...], lie: dict[str, object], finding: str
) -> None:
    true = attacked.judge
    worker = _Lying(true.worker, lambda done: attrs.evolve(done, **lie) if done.words[0] == command[0] else done)  # type: ignore[arg-type]
    judge = AttackJudge(attacked.history, true.truth, worker, tmp_path)
    control = Attack("none", attacked.history.last, nothing, ((command,),), reads_may_err=False)
    assert finding in " ".join(told.what for told in judge.findings(control))


@pytest.mark.parametrize(
    ("role", "statement", "fault"),
    [
        ("people", "UPDATE people SET name = 'Mallory' WHERE player = 1", "not the one who was sealed"),
        ("people", "UPDATE people SET joined_at = '1999' WHERE player = 1", "joined at another time"),
        ("people", "DELETE FROM people WHERE player = 1", "player 1 is missing"),
        ("people", "CREATE INDEX guest ON people(name)", "objects or header"),
        ("views", "UPDATE current SET rating = rating + 1 WHERE player = 1", "table current"),
        ("views", "UPDATE progress SET position = 0", "say that they are at"),
        ("views", "PRAGMA user_version = 99", "objects or header"),
        ("journal", "DELETE FROM texts", "is missing"),
        ("journal", "INSERT INTO nodes VALUES (1, 0, zeroblob(32))", "not those of the tree"),
        ("journal", "DROP TRIGGER journal_never_updates", "objects or header"),
    ],
)
def test_the_truth_sees_what_does_not_follow(
    attacked: Battlefield, tmp_path: Path, role: str, statement: str, fault: str
) -> None:
    db = tmp_path / "club.db"
    shutil.copytree(attacked.history.last.db.parent, tmp_path, dirs_exist_ok=True)
    assert attacked.judge.truth.faults(db) == []
    edited(file_of(db, role), statement)
    assert fault in " ".join(attacked.judge.truth.faults(db))


def test_a_game_sealed_under_another_persons_number_is_seen(attacked: Battlefield) -> None:
    """The journal of a ledger whose people file was older when somebody new came in, made without its checks."""
    judge, last = attacked.judge, attacked.history.last
    wrong = dict.fromkeys(attacked.history.people_in, ("name:somebody", "name:else"))
    history = attrs.evolve(attacked.history, people_in=wrong)
    blind = AttackJudge(history, judge.truth, judge.worker, judge.scratch)
    findings = list(blind.findings(Attack("none", last, nothing, ((("import", "{fresh}"),),))))
    assert [finding.what.startswith("sealed a game of name:") for finding in findings] == [True, True]


def test_attacks_are_tried_in_an_order_that_takes_kinds_in_turn() -> None:
    point = Point("any", Path("any"), Path("any"), Path("any"), 0)
    every = [Attack(f"{kind}{number}", point, nothing, kind=kind) for kind in "ab" for number in range(3)]
    first = verdicts.next_attacks(every, 2)
    assert {attack.kind for attack in first} == {"a", "b"}
    rest = [attack for start in range(2, 6, 2) for attack in verdicts.next_attacks(every, 2, start)]
    assert {attack.name for attack in first + rest} == {attack.name for attack in every}


def test_names_of_attacks_are_unique_in_each_family_so_that_one_can_be_repeated(attacked: Battlefield) -> None:
    for family in FAMILIES:
        names = [attack.name for attack in family.attacks(attacked)]
        assert len(names) == len(set(names)), family.name


def test_the_command_attacks_a_copy_and_leaves_the_ledger_as_it_is(attacked: Battlefield, tmp_path: Path) -> None:
    shutil.copytree(attacked.history.last.db.parent, tmp_path, dirs_exist_ok=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    only = ["--family", "pages", "--only", "page 1 of the people zeroed"]
    done = CliRunner().invoke(attack, [str(tmp_path), *only])
    assert "pages: pages zeroed" in done.output
    assert "1 of " in done.output
    assert done.exit_code == (0 if "held" in done.output and "did NOT hold" not in done.output else 1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_without_a_ledger_is_wrong_usage(tmp_path: Path) -> None:
    done = CliRunner().invoke(attack, [str(tmp_path)])
    assert (done.exit_code, "holds 0 ledgers" in done.output) == (2, True)


def test_a_worker_tells_of_a_hang_and_works_again(tmp_path: Path) -> None:
    with Worker() as worker:
        assert worker.run("--version").code == 0
        assert worker.run("ratings", tmp_path / "none.db", patience=0.0).code == HUNG
        assert worker.run("--version").code == 0


def test_rights_are_tried_as_a_user_whom_they_bind() -> None:
    assert environment.somebody().user in {None, environment.NOBODY}


def test_work_is_told_beside_a_loop_of_the_same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has become slower since is no fault of what is measured."""
    monkeypatch.setattr(yardsticks, "_usual", lambda: 0.05)
    monkeypatch.setattr(yardsticks, "_loop", lambda: 0.5)
    assert yardsticks.yardsticks(0.5) == 10
    assert yardsticks.yardsticks(5.0) == 10, "the loop takes ten times as long now"
    monkeypatch.setattr(yardsticks, "_loop", lambda: 0.01)
    assert yardsticks.yardsticks(5.0) == 100, "it was slower before"
    with pytest.raises(AssertionError, match="at most 0"), yardsticks.within(0):
        sum(range(100_000))
