"""Write the parts of the READMEs that follow from the code, and the figures that a run of the benchmark left.

``python -m tools.readmes`` writes them between their marks; with ``--check`` it writes nothing and exits 1 where they
differ. What stands outside the marks is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from .. import output, running
from ..bench import figures
from . import command_texts, tables

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- made by 'python -m tools.readmes': {} -->", "<!-- end: {} -->"
# README -> mark -> what makes the part.
PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "tools/README.md": {
        "commands by task": command_texts.by_task,
        "options of many commands": command_texts.shared_options,
        "commands": command_texts.commands,
    },
    "schemas/README.md": {
        "kinds of entries": tables.kinds,
        "tables of the views": tables.views,
        "tables beside a copy": tables.beside_copies,
        "columns of exports": tables.exports,
        "answers of commands": tables.answers,
    },
    "tools/serve/README.md": {
        "addresses of the server": tables.addresses,
        "pages of the server": tables.pages,
        "what programs record": tables.posts,
        "files of the server": tables.files_of_the_server,
    },
    "tools/serve/SECURITY.md": {
        "limits of the server": tables.limits_of_the_server,
        "lines of the ASVS": tables.asvs,
    },
    "ledger/correcting/README.md": {"verbs of corrections": command_texts.verbs},
    "ledger/policies/README.md": {"policies": tables.policies},
    "tools/bench/README.md": {"figures of the benchmark": lambda: figures.table(figures.read())},
}


def rewritten(readme: str, text: str) -> str:
    """The text of a README, named by its place in the checkout, with its parts as they are to be."""
    for mark, make in PARTS[readme].items():
        begin, end = BEGIN.format(mark), END.format(mark)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return text


@click.command()
@click.option("--check", is_flag=True, help="Only name the READMEs that differ.")
def command(check: bool) -> None:
    """Write the parts of the READMEs that follow from the code, or check that they are up to date.

    \b
    Example:
      python -m tools.readmes --check
    """
    stale = False
    for readme in PARTS:
        text = (ROOT / readme).read_text("utf-8")
        if (made := rewritten(readme, text)) == text:
            continue
        stale = True
        if check:
            output.remark(f"{readme}: differs from the code; run 'python -m tools.readmes'")
        else:
            output.save(ROOT / readme, made.encode())
            output.answer(f"wrote {readme}")
    sys.exit(1 if stale and check else 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return running.run(command, argv, "python -m tools.readmes")


if __name__ == "__main__":
    running.as_process(main)
