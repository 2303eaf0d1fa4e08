"""The sample club and its pictures are what their scripts would write now. (The schemas: see ``test_schemas``.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.places import ROOT
from tools.sample import __main__ as sample
from tools.sample import drawing


def test_the_sample_club_is_what_its_script_writes() -> None:
    assert sample.main(["--check"]) == 0


def test_a_sample_that_differs_is_told_and_can_be_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = tmp_path / "club.pgn"
    edited.write_text(sample.FILE.read_text(encoding="utf-8").replace("1-0", "0-1", 1), encoding="utf-8")
    original = sample.FILE.read_bytes()
    monkeypatch.setattr(sample, "FILE", edited)
    assert sample.main(["--check"]) == 1
    assert "club.pgn differs" in capsys.readouterr().err
    assert sample.main([]) == 0
    assert edited.read_bytes() == original


def test_the_pictures_of_the_readme_are_what_their_script_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drawing.main(["--check"]) == 0
    drawn = {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()}
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"](tools/sample/pictures/{name})" in readme for name in drawn)
    monkeypatch.setattr(drawing, "FOLDER", tmp_path / "pictures")
    monkeypatch.setattr(drawing, "pictures", lambda: {name: text.decode() for name, text in drawn.items()})
    assert drawing.main(["--check"]) == 1
    assert "emma.svg differs" in capsys.readouterr().err
    assert drawing.main([]) == 0
    assert {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()} == drawn
