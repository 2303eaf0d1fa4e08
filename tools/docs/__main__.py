"""The command ``python -m tools.docs``: build the site, write the parts of READMEs, draw the pictures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from .. import output, running
from . import drawing, parts, site

STALE = 1  # the exit code of --check where something differs
CHECK = click.option("--check", is_flag=True, help="Write nothing; name what differs, and exit with 1.")


@click.group()
def command() -> None:
    """Build the documentation and keep its committed parts up to date.

    \b
    Example:
      python -m tools.docs site
      python -m tools.docs parts --check
      python -m tools.docs pictures --check
    """


@command.command("site")
@click.option(
    "--folder", type=click.Path(path_type=Path), default=site.FOLDER, help="Where to build it.", show_default=True
)
def build(folder: Path) -> None:
    """Build the site by Sphinx, warnings being errors, and print the path of its first page."""
    code = site.build(folder)
    if code == 0:
        output.answer(str(folder / "html" / "index.html"))
    sys.exit(code)


@command.command("parts")
@CHECK
def write_parts(*, check: bool) -> None:
    """Write the parts of READMEs that follow from the code."""
    _tell(parts.write(check=check), "parts", check=check)


@command.command("pictures")
@CHECK
def write_pictures(*, check: bool) -> None:
    """Draw the pictures of the READMEs."""
    _tell(drawing.write(check=check), "pictures", check=check)


def _tell(differs: Mapping[str, bool], word: str, *, check: bool) -> None:
    stale = [name for name, differing in differs.items() if differing]
    for name in stale:
        if check:
            output.remark(f"{name}: differs from the code; run 'python -m tools.docs {word}'")
        else:
            output.answer(f"wrote {name}")
    sys.exit(STALE if stale and check else 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return running.run(command, argv, "python -m tools.docs")


if __name__ == "__main__":
    running.as_process(main)
