"""The command that writes the published JSON Schemas, of entries and of exports, and finds the stale ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ledger.answers.export_schemas import EXPORTS
from ledger.facts.json_schemas import class_schema
from tools.schemas import documents, main


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


@pytest.mark.parametrize("title", EXPORTS)
def test_the_schema_of_an_export_is_valid_and_says_what_each_field_is(title: str) -> None:
    schema = class_schema(EXPORTS[title], title)
    Draft202012Validator.check_schema(schema)
    parts = [schema, *schema.get("$defs", {}).values()]
    fields = {name: field for part in parts for name, field in part["properties"].items()}
    assert [name for name, field in fields.items() if not field.get("description")] == []
    assert [part["description"] for part in parts if not part.get("description")] == []
