"""``--at-least POSITION``: a question is answered once an entry is there, and refused where it does not come."""

import json
import threading
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.clubs import NAME
from tests.kit.commands import SAMPLE_ENTRIES, Run
from tests.kit.games import game_recorded
from tests.kit.places import SAMPLE
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place, settings_of
from tools import commands, output
from tools.docs.command_texts import every_command

# by command, what it is asked beside the ledger
QUESTIONS = {
    "players alike": (), "ratings": (), "show": ("1",), "games": ("1",), "graph": ("1",), "explain": ("1", "#20"),
    "calculation": ("1", "--list", "2020"),
    "changes": ("1", "--since", "1"), "predict": ("1", "2"), "best": ("1",), "streaks": ("1",), "opponents": ("1",),
    "time-losses": ("1",), "upsets": (), "tournaments": (), "crosstable": ("x",), "pools": (), "log": (),
    "scheme eras": (), "runs": (), "policy list": (), "correct list": (), "correct show": ("1",),
    "correct preview": ("1",), "lists": (), "diff": ("1", "2"), "export": ("ratings",), "query": ("SELECT 1",),
    "imports": (),
    "reports": (),
}  # fmt: skip


@pytest.fixture(name="club_with_one_game", scope="module")
def _club_with_one_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("club") / NAME
    with Ledger.create(path) as ledger:
        ledger.register_many([("name:ann", "Ann"), ("name:bob", "Bob")])
        ledger.append(game_recorded("g1"))
    return path


@pytest.mark.parametrize("command", QUESTIONS)
def test_every_question_is_refused_where_the_entry_is_not_there(
    command: str, club_with_one_game: Path, run: Run
) -> None:
    first, *inner = command.split()
    words = (club_with_one_game, *inner) if first == "correct" else (*inner, club_with_one_game)
    refused = run(first, *words, *QUESTIONS[command], "--at-least", 5)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "error: no entry '5' in this ledger; the journal holds entries 1 to 4\n"


def test_every_command_that_takes_it_is_tried() -> None:
    takers = {
        name for name, command in every_command().items() if "--at-least" in str([p.opts for p in command.params])
    }
    assert takers == QUESTIONS.keys()


@pytest.mark.slow
def test_an_entry_that_is_there_costs_nothing(club_with_one_game: Path, run: Run) -> None:
    for least in (0, 1, 4):
        for more in ((), ("--verify",), ("--known-at", 4)):
            answer = run("ratings", club_with_one_game, "--at-least", least, *more)
            assert (answer.code, len(json.loads(answer.out))) == (0, 2), answer.err
            assert "waiting" not in answer.err
    assert run("ratings", club_with_one_game, "--verify", "--at-least", 5).code == 1
    for wrong in ("-1", "x", 10**15 + 1):
        assert run("ratings", club_with_one_game, "--at-least", wrong).code == 2


def test_a_node_waits_for_what_another_one_records(
    oldest_server: Server, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.create(tmp_path / NAME, on_server=(place := new_place(oldest_server))) as ledger:
        ledger.register_many([("name:ann", "Ann"), ("name:bob", "Bob")])
    node = settings_of(tmp_path / "node", place)
    assert run("pools", node).code == 0
    told = threading.Event()
    remark = output.remark

    def tell(text: str) -> None:
        remark(text)
        told.set()

    monkeypatch.setattr(output, "remark", tell)

    def record() -> None:
        told.wait(20.0)
        with Ledger.open(tmp_path / NAME) as another:
            another.append(game_recorded("g1"))

    thread = threading.Thread(target=record)
    thread.start()
    answer = run("games", node, "Ann", "--at-least", 4)
    thread.join()
    assert answer.code == 0, answer.err
    assert answer.err == "waiting up to 30 s for entry 4; the last is 3\n"
    assert [game["entry"] for game in json.loads(answer.out)] == [4]


@pytest.mark.parametrize("more", [(), ("--verify",)])
def test_a_wait_has_an_end_and_names_the_last_entry(
    more: tuple[str, ...], oldest_server: Server, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "ENTRY_WITHIN", 0.3)
    Ledger.create(tmp_path / NAME, on_server=new_place(oldest_server)).close()
    assert run("import", tmp_path / NAME, SAMPLE).code == 0
    refused = run("ratings", tmp_path / NAME, "--at-least", SAMPLE_ENTRIES + 1, *more)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines() == [
        "waiting up to 0.3 s for entry 918; the last is 917",
        "error: no entry '918' in this ledger; the journal holds entries 1 to 917, after 0.3 s, too",
    ]
