"""The configuration of Sphinx; ``site`` writes the pages that it reads."""

from __future__ import annotations

import re
from typing import Any

import click

project = "rating-ledger"
author = "the authors of rating-ledger"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns: list[str] = []

html_theme = "furo"
html_title = "rating-ledger"
html_copy_source = False
html_show_sphinx = False
html_static_path: list[str] = []

myst_heading_anchors = 4  # the anchors that GitHub gives to headings, so that links work in both places
highlight_language = "none"
smartquotes = False  # an option keeps both its dashes

autodoc_typehints = "none"  # the signatures of attrs classes repeat their fields
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_use_ivar = True

_SPECIAL = re.compile(r"([\\*`|]|_(?=\W|$))")  # what reStructuredText would read as markup


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _show_description(_app: Any, _context: click.Context, lines: list[str]) -> None:
    """Show the examples of a command as a block; everything else is plain text, as on the terminal."""
    shown, examples = [], False
    for line in lines:
        if line.startswith("| "):
            if not examples:
                shown += [".. code-block:: sh", ""]
                examples = True
            if line != "| Example:":
                shown.append(f"    {line.removeprefix('| ').strip()}")
        else:
            shown.append(_escaped(line))
    lines[:] = shown


def _show_options(_app: Any, _context: click.Context, lines: list[str]) -> None:
    for number, line in enumerate(lines):
        if not line.startswith(".. option::") and not re.match(r" +:(default|options):", line):
            start, required, text = line.rpartition("**Required** ")
            lines[number] = f"{start}{required}{_escaped(text)}"


def setup(app: Any) -> None:
    """Connect the texts of ``--help``, which hold no markup, with the directive that shows them."""
    app.connect("sphinx-click-process-description", _show_description)
    app.connect("sphinx-click-process-options", _show_options)
