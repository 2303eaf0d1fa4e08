"""The parts of READMEs that follow from the code are up to date; so are the pictures."""

from pathlib import Path

import pytest

from ledger.book.policies import POLICIES
from ledger.correcting.verbs import VERBS
from tests.docs import readmes
from tools.docs import __main__ as docs
from tools.docs import drawing, parts

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("readme", parts.PARTS)
def test_a_readme_is_as_the_code_says(readme: str) -> None:
    text = readmes.texts()[readme]
    assert parts.rewritten(readme, text) == text, "run 'python -m tools.docs parts'"


def test_every_verb_and_every_policy_has_its_row() -> None:
    texts = readmes.texts()
    assert all(f"| `correct DB {verb}" in texts["ledger/correcting/README.md"] for verb in VERBS)
    assert all(f"| `{policy}` | " in texts["ledger/policies/README.md"] for policy in POLICIES)


def test_the_command_writes_the_parts_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs.main(["parts", "--check"]) == 0
    readme = "ledger/policies/README.md"
    (other := tmp_path / readme).parent.mkdir(parents=True)
    marks = "".join(f"{parts.BEGIN.format(mark)}\nold\n{parts.END.format(mark)}\n" for mark in parts.PARTS[readme])
    other.write_text(f"# Title\n{marks}rest\n", "utf-8")
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    monkeypatch.setattr(parts, "PARTS", {readme: parts.PARTS[readme]})
    assert docs.main(["parts", "--check"]) == 1
    assert f"{readme}: differs from the code; run 'python -m tools.docs parts'" in capsys.readouterr().err
    assert docs.main(["parts"]) == 0
    assert docs.main(["parts", "--check"]) == 0
    assert other.read_text("utf-8").startswith("# Title\n")
    assert other.read_text("utf-8").endswith("\nrest\n")


def test_the_pictures_are_up_to_date_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs.main(["pictures", "--check"]) == 0
    drawn = {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()}
    shown = {
        readmes.target(name, link)[0].resolve()
        for name, text in readmes.texts().items()
        for link in readmes.links(text)
    }
    assert {drawing.FOLDER / name for name in drawn} <= shown
    monkeypatch.setattr(drawing, "FOLDER", tmp_path / "pictures")
    monkeypatch.setattr(drawing, "pictures", lambda: {name: text.decode() for name, text in drawn.items()})
    assert docs.main(["pictures", "--check"]) == 1
    assert "emma.svg: differs" in capsys.readouterr().err
    assert docs.main(["pictures"]) == 0
    assert {path.name: path.read_bytes() for path in drawing.FOLDER.iterdir()} == drawn
