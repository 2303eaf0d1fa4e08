"""The committed texts: sizes, links, parts that follow from the code, pictures; and what the site adds to them."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from ledger.answers.exports.datasets import NAMED_DATASETS
from ledger.answers.published_schemas import ANSWERS
from ledger.book import proposal_judge
from ledger.book.policies import POLICIES
from ledger.correcting.verbs import VERBS
from ledger.facts.events import BY_KIND, OLD_KINDS
from ledger.ratings.installed_projectors import BUILT_IN
from ledger.ratings.table_docs import table_docs
from ledger.schemes import built_in_names
from tests.docs import readmes
from tests.errors.rule_cases import CASES
from tests.kit.code import sources
from tests.kit.places import ROOT
from tools.cli import COMMANDS
from tools.docs import __main__ as docs
from tools.docs import drawing, parts, site
from tools.serve.settings import SETTINGS, word_of

pytestmark = pytest.mark.quick

TEXTS = readmes.texts()
FIRST = TEXTS[readmes.FIRST]
LARGEST = {
    readmes.FIRST: 15_000,
    ".github/CONTRIBUTING.md": 5_000,
    "CHANGELOG.md": 2_500,
    "SECURITY.md": 3_500,
}  # bytes


def test_the_committed_texts_stay_short() -> None:
    sizes = {name: len(text.encode()) for name, text in TEXTS.items()}
    assert {name: sizes[name] for name, largest in LARGEST.items() if sizes[name] > largest} == {}
    tables = "".join(part for text in TEXTS.values() for part in re.findall(r"(?s)<!-- made by .*?<!-- end: ", text))
    assert sum(sizes.values()) - len(tables.encode()) <= 248_000, "written by people: tables of the code not counted"


def test_the_first_screen_shows_the_commands_of_a_checkout_and_soon_a_result() -> None:
    lines = FIRST.splitlines()
    for word in ("demo", "test"):
        (row,) = (line for line in lines[:25] if line.startswith(f"| `sh tools/run {word}` |"))
        assert "minute" in row
    assert "pip install ." in lines[:40]
    assert any(re.match(r" +1 +13  ann +1923 ", line) for line in lines[:40])


def test_a_package_index_shows_commands_of_the_first_readme_and_no_link_into_the_checkout() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / about["readme"]).read_text(encoding="utf-8")
    assert readmes.links(text) == []
    install, *commands = readmes.blocks(text, "sh")[0].splitlines()
    assert install == f"pip install {about['name']}"
    assert [line for line in commands if f"$ {line}" not in FIRST] == []


def test_every_package_says_how_long_it_stays_stable() -> None:
    section = TEXTS["ledger/README.md"].partition("\n## What stays stable\n")[2].partition("\n## ")[0]
    named = [
        word for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)
    ]
    parts = {name.split(".")[1] for name in sources("ledger") if "." in name}
    assert sorted(named) == sorted({"ledger"} | parts)


@pytest.mark.parametrize("text", TEXTS)
def test_every_link_leads_somewhere(text: str) -> None:
    lost = []
    for link in readmes.links(TEXTS[text]):
        file, anchor = readmes.target(text, link)
        if not file.exists() or (anchor and anchor not in readmes.anchors(file.read_text(encoding="utf-8"))):
            lost.append(link)
    assert lost == []


def test_links_lead_from_the_first_readme_to_all_other_texts() -> None:
    reached, waiting = {readmes.FIRST}, [readmes.FIRST]
    while waiting:
        name = waiting.pop()
        files = {readmes.target(name, link)[0].resolve() for link in readmes.links(TEXTS[name])}
        new = {other for other in TEXTS if ROOT / other in files} - reached
        reached |= new
        waiting += new
    assert set(TEXTS) - reached == set()


def test_no_sentence_stands_in_two_texts() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for name, text in TEXTS.items():
        for sentence in re.split(r"(?<=[.;:|]) |\n\n|<br>|\n(?=[*|])", readmes.prose(text)):
            places[" ".join(re.sub(r"\]\([^)]*\)", "]", sentence).split())].add(name)
    assert {sentence: found for sentence, found in places.items() if len(found) > 1 and len(sentence) > 70} == {}


def test_a_readme_that_a_message_or_a_help_names_is_there() -> None:
    texts = (path.read_text(encoding="utf-8") for path in sources("ledger", "tools").values())
    named = {name for text in texts for name in re.findall(r"(?<![\w/.])[\w./]*README\.md", text)}
    assert {name for name in named if name.startswith(("ledger/", "schemas/"))}
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_every_section_of_every_readme_stands_on_one_page() -> None:
    pages = [page for page in site.pages().values() if isinstance(page, site.Readme)]
    for name in TEXTS:
        if name not in {"tests/attacks/README.md", "tools/bench/README.md"}:  # for those who work on the program
            chosen = [section for page in pages if page.file == name for section in site.sections_of(page)]
            assert sorted(chosen, key=lambda each: each.heading) == sorted(site.sections(name), key=lambda s: s.heading)


def test_every_command_kind_rule_verb_and_scheme_stands_on_a_page() -> None:
    text = "\n".join([*TEXTS.values(), *(site.text_of(place) for place in site.pages())])
    names = [*COMMANDS, *BY_KIND, *OLD_KINDS, *CASES, *proposal_judge.RULES, *VERBS, *built_in_names()]
    assert [name for name in names if not re.search(rf"`(correct DB )?{re.escape(name)}\b", text)] == []


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("reference/tables", [f"## {name}\n" for name in table_docs(BUILT_IN)]),
        ("reference/tables", ["| `rating` | points | rating after the game or its batch, points, unrounded |"]),
        ("reference/exports", [f"## {name}\n" for name in NAMED_DATASETS]),
        ("reference/answers", [f"| [`{name}`](/schemas/answers/{name}-" for name in ANSWERS]),
        ("reference/entries", [f"## `{kind}`\n" for kind in (*BY_KIND, *OLD_KINDS)]),
        ("reference/http", [f"| `{word_of(name)}` |" for name in SETTINGS]),
        ("reference/commands", [f"| [`{name}" for name in COMMANDS]),
    ],
)  # fmt: skip
def test_a_page_of_the_reference_has_every_name(place: str, names: list[str]) -> None:
    text = site.text_of(place)
    assert [name for name in names if name not in text] == []


def test_every_command_has_a_page_made_from_its_help() -> None:
    for name in COMMANDS:
        text = site.text_of(f"reference/commands/{name}")
        assert text.startswith(".. click:: tools.commands.")
        assert f":prog: rating-ledger {name}\n" in text


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


@pytest.mark.parametrize("mark", [parts.BEGIN, parts.END])
def test_a_part_without_its_marks_is_refused_for_it_would_take_the_rest_with_it(mark: str) -> None:
    readme = "ledger/policies/README.md"
    line = mark.format(*parts.PARTS[readme])
    text = (ROOT / readme).read_text("utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{readme}: the line '{line}' is missing; write it again")):
        parts.rewritten(readme, text.replace(line, ""))


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
