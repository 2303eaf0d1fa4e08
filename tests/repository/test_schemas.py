"""The command that writes the published JSON Schemas, of entries and of exports, and finds the stale ones."""

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ledger.answers.published_schemas import ANSWERS, DOCUMENTS
from ledger.facts.json_schemas import class_schema
from ledger.ledger import Ledger
from tests.kit.commands import Run, latest_game
from tests.kit.games import game_recorded, scheme_adopted
from tools import cli
from tools.schemas import PUBLISHED, documents, main


@pytest.mark.slow
def test_the_command_writes_the_files_and_finds_the_stale_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "schemas"
    assert main(["--into", str(folder)]) == 0
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")} == documents().keys()
    assert main(["--into", str(folder), "--check"]) == 0
    capsys.readouterr()
    (folder / "events" / "game-recorded-1.json").write_text("{}")
    (folder / "events" / "player-changed-1.json").unlink()
    (folder / "events" / "old-kind-1.json").write_text("{}")
    (folder / "exports" / "rating-graph-1.json").unlink()
    assert main(["--into", str(folder), "--check"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert sorted(Path(line.partition(": ")[0]).name for line in told.err.splitlines()) == [
        "game-recorded-1.json",
        "old-kind-1.json",
        "player-changed-1.json",
        "rating-graph-1.json",
    ]
    assert main(["--into", str(folder)]) == 0
    assert main(["--into", str(folder), "--check"]) == 0
    assert not (folder / "events" / "old-kind-1.json").exists()


def test_the_published_files_pass_the_check() -> None:
    assert main(["--check"]) == 0


def test_the_schema_of_each_class_is_valid_and_says_what_each_field_is() -> None:
    unsaid = []
    for name, cls in {**DOCUMENTS, **ANSWERS}.items():
        schema = class_schema(cls, name)
        Draft202012Validator.check_schema(schema)
        parts = [schema, *schema.get("$defs", {}).values()]
        fields = [item for part in parts for item in part["properties"].items()]
        unsaid += [f"{name}: {field}" for field, told in fields if not told.get("description")]
        unsaid += [name for part in parts if not part.get("description")]
    assert unsaid == []


# What prints each answer: DB is a club with a published list and an open proposal, GAME one of its games.
PRINTED = {
    "best": "best DB ann",
    "board": "board DB GAME --format json",
    "calc": "calc 1500 1600 win 1550 draw",
    "calculation": "calculation DB ann --list 2006-06 --format json",
    "changes": "changes DB ann --since 300",
    "compare": "compare DB --schemes elo,glicko2 --min-games 5",
    "correct-list": "correct DB list",
    "correct-preview": "correct DB preview 1",
    "diff": "diff DB standard@2006-06-30 now",
    "explain": "explain DB ann GAME",
    "games": "games DB ann --all",
    "games-of-day": "games DB --on 2006-05",
    "health": "health DB --list-age 99999d --format json",
    "journal": "journal DB",
    "lists": "lists DB",
    "lists-of": "lists DB standard@2006-06-30",
    "log": "log DB",
    "opponents": "opponents DB ann",
    "opponents-against": "opponents DB ann --against bob",
    "opponents-by-colour": "opponents DB ann --by colour",
    "opponents-by-strength": "opponents DB ann --by strength",
    "players-alike": "players alike DB",
    "policy-list": "policy list DB",
    "pools": "pools DB",
    "predict": "predict DB ann bob",
    "ratings": "ratings DB --details",
    "record": "record DB --white ann --black bob --result 1-0 --ended 2006-09-02 --half-moves 40",
    "runs": "runs DB --pool monthly",
    "runs-on": "runs DB --on 2006-06-30 --pool monthly",
    "scheme-eras": "scheme eras DB",
    "search": "search DB ann",
    "show": "show DB ann --at 2006-01-01",
    "streaks": "streaks DB ann",
    "projectors": "projectors DB",
    "tables": "tables DB",
    "tables-columns": "tables DB --columns",
    "time-losses": "time-losses DB ann",
    "time-losses-mark": "time-losses DB ann --mark",
    "tournaments": "tournaments DB",
    "tournaments-of": "tournaments DB --player ann",
    "tune": "tune DB --scheme elo --vary k=8..60 --trials 10 --judge-from 2005",
    "upsets": "upsets DB",
}


def test_each_answer_is_printed_by_a_command() -> None:
    assert PRINTED.keys() == ANSWERS.keys()


@pytest.fixture(name="busy_club", scope="module")
def _busy_club(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    club = Path(shutil.copytree(sample_folder, tmp_path_factory.mktemp("busy") / "club")) / "club.db"
    assert cli.main(["publish", str(club), "--at", "2006-06-30"]) == 0
    with Ledger.open(club) as ledger:
        ledger.append(scheme_adopted("glicko2", pool="monthly"))
        ledger.append_many(game_recorded(f"m{day}", pool="monthly", ended_at=f"2006-0{day}-10") for day in (5, 6, 7))
        (game,) = (row["key"] for row in ledger.rows("games", "reason IS NULL ORDER BY position DESC LIMIT 1"))
        ledger.propose([ledger.corrections.drafts.annul(f"game:{game}")], reason="twice", by="eve")
    return club


@pytest.mark.parametrize("name", PRINTED)
def test_a_command_prints_what_the_published_schema_of_its_answer_says(name: str, busy_club: Path, run: Run) -> None:
    words = {"DB": str(busy_club), "GAME": latest_game(run, busy_club, "ann")}
    done = run(*(words.get(word, word) for word in PRINTED[name].split()))
    assert done.code == 0, done.err
    told = json.loads(done.out)
    validator = Draft202012Validator(json.loads((PUBLISHED / "answers" / f"{name}-1.json").read_text("utf-8")))
    rows = told if isinstance(told, list) else [told]
    assert [error.message for row in rows for error in validator.iter_errors(row)] == []
    assert rows or name == "players-alike"
