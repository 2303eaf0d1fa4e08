"""The site is built without a warning, and its search finds the page for a word of the reader."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kit.places import ROOT
from tools.docs import site

en = pytest.importorskip("sphinx.search.en", reason="needs the group 'docs'")
for package in ("furo", "myst_parser", "sphinx_click"):
    pytest.importorskip(package, reason="needs the group 'docs'")

pytestmark = pytest.mark.outside
Find = Callable[[str], list[str]]


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own: libraries of Sphinx give warnings, which are errors in this one."""
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", name="built")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    done = ran("-m", "tools.docs", "site", "--folder", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{folder / 'html' / 'index.html'}\n"
    return folder / "html"


@pytest.fixture(scope="module", name="find")
def _find(built: Path) -> Find:
    """Search as ``searchtools.js`` does: by titles and headings, and by stemmed words that all must be on a page."""
    text = (built / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    language = en.SearchEnglish({})

    def find(query: str) -> list[str]:
        words = [word.lower() for word in re.findall(r"\w+", query)]
        stems = {language.stem(word) for word in words if word not in language.stopwords and not word.isdecimal()}
        scores = defaultdict[int, float](float)
        for number, score in [*_by_titles(index, query.lower()), *_by_words(index, stems)]:
            scores[number] = max(scores[number], score)
        return [index["docnames"][number] for number in sorted(scores, key=lambda number: -scores[number])]

    return find


def _by_titles(index: Mapping[str, Any], query: str) -> Iterable[tuple[int, float]]:
    """Yield pages with a title or heading that has the query in it and at most twice its length."""
    for title, places in index["alltitles"].items():
        if query in title.lower() and len(query) >= len(title) / 2:
            for number, _ in places:
                yield number, round(15 * len(query) / len(title)) + (index["titles"][number] == title)


def _by_words(index: Mapping[str, Any], stems: set[str]) -> Iterable[tuple[int, float]]:
    """Yield pages that have every word: 15 for a word of the title, 5 for one of the text; the best word counts."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for stem in stems:
        for field, score in (("terms", 5), ("titleterms", 15)):
            numbers = index[field].get(stem, [])
            for number in numbers if isinstance(numbers, list) else [numbers]:
                found[number][stem] = max(score, found[number].get(stem, 0))
    yield from ((number, max(by.values())) for number, by in found.items() if by.keys() == stems)


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("typo", "how-to/correct"),
        ("misspelt name", "how-to/players"),
        ("nginx", "how-to/proxy"),
        ("exit code 3", "how-to/audit"),
        ("backup", "how-to/back-up"),
        ("failover", "how-to/cluster"),
    ],
)
def test_searching_for_a_word_of_the_reader_finds_the_page_first(query: str, page: str, find: Find) -> None:
    assert find(query)[0] == page


def test_a_search_for_a_word_that_stands_nowhere_finds_nothing(find: Find) -> None:
    assert find("zugzwangs") == find("nginx zugzwang") == []


def test_every_page_is_built_and_leads_to_the_others(built: Path) -> None:
    assert [place for place in site.pages() if not (built / f"{place}.html").is_file()] == []
    first = (built / "index.html").read_text("utf-8")
    for group, places in site.GROUPS.items():
        assert group in first
        assert [place for place in places if f'href="{place}.html"' not in first] == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference/commands/correct", ["rating-ledger correct", "swap-colours", "--seen"]),
        ("reference/python-names", ["ledger.Ledger", "register_many", "ConflictError"]),
        ("reference/http", ["/api/v1/players/{player}/graph", "Idempotency-Key", "largest-upload"]),
        ("reference/asvs", ["Values reach SQLite as parameters"]),
        ("tutorials/federation", ["Summer Open"]),
    ],
)
def test_a_page_of_the_reference_shows_what_it_is_made_of(page: str, words: list[str], built: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (built / f"{page}.html").read_text("utf-8"))
    assert [word for word in words if word not in text] == []


def test_no_page_loads_anything_from_elsewhere(built: Path) -> None:
    for page in built.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link|iframe)[^>]*\b(?:src|href)="((?:https?:)?//[^"]*)"', page.read_text("utf-8")
        )
        assert loaded == [], page


LOST = """
import sys
from pathlib import Path
from tools.docs import site

site.pages = lambda: {"index": site.Made(lambda: "# One page\\n\\n[lost](/nowhere.md)")}
sys.exit(site.build(Path(sys.argv[1])))
"""


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    done = ran("-c", LOST, str(tmp_path))
    assert done.returncode == 1
    assert "nowhere.md" in done.stderr


def test_the_site_is_kept_out_of_the_repository() -> None:
    assert f"/{site.FOLDER.relative_to(ROOT).parts[0]}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
