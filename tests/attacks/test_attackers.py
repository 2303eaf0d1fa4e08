"""The attackers themselves: an untouched ledger holds, the judge sees what is false, and no original is touched."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from tests.attacks import scenes
from tests.attacks.__main__ import attack
from tests.attacks.families import BY_NAME
from tests.attacks.histories import Point
from tests.attacks.judge import AttackJudge
from tests.attacks.plays import Attack, first_attacks
from tests.attacks.stores import copied, file_of
from tests.attacks.workers import HUNG, Done, Worker
from tests.kit.tampering import execute


@pytest.mark.parametrize("torn", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("number", [pytest.param(0, marks=pytest.mark.slow), -1])
def test_an_untouched_ledger_holds(judge: AttackJudge, number: int, *, torn: bool) -> None:
    control = Attack("none", judge.history.points[number], torn=torn, reads_may_err=False)
    assert list(judge.findings(control)) == []


class _LyingWorker(Worker):
    """Runs commands truly and reports something else."""

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
    judge: AttackJudge, tmp_path: Path, command: tuple[str, ...], lie: dict[str, object], finding: str
) -> None:
    worker = _LyingWorker(judge.worker, lambda done: attrs.evolve(done, **lie) if done.words[0] == command[0] else done)  # type: ignore[arg-type]
    deceived = AttackJudge(judge.history, judge.truth, worker, tmp_path)
    control = Attack("none", judge.history.last, plays=((command,),), reads_may_err=False)
    assert finding in " ".join(found.what for found in deceived.findings(control))


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
    judge: AttackJudge, tmp_path: Path, role: str, statement: str, fault: str
) -> None:
    db = copied(judge.history.last.db, tmp_path)
    assert judge.truth.faults(db) == []
    execute(file_of(db, role), statement)
    assert fault in " ".join(judge.truth.faults(db))


def test_a_person_whom_no_entry_covers_is_named_as_not_compared(judge: AttackJudge, tmp_path: Path) -> None:
    db = copied(judge.history.last.db, tmp_path)
    execute(file_of(db, "people"), "INSERT INTO people VALUES (99, 'name:ghost', 'Ghost', zeroblob(16), '2020')")
    assert judge.truth.faults(db) == []
    done = judge.worker.run("audit", db)
    assert done.code == 0
    assert any(line.startswith("NOT COMPARED") and "people" in line for line in done.out.splitlines())


def test_a_game_sealed_under_another_persons_number_is_seen(judge: AttackJudge) -> None:
    """The journal of a ledger whose people file was older when somebody new came in, made without its checks."""
    wrong = dict.fromkeys(judge.history.people_in, ("name:somebody", "name:else"))
    history = attrs.evolve(judge.history, people_in=wrong)
    blind = AttackJudge(history, judge.truth, judge.worker, judge.scratch)
    findings = list(blind.findings(Attack("none", history.last, plays=((("import", "{fresh}"),),))))
    assert [finding.what.startswith("sealed a game of name:") for finding in findings] == [True, True]


def test_attacks_are_tried_in_an_order_that_takes_kinds_in_turn() -> None:
    point = Point("any", Path("any"), Path("any"), Path("any"), 0)
    every = [Attack(f"{kind}{number}", point, kind=kind) for kind in "ab" for number in range(3)]
    tried = first_attacks(every, 6)
    assert [{attack.kind for attack in tried[start : start + 2]} for start in (0, 2, 4)] == [{"a", "b"}] * 3
    assert {attack.name for attack in tried} == {attack.name for attack in every}
    assert first_attacks(reversed(every), 4) == tried[:4]


@pytest.mark.slow
def test_names_of_attacks_are_unique_in_each_family_so_that_one_can_be_repeated(judge: AttackJudge) -> None:
    for family in BY_NAME.values():
        names = [attack.name for attack in family.attacks(judge.history)]
        assert len(names) == len(set(names)), family.name


@pytest.mark.slow
def test_the_command_attacks_a_copy_and_leaves_the_ledger_as_it_is(judge: AttackJudge, tmp_path: Path) -> None:
    copied(judge.history.last.db, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    only = ["--family", "pages", "--only", "page 1 of the people zeroed"]
    done = CliRunner().invoke(attack, [str(tmp_path), *only])
    assert "pages: pages zeroed" in done.output
    assert "1 tried" in done.output
    assert done.exit_code == (0 if "held" in done.output and "did NOT hold" not in done.output else 1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_without_a_ledger_is_wrong_usage(tmp_path: Path) -> None:
    done = CliRunner().invoke(attack, [str(tmp_path)])
    assert (done.exit_code, "holds 0 ledgers" in done.output) == (2, True)


def test_a_worker_tells_of_a_hang_and_works_again(tmp_path: Path) -> None:
    with closing(Worker()) as worker:
        assert worker.run("--version").code == 0
        assert worker.run("ratings", tmp_path / "none.db", patience=0.0).code == HUNG
        assert worker.run("--version").code == 0


def test_rights_are_tried_as_a_user_whom_they_bind() -> None:
    assert scenes.somebody().user in {None, scenes.NOBODY}
