"""The parts of the README that follow from the code are those that the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.answers.exports.datasets import PREPARED
from ledger.ratings.read_models import described
from tools import readme_tables


def test_the_readme_tells_every_table_and_export_with_units() -> None:
    text = readme_tables.README.read_text("utf-8")
    assert readme_tables.rewritten(text) == text, "run 'python -m tools.readme_tables'"
    for name in (*described(), *PREPARED):
        assert f"| `{name}` | " in text
    assert "`rating` (*points*): rating after the game or its batch, points, unrounded" in text


def test_the_command_writes_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert readme_tables.main(["--check"]) == 0
    other = tmp_path / "README.md"
    marks = "".join(
        f"{readme_tables.BEGIN.format(mark)}\nold\n{readme_tables.END.format(mark)}\n" for mark in readme_tables.parts()
    )
    other.write_text(f"# Title\n{marks}rest\n", "utf-8")
    monkeypatch.setattr(readme_tables, "README", other)
    assert readme_tables.main(["--check"]) == 1
    assert "run 'python -m tools.readme_tables'" in capsys.readouterr().err
    assert readme_tables.main([]) == 0
    assert readme_tables.main(["--check"]) == 0
    assert other.read_text("utf-8").startswith("# Title\n")
    assert other.read_text("utf-8").endswith("\nrest\n")
