"""Write the published JSON Schemas of the journal's entries, or check that the published ones are up to date.

``python -m tools.schemas`` writes schemas/events/*.json; with ``--check`` it writes nothing, names the files
that differ and exits 1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ledger.facts.json_schemas import documents

from . import output, running

PUBLISHED = Path(__file__).parent.parent / "schemas" / "events"


def differing(folder: Path) -> list[Path]:
    """The files of *folder* that are missing, differ from the event classes, or belong to none of them."""
    wanted = documents()
    stale = [path for path in sorted(folder.glob("*.json")) if path.name not in wanted]
    return stale + [
        folder / name
        for name, text in wanted.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]


@click.command()
@click.option("--check", is_flag=True, help="Only name the files that differ.")
@click.option("--into", default=PUBLISHED, type=click.Path(file_okay=False, path_type=Path), help="Folder of them.")
def command(check: bool, into: Path) -> None:
    """Write the published JSON Schemas of the journal's entries, or check that they are up to date.

    \b
    Example:
      python -m tools.schemas --check
    """
    wrong = differing(into)
    if check:
        for path in wrong:
            output.remark(f"{path}: differs from the event classes; run 'python -m tools.schemas'")
        sys.exit(1 if wrong else 0)
    into.mkdir(parents=True, exist_ok=True)
    for path in wrong:
        text = documents().get(path.name)
        if text is None:
            path.unlink()
            output.answer(f"removed {path}")
        else:
            output.save(path, text.encode())
            output.answer(f"wrote {path}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return running.run(command, argv, "python -m tools.schemas")


if __name__ == "__main__":
    running.as_process(main)
