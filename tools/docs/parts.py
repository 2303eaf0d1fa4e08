"""The parts of committed READMEs that follow from the code. The text outside their marks is written manually."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..bench import table
from . import command_texts, figures, tables

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- made by 'python -m tools.docs parts': {} -->", "<!-- end: {} -->"
# README -> mark -> the function that makes the part.
PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "ledger/correcting/README.md": {"verbs of corrections": command_texts.verbs},
    "ledger/imports/README.md": {"checks of reports": tables.report_checks},
    "ledger/policies/README.md": {"policies": tables.policies},
    "tools/bench/README.md": {
        "figures of the benchmark": lambda: figures.readme(table.read()),
        "accuracy of the schemes": figures.accuracy,
    },
}


def rewritten(readme: str, text: str) -> str:
    """Return the text of a README, named by its path in the checkout, with its parts up to date.

    Raises:
        ValueError: if a part has no mark where it begins, or none where it ends; what follows would be lost.
    """
    for mark, make in PARTS[readme].items():
        begin, end = BEGIN.format(mark), END.format(mark)
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"{readme}: the line '{end if found else begin}' is missing; write it again")
        text = f"{before}{begin}\n{make()}\n{end}{after}"
    return text


def write(*, check: bool) -> dict[str, bool]:
    """Write the parts that differ from the code; with *check* only find them.

    Returns:
        True for each README that differed.
    """
    differs = {}
    for readme in PARTS:
        file = ROOT / readme
        text = file.read_text("utf-8")
        made = rewritten(readme, text)
        differs[readme] = made != text
        if made != text and not check:
            file.write_text(made, "utf-8")
    return differs
