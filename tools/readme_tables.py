"""Write the parts of README.md that follow from the code, and the figures that a run of the benchmark left.

``python -m tools.readme_tables`` writes them between their marks; with ``--check`` it writes nothing and exits 1 where
they differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from ledger.answers.exports.datasets import PREPARED
from ledger.book.tables import ColumnDoc
from ledger.ratings import read_models

from . import output, running
from .bench import figures

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- made by 'python -m tools.readme_tables': {} -->", "<!-- end: {} -->"


def parts() -> dict[str, str]:
    """The text of each part, by its mark."""
    views = ((name, table.doc, table.columns) for name, table in read_models.described().items())
    exports = []
    for name, make in PREPARED.items():
        item = make(())
        exports.append((name, item.doc, {column.name: column.meaning for column in item.columns}))
    return {
        "tables of the views": _table("table", views),
        "columns of exports": _table("export", exports),
        "figures of the benchmark": figures.table(figures.read()),
    }


def _table(head: str, rows: Iterable[tuple[str, str, Mapping[str, ColumnDoc]]]) -> str:
    lines = [f"| {head} | columns (*units*: meanings) |", "|---|---|"]
    for name, doc, columns in rows:
        lines.append(f"| `{name}` | {doc}<br>{'<br>'.join(map(_column, columns, columns.values()))} |")
    return "\n".join(lines)


def _column(name: str, meaning: ColumnDoc) -> str:
    unit = f" (*{meaning.unit}*)" if meaning.unit else ""
    return f"`{name}`{unit}: {meaning.doc}"


def rewritten(text: str) -> str:
    """The README with its parts as they are to be."""
    for mark, part in parts().items():
        begin, end = BEGIN.format(mark), END.format(mark)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{part}\n{end}{rest.partition(end)[2]}"
    return text


@click.command()
@click.option("--check", is_flag=True, help="Only say whether they differ.")
def command(check: bool) -> None:
    """Write the parts of README.md that follow from the code, or check that they are up to date.

    \b
    Example:
      python -m tools.readme_tables --check
    """
    text = README.read_text("utf-8")
    if (made := rewritten(text)) == text:
        return
    if check:
        output.remark(f"{README}: differs from the code; run 'python -m tools.readme_tables'")
        sys.exit(1)
    output.save(README, made.encode())
    output.answer(f"wrote {README}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return running.run(command, argv, "python -m tools.readme_tables")


if __name__ == "__main__":
    running.as_process(main)
