"""The parts of the READMEs that follow from the code are those that the code says; the pictures are those it draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.answers.exports.datasets import PREPARED
from ledger.book.policies import POLICIES
from ledger.correcting.verbs import VERBS
from ledger.facts.events import BY_KIND, OLD_KINDS
from ledger.ratings.projectors import BUILT_IN
from ledger.ratings.view_tables import described
from tests.kit import readmes
from tools.cli import COMMANDS
from tools.readmes import __main__ as made
from tools.readmes import drawing


@pytest.mark.parametrize("readme", made.PARTS)
def test_each_readme_is_as_the_code_says(readme: str) -> None:
    text = readmes.texts()[readme]
    assert made.rewritten(readme, text) == text, "run 'python -m tools.readmes'"


def test_everything_that_is_to_be_told_is_told() -> None:
    texts = readmes.texts()
    for name in (*described(BUILT_IN), *PREPARED):
        assert f"| `{name}` | " in texts["schemas/README.md"]
    assert "`rating` (*points*): rating after the game or its batch, points, unrounded" in texts["schemas/README.md"]
    assert all(f"| [`{kind}`](events/" in texts["schemas/README.md"] for kind in (*BY_KIND, *OLD_KINDS))
    assert all(f"| `correct DB {verb}" in texts["ledger/correcting/README.md"] for verb in VERBS)
    assert all(f"| `{policy}` | " in texts["ledger/policies/README.md"] for policy in POLICIES)
    assert all(f"\n### {command}\n" in texts["tools/README.md"] for command in COMMANDS)


def test_the_command_writes_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made.main(["--check"]) == 0
    readme = "ledger/policies/README.md"
    (other := tmp_path / readme).parent.mkdir(parents=True)
    marks = "".join(f"{made.BEGIN.format(mark)}\nold\n{made.END.format(mark)}\n" for mark in made.PARTS[readme])
    other.write_text(f"# Title\n{marks}rest\n", "utf-8")
    monkeypatch.setattr(made, "ROOT", tmp_path)
    monkeypatch.setattr(made, "PARTS", {readme: made.PARTS[readme]})
    assert made.main(["--check"]) == 1
    assert f"{readme}: differs from the code; run 'python -m tools.readmes'" in capsys.readouterr().err
    assert made.main([]) == 0
    assert made.main(["--check"]) == 0
    assert other.read_text("utf-8").startswith("# Title\n")
    assert other.read_text("utf-8").endswith("\nrest\n")


def test_the_pictures_are_what_their_script_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drawing.main(["--check"]) == 0
    drawn = {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()}
    shown = {
        readmes.target(name, link)[0].resolve()
        for name, text in readmes.texts().items()
        for link in readmes.links(text)
    }
    assert {drawing.FOLDER / name for name in drawn} <= shown
    monkeypatch.setattr(drawing, "FOLDER", tmp_path / "pictures")
    monkeypatch.setattr(drawing, "pictures", lambda: {name: text.decode() for name, text in drawn.items()})
    assert drawing.main(["--check"]) == 1
    assert "emma.svg differs" in capsys.readouterr().err
    assert drawing.main([]) == 0
    assert {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()} == drawn
