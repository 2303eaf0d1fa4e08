"""The site: which page holds which sections of which README, and which pages are made from the code.

``stage`` writes the pages as the sources of Sphinx, with links that lead from page to page; ``build`` runs Sphinx over
them. A section of a README that no page names stays on the page of its README.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import shutil
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

import attrs

from . import command_texts, tables
from .parts import ROOT

FOLDER = ROOT / "build" / "docs"
FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)\s]*)\)")
UNKNOWN_LANGUAGES = {"caddy": "text"}  # Pygments does not know it


@attrs.frozen
class Readme:
    """A page of sections of a README.

    Attributes:
        file: the README, by its path in the checkout.
        sections: the headings of the sections; none for all that no other page takes.
        title: the title of the page, by default that of its README, or of its only section.
    """

    file: str
    sections: tuple[str, ...] = ()
    title: str = ""


@attrs.frozen
class Made:
    """A page that is made from the code.

    Attributes:
        make: returns the text, with its title.
        suffix: .md, or .rst where Sphinx's own directives are needed.
    """

    make: Callable[[], str]
    suffix: str = ".md"


GROUPS: Mapping[str, Mapping[str, Readme | Made]] = {
    "Tutorials": {
        "tutorials/club": Readme(
            "README.md",
            ("The first ledger", "A month of a club", "When something was wrong"),
            "Tutorial: a club",
        ),
        "tutorials/federation": Readme("README.md", ("A month of a federation",), "Tutorial: a federation"),
        "tutorials/python": Readme("ledger/README.md", ("From the first game to a plug-in",), "Tutorial: Python"),
    },
    "How-to guides": {
        "how-to/year": Readme("tools/officer/README.md"),
        "how-to/import": Readme("ledger/imports/README.md"),
        "how-to/players": Readme("ledger/players/README.md"),
        "how-to/ask": Readme("ledger/answers/README.md"),
        "how-to/correct": Readme("ledger/correcting/README.md"),
        "how-to/publish": Readme("ledger/publishing/README.md"),
        "how-to/policies": Readme("ledger/policies/README.md"),
        "how-to/audit": Readme("ledger/audit/README.md"),
        "how-to/back-up": Readme("ledger/backups/README.md"),
        "how-to/query-and-export": Readme("schemas/README.md"),
        "how-to/serve": Readme("tools/serve/README.md"),
        "how-to/proxy": Readme("tools/serve/README.md", ("Behind a proxy",), "Serve behind nginx or Caddy"),
        "how-to/cluster": Readme("tools/cluster/README.md"),
        "how-to/plug-ins": Readme("ledger/README.md", ("Plug-ins",)),
    },
    "Reference": {
        "reference/command-line": Readme("tools/README.md"),
        "reference/commands": Made(command_texts.index),
        "reference/formats": Readme("ledger/imports/README.md", ("Formats", "CSV", "Limits"), "Formats of files"),
        "reference/schemes": Readme("ledger/schemes/README.md"),
        "reference/http": Made(tables.http),
        "reference/python": Readme("ledger/README.md", ("From Python", "What stays stable"), "Python API"),
        "reference/python-names": Made(tables.python, ".rst"),
        "reference/refusals": Readme("ledger/README.md", ("What is refused",), "Refusals of the journal"),
        "reference/tables": Made(tables.views),
        "reference/exports": Made(tables.exports),
        "reference/answers": Made(tables.answers),
        "reference/entries": Made(tables.kinds),
        "reference/asvs": Made(tables.asvs),
    },
    "Explanation": {
        "explanation/how-it-works": Readme("ledger/README.md", title="The library, and how it works"),
        "explanation/proof": Readme(
            "ledger/audit/README.md",
            ("Keep a head elsewhere", "Checkpoints and receipts"),
            "Proofs: heads, checkpoints and receipts",
        ),
        "explanation/security": Readme("tools/serve/README.md", ("What the server protects",)),
        "explanation/words": Readme("README.md", ("Words",)),
    },
    "The project": {
        "project/security": Readme("SECURITY.md"),
        "project/contributing": Readme(".github/CONTRIBUTING.md"),
        "project/changelog": Readme("CHANGELOG.md"),
    },
}
INDEX = "index"


@attrs.frozen
class TextSection:
    """A section of a README, or the text before the first one: its heading and its text."""

    heading: str
    text: str

    @property
    def anchors(self) -> list[str]:
        """The anchors of the section and of its sub-sections, as GitHub makes them."""
        return [anchor_of(title) for title in headings(f"## {self.heading}\n{self.text}")]


def headings(text: str) -> list[str]:
    """Return the headings of a text, in order."""
    return re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def sections(file: str) -> tuple[TextSection, ...]:
    """Return the sections of a README; the first one has its title and the text before the others."""
    pieces: list[list[str]] = [[]]
    fenced = False
    for line in (ROOT / file).read_text("utf-8").splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            pieces.append([])
        pieces[-1].append(line)
    return tuple(TextSection(lines[0].lstrip("# ").strip(), "".join(lines[1:])) for lines in pieces)


@cache
def pages() -> Mapping[str, Readme | Made]:
    """Return every page by its path on the site."""
    found: dict[str, Readme | Made] = {INDEX: Readme("README.md")}
    for group in GROUPS.values():
        for place, page in group.items():
            found[place] = page
            if place == "reference/commands":
                found |= {
                    f"{place}/{name}": Made(partial(command_texts.page, name), ".rst")
                    for name in command_texts.first_words()
                }
    return found


def sections_of(page: Readme) -> list[TextSection]:
    """Return the sections of a page; a page that names none has those that no other page names."""
    every = sections(page.file)
    if page.sections:
        by_heading = {section.heading: section for section in every}
        return [by_heading[heading] for heading in page.sections]
    taken = {
        heading for other in pages().values() if isinstance(other, Readme) and other.file == page.file
        for heading in other.sections
    }  # fmt: skip
    return [section for section in every if section.heading not in taken]


@cache
def _places() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the page and the anchor of each README and anchor; without an anchor, the page of the first section."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for place, page in pages().items():
        if not isinstance(page, Readme):
            continue
        for number, section in enumerate(sections_of(page)):
            for rank, anchor in enumerate(section.anchors):
                is_title = rank == 0 and (len(page.sections) == 1 or (not page.sections and number == 0))
                found[page.file, anchor] = place, "" if is_title else anchor
        if not page.sections:
            found[page.file, ""] = place, ""
    return found


def text_of(place: str) -> str:
    """Return the source of a page."""
    page = pages()[place]
    if isinstance(page, Made):
        return page.make() + "\n"
    chosen = sections_of(page)
    if not page.sections:
        first, *rest = chosen
        text = f"# {page.title or first.heading}\n{first.text}" + "".join(f"## {s.heading}\n{s.text}" for s in rest)
    elif len(chosen) == 1:
        text = f"# {page.title or chosen[0].heading}\n{_promoted(chosen[0].text)}"
    else:
        text = f"# {page.title}\n\n" + "".join(f"## {section.heading}\n{section.text}" for section in chosen)
    return _with_links(page.file, text) + (_toctrees() if place == INDEX else "")


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    return "".join(piece if piece.startswith("```") else change(piece) for piece in FENCE.split(text))


def _promoted(text: str) -> str:
    """Return the text of a section as that of a page: its headings move up one level."""
    return _outside_fences(text, lambda piece: re.sub(r"^#(#+ )", r"\1", piece, flags=re.MULTILINE))


def _with_links(file: str, text: str) -> str:
    text = _outside_fences(text, lambda piece: LINK.sub(lambda link: _link(file, *link.groups()), piece))
    for unknown, known in UNKNOWN_LANGUAGES.items():
        text = text.replace(f"```{unknown}\n", f"```{known}\n")
    return text


def _link(file: str, mark: str, label: str, target: str) -> str:
    """Return a link of a README as one of the site; only its label if the site does not have the file."""
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
    if (path, anchor) in _places():
        place, anchor = _places()[path, anchor]
        return f"[{label}](/{place}.md{'#' + anchor if anchor else ''})"
    return f"{mark}[{label}](/{path})" if ROOT / path in _files() else label


def _toctrees() -> str:
    text = ""
    for group, places in GROUPS.items():
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {group}\n\n{chr(10).join(places)}\n```\n"
    return text


@cache
def _files() -> frozenset[Path]:
    """Return the files that pages show, or offer for download."""
    patterns = ("tools/docs/pictures/*.svg", "schemas/*/*.json", "tools/cluster/patroni.*", "tools/cluster/etcd.env")
    return frozenset(file for pattern in patterns for file in ROOT.glob(pattern))


def stage(folder: Path) -> None:
    """Write the sources of all pages into a folder, and delete every other file in it.

    It leaves unchanged files alone, so that Sphinx can skip them.
    """
    wanted = {
        folder / f"{place}{page.suffix if isinstance(page, Made) else '.md'}": text_of(place).encode()
        for place, page in pages().items()
    }
    wanted |= {folder / file.relative_to(ROOT): file.read_bytes() for file in _files()}
    for file in folder.rglob("*"):
        if file.is_file() and file not in wanted:
            file.unlink()
    for file, content in wanted.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)


def build(folder: Path) -> int:
    """Build the site into ``html`` of a folder, in the place of what is there; returns the exit code of Sphinx."""
    stage(folder / "source")
    sphinx = importlib.import_module("sphinx.cmd.build")  # of the group "docs" alone
    shutil.rmtree(folder / "html", ignore_errors=True)
    words = ["-b", "html", "-W", "--keep-going", "-q", "-c", str(Path(__file__).parent), "-d", str(folder / "doctrees")]
    return int(sphinx.main([*words, str(folder / "source"), str(folder / "html")]))
