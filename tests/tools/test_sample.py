"""The sample club is what its script would write now. (Schemas: ``test_schemas``; pictures: ``tests/docs``.)"""

from pathlib import Path

import pytest

from tools.sample import __main__ as sample


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


def test_a_copy_of_the_sample_takes_no_file_s_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "club.pgn"
    assert sample.main([str(copy)]) == 0
    assert capsys.readouterr().out == f"{copy}: 900 games of an invented club\n"
    assert copy.read_bytes() == sample.FILE.read_bytes()
    copy.write_text("mine")
    assert sample.main([str(copy)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert copy.read_text() == "mine"
