"""The committed texts: which there are, their blocks, their sections and links."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.kit.places import ROOT

FIRST = "README.md"
"""The README whose transcripts the others continue: it makes ``club.db``, ``league.db`` and ``fed.db``."""


def texts() -> Mapping[str, str]:
    """Return every committed text by its path in the checkout, the first README first."""
    folders = ("tools", "schemas", "ledger", "tests")
    found = sorted(path for folder in folders for path in (ROOT / folder).rglob("README.md"))
    found += [ROOT / ".github" / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in [ROOT / FIRST, *found]}


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def transcript(text: str) -> list[tuple[str, str]]:
    """Return the commands of a README's console blocks, each with the output that it shows."""
    shown = []
    for block in blocks(text, "console"):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
        shown += list(zip(parts[::2], parts[1::2], strict=True))
    return shown


def prose(text: str) -> str:
    """Return a text without its blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors of all sections, as GitHub makes them of their titles: a repeated title gets a number."""
    seen: Counter[str] = Counter()
    found = set()
    for title in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def links(text: str) -> list[str]:
    """Return the links of a text that lead to files of the checkout."""
    return re.findall(r"\]\((?!https?:)([^)]*)\)", prose(text))


def target(readme: str, link: str) -> tuple[Path, str]:
    """Return the file that a link leads to, and the section in it, empty for none."""
    path, _, anchor = link.partition("#")
    file = (ROOT / readme).parent / path if path else ROOT / readme
    return file, anchor
