"""The READMEs: which there are, their blocks, their sections and links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.kit.places import ROOT

FIRST = "README.md"
"""The one that the others go on from: it makes ``club.db``, ``league.db`` and ``fed.db``."""


def texts() -> Mapping[str, str]:
    """Every README by its place in the checkout, the first one first, with the text for who works on it."""
    folders = ("tools", "schemas", "ledger")
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("README.md"))
    found.append(ROOT / "tools" / "serve" / "SECURITY.md")
    paths = [ROOT / FIRST, *found, ROOT / ".github" / "CONTRIBUTING.md"]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def transcript(text: str) -> list[tuple[str, str]]:
    """The commands of a README's console blocks, each with the output that is shown."""
    shown = []
    for block in blocks(text, "console"):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
        shown += list(zip(parts[::2], parts[1::2], strict=True))
    return shown


def prose(text: str) -> str:
    """A README without its blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of all sections, as GitHub makes them of their titles: a title that comes again gets a number."""
    seen: Counter[str] = Counter()
    found = set()
    for title in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def links(text: str) -> list[str]:
    """Where the links of a README lead within the checkout."""
    return re.findall(r"\]\((?!https?:)([^)]*)\)", prose(text))


def target(readme: str, link: str) -> tuple[Path, str]:
    """The file that a link leads to, and the section in it, empty for none."""
    path, _, anchor = link.partition("#")
    file = (ROOT / readme).parent / path if path else ROOT / readme
    return file, anchor
